/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Figures of groups: written whole, found by key wherever it lies, also where keys are no even
 * hashes, and refused where damaged.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "history_file.h"
#include "limits.h"

static char directory[64], path[96];

static int
setup(void **state)
{
	(void)state;
	snprintf(directory, sizeof(directory), "/tmp/lt-history-XXXXXX");
	assert_non_null(mkdtemp(directory));
	snprintf(path, sizeof(path), "%s/history", directory);
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	unlink(path);
	return rmdir(directory);
}

/* A spread of 64 bits (the finaliser of splitmix64). */
static uint64_t
spread(uint64_t i)
{
	i = (i ^ i >> 30) * 0xbf58476d1ce4e5b9;
	i = (i ^ i >> 27) * 0x94d049bb133111eb;
	return i ^ i >> 31;
}

static uint64_t
dense(uint64_t i)
{
	return i;
}

static uint64_t
clustered(uint64_t i)
{
	return i % 2 ? UINT64_MAX - i : i * 3;
}

static struct lt_history_record
record_of(uint64_t hash, uint32_t i)
{
	return (struct lt_history_record){.key = {hash, 500 + i % 3},
	    .figures = {.runs = i + 1,
		.median = 2 * i,
		.upper = LT_HISTORY_NEVER - i,
		.upper_is_longest = i % 2 == 1}};
}

static void
write_some(uint32_t count, uint64_t (*key)(uint64_t))
{
	struct lt_history_record *const records = calloc((size_t)count + 1, sizeof(*records));
	struct lt_error err = {0};

	for (uint32_t i = 0; i < count; i++)
		records[i] = record_of(key(i + 1), i);
	assert_int_equal(lt_history_write(path, records, count, 1764000000, &err), LT_OK);
	free(records);
}

static int
find(struct lt_history_figures got[3], const struct lt_history_key asked[3], struct lt_error *err)
{
	struct lt_history_file *file = NULL;
	int code = lt_history_open(&file, path, err);

	memset(got, 0, 3 * sizeof(*got));
	if (code == LT_OK)
		code = lt_history_find(got, asked, file, err);
	lt_history_close(file);
	return code;
}

static void
expect_record(const struct lt_history_figures *got, uint32_t i)
{
	const struct lt_history_record want = record_of(0, i);

	assert_int_equal(got->runs, want.figures.runs);
	assert_int_equal(got->median, want.figures.median);
	assert_int_equal(got->upper, want.figures.upper);
	assert_int_equal(got->upper_is_longest, want.figures.upper_is_longest);
}

static void
found_by_key(void **state)
{
	static uint64_t (*const keys[])(uint64_t) = {spread, dense, clustered};
	static const uint32_t counts[] = {0, 1, 62, 63, 64, 126, 5000};

	(void)state;
	for (size_t k = 0; k < 3; k++)
		for (size_t c = 0; c < sizeof(counts) / sizeof(counts[0]); c++) {
			const uint32_t count = counts[c];

			write_some(count, keys[k]);
			for (uint32_t i = 0; i < count; i++) {
				const uint64_t hash = keys[k](i + 1);
				const struct lt_history_key asked[] = {
				    {hash, 500 + (i + 1) % 3}, {0, 500}, {hash, 500 + i % 3}};
				struct lt_history_figures got[3];

				assert_int_equal(find(got, asked, NULL), LT_OK);
				expect_record(&got[2], i);
				/* Another user's, by a hash that meets his. */
				assert_int_equal(got[0].runs, 0);
				assert_int_equal(got[1].runs, 0);
			}
		}
}

static void
all_three_at_once(void **state)
{
	struct lt_history_figures got[3];
	const struct lt_history_key asked[] = {
	    {spread(1), 500}, {spread(64), 500}, {spread(100), 500}};

	(void)state;
	write_some(100, spread);
	assert_int_equal(find(got, asked, NULL), LT_OK);
	expect_record(&got[0], 0);
	expect_record(&got[1], 63);
	expect_record(&got[2], 99);
}

/* The first two runs are too few, the fourth's upper is but its longest. */
static void
no_wider_than_needed(void **state)
{
	static const struct {
		const char *why;
		uint32_t narrow;
		bool asks_wider;
	} cases[] = {
	    {"two runs", 1, true},
	    {"three, and a quantile", 2, false},
	    {"four, no quantile", 3, true},
	};

	(void)state;
	write_some(100, spread);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct lt_history_key asked[] = {
		    {spread(cases[i].narrow + 1), 500 + cases[i].narrow % 3}, {spread(64), 500},
		    {spread(100), 500}};
		struct lt_history_figures got[3];

		print_message("# %s\n", cases[i].why);
		assert_int_equal(find(got, asked, NULL), LT_OK);
		expect_record(&got[0], cases[i].narrow);
		assert_int_equal(got[1].runs != 0, cases[i].asks_wider);
	}
}

/* What is open stays as it was. */
static void
replaced_while_open(void **state)
{
	const struct lt_history_key asked[3] = {{spread(2), 501}};
	struct lt_history_figures got[3];
	struct lt_history_file *file = NULL;

	(void)state;
	write_some(200, spread);
	assert_int_equal(lt_history_open(&file, path, NULL), LT_OK);
	write_some(1, spread);
	assert_int_equal(lt_history_find(got, asked, file, NULL), LT_OK);
	expect_record(&got[0], 1);
	lt_history_close(file);
	assert_int_equal(find(got, asked, NULL), LT_OK);
	assert_int_equal(got[0].runs, 0);
}

static void
bounds_and_twins_are_refused(void **state)
{
	struct lt_history_record *const records = calloc(LT_HISTORY_MAX + 1, sizeof(*records));
	struct lt_error err = {0};

	(void)state;
	for (uint32_t i = 0; i <= LT_HISTORY_MAX; i++)
		records[i] = record_of(spread(i + 1), i);
	assert_int_equal(
	    lt_history_write(path, records, LT_HISTORY_MAX + 1, 1764000000, &err), LT_ELIMIT);
	assert_string_equal(err.text, "history: 262145 groups, limit 262144");
	memset(&err, 0, sizeof(err));
	records[1] = records[0];
	assert_int_equal(lt_history_write(path, records, 2, 1764000000, &err), LT_EINPUT);
	assert_string_equal(err.text, "history: a group is there twice");
	assert_int_equal(access(path, F_OK), -1);
	free(records);
}

static void
private_or_refused(void **state)
{
	struct lt_history_figures got[3];
	const struct lt_history_key asked[3] = {{spread(1), 500}};
	struct stat status;

	(void)state;
	assert_int_equal(find(got, asked, NULL), LT_ENOENT);
	write_some(10, spread);
	assert_int_equal(stat(path, &status), 0);
	assert_int_equal(status.st_mode & 07777, 0600);
	assert_int_equal(chmod(path, 0640), 0);
	got[0].runs = 7;
	assert_int_equal(find(got, asked, NULL), LT_EDENIED);
	assert_int_equal(got[0].runs, 0);
}

/* Each byte of the header, the index, of a block that is read and its tail. */
static void
damage_is_refused(void **state)
{
	struct lt_history_figures got[3];
	const struct lt_history_key asked[3] = {
	    {spread(1), 500}, {spread(1), 500}, {spread(1), 500}};

	(void)state;
	write_some(63, spread);
	const int fd = open(path, O_RDWR | O_CLOEXEC);
	assert_true(fd >= 0);
	for (off_t at = 0; at < 128 + 12 + 64 * 32; at++) {
		unsigned char byte, wrong;

		assert_int_equal(pread(fd, &byte, 1, at), 1);
		wrong = byte ^ 0x10;
		assert_int_equal(pwrite(fd, &wrong, 1, at), 1);
		struct lt_error err = {0};
		assert_true(find(got, asked, &err) < 0);
		assert_true(err.text[0] != '\0');
		assert_int_equal(pwrite(fd, &byte, 1, at), 1);
	}
	assert_int_equal(find(got, asked, NULL), LT_OK);
	assert_int_equal(ftruncate(fd, 128 + 12 + 64 * 32 - 1), 0);
	assert_true(find(got, asked, NULL) < 0);
	close(fd);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(found_by_key, setup, teardown),
	    cmocka_unit_test_setup_teardown(all_three_at_once, setup, teardown),
	    cmocka_unit_test_setup_teardown(no_wider_than_needed, setup, teardown),
	    cmocka_unit_test_setup_teardown(replaced_while_open, setup, teardown),
	    cmocka_unit_test_setup_teardown(bounds_and_twins_are_refused, setup, teardown),
	    cmocka_unit_test_setup_teardown(private_or_refused, setup, teardown),
	    cmocka_unit_test_setup_teardown(damage_is_refused, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
