/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Compares the invoice with what lowtide charged: jobs + idle + unexplained is the invoice in each
 * row and in all, to the micro. docs/model.md has the formula. It reads no file; sums beyond
 * int64_t are an error.
 */
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "reconcile_tie.h"
#include "units.h"

enum { PICO_PER_MICRO = 1000000 };
static const int64_t pico_s = (int64_t)1000000 * 1000000; /* of a second */

/* a / b, half away from zero; b above 0. */
static lt_wide
rounded(lt_wide a, lt_wide b)
{
	return a < 0 ? -((-a + b / 2) / b) : (a + b / 2) / b;
}

static bool
fits(lt_wide value)
{
	return value >= INT64_MIN && value <= INT64_MAX;
}

int64_t
lt_tie_micros(lt_wide pico)
{
	const lt_wide micros = rounded(pico, PICO_PER_MICRO);

	return fits(micros) ? (int64_t)micros : micros < 0 ? INT64_MIN : INT64_MAX;
}

/* Rounds the sums of the invoice to micros that add up to its rounded total; parts of a micro are
 * shared out as the cents of a report are. */
static int
round_costs(int64_t *micros, const struct lt_invoice_sum *sums, int count, struct lt_error *err)
{
	int64_t *const cut = calloc((size_t)count + 1, sizeof(*cut));
	int64_t total = 0;
	bool ok = cut != NULL;

	for (int i = 0; ok && i < count; i++) {
		const lt_wide whole = sums[i].cost_pico / PICO_PER_MICRO;

		ok = fits(whole + 1) && fits(whole - 1);
		micros[i] = (int64_t)whole;
		cut[i] = (int64_t)(sums[i].cost_pico - whole * PICO_PER_MICRO);
		total += cut[i];
	}
	if (!ok) {
		free(cut);
		return lt_fail(err, LT_EOVERFLOW, "the invoice: too large");
	}
	lt_round_column(cut, count, &total, PICO_PER_MICRO);
	for (int i = 0; i < count; i++)
		micros[i] += cut[i] / PICO_PER_MICRO;
	free(cut);
	return LT_OK;
}

/* Sets the idle cost, at the mean price of this row of the invoice. */
static void
find_idle(struct lt_tie_row *row, const struct lt_invoice_sum *sum)
{
	const lt_wide jobs_pico_s = (lt_wide)row->jobs_node_s * pico_s;
	const lt_wide idle_s = rounded(sum->node_pico_s - jobs_pico_s, pico_s);

	row->has_nodes = sum->has_nodes && !sum->nodes_unknown && sum->node_pico_s > 0 &&
			 fits(sum->node_pico_s / pico_s);
	if (!row->has_nodes)
		return;
	row->invoice_node_s = (int64_t)rounded(sum->node_pico_s, pico_s);
	row->has_idle = true;
	if (idle_s > 0 && row->invoice_node_s > 0 && row->invoice_micros > 0)
		row->idle_micros =
		    (int64_t)rounded((lt_wide)row->invoice_micros * idle_s, row->invoice_node_s);
}

static int
find_rest(struct lt_tie_row *row, struct lt_error *err)
{
	const lt_wide rest = (lt_wide)row->invoice_micros - row->jobs_micros - row->idle_micros;

	row->unexplained_micros = (int64_t)rest;
	return fits(rest) ? LT_OK : lt_fail(err, LT_EOVERFLOW, "charges: too large");
}

static int
add_to(struct lt_tie_row *sum, const struct lt_tie_row *row, struct lt_error *err)
{
	sum->has_idle = sum->has_idle || row->has_idle;
	sum->has_nodes = sum->has_nodes || row->has_nodes;
	return lt_add(&sum->invoice_micros, row->invoice_micros) &&
		       lt_add(&sum->jobs_micros, row->jobs_micros) &&
		       lt_add(&sum->idle_micros, row->idle_micros) &&
		       lt_add(&sum->unexplained_micros, row->unexplained_micros) &&
		       lt_add(&sum->invoice_node_s, row->invoice_node_s) &&
		       lt_add(&sum->jobs_node_s, row->jobs_node_s)
		   ? LT_OK
		   : lt_fail(err, LT_EOVERFLOW, "the totals: too large");
}

/* Adds the row of one sum of the invoice, unless it is empty. */
static int
make_row(struct lt_tie *tie, const struct lt_tie_row *from, const struct lt_invoice_sum *sum,
    struct lt_error *err)
{
	struct lt_tie_row *const row = &tie->rows[tie->count];

	*row = *from;
	if (row->type != NULL)
		find_idle(row, sum);
	if (find_rest(row, err))
		return err->code;
	if (row->invoice_micros != 0 || row->jobs_micros != 0 || row->jobs_node_s > 0 ||
	    row->has_nodes)
		tie->count++;
	else
		return LT_OK;
	if (add_to(row->type != NULL ? &tie->instances : &tie->others, row, err))
		return err->code;
	return add_to(&tie->total, row, err);
}

static int
make_rows(struct lt_tie *tie, const struct lt_tie_parts *parts, const int64_t *micros,
    struct lt_error *err)
{
	const int types = parts->invoice->type_count;

	const int days = parts->invoice->day_count;

	for (int i = 0; i < (days + 1) * (types + 1); i++) {
		const int day = i / (types + 1), type = i % (types + 1);
		struct lt_tie_row row = {.is_outside = day == days,
		    .day = day < days ? parts->invoice->first_day + day : 0,
		    .invoice_micros = micros[i]};

		if (type < types && day < days) {
			const struct lt_tie_job_sum *const sum =
			    &parts->jobs->sums[day * types + type];

			row.type = parts->map->types[type];
			row.jobs_micros = sum->cost_micros;
			row.jobs_node_s = sum->node_s;
		}
		if (make_row(tie, &row, &parts->invoice->sums[i], err))
			return err->code;
	}
	return LT_OK;
}

/* Rounds the amounts beside the rows: the billed cost and the fees. */
static int
round_beside(struct lt_tie *tie, const struct lt_invoice *invoice, struct lt_error *err)
{
	const lt_wide billed = rounded(invoice->billed_pico, PICO_PER_MICRO);
	const lt_wide fees = rounded(invoice->fees_pico, PICO_PER_MICRO);

	if (!fits(billed) || !fits(fees))
		return lt_fail(err, LT_EOVERFLOW, "the invoice: too large");
	tie->billed_micros = (int64_t)billed;
	tie->fees_micros = (int64_t)fees;
	return LT_OK;
}

int
lt_tie_make(struct lt_tie *tie, const struct lt_tie_parts *parts, struct lt_error *err)
{
	const int count = (parts->invoice->day_count + 1) * (parts->invoice->type_count + 1);
	int64_t *const micros = calloc((size_t)count + 1, sizeof(*micros));

	*tie = (struct lt_tie){.rows = calloc((size_t)count + 1, sizeof(*tie->rows))};
	if (micros == NULL || tie->rows == NULL)
		lt_fail(err, LT_ENOMEM, "no memory");
	else if (round_costs(micros, parts->invoice->sums, count, err) == LT_OK &&
		 round_beside(tie, parts->invoice, err) == LT_OK)
		make_rows(tie, parts, micros, err);
	free(micros);
	return err->code;
}

void
lt_tie_free(struct lt_tie *tie)
{
	free(tie->rows);
	*tie = (struct lt_tie){0};
}

bool
lt_tie_exceeds(const struct lt_tie_row *instances, int64_t limit_micros)
{
	const lt_wide rest = instances->unexplained_micros;
	const lt_wide invoice = instances->invoice_micros;

	return (rest < 0 ? -rest : rest) * 100 * LT_MICROS >
	       (invoice < 0 ? -invoice : invoice) * limit_micros;
}
