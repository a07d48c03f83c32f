/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Invoices in another currency than the site's, and rows of other days than the invoice's.
 */
#include "invoice_fixture.h"

/* In another currency: each row at the rate, to a part in 10^12. */
static void
test_rate(void **state)
{
	static const struct {
		const char *why, *cost, *currency;
		int64_t rate_micros;
		lt_wide is; /* 0: an error */
	} cases[] = {
	    {"its own money is as it is", "10", "USD", 920000, 10 * E12},
	    {"another's is worth less", "10.10", "EUR", 920000, 9292 * (E12 / 1000)},
	    {"a part is rounded away from zero", "-0.000000000001", "EUR", 500000, -1},
	    {"a third one is none", "10", "GBP", 920000, 0},
	    {"too large", "999999999999", "EUR", 1000000000000, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct lt_invoice_ask ask = plain;
		struct lt_invoice invoice = {0};
		struct lt_error err = {0};
		char bytes[1024];

		print_message("# %s\n", cases[i].why);
		static struct lt_invoice_rates rates;

		rates.count = 1;
		rates.list[0] = (struct lt_invoice_rate){.currency = "EUR",
		    .is_said = true,
		    .from_utc_s = INT64_MIN,
		    .pico = (lt_wide)cases[i].rate_micros * 1000000};
		ask.rates = &rates;
		snprintf(bytes, sizeof(bytes),
		    FOCUS DAY_7 "Usage,Compute,BoxUsage:p4d.24xlarge,,1,Hours,"
				"%s,1,%s\n",
		    cases[i].cost, cases[i].currency);
		read_bytes(&invoice, bytes, strlen(bytes), &ask, &err);
		assert_int_equal(err.code != LT_OK, cases[i].is == 0);
		lt_wide sum = 0;
		const int count = err.code ? 0 : invoice.day_count * (invoice.type_count + 1);
		for (int k = 0; k < count; k++)
			sum += invoice.sums[k].cost_pico;
		assert_true(sum == cases[i].is);
		lt_invoice_free(&invoice);
	}
}

/* The policy's rates by the day of each row, and --rate before them. */
static void
test_policy_rates(void **state)
{
	static const char bytes[] =
	    FOCUS OCTOBER "2026-10-14T23:00Z,2026-10-15,Usage,Compute,BoxUsage:p4d.24xlarge,,"
			  "1,Hours,10,10,EUR\n" OCTOBER
			  "2026-10-15T00:00Z,2026-10-16,Usage,Compute,BoxUsage:p4d.24xlarge,,"
			  "1,Hours,10,10,EUR\n" OCTOBER
			  "2026-10-16T00:00Z,2026-10-17,Usage,Compute,BoxUsage:p4d.24xlarge,,"
			  "1,Hours,10,10,GBP\n";
	static struct lt_invoice_rates rates;
	struct lt_invoice_ask ask = plain;
	struct lt_invoice invoice;
	struct lt_error err = {0};
	json_t *const signals = json_loads("{\"exchange_rates\":["
					   "{\"currency\":\"EUR\",\"rate\":1.1,\"from\":null},"
					   "{\"currency\":\"EUR\",\"rate\":1.25,"
					   "\"from\":\"2026-10-15T00:00:00Z\"},"
					   "{\"currency\":\"GBP\",\"rate\":1.366,"
					   "\"from\":\"2026-10-16T00:00:00Z\"}]}",
	    0, NULL);

	(void)state;
	ask.rates = &rates;
	assert_int_equal(lt_invoice_rates_signals(&rates, signals, &err), LT_OK);
	assert_int_equal(read_bytes(&invoice, bytes, sizeof(bytes) - 1, &ask, &err), LT_OK);
	assert_true(invoice.sums[13 * 3].cost_pico == 11 * E12);
	assert_true(invoice.sums[14 * 3].cost_pico == 125 * (E12 / 10));
	assert_true(invoice.sums[15 * 3].cost_pico == 1366 * (E12 / 100));
	lt_invoice_free(&invoice);

	/* No pound before the 16th: an error, and not nothing. */
	rates.list[2].from_utc_s++;
	read_bytes(&invoice, bytes, sizeof(bytes) - 1, &ask, &err);
	assert_string_equal(err.text,
	    "i.csv:4: BillingCurrency: got \"GBP\", lowtide's money is USD, and "
	    "the policy's exchange_rates: have none of it for 2026-10-16; --rate "
	    "says what it is worth");
	lt_invoice_free(&invoice);

	rates.count = 0;
	err = (struct lt_error){0};
	assert_int_equal(lt_invoice_rate_parse(&rates, "GBP=2", &err), LT_OK);
	lt_invoice_rates_signals(&rates, signals, &err);
	assert_int_equal(read_bytes(&invoice, bytes, sizeof(bytes) - 1, &ask, &err), LT_OK);
	assert_true(invoice.sums[15 * 3].cost_pico == 20 * E12);
	lt_invoice_free(&invoice);
	json_decref(signals);
}

/* A refund of September and usage of its last hour, in October's invoice: in no day of it, and in
 * the total. */
static void
test_outside(void **state)
{
	static const char bytes[] =
	    FOCUS DAY_7 "Usage,Compute,BoxUsage:p4d.24xlarge,,1,Hours,30,30,USD\n" OCTOBER
			"2026-11-02,2026-11-03,Tax,,,,,,2,2,USD\n" OCTOBER
			"2026-09-12,2026-09-13,Usage,Compute,BoxUsage:p4d.24xlarge,,-1,"
			"Hours,-5.5,-5.5,USD\n" OCTOBER
			"2026-09-30T23:00Z,2026-10-01,Usage,Compute,BoxUsage:m5.large,,1,"
			"Hours,0.5,0.5,USD\n";
	struct lt_invoice invoice;
	struct lt_error err = {0};

	(void)state;
	assert_int_equal(read_bytes(&invoice, bytes, sizeof(bytes) - 1, &plain, &err), LT_OK);
	assert_int_equal(invoice.rows, 4);
	assert_int_equal(invoice.outside_rows, 3);
	assert_int_equal(invoice.day_count, 31);
	assert_int_equal(invoice.outside_first_day, invoice.first_day - 19);
	assert_int_equal(invoice.outside_last_day, invoice.first_day + 32);
	assert_int_equal(invoice.unknown_count, 0);
	/* -5.5 + 0.5 of September, 2 of November */
	assert_int_equal(invoice.outside_month_count, 2);
	assert_int_equal(invoice.outside_months[0].month, 2026 * 12 + 8);
	assert_int_equal(invoice.outside_months[0].rows, 2);
	assert_true(invoice.outside_months[0].cost_pico == -5 * E12);
	assert_int_equal(invoice.outside_months[1].month, 2026 * 12 + 10);
	assert_true(invoice.outside_months[1].cost_pico == 2 * E12);
	lt_wide inside = 0;
	const int types = invoice.type_count + 1;
	for (int i = 0; i < invoice.day_count * types; i++)
		inside += invoice.sums[i].cost_pico;
	assert_true(inside == 30 * E12);
	assert_true(invoice.sums[(invoice.day_count + 1) * types - 1].cost_pico == -3 * E12);
	lt_invoice_free(&invoice);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_rate),
	    cmocka_unit_test(test_policy_rates),
	    cmocka_unit_test(test_outside),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
