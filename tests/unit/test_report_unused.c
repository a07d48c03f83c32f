/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * GET /v1/report?unused=1 against a book that is kept here, hour by hour: each entry by its hour,
 * each node by each hour that it was the site's.
 */
#include <jansson.h>
#include <time.h>

#include "accounts.h"
#include "api_ask.h"
#include "ledger_fixture.h"
#include "metrics.h"
#include "periods.h"

enum {
	HOURS = 30 * 24,
	OWN = 0, /* 4 nodes, 3 after ten days; 2.00, 3.00 after twenty */
	LATE,	 /* 2 nodes, recorded from the 16th on; 1.00 */
	SOLD,	 /* 5 nodes, for four days and five hours; 0.50 */
	FREE,	 /* 1 node, and no price */
	CLOUD,	 /* not the site's; 1.00 */
	PLACES
};
static const char *const names[PLACES] = {"own", "late", "sold", "free", "cloud"};
static int64_t now_utc_s;
static struct lt_account accounts[] = {{.name = "nlp"}, {.name = "vision"}};

time_t
time(time_t *out)
{
	if (out != NULL)
		*out = now_utc_s;
	return now_utc_s;
}

/* By the hour, for the book. */
static int
nodes_of(int place, int hour)
{
	switch (place) {
	case OWN:
		return hour < 240 ? 4 : 3;
	case LATE:
		return hour < 360 ? -1 : 2;
	case SOLD:
		return hour < 101 ? 5 : -1;
	case FREE:
		return 1;
	default:
		return -1;
	}
}

static int64_t
price_of(int place, int hour)
{
	return place == OWN ? hour < 480 ? 2000000 : 3000000 : place == SOLD ? 500000 : 1000000;
}

static void
put(struct fixture *f, int place, enum lt_rate rate, int hour, double value)
{
	const struct lt_rate_step step = {
	    NOVEMBER + (int64_t)hour * HOUR, INT64_MAX, value, LT_QUALITY_CONSTANT, "", 0};

	must(f, lt_ledger_put_rates(
		    f->ledger, names[place], rate, &(struct lt_rates){1, &step}, &f->err));
}

static void
put_rates(struct fixture *f)
{
	put(f, OWN, LT_RATE_NODES, -50, 4);
	put(f, OWN, LT_RATE_NODES, 240, 3);
	put(f, OWN, LT_RATE_PRICE, -50, 2000000);
	put(f, OWN, LT_RATE_PRICE, 480, 3000000);
	put(f, LATE, LT_RATE_NODES, 360, 2);
	put(f, LATE, LT_RATE_PRICE, -50, 1000000);
	put(f, SOLD, LT_RATE_NODES, -50, 5);
	put(f, SOLD, LT_RATE_NODES, 101, LT_RATE_ENDED);
	put(f, SOLD, LT_RATE_PRICE, -50, 500000);
	put(f, FREE, LT_RATE_NODES, -50, 1);
	put(f, CLOUD, LT_RATE_PRICE, -50, 1000000);
}

struct book {
	int64_t micros[PLACES], node_s[PLACES];
};

/* A run over some hours, each of another cost; the half of a node. */
static void
run_and_note(struct fixture *f, struct book *book, uint32_t id, uint64_t *random)
{
	enum { LONGEST = 40 };
	const int place = (int)(lt_random(random) % PLACES);
	const int64_t start = NOVEMBER - 20 * HOUR + (int64_t)(lt_random(random) % (740 * HOUR));
	const int64_t end = start + 1 + (int64_t)(lt_random(random) % ((LONGEST - 2) * HOUR));
	struct lt_run run = make_run(id, start, end, 0);
	struct lt_entry entries[LONGEST] = {{0}};
	uint32_t count = 0;
	bool changed;

	strcpy(run.partition, names[place]);
	if (id % 2)
		strcpy(run.account, "nlp");
	run.nodes = 2;
	run.share_denominator = 4;
	run.carbon_mg = run.energy_wh = run.baseline_money_micros = run.baseline_carbon_mg = 0;
	run.saved_by = (struct lt_saved_by){0};
	run.parts = (struct lt_parts){0};
	run.money_micros = 0;
	for (int64_t at = start - start % HOUR; at < end; at += HOUR) {
		const int hour = (int)((at - NOVEMBER) / HOUR);
		const bool counts = at >= NOVEMBER && hour < HOURS && nodes_of(place, hour) >= 0;
		const int64_t cost = (int64_t)(lt_random(random) % 1000000);
		const int64_t low = start > at ? start : at;
		const int64_t high = end < at + HOUR ? end : at + HOUR;

		const struct lt_parts parts = {
		    (int64_t)(lt_random(random) % 1000), (int64_t)(lt_random(random) % 100)};
		const int64_t money = cost + parts.carbon_charge_micros - parts.discount_micros;

		entries[count++] =
		    (struct lt_entry){.at_utc_s = at, .money_micros = money, .parts = parts};
		run.money_micros += money;
		run.parts.carbon_charge_micros += parts.carbon_charge_micros;
		run.parts.discount_micros += parts.discount_micros;
		if (counts) {
			book->micros[place] += cost;
			book->node_s[place] += high - low; /* 2 x 1/4, twice */
		}
	}
	must(f, lt_ledger_settle(f->ledger,
		    &(struct lt_settlement){&run, entries, count, end + 60, end + 60 - end % HOUR,
			NOVEMBER - LT_DAY_S, false},
		    &changed, &f->err));
}

static struct lt_policy_billing billing; /* of the policy of today */

static json_t *
ask(struct fixture *f, const char *currency, const char *query)
{
	struct lt_daemon *const d = calloc(1, sizeof(*d));
	struct lt_policy policy = {.currency = ""};
	char uri[160];

	assert_non_null(d);
	strcpy(policy.currency, currency);
	policy.billing = billing;
	d->ledger = f->ledger;
	d->site.policy = &policy;
	d->budget.has_snapshot = true;
	d->budget.snapshot.accounts = accounts;
	d->budget.snapshot.account_count = 2;
	snprintf(uri, sizeof(uri), "/v1/report?%s", query);
	json_t *const json = api_ask(d, uri, 200);
	free(d);
	return json;
}

static const json_t *
row_of(const json_t *report, int place)
{
	const json_t *const rows = json_object_get(json_object_get(report, "unused"), "partitions");
	size_t i;
	const json_t *row;

	json_array_foreach(rows, i, row)
		if (strcmp(json_string_value(json_object_get(row, "partition")), names[place]) == 0)
			return row;
	return NULL;
}

static void
is(const json_t *row, const char *key, int64_t want)
{
	const json_t *const value = json_object_get(row, key);

	if (!json_is_integer(value) || json_integer_value(value) != want)
		fail_msg("%s: got %lld, want %lld", key, (long long)json_integer_value(value),
		    (long long)want);
}

static void
is_text(const json_t *row, const char *key, const char *want)
{
	assert_string_equal(json_string_value(json_object_get(row, key)), want);
}

/* Paid, and what is left of it, of the first so many hours. */
static void
check_place(const json_t *row, const struct book *book, int place, int hours)
{
	int64_t node_s = 0, micros = 0;

	for (int hour = 0; hour < hours; hour++) {
		if (nodes_of(place, hour) < 0)
			continue;
		node_s += (int64_t)nodes_of(place, hour) * HOUR;
		micros += nodes_of(place, hour) * price_of(place, hour);
	}
	is(row, "paid_node_s", node_s);
	is(row, "used_node_s", (book->node_s[place] + 1) / 2);
	is(row, "unused_node_s", node_s - (book->node_s[place] + 1) / 2);
	if (place == FREE)
		return;
	is(row, "paid_micros", micros);
	is(row, "used_micros", book->micros[place]);
	is(row, "unused_micros", micros - book->micros[place]);
}

/* 500 runs, of which many go over an end of the month or of the site's time. */
static void
test_month(void **state)
{
	struct fixture *const f = *state;
	struct book book = {0};
	uint64_t random = 20261101;

	put_rates(f);
	for (uint32_t i = 1; i <= 500; i++)
		run_and_note(f, &book, i, &random);
	now_utc_s = DECEMBER + 9 * LT_DAY_S;
	json_t *const report =
	    ask(f, "USD", "period=2026-11&unused=1&by=partition&previous=1&tcto=1");
	for (int i = OWN; i <= FREE; i++)
		check_place(row_of(report, i), &book, i, HOURS);
	assert_null(row_of(report, CLOUD));
	is_text(row_of(report, OWN), "from", "2026-11-01T00:00:00Z");
	is_text(row_of(report, OWN), "to", "2026-12-01T00:00:00Z");
	is_text(row_of(report, LATE), "from", "2026-11-16T00:00:00Z");
	is_text(row_of(report, SOLD), "to", "2026-11-05T05:00:00Z");
	/* What one does not know, the sum does not. */
	const json_t *const total = json_object_get(json_object_get(report, "unused"), "total");
	is(total, "paid_node_s", (240 * 4 + 480 * 3 + 360 * 2 + 101 * 5 + 720) * HOUR);
	assert_true(json_is_null(json_object_get(total, "paid_micros")));
	assert_true(json_is_null(json_object_get(total, "unused_micros")));
	assert_true(json_is_null(json_object_get(row_of(report, FREE), "unused_micros")));
	assert_null(json_object_get(json_object_get(report, "previous"), "unused"));
	/* The teams' own sum is not touched by it. */
	json_t *const plain = ask(f, "USD", "period=2026-11");
	assert_true(json_equal(json_object_get(report, "total"), json_object_get(plain, "total")));
	assert_null(json_object_get(plain, "unused"));
	json_decref(plain);
	json_decref(report);
}

/* What /metrics has of it, read some runs at a time, is the report's. */
static void
test_metrics(void **state)
{
	struct fixture *const f = *state;
	struct lt_daemon *const d = calloc(1, sizeof(*d));
	struct lt_policy policy = {.currency = "USD"};
	struct lt_metrics_sums sums = {0};
	struct book book = {0};
	uint64_t random = 20261102;

	assert_non_null(d);
	put_rates(f);
	for (uint32_t i = 1; i <= 1000; i++)
		run_and_note(f, &book, i, &random);
	for (int i = 0; i < 2; i++)
		must(f, lt_ledger_put_account(f->ledger, accounts[i].name, "", 0, &f->err));
	now_utc_s = NOVEMBER + 650 * HOUR + 77;
	d->ledger = f->ledger;
	d->site.policy = &policy;
	lt_metrics_soon();
	for (int i = 0; i < 1000 && sums.owned_count == 0; i++) {
		usleep(10000); /* some more is read each so often */
		lt_metrics_read(&sums, d, true, now_utc_s);
	}
	json_t *const report = ask(f, "USD", "period=2026-11&unused=1");
	assert_int_equal(sums.owned_count, CLOUD);
	for (uint32_t i = 0; i < sums.owned_count; i++) {
		const struct lt_unused_row *const row = &sums.owned[i];
		int place = 0;

		while (strcmp(names[place], row->partition) != 0)
			place++;
		assert_int_equal(row->has_micros, place != FREE);
		if (!row->has_micros)
			continue;
		is(row_of(report, place), "paid_micros", row->paid_micros);
		is(row_of(report, place), "used_micros", row->used_micros);
		assert_int_equal(row->used_micros, book.micros[place]);
	}
	json_decref(report);
	lt_metrics_forget(&sums);
	free(d);
}

/* With a price for all, what nobody used and what the teams paid for nodes are what the site
 * paid. */
static void
test_adds_up(void **state)
{
	struct fixture *const f = *state;
	struct lt_run run = make_run(1, NOVEMBER + 100 * HOUR, NOVEMBER + 101 * HOUR, 0);

	put(f, OWN, LT_RATE_NODES, -50, 4);
	put(f, OWN, LT_RATE_PRICE, -50, 2000000);
	strcpy(run.partition, "own");
	run.parts = (struct lt_parts){30000, 10000};
	run.money_micros = 1000000 + 30000 - 10000;
	settle(f, &run, NOVEMBER + 102 * HOUR, 0);
	now_utc_s = NOVEMBER + 102 * HOUR + 1800;
	json_t *const report = ask(f, "USD", "period=2026-11&unused=1");
	const json_t *const total = json_object_get(json_object_get(report, "unused"), "total");
	/* Open: until now. 4 x 102.5 h x 2.00 */
	is(total, "paid_micros", 820000000);
	is(total, "used_micros", 1000000);
	is(total, "unused_micros", 819000000);
	is(json_object_get(report, "total"), "cost_micros", 1020000);
	is(json_object_get(report, "total"), "nodes_micros", 1000000);
	is_text(row_of(report, OWN), "to", "2026-11-05T06:30:00Z");
	json_decref(report);
	/* No money, but hours. */
	json_t *const carbon = ask(f, "", "period=2026-11&unused=1");
	is(row_of(carbon, OWN), "unused_node_s", 410 * HOUR - HOUR);
	assert_true(json_is_null(json_object_get(row_of(carbon, OWN), "paid_micros")));
	json_decref(carbon);
	json_t *const to_come = ask(f, "USD", "period=2027-11&unused=1");
	assert_int_equal(
	    json_array_size(json_object_get(json_object_get(to_come, "unused"), "partitions")), 0);
	json_decref(to_come);
}

/* A run that was corrected, and one that came, after the month was closed: in December, as is each
 * rate that changed since. */
static void
test_closed(void **state)
{
	struct fixture *const f = *state;
	struct lt_closed closed = {.span = {NOVEMBER, DECEMBER},
	    .label = "2026-11",
	    .closed_utc_s = DECEMBER + 4 * LT_DAY_S,
	    .who = "root",
	    .checksum = "sha256:0",
	    .head = "{}"};
	const int64_t later = DECEMBER + 6 * LT_DAY_S;
	struct lt_run run = make_run(1, NOVEMBER + HOUR, NOVEMBER + 2 * HOUR, 1000000);
	struct lt_run late = make_run(2, NOVEMBER + HOUR, NOVEMBER + 2 * HOUR, 7000000);

	put(f, OWN, LT_RATE_NODES, -50, 4);
	put(f, OWN, LT_RATE_PRICE, -50, 2000000);
	put(f, FREE, LT_RATE_NODES, -50, 1);
	strcpy(run.partition, "own");
	strcpy(late.partition, "own");
	run.parts = late.parts = (struct lt_parts){0};
	settle(f, &run, NOVEMBER + 3 * HOUR, 0);
	must(f, lt_ledger_close_period(f->ledger, &closed, NULL, 0, &f->err));
	now_utc_s = DECEMBER + 5 * LT_DAY_S;
	json_t *const before = ask(f, "USD", "period=2026-11&unused=1");
	is(row_of(before, OWN), "used_micros", 1000000);
	is(row_of(before, OWN), "paid_micros", (int64_t)4 * HOURS * 2000000);
	put(f, OWN, LT_RATE_NODES, HOURS + 140, 9);
	put(f, OWN, LT_RATE_PRICE, HOURS + 140, 5000000);
	put(f, FREE, LT_RATE_PRICE, HOURS + 140, 5000000);
	run.money_micros = 1500000;
	settle(f, &run, later, DECEMBER);
	settle(f, &late, later, DECEMBER);
	now_utc_s = later + HOUR;
	json_t *const after = ask(f, "USD", "period=2026-11&unused=1");
	assert_true(
	    json_equal(json_object_get(before, "unused"), json_object_get(after, "unused")));
	json_t *const open = ask(f, "USD", "period=2026-12&unused=1");
	is(row_of(open, OWN), "used_micros", 500000 + 7000000);
	/* Their time was November's. */
	is(row_of(open, OWN), "used_node_s", 0);
	/* Neither is the charge of an hour that was not the site's. */
	is(row_of(open, OWN), "paid_node_s", (int64_t)(140 * 4 + 5 * 9) * HOUR);
	json_decref(before);
	json_decref(after);
	json_decref(open);
}

/* The issuer of a month of the answer, or of its head; "": it is not billed. */
static const char *
issuer_of(const json_t *report, int month)
{
	const json_t *const months = json_object_get(json_object_get(report, "period"), "months");
	const char *const issuer = json_string_value(json_object_get(
	    json_object_get(month < 0 ? report : json_array_get(months, (size_t)month), "billing"),
	    "issuer"));

	return issuer != NULL ? issuer : "";
}

/* FOCUS asks for months: what was paid is there as it is in `unused`, without what was used of it,
 * and which partitions were preemptible then. */
static void
test_billed(void **state)
{
	struct fixture *const f = *state;

	put_rates(f);
	put(f, FREE, LT_RATE_THERE, 400, 3); /* quality: not as it is seen */
	struct lt_rate_step step = {NOVEMBER + 10 * HOUR, INT64_MAX, 7, LT_QUALITY_MEASURED, "", 0};
	must(f, lt_ledger_put_rates(
		    f->ledger, "cloud", LT_RATE_THERE, &(struct lt_rates){1, &step}, &f->err));
	step.start_utc_s = DECEMBER + HOUR;
	step.value = LT_RATE_ENDED;
	must(f, lt_ledger_put_rates(
		    f->ledger, "cloud", LT_RATE_THERE, &(struct lt_rates){1, &step}, &f->err));
	now_utc_s = NOVEMBER + 90 * LT_DAY_S;
	json_t *const none = ask(f, "USD", "period=2026-11&months=1");
	assert_null(json_object_get(none, "billed"));
	assert_string_equal(issuer_of(none, 0), "");
	assert_null(json_object_get(none, "billing"));
	billing =
	    (struct lt_policy_billing){.is_billed = true, .issuer = "Centre", .account_id = "4711"};
	json_t *const plain = ask(f, "USD", "period=2026-11&unused=1");
	assert_null(json_object_get(plain, "billed"));
	assert_string_equal(issuer_of(plain, -1), "Centre");
	json_t *const report = ask(f, "USD", "period=2026-11&months=1");
	assert_string_equal(issuer_of(report, 0), "Centre");
	is_text(json_object_get(report, "billing"), "account_name", "4711");
	const json_t *const billed = json_object_get(report, "billed");
	const json_t *const owned = json_object_get(billed, "owned");
	assert_int_equal(json_array_size(owned), CLOUD);
	size_t i;
	const json_t *row;
	json_array_foreach(owned, i, row) {
		static const char *const keys[] = {
		    "partition", "from", "to", "paid_node_s", "paid_micros"};
		const json_t *const unused = json_array_get(
		    json_object_get(json_object_get(plain, "unused"), "partitions"), i);

		for (size_t k = 0; k < sizeof(keys) / sizeof(keys[0]); k++)
			assert_true(json_equal(
			    json_object_get(row, keys[k]), json_object_get(unused, keys[k])));
	}
	const json_t *const preemptible = json_object_get(billed, "preemptible");
	assert_int_equal(json_array_size(preemptible), 1);
	assert_string_equal(json_string_value(json_array_get(preemptible, 0)), "cloud");
	json_t *const later = ask(f, "USD", "period=2027-01&months=1");
	assert_int_equal(
	    json_array_size(json_object_get(json_object_get(later, "billed"), "preemptible")), 0);
	/* What the site paid is no team's. */
	json_t *const team = ask(f, "USD", "period=2026-11&months=1&team=nlp");
	row = json_array_get(json_object_get(json_object_get(team, "billed"), "owned"), 0);
	assert_true(json_is_null(json_object_get(row, "paid_micros")));
	assert_true(json_is_null(json_object_get(row, "paid_node_s")));
	billing = (struct lt_policy_billing){0};
	json_decref(none);
	json_decref(plain);
	json_decref(report);
	json_decref(later);
	json_decref(team);
}

/* Who bills is settled when a month is closed, and so it is of its days and of the months of a
 * closed quarter. */
static void
test_billed_later(void **state)
{
	struct fixture *const f = *state;
	struct lt_closed closed = {.span = {NOVEMBER, DECEMBER},
	    .label = "2026-11",
	    .closed_utc_s = DECEMBER + 4 * LT_DAY_S,
	    .who = "root",
	    .checksum = "sha256:0",
	    .head = "{\"currency\":\"USD\"}"};
	static const char days[] = "from=2026-11-03&to=2026-11-04&months=1";

	put_rates(f);
	now_utc_s = DECEMBER + 5 * LT_DAY_S;
	must(f, lt_ledger_close_period(f->ledger, &closed, NULL, 0, &f->err));
	json_t *const before = ask(f, "USD", "period=2026-11&months=1");
	json_t *const before_days = ask(f, "USD", days);
	billing = (struct lt_policy_billing){.is_billed = true, .issuer = "Centre"};
	json_t *const after = ask(f, "USD", "period=2026-11&months=1");
	assert_true(json_equal(before, after));
	json_t *const after_days = ask(f, "USD", days);
	assert_null(json_object_get(after_days, "billed"));
	assert_string_equal(issuer_of(after_days, 0), "");
	json_t *const quarter = ask(f, "USD", "period=2026-Q4&months=1");
	assert_string_equal(issuer_of(quarter, 0), "Centre"); /* October */
	assert_string_equal(issuer_of(quarter, 1), "");
	assert_string_equal(issuer_of(quarter, 2), "Centre");
	/* And the other way round: it was billed, and is not any more. */
	closed.span = (struct lt_span){DECEMBER, DECEMBER + 31 * LT_DAY_S};
	strcpy(closed.label, "2026-12");
	strcpy(closed.head,
	    "{\"billing\":{\"issuer\":\"Then\",\"account_id\":\"1\",\"account_name\":\"1\"}}");
	must(f, lt_ledger_close_period(f->ledger, &closed, NULL, 0, &f->err));
	billing = (struct lt_policy_billing){0};
	json_t *const december = ask(f, "USD", "period=2026-12&months=1");
	assert_string_equal(issuer_of(december, 0), "Then");
	assert_non_null(json_object_get(december, "billed"));
	json_decref(before);
	json_decref(before_days);
	json_decref(after);
	json_decref(after_days);
	json_decref(quarter);
	json_decref(december);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    EACH(test_month),
	    EACH(test_metrics),
	    EACH(test_adds_up),
	    EACH(test_closed),
	    EACH(test_billed),
	    EACH(test_billed_later),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
