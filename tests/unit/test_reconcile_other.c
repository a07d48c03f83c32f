/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Invoices in another currency than the site's, and rows of other days than
 * the invoice's.
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
	    {"another's is worth less", "10.10", "EUR", 920000,
		9292 * (E12 / 1000)},
	    {"a part is rounded away from zero", "-0.000000000001", "EUR",
		500000, -1},
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
		ask.rate = (struct lt_invoice_rate){
		    "EUR", "EUR", (lt_wide)cases[i].rate_micros * 1000000};
		snprintf(bytes, sizeof(bytes),
		    FOCUS DAY_7 "Usage,Compute,BoxUsage:p4d.24xlarge,,1,Hours,"
				"%s,1,%s\n",
		    cases[i].cost, cases[i].currency);
		read_bytes(&invoice, bytes, strlen(bytes), &ask, &err);
		assert_int_equal(err.code != LT_OK, cases[i].is == 0);
		lt_wide sum = 0;
		const int count =
		    err.code ? 0 : invoice.day_count * (invoice.type_count + 1);
		for (int k = 0; k < count; k++)
			sum += invoice.sums[k].cost_pico;
		assert_true(sum == cases[i].is);
		lt_invoice_free(&invoice);
	}
}

/* A refund of September and usage of its last hour, in October's invoice: in
 * no day of it, and in the total. */
static void
test_outside(void **state)
{
	static const char bytes[] = FOCUS DAY_7
	    "Usage,Compute,BoxUsage:p4d.24xlarge,,1,Hours,30,30,USD\n" OCTOBER
	    "2026-09-12,2026-09-13,Usage,Compute,BoxUsage:p4d.24xlarge,,-1,"
	    "Hours,-5.5,-5.5,USD\n" OCTOBER
	    "2026-09-30T23:00Z,2026-10-01,Usage,Compute,BoxUsage:m5.large,,1,"
	    "Hours,0.5,0.5,USD\n" OCTOBER
	    "2026-11-02,2026-11-03,Tax,,,,,,2,2,USD\n";
	struct lt_invoice invoice;
	struct lt_error err = {0};

	(void)state;
	assert_int_equal(
	    read_bytes(&invoice, bytes, sizeof(bytes) - 1, &plain, &err),
	    LT_OK);
	assert_int_equal(invoice.rows, 4);
	assert_int_equal(invoice.outside_rows, 3);
	assert_int_equal(invoice.day_count, 31);
	assert_int_equal(invoice.outside_first_day, invoice.first_day - 19);
	assert_int_equal(invoice.outside_last_day, invoice.first_day + 32);
	assert_int_equal(invoice.unknown_count, 0);
	lt_wide inside = 0;
	const int types = invoice.type_count + 1;
	for (int i = 0; i < invoice.day_count * types; i++)
		inside += invoice.sums[i].cost_pico;
	assert_true(inside == 30 * E12);
	assert_true(
	    invoice.sums[(invoice.day_count + 1) * types - 1].cost_pico ==
	    -3 * E12);
	lt_invoice_free(&invoice);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_rate),
	    cmocka_unit_test(test_outside),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
