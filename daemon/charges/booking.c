/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Turns a charge, which is exact, into the ledger's entries, which are whole:
 * the hours are cut from the run's rounded figures, so that they add up to them. Takes the discount
 * for a run's wait off them.
 *
 * Reads rates and granted discounts from the ledger; writes only the caller's run and entries.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "baseline.h"
#include "booking.h"
#include "ledger.h"
#include "periods.h"
#include "site.h"
#include "units.h"

/* The cost of nodes and the charge for carbon are rounded each; the carry belongs to the first. */
static int
round_run(struct lt_run *run, const struct lt_charge *charge, struct lt_ledger *ledger,
    struct lt_error *err)
{
	const double nodes = charge->money_micros - charge->carbon_charge_micros;
	int code = LT_OK;

	if (nodes != 0)
		code = lt_ledger_round(ledger, (struct lt_carry_key){.partition = run->partition},
		    nodes, &run->money_micros, err);
	if (code == LT_OK && charge->carbon_mg != 0)
		code = lt_ledger_round(ledger,
		    (struct lt_carry_key){.partition = run->partition, .is_carbon = true},
		    charge->carbon_mg, &run->carbon_mg, err);
	run->parts.carbon_charge_micros = llround(charge->carbon_charge_micros);
	run->money_micros += run->parts.carbon_charge_micros;
	run->energy_wh = (int64_t)(charge->energy_wh + 0.5);
	return code;
}

/* Returns an hour's part of a figure, by its place in lt_entry_figures(): its own, or, of a saving,
 * an equal one: money is saved where it is spent. */
static double
part_of(const struct lt_charge_hour *hour, int figure, double equal)
{
	const double own[LT_ENTRY_FIGURES] = {hour->money_micros, hour->carbon_mg, hour->energy_wh,
	    equal, equal, equal, equal, equal, equal, hour->carbon_charge_micros, equal};

	return own[figure];
}

static int
cut_hours(struct lt_entry *entries, const struct lt_run *run, const struct lt_charge *charge,
    struct lt_error *err)
{
	const uint32_t n = charge->hour_count;
	double *const exact = calloc((size_t)n + 1, sizeof(*exact));
	int64_t *const parts = calloc((size_t)n + 1, sizeof(*parts));
	struct lt_entry all_hours = lt_entry_of_run(run);
	int64_t *totals[LT_ENTRY_FIGURES], *to[LT_ENTRY_FIGURES];

	lt_entry_figures(totals, &all_hours);
	for (int kind = 0; exact != NULL && parts != NULL && n > 0 && kind < LT_ENTRY_FIGURES;
	     kind++) {
		const int64_t total = *totals[kind];

		for (uint32_t i = 0; i < n; i++)
			exact[i] = part_of(&charge->hours[i], kind, (double)total / (double)n);
		lt_charge_split(parts, exact, n, total);
		for (uint32_t i = 0; i < n; i++) {
			lt_entry_figures(to, &entries[i]);
			*to[kind] = parts[i];
		}
	}
	const bool has_room = exact != NULL && parts != NULL;
	free(exact);
	free(parts);
	return has_room ? LT_OK : lt_fail(err, LT_ENOMEM, "settle: out of memory");
}

int
lt_booking_make(struct lt_entry **entries, struct lt_run *run, const struct lt_charge *charge,
    struct lt_ledger *ledger, struct lt_error *err)
{
	const int code = round_run(run, charge, ledger, err);

	*entries = calloc((size_t)charge->hour_count + 1, sizeof(**entries));
	if (*entries == NULL)
		return lt_fail(err, LT_ENOMEM, "settle: out of memory");
	for (uint32_t i = 0; i < charge->hour_count; i++) {
		struct lt_entry *const entry = &(*entries)[i];

		*entry = (struct lt_entry){.kind = LT_ENTRY_CHARGE,
		    .run = run->key,
		    .at_utc_s = charge->hours[i].at_utc_s,
		    .uid = run->uid};
		memcpy(entry->account, run->account, sizeof(entry->account));
	}
	return code == LT_OK ? cut_hours(*entries, run, charge, err) : code;
}

/* ---- what is taken off ---- */

/* Reads the rate that held at the end of the run; 0: none. */
static int
said_then(double *value, enum lt_rate rate, const struct lt_run *run, struct lt_ledger *ledger,
    struct lt_error *err)
{
	struct lt_rate_step *steps = NULL;
	uint32_t count = 0;
	const int code = lt_ledger_rates(ledger,
	    &(struct lt_rates_asked){.partition = run->partition,
		.rate = rate,
		.span = {run->end_utc_s - 1, run->end_utc_s}},
	    &steps, &count, err);

	*value = count > 0 ? steps[0].value : 0;
	free(steps);
	return code;
}

/* Returns the nearest account above it with a budget, or that account itself, as it stood then;
 * where none has one, the account. */
static const char *
team_then(const struct lt_site *site, const char *account, int64_t at_utc_s)
{
	const struct lt_account_tree tree = lt_tables_tree(&site->tables);
	const char *team = account;

	for (int depth = 0; depth < LT_TREE_DEPTH_MAX && team[0]; depth++) {
		for (int i = 0; i < site->policy->budget_count; i++)
			if (strcasecmp(site->policy->budgets[i].team, team) == 0)
				return team;
		team = lt_account_parent(&tree, team, at_utc_s);
	}
	return account;
}

struct own { /* of a run, for one team */
	const struct lt_site *site;
	const char *team;
	int64_t micros;
};

/* Adds an entry to the run's own, as an lt_hour_function. */
static int
add_own(void *context, const struct lt_entry *entry, struct lt_error *err)
{
	struct own *const own = context;

	(void)err;
	if (strcmp(team_then(own->site, entry->account, entry->at_utc_s), own->team) == 0)
		own->micros += entry->parts.discount_micros;
	return LT_OK;
}

/* Returns the month that an entry counts in: its hour's, or, where that is closed, that of the hour
 * in which it is booked (lt_ledger_settle()). */
static struct lt_span
month_of(const struct lt_discount_of *of, int64_t at_utc_s, const struct lt_offsets *offsets)
{
	const int64_t late_utc_s =
	    of->hour_utc_s > of->open_since_utc_s ? of->hour_utc_s : of->open_since_utc_s;
	struct lt_period month;

	lt_calendar_period(
	    &month, offsets, LT_MONTH, at_utc_s < of->open_since_utc_s ? late_utc_s : at_utc_s, 0);
	return (struct lt_span){month.start_utc_s, month.end_utc_s};
}

struct granting {
	const struct lt_discount_of *of;
	const struct lt_site *site;
	struct lt_ledger *ledger;
	double factor; /* of what an entry costs */
	int64_t most;
	double *exact; /* of each entry */
	/* granted in the present month for closed hours */
	struct lt_span late;
	double granted_late;
};

/* Sets *left to what the account's team may still have of the month's most, not counting what this
 * run has had. */
static int
left_in(int64_t *left, const struct granting *g, int64_t at_utc_s, struct lt_span month,
    struct lt_error *err)
{
	const struct lt_run *const run = g->of->run;
	const struct lt_account_tree tree = lt_tables_tree(&g->site->tables);
	struct own own = {.site = g->site, .team = team_then(g->site, run->account, at_utc_s)};
	struct lt_account_sum *sums = NULL;
	uint32_t count = 0;
	int code = lt_ledger_discounts(g->ledger, month, &sums, &count, err);

	if (code == LT_OK)
		code = lt_ledger_hours(
		    g->ledger, &(struct lt_hours_asked){run->key, month}, add_own, &own, err);
	*left = g->most + own.micros;
	for (uint32_t i = 0; i < count; i++)
		if (lt_account_is_below(&tree, sums[i].account, own.team, sums[i].tree_utc_s) &&
		    strcmp(team_then(g->site, sums[i].account, sums[i].tree_utc_s), own.team) == 0)
			*left -= sums[i].money_micros;
	free(sums);
	if (*left < 0)
		*left = 0;
	return code;
}

/* Grants the parts of entries [from, to), which are of one month. */
static int
grant(struct granting *g, uint32_t from, uint32_t to, struct lt_error *err)
{
	const struct lt_entry *const entries = g->of->entries;
	const struct lt_span month = month_of(g->of, entries[from].at_utc_s, &g->site->offsets);
	double factor = g->factor, wanted = 0;
	int64_t most = 0;
	const int code = left_in(&most, g, entries[from].at_utc_s, month, err);
	double left = (double)most;

	if (from > 0 && month.from_utc_s == g->late.from_utc_s)
		left = fmax(0, left - g->granted_late);
	for (uint32_t i = from; i < to; i++)
		wanted += (double)entries[i].money_micros * factor;
	if (wanted <= 0)
		return code;
	if (wanted > left)
		factor *= left / wanted;
	for (uint32_t i = from; i < to; i++)
		g->exact[i] = (double)entries[i].money_micros * factor;
	if (from == 0 && entries[0].at_utc_s < g->of->open_since_utc_s) {
		g->late = month;
		g->granted_late = fmin(wanted, left);
	}
	return code;
}

static int
grant_all(struct granting *g, struct lt_error *err)
{
	const struct lt_discount_of *const of = g->of;
	int code = LT_OK;

	for (uint32_t from = 0, to; code == LT_OK && from < of->count; from = to) {
		const int64_t month_utc_s =
		    month_of(of, of->entries[from].at_utc_s, &g->site->offsets).from_utc_s;

		for (to = from + 1;
		     to < of->count &&
		     month_of(of, of->entries[to].at_utc_s, &g->site->offsets).from_utc_s ==
			 month_utc_s;
		     to++)
			;
		code = grant(g, from, to, err);
	}
	return code;
}

/* Takes whole micros off, no more in all than was granted. */
static void
take_off(const struct lt_discount_of *of, const double *exact, int64_t *parts)
{
	static const double rounding = 1e-3; /* of doubles */
	double sum = 0;

	for (uint32_t i = 0; i < of->count; i++)
		sum += exact[i];
	lt_charge_split(parts, exact, of->count, (int64_t)floor(sum + rounding));
	for (uint32_t i = 0; i < of->count; i++) {
		of->entries[i].parts.discount_micros = parts[i];
		of->entries[i].money_micros -= parts[i];
		of->run->parts.discount_micros += parts[i];
		of->run->money_micros -= parts[i];
	}
}

/* Spreads the discount. most < 0: whole is what it has, and no month is asked. */
static int
spread(const struct lt_discount_of *of, double whole, int64_t most, const struct lt_site *site,
    struct lt_ledger *ledger, struct lt_error *err)
{
	double *const exact = calloc(of->count, sizeof(*exact));
	int64_t *const parts = calloc(of->count, sizeof(*parts));
	struct granting g = {.of = of,
	    .site = site,
	    .ledger = ledger,
	    .factor = whole / (double)of->run->money_micros,
	    .most = most,
	    .exact = exact};
	int code = exact != NULL && parts != NULL
		       ? LT_OK
		       : lt_fail(err, LT_ENOMEM, "settle: out of memory");

	for (uint32_t i = 0; code == LT_OK && most < 0 && i < of->count; i++)
		exact[i] = (double)of->entries[i].money_micros * g.factor;
	if (code == LT_OK && most >= 0)
		code = grant_all(&g, err);
	if (code == LT_OK)
		take_off(of, exact, parts);
	free(exact);
	free(parts);
	return code;
}

/* True if its closed part was granted, or refused, before. */
static bool
is_granted(const struct lt_discount_of *of)
{
	return of->known != NULL && !of->known->provisional &&
	       of->known->start_utc_s < of->open_since_utc_s;
}

int
lt_discount_take(const struct lt_discount_of *of, const struct lt_site *site,
    struct lt_ledger *ledger, struct lt_error *err)
{
	double ppm = 0, most = 0, saved = 0;
	int code = LT_OK;

	if (of->run->money_micros <= 0 || of->count == 0)
		return LT_OK;
	if (is_granted(of))
		return spread(of,
		    fmin((double)of->known->parts.discount_micros, (double)of->run->money_micros),
		    -1, site, ledger, err);
	if (!of->run->moved)
		return LT_OK;
	code = said_then(&ppm, LT_RATE_DISCOUNT, of->run, ledger, err);
	if (code == LT_OK && ppm > 0)
		code = said_then(&most, LT_RATE_DISCOUNT_MOST, of->run, ledger, err);
	if (code == LT_OK && ppm > 0 && most > 0)
		code = lt_wait_saved(&saved, of->run, of->quote, &site->market, ledger, err);
	const double whole = fmin(saved * ppm / LT_MICROS, (double)of->run->money_micros);
	return code == LT_OK && whole >= 1 ? spread(of, whole, (int64_t)most, site, ledger, err)
					   : code;
}
