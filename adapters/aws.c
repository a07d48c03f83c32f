/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One action of the EC2 API with all its pages, signed by libcurl, and what
 * an error body of it means. Between web.c and an adapter.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "aws.h"

/* A form, not a query: libcurl 7.75 to 8.14 signed many a query wrongly. */
enum { FORM_SIZE = 4096 + 3 * LT_AWS_PAGE_TOKEN_SIZE };

bool
lt_aws_is_name(const char *text)
{
	static const char letters[] =
	    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789.-";
	const size_t length = strlen(text);

	return length > 0 && length < 64 && strspn(text, letters) == length;
}

int
lt_aws_region_check(
    const struct lt_source_options *options, struct lt_error *err)
{
	const char *const region = lt_source_option(options, "region", "");

	if (!lt_aws_is_name(region) || strchr(region, '.') != NULL)
		return lt_option_fail(options, "region", err,
		    "%s: region: got \"%s\", want one such as eu-west-2",
		    options->name, region);
	return LT_OK;
}

/* ---- errors ---- */

struct failure {
	char code[64], message[LT_AWS_TEXT_SIZE];
};

static int
take_failure(void *context, const struct lt_aws_text texts[LT_AWS_FIELDS_MAX],
    struct lt_error *err)
{
	struct failure *const failure = context;

	(void)err;
	lt_aws_text_copy(failure->code, sizeof(failure->code), &texts[0]);
	if (!lt_aws_text_copy(
		failure->message, sizeof(failure->message), &texts[1]))
		failure->message[0] = '\0';
	return LT_OK;
}

/* <Response><Errors><Error><Code>...<Message>...; a message that may have
 * parts of what was signed is not shown. */
void
lt_aws_error_text(char *out, size_t size, const char *body, size_t length,
    const char *permission)
{
	static const struct lt_aws_items errors = {.root = "Response",
	    .set = "Errors",
	    .fields = {"Code", "Message"},
	    .take = take_failure};

	static const struct {
		const char *code, *advice;
		bool is_quiet;
	} known[] = {
	    {"AuthFailure",
		"are the keys right, and is the region enabled for the account?",
		false},
	    {"OptInRequired", "is the region enabled for the account?", false},
	    {"SignatureDoesNotMatch",
		"is the secret key right, and this machine's clock?", true},
	    {"IncompleteSignature", "is the secret key right?", true},
	    {"RequestExpired",
		"is this machine's clock right, and are the keys still valid?",
		false},
	    {"ExpiredToken", "the session has ended: renew its keys", false},
	    {"RequestLimitExceeded", "the account asks too often", false},
	    {"Throttling", "the account asks too often", false},
	    {"MaxConfigLimitExceeded",
		"too many different questions within 24 hours", false},
	};
	struct failure failure = {"", ""};
	struct lt_aws_page page = {.bytes = body, .byte_count = length};
	char advice[96] = "";
	bool is_quiet = false;

	out[0] = '\0';
	if (lt_aws_items_read(&errors, &failure, &page, NULL) != LT_OK ||
	    failure.code[0] == '\0')
		return;
	if (strcmp(failure.code, "UnauthorizedOperation") == 0)
		snprintf(advice, sizeof(advice), " (allow the IAM action %s)",
		    permission);
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (strcmp(failure.code, known[i].code) == 0) {
			snprintf(
			    advice, sizeof(advice), " (%s)", known[i].advice);
			is_quiet = known[i].is_quiet;
		}
	snprintf(out, size, "%s%s%s%s", failure.code, advice,
	    is_quiet || failure.message[0] == '\0' ? "" : ": ",
	    is_quiet ? "" : failure.message);
}

/* ---- requests ---- */

static int
make_form(char form[FORM_SIZE], const struct lt_aws_action *action,
    const char *page, struct lt_error *err)
{
	char token[3 * LT_AWS_PAGE_TOKEN_SIZE] = "";
	int length;

	if (lt_url_escape(token, sizeof(token), page, err) != LT_OK)
		return LT_ELIMIT;
	length = snprintf(form, FORM_SIZE, "Action=%s&Version=2016-11-15%s%s%s",
	    action->name, action->form,
	    token[0] == '\0' ? "" : "&NextToken=", token);
	return length < FORM_SIZE ? LT_OK
				  : lt_fail(err, LT_ELIMIT,
					"%s: a request of %d bytes, limit %d",
					action->name, length, FORM_SIZE - 1);
}

/* Keys of a role that are refused may have been replaced: ask anew. */
static void
forget_refused(struct lt_web *web, long status)
{
	if (status == 401 || status == 403)
		explicit_bzero(web->memory->token, sizeof(web->memory->token));
}

/* page: of this request, then of the next; "" = none. */
static int
do_page(struct lt_web *web, const struct lt_web_request *request,
    const struct lt_aws_action *action, char page[LT_AWS_PAGE_TOKEN_SIZE],
    struct lt_error *err)
{
	struct lt_http_response response;
	char following[LT_AWS_PAGE_TOKEN_SIZE] = "";
	int code = lt_web_do(web, request, &response, err);

	forget_refused(web, response.status);
	if (code == LT_OK) {
		struct lt_aws_page answer = {
		    .bytes = response.body, .byte_count = response.body_length};
		const struct lt_aws_text *const next = &answer.next;

		code = lt_aws_items_read(
		    action->items, action->context, &answer, err);
		if (code == LT_OK && next->at != NULL &&
		    !lt_aws_text_copy(following, sizeof(following), next))
			code = lt_fail(err, LT_ELIMIT,
			    "a nextToken of %zu bytes, limit %zu", next->length,
			    sizeof(following) - 1);
		if (code == LT_OK && following[0] != '\0' &&
		    strcmp(following, page) == 0)
			code = lt_fail(err, LT_EINPUT,
			    "the same nextToken again: pages without end");
		if (code != LT_OK)
			lt_web_refuse(request->url, err);
	}
	memcpy(page, following, sizeof(following));
	lt_http_free(&response);
	return code;
}

int
lt_aws_do(struct lt_web *web, const struct lt_aws_login *login,
    const struct lt_aws_action *action, struct lt_error *err)
{
	const char *const region = lt_source_option(web->options, "region", "");
	char page[LT_AWS_PAGE_TOKEN_SIZE] = "", form[FORM_SIZE],
	     url[LT_URL_SIZE], home[128], scope[128];
	const struct lt_web_request request = {
	    .url = url,
	    .secret_header = login->header[0] == '\0' ? NULL : login->header,
	    .secret_login = login->pair,
	    .aws_sigv4 = scope,
	    .body = form,
	    .type = LT_WEB_XML,
	    .error_text = action->error_text,
	};
	int code, pages = 0;

	snprintf(home, sizeof(home), "https://ec2.%s.amazonaws.com", region);
	snprintf(scope, sizeof(scope), "aws:amz:%s:ec2", region);
	code = lt_url_start(
	    url, lt_source_option(web->options, "url", home), "", err);
	do {
		if (code == LT_OK && pages++ == action->pages_max)
			code = lt_fail(err, LT_ELIMIT,
			    "%s: more than %d pages of %s", web->options->name,
			    action->pages_max, action->name);
		if (code == LT_OK)
			code = make_form(form, action, page, err);
		if (code == LT_OK)
			code = do_page(web, &request, action, page, err);
	} while (code == LT_OK && page[0] != '\0');
	return code;
}
