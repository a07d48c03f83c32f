/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The table of currencies against ISO 4217's list one, and what an amount of dollars is in others.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "currency.h"

static void
test_decimals(void **state)
{
	/* List one of 2024-06-25: those that do not have two. */
	static const char none[] =
	    "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX VND VUV XAF XOF XPF";
	static const char three[] = "BHD IQD JOD KWD LYD OMR TND";
	const char *last = "";
	int count, others = 0;
	const struct lt_currency *const table = lt_currency_table(&count);

	(void)state;
	for (int i = 0; i < count; i++) {
		const struct lt_currency *const row = &table[i];
		const int want = strstr(none, row->code) != NULL    ? 0
				 : strstr(three, row->code) != NULL ? 3
								    : 2;

		if (row->decimals != want)
			fail_msg("%s: %d", row->code, row->decimals);
		if (strcmp(last, row->code) >= 0)
			fail_msg("%s is behind %s", row->code, last);
		if (row->per_usd <= 0)
			fail_msg("%s: no rate", row->code);
		assert_ptr_equal(lt_currency_find(row->code), row);
		others += want != 2;
		last = row->code;
	}
	assert_int_equal(others, 16 + 7);
	assert_null(lt_currency_find("XTS"));
	assert_null(lt_currency_find(""));
	assert_int_equal(lt_currency_step("JPY"), 1000000);
	assert_int_equal(lt_currency_step("KWD"), 1000);
	assert_int_equal(lt_currency_step("INR"), 10000);
	assert_int_equal(lt_currency_step(""), 10000);
}

/* By the day's rates, from elsewhere: 157.477 yen, 1358.19 won, 323.462 forint, 96.0853 rupees,
 * 0.308712 dinars, 0.880226 euros, 0.755389 pounds and 18,016 rupiah. */
static void
test_of_usd(void **state)
{
	static const struct {
		const char *code;
		int64_t usd_micros, micros;
	} cases[] = {
	    {"USD", 100000000, 100000000}, {"USD", 12345678, 12345678},
	    {"XTS", 100000000, 100000000}, {"", 5000, 5000},
	    {"JPY", 100000000, 15000000000},   /* 15,747.7 */
	    {"KRW", 100000000, 150000000000},  /* 135,819 */
	    {"HUF", 100000000, 30000000000},   /* 32,346 */
	    {"INR", 100000000, 10000000000},   /* 9,608.5 */
	    {"KWD", 100000000, 30000000},      /* 30.87 */
	    {"EUR", 100000000, 90000000},      /* 88.02 */
	    {"GBP", 100000000, 80000000},      /* 75.54 */
	    {"IDR", 100000000, 2000000000000}, /* 1,801,634 */
	    {"JPY", 5000, 800000},	       /* 0.787 */
	    {"KWD", 5000, 1500},	       /* 0.00154 */
	    {"KWD", 1, 1},		       /* less than a micro */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const int64_t micros = lt_currency_of_usd(cases[i].usd_micros, cases[i].code);

		if (micros != cases[i].micros)
			fail_msg("%s: %lld of %lld", cases[i].code, (long long)micros,
			    (long long)cases[i].usd_micros);
	}
}

/* Plain, and near: one digit, or a half below 2, is within a quarter. */
static void
test_of_usd_near(void **state)
{
	int count;
	const struct lt_currency *const table = lt_currency_table(&count);

	(void)state;
	for (int i = 0; i < count; i++) {
		const int64_t micros = lt_currency_of_usd(100000000, table[i].code);
		const double ratio = (double)micros / (100000000 * table[i].per_usd);
		int64_t digits = micros;

		while (digits % 10 == 0)
			digits /= 10;
		if (ratio < 0.79 || ratio > 1.21 || (digits > 9 && digits != 15))
			fail_msg("%s: %lld", table[i].code, (long long)micros);
	}
}

static void
test_cent(void **state)
{
	static const struct {
		const char *why, *code;
		int64_t micros;
	} cases[] = {
	    {"a dollar's", "USD", 10000},
	    {"no currency", "", 10000},
	    {"less than one is not shown", "GBP", 10000},
	    {"1.57 yen", "JPY", 1500000},
	    {"13.6 won", "KRW", 15000000},
	    {"0.0031 dinars", "KWD", 3000},
	    {"3.23 forint", "HUF", 3000000},
	    {"0.96 rupees", "INR", 1000000},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		if (lt_currency_cent(cases[i].code) != cases[i].micros)
			fail_msg(
			    "%s: %lld", cases[i].why, (long long)lt_currency_cent(cases[i].code));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_decimals),
	    cmocka_unit_test(test_of_usd),
	    cmocka_unit_test(test_of_usd_near),
	    cmocka_unit_test(test_cent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
