/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * For how long a Job without activeDeadlineSeconds is held: by its class, the site, and again while
 * it runs.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "../../kubernetes/site.h"

enum { HOUR_S = 3600, START_S = 1796288400, SITE_S = 48 * HOUR_S };

static struct lt_class classes[] = {
    {.name = "spot", .partition = "spot", .assume_time_s = HOUR_S},
    {.name = "quiet", .qos = "quiet"},
    {.name = "long", .account = "team-a", .qos = "long", .assume_time_s = 2 * HOUR_S},
    {.name = "books", .patterns = "*book*", .assume_time_s = 8 * HOUR_S},
};
static struct lt_kube_namespace spaces[] = {
    {.name = "team-a", .team = "team-a", .is_managed = true},
    {.name = "team-b", .team = "team-b", .is_managed = true},
};

static void
know(int64_t site_s)
{
	const struct lt_market market = {.classes = classes,
	    .class_count = sizeof(classes) / sizeof(classes[0]),
	    .assume_time_s = site_s};

	lt_kube_site.cluster.namespaces = spaces;
	lt_kube_site.cluster.namespace_count = 2;
	lt_kube_know_limits(&market);
}

static struct lt_kube_known_job
job_of(const char *space, const char *name, const char *class, int limit_s)
{
	struct lt_kube_known_job job = {.id = 7};
	const struct lt_kube_names names = {0};
	struct lt_error err = {0};
	char text[1024], limit[64] = "";

	if (limit_s > 0)
		snprintf(limit, sizeof(limit), "\"activeDeadlineSeconds\":%d,", limit_s);
	snprintf(text, sizeof(text),
	    "{\"metadata\":{\"uid\":\"u\",\"name\":\"%s\",\"namespace\":\"%s\",\"annotations\":{\"lowtide.dev/class\":\"%s\"}},"
	    "\"spec\":{%s\"template\":{\"spec\":{\"containers\":[{\"name\":\"c\"}]}}}}",
	    name, space, class, limit);
	json_t *const object = json_loads(text, 0, NULL);
	assert_non_null(object);
	assert_int_equal(lt_kube_job_read(&job.facts, object, &names, &err), LT_OK);
	json_decref(object);
	return job;
}

static void
test_stretches(void **state)
{
	static const struct {
		const char *why, *space, *name, *class, *places;
		int limit_s;
		int64_t site_s, each_s;
	} cases[] = {
	    {"no class, nobody says", "team-b", "a", "", "od", 0, 0, 0},
	    {"no class: the site's", "team-b", "a", "", "od", 0, SITE_S, SITE_S},
	    {"by its class", "team-a", "a", "long", "od", 0, SITE_S, 2 * HOUR_S},
	    {"of another team", "team-b", "a", "long", "od", 0, 0, 0},
	    {"by its name", "team-b", "notebook", "", "od", 0, 0, 8 * HOUR_S},
	    {"by the first of where it may run", "team-b", "a", "", "spot,od", 0, 0, HOUR_S},
	    {"which another is not", "team-b", "a", "", "od,spot", 0, 0, 0},
	    {"the first class counts, though it does not say", "team-a", "notebook", "quiet", "od",
		0, 0, 0},
	    {"and leaves it to the site", "team-a", "notebook", "quiet", "od", 0, SITE_S, SITE_S},
	    {"one that has a limit", "team-a", "a", "long", "od", 60, SITE_S, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		print_message("# %s\n", cases[i].why);
		know(cases[i].site_s);
		struct lt_kube_known_job job =
		    job_of(cases[i].space, cases[i].name, cases[i].class, cases[i].limit_s);
		assert_int_equal(lt_kube_stretch_s(&job, cases[i].places), cases[i].each_s);
		assert_int_equal(lt_kube_limit_s(&job, cases[i].places, START_S),
		    cases[i].limit_s > 0 ? job.facts.limit_s : cases[i].each_s);
		lt_kube_job_free(&job.facts);
	}
}

static void
test_renewals(void **state)
{
	static const struct {
		const char *why;
		bool waits, ran;
		int64_t after_s, stretches;
	} cases[] = {
	    {"it waits", true, false, 9 * HOUR_S, 1},
	    {"it was let go, and has no pod yet", false, false, 9 * HOUR_S, 1},
	    {"it has begun", false, true, 0, 1},
	    {"a second before", false, true, 2 * HOUR_S - 1, 1},
	    {"the time is over", false, true, 2 * HOUR_S, 2},
	    {"nobody looked for long", false, true, 9 * HOUR_S, 5},
	    {"suspended, it waits anew", true, true, 9 * HOUR_S, 1},
	    {"a clock that was set back", false, true, -HOUR_S, 1},
	};

	(void)state;
	know(0);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct lt_kube_known_job job = job_of("team-a", "a", "long", 0);

		print_message("# %s\n", cases[i].why);
		job.facts.is_waiting = cases[i].waits;
		job.first_utc_s = cases[i].ran ? START_S : 0;
		assert_int_equal(lt_kube_limit_s(&job, "od", START_S + cases[i].after_s),
		    cases[i].stretches * 2 * HOUR_S);
		lt_kube_job_free(&job.facts);
	}
}

/* Looked at again once for each, whatever is asked how often. */
static void
test_looked_at(void **state)
{
	struct lt_kube_cluster *const c = &lt_kube_site.cluster;
	struct lt_kube_known_job job = job_of("team-a", "a", "long", 0);

	(void)state;
	know(0);
	job.first_utc_s = START_S;
	for (int hour = 0; hour < 6; hour++)
		for (int k = 0; k < 3; k++) {
			c->changed_count = 0;
			lt_kube_renew(&job, START_S + hour * HOUR_S);
			assert_int_equal(c->changed_count, hour % 2 == 0 && k == 0);
			assert_int_equal(job.held_s, (hour / 2 + 1) * 2 * HOUR_S);
		}
	c->changed_count = 0;
	job.facts.is_waiting = true;
	lt_kube_renew(&job, START_S + 99 * HOUR_S);
	assert_int_equal(c->changed_count, 0);
	lt_kube_job_free(&job.facts);
}

/* For the quick no: never more than what is held. */
static void
test_least(void **state)
{
	(void)state;
	know(0);
	assert_int_equal(lt_kube_least_assumed_s("team-a"), HOUR_S);
	classes[0].assume_time_s = 0;
	know(0);
	assert_int_equal(lt_kube_least_assumed_s("team-a"), 2 * HOUR_S);
	assert_int_equal(lt_kube_least_assumed_s("team-b"), 8 * HOUR_S);
	know(60);
	assert_int_equal(lt_kube_least_assumed_s("team-b"), 60);
	classes[2].assume_time_s = classes[3].assume_time_s = 0;
	know(0);
	assert_int_equal(lt_kube_least_assumed_s("team-a"), 0);
	classes[0].assume_time_s = HOUR_S;
}

/* Other classes: all is looked at; the same: nothing. */
static void
test_known_anew(void **state)
{
	bool *const all = &lt_kube_site.cluster.all_changed;

	(void)state;
	know(0);
	*all = false;
	know(0);
	assert_false(*all);
	know(1);
	assert_true(*all);
	*all = false;
	classes[1].assume_time_s = 5 * HOUR_S;
	know(1);
	assert_true(*all);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_stretches),
	    cmocka_unit_test(test_renewals),
	    cmocka_unit_test(test_looked_at),
	    cmocka_unit_test(test_least),
	    cmocka_unit_test(test_known_anew),
	};
	const int failed = cmocka_run_group_tests(tests, NULL, NULL);

	free(lt_kube_site.classes);
	return failed;
}
