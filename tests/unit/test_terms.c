/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Terms: written whole, found by job id across block borders, and refused where damaged.
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

#include "terms.h"

static char directory[64], path[96];

static int
setup(void **state)
{
	(void)state;
	snprintf(directory, sizeof(directory), "/tmp/lt-terms-XXXXXX");
	assert_non_null(mkdtemp(directory));
	snprintf(path, sizeof(path), "%s/terms", directory);
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	unlink(path);
	return rmdir(directory);
}

static struct lt_terms
terms_of(uint32_t job_id)
{
	return (struct lt_terms){.job_id = job_id,
	    .uid = 501,
	    .quote_id = UINT64_C(0x123456789abcdef0) + job_id,
	    .hold_money_micros = -1,
	    .hold_carbon_mg = INT64_MAX,
	    .account_hash = 1,
	    .limit_s = 3,
	    .tasks = 6,
	    .flags = LT_TERMS_PENDING,
	    .start_utc_s = 11,
	    .end_utc_s = 12,
	    .seen_utc_s = 13,
	    .partition_count = LT_TERMS_PARTITIONS,
	    .partition_hash = {21, 22, 23, 24},
	    .asked = {.min_nodes = 31,
		.tasks = 32,
		.spec_cores = 33,
		.memory_mib_per_node = UINT64_C(1) << 40,
		.memory_mib_per_gpu = 34}};
}

/* Every third job id, highest first: the writer sorts. */
static void
write_jobs(uint32_t count)
{
	struct lt_terms *const records = calloc(count + 1, sizeof(*records));

	for (uint32_t i = 0; i < count; i++)
		records[i] = terms_of(3 * (count - i));
	assert_int_equal(lt_terms_write(path, records, count, 42, NULL), LT_OK);
	free(records);
}

static void
test_find_all(void **state)
{
	(void)state;
	const uint32_t counts[] = {
	    0, 1, LT_TERMS_BLOCK - 1, LT_TERMS_BLOCK, LT_TERMS_BLOCK + 1, 1000};
	for (size_t c = 0; c < sizeof(counts) / sizeof(counts[0]); c++) {
		write_jobs(counts[c]);
		for (uint32_t id = 0; id <= 3 * counts[c] + 3; id++) {
			struct lt_terms found;
			const bool there = id > 0 && id % 3 == 0 && id <= 3 * counts[c];
			const struct lt_terms wanted = there ? terms_of(id) : (struct lt_terms){0};

			assert_int_equal(
			    lt_terms_find(path, id, &found, NULL), there ? LT_OK : LT_ENOENT);
			assert_memory_equal(&found, &wanted, sizeof(found));
		}
	}
}

static void
test_damage(void **state)
{
	(void)state;
	write_jobs(200);
	const int fd = open(path, O_RDWR);
	struct stat status;
	assert_int_equal(fstat(fd, &status), 0);
	/* Wherever one bit turns, no job is ever told wrong. */
	for (off_t at = 0; at < status.st_size; at += 7) {
		unsigned char byte;

		assert_int_equal(pread(fd, &byte, 1, at), 1);
		byte ^= 1;
		assert_int_equal(pwrite(fd, &byte, 1, at), 1);
		for (uint32_t id = 3; id <= 600; id += 3 * 33) {
			struct lt_terms found;
			struct lt_error err = {0};
			const struct lt_terms wanted = terms_of(id);

			if (lt_terms_find(path, id, &found, &err) == LT_OK)
				assert_memory_equal(&found, &wanted, sizeof(found));
			else
				assert_true(err.code == LT_ECHECKSUM || err.code == LT_EVERSION ||
					    err.code == LT_ELIMIT);
		}
		byte ^= 1;
		assert_int_equal(pwrite(fd, &byte, 1, at), 1);
	}
	assert_int_equal(ftruncate(fd, status.st_size - 1), 0);
	struct lt_terms found;
	assert_int_equal(lt_terms_find(path, 3, &found, NULL), LT_ECHECKSUM);
	close(fd);
}

/* A block of an older file under a newer one's header is no answer. */
static void
test_mixed_generations(void **state)
{
	unsigned char head[1024];
	struct lt_terms one = terms_of(3), found;
	ssize_t size;

	(void)state;
	write_jobs(0); /* the head alone */
	int fd = open(path, O_RDONLY);
	size = read(fd, head, sizeof(head));
	close(fd);
	assert_in_range(size, 1, sizeof(head) - 1);
	write_jobs(1);
	fd = open(path, O_RDONLY);
	assert_int_equal(read(fd, head, (size_t)size), size);
	close(fd);
	assert_int_equal(lt_terms_write(path, &one, 1, 43, NULL), LT_OK);
	assert_int_equal(lt_terms_find(path, 3, &found, NULL), LT_OK);
	fd = open(path, O_WRONLY);
	assert_int_equal(write(fd, head, (size_t)size), size);
	close(fd);
	assert_int_equal(lt_terms_find(path, 3, &found, NULL), LT_ECHECKSUM);
}

static void
test_refusals(void **state)
{
	(void)state;
	struct lt_terms found, twice[] = {terms_of(5), terms_of(5)};
	struct lt_error err = {0};
	assert_int_equal(lt_terms_find(path, 1, &found, NULL), LT_ENOENT);
	assert_int_equal(lt_terms_write(path, twice, 2, 1, &err), LT_EINPUT);
	assert_string_equal(err.text, "terms: job 5 is there twice");
	assert_int_equal(lt_terms_write(path, twice, LT_TERMS_MAX + 1, 1, NULL), LT_ELIMIT);
	write_jobs(1);
	assert_int_equal(chmod(path, 0644), 0);
	assert_int_equal(lt_terms_find(path, 3, &found, NULL), LT_EDENIED);
	assert_int_equal(lt_terms_write("/nowhere/terms", twice, 1, 1, NULL), LT_EIO);
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
	    TEST(test_find_all),
	    TEST(test_damage),
	    TEST(test_mixed_generations),
	    TEST(test_refusals),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
