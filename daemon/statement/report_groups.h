/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The cost of a period by day, team, user, partition and more: each row of its runs, and each
 * adjustment, is added to one group of each grouping (by day: to one for each day), so that each
 * grouping adds up to the statement. Also the runs that cost most.
 */
#ifndef LT_SERVE_REPORT_GROUPS_H
#define LT_SERVE_REPORT_GROUPS_H

#include <jansson.h>

#include "calendar.h"
#include "periods.h"
#include "out.h"
#include "policy.h"

enum {
	LT_GROUPINGS_MAX = 8,
	LT_GROUP_DIMENSIONS_MAX = 4,
	LT_GROUPS_MAX = 20000, /* of one grouping; more: refused */
	LT_TOP_MAX = 100
};

enum lt_dimension {
	LT_BY_DAY,
	LT_BY_MONTH,
	LT_BY_TEAM,
	LT_BY_USER,
	LT_BY_PARTITION,
	LT_BY_QOS,
	LT_BY_GPU,
	LT_BY_NAME,
	LT_BY_WCKEY,
	LT_BY_STATE,
	LT_BY_LABEL,
	LT_DIMENSIONS
};

/* The groupings that are asked for: "day;team,partition". */
struct lt_groupings {
	uint32_t count, top; /* top: so many of the dearest runs */
	uint32_t shown;	     /* of them, the first ones, are written */
	struct lt_grouping {
		uint32_t count;
		enum lt_dimension dimensions[LT_GROUP_DIMENSIONS_MAX];
		/* Keys of the labels among them. */
		char keys[LT_GROUP_DIMENSIONS_MAX][LT_LABEL_KEY_SIZE];
	} all[LT_GROUPINGS_MAX];
};
/* LT_EINPUT: not one of the dimensions, or too many. */
int lt_groupings_parse(struct lt_groupings *groupings, const char *text, struct lt_error *err);

bool lt_groupings_have(const struct lt_groupings *groupings, enum lt_dimension dimension);
/* As it was asked: "team", "label:cost_center". */
void lt_grouping_put_name(struct lt_out *out, const struct lt_grouping *grouping, uint32_t which);

struct lt_report_groups; /* opaque */
/* NULL: no memory. groupings, offsets, ledger and labels, {account: {key:
 * text}}, are lent until it is freed. */
struct lt_report_groups *lt_report_groups_new(const struct lt_groupings *groupings,
    const struct lt_offsets *offsets, struct lt_ledger *ledger, struct lt_span period,
    const json_t *labels);
/* is_shown: not in sums alone, also among the dearest. */
int lt_report_groups_run(struct lt_report_groups *groups, const struct lt_run *run,
    const struct lt_booked *booked, bool is_shown, struct lt_error *err);
int lt_report_groups_adjustment(
    struct lt_report_groups *groups, const struct lt_entry *entry, struct lt_error *err);
/* Each group of the last grouping; texts: of its dimensions. */
struct lt_report_group {
	const char *texts[LT_GROUP_DIMENSIONS_MAX];
	int64_t ended, cost_micros, energy_wh, gpu_s;
};
typedef int lt_group_function(
    void *context, const struct lt_report_group *group, struct lt_error *err);
int lt_report_groups_each(const struct lt_report_groups *groups, lt_group_function *take,
    void *context, struct lt_error *err);
/* ,"by":{...},"top":[...] */
void lt_report_groups_write(struct lt_out *out, struct lt_report_groups *groups);
void lt_report_groups_free(struct lt_report_groups *groups);

#endif
