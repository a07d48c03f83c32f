/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The EC2 API, between web.c and an adapter: one action with all its pages, signed by libcurl, its
 * items, and the meaning of an error body.
 *
 * Items are read by a small reader of XML without attributes, entities of its own or DTD; other XML
 * is an error. Not expat, as in entsoe_xml.c: 100,000 prices (37 MB) must take less than 100 ms.
 * This reader and all work on its items take 40 ms (bench_parse); expat 2.5.0 takes 280 ms, without
 * a handler.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "aws.h"
#include "source.h"

enum { ROOT_DEPTH = 1, SET_DEPTH, ITEM_DEPTH, FIELD_DEPTH };

struct reader {
	const struct lt_aws_items *items;
	void *context;
	const char *begin, *at, *end;
	int depth;
	struct lt_aws_text open[LT_AWS_DEPTH_MAX]; /* local and whole names */
	size_t prefix[LT_AWS_DEPTH_MAX];
	bool seen_root, in_set;
	/* The element whose text is wanted, and where that text begins. */
	struct lt_aws_text *field;
	const char *text;
	struct lt_aws_text texts[LT_AWS_FIELDS_MAX], next;
};

bool
lt_aws_text_is(const struct lt_aws_text *text, const char *wanted)
{
	return text->at != NULL && strlen(wanted) == text->length &&
	       memcmp(text->at, wanted, text->length) == 0;
}

/* The character that the entity at `at` stands for, and its length; an
 * unknown one stays as it is. */
static char
entity(const char *at, size_t length, size_t *used)
{
	static const struct {
		const char *name;
		size_t length;
		char character;
	} entities[] = {
	    {"&amp;", 5, '&'},
	    {"&lt;", 4, '<'},
	    {"&gt;", 4, '>'},
	    {"&quot;", 6, '"'},
	    {"&apos;", 6, '\''},
	};

	for (size_t i = 0; i < sizeof(entities) / sizeof(entities[0]); i++)
		if (length >= entities[i].length &&
		    memcmp(at, entities[i].name, entities[i].length) == 0) {
			*used = entities[i].length;
			return entities[i].character;
		}
	*used = 1;
	return *at;
}

bool
lt_aws_text_copy(char *out, size_t size, const struct lt_aws_text *text)
{
	size_t length = 0, used = 1;

	for (size_t i = 0; text->at != NULL && i < text->length; i += used) {
		if (length + 1 >= size) {
			out[0] = '\0';
			return false;
		}
		used = 1;
		out[length++] = text->at[i] != '&' ? text->at[i]
						   : entity(text->at + i, text->length - i, &used);
	}
	out[length] = '\0';
	return text->at != NULL;
}

static int
refuse(const struct reader *reader, const char *at, const char *what, struct lt_error *err)
{
	int line = 1, column = 1;

	for (const char *byte = reader->begin; byte < at; byte++) {
		column = *byte == '\n' ? 1 : column + 1;
		line += *byte == '\n';
	}
	lt_fail(err, LT_EINPUT, "%s", what);
	lt_error_at(err, line, column);
	return LT_EINPUT;
}

static bool
is_blank(const char *at, const char *end)
{
	while (at < end && (*at == ' ' || (*at >= '\t' && *at <= '\r')))
		at++;
	return at == end;
}

/* Returns the field for the text of the element that was opened last; NULL: not wanted. */
static struct lt_aws_text *
wanted_field(struct reader *reader, const struct lt_aws_text *name)
{
	if (reader->depth == SET_DEPTH)
		return lt_aws_text_is(name, "nextToken") ? &reader->next : NULL;
	if (reader->depth != FIELD_DEPTH || !reader->in_set)
		return NULL;
	for (int i = 0; i < LT_AWS_FIELDS_MAX; i++)
		if (reader->items->fields[i] != NULL &&
		    lt_aws_text_is(name, reader->items->fields[i]))
			return &reader->texts[i];
	return NULL;
}

static int
open_element(struct reader *reader, const char *begin, const char *end, struct lt_error *err)
{
	const char *const colon = memchr(begin, ':', (size_t)(end - begin));
	const char *const local = colon == NULL ? begin : colon + 1;
	const struct lt_aws_text name = {local, (size_t)(end - local)};

	if (name.length == 0)
		return refuse(reader, begin, "an element without name", err);
	if (reader->field != NULL)
		return refuse(reader, begin, "elements where text is", err);
	if (reader->depth == LT_AWS_DEPTH_MAX)
		return refuse(reader, begin, "too many levels of XML", err);
	if (reader->depth == 0 && reader->seen_root)
		return refuse(reader, begin, "a second root element", err);
	reader->prefix[reader->depth] = (size_t)(local - begin);
	reader->open[reader->depth++] = name;
	reader->seen_root = true;
	if (reader->depth == ROOT_DEPTH && !lt_aws_text_is(&name, reader->items->root)) {
		char words[LT_AWS_TEXT_SIZE];

		snprintf(words, sizeof(words), "XML of <%.*s>, want <%s>",
		    (int)(name.length < 40 ? name.length : 40), name.at, reader->items->root);
		return refuse(reader, begin, words, err);
	}
	if (reader->depth == SET_DEPTH)
		reader->in_set = lt_aws_text_is(&name, reader->items->set);
	if (reader->depth == ITEM_DEPTH)
		memset(reader->texts, 0, sizeof(reader->texts));
	reader->field = wanted_field(reader, &name);
	return LT_OK;
}

/* text_end: where the tag that closes begins. */
static int
close_element(struct reader *reader, const char *text_end, struct lt_error *err)
{
	if (reader->field != NULL)
		*reader->field =
		    (struct lt_aws_text){reader->text, (size_t)(text_end - reader->text)};
	reader->field = NULL;
	if (reader->depth-- != ITEM_DEPTH || !reader->in_set)
		return LT_OK;
	return reader->items->take(reader->context, reader->texts, err);
}

/* "</name>": the name of the one that is open. */
static int
end_tag(struct reader *reader, const char *tag, struct lt_error *err)
{
	const char *const name = tag + 2;
	const char *const close = memchr(name, '>', (size_t)(reader->end - name));

	if (close == NULL)
		return refuse(reader, tag, "cut off within a tag", err);
	if (reader->depth == 0)
		return refuse(reader, tag, "an end without a start", err);
	const struct lt_aws_text *const open = &reader->open[reader->depth - 1];
	const size_t prefix = reader->prefix[reader->depth - 1];
	const size_t length = prefix + open->length;
	if ((size_t)(close - name) < length || memcmp(name, open->at - prefix, length) != 0 ||
	    !is_blank(name + length, close))
		return refuse(reader, tag, "the end of another element", err);
	reader->at = close + 1;
	return close_element(reader, tag, err);
}

/* Attributes are passed over; ">" may stand within their quotes. */
static const char *
tag_end(const char *at, const char *end)
{
	char quote = '\0';

	for (; at < end; at++) {
		if (quote != '\0')
			quote = *at == quote ? '\0' : quote;
		else if (*at == '"' || *at == '\'')
			quote = *at;
		else if (*at == '>')
			return at;
	}
	return NULL;
}

static int
start_tag(struct reader *reader, const char *tag, struct lt_error *err)
{
	const char *name_end = tag + 1;

	while (name_end < reader->end && *name_end != '>' && *name_end != '/' &&
	       (unsigned char)*name_end > ' ')
		name_end++;
	const char *const close = tag_end(name_end, reader->end);
	if (close == NULL)
		return refuse(reader, tag, "cut off within a tag", err);
	const int code = open_element(reader, tag + 1, name_end, err);
	if (code != LT_OK)
		return code;
	reader->at = reader->text = close + 1;
	return close[-1] == '/' ? close_element(reader, close + 1, err) : LT_OK;
}

/* <?xml ...?> and comments. Nothing else that begins so is ever sent. */
static int
pass_over(struct reader *reader, const char *tag, struct lt_error *err)
{
	const size_t left = (size_t)(reader->end - tag);
	const bool comment = left >= 4 && memcmp(tag, "<!--", 4) == 0;
	const char *const mark = comment ? "-->" : "?>";

	if (tag[1] == '!' && !comment)
		return refuse(reader, tag, "a DTD or CDATA, want neither", err);
	if (reader->field != NULL)
		return refuse(reader, tag, "a comment where text is", err);
	const char *const close = memmem(tag + 2, left - 2, mark, strlen(mark));
	if (close == NULL)
		return refuse(reader, tag, "cut off within a comment", err);
	reader->at = close + strlen(mark);
	return LT_OK;
}

static int
read_step(struct reader *reader, struct lt_error *err)
{
	const char *const tag = memchr(reader->at, '<', (size_t)(reader->end - reader->at));
	const char *const text_end = tag == NULL ? reader->end : tag;

	if (reader->depth == 0 && !is_blank(reader->at, text_end))
		return refuse(reader, reader->at, "not XML", err);
	if (tag == NULL || tag + 1 == reader->end) {
		if (tag != NULL)
			return refuse(reader, tag, "cut off", err);
		reader->at = reader->end;
		return LT_OK;
	}
	if (tag[1] == '/')
		return end_tag(reader, tag, err);
	if (tag[1] == '?' || tag[1] == '!')
		return pass_over(reader, tag, err);
	return start_tag(reader, tag, err);
}

int
lt_aws_items_read(
    const struct lt_aws_items *items, void *context, struct lt_aws_page *page, struct lt_error *err)
{
	const char *const bytes = page->bytes;
	const size_t byte_count = page->byte_count;

	if (byte_count == 0)
		return lt_fail(err, LT_EINPUT, "empty, want XML");
	struct reader reader = {.items = items,
	    .context = context,
	    .begin = bytes,
	    .at = bytes,
	    .end = bytes + byte_count};
	int code = LT_OK;

	if (byte_count >= 3 && memcmp(bytes, "\xEF\xBB\xBF", 3) == 0)
		reader.at = reader.begin += 3;
	if (memchr(bytes, '\0', byte_count) != NULL)
		return lt_fail(err, LT_EINPUT, "not XML in UTF-8: a NUL byte");
	while (code == LT_OK && reader.at < reader.end)
		code = read_step(&reader, err);
	if (code == LT_OK && reader.depth > 0)
		code = refuse(&reader, reader.end, "cut off", err);
	if (code == LT_OK && !reader.seen_root)
		code = lt_fail(err, LT_EINPUT, "empty, want XML");
	if (code == LT_OK)
		page->next = reader.next;
	return code;
}

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
lt_aws_region_check(const struct lt_source_options *options, struct lt_error *err)
{
	const char *const region = lt_source_option(options, "region", "");

	if (!lt_aws_is_name(region) || strchr(region, '.') != NULL)
		return lt_option_fail(options, "region", err,
		    "%s: region: got \"%s\", want one such as eu-west-2", options->name, region);
	return LT_OK;
}

/* ---- errors ---- */

struct failure {
	char code[64], message[LT_AWS_TEXT_SIZE];
};

static int
take_failure(void *context, const struct lt_aws_text texts[LT_AWS_FIELDS_MAX], struct lt_error *err)
{
	struct failure *const failure = context;

	(void)err;
	lt_aws_text_copy(failure->code, sizeof(failure->code), &texts[0]);
	if (!lt_aws_text_copy(failure->message, sizeof(failure->message), &texts[1]))
		failure->message[0] = '\0';
	return LT_OK;
}

/* <Response><Errors><Error><Code>...<Message>...; a message that may have parts of what was signed
 * is not shown. */
void
lt_aws_error_text(char *out, size_t size, const char *body, size_t length, const char *permission)
{
	static const struct lt_aws_items errors = {.root = "Response",
	    .set = "Errors",
	    .fields = {"Code", "Message"},
	    .take = take_failure};

	static const struct {
		const char *code, *advice;
		bool is_quiet;
	} known[] = {
	    {"AuthFailure", "are the keys right, and is the region enabled for the account?",
		false},
	    {"OptInRequired", "is the region enabled for the account?", false},
	    {"SignatureDoesNotMatch", "is the secret key right, and this machine's clock?", true},
	    {"IncompleteSignature", "is the secret key right?", true},
	    {"RequestExpired", "is this machine's clock right, and are the keys still valid?",
		false},
	    {"ExpiredToken", "the session has ended: renew its keys", false},
	    {"RequestLimitExceeded", "the account asks too often", false},
	    {"Throttling", "the account asks too often", false},
	    {"MaxConfigLimitExceeded", "too many different questions within 24 hours", false},
	};
	struct failure failure = {"", ""};
	struct lt_aws_page page = {.bytes = body, .byte_count = length};
	char advice[96] = "";
	bool is_quiet = false;

	out[0] = '\0';
	if (lt_aws_items_read(&errors, &failure, &page, NULL) != LT_OK || failure.code[0] == '\0')
		return;
	if (strcmp(failure.code, "UnauthorizedOperation") == 0)
		snprintf(advice, sizeof(advice), " (allow the IAM action %s)", permission);
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (strcmp(failure.code, known[i].code) == 0) {
			snprintf(advice, sizeof(advice), " (%s)", known[i].advice);
			is_quiet = known[i].is_quiet;
		}
	snprintf(out, size, "%s%s%s%s", failure.code, advice,
	    is_quiet || failure.message[0] == '\0' ? "" : ": ", is_quiet ? "" : failure.message);
}

/* ---- requests ---- */

static int
make_form(char form[FORM_SIZE], const struct lt_aws_action *action, const char *page,
    struct lt_error *err)
{
	char token[3 * LT_AWS_PAGE_TOKEN_SIZE] = "";
	int length;

	if (lt_url_escape(token, sizeof(token), page, err) != LT_OK)
		return LT_ELIMIT;
	length = snprintf(form, FORM_SIZE, "Action=%s&Version=2016-11-15%s%s%s", action->name,
	    action->form, token[0] == '\0' ? "" : "&NextToken=", token);
	return length < FORM_SIZE ? LT_OK
				  : lt_fail(err, LT_ELIMIT, "%s: a request of %d bytes, limit %d",
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
    const struct lt_aws_action *action, char page[LT_AWS_PAGE_TOKEN_SIZE], struct lt_error *err)
{
	struct lt_http_response response;
	char following[LT_AWS_PAGE_TOKEN_SIZE] = "";
	int code = lt_web_do(web, request, &response, err);

	forget_refused(web, response.status);
	if (code == LT_OK) {
		struct lt_aws_page answer = {
		    .bytes = response.body, .byte_count = response.body_length};
		const struct lt_aws_text *const next = &answer.next;

		code = lt_aws_items_read(action->items, action->context, &answer, err);
		if (code == LT_OK && next->at != NULL &&
		    !lt_aws_text_copy(following, sizeof(following), next))
			code = lt_fail(err, LT_ELIMIT, "a nextToken of %zu bytes, limit %zu",
			    next->length, sizeof(following) - 1);
		if (code == LT_OK && following[0] != '\0' && strcmp(following, page) == 0)
			code =
			    lt_fail(err, LT_EINPUT, "the same nextToken again: pages without end");
		if (code != LT_OK)
			lt_web_refuse(request->url, err);
	}
	memcpy(page, following, sizeof(following));
	lt_http_free(&response);
	return code;
}

int
lt_aws_do(struct lt_web *web, const struct lt_aws_login *login, const struct lt_aws_action *action,
    struct lt_error *err)
{
	const char *const region = lt_source_option(web->options, "region", "");
	char page[LT_AWS_PAGE_TOKEN_SIZE] = "", form[FORM_SIZE], url[LT_URL_SIZE], home[128],
	     scope[128];
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
	code = lt_url_start(url, lt_source_option(web->options, "url", home), "", err);
	do {
		if (code == LT_OK && pages++ == action->pages_max)
			code = lt_fail(err, LT_ELIMIT, "%s: more than %d pages of %s",
			    web->options->name, action->pages_max, action->name);
		if (code == LT_OK)
			code = make_form(form, action, page, err);
		if (code == LT_OK)
			code = do_page(web, &request, action, page, err);
	} while (code == LT_OK && page[0] != '\0');
	return code;
}
