/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * LimitRanges and RuntimeClasses, which few change: asked for each minute.
 * Where lowtide has no right to list them, Jobs whose pods they may concern
 * count as of unknown cost. What was known stays while the API server is away.
 */
#include <stdio.h>

#include "given.h"
#include "log.h"
#include "object.h"
#include "site.h"

enum { EVERY_S = 60, PATH_BYTES = 1024 };

/* All of its pages' items. */
static int
list(json_t *items, const char *path, struct lt_error *err)
{
	char page[PATH_BYTES], next[PATH_BYTES / 2] = "";
	int code = LT_OK;

	do {
		const struct lt_kube_request request = {.path = page};
		json_t *answer = NULL;

		snprintf(page, sizeof(page), "%s?limit=%d%s%s", path,
		    LT_KUBE_PAGE, next[0] != '\0' ? "&continue=" : "", next);
		code = lt_kube_do(lt_kube_site.kube, &request, &answer, err);
		json_array_extend(items, json_object_get(answer, "items"));
		snprintf(next, sizeof(next), "%s",
		    lt_kube_string(
			json_object_get(answer, "metadata"), "continue"));
		json_decref(answer);
	} while (code == LT_OK && next[0] != '\0');
	return code;
}

/* True: it is another now. */
static bool
ask(json_t **known, const char *path, json_t *(*read)(const json_t *items))
{
	struct lt_kube_site *const s = &lt_kube_site;
	json_t *const items = json_array(), *const was = *known;
	struct lt_error err = {0};
	const int code = list(items, path, &err);

	if (code == LT_OK)
		*known = read(items);
	else if (code == LT_EDENIED)
		*known = NULL;
	if (*known == NULL)
		snprintf(
		    s->given_failed, sizeof(s->given_failed), "%s", err.text);
	if (code != LT_OK)
		lt_log("given_unknown", "error=\"%s\"", err.text);
	json_decref(items);
	if (*known == was)
		return false;
	const bool differs =
	    *known == NULL || was == NULL || json_equal(*known, was) != 1;
	json_decref(was);
	return differs;
}

bool
lt_kube_ask_given(int64_t now_utc_s)
{
	struct lt_kube_site *const s = &lt_kube_site;

	if (now_utc_s >= s->given_utc_s && now_utc_s < s->given_utc_s + EVERY_S)
		return false;
	s->given_utc_s = now_utc_s;
	s->given_failed[0] = '\0';
	s->cluster.names.given = &s->given;
	bool differs = ask(
	    &s->given.requests, "/api/v1/limitranges", lt_kube_given_requests);
	differs |= ask(&s->given.classes, "/apis/node.k8s.io/v1/runtimeclasses",
	    lt_kube_given_classes);
	return differs;
}
