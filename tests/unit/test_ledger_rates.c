/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rates and points in signals.db: what replaces what, and what fills a gap.
 */
#include "ledger_fixture.h"

#define M LT_QUALITY_MEASURED
#define F LT_QUALITY_FORECAST
#define C LT_QUALITY_CONSTANT
#define E LT_QUALITY_ESTIMATED
#define L LT_QUALITY_LAST_VALUE

/* ---- rates ---- */

struct step_text {
	int64_t start, end;
	double value;
	enum lt_quality q;
};

static void
put(struct fixture *f, struct step_text s)
{
	struct lt_rate_step step = {.start_utc_s = s.start,
	    .end_utc_s = s.end,
	    .value = s.value,
	    .quality = s.q,
	    .source = "src"};

	must(f, lt_ledger_put_rates(
		    f->ledger, "p", LT_RATE_PRICE, &step, 1, &f->err));
}

static void
rates_replace_each_other(void **state)
{
	static const struct {
		const char *why;
		struct step_text puts[4]; /* ended by end 0 */
		int64_t from, to;
		struct step_text want[6];
	} cases[] = {
	    {"nothing known", {{0}}, 0, 10, {{0}}},
	    {"one constant, in force until changed", {{10, INT64_MAX, 5, C}},
		20, 30, {{10, INT64_MAX, 5, C}}},
	    {"the first goes back, estimated", {{10, INT64_MAX, 5, C}}, 0, 20,
		{{0, 10, 5, E}, {10, INT64_MAX, 5, C}}},
	    {"also where all is before it", {{10, INT64_MAX, 5, C}}, 0, 5,
		{{0, 5, 5, E}}},
	    {"a constant is changed",
		{{10, INT64_MAX, 5, C}, {20, INT64_MAX, 6, C}}, 10, 30,
		{{10, 20, 5, C}, {20, INT64_MAX, 6, C}}},
	    {"measured replaces forecast, the rest stays",
		{{0, 30, 5, F}, {10, 20, 6, M}}, 0, 30,
		{{0, 10, 5, F}, {10, 20, 6, M}, {20, 30, 5, F}}},
	    {"a forecast goes around the measured",
		{{10, 20, 6, M}, {0, 30, 5, F}}, 0, 30,
		{{0, 10, 5, F}, {10, 20, 6, M}, {20, 30, 5, F}}},
	    {"measured replaces measured", {{0, 30, 5, M}, {0, 30, 6, M}}, 0,
		30, {{0, 30, 6, M}}},
	    {"measured until changed ends at a forecast",
		{{0, INT64_MAX, 5, M}, {10, 20, 6, F}}, 0, 15,
		{{0, 10, 5, M}, {10, 20, 6, F}}},
	    {"a gap is the last value", {{0, 10, 5, M}, {20, 30, 6, M}}, 0, 40,
		{{0, 10, 5, M}, {10, 20, 5, L}, {20, 30, 6, M},
		    {30, 40, 6, L}}},
	    {"long after the last", {{0, 10, 5, M}}, 50, 60, {{50, 60, 5, L}}},
	};
	struct fixture *const f = *state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct lt_rate_step *steps;
		uint32_t count, want = 0;
		print_message("%s\n", cases[i].why);
		lt_ledger_close(f->ledger);
		f->ledger = NULL;
		remove_file(f->dir, "signals.db");
		reopen(f);
		for (size_t p = 0; p < 4 && cases[i].puts[p].end != 0; p++)
			put(f, cases[i].puts[p]);
		must(f,
		    lt_ledger_rates(f->ledger, "p", LT_RATE_PRICE,
			cases[i].from, cases[i].to, &steps, &count, &f->err));
		while (want < 6 && cases[i].want[want].end != 0)
			want++;
		assert_int_equal(count, want);
		for (uint32_t s = 0; s < count; s++) {
			const struct step_text *const w = &cases[i].want[s];
			assert_int_equal(steps[s].start_utc_s, w->start);
			assert_int_equal(steps[s].end_utc_s, w->end);
			assert_true(steps[s].value == w->value);
			assert_int_equal(steps[s].quality, w->q);
		}
		free(steps);
	}
}

static void
points_keep_the_measured(void **state)
{
	const struct lt_rate_step measured[] = {
	    {0, 10, 5, LT_QUALITY_MEASURED, ""},
	    {10, 20, 6, LT_QUALITY_FORECAST, ""}};
	const struct lt_rate_step forecast[] = {
	    {0, 10, 7, LT_QUALITY_FORECAST, ""},
	    {10, 20, 8, LT_QUALITY_FORECAST, ""}};
	const struct lt_rate_step bad = {10, 10, 1, LT_QUALITY_MEASURED, ""};
	struct fixture *const f = *state;
	struct lt_rate_step *steps;
	uint32_t count;

	must(f, lt_ledger_put_points(f->ledger, "uk", measured, 2, &f->err));
	must(f, lt_ledger_put_points(f->ledger, "uk", forecast, 2, &f->err));
	must(f,
	    lt_ledger_points(f->ledger, "uk", 5, 15, &steps, &count, &f->err));
	assert_int_equal(count, 2);
	assert_true(steps[0].value == 5);
	assert_true(steps[1].value == 8);
	assert_string_equal(steps[1].source, "uk");
	free(steps);
	must(f, lt_ledger_prune_signals(f->ledger, 10, 1000, &f->err));
	must(f,
	    lt_ledger_points(f->ledger, "uk", 0, 30, &steps, &count, &f->err));
	assert_int_equal(count, 1);
	free(steps);
	assert_int_equal(
	    lt_ledger_put_points(f->ledger, "uk", &bad, 1, NULL), LT_EINPUT);
	assert_int_equal(
	    lt_ledger_put_rates(f->ledger, "p", LT_RATE_CARBON, &bad, 1, NULL),
	    LT_EINPUT);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    EACH(rates_replace_each_other),
	    EACH(points_keep_the_measured),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
