/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * LimitRanges, RuntimeClasses, DeviceClasses and ResourceSlices, which few
 * change: asked for each minute. Where lowtide has no right to list them, Jobs
 * whose pods they may concern count as of unknown cost. What was known stays
 * while the API server is away.
 */
#include <stdio.h>

#include "claims.h"
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
	/* Servers before 1.34 have no devices. */
	if (*known == NULL && code != LT_ENOENT)
		snprintf(
		    s->given_failed, sizeof(s->given_failed), "%s", err.text);
	if (code != LT_OK && code != LT_ENOENT)
		lt_log("given_unknown", "error=\"%s\"", err.text);
	json_decref(items);
	if (*known == was)
		return false;
	const bool differs =
	    *known == NULL || was == NULL || json_equal(*known, was) != 1;
	json_decref(was);
	return differs;
}

/* The GPUs that nodes have by claims. */
static void
ask_devices(void)
{
	struct lt_kube_cluster *const c = &lt_kube_site.cluster;

	if (!ask(&lt_kube_site.given.devices,
		"/apis/resource.k8s.io/v1/resourceslices",
		lt_kube_claims_devices))
		return;
	for (uint32_t i = 0; i < c->node_count; i++)
		lt_kube_claims_offered(&c->nodes[i].facts, c->names.given);
	c->nodes_changed = true;
}

/* Claims and classes may come later than who asks for them. */
static void
ask_claims(void)
{
	struct lt_kube_cluster *const c = &lt_kube_site.cluster;

	for (uint32_t i = 0; i < c->job_count; i++)
		if (c->jobs[i]->facts.is_waiting &&
		    lt_kube_is_ours(c->jobs[i]) &&
		    c->jobs[i]->forget_utc_s == 0 &&
		    lt_kube_job_text(&c->jobs[i]->facts, LT_KUBE_UNSIZED)[0] !=
			'\0' &&
		    lt_kube_spend())
			lt_kube_look_again(c->jobs[i]);
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
	differs |= ask(&s->given.device_classes,
	    "/apis/resource.k8s.io/v1/deviceclasses", lt_kube_claims_classes);
	ask_devices();
	ask_claims();
	return differs;
}
