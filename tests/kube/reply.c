/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Answers: objects with their kind in front, and Status objects with the words that a real server
 * has for each failure.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server.h"

void
reply_object(
    struct reply *reply, unsigned status, const struct version *version, enum kind_index kind)
{
	FILE *const out = open_memstream(&reply->body, &reply->length);

	reply->status = status;
	reply->type = "application/json";
	fprintf(out, "{\"kind\":\"%s\",\"apiVersion\":\"%s\",%s\n", kinds[kind].kind,
	    kinds[kind].api_version, version->text + 1);
	fclose(out);
}

void
reply_text(struct reply *reply, unsigned status, const char *text)
{
	reply->status = status;
	reply->type = text[0] == '{' ? "application/json" : "text/plain";
	reply->body = strdup(text);
	reply->length = strlen(text);
}

static const char *
reason_of(unsigned code)
{
	static const struct {
		unsigned code;
		const char *reason;
	} reasons[] = {
	    {400, "BadRequest"},
	    {401, "Unauthorized"},
	    {403, "Forbidden"},
	    {404, "NotFound"},
	    {405, "MethodNotAllowed"},
	    {409, "Conflict"},
	    {410, "Expired"},
	    {415, "UnsupportedMediaType"},
	    {422, "Invalid"},
	    {429, "TooManyRequests"},
	    {500, "InternalError"},
	    {503, "ServiceUnavailable"},
	    {504, "Timeout"},
	};

	for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++)
		if (reasons[i].code == code)
			return reasons[i].reason;
	return "";
}

char *
status_text(unsigned code, const char *message, json_t *details)
{
	const bool exists = code == 409 && strstr(message, "already exists") != NULL;
	json_t *const status = json_pack("{s:s,s:s,s:{},s:s,s:s,s:s}", "kind", "Status",
	    "apiVersion", "v1", "metadata", "status", "Failure", "message", message, "reason",
	    exists ? "AlreadyExists" : reason_of(code));
	char *text;

	if (details != NULL)
		json_object_set_new(status, "details", details);
	json_object_set_new(status, "code", json_integer(code));
	text = json_dumps(status, JSON_COMPACT);
	json_decref(status);
	return text;
}

static void
reply_status(struct reply *reply, unsigned code, const char *message, json_t *details)
{
	free(reply->body);
	reply->status = code;
	reply->type = "application/json";
	reply->body = status_text(code, message, details);
	reply->length = strlen(reply->body);
}

void
reply_conflicts(struct reply *reply, const json_t *causes)
{
	const size_t count = json_array_size(causes);
	char *message = NULL;
	size_t length, i;
	json_t *cause;
	FILE *const out = open_memstream(&message, &length);

	fprintf(out, "Apply failed with %zu conflict%s:", count, count == 1 ? "" : "s");
	json_array_foreach(causes, i, cause)
		fprintf(out, "%s%s: %s", count == 1 ? " " : "\n- ", json_text_at(cause, "message"),
		    json_text_at(cause, "field"));
	fclose(out);
	reply_status(reply, 409, message, json_pack("{s:O}", "causes", causes));
	free(message);
}

static json_t *
details_of(const struct request *request, const char *kind)
{
	json_t *const details = json_object();

	if (request->name[0] != '\0')
		json_object_set_new(details, "name", json_string(request->name));
	if (request->group[0] != '\0')
		json_object_set_new(details, "group", json_string(request->group));
	json_object_set_new(details, "kind", json_string(kind));
	return details;
}

const char *
resource_full(const struct request *request, char out[600])
{
	snprintf(out, 600, "%s%s%s", request->resource, request->group[0] == '\0' ? "" : ".",
	    request->group);
	return out;
}

void
reply_fail(
    struct reply *reply, const struct request *request, unsigned code, const char *format, ...)
{
	char message[2048];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(message, sizeof(message), format, arguments);
	va_end(arguments);
	reply_status(reply, code, message,
	    request->is_api && code != 400 && code != 401 && code != 410
		? details_of(request, request->resource)
		: NULL);
}

void
reply_not_found(struct reply *reply, const struct request *request)
{
	char full[600];

	reply_fail(reply, request, 404, "%s \"%s\" not found", resource_full(request, full),
	    request->name);
}

void
reply_invalid(
    struct reply *reply, const struct request *request, const char *field, const char *format, ...)
{
	const char *const kind = kinds[request->kind].kind;
	char cause[1024], message[2048];
	json_t *const details = details_of(request, kind);
	va_list arguments;
	const char *word = "FieldValueInvalid";

	va_start(arguments, format);
	vsnprintf(cause, sizeof(cause), format, arguments);
	va_end(arguments);
	if (strncmp(cause, "Forbidden", 9) == 0)
		word = "FieldValueForbidden";
	else if (strncmp(cause, "Required", 8) == 0)
		word = "FieldValueRequired";
	snprintf(message, sizeof(message), "%s%s%s \"%s\" is invalid: %s: %s", kind,
	    request->group[0] == '\0' ? "" : ".", request->group, request->name, field, cause);
	json_object_set_new(details, "causes",
	    json_pack("[{s:s,s:s,s:s}]", "reason", word, "message", cause, "field", field));
	reply_status(reply, 422, message, details);
}
