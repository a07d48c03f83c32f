/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Market and budget snapshots: what is packed comes back, bad structs are not written, damaged
 * bytes and untrusted files not read.
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
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "container.h"
#include "files_fixture.h"
#include "units.h"

static char directory[64], path[96];

static int
setup(void **state)
{
	(void)state;
	make_market();
	make_sheet();
	snprintf(directory, sizeof(directory), "/tmp/lt-files-XXXXXX");
	assert_non_null(mkdtemp(directory));
	snprintf(path, sizeof(path), "%s/file", directory);
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	unlink(path);
	/* Fails when a ".new" was left. */
	return rmdir(directory);
}

/* Equal when they pack to the same bytes. */
static void
assert_same_market(const struct lt_market *a, const struct lt_market *b)
{
	unsigned char *x = NULL, *y = NULL;
	size_t x_count = 0, y_count = 0;

	assert_int_equal(lt_market_pack(a, &x, &x_count, NULL), LT_OK);
	assert_int_equal(lt_market_pack(b, &y, &y_count, NULL), LT_OK);
	assert_int_equal(x_count, y_count);
	assert_memory_equal(x, y, x_count);
	free(x);
	free(y);
}

static void
test_market_comes_back(void **state)
{
	(void)state;
	struct lt_market back;
	struct stat status;
	assert_int_equal(lt_market_save(&market, path, NULL), LT_OK);
	assert_int_equal(stat(path, &status), 0);
	assert_int_equal(status.st_mode & 07777, 0644);
	assert_int_equal(lt_market_load(&back, path, NULL, NULL), LT_OK);
	assert_same_market(&back, &market);
	assert_int_equal(back.generation, 7);
	assert_int_equal(back.compiled_utc_s, START);
	assert_string_equal(back.currency, "USD");
	assert_string_equal(back.partitions[1].name, "spot");
	assert_string_equal(back.partitions[1].allow_accounts, "a,b");
	assert_string_equal(back.partitions[1].allow_qos, "normal");
	assert_string_equal(back.partitions[0].allow_qos, "");
	assert_true(back.partitions[1].overrun_s == INT64_MAX);
	assert_true(back.zone.steps[0].start_utc_s == INT64_MIN);
	assert_int_equal(back.zone.steps[1].offset_s, -3600);
	assert_string_equal(back.gpus[0].name, "H100");
	for (int s = 0; s < SERIES; s++)
		assert_memory_equal(back.series[s].integral, integrals[s], sizeof(integrals[s]));
	lt_market_free(&back);
	assert_null(back.arena);
}

static void
test_empty_market(void **state)
{
	(void)state;
	const struct lt_market empty = {0};
	struct lt_market back;
	assert_int_equal(lt_market_save(&empty, path, NULL), LT_OK);
	assert_int_equal(lt_market_load(&back, path, NULL, NULL), LT_OK);
	assert_int_equal(back.partition_count, 0);
	lt_market_free(&back);
}

static void
test_unchanged_series_are_copied(void **state)
{
	(void)state;
	struct lt_market first, second;
	assert_int_equal(lt_market_save(&market, path, NULL), LT_OK);
	assert_int_equal(lt_market_load(&first, path, NULL, NULL), LT_OK);
	/* Seen in the copy: it came from memory, not from the file. */
	first.series[0].value[1] = 4711;
	series[1].value[5] = 12345;
	assert_int_equal(lt_series_prepare(&series[1], NULL), LT_OK);
	market.generation = 8;
	assert_int_equal(lt_market_save(&market, path, NULL), LT_OK);
	assert_int_equal(lt_market_load(&second, path, &first, NULL), LT_OK);
	lt_market_free(&first);
	assert_int_equal(second.generation, 8);
	assert_true(second.series[0].value[1] == 4711);
	assert_true(second.series[1].value[5] == 12345);
	second.series[0].value[1] = series[0].value[1];
	/* What is derived from the steps came with them. */
	const int64_t last = START + 300 * STEPS;
	assert_true(lt_series_max(&second.series[2], START, last) ==
		    lt_series_max(&series[2], START, last));
	assert_true(lt_series_integral(&second.series[2], START + 7, last) ==
		    lt_series_integral(&series[2], START + 7, last));
	assert_true(
	    lt_series_at(&second.series[2], START + 301) == lt_series_at(&series[2], START + 301));
	assert_same_market(&second, &market);
	lt_market_free(&second);
}

static void
test_changed_head_is_not_copied(void **state)
{
	(void)state;
	struct lt_market first, second;
	assert_int_equal(lt_market_save(&market, path, NULL), LT_OK);
	assert_int_equal(lt_market_load(&first, path, NULL, NULL), LT_OK);
	first.series[0].value[1] = 4711;
	series[0].issued_utc_s++;
	assert_int_equal(lt_market_save(&market, path, NULL), LT_OK);
	assert_int_equal(lt_market_load(&second, path, &first, NULL), LT_OK);
	assert_same_market(&second, &market);
	lt_market_free(&first);
	lt_market_free(&second);
}

/* Any bit turned, any length: refused with a reason, nothing left behind. */
static void
test_damaged_market(void **state)
{
	(void)state;
	unsigned char *bytes = NULL;
	size_t byte_count = 0;
	for (int s = 0; s < SERIES; s++)
		series[s].count = 20;
	assert_int_equal(lt_market_pack(&market, &bytes, &byte_count, NULL), LT_OK);
	for (size_t at = 0; at < byte_count; at++) {
		struct lt_market back;
		struct lt_error err = {0};

		bytes[at] ^= 4;
		assert_true(lt_market_unpack(&back, bytes, byte_count, &err) < 0);
		assert_true(err.text[0] != '\0' && back.arena == NULL);
		bytes[at] ^= 4;
	}
	for (size_t length = 0; length < byte_count; length += 3) {
		struct lt_market back;
		unsigned char *const cut = malloc(length + 1);

		memcpy(cut, bytes, length);
		assert_true(lt_market_unpack(&back, cut, length, NULL) < 0);
		free(cut);
	}
	free(bytes);
}

static void
test_budget_snapshot(void **state)
{
	(void)state;
	struct lt_budget_snapshot back;
	struct stat status;
	unsigned char *x = NULL, *y = NULL;
	size_t x_count = 0, y_count = 0;
	assert_int_equal(lt_sheet_save(&snapshot, path, NULL), LT_OK);
	assert_int_equal(stat(path, &status), 0);
	assert_int_equal(status.st_mode & 07777, 0600);
	assert_int_equal(lt_sheet_load(&back, path, NULL), LT_OK);
	assert_int_equal(back.generation, 9);
	assert_true(back.ring_generation == UINT64_MAX);
	assert_int_equal(back.ring_absorbed, 77);
	assert_true(back.ready);
	assert_int_equal(back.budgets[1].periods[1].settled.money_micros, -3);
	assert_false(back.budgets[1].periods[1].settled.has_carbon);
	assert_int_equal(lt_sheet_account(&back, "VISION"), 1);
	assert_int_equal(lt_sheet_default_account(&back, 5), 1);
	assert_int_equal(lt_sheet_pack(&snapshot, &x, &x_count, NULL), LT_OK);
	assert_int_equal(lt_sheet_pack(&back, &y, &y_count, NULL), LT_OK);
	assert_int_equal(x_count, y_count);
	assert_memory_equal(x, y, x_count);
	lt_sheet_free(&back);
	for (size_t at = 0; at < x_count; at++) {
		struct lt_error err = {0};

		x[at] ^= 1;
		assert_true(lt_sheet_unpack(&back, x, x_count, &err) < 0);
		assert_true(err.text[0] != '\0' && back.arena == NULL);
		x[at] ^= 1;
		assert_true(lt_sheet_unpack(&back, x, at, NULL) < 0);
	}
	free(x);
	free(y);
	const struct lt_budget_snapshot empty = {0};
	assert_int_equal(lt_sheet_save(&empty, path, NULL), LT_OK);
	assert_int_equal(lt_sheet_load(&back, path, NULL), LT_OK);
	assert_false(back.ready);
	lt_sheet_free(&back);
}

static void
test_untrusted_files(void **state)
{
	(void)state;
	struct lt_budget_snapshot back;
	struct lt_market loaded;
	struct lt_error err = {0};
	char other[128];
	assert_int_equal(lt_sheet_load(&back, path, NULL), LT_ENOENT);
	assert_int_equal(lt_sheet_save(&snapshot, path, NULL), LT_OK);
	assert_int_equal(chmod(path, 0604), 0);
	assert_int_equal(lt_sheet_load(&back, path, &err), LT_EDENIED);
	assert_non_null(strstr(err.text, "mode is 0604, want 0600"));
	/* The other kind of file says which it is not. */
	assert_int_equal(lt_market_load(&loaded, path, NULL, NULL), LT_EVERSION);
	assert_int_equal(lt_market_save(&market, path, NULL), LT_OK);
	assert_int_equal(chmod(path, 0666), 0);
	assert_int_equal(lt_market_load(&loaded, path, NULL, NULL), LT_EDENIED);
	snprintf(other, sizeof(other), "%s.link", path);
	assert_int_equal(symlink(path, other), 0);
	assert_int_equal(lt_market_load(&loaded, other, NULL, NULL), LT_EIO);
	unlink(other);
	assert_int_equal(lt_market_load(&loaded, directory, NULL, NULL), LT_EDENIED);
	if (geteuid() == 0) {
		assert_int_equal(lt_sheet_save(&snapshot, path, NULL), LT_OK);
		assert_int_equal(chown(path, 65534, 65534), 0);
		assert_int_equal(lt_sheet_load(&back, path, NULL), LT_EDENIED);
	}
}

/* As a user of that uid, who trusts SlurmUser of that uid: is it read? */
static bool
reads(uid_t uid, uid_t slurm_uid)
{
	int status = 0;
	const pid_t child = fork();

	if (child == 0) {
		struct lt_market loaded;
		struct lt_error err = {0};

		if (uid != geteuid() && setuid(uid) != 0)
			_exit(2);
		lt_file_trust(slurm_uid);
		if (lt_market_load(&loaded, path, NULL, &err) == LT_OK)
			_exit(0);
		_exit(strstr(err.text, "owned by uid") != NULL ? 1 : 2);
	}
	assert_true(child > 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) < 2);
	return WEXITSTATUS(status) == 0;
}

static void
test_owner_of_market(void **state)
{
	enum { SLURM = 64030, ADA = 1000, BOB = 1001 };

	static const struct {
		const char *why;
		uid_t owner, reader, slurm_uid;
		bool ok;
	} cases[] = {
	    {"root's, for anybody", 0, ADA, SLURM, true},
	    {"SlurmUser's, for anybody", SLURM, ADA, SLURM, true},
	    {"SlurmUser's, for root", SLURM, 0, SLURM, true},
	    {"one's own", ADA, ADA, SLURM, true},
	    {"another's", BOB, ADA, SLURM, false},
	    {"another's, for root", BOB, 0, SLURM, false},
	    {"another's, for SlurmUser", BOB, SLURM, SLURM, false},
	    {"SlurmUser's, who is not known here", SLURM, ADA, 0, false},
	};
	(void)state;
	if (geteuid() != 0)
		skip();
	assert_int_equal(chmod(directory, 0755), 0);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(lt_market_save(&market, path, NULL), LT_OK);
		assert_int_equal(chown(path, cases[i].owner, 0), 0);
		if (reads(cases[i].reader, cases[i].slurm_uid) != cases[i].ok)
			fail_msg("%s", cases[i].why);
	}
}

static void
test_stamp(void **state)
{
	(void)state;
	uint64_t generation = 1;
	int64_t created = 2;
	struct lt_error err = {0};
	assert_int_equal(lt_file_stamp(&generation, &created, path, true, NULL), LT_ENOENT);
	assert_int_equal(lt_sheet_save(&snapshot, path, NULL), LT_OK);
	assert_int_equal(lt_file_stamp(&generation, &created, path, true, NULL), LT_OK);
	assert_int_equal(generation, snapshot.generation);
	assert_int_equal(created, snapshot.compiled_utc_s);
	assert_int_equal(truncate(path, 63), 0);
	generation = 1;
	assert_int_equal(lt_file_stamp(&generation, &created, path, true, &err), LT_ECHECKSUM);
	assert_non_null(strstr(err.text, "has 63"));
	assert_int_equal(generation, 1);
	/* Long enough, and no snapshot: zeros of a torn one, another's. */
	assert_int_equal(truncate(path, 0), 0);
	assert_int_equal(truncate(path, 4096), 0);
	assert_int_equal(lt_file_stamp(&generation, &created, path, true, NULL), LT_ELIMIT);
	assert_int_equal(lt_sheet_save(&snapshot, path, NULL), LT_OK);
	FILE *const file = fopen(path, "r+");
	assert_non_null(file);
	assert_int_equal(fseek(file, LT_AT_CREATED, SEEK_SET), 0);
	assert_int_not_equal(fputs("torn", file), EOF);
	assert_int_equal(fclose(file), 0);
	assert_int_equal(lt_file_stamp(&generation, &created, path, true, NULL), LT_ECHECKSUM);
	assert_int_equal(generation, 1);
	assert_int_equal(lt_market_save(&market, path, NULL), LT_OK);
	assert_int_equal(/* it is no private file */
	    lt_file_stamp(&generation, &created, path, true, NULL), LT_EDENIED);
	assert_int_equal(lt_file_stamp(&generation, &created, path, false, NULL), LT_OK);
	assert_int_equal(generation, market.generation);
	assert_int_equal(created, market.compiled_utc_s);
}

static void
test_file_id(void **state)
{
	(void)state;
	struct lt_file_id before, after;
	assert_false(lt_file_id(&before, path));
	assert_int_equal(lt_sheet_save(&snapshot, path, NULL), LT_OK);
	assert_true(lt_file_id(&before, path));
	assert_true(lt_file_id(&after, path));
	assert_memory_equal(&before, &after, sizeof(before));
	assert_int_equal(lt_sheet_save(&snapshot, path, NULL), LT_OK);
	assert_true(lt_file_id(&after, path));
	assert_true(memcmp(&before, &after, sizeof(before)) != 0);
}

static void
test_failed_save_keeps_the_old(void **state)
{
	(void)state;
	struct lt_budget_snapshot back;
	char blocked[128], inside[160];
	assert_int_equal(lt_sheet_save(&snapshot, path, NULL), LT_OK);
	/* A directory where the new file would be made. */
	snprintf(blocked, sizeof(blocked), "%s.new", path);
	snprintf(inside, sizeof(inside), "%s/x", blocked);
	assert_int_equal(mkdir(blocked, 0700), 0);
	assert_int_equal(mkdir(inside, 0700), 0);
	assert_int_equal(lt_sheet_save(&snapshot, path, NULL), LT_EIO);
	assert_int_equal(lt_sheet_load(&back, path, NULL), LT_OK);
	lt_sheet_free(&back);
	rmdir(inside);
	rmdir(blocked);
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
	    TEST(test_market_comes_back),
	    TEST(test_empty_market),
	    TEST(test_unchanged_series_are_copied),
	    TEST(test_changed_head_is_not_copied),
	    TEST(test_damaged_market),
	    TEST(test_budget_snapshot),
	    TEST(test_untrusted_files),
	    TEST(test_owner_of_market),
	    TEST(test_stamp),
	    TEST(test_file_id),
	    TEST(test_failed_save_keeps_the_old),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
