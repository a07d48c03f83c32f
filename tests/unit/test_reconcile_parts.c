/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An invoice in several parts, and packed: the sums of the whole, or an error that names the part.
 */
#include <zlib.h>

#include "invoice_fixture.h"
#include "units.h"

enum { ROWS = 6000, BYTES_MAX = 2 * 1024 * 1024 };

/* Rows of p4d.24xlarge, the first of them at that number of micros. */
static char *
rows_new(const char *header, int from_micros, int count)
{
	char *const bytes = malloc(BYTES_MAX);
	int used = snprintf(bytes, BYTES_MAX, "%s", header);

	for (int i = 0; i < count; i++)
		used += snprintf(bytes + used, (size_t)(BYTES_MAX - used),
		    DAY_7 "Usage,Compute,BoxUsage:p4d.24xlarge,,1,Hours,%d.%06d,"
			  "1,USD\n",
		    (from_micros + i) / 1000000, (from_micros + i) % 1000000);
	assert_true(used < BYTES_MAX);
	return bytes;
}

/* As gzip writes it, at that place; returns the size. */
static size_t
pack(unsigned char *out, const char *bytes, size_t byte_count)
{
	z_stream stream = {.next_in = (unsigned char *)(uintptr_t)bytes,
	    .avail_in = (unsigned)byte_count,
	    .next_out = out,
	    .avail_out = BYTES_MAX};

	assert_int_equal(
	    deflateInit2(&stream, 6, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY), Z_OK);
	assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
	deflateEnd(&stream);
	return stream.total_out;
}

static void
add_part(struct lt_invoice *invoice, const char *path, const void *bytes, size_t byte_count,
    struct lt_error *err)
{
	struct lt_invoice_ask ask = plain;
	struct lt_tie_map map;
	FILE *const in = fmemopen((void *)(uintptr_t)bytes, byte_count, "r");

	map_init(&map);
	ask.path = path;
	lt_invoice_read(invoice, in, &ask, &map, err);
	fclose(in);
}

/* Three parts, plain, packed, and packed in two members of which the second begins within a row: 1
 * + 2 + ... + 3 * ROWS micros. */
static void
test_parts(void **state)
{
	unsigned char *const packed = malloc(2 * BYTES_MAX);
	struct lt_invoice invoice = {0};
	struct lt_error err = {0};
	const lt_wide count = 3 * ROWS;

	(void)state;
	char *bytes = rows_new(FOCUS, 1, ROWS);
	add_part(&invoice, "1", bytes, strlen(bytes), &err);
	free(bytes);
	bytes = rows_new(FOCUS, 1 + ROWS, ROWS);
	add_part(&invoice, "2", packed, pack(packed, bytes, strlen(bytes)), &err);
	free(bytes);
	bytes = rows_new(FOCUS, 1 + 2 * ROWS, ROWS);
	size_t size = pack(packed, bytes, 300007);
	size += pack(packed + size, bytes + 300007, strlen(bytes) - 300007);
	add_part(&invoice, "3", packed, size, &err);
	free(bytes);
	assert_string_equal(err.text, "");
	/* A part of no rows, as the last ones of a month may be. */
	add_part(&invoice, "4", FOCUS, strlen(FOCUS), &err);
	assert_int_equal(lt_invoice_finish(&invoice, &plain, &err), LT_OK);
	assert_int_equal(invoice.rows, 3 * ROWS);
	assert_true(invoice.sums[6 * 3].cost_pico == count * (count + 1) / 2 * 1000000);
	assert_true(invoice.sums[6 * 3].node_pico_s == count * LT_HOUR_S * E12);
	lt_invoice_free(&invoice);
	free(packed);
}

static void
test_damaged(void **state)
{
	unsigned char *const packed = malloc(BYTES_MAX);
	char *const bytes = rows_new(FOCUS, 1, ROWS);
	const size_t size = pack(packed, bytes, strlen(bytes));
	const struct {
		const char *why;
		size_t size;
		int at; /* byte that is spoilt; -1: none */
		const char *text;
	} cases[] = {
	    {"one byte short", size - 1, -1, "i.csv: gzip: is cut off"},
	    {"half of it", size / 2, -1, "i.csv: gzip: is cut off"},
	    {"its header only", 10, -1, "i.csv: gzip: is cut off"},
	    {"two bytes", 2, -1, "i.csv: gzip: is cut off"},
	    {"a wrong checksum", size, (int)size - 8, "i.csv: gzip: incorrect data check"},
	    {"a wrong byte within", size, (int)size / 2, "i.csv: gzip: "},
	    {"something behind it", size + 3, -1, "i.csv: gzip: incorrect header check"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct lt_invoice invoice = {0};
		struct lt_error err = {0};

		memcpy(packed + size, "abc", 3);
		if (cases[i].at >= 0)
			packed[cases[i].at] ^= 0x55;
		add_part(&invoice, "i.csv", packed, cases[i].size, &err);
		if (cases[i].at >= 0)
			packed[cases[i].at] ^= 0x55;
		if (strstr(err.text, cases[i].text) == NULL)
			fail_msg("%s: \"%s\"", cases[i].why, err.text);
		lt_invoice_free(&invoice);
	}
	free(bytes);
	free(packed);
}

static void
test_refused(void **state)
{
	static const char cur[] = "lineItem/UsageStartDate,lineItem/UsageEndDate,"
				  "lineItem/UnblendedCost,lineItem/CurrencyCode,"
				  "lineItem/LineItemType,product/instanceType\n";
	static const char outside[] = FOCUS OCTOBER "2026-09-12,2026-09-13,Tax,,,,,,1,1,USD\n";
	static const struct {
		const char *first, *second, *text;
	} cases[] = {
	    {FOCUS, cur, "b.csv: is AWS CUR, and the parts before it are FOCUS"},
	    {FOCUS, FOCUS, "i.csv: no rows"},
	    {FOCUS DAY_7 "Tax,,,,,,1,1,USD\n", FOCUS DAY_7 "Tax,,,,,,x,1,USD\n",
		"b.csv:2: BilledCost: got \"x\""},
	    {outside, outside,
		"a.csv:2: ChargePeriodStart: 2026-09-12T00:00:00Z "
		"is not from 2026-10-01 to 2026-10-31"},
	    {FOCUS, "PK\003\004xxxxxxxxx",
		"b.csv: is a ZIP archive, want CSV, packed with gzip or not"},
	    {FOCUS, "PAR1xxxxxxx", "b.csv: is Parquet, want CSV"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct lt_invoice invoice = {0};
		struct lt_error err = {0};

		add_part(&invoice, "a.csv", cases[i].first, strlen(cases[i].first), &err);
		assert_string_equal(err.text, "");
		add_part(&invoice, "b.csv", cases[i].second, strlen(cases[i].second), &err);
		if (!err.code)
			lt_invoice_finish(&invoice, &plain, &err);
		if (strstr(err.text, cases[i].text) == NULL)
			fail_msg("%zu: \"%s\"", i, err.text);
		lt_invoice_free(&invoice);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_parts),
	    cmocka_unit_test(test_damaged),
	    cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
