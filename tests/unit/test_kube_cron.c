/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The next tick of a CronJob, by what cron(5) and robfig/cron say of each schedule, worked out by a
 * calendar.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "kube_facts.h"
#include "units.h"

static void
test_next(void **state)
{
	/* 2026-11-29 is a Sunday. NULL: it can't be read, or has none. */
	static const struct {
		const char *schedule, *after, *next;
		int32_t offset_s;
	} cases[] = {
	    {"* * * * *", "2026-11-29T10:00:00Z", "2026-11-29T10:01:00Z", 0},
	    {"*/15 * * * *", "2026-11-29T10:00:00Z", "2026-11-29T10:15:00Z", 0},
	    {"*/15 * * * *", "2026-11-29T10:45:01Z", "2026-11-29T11:00:00Z", 0},
	    {"5/20 * * * *", "2026-11-29T10:26:00Z", "2026-11-29T10:45:00Z", 0},
	    {"0 2 * * *", "2026-11-29T02:00:00Z", "2026-11-30T02:00:00Z", 0},
	    {"30 1,13 * * *", "2026-11-29T02:00:00Z", "2026-11-29T13:30:00Z", 0},
	    {"0 9-17/4 * * 1-5", "2026-11-27T17:00:00Z", "2026-11-30T09:00:00Z", 0},
	    {"0 0 * * MON", "2026-11-29T10:00:00Z", "2026-11-30T00:00:00Z", 0},
	    {"0 0 1 jan ?", "2026-11-29T10:00:00Z", "2027-01-01T00:00:00Z", 0},
	    {"0 0 29 2 *", "2026-11-29T10:00:00Z", "2028-02-29T00:00:00Z", 0},
	    {"0 0 31 * *", "2026-11-29T10:00:00Z", "2026-12-31T00:00:00Z", 0},
	    /* Both days named: either; a step of one is "*", of two is not. */
	    {"0 0 15 * 2", "2026-11-29T10:00:00Z", "2026-12-01T00:00:00Z", 0},
	    {"0 0 15 * */1", "2026-11-29T10:00:00Z", "2026-12-15T00:00:00Z", 0},
	    {"0 0 15 * */2", "2026-11-29T10:00:00Z", "2026-12-01T00:00:00Z", 0},
	    {"@hourly", "2026-11-29T10:00:00Z", "2026-11-29T11:00:00Z", 0},
	    {"@daily", "2026-11-29T10:00:00Z", "2026-11-30T00:00:00Z", 0},
	    {"@weekly", "2026-11-29T10:00:00Z", "2026-12-06T00:00:00Z", 0},
	    {"@monthly", "2026-11-29T10:00:00Z", "2026-12-01T00:00:00Z", 0},
	    {"@yearly", "2026-11-29T10:00:00Z", "2027-01-01T00:00:00Z", 0},
	    {"@every 90m", "2026-11-29T10:00:00Z", "2026-11-29T11:30:00Z", 0},
	    /* In zones: 02:00 in Berlin, 23:30 in New York. */
	    {"0 2 * * *", "2026-11-29T01:00:00Z", "2026-11-30T01:00:00Z", 3600},
	    {"30 23 * * 0", "2026-11-29T10:00:00Z", "2026-11-30T04:30:00Z", -5 * 3600},
	    {"", "2026-11-29T10:00:00Z", NULL, 0},
	    {"* * * *", "2026-11-29T10:00:00Z", NULL, 0},
	    {"* * * * * *", "2026-11-29T10:00:00Z", NULL, 0},
	    {"60 * * * *", "2026-11-29T10:00:00Z", NULL, 0},
	    {"* * 0 * *", "2026-11-29T10:00:00Z", NULL, 0},
	    {"* * * * 7", "2026-11-29T10:00:00Z", NULL, 0},
	    {"5-1 * * * *", "2026-11-29T10:00:00Z", NULL, 0},
	    {"*/0 * * * *", "2026-11-29T10:00:00Z", NULL, 0},
	    {"*/x * * * *", "2026-11-29T10:00:00Z", NULL, 0},
	    {"0 0 30 2 *", "2026-11-29T10:00:00Z", NULL, 0},
	    {"0, 0 * * *", "2026-11-29T10:00:00Z", NULL, 0},
	    {"CRON_TZ=UTC 0 0 * * *", "2026-11-29T10:00:00Z", NULL, 0},
	    {"@every soon", "2026-11-29T10:00:00Z", NULL, 0},
	    {"@noon", "2026-11-29T10:00:00Z", NULL, 0},
	    {"99999999999999999999 * * * *", "2026-11-29T10:00:00Z", NULL, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int64_t after_utc_s, want_utc_s = 0, next_utc_s = 0;

		assert_int_equal(lt_utc_parse(cases[i].after, &after_utc_s, NULL), LT_OK);
		if (cases[i].next != NULL)
			assert_int_equal(lt_utc_parse(cases[i].next, &want_utc_s, NULL), LT_OK);
		const bool has = lt_kube_cron_next(
		    &next_utc_s, cases[i].schedule, after_utc_s, cases[i].offset_s);
		if (has != (cases[i].next != NULL) || (has && next_utc_s != want_utc_s))
			fail_msg("%s: %d, %lld, want %lld", cases[i].schedule, has,
			    (long long)next_utc_s, (long long)want_utc_s);
	}
}

/* The CronJob's tick, and how far east of UTC its zone was then. */
static void
test_tick(void **state)
{
	static const struct {
		const char *tick;
		int64_t scheduled_utc_s;
		int32_t zone_offset_s;
	} cases[] = {
	    {"2026-11-26T04:10:45Z", 1795666245, 0},
	    {"2026-11-26T05:10:00+01:00", 1795666200, 3600},
	    {"2026-11-25T23:40:00-04:30", 1795666200, -16200},
	    {"soon", 1795665600, 0}, /* as it was created */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct lt_kube_job job;
		const struct lt_kube_names names = {.pool = NULL};
		json_t *const object =
		    json_pack("{s:{s:s,s:s,s:s,s:{s:s}},s:{s:{s:{}}}}", "metadata", "name", "a",
			"uid", "u", "creationTimestamp", "2026-11-26T04:00:00Z", "annotations",
			"batch.kubernetes.io/cronjob-scheduled-timestamp", cases[i].tick, "spec",
			"template", "spec");

		assert_int_equal(lt_kube_job_read(&job, object, &names, NULL), LT_OK);
		json_decref(object);
		assert_int_equal(job.scheduled_utc_s, cases[i].scheduled_utc_s);
		assert_int_equal(job.zone_offset_s, cases[i].zone_offset_s);
		lt_kube_job_free(&job);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_next),
	    cmocka_unit_test(test_tick),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
