/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes the charges of FOCUS for one billing period, which is a month.
 *
 * A run has a row for the part that is in the period and, apart from that, rows for corrections of
 * its own hours and of hours before it. Each of these has further rows for its charge for carbon
 * and its discount. A correction of hours before the period corrects a closed one, ChargeClass
 * "Correction":
 * lowtide corrects an open period at the run's own hours, and a closed one at the hour of finding
 * it out. If these hours were in no earlier file, as of a run whose row came late, their node-hours
 * are consumed here.
 */
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "focus.h"
#include "lookup.h"
#include "report.h"
#include "units.h"

/* ---- costs that nobody else bills ---- */

/*
 * FOCUS of a site that sends invoices: BilledCost is what nobody else bills, which is the site's
 * own nodes and all charges for carbon, discounts and adjustments; nodes of a cloud are in that
 * cloud's invoice. A node of the site's own costs the same whether it is used or not, so what no
 * job was charged with is a row of its own, the unallocated portion by the specification: all rows
 * of a period add up to what the nodes cost in it.
 */
#define NODE_S_MAX (INT64_MAX / LT_MICROS)

struct sum { /* millionths */
	int64_t cost, hours;
};
struct owned {
	const char *partition;
	int64_t from_utc_s, to_utc_s; /* it is the site's */
	bool has_time, has_cost;
	int64_t paid_node_s, paid_micros;
	struct sum charged;   /* of its own hours */
	struct sum corrected; /* of hours that were closed before: */
	int64_t corrected_from_utc_s, corrected_to_utc_s;
};
struct lt_focus_billing {
	const json_t *preemptible; /* lent by the report */
	bool is_too_much;	   /* a sum passes 64 bits */
	size_t owned_count;
	struct owned owned[];
};

static int
read_owned(struct owned *owned, const json_t *row, struct lt_error *err)
{
	*owned = (struct owned){.partition = lt_json_text(row, "partition", ""),
	    .corrected_from_utc_s = INT64_MAX,
	    .corrected_to_utc_s = INT64_MIN};
	owned->has_time = lt_json_int(row, "paid_node_s", &owned->paid_node_s);
	owned->has_cost = lt_json_int(row, "paid_micros", &owned->paid_micros);
	if (owned->paid_node_s < 0 || owned->paid_node_s > NODE_S_MAX)
		return lt_fail(err, LT_EINPUT, "focus: got %lld node-seconds of %s, want 0 to %lld",
		    (long long)owned->paid_node_s, owned->partition, (long long)NODE_S_MAX);
	if (lt_utc_parse(lt_json_text(row, "from", ""), &owned->from_utc_s, err) ||
	    lt_utc_parse(lt_json_text(row, "to", ""), &owned->to_utc_s, err))
		lt_context(err, "focus: owned nodes of %s", owned->partition);
	return err->code;
}

/* Returns the billing of a report whose month is billed, in one allocation that lends from the
 * report; NULL: not billed, or err. */
static struct lt_focus_billing *
new_billing(const json_t *report, struct lt_error *err)
{
	const json_t *const billed = json_object_get(report, "billed");
	const json_t *const rows = json_object_get(billed, "owned");
	const json_t *row;
	size_t index;

	if (billed == NULL)
		return NULL;
	struct lt_focus_billing *const billing =
	    calloc(1, sizeof(*billing) + json_array_size(rows) * sizeof(billing->owned[0]));
	if (billing == NULL) {
		lt_fail(err, LT_ENOMEM, "no memory");
		return NULL;
	}
	billing->preemptible = json_object_get(billed, "preemptible");
	json_array_foreach(rows, index, row)
		if (read_owned(&billing->owned[billing->owned_count++], row, err)) {
			free(billing);
			return NULL;
		}
	return billing;
}

/* Returns the site's own nodes that the charge is for; NULL: others. For closed hours only if they
 * are in this period. */
static struct owned *
owned_of(struct lt_focus_billing *billing, const struct lt_focus_charge *charge)
{
	for (size_t i = 0; i < billing->owned_count; i++) {
		struct owned *const owned = &billing->owned[i];

		if (strcmp(owned->partition, charge->partition) == 0)
			return charge->class != NULL || (charge->start.value >= owned->from_utc_s &&
							    charge->start.value < owned->to_utc_s)
				   ? owned
				   : NULL;
	}
	return NULL;
}

static bool
is_preemptible(const struct lt_focus_billing *billing, const char *partition)
{
	const json_t *name;
	size_t index;

	json_array_foreach(billing->preemptible, index, name)
		if (json_is_string(name) && strcmp(json_string_value(name), partition) == 0)
			return true;
	return false;
}

static void
note_owned(
    struct lt_focus_billing *billing, struct owned *owned, const struct lt_focus_charge *charge)
{
	const bool is_closed = charge->class != NULL;
	struct sum *const sum = is_closed ? &owned->corrected : &owned->charged;

	const bool is_dear = __builtin_add_overflow(sum->cost, charge->cost.value, &sum->cost);
	const bool is_long =
	    __builtin_add_overflow(sum->hours, charge->consumed.value, &sum->hours);
	billing->is_too_much |= is_dear || is_long;
	if (is_closed && charge->start.value < owned->corrected_from_utc_s)
		owned->corrected_from_utc_s = charge->start.value;
	if (is_closed && charge->end.value > owned->corrected_to_utc_s)
		owned->corrected_to_utc_s = charge->end.value;
}

/* Sets category and SKU. In the specification use that may be interrupted is priced dynamically;
 * the SKU does not depend on the category. */
static void
bill_nodes(struct lt_focus_charge *charge)
{
	struct owned *const owned = owned_of(charge->billing, charge);

	if (owned != NULL) {
		note_owned(charge->billing, owned, charge);
		charge->sku_price = LT_FOCUS_NODE_SHARE "-owned";
		return;
	}
	charge->billed.value = 0;
	charge->sku_price = LT_FOCUS_NODE_SHARE "-on-demand";
	if (is_preemptible(charge->billing, charge->partition)) {
		charge->sku_price = LT_FOCUS_NODE_SHARE "-preemptible";
		charge->category = "Dynamic";
	}
}

/* Sets the billed part of the charge and its kind of price; notes the part for the site's own
 * nodes. */
static void
set_billed(struct lt_focus_charge *charge)
{
	if (charge->billing == NULL)
		return;
	charge->billed = charge->cost;
	charge->category = "Standard";
	if (charge->entry & (LT_FOCUS_USED | LT_FOCUS_USED_CORRECTED))
		bill_nodes(charge);
}

/* ---- costs that no job was charged with ---- */

/* Rounds half up. */
static int64_t
hours_of(int64_t seconds)
{
	return seconds / LT_HOUR_S * LT_MICROS +
	       (seconds % LT_HOUR_S * LT_MICROS + LT_HOUR_S / 2) / LT_HOUR_S;
}

static void
print_nobodys(FILE *out, struct lt_focus_charge *charge, const struct owned *owned, struct sum sum)
{
	char resource[512], text[256];

	if (sum.cost == 0 && sum.hours == 0)
		return;
	snprintf(resource, sizeof(resource), "%s/%s", charge->cluster, owned->partition);
	snprintf(text, sizeof(text), "%s of partition %s charged to no job%s",
	    charge->class != NULL ? "Correction of own nodes" : "Own nodes", owned->partition,
	    owned->has_cost ? "" : "; no price was known, nothing charged");
	charge->partition = owned->partition;
	charge->resource = resource;
	charge->description = text;
	charge->account = charge->tags = "";
	charge->sku_price = LT_FOCUS_NODE_SHARE "-owned";
	charge->cost = (struct lt_figure){true, sum.cost};
	charge->consumed = (struct lt_figure){true, sum.hours};
	set_billed(charge);
	lt_focus_print(out, charge);
}

/* Prints the unallocated part of own nodes, less the corrections of closed hours: these were in the
 * row of another period and are taken off it. */
static int
print_owned(struct lt_rows *rows, const struct owned *owned, struct lt_error *err)
{
	struct lt_focus_charge charge;
	struct sum left = {0}, corrected = {0};

	if (lt_focus_start_row(&charge, rows, err))
		return err->code;
	if (__builtin_sub_overflow(owned->paid_micros, owned->charged.cost, &left.cost) ||
	    __builtin_sub_overflow(
		hours_of(owned->paid_node_s), owned->charged.hours, &left.hours) ||
	    __builtin_sub_overflow(0, owned->corrected.cost, &corrected.cost) ||
	    __builtin_sub_overflow(0, owned->corrected.hours, &corrected.hours))
		return lt_fail(err, LT_EOVERFLOW, "focus: what own nodes cost passes 64 bits");
	charge.entry = LT_FOCUS_UNALLOCATED;
	lt_focus_times(&charge, owned->from_utc_s, owned->to_utc_s, charge.period_start.value,
	    charge.period_end.value);
	print_nobodys(rows->out, &charge, owned, left);
	charge.entry = LT_FOCUS_UNALLOCATED_CORRECTED;
	charge.class = "Correction";
	charge.start.value = owned->corrected_from_utc_s;
	charge.end.value = owned->corrected_to_utc_s;
	print_nobodys(rows->out, &charge, owned, corrected);
	return err->code;
}

/* Prints the part of the site's own nodes that had no charge, so that all rows add up to their
 * cost. */
static int
print_unallocated(struct lt_rows *rows, struct lt_error *err)
{
	const struct lt_focus_billing *const billing = rows->own;

	if (billing == NULL)
		return LT_OK;
	if (billing->is_too_much)
		return lt_fail(
		    err, LT_EOVERFLOW, "focus: what own nodes were charged passes 64 bits");
	for (size_t i = 0; i < billing->owned_count && !err->code; i++)
		if (billing->owned[i].has_time)
			print_owned(rows, &billing->owned[i], err);
	return err->code;
}

/* ---- runs ---- */

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

/* Returns from - what; not known if either is not, or beyond 64 bits. */
static struct lt_figure
difference(struct lt_figure from, struct lt_figure what)
{
	from.known = from.known &&
		     (!what.known || !__builtin_sub_overflow(from.value, what.value, &from.value));
	return from;
}

/* Returns a discount as a negative amount. */
static struct lt_figure
credit_of(const struct lt_field *discount)
{
	return difference((struct lt_figure){.known = true}, figure_of(discount));
}

static int
time_of(int64_t *utc_s, const struct lt_field *field, struct lt_error *err)
{
	struct lt_field_room room = {.large = NULL};
	const int code = lt_utc_parse(lt_field_text(field, &room), utc_s, err);

	json_decref(room.large);
	return code;
}

/* Returns nodes x share x seconds / 3600 in millionths, half up; 0 without nodes. */
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
	if (nodes.known && whole > 0 && part > 0 && part <= whole && seconds > 0) {
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
	static const char *const what[LT_FOCUS_ADJUSTMENT] = {[LT_FOCUS_USED] = "Slurm job",
	    [LT_FOCUS_USED_CORRECTED] = "Correction of Slurm job",
	    [LT_FOCUS_CARBON_CHARGED] = "Carbon charge of Slurm job",
	    [LT_FOCUS_CARBON_CORRECTED] = "Correction of the carbon charge of Slurm job",
	    [LT_FOCUS_DISCOUNTED] = "Discount for waiting of Slurm job",
	    [LT_FOCUS_DISCOUNT_CORRECTED] = "Correction of the discount for waiting of Slurm job"};
	const struct lt_field *const share = &charge->fields[LT_FOCUS_SHARE];
	struct lt_figure id = figure_of(&charge->fields[LT_FOCUS_JOB_ID]),
			 nodes = figure_of(&charge->fields[LT_FOCUS_NODES]);
	char text[256];

	snprintf(text, sizeof(text), "%s %lld: share %.*s of %lld %s%s",
	    LT_WORD(what, charge->entry), (long long)id.value,
	    share->length > 2 && share->length < 64 ? (int)share->length - 2 : 0,
	    share->at != NULL ? share->at + 1 : "", (long long)nodes.value,
	    nodes.value == 1 ? "node" : "nodes",
	    charge->cost.known ? "" : "; no price was known, nothing charged");
	charge->description = text;
	charge->cost.known = true; /* the ledger's charge: of no price, 0 */
	set_billed(charge);
	lt_focus_print(out, charge);
}

/* Prints a row for a run's nodes and rows for the other parts of its cost. entry is that of the
 * nodes. */
static void
print_run_rows(FILE *out, const struct lt_focus_charge *whole)
{
	/* A correction without node-hours has no carbon either. */
	const bool is_used = whole->entry == LT_FOCUS_USED || whole->consumed.value != 0;
	const struct {
		struct lt_figure cost, consumed;
	} more[] = {{whole->carbon_charge, is_used ? whole->carbon : whole->consumed},
	    {whole->credit, {.known = false}}};
	struct lt_focus_charge row = *whole;

	row.cost = difference(difference(whole->cost, whole->carbon_charge), whole->credit);
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

/* Converts watt-hours to millionths of a kWh. */
static struct lt_figure
kwh_of(const struct lt_field *field)
{
	struct lt_figure energy = figure_of(field);

	energy.known =
	    energy.known && !__builtin_mul_overflow(energy.value, (int64_t)1000, &energy.value);
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
	from->carbon_charge = difference(from->carbon_charge, what->carbon_charge);
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

/* Prints the correction of hours before the period, which was closed when it was found out. */
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
	earlier->consumed = node_hours(fields, figure_of(&fields[LT_FOCUS_EARLIER_LATE]).value);
	print_run_rows(out, earlier);
	return LT_OK;
}

static int
print_charges(
    FILE *out, const struct lt_focus_charge *run, int64_t start, int64_t end, struct lt_error *err)
{
	const int64_t from = run->from.value, to = run->to.value;
	const bool is_late = end <= from && start < from;
	struct lt_focus_charge charge =
	    with_amounts(run, (struct amounts){.cost = LT_FOCUS_MONEY,
				  .carbon_charge = LT_FOCUS_CARBON_CHARGE,
				  .discount = LT_FOCUS_DISCOUNT,
				  .carbon = LT_FOCUS_CARBON,
				  .energy = LT_FOCUS_ENERGY});
	/* The charge has all energy except that of earlier hours. */
	struct lt_focus_charge correction =
	    with_amounts(run, (struct amounts){.cost = LT_FOCUS_CORRECTIONS,
				  .carbon_charge = LT_FOCUS_CARBON_CHARGE_CORRECTIONS,
				  .discount = LT_FOCUS_DISCOUNT_CORRECTIONS,
				  .carbon = LT_FOCUS_CARBON_CORRECTIONS,
				  .energy = LT_FOCUS_EARLIER_ENERGY});
	struct lt_focus_charge earlier =
	    with_amounts(run, (struct amounts){.cost = LT_FOCUS_EARLIER,
				  .carbon_charge = LT_FOCUS_EARLIER_CARBON_CHARGE,
				  .discount = LT_FOCUS_EARLIER_DISCOUNT,
				  .carbon = LT_FOCUS_EARLIER_CARBON,
				  .energy = LT_FOCUS_EARLIER_ENERGY});

	subtract(&charge, &correction);
	subtract(&correction, &earlier);
	charge.entry = LT_FOCUS_USED;
	lt_focus_times(&charge, start, end, from, to);
	/* A run whose account was corrected has a row for each. */
	charge.consumed = node_hours(charge.fields, charge.fields[LT_FOCUS_ACCOUNT_NOW].length == 0
							? (end < to ? end : to) - charge.start.value
							: 0);
	if (!is_late || !is_nothing(&charge))
		print_run_rows(out, &charge);
	correction.entry = LT_FOCUS_USED_CORRECTED;
	correction.energy.known = false;
	lt_focus_times(&correction, start, end, from, to);
	if (!is_nothing(&correction))
		print_run_rows(out, &correction);
	return run->fields[LT_FOCUS_EARLIER_START].length > 0 ? print_earlier(out, &earlier, err)
							      : LT_OK;
}

static int
print_run(struct lt_rows *rows, const char *json, size_t length, struct lt_error *err)
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
	charge.partition = lt_field_text(&fields[LT_FOCUS_PARTITION], &partition);
	snprintf(resource, sizeof(resource), "%s/%s", charge.cluster, charge.partition);
	charge.resource = resource;
	print_charges(rows->out, &charge, start, end, err);
	json_decref(account.large);
	json_decref(partition.large);
	return err->code;
}

/* ---- files: adjustments of a month and then its runs, month by month;
 * BillingPeriod ---- */

/* Sets the hour in which an adjustment was made, within the period. */
static int
adjustment_times(struct lt_focus_charge *charge, const json_t *adjustment, struct lt_error *err)
{
	int64_t made;

	if (lt_utc_parse(lt_json_text(adjustment, "made", ""), &made, err)) {
		lt_context(err, "focus: an adjustment's time");
		return err->code;
	}
	const int64_t hour = made - made % LT_HOUR_S;

	lt_focus_times(
	    charge, hour, hour + LT_HOUR_S, charge->period_start.value, charge->period_end.value);
	return LT_OK;
}

static int
print_adjustment(struct lt_rows *rows, const json_t *adjustment, struct lt_error *err)
{
	struct lt_focus_charge charge;
	char *description = NULL;
	size_t size = 0;

	if (lt_focus_start_row(&charge, rows, err) || adjustment_times(&charge, adjustment, err))
		return err->code;
	FILE *const text = open_memstream(&description, &size);

	if (text == NULL)
		return lt_fail(err, LT_ENOMEM, "no memory");
	charge.entry = LT_FOCUS_ADJUSTMENT;
	charge.account = lt_json_text(adjustment, "team", "");
	charge.tags = lt_rows_of_account(rows, charge.account);
	charge.who = lt_json_text(adjustment, "who", "");
	fprintf(text, "Adjustment by %s: %s", charge.who, lt_json_text(adjustment, "reason", ""));
	fclose(text);
	charge.description = description;
	charge.cost.known = true;
	lt_json_int(adjustment, "money_micros", &charge.cost.value);
	charge.carbon.known = lt_json_int(adjustment, "carbon_mg", &charge.carbon.value);
	set_billed(&charge);
	lt_focus_print(rows->out, &charge);
	free(description);
	return LT_OK;
}

static void
print_tags(FILE *out, const struct lt_rows *rows, const json_t *team)
{
	(void)rows;
	lt_focus_tags(out, json_object_get(team, "labels"));
}

static int
begin_file(struct lt_rows *rows, struct lt_error *err)
{
	struct lt_focus_charge charge;
	const json_t *adjustment;
	size_t index;

	if (lt_focus_start_row(&charge, rows, err))
		return err->code;
	rows->own = new_billing(rows->report, err);
	if (err->code)
		return err->code;
	if (rows->kind->flags & LT_FOCUS_HAS_HEADER)
		lt_focus_header(rows->out, charge.has_category);
	json_array_foreach(json_object_get(rows->report, "adjustments"), index, adjustment)
		if (print_adjustment(rows, adjustment, err))
			return err->code;
	return LT_OK;
}

#define KIND(flags)                                                                                \
	{                                                                                          \
		"runs=all", print_tags, begin_file, print_run, print_unallocated, flags            \
	}
const struct lt_rows_kind lt_focus_csv = KIND(LT_FOCUS_HAS_HEADER);
const struct lt_rows_kind lt_focus_more_csv = KIND(0);
const struct lt_rows_kind lt_focus_billed_csv = KIND(LT_FOCUS_HAS_HEADER | LT_FOCUS_HAS_CATEGORY);
const struct lt_rows_kind lt_focus_more_billed_csv = KIND(LT_FOCUS_HAS_CATEGORY);

/* A period has a record from its beginning, and is final once it is closed. */
static int
print_period(FILE *out, const json_t *month, const char *issuer, struct lt_error *err)
{
	const char *const state = lt_json_text(month, "state", "");
	const bool closed = strcmp(state, "closed") == 0;
	struct lt_figure start, end;
	char texts[3][32];
	int64_t changed;

	if (lt_focus_span(&start, &end, month, err) || strcmp(state, "future") == 0)
		return err->code;
	if (!closed)
		changed = start.value;
	else if (lt_utc_parse(lt_json_text(month, "closed", ""), &changed, NULL) != LT_OK)
		changed = end.value;
	lt_utc_text(texts[0], sizeof(texts[0]), start.value);
	lt_utc_text(texts[1], sizeof(texts[1]), end.value);
	lt_utc_text(texts[2], sizeof(texts[2]), changed);
	fprintf(out, "%s,%s,%s,%s,%s,", texts[0], texts[1], texts[2], texts[0],
	    closed ? "Closed" : "Open");
	lt_csv_text(out, issuer);
	fputs("\r\n", out);
	return LT_OK;
}

int
lt_focus_period(FILE *out, const json_t *report, struct lt_error *err)
{
	struct lt_focus_charge charge;
	const json_t *month;
	size_t index;

	if (lt_focus_start(&charge, report, err))
		return err->code;
	fputs("BillingPeriodCreated,BillingPeriodEnd,BillingPeriodLastUpdated,"
	      "BillingPeriodStart,BillingPeriodStatus,InvoiceIssuerName\r\n",
	    out);
	json_array_foreach(lt_focus_months(report, err), index, month)
		if (print_period(out, month,
			lt_json_text(json_object_get(month, "billing"), "issuer", charge.cluster),
			err))
			return err->code;
	return LT_OK;
}

/* Asks for a whole month by its label: the answer for a closed month is then the one that was
 * kept. */
static void
ask_month(struct lt_report_query *part, const json_t *month, const json_t *period)
{
	const char *const start = lt_json_text(period, "start", "");
	const char *const end = lt_json_text(period, "end", "");

	/* Such texts sort by time. */
	part->from = lt_json_text(month, "start", "");
	part->to = lt_json_text(month, "end", "");
	if (strcmp(start, part->from) <= 0 && strcmp(part->to, end) <= 0) {
		part->period = lt_json_text(month, "label", "");
		part->from = part->to = NULL;
		return;
	}
	part->period = NULL;
	part->from = strcmp(start, part->from) > 0 ? start : part->from;
	part->to = strcmp(part->to, end) > 0 ? end : part->to;
}

static bool
is_any_billed(const json_t *months)
{
	const json_t *month;
	size_t index;

	json_array_foreach(months, index, month)
		if (json_object_get(month, "billing") != NULL)
			return true;
	return false;
}

int
lt_focus_write(
    FILE *out, const struct lt_cli *cli, const struct lt_report_query *query, struct lt_error *err)
{
	json_t *report = NULL;
	size_t index = 0;

	if (lt_report_ask(&report, cli, query, false, err))
		return err->code;
	const json_t *const period = json_object_get(report, "period");
	const json_t *const months = json_object_get(period, "months");
	const bool billed = is_any_billed(months);
	do { /* one that says no months is refused as it begins */
		struct lt_report_query part = *query;
		const struct lt_report_rows to = {
		    out, billed ? index == 0 ? &lt_focus_billed_csv : &lt_focus_more_billed_csv
			 : index == 0 ? &lt_focus_csv
				      : &lt_focus_more_csv};
		json_t *answer = NULL;

		if (json_array_size(months) > 0)
			ask_month(&part, json_array_get(months, index), period);
		lt_report_ask_runs(&answer, &to, cli, &part, err);
		json_decref(answer);
	} while (!err->code && ++index < json_array_size(months));
	json_decref(report);
	return err->code;
}
