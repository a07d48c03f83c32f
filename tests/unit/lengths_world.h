/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rows of slurmdbd that are settled, for the tests of what they teach: two partitions, each with a
 * GPU of its own.
 */
#ifndef LT_LENGTHS_WORLD_H
#define LT_LENGTHS_WORLD_H

#include "daemon.h"
#include "ledger_fixture.h"
#include "lengths.h"
#include "log.h"
#include "settling.h"

enum { ADA = 1000, BOB = 1001, NOW = NOVEMBER + 20 * LT_DAY_S };

struct world {
	struct fixture *f;
	struct lt_daemon *d;
	struct lt_policy policy;
	struct lt_policy_partition rows[2];
	struct lt_partition partitions[2];
	struct lt_shape shapes[2];
	struct lt_gpu gpus[2];
};

static int
begin(void **state)
{
	struct world *const w = calloc(1, sizeof(*w));
	void *fixture;

	assert_int_equal(set_up(&fixture), 0);
	w->f = fixture;
	w->d = calloc(1, sizeof(*w->d));
	assert_non_null(w->d);
	w->policy = (struct lt_policy){.partition_count = 2,
	    .partitions = w->rows,
	    .deadline_confidence_ppm = 950000,
	    .history_days = 400};
	w->gpus[0] = *lt_gpu_find(&(struct lt_gpu){.name = ""}, "V100-SXM2");
	w->gpus[1] = *lt_gpu_find(&(struct lt_gpu){.name = ""}, "A100-SXM4-40GB");
	for (int i = 0; i < 2; i++) {
		(void)strcpy(w->rows[i].name, i == 0 ? "home" : "fast");
		w->partitions[i] = (struct lt_partition){
		    .flags = LT_PARTITION_MANAGED, .first_shape = (uint32_t)i, .shape_count = 1};
		w->shapes[i] =
		    (struct lt_shape){.node_count = 2, .cpus = 64, .gpus = 8, .gpu_index = i};
		(void)strcpy(w->partitions[i].name, w->rows[i].name);
	}
	w->d->ledger = w->f->ledger;
	w->d->site.policy = &w->policy;
	w->d->site.tables.conf.gpus_counted = true;
	w->d->site.tables.conf.shards_counted = true;
	w->d->site.market = (struct lt_market){.partition_count = 2,
	    .partitions = w->partitions,
	    .shape_count = 2,
	    .shapes = w->shapes,
	    .gpu_count = 2,
	    .gpus = w->gpus};
	(void)snprintf(w->d->paths.history, sizeof(w->d->paths.history), "%s/history", w->f->dir);
	lt_log_open("/dev/null");
	*state = w;
	return 0;
}

static int
end(void **state)
{
	struct world *const w = *state;
	void *fixture = w->f;

	remove_file(w->f->dir, "history");
	free(w->d);
	free(w);
	return tear_down(&fixture);
}

struct said { /* of a row that differs from the usual one */
	const char *name, *state, *account, *partition;
	uint32_t uid, job_id;
	int64_t start_s, length_s, limit_s, suspended_s;
	const char *quote; /* its text; NULL = none */
	uint32_t gpus;
	bool is_interactive;
};

static struct lt_batch_run
make_row(const struct said *said)
{
	static uint32_t next_id = 1;
	struct lt_batch_run row = {.job_id = said->job_id != 0 ? said->job_id : 5000 + next_id++,
	    .array_task = UINT32_MAX,
	    .uid = said->uid != 0 ? said->uid : ADA,
	    .finished = true,
	    .submit_utc_s = NOVEMBER + said->start_s,
	    .start_utc_s = NOVEMBER + said->start_s,
	    .end_utc_s = NOVEMBER + said->start_s + said->length_s,
	    .limit_s = said->limit_s != 0 ? said->limit_s : 3600,
	    .suspended_s = said->suspended_s,
	    .nodes = 1,
	    .cpus = 4,
	    .gpus = said->gpus,
	    .has_gpus = said->gpus > 0,
	    .is_interactive = said->is_interactive,
	    .energy_joules = -1};

	(void)snprintf(
	    row.name, sizeof(row.name), "%s", said->name != NULL ? said->name : "train_1");
	(void)snprintf(row.state_text, sizeof(row.state_text), "%s",
	    said->state != NULL ? said->state : "COMPLETED");
	(void)snprintf(row.account, sizeof(row.account), "%s",
	    said->account != NULL ? said->account : "vision");
	(void)snprintf(row.partition, sizeof(row.partition), "%s",
	    said->partition != NULL ? said->partition : "home");
	row.admin_comment = said->quote != NULL ? strdup(said->quote) : NULL;
	return row;
}

static void
settle_all(struct world *w, struct lt_batch_run *rows, uint32_t count)
{
	struct lt_batch_runs list = {.count = count, .runs = rows};

	must(w->f, settle_rows(w->d, &list, NOW, &w->f->err));
	for (uint32_t i = 0; i < count; i++)
		free(rows[i].admin_comment);
}

static void
settle_one(struct world *w, const struct said *said)
{
	struct lt_batch_run row = make_row(said);

	settle_all(w, &row, 1);
}

#define IN_WORLD(test) cmocka_unit_test_setup_teardown(test, begin, end)

#endif
