/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a request asks: its path and query; who asks, by its token, and whether that may be. Answers
 * here what is no resource: /version, /readyz, /api.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server.h"

static const char lowtide_user[] = "system:serviceaccount:lowtide:lowtide";

static void
query_text(const char *value, char *out, size_t size)
{
	snprintf(out, size, "%s", value);
}

static bool
query_true(const char *value)
{
	return strcmp(value, "true") == 0 || strcmp(value, "1") == 0;
}

void
request_query(struct request *request, const char *key, const char *value)
{
	const struct {
		const char *key;
		char *out;
		size_t size;
	} texts[] = {
	    {"resourceVersion", request->version, sizeof(request->version)},
	    {"resourceVersionMatch", request->version_match, sizeof(request->version_match)},
	    {"continue", request->page, sizeof(request->page)},
	    {"labelSelector", request->labels, sizeof(request->labels)},
	    {"fieldSelector", request->fields, sizeof(request->fields)},
	    {"propagationPolicy", request->propagation, sizeof(request->propagation)},
	    {"fieldManager", request->manager, sizeof(request->manager)},
	};
	const struct {
		const char *key;
		bool *out;
	} switches[] = {
	    {"watch", &request->watch},
	    {"allowWatchBookmarks", &request->bookmarks},
	    {"sendInitialEvents", &request->initial_events},
	    {"force", &request->force},
	};
	const struct {
		const char *key;
		int64_t *out;
	} numbers[] = {
	    {"limit", &request->limit},
	    {"timeoutSeconds", &request->timeout_s},
	    {"gracePeriodSeconds", &request->grace_s},
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if (strcmp(key, texts[i].key) == 0)
			query_text(value, texts[i].out, texts[i].size);
	for (size_t i = 0; i < sizeof(switches) / sizeof(switches[0]); i++)
		if (strcmp(key, switches[i].key) == 0)
			*switches[i].out = query_true(value);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		if (strcmp(key, numbers[i].key) == 0)
			*numbers[i].out = strtoll(value, NULL, 10);
	request->names_manager |= strcmp(key, "fieldManager") == 0;
	if (strcmp(key, "dryRun") == 0)
		request->dry_run = strcmp(value, "All") == 0;
}

enum { PART_MAX = 9, PART_SIZE = 256 };

static int
path_parts(const char *path, char parts[PART_MAX][PART_SIZE])
{
	int count = 0;

	while (*path != '\0' && count < PART_MAX) {
		path += strspn(path, "/");
		const size_t length = strcspn(path, "/");

		if (length == 0)
			break;
		snprintf(parts[count++], PART_SIZE, "%.*s", (int)length, path);
		path += length;
	}
	return count;
}

static int
kind_find(const char *group, const char *version, const char *resource)
{
	for (int i = 0; i < KUBE_KIND_COUNT; i++)
		if (strcmp(kinds[i].group, group) == 0 && strcmp(kinds[i].version, version) == 0 &&
		    strcmp(kinds[i].resource, resource) == 0)
			return i;
	return -1;
}

void
request_read(struct request *request)
{
	char parts[PART_MAX][PART_SIZE] = {{0}};
	const int count = path_parts(request->path, parts);
	const bool is_core = strcmp(parts[0], "api") == 0;
	int at = is_core ? 2 : 3;

	request->kind = -1;
	request->is_api = (is_core || strcmp(parts[0], "apis") == 0) && count > at;
	if (!request->is_api)
		return;
	snprintf(request->group, sizeof(request->group), "%s", is_core ? "" : parts[1]);
	/* namespaces/NAME and its status are the namespace itself. */
	if (strcmp(parts[at], "namespaces") == 0 && count > at + 2 &&
	    strcmp(parts[at + 2], "status") != 0) {
		snprintf(request->space, sizeof(request->space), "%s", parts[at + 1]);
		at += 2;
	}
	snprintf(request->resource, sizeof(request->resource), "%s", parts[at]);
	if (count > at + 1)
		snprintf(request->name, sizeof(request->name), "%s", parts[at + 1]);
	if (count > at + 2)
		snprintf(request->sub, sizeof(request->sub), "%s", parts[at + 2]);
	request->kind = kind_find(request->group, is_core ? parts[1] : parts[2], request->resource);
}

static const char *
verb_of(const struct request *request)
{
	static const struct {
		const char *method, *verb;
	} verbs[] = {
	    {"POST", "create"},
	    {"PUT", "update"},
	    {"PATCH", "patch"},
	    {"DELETE", "delete"},
	};

	for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++)
		if (strcmp(request->method, verbs[i].method) == 0)
			return verbs[i].verb;
	if (request->watch)
		return "watch";
	return request->name[0] != '\0' ? "get" : "list";
}

/* The admin may speak for another, as kubectl --as does. */
static bool
user_read(struct request *request)
{
	static const char bearer[] = "Bearer ";
	const char *const token = request->authorization + sizeof(bearer) - 1;

	if (strncmp(request->authorization, bearer, sizeof(bearer) - 1) != 0)
		return false;
	request->is_admin = strcmp(token, world.admin_token) == 0;
	if (!request->is_admin && strcmp(token, world.token) != 0)
		return false;
	snprintf(request->user, sizeof(request->user), "%s",
	    !request->is_admin		       ? lowtide_user
	    : request->impersonates[0] != '\0' ? request->impersonates
					       : "admin");
	return true;
}

static void
answer_version(struct reply *reply)
{
	const int minor = world.options.minor;
	char text[512];

	snprintf(text, sizeof(text),
	    "{\"major\":\"1\",\"minor\":\"%d\","
	    "\"emulationMajor\":\"1\",\"emulationMinor\":\"%d\","
	    "\"minCompatibilityMajor\":\"1\",\"minCompatibilityMinor\":\"%d\","
	    "\"gitVersion\":\"v1.%d.2\",\"gitTreeState\":\"clean\","
	    "\"compiler\":\"gc\",\"platform\":\"linux/amd64\"}",
	    minor, minor, minor - 1, minor);
	reply_text(reply, 200, text);
}

static bool
answer_open(const struct request *request, struct reply *reply)
{
	static const struct {
		const char *path, *text;
	} pages[] = {
	    {"/readyz", "ok"},
	    {"/livez", "ok"},
	    {"/healthz", "ok"},
	};

	for (size_t i = 0; i < sizeof(pages) / sizeof(pages[0]); i++)
		if (strcmp(request->path, pages[i].path) == 0) {
			reply_text(reply, 200, pages[i].text);
			return true;
		}
	if (strcmp(request->path, "/version") == 0) {
		answer_version(reply);
		return true;
	}
	if (strcmp(request->path, "/faults") != 0)
		return false;
	answer_faults(request, reply);
	return true;
}

static bool
admit_resource(const struct request *request, struct reply *reply)
{
	char full[300];

	if (strcmp(request->resource, "secrets") == 0) {
		if (request->space[0] == '\0')
			snprintf(full, sizeof(full), "at the cluster scope");
		else
			snprintf(full, sizeof(full), "in the namespace \"%s\"", request->space);
		reply_fail(reply, request, 403,
		    "secrets%s%s%s is forbidden: User \"%s\" cannot %s "
		    "resource \"secrets\" in API group \"\" %s",
		    request->name[0] == '\0' ? "" : " \"", request->name,
		    request->name[0] == '\0' ? "" : "\"", request->user, verb_of(request), full);
		return false;
	}
	if (request->kind < 0) {
		reply_fail(reply, request, 404, "the server could not find the requested resource");
		return false;
	}
	return true;
}

bool
request_admit(struct request *request, struct reply *reply)
{
	if (answer_open(request, reply))
		return false;
	if (!user_read(request)) {
		reply_fail(reply, request, 401, "Unauthorized");
		return false;
	}
	if (!tries_speak_for(request, reply))
		return false;
	faults_count(verb_of(request), request->resource);
	if (!request->is_api) {
		reply_fail(reply, request, 404, "the server could not find the requested resource");
		return false;
	}
	return tries_admit(request, reply) && admit_resource(request, reply);
}
