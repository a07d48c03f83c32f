/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * FOCUS of a site that sends invoices: BilledCost is what nobody else bills,
 * which is the site's own nodes and all charges for carbon, discounts and
 * adjustments; nodes of a cloud are in that cloud's invoice. A node of the
 * site's own costs the same whether it is used or not, so what no job was
 * charged with is a row of its own, the unallocated portion by the
 * specification: all rows of a period add up to what the nodes cost in it.
 */
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "focus.h"
#include "report.h"
#include "units.h"

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
		return lt_fail(err, LT_EINPUT,
		    "focus: got %lld node-seconds of %s, want 0 to %lld",
		    (long long)owned->paid_node_s, owned->partition,
		    (long long)NODE_S_MAX);
	if (lt_utc_parse(
		lt_json_text(row, "from", ""), &owned->from_utc_s, err) ||
	    lt_utc_parse(lt_json_text(row, "to", ""), &owned->to_utc_s, err))
		lt_context(err, "focus: owned nodes of %s", owned->partition);
	return err->code;
}

struct lt_focus_billing *
lt_focus_billing_new(const json_t *report, struct lt_error *err)
{
	const json_t *const billed = json_object_get(report, "billed");
	const json_t *const rows = json_object_get(billed, "owned");
	const json_t *row;
	size_t index;

	if (billed == NULL)
		return NULL;
	struct lt_focus_billing *const billing =
	    calloc(1, sizeof(*billing) +
			  json_array_size(rows) * sizeof(billing->owned[0]));
	if (billing == NULL) {
		lt_fail(err, LT_ENOMEM, "no memory");
		return NULL;
	}
	billing->preemptible = json_object_get(billed, "preemptible");
	json_array_foreach(rows, index, row)
		if (read_owned(
			&billing->owned[billing->owned_count++], row, err)) {
			free(billing);
			return NULL;
		}
	return billing;
}

/* Nodes that the charge is for are the site's own. Of closed hours: if they are
 * in this period. */
static struct owned *
owned_of(struct lt_focus_billing *billing, const struct lt_focus_charge *charge)
{
	for (size_t i = 0; i < billing->owned_count; i++) {
		struct owned *const owned = &billing->owned[i];

		if (strcmp(owned->partition, charge->partition) == 0)
			return charge->class != NULL ||
				       (charge->start.value >=
					       owned->from_utc_s &&
					   charge->start.value <
					       owned->to_utc_s)
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
		if (json_is_string(name) &&
		    strcmp(json_string_value(name), partition) == 0)
			return true;
	return false;
}

static void
note(struct lt_focus_billing *billing, struct owned *owned,
    const struct lt_focus_charge *charge)
{
	const bool is_closed = charge->class != NULL;
	struct sum *const sum = is_closed ? &owned->corrected : &owned->charged;

	const bool is_dear =
	    __builtin_add_overflow(sum->cost, charge->cost.value, &sum->cost);
	const bool is_long = __builtin_add_overflow(
	    sum->hours, charge->consumed.value, &sum->hours);
	billing->is_too_much |= is_dear || is_long;
	if (is_closed && charge->start.value < owned->corrected_from_utc_s)
		owned->corrected_from_utc_s = charge->start.value;
	if (is_closed && charge->end.value > owned->corrected_to_utc_s)
		owned->corrected_to_utc_s = charge->end.value;
}

/* By the specification what may be interrupted is priced dynamically, and the
 * SKU is the same whatever the category. */
static void
bill_nodes(struct lt_focus_charge *charge)
{
	struct owned *const owned = owned_of(charge->billing, charge);

	if (owned != NULL) {
		note(charge->billing, owned, charge);
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

void
lt_focus_bill(struct lt_focus_charge *charge)
{
	if (charge->billing == NULL)
		return;
	charge->billed = charge->cost;
	charge->category = "Standard";
	if (charge->entry & (LT_FOCUS_USED | LT_FOCUS_USED_CORRECTED))
		bill_nodes(charge);
}

/* ---- what no job was charged with ---- */

/* Half up. */
static int64_t
hours_of(int64_t seconds)
{
	return seconds / LT_HOUR_S * LT_MICROS +
	       (seconds % LT_HOUR_S * LT_MICROS + LT_HOUR_S / 2) / LT_HOUR_S;
}

static void
print_nobodys(FILE *out, struct lt_focus_charge *charge,
    const struct owned *owned, struct sum sum)
{
	char resource[512], text[256];

	if (sum.cost == 0 && sum.hours == 0)
		return;
	snprintf(resource, sizeof(resource), "%s/%s", charge->cluster,
	    owned->partition);
	snprintf(text, sizeof(text), "%s of partition %s charged to no job%s",
	    charge->class != NULL ? "Correction of own nodes" : "Own nodes",
	    owned->partition,
	    owned->has_cost ? "" : "; no price was known, nothing charged");
	charge->partition = owned->partition;
	charge->resource = resource;
	charge->description = text;
	charge->account = charge->tags = "";
	charge->sku_price = LT_FOCUS_NODE_SHARE "-owned";
	charge->cost = (struct lt_figure){true, sum.cost};
	charge->consumed = (struct lt_figure){true, sum.hours};
	lt_focus_bill(charge);
	lt_focus_print(out, charge);
}

/* Less what corrections of closed hours booked: these were in the row of
 * another period, and so are taken off it. */
static int
print_owned(
    struct lt_rows *rows, const struct owned *owned, struct lt_error *err)
{
	struct lt_focus_charge charge;
	struct sum left = {0}, corrected = {0};

	if (lt_focus_start_row(&charge, rows, err))
		return err->code;
	if (__builtin_sub_overflow(
		owned->paid_micros, owned->charged.cost, &left.cost) ||
	    __builtin_sub_overflow(hours_of(owned->paid_node_s),
		owned->charged.hours, &left.hours) ||
	    __builtin_sub_overflow(0, owned->corrected.cost, &corrected.cost) ||
	    __builtin_sub_overflow(0, owned->corrected.hours, &corrected.hours))
		return lt_fail(err, LT_EOVERFLOW,
		    "focus: what own nodes cost passes 64 bits");
	charge.entry = LT_FOCUS_UNALLOCATED;
	lt_focus_times(&charge, owned->from_utc_s, owned->to_utc_s,
	    charge.period_start.value, charge.period_end.value);
	print_nobodys(rows->out, &charge, owned, left);
	charge.entry = LT_FOCUS_UNALLOCATED_CORRECTED;
	charge.class = "Correction";
	charge.start.value = owned->corrected_from_utc_s;
	charge.end.value = owned->corrected_to_utc_s;
	print_nobodys(rows->out, &charge, owned, corrected);
	return err->code;
}

int
lt_focus_print_unallocated(struct lt_rows *rows, struct lt_error *err)
{
	const struct lt_focus_billing *const billing = rows->own;

	if (billing == NULL)
		return LT_OK;
	if (billing->is_too_much)
		return lt_fail(err, LT_EOVERFLOW,
		    "focus: what own nodes were charged passes 64 bits");
	for (size_t i = 0; i < billing->owned_count && !err->code; i++)
		if (billing->owned[i].has_time)
			print_owned(rows, &billing->owned[i], err);
	return err->code;
}
