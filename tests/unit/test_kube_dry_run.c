/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The pod that is tried for a Job, what of the answer counts, and for how long.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kube_facts.h"
#include "object.h"

static json_t *
load(const char *text)
{
	json_error_t why;
	json_t *const json = json_loads(text, 0, &why);

	if (json == NULL)
		fail_msg("%s: %s", why.text, text);
	return json;
}

static json_t *
job_of(const char *spec)
{
	json_t *const job = load("{\"metadata\":{\"uid\":\"u\",\"name\":\"j\",\"namespace\":"
				 "\"team-a\",\"creationTimestamp\":\"2026-11-27T08:00:00Z\"}}");

	json_object_set_new(job, "spec", load(spec));
	return job;
}

static const char plain[] = "{\"template\":{\"metadata\":{\"labels\":{\"job-name\":\"j\"},"
			    "\"annotations\":{\"a\":\"b\"}},\"spec\":{\"restartPolicy\":\"Never\","
			    "\"nodeSelector\":{\"mine\":\"x\"},\"containers\":[{\"name\":\"main\","
			    "\"image\":\"i\",\"resources\":{\"requests\":{\"cpu\":\"1\",\"memory\":"
			    "\"1Gi\"}}}]}}}";
static const char answered[] =
    "{\"spec\":{\"nodeSelector\":{\"mine\":\"x\",\"theirs\":\"y\"},\"overhead\":"
    "{\"memory\":\"1Gi\"},\"tolerations\":[{\"operator\":\"Exists\"}],"
    "\"initContainers\":[{\"name\":\"sidecar\",\"restartPolicy\":\"Always\","
    "\"resources\":{\"requests\":{\"cpu\":\"500m\"}}}],\"containers\":[{"
    "\"name\":\"main\",\"image\":\"i\",\"resources\":{\"requests\":{\"cpu\":"
    "\"1\",\"memory\":\"1Gi\"}}}]}}";

static void
test_pod(void **state)
{
	static const struct {
		const char *mode, *prefix, *labels;
	} cases[] = {
	    {"NonIndexed", "j-", "{\"job-name\":\"j\"}"},
	    {"Indexed", "j-0-",
		"{\"job-name\":\"j\","
		"\"batch.kubernetes.io/job-completion-index\":\"0\"}"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		json_t *const job = job_of(plain);
		json_t *const before = json_deep_copy(job);
		json_t *const labels = load(cases[i].labels);
		const json_t *owner;

		for (int k = 0; k < 2; k++) /* it stays as it is */
			json_object_set_new(json_object_get(k == 0 ? job : before, "spec"),
			    "completionMode", json_string(cases[i].mode));
		json_t *const pod = lt_kube_dry_pod(job);
		const json_t *const metadata = json_object_get(pod, "metadata");
		assert_string_equal(lt_kube_string(pod, "kind"), "Pod");
		assert_string_equal(lt_kube_string(metadata, "generateName"), cases[i].prefix);
		assert_string_equal(lt_kube_string(metadata, "namespace"), "team-a");
		assert_true(json_equal(json_object_get(metadata, "labels"), labels));
		assert_string_equal(
		    lt_kube_string(json_object_get(metadata, "annotations"), "a"), "b");
		owner = lt_kube_controller(pod);
		assert_string_equal(lt_kube_string(owner, "kind"), "Job");
		assert_string_equal(lt_kube_string(owner, "uid"), "u");
		assert_true(json_equal(job, before));
		json_decref(pod);
		json_decref(labels);
		json_decref(before);
		json_decref(job);
	}
}

static struct lt_kube_job
read_job(const json_t *job)
{
	const struct lt_kube_given nothing = {.requests = NULL};
	const struct lt_kube_names names = {.given = &nothing};
	struct lt_kube_job facts;
	struct lt_error err = {0};

	if (lt_kube_job_read(&facts, job, &names, &err) != LT_OK)
		fail_msg("%s", err.text);
	return facts;
}

static void
test_result(void **state)
{
	json_t *const job = job_of(plain), *const answer = load(answered);
	struct lt_kube_job facts = read_job(job);

	(void)state;
	assert_int_equal(facts.need.exact.cpu_milli, 1000);
	assert_false(facts.is_tried);
	lt_kube_job_free(&facts);
	json_object_set_new(job, LT_KUBE_DRY_RUN, lt_kube_dry_result(job, answer, ""));
	facts = read_job(job);
	assert_int_equal(facts.need.exact.cpu_milli, 1500);
	assert_int_equal(facts.need.exact.memory_kib, 2 * 1024 * 1024);
	assert_int_equal(facts.asks.of[LT_KUBE_CPU], 1500);
	assert_true(facts.is_tried);
	assert_string_equal(
	    lt_kube_job_text(&facts, LT_KUBE_SELECTOR), "{\"mine\":\"x\",\"theirs\":\"y\"}");
	/* Tolerations are written back: those of the template alone. */
	assert_string_equal(lt_kube_job_text(&facts, LT_KUBE_TOLERATIONS), "");
	assert_string_equal(lt_kube_job_text(&facts, LT_KUBE_UNTRIED), "");
	assert_true(facts.is_placed); /* by a label that is not known */
	lt_kube_job_free(&facts);
	/* As the watch has it, where less of it is kept, it is the same. */
	lt_kube_strip(job);
	facts = read_job(job);
	assert_int_equal(facts.need.exact.cpu_milli, 1500);
	lt_kube_job_free(&facts);
	/* Of another template it says nothing. */
	json_object_set_new(
	    json_object_get(
		json_array_get(
		    json_object_get(lt_kube_part(json_object_get(job, "spec"), "template", "spec"),
			"containers"),
		    0),
		"resources"),
	    "requests", load("{\"cpu\":\"3\",\"memory\":\"1Gi\"}"));
	facts = read_job(job);
	assert_int_equal(facts.need.exact.cpu_milli, 3000);
	assert_false(facts.is_tried);
	lt_kube_job_free(&facts);
	/* Nor is it understood where a webhook adds devices. */
	json_object_set_new(json_object_get(answer, "spec"), "resourceClaims",
	    load("[{\"name\":\"gpu\",\"resourceClaimName\":\"c\"}]"));
	json_object_set_new(job, LT_KUBE_DRY_RUN, lt_kube_dry_result(job, answer, ""));
	facts = read_job(job);
	assert_int_equal(facts.need.exact.cpu_milli, 3000);
	assert_true(facts.is_tried);
	assert_string_equal(
	    lt_kube_job_text(&facts, LT_KUBE_UNTRIED), "a webhook changes its resourceClaims");
	lt_kube_job_free(&facts);
	/* Where there is none, why. */
	json_object_set_new(job, LT_KUBE_DRY_RUN, lt_kube_dry_result(job, NULL, "refused"));
	facts = read_job(job);
	assert_int_equal(facts.need.exact.cpu_milli, 3000);
	assert_true(facts.is_tried);
	assert_string_equal(lt_kube_job_text(&facts, LT_KUBE_UNTRIED), "refused");
	lt_kube_job_free(&facts);
	json_decref(answer);
	json_decref(job);
}

static void
test_raise(void **state)
{
	struct lt_kube_need need = {.cpus = 2, .memory_mib = 10, .exact = {1500, 10240, 0}};
	const struct lt_kube_need less = {.cpus = 2, .memory_mib = 9, .exact = {1400, 9216, 0}};
	const struct lt_kube_need more = {.cpus = 1,
	    .gpus = 1,
	    .memory_mib = 11,
	    .exact = {100, 11264, LT_KUBE_WHOLE_GPU},
	    .gpu_kinds = {.kinds = 1}};

	(void)state;
	assert_false(lt_kube_need_raise(&need, &less));
	assert_false(lt_kube_need_raise(&need, &need));
	assert_true(lt_kube_need_raise(&need, &more));
	assert_int_equal(need.cpus, 2);
	assert_int_equal(need.exact.cpu_milli, 1500);
	assert_int_equal(need.memory_mib, 11);
	assert_int_equal(need.exact.memory_kib, 11264);
	assert_int_equal(need.gpus, 1);
	assert_int_equal(need.gpu_kinds.kinds, 1);
	assert_false(lt_kube_need_raise(&need, &more));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_pod),
	    cmocka_unit_test(test_result),
	    cmocka_unit_test(test_raise),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
