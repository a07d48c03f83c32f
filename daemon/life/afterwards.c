/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the jobs that lowtide moved and that can't start there, by the list of jobs and by
 * questions to slurmctld. The way home is standing.c's: the hold first, then the update.
 *
 * In memory; writes only by standing.c. A failure with one job stops no other; without memory the
 * job is looked at later.
 */
#include "afterwards.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "again.h"
#include "bars.h"
#include "books.h"
#include "breath.h"
#include "budget_state.h"
#include "grow.h"
#include "http.h"
#include "jobs.h"
#include "log.h"
#include "poll_schedule.h"
#include "replan.h"
#include "replanning.h"
#include "site.h"
#include "standing.h"

enum {
	READ_A_PASS = 1000, /* quotes, of 4 us each: who can't start goes soon */
	READ_TO_ASK = 250,  /* and of those that may be asked about */
	TOLD_MS = 500,	    /* of a pass, where slurmctld is slow */
	TRIED_AGAIN_S = 60,
	PRUNED_EVERY_S = 600,
	TABLES_EVERY_S = 15, /* at most, for a job that can't start */
	MARKET_SOON_S = 5,   /* until all decisions know what is barred */
};

/* ---- when ---- */

bool
lt_after_is_due(const struct lt_after *known, uint32_t place, bool begin_came, int64_t now_utc_s)
{
	if (known == NULL || known->place != place)
		return true;
	const int64_t since_s = now_utc_s - known->asked_utc_s;
	if (known->cannot_utc_s != 0)
		return known->soon || since_s >= LT_AFTER_AGAIN_S;
	return begin_came && (!known->was_due || since_s >= LT_AFTER_STILL_S);
}

bool
lt_after_is_over(const struct lt_after *known, bool nodes_away, int64_t now_utc_s)
{
	if (known->cannot_utc_s == 0)
		return false;
	return !nodes_away ||
	       (known->was_due && now_utc_s - known->cannot_utc_s >= LT_AFTER_AWAY_S);
}

bool
lt_after_may_be_back(
    const struct lt_partition *partition, const struct lt_batch_job *job, int64_t now_utc_s)
{
	if (partition->away_utc_s == 0)
		return partition->free_utc_s < now_utc_s + LT_AFTER_AWAY_S;
	return job->requeued || job->submit_utc_s < partition->away_utc_s;
}

int64_t
lt_after_pause_s(int64_t before_s, int64_t took_ms)
{
	if (took_ms <= LT_AFTER_SLOW_MS)
		return 1;
	const int64_t twice_s = 2 * (before_s > 0 ? before_s : 1);
	return twice_s < LT_AFTER_SLOW_MOST_S ? twice_s : LT_AFTER_SLOW_MOST_S;
}

/* ---- what is known of whom ---- */

static uint32_t
first_from(const struct lt_after_state *state, uint32_t job_id)
{
	uint32_t from = 0, to = state->count;

	while (from < to) {
		const uint32_t at = from + (to - from) / 2;

		if (state->jobs[at].job_id < job_id)
			from = at + 1;
		else
			to = at;
	}
	return from;
}

static struct lt_after *
find_row(const struct lt_after_state *state, uint32_t job_id)
{
	const uint32_t at = first_from(state, job_id);

	return at < state->count && state->jobs[at].job_id == job_id ? &state->jobs[at] : NULL;
}

/* Returns its row, a new one if it has none or was somewhere else; NULL: no memory. */
static struct lt_after *
row_of(struct lt_after_state *state, uint32_t job_id, uint32_t place)
{
	const uint32_t at = first_from(state, job_id);
	struct lt_after *row = find_row(state, job_id);

	if (row != NULL && row->place == place)
		return row;
	if (row == NULL) {
		struct lt_after *const grown =
		    lt_items_grow(state->jobs, &state->capacity, state->count, sizeof(*grown));

		if (grown == NULL)
			return NULL;
		state->jobs = grown;
		row = &grown[at];
		memmove(row + 1, row, (state->count - at) * sizeof(*row));
		state->count++;
	}
	*row = (struct lt_after){.job_id = job_id, .place = place};
	return row;
}

static void
prune(struct lt_after_state *state, const struct lt_batch_jobs *list)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < state->count; i++) {
		const struct lt_batch_job *const job = lt_jobs_find(list, state->jobs[i].job_id);

		if (job != NULL && job->state == LT_JOB_PENDING)
			state->jobs[kept++] = state->jobs[i];
	}
	state->count = kept;
}

/* Hashes where it waits, by FNV-1a. */
static uint32_t
place_of(const struct lt_batch_job *job, int64_t start_utc_s)
{
	uint32_t hash = 0x811c9dc5;

	for (const char *at = job->partition; *at != '\0'; at++)
		hash = (hash ^ (unsigned char)*at) * 0x01000193;
	for (int i = 0; i < 8; i++)
		hash = (hash ^ (uint32_t)(start_utc_s >> 8 * i & 0xff)) * 0x01000193;
	return hash;
}

/* ---- a pass ---- */

struct looking { /* start as { 0 } but for what is lent, and now */
	struct lt_site *site;
	const struct lt_books *books;
	struct lt_replan_state *replan;
	struct lt_after_state *after;
	int64_t now_utc_s;
	struct lt_standing *standing; /* malloc'd, and its plan: large */
	struct lt_plan *plan;
	uint32_t home; /* that went in this pass */
	int64_t told_ms;
	/* Whom to ask: whose begin has come, then the earliest. */
	bool found, begin_came;
	uint32_t job_id, place;
	int64_t start_utc_s;
};

/* No decision tries that again, and the next market says so. */
static void
bar(struct looking *l, const struct lt_quote *quote)
{
	struct lt_barred barred = {.asked = quote->wish.asked,
	    .tables = lt_tables_hash(&l->site->tables),
	    .made_utc_s = l->now_utc_s};
	struct lt_error err = {0};

	if (barred.asked == 0 || strcmp(quote->partition, quote->home) == 0)
		return;
	memcpy(barred.partition, quote->partition, sizeof(barred.partition));
	if (lt_bars_put(&l->site->bars, &barred, &err) != LT_OK)
		lt_log("bar_lost", "error=\"%s\"", err.text);
	if (l->site->next.market > l->now_utc_s + MARKET_SOON_S)
		l->site->next.market = l->now_utc_s + MARKET_SOON_S;
}

static bool
may_go(const struct looking *l)
{
	return l->home < LT_REPLANS_A_SECOND && l->told_ms < TOLD_MS && lt_batch_may_update();
}

/* True if it is as the list has it. Its user, an admin or Slurm may have changed it since: then it
 * is theirs, or starts. */
static bool
is_unchanged(const struct lt_batch_job *job)
{
	struct lt_batch_jobs now = {0};
	bool is_same = false;

	if (lt_batch_jobs(&now, job->job_id, NULL) != LT_OK)
		return false;
	for (uint32_t i = 0; i < now.count; i++)
		if (now.jobs[i].job_id == job->job_id)
			is_same = now.jobs[i].state == LT_JOB_PENDING &&
				  now.jobs[i].reason >= job->reason &&
				  now.jobs[i].eligible_utc_s == job->eligible_utc_s &&
				  strcmp(now.jobs[i].partition, job->partition) == 0;
	lt_batch_jobs_free(&now);
	return is_same;
}

/* Moves it to its home, at once or at its user's own begin time, if its budget and its highest
 * price allow that. LT_ENOENT: it is not lowtide's to move. */
static int
move_home(struct looking *l, const struct lt_batch_job *job, struct lt_error *err)
{
	struct lt_standing *const s = l->standing;
	struct lt_plan *const plan = l->plan;
	struct lt_request *const request = &s->made.request;
	const int64_t now_utc_s = l->now_utc_s;

	if (!lt_standing_here(s, &l->site->market, l->books->ledger, job, now_utc_s))
		return lt_fail(err, LT_ENOENT, "not lowtide's to move");
	const bool waits_by_itself =
	    s->quote.wish.pins & LT_PIN_BEGIN && job->eligible_utc_s > now_utc_s;
	const int home = lt_market_partition(&l->site->market, s->quote.home);
	const struct lt_replan of = {.request = request,
	    .market = &l->site->market,
	    .partition = home,
	    .start_utc_s = waits_by_itself ? job->eligible_utc_s : now_utc_s,
	    .now_utc_s = now_utc_s};
	int code = LT_ENOENT;

	request->home = home;
	if (home >= 0)
		code = lt_replan_standing(plan, &of, NULL);
	if (code != LT_OK) /* what it costs there is not known */
		*plan = (struct lt_plan){.chosen.partition = home};
	plan->chosen.start_utc_s = of.start_utc_s;
	plan->moved = true; /* at that start, and no other */
	if (s->partition != home)
		plan->candidates[s->partition] =
		    (struct lt_candidate){.reject = LT_REJECT_CANNOT_START};
	code = home >= 0 ? lt_standing_move(l->books, l->replan, s, plan,
			       lt_replan_word(LT_REPLAN_CANNOT_START), err)
			 : LT_OK;
	if (code == LT_OK && !s->told)
		lt_standing_stays(l->books->ledger, s, lt_replan_word(LT_REPLAN_STUCK));
	return code;
}

/* Sends a job home. reason: Slurm's, or the answer's. */
static void
go_home(struct looking *l, const struct lt_batch_job *job, uint32_t place, const char *reason)
{
	struct lt_after_state *const state = l->after;
	struct lt_after *const row = row_of(state, job->job_id, place);
	const int64_t began_ms = lt_monotonic_ms();
	const uint32_t job_id = job->job_id;
	struct lt_error err = {0};
	char why[LT_NAME_SIZE];
	int code = LT_ENOENT;

	if (row == NULL || !may_go(l) || l->now_utc_s - row->tried_utc_s < TRIED_AGAIN_S)
		return;
	row->tried_utc_s = l->now_utc_s;
	/* The list may be another after the move. */
	(void)snprintf(why, sizeof(why), "%s", reason);
	if (is_unchanged(job))
		code = move_home(l, job, &err);
	else
		lt_poll_at(l->books->jobs, lt_first_id(job));
	l->told_ms += lt_monotonic_ms() - began_ms;
	if (code == LT_ENOENT)
		return;
	if (code != LT_OK)
		lt_log("home_failed", "job=%u error=\"%s\"", job_id, err.text);
	bar(l, &l->standing->quote);
	l->home += l->standing->moved;
	state->home += l->standing->told;
	lt_log("cannot_start", "job=%u partition=%s reason=%s home=%d", job_id,
	    l->standing->quote.partition, why, l->standing->told);
}

/* Moves a job for which the system itself finds no room where lowtide put it:
 * to where it finds some now. */
static void
go_anywhere(struct looking *l, const struct lt_batch_job *job)
{
	struct lt_after *const row =
	    row_of(l->after, job->job_id, place_of(job, job->eligible_utc_s));
	struct lt_error err = {0};
	bool moved = false;

	if (row == NULL || !may_go(l) || l->now_utc_s - row->tried_utc_s < TRIED_AGAIN_S)
		return;
	row->tried_utc_s = l->now_utc_s;
	if (lt_again(l->books, l->replan, job, l->now_utc_s, &moved, &err) != LT_OK)
		lt_log("again_failed", "job=%u error=\"%s\"", row->job_id, err.text);
	l->home += moved;
}

/* True if nodes of its partition are down, drained or reserved that may be back: what waits for
 * them is not lost. */
static bool
nodes_away(const struct looking *l, const struct lt_batch_job *job)
{
	const int index = lt_market_partition(&l->site->market, job->partition);

	if (index < 0 || (uint32_t)index >= l->site->tables.partition_count)
		return false;
	const struct lt_partition *const p = &l->site->tables.partitions[index];

	if (!lt_after_may_be_back(p, job, l->now_utc_s))
		return false;
	for (uint32_t i = 0; i < p->shape_count; i++)
		if (l->site->tables.shapes[p->first_shape + i].closed_count > 0)
			return true;
	return false;
}

/* True if the tables were read since it could not start. If they can't be read, the former ones
 * have to do. */
static bool
tables_tell(const struct looking *l, const struct lt_after *row)
{
	return l->site->tables.read_utc_s >= row->cannot_utc_s ||
	       l->now_utc_s - row->cannot_utc_s >= LT_AFTER_AGAIN_S;
}

/* Looks at a job whose reason says nothing: is a question due? */
static void
look_asked(struct looking *l, const struct lt_batch_job *job, uint32_t place)
{
	const struct lt_after *const known = find_row(l->after, job->job_id);
	const bool begin_came = job->eligible_utc_s + LT_AFTER_DUE_S <= l->now_utc_s;

	/* No question between its begin and Slurm's look at it; nor before the tables are read that
	 * show why it can't start. */
	if ((job->eligible_utc_s <= l->now_utc_s && !begin_came) ||
	    (known != NULL && known->soon && !tables_tell(l, known)) ||
	    !lt_after_is_due(known, place, begin_came, l->now_utc_s))
		return;
	const bool first = !l->found || (begin_came && !l->begin_came) ||
			   (begin_came == l->begin_came && job->eligible_utc_s < l->start_utc_s);
	if (first) {
		l->found = true;
		l->begin_came = begin_came;
		l->job_id = job->job_id;
		l->place = place;
		l->start_utc_s = job->eligible_utc_s;
	}
}

/* Was it moved, and is it where it was moved to? False, too, of what has its begin behind it at
 * home: there is nowhere to go. */
static bool
is_moved(struct looking *l, const struct lt_batch_job *job)
{
	const struct lt_quote *const quote = &l->standing->quote;

	if (lt_quote_unpack(&l->standing->quote, job->admin_comment, strlen(job->admin_comment),
		NULL) != LT_OK ||
	    !quote->wish.known || quote->objective == LT_OBJECTIVE_OFF ||
	    strcmp(job->partition, quote->partition) != 0)
		return false;
	if (job->eligible_utc_s <= l->now_utc_s)
		return strcmp(quote->partition, quote->home) != 0;
	return job->eligible_utc_s == quote->plan_start_utc_s &&
	       (strcmp(quote->partition, quote->home) != 0 || !(quote->wish.pins & LT_PIN_BEGIN));
}

/* Looks on from where the pass before stopped, once around at most. */
static void
look_at(struct looking *l, enum lt_reason says, uint32_t most)
{
	const struct lt_batch_jobs *const list = &l->books->jobs->list;
	uint32_t *const at = &l->after->at[says];
	uint32_t read = 0;

	for (uint32_t i = 0; i < list->count && read < most; i++) {
		*at = *at + 1 < list->count ? *at + 1 : 0;
		const struct lt_batch_job *const job = &list->jobs[*at];

		if (job->reason != says || job->state != LT_JOB_PENDING || job->completing ||
		    job->het_job_id != 0 || job->admin_comment == NULL)
			continue;
		read++;
		if (says == LT_REASON_NEVER && lt_batch_is_near()) {
			go_anywhere(l, job);
			continue;
		}
		if (!is_moved(l, job))
			continue;
		lt_breath(LT_TURN_READ);
		const uint32_t place = place_of(job, l->standing->quote.plan_start_utc_s);
		if (says == LT_REASON_NEVER)
			go_home(l, job, place, job->reason_text);
		else
			look_asked(l, job, place);
	}
}

/* Takes the answer that it can't start. Tables that were read since show whether that is for nodes
 * that are down or drained: then it is asked once more. */
static void
take_no(struct looking *l, struct lt_after *row)
{
	const struct lt_batch_job *const job = lt_jobs_find(&l->books->jobs->list, l->job_id);

	if (!tables_tell(l, row)) {
		row->soon = true;
		if (l->site->next.tables > l->site->tables.read_utc_s + TABLES_EVERY_S)
			l->site->next.tables = l->site->tables.read_utc_s + TABLES_EVERY_S;
	} else if (job != NULL && is_moved(l, job) &&
		   lt_after_is_over(row, nodes_away(l, job), l->now_utc_s)) {
		go_home(l, job, l->place, "asked");
	}
}

/* True if Slurm says never, or that the nodes are not there within an hour of its begin. */
static bool
says_no(const struct looking *l, const struct lt_start_answer *answer)
{
	const struct lt_batch_job *const job = lt_jobs_find(&l->books->jobs->list, l->job_id);

	return answer->start == LT_START_CANNOT ||
	       (answer->start == LT_START_CAN && job != NULL &&
		   strcmp(job->reason_text, "ReqNodeNotAvail") == 0 &&
		   answer->start_utc_s >= l->now_utc_s + LT_AFTER_AWAY_S &&
		   answer->start_utc_s >= job->eligible_utc_s + LT_AFTER_AWAY_S);
}

/* Puts Slurm's answer into its row; without a row it is asked again later. */
static void
ask_slurm(struct looking *l)
{
	struct lt_after_state *const state = l->after;
	struct lt_after *const row = row_of(state, l->job_id, l->place);
	const int64_t began_ms = lt_monotonic_ms();
	struct lt_start_answer answer;
	struct lt_error err = {0};

	if (row == NULL)
		return;
	const int code = lt_batch_can_start(&answer, l->job_id, &err);
	int64_t took_ms = lt_monotonic_ms() - began_ms;
	const bool failed = code != LT_OK && code != LT_ENOENT;
	if (failed && !state->failed)
		lt_log("can_start_failed", "error=\"%s\"", err.text);
	state->failed = failed;
	if (failed && took_ms <= LT_AFTER_SLOW_MS)
		took_ms = LT_AFTER_SLOW_MS + 1;
	state->asked++;
	state->pause_s = lt_after_pause_s(state->pause_s, took_ms);
	state->next_utc_s = l->now_utc_s + state->pause_s;
	if (failed)
		return;
	row->asked_utc_s = l->now_utc_s;
	row->was_due = l->begin_came;
	if (!says_no(l, &answer))
		row->cannot_utc_s = 0;
	else if (row->cannot_utc_s == 0)
		row->cannot_utc_s = l->now_utc_s;
	row->soon = false;
	if (row->cannot_utc_s != 0)
		take_no(l, row);
}

static int
run_looks(struct looking *l, struct lt_error *err)
{
	struct lt_after_state *const state = l->after;

	l->standing = malloc(sizeof(*l->standing));
	l->plan = malloc(sizeof(*l->plan));
	if (l->standing == NULL || l->plan == NULL)
		return lt_fail(err, LT_ENOMEM, "afterwards: out of memory");
	if (l->now_utc_s - state->pruned_utc_s >= PRUNED_EVERY_S ||
	    l->now_utc_s < state->pruned_utc_s) {
		prune(state, &l->books->jobs->list);
		state->pruned_utc_s = l->now_utc_s;
	}
	if (state->next_utc_s > l->now_utc_s + LT_AFTER_SLOW_MOST_S)
		state->next_utc_s = l->now_utc_s; /* the clock was set back */
	look_at(l, LT_REASON_NEVER, READ_A_PASS);
	look_at(l, LT_REASON_NOTHING, READ_TO_ASK);
	if (l->found && l->now_utc_s >= state->next_utc_s)
		ask_slurm(l);
	return LT_OK;
}

int
lt_afterwards_run(struct lt_site *site, const struct lt_books *books,
    struct lt_replan_state *replan, struct lt_after_state *after, int64_t now_utc_s,
    struct lt_error *err)
{
	struct looking l = {
	    .site = site, .books = books, .replan = replan, .after = after, .now_utc_s = now_utc_s};

	if (!lt_site_may(site, LT_MAY_EDIT) || !site->has_market || site->market.jobs_utc_s == 0 ||
	    !lt_replan_begin_market(&site->market, books->jobs, replan))
		return LT_OK;
	const int code = run_looks(&l, err);
	free(l.standing);
	free(l.plan);
	return code;
}

void
lt_afterwards_free(struct lt_after_state *state)
{
	free(state->jobs);
	*state = (struct lt_after_state){0};
}
