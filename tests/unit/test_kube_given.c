/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a Job's pods are given at their creation, as a 1.36 server gives it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kube_facts.h"

static json_t *
load(const char *text)
{
	json_error_t why;
	json_t *const json = json_loads(text, 0, &why);

	if (json == NULL)
		fail_msg("%s: %s", why.text, text);
	return json;
}

static struct lt_kube_job
given_job(const char *pod_spec, const struct lt_kube_given *given)
{
	const struct lt_kube_names names = {.given = given};
	json_t *const object = load("{\"metadata\":{\"uid\":\"u\",\"name\":"
				    "\"j\",\"namespace\":\"team-a\"},\"spec\":"
				    "{\"template\":{}}}");
	struct lt_kube_job job;
	struct lt_error err = {0};

	json_object_set_new(
	    json_object_get(json_object_get(object, "spec"), "template"), "spec", load(pod_spec));
	assert_int_equal(lt_kube_job_read(&job, object, &names, &err), LT_OK);
	json_decref(object);
	return job;
}

static void
test_given(void **state)
{
	json_t *const ranges =
	    load("[{\"metadata\":{\"namespace\":\"team-a\"},\"spec\":{\"limits\":"
		 "[{\"type\":\"Container\",\"defaultRequest\":{\"cpu\":\"2\","
		 "\"memory\":\"64Mi\"}},{\"type\":\"Pod\",\"max\":{\"cpu\":\"9\"}}]}},"
		 "{\"metadata\":{\"namespace\":\"team-a\"},\"spec\":{\"limits\":"
		 "[{\"type\":\"Container\",\"defaultRequest\":{\"cpu\":\"1500m\","
		 "\"memory\":\"1Gi\"}}]}},"
		 "{\"metadata\":{\"namespace\":\"team-b\"},\"spec\":{\"limits\":"
		 "[{\"type\":\"Container\",\"defaultRequest\":{\"cpu\":\"64\"}}]}}]");
	json_t *const classes =
	    load("[{\"metadata\":{\"name\":\"kata\"},\"handler\":\"kata\",\"overhead\":"
		 "{\"podFixed\":{\"memory\":\"100Mi\"}},\"scheduling\":"
		 "{\"nodeSelector\":{\"a\":\"b\"}}}]");
	struct lt_kube_given given = {
	    .requests = lt_kube_given_requests(ranges), .classes = lt_kube_given_classes(classes)};
	static const struct {
		const char *spec;
		uint32_t cpus;
		uint64_t memory_mib;
		bool is_placed, is_unsized; /* where nothing is known */
	} cases[] = {
	    {"{\"containers\":[{\"name\":\"a\"}]}", 2, 1024, false, true},
	    {"{\"containers\":[{\"resources\":{\"requests\":{\"cpu\":\"8\"},"
	     "\"limits\":{\"memory\":\"2Gi\"}}}]}",
		8, 2048, false, false},
	    {"{\"containers\":[{\"resources\":{\"limits\":{\"cpu\":\"1\"}}},{}]}", 3, 2048, false,
		true},
	    {"{\"initContainers\":[{}],\"containers\":[{\"resources\":{\"requests\":"
	     "{\"cpu\":\"1\",\"memory\":\"1Mi\"}}}]}",
		2, 1024, false, true},
	    {"{\"runtimeClassName\":\"kata\",\"containers\":[{\"resources\":"
	     "{\"requests\":{\"cpu\":\"1\",\"memory\":\"1Mi\"}}}]}",
		1, 101, true, true},
	    {"{\"runtimeClassName\":\"none\",\"containers\":[{\"resources\":"
	     "{\"requests\":{\"cpu\":\"1\",\"memory\":\"1Mi\"}}}]}",
		1, 1, true, true}, /* some class all the same */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct lt_kube_given unknown = {.requests = NULL};
		struct lt_kube_job job = given_job(cases[i].spec, &given);

		assert_int_equal(job.need.cpus, cases[i].cpus);
		assert_int_equal(job.need.memory_mib, cases[i].memory_mib);
		assert_int_equal(job.is_placed, cases[i].is_placed);
		assert_false(job.is_unsized);
		lt_kube_job_free(&job);
		job = given_job(cases[i].spec, &unknown);
		assert_int_equal(job.is_unsized, cases[i].is_unsized);
		lt_kube_job_free(&job);
	}
	json_decref(given.requests);
	json_decref(given.classes);
	json_decref(ranges);
	json_decref(classes);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_given),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
