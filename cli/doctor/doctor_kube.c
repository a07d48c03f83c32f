/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Checks of a Kubernetes site, by what lowtide-kube says in its status: pools and teams of the
 * policy file against those of the cluster, how the cluster is watched, what waits, and the
 * cluster's admission policies against those that "lowtide kube manifest" writes for its version.
 *
 * Without lowtide-kube it only prints how to release the Jobs that wait. A Kubernetes cluster that
 * can't be read is a finding, not a failure of doctor.
 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "doctor.h"
#include "kube_manifest_options.h"
#include "manifest.h"
#include "text.h"
#include "units.h"

#define MEND "apply the manifests again: lowtide kube manifest ... | kubectl apply -f -"

enum { POLICIES_MAX = 32, PATH_SIZE = 256 };

/* The line of `lowtide-kube policies` that says whether the right exists. */
static const char dry_run_right[] = "ServiceAccount/lowtide-dry-run";

struct policies {
	int count;
	char names[POLICIES_MAX][128]; /* "KIND/NAME" */
	json_t *specs[POLICIES_MAX];   /* ours */
};

/* True if value is the default that the API server writes for key. */
static bool
is_default(const char *key, const json_t *value)
{
	static const struct {
		const char *key, *text; /* NULL: an empty object */
	} defaults[] = {{"matchPolicy", "Equivalent"}, {"scope", "*"}, {"namespaceSelector", NULL},
	    {"objectSelector", NULL}};

	for (size_t i = 0; i < sizeof(defaults) / sizeof(defaults[0]); i++)
		if (strcmp(defaults[i].key, key) == 0)
			return defaults[i].text == NULL
				   ? json_is_object(value) && json_object_size(value) == 0
				   : json_is_string(value) &&
					 strcmp(json_string_value(value), defaults[i].text) == 0;
	return false;
}

static bool is_same(const json_t *ours, const json_t *theirs, char *where, size_t size);

/* Compares each member of two objects. */
static bool
are_same(const json_t *ours, const json_t *theirs, char *where, size_t size)
{
	const size_t used = strlen(where);
	const char *key;
	json_t *item;

	json_object_foreach((json_t *)theirs, key, item) {
		const json_t *const own = json_object_get(ours, key);

		snprintf(where + used, size - used, "%s%s", used > 0 ? "." : "", key);
		if (own == NULL ? !is_default(key, item) : !is_same(own, item, where, size))
			return false;
	}
	json_object_foreach((json_t *)ours, key, item) {
		snprintf(where + used, size - used, "%s%s", used > 0 ? "." : "", key);
		if (json_object_get(theirs, key) == NULL)
			return false;
	}
	where[used] = '\0';
	return true;
}

/* Compares two values but for defaults; where names the place that differs:
 * "validations[1].expression". */
static bool
is_same(const json_t *ours, const json_t *theirs, char *where, size_t size)
{
	const size_t used = strlen(where);
	json_t *item;
	size_t i;

	if (json_is_object(ours) && json_is_object(theirs))
		return are_same(ours, theirs, where, size);
	if (!json_is_array(ours) || json_array_size(ours) != json_array_size(theirs))
		return json_equal(ours, theirs);
	json_array_foreach(ours, i, item) {
		snprintf(where + used, size - used, "[%zu]", i);
		if (!is_same(item, json_array_get(theirs, i), where, size))
			return false;
	}
	where[used] = '\0';
	return true;
}

/* Keeps a document of the manifests if it is a policy or a binding. */
static int
take_document(struct policies *policies, const char *text, size_t length, struct lt_error *err)
{
	static const char mark[] = "\nkind: ";
	const char *const kind = memmem(text, length, mark, strlen(mark));
	json_t *document;

	if (kind == NULL || policies->count == POLICIES_MAX ||
	    memmem(kind + 1, strcspn(kind + 1, "\n"), "AdmissionPolicy",
		strlen("AdmissionPolicy")) == NULL)
		return LT_OK;
	const int code = lt_manifest_parse(&document,
	    &(struct lt_manifest_text){.name = "manifests", .bytes = text, .length = length}, err);

	if (code != LT_OK)
		return code;
	snprintf(policies->names[policies->count], sizeof(policies->names[policies->count]),
	    "%s/%s", lt_json_text(document, "kind", ""),
	    lt_json_text(json_object_get(document, "metadata"), "name", ""));
	policies->specs[policies->count++] = json_incref(json_object_get(document, "spec"));
	json_decref(document);
	return LT_OK;
}

/* Reads the policies from the manifests of that site. */
static int
read_manifests(struct policies *policies, const struct lt_kube_site *site, struct lt_error *err)
{
	static const char between[] = "\n---\n";
	char *text = NULL;
	size_t size = 0;
	int code = LT_OK;
	FILE *const out = open_memstream(&text, &size);

	*policies = (struct policies){.count = 0};
	if (out == NULL)
		return lt_fail(err, LT_ENOMEM, "out of memory");
	lt_kube_write(out, site);
	if (fclose(out) != 0)
		code = lt_fail(err, LT_ENOMEM, "out of memory");
	for (const char *at = text; code == LT_OK && at != NULL;) {
		const char *const end = strstr(at, between);

		code = take_document(
		    policies, at, end != NULL ? (size_t)(end - at) + 1 : strlen(at), err);
		at = end != NULL ? end + strlen(between) : NULL;
	}
	free(text);
	return code;
}

static void
free_policies(struct policies *policies)
{
	for (int i = 0; i < policies->count; i++)
		json_decref(policies->specs[i]);
}

static int
ask_cluster(json_t **got, struct policies *policies, struct lt_error *err)
{
	static const char verb[] = "policies";
	const char *words[POLICIES_MAX + 3] = {verb, dry_run_right};

	for (int i = 0; i < policies->count; i++)
		words[i + 2] = policies->names[i];
	return lt_daemon_json(got, "lowtide-kube", words, err);
}

/* True if the site refuses Jobs while balances are not known, by one policy. */
static bool
refuses(const json_t *got)
{
	return strcmp(lt_json_text(json_object_get(got, "ValidatingAdmissionPolicy/lowtide-budget"),
			  "failurePolicy", ""),
		   "Fail") == 0;
}

/* True for policies of the account of dry runs. */
static bool
is_of_dry_runs(const char *name)
{
	const char *const slash = strchr(name, '/');

	return slash != NULL && strcmp(slash, "/lowtide-dry-run") == 0;
}

/* If the account may create pods, checks that its policies allow dry runs only, in each mode. */
static void
check_dry_runs(struct lt_doctor *doctor, const struct policies *policies, const json_t *got)
{
	static const char mend[] =
	    "apply the manifests again: lowtide kube manifest --dry-run-pods; until then take its right away: kubectl delete clusterrolebinding lowtide-dry-run";
	const char *const asked = getenv("LOWTIDE_DRY_RUN_PODS");
	const int before = doctor->count;

	if (!json_is_true(json_object_get(got, dry_run_right))) {
		if (asked != NULL && strcmp(asked, "true") == 0)
			lt_doctor_say(doctor, LT_LEVEL_WARNING, "dry runs",
			    "apply the manifests again: lowtide kube manifest --dry-run-pods",
			    "LOWTIDE_DRY_RUN_PODS is true, and lowtide-dry-run may not create pods, or lowtide not speak for it");
		return;
	}
	for (int i = 0; i < policies->count; i++) {
		const char *const name = policies->names[i];
		const json_t *const there = json_object_get(got, name);
		char where[PATH_SIZE] = "";

		if (!is_of_dry_runs(name) ||
		    (there != NULL && is_same(policies->specs[i], there, where, sizeof(where))))
			continue;
		lt_doctor_say(doctor, LT_LEVEL_ERROR, "dry runs", mend,
		    "lowtide-dry-run may create pods, and not only in dry runs: %s %s%s", name,
		    there == NULL ? "is not in the cluster"
				  : "is not as lowtide " LT_VERSION " has it, by its ",
		    where);
	}
	if (doctor->count == before)
		lt_doctor_say(doctor, LT_LEVEL_OK, "dry runs", "",
		    "lowtide-dry-run may create pods in dry runs, and not otherwise");
}

static void
compare_policies(struct lt_doctor *doctor, const struct policies *policies, const json_t *got)
{
	const bool acts = strcmp(lt_json_text(doctor->status, "mode", ""), "enforce") == 0;
	const enum lt_level level = acts ? LT_LEVEL_ERROR : LT_LEVEL_WARNING;
	const int before = doctor->count;

	for (int i = 0; i < policies->count; i++) {
		const char *const name = policies->names[i];
		const json_t *const there = json_object_get(got, name);
		char where[PATH_SIZE] = "";

		if (is_of_dry_runs(name))
			continue;
		if (there == NULL)
			lt_doctor_say(
			    doctor, level, "policies", MEND, "%s is not in the cluster", name);
		else if (!is_same(policies->specs[i], there, where, sizeof(where)))
			lt_doctor_say(doctor, level, "policies", MEND,
			    "%s is not as lowtide " LT_VERSION " has it: %s differs", name, where);
	}
	if (doctor->count == before)
		lt_doctor_say(doctor, LT_LEVEL_OK, "policies", "",
		    "the admission policies are in the cluster, as lowtide " LT_VERSION
		    " has them");
}

/* Checks the admission policies; kube is that part of the status. */
static void
check_policies(struct lt_doctor *doctor, const json_t *kube)
{
	struct lt_kube_site site = {.minor = lt_kube_minor(lt_json_text(
					json_object_get(doctor->status, "slurm"), "release", "")),
	    .namespace = lt_json_text(kube, "namespace", "lowtide"),
	    .dry_run_pods = true};
	struct policies policies;
	struct lt_error err = {0};
	json_t *got = NULL;

	if (site.minor < 0)
		site.minor = LT_KUBE_MINOR_MUTATES;
	int code = read_manifests(&policies, &site, &err);
	if (code == LT_OK)
		code = ask_cluster(&got, &policies, &err);
	/* The policies have the same names in both cases. */
	if (code == LT_OK && refuses(got)) {
		site.refuse = true;
		free_policies(&policies);
		code = read_manifests(&policies, &site, &err);
	}
	if (code == LT_OK) {
		compare_policies(doctor, &policies, got);
		check_dry_runs(doctor, &policies, got);
	} else {
		lt_doctor_say(doctor, LT_LEVEL_WARNING, "policies", MEND,
		    "the admission policies can't be compared: %s", err.text);
	}
	free_policies(&policies);
	json_decref(got);
}

enum {
	BALANCES_OLD_S = 120, /* written each 30 s, and at changes */
	FAILED_LATELY_S = 300,
	NAMES_MAX = 512,
	ASKED_MAX = 500, /* Jobs, one by one */
	SETTLED_S = 60,	 /* younger ones may be decided just now */
	SHOWN_MAX = 5,
};

static bool
has_name(const json_t *list, const char *name)
{
	size_t index;
	const json_t *item;

	json_array_foreach(list, index, item)
		if (strcasecmp(json_string_value(item), name) == 0)
			return true;
	return false;
}

/* Writes "a, b, c", cut if long; "none". */
static const char *
names_text(char *out, size_t size, const json_t *list)
{
	size_t index, used = 0;
	const json_t *item;

	snprintf(out, size, "none");
	json_array_foreach(list, index, item)
		if (used < size)
			used += (size_t)snprintf(out + used, size - used, "%s%s",
			    index > 0 ? ", " : "", json_string_value(item));
	return out;
}

/* Writes "did you mean spot?", or all that exist. */
static const char *
meant_text(char *out, size_t size, const char *name, const json_t *list)
{
	const char *names[NAMES_MAX + 1] = {NULL};
	char all[256];
	size_t index;
	const json_t *item;

	json_array_foreach(list, index, item)
		if (index < NAMES_MAX)
			names[index] = json_string_value(item);
	const char *const nearest = lt_nearest_word(name, names);

	if (nearest != NULL)
		snprintf(out, size, "did you mean %s?", nearest);
	else
		snprintf(out, size, "the cluster has %s", names_text(all, sizeof(all), list));
	return out;
}

struct names { /* the first of them */
	char text[512];
	int count;
};

static void
add_shown(struct names *names, const char *name, const char *why)
{
	const size_t used = strlen(names->text);

	if (names->count++ < SHOWN_MAX)
		snprintf(names->text + used, sizeof(names->text) - used, "%s%.90s%s%s%s",
		    used > 0 ? ", " : "", name, why[0] != '\0' ? " (" : "", why,
		    why[0] != '\0' ? ")" : "");
	else if (names->count == SHOWN_MAX + 1)
		snprintf(names->text + used, sizeof(names->text) - used, " and others");
}

/* ---- each check ---- */

/* A pool of the policy that has no node. False: none was ever known, and it may be misspelt. */
static bool
say_empty(struct lt_doctor *doctor, const json_t *kube, const char *name)
{
	size_t index;
	const json_t *pool, *found = NULL;

	json_array_foreach(json_object_get(kube, "empty_pools"), index, pool)
		if (strcmp(lt_json_text(pool, "name", ""), name) == 0)
			found = pool;
	const bool scales = json_is_true(json_object_get(found, "scales"));
	const bool is_known = json_is_true(json_object_get(found, "known"));

	if (scales && is_known)
		lt_doctor_say(doctor, LT_LEVEL_OK, "pools", "",
		    "pool %s has no node now: it brings some as Jobs are sent to it", name);
	else if (scales)
		lt_doctor_say(doctor, LT_LEVEL_WARNING, "pools",
		    "say it: node: {cpus: …, memory: …, labels: …, taints: …}",
		    "pool %s has no node now, and what one would be is not known: no Job is sent to it",
		    name);
	else if (is_known)
		lt_doctor_say(doctor, LT_LEVEL_NOTE, "pools",
		    "if it scales up from none: target: yes",
		    "pool %s has no node now: no Job is sent to it", name);
	return scales || is_known;
}

static void
check_pools(struct lt_doctor *doctor, const json_t *kube)
{
	const json_t *const there = json_object_get(kube, "pools");
	const json_t *const priced = json_object_get(kube, "priced_pools");
	const int before = doctor->count;
	char mend[512], all[256];
	size_t index;
	const json_t *item;

	if (json_array_size(there) == 0) {
		lt_doctor_say(doctor, LT_LEVEL_ERROR, "pools",
		    "label the nodes, as by lowtide.dev/pool=NAME, or name your label: lowtide kube manifest --pool-label",
		    "no node is in a pool");
		return;
	}
	json_array_foreach(priced, index, item) {
		const char *const name = json_string_value(item);

		if (!has_name(there, name) && !say_empty(doctor, kube, name))
			lt_doctor_say(doctor, LT_LEVEL_WARNING, "pools",
			    meant_text(mend, sizeof(mend), name, there),
			    "the policy's partition %s: no node is in a pool of that name", name);
	}
	json_array_foreach(there, index, item) {
		const char *const name = json_string_value(item);

		if (!has_name(priced, name))
			lt_doctor_say(doctor, LT_LEVEL_NOTE, "pools",
			    "name it under partitions: in the policy",
			    "pool %s has no price: nothing is moved to it, and what runs there is not charged",
			    name);
	}
	json_array_foreach(json_object_get(kube, "mixed_pools"), index, item)
		lt_doctor_say(doctor, LT_LEVEL_WARNING, "pools",
		    "name its parts, as POOL/MACHINE/spot: LOWTIDED=lowtide-kube lowtide init --output - writes them",
		    "pool %s has nodes of several machines, or sold in several ways, under one price",
		    json_string_value(item));
	if (doctor->count == before)
		lt_doctor_say(doctor, LT_LEVEL_OK, "pools", "", "%s: in the policy, all of them",
		    names_text(all, sizeof(all), there));
}

static void
check_teams(struct lt_doctor *doctor, const json_t *kube)
{
	const json_t *const there = json_object_get(kube, "teams");
	const json_t *const budgeted = json_object_get(kube, "budgeted_teams");
	static const char label[] = "kubectl label namespace NAME lowtide.dev/managed=true";
	char mend[512], all[256];
	size_t index;
	const json_t *item;

	if (json_array_size(there) == 0) {
		lt_doctor_say(doctor, LT_LEVEL_WARNING, "teams", label, "no namespace takes part");
		return;
	}
	lt_doctor_say(doctor, LT_LEVEL_OK, "teams", "", "of namespaces that take part: %s",
	    names_text(all, sizeof(all), there));
	json_array_foreach(budgeted, index, item) {
		const char *const name = json_string_value(item);

		if (!has_name(there, name))
			lt_doctor_say(doctor, LT_LEVEL_WARNING, "teams",
			    meant_text(mend, sizeof(mend), name, there),
			    "the budget of %s: no namespace that takes part is that team's", name);
	}
	json_array_foreach(there, index, item) {
		const char *const name = json_string_value(item);

		if (!has_name(budgeted, name))
			lt_doctor_say(doctor, LT_LEVEL_NOTE, "teams", "",
			    "%s has no budget: nothing limits it", name);
	}
}

static void
check_watcher(struct lt_doctor *doctor, const json_t *kube)
{
	const json_t *const watcher = json_object_get(kube, "watcher");
	int64_t heard_s, failed_s;
	char ago[48];

	if (!json_is_true(json_object_get(watcher, "runs")))
		lt_doctor_say(doctor, LT_LEVEL_ERROR, "watcher",
		    "it is started again by itself; the log says why it ended",
		    "nothing watches the cluster now");
	else if (lt_json_int(watcher, "failed_s", &failed_s) && failed_s <= FAILED_LATELY_S)
		lt_doctor_say(doctor, LT_LEVEL_WARNING, "watcher",
		    "it tries again by itself; is the API server there, and has lowtide its rights?",
		    "%s ago: %s", lt_duration_text(ago, sizeof(ago), failed_s),
		    lt_json_text(watcher, "error", "?"));
	else if (lt_json_int(watcher, "heard_s", &heard_s))
		lt_doctor_say(doctor, LT_LEVEL_OK, "watcher", "",
		    "the cluster is watched; it told something %s ago",
		    lt_duration_text(ago, sizeof(ago), heard_s));
}

static void
check_balances(struct lt_doctor *doctor, const json_t *kube)
{
	static const char mend[] =
	    "the log says why; until then Jobs are judged by old balances, or by --on-unknown";
	int64_t age_s;
	char ago[48];

	if (!lt_json_int(kube, "balances_age_s", &age_s))
		lt_doctor_say(doctor, LT_LEVEL_WARNING, "balances", mend,
		    "ConfigMap lowtide-balances was not written since the start");
	else
		lt_doctor_say(doctor, age_s > BALANCES_OLD_S ? LT_LEVEL_WARNING : LT_LEVEL_OK,
		    "balances", age_s > BALANCES_OLD_S ? mend : "",
		    "ConfigMap lowtide-balances was written %s ago",
		    lt_duration_text(ago, sizeof(ago), age_s));
}

static void
check_given(struct lt_doctor *doctor, const json_t *kube)
{
	const char *const error = lt_json_text(kube, "given_error", "");

	if (error[0] != '\0')
		lt_doctor_say(doctor, LT_LEVEL_WARNING, "rights",
		    "apply the manifests of this release again: lowtide kube manifest",
		    "what LimitRanges and RuntimeClasses give pods, or what devices there are, is not known, so Jobs without requests of CPUs and memory, with a runtimeClassName or with claims count as of unknown cost: %s",
		    error);
}

/* Writes the command that starts all that waits, over budgets too:
 * docs/kubernetes.md. */
static void
release_text(char *out, size_t size, const char *namespace)
{
	snprintf(out, size,
	    "to start all at once, whatever waits for budget too: kubectl -n %.63s create job --from=cronjob/lowtide-release release-all --dry-run=client -o json | jq '.spec.template.spec.containers[0].command += [\"--all\"]' | kubectl create -f -",
	    namespace);
}

static void
check_unsuspended(struct lt_doctor *doctor, const json_t *kube)
{
	int64_t count = 0;

	lt_json_int(kube, "unsuspended", &count);
	if (count > 0)
		lt_doctor_say(doctor, LT_LEVEL_WARNING, "policies", "",
		    "%lld Job%s came unsuspended since the start: the admission policies lacked, or let their creator pass",
		    (long long)count, count == 1 ? "" : "s");
}

/* True if lowtide-kube has an open hold for the Job. */
static bool
is_known(const struct lt_doctor *doctor, const char *name)
{
	json_t *story = NULL;
	char path[512];
	struct lt_error err = {0};

	snprintf(path, sizeof(path), "/v1/explain/%s", name);
	const int code = lt_client_get(&story, doctor->cli, path, &err);
	const json_t *const hold = json_object_get(story, "hold");
	const bool is_open = code == LT_OK && strcmp(lt_json_text(hold, "state", ""), "open") == 0;

	json_decref(story);
	return is_open;
}

/* Compares the Jobs that the API server has suspended with the holds of lowtide-kube. */
static void
check_held(struct lt_doctor *doctor)
{
	static const char *const words[] = {"waiting", NULL};
	const int64_t now_utc_s = (int64_t)time(NULL);
	json_t *waiting = NULL;
	struct names lost = {.text = ""}, left = {.text = ""};
	struct lt_error err = {0};
	const json_t *job;
	size_t index, asked = 0;

	if (lt_daemon_json(&waiting, "lowtide-kube", words, &err) != LT_OK) {
		lt_doctor_say(doctor, LT_LEVEL_WARNING, "waiting", "",
		    "what waits can't be compared: %s", err.text);
		return;
	}
	json_array_foreach(waiting, index, job) {
		const char *const name = lt_json_text(job, "name", "");
		const char *const starter = lt_json_text(job, "left_to", "");
		int64_t created_utc_s = now_utc_s;

		lt_json_int(job, "created_utc_s", &created_utc_s);
		if (starter[0] != '\0')
			add_shown(&left, name, starter);
		else if (created_utc_s + SETTLED_S < now_utc_s && asked++ < ASKED_MAX &&
			 !is_known(doctor, name))
			add_shown(&lost, name, "");
	}
	if (lost.count > 0)
		lt_doctor_say(doctor, LT_LEVEL_ERROR, "waiting",
		    "restart lowtide-kube, which lists all anew; its log says what became of them",
		    "%d suspended Job%s of the API server %s no open hold here: %s", lost.count,
		    lost.count == 1 ? "" : "s", lost.count == 1 ? "has" : "have", lost.text);
	if (left.count > 0)
		lt_doctor_say(doctor, LT_LEVEL_NOTE, "waiting", "",
		    "%d Job%s wait%s for somebody else: %s", left.count, left.count == 1 ? "" : "s",
		    left.count == 1 ? "s" : "", left.text);
	json_decref(waiting);
}

static void
check_place(struct lt_doctor *doctor, const json_t *kube)
{
	const bool is_soft = strcmp(lt_json_text(kube, "place", ""), "soft") == 0;

	lt_doctor_say(doctor, is_soft ? LT_LEVEL_NOTE : LT_LEVEL_OK, "place", "", "%s",
	    is_soft
		? "soft: before Kubernetes 1.36 a Job that was let go can't be placed anew, so its pool is a preference, and its hold covers the others"
		: "firm: a Job for which no node of its pool is found is placed anew");
}

static void
check_waiting(struct lt_doctor *doctor, const json_t *kube)
{
	int64_t waiting = 0, budget = 0;
	char mend[512];

	release_text(mend, sizeof(mend), lt_json_text(kube, "namespace", "lowtide"));
	lt_json_int(kube, "waiting", &waiting);
	lt_json_int(kube, "waiting_for_budget", &budget);
	lt_doctor_say(doctor, waiting > 0 ? LT_LEVEL_NOTE : LT_LEVEL_OK, "waiting",
	    waiting > 0 ? mend : "", "%lld Job%s wait%s for lowtide, %lld of them for budget",
	    (long long)waiting, waiting == 1 ? "" : "s", waiting == 1 ? "s" : "",
	    (long long)budget);
}

static int
by_pods(const void *a, const void *b)
{
	int64_t x = 0, y = 0;

	lt_json_int(*(const json_t *const *)a, "pods", &x);
	lt_json_int(*(const json_t *const *)b, "pods", &y);
	return x < y ? 1 : -(x > y);
}

/* Reports the owners of such pods, those with most pods first. */
static void
say_unheld(struct lt_doctor *doctor, const json_t **owners, uint32_t count)
{
	struct names names = {.text = ""};
	int64_t all = 0;

	if (count == 0)
		return;
	qsort(owners, count, sizeof(*owners), by_pods);
	for (uint32_t i = 0; i < count; i++) {
		char pods[32];
		int64_t n = 0;

		lt_json_int(owners[i], "pods", &n);
		all += n;
		snprintf(pods, sizeof(pods), "%lld", (long long)n);
		add_shown(&names, lt_json_text(owners[i], "id", "?"), pods);
	}
	lt_doctor_say(doctor, LT_LEVEL_NOTE, "unheld",
	    "they count against what is admitted next: budget for them, or give them namespaces of their own",
	    "%lld pod%s of no Job run%s in teams with a budget, which does not hold %s: %s",
	    (long long)all, all == 1 ? "" : "s", all == 1 ? "s" : "", all == 1 ? "it" : "them",
	    names.text);
}

/* Warns of pods that run outside of their team's budget: they are charged, and nothing is held for
 * them. */
static void
check_unheld(struct lt_doctor *doctor, const json_t *kube)
{
	const json_t *const budgeted = json_object_get(kube, "budgeted_teams");
	json_t *jobs = NULL;
	struct lt_error err = {0};
	const json_t *owner;
	uint32_t count = 0;
	size_t i;

	if (lt_client_get(&jobs, doctor->cli, "/v1/jobs", &err) != LT_OK) {
		lt_doctor_say(doctor, LT_LEVEL_WARNING, "unheld", "",
		    "which pods of no Job run is not known: %s", err.text);
		json_decref(jobs);
		return;
	}
	const json_t *const all = json_object_get(jobs, "unheld");
	const json_t **const owners = calloc(json_array_size(all) + 1, sizeof(*owners));
	json_array_foreach(all, i, owner)
		if (owners != NULL && has_name(budgeted, lt_json_text(owner, "account", "")))
			owners[count++] = owner;
	say_unheld(doctor, owners, count);
	free(owners);
	json_decref(jobs);
}

/* Reports how to start what waits; without lowtide-kube its number is not known. */
static void
say_release(struct lt_doctor *doctor)
{
	const char *const named = getenv("LOWTIDE_NAMESPACE");
	char mend[512];

	release_text(mend, sizeof(mend), named != NULL && named[0] ? named : "lowtide");
	lt_doctor_say(doctor, LT_LEVEL_NOTE, "waiting", mend,
	    "CronJob lowtide-release starts what has its hold and is due; what waits for budget waits, and so does what came since, unless on_unknown is allow");
}

void
lt_doctor_kube(struct lt_doctor *doctor)
{
	const json_t *const kube = json_object_get(doctor->status, "kubernetes");

	if (doctor->status == NULL) {
		say_release(doctor);
		return;
	}
	if (!json_is_object(kube)) {
		lt_doctor_say(doctor, LT_LEVEL_NOTE, "kubernetes",
		    "kubectl -n lowtide exec deploy/lowtide -- lowtide doctor",
		    "all checks are for lowtide's own user");
		return;
	}
	check_pools(doctor, kube);
	check_teams(doctor, kube);
	check_watcher(doctor, kube);
	check_balances(doctor, kube);
	check_given(doctor, kube);
	check_policies(doctor, kube);
	check_unsuspended(doctor, kube);
	check_place(doctor, kube);
	check_waiting(doctor, kube);
	check_unheld(doctor, kube);
	check_held(doctor);
}

bool
lt_doctor_is_kube(struct lt_doctor *doctor)
{
	const char *const in_pod = getenv("KUBERNETES_SERVICE_HOST");
	const char *const config = getenv("KUBECONFIG");

	if (doctor->status != NULL)
		return lt_status_is_kube(doctor->status);
	/* Slurm may run in pods too, with its slurm.conf. */
	const bool has_conf = lt_conf_load(&doctor->conf, NULL) == LT_OK;

	doctor->conf = (struct lt_conf){.host_count = 0};
	return !has_conf && ((in_pod != NULL && in_pod[0]) || (config != NULL && config[0]));
}
