/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The holds ring under job_submit_lowtide.so: restarts, other rings, full disks, and eight threads
 * at a budget's edge.
 */
#include "fake.h"

#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <time.h>

#include "files.h"
#include "quote.h"
#include "ring.h"

/* 3.60 each; a cron job's, so that what its user holds unseen is no matter. */
static const struct wish hour = {
    .account = "team0000", .gres = "gpu:8", .minutes = 60, .cron = true};

static void
test_ring_survives_restart(void **state)
{
	struct submission s;

	(void)state;
	fake_snapshots("--limit 8");
	fake_restart();
	for (int i = 0; i < 2; i++) {
		fake_send(&s, &hour);
		assert_int_equal(s.code, SLURM_SUCCESS);
		fake_restart();
	}
	fake_send(&s, &hour); /* 3 x 3.60 is more than 8 */
	assert_int_equal(s.code, ESLURM_ACCOUNTING_POLICY);
	/* A snapshot that has counted one of them leaves the other. */
	fake_snapshots("--limit 8 --absorbed 1");
	usleep(250000);
	fake_send(&s, &hour);
	assert_int_equal(s.code, SLURM_SUCCESS);
	assert_int_equal(fake_holds(NULL), 3);
}

/* New snapshots while it runs: what was held since they were counted is known without a look at the
 * file. */
static void
test_sheets_of_a_running_plugin(void **state)
{
	struct submission s;

	(void)state;
	fake_snapshots("--limit 8");
	fake_restart();
	for (int i = 0; i < 2; i++) {
		fake_send(&s, &hour);
		assert_int_equal(s.code, SLURM_SUCCESS);
	}
	fake_snapshots("--limit 9"); /* has counted none of them */
	usleep(250000);
	fake_send(&s, &hour);
	assert_int_equal(s.code, ESLURM_ACCOUNTING_POLICY);
	fake_snapshots("--limit 9 --absorbed 1");
	usleep(250000);
	fake_send(&s, &hour);
	assert_int_equal(s.code, SLURM_SUCCESS);
	fake_send(&s, &hour);
	assert_int_equal(s.code, ESLURM_ACCOUNTING_POLICY);
	/* It knows of more holds than we: ours go on from there. */
	fake_snapshots("--limit 100 --absorbed 50");
	usleep(250000);
	fake_send(&s, &hour);
	assert_int_equal(s.priority, NO_VAL);
}

/* lowtided has written a snapshot, and does not yet know all jobs. */
static void
test_sheet_not_ready(void **state)
{
	struct lt_budget_snapshot snapshot;
	struct submission s;
	char path[600];

	(void)state;
	fake_snapshots("--limit 100");
	snprintf(path, sizeof(path), "%s/%s", fake_state, LT_SHEET_FILE);
	assert_int_equal(lt_sheet_load(&snapshot, path, NULL), LT_OK);
	snapshot.ready = false;
	assert_int_equal(lt_sheet_save(&snapshot, path, NULL), LT_OK);
	lt_sheet_free(&snapshot);
	fake_restart();
	fake_send(&s, &(struct wish){.account = "team0000", .minutes = 10});
	assert_int_equal(s.priority, 0);
	assert_non_null(strstr(s.message, "not yet loaded all jobs"));
	fake_send(&s, &(struct wish){.account = "free", .minutes = 10});
	assert_int_equal(s.priority, NO_VAL);
}

/* Started before there is a snapshot, with a ring that went round: what is in it counts when the
 * snapshot comes. */
static void
test_ring_before_sheet(void **state)
{
	struct lt_ring_record record = {.quote_id = 9,
	    .uid = getuid(),
	    .tasks = 1,
	    .account = "team0000",
	    .per_task = {true, true, 3600000, 1}};
	struct submission s;
	uint64_t generation;
	char path[600];
	int fd;

	(void)state;
	fake_snapshots("--limit 4");
	snprintf(path, sizeof(path), "%s/%s", fake_state, LT_RING_FILE);
	fd = lt_ring_open(path, false, &generation, NULL);
	assert_true(fd >= 0);
	record.start_utc_s = time(NULL);
	record.end_utc_s = record.start_utc_s + 60;
	record.sequence = LT_RING_SLOTS + 5;
	assert_int_equal(lt_ring_write(fd, generation, &record, NULL), LT_OK);
	close(fd);
	fake_shell("rm %s/budget", fake_state);
	fake_restart();
	fake_send(&s, &(struct wish){.account = "free", .minutes = 1});
	assert_int_equal(s.code, SLURM_SUCCESS);
	/* lowtided stopped reading: there is no room for one more. */
	fake_snapshots("--limit 100 --absorbed 4");
	usleep(250000);
	fake_send(&s, &(struct wish){.account = "team0000", .minutes = 1});
	assert_int_equal(s.priority, 0);
	assert_non_null(strstr(s.message, "holds file is full"));
	fake_snapshots("--limit 4 --absorbed 65540");
	usleep(250000);
	fake_send(&s, &(struct wish){.account = "team0000", .gres = "gpu:8", .minutes = 60});
	assert_int_equal(s.code, ESLURM_ACCOUNTING_POLICY);
}

static void
test_ring_of_another(void **state)
{
	struct submission s;

	(void)state;
	fake_snapshots("--limit 100");
	fake_shell("rm %s/holds", fake_state);
	fake_restart();
	fake_send(&s, &(struct wish){.account = "team0000", .minutes = 10});
	assert_int_equal(s.priority, 0);
	assert_non_null(strstr(s.message, "holds file"));
	fake_shell("rm %s/holds && mkdir %s/holds", fake_state, fake_state);
	fake_restart();
	fake_send(&s, &(struct wish){.account = "team0000", .minutes = 10});
	assert_int_equal(s.priority, 0);
	assert_non_null(strstr(s.message, "can't be used"));
	fake_send(&s, &(struct wish){.account = "free", .minutes = 10});
	assert_int_equal(s.priority, NO_VAL);
}

static void
test_ring_replaced(void **state)
{
	struct submission s;

	(void)state;
	fake_snapshots("--limit 100");
	fake_restart();
	fake_send(&s, &(struct wish){.account = "team0000", .minutes = 10});
	assert_int_equal(s.priority, NO_VAL);
	/* While it runs: a new ring, and a snapshot that has read it. */
	fake_shell("rm %s/holds", fake_state);
	fake_snapshots("--limit 100");
	usleep(250000);
	fake_send(&s, &(struct wish){.account = "team0000", .minutes = 10});
	assert_int_equal(s.priority, NO_VAL);
	assert_int_equal(fake_records(NULL), 1);
}

/* A hold that is not on the disk is none, and takes no room; when the disk is back, the ring has no
 * gap. */
static void
test_ring_not_written(void **state)
{
	const struct wish wish = {.account = "team0000", .gres = "gpu:8", .minutes = 60};
	struct rlimit whole, least;
	struct submission s;

	(void)state;
	fake_snapshots("--limit 8"); /* two of 3.60 */
	fake_restart();
	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &whole);
	least = whole;
	least.rlim_cur = 16;
	setrlimit(RLIMIT_FSIZE, &least);
	for (int i = 0; i < 2; i++) {
		fake_send(&s, &wish);
		usleep(250000);
		assert_int_equal(s.priority, 0);
	}
	setrlimit(RLIMIT_FSIZE, &whole);
	for (int i = 0; i < 2; i++) {
		fake_send(&s, &hour);
		assert_int_equal(s.code, SLURM_SUCCESS);
		assert_int_equal(s.priority, NO_VAL);
	}
	fake_send(&s, &hour);
	assert_int_equal(s.code, ESLURM_ACCOUNTING_POLICY);
	assert_int_equal(fake_holds(NULL), 3); /* the first is void */
}

/* What is refused is noted for lowtided's count, holds nothing, and has no name that its user
 * invented. */
static void
test_refused(void **state)
{
	static const struct wish over = {.account = "team0000", .gres = "gpu:8", .minutes = 60};
	static const struct wish unknown = {.account = "invented", .gres = "gpu:8", .minutes = 60};
	struct lt_ring_record record = {0};
	struct submission s;

	(void)state;
	fake_shell("rm -f %s/*", fake_state);
	fake_snapshots("--limit 3.58 --unknown reject");
	fake_restart();
	fake_send(&s, &over);
	assert_int_equal(s.code, ESLURM_ACCOUNTING_POLICY);
	assert_int_equal(fake_records(&record), 1);
	assert_int_equal(record.flags, LT_QUOTE_REFUSED | LT_QUOTE_BUDGET_HOLD);
	assert_string_equal(record.account, "team0000");
	fake_send(&s, &unknown);
	assert_int_equal(s.code, ESLURM_ACCOUNTING_POLICY);
	assert_int_equal(fake_records(&record), 2);
	assert_int_equal(record.flags, LT_QUOTE_REFUSED | LT_QUOTE_UNKNOWN);
	assert_string_equal(record.account, "");
	assert_int_equal(fake_holds(NULL), 0);
}

/* Of what is left, what a user holds unseen takes a tenth, or is of one job. */
static void
test_unseen(void **state)
{
	const struct wish batch = {.account = "team0000", .gres = "gpu:8", .minutes = 60};
	struct wish srun = batch;
	struct lt_ring_record record = {0};
	struct submission s;

	(void)state;
	srun.interactive = true;
	fake_shell("rm -f %s/*", fake_state);
	fake_snapshots("--limit 100");
	fake_restart();
	for (int i = 0; i < 2; i++) {
		fake_send(&s, &batch);
		assert_int_equal(s.priority, NO_VAL);
	}
	/* 10.80 of 100.00 */
	fake_send(&s, &batch);
	assert_int_equal(s.code, SLURM_SUCCESS);
	assert_int_equal(s.priority, 0);
	assert_non_null(strstr(s.message, "held some seconds, until lowtide sees"));
	fake_send(&s, &srun);
	assert_int_equal(s.code, ESLURM_ACCOUNTING_POLICY);
	assert_non_null(strstr(s.message, "some seconds."));
	assert_int_equal(fake_holds(&record), 2);
	fake_send(&s, &hour);
	assert_int_equal(s.code, SLURM_SUCCESS);
	/* lowtided has counted all that came, and seen their jobs. */
	fake_snapshots("--limit 100 --absorbed 4");
	usleep(250000);
	fake_send(&s, &batch);
	assert_int_equal(s.priority, NO_VAL);
	/* One job is let through, whatever is left. */
	fake_snapshots("--limit 4 --absorbed 6");
	usleep(250000);
	fake_send(&s, &srun);
	assert_int_equal(s.code, SLURM_SUCCESS);
	/* Who is only told holds as before. */
	fake_snapshots("--limit 100 --mode advise --absorbed 6");
	usleep(250000);
	for (int i = 0; i < 4; i++) {
		fake_send(&s, &batch);
		assert_int_equal(s.priority, NO_VAL);
		assert_null(strstr(s.message, "lowtide sees"));
	}
}

/* Threads ---------------------------------------------------------------- */

enum { THREADS = 8, EACH = 60 };

static void *
many(void *argument)
{
	long *const admitted = argument;

	for (int i = 0; i < EACH; i++) {
		struct submission s;

		fake_send(&s, &hour);
		*admitted += s.code == SLURM_SUCCESS;
	}
	return NULL;
}

static void
test_threads(void **state)
{
	pthread_t threads[THREADS];
	long admitted[THREADS] = {0}, sum = 0;

	(void)state;
	/* 100 jobs of 3.60 and a micro fit, the 101st does not. */
	fake_snapshots("--limit 363");
	fake_restart();
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, many, &admitted[i]), 0);
	for (int i = 0; i < 5; i++) { /* reloads meanwhile */
		usleep(210000);
		fake_snapshots("--limit 363");
	}
	for (int i = 0; i < THREADS; i++) {
		pthread_join(threads[i], NULL);
		sum += admitted[i];
	}
	assert_int_equal(sum, 100);
	assert_int_equal(fake_holds(NULL), 100);
}

int
fake_ring_tests(void)
{
	const struct CMUnitTest tests[] = {
	    FAKE_TEST(test_ring_survives_restart),
	    FAKE_TEST(test_sheets_of_a_running_plugin),
	    FAKE_TEST(test_sheet_not_ready),
	    FAKE_TEST(test_ring_before_sheet),
	    FAKE_TEST(test_ring_of_another),
	    FAKE_TEST(test_ring_replaced),
	    FAKE_TEST(test_ring_not_written),
	    FAKE_TEST(test_refused),
	    FAKE_TEST(test_unseen),
	    FAKE_TEST(test_threads),
	};

	return cmocka_run_group_tests_name("ring", tests, NULL, NULL);
}
