/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is recorded for charges: what held from when on, and what was kept.
 */
#include "rates_fixture.h"

static double
price_at(struct site *site, const char *partition, int64_t utc_s)
{
	struct lt_rate_step *steps;
	uint32_t count;

	assert_int_equal(lt_ledger_rates(site->d.ledger,
			     &(struct lt_rates_asked){partition, LT_RATE_PRICE, {utc_s, utc_s + 1}},
			     &steps, &count, NULL),
	    LT_OK);
	const double value = count == 1 ? steps[0].value : -1;
	free(steps);
	return value;
}

static void
test_constants(void **state)
{
	struct site *const site = site_new(*state);

	load(site,
	    "currency: GBP\npartitions:\n"
	    "  a: {price_per_node_hour: 1.5}\n"
	    "  b: {price_per_node_hour: 2}\n",
	    now);
	record(site, now + 60);
	load(site,
	    "currency: GBP\npartitions:\n"
	    "  a: {price_per_node_hour: 3}\n"
	    "  b: {price_per_node_hour: 2}\n",
	    now + 600);
	record(site, now + 660);
	assert_true(price_at(site, "a", now + 599) == 1500000);
	assert_true(price_at(site, "a", now + 600) == 3000000);
	assert_true(price_at(site, "b", now + 700) == 2000000);
	site_free(site);
}

static double
charge_at(struct site *site, enum lt_rate rate, int64_t utc_s)
{
	struct lt_rate_step *steps;
	uint32_t count;

	assert_int_equal(
	    lt_ledger_rates(site->d.ledger, &(struct lt_rates_asked){"a", rate, {utc_s, utc_s + 1}},
		&steps, &count, NULL),
	    LT_OK);
	const double value = count == 1 ? steps[0].value : -1;
	free(steps);
	return value;
}

/* Said for the first time it is of no time before; taken out it is 0. */
static void
test_charge(void **state)
{
	static const struct {
		int64_t at_s;
		const char *line;
	} policies[] = {{0, ""}, {600, "charge: {carbon_per_tonne: 80}\n"},
	    {1200, "charge: {carbon_per_tonne: 90}\n"
		   "deferral_discount: {share: 25, most_per_month: 7}\n"},
	    {1800, ""}};
	static const struct {
		int64_t at_s;
		double charge, share, most;
	} wanted[] = {{-1000000, 0, 0, 0}, {599, 0, 0, 0}, {600, 80e6, 0, 0}, {1199, 80e6, 0, 0},
	    {1200, 90e6, 250000, 7e6}, {1799, 90e6, 250000, 7e6}, {1800, 0, 0, 0},
	    {9999999, 0, 0, 0}};
	struct site *const site = site_new(*state);
	char text[512];

	for (size_t i = 0; i < sizeof(policies) / sizeof(policies[0]); i++) {
		snprintf(text, sizeof(text),
		    "currency: GBP\n%spartitions:\n"
		    "  a: {price_per_node_hour: 1.5, carbon: 200}\n",
		    policies[i].line);
		load(site, text, now + policies[i].at_s);
		record(site, now + policies[i].at_s + 30);
		record(site, now + policies[i].at_s + 60);
		if (i == 0)
			assert_true(charge_at(site, LT_RATE_CHARGE, now) == -1);
	}
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		const int64_t at = now + wanted[i].at_s;

		assert_true(charge_at(site, LT_RATE_CHARGE, at) == wanted[i].charge);
		assert_true(charge_at(site, LT_RATE_DISCOUNT, at) == wanted[i].share);
		assert_true(charge_at(site, LT_RATE_DISCOUNT_MOST, at) == wanted[i].most);
	}
	site_free(site);
}

static void
give(struct site *site, double value, int64_t now_utc_s)
{
	struct lt_points points = {.quantity = LT_QUANTITY_PRICE};
	const struct lt_point point = {now, now + 6 * LT_HOUR_S, value, LT_QUALITY_MEASURED};

	assert_int_equal(lt_points_add(&points, &point, NULL), LT_OK);
	assert_int_equal(lt_signals_take(site->d.ledger, site->d.site.policy,
			     &site->d.signals.sources[0], &points, now_utc_s),
	    LT_OK);
	lt_points_free(&points);
}

/* Another region, the first steps of which are as new as the old one's. */
static void
test_reload(void **state)
{
	struct site *const site = site_new(*state);

	load(site,
	    "currency: GBP\nsources:\n"
	    "  s: {adapter: file, quantity: price, path: /one}\n"
	    "partitions:\n  a: {price_per_node_hour: s}\n",
	    now);
	give(site, 1000000, now + 10);
	record(site, now + 10);
	assert_true(price_at(site, "a", now + 700) == 1000000);
	load(site,
	    "currency: GBP\nsources:\n"
	    "  s: {adapter: file, quantity: price, path: /two}\n"
	    "partitions:\n  a: {price_per_node_hour: s}\n",
	    now + 600);
	give(site, 4000000, now + 610);
	record(site, now + 610);
	assert_true(price_at(site, "a", now + 700) == 4000000);
	site_free(site);
}

static void
is_at(struct site *site, int64_t utc_s, double g_per_kwh, const char *source)
{
	const struct lt_rate_step step = step_at(site, LT_RATE_MARKET_BASED, utc_s);

	assert_int_equal(step.quality, LT_QUALITY_CONSTANT);
	assert_true(step.value == g_per_kwh);
	assert_string_equal(step.source, source);
}

/* A contract from a day on, before the policy said so; another one from a day that is to come; and
 * none any more. */
static void
test_market_based(void **state)
{
	struct site *const site = site_new(*state);
	static const char none[] = "partitions:\n  a: {carbon: 1, pue: 1.3}\n";

	load(site, none, now - 600);
	record(site, now - 600);
	assert_int_equal(step_at(site, LT_RATE_MARKET_BASED, now).quality, LT_QUALITY_NONE);
	load(site,
	    "partitions:\n  a: {carbon: 1, pue: 1.2, market_based:"
	    " {g_per_kwh: 12, source: one, from: 2026-11-01}}\n",
	    now);
	record(site, now);
	is_at(site, NOVEMBER, 12, "one");
	assert_int_equal(
	    step_at(site, LT_RATE_MARKET_BASED, NOVEMBER - 1).quality, LT_QUALITY_ESTIMATED);
	load(site,
	    "partitions:\n  a: {carbon: 1, pue: 1.2, market_based:"
	    " {g_per_kwh: 0, source: two, from: 2026-12-01}}\n",
	    now + 600);
	record(site, now + 600);
	record(site, now + 660);
	is_at(site, now + 700, 12, "one");
	is_at(site, DECEMBER - 1, 12, "one");
	is_at(site, DECEMBER, 0, "two");
	load(site, none, DECEMBER + 600);
	record(site, DECEMBER + 600);
	is_at(site, DECEMBER + 599, 0, "two");
	is_at(site, DECEMBER + 600, LT_RATE_ENDED, "");
	/* PUE as it was, each in its time. */
	assert_true(step_at(site, LT_RATE_PUE, now - 1).value == 1.3);
	assert_true(step_at(site, LT_RATE_PUE, now).value == 1.2);
	assert_true(step_at(site, LT_RATE_PUE, DECEMBER + 600).value == 1.3);
	assert_true(step_at(site, LT_RATE_EMBODIED, now).value == 0);
	site_free(site);
}

static void
pue_is(struct site *site, int64_t utc_s, double value, int64_t issued_utc_s)
{
	const struct lt_rate_step step = step_at(site, LT_RATE_PUE, utc_s);

	assert_int_equal(step.quality, LT_QUALITY_CONSTANT);
	assert_true(step.value == value);
	assert_int_equal(step.issued_utc_s, issued_utc_s);
}

static void
say_pue(struct site *site, const char *pue, int64_t now_utc_s)
{
	char text[160];

	snprintf(
	    text, sizeof(text), "timezone: UTC\npartitions:\n  a: {carbon: 1, pue: %s}\n", pue);
	load(site, text, now_utc_s);
	record(site, now_utc_s + 5);
	record(site, now_utc_s + 65);
}

/* Each month has its own, also one that is over or that is put right; what is said again is as old
 * as it was. */
static void
test_pue_by_month(void **state)
{
	static const int64_t october = NOVEMBER - 31 * LT_DAY_S;
	struct site *const site = site_new(*state);

	say_pue(site, "1.5", NOVEMBER - LT_DAY_S);
	say_pue(site, "{2026-12: 1.4, 2026-10: 1.21, 2026-11: 1.19}", now);
	pue_is(site, october, 1.21, now + 5);
	pue_is(site, NOVEMBER - 1, 1.21, now + 5);
	pue_is(site, NOVEMBER, 1.19, now + 5);
	pue_is(site, DECEMBER - 1, 1.19, now + 5);
	pue_is(site, DECEMBER, 1.4, now + 5);
	assert_int_equal(step_at(site, LT_RATE_PUE, october - 1).quality, LT_QUALITY_ESTIMATED);
	say_pue(site, "{2026-10: 1.21, 2026-11: 1.25}", now + 600);
	pue_is(site, NOVEMBER - 1, 1.21, now + 5);
	pue_is(site, NOVEMBER, 1.25, now + 605);
	pue_is(site, DECEMBER, 1.25, now + 605);
	/* A month to come is the only one: it counts from now on. */
	say_pue(site, "{2027-01: 1.3}", now + 1200);
	pue_is(site, now + 1199, 1.25, now + 605);
	pue_is(site, now + 1200, 1.3, now + 1205);
	/* One number again, though the same as of now. */
	say_pue(site, "{2026-11: 1.3, 2026-12: 1.6}", now + 1800);
	say_pue(site, "1.3", now + 2400);
	pue_is(site, DECEMBER, 1.3, now + 2405);
	site_free(site);
}

/* Nothing of what is closed is recorded anew. */
static void
test_pue_closed(void **state)
{
	struct site *const site = site_new(*state);
	char closed[32];

	say_pue(site, "1.5", NOVEMBER - LT_DAY_S);
	snprintf(closed, sizeof(closed), "%lld", (long long)NOVEMBER);
	assert_int_equal(lt_ledger_put(site->d.ledger, "closed_until", closed, NULL), LT_OK);
	say_pue(site, "{2026-09: 1.2, 2026-10: 1.1}", now);
	pue_is(site, NOVEMBER - 1, 1.5, NOVEMBER - LT_DAY_S + 5);
	pue_is(site, NOVEMBER, 1.1, now + 5);
	site_free(site);
}

/* Not kept: recorded again, when it can be. */
static void
test_lost(void **state)
{
	struct site *const site = site_new(*state);

	load(site,
	    "currency: GBP\npartitions:\n"
	    "  a: {price_per_node_hour: 1.5}\n",
	    now);
	assert_int_equal(lt_ledger_begin(site->d.ledger, NULL), LT_OK);
	assert_int_not_equal(lt_rates_record(&site->d.site, &site->d.signals, site->d.ledger,
				 &site->d.jobs.list, now, NULL),
	    LT_OK);
	lt_ledger_rollback(site->d.ledger);
	assert_true(price_at(site, "a", now) == -1);
	record(site, now);
	assert_true(price_at(site, "a", now) == 1500000);
	site_free(site);
}

/* Ten places of Slurm's table: 3 is a hole. a has 0..4, b 3..7, c 8..9 and 0, of partitions that
 * Slurm has in another order. */
static struct lt_partition slurms[] = {{.name = "c"}, {.name = "b"}, {.name = "a"}};
static struct lt_node_range ranges[] = {{0, 8, 9}, {0, 0, 0}, {1, 3, 7}, {2, 0, 4}};
static bool are_there[10] = {true, true, true, false, true, true, true, true, true, true};

static double
nodes_at(struct site *site, const char *partition, int64_t utc_s)
{
	struct lt_rate_step *steps;
	uint32_t count;

	assert_int_equal(lt_ledger_rates(site->d.ledger,
			     &(struct lt_rates_asked){partition, LT_RATE_NODES, {utc_s, utc_s + 1}},
			     &steps, &count, NULL),
	    LT_OK);
	const bool known = count == 1 && steps[0].quality == LT_QUALITY_CONSTANT;
	const double value = known ? steps[0].value : -2;
	free(steps);
	return value;
}

static void
is_nodes(struct site *site, int64_t utc_s, const double want[3])
{
	static const char *const names[] = {"a", "b", "c"};

	for (int i = 0; i < 3; i++) {
		const double found = nodes_at(site, names[i], utc_s);

		if (found != want[i])
			fail_msg("%s at %+lld: got %g, want %g", names[i], (long long)(utc_s - now),
			    found, want[i]);
	}
}

static void
see(struct site *site, const char *partitions, int64_t now_utc_s)
{
	char text[512];

	snprintf(text, sizeof(text), "currency: GBP\npartitions:\n%s", partitions);
	load(site, text, now_utc_s);
	site->d.site.tables.read_utc_s = now_utc_s;
	record(site, now_utc_s);
}

#define A "  a: {owned: true, carbon: 1}\n"
#define B "  b: {owned: true, carbon: 1}\n"
#define C "  c: {owned: true, carbon: 1}\n"

/* Each node once, in the policy's order; whole hours at both ends. */
static void
test_nodes(void **state)
{
	struct site *const site = site_new(*state);

	site->d.site.tables.partitions = slurms;
	site->d.site.tables.partition_count = 3;
	site->d.site.tables.nodes = (struct lt_batch_nodes){ranges, are_there, 4, 10, NULL};
	load(site, "currency: GBP\npartitions:\n" B, now);
	record(site, now); /* nothing was read of Slurm */
	is_nodes(site, now, (const double[]){-2, -2, -2});
	see(site, B "  a: {carbon: 1}\n", now + 1200);
	is_nodes(site, now - 1, (const double[]){-2, -2, -2});
	is_nodes(site, now, (const double[]){-2, 4, -2});
	/* b before a: node 4 is b's, and 0 is a's. */
	see(site, B A C, now + LT_HOUR_S + 600);
	is_nodes(site, now + LT_HOUR_S - 1, (const double[]){-2, 4, -2});
	is_nodes(site, now + LT_HOUR_S, (const double[]){3, 4, 2});
	/* A node goes, and is seen to be gone. */
	are_there[9] = false;
	record(site, now + 2 * LT_HOUR_S);
	is_nodes(site, now + 2 * LT_HOUR_S, (const double[]){3, 4, 2});
	site->d.site.tables.read_utc_s = now + 2 * LT_HOUR_S + 60;
	record(site, now + 2 * LT_HOUR_S + 61);
	is_nodes(site, now + 2 * LT_HOUR_S + 60, (const double[]){3, 4, 2});
	is_nodes(site, now + 2 * LT_HOUR_S + 61, (const double[]){3, 4, 1});
	/* b leaves, c is sold; node 4 is a's in that hour already. */
	see(site, A "  c: {carbon: 1}\n", now + 3 * LT_HOUR_S + 60);
	is_nodes(site, now + 3 * LT_HOUR_S + 60, (const double[]){4, 4, 1});
	is_nodes(site, now + 4 * LT_HOUR_S - 1, (const double[]){4, 4, 1});
	is_nodes(site, now + 4 * LT_HOUR_S, (const double[]){4, -1, -1});
	/* c comes back before the hour is over. */
	see(site, A C, now + 3 * LT_HOUR_S + 120);
	is_nodes(site, now + 4 * LT_HOUR_S, (const double[]){4, -1, 1});
	/* b is bought again, and Slurm has it no more. */
	slurms[1].name[0] = 'x';
	see(site, A B C, now + 9 * LT_HOUR_S + 60);
	is_nodes(site, now + 9 * LT_HOUR_S - 1, (const double[]){4, -1, 1});
	is_nodes(site, now + 9 * LT_HOUR_S, (const double[]){4, 0, 1});
	slurms[1].name[0] = 'b';
	are_there[9] = true;
	site_free(site);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    EACH(test_constants),
	    EACH(test_charge),
	    EACH(test_reload),
	    EACH(test_market_based),
	    EACH(test_pue_by_month),
	    EACH(test_pue_closed),
	    EACH(test_lost),
	    EACH(test_nodes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
