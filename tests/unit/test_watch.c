/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A notice from look to look: told once, again when its end moves, withdrawn when it is gone,
 * whatever of it lowtided has heard.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

#include "notice.h"

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

enum { NOW = 1000, NONE = -1, LEAD = -2 }; /* LEAD: a notice without a time */

static const struct {
	const char *why;
	/* Looks, a second apart: an end, LEAD (20 s) or NONE. heard: lowtided answers what it is
	 * asked after the look. */
	struct {
		int64_t end;
		bool heard, news;
		enum lt_watch_task task; /* after the look */
		int64_t told_end;	 /* of TELL */
	} looks[5];
} cases[] = {
    {"nothing", {{NONE, true, false, LT_WATCH_NOTHING, 0}}},
    {"told once",
	{{1120, true, true, LT_WATCH_TELL, 1120}, {1120, true, false, LT_WATCH_NOTHING, 0},
	    {1120, true, false, LT_WATCH_NOTHING, 0}}},
    {"an end that jitters is the same",
	{{1120, true, true, LT_WATCH_TELL, 1120}, {1122, true, false, LT_WATCH_NOTHING, 0},
	    {1118, true, true, LT_WATCH_NOTHING, 0}}},
    {"one that moved is told again",
	{{1120, true, true, LT_WATCH_TELL, 1120}, {1123, true, true, LT_WATCH_TELL, 1123},
	    {1060, true, true, LT_WATCH_TELL, 1060}, {1060, true, false, LT_WATCH_NOTHING, 0}}},
    {"not heard, it stays to be told, with the newest end",
	{{1120, false, true, LT_WATCH_TELL, 1120}, {1120, false, false, LT_WATCH_TELL, 1120},
	    {1100, true, true, LT_WATCH_TELL, 1100}, {1100, true, false, LT_WATCH_NOTHING, 0}}},
    {"gone without an answer: lowtided may have it all the same",
	{{1120, false, true, LT_WATCH_TELL, 1120}, {NONE, false, true, LT_WATCH_WITHDRAW, 0},
	    {NONE, true, false, LT_WATCH_WITHDRAW, 0}, {NONE, true, false, LT_WATCH_NOTHING, 0}}},
    {"gone, it is withdrawn, once",
	{{1120, true, true, LT_WATCH_TELL, 1120}, {NONE, false, true, LT_WATCH_WITHDRAW, 0},
	    {NONE, true, false, LT_WATCH_WITHDRAW, 0}, {NONE, true, false, LT_WATCH_NOTHING, 0}}},
    {"back before the withdrawal was answered: it may have been taken",
	{{1120, true, true, LT_WATCH_TELL, 1120}, {NONE, false, true, LT_WATCH_WITHDRAW, 0},
	    {1120, true, true, LT_WATCH_TELL, 1120}, {1120, true, false, LT_WATCH_NOTHING, 0}}},
    {"another one after a withdrawal",
	{{1120, true, true, LT_WATCH_TELL, 1120}, {NONE, true, true, LT_WATCH_WITHDRAW, 0},
	    {1120, true, true, LT_WATCH_TELL, 1120}}},
    {"without a time the end counts from when it was first seen",
	{{LEAD, false, true, LT_WATCH_TELL, NOW + 20}, {LEAD, true, false, LT_WATCH_TELL, NOW + 20},
	    {LEAD, true, false, LT_WATCH_NOTHING, 0}}},
    {"one whose time is said no more keeps it: Azure's that has begun",
	{{1015, true, true, LT_WATCH_TELL, 1015}, {LEAD, true, false, LT_WATCH_NOTHING, 0}}},
    {"a new one without a time counts anew",
	{{LEAD, true, true, LT_WATCH_TELL, NOW + 20}, {NONE, true, true, LT_WATCH_WITHDRAW, 0},
	    {LEAD, true, true, LT_WATCH_TELL, NOW + 22}}},
};

static void
run_case(size_t i)
{
	struct lt_watch watch = {0};

	for (size_t k = 0; k < COUNT(cases[i].looks); k++) {
		const int64_t end = cases[i].looks[k].end;
		const struct lt_reading reading = {
		    .is_noticed = end != NONE, .has_end = end >= 0, .end_utc_s = end, .lead_s = 20};

		if (end == 0)
			return; /* no more looks */
		const bool news = lt_watch_see(&watch, &reading, NOW + (int64_t)k);
		const enum lt_watch_task task = lt_watch_task(&watch);

		if (news != cases[i].looks[k].news || task != cases[i].looks[k].task ||
		    (task == LT_WATCH_TELL && watch.end_utc_s != cases[i].looks[k].told_end))
			fail_msg("%s: look %zu: news %d, task %d, end %lld", cases[i].why, k, news,
			    (int)task, (long long)watch.end_utc_s);
		if (task != LT_WATCH_NOTHING)
			lt_watch_try(&watch);
		if (task != LT_WATCH_NOTHING && cases[i].looks[k].heard)
			lt_watch_heard(&watch, task, watch.end_utc_s);
	}
}

static void
test_looks(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++)
		run_case(i);
}

/* A process before us may have told. Nothing is withdrawn before the source says that there is
 * none. */
static void
test_restart(void **state)
{
	struct lt_watch watch = {.is_tried = true};
	const struct lt_reading none = {0};
	const struct lt_reading notice = {.is_noticed = true, .has_end = true, .end_utc_s = 1120};

	(void)state;
	assert_int_equal(lt_watch_task(&watch), LT_WATCH_NOTHING);
	lt_watch_see(&watch, &none, NOW);
	assert_int_equal(lt_watch_task(&watch), LT_WATCH_WITHDRAW);
	watch = (struct lt_watch){.is_tried = true};
	lt_watch_see(&watch, &notice, NOW);
	assert_int_equal(lt_watch_task(&watch), LT_WATCH_TELL);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_looks), cmocka_unit_test(test_restart)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
