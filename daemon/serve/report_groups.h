/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a period cost by day, team, user, partition and more: each row of its
 * runs, and each adjustment, is added to one group of each grouping (to one a
 * day of the grouping by day), so that each grouping adds up to the statement.
 * Also the runs that cost most.
 */
#ifndef LT_SERVE_REPORT_GROUPS_H
#define LT_SERVE_REPORT_GROUPS_H

#include "calendar.h"
#include "periods.h"
#include "out.h"

enum {
	LT_GROUPINGS_MAX = 8,
	LT_GROUP_DIMENSIONS_MAX = 4,
	LT_GROUPS_MAX = 20000, /* of one grouping; more: refused */
	LT_TOP_MAX = 100
};

/* What to group by, as asked: "day;team,partition". */
struct lt_groupings {
	uint32_t count, top; /* top: so many of the dearest runs */
	uint32_t shown;	     /* of them, the first ones, are written */
	struct lt_grouping {
		uint32_t count;
		int dimensions[LT_GROUP_DIMENSIONS_MAX];
	} all[LT_GROUPINGS_MAX];
};
/* LT_EINPUT: not one of the dimensions, or too many. */
int lt_groupings_parse(
    struct lt_groupings *groupings, const char *text, struct lt_error *err);

struct lt_report_groups; /* opaque */
/* NULL: no memory. groupings, offsets and ledger are lent until it is freed. */
struct lt_report_groups *lt_report_groups_new(
    const struct lt_groupings *groupings, const struct lt_offsets *offsets,
    struct lt_ledger *ledger, struct lt_span period);
/* is_shown: not in sums alone, also among the dearest. */
int lt_report_groups_run(struct lt_report_groups *groups,
    const struct lt_run *run, const struct lt_booked *booked, bool is_shown,
    struct lt_error *err);
int lt_report_groups_adjustment(struct lt_report_groups *groups,
    const struct lt_entry *entry, struct lt_error *err);
/* Each group of the last grouping; texts: of its dimensions. */
struct lt_report_group {
	const char *texts[LT_GROUP_DIMENSIONS_MAX];
	int64_t ended, cost_micros, energy_wh, gpu_s;
};
typedef int lt_group_function(
    void *context, const struct lt_report_group *group, struct lt_error *err);
int lt_report_groups_each(const struct lt_report_groups *groups,
    lt_group_function *take, void *context, struct lt_error *err);
/* ,"by":{...},"top":[...] */
void lt_report_groups_write(
    struct lt_out *out, struct lt_report_groups *groups);
void lt_report_groups_free(struct lt_report_groups *groups);

#endif
