/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The forms of traces: how a line of each is read. Between trace.c, which has
 * the lines, and trace_rows.c.
 */
#ifndef LT_SIM_TRACE_ROWS_H
#define LT_SIM_TRACE_ROWS_H

#include "trace.h"

enum { LT_SIM_WANTED_MAX = 8 };

struct lt_sim_columns {
	int index[LT_SIM_WANTED_MAX]; /* of what the form wants; -1 = none */
	int count;		      /* of the header; 0 = it has none */
	int64_t unix_start_s;	      /* SWF's; 0 = not said */
	double summed_job; /* SWF's last line that is no part; or NAN */
};

struct lt_sim_row {
	const struct lt_sim_trace_look *look;
	struct lt_sim_columns *columns;
	char **cells;
	int count;
	bool is_part; /* by read: its job's sum is in another line */
};

struct lt_sim_wanted { /* a column, by the first of its names that is there */
	const char *names[3];
	bool required;
};

struct lt_sim_form {
	const char *header; /* a part of its first line; NULL = it has none */
	const char *header_wanted; /* for errors */
	char separator;
	struct lt_sim_wanted wanted[LT_SIM_WANTED_MAX];
	/* A run of 0 s: to be left out. */
	int (*read)(struct lt_sim_job *job, struct lt_sim_row *row,
	    struct lt_error *err);
};
extern const struct lt_sim_form lt_sim_forms[]; /* the last has no header */

int lt_sim_find_columns(struct lt_sim_columns *columns,
    const struct lt_sim_form *form, const struct lt_sim_row *header,
    struct lt_error *err);
/* "; UnixStartTime: 1234" */
void lt_sim_swf_comment(const char *line, struct lt_sim_columns *columns);

#endif
