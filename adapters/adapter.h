/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The contract of a signal source: name, options, fetch, parse. parse is
 * pure, bounded and fuzzed; only fetch touches the world.
 */
#ifndef LT_ADAPTER_H
#define LT_ADAPTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "error.h"
#include "series.h"

enum lt_quantity {
	LT_QUANTITY_CARBON,   /* g CO2e per kWh, average intensity */
	LT_QUANTITY_MARGINAL, /* g CO2e per kWh, marginal intensity: another
			       * thing than the average, never compared */
	LT_QUANTITY_PRICE,    /* micros per node-hour */
	LT_QUANTITY_TARIFF,   /* micros per kWh */
	LT_QUANTITY_HAZARD,   /* interruptions per node-hour */
	LT_QUANTITY_SCORE, /* 1 to 10, the provider's hint; decides nothing */
	LT_QUANTITY_COUNT,
};

/* Its name in options and JSON ("carbon"); "unknown". */
const char *lt_quantity_name(enum lt_quantity quantity);
/* By that name; LT_QUANTITY_COUNT = none. */
enum lt_quantity lt_quantity_find(const char *name);
/* For people: "carbon intensity"; its unit in words: "g CO2e/kWh". */
const char *lt_quantity_title(enum lt_quantity quantity);
const char *lt_quantity_unit(enum lt_quantity quantity);
/* Points per unit that people write: a million for money, else 1. */
double lt_quantity_scale(enum lt_quantity quantity);

struct lt_point { /* holds on [start, end) */
	int64_t start_utc_s, end_utc_s;
	double value;
	enum lt_quality quality;
};

enum {
	LT_POINTS_MAX = 524288, /* 60 years of hours, 16 MiB: more, refused */
	LT_POINTS_NOTE_SIZE = 192, /* longer: cut */
};

struct lt_points {		   /* start as { 0 }; grows; lt_points_free() */
	enum lt_quantity quantity; /* set by the adapter */
	int64_t issued_utc_s;	   /* 0 = fetch time */
	int64_t retry_after_s; /* of a failed fetch: the source asks for this
				* pause; 0 = it asks for none */
	char note[LT_POINTS_NOTE_SIZE]; /* what readers must know ("replay of
					 * gb.csv, ..."), "" = nothing */
	char currency[4]; /* ISO 4217 of prices and tariffs; "" = the site's */
	bool past_lost;	  /* these are good, but older ones did not come: to be
			   * asked for again */
	bool unchanged;	  /* the source says that what it gave last still
			   * holds (HTTP 304): no points */
	size_t count, capacity;
	struct lt_point *points;
};
/*
 * Refuses a value that is not finite or absurd, 0 or negative intensity or
 * price ("missing is not zero"; 0 is allowed as LT_QUALITY_CONSTANT, and
 * tariffs may be 0 or negative, as on power exchanges), end <= start.
 * LT_EINPUT names it, LT_ELIMIT at LT_POINTS_MAX.
 */
int lt_points_add(struct lt_points *points, const struct lt_point *point,
    struct lt_error *err);
/* Sort by start; of two for the same start the later added wins; overlaps
 * are cut. */
void lt_points_sort(struct lt_points *points);
void lt_points_free(struct lt_points *points);

enum {
	LT_TOKEN_SIZE = 4096,
	LT_TRACE_MAX =
	    8, /* requests of one fetch that are told; more: counted */
};

/* What a source keeps between two fetches, in memory only: never written
 * down, logged or shown but for the trace, which has no secrets. Zero at the
 * start. */
struct lt_source_memory {
	char token[LT_TOKEN_SIZE]; /* secret; "" = none */
	int64_t token_until_utc_s;
	/* Validators of the one answer that the last points came from. */
	char etag[256], last_modified[64];
	/* The requests of the last fetch. */
	int trace_count; /* may be more than LT_TRACE_MAX */
	struct lt_trace {
		char request[512]; /* "GET https://host/path?query" */
		long status;	   /* 0 = no answer */
		size_t body_length;
		int64_t took_ms;
	} trace[LT_TRACE_MAX];
};

struct lt_source_options { /* one source of the policy file */
	const char *name;
	int count;
	struct {
		const char *key, *value;
		int line, column;
	} items[24];
	struct lt_source_memory *memory; /* may be NULL: nothing is kept */
};
/* Value of an option, or fallback. */
const char *lt_source_option(const struct lt_source_options *options,
    const char *key, const char *fallback);

struct lt_adapter_option {
	const char *key;
	bool required;
	const char *usage;
	const char *fallback; /* default, for help and docs */
};

struct lt_adapter {
	const char *name;
	const char *usage;			 /* one line */
	const struct lt_adapter_option *options; /* ended by key NULL */
	int64_t interval_s;			 /* how often to fetch */
	/* How late its newest data usually is: staleness counts from this and
	 * interval_s after its issue time, when newer could be there. */
	int64_t fresh_s;
	bool replay; /* a recording: always labelled */
	/* What a source with these (checked) options gives, before any fetch:
	 * a price under `carbon:` is a mistake that can be found at once. */
	enum lt_quantity (*quantity)(const struct lt_source_options *options);
	/* ISO 4217 code of its prices, "" = the site's own. NULL: no money. */
	const char *(*currency)(const struct lt_source_options *options);
	/* Check option values beyond the table; may be NULL. */
	int (*check)(
	    const struct lt_source_options *options, struct lt_error *err);
	/*
	 * Fetch [from, to) as far as the source has it, and parse. Appends to
	 * points. Blocks at most the limits of http.h. An error's text names
	 * host or file and place; its line and column stay 0, so that a caller
	 * who adds the policy file's never mixes them up.
	 */
	int (*fetch)(const struct lt_source_options *options,
	    int64_t from_utc_s, int64_t to_utc_s, int64_t now_utc_s,
	    struct lt_points *points, struct lt_error *err);
	/* Pure: the bytes of one answer or file; an error has their line and
	 * column where known. NULL where nothing is fetched. */
	int (*parse)(const struct lt_source_options *options, const char *bytes,
	    size_t byte_count, int64_t now_utc_s, struct lt_points *points,
	    struct lt_error *err);
};

/* NULL = unknown. */
const struct lt_adapter *lt_adapter_find(const char *name);
/* Names for lt_policy_load(), NULL ended. */
const char *const *lt_adapter_names(void);
/* All of options: unknown key (nearest named), missing required, then the
 * adapter's check. The error has line and column. */
int lt_adapter_check(const struct lt_adapter *adapter,
    const struct lt_source_options *options, struct lt_error *err);

#endif
