/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the project's admission policies do, in C: their CEL is not run here. Only in namespaces
 * labelled lowtide.dev/managed=true.
 *
 *   --mutate    a new Job is suspended, and paused if its user suspended it, a
 *               Pod gated that no controller made; both get the user's name,
 *               and variables that read lowtide's annotations; those of
 *               frameworks where lowtide.dev/amp asks for them
 *   --validate  in enforce, a Job that takes more than its team has left, of
 *               money or of CO2e, or has no end, is refused, and before 1.36
 *               what is not suspended or gated; balances that are too old are
 *               not known: on_unknown; lowtide's annotations are lowtide's
 *   --guard     see guard.c
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server.h"

static const char lowtide_user[] = "system:serviceaccount:lowtide:lowtide";

bool
admission_is_managed(const struct request *request)
{
	const struct object *const space = store_find(KUBE_NAMESPACES, "", request->space);
	const json_t *const labels =
	    space == NULL ? NULL : json_at(space->now->document, "metadata.labels");
	const char *const label = json_string_value(json_object_get(labels, "lowtide.dev/managed"));

	return label != NULL && strcmp(label, "true") == 0;
}

/* Who makes it is asked, not what it says of itself. */
static bool
is_gated(const struct request *request, const json_t *pod)
{
	return !guard_makes_pods(request) && !tries_is_account(request) &&
	       (!guard_may_override(request) ||
		   json_array_size(json_at(pod, "metadata.ownerReferences")) == 0);
}

struct variable {
	const char *name, *annotation;
};
static const struct variable lowtide_variables[] = {
    {"LOWTIDE_POOL", "lowtide.dev/plan-pool"},
    {"LOWTIDE_CHECKPOINT_INTERVAL_SECONDS", "lowtide.dev/checkpoint-interval-seconds"},
    {"LOWTIDE_PREEMPTIBLE", "lowtide.dev/preemptible"},
    {NULL, NULL},
};
static const struct variable framework_variables[] = {
    {"ACCELERATE_MIXED_PRECISION", "lowtide.dev/precision"},
    {"PL_TRAINER_PRECISION", "lowtide.dev/trainer-precision"},
    {NULL, NULL},
};

static bool
has_variable(const json_t *container, const struct variable *variables)
{
	for (; variables->name != NULL; variables++)
		if (json_member(json_at(container, "env"), "name", variables->name) != NULL)
			return true;
	return false;
}

static void
variables_add(json_t *container, const struct variable *variables)
{
	for (; variables->name != NULL; variables++) {
		const struct variable only[] = {*variables, {NULL, NULL}};
		char path[128];

		snprintf(path, sizeof(path), "metadata.annotations['%s']", variables->annotation);
		if (has_variable(container, only))
			continue;
		json_default_at(container, "env", json_array());
		json_array_append_new(json_at(container, "env"),
		    json_pack("{s:s,s:{s:{s:s,s:s}}}", "name", variables->name, "valueFrom",
			"fieldRef", "apiVersion", "v1", "fieldPath", path));
	}
}

/* pod: the Pod, or a Job's template. */
static void
environment_add(json_t *pod, const json_t *asked)
{
	const char *const amp = json_string_value(json_object_get(asked, "lowtide.dev/amp"));
	const bool is_precise =
	    amp != NULL && (strcmp(amp, "auto") == 0 || strcmp(amp, "bf16") == 0 ||
			       strcmp(amp, "fp16") == 0 || strcmp(amp, "fp8") == 0);
	json_t *container;
	size_t i;
	bool has_frameworks = false;

	json_array_foreach(json_at(pod, "spec.containers"), i, container) {
		variables_add(container, lowtide_variables);
		if (!is_precise || has_variable(container, framework_variables))
			continue;
		variables_add(container, framework_variables);
		has_frameworks = true;
	}
	if (!has_frameworks)
		return;
	json_default_at(pod, "metadata.annotations", json_object());
	json_t *const annotations = json_at(pod, "metadata.annotations");
	json_object_set_new(annotations, "lowtide.dev/precision", json_string("no"));
	json_object_set_new(annotations, "lowtide.dev/trainer-precision", json_string("32-true"));
}

void
admission_mutate(const struct request *request, json_t *document)
{
	const bool is_job = request->kind == KUBE_JOBS;

	if (!world.options.mutates || !admission_is_managed(request) ||
	    !(is_job || (request->kind == KUBE_PODS && is_gated(request, document))))
		return;
	json_default_at(document, "metadata.annotations", json_object());
	json_object_set_new(json_at(document, "metadata.annotations"), "lowtide.dev/user",
	    json_string(request->user));
	environment_add(is_job ? json_at(document, "spec.template") : document,
	    json_at(document, "metadata.annotations"));
	if (is_job) {
		/* Its user's own. */
		if (json_true_at(document, "spec.suspend") &&
		    json_member(json_at(document, "metadata.ownerReferences"), "kind", "CronJob") ==
			NULL &&
		    json_object_get(
			json_at(document, "metadata.annotations"), "lowtide.dev/pause") == NULL)
			json_object_set_new(json_at(document, "metadata.annotations"),
			    "lowtide.dev/pause", json_string("true"));
		json_put_at(document, "spec.suspend", json_true());
		return;
	}
	json_default_at(document, "spec.schedulingGates", json_array());
	if (json_member(json_at(document, "spec.schedulingGates"), "name", "lowtide.dev/hold") ==
	    NULL)
		json_array_append_new(json_at(document, "spec.schedulingGates"),
		    json_pack("{s:s}", "name", "lowtide.dev/hold"));
}

bool
admission_refuse(
    const struct request *request, struct reply *reply, const char *policy, const char *message)
{
	char full[600];

	reply_fail(reply, request, 422,
	    "%s \"%s\" is forbidden: ValidatingAdmissionPolicy '%s' with "
	    "binding '%s' denied request: %s",
	    resource_full(request, full), request->name, policy, policy, message);
	return false;
}

/* Of both, as texts; NULL is "". */
static bool
annotation_differs(const json_t *before, const json_t *after, const char *name)
{
	const char *const a =
	    json_string_value(json_object_get(json_at(before, "metadata.annotations"), name));
	const char *const b =
	    json_string_value(json_object_get(json_at(after, "metadata.annotations"), name));

	return strcmp(a == NULL ? "" : a, b == NULL ? "" : b) != 0;
}

static bool
own_annotations_stay(
    const struct request *request, const json_t *before, const json_t *after, struct reply *reply)
{
	static const char *const own[] = {"lowtide.dev/quote", "lowtide.dev/plan",
	    "lowtide.dev/begin", "lowtide.dev/pool", "lowtide.dev/hold", "lowtide.dev/started",
	    "lowtide.dev/user"};
	char message[256];

	if (strcmp(request->user, lowtide_user) == 0)
		return true;
	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++) {
		/* At creation the mutating policy writes the user. */
		if (!annotation_differs(before, after, own[i]) ||
		    (before == NULL && strstr(own[i], "/user") != NULL))
			continue;
		snprintf(
		    message, sizeof(message), "only lowtide may write the annotation %s", own[i]);
		return admission_refuse(request, reply, "lowtide-own", message);
	}
	return true;
}

/* A value of the balances, -1: none. */
static int64_t
balance(const json_t *data, const char *team, const char *name)
{
	char key[600];
	const char *text;

	snprintf(key, sizeof(key), "%s%s%s", team, team[0] == '\0' ? "" : ".", name);
	text = json_string_value(json_object_get(data, key));
	return text == NULL ? -1 : strtoll(text, NULL, 10);
}

static const char *
team_of(const struct request *request, const json_t *document)
{
	const char *const label = world.options.team_label;
	const char *const team =
	    label == NULL
		? NULL
		: json_string_value(json_object_get(json_at(document, "metadata.labels"), label));

	return team == NULL ? request->space : team;
}

/* ---- what the balances say ---- */

enum { KNOWN_S = 120 };
static const char *const kinds_of_budgets[] = {"", "carbon-"};

const json_t *
admission_balances(void)
{
	const struct object *const map = store_find(KUBE_CONFIGMAPS, "lowtide", "lowtide-balances");

	return map == NULL ? NULL : json_at(map->now->document, "data");
}

/* By the clock that a new object has from the server, where it is validated:
 * an object that is mutated has none yet. */
static bool
is_known(const json_t *data, const json_t *document)
{
	return json_time_ms(json_text_at(document, "metadata.creationTimestamp")) / 1000 -
		   balance(data, "", "written") <=
	       KNOWN_S;
}

static bool
is_unknown_ruled(const json_t *data, const json_t *document, const char *rule)
{
	return !is_known(data, document) && strcmp(json_text_at(data, "on_unknown"), rule) == 0;
}

/* The least that it will take: what it may use at the least price, or with the least carbon. */
static int64_t
asked_of(const json_t *job, const json_t *data, const char *team, const char *kind)
{
	const struct resources needs = resources_of(json_at(job, "spec.template.spec"));
	const int64_t parallel = json_int_at(job, "spec.parallelism", 1);
	const int64_t wanted = json_int_at(job, "spec.completions", parallel);
	const int64_t assumed = balance(data, team, "assumed");
	const double hours = (double)(parallel < wanted ? parallel : wanted) *
			     (double)json_int_at(job, "spec.activeDeadlineSeconds", assumed) / 3600;
	char gpu[32], cpu[32];

	snprintf(gpu, sizeof(gpu), "%sgpu-hour", kind);
	snprintf(cpu, sizeof(cpu), "%scpu-hour", kind);
	const double by_gpu = (double)needs.gpus * (double)balance(data, "", gpu);
	const double by_cpu = (double)needs.cpu_milli / 1000 * (double)balance(data, "", cpu);

	return (int64_t)(hours * (by_gpu > by_cpu ? by_gpu : by_cpu));
}

/* Of a balance of that kind. */
static const char *
name_of(char out[64], const char *kind, const char *name)
{
	snprintf(out, 64, "%s%s", kind, name);
	return out;
}

static bool
kind_has_room(
    const struct request *request, const json_t *job, const char *kind, struct reply *reply)
{
	const json_t *const data = admission_balances();
	const char *const team = team_of(request, job);
	const int64_t asked = asked_of(job, data, team, kind);
	char name[64], message[512];
	const int64_t available = balance(data, team, name_of(name, kind, "available"));

	if (balance(data, team, name_of(name, kind, "limit")) < 0 || asked == 0 ||
	    asked <= available)
		return true;
	snprintf(message, sizeof(message),
	    "lowtide: %s has %.2f %s available of its limit of %.2f (spent "
	    "%.2f, held %.2f); this Job asked for at least %.2f",
	    team, (double)available / 1e6,
	    kind[0] == '\0' ? json_text_at(data, "currency") : "kg CO2e",
	    (double)balance(data, team, name_of(name, kind, "limit")) / 1e6,
	    (double)balance(data, team, name_of(name, kind, "spent")) / 1e6,
	    (double)balance(data, team, name_of(name, kind, "held")) / 1e6, (double)asked / 1e6);
	return admission_refuse(request, reply, "lowtide-budget", message);
}

static bool
budget_has_room(const struct request *request, const json_t *job, struct reply *reply)
{
	const json_t *const data = admission_balances();
	const char *const team = team_of(request, job);

	if (strcmp(json_text_at(data, "mode"), "enforce") != 0)
		return true;
	if (is_unknown_ruled(data, job, "refuse"))
		return admission_refuse(request, reply, "lowtide-budget",
		    "lowtide: the balances are too old, so nobody knows what "
		    "is left, and on_unknown is reject");
	if (!is_known(data, job) ||
	    (balance(data, team, "limit") < 0 && balance(data, team, "carbon-limit") < 0))
		return true;
	if (json_int_at(job, "spec.activeDeadlineSeconds", 0) == 0 &&
	    balance(data, team, "assumed") <= 0)
		return admission_refuse(request, reply, "lowtide-budget",
		    "a Job here says how long it may run: add "
		    "\"activeDeadlineSeconds: 3600\" to its spec");
	return kind_has_room(request, job, kinds_of_budgets[0], reply) &&
	       kind_has_room(request, job, kinds_of_budgets[1], reply);
}

/* Before 1.36 nothing is mutated: what would start at once is refused. */
static bool
waits_for_hold(const struct request *request, const json_t *document, struct reply *reply)
{
	const bool is_job = request->kind == KUBE_JOBS;
	const json_t *const data = admission_balances();

	if (world.options.minor >= 36 || strcmp(json_text_at(data, "mode"), "enforce") != 0 ||
	    is_unknown_ruled(data, document, "admit") ||
	    (is_job ? json_true_at(document, "spec.suspend")
		    : !is_gated(request, document) ||
			  json_member(json_at(document, "spec.schedulingGates"), "name",
			      "lowtide.dev/hold") != NULL))
		return true;
	return admission_refuse(request, reply, is_job ? "lowtide-suspended" : "lowtide-gated",
	    "lowtide: it waits for its hold");
}

bool
admission_validate(const struct request *request, const json_t *before, const json_t *document,
    struct reply *reply)
{
	const bool is_job = request->kind == KUBE_JOBS;

	if (!world.options.validates || !(is_job || request->kind == KUBE_PODS))
		return true;
	if (!guard_own(request, before, document, reply))
		return false;
	if (!admission_is_managed(request))
		return true;
	if (!own_annotations_stay(request, before, document, reply) ||
	    !guard_changes(request, before, document, reply))
		return false;
	return before != NULL || (waits_for_hold(request, document, reply) &&
				     (!is_job || budget_has_room(request, document, reply)));
}

bool
admission_delete(
    const struct request *request, const json_t *document, bool orphans, struct reply *reply)
{
	const bool is_job = request->kind == KUBE_JOBS;

	if (!world.options.validates || !(is_job || request->kind == KUBE_PODS))
		return true;
	return guard_own(request, document, NULL, reply) &&
	       guard_deletes(request, document, orphans, reply);
}
