/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The holds ring on a real file: making, writing, reading, and what damage, gaps, wrap-around and
 * wrong owners do.
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

#include "ring.h"

static char directory[64], path[96];
static struct lt_ring_record *records;
static uint32_t count, bad;
static uint64_t highest, contiguous, generation;
static int fd;

static int
setup(void **state)
{
	(void)state;
	snprintf(directory, sizeof(directory), "/tmp/lt-ring-XXXXXX");
	assert_non_null(mkdtemp(directory));
	snprintf(path, sizeof(path), "%s/holds", directory);
	records = calloc(LT_RING_SLOTS, sizeof(*records));
	fd = lt_ring_open(path, true, &generation, NULL);
	assert_true(fd >= 0);
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	close(fd);
	free(records);
	unlink(path);
	/* Fails when a temporary file was left. */
	return rmdir(directory);
}

static struct lt_ring_record
record_of(uint64_t sequence)
{
	return (struct lt_ring_record){.sequence = sequence,
	    .quote_id = sequence * 7919,
	    .uid = 501,
	    .job_id = 12,
	    .tasks = 3,
	    .flags = LT_QUOTE_CHECKPOINT,
	    .account = "vision",
	    .per_task = {true, false, -5, 0},
	    .start_utc_s = 1763690000,
	    .end_utc_s = INT64_MAX};
}

/* By packed form: structs have holes. */
static void
assert_same(const struct lt_ring_record *a, const struct lt_ring_record *b)
{
	unsigned char x[LT_RING_SLOT_BYTES], y[LT_RING_SLOT_BYTES];

	lt_ring_pack(x, a, 1);
	lt_ring_pack(y, b, 1);
	assert_memory_equal(x, y, sizeof(x));
}

static void
write_one(uint64_t sequence)
{
	const struct lt_ring_record record = record_of(sequence);

	assert_int_equal(lt_ring_write(fd, generation, &record, NULL), LT_OK);
}

static void
read_all(uint64_t ingested)
{
	assert_int_equal(lt_ring_read(fd, generation, ingested, records, &count, &highest,
			     &contiguous, &bad, NULL),
	    LT_OK);
}

static void
damage(uint64_t sequence)
{
	const off_t at =
	    LT_RING_HEADER_BYTES + (off_t)(sequence % LT_RING_SLOTS) * LT_RING_SLOT_BYTES + 40;

	assert_int_equal(pwrite(fd, "\xff", 1, at), 1);
}

static void
test_slot(void **state)
{
	(void)state;
	unsigned char slot[LT_RING_SLOT_BYTES] = {0};
	struct lt_ring_record back;
	struct lt_error err = {0};
	assert_int_equal(lt_ring_unpack(&back, slot, 9, &err), LT_ENOENT);
	const struct lt_ring_record record = record_of(70000);
	lt_ring_pack(slot, &record, 9);
	assert_int_equal(lt_ring_unpack(&back, slot, 9, NULL), LT_OK);
	assert_same(&back, &record);
	assert_int_equal(back.per_task.money_micros, -5);
	assert_false(back.per_task.has_carbon);
	assert_string_equal(back.account, "vision");
	assert_true(back.end_utc_s == INT64_MAX);
	assert_int_equal(lt_ring_unpack(&back, slot, 8, NULL), LT_ECHECKSUM);
	for (size_t i = 0; i < sizeof(slot); i++) {
		slot[i] ^= 0x10;
		assert_int_equal(lt_ring_unpack(&back, slot, 9, NULL), LT_ECHECKSUM);
		slot[i] ^= 0x10;
	}
}

static void
test_open_again(void **state)
{
	(void)state;
	uint64_t again = 0;
	struct stat status;
	write_one(1);
	const int second = lt_ring_open(path, true, &again, NULL);
	assert_true(second >= 0);
	assert_true(again == generation);
	assert_int_equal(fstat(second, &status), 0);
	assert_int_equal(status.st_mode & 07777, 0600);
	assert_int_equal(fcntl(second, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
	close(second);
	read_all(0);
	assert_int_equal(count, 1);
}

static void
test_refusals(void **state)
{
	(void)state;
	uint64_t same;
	struct lt_error err = {0};
	assert_int_equal(chmod(path, 0640), 0);
	assert_int_equal(lt_ring_open(path, true, &same, &err), LT_EDENIED);
	assert_non_null(strstr(err.text, "mode is 0640, want 0600"));
	assert_int_equal(chmod(path, 0600), 0);

	char other[128];
	snprintf(other, sizeof(other), "%s.link", path);
	assert_int_equal(symlink(path, other), 0);
	assert_true(lt_ring_open(other, true, &same, NULL) < 0);
	unlink(other);
	assert_int_equal(mkfifo(other, 0600), 0);
	assert_int_equal(lt_ring_open(other, false, &same, NULL), LT_EDENIED);
	unlink(other);
	assert_int_equal(lt_ring_open(other, false, &same, NULL), LT_ENOENT);

	assert_int_equal(pwrite(fd, "?", 1, 3), 1);
	assert_int_equal(lt_ring_open(path, true, &same, NULL), LT_EVERSION);
	assert_int_equal(pwrite(fd, "N", 1, 3), 1);
	assert_int_equal(pwrite(fd, "?", 1, 50), 1);
	assert_int_equal(lt_ring_open(path, true, &same, NULL), LT_ECHECKSUM);
	assert_int_equal(ftruncate(fd, 4096), 0);
	assert_int_equal(lt_ring_open(path, true, &same, NULL), LT_ECHECKSUM);
}

static const struct {
	const char *why;
	uint64_t ingested;
	uint64_t written[6]; /* 0 ends */
	uint64_t damaged;    /* 0 = none */
	uint32_t count, bad;
	uint64_t highest, contiguous;
} cases[] = {
    {"an empty ring", 0, {0}, 0, 0, 0, 0, 0},
    {"all in order", 0, {1, 2, 3}, 0, 3, 0, 3, 3},
    {"written out of order", 0, {3, 1, 2}, 0, 3, 0, 3, 3},
    {"absorbed ones are left out", 2, {1, 2, 3}, 0, 1, 0, 3, 3},
    {"all absorbed", 3, {1, 2, 3}, 0, 0, 0, 3, 3},
    {"a gap stops the contiguous ones", 0, {1, 2, 4, 5}, 0, 4, 0, 5, 2},
    {"damage is a gap and counted", 0, {1, 2, 3, 4}, 2, 3, 1, 4, 1},
    {"the last one torn", 0, {1, 2, 3}, 3, 2, 1, 2, 2},
    {"around the end", LT_RING_SLOTS - 2, {LT_RING_SLOTS - 1, LT_RING_SLOTS, LT_RING_SLOTS + 1}, 0,
	3, 0, LT_RING_SLOTS + 1, LT_RING_SLOTS + 1},
    {"went round, and what is absorbed is not known", 0, {LT_RING_SLOTS + 1, LT_RING_SLOTS + 2}, 0,
	2, 0, LT_RING_SLOTS + 2, 2},
    {"a slot reused holds the later one", LT_RING_SLOTS + 1, {2, LT_RING_SLOTS + 2}, 0, 1, 0,
	LT_RING_SLOTS + 2, LT_RING_SLOTS + 2},
};

static void
test_read(void **state)
{
	(void)state;
	const unsigned char zero[LT_RING_SLOT_BYTES] = {0};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		print_message("%s\n", cases[i].why);
		for (int k = 0; k < 6 && cases[i].written[k]; k++)
			write_one(cases[i].written[k]);
		if (cases[i].damaged != 0)
			damage(cases[i].damaged);
		read_all(cases[i].ingested);
		assert_int_equal(count, cases[i].count);
		assert_int_equal(bad, cases[i].bad);
		assert_int_equal(highest, cases[i].highest);
		assert_int_equal(contiguous, cases[i].contiguous);
		for (uint32_t k = 0; k < count; k++) {
			const struct lt_ring_record wanted = record_of(records[k].sequence);

			assert_same(&records[k], &wanted);
			assert_true(k == 0 || records[k - 1].sequence < records[k].sequence);
		}
		for (int k = 0; k < 6 && cases[i].written[k]; k++)
			assert_int_equal(pwrite(fd, zero, LT_RING_SLOT_BYTES,
					     LT_RING_HEADER_BYTES +
						 (off_t)(cases[i].written[k] % LT_RING_SLOTS) *
						     LT_RING_SLOT_BYTES),
			    LT_RING_SLOT_BYTES);
	}
}

static void
test_old_damage_far_ahead(void **state)
{
	(void)state;
	write_one(1);
	write_one(1 + LT_RING_AHEAD + 1);
	damage(1 + LT_RING_AHEAD + 1);
	read_all(0);
	assert_int_equal(bad, 0);
	write_one(2);
	read_all(0);
	assert_int_equal(bad, 1);
}

static void
test_another_slot(void **state)
{
	(void)state;
	unsigned char slot[LT_RING_SLOT_BYTES];
	write_one(1);
	assert_int_equal(
	    pread(fd, slot, sizeof(slot), LT_RING_HEADER_BYTES + LT_RING_SLOT_BYTES), sizeof(slot));
	assert_int_equal(
	    pwrite(fd, slot, sizeof(slot), LT_RING_HEADER_BYTES + 2 * LT_RING_SLOT_BYTES),
	    sizeof(slot));
	read_all(0);
	assert_int_equal(count, 1);
	assert_int_equal(bad, 1);
}

static void
test_write_failure(void **state)
{
	(void)state;
	struct lt_error err = {0};
	const struct lt_ring_record record = record_of(1);
	const int read_only = open(path, O_RDONLY);
	assert_int_equal(lt_ring_write(read_only, generation, &record, &err), LT_EIO);
	assert_true(err.text[0] != '\0');
	close(read_only);
	struct lt_ring_record none = record;
	none.sequence = 0;
	assert_int_equal(lt_ring_write(fd, generation, &none, NULL), LT_EBUG);
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
	    TEST(test_slot),
	    TEST(test_open_again),
	    TEST(test_refusals),
	    TEST(test_read),
	    TEST(test_old_damage_far_ahead),
	    TEST(test_another_slot),
	    TEST(test_write_failure),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
