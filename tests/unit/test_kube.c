/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The manifests of a cluster: which policies its version gets, what a site's names and its word on
 * unknown balances change, and that no mark is left.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cli.h"
#include "kube_manifest_options.h"

static char *
written(const struct lt_kube_site *site)
{
	char *text = NULL;
	size_t size;
	FILE *const out = open_memstream(&text, &size);

	assert_non_null(out);
	lt_kube_write(out, site);
	assert_int_equal(fclose(out), 0);
	return text;
}

static int
count(const char *text, const char *what)
{
	int n = 0;

	for (const char *at = text; (at = strstr(at, what)) != NULL; at++)
		n++;
	return n;
}

static void
test_write(void **state)
{
	static const struct {
		const char *why;
		struct lt_kube_site site;
		const char *text;
		int count;
	} cases[] = {
	    {"a mutating policy from 1.36 on", {.minor = 36}, "kind: MutatingAdmissionPolicy\n", 3},
	    {"and then nobody has to write it himself", {.minor = 36}, "name: lowtide-suspended\n",
		0},
	    {"none before", {.minor = 35}, "MutatingAdmissionPolicy", 0},
	    {"but what refuses", {.minor = 35}, "  name: lowtide-suspended\n", 2},
	    {"budgets in each", {.minor = 30}, "  policyName: lowtide-budget\n", 1},
	    {"the guard in each", {.minor = 999}, "  policyName: lowtide-guard\n", 1},
	    {"the version of the image is ours", {.minor = 36}, "image: lowtide:" LT_VERSION "\n",
		2},
	    {"another image", {.minor = 36, .image = "r.example.org/l@sha256:1"},
		"image: r.example.org/l@sha256:1\n", 2},
	    {"and no more of the default", {.minor = 36, .image = "r.example.org/l:1"},
		"image: lowtide:", 0},
	    {"another namespace", {.minor = 36, .namespace = "green"},
		"kind: Namespace\nmetadata:\n  name: green\n", 1},
	    {"nothing is left in the other", {.minor = 36, .namespace = "green"},
		"namespace: lowtide\n", 0},
	    {"nor does a policy trust it", {.minor = 36, .namespace = "green"},
		"serviceaccount:lowtide:", 0},
	    {"but this one", {.minor = 36, .namespace = "green"}, "serviceaccount:green:\")'\n", 5},
	    {"names of objects are no namespace", {.minor = 36, .namespace = "green"},
		"name: lowtide-balances\n", 7},
	    {"its own pods are never gated", {.minor = 36, .namespace = "green"},
		"            - green\n", 9},
	    {"no label of pools", {.minor = 36}, "LOWTIDE_POOL_LABEL\n              value: \"\"\n",
		1},
	    {"one", {.minor = 36, .pool_label = "a.b/c"},
		"LOWTIDE_POOL_LABEL\n              value: \"a.b/c\"\n", 1},
	    {"for the release, too", {.minor = 36, .pool_label = "a.b/c"},
		"LOWTIDE_POOL_LABEL\n                  value: \"a.b/c\"\n", 1},
	    {"a label of teams, for lowtide", {.minor = 36, .team_label = "a.b/t"},
		"LOWTIDE_TEAM_LABEL\n              value: \"a.b/t\"\n", 1},
	    {"and for its policy", {.minor = 36, .team_label = "a.b/t"},
		"expression: '\"a.b/t\"'\n", 1},
	    {"balances not known: as if lowtide were not there", {.minor = 36},
		"failurePolicy: Ignore\n", 8},
	    {"all policies but that of its own accounts", {.minor = 36}, "failurePolicy: Fail\n",
		1},
	    {"or nothing goes on", {.minor = 36, .refuse = true}, "failurePolicy: Fail\n", 8},
	    {"nobody of kube-system is trusted but by name", {.minor = 36},
		"startsWith(\"system:serviceaccount:kube-system:\")", 0},
	    {"nor before", {.minor = 35}, "startsWith(\"system:serviceaccount:kube-system:\")", 0},
	    {"but for variables that a Job can do without", {.minor = 36, .refuse = true},
		"failurePolicy: Ignore\n", 1},
	    {"the bindings too, where only Jobs are created", {.minor = 36, .refuse = true},
		"parameterNotFoundAction: Deny\n", 2},
	    {"the older policies as well", {.minor = 30, .refuse = true},
		"parameterNotFoundAction: Deny\n", 2},
	    {"never where the Job controller works", {.minor = 36, .refuse = true},
		"parameterNotFoundAction: Allow\n", 5},
	    {"and the policy file says the same", {.minor = 36, .refuse = true},
		"on_unknown: reject\n", 1},
	    {"whose word is another", {.minor = 36}, "on_unknown: allow\n", 1},
	    {"no account of dry runs", {.minor = 36},
		"kind: ServiceAccount\nmetadata:\n  name: lowtide-dry-run\n", 0},
	    {"and none is asked for", {.minor = 36},
		"LOWTIDE_DRY_RUN_PODS\n              value: \"\"\n", 1},
	    {"one", {.minor = 36, .dry_run_pods = true},
		"kind: ServiceAccount\nmetadata:\n  name: lowtide-dry-run\n", 1},
	    {"which is used", {.minor = 36, .dry_run_pods = true},
		"LOWTIDE_DRY_RUN_PODS\n              value: \"true\"\n", 1},
	    {"with a policy that never lets pass",
		{.minor = 30, .refuse = false, .dry_run_pods = true}, "failurePolicy: Fail\n", 2},
	    {"for the account in that namespace",
		{.minor = 30, .namespace = "green", .dry_run_pods = true},
		"serviceaccount:green:lowtide-dry-run\"'\n", 3},
	    {"no mark is left",
		{.minor = 36,
		    .namespace = "n",
		    .image = "i",
		    .pool_label = "p",
		    .team_label = "t",
		    .refuse = true,
		    .dry_run_pods = true},
		"# --", 0},
	    {"nor of older policies", {.minor = 35}, "# --", 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *const text = written(&cases[i].site);
		const int n = count(text, cases[i].text);

		if (n != cases[i].count)
			fail_msg("%s: \"%s\" %d times, want %d", cases[i].why, cases[i].text, n,
			    cases[i].count);
		free(text);
	}
}

static void
test_documents(void **state)
{
	(void)state;
	for (int minor = LT_KUBE_MINOR_MIN; minor <= LT_KUBE_MINOR_MUTATES; minor++) {
		char *const text = written(&(struct lt_kube_site){.minor = minor});
		const int documents = count(text, "---\n");

		assert_int_equal(count(text, "\napiVersion: "), documents);
		assert_int_equal(count(text, "\nkind: "), documents);
		assert_int_equal(count(text, "\t"), 0);
		assert_int_equal(count(text, "SPDX"), 0);
		free(text);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_write),
	    cmocka_unit_test(test_documents),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
