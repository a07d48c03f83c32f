/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * doctor's check of a cluster's admission policies: each that `lowtide kube
 * manifest` writes for its version, against what the API server has.
 */
#include <stdlib.h>
#include <string.h>

#include "doctor.h"
#include "kube_manifest_options.h"
#include "manifest.h"

#define MEND                                                                   \
	"apply the manifests again: lowtide kube manifest ... | kubectl apply -f -"

enum { POLICIES_MAX = 32, PATH_SIZE = 256 };

/* Names the line of `lowtide-kube policies` that says whether the right is
 * there. */
static const char dry_run_right[] = "ServiceAccount/lowtide-dry-run";

struct policies {
	int count;
	char names[POLICIES_MAX][128]; /* "KIND/NAME" */
	json_t *specs[POLICIES_MAX];   /* ours */
};

/* What the API server writes where nothing is said. */
static bool
is_default(const char *key, const json_t *value)
{
	static const struct {
		const char *key, *text; /* NULL: an empty object */
	} defaults[] = {{"matchPolicy", "Equivalent"}, {"scope", "*"},
	    {"namespaceSelector", NULL}, {"objectSelector", NULL}};

	for (size_t i = 0; i < sizeof(defaults) / sizeof(defaults[0]); i++)
		if (strcmp(defaults[i].key, key) == 0)
			return defaults[i].text == NULL
				   ? json_is_object(value) &&
					 json_object_size(value) == 0
				   : json_is_string(value) &&
					 strcmp(json_string_value(value),
					     defaults[i].text) == 0;
	return false;
}

static bool is_same(
    const json_t *ours, const json_t *theirs, char *where, size_t size);

/* Objects: each member of both. */
static bool
are_same(const json_t *ours, const json_t *theirs, char *where, size_t size)
{
	const size_t used = strlen(where);
	const char *key;
	json_t *item;

	json_object_foreach((json_t *)theirs, key, item) {
		const json_t *const own = json_object_get(ours, key);

		snprintf(where + used, size - used, "%s%s", used > 0 ? "." : "",
		    key);
		if (own == NULL ? !is_default(key, item)
				: !is_same(own, item, where, size))
			return false;
	}
	json_object_foreach((json_t *)ours, key, item) {
		snprintf(where + used, size - used, "%s%s", used > 0 ? "." : "",
		    key);
		if (json_object_get(theirs, key) == NULL)
			return false;
	}
	where[used] = '\0';
	return true;
}

/* But for defaults; else where they differ: "validations[1].expression". */
static bool
is_same(const json_t *ours, const json_t *theirs, char *where, size_t size)
{
	const size_t used = strlen(where);
	json_t *item;
	size_t i;

	if (json_is_object(ours) && json_is_object(theirs))
		return are_same(ours, theirs, where, size);
	if (!json_is_array(ours) ||
	    json_array_size(ours) != json_array_size(theirs))
		return json_equal(ours, theirs);
	json_array_foreach(ours, i, item) {
		snprintf(where + used, size - used, "[%zu]", i);
		if (!is_same(item, json_array_get(theirs, i), where, size))
			return false;
	}
	where[used] = '\0';
	return true;
}

/* A document of the manifests, when it is a policy or its binding. */
static int
take_document(struct policies *policies, const char *text, size_t length,
    struct lt_error *err)
{
	static const char mark[] = "\nkind: ";
	const char *const kind = memmem(text, length, mark, strlen(mark));
	json_t *document;

	if (kind == NULL || policies->count == POLICIES_MAX ||
	    memmem(kind + 1, strcspn(kind + 1, "\n"), "AdmissionPolicy",
		strlen("AdmissionPolicy")) == NULL)
		return LT_OK;
	const int code = lt_manifest_parse(&document,
	    &(struct lt_manifest_text){"manifests", text, length}, err);

	if (code != LT_OK)
		return code;
	snprintf(policies->names[policies->count],
	    sizeof(policies->names[policies->count]), "%s/%s",
	    lt_json_text(document, "kind", ""),
	    lt_json_text(json_object_get(document, "metadata"), "name", ""));
	policies->specs[policies->count++] =
	    json_incref(json_object_get(document, "spec"));
	json_decref(document);
	return LT_OK;
}

/* What the manifests of that site have. */
static int
read_manifests(struct policies *policies, const struct lt_kube_site *site,
    struct lt_error *err)
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

		code = take_document(policies, at,
		    end != NULL ? (size_t)(end - at) + 1 : strlen(at), err);
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

/* Does the site refuse while balances are not known? One policy says it. */
static bool
refuses(const json_t *got)
{
	return strcmp(
		   lt_json_text(json_object_get(got,
				    "ValidatingAdmissionPolicy/lowtide-budget"),
		       "failurePolicy", ""),
		   "Fail") == 0;
}

/* True of what belongs to the account of dry runs. */
static bool
is_of_dry_runs(const char *name)
{
	const char *const slash = strchr(name, '/');

	return slash != NULL && strcmp(slash, "/lowtide-dry-run") == 0;
}

/* Where the account may create pods, its policy makes dry runs of them, in each
 * mode. */
static void
check_dry_runs(struct lt_doctor *doctor, const struct policies *policies,
    const json_t *got)
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
		    (there != NULL && is_same(policies->specs[i], there, where,
					  sizeof(where))))
			continue;
		lt_doctor_say(doctor, LT_LEVEL_ERROR, "dry runs", mend,
		    "lowtide-dry-run may create pods, and not only in dry runs: %s %s%s",
		    name,
		    there == NULL ? "is not in the cluster"
				  : "is not as lowtide " LT_VERSION
				    " has it, by its ",
		    where);
	}
	if (doctor->count == before)
		lt_doctor_say(doctor, LT_LEVEL_OK, "dry runs", "",
		    "lowtide-dry-run may create pods in dry runs, and not otherwise");
}

static void
compare(struct lt_doctor *doctor, const struct policies *policies,
    const json_t *got)
{
	const bool acts =
	    strcmp(lt_json_text(doctor->status, "mode", ""), "enforce") == 0;
	const enum lt_level level = acts ? LT_LEVEL_ERROR : LT_LEVEL_WARNING;
	const int before = doctor->count;

	for (int i = 0; i < policies->count; i++) {
		const char *const name = policies->names[i];
		const json_t *const there = json_object_get(got, name);
		char where[PATH_SIZE] = "";

		if (is_of_dry_runs(name))
			continue;
		if (there == NULL)
			lt_doctor_say(doctor, level, "policies", MEND,
			    "%s is not in the cluster", name);
		else if (!is_same(
			     policies->specs[i], there, where, sizeof(where)))
			lt_doctor_say(doctor, level, "policies", MEND,
			    "%s is not as lowtide " LT_VERSION
			    " has it: %s differs",
			    name, where);
	}
	if (doctor->count == before)
		lt_doctor_say(doctor, LT_LEVEL_OK, "policies", "",
		    "the admission policies are in the cluster, as lowtide " LT_VERSION
		    " has them");
}

void
lt_doctor_policies(struct lt_doctor *doctor, const json_t *kube)
{
	struct lt_kube_site site = {
	    .minor = lt_kube_minor(lt_json_text(
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
	/* The names are the same. */
	if (code == LT_OK && refuses(got)) {
		site.refuse = true;
		free_policies(&policies);
		code = read_manifests(&policies, &site, &err);
	}
	if (code == LT_OK) {
		compare(doctor, &policies, got);
		check_dry_runs(doctor, &policies, got);
	} else {
		lt_doctor_say(doctor, LT_LEVEL_WARNING, "policies", MEND,
		    "the admission policies can't be compared: %s", err.text);
	}
	free_policies(&policies);
	json_decref(got);
}
