/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rows of slurmdbd without a partition, or with several: whose record, hold or node tells where the
 * run was, and what is left alone.
 */
#include "daemon.h"
#include "ledger_fixture.h"
#include "dbd_row.h"

enum { ADA = 1000, BOB = 1001, EVE = 1002 };

/* Nodes c1 in main and low, c2 in main only; slurmctld is asked for no other. */
int
lt_batch_partition_of(char out[LT_NAME_SIZE], const char *node_list, const char *among,
    const char *preferred, struct lt_error *err)
{
	if (strncmp(node_list, "c", 1) != 0)
		return lt_fail(err, LT_ENOENT, "no partition");
	const bool low = strcmp(node_list, "c1") == 0 && strcmp(preferred, "low") == 0;
	(void)among;
	strcpy(out, low ? "low" : "main");
	return LT_OK;
}

static const struct {
	const char *why;
	const char *partition, *nodes; /* as in the row */
	uint32_t job_id;
	int64_t submit_utc_s, start_utc_s;
	const char *want;
	uint32_t want_uid;
	int64_t want_limit_s;
	uint32_t want_array;
} cases[] = {
    {"one name stays, whatever the record says", "gpu", "c1", 1, 10, 20, "gpu", EVE, 0, 0},
    {"of slurmctld's record", "", "c1", 1, 10, 20, "spot", ADA, 600, 90},
    {"several names: of the record, and only they", "main,spot", "c1", 1, 10, 20, "spot", EVE, 0,
	0},
    {"the record is of another run: by node and hold", "", "c1", 1, 11, 20, "low", BOB, 0, 0},
    {"a record that waits says nothing", "", "c2", 2, 10, 20, "main", EVE, 0, 0},
    {"of a run that ended and waits for its row", "", "c1", 3, 10, 20, "big", BOB, 900, 91},
    {"the record, too, has several names", "main,low", "c1", 4, 10, 20, "main", EVE, 0, 0},
    {"as it was settled", "", "c1", 6, 10, 20, "spot", BOB, 0, 92},
    {"settled, but it was another run", "", "c1", 6, 11, 20, "main", EVE, 0, 0},
    {"settled, but the row has its start", "gpu", "c1", 6, 10, 20, "gpu", EVE, 0, 0},
    {"nobody knows", "", "x9", 5, 10, 20, "", EVE, 0, 0},
    {"it never ran", "main,spot", "", 1, 10, 0, "main,spot", EVE, 0, 0},
};

static void
mends(void **state)
{
	struct fixture *const f = *state;
	struct lt_daemon *const d = calloc(1, sizeof(*d));
	struct lt_batch_job jobs[] = {
	    {.job_id = 1,
		.submit_utc_s = 10,
		.uid = ADA,
		.user = "ada",
		.name = "train",
		.array_job_id = 90,
		.limit_s = 600,
		.state = LT_JOB_FINISHED,
		.partition = "spot"},
	    {.job_id = 2,
		.submit_utc_s = 10,
		.uid = ADA,
		.user = "ada",
		.name = "train",
		.limit_s = 600,
		.state = LT_JOB_PENDING,
		.partition = "spot"},
	    {.job_id = 4,
		.submit_utc_s = 10,
		.uid = ADA,
		.user = "ada",
		.name = "train",
		.limit_s = 600,
		.state = LT_JOB_RUNNING,
		.partition = "main,low"},
	};
	struct lt_ended ended = {.run = {.job_id = 3,
				     .submit_utc_s = 10,
				     .uid = BOB,
				     .array_job_id = 91,
				     .limit_s = 900,
				     .name = "eval",
				     .partition = "big"}};
	struct lt_ledger_hold hold = make_hold(7, 1);

	assert_non_null(d);
	d->ledger = f->ledger;
	d->jobs.list = (struct lt_batch_jobs){.count = 3, .jobs = jobs};
	d->jobs.ended = &ended;
	d->jobs.ended_count = 1;
	hold.job_id = 1;
	hold.uid = BOB;
	strcpy(hold.quote.partition, "low");
	must(f, lt_ledger_put_hold(f->ledger, &hold, &f->err));
	const struct lt_run settled = {.key = {6, 10},
	    .array_job_id = 92,
	    .uid = BOB,
	    .account = "vision",
	    .partition = "spot",
	    .share_denominator = 1};
	bool changed;
	must(f, lt_ledger_settle(f->ledger,
		    &(struct lt_settlement){.run = &settled, .now_utc_s = 30}, &changed, &f->err));
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct lt_batch_run row = {.job_id = cases[i].job_id,
		    .uid = EVE,
		    .submit_utc_s = cases[i].submit_utc_s,
		    .start_utc_s = cases[i].start_utc_s};

		strcpy(row.partition, cases[i].partition);
		strcpy(row.first_node, cases[i].nodes);
		print_message("%s\n", cases[i].why);
		lt_dbd_row_fill(&row, &d->jobs, d->ledger);
		assert_string_equal(row.partition, cases[i].want);
		assert_int_equal(row.uid, cases[i].want_uid);
		assert_int_equal(row.limit_s, cases[i].want_limit_s);
		assert_string_equal(row.name, cases[i].want_limit_s == 600   ? "train"
					      : cases[i].want_limit_s == 900 ? "eval"
									     : "");
		assert_int_equal(row.array_job_id, cases[i].want_array);
	}
	free(d);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    EACH(mends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
