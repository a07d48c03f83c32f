/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lowtide-kube policies: what the cluster has of the admission policies that
 * are named, for doctor, which compares them with the manifests.
 */
#include <stdio.h>
#include <string.h>

#include "object.h"
#include "site.h"

static const struct {
	const char *kind, *resource;
} kinds[] = {
    {"MutatingAdmissionPolicy", "mutatingadmissionpolicies"},
    {"MutatingAdmissionPolicyBinding", "mutatingadmissionpolicybindings"},
    {"ValidatingAdmissionPolicy", "validatingadmissionpolicies"},
    {"ValidatingAdmissionPolicyBinding", "validatingadmissionpolicybindings"},
};

/* May the account of dry runs create pods, and do we speak for it? Where there
 * is none, nothing is put in. */
static int
get_right(json_t *all, const char *named, struct lt_error *err)
{
	char account[LT_KUBE_KEY_SIZE];
	json_t *const review = json_pack("{s:s,s:s,s:{s:{s:s,s:s}}}",
	    "apiVersion", "authorization.k8s.io/v1", "kind",
	    "SelfSubjectAccessReview", "spec", "resourceAttributes", "verb",
	    "create", "resource", "pods");
	const struct lt_kube_request request = {.method = "POST",
	    .path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
	    .body = review,
	    .user = lt_kube_dry_run_user(account, sizeof(account))};
	json_t *answer = NULL;
	int code = lt_kube_do(lt_kube_site.kube, &request, &answer, err);

	if (code == LT_OK)
		json_object_set(all, named,
		    (json_t *)lt_kube_part(answer, "status", "allowed"));
	if (code == LT_EDENIED) {
		*err = (struct lt_error){0};
		code = LT_OK;
	}
	json_decref(answer);
	json_decref(review);
	return code;
}

/* named: "KIND/NAME". What is not there is left out. */
static int
get_one(json_t *all, const char *named, struct lt_error *err)
{
	const size_t length = strcspn(named, "/");
	json_t *object = NULL;
	char path[256] = "";

	if (strcmp(named, LT_KUBE_RIGHT) == 0)
		return get_right(all, named, err);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strlen(kinds[i].kind) == length &&
		    strncmp(kinds[i].kind, named, length) == 0 &&
		    named[length] == '/')
			snprintf(path, sizeof(path),
			    "/apis/admissionregistration.k8s.io/v1/%s/%.120s",
			    kinds[i].resource, named + length + 1);
	if (path[0] == '\0')
		return lt_fail(err, LT_EINPUT,
		    "policies: got \"%.80s\", want KIND/NAME, such as ValidatingAdmissionPolicy/lowtide-budget",
		    named);
	const int code = lt_kube_do(lt_kube_site.kube,
	    &(struct lt_kube_request){.path = path}, &object, err);

	if (code == LT_ENOENT) {
		*err = (struct lt_error){0};
		return LT_OK;
	}
	if (code != LT_OK)
		return code;
	json_object_set(all, named, json_object_get(object, "spec"));
	json_decref(object);
	return LT_OK;
}

int
lt_kube_policies_main(int argc, char **argv)
{
	struct lt_error err = {0};
	json_t *const all = json_object();
	int code = lt_batch_init(NULL, NULL, &err);

	for (int i = 1; i < argc && code == LT_OK; i++)
		code = get_one(all, argv[i], &err);
	if (code == LT_OK) {
		json_dumpf(all, stdout, JSON_COMPACT);
		putchar('\n');
	} else {
		fprintf(stderr, "lowtide-kube: %s\n", err.text);
	}
	json_decref(all);
	lt_batch_fini();
	return code == LT_EINPUT ? 2 : code != LT_OK;
}
