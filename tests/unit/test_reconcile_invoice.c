/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Invoices: numbers to the last digit, the same charges in all formats, what is no use of an
 * instance, files larger than the buffer, and what is refused and where.
 */
#include <time.h>

#include "invoice_fixture.h"

static void
test_numbers(void **state)
{
	static const struct {
		const char *text;
		bool ok;
		int64_t whole, pico;
	} cases[] = {
	    {"0", true, 0, 0},
	    {"12", true, 12, 0},
	    {"-0.5", true, 0, -500000000000},
	    {".5", true, 0, 500000000000},
	    {"007.250", true, 7, 250000000000},
	    {"35.2E-7", true, 0, 3520000},
	    {"1.5e3", true, 1500, 0},
	    {"1E+2", true, 100, 0},
	    {"0.0000000000004", true, 0, 0},
	    {"0.0000000000005", true, 0, 1},
	    {"-0.0000000000005", true, 0, -1},
	    {"0.00000000000049999", true, 0, 0},
	    {"1e-99", true, 0, 0},
	    {"999999999999.999999999999", true, 999999999999, 999999999999},
	    {"1000000000000", false, 0, 0},
	    {"1e12", false, 0, 0},
	    {"0e999999999999", true, 0, 0},
	    {"1e999999999999", false, 0, 0},
	    {"", false, 0, 0},
	    {".", false, 0, 0},
	    {"-", false, 0, 0},
	    {"+3", false, 0, 0},
	    {"1,5", false, 0, 0},
	    {"$32", false, 0, 0},
	    {"1 1/2", false, 0, 0},
	    {"0x10", false, 0, 0},
	    {"1e", false, 0, 0},
	    {"1e2.5", false, 0, 0},
	    {"NaN", false, 0, 0},
	    {"--1", false, 0, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const lt_wide want = cases[i].whole * E12 + cases[i].pico;
		lt_wide got = 7;
		struct lt_error err = {0};
		const int code = lt_pico_parse(cases[i].text, &got, &err);

		if ((code == LT_OK) != cases[i].ok || (cases[i].ok && got != want))
			fail_msg("\"%s\": %d %s", cases[i].text, code, err.text);
	}
}

static void
test_units(void **state)
{
	static const struct {
		const char *text;
		int64_t seconds;
	} cases[] = {{"Hrs", 3600}, {"hours", 3600}, {"1 Hour", 3600}, {"100 Hours", 360000},
	    {"Seconds", 1}, {"Instance-Hours", 3600}, {"Units/Hour", 0}, {"GB-Hours", 0},
	    {"OCPU Hours", 0}, {"GB", 0}, {"", 0}, {"Hours ", 0}, {"99999999 Hours", 0}};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		if (lt_time_unit(cases[i].text) != cases[i].seconds)
			fail_msg("\"%s\"", cases[i].text);
}

static void
test_map(void **state)
{
	static const char *const bad[] = {"a", "a=", "=t", "a=t,", ",",
	    "a=0123456789012345678901234567890123456789012345678901234567890123"};
	struct lt_tie_map map = {0};
	struct lt_error err = {0};

	(void)state;
	assert_int_equal(lt_tie_map_parse(&map, "a=X,b=x,c=y,a=z", &err), LT_OK);
	assert_int_equal(map.type_count, 2);		/* one, whatever its case */
	assert_int_equal(lt_tie_type_of(&map, "a"), 0); /* the first stays */
	assert_int_equal(lt_tie_type_of(&map, "b"), 0);
	assert_int_equal(lt_tie_type_of(&map, "c"), 1);
	assert_int_equal(lt_tie_type_of(&map, "A"), -1);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		err = (struct lt_error){0};
		if (lt_tie_map_parse(&map, bad[i], &err) != LT_EINPUT)
			fail_msg("%s", bad[i]);
	}
}

/* The source that is named first for a price, not others' types. */
static void
test_map_signals(void **state)
{
	static const char text[] =
	    "{\"sources\":["
	    "{\"instance_type\":\"second\",\"used_by\":["
	    "{\"partition\":\"a\",\"key\":\"price_per_node_hour\",\"place\":2}]},"
	    "{\"instance_type\":\"first\",\"used_by\":["
	    "{\"partition\":\"a\",\"key\":\"price_per_node_hour\",\"place\":1},"
	    "{\"partition\":\"b\",\"key\":\"placement_score\",\"place\":1}]},"
	    "{\"instance_type\":null,\"used_by\":["
	    "{\"partition\":\"c\",\"key\":\"price_per_node_hour\",\"place\":1}]},"
	    "{\"instance_type\":\"third\",\"used_by\":["
	    "{\"partition\":\"c\",\"key\":\"price_per_node_hour\",\"place\":2}]}"
	    "]}";
	json_t *const signals = json_loads(text, 0, NULL);
	struct lt_tie_map map = {0};
	struct lt_error err = {0};

	(void)state;
	assert_int_equal(lt_tie_map_signals(&map, signals, &err), LT_OK);
	assert_int_equal(map.count, 2);
	assert_string_equal(map.types[lt_tie_type_of(&map, "a")], "first");
	assert_int_equal(lt_tie_type_of(&map, "b"), -1);
	assert_string_equal(map.types[lt_tie_type_of(&map, "c")], "third");
	json_decref(signals);
}

#define P4D "\"{\"\"InstanceType\"\":\"\"P4D.24xlarge\"\"}\","
#define CUR                                                                                        \
	"bill/BillingPeriodStartDate,bill/BillingPeriodEndDate,"                                   \
	"lineItem/UsageStartDate,lineItem/UsageEndDate,lineItem/LineItemType,"                     \
	"lineItem/ProductCode,lineItem/UsageType,product/instanceType,"                            \
	"lineItem/UsageAmount,pricing/unit,lineItem/UnblendedCost,"                                \
	"lineItem/NetUnblendedCost,lineItem/CurrencyCode\r\n"
#define CUR2                                                                                       \
	"bill_billing_period_start_date,bill_billing_period_end_date,"                             \
	"line_item_usage_start_date,line_item_usage_end_date,"                                     \
	"line_item_line_item_type,line_item_product_code,"                                         \
	"line_item_usage_type,product_instance_type,line_item_usage_amount,"                       \
	"pricing_unit,line_item_unblended_cost,x,line_item_currency_code\n"

/* What one row becomes: of p4d.24xlarge, or of other services. */
static const struct {
	const char *why, *bytes;
	bool is_p4d;
	int64_t cost_micros, node_s;
	bool has_nodes, nodes_unknown;
	const char *unknown; /* type that no partition has */
} rows[] = {
    {"hours of an instance, the type in any case",
	FOCUS DAY_7 "Usage,Compute,EUW2-BoxUsage:p4d.24xlarge," P4D "1.5,Hours,49.5,40,USD\n", true,
	49500000, 5400, true, false, NULL},
    {"the type by the meter alone",
	FOCUS DAY_7 "Usage,Compute,SpotUsage:p4d.24xlarge,,2,Hours,9,9,USD\n", true, 9000000, 7200,
	true, false, NULL},
    {"by the details alone, as NULL is none",
	FOCUS DAY_7 "Usage,Compute,NULL," P4D "2,Hours,9,9,USD\n", true, 9000000, 7200, true, false,
	NULL},
    {"quantities of something else", FOCUS DAY_7 "Usage,Compute,," P4D "9,GB,9,9,USD\n", true,
	9000000, 0, false, true, NULL},
    {"no quantity", FOCUS DAY_7 "Usage,Compute,," P4D ",,-9,9,USD\n", true, -9000000, 0, false,
	false, NULL},
    {"what its disks cost",
	FOCUS DAY_7 "Usage,Compute,EBSOptimized:p4d.24xlarge," P4D "2,Hours,9,9,USD\n", false,
	9000000, 0, false, false, NULL},
    {"a host's hours are not its instances'",
	FOCUS DAY_7 "Usage,Compute,EUW2-HostBoxUsage:p4d.24xlarge," P4D "2,Hours,9,9,USD\n", false,
	9000000, 0, false, false, NULL},
    {"another service that has instances",
	FOCUS DAY_7 "Usage,Analytics,BoxUsage:p4d.24xlarge," P4D "2,Hours,9,9,USD\n", false,
	9000000, 0, false, false, NULL},
    {"no usage", FOCUS DAY_7 "Purchase,Compute,BoxUsage:p4d.24xlarge," P4D "2,Hours,9,9,USD\n",
	false, 9000000, 0, false, false, NULL},
    {"a type of no partition", FOCUS DAY_7 "Usage,Compute,BoxUsage:m5.large,,2,Hours,9,9,USD\n",
	false, 9000000, 0, false, false, "m5.large"},
    {"details that are no JSON", FOCUS DAY_7 "Usage,Compute,,{{{,2,Hours,9,9,USD\n", false, 9000000,
	0, false, false, NULL},
    {"details within a text are none",
	FOCUS DAY_7 "Usage,Compute,,\"{\"\"x\"\":\"\"\\\"\"InstanceType\\\"\":"
		    "\\\"\"p4d.24xlarge\\\"\"\"\"}\",2,Hours,9,9,USD\n",
	false, 9000000, 0, false, false, NULL},
    {"a bill of AWS",
	CUR DAY_7 "Usage,AmazonEC2,EUW2-BoxUsage:p4d.24xlarge,p4d.24xlarge,"
		  "1.5,Hrs,49.5,40,USD\r\n",
	true, 49500000, 5400, true, false, NULL},
    {"the newer one, times with milliseconds",
	CUR2 "2026-10-01T00:00:00.000Z,2026-11-01T00:00:00.000Z,"
	     "2026-10-07T00:00:00.000Z,2026-10-07T01:00:00.000Z,Usage,"
	     "AmazonEC2,EUW2-BoxUsage:p4d.24xlarge,p4d.24xlarge,1.5,,49.5,,"
	     "USD\n",
	true, 49500000, 5400, true, false, NULL},
    {"what a savings plan takes back has no hours",
	CUR DAY_7 "SavingsPlanNegation,AmazonEC2,EUW2-BoxUsage:p4d.24xlarge,"
		  "p4d.24xlarge,1.5,Hrs,-49.5,40,USD\r\n",
	true, -49500000, 0, false, false, NULL},
    {"a fee for a month",
	CUR OCTOBER "2026-10-07T00:00:00Z,2026-10-31T23:59:59Z,RIFee,"
		    "AmazonEC2,EUW2-HeavyUsage:p4d.24xlarge,p4d.24xlarge,744,"
		    "Hrs,400,400,USD\r\n",
	false, 400000000, 0, false, false, NULL},
    {"the nodes of a cluster of another service",
	CUR DAY_7 "Usage,ElasticMapReduce,EUW2-BoxUsage:p4d.24xlarge,"
		  "p4d.24xlarge,1.5,Hrs,9,9,USD\r\n",
	false, 9000000, 0, false, false, NULL},
    {"a database's export: semicolons, no zone, NULL",
	"BillingPeriodStart;BillingPeriodEnd;ChargePeriodStart;"
	"ChargePeriodEnd;ChargeCategory;ServiceCategory;x_UsageType;"
	"ConsumedQuantity;ConsumedUnit;BilledCost;BillingCurrency\n"
	"2026-10-01 00:00:00;2026-11-01;2026-10-07 23:59:59 UTC;2026-10-08;"
	"Usage;Compute;BoxUsage:p4d.24xlarge;NULL;NULL;1;USD",
	true, 1000000, 0, false, false, NULL},
};

static void
test_one_row(void **state)
{
	enum { DAY = 6, TYPES = 2 };

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct lt_invoice invoice;
		struct lt_error err = {0};

		if (read_bytes(&invoice, rows[i].bytes, strlen(rows[i].bytes), &plain, &err))
			fail_msg("%s: %s", rows[i].why, err.text);
		assert_int_equal(invoice.day_count, 31);
		assert_int_equal(invoice.first_day, 20727); /* date -d @... */
		for (int k = 0; k < 31 * (TYPES + 1); k++) {
			const struct lt_invoice_sum *const sum = &invoice.sums[k];
			const bool here = k == DAY * (TYPES + 1) + (rows[i].is_p4d ? 0 : 2);
			const int64_t cost = here ? rows[i].cost_micros : 0;
			const int64_t nodes = here ? rows[i].node_s : 0;

			if (sum->cost_pico != (lt_wide)cost * 1000000 ||
			    sum->node_pico_s != nodes * E12 ||
			    sum->has_nodes != (here && rows[i].has_nodes) ||
			    sum->nodes_unknown != (here && rows[i].nodes_unknown))
				fail_msg("%s: sum %d", rows[i].why, k);
		}
		assert_int_equal(invoice.unknown_count, rows[i].unknown != NULL);
		if (rows[i].unknown != NULL)
			assert_string_equal(invoice.unknown[0].type, rows[i].unknown);
		lt_invoice_free(&invoice);
	}
}

static void
test_refused(void **state)
{
	static const struct {
		const char *why, *bytes, *text;
	} bad[] = {
	    {"nothing", "", "i.csv:1:1: no invoice of FOCUS"},
	    {"something else", "a,b\n1,2\n",
		"i.csv:1:1: no invoice of FOCUS (ChargePeriodStart), AWS CUR "
		"(lineItem/UsageStartDate), CUR 2.0 "
		"(line_item_usage_start_date) or Azure: no column \"Date\", the "
		"header has: a, b"},
	    {"a column is missing", "ChargePeriodStart,BilledCost\n",
		"i.csv:1:1: no column \"ChargePeriodEnd\""},
	    {"no column has the type",
		"ChargePeriodStart,ChargePeriodEnd,BilledCost,BillingCurrency,"
		"ChargeCategory\n",
		"i.csv:1:1: no column that says the instance type, want one "
		"of: x_SkuInstanceType, x_InstanceType, SkuPriceDetails, "
		"x_SkuDetails, SkuMeter, x_UsageType; --type says another"},
	    {"no rows", FOCUS, "i.csv: no rows"},
	    {"another currency",
		FOCUS DAY_7 "Usage,Compute,,,1,Hours,9,9,USD\n" DAY_7
			    "Usage,Compute,,,1,Hours,9,9,EUR\n",
		"i.csv:3: BillingCurrency: got \"EUR\", lowtide's money is "
		"USD, and the policy's exchange_rates: have none of it"},
	    {"a cost that is none", FOCUS DAY_7 "Usage,Compute,,,1,Hours,\"1,234\",9,USD\n",
		"i.csv:2: BilledCost: got \"1,234\", want a number"},
	    {"no cost", FOCUS DAY_7 "Usage,Compute,,,1,Hours,,9,USD\n",
		"i.csv:2: BilledCost: got \"\", want a number"},
	    {"a quantity that is none",
		FOCUS DAY_7 "Usage,Compute,BoxUsage:p4d.24xlarge,,many,Hours,1,"
			    "1,USD\n",
		"i.csv:2: ConsumedQuantity: got \"many\""},
	    {"no day",
		FOCUS OCTOBER "07/10/2026,2026-10-08T00:00Z,Usage,,,,,,"
			      "1,1,USD\n",
		"i.csv:2: ChargePeriodStart: got \"07/10/2026\", want a time"},
	    {"a day that is none", FOCUS OCTOBER "2026-10-07,2026-10-32,Usage,,,,,,1,1,USD\n",
		"i.csv:2: ChargePeriodEnd: got \"2026-10-32\""},
	    {"the day before the period",
		FOCUS OCTOBER "2026-09-30T23:59:59Z,2026-10-01,Tax,,,,,,1,1,"
			      "USD\n",
		"i.csv:2: ChargePeriodStart: 2026-09-30T23:59:59Z is not from "
		"2026-10-01 to 2026-10-31"},
	    {"the day after it",
		FOCUS OCTOBER "2026-11-01T00:00:00Z,2026-11-02,Tax,,,,,,1,1,"
			      "USD\n",
		"2026-11-01T00:00:00Z is not from 2026-10-01 to 2026-10-31"},
	    {"no period", FOCUS ",,2026-10-07,2026-10-08,Tax,,,,,,1,1,USD\n",
		"i.csv:2: no billing period in BillingPeriodStart and "
		"BillingPeriodEnd; say --from and --to"},
	    {"a period that ends before it starts",
		FOCUS "2026-10-02,2026-10-01,2026-10-07,2026-10-08,Tax,,,,,,1,"
		      "1,USD\n",
		"i.csv:2: -1 days"},
	    {"a month of an instance in one row",
		FOCUS OCTOBER "2026-10-01,2026-11-01,Usage,Compute,"
			      "BoxUsage:p4d.24xlarge,,744,Hours,1,1,USD\n",
		"i.csv:2: ChargePeriodStart: a charge of an instance for more "
		"than a day"},
	    {"a row that is cut off", FOCUS DAY_7 "Usage,Compute,,,1,Hours,9,9,USD\n" DAY_7 "Usa",
		"i.csv:3: a row of 5 cells, the header has 13"},
	    {"a cell too many", FOCUS DAY_7 "Usage,Compute,,,1,Hours,9,9,USD,\n",
		"i.csv:2: a row of 14 cells, the header has 13"},
	    {"a quote that stays open", FOCUS DAY_7 "Usage,Compute,,\"{,1,Hours,9,9,USD\n" DAY_7,
		"i.csv:2:100: a quote that is never closed"},
	    {"words that steer a terminal", FOCUS DAY_7 "Usage,Compute,,,1,Hours,\033[31m,9,USD\n",
		"i.csv:2: BilledCost: got \"?[31m\""},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct lt_invoice invoice = {0};
		struct lt_error err = {0};

		if (bad[i].bytes[0] == '\0') { /* fmemopen has none of 0 */
			struct lt_tie_map map;
			FILE *const in = fopen("/dev/null", "r");

			map_init(&map);
			lt_invoice_read(&invoice, in, &plain, &map, &err);
			fclose(in);
		} else {
			read_bytes(&invoice, bad[i].bytes, strlen(bad[i].bytes), &plain, &err);
		}
		if (err.code == LT_OK || strstr(err.text, bad[i].text) == NULL)
			fail_msg("%s: %d %s", bad[i].why, err.code, err.text);
		lt_invoice_free(&invoice);
	}
}

static void
test_other_column_and_days(void **state)
{
	static const char bytes[] =
	    FOCUS DAY_7 "Usage,Compute,BoxUsage:p4d.24xlarge,,1,Hours,0,32.5,USD\n";
	struct lt_invoice_ask ask = plain;
	struct lt_invoice invoice;
	struct lt_error err = {0};

	(void)state;
	ask.basis = LT_INVOICE_COLUMN;
	ask.cost = "EffectiveCost";
	ask.first_day = 20727 + 6;
	ask.day_count = 1;
	assert_int_equal(read_bytes(&invoice, bytes, sizeof(bytes) - 1, &ask, &err), LT_OK);
	assert_string_equal(invoice.cost, "EffectiveCost");
	assert_true(invoice.sums[0].cost_pico == 65 * E12 / 2);
	lt_invoice_free(&invoice);

	ask.first_day++;
	read_bytes(&invoice, bytes, sizeof(bytes) - 1, &ask, &err);
	assert_non_null(strstr(err.text, "is not from 2026-10-08 to 2026-10-08, the days"));
	lt_invoice_free(&invoice);

	/* Another column for the type, even where the format's say one. */
	err = (struct lt_error){0};
	ask.first_day--;
	ask.type = "BillingCurrency";
	assert_int_equal(read_bytes(&invoice, bytes, sizeof(bytes) - 1, &ask, &err), LT_OK);
	assert_string_equal(invoice.unknown[0].type, "USD");
	lt_invoice_free(&invoice);

	ask.type = NULL;
	ask.cost = "NoSuchCost";
	read_bytes(&invoice, bytes, sizeof(bytes) - 1, &ask, &err);
	assert_non_null(strstr(err.text, "no column \"NoSuchCost\""));
	lt_invoice_free(&invoice);
}

/* Rows of all lengths, so that they lie anywhere over the buffer's ends; what they add up to is an
 * arithmetic series. */
static void
test_large(void **state)
{
	enum { ROWS = 100000 };
	char *bytes = NULL;
	size_t byte_count = 0;
	FILE *const out = open_memstream(&bytes, &byte_count);
	struct lt_invoice invoice;
	struct lt_error err = {0};

	(void)state;
	fputs(FOCUS, out);
	for (int i = 0; i < ROWS; i++) {
		fprintf(out,
		    DAY_7 "Usage,Compute,SpotUsage:p4d.24xlarge,"
			  "\"{\"\"InstanceType\"\": "
			  "\"\"p4d.24xlarge\"\", \"\"n\"\": %d",
		    i % 10);
		for (int k = 0; k < i % 1000; k++) /* a line end among them */
			fputc(k == 500 ? '\n' : ' ', out);
		fprintf(out, "}\",0.25,Hours,0.%010d,0,USD\n", i);
	}
	fclose(out);
	const clock_t start = clock();

	if (read_bytes(&invoice, bytes, byte_count, &plain, &err))
		fail_msg("%s", err.text);
	const double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;

	print_message("# %zu bytes in %.2f s\n", byte_count, seconds);
	assert_true(seconds < 20);
	assert_int_equal(invoice.rows, ROWS);
	/* 0 + 1 + ... + 99999 = 4999950000, of 10^-10 each. */
	assert_true(invoice.sums[6 * 3].cost_pico == (lt_wide)499995000000);
	assert_true(invoice.sums[6 * 3].node_pico_s == 25000 * 3600 * E12);
	lt_invoice_free(&invoice);
	free(bytes);
}

/* A row that the buffer can't hold is said to be one. */
static void
test_row_too_long(void **state)
{
	enum { LONG = 3 * 1024 * 1024 };
	char *const bytes = malloc(LONG);
	const size_t head = strlen(FOCUS);
	struct lt_invoice invoice;
	struct lt_error err = {0};

	(void)state;
	memset(bytes, 'x', LONG);
	memcpy(bytes, FOCUS, head);
	read_bytes(&invoice, bytes, LONG, &plain, &err);
	assert_int_equal(err.code, LT_ELIMIT);
	assert_non_null(strstr(err.text, "i.csv:2: a row of more than 262144"));
	free(bytes);
}

/* More blank lines than the buffer holds are no end of the file. */
static void
test_blank_lines(void **state)
{
	enum { BLANK = 3 * 1024 * 1024 };
	static const char last[] = DAY_7 "Tax,,,,,,5,5,USD\n";
	const size_t head = strlen(FOCUS);
	char *const bytes = malloc(BLANK);
	struct lt_invoice invoice;
	struct lt_error err = {0};

	(void)state;
	memset(bytes, '\n', BLANK);
	memcpy(bytes, FOCUS, head);
	memcpy(bytes + BLANK - sizeof(last) + 1, last, sizeof(last) - 1);
	if (read_bytes(&invoice, bytes, BLANK, &plain, &err))
		fail_msg("%s", err.text);
	assert_int_equal(invoice.rows, 1);
	lt_invoice_free(&invoice);
	free(bytes);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_numbers),
	    cmocka_unit_test(test_units),
	    cmocka_unit_test(test_map),
	    cmocka_unit_test(test_map_signals),
	    cmocka_unit_test(test_one_row),
	    cmocka_unit_test(test_refused),

	    cmocka_unit_test(test_other_column_and_days),
	    cmocka_unit_test(test_large),
	    cmocka_unit_test(test_row_too_long),
	    cmocka_unit_test(test_blank_lines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
