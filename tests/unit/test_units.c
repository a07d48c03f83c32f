/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Units: text for people into numbers and back, and exact arithmetic. Every option, policy value
 * and amount goes through here.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "units.h"

enum { UNTOUCHED = -77, LINE = 128 };

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* One row of a parser that gives a whole number; LT_EINPUT must leave the result alone and quote
 * what was found. */
struct parse_case {
	const char *why, *text;
	int code;
	int64_t value;
};

static void
check_parser(const char *name, const struct parse_case *cases, size_t count,
    int (*parse)(const char *, int64_t *, struct lt_error *))
{
	for (size_t i = 0; i < count; i++) {
		struct lt_error err = {0};
		int64_t value = UNTOUCHED;
		const int code = parse(cases[i].text, &value, &err);

		if (code != cases[i].code ||
		    value != (code == LT_OK ? cases[i].value : (int64_t)UNTOUCHED))
			fail_msg("%s: %s: \"%s\" gave %d, %lld", name, cases[i].why, cases[i].text,
			    code, (long long)value);
		if (code != LT_OK && strstr(err.text, "got \"") == NULL)
			fail_msg("%s: %s: says \"%s\"", name, cases[i].why, err.text);
	}
}

static void
test_duration(void **state)
{
	static const struct parse_case cases[] = {
	    {"empty", "", LT_EINPUT, 0},
	    {"no unit is a guess", "90", LT_EINPUT, 0},
	    {"no number", "h", LT_EINPUT, 0},
	    {"a space", "2 h", LT_EINPUT, 0},
	    {"negative", "-2h", LT_EINPUT, 0},
	    {"fraction", "1.5h", LT_EINPUT, 0},
	    {"units out of order", "12h7d", LT_EINPUT, 0},
	    {"a unit twice", "1h1h", LT_EINPUT, 0},
	    {"unknown unit", "1w", LT_EINPUT, 0},
	    {"number left over", "1h30", LT_EINPUT, 0},
	    {"upper case", "2H", LT_EINPUT, 0},
	    {"passes int64", "99999999999999999999s", LT_EINPUT, 0},
	    {"passes int64 by its unit", "106751991167301d", LT_EINPUT, 0},
	    {"zero needs no unit", "0", LT_OK, 0},
	    {"zero with a unit", "0s", LT_OK, 0},
	    {"seconds", "90s", LT_OK, 90},
	    {"minutes", "2m", LT_OK, 120},
	    {"hours", "24h", LT_OK, 86400},
	    {"days and hours", "7d12h", LT_OK, 648000},
	    {"all four", "1d1h1m1s", LT_OK, 90061},
	    {"largest", "106751991167300d", LT_OK, 9223372036854720000},
	};

	(void)state;
	check_parser("duration", cases, COUNT(cases), lt_duration_parse);
}

static void
test_slurm_time(void **state)
{
	static const struct parse_case cases[] = {
	    {"empty", "", LT_EINPUT, 0},
	    {"words", "UNLIMITED", LT_EINPUT, 0},
	    {"open end", "1:", LT_EINPUT, 0},
	    {"too many parts", "1:2:3:4", LT_EINPUT, 0},
	    {"too many parts after days", "1-2:3:4:5", LT_EINPUT, 0},
	    {"two dashes", "1-2-3", LT_EINPUT, 0},
	    {"days alone", "1-", LT_EINPUT, 0},
	    {"passes int64", "153722867280912931", LT_EINPUT, 0},
	    {"a number is minutes", "90", LT_OK, 5400},
	    {"zero", "0", LT_OK, 0},
	    {"min:s", "90:30", LT_OK, 5430},
	    {"h:m:s", "2:30:00", LT_OK, 9000},
	    {"d-h", "1-12", LT_OK, 129600},
	    {"d-h:m", "1-12:30", LT_OK, 131400},
	    {"d-h:m:s", "1-12:30:05", LT_OK, 131405},
	    {"our own form too", "36h", LT_OK, 129600},
	};

	(void)state;
	check_parser("slurm time", cases, COUNT(cases), lt_slurm_time_parse);
}

static void
test_mebibytes(void **state)
{
	static const struct parse_case cases[] = {
	    {"empty", "", LT_EINPUT, 0},
	    {"negative", "-1G", LT_EINPUT, 0},
	    {"fraction", "1.5G", LT_EINPUT, 0},
	    {"unknown unit", "1P", LT_EINPUT, 0},
	    {"ending without unit", "5B", LT_EINPUT, 0},
	    {"text after", "40Gx", LT_EINPUT, 0},
	    {"passes int64", "9223372036854775807G", LT_EINPUT, 0},
	    {"a number is MiB", "4096", LT_OK, 4096},
	    {"G", "40G", LT_OK, 40960},
	    {"GiB", "40GiB", LT_OK, 40960},
	    {"GB is binary too", "40gb", LT_OK, 40960},
	    {"M", "81920M", LT_OK, 81920},
	    {"T", "1T", LT_OK, 1048576},
	    {"zero", "0", LT_OK, 0},
	};

	(void)state;
	check_parser("mebibytes", cases, COUNT(cases), lt_mebibytes_parse);
}

static void
test_micros(void **state)
{
	static const struct parse_case cases[] = {
	    {"empty", "", LT_EINPUT, 0},
	    {"sign alone", "-", LT_EINPUT, 0},
	    {"plus", "+1", LT_EINPUT, 0},
	    {"point alone", ".", LT_EINPUT, 0},
	    {"nothing before the point", ".5", LT_EINPUT, 0},
	    {"nothing after the point", "5.", LT_EINPUT, 0},
	    {"seven decimals", "0.1234567", LT_EINPUT, 0},
	    {"exponent", "1e3", LT_EINPUT, 0},
	    {"comma", "1,5", LT_EINPUT, 0},
	    {"not a number", "nan", LT_EINPUT, 0},
	    {"passes int64", "9223372036854.775808", LT_EINPUT, 0},
	    {"largest", "9223372036854.775807", LT_OK, INT64_MAX},
	    {"whole", "5000", LT_OK, 5000000000},
	    {"two decimals", "32.77", LT_OK, 32770000},
	    {"six decimals", "0.000001", LT_OK, 1},
	    {"negative", "-0.5", LT_OK, -500000},
	    {"minus zero", "-0", LT_OK, 0},
	};

	(void)state;
	check_parser("micros", cases, COUNT(cases), lt_micros_parse);
}

static void
test_utc(void **state)
{
	static const struct parse_case cases[] = {
	    {"empty", "", LT_EINPUT, 0},
	    {"no zone", "2026-11-21T02:00", LT_EINPUT, 0},
	    {"no time", "2026-11-21Z", LT_EINPUT, 0},
	    {"month 13", "2026-13-01T00:00Z", LT_EINPUT, 0},
	    {"day 0", "2026-01-00T00:00Z", LT_EINPUT, 0},
	    {"30 February", "2026-02-30T00:00Z", LT_EINPUT, 0},
	    {"29 February of no leap year", "2026-02-29T00:00Z", LT_EINPUT, 0},
	    {"1900 was none", "1900-02-29T00:00Z", LT_EINPUT, 0},
	    {"hour 24", "2026-01-01T24:00Z", LT_EINPUT, 0},
	    {"fraction without digits", "2026-01-01T00:00:00.Z", LT_EINPUT, 0},
	    {"text after", "2026-01-01T00:00Zx", LT_EINPUT, 0},
	    {"offset without hours", "2026-01-01T00:00+", LT_EINPUT, 0},
	    {"the epoch", "1970-01-01T00:00Z", LT_OK, 0},
	    {"before it", "1969-12-31T23:59:59Z", LT_OK, -1},
	    {"minutes only", "2026-11-21T02:00Z", LT_OK, 1795226400},
	    {"fraction is cut", "2026-11-21T02:00:07.999Z", LT_OK, 1795226407},
	    {"offset east", "2026-11-21T03:00:00+01:00", LT_OK, 1795226400},
	    {"offset west", "2026-11-20T21:00:00-0500", LT_OK, 1795226400},
	    {"hours of offset", "2026-11-21T03:00:00+01", LT_OK, 1795226400},
	    {"a space for T", "2026-11-21 02:00:00z", LT_OK, 1795226400},
	    {"2000 was a leap year", "2000-02-29T00:00Z", LT_OK, 951782400},
	    {"leap second", "2016-12-31T23:59:60Z", LT_OK, 1483228800},
	};

	(void)state;
	check_parser("utc", cases, COUNT(cases), lt_utc_parse);
}

static void
test_int64(void **state)
{
	static const struct {
		const char *why, *text;
		int64_t min, max;
		int code;
		int64_t value;
	} cases[] = {
	    {"empty", "", 0, 9, LT_EINPUT, 0},
	    {"leading space", " 1", 0, 9, LT_EINPUT, 0},
	    {"plus", "+1", 0, 9, LT_EINPUT, 0},
	    {"text after", "1x", 0, 9, LT_EINPUT, 0},
	    {"below", "-1", 0, 9, LT_EINPUT, 0},
	    {"above", "10", 0, 9, LT_EINPUT, 0},
	    {"passes int64", "9223372036854775808", 0, INT64_MAX, LT_EINPUT, 0},
	    {"min", "-9", -9, 9, LT_OK, -9},
	    {"max", "9", -9, 9, LT_OK, 9},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		int64_t value = UNTOUCHED;
		const int code =
		    lt_int64_parse(cases[i].text, cases[i].min, cases[i].max, &value, NULL);

		if (code != cases[i].code ||
		    value != (code == LT_OK ? cases[i].value : (int64_t)UNTOUCHED))
			fail_msg("%s", cases[i].why);
	}
}

static void
test_double(void **state)
{
	static const struct {
		const char *why, *text;
		int code;
		double value;
	} cases[] = {
	    {"empty", "", LT_EINPUT, 0},
	    {"not a number", "nan", LT_EINPUT, 0},
	    {"infinity", "inf", LT_EINPUT, 0},
	    {"hex", "0x10", LT_EINPUT, 0},
	    {"text after", "1.5 kg", LT_EINPUT, 0},
	    {"leading space", " 1", LT_EINPUT, 0},
	    {"open exponent", "1e", LT_EINPUT, 0},
	    {"point alone", ".", LT_EINPUT, 0},
	    {"too large", "1e999", LT_EINPUT, 0},
	    {"whole", "12", LT_OK, 12},
	    {"fraction", "0.5", LT_OK, 0.5},
	    {"no digit before", ".5", LT_OK, 0.5},
	    {"sign and exponent", "-2.5e+3", LT_OK, -2500},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		double value = UNTOUCHED;
		const int code = lt_double_parse(cases[i].text, &value, NULL);

		if (code != cases[i].code || value != (code == LT_OK ? cases[i].value : UNTOUCHED))
			fail_msg("%s", cases[i].why);
	}
}

static void
test_texts(void **state)
{
	static const struct {
		const char *why;
		const char *(*text)(char *, size_t, int64_t);
		int64_t value;
		const char *wanted;
	} cases[] = {
	    {"no carbon", lt_carbon_text, 0, "0 g"},
	    {"half a gram rounds up", lt_carbon_text, 500, "1 g"},
	    {"below half", lt_carbon_text, 499, "0 g"},
	    {"avoided", lt_carbon_text, -1500, "-2 g"},
	    {"minus nothing has no sign", lt_carbon_text, -400, "0 g"},
	    {"grams", lt_carbon_text, 850000, "850 g"},
	    {"never 1000 g", lt_carbon_text, 999600, "1.0 kg"},
	    {"kilograms", lt_carbon_text, 3100000, "3.1 kg"},
	    {"never 1000.0 kg", lt_carbon_text, 999960000, "1.00 t"},
	    {"tonnes", lt_carbon_text, 2400000000, "2.40 t"},
	    {"least number", lt_carbon_text, INT64_MIN, "-9223372036.85 t"},
	    {"no time", lt_duration_text, 0, "0s"},
	    {"seconds", lt_duration_text, 59, "59s"},
	    {"minutes and seconds", lt_duration_text, 61, "1m 1s"},
	    {"minutes", lt_duration_text, 720, "12m"},
	    {"two units at most", lt_duration_text, 93784, "1d 2h"},
	    {"a zero between", lt_duration_text, 86460, "1d"},
	    {"before", lt_duration_text, -7200, "-2h"},
	    {"slurm, below a day", lt_slurm_time_text, 3661, "1:01:01"},
	    {"slurm, days", lt_slurm_time_text, 183600, "2-03:00:00"},
	    {"the epoch", lt_utc_text, 0, "1970-01-01T00:00:00Z"},
	    {"before it", lt_utc_text, -1, "1969-12-31T23:59:59Z"},
	    {"utc", lt_utc_text, 1795226400, "2026-11-21T02:00:00Z"},
	    {"leap day", lt_utc_text, 951782400, "2000-02-29T00:00:00Z"},
	    {"micros", lt_micros_exact, 1234567890, "1234.567890"},
	    {"negative micros", lt_micros_exact, -1, "-0.000001"},
	    {"least micros", lt_micros_exact, INT64_MIN, "-9223372036854.775808"},
	    {"milligrams as kg", lt_kg_exact, 3100, "0.003100"},
	};
	char out[LINE], small[4];

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		const char *text = cases[i].text(out, sizeof(out), cases[i].value);

		if (text != out || strcmp(text, cases[i].wanted) != 0)
			fail_msg("%s: \"%s\"", cases[i].why, text);
		cases[i].text(small, sizeof(small), cases[i].value);
		if (strlen(small) >= sizeof(small))
			fail_msg("%s: not ended", cases[i].why);
	}
}

static void
test_money_text(void **state)
{
	static const struct {
		const char *why;
		int64_t micros;
		const char *currency, *wanted;
	} cases[] = {
	    {"nothing", 0, "USD", "$0.00"},
	    {"thousands", 1234567890, "USD", "$1,234.57"},
	    {"half a cent rounds away", 5000, "USD", "$0.01"},
	    {"below", 4999, "USD", "$0.00"},
	    {"half a cent down", -5000, "USD", "-$0.01"},
	    {"minus nothing has no sign", -4999, "USD", "$0.00"},
	    {"euro", 1500000, "EUR", "\u20ac1.50"},
	    {"pound", 1500000, "GBP", "\u00a31.50"},
	    {"others by code", 1234567890, "CHF", "1,234.57 CHF"},
	    {"no currency", 1000000, "", "1.00"},
	    {"least", INT64_MIN, "USD", "-$9,223,372,036,854.78"},
	    {"yen have no parts", 1234567890, "JPY", "\u00a51,235"},
	    {"half a yen rounds away", -500000, "JPY", "-\u00a51"},
	    {"less than half has no sign", -499999, "JPY", "\u00a50"},
	    {"won", 1500000000, "KRW", "1,500 KRW"},
	    {"a dinar has 1000 fils", 1234567890, "KWD", "1,234.568 KWD"},
	    {"one of them", 1000, "BHD", "0.001 BHD"},
	    {"zeros behind the point", 2005000000, "OMR", "2,005.000 OMR"},
	    {"least of three", INT64_MIN, "TND", "-9,223,372,036,854.776 TND"},
	    {"forint have two", 12345000, "HUF", "12.35 HUF"},
	};
	char out[LINE];

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		lt_money_text(out, sizeof(out), cases[i].micros, cases[i].currency);
		if (strcmp(out, cases[i].wanted) != 0)
			fail_msg("%s: \"%s\"", cases[i].why, out);
	}
	assert_string_equal(lt_money_digits(out, sizeof(out), -1234567890, "JPY"), "-1,235");
	assert_string_equal(lt_money_digits(out, sizeof(out), 1234567890, "USD"), "1,234.57");
}

static void
test_scale_up(void **state)
{
	static const struct {
		const char *why;
		int64_t amount, numerator, denominator;
		bool ok;
		int64_t up;
	} cases[] = {
	    {"no denominator", 1, 1, 0, false, 0},
	    {"negative denominator", 1, 1, -1, false, 0},
	    {"exact", 10, 3, 5, true, 6},
	    {"half", 1, 1, 2, true, 1},
	    {"below half", 1, 1, 3, true, 1},
	    {"negative half", -1, 1, 2, true, 0},
	    {"negative below half", -1, 1, 3, true, 0},
	    {"128 bits inside", INT64_MAX, 1000000, 1000000, true, INT64_MAX},
	    {"passes int64", INT64_MAX, 2, 1, false, 0},
	    {"passes below", INT64_MIN, 2, 1, false, 0},
	    {"large denominator", INT64_MAX, 1, INT64_MAX, true, 1},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		int64_t up = 0;
		const bool ok =
		    lt_scale_up(cases[i].amount, cases[i].numerator, cases[i].denominator, &up);

		if (ok != cases[i].ok || up != cases[i].up)
			fail_msg("%s: %lld", cases[i].why, (long long)up);
	}
}

static void
test_add_and_hashes(void **state)
{
	int64_t sum = INT64_MAX - 1;

	(void)state;
	assert_true(lt_add(&sum, 1));
	assert_false(lt_add(&sum, 1));
	assert_int_equal(sum, INT64_MAX);
	/* FNV-1a's and CRC-32C's published check values. */
	assert_int_equal(lt_name_hash(""), 0x811c9dc5u);
	assert_int_equal(lt_name_hash("foobar"), 0xbf9cf968u);
	assert_int_equal(lt_name_hash("FooBar"), 0xbf9cf968u);
	assert_int_equal(lt_crc32c(0, "123456789", 9), 0xe3069283u);
	assert_int_equal(lt_crc32c(lt_crc32c(0, "1234", 4), "56789", 5), 0xe3069283u);
}

static void
test_percent(void **state)
{
	static const struct {
		const char *why;
		int64_t part, whole;
		const char *text;
	} cases[] = {
	    {"nothing", 0, 100000, "0 %"},
	    {"rounded", 40600, 100000, "41 %"},
	    {"just over is not all of it", 100001, 100000, "100.1 %"},
	    {"over by a bit", 100300, 100000, "100.3 %"},
	    {"just within is not all of it", 99999, 100000, "99.9 %"},
	    {"all of it", 100000, 100000, "100.0 %"},
	    {"far over", 141000, 100000, "141 %"},
	    {"given back", -3000, 100000, "-3 %"},
	    {"of nothing", 1, 0, "all"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char text[LT_PERCENT_SIZE];

		print_message("# %s\n", cases[i].why);
		assert_string_equal(
		    lt_percent_text(text, cases[i].part, cases[i].whole), cases[i].text);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_duration),
	    cmocka_unit_test(test_slurm_time),
	    cmocka_unit_test(test_mebibytes),
	    cmocka_unit_test(test_micros),
	    cmocka_unit_test(test_utc),
	    cmocka_unit_test(test_int64),
	    cmocka_unit_test(test_double),
	    cmocka_unit_test(test_texts),
	    cmocka_unit_test(test_money_text),
	    cmocka_unit_test(test_percent),
	    cmocka_unit_test(test_scale_up),
	    cmocka_unit_test(test_add_and_hashes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
