/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The use that runs made of their resources, by the steps of slurmdbd: read after the charges, and
 * with little of its time.
 */
#ifndef LT_UTILISATION_H
#define LT_UTILISATION_H

#include <stdint.h>

#include "error.h"

struct lt_charges;
struct lt_ledger;
struct lt_tables;
struct lt_run;

struct lt_measured { /* called for each run about which more is known now */
	int (*look)(
	    void *context, const struct lt_run *run, int64_t now_utc_s, struct lt_error *err);
	void *context;
};
/* The next span of time. look() is called in the ledger's transaction. */
int lt_utilisation_read(const struct lt_tables *tables, struct lt_ledger *ledger,
    struct lt_charges *charges, const struct lt_measured *measured, int64_t now_utc_s,
    struct lt_error *err);
/* Notes a row whose run ended then: it is looked at, too, by the next lowtided if this one ends
 * before. */
int lt_utilisation_came(
    struct lt_ledger *ledger, struct lt_charges *charges, int64_t end_utc_s, struct lt_error *err);

#endif
