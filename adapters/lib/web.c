/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A request of an adapter: what is sent, what may be shown of it, and whether the answer is one.
 * url.c and secret.c have the parts of a request.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "guard.h"
#include "lookup.h"
#include "text_mend.h"
#include "web.h"

enum {
	SHARED_MAX = 8, /* answers that are kept for the next source */
	SHARED_BYTES_MAX = 32 * 1024 * 1024,
	SECRET_URL_SIZE = LT_URL_SIZE + LT_SECRET_SIZE,
};

/* Answers of this process by what was asked. */
static struct {
	bool on;
	int count;
	size_t byte_count;
	struct {
		char *key;
		struct lt_http_response response;
	} kept[SHARED_MAX];
} shared;

void
lt_web_share(void)
{
	shared.on = true;
}

static int
silence_s(const struct lt_source_options *options)
{
	return options->timeout_s > 0 ? options->timeout_s : LT_TIMEOUT_S;
}

int64_t
lt_web_request_ms(const struct lt_source_options *options)
{
	return 1000 * ((int64_t)silence_s(options) + LT_WEB_READ_S);
}

int64_t
lt_web_fetch_ms(const struct lt_source_options *options)
{
	return LT_WEB_REQUESTS * lt_web_request_ms(options);
}

void
lt_web_start(struct lt_web *web, const struct lt_source_options *options, struct lt_points *points)
{
	*web = (struct lt_web){.options = options, .points = points};
	web->memory = options->memory != NULL ? options->memory : &web->own;
	web->memory->trace_count = 0;
	web->end_ms = lt_monotonic_ms() + lt_web_fetch_ms(options);
}

/* ---- equal requests, once ---- */

static char *
key_of(const struct lt_http_request *request)
{
	char *key = NULL;
	size_t size;
	FILE *const file = open_memstream(&key, &size);

	if (file == NULL)
		return NULL;
	fprintf(file, "%s\n%s\n%s\n%s\n", request->url,
	    request->method == NULL ? "" : request->method,
	    request->login == NULL ? "" : request->login,
	    request->body == NULL ? "" : request->body);
	for (int i = 0; i < LT_HTTP_HEADERS_MAX; i++)
		if (request->headers[i] != NULL)
			fprintf(file, "%s\n", request->headers[i]);
	return fclose(file) == 0 ? key : NULL;
}

static bool
copy_response(struct lt_http_response *to, const struct lt_http_response *from)
{
	*to = *from;
	to->body = malloc(from->body_length + 1);
	if (to->body == NULL) {
		*to = (struct lt_http_response){0};
		return false;
	}
	memcpy(to->body, from->body, from->body_length + 1);
	return true;
}

static bool
recall(const char *key, struct lt_http_response *response)
{
	for (int i = 0; i < shared.count; i++)
		if (strcmp(shared.kept[i].key, key) == 0)
			return copy_response(response, &shared.kept[i].response);
	return false;
}

/* Takes key. The process ends soon, so nothing is ever dropped. */
static void
remember(char *key, const struct lt_http_response *response)
{
	if (shared.count == SHARED_MAX ||
	    shared.byte_count + response->body_length > SHARED_BYTES_MAX ||
	    !copy_response(&shared.kept[shared.count].response, response)) {
		free(key);
		return;
	}
	shared.kept[shared.count++].key = key;
	shared.byte_count += response->body_length;
}

/* ---- one request ---- */

/* Some sources ask for a pause between two requests. */
static void
keep_apart(const char *url, int gap_ms)
{
	static char last_host[256];
	static int64_t last_ms;
	const int64_t wait_ms = last_ms + gap_ms - lt_monotonic_ms();
	char host[256];

	lt_http_host(host, sizeof(host), url);
	if (gap_ms > 0 && wait_ms > 0 && wait_ms <= gap_ms && strcmp(host, last_host) == 0) {
		const struct timespec pause = {
		    .tv_sec = wait_ms / 1000, .tv_nsec = wait_ms % 1000 * 1000000};

		nanosleep(&pause, NULL);
	}
	snprintf(last_host, sizeof(last_host), "%s", host);
	last_ms = lt_monotonic_ms();
}

/* As it may be shown: no query of secrets, no headers, no body. */
static struct lt_trace *
trace(struct lt_web *web, const struct lt_web_request *request)
{
	struct lt_source_memory *const memory = web->memory;
	struct lt_trace *const line =
	    &memory->trace[memory->trace_count < LT_TRACE_MAX ? memory->trace_count
							      : LT_TRACE_MAX - 1];

	memory->trace_count++;
	*line = (struct lt_trace){0};
	snprintf(line->request, sizeof(line->request), "%s %s",
	    request->method != NULL ? request->method
	    : request->body != NULL ? "POST"
				    : "GET",
	    request->url);
	lt_text_mend(line->request);
	return line;
}

/* Slow sources are known to be: how to wait is said with the error. */
static void
say_patience(const struct lt_web *web, int64_t took_ms, struct lt_error *err)
{
	const int waited_s = silence_s(web->options);
	char text[sizeof(err->text)];

	if (err == NULL || took_ms < 1000 * (int64_t)waited_s || waited_s == LT_TIMEOUT_MAX_S)
		return;
	memcpy(text, err->text, sizeof(text));
	snprintf(err->text, sizeof(err->text), "%.400s; its option timeout (%ds) waits longer",
	    text, waited_s);
}

static int
send_request(struct lt_web *web, const struct lt_web_request *request,
    const struct lt_http_request *http, struct lt_http_response *response, struct lt_error *err)
{
	struct lt_trace *const line = trace(web, request);
	const int64_t begin_ms = lt_monotonic_ms();
	char *key = shared.on ? key_of(http) : NULL;
	int code = LT_OK;

	if (key == NULL || !recall(key, response)) {
		keep_apart(request->url, request->gap_ms);
		code = lt_http_do(http, response, err);
		/* That a file is not there holds for all as well. */
		if (code == LT_OK && key != NULL &&
		    (response->status == 200 || response->status == 404)) {
			remember(key, response);
			key = NULL;
		}
	}
	free(key);
	line->status = response->status;
	line->body_length = response->body_length;
	line->took_ms = lt_monotonic_ms() - begin_ms;
	if (code != LT_OK)
		say_patience(web, line->took_ms, err);
	if (code != LT_OK || response->status != 200)
		web->points->retry_after_s = response->retry_after_s;
	return code;
}

static int
check_type(const struct lt_web_request *request, const char *host,
    const struct lt_http_response *response, struct lt_error *err)
{
	static const struct {
		const char *word, *name;
	} wanted[LT_WEB_TYPE_COUNT] = {
	    [LT_WEB_JSON] = {"json", "JSON"},
	    [LT_WEB_XML] = {"xml", "XML"},
	    [LT_WEB_TEXT] = {NULL, "data"},
	};
	const char *const type = response->content_type;
	const char *const word = LT_ROW(wanted, request->type).word;
	const bool is_html = strcasestr(type, "html") != NULL;

	if (type[0] == '\0' || (!is_html && (word == NULL || strcasestr(type, word) != NULL)))
		return LT_OK;
	return lt_fail(
	    err, LT_ENET, "%s: got %s, want %s", host, type, LT_ROW(wanted, request->type).name);
}

/* Tells the guard the secrets of this request. */
static void
guard_secrets(const struct lt_web_request *request)
{
	const char *const header = request->secret_header;
	const char *const login = request->secret_login;
	const char *value = request->secret_query;
	char part[LT_SECRET_SIZE];

	while (value != NULL && (value = strchr(value, '=')) != NULL) {
		value++;
		snprintf(part, sizeof(part), "%.*s", (int)strcspn(value, "&"), value);
		lt_guard_add(part);
	}
	if (login != NULL && (value = strchr(login, ':')) != NULL)
		lt_guard_add(value + 1);
	/* Without the words before it, as Bearer, and their blanks. */
	if (header != NULL && (value = strpbrk(header, " :")) != NULL)
		lt_guard_add(strrchr(header, ' ') != NULL ? strrchr(header, ' ') + 1 : value + 1);
	explicit_bzero(part, sizeof(part));
}

static int
check_status(const struct lt_web_request *request, const char *host,
    const struct lt_http_response *response, struct lt_error *err)
{
	char words[201] = "", pause[48] = "";

	if (response->status == 200 || (response->status == 304 && request->conditional))
		return LT_OK;
	if (request->error_text != NULL)
		request->error_text(words, sizeof(words), response->body, response->body_length);
	if (words[0] == '\0')
		lt_http_words(words, 121, response);
	if (response->retry_after_s > 0)
		snprintf(pause, sizeof(pause), ", asks to wait %lld s",
		    (long long)response->retry_after_s);
	return lt_fail(err, LT_ENET, "%s: HTTP status %ld, want 200%s%s%s", host, response->status,
	    pause, words[0] == '\0' ? "" : ": ", words);
}

/* Validators of an earlier answer as headers, and all of the caller's. */
static void
fill_headers(struct lt_http_request *http, char validators[2][320], const struct lt_web *web,
    const struct lt_web_request *request)
{
	int count = 0;

	for (int i = 0; i < LT_WEB_HEADERS_MAX; i++)
		if (request->headers[i] != NULL)
			http->headers[count++] = request->headers[i];
	if (request->secret_header != NULL)
		http->headers[count++] = request->secret_header;
	if (request->conditional && web->memory->etag[0] != '\0') {
		snprintf(validators[0], 320, "If-None-Match: %s", web->memory->etag);
		http->headers[count++] = validators[0];
	}
	if (request->conditional && web->memory->last_modified[0] != '\0') {
		snprintf(validators[1], 320, "If-Modified-Since: %s", web->memory->last_modified);
		http->headers[count++] = validators[1];
	}
}

/* The URL as it is sent, with the part that is not shown. */
static int
full_url(char out[SECRET_URL_SIZE], const struct lt_web_request *request, struct lt_error *err)
{
	const char *const query = request->secret_query;
	const int length = snprintf(out, SECRET_URL_SIZE, "%s%s%s", request->url,
	    query == NULL			? ""
	    : strchr(request->url, '?') == NULL ? "?"
						: "&",
	    query == NULL ? "" : query);

	return length < SECRET_URL_SIZE ? LT_OK
					: lt_fail(err, LT_ELIMIT, "a URL of %d bytes, limit %d",
					      length, SECRET_URL_SIZE - 1);
}

int
lt_web_do(struct lt_web *web, const struct lt_web_request *request,
    struct lt_http_response *response, struct lt_error *err)
{
	char url[SECRET_URL_SIZE], host[256], validators[2][320];
	const int64_t left_ms = web->end_ms - lt_monotonic_ms();
	const int64_t most_ms = lt_web_request_ms(web->options);
	struct lt_http_request http = {
	    .url = url,
	    .method = request->method,
	    .direct = request->direct,
	    .body = request->body,
	    .body_length = request->body == NULL ? 0 : strlen(request->body),
	    .login = request->secret_login,
	    .aws_sigv4 = request->aws_sigv4,
	    .stall_s = silence_s(web->options),
	    .total_ms = (int)(left_ms < most_ms ? left_ms : most_ms),
	};

	*response = (struct lt_http_response){0};
	guard_secrets(request);
	lt_http_host(host, sizeof(host), request->url);
	if (left_ms <= 0)
		return lt_fail(err, LT_ENET, "%s: more than %d s for one fetch of many requests",
		    host, (int)(lt_web_fetch_ms(web->options) / 1000));
	int code = full_url(url, request, err);
	if (code == LT_OK) {
		fill_headers(&http, validators, web, request);
		code = send_request(web, request, &http, response, err);
	}
	explicit_bzero(url, sizeof(url));
	if (code == LT_OK)
		code = check_status(request, host, response, err);
	if (code == LT_OK && response->status == 200)
		code = check_type(request, host, response, err);
	return lt_error_mend(err, code);
}

int
lt_web_refuse(const char *url, struct lt_error *err)
{
	char host[256];

	if (err->line != 0)
		lt_context(err, "line %d, column %d", err->line, err->column);
	err->line = err->column = 0;
	lt_http_host(host, sizeof(host), url);
	lt_context(err, "%s", host);
	return lt_error_mend(err, (int)err->code);
}

int
lt_web_secret_query(char out[LT_SECRET_SIZE], const struct lt_source_options *options,
    const char *key, const char *name, struct lt_error *err)
{
	char secret[LT_SECRET_SIZE];
	int code = lt_secret_read(options, key, secret, sizeof(secret), err);
	const int length = snprintf(out, LT_SECRET_SIZE, "%s=", name);

	if (code == LT_OK)
		code = lt_url_escape(out + length, LT_SECRET_SIZE - (size_t)length, secret, err);
	explicit_bzero(secret, sizeof(secret));
	return code;
}

long
lt_web_status(const struct lt_web *web)
{
	const int count = web->memory->trace_count;

	return count == 0
		   ? 0
		   : web->memory->trace[(count < LT_TRACE_MAX ? count : LT_TRACE_MAX) - 1].status;
}

static void
keep_validators(
    struct lt_source_memory *memory, const struct lt_http_response *response, int64_t now_utc_s)
{
	const int64_t modified_utc_s = lt_http_date(response->last_modified);
	const bool is_same = response->etag[0] != '\0' && memory->changed_utc_s != 0 &&
			     strcmp(memory->etag, response->etag) == 0;

	if (modified_utc_s > 0)
		memory->changed_utc_s = modified_utc_s;
	else if (!is_same)
		memory->changed_utc_s = now_utc_s;
	memcpy(memory->etag, response->etag, sizeof(memory->etag));
	memcpy(memory->last_modified, response->last_modified, sizeof(memory->last_modified));
}

int
lt_web_points(struct lt_web *web, const struct lt_web_request *request, lt_parse_fn *parse,
    int64_t now_utc_s, struct lt_error *err)
{
	struct lt_http_response response;
	struct lt_error inner = {0};
	int code = lt_web_do(web, request, &response, &inner);

	if (code == LT_OK && response.status == 304) {
		web->points->unchanged = true;
	} else if (code == LT_OK) {
		code = parse(web->options,
		    &(struct lt_answer){response.body, response.body_length, now_utc_s},
		    web->points, &inner);
		if (code != LT_OK)
			lt_web_refuse(request->url, &inner);
	}
	if (code == LT_OK && response.status == 200 && request->conditional)
		keep_validators(web->memory, &response, now_utc_s);
	lt_http_free(&response);
	return lt_error_give(err, code, &inner);
}
