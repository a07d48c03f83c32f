/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The cost of a row: billed, or amortised, which spreads the price of savings
 * plans and reservations over what they covered, by the kind of charge. In
 * lowtide's money, at the rate of the row's time.
 */
#include <string.h>

#include "cli.h"
#include "lookup.h"
#include "reconcile_row.h"
#include "units.h"

/* plus + also - minus; 0: no such column. */
static const struct spread {
	enum lt_invoice_field plus, also, minus;
	bool is_fee; /* where no column says what was not used, it is told */
} spreads[LT_SPREAD_COUNT] = {
    [LT_SPREAD_PLAN] = {.plus = LT_FIELD_EFFECTIVE},
    [LT_SPREAD_RESERVED] = {.plus = LT_FIELD_RESERVED},
    [LT_SPREAD_PLAN_FEE] = {.plus = LT_FIELD_COMMITTED,
	.minus = LT_FIELD_USED,
	.is_fee = true},
    [LT_SPREAD_RESERVED_FEE] = {.plus = LT_FIELD_UNUSED_UPFRONT,
	.also = LT_FIELD_UNUSED_FEE,
	.is_fee = true},
};

void
lt_invoice_cost_start(struct lt_invoice_parser *parser,
    const struct lt_csv *csv, const struct lt_invoice_ask *ask)
{
	parser->basis = ask->basis;
	if (ask->basis != LT_INVOICE_AUTO ||
	    parser->columns[LT_FIELD_PRICING].name != NULL)
		return; /* Azure's rows show it */
	parser->basis = csv->index[LT_FIELD_EFFECTIVE] >= 0 ||
				csv->index[LT_FIELD_RESERVED] >= 0
			    ? LT_INVOICE_AMORTISED
			    : LT_INVOICE_BILLED;
}

const char *
lt_invoice_cost_name(const struct lt_invoice_parser *parser)
{
	const bool is_effective = parser->basis == LT_INVOICE_AMORTISED &&
				  parser->format->has_effective;

	return parser
	    ->columns[is_effective ? LT_FIELD_EFFECTIVE : LT_FIELD_COST]
	    .name;
}

static int
convert(struct lt_invoice_row *parsed, const struct lt_invoice_parser *parser,
    const char *currency, struct lt_error *err)
{
	struct lt_invoice_rate *rate = NULL;
	char day[32];

	if (parser->rates != NULL)
		rate = lt_invoice_rate_find(
		    parser->rates, currency, parsed->start_utc_s);
	if (rate == NULL) {
		lt_fail(err, LT_EINPUT,
		    "got \"%.40s\", lowtide's money is %s, and the policy's exchange_rates: have none of it for %.10s; --rate says what it is worth",
		    currency, parser->currency,
		    lt_utc_text(day, sizeof(day), parsed->start_utc_s));
		return lt_invoice_in_column(parser, LT_FIELD_CURRENCY, err);
	}
	rate->rows++;
	if (lt_invoice_convert(&parsed->cost_pico, rate->pico, err) ||
	    lt_invoice_convert(&parsed->billed_pico, rate->pico, err) ||
	    lt_invoice_convert(&parsed->fee_pico, rate->pico, err))
		return lt_invoice_in_column(parser, LT_FIELD_COST, err);
	return LT_OK;
}

static bool
is_there(const struct lt_csv_row *row, enum lt_invoice_field field)
{
	return field != 0 && lt_invoice_cell(row, field)[0];
}

/* The number of a column; 0: there is no such one. */
static int
read_part(lt_wide *value, const struct lt_invoice_parser *parser,
    const struct lt_csv_row *row, enum lt_invoice_field field,
    struct lt_error *err)
{
	*value = 0;
	return is_there(row, field)
		   ? lt_invoice_number(value, parser, row, field, err)
		   : LT_OK;
}

/* The kind's part of a commitment. */
static int
amortise(struct lt_invoice_row *parsed, const struct lt_invoice_parser *parser,
    const struct lt_csv_row *row, const struct spread *spread,
    struct lt_error *err)
{
	const bool known =
	    (is_there(row, spread->plus) || is_there(row, spread->also)) &&
	    (spread->minus == 0 || is_there(row, spread->minus));
	lt_wide plus, also, minus;

	parsed->cost_pico = 0;
	if (spread->plus != 0 && !known && spread->is_fee) {
		parsed->fee_pico = parsed->billed_pico;
		return LT_OK;
	}
	if (spread->plus != 0 && !known) {
		lt_fail(err, LT_EINPUT,
		    "got \"\", want what this row's part of a commitment costs; --cost billed adds up %s",
		    parser->columns[LT_FIELD_COST].name);
		return lt_invoice_in_column(parser, spread->plus, err);
	}
	if (read_part(&plus, parser, row, spread->plus, err) ||
	    read_part(&also, parser, row, spread->also, err) ||
	    read_part(&minus, parser, row, spread->minus, err))
		return err->code;
	parsed->cost_pico = plus + also - minus;
	return LT_OK;
}

/* Is it of a commitment, in the one export as in the other? */
static enum lt_invoice_basis
shown_by(const struct lt_invoice_row *parsed, const struct lt_csv_row *row,
    const struct lt_invoice_kind *kind)
{
	const char *const pricing = lt_invoice_cell(row, LT_FIELD_PRICING);

	if (kind == NULL || (strcmp(pricing, "Reservation") != 0 &&
				strcmp(pricing, "SavingsPlan") != 0))
		return LT_INVOICE_AUTO;
	/* What a commitment covers costs nothing among actual costs. */
	return kind->is_use && parsed->billed_pico == 0 ? LT_INVOICE_AUTO
							: kind->shows;
}

int
lt_invoice_row_cost(struct lt_invoice_row *parsed,
    const struct lt_invoice_parser *parser, const struct lt_csv_row *row,
    const struct lt_invoice_kind *kind, struct lt_error *err)
{
	const char *const currency = lt_invoice_cell(row, LT_FIELD_CURRENCY);
	enum lt_invoice_spread spread =
	    kind != NULL ? kind->spread : LT_SPREAD_NONE;

	if (lt_invoice_number(
		&parsed->billed_pico, parser, row, LT_FIELD_COST, err))
		return err->code;
	parsed->cost_pico = parsed->billed_pico;
	parsed->shows = shown_by(parsed, row, kind);
	if (spread == LT_SPREAD_UPFRONT && !is_there(row, LT_FIELD_RESERVATION))
		spread = LT_SPREAD_NONE;
	if (parser->basis != LT_INVOICE_AMORTISED)
		spread = LT_SPREAD_NONE;
	else if (parser->format->has_effective &&
		 lt_invoice_number(
		     &parsed->cost_pico, parser, row, LT_FIELD_EFFECTIVE, err))
		return err->code;
	if (spread != LT_SPREAD_NONE &&
	    amortise(parsed, parser, row, &LT_ROW(spreads, spread), err))
		return err->code;
	return strcmp(currency, parser->currency) == 0
		   ? LT_OK
		   : convert(parsed, parser, currency, err);
}
