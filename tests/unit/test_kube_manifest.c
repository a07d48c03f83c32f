/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What of a Job or Pod that nobody created is refused, and what the API server would have made of
 * it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "kube_facts.h"
#include "object.h"

enum { NOW = 1795669953 };

#define SPEC "\"spec\":{\"containers\":[{\"name\":\"a\"}]}"
#define JOB(metadata, spec)                                                                        \
	"{\"kind\":\"Job\",\"apiVersion\":\"batch/v1\",\"metadata\":{" metadata                    \
	"},\"spec\":{" spec "}}"

static const struct {
	const char *why, *text;
	const char *says; /* NULL: it is good */
} cases[] = {
    {"a Job", JOB("\"name\":\"a\"", "\"template\":{" SPEC "}"), NULL},
    {"a Pod",
	"{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":"
	"{\"generateName\":\"a-\"}," SPEC "}",
	NULL},
    {"a list", "[]", "kind: got \"\", want Job or Pod"},
    {"another kind", "{\"kind\":\"Deployment\"}", "kind: got \"Deployment\", want Job or Pod"},
    {"another version", "{\"kind\":\"Job\",\"apiVersion\":\"v1\"}",
	"apiVersion: got \"v1\", want batch/v1 of a Job"},
    {"nothing else", "{\"kind\":\"Pod\",\"apiVersion\":\"v1\"}", "metadata: got none"},
    {"no name", JOB("", "\"template\":{" SPEC "}"), "metadata.name: got none"},
    {"no template", JOB("\"name\":\"a\"", ""), "spec.template.spec: got none, want that of a pod"},
    {"no containers", JOB("\"name\":\"a\"", "\"template\":{\"spec\":{}}"),
	"spec.template.spec.containers: got none, want one or more"},
    {"a number as a text", JOB("\"name\":\"a\"", "\"parallelism\":\"2\",\"template\":{" SPEC "}"),
	"parallelism: got \"2\", want a whole number"},
    {"a fraction", JOB("\"name\":\"a\"", "\"activeDeadlineSeconds\":1.5,\"template\":{" SPEC "}"),
	"activeDeadlineSeconds: got 1.5, want a whole number"},
    {"below 0", JOB("\"name\":\"a\"", "\"completions\":-1,\"template\":{" SPEC "}"),
	"completions: got -1, want a whole number"},
    {"null is none", JOB("\"name\":\"a\"", "\"completions\":null,\"template\":{" SPEC "}"), NULL},
    {"an annotation that is no text",
	JOB("\"name\":\"a\",\"annotations\":{\"lowtide.dev/carbon-aware\":"
	    "true}",
	    "\"template\":{" SPEC "}"),
	"annotation lowtide.dev/carbon-aware: got true, want a text: in "
	"quotes"},
    {"annotations that are a list",
	JOB("\"name\":\"a\",\"annotations\":[]", "\"template\":{" SPEC "}"),
	"metadata.annotations: want names and texts"},
    {"a long value is cut",
	JOB("\"name\":\"a\",\"annotations\":{\"a\":[1111111111,2222222222,"
	    "3333333333,4444444444]}",
	    "\"template\":{" SPEC "}"),
	"got [1111111111,2222222222,3333333333,..., want a text"},
};

static json_t *
load(const char *text)
{
	json_t *const json = json_loads(text, 0, NULL);

	assert_non_null(json);
	return json;
}

static void
test_checks(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		json_t *const json = load(cases[i].text);
		struct lt_error err = {0};
		const int code = lt_kube_manifest_complete(json, NOW, &err);

		if (cases[i].says == NULL
			? code != LT_OK
			: code != LT_EINPUT || strstr(err.text, cases[i].says) == NULL)
			fail_msg("%s: %d, \"%s\"", cases[i].why, code, err.text);
		json_decref(json);
	}
}

/* It is read as one that is there and that nobody decided. */
static void
test_completes(void **state)
{
	json_t *const json =
	    load(JOB("\"name\":\"a\",\"resourceVersion\":\"7\","
		     "\"deletionTimestamp\":\"2026-01-01T00:00:00Z\",\"annotations\":{"
		     "\"lowtide.dev/quote\":\"q\",\"lowtide.dev/pool\":\"spot\","
		     "\"lowtide.dev/hold\":\"budget\",\"lowtide.dev/max-cost\":\"3\"}",
		"\"activeDeadlineSeconds\":60,\"template\":{" SPEC "}"));
	const struct lt_kube_names names = {.pool = NULL};
	struct lt_kube_job job;
	struct lt_error err = {0};

	(void)state;
	json_object_set_new(json, "status",
	    json_pack("{s:[{s:s,s:s}]}", "conditions", "type", "Complete", "status", "True"));
	assert_int_equal(lt_kube_manifest_complete(json, NOW, &err), LT_OK);
	assert_int_equal(lt_kube_job_read(&job, json, &names, &err), LT_OK);
	assert_string_equal(lt_kube_job_text(&job, LT_KUBE_NAMESPACE), "default");
	assert_string_equal(lt_kube_job_text(&job, LT_KUBE_NAME), "a");
	assert_string_equal(lt_kube_job_text(&job, LT_KUBE_QUOTE), "");
	assert_string_equal(lt_kube_job_text(&job, LT_KUBE_POOL), "");
	assert_string_equal(lt_kube_job_text(&job, LT_KUBE_HOLD), "");
	assert_string_equal(lt_kube_job_text(&job, LT_KUBE_WISHES), "max-cost=3\n");
	assert_int_equal(job.created_utc_s, NOW);
	assert_int_equal(job.pods, 1);
	assert_false(job.is_finished);
	assert_false(job.is_deleted);
	lt_kube_job_free(&job);
	json_decref(json);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_checks),
	    cmocka_unit_test(test_completes),
	};

	return cmocka_run_group_tests_name("kube_manifest", tests, NULL, NULL);
}
