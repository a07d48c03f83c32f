/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Computes the hours of the site's own nodes that no run is charged. Paid hours come from recorded
 * rates, which never change for the past, used ones from the bookings of the period, so that both
 * stay for a closed period. A partition that is the site's for part of the period counts with the
 * hours of that part. Reads the ledger; a sum that passes 64 bits is LT_EOVERFLOW.
 */
#include "report_unused.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "api.h"
#include "batch.h"
#include "figures.h"
#include "owned.h"
#include "units.h"

struct owned { /* a partition */
	char name[LT_NAME_SIZE];
	struct lt_rates nodes;	    /* the times that it is the site's */
	struct lt_rate_step *steps; /* of nodes; malloc'd */
	struct lt_owned_paid paid;
	int64_t used_micros;
	double used_node_s; /* exact: shares are fractions */
};

struct lt_report_unused {
	struct lt_ledger *ledger;
	struct lt_span hours; /* whose entries are the period's */
	struct lt_span span;  /* of them up to now */
	struct owned *all;    /* by name */
	uint32_t count;
};

static int
load_price(struct lt_report_unused *u, struct owned *owned, const struct lt_rates_asked *nodes,
    struct lt_error *err)
{
	struct lt_rates_asked asked = *nodes;
	struct lt_rate_step *steps = NULL;
	struct lt_rates price = {0};

	asked.rate = LT_RATE_PRICE;
	int rc = lt_ledger_rates(u->ledger, &asked, &steps, &price.count, err);
	price.steps = steps;
	if (rc == LT_OK)
		rc = lt_owned_paid(&owned->paid, &owned->nodes, &price, u->span, err);
	free(steps);
	return rc;
}

/* One that is not the site's in the span is left out. */
static int
load_owned(struct lt_report_unused *u, const char *name, struct lt_error *err)
{
	struct owned *const owned = &u->all[u->count];
	const struct lt_rates_asked asked = {name, LT_RATE_NODES, u->span};

	*owned = (struct owned){.name = ""};
	memcpy(owned->name, name, sizeof(owned->name));
	int rc = lt_ledger_rates(u->ledger, &asked, &owned->steps, &owned->nodes.count, err);
	owned->nodes.steps = owned->steps;
	if (rc == LT_OK)
		rc = load_price(u, owned, &asked, err);
	owned->nodes.count = lt_owned_times(owned->steps, owned->nodes.count);
	if (rc == LT_OK && owned->paid.from_utc_s < owned->paid.to_utc_s)
		u->count++;
	else
		free(owned->steps);
	return rc;
}

int
lt_report_unused_new(struct lt_report_unused **unused, struct lt_ledger *ledger,
    struct lt_span hours, int64_t now_utc_s, struct lt_error *err)
{
	char(*names)[LT_NAME_SIZE] = NULL;
	uint32_t count = 0;
	struct lt_report_unused *const u = *unused = calloc(1, sizeof(*u));

	if (u == NULL)
		return lt_fail(err, LT_ENOMEM, "unused: out of memory");
	u->ledger = ledger;
	u->hours = hours;
	u->span = hours;
	if (u->span.to_utc_s > now_utc_s)
		u->span.to_utc_s = now_utc_s;
	if (u->span.from_utc_s >= u->span.to_utc_s)
		return LT_OK;
	int rc = lt_ledger_rated(ledger, LT_RATE_NODES, &names, &count, err);
	if (rc == LT_OK)
		u->all = calloc(count + (size_t)1, sizeof(*u->all));
	if (rc == LT_OK && u->all == NULL)
		rc = lt_fail(err, LT_ENOMEM, "unused: out of memory");
	for (uint32_t i = 0; rc == LT_OK && i < count; i++)
		rc = load_owned(u, names[i], err);
	free(names);
	return rc;
}

void
lt_report_unused_free(struct lt_report_unused *u)
{
	if (u == NULL)
		return;
	for (uint32_t i = 0; i < u->count; i++)
		free(u->all[i].steps);
	free(u->all);
	free(u);
}

/* ---- what was used ---- */

static int
by_name(const void *name, const void *owned)
{
	return strcmp(name, ((const struct owned *)owned)->name);
}

static int
add_checked(int64_t *sum, int64_t more, struct lt_error *err)
{
	return lt_add(sum, more) ? LT_OK
				 : lt_fail(err, LT_EOVERFLOW, "unused: a sum passes 64 bits");
}

/* Beside what was paid for the nodes. */
static int
add_cost(struct owned *owned, const struct lt_entry *entry, struct lt_error *err)
{
	return add_checked(
	    &owned->used_micros, lt_of_nodes(entry->money_micros, &entry->parts), err);
}

struct hours {
	struct owned *owned;
	const struct lt_booked *booked;
};

static int
take_hour(void *context, const struct lt_entry *entry, struct lt_error *err)
{
	const struct hours *const h = context;
	const int64_t at = entry->at_utc_s;
	const struct lt_span hour = {at, at - at % LT_HOUR_S + LT_HOUR_S};

	if (strcmp(entry->account, h->booked->account) != 0 ||
	    lt_owned_s(&h->owned->nodes, hour) == 0)
		return LT_OK;
	return add_cost(h->owned, entry, err);
}

static void
add_time(struct lt_report_unused *u, struct owned *owned, const struct lt_run *run)
{
	struct lt_span ran = {run->start_utc_s, run->end_utc_s};

	if (ran.from_utc_s < u->span.from_utc_s)
		ran.from_utc_s = u->span.from_utc_s;
	if (ran.to_utc_s > u->span.to_utc_s)
		ran.to_utc_s = u->span.to_utc_s;
	owned->used_node_s += (double)lt_owned_s(&owned->nodes, ran) * run->nodes *
			      (double)run->share_numerator / (double)run->share_denominator;
}

int
lt_report_unused_run(struct lt_report_unused *u, const struct lt_run *run,
    const struct lt_booked *booked, struct lt_error *err)
{
	struct owned *const owned =
	    bsearch(run->partition, u->all, u->count, sizeof(*u->all), by_name);
	const struct lt_span hours =
	    lt_booked_hours(run->start_utc_s - LT_HOUR_S + 1, run->end_utc_s);

	if (owned == NULL)
		return LT_OK;
	/* A run whose account was corrected has a row for each. */
	if (!booked->is_late && strcmp(booked->account, run->account) == 0)
		add_time(u, owned, run);
	const int64_t owned_s = lt_owned_s(&owned->nodes, hours);
	const bool moves = booked->is_late || run->corrected;
	/* Nearly all runs: no entry has to be read. */
	if (!moves && owned_s == 0)
		return LT_OK;
	if (!moves && owned_s == hours.to_utc_s - hours.from_utc_s) {
		const int rc = add_cost(owned, &booked->charge, err);

		return rc == LT_OK ? add_cost(owned, &booked->correction, err) : rc;
	}
	return lt_ledger_hours(u->ledger,
	    &(struct lt_hours_asked){.key = run->key, .span = u->hours}, take_hour,
	    &(struct hours){.owned = owned, .booked = booked}, err);
}

uint32_t
lt_report_unused_count(const struct lt_report_unused *u)
{
	return u->count;
}

struct lt_unused_row
lt_report_unused_row(const struct lt_report_unused *u, uint32_t index)
{
	const struct owned *const owned = &u->all[index];
	struct lt_unused_row row = {.from_utc_s = owned->paid.from_utc_s,
	    .to_utc_s = owned->paid.to_utc_s,
	    .paid_node_s = owned->paid.node_s,
	    .has_micros = owned->paid.has_micros,
	    .paid_micros = owned->paid.micros,
	    .used_micros = owned->used_micros};

	memcpy(row.partition, owned->name, sizeof(row.partition));
	return row;
}

/* ---- as JSON ---- */

struct figures {
	bool has_micros;
	int64_t paid_node_s, used_node_s, paid_micros, used_micros;
};

static int
put_figures(json_t *to, const struct figures *f, struct lt_error *err)
{
	int64_t node_s, micros;

	if (__builtin_sub_overflow(f->paid_node_s, f->used_node_s, &node_s) ||
	    __builtin_sub_overflow(f->paid_micros, f->used_micros, &micros))
		return lt_fail(err, LT_EOVERFLOW, "unused: a sum passes 64 bits");
	const int64_t values[LT_UNUSED_FIGURES] = {[LT_UNUSED_PAID_S] = f->paid_node_s,
	    [LT_UNUSED_USED_S] = f->used_node_s,
	    [LT_UNUSED_REST_S] = node_s,
	    [LT_UNUSED_PAID] = f->paid_micros,
	    [LT_UNUSED_USED] = f->used_micros,
	    [LT_UNUSED_REST] = micros};
	bool failed = false;

	for (int i = 0; i < LT_UNUSED_FIGURES; i++)
		failed |= json_object_set_new(to, lt_unused_figures[i].key,
			      lt_api_optional(i < LT_UNUSED_PAID || f->has_micros, values[i])) != 0;
	return failed ? lt_fail(err, LT_ENOMEM, "unused: out of memory") : LT_OK;
}

static int
add_row(json_t *rows, struct figures *total, const struct owned *owned, struct lt_error *err)
{
	const struct figures f = {.has_micros = owned->paid.has_micros && total->has_micros,
	    .paid_node_s = owned->paid.node_s,
	    .used_node_s = llround(owned->used_node_s),
	    .paid_micros = owned->paid.micros,
	    .used_micros = owned->used_micros};
	json_t *const row = json_pack("{s:s,s:o,s:o}", "partition", owned->name, "from",
	    lt_api_time(owned->paid.from_utc_s), "to", lt_api_time(owned->paid.to_utc_s));
	int rc = put_figures(row, &f, err);

	if (json_array_append_new(rows, row) != 0)
		rc = lt_fail(err, LT_ENOMEM, "unused: out of memory");
	const struct {
		int64_t *sum, value;
	} sums[] = {{&total->paid_node_s, f.paid_node_s}, {&total->used_node_s, f.used_node_s},
	    {&total->paid_micros, f.paid_micros}, {&total->used_micros, f.used_micros}};
	for (size_t i = 0; rc == LT_OK && i < sizeof(sums) / sizeof(sums[0]); i++)
		rc = add_checked(sums[i].sum, sums[i].value, err);
	return rc;
}

json_t *
lt_report_unused_json(const struct lt_report_unused *u, bool has_money, struct lt_error *err)
{
	json_t *const rows = json_array(), *const sum = json_object();
	struct figures total = {.has_micros = has_money};
	int rc = LT_OK;

	for (uint32_t i = 0; rc == LT_OK && i < u->count; i++)
		rc = add_row(rows, &total, &u->all[i], err);
	for (uint32_t i = 0; i < u->count; i++)
		total.has_micros &= u->all[i].paid.has_micros;
	if (rc == LT_OK)
		rc = put_figures(sum, &total, err);
	json_t *const json = json_pack("{s:o,s:o}", "partitions", rows, "total", sum);
	if (lt_batch_words.pays_all_nodes)
		json_object_set_new(json, "all", json_true());
	if (rc == LT_OK)
		return json;
	json_decref(json);
	return NULL;
}
