/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Charges pods that belong to no Job, hour by hour, in rows of their owner's. Reads pods as the
 * watch brings them and writes kube.db; a failure of that is returned, and all lists are then read
 * anew.
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "object.h"
#include "cluster.h"
#include "units.h"
#include "min_max.h"

enum { LATE_S = 60 }; /* an end that comes so long after it is known */

/* The length of its Deployment's name: a ReplicaSet is called by that and the hash of its template,
 * which its pods have as a label. 0: it has none. */
static size_t
deployment_length(const char *replica_set, const json_t *pod)
{
	const char *const hash =
	    lt_kube_string(lt_kube_part(pod, "metadata", "labels"), "pod-template-hash");
	const size_t length = strlen(replica_set), tail = strlen(hash) + 1;

	return tail > 1 && length > tail && strcmp(replica_set + length - tail + 1, hash) == 0 &&
		       replica_set[length - tail] == '-'
		   ? length - tail
		   : 0;
}

bool
lt_kube_unheld_owner(char out[LT_KUBE_OWNER_SIZE], const json_t *pod)
{
	const json_t *const owner = lt_kube_controller(pod);
	const char *const kind = lt_kube_string(owner, "kind");
	const char *const version = lt_kube_string(owner, "apiVersion");
	const char *const name = lt_kube_string(owner, "name");

	if (lt_kube_is_own(pod) ||
	    (strcmp(kind, "Job") == 0 && (version[0] == '\0' || strcmp(version, "batch/v1") == 0)))
		return false;
	const size_t length = strcmp(kind, "ReplicaSet") == 0 ? deployment_length(name, pod) : 0;
	if (length > 0)
		snprintf(out, LT_KUBE_OWNER_SIZE, "deployment/%.*s", (int)length, name);
	else
		snprintf(out, LT_KUBE_OWNER_SIZE, "%s/%s", kind, name);
	for (char *c = out; *c != '/'; c++)
		*c = (char)tolower((unsigned char)*c);
	return true;
}

int
lt_kube_unheld_see(
    struct lt_kube_cluster *c, const struct lt_kube_unheld *seen, struct lt_error *err)
{
	const struct lt_kube_namespace *const of = seen->namespace;
	struct lt_kube_pod pod = *seen->pod;
	char uid[LT_NAME_SIZE + 1 + LT_KUBE_OWNER_SIZE];
	struct lt_kube_run run = {.pod = &pod,
	    .pool = seen->pool,
	    .user = "",
	    .name = seen->owner,
	    .qos = "",
	    .quote = "",
	    .node = seen->node,
	    .seen_utc_s = c->now_utc_s,
	    .is_unheld = true,
	    .is_listed = c->listing[LT_KUBE_PODS]};

	if (of == NULL || !of->is_managed)
		return LT_OK;
	run.team = of->team;
	const int64_t since_utc_s = lt_max_i64(of->since_utc_s, c->since_utc_s);
	if (pod.start_utc_s < since_utc_s)
		pod.start_utc_s = since_utc_s;
	/* It ended before that, and is a row only if it was seen to run. */
	const bool is_over = pod.end_utc_s != 0 && pod.end_utc_s <= pod.start_utc_s;
	int code = lt_kube_store_id(c->store, pod.uid, !is_over, &run.id, err);
	if (code == LT_ENOENT)
		return LT_OK;
	if (is_over)
		pod.start_utc_s = pod.end_utc_s;
	pod.created_utc_s = pod.start_utc_s; /* its parts wait for nothing */
	/* An owner that is made anew under its name continues the old one. */
	snprintf(uid, sizeof(uid), "%s/%s", pod.namespace, seen->owner);
	if (code == LT_OK)
		code = lt_kube_store_id(c->store, uid, true, &run.job_id, err);
	if (code == LT_OK)
		code = lt_kube_store_name(c->store, run.job_id, pod.namespace, seen->owner, err);
	return code == LT_OK ? lt_kube_store_put(c->store, &run, err) : code;
}

int
lt_kube_unheld_change(
    struct lt_kube_cluster *c, struct lt_kube_namespace *of, bool is_managed, struct lt_error *err)
{
	const bool is_new = of->seen == 0;

	if (c->store == NULL || !c->complete[LT_KUBE_PODS])
		return LT_OK;
	of->since_utc_s = c->now_utc_s;
	c->list_anew |= is_managed && !is_new;
	if (!of->is_managed)
		return LT_OK;
	return lt_kube_store_part(c->store,
	    &(struct lt_kube_part){.to_utc_s = c->now_utc_s,
		.now_utc_s = c->now_utc_s,
		.namespace = of->name,
		.is_last = true},
	    err);
}

int
lt_kube_unheld_charge(struct lt_kube_cluster *c, struct lt_error *err)
{
	const int64_t hour_utc_s = (c->marked_utc_s - LATE_S) / LT_HOUR_S * LT_HOUR_S;

	if (hour_utc_s == c->charged_utc_s || c->marked_utc_s == 0)
		return LT_OK;
	int code = lt_kube_store_part(c->store,
	    &(struct lt_kube_part){
		.to_utc_s = hour_utc_s, .now_utc_s = c->now_utc_s, .namespace = ""},
	    err);
	/* The policy may name other parts of pools since. */
	for (uint32_t i = 0; code == LT_OK && i < c->node_count; i++)
		code = lt_kube_store_move(
		    c->store, c->nodes[i].facts.name, c->nodes[i].facts.pool, err);
	if (code == LT_OK)
		c->charged_utc_s = hour_utc_s;
	return code;
}
