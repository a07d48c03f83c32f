/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A daemon with a ledger, two teams with a budget and one without, and a slurmctld and slurmdbd
 * that say what a test wants and note what they are told: for the judges, which see several users
 * at once. A whole node costs 1000 micros a second.
 */
#ifndef LT_TEST_JUDGE_FIXTURE_H
#define LT_TEST_JUDGE_FIXTURE_H

#include <sys/mman.h>
#include <unistd.h>

#include "compile_budget.h"
#include "reconcile.h"
#include "daemon.h"
#include "ledger_fixture.h"
#include "log.h"
#include "units.h"

enum {
	ADA = 1000,
	BOB = 1001,
	NOW = NOVEMBER + 5 * LT_DAY_S,
	BUDGET = 1000000, /* of vision; speech has half of it */
};

static struct told { /* the last updates of jobs */
	uint32_t count, job_id[64], cancelled, requeued;
	bool refuses; /* to requeue */
	enum lt_batch_hold hold[64];
	bool has_text[64];
	char task[64][24];
	int64_t begin_utc_s[64];
} told;
static struct lt_batch_jobs fake_jobs;
static struct lt_batch_runs fake_rows;
static uint32_t fake_queue, busy_us;
static bool dbd_fails, ctld_fails, jobs_fail;
/* Questions to both, by lowtided's children too, with whom it is shared: in all, and for single
 * jobs. */
static struct questions {
	uint32_t all, singly;
} * questions;

static inline void
count_question(bool singly)
{
	__atomic_fetch_add(&questions->all, 1, __ATOMIC_RELAXED);
	__atomic_fetch_add(&questions->singly, singly, __ATOMIC_RELAXED);
}

static inline void
share_questions(void)
{
	if (questions == NULL)
		questions = mmap(NULL, sizeof(*questions), PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(questions, MAP_FAILED);
	*questions = (struct questions){0};
}

int
lt_batch_jobs(struct lt_batch_jobs *jobs, uint32_t job_id, struct lt_error *err)
{
	count_question(job_id != 0);
	usleep(busy_us);
	*jobs = (struct lt_batch_jobs){.begun_utc_s = NOW};
	jobs->jobs = calloc(fake_jobs.count + 1, sizeof(*jobs->jobs));
	for (uint32_t i = 0; i < fake_jobs.count; i++) {
		const struct lt_batch_job *const job = &fake_jobs.jobs[i];

		if (job_id == 0 || job->job_id == job_id || job->array_job_id == job_id ||
		    job->het_job_id == job_id)
			jobs->jobs[jobs->count++] = *job;
	}
	if (job_id == 0 || (jobs->count > 0 && !jobs_fail))
		return LT_OK;
	free(jobs->jobs);
	*jobs = (struct lt_batch_jobs){0};
	return lt_fail(err, jobs_fail ? LT_ENET : LT_ENOENT, "job %u", job_id);
}

int
lt_batch_jobs_each(const struct lt_batch_jobs_reader *reader, struct lt_error *err)
{
	struct lt_batch_jobs jobs;
	const int code = lt_batch_jobs(&jobs, 0, err);

	if (code != LT_OK)
		return code;
	reader->begin(reader->context, jobs.count, jobs.begun_utc_s);
	for (uint32_t i = 0; i < jobs.count; i++)
		reader->take(reader->context, &jobs.jobs[i]);
	lt_batch_jobs_free(&jobs);
	return LT_OK;
}

void
lt_batch_update_init(struct lt_batch_update *update, uint32_t job_id)
{
	*update = (struct lt_batch_update){.job_id = job_id, .begin_utc_s = -1, .limit_s = -1};
}

int
lt_batch_update_job(const struct lt_batch_update *update, struct lt_error *err)
{
	if (ctld_fails)
		return lt_fail(err, LT_ENET, "slurmctld is away");
	assert_true(told.count < 64);
	told.job_id[told.count] = update->job_id;
	(void)snprintf(told.task[told.count], sizeof(told.task[0]), "%s",
	    update->task != NULL ? update->task : "");
	told.has_text[told.count] = update->admin_comment != NULL;
	told.begin_utc_s[told.count] = update->begin_utc_s;
	told.hold[told.count++] = update->hold;
	return LT_OK;
}

int
lt_batch_cancel(uint32_t job_id, struct lt_error *err)
{
	(void)err;
	told.cancelled = job_id;
	return LT_OK;
}

int
lt_batch_requeue_held(const struct lt_batch_job *job, struct lt_error *err)
{
	if (told.refuses)
		return lt_fail(err, LT_ENET, "slurmctld is away");
	told.requeued = job->job_id;
	return LT_OK;
}

int
lt_batch_dbd_queue(uint32_t *queued, struct lt_error *err)
{
	(void)err;
	*queued = fake_queue;
	return LT_OK;
}

int
lt_batch_runs(
    struct lt_batch_runs *runs, int64_t from_utc_s, int64_t to_utc_s, struct lt_error *err)
{
	(void)from_utc_s;
	(void)to_utc_s;
	count_question(false);
	*runs = fake_rows;
	return dbd_fails ? lt_fail(err, LT_ENET, "slurmdbd is away") : LT_OK;
}

int
lt_batch_ended(
    struct lt_batch_runs *runs, int64_t from_utc_s, int64_t to_utc_s, struct lt_error *err)
{
	return lt_batch_runs(runs, from_utc_s, to_utc_s, err);
}

int
lt_batch_used(
    struct lt_batch_runs *runs, int64_t from_utc_s, int64_t to_utc_s, struct lt_error *err)
{
	return lt_batch_runs(runs, from_utc_s, to_utc_s, err);
}

int
lt_batch_runs_of(
    struct lt_batch_runs *runs, const uint32_t *job_ids, uint32_t count, struct lt_error *err)
{
	(void)job_ids;
	(void)count;
	count_question(false);
	*runs = (struct lt_batch_runs){0};
	return dbd_fails ? lt_fail(err, LT_ENET, "slurmdbd is away") : LT_OK;
}

int
lt_batch_partition_of(char out[LT_NAME_SIZE], const char *node_list, const char *among,
    const char *preferred, struct lt_error *err)
{
	(void)out;
	(void)among;
	(void)preferred;
	return lt_fail(err, LT_ENOENT, "no partition has %s", node_list);
}

void
lt_batch_runs_free(struct lt_batch_runs *runs)
{
	for (uint32_t i = 0; i < runs->count; i++)
		free(runs->runs[i].admin_comment);
	free(runs->runs);
	*runs = (struct lt_batch_runs){0};
}

struct world {
	struct fixture *f;
	struct lt_daemon *d;
	struct lt_books books; /* of d */
	struct lt_policy policy;
	struct lt_policy_partition row;
	struct lt_policy_budget budgets[2];
	struct lt_partition partition;
	struct lt_shape shape;
	struct lt_batch_account accounts[4];
	struct lt_batch_pair pairs[3];
	struct lt_series series;
	int64_t starts[2];
	double value[1], integral[2];
};

/* The snapshot of what the ledger has now. */
static inline void
compile(struct world *w, int64_t now_utc_s)
{
	w->books = lt_daemon_books(w->d); /* the ledger may be opened anew */
	must(w->f, lt_compile_budget(&w->books, now_utc_s, &w->f->err));
	must(w->f, lt_period_judged(&w->d->budget, w->d->ledger, now_utc_s, &w->f->err));
}

static inline struct world *
make_world(struct fixture *f)
{
	struct world *const w = calloc(1, sizeof(*w));

	assert_non_null(w);
	empty(f);
	w->f = f;
	w->d = calloc(1, sizeof(*w->d));
	assert_non_null(w->d);
	share_questions();
	told = (struct told){0};
	fake_jobs = (struct lt_batch_jobs){0};
	fake_rows = (struct lt_batch_runs){0};
	fake_queue = 0;
	dbd_fails = ctld_fails = jobs_fail = false;
	w->row = (struct lt_policy_partition){.name = "ondemand"};
	w->budgets[0] = (struct lt_policy_budget){.team = "vision",
	    .limit = {.has_money = true, .money_micros = BUDGET},
	    .on_exceed = LT_RULE_HOLD};
	w->budgets[1] = (struct lt_policy_budget){.team = "speech",
	    .limit = {.has_money = true, .money_micros = BUDGET / 2},
	    .on_exceed = LT_RULE_HOLD};
	w->policy = (struct lt_policy){.currency = "USD",
	    .mode = LT_MODE_ENFORCE,
	    .on_unknown = LT_RULE_HOLD,
	    .partition_count = 1,
	    .partitions = &w->row,
	    .budget_count = 2,
	    .budgets = w->budgets};
	w->shape =
	    (struct lt_shape){.node_count = 8, .cpus = 64, .memory_mib = 512000, .gpu_index = -1};
	w->partition = (struct lt_partition){.name = "ondemand",
	    .flags = LT_PARTITION_MANAGED | LT_PARTITION_UP,
	    .max_time_s = INT64_MAX,
	    .min_nodes = 1,
	    .max_nodes = UINT32_MAX,
	    .node_count = 8,
	    .shape_count = 1,
	    .carbon_series = LT_NO_SERIES,
	    .tariff_series = LT_NO_SERIES,
	    .occupancy_series = LT_NO_SERIES,
	    .pue = 1};
	w->starts[0] = NOVEMBER;
	w->starts[1] = DECEMBER;
	w->value[0] = 3600000;
	w->series = (struct lt_series){
	    .count = 1, .start_utc_s = w->starts, .value = w->value, .integral = w->integral};
	assert_int_equal(lt_series_prepare(&w->series, NULL), LT_OK);
	static const struct lt_batch_account accounts[] = {
	    {"root", ""}, {"vision", "root"}, {"speech", "root"}, {"free", "root"}};
	static const struct lt_batch_pair pairs[] = {
	    {"vision", "ada", ADA, true, false, "", 0, false},
	    {"speech", "ada", ADA, false, false, "", 0, false},
	    {"vision", "bob", BOB, true, false, "", 0, false}};
	memcpy(w->accounts, accounts, sizeof(accounts));
	memcpy(w->pairs, pairs, sizeof(pairs));
	w->d->site.tables.accounts = w->accounts;
	w->d->site.tables.account_count = 4;
	w->d->site.tables.pairs = w->pairs;
	w->d->site.tables.pair_count = 3;
	w->d->ledger = f->ledger;
	w->books = lt_daemon_books(w->d);
	w->d->site.policy = &w->policy;
	w->d->site.tables.conf.gpus_counted = true;
	w->d->site.tables.conf.shards_counted = true;
	w->d->ring.fd = -1;
	w->d->jobs.locks_left = LT_LOCKS_A_PASS;
	w->d->jobs.quotes_loaded = true;
	w->d->site.market = (struct lt_market){.currency = "USD",
	    .mode = LT_MODE_ENFORCE,
	    .memory_ignored = true,
	    .partition_count = 1,
	    .partitions = &w->partition,
	    .shape_count = 1,
	    .shapes = &w->shape,
	    .series_count = 1,
	    .series = &w->series};
	snprintf(w->d->paths.ring, sizeof(w->d->paths.ring), "%s/none", f->dir);
	snprintf(w->d->paths.snapshot, sizeof(w->d->paths.snapshot), "%s/sheet", f->dir);
	snprintf(w->d->paths.bound, sizeof(w->d->paths.bound), "%s/bound", f->dir);
	lt_log_open("/dev/null");
	compile(w, NOW);
	return w;
}

static inline void
free_world(struct world *w)
{
	unlink(w->d->paths.snapshot);
	unlink(w->d->paths.bound);
	lt_sheet_free(&w->d->budget.snapshot);
	free(w->d->budget.recent);
	free(w->d->budget.forecasts);
	free(w->d->jobs.live);
	free(w->d->jobs.admitted);
	lt_replan_free(&w->d->replan);
	free(w->d);
	free(w);
}

/* Of ada's, waiting, half a node for ten minutes: 300 s of a node. */
static inline struct lt_batch_job
make_job(uint32_t job_id)
{
	return (struct lt_batch_job){.job_id = job_id,
	    .uid = ADA,
	    .user = "ada",
	    .account = "vision",
	    .qos = "",
	    .partition = "ondemand",
	    .name = "",
	    .state_text = "",
	    .reason_text = "",
	    .node_list = "",
	    .comment_head = "",
	    .array_task = UINT32_MAX,
	    .array_pending = 1,
	    .is_batch = true,
	    .requeue_allowed = true,
	    .submit_utc_s = NOW - 1000 + job_id,
	    .limit_s = 600,
	    .nodes = 1,
	    .cpus = 32};
}

/* Its hold, in the ledger; the quote's id is 100 more. */
static inline struct lt_ledger_hold
hold_job(struct world *w, const struct lt_batch_job *job, int64_t money_micros, uint32_t flags)
{
	struct lt_ledger_hold hold = make_hold(job->job_id + 100, 1);

	hold.uid = job->uid;
	hold.job_id = job->job_id;
	hold.submit_utc_s = job->submit_utc_s;
	hold.quote.flags = flags;
	hold.quote.hold_per_task.money_micros = money_micros;
	hold.quote.start_utc_s = NOW;
	hold.quote.end_utc_s = NOW + 600;
	(void)strcpy(hold.quote.account, job->account);
	must(w->f, lt_ledger_put_hold(w->f->ledger, &hold, &w->f->err));
	return hold;
}

static inline struct lt_ledger_hold
hold_now(struct world *w, uint64_t id)
{
	struct lt_ledger_hold hold;

	must(w->f, lt_ledger_hold(w->f->ledger, id, &hold, &w->f->err));
	return hold;
}

/* What slurmctld was told to do with the job; LT_LEAVE - 1: nothing. */
static inline int
told_of(uint32_t job_id)
{
	int action = LT_LEAVE - 1;

	for (uint32_t i = 0; i < told.count; i++)
		if (told.job_id[i] == job_id)
			action = (int)told.hold[i];
	return action;
}

#endif
