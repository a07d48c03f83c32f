/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Alerts that lowtided looks for by itself: a run that costs several times what was expected of it,
 * GPUs of a run that did nothing, a day on which a team spent unusually much. Each of them writes a
 * row of the ledger that is due, once: a name that is there was raised. alert_send.c sends it.
 * Percentages of budgets, which come back, are alerts.c's; a closed month is api_close.c's.
 *
 * Reads the policy's notify:, the list of jobs, the budget snapshot and the ledger. A kind is the
 * policy's with its limit, else nothing is looked at. A failure is its step's, which is tried
 * again; of runs that Slurm's accounting has measured it is that of the step that reads them.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "address.h"
#include "alert.h"
#include "alert_looks.h"
#include "alerter.h"
#include "batch.h"
#include "breath.h"
#include "compile_members.h"
#include "http.h"
#include "log.h"
#include "periods.h"
#include "price.h"
#include "site.h"
#include "text.h"
#include "units.h"

enum {
	PART = 20, /* of the time, where there is very much to look at */
	/* For GPUs: the first steps that are read cover older runs, too. */
	LATE_S = 2 * LT_DAY_S,
	WEEK = 7,
	SLOTS = 1 + LT_UNUSUAL_WEEKS, /* the day, then the weeks before it */
	SPAN = WEEK * LT_UNUSUAL_WEEKS,
	WHOLE_PERCENT = 100,
};

/* Writes down as due what is not there yet; *is_new: it was not. The alert has its name, kind, team
 * and text, and what else is its own. */
static int
raise_once(const struct lt_alerter *by, struct lt_alert *alert, bool *is_new, struct lt_error *err)
{
	struct lt_alert known;
	int code = lt_ledger_alert(by->ledger, alert->name, &known, err);

	*is_new = false;
	if (code != LT_ENOENT)
		return code;
	alert->times = 1;
	alert->is_over = true;
	memcpy(alert->begins, alert->name, sizeof(alert->begins));
	code = lt_ledger_put_alert(by->ledger, alert, err);
	*is_new = code == LT_OK;
	return code;
}

static void
put_address(struct lt_alert *alert, const char *to)
{
	if (lt_address_is(to))
		snprintf(alert->to, sizeof(alert->to), "%s", to);
}

/* Puts the user; on Kubernetes users are no addresses. */
static void
put_user(struct lt_alert *alert, const char *user)
{
	if (!lt_batch_is_near())
		put_address(alert, user);
}

/* ---- runs above what was expected of them ---- */

struct lt_amount
lt_run_cost_expected(const struct lt_quote *quote)
{
	const int64_t tasks = quote->tasks > 0 ? quote->tasks : 1;
	struct lt_amount one = quote->plan_expected;

	one.money_micros /= tasks;
	one.carbon_mg /= tasks;
	/* Nothing, or a credit, has no multiples. */
	one.has_money &= one.money_micros > 0;
	one.has_carbon &= one.carbon_mg > 0;
	return one;
}

bool
lt_run_cost_is_above(const struct lt_amount *cost, const struct lt_amount *expected, double times)
{
	if (cost->has_money && expected->has_money)
		return (double)cost->money_micros > times * (double)expected->money_micros;
	return cost->has_carbon && expected->has_carbon &&
	       (double)cost->carbon_mg > times * (double)expected->carbon_mg;
}

struct run_cost { /* one that is above */
	const struct lt_batch_job *job;
	struct lt_amount cost, expected;
	char cost_text[64], expected_text[64];
};

static void
write_cost_figures(struct run_cost *of, const char *currency)
{
	if (of->cost.has_money && of->expected.has_money) {
		lt_money_text(
		    of->cost_text, sizeof(of->cost_text), of->cost.money_micros, currency);
		lt_money_text(of->expected_text, sizeof(of->expected_text),
		    of->expected.money_micros, currency);
	} else {
		lt_carbon_text(of->cost_text, sizeof(of->cost_text), of->cost.carbon_mg);
		lt_carbon_text(
		    of->expected_text, sizeof(of->expected_text), of->expected.carbon_mg);
	}
}

static void
write_cost_text(struct lt_alert *alert, const struct run_cost *of, const struct lt_alerter *by)
{
	const struct lt_batch_job *const job = of->job;
	char address[LT_JOB_ADDRESS_SIZE], since[64];
	struct lt_text text = {.out = alert->text, .size = sizeof(alert->text)};
	const bool has_name = job->name != NULL && job->name[0] != '\0';

	lt_job_address(address, job);
	lt_zone_text(since, sizeof(since), &by->site->market.zone, job->start_utc_s, by->now_utc_s);
	snprintf(alert->subject, sizeof(alert->subject),
	    "lowtide: job %s has cost more than %g times what was expected", address,
	    by->site->policy->notify.alerts.run_above);
	lt_text_put(&text,
	    "Job %s%s%.200s%s of %s in %s has cost %s since %s: %s was expected of all of it.\n"
	    "It runs on.\n\n"
	    "How it went: lowtide explain %s\n"
	    "Cancel it:   scancel %s\n",
	    address, has_name ? " (" : "", has_name ? job->name : "", has_name ? ")" : "",
	    job->user, job->account, of->cost_text, since, of->expected_text, address, address);
	lt_text_lines(alert->text);
}

static int
raise_cost(const struct lt_alerter *by, struct run_cost *of, const struct lt_quote *quote,
    struct lt_error *err)
{
	const struct lt_batch_job *const job = of->job;
	struct lt_alert alert = {.kind = LT_ALERT_RUN,
	    .uid = job->uid,
	    .job_id = job->job_id,
	    .quote_id = quote->id,
	    .made_utc_s = by->now_utc_s};
	bool is_new;

	snprintf(alert.name, sizeof(alert.name), "run:%u:%016" PRIx64 ":%" PRId64, job->job_id,
	    quote->id, job->start_utc_s);
	lt_copy_lower(alert.team, sizeof(alert.team), job->account);
	write_cost_figures(of, by->site->policy->currency);
	write_cost_text(&alert, of, by);
	if (job->mail_to != NULL)
		put_address(&alert, job->mail_to);
	else
		put_user(&alert, job->user);
	const int code = raise_once(by, &alert, &is_new, err);
	if (is_new)
		lt_log("run_alert", "job=%u team=%s cost=\"%s\" expected=\"%s\"", job->job_id,
		    alert.team, of->cost_text, of->expected_text);
	return code;
}

static int
look_at_run(const struct lt_alerter *by, const struct lt_batch_job *job, struct lt_error *err)
{
	struct lt_quote quote;
	struct run_cost of = {.job = job};

	/* A heterogeneous job's quote is for all its components. */
	if (job->state != LT_JOB_RUNNING || job->het_job_id != 0 || job->admin_comment == NULL ||
	    lt_quote_unpack(&quote, job->admin_comment, strlen(job->admin_comment), NULL) != LT_OK)
		return LT_OK;
	of.expected = lt_run_cost_expected(&quote);
	if (!of.expected.has_money && !of.expected.has_carbon)
		return LT_OK;
	of.cost = lt_so_far(job, &by->site->market, by->ledger, by->now_utc_s);
	return lt_run_cost_is_above(
		   &of.cost, &of.expected, by->site->policy->notify.alerts.run_above)
		   ? raise_cost(by, &of, &quote, err)
		   : LT_OK;
}

/* A look at all that run. One that fails keeps nobody: the first failure is the step's. */
static int
look_at_runs(const struct lt_alerter *by, struct lt_error *err)
{
	int code = LT_OK;

	if (!(by->site->policy->notify.alerts.run_above > 0))
		return LT_OK;
	lt_breath(LT_TURN_COMMITTED);
	for (uint32_t i = 0; i < by->jobs->list.count; i++) {
		struct lt_error failed = {0};

		lt_breath(LT_TURN_READ);
		if (look_at_run(by, &by->jobs->list.jobs[i], &failed) != LT_OK && code == LT_OK)
			code = lt_fail(err, failed.code, "%s", failed.text);
	}
	return code;
}

/* ---- GPUs that did nothing ---- */

static int64_t
length_of(const struct lt_run *run)
{
	return run->end_utc_s - run->start_utc_s - run->suspended_s;
}

bool
lt_idle_gpus_are(const struct lt_run *run, int64_t least_s)
{
	return run->gpus > 0 && run->used.has_gpu && run->used.gpu_ppm < LT_IDLE_GPUS_PPM &&
	       length_of(run) >= least_s;
}

static void
write_idle_text(struct lt_alert *alert, const struct lt_run *run, const char *currency)
{
	struct lt_text text = {.out = alert->text, .size = sizeof(alert->text)};
	char length[32], cost[64];

	snprintf(alert->subject, sizeof(alert->subject), "lowtide: the GPUs of job %u did nothing",
	    run->key.job_id);
	lt_text_put(&text,
	    "Job %u of %s in %s had %u GPU%s for %s, and by Slurm's accounting %s did nothing.\n",
	    run->key.job_id, run->user, run->account, run->gpus, run->gpus == 1 ? "" : "s",
	    lt_duration_text(length, sizeof(length), length_of(run)),
	    run->gpus == 1 ? "it" : "they");
	if (run->priced)
		lt_text_put(&text, "The run cost %s.\n",
		    lt_money_text(cost, sizeof(cost), run->money_micros, currency));
	lt_text_put(&text,
	    "\nNext time, if it needs none: leave out --gpus, --gpus-per-node, --gpus-per-task and --gres=gpu\n"
	    "If it does:                  run nvidia-smi in the job, to see whether it finds them\n"
	    "How it went:                 lowtide explain %u\n",
	    run->key.job_id);
	lt_text_lines(alert->text);
}

/* A look at a run that ended not long ago. */
static int
look_at_gpus(const struct lt_alerter *by, const struct lt_run *run, struct lt_error *err)
{
	const int64_t least_s = by->site->policy->notify.alerts.idle_gpus_s;
	struct lt_alert alert = {.kind = LT_ALERT_IDLE,
	    .uid = run->uid,
	    .job_id = run->key.job_id,
	    .quote_id = run->quote_id,
	    .made_utc_s = by->now_utc_s};
	bool is_new;

	if (least_s <= 0 || by->now_utc_s - run->end_utc_s > LATE_S ||
	    !lt_idle_gpus_are(run, least_s))
		return LT_OK;
	snprintf(alert.name, sizeof(alert.name), "idle:%u:%" PRId64 ":%" PRId64, run->key.job_id,
	    run->key.submit_utc_s, run->start_utc_s);
	lt_copy_lower(alert.team, sizeof(alert.team), run->account);
	write_idle_text(&alert, run, by->site->policy->currency);
	put_user(&alert, run->user);
	const int code = raise_once(by, &alert, &is_new, err);
	if (is_new)
		lt_log(
		    "idle_gpus", "job=%u team=%s gpus=%u", run->key.job_id, alert.team, run->gpus);
	return code;
}

/* ---- unusual days ---- */

/* Days of the site's zone, of an account with those below it, and what was used in them: an
 * adjustment is no usage. A week before the team's first entry, or the ledger's, is missing: not
 * zero. */

bool
lt_unusual_is(const struct lt_unusual *of, int64_t *mean)
{
	double sum = 0;

	*mean = 0;
	for (int i = 0; i < of->known; i++)
		sum += (double)of->weeks[i];
	if (of->known == 0)
		return false;
	const double usual = sum / of->known;
	const double above = (double)of->day - usual;

	/* A mean of 64-bit numbers passes none of the bounds but by rounding. */
	*mean = usual >= 0x1p63 ? INT64_MAX : usual <= -0x1p63 ? INT64_MIN : llround(usual);
	return of->known >= LT_UNUSUAL_WEEKS_LEAST && above > 0 && above > (double)of->floor &&
	       above * WHOLE_PERCENT > usual * of->percent;
}

struct team { /* of each account of the snapshot, by its index */
	struct lt_amount slots[SLOTS];
	int64_t first_day; /* of the span, with an entry; 0 = none */
};
struct days {
	const struct lt_budget_snapshot *snapshot;
	const struct lt_account_moves *moves;
	struct team *teams; /* malloc'd */
	int64_t day;	    /* since 1970-01-01; slot 0 */
	int64_t noon_utc_s; /* amid that day */
	char date[LT_DAY_TEXT_SIZE];
	int64_t known_from; /* nothing is known of days before */
};

static int64_t
add_amounts(int64_t a, int64_t b)
{
	int64_t sum;

	return __builtin_add_overflow(a, b, &sum) ? (b > 0 ? INT64_MAX : INT64_MIN) : sum;
}

/* The account and those above it, as they stood then; accounts that are no more stand in the tree,
 * too. NULL = no further one. */
static struct team *
climb_team(const struct days *days, int *at, int64_t then_utc_s, int depth)
{
	if (*at < 0 || depth == LT_TREE_DEPTH_MAX)
		return NULL;
	struct team *const team = &days->teams[*at];
	*at = lt_sheet_parent_then(days->snapshot, days->moves, (uint32_t)*at, then_utc_s);
	return team;
}

/* Notes a day on which a team had costs, an lt_day_function: days of UTC are good enough to find
 * since when a team is there. */
static int
see_day(void *context, int64_t day, const struct lt_account_sum *sum, struct lt_error *err)
{
	struct days *const days = context;
	int at = lt_sheet_account(days->snapshot, sum->account);
	struct team *team;

	(void)err;
	for (int depth = 0; (team = climb_team(days, &at, day * LT_DAY_S, depth)) != NULL; depth++)
		if (team->first_day == 0)
			team->first_day = day;
	return LT_OK;
}

/* Adds the day and the same one of the weeks before it. */
static int
add_days(const struct lt_alerter *by, struct days *days, struct lt_error *err)
{
	int64_t at_utc_s = days->noon_utc_s;
	int code = LT_OK;

	for (int k = 0; code == LT_OK && k < SLOTS; k++) {
		char text[LT_DAY_TEXT_SIZE];
		struct lt_account_sum *sums = NULL;
		struct lt_span span;
		uint32_t count = 0;

		(void)lt_calendar_day(
		    text, &span.from_utc_s, &span.to_utc_s, &by->site->offsets, at_utc_s);
		code = lt_ledger_used(by->ledger, span, &sums, &count, err);
		for (uint32_t i = 0; code == LT_OK && i < count; i++) {
			int at = lt_sheet_account(days->snapshot, sums[i].account);
			struct team *team;

			for (int depth = 0;
			     (team = climb_team(days, &at, span.from_utc_s, depth)) != NULL;
			     depth++) {
				struct lt_amount *const slot = &team->slots[k];

				slot->money_micros =
				    add_amounts(slot->money_micros, sums[i].money_micros);
				slot->carbon_mg = add_amounts(slot->carbon_mg, sums[i].carbon_mg);
			}
		}
		free(sums);
		at_utc_s -= WEEK * LT_DAY_S;
	}
	return code;
}

/* Its budgets or its owners are the policy's. */
static bool
is_told_of(const struct lt_alerter *by, const char *team)
{
	for (uint32_t i = 0; i < by->budget->snapshot.budget_count; i++)
		if (strcmp(by->budget->snapshot.budgets[i].team, team) == 0)
			return true;
	return lt_policy_owners_of(by->site->policy, team) != NULL;
}

static void
write_day_text(struct lt_alert *alert, const struct lt_unusual *of, const char *spent,
    const char *mean, const char *date)
{
	const char *const team = alert->team;

	snprintf(alert->subject, sizeof(alert->subject), "lowtide: %s spent unusually much on %s",
	    team, date);
	snprintf(alert->text, sizeof(alert->text),
	    "%s spent %s on %s, against a mean of %s on the same day of the %d weeks before.\n\n"
	    "By whom: lowtide report --team %s --from %s --to %s --by user\n"
	    "By what: lowtide report --team %s --from %s --to %s --runs\n",
	    team, spent, date, mean, of->known, team, date, date, team, date, date);
}

static int
judge_day(
    const struct lt_alerter *by, const struct days *days, uint32_t index, struct lt_error *err)
{
	const uint32_t percent = by->site->policy->notify.alerts.unusual.percent;
	const struct lt_amount floor = by->site->policy->notify.alerts.unusual.floor;
	const struct team *const team = &days->teams[index];
	const char *const name = days->snapshot->accounts[index].name;
	const int64_t from =
	    team->first_day > days->known_from ? team->first_day : days->known_from;
	struct lt_unusual money = {
	    .percent = percent, .day = team->slots[0].money_micros, .floor = floor.money_micros};
	struct lt_unusual carbon = {
	    .percent = percent, .day = team->slots[0].carbon_mg, .floor = floor.carbon_mg};
	struct lt_alert alert = {
	    .kind = LT_ALERT_DAY, .uid = LT_NOBODY_UID, .made_utc_s = by->now_utc_s};
	bool is_new;
	char day[64], usual[64];
	int64_t mean;

	while (money.known < LT_UNUSUAL_WEEKS && days->day - WEEK * (money.known + 1) >= from) {
		const int week = money.known++;

		money.weeks[week] = team->slots[week + 1].money_micros;
		carbon.weeks[week] = team->slots[week + 1].carbon_mg;
	}
	carbon.known = money.known;
	const bool is_money = floor.has_money && lt_unusual_is(&money, &mean);
	if (!is_money && (!floor.has_carbon || !lt_unusual_is(&carbon, &mean)))
		return LT_OK;
	if (!is_told_of(by, name))
		return LT_OK;
	if (is_money) {
		lt_money_text(day, sizeof(day), money.day, by->site->policy->currency);
		lt_money_text(usual, sizeof(usual), mean, by->site->policy->currency);
	} else {
		lt_carbon_text(day, sizeof(day), carbon.day);
		lt_carbon_text(usual, sizeof(usual), mean);
	}
	snprintf(alert.name, sizeof(alert.name), "day:%s:%" PRId64, name, days->day);
	snprintf(alert.team, sizeof(alert.team), "%s", name);
	write_day_text(&alert, is_money ? &money : &carbon, day, usual, days->date);
	const int code = raise_once(by, &alert, &is_new, err);
	if (is_new)
		lt_log("unusual_day", "team=%s weeks=%d text=\"%.*s\"", name, money.known,
		    (int)strcspn(alert.text, "\n"), alert.text);
	return code;
}

static int
judge_days(const struct lt_alerter *by, struct days *days, struct lt_error *err)
{
	int64_t first_utc_s = 0;
	bool has = false;
	int code = lt_ledger_first_booked(by->ledger, &first_utc_s, &has, err);

	if (code != LT_OK || !has)
		return code;
	/* The ledger's first day may not be whole. */
	days->known_from = first_utc_s / LT_DAY_S + 1;
	code = lt_ledger_day_sums(
	    by->ledger, (struct lt_days_asked){days->day - SPAN, days->day}, see_day, days, err);
	if (code == LT_OK)
		code = add_days(by, days, err);
	for (uint32_t i = 0; code == LT_OK && i < days->snapshot->account_count; i++)
		if (days->teams[i].first_day != 0)
			code = judge_day(by, days, i, err);
	return code;
}

/* Looks at the last whole day, once all of it is settled; again and again, for what comes late. */
static int
look_at_days(const struct lt_alerter *by, struct lt_error *err)
{
	struct days days = {.snapshot = &by->budget->snapshot, .moves = &by->site->tables.moves};
	int64_t from_utc_s, to_utc_s, today_utc_s;

	(void)lt_calendar_day(
	    days.date, &today_utc_s, &to_utc_s, &by->site->offsets, by->now_utc_s);
	days.day =
	    lt_calendar_day(days.date, &from_utc_s, &to_utc_s, &by->site->offsets, today_utc_s - 1);
	days.noon_utc_s = from_utc_s + (to_utc_s - from_utc_s) / 2;

	if (by->site->policy->notify.alerts.unusual.percent == 0 ||
	    by->charges->settled_until_utc_s < today_utc_s)
		return LT_OK;
	days.teams = calloc(days.snapshot->account_count + 1u, sizeof(*days.teams));
	if (days.teams == NULL)
		return lt_fail(err, LT_ENOMEM, "unusual days: out of memory");
	const int code = judge_days(by, &days, err);
	free(days.teams);
	return code;
}

/* ---- all kinds ---- */

static const struct alert_look {
	/* Goes over all that there is, every so many seconds. */
	int (*look)(const struct lt_alerter *by, struct lt_error *err);
	int64_t every_s;
	bool by_jobs; /* needs the list of jobs; else the budget snapshot */
	/* Called for each run that Slurm's accounting has measured, within a transaction. */
	int (*look_at_run)(
	    const struct lt_alerter *by, const struct lt_run *run, struct lt_error *err);
} looks[LT_ALERT_KIND_COUNT] = {
    [LT_ALERT_RUN] = {.look = look_at_runs, .every_s = 60, .by_jobs = true},
    [LT_ALERT_DAY] = {.look = look_at_days, .every_s = LT_HOUR_S},
    [LT_ALERT_IDLE] = {.look_at_run = look_at_gpus},
};

bool
lt_alert_look_is_due(const struct lt_alerter *by, enum lt_message_kind kind)
{
	const struct alert_look *const one = &LT_ROW(looks, kind);

	return one->look != NULL && by->site->policy->notify.is_set &&
	       (one->by_jobs ? by->jobs->list.begun_utc_s != 0 : by->budget->has_snapshot) &&
	       by->now_utc_s >= by->alerts->next.looks[kind];
}

int
lt_alert_look(const struct lt_alerter *by, enum lt_message_kind kind, struct lt_error *err)
{
	const struct alert_look *const one = &LT_ROW(looks, kind);
	const int64_t began_ms = lt_monotonic_ms();
	const int code = one->look(by, err);
	const int64_t wait_s = PART * (lt_monotonic_ms() - began_ms) / 1000;

	by->alerts->next.looks[kind] =
	    by->now_utc_s + (wait_s > one->every_s ? wait_s : one->every_s);
	return code;
}

int
lt_alerts_look_at_run(const struct lt_alerter *by, const struct lt_run *run, struct lt_error *err)
{
	int code = LT_OK;

	for (int kind = 0; code == LT_OK && kind < LT_ALERT_KIND_COUNT; kind++) {
		const struct alert_look *const one = &LT_ROW(looks, kind);

		if (one->look_at_run != NULL && by->site->policy->notify.is_set)
			code = one->look_at_run(by, run, err);
	}
	return code;
}
