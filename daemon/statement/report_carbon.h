/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Energy and carbon for an auditor: by grid zone, partition, source and month of the hours that
 * were used, or each of these hours of each run, with the factors that held. docs/model.md, eqs.
 * (49) to (53).
 */
#ifndef LT_SERVE_REPORT_CARBON_H
#define LT_SERVE_REPORT_CARBON_H

#include "calendar.h"
#include "periods.h"
#include "out.h"

struct lt_carbon_zone { /* what a source of the policy is, by its name */
	char source[LT_NAME_SIZE], where[160];
	const char *adapter, *version; /* its adapter's */
};

struct lt_carbon_asked {
	struct lt_ledger *ledger;
	const struct lt_offsets *offsets;
	struct lt_span period;
	const struct lt_carbon_zone *zones;
	uint32_t zone_count;
	struct lt_out *hours; /* each hour is written there; NULL = sums */
};

struct lt_report_carbon; /* opaque */
/* NULL: no memory. The targets of asked's pointers are lent until it is freed. */
struct lt_report_carbon *lt_report_carbon_new(const struct lt_carbon_asked *asked);
/* Adds the part of the run that is booked for the account in the period. */
int lt_report_carbon_run(struct lt_report_carbon *carbon, const struct lt_run *run,
    const char *account, struct lt_error *err);
/* ,"carbon":{...}; head: lt_report_head(), of what kind the factors are. */
void lt_report_carbon_write(
    struct lt_out *out, struct lt_report_carbon *carbon, const json_t *head);
void lt_report_carbon_free(struct lt_report_carbon *carbon);

#endif
