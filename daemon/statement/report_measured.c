/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes what a report measured: the savings of moved jobs against those that were kept, and how
 * good quotes were. docs/model.md, eqs. (59) and (60). Reads quoted runs from the ledger. Too few
 * jobs make null, never 0; without any quote that was carried out there is no such member.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "grow.h"
#include "measured.h"
#include "quoted.h"
#include "report_parts.h"
#include "units.h"

enum currency { MONEY, CARBON, CURRENCIES };
enum by { BY_WORK, BY_QUOTE, BYS }; /* what charges are compared by */

struct figure { /* of a job */
	bool known[BYS];
	double baseline[BYS], charged;
};

struct job {
	uint64_t draw;
	bool is_kept;
	struct figure figures[CURRENCIES];
};

struct measuring {
	const struct lt_report_work *work;
	struct lt_quoted job; /* the runs so far of the one that is read */
	bool has_job;
	struct job *jobs; /* those that are compared */
	uint32_t count;
	size_t capacity;
	int64_t moved_jobs, kept_jobs, left_jobs;
	double base[CURRENCIES], base_charged[CURRENCIES]; /* of moved ones */
	bool has_base[CURRENCIES];
	double *errors[CURRENCIES]; /* of quotes */
	uint32_t error_count[CURRENCIES];
	size_t error_capacity[CURRENCIES];
	int64_t deadline_jobs, deadlines_met, stated_ppm; /* stated: a sum */
	int64_t waited_s;
	/* Moved ones that are known beside what they would have come to, and those that came to
	 * more; by currency, or in any. */
	int64_t known_jobs, worse_jobs, worse_by[CURRENCIES];
	bool has_any;
};

static double
amount_of(const struct lt_amount *amount, enum currency currency, bool *has)
{
	*has = currency == MONEY ? amount->has_money : amount->has_carbon;
	return (double)(currency == MONEY ? amount->money_micros : amount->carbon_mg);
}

static int
add_error(struct measuring *m, enum currency currency, struct lt_error *err)
{
	bool has_plan, has_charge;
	const double plan = amount_of(&m->job.plan, currency, &has_plan);
	const double charge = amount_of(&m->job.charged, currency, &has_charge);

	if (!has_plan || !has_charge || charge <= 0)
		return LT_OK;
	double *const grown = lt_items_grow(m->errors[currency], &m->error_capacity[currency],
	    m->error_count[currency], sizeof(*grown));
	if (grown == NULL)
		return lt_fail(err, LT_ENOMEM, "report: out of memory");
	m->errors[currency] = grown;
	grown[m->error_count[currency]++] = fabs(plan - charge) / charge;
	return LT_OK;
}

static void
add_deadline(struct measuring *m)
{
	const struct lt_quoted *const job = &m->job;

	if (job->deadline_utc_s == 0 || job->end == LT_QUOTED_OTHER)
		return;
	m->deadline_jobs++;
	m->deadlines_met +=
	    job->end == LT_QUOTED_COMPLETED && job->end_utc_s <= job->deadline_utc_s;
	m->stated_ppm += job->stated_ppm;
}

/* A micro, or a milligram, is rounding. */
static void
add_worse(struct measuring *m)
{
	const struct lt_quoted *const job = &m->job;
	bool is_known = false, is_worse = false;

	if (job->compared != LT_COMPARED_MOVED)
		return;
	for (int c = 0; c < CURRENCIES; c++) {
		bool has_charge, has_base;
		const double charged = amount_of(&job->charged, (enum currency)c, &has_charge);
		const double base = amount_of(&job->base, (enum currency)c, &has_base);

		if (!has_charge || !has_base || (c == MONEY && m->work->currency[0] == '\0'))
			continue;
		is_known = true;
		m->worse_by[c] += charged > base + 1;
		is_worse |= charged > base + 1;
	}
	m->known_jobs += is_known;
	m->worse_jobs += is_worse;
}

static int
add_compared(struct measuring *m, struct lt_error *err)
{
	const struct lt_quoted *const from = &m->job;
	const bool is_kept = from->compared == LT_COMPARED_KEPT;
	struct job *const grown = lt_items_grow(m->jobs, &m->capacity, m->count, sizeof(*grown));

	if (grown == NULL)
		return lt_fail(err, LT_ENOMEM, "report: out of memory");
	m->jobs = grown;
	struct job *const job = &grown[m->count++];
	*job = (struct job){.draw = from->draw, .is_kept = is_kept};
	add_worse(m);
	for (int c = 0; c < CURRENCIES; c++) {
		struct figure *const figure = &job->figures[c];
		const struct lt_amount *const by[BYS] = {&from->work, &from->home};
		bool has_charge, has_base;
		const double base = amount_of(&from->base, (enum currency)c, &has_base);

		figure->charged = amount_of(&from->charged, (enum currency)c, &has_charge);
		for (int b = 0; b < BYS; b++) {
			figure->baseline[b] = amount_of(by[b], (enum currency)c, &figure->known[b]);
			figure->known[b] &= has_charge;
		}
		if (is_kept || !figure->known[BY_WORK] || !has_base)
			continue;
		m->has_base[c] = true;
		m->base[c] += base;
		m->base_charged[c] += figure->charged;
	}
	m->moved_jobs += !is_kept;
	m->kept_jobs += is_kept;
	m->left_jobs += from->left;
	return LT_OK;
}

/* All runs of a job are read. */
static int
end_job(struct measuring *m, struct lt_error *err)
{
	int code = LT_OK;

	if (!m->has_job)
		return LT_OK;
	m->has_job = false;
	if (m->job.compared != LT_COMPARED_NOT)
		code = add_compared(m, err);
	for (int c = 0; code == LT_OK && c < CURRENCIES && m->job.end == LT_QUOTED_COMPLETED; c++)
		code = add_error(m, (enum currency)c, err);
	add_deadline(m);
	if (m->job.compared != LT_COMPARED_KEPT)
		m->waited_s += m->job.waited_s;
	return code;
}

static void
add_amount(struct lt_amount *sum, const struct lt_amount *more)
{
	sum->has_money &= more->has_money;
	sum->has_carbon &= more->has_carbon;
	if (__builtin_add_overflow(sum->money_micros, more->money_micros, &sum->money_micros))
		sum->has_money = false;
	if (__builtin_add_overflow(sum->carbon_mg, more->carbon_mg, &sum->carbon_mg))
		sum->has_carbon = false;
}

/* Takes a run into its job: sums over several runs, and how the last ended. */
static int
take_quoted(void *context, const struct lt_quoted *run, struct lt_error *err)
{
	struct measuring *const m = context;
	const struct lt_report_account *const account = lt_report_account_of(m->work, run->account);

	if (!lt_report_is_seen(account, run->end_utc_s - 1) || account->own_sums)
		return LT_OK;
	m->has_any = true;
	if (m->has_job && m->job.quote_id == run->quote_id &&
	    m->job.run.job_id == run->run.job_id) {
		add_amount(&m->job.charged, &run->charged);
		add_amount(&m->job.base, &run->base);
		add_amount(&m->job.work, &run->work);
		m->job.end_utc_s = run->end_utc_s;
		m->job.end = run->end;
		m->job.left |= run->left;
		return LT_OK;
	}
	const int code = end_job(m, err);
	m->job = *run;
	m->has_job = true;
	return code;
}

static int
by_user(const void *a, const void *b)
{
	const struct job *const x = a, *const y = b;

	if (x->draw != y->draw)
		return x->draw < y->draw ? -1 : 1;
	return x->is_kept - y->is_kept;
}

static int
by_size(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/* Jobs of a user and period are drawn as one. */
static uint32_t
fill_users(
    struct lt_measured_user *users, const struct measuring *m, enum currency currency, enum by by)
{
	const struct job *last = NULL;
	uint32_t count = 0;

	for (uint32_t i = 0; i < m->count; i++) {
		const struct job *const job = &m->jobs[i];
		const struct figure *const figure = &job->figures[currency];

		if (!figure->known[by])
			continue;
		if (last == NULL || by_user(last, job) != 0)
			users[count++] = (struct lt_measured_user){.is_kept = job->is_kept};
		users[count - 1].baseline += figure->baseline[by];
		users[count - 1].charged += figure->charged;
		last = job;
	}
	return count;
}

struct compared { /* of all users */
	struct lt_measured measured;
	double charged; /* of those that were moved */
	int64_t kept_count;
	bool has_any;
};

static int
compare_costs(struct compared *c, const struct measuring *m, enum currency currency, enum by by,
    struct lt_error *err)
{
	struct lt_measured_user *const users = calloc((size_t)m->count + 1, sizeof(*users));

	*c = (struct compared){.charged = 0};
	if (users == NULL)
		return lt_fail(err, LT_ENOMEM, "report: out of memory");
	const uint32_t count = fill_users(users, m, currency, by);
	for (uint32_t i = 0; i < count; i++) {
		c->kept_count += users[i].is_kept;
		c->charged += users[i].is_kept ? 0 : users[i].charged;
	}
	c->has_any = count > 0;
	const int code = lt_measure(&c->measured, users, count, err);
	free(users);
	return code;
}

/* The saving of moving, if the cost was that part of the cost without it. */
static json_t *
saved_json(const struct compared *c, double ratio)
{
	static const double most = 9e18;
	const bool has = c->measured.has_interval;
	const double saved = has ? c->charged / ratio - c->charged : 0;

	return lt_api_optional(has && fabs(saved) < most, llround(fabs(saved) < most ? saved : 0));
}

/* NULL: err says why. */
static json_t *
currency_json(const struct measuring *m, enum currency currency, struct lt_error *err)
{
	struct compared by[BYS];

	for (int b = 0; b < BYS; b++)
		if (compare_costs(&by[b], m, currency, (enum by)b, err) != LT_OK)
			return NULL;
	const struct compared *const work = &by[BY_WORK];
	const struct compared *const quote = &by[BY_QUOTE];
	return json_pack("{s:I,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o}", "kept_user_days",
	    (json_int_t)work->kept_count, "charged",
	    lt_api_optional(work->has_any, llround(work->charged)), "saved",
	    saved_json(work, work->measured.ratio), "saved_low",
	    saved_json(work, work->measured.high), "saved_high",
	    saved_json(work, work->measured.low), "by_quote_charged",
	    lt_api_optional(quote->has_any, llround(quote->charged)), "by_quote_low",
	    saved_json(quote, quote->measured.high), "by_quote_high",
	    saved_json(quote, quote->measured.low), "modelled",
	    lt_api_optional(work->has_any && m->has_base[currency],
		llround(m->base[currency] - m->base_charged[currency])));
}

static json_t *
error_json(struct measuring *m, enum currency currency, bool is_shown)
{
	static const double most = 1e12;
	double *const all = m->errors[currency];
	const uint32_t count = m->error_count[currency];

	if (count == 0 || !is_shown)
		return json_null();
	qsort(all, count, sizeof(*all), by_size);
	const double median = (all[(count - 1) / 2] + all[count / 2]) / 2;
	return json_integer(llround(fmin(median, most) * LT_MICROS));
}

static json_t *
measured_json(struct measuring *m, struct lt_error *err)
{
	const bool has_money = m->work->currency[0] != '\0';

	if (m->count > 1)
		qsort(m->jobs, m->count, sizeof(*m->jobs), by_user);
	json_t *const money = has_money ? currency_json(m, MONEY, err) : json_null();
	json_t *const carbon = money != NULL ? currency_json(m, CARBON, err) : NULL;
	const uint32_t quoted = m->error_count[MONEY] > m->error_count[CARBON]
				    ? m->error_count[MONEY]
				    : m->error_count[CARBON];

	if (carbon == NULL) {
		json_decref(money);
		return NULL;
	}
	return json_pack("{s:I,s:I,s:I,s:o,s:o,s:{s:I,s:o,s:o,s:I,s:I,s:o}}", "moved_jobs",
	    (json_int_t)m->moved_jobs, "kept_jobs", (json_int_t)m->kept_jobs, "left_jobs",
	    (json_int_t)m->left_jobs, "micros", money, "mg", carbon, "quotes", "jobs",
	    (json_int_t)quoted, "median_error_ppm", error_json(m, MONEY, has_money),
	    "median_error_mg_ppm", error_json(m, CARBON, true), "deadline_jobs",
	    (json_int_t)m->deadline_jobs, "deadlines_met", (json_int_t)m->deadlines_met,
	    "stated_ppm",
	    lt_api_optional(
		m->deadline_jobs > 0, m->deadline_jobs > 0 ? m->stated_ppm / m->deadline_jobs : 0));
}

/* Sets figures of open periods only: older statements of closed periods do not have them, and stay
 * as they are. */
static void
set_of_open(json_t *json, const struct measuring *m)
{
	json_object_set_new(json, "waited_s", json_integer(m->waited_s));
	json_object_set_new(json, "worse",
	    json_pack("{s:I,s:I,s:o,s:I}", "known_jobs", (json_int_t)m->known_jobs, "jobs",
		(json_int_t)m->worse_jobs, "money_jobs",
		lt_api_optional(m->work->currency[0] != '\0', m->worse_by[MONEY]), "carbon_jobs",
		(json_int_t)m->worse_by[CARBON]));
}

int
lt_report_measured(
    json_t **json, const struct lt_report_view *view, bool is_whole, struct lt_error *err)
{
	struct measuring m = {.work = view->work};
	int code =
	    lt_ledger_each_quoted(view->ledger, lt_report_span(view->period), take_quoted, &m, err);

	*json = NULL;
	if (code == LT_OK)
		code = end_job(&m, err);
	if (code == LT_OK && m.has_any) {
		*json = measured_json(&m, err);
		if (*json == NULL)
			code = lt_fail(err, LT_ENOMEM, "report: what was measured");
		else if (is_whole)
			set_of_open(*json, &m);
	}
	free(m.jobs);
	for (int c = 0; c < CURRENCIES; c++)
		free(m.errors[c]);
	return code;
}

int
lt_report_put_measured(struct lt_out *out, const struct lt_report_view *view, struct lt_error *err)
{
	json_t *json;
	const int code = lt_report_measured(&json, view, !view->is_closed, err);

	if (code == LT_OK && json != NULL) {
		lt_out_text(out, ",");
		lt_report_put_members(out, json_pack("{s:o}", "measured", json));
	}
	return code;
}
