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
		    f->ledger, "p", LT_RATE_PRICE, &(struct lt_rates){1, &step}, &f->err));
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
	    {"one constant, in force until changed", {{10, INT64_MAX, 5, C}}, 20, 30,
		{{10, INT64_MAX, 5, C}}},
	    {"the first goes back, estimated", {{10, INT64_MAX, 5, C}}, 0, 20,
		{{0, 10, 5, E}, {10, INT64_MAX, 5, C}}},
	    {"also where all is before it", {{10, INT64_MAX, 5, C}}, 0, 5, {{0, 5, 5, E}}},
	    {"a constant is changed", {{10, INT64_MAX, 5, C}, {20, INT64_MAX, 6, C}}, 10, 30,
		{{10, 20, 5, C}, {20, INT64_MAX, 6, C}}},
	    {"measured replaces forecast, the rest stays", {{0, 30, 5, F}, {10, 20, 6, M}}, 0, 30,
		{{0, 10, 5, F}, {10, 20, 6, M}, {20, 30, 5, F}}},
	    {"a forecast goes around the measured", {{10, 20, 6, M}, {0, 30, 5, F}}, 0, 30,
		{{0, 10, 5, F}, {10, 20, 6, M}, {20, 30, 5, F}}},
	    {"measured replaces measured", {{0, 30, 5, M}, {0, 30, 6, M}}, 0, 30, {{0, 30, 6, M}}},
	    {"measured until changed ends at a forecast", {{0, INT64_MAX, 5, M}, {10, 20, 6, F}}, 0,
		15, {{0, 10, 5, M}, {10, 20, 6, F}}},
	    {"a gap is the last value", {{0, 10, 5, M}, {20, 30, 6, M}}, 0, 40,
		{{0, 10, 5, M}, {10, 20, 5, L}, {20, 30, 6, M}, {30, 40, 6, L}}},
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
		    lt_ledger_rates(f->ledger,
			&(struct lt_rates_asked){"p", LT_RATE_PRICE, {cases[i].from, cases[i].to}},
			&steps, &count, &f->err));
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

static double
value_at(struct fixture *f, int64_t at_utc_s)
{
	const struct lt_rates_asked asked = {"p", LT_RATE_PRICE, {at_utc_s, at_utc_s + 1}};
	struct lt_rate_step *steps = NULL;
	uint32_t count = 0;

	must(f, lt_ledger_rates(f->ledger, &asked, &steps, &count, &f->err));
	assert_int_equal(count, 1);
	const double value = steps[0].value;
	free(steps);
	return value;
}

/* Where what was looked up is remembered. */
static void
a_transaction_sees_what_is_put(void **state)
{
	struct fixture *const f = *state;

	put(f, (struct step_text){0, INT64_MAX, 5, C});
	must(f, lt_ledger_begin(f->ledger, &f->err));
	assert_true(value_at(f, 100) == 5 && value_at(f, 200) == 5);
	put(f, (struct step_text){150, INT64_MAX, 6, C});
	assert_true(value_at(f, 100) == 5 && value_at(f, 200) == 6);
	must(f, lt_ledger_commit(f->ledger, &f->err));
	must(f, lt_ledger_begin(f->ledger, &f->err));
	put(f, (struct step_text){50, INT64_MAX, 7, C});
	assert_true(value_at(f, 100) == 7);
	lt_ledger_rollback(f->ledger);
	must(f, lt_ledger_begin(f->ledger, &f->err));
	assert_true(value_at(f, 100) == 5);
	must(f, lt_ledger_commit(f->ledger, &f->err));
	/* More at once than are remembered, in turns. */
	for (int64_t i = 0; i < 3 * LT_DAY_S; i += LT_HOUR_S)
		put(f, (struct step_text){i, i + LT_HOUR_S, (double)i, M});
	must(f, lt_ledger_begin(f->ledger, &f->err));
	for (int turn = 0; turn < 2; turn++)
		for (int64_t i = 0; i < 3 * LT_DAY_S; i += LT_HOUR_S)
			assert_true(value_at(f, i + 100) == (double)i);
	must(f, lt_ledger_commit(f->ledger, &f->err));
}

/* Nor is nothing: neither for that time nor at any. */
static void
a_transaction_sees_the_first_that_is_put(void **state)
{
	const struct lt_rates_asked asked = {
	    .partition = "p", .rate = LT_RATE_PRICE, .span = {100, 101}};
	struct fixture *const f = *state;
	struct lt_rate_step *steps;
	uint32_t count;

	must(f, lt_ledger_begin(f->ledger, &f->err));
	for (int i = 0; i < 2; i++) {
		must(f, lt_ledger_rates(f->ledger, &asked, &steps, &count, &f->err));
		assert_int_equal(count, 0);
		free(steps);
	}
	put(f, (struct step_text){500, INT64_MAX, 5, C});
	assert_true(value_at(f, 100) == 5 && value_at(f, 600) == 5);
	put(f, (struct step_text){50, 500, 6, C});
	assert_true(value_at(f, 100) == 6 && value_at(f, 600) == 5);
	/* The first is remembered for all before it, and for nothing behind. */
	put(f, (struct step_text){700, INT64_MAX, 8, C});
	assert_true(value_at(f, 10) == 6 && value_at(f, 20) == 6);
	assert_true(value_at(f, 600) == 5 && value_at(f, 800) == 8);
	must(f, lt_ledger_commit(f->ledger, &f->err));
}

/* As recorded at 100, 200, ...: what held until changed, and is not changed, keeps its time; what
 * says another thing does not. */
static void
rates_know_when_they_were_recorded(void **state)
{
	static const struct {
		struct step_text put;
		int64_t want[3]; /* at 5, 15 and 25 */
	} cases[] = {
	    {{0, INT64_MAX, 5, F}, {100, 100, 100}},
	    {{0, INT64_MAX, 5, F}, {100, 100, 100}},
	    {{0, 10, 5, F}, {100, 100, 100}},
	    {{10, INT64_MAX, 5, F}, {100, 100, 100}},
	    {{20, INT64_MAX, 6, F}, {100, 100, 500}},
	    {{0, 10, 5, M}, {600, 100, 500}},
	    {{0, 30, 7, M}, {700, 700, 700}},
	    {{10, 20, 8, M}, {700, 800, 700}},
	};
	struct fixture *const f = *state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct step_text *const p = &cases[i].put;
		const struct lt_rate_step step = {
		    p->start, p->end, p->value, p->q, "src", 100 * ((int64_t)i + 1)};

		must(f, lt_ledger_put_rates(
			    f->ledger, "p", LT_RATE_PRICE, &(struct lt_rates){1, &step}, &f->err));
		for (int64_t k = 0; k < 3; k++) {
			struct lt_rate_step *steps = NULL;
			uint32_t count = 0;

			must(f, lt_ledger_rates(f->ledger,
				    &(struct lt_rates_asked){
					"p", LT_RATE_PRICE, {10 * k + 5, 10 * k + 6}},
				    &steps, &count, &f->err));
			assert_int_equal(count, 1);
			if (steps[0].issued_utc_s != cases[i].want[k])
				fail_msg("put %zu, at %d: %lld", i, (int)(10 * k + 5),
				    (long long)steps[0].issued_utc_s);
			free(steps);
		}
	}
}

static void
points_keep_the_measured(void **state)
{
	const struct lt_rate_step measured[] = {
	    {0, 10, 5, LT_QUALITY_MEASURED, "", 0}, {10, 20, 6, LT_QUALITY_FORECAST, "", 0}};
	const struct lt_rate_step forecast[] = {
	    {0, 10, 7, LT_QUALITY_FORECAST, "", 0}, {10, 20, 8, LT_QUALITY_FORECAST, "", 0}};
	const struct lt_rate_step bad = {10, 10, 1, LT_QUALITY_MEASURED, "", 0};
	struct fixture *const f = *state;
	struct lt_rate_step *steps;
	uint32_t count;

	must(f, lt_ledger_put_points(f->ledger, "uk", measured, 2, &f->err));
	must(f, lt_ledger_put_points(f->ledger, "uk", forecast, 2, &f->err));
	must(f, lt_ledger_points(
		    f->ledger, &(struct lt_points_asked){"uk", {5, 15}}, &steps, &count, &f->err));
	assert_int_equal(count, 2);
	assert_true(steps[0].value == 5);
	assert_true(steps[1].value == 8);
	assert_string_equal(steps[1].source, "uk");
	free(steps);
	must(f, lt_ledger_prune_signals(f->ledger, 10, 1000, &f->err));
	must(f, lt_ledger_points(
		    f->ledger, &(struct lt_points_asked){"uk", {0, 30}}, &steps, &count, &f->err));
	assert_int_equal(count, 1);
	free(steps);
	assert_int_equal(lt_ledger_put_points(f->ledger, "uk", &bad, 1, NULL), LT_EINPUT);
	assert_int_equal(
	    lt_ledger_put_rates(f->ledger, "p", LT_RATE_CARBON, &(struct lt_rates){1, &bad}, NULL),
	    LT_EINPUT);
}

struct point_text {
	int64_t start, end;
	double value;
	enum lt_quality q;
};

static void
check_points(struct fixture *f, const char *why, const struct point_text *want, uint32_t wanted)
{
	struct lt_rate_step *got;
	uint32_t count;

	must(f, lt_ledger_points(
		    f->ledger, &(struct lt_points_asked){"src", {0, 1000}}, &got, &count, &f->err));
	if (count != wanted)
		fail_msg("%s: %u points", why, count);
	for (uint32_t i = 0; i < count; i++)
		if (got[i].start_utc_s != want[i].start || got[i].end_utc_s != want[i].end ||
		    got[i].value != want[i].value || got[i].quality != want[i].q)
			fail_msg("%s: point %u: [%lld, %lld) %g", why, i,
			    (long long)got[i].start_utc_s, (long long)got[i].end_utc_s,
			    got[i].value);
	free(got);
}

static void
points_go_on_and_are_revised(void **state)
{
	static const struct {
		const char *why;
		struct point_text puts[4], want[4]; /* ended by end 0 */
	} cases[] = {
	    {"what a list says again goes on, as one",
		{{0, 20, 5, M}, {10, 30, 5, M}, {20, 40, 5, M}}, {{0, 40, 5, M}}},
	    {"what ends sooner than known shortens nothing", {{0, 40, 5, M}, {10, 20, 5, M}},
		{{0, 40, 5, M}}},
	    {"equal hours side by side stay two", {{0, 10, 5, M}, {10, 20, 5, M}},
		{{0, 10, 5, M}, {10, 20, 5, M}}},
	    {"after a hole it is another", {{0, 10, 5, M}, {15, 20, 5, M}},
		{{0, 10, 5, M}, {15, 20, 5, M}}},
	    {"another value cuts it", {{0, 20, 5, M}, {10, 30, 6, M}},
		{{0, 10, 5, M}, {10, 30, 6, M}}},
	    {"and back", {{0, 20, 5, M}, {10, 30, 6, M}, {20, 40, 5, M}},
		{{0, 10, 5, M}, {10, 20, 6, M}, {20, 40, 5, M}}},
	    {"another quality is another point", {{0, 20, 5, F}, {10, 30, 5, M}},
		{{0, 10, 5, F}, {10, 30, 5, M}}},
	    {"a slot within is revised, also to the value before it",
		{{0, 10, 5, M}, {10, 20, 6, M}, {20, 30, 7, M}, {10, 20, 5, M}},
		{{0, 10, 5, M}, {10, 20, 5, M}, {20, 30, 7, M}}},
	    {"a longer one does not go over the next", {{10, 20, 6, M}, {0, 30, 5, M}},
		{{0, 10, 5, M}, {10, 20, 6, M}}},
	    {"measured replaces forecast", {{0, 10, 5, F}, {0, 10, 6, M}}, {{0, 10, 6, M}}},
	    {"a forecast replaces nothing measured", {{0, 10, 6, M}, {0, 10, 5, F}, {0, 10, 7, L}},
		{{0, 10, 6, M}}},
	};
	struct fixture *const f = *state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		uint32_t wanted = 0;

		lt_ledger_close(f->ledger);
		f->ledger = NULL;
		remove_file(f->dir, "signals.db");
		reopen(f);
		for (size_t p = 0; p < 4 && cases[i].puts[p].end != 0; p++) {
			const struct point_text *const put = &cases[i].puts[p];
			const struct lt_rate_step step = {
			    put->start, put->end, put->value, put->q, "", 0};

			must(f, lt_ledger_put_points(f->ledger, "src", &step, 1, &f->err));
		}
		while (wanted < 4 && cases[i].want[wanted].end != 0)
			wanted++;
		check_points(f, cases[i].why, cases[i].want, wanted);
	}
}

static void
points_are_bounded(void **state)
{
	struct fixture *const f = *state;
	struct lt_rate_step steps[6];
	struct point_text want[6];

	for (int i = 0; i < 6; i++) {
		want[i] = (struct point_text){10 * i, 10 * i + 10, i + 1, M};
		steps[i] = (struct lt_rate_step){10 * i, 10 * i + 10, i + 1, M, "", 0};
	}
	must(f, lt_ledger_put_points(f->ledger, "src", steps, 6, &f->err));
	must(f, lt_ledger_put_points(f->ledger, "other", steps, 1, &f->err));
	must(f, lt_ledger_prune_signals(f->ledger, 0, 7, &f->err));
	check_points(f, "as many as may be", want, 6);
	must(f, lt_ledger_prune_signals(f->ledger, 20, 7, &f->err));
	check_points(f, "by age: what ended then", want + 2, 4);
	must(f, lt_ledger_prune_signals(f->ledger, 20, 3, &f->err));
	check_points(f, "by count: the oldest", want + 3, 3);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    EACH(rates_replace_each_other),
	    EACH(a_transaction_sees_what_is_put),
	    EACH(a_transaction_sees_the_first_that_is_put),
	    EACH(rates_know_when_they_were_recorded),
	    EACH(points_keep_the_measured),
	    EACH(points_go_on_and_are_revised),
	    EACH(points_are_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
