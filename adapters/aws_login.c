/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The credentials that sign requests to AWS: keys of the environment, of a credentials file, or of
 * the instance's role (IMDSv2). They never appear in an error.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "aws.h"
#include "source.h"
#include "units.h"

enum {
	FILE_SIZE = 16 * 1024, /* some dozens of profiles: more, refused */
	EARLY_S = 300,	       /* AWS has new ones at least so long before the end */
};

static const char token_ttl[] = "X-aws-ec2-metadata-token-ttl-seconds: 60";

static bool
is_kind(const struct lt_source_options *options, const char *kind)
{
	return strcmp(lt_source_option(options, "credentials", "environment"), kind) == 0;
}

int
lt_aws_login_check(const struct lt_source_options *options, struct lt_error *err)
{
	static const char *const kinds[] = {"environment", "file", "instance"};
	const char *const file = lt_source_option(options, "credentials_file", NULL);
	bool known = false;

	for (int i = 0; i < 3; i++)
		known |= is_kind(options, kinds[i]);
	if (!known)
		return lt_option_fail(options, "credentials", err,
		    "%s: credentials: got \"%s\", want environment, file or instance",
		    options->name, lt_source_option(options, "credentials", ""));
	if (is_kind(options, "file") && file == NULL)
		return lt_option_fail(options, "credentials", err,
		    "%s: credentials_file: missing, want an absolute path", options->name);
	if (!is_kind(options, "file") &&
	    (file != NULL || lt_source_option(options, "profile", NULL) != NULL))
		return lt_option_fail(options, file != NULL ? "credentials_file" : "profile", err,
		    "%s: credentials_file and profile need credentials: file", options->name);
	if (file != NULL && file[0] != '/')
		return lt_option_fail(options, "credentials_file", err,
		    "%s: credentials_file: got \"%s\", want an absolute path", options->name, file);
	return lt_url_check(options, "imds_url", err);
}

/* Printable, without blanks; keys have no ":", which ends one in a login. */
static bool
is_key(const char *text, bool may_have_colon)
{
	if (*text == '\0')
		return false;
	for (; *text != '\0'; text++)
		if (*text <= ' ' || *text > '~' || (*text == ':' && !may_have_colon))
			return false;
	return true;
}

struct keys { /* NULL or "" = none */
	const char *id, *secret, *token;
};

/* where: for the error. */
static int
fill_login(
    struct lt_aws_login *login, const struct keys *keys, const char *where, struct lt_error *err)
{
	const char *const id = keys->id, *const secret = keys->secret;
	const char *const token = keys->token;
	const bool has_token = token != NULL && token[0] != '\0';
	const char *const missing = id == NULL || id[0] == '\0'		  ? "access key id"
				    : secret == NULL || secret[0] == '\0' ? "secret access key"
									  : NULL;

	if (missing != NULL)
		return lt_fail(err, LT_EINPUT, "%s: no %s", where, missing);
	if (!is_key(id, false) || !is_key(secret, true) || (has_token && !is_key(token, true)))
		return lt_fail(err, LT_EINPUT,
		    "%s: a key or token with blanks or controls, want it as AWS gave it", where);
	login->header[0] = '\0';
	if (snprintf(login->pair, sizeof(login->pair), "%s:%s", id, secret) <
		(int)sizeof(login->pair) &&
	    (!has_token || snprintf(login->header, sizeof(login->header),
			       "x-amz-security-token: %s", token) < (int)sizeof(login->header)))
		return LT_OK;
	explicit_bzero(login, sizeof(*login));
	return lt_fail(err, LT_ELIMIT, "%s: too long a key or token", where);
}

static int
of_environment(struct lt_aws_login *login, struct lt_error *err)
{
	const struct keys keys = {getenv("AWS_ACCESS_KEY_ID"), getenv("AWS_SECRET_ACCESS_KEY"),
	    getenv("AWS_SESSION_TOKEN")};

	return fill_login(
	    login, &keys, "AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY in the environment", err);
}

/* ---- the credentials file ---- */

/* Without blanks at both ends, in place. */
static char *
trim(char *text)
{
	static const char blanks[] = " \t\r";
	char *const begin = text + strspn(text, blanks);
	size_t length = strlen(begin);

	while (length > 0 && strchr(blanks, begin[length - 1]) != NULL)
		length--;
	begin[length] = '\0';
	return begin;
}

/* "[name]" is the section that is wanted. */
static bool
is_section(const char *line, const char *profile)
{
	const size_t length = strlen(profile);

	return line[0] == '[' && strncmp(line + 1, profile, length) == 0 &&
	       strcmp(line + 1 + length, "]") == 0;
}

int
lt_aws_login_of_file(
    struct lt_aws_login *login, char *text, const char *profile, struct lt_error *err)
{
	struct keys keys = {NULL, NULL, NULL};
	const struct {
		const char *name, **value;
	} names[] = {
	    {"aws_access_key_id", &keys.id},
	    {"aws_secret_access_key", &keys.secret},
	    {"aws_session_token", &keys.token},
	};
	bool inside = false, found = false;
	char where[128], *rest = text;

	for (char *line; (line = strsep(&rest, "\n")) != NULL;) {
		line = trim(line);
		if (line[0] == '[') {
			inside = is_section(line, profile);
			found |= inside;
			continue;
		}
		char *const equals = strchr(line, '=');
		if (!inside || line[0] == '#' || line[0] == ';' || equals == NULL)
			continue;
		*equals = '\0';
		for (int i = 0; i < 3; i++)
			if (strcmp(trim(line), names[i].name) == 0)
				*names[i].value = trim(equals + 1);
	}
	if (!found)
		return lt_fail(err, LT_EINPUT, "no section [%.60s], want the profile's", profile);
	snprintf(where, sizeof(where), "section [%.60s]", profile);
	return fill_login(login, &keys, where, err);
}

static int
of_file(const struct lt_source_options *options, struct lt_aws_login *login, struct lt_error *err)
{
	const char *const path = lt_source_option(options, "credentials_file", "");
	char text[FILE_SIZE];
	struct lt_error inner = {0};
	int code = lt_secret_file(path, text, sizeof(text), err);

	if (code == LT_OK) {
		code = lt_aws_login_of_file(
		    login, text, lt_source_option(options, "profile", "default"), &inner);
		if (code != LT_OK)
			lt_fail(err, (enum lt_code)code, "%s: %s", path, inner.text);
	}
	explicit_bzero(text, sizeof(text));
	return lt_error_mend(err, code);
}

/* ---- the instance's role ---- */

static void
wipe(json_t *json)
{
	/* jansson lends its own bytes; they are ours until the decref. */
	if (json_is_string(json))
		explicit_bzero(
		    (char *)(uintptr_t)json_string_value(json), json_string_length(json));
}

/* {"Code": "Success", "AccessKeyId", "SecretAccessKey", "Token",
 * "Expiration": "2026-01-01T00:00:00Z"}. jansson's message about bad JSON would
 * quote a part of it, so it is not shown. */
int
lt_aws_login_of_role(struct lt_aws_login *login, const char *bytes, size_t byte_count,
    int64_t *until_utc_s, struct lt_error *err)
{
	json_t *json;
	int code = LT_OK;

	if (lt_json_load(&json, bytes, byte_count, NULL) != LT_OK)
		return lt_fail(err, LT_EINPUT, "credentials of the role: want one JSON object");
	json_t *const secret = json_object_get(json, "SecretAccessKey");
	json_t *const token = json_object_get(json, "Token");
	const char *const state = json_string_value(json_object_get(json, "Code"));
	const char *const until = json_string_value(json_object_get(json, "Expiration"));

	if (state != NULL && strcmp(state, "Success") != 0)
		code =
		    lt_fail(err, LT_EINPUT, "credentials of the role: %.60s, want Success", state);
	else if (until == NULL || lt_utc_parse(until, until_utc_s, NULL) != LT_OK)
		code =
		    lt_fail(err, LT_EINPUT, "credentials of the role: no time in \"Expiration\"");
	else
		code = fill_login(login,
		    &(struct keys){json_string_value(json_object_get(json, "AccessKeyId")),
			json_string_value(secret), json_string_value(token)},
		    "credentials of the role", err);
	wipe(secret);
	wipe(token);
	json_decref(json);
	return lt_error_mend(err, code);
}

/* Asks the metadata service, past any proxy, which must not see our keys. The answer's body is
 * freed with imds_free(). */
static int
imds(struct lt_web *web, const char *method, const char *path, const char *header,
    struct lt_http_response *response, struct lt_error *err)
{
	char url[LT_URL_SIZE];
	const struct lt_web_request request = {
	    .url = url,
	    .method = method,
	    .secret_header = header,
	    .direct = true,
	    .type = LT_WEB_TEXT,
	};
	const int code = lt_url_start(
	    url, lt_source_option(web->options, "imds_url", "http://169.254.169.254"), path, err);

	*response = (struct lt_http_response){0};
	return code == LT_OK ? lt_web_do(web, &request, response, err) : code;
}

static void
imds_free(struct lt_http_response *response)
{
	if (response->body != NULL)
		explicit_bzero(response->body, response->body_length);
	lt_http_free(response);
}

/* header: of the session, for all further requests. */
static int
imds_session(struct lt_web *web, char *header, size_t size, struct lt_error *err)
{
	struct lt_http_response response;
	int code = imds(web, "PUT", "latest/api/token", token_ttl, &response, err);

	if (code == LT_OK &&
	    (!is_key(response.body, true) ||
		snprintf(header, size, "X-aws-ec2-metadata-token: %s", response.body) >= (int)size))
		code = lt_fail(err, LT_EINPUT, "instance metadata: the answer is no session token");
	imds_free(&response);
	return code;
}

/* The one role of an instance: the first line of the list. */
static int
imds_role(struct lt_web *web, const char *header, char *path, size_t size, struct lt_error *err)
{
	static const char list[] = "latest/meta-data/iam/security-credentials/";
	struct lt_http_response response;
	char role[192] = "";
	int code = imds(web, NULL, list, header, &response, err);

	if (response.status == 404)
		lt_context(err, "the instance has no IAM role");
	if (code == LT_OK) {
		response.body[strcspn(response.body, "\r\n")] = '\0';
		code = lt_url_escape(role, sizeof(role), response.body, err);
	}
	if (code == LT_OK && role[0] == '\0')
		code = lt_fail(err, LT_EINPUT, "instance metadata: the instance has no IAM role");
	snprintf(path, size, "%s%s", list, role);
	imds_free(&response);
	return code;
}

static int
of_instance(
    struct lt_web *web, struct lt_aws_login *login, int64_t *until_utc_s, struct lt_error *err)
{
	struct lt_http_response response = {0};
	char header[512], path[256];
	int code = imds_session(web, header, sizeof(header), err);

	if (code == LT_OK)
		code = imds_role(web, header, path, sizeof(path), err);
	if (code == LT_OK)
		code = imds(web, NULL, path, header, &response, err);
	if (code == LT_OK)
		code = lt_aws_login_of_role(
		    login, response.body, response.body_length, until_utc_s, err);
	imds_free(&response);
	explicit_bzero(header, sizeof(header));
	if (code != LT_OK)
		lt_context(err, "credentials");
	return code;
}

/* Kept as "pair\nheader". */
static void
keep_login(struct lt_source_memory *memory, const struct lt_aws_login *login, int64_t until_utc_s)
{
	if (snprintf(memory->token, sizeof(memory->token), "%s\n%s", login->pair, login->header) <
	    (int)sizeof(memory->token))
		memory->token_until_utc_s = until_utc_s - EARLY_S;
	else
		explicit_bzero(memory->token, sizeof(memory->token));
}

static bool
recall(const struct lt_source_memory *memory, int64_t now_utc_s, struct lt_aws_login *login)
{
	const char *const line = strchr(memory->token, '\n');

	if (line == NULL || now_utc_s >= memory->token_until_utc_s)
		return false;
	snprintf(
	    login->pair, sizeof(login->pair), "%.*s", (int)(line - memory->token), memory->token);
	snprintf(login->header, sizeof(login->header), "%s", line + 1);
	return true;
}

int
lt_aws_login_get(
    struct lt_web *web, int64_t now_utc_s, struct lt_aws_login *login, struct lt_error *err)
{
	int64_t until_utc_s = 0;

	if (is_kind(web->options, "environment"))
		return of_environment(login, err);
	if (is_kind(web->options, "file"))
		return of_file(web->options, login, err);
	if (recall(web->memory, now_utc_s, login))
		return LT_OK;
	const int code = of_instance(web, login, &until_utc_s, err);
	if (code == LT_OK)
		keep_login(web->memory, login, until_utc_s);
	return code;
}
