/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What an auditor is told of the factors that runs were charged with: those of their time, and as
 * they were known then.
 */
#include "carbon_fixture.h"
#include "rates.h"

/* The policy's PUE of 1.25 becomes 1.5 in the second hour: what was used before stays as it was,
 * 1250 Wh and 1500 Wh, also where it is priced after. */
static void
pue_of_its_time(void **state)
{
	struct world *const w = make_world(*state);
	const struct lt_batch_run row = make_row(1, 1, 0, 2 * HOUR);

	put(w, 1, LT_RATE_CARBON, NOVEMBER, 100, "");
	put(w, 1, LT_RATE_PUE, NOVEMBER, 1.25, "");
	put(w, 1, LT_RATE_PUE, NOVEMBER + HOUR, 1.5, "");
	put(w, 1, LT_RATE_EMBODIED, NOVEMBER, 40, "");
	put(w, 1, LT_RATE_EMBODIED, NOVEMBER + HOUR, 10, "");
	w->partitions[1].pue = 1.5;
	w->partitions[1].embodied_g_per_node_hour = 10;
	settle_row(w, &row, NOVEMBER + LT_DAY_S);
	json_t *const report = ask(w, "period=2026-11&carbon=1", 200);
	json_t *const all = ask(w, "period=2026-11&carbon=hours", 200);
	const json_t *const total = json_object_get(carbon_of(report), "total");
	const json_t *const hours = json_object_get(all, "hours");

	assert_int_equal(figure(total, "energy_wh"), 2750);
	assert_int_equal(figure(total, "location_mg"), 275000);
	assert_int_equal(figure(total, "embodied_mg"), 50000);
	assert_true(json_number_value(json_object_get(total, "pue")) == 1.375);
	for (size_t i = 0; i < 2; i++) {
		const json_t *const hour = json_array_get(hours, i);

		assert_int_equal(figure(hour, "energy_wh"), 1250 + 250 * i);
		assert_int_equal(figure(hour, "embodied_mg"), i == 0 ? 40000 : 10000);
	}
	json_decref(report);
	json_decref(all);
	free_world(w);
}

static void
check_month(struct world *w, const char *month, int64_t energy_wh, double pue)
{
	char query[64];

	snprintf(query, sizeof(query), "period=%s&carbon=1", month);
	json_t *const report = ask(w, query, 200);
	const json_t *const rows = json_object_get(carbon_of(report), "rows");
	const json_t *const row = json_array_get(rows, 0);

	assert_int_equal(json_array_size(rows), 1);
	assert_string_equal(text_of(row, "month"), month);
	assert_int_equal(figure(row, "energy_wh"), energy_wh);
	if (pue == 0)
		assert_true(is_null(row, "pue"));
	else
		assert_true(json_number_value(json_object_get(row, "pue")) == pue);
	json_decref(report);
}

/* 1000 W over the end of November, an hour in each month: 1200 and 1500 Wh. Then December's figure
 * is put right: what is charged stays, and nobody says that it was charged with that; what is
 * charged again, 1250 Wh, was. */
static void
pue_by_month(void **state)
{
	struct world *const w = make_world(*state);
	struct lt_policy_pue *const pue = &w->of_policy[1].pue;
	const struct lt_batch_run row = make_row(1, 1, DECEMBER - NOVEMBER - HOUR, 2 * HOUR);

	put(w, 1, LT_RATE_CARBON, NOVEMBER, 100, "");
	*pue = (struct lt_policy_pue){2, {{NOVEMBER, 1.2}, {DECEMBER, 1.5}}};
	w->d->site.policy_loaded_utc_s = NOVEMBER + 60;
	must(w->f, lt_rates_record(&w->d->site, &w->d->signals, w->d->ledger, &w->d->jobs.list,
		       NOVEMBER + 60, &w->f->err));
	settle_row(w, &row, DECEMBER + LT_DAY_S);
	check_month(w, "2026-11", 1200, 1.2);
	check_month(w, "2026-12", 1500, 1.5);
	pue->months[1].value = 1.25;
	w->d->site.policy_loaded_utc_s = DECEMBER + 2 * LT_DAY_S;
	must(w->f, lt_rates_record(&w->d->site, &w->d->signals, w->d->ledger, &w->d->jobs.list,
		       DECEMBER + 2 * LT_DAY_S, &w->f->err));
	check_month(w, "2026-11", 1200, 1.2);
	check_month(w, "2026-12", 1500, 0);
	settle_row(w, &row, DECEMBER + 3 * LT_DAY_S);
	check_month(w, "2026-11", 1200, 1.2);
	check_month(w, "2026-12", 1250, 1.25);
	free(w->d->site.rates.recorded);
	free_world(w);
}

/* An hour of one value, one of two, one of which the ledger does not say when it came, and one that
 * comes again, otherwise, after the charge. */
static struct lt_rate_step grid[] = {
    {NOVEMBER, NOVEMBER + HOUR, 200, LT_QUALITY_MEASURED, "grid", NOVEMBER + 9},
    {NOVEMBER + HOUR, NOVEMBER + HOUR + HOUR / 2, 200, LT_QUALITY_FORECAST, "grid", NOVEMBER + 700},
    {NOVEMBER + HOUR + HOUR / 2, NOVEMBER + 2 * HOUR, 220, LT_QUALITY_FORECAST, "grid",
	NOVEMBER + 7000},
    {NOVEMBER + 2 * HOUR, NOVEMBER + 3 * HOUR, 230, LT_QUALITY_MEASURED, "grid", 0},
    {NOVEMBER + 3 * HOUR, NOVEMBER + 4 * HOUR, 240, LT_QUALITY_FORECAST, "grid", NOVEMBER + 8000},
};

static void
put_grid(struct world *w, uint32_t first, uint32_t count)
{
	must(w->f, lt_ledger_put_rates(w->f->ledger, "onprem", LT_RATE_CARBON,
		       &(struct lt_rates){count, grid + first}, &w->f->err));
}

static void
check_dates(struct world *w, const char *last, int64_t undated, const char *const hours[4])
{
	json_t *const report = ask(w, "period=2026-11&carbon=1", 200);
	json_t *const all = ask(w, "period=2026-11&carbon=hours", 200);
	const json_t *const row = json_array_get(json_object_get(carbon_of(report), "rows"), 0);
	const json_t *const both[] = {row, json_object_get(carbon_of(report), "total")};

	assert_string_equal(text_of(row, "adapter"), "grid_api");
	assert_string_equal(text_of(row, "version"), "API v9, with imports");
	for (int i = 0; i < 2; i++) {
		assert_string_equal(text_of(both[i], "issued_first"), "2026-11-01T00:00:09Z");
		assert_string_equal(text_of(both[i], "issued_last"), last);
		assert_int_equal(figure(both[i], "undated_hours"), undated);
	}
	for (size_t i = 0; i < 4; i++)
		assert_string_equal(
		    text_of(json_array_get(json_object_get(all, "hours"), i), "issued"), hours[i]);
	json_decref(report);
	json_decref(all);
}

static void
when_it_was_issued(void **state)
{
	struct world *const w = make_world(*state);
	const struct lt_batch_run row = make_row(1, 1, 0, 4 * HOUR);

	put_grid(w, 0, 5);
	settle_row(w, &row, NOVEMBER + LT_DAY_S);
	check_dates(w, "2026-11-01T02:13:20Z", 1,
	    (const char *const[]){
		"2026-11-01T00:00:09Z", "2026-11-01T01:56:40Z", "null", "2026-11-01T02:13:20Z"});
	grid[4].quality = LT_QUALITY_MEASURED;
	grid[4].issued_utc_s = NOVEMBER + LT_DAY_S + 1;
	put_grid(w, 4, 1);
	check_dates(w, "2026-11-01T01:56:40Z", 2,
	    (const char *const[]){"2026-11-01T00:00:09Z", "2026-11-01T01:56:40Z", "null", "null"});
	free_world(w);
}

/* Without an intensity no date is known, nor what it is of. */
static void
no_intensity_has_no_date(void **state)
{
	struct world *const w = make_world(*state);
	const struct lt_batch_run row = make_row(1, 0, 0, HOUR);

	settle_row(w, &row, NOVEMBER + LT_DAY_S);
	json_t *const report = ask(w, "period=2026-11&carbon=1", 200);
	const json_t *const r = json_array_get(json_object_get(carbon_of(report), "rows"), 0);

	assert_true(is_null(r, "issued_first") && is_null(r, "issued_last"));
	assert_true(is_null(r, "adapter") && is_null(r, "version"));
	assert_int_equal(figure(r, "undated_hours"), 1);
	json_decref(report);
	free_world(w);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    EACH(pue_of_its_time),
	    EACH(pue_by_month),
	    EACH(when_it_was_issued),
	    EACH(no_intensity_has_no_date),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
