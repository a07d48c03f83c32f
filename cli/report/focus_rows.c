/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The charges of FOCUS, of one billing period, which is a month: of a run the
 * part that stands in it and, apart from that, what was corrected of its own
 * hours and of hours before it, each with a row of its own for what of it is a
 * charge for carbon or a discount. What corrects hours
 * before the period corrects a closed one, ChargeClass "Correction": lowtide
 * corrects an open period at the run's own hours, and a closed one at the hour
 * of finding it out. Where these hours are in no file before, as of a run whose
 * row came late, their node-hours are consumed here.
 */
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "focus.h"
#include "lookup.h"
#include "report.h"
#include "units.h"

__extension__ typedef __int128 wide;

static const char *const names[LT_FOCUS_FIELDS] = {
    [LT_FOCUS_JOB_ID] = "job_id",
    [LT_FOCUS_ARRAY_JOB_ID] = "array_job_id",
    [LT_FOCUS_ARRAY_TASK] = "array_task",
    [LT_FOCUS_USER] = "user",
    [LT_FOCUS_ACCOUNT] = "account",
    [LT_FOCUS_PARTITION] = "partition",
    [LT_FOCUS_SUBMIT] = "submit",
    [LT_FOCUS_START] = "start",
    [LT_FOCUS_END] = "end",
    [LT_FOCUS_NODES] = "nodes",
    [LT_FOCUS_SHARE] = "share",
    [LT_FOCUS_MONEY] = "money_micros",
    [LT_FOCUS_CARBON_CHARGE] = "carbon_charge_micros",
    [LT_FOCUS_DISCOUNT] = "discount_micros",
    [LT_FOCUS_CARBON] = "carbon_mg",
    [LT_FOCUS_ENERGY] = "energy_wh",
    [LT_FOCUS_CORRECTIONS] = "corrections_micros",
    [LT_FOCUS_CARBON_CHARGE_CORRECTIONS] = "corrections_carbon_charge_micros",
    [LT_FOCUS_DISCOUNT_CORRECTIONS] = "corrections_discount_micros",
    [LT_FOCUS_CARBON_CORRECTIONS] = "corrections_mg",
    [LT_FOCUS_EARLIER_START] = "earlier_start",
    [LT_FOCUS_EARLIER_END] = "earlier_end",
    [LT_FOCUS_EARLIER_LATE] = "earlier_late_s",
    [LT_FOCUS_EARLIER] = "earlier_micros",
    [LT_FOCUS_EARLIER_CARBON_CHARGE] = "earlier_carbon_charge_micros",
    [LT_FOCUS_EARLIER_DISCOUNT] = "earlier_discount_micros",
    [LT_FOCUS_EARLIER_CARBON] = "earlier_mg",
    [LT_FOCUS_EARLIER_ENERGY] = "earlier_wh",
    [LT_FOCUS_ACCOUNT_NOW] = "account_now",
    [LT_FOCUS_QUALITY] = "quality",
    [LT_FOCUS_GPUS] = "gpus",
    [LT_FOCUS_STATE] = "state",
    [LT_FOCUS_EXIT_CODE] = "exit_code",
    [LT_FOCUS_NAME] = "name",
    [LT_FOCUS_QOS] = "qos",
    [LT_FOCUS_WCKEY] = "wckey",
    [LT_FOCUS_GPU] = "gpu",
    [LT_FOCUS_CPUS] = "cpus",
    [LT_FOCUS_MEMORY] = "memory_mib",
};
static const struct lt_field_keys run_keys = {names, LT_FOCUS_FIELDS};

static struct lt_figure
figure_of(const struct lt_field *field)
{
	struct lt_figure figure = {.known = false};

	figure.known = lt_field_int(field, &figure.value);
	return figure;
}

/* Both known; what passes 64 bits is not known. */
static struct lt_figure
difference(struct lt_figure from, struct lt_figure what)
{
	from.known =
	    from.known && (!what.known || !__builtin_sub_overflow(from.value,
					      what.value, &from.value));
	return from;
}

/* Of a discount: less than nothing. */
static struct lt_figure
credit_of(const struct lt_field *discount)
{
	return difference(
	    (struct lt_figure){.known = true}, figure_of(discount));
}

static int
time_of(int64_t *utc_s, const struct lt_field *field, struct lt_error *err)
{
	struct lt_field_room room = {.large = NULL};
	const int code = lt_utc_parse(lt_field_text(field, &room), utc_s, err);

	json_decref(room.large);
	return code;
}

/* nodes x share x seconds / 3600 in millionths, half up; 0 of what never had
 * a node. */
static struct lt_figure
node_hours(const struct lt_field *fields, int64_t seconds)
{
	struct lt_field_room room = {.large = NULL};
	const char *const share = lt_field_text(&fields[LT_FOCUS_SHARE], &room);
	struct lt_figure hours = {.known = true}, nodes;
	char *end;
	const long long part = strtoll(share, &end, 10);
	const long long whole = *end == '/' ? strtoll(end + 1, NULL, 10) : 1;

	nodes = figure_of(&fields[LT_FOCUS_NODES]);
	if (nodes.known && whole > 0 && part > 0 && part <= whole &&
	    seconds > 0) {
		const wide top = (wide)nodes.value * part * seconds * LT_MICROS;
		const wide bottom = (wide)whole * LT_HOUR_S;

		hours.value = (int64_t)((top + bottom / 2) / bottom);
	}
	json_decref(room.large);
	return hours;
}

static void
print_run_row(FILE *out, struct lt_focus_charge *charge)
{
	static const char *const what[LT_FOCUS_ADJUSTMENT] = {
	    [LT_FOCUS_USED] = "Slurm job",
	    [LT_FOCUS_USED_CORRECTED] = "Correction of Slurm job",
	    [LT_FOCUS_CARBON_CHARGED] = "Carbon charge of Slurm job",
	    [LT_FOCUS_CARBON_CORRECTED] =
		"Correction of the carbon charge of Slurm job",
	    [LT_FOCUS_DISCOUNTED] = "Discount for waiting of Slurm job",
	    [LT_FOCUS_DISCOUNT_CORRECTED] =
		"Correction of the discount for waiting of Slurm job"};
	const struct lt_field *const share = &charge->fields[LT_FOCUS_SHARE];
	struct lt_figure id = figure_of(&charge->fields[LT_FOCUS_JOB_ID]),
			 nodes = figure_of(&charge->fields[LT_FOCUS_NODES]);
	char text[256];

	snprintf(text, sizeof(text), "%s %lld: share %.*s of %lld %s%s",
	    LT_WORD(what, charge->entry), (long long)id.value,
	    share->length > 2 && share->length < 64 ? (int)share->length - 2
						    : 0,
	    share->at != NULL ? share->at + 1 : "", (long long)nodes.value,
	    nodes.value == 1 ? "node" : "nodes",
	    charge->cost.known ? "" : "; no price was known, nothing charged");
	charge->description = text;
	charge->cost.known = true; /* the ledger's charge: of no price, 0 */
	lt_focus_bill(charge);
	lt_focus_print(out, charge);
}

/* Of a run's nodes, and of what else is in its cost; entry is that of the
 * nodes. */
static void
print_run_rows(FILE *out, const struct lt_focus_charge *whole)
{
	/* A correction that uses no nodes emits nothing more either. */
	const bool is_used =
	    whole->entry == LT_FOCUS_USED || whole->consumed.value != 0;
	const struct {
		struct lt_figure cost, consumed;
	} more[] = {
	    {whole->carbon_charge, is_used ? whole->carbon : whole->consumed},
	    {whole->credit, {.known = false}}};
	struct lt_focus_charge row = *whole;

	row.cost = difference(
	    difference(whole->cost, whole->carbon_charge), whole->credit);
	print_run_row(out, &row);
	row.carbon.known = row.energy.known = false; /* that row has them */
	for (size_t i = 0; i < sizeof(more) / sizeof(more[0]); i++) {
		row.entry <<= 2;
		row.cost = more[i].cost;
		row.consumed = more[i].consumed;
		if (row.cost.known && row.cost.value != 0)
			print_run_row(out, &row);
	}
}

/* Watt-hours in millionths of a kWh. */
static struct lt_figure
kwh_of(const struct lt_field *field)
{
	struct lt_figure energy = figure_of(field);

	energy.known = energy.known && !__builtin_mul_overflow(energy.value,
					   (int64_t)1000, &energy.value);
	return energy;
}

/* A run's charge with other amounts. */
struct amounts {
	enum lt_focus_field cost, carbon_charge, discount, carbon, energy;
};

static struct lt_focus_charge
with_amounts(const struct lt_focus_charge *run, struct amounts of)
{
	const struct lt_field *const fields = run->fields;
	struct lt_focus_charge charge = *run;

	charge.cost = figure_of(&fields[of.cost]);
	charge.carbon_charge = figure_of(&fields[of.carbon_charge]);
	charge.credit = credit_of(&fields[of.discount]);
	charge.carbon = figure_of(&fields[of.carbon]);
	charge.energy = kwh_of(&fields[of.energy]);
	return charge;
}

static void
subtract(struct lt_focus_charge *from, const struct lt_focus_charge *what)
{
	from->cost = difference(from->cost, what->cost);
	from->carbon_charge =
	    difference(from->carbon_charge, what->carbon_charge);
	from->credit = difference(from->credit, what->credit);
	from->carbon = difference(from->carbon, what->carbon);
	from->energy = difference(from->energy, what->energy);
}

static bool
is_nothing(const struct lt_focus_charge *charge)
{
	return charge->cost.value == 0 && charge->carbon.value == 0 &&
	       charge->carbon_charge.value == 0 && charge->credit.value == 0;
}

/* Hours before the period, which were closed when this was found out. */
static int
print_earlier(FILE *out, struct lt_focus_charge *earlier, struct lt_error *err)
{
	const struct lt_field *const fields = earlier->fields;
	int64_t start, end;

	if (time_of(&start, &fields[LT_FOCUS_EARLIER_START], err) ||
	    time_of(&end, &fields[LT_FOCUS_EARLIER_END], err))
		return err->code;
	earlier->entry = LT_FOCUS_USED_CORRECTED;
	earlier->class = "Correction";
	lt_focus_times(earlier, start, end, start, end);
	earlier->consumed =
	    node_hours(fields, figure_of(&fields[LT_FOCUS_EARLIER_LATE]).value);
	print_run_rows(out, earlier);
	return LT_OK;
}

static int
print_charges(FILE *out, const struct lt_focus_charge *run, int64_t start,
    int64_t end, struct lt_error *err)
{
	const int64_t from = run->from.value, to = run->to.value;
	const bool is_late = end <= from && start < from;
	struct lt_focus_charge charge = with_amounts(
	    run, (struct amounts){LT_FOCUS_MONEY, LT_FOCUS_CARBON_CHARGE,
		     LT_FOCUS_DISCOUNT, LT_FOCUS_CARBON, LT_FOCUS_ENERGY});
	/* The charge has all the energy but of earlier hours. */
	struct lt_focus_charge correction = with_amounts(
	    run, (struct amounts){LT_FOCUS_CORRECTIONS,
		     LT_FOCUS_CARBON_CHARGE_CORRECTIONS,
		     LT_FOCUS_DISCOUNT_CORRECTIONS, LT_FOCUS_CARBON_CORRECTIONS,
		     LT_FOCUS_EARLIER_ENERGY});
	struct lt_focus_charge earlier = with_amounts(
	    run, (struct amounts){LT_FOCUS_EARLIER,
		     LT_FOCUS_EARLIER_CARBON_CHARGE, LT_FOCUS_EARLIER_DISCOUNT,
		     LT_FOCUS_EARLIER_CARBON, LT_FOCUS_EARLIER_ENERGY});

	subtract(&charge, &correction);
	subtract(&correction, &earlier);
	charge.entry = LT_FOCUS_USED;
	lt_focus_times(&charge, start, end, from, to);
	/* A run whose account was corrected has a row for each. */
	charge.consumed = node_hours(
	    charge.fields, charge.fields[LT_FOCUS_ACCOUNT_NOW].length == 0
			       ? (end < to ? end : to) - charge.start.value
			       : 0);
	if (!is_late || !is_nothing(&charge))
		print_run_rows(out, &charge);
	correction.entry = LT_FOCUS_USED_CORRECTED;
	correction.energy.known = false;
	lt_focus_times(&correction, start, end, from, to);
	if (!is_nothing(&correction))
		print_run_rows(out, &correction);
	return run->fields[LT_FOCUS_EARLIER_START].length > 0
		   ? print_earlier(out, &earlier, err)
		   : LT_OK;
}

int
lt_focus_run(
    struct lt_rows *rows, const char *json, size_t length, struct lt_error *err)
{
	struct lt_focus_charge charge;
	struct lt_field *const fields = charge.fields;
	struct lt_field_room account = {.large = NULL}, partition = account;
	char resource[512];
	int64_t start, end;

	if (lt_focus_start_row(&charge, rows, err) ||
	    lt_run_fields(fields, &run_keys, json, length, err) ||
	    time_of(&start, &fields[LT_FOCUS_START], err) ||
	    time_of(&end, &fields[LT_FOCUS_END], err))
		return err->code;
	charge.account = lt_field_text(&fields[LT_FOCUS_ACCOUNT], &account);
	charge.tags = lt_rows_of_account(rows, charge.account);
	charge.partition =
	    lt_field_text(&fields[LT_FOCUS_PARTITION], &partition);
	snprintf(resource, sizeof(resource), "%s/%s", charge.cluster,
	    charge.partition);
	charge.resource = resource;
	print_charges(rows->out, &charge, start, end, err);
	json_decref(account.large);
	json_decref(partition.large);
	return err->code;
}
