/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How far rows of slurmdbd became charges, and when each look at them is due.
 */
#ifndef LT_CHARGES_H
#define LT_CHARGES_H

#include <stdbool.h>
#include <stdint.h>

struct lt_charges { /* start as { 0 } */
	int64_t settled_until_utc_s;
	int64_t rows_an_hour; /* that slurmdbd had, when it was last asked */
	/* utilisation.c: 0 = not read yet; and how much is looked at at once */
	int64_t used_until_utc_s, used_span_s;
	uint32_t dbd_queue;
	bool history_written;	/* the file is as the ledger (lengths.c) */
	int64_t smoke_within_s; /* that the file has smoke runs of */
	struct {
		int64_t settle, used, history, history_soonest;
	} next;
};

#endif
