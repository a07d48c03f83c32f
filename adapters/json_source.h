/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A source that answers in JSON, as a row of a table: what to ask it, and where the values stand in
 * its answers. sources.c has the rows.
 */
#ifndef LT_JSON_SOURCE_H
#define LT_JSON_SOURCE_H

#include "adapter.h"
#include "json.h"
#include "url.h"

enum { LT_JSON_QUERY_MAX = 5 };

enum lt_json_kind {
	LT_JSON_ESTIMATES, /* values are estimates, as the source says */
	LT_JSON_MEASURED,  /* measured, once their time has begun */
	LT_JSON_OUTLOOK,   /* forecasts; of a time that is over, estimates */
};

/*
 * One request. In its texts <OPTION> stands for an option's value, or its default; <start> and
 * <end> for the times that are asked for, in UTC as 2026-10-05T22:00:00; <start-minute> and
 * <end-minute> for the same without seconds. A query whose text comes to nothing is left out.
 */
struct lt_json_request {
	const char *path; /* NULL = no such request */
	struct lt_query query[LT_JSON_QUERY_MAX];
	const char *dataset; /* that its answers are of, as they say; or NULL */
	enum lt_json_kind kind;
};

/* A list of rows, each with a time and a value of a step from then on. */
struct lt_json_rows {
	const char *list;	  /* member that has it */
	bool may_be_bare;	  /* or the answer is the list */
	const char *row;	  /* one of them, in words: "record" */
	const char *gaps;	  /* those without a value, in words: "hours" */
	const char *time;	  /* member with the start */
	bool is_zoneless;	  /* as 2025-09-27T21:00:00, in UTC */
	const char *value;	  /* member; <OPTION> as in a request */
	const char *place;	  /* member that has to be that option's value... */
	const char *place_option; /* ... NULL: rows name no place */
	int step_s;
	bool is_price;	    /* per MWh: with the options add_per_kwh, multiply */
	bool ends_in_nulls; /* of times to come: they are no gaps */
};

struct lt_json_source {
	/* All that is known, taken as it comes: a price list; values that come late, so that those
	 * before what was asked for count. */
	struct lt_json_request all;
	/* Or what is to come, and what was. Without `past`, `ahead` has both. */
	struct lt_json_request ahead, past;
	int64_t reach_s;  /* `all` and `ahead` start so long ago at least */
	int64_t margin_s; /* `past` ends so much later than it should */
	int64_t pause_s;  /* after a 429, at least */
	/* "Authorization: bearer ", before the option key's secret where one is named; NULL: it
	 * takes none. */
	const char *key_header;
	/* As in struct lt_web_request. */
	void (*error_text)(char *out, size_t size, const char *body, size_t length);
	/* How to read an answer: rows, or a function. */
	struct lt_json_rows rows;
	lt_json_read_fn *read;
};

/* For lt_adapter_check(), lt_adapter_fetch() and lt_adapter_parse(): the check of the options of
 * prices, after the adapter's own. */
int lt_json_source_check(const struct lt_adapter *adapter, const struct lt_source_options *options,
    struct lt_error *err);
int lt_json_source_fetch(const struct lt_adapter *adapter, const struct lt_source_options *options,
    const struct lt_window *window, struct lt_points *points, struct lt_error *err);
int lt_json_source_parse(const struct lt_adapter *adapter, const struct lt_source_options *options,
    const struct lt_answer *answer, struct lt_points *points, struct lt_error *err);

#endif
