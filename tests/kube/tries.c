/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lowtide-dry-run, the account of packaging/kubernetes/dry-run.yaml, with
 * --dry-runs: lowtide speaks for it, RBAC lets it create pods, and the policy
 * of its name, once it and its binding are in the store, nothing but dry runs. Its CEL is not run
 * here.
 */
#include <stdio.h>
#include <string.h>

#include "server.h"

static const char account[] = "system:serviceaccount:lowtide:lowtide-dry-run";

bool
tries_is_account(const struct request *request)
{
	return strcmp(request->user, account) == 0;
}

bool
tries_is_dry_run(const struct request *request)
{
	return request->dry_run && request->kind == KUBE_PODS && request->sub[0] == '\0' &&
	       strcmp(request->method, "POST") == 0;
}

/* Source: k8s.io/apiserver/pkg/endpoints/filters/impersonation.go */
bool
tries_speak_for(struct request *request, struct reply *reply)
{
	if (request->is_admin || request->impersonates[0] == '\0')
		return true;
	if (!world.options.tries || strcmp(request->impersonates, account) != 0) {
		reply_fail(reply, request, 403,
		    "serviceaccounts \"%s\" is forbidden: User \"%s\" cannot "
		    "impersonate resource \"serviceaccounts\"",
		    request->impersonates, request->user);
		return false;
	}
	snprintf(request->user, sizeof(request->user), "%s", account);
	return true;
}

static bool
is_denied(const struct request *request)
{
	const struct object *const policy = store_find(KUBE_VALIDATING, "", "lowtide-dry-run");
	const struct object *const binding =
	    store_find(KUBE_VALIDATING_BINDINGS, "", "lowtide-dry-run");

	return policy != NULL && binding != NULL && !tries_is_dry_run(request);
}

/* Everybody may ask what they may do; of it, only this. */
static void
answer_review(const struct request *request, struct reply *reply)
{
	json_t *const review = json_loadb(request->body, request->body_length, 0, NULL);
	const bool allowed =
	    tries_is_account(request) &&
	    strcmp(json_text_at(review, "spec.resourceAttributes.verb"), "create") == 0 &&
	    strcmp(json_text_at(review, "spec.resourceAttributes.resource"), "pods") == 0;

	json_decref(review);
	reply_text(reply, 201,
	    allowed ? "{\"kind\":\"SelfSubjectAccessReview\",\"apiVersion\":"
		      "\"authorization.k8s.io/v1\",\"status\":{\"allowed\":"
		      "true}}"
		    : "{\"kind\":\"SelfSubjectAccessReview\",\"apiVersion\":"
		      "\"authorization.k8s.io/v1\",\"status\":{\"allowed\":"
		      "false}}");
}

bool
tries_admit(const struct request *request, struct reply *reply)
{
	if (strcmp(request->group, "authorization.k8s.io") == 0 &&
	    strcmp(request->resource, "selfsubjectaccessreviews") == 0) {
		answer_review(request, reply);
		return false;
	}
	if (!tries_is_account(request))
		return true;
	if (request->kind != KUBE_PODS || strcmp(request->method, "POST") != 0) {
		reply_fail(reply, request, 403, "User \"%s\" can create pods, and nothing else",
		    request->user);
		return false;
	}
	return !is_denied(request) ||
	       admission_refuse(request, reply, "lowtide-dry-run",
		   "lowtide: this account creates pods in dry runs, and does "
		   "nothing else");
}
