/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Cells of an invoice's row by their field, and numbers in them.
 */
#include <string.h>
#include <strings.h>

#include "reconcile_row.h"
#include "text_mend.h"

/* Exports of databases write NULL for what is not there. */
const char *
lt_invoice_cell(const struct lt_csv_row *row, enum lt_invoice_field field)
{
	return strcasecmp(row->cells[field], "null") == 0 ? ""
							  : row->cells[field];
}

const char *
lt_invoice_name(const struct lt_csv_row *row, enum lt_invoice_field field)
{
	return row->cells[field];
}

int
lt_invoice_in_column(const struct lt_invoice_parser *parser,
    enum lt_invoice_field field, struct lt_error *err)
{
	return lt_context(err, "%s", parser->columns[field].name);
}

int
lt_invoice_number(lt_wide *pico, const struct lt_invoice_parser *parser,
    const struct lt_csv_row *row, enum lt_invoice_field field,
    struct lt_error *err)
{
	return lt_pico_parse(lt_invoice_cell(row, field), pico, err) == LT_OK
		   ? LT_OK
		   : lt_invoice_in_column(parser, field, err);
}

const char *
lt_invoice_start_name(const struct lt_invoice_parser *parser)
{
	return parser->columns[LT_FIELD_START].name;
}
