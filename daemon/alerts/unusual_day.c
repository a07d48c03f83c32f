/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Days of the site's zone, of an account with those below it, and what was used
 * in them: an adjustment is no usage. A week before the team's first entry, or
 * the ledger's, is missing: not zero.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alert.h"
#include "compile_members.h"
#include "daemon.h"
#include "log.h"
#include "periods.h"
#include "unusual_day.h"
#include "units.h"

enum {
	EVERY_S = LT_HOUR_S,
	WEEK = 7,
	SLOTS = 1 + LT_UNUSUAL_WEEKS, /* the day, then the weeks before it */
	SPAN = WEEK * LT_UNUSUAL_WEEKS,
	WHOLE_PERCENT = 100,
};

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

	/* A mean of 64-bit numbers passes none of the bounds but by rounding.
	 */
	*mean = usual >= 0x1p63	   ? INT64_MAX
		: usual <= -0x1p63 ? INT64_MIN
				   : llround(usual);
	return of->known >= LT_UNUSUAL_WEEKS_LEAST && above > 0 &&
	       above > (double)of->floor &&
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
	int64_t now_utc_s;
};

static int64_t
add(int64_t a, int64_t b)
{
	int64_t sum;

	return __builtin_add_overflow(a, b, &sum)
		   ? (b > 0 ? INT64_MAX : INT64_MIN)
		   : sum;
}

/* The account and those above it, as they stood then; accounts that are no more
 * stand in the tree, too. NULL = no further one. */
static struct team *
up(const struct days *days, int *at, int64_t then_utc_s, int depth)
{
	if (*at < 0 || depth == LT_TREE_DEPTH_MAX)
		return NULL;
	struct team *const team = &days->teams[*at];
	*at = lt_sheet_parent_then(
	    days->snapshot, days->moves, (uint32_t)*at, then_utc_s);
	return team;
}

/* An lt_day_function: of UTC, which will do to tell since when a team is there.
 */
static int
see_day(void *context, int64_t day, const struct lt_account_sum *sum,
    struct lt_error *err)
{
	struct days *const days = context;
	int at = lt_sheet_account(days->snapshot, sum->account);
	struct team *team;

	(void)err;
	for (int depth = 0;
	     (team = up(days, &at, day * LT_DAY_S, depth)) != NULL; depth++)
		if (team->first_day == 0)
			team->first_day = day;
	return LT_OK;
}

/* The day and the same one of the weeks before it. */
static int
add_days(struct lt_daemon *d, struct days *days, struct lt_error *err)
{
	int64_t at_utc_s = days->noon_utc_s;
	int code = LT_OK;

	for (int k = 0; code == LT_OK && k < SLOTS; k++) {
		char text[LT_DAY_TEXT_SIZE];
		struct lt_account_sum *sums = NULL;
		struct lt_span span;
		uint32_t count = 0;

		(void)lt_calendar_day(text, &span.from_utc_s, &span.to_utc_s,
		    &d->site.offsets, at_utc_s);
		code = lt_ledger_used(d->ledger, span, &sums, &count, err);
		for (uint32_t i = 0; code == LT_OK && i < count; i++) {
			int at =
			    lt_sheet_account(days->snapshot, sums[i].account);
			struct team *team;

			for (int depth = 0;
			     (team = up(days, &at, span.from_utc_s, depth)) !=
			     NULL;
			     depth++) {
				struct lt_amount *const slot = &team->slots[k];

				slot->money_micros = add(
				    slot->money_micros, sums[i].money_micros);
				slot->carbon_mg =
				    add(slot->carbon_mg, sums[i].carbon_mg);
			}
		}
		free(sums);
		at_utc_s -= WEEK * LT_DAY_S;
	}
	return code;
}

/* Its budgets or its owners are the policy's. */
static bool
is_told_of(const struct lt_daemon *d, const char *team)
{
	for (uint32_t i = 0; i < d->budget.snapshot.budget_count; i++)
		if (strcmp(d->budget.snapshot.budgets[i].team, team) == 0)
			return true;
	return lt_policy_owners_of(d->site.policy, team) != NULL;
}

static int
raise_day(struct lt_daemon *d, const char *team, const struct lt_unusual *of,
    const struct lt_alert *texts, struct lt_error *err)
{
	struct lt_alert alert = *texts, known;
	int code = lt_ledger_alert(d->ledger, alert.name, &known, err);

	if (code != LT_ENOENT)
		return code;
	alert.kind = LT_ALERT_DAY;
	alert.uid = LT_NOBODY_UID;
	alert.times = 1;
	alert.is_over = true;
	snprintf(alert.begins, sizeof(alert.begins), "%s", alert.name);
	snprintf(alert.team, sizeof(alert.team), "%s", team);
	code = lt_ledger_put_alert(d->ledger, &alert, err);
	if (code == LT_OK)
		lt_log("unusual_day", "team=%s weeks=%d text=\"%.*s\"", team,
		    of->known, (int)strcspn(alert.text, "\n"), alert.text);
	return code;
}

static void
write_text(struct lt_alert *alert, const char *team,
    const struct lt_unusual *of, const char *const figures[2], const char *date)
{
	snprintf(alert->subject, sizeof(alert->subject),
	    "lowtide: %s spent unusually much on %s", team, date);
	snprintf(alert->text, sizeof(alert->text),
	    "%s spent %s on %s, against a mean of %s on the same day of the %d weeks before.\n\n"
	    "By whom: lowtide report --team %s --from %s --to %s --by user\n"
	    "By what: lowtide report --team %s --from %s --to %s --runs\n",
	    team, figures[0], date, figures[1], of->known, team, date, date,
	    team, date, date);
}

static int
judge(struct lt_daemon *d, const struct days *days, uint32_t index,
    struct lt_error *err)
{
	const struct lt_policy_unusual *const policy =
	    &d->site.policy->notify.unusual;
	const struct team *const team = &days->teams[index];
	const char *const name = days->snapshot->accounts[index].name;
	const int64_t from = team->first_day > days->known_from
				 ? team->first_day
				 : days->known_from;
	struct lt_unusual money = {.percent = policy->percent,
	    .day = team->slots[0].money_micros,
	    .floor = policy->floor.money_micros};
	struct lt_unusual carbon = {.percent = policy->percent,
	    .day = team->slots[0].carbon_mg,
	    .floor = policy->floor.carbon_mg};
	struct lt_alert alert = {.made_utc_s = days->now_utc_s};
	char day[64], usual[64];
	int64_t mean;

	while (money.known < LT_UNUSUAL_WEEKS &&
	       days->day - WEEK * (money.known + 1) >= from) {
		const int week = money.known++;

		money.weeks[week] = team->slots[week + 1].money_micros;
		carbon.weeks[week] = team->slots[week + 1].carbon_mg;
	}
	carbon.known = money.known;
	const bool is_money =
	    policy->floor.has_money && lt_unusual_is(&money, &mean);
	if (!is_money &&
	    (!policy->floor.has_carbon || !lt_unusual_is(&carbon, &mean)))
		return LT_OK;
	if (!is_told_of(d, name))
		return LT_OK;
	if (is_money) {
		lt_money_text(
		    day, sizeof(day), money.day, d->site.policy->currency);
		lt_money_text(
		    usual, sizeof(usual), mean, d->site.policy->currency);
	} else {
		lt_carbon_text(day, sizeof(day), carbon.day);
		lt_carbon_text(usual, sizeof(usual), mean);
	}
	snprintf(
	    alert.name, sizeof(alert.name), "day:%s:%" PRId64, name, days->day);
	write_text(&alert, name, is_money ? &money : &carbon,
	    (const char *[]){day, usual}, days->date);
	return raise_day(d, name, is_money ? &money : &carbon, &alert, err);
}

static int
look(struct lt_daemon *d, struct days *days, struct lt_error *err)
{
	int64_t first_utc_s = 0;
	bool has = false;
	int code = lt_ledger_first_booked(d->ledger, &first_utc_s, &has, err);

	if (code != LT_OK || !has)
		return code;
	/* The ledger's first day may not be whole. */
	days->known_from = first_utc_s / LT_DAY_S + 1;
	code = lt_ledger_day_sums(d->ledger,
	    (struct lt_days_asked){days->day - SPAN, days->day}, see_day, days,
	    err);
	if (code == LT_OK)
		code = add_days(d, days, err);
	for (uint32_t i = 0; code == LT_OK && i < days->snapshot->account_count;
	     i++)
		if (days->teams[i].first_day != 0)
			code = judge(d, days, i, err);
	return code;
}

int
lt_unusual_days(struct lt_daemon *d, int64_t now_utc_s, struct lt_error *err)
{
	struct days days = {.snapshot = &d->budget.snapshot,
	    .moves = &d->site.tables.moves,
	    .now_utc_s = now_utc_s};
	int64_t from_utc_s, to_utc_s, today_utc_s;

	(void)lt_calendar_day(
	    days.date, &today_utc_s, &to_utc_s, &d->site.offsets, now_utc_s);
	days.day = lt_calendar_day(days.date, &from_utc_s, &to_utc_s,
	    &d->site.offsets, today_utc_s - 1);
	days.noon_utc_s = from_utc_s + (to_utc_s - from_utc_s) / 2;

	d->next.unusual = now_utc_s + EVERY_S;
	if (d->site.policy->notify.unusual.percent == 0 ||
	    d->charges.settled_until_utc_s < today_utc_s)
		return LT_OK;
	days.teams =
	    calloc(days.snapshot->account_count + 1u, sizeof(*days.teams));
	if (days.teams == NULL)
		return lt_fail(err, LT_ENOMEM, "unusual days: out of memory");
	const int code = look(d, &days, err);
	free(days.teams);
	return code;
}
