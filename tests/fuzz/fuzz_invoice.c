/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Invoices of any bytes: sums that hold each row, or a reason.
 */
#include <stdint.h>
#include <stdio.h>

#include "reconcile_tie.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t byte_count);

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t byte_count)
{
	static const struct lt_invoice_ask ask = {.path = "i", .currency = "USD"};
	struct lt_tie_map map = {0};
	struct lt_invoice invoice = {0};
	struct lt_error err = {0};
	FILE *const in = byte_count > 0 ? fmemopen((void *)(uintptr_t)bytes, byte_count, "r")
					: fopen("/dev/null", "r");

	if (in == NULL || lt_tie_map_parse(&map, "a=p4d.24xlarge", NULL))
		__builtin_trap();
	if (lt_invoice_read(&invoice, in, &ask, &map, &err) == LT_OK &&
	    lt_invoice_finish(&invoice, &ask, &err) == LT_OK) {
		if (invoice.sums == NULL || invoice.rows < 1 || invoice.day_count < 1 ||
		    invoice.day_count > LT_TIE_DAYS_MAX)
			__builtin_trap();
	} else if (err.text[0] == '\0') {
		__builtin_trap(); /* a refusal must say why */
	}
	lt_invoice_free(&invoice);
	fclose(in);
	return 0;
}
