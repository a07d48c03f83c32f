/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The site's own nodes that were paid and not used in a period, a row for each owned partition:
 * paid less the bookings of runs there. docs/model.md, eq. (55).
 */
#ifndef LT_SERVE_REPORT_UNUSED_H
#define LT_SERVE_REPORT_UNUSED_H

#include <jansson.h>

#include "periods.h"

struct lt_report_unused; /* opaque */
/* Begins the sums over the hours whose entries are booked in the period, up to now. The ledger is
 * lent until it is freed; free *unused after a failure too. */
int lt_report_unused_new(struct lt_report_unused **unused, struct lt_ledger *ledger,
    struct lt_span hours, int64_t now_utc_s, struct lt_error *err);
/* Adds the part of the run that is booked for an account in the period. */
int lt_report_unused_run(struct lt_report_unused *unused, const struct lt_run *run,
    const struct lt_booked *booked, struct lt_error *err);
/* {partitions[{partition, from, to, FIGURES}], total{FIGURES}}, FIGURES: paid_, used_ and unused_
 * of node_s and micros; money null where no price is known, or has_money is false. NULL, and err: a
 * sum passes int64_t. The caller's. */
json_t *lt_report_unused_json(
    const struct lt_report_unused *unused, bool has_money, struct lt_error *err);
/* The rows, by name of the partition. */
struct lt_unused_row {
	char partition[LT_NAME_SIZE];
	int64_t from_utc_s, to_utc_s; /* of the span: it is the site's */
	int64_t paid_node_s;
	bool has_micros; /* a price is known */
	int64_t paid_micros, used_micros;
};
uint32_t lt_report_unused_count(const struct lt_report_unused *unused);
struct lt_unused_row lt_report_unused_row(const struct lt_report_unused *unused, uint32_t index);
void lt_report_unused_free(struct lt_report_unused *unused);

#endif
