/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The market of version 0.2: a file that 0.2 wrote is read, what is written for it has its shape,
 * and nothing in it opens what is closed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "container.h"
#include "files_fixture.h"

static const char file[] = "tests/fixtures/market_0_2/two-partitions";

static unsigned char *
read_file(size_t *size)
{
	enum { SIZE_MAX_HERE = 64 * 1024 };
	unsigned char *const bytes = malloc(SIZE_MAX_HERE);
	FILE *const in = fopen(file, "rb");

	assert_non_null(bytes);
	assert_non_null(in);
	*size = fread(bytes, 1, SIZE_MAX_HERE, in);
	fclose(in);
	return bytes;
}

static void
test_read(void **state)
{
	struct lt_market got;
	struct lt_error err = {0};
	size_t size;
	unsigned char *const bytes = read_file(&size);

	(void)state;
	assert_memory_equal(bytes, "LTMKT09\n", LT_MAGIC_BYTES);
	if (lt_market_unpack(&got, bytes, size, &err) != LT_OK)
		fail_msg("%s", err.text);
	assert_int_equal(got.partition_count, 2);
	assert_string_equal(got.partitions[0].name, "ondemand");
	assert_string_equal(got.partitions[1].name, "spot");
	assert_int_equal(got.partitions[0].flags, LT_PARTITION_UP);
	assert_string_equal(got.partitions[1].allow_accounts, "a,b");
	assert_string_equal(got.partitions[1].allow_qos, "normal");
	assert_true(got.partitions[1].pue == 1.15);
	assert_int_equal(got.mode, LT_MODE_ENFORCE);
	assert_int_equal(got.max_delay_s, 86400);
	assert_int_equal(got.min_saving_ppm, 60000);
	assert_int_equal(got.bar_count, 0);
	assert_int_equal(got.class_count, 1);
	assert_string_equal(got.classes[0].account, "vision");
	assert_int_equal(got.classes[0].max_delay_s, 7200);
	assert_int_equal(got.series_count, SERIES);
	assert_true(got.series[1].value[1] == 100.0 + 1 - 2.5);
	assert_string_equal(got.shapes[1].features, "ib,fast");
	lt_market_free(&got);
	free(bytes);
}

/* The sections of a file, by number. */
static void
open_file(struct lt_container *reader, const unsigned char *bytes, size_t size)
{
	const struct lt_container_kind kind = {
	    "market", "LTMKT09\n", LT_FILE_SECTIONS_MAX, LT_FILE_BYTES_MAX};
	const struct lt_input input = {.fd = -1, .bytes = bytes, .size = size};

	assert_int_equal(lt_container_open(reader, &kind, &input, NULL), LT_OK);
}

/* Written again it is byte for byte what 0.2 wrote, but for the text that says which partitions are
 * alike. */
static void
test_written_again(void **state)
{
	enum { PARTITIONS = 1 };
	struct lt_market got;
	struct lt_container was, is;
	size_t size, again_size;
	unsigned char *const bytes = read_file(&size), *again = NULL;

	(void)state;
	assert_int_equal(lt_market_unpack(&got, bytes, size, NULL), LT_OK);
	assert_int_equal(lt_market_pack_before(&got, &again, &again_size, NULL), LT_OK);
	assert_int_equal(again_size, size);
	open_file(&was, bytes, size);
	open_file(&is, again, again_size);
	assert_int_equal(was.header.section_count, is.header.section_count);
	for (uint32_t i = 0; i < was.header.section_count; i++) {
		const struct lt_section *const a = &was.sections[i];
		const struct lt_section *const b = &is.sections[i];

		assert_int_equal(a->id, b->id);
		assert_int_equal(a->count, b->count);
		assert_int_equal(a->offset, b->offset);
		assert_int_equal(a->length, b->length);
		if (i != PARTITIONS)
			assert_memory_equal(bytes + a->offset, again + b->offset, a->length);
	}
	lt_container_close(&was);
	lt_container_close(&is);
	lt_market_free(&got);
	free(again);
	free(bytes);
}

/* What 0.2 does not know keeps jobs out for it, too. */
static void
test_nothing_opens(void **state)
{
	static const uint32_t closed[] = {
	    LT_PARTITION_NO_TARGET, LT_PARTITION_NO_NODES, LT_PARTITION_CLOSED};
	enum { COUNT = sizeof(closed) / sizeof(closed[0]) };
	struct lt_market got;
	size_t size;

	(void)state;
	for (size_t i = 0; i <= COUNT; i++) {
		unsigned char *bytes = NULL;

		make_market();
		(void)make_sheet; /* the fixture's other half */
		if (i < COUNT)
			partitions[1].flags |= closed[i];
		partitions[0].flags |= LT_PARTITION_NO_CPU_JOBS | LT_PARTITION_NO_ROOT;
		partitions[1].limits.most[LT_LIMITED_CPU] = i == COUNT ? 8 : 0;
		strcpy(classes[0].patterns, "jupyter*\n");
		memset(gpus[0].name, 'g', 40);
		assert_int_equal(lt_market_pack_before(&market, &bytes, &size, NULL), LT_OK);
		assert_int_equal(lt_market_unpack(&got, bytes, size, NULL), LT_OK);
		assert_int_equal(got.partitions[0].flags, LT_PARTITION_UP);
		assert_int_equal(got.partitions[1].flags, i < COUNT ? 0 : LT_PARTITION_UP);
		assert_int_equal(
		    got.partitions[0].unlike_hash == got.partitions[1].unlike_hash, i < COUNT);
		assert_string_equal(got.classes[0].account, "-");
		assert_int_equal(strlen(got.gpus[0].name), 31);
		assert_string_equal(got.shapes[1].kinds[0].type, "h100");
		assert_int_equal(got.shapes[1].kinds[0].count, 6);
		assert_int_equal(got.bar_count, 0);
		lt_market_free(&got);
		free(bytes);
	}
}

/* Damaged or cut, it is refused. */
static void
test_damaged(void **state)
{
	struct lt_market got;
	size_t size;
	unsigned char *const bytes = read_file(&size);

	(void)state;
	for (size_t at = 0; at < size; at++) {
		bytes[at] ^= 4;
		assert_true(lt_market_unpack(&got, bytes, size, NULL) < 0);
		bytes[at] ^= 4;
		assert_true(lt_market_unpack(&got, bytes, at, NULL) < 0);
	}
	free(bytes);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_read),
	    cmocka_unit_test(test_written_again),
	    cmocka_unit_test(test_nothing_opens),
	    cmocka_unit_test(test_damaged),
	};

	return cmocka_run_group_tests_name("market_before", tests, NULL, NULL);
}
