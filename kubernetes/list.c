/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads a list page by page and hands its objects on one by one: from a cluster of any size, a
 * page's bytes and one object's tree are in memory. So parts of the JSON text are found without
 * building it; a part that is used goes through lt_json_load_nul().
 *
 * A page that is too large is asked for at half its size, a list that expires is read anew; an
 * object that can't be read is reported and left out. What else fails is returned.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "send.h"
#include "text_mend.h"
#include "url.h"

/* ---- parts of a JSON text ---- */

static void
skip_blanks(struct lt_kube_span *span)
{
	while (span->at < span->end && memchr(" \t\r\n", *span->at, 4) != NULL)
		span->at++;
}

/* Returns the byte after the quote that ends this text; NULL: there is none. */
static const char *
text_end(struct lt_kube_span span)
{
	for (const char *at = span.at + 1; at < span.end; at++) {
		if (*at == '\\')
			at++;
		else if (*at == '"')
			return at + 1;
	}
	return NULL;
}

/* Returns the byte after a value; NULL if it has no end. */
static const char *
value_end(struct lt_kube_span span)
{
	size_t depth = 0;

	for (; span.at < span.end; span.at++) {
		if (*span.at == '"') {
			const char *const after = text_end(span);

			if (after == NULL || depth == 0)
				return after;
			span.at = after - 1;
		} else if (*span.at == '{' || *span.at == '[') {
			depth++;
		} else if (*span.at == '}' || *span.at == ']') {
			if (depth <= 1) /* 0: of what this value stands in */
				return depth == 1 ? span.at + 1 : span.at;
			depth--;
		} else if (depth == 0 && memchr(", \t\r\n", *span.at, 5) != NULL) {
			return span.at;
		}
	}
	return depth == 0 ? span.end : NULL;
}

/* Reads `"name": value` and what parts it from the next; false at the end. */
static bool
next_member(struct lt_kube_span *rest, struct lt_kube_span *name, struct lt_kube_span *value)
{
	skip_blanks(rest);
	if (rest->at == rest->end || *rest->at != '"')
		return false;
	name->at = rest->at + 1;
	rest->at = text_end(*rest);
	if (rest->at == NULL)
		return false;
	name->end = rest->at - 1;
	skip_blanks(rest);
	if (rest->at == rest->end || *rest->at != ':')
		return false;
	rest->at++;
	skip_blanks(rest);
	value->at = rest->at;
	value->end = value_end(*rest);
	if (value->end == NULL || value->end == value->at)
		return false;
	rest->at = value->end;
	skip_blanks(rest);
	if (rest->at < rest->end && *rest->at == ',')
		rest->at++;
	return true;
}

bool
lt_kube_member(struct lt_kube_span object, const char *name, struct lt_kube_span *value)
{
	const size_t length = strlen(name);
	struct lt_kube_span key;

	skip_blanks(&object);
	if (object.at == object.end || *object.at != '{')
		return false;
	object.at++;
	while (next_member(&object, &key, value))
		if ((size_t)(key.end - key.at) == length && memcmp(key.at, name, length) == 0)
			return true;
	return false;
}

bool
lt_kube_elements(struct lt_kube_span array, struct lt_kube_span *rest)
{
	if (array.at == array.end || *array.at != '[')
		return false;
	*rest = array;
	rest->at++;
	return true;
}

int
lt_kube_next(struct lt_kube_span *rest, struct lt_kube_span *element)
{
	skip_blanks(rest);
	if (rest->at < rest->end && *rest->at == ']')
		return 0;
	element->at = rest->at;
	element->end = value_end(*rest);
	if (element->end == NULL || element->end == element->at)
		return -1;
	rest->at = element->end;
	skip_blanks(rest);
	if (rest->at < rest->end && *rest->at == ',')
		rest->at++;
	return 1;
}

void
lt_kube_text(struct lt_kube_span value, char *out, size_t size)
{
	const size_t length = (size_t)(value.end - value.at);

	out[0] = '\0';
	if (length < 2 || length - 2 >= size || value.at[0] != '"' ||
	    memchr(value.at, '\\', length) != NULL || memchr(value.at, '\0', length) != NULL)
		return;
	memcpy(out, value.at + 1, length - 2);
	out[length - 2] = '\0';
}

/* ---- a list ---- */

bool
lt_kube_run_stop(void *context)
{
	struct lt_kube_run *const run = context;

	if (!run->stopped && run->follow->stop != NULL)
		run->stopped = run->follow->stop(run->follow->context);
	return run->stopped;
}

void
lt_kube_run_report(const struct lt_kube_run *run, const struct lt_error *err)
{
	if (run->follow->report != NULL)
		run->follow->report(run->follow->context, err);
}

const char *
lt_kube_version_of(const json_t *object)
{
	const char *const version = json_string_value(
	    json_object_get(json_object_get(object, "metadata"), "resourceVersion"));

	return version == NULL ? "" : version;
}

bool
lt_kube_run_item(struct lt_kube_run *run, enum lt_kube_change change, const json_t *object)
{
	const struct lt_kube_item item = {
	    .change = change,
	    .object = object,
	    .resource_version = lt_kube_version_of(object),
	};

	if (run->follow->item != NULL && !run->follow->item(run->follow->context, &item))
		run->stopped = true;
	return !run->stopped;
}

/* ---- a page ---- */

struct page {
	int limit;
	char *token; /* continue, percent-encoded; NULL = the first page */
	bool is_expired;
};

static int
page_path(const struct lt_kube_run *run, const struct page *page, char **path, struct lt_error *err)
{
	const char *const query = run->follow->query;

	if (asprintf(path, "%s?limit=%d%s%s%s%s", run->follow->path, page->limit,
		query != NULL ? "&" : "", query != NULL ? query : "",
		page->token != NULL ? "&continue=" : "",
		page->token != NULL ? page->token : "") >= 0)
		return LT_OK;
	*path = NULL;
	return lt_fail(err, LT_ENOMEM, "a request");
}

/* "pods" of "/api/v1/pods", and which: what an object that can't be read still says of itself. */
static void
report_item(struct lt_kube_run *run, struct lt_kube_span object, struct lt_error *err)
{
	struct lt_kube_span metadata, value;
	char name[256] = "?", name_space[256] = "";

	if (lt_kube_member(object, "metadata", &metadata)) {
		if (lt_kube_member(metadata, "name", &value))
			lt_kube_text(value, name, sizeof(name));
		if (lt_kube_member(metadata, "namespace", &value))
			lt_kube_text(value, name_space, sizeof(name_space));
	}
	lt_context(err, "%.100s: %.64s/%.100s, left out", run->follow->path, name_space, name);
	lt_error_mend(err, err->code);
	lt_kube_run_report(run, err);
}

static int
read_items(struct lt_kube_run *run, struct lt_kube_span items)
{
	struct lt_kube_span element;
	int more = 0;

	while (!run->stopped && (more = lt_kube_next(&items, &element)) == 1) {
		struct lt_error problem = {0};
		json_t *object = NULL;

		if (lt_json_load_nul(
			&object, element.at, (size_t)(element.end - element.at), &problem) == LT_OK)
			lt_kube_run_item(run, LT_KUBE_LISTED, object);
		else
			report_item(run, element, &problem);
		json_decref(object);
	}
	return more < 0 ? LT_ENET : LT_OK;
}

/* The list's own metadata: its version, and the token of its next page. */
static int
read_metadata(
    struct lt_kube_run *run, struct page *page, struct lt_kube_span text, struct lt_error *err)
{
	json_t *metadata = NULL;
	const int code = lt_json_load_nul(&metadata, text.at, (size_t)(text.end - text.at), err);

	if (code != LT_OK)
		return code;
	const char *const version = json_string_value(json_object_get(metadata, "resourceVersion"));
	const char *const token = json_string_value(json_object_get(metadata, "continue"));
	const bool is_good =
	    version != NULL && version[0] != '\0' && strlen(version) < sizeof(run->version);
	if (is_good)
		strcpy(run->version, version);
	free(page->token);
	page->token = NULL;
	if (is_good && token != NULL && token[0] != '\0') {
		const size_t size = 3 * strlen(token) + 1;

		page->token = malloc(size);
		if (page->token != NULL)
			(void)lt_url_escape(page->token, size, token, NULL);
	}
	const bool has_token = page->token != NULL;
	const bool wants_token = token != NULL && token[0] != '\0';
	json_decref(metadata);
	if (!is_good)
		return lt_fail(err, LT_ENET, "got a list without resourceVersion, want one");
	return has_token == wants_token ? LT_OK : lt_fail(err, LT_ENOMEM, "a list");
}

static int
read_page(struct lt_kube_run *run, struct page *page, const struct lt_http_response *response,
    struct lt_error *err)
{
	const struct lt_kube_span body = {response->body, response->body + response->body_length};
	struct lt_kube_span metadata, items, rest;
	int code;

	if (!lt_kube_member(body, "metadata", &metadata) || !lt_kube_member(body, "items", &items))
		return lt_fail(err, LT_ENET,
		    "%.200s: got something else, want a list with metadata and items",
		    run->follow->path);
	code = read_metadata(run, page, metadata, err);
	if (code != LT_OK) {
		lt_context(err, "%.200s", run->follow->path);
		return lt_error_mend(err, code);
	}
	if (!lt_kube_elements(items, &rest)) /* "items": null is an empty one */
		return LT_OK;
	code = read_items(run, rest);
	return code == LT_OK
		   ? LT_OK
		   : lt_fail(err, code, "%.200s: got a list that breaks off", run->follow->path);
}

static int
ask_page(struct lt_kube_run *run, struct page *page, struct lt_error *err)
{
	struct lt_http_request http = {
	    .total_ms = LT_KUBE_PAGE_MS,
	    .headers = {NULL, "Accept: application/json"},
	    .stop = lt_kube_run_stop,
	    .context = run,
	};
	struct lt_http_response response = {0};
	char *path = NULL;
	int code = page_path(run, page, &path, err);

	if (code == LT_OK)
		code = lt_kube_send(run->kube, path, &http, &response, err);
	if (code == LT_OK && !run->stopped) {
		page->is_expired = response.status == 410 && page->token != NULL;
		code = lt_kube_check(run->follow->path, &response, err);
		if (code == LT_OK)
			code = read_page(run, page, &response, err);
	}
	lt_http_free(&response);
	free(path);
	return code;
}

/* ---- a list ---- */

/* The server's answer may be over our bounds: it is asked for less. */
static int
next_page(struct lt_kube_run *run, struct page *page, struct lt_error *err)
{
	int code;

	for (;;) {
		struct lt_error problem = {0};

		code = ask_page(run, page, &problem);
		if (code != LT_ELIMIT || page->limit == 1)
			return lt_error_give(err, code, &problem);
		page->limit /= 2;
	}
}

static int
one_list(struct lt_kube_run *run, struct page *page, struct lt_error *err)
{
	const struct lt_kube_follow *const follow = run->follow;

	if (follow->begin != NULL && !follow->begin(follow->context))
		run->stopped = true;
	do {
		const int code = run->stopped ? LT_OK : next_page(run, page, err);

		if (run->stopped)
			return LT_OK;
		if (code != LT_OK)
			return code;
	} while (page->token != NULL);
	if (follow->end != NULL && !follow->end(follow->context, run->version))
		run->stopped = true;
	return LT_OK;
}

int
lt_kube_run_list(struct lt_kube_run *run, struct lt_error *err)
{
	struct page page = {.limit = run->follow->page > 0 ? run->follow->page : LT_KUBE_PAGE};
	struct lt_error problem;
	int code = LT_OK;

	for (int lists = 0; lists < LT_KUBE_LISTS; lists++) {
		problem = (struct lt_error){0};
		page.is_expired = false;
		code = one_list(run, &page, &problem);
		free(page.token);
		page.token = NULL;
		if (!page.is_expired)
			break;
	}
	return lt_error_give(err, code, &problem);
}

int
lt_kube_list(struct lt_kube *kube, const struct lt_kube_follow *follow, struct lt_error *err)
{
	struct lt_kube_run run = {.kube = kube, .follow = follow};

	if (follow->path == NULL || follow->path[0] != '/')
		return lt_fail(err, LT_EINPUT, "a list without a path");
	return lt_kube_run_list(&run, err);
}
