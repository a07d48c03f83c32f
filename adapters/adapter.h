/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The contract of a signal source: name, options, fetch, parse. parse is
 * pure, bounded and fuzzed; only fetch touches the world. Of one that is a row
 * of json_source.h, lt_adapter_fetch() and lt_adapter_parse() do both.
 */
#ifndef LT_ADAPTER_H
#define LT_ADAPTER_H

#include "option.h"
#include "points.h"

struct lt_adapter {
	const char *name;
	const char *usage;			 /* one line */
	const struct lt_adapter_option *options; /* ended by key NULL */
	/* Ended by key NULL; NULL = no option has one of a few words. */
	const struct lt_option_choice *choices;
	int64_t interval_s; /* how often to fetch */
	/* How late its newest data usually is: staleness counts from this and interval_s after its
	 * issue time, when newer could be there. */
	int64_t fresh_s;
	int timeout_s; /* of silence, without the option; 0: LT_TIMEOUT_S */
	bool replay;   /* a recording: always labelled */
	/* The quantity that it gives; by its options where quantity is not NULL. */
	enum lt_quantity gives;
	enum lt_quantity (*quantity)(const struct lt_source_options *options);
	/* The basis of its intensities; of one with the option emission_factors, where that is not
	 * given. */
	enum lt_basis basis;
	/* Version and method of its intensities, as far
	 * as docs/sources/ has it; NULL: it says neither. */
	const char *version;
	/* ISO 4217 code of its prices, "" = the site's own. NULL: no money. */
	const char *(*currency)(const struct lt_source_options *options);
	/* Check option values beyond the table; may be NULL. */
	int (*check)(const struct lt_source_options *options, struct lt_error *err);
	/* The last year that the figures it brings along are of, for these options (0 = wrong
	 * ones); NULL: it brings none. */
	int (*table_year)(const struct lt_source_options *options);
	/*
	 * Fetch [from, to) as far as the source has it, and parse. Appends to points. Blocks at
	 * most the limits of http.h. An error's text names host or file and place; its line and
	 * column stay 0, so that a caller who adds the policy file's never mixes them up.
	 */
	int (*fetch)(const struct lt_source_options *options, const struct lt_window *window,
	    struct lt_points *points, struct lt_error *err);
	lt_parse_fn *parse; /* NULL where nothing is fetched */
	/* Does both, where it is not NULL. */
	const struct lt_json_source *json;
};

/* NULL = unknown. */
const struct lt_adapter *lt_adapter_find(const char *name);
/* Names for lt_policy_load(), NULL ended. */
const char *const *lt_adapter_names(void);
/* Returns what a source with these (checked) options gives, before any fetch: a price under
 * `carbon:` is a mistake that can be found at once. */
enum lt_quantity lt_adapter_quantity(
    const struct lt_adapter *adapter, const struct lt_source_options *options);
/* Has it this option? */
bool lt_adapter_has_option(const struct lt_adapter *adapter, const char *key);
/* How long a source may be silent before its fetch fails. */
int lt_adapter_timeout_s(const struct lt_adapter *adapter, const struct lt_source_options *options);
/* Returns what the intensities of a source count. */
enum lt_basis lt_adapter_basis(
    const struct lt_adapter *adapter, const struct lt_source_options *options);
/* Pure; LT_EBUG from one that fetches nothing. As lt_parse_fn. */
int lt_adapter_parse(const struct lt_adapter *adapter, const struct lt_source_options *options,
    const struct lt_answer *answer, struct lt_points *points, struct lt_error *err);
/* The adapter's fetch, and none of its secrets in err, points->note or the trace of
 * options->memory, whatever the source answered. */
int lt_adapter_fetch(const struct lt_adapter *adapter, const struct lt_source_options *options,
    const struct lt_window *window, struct lt_points *points, struct lt_error *err);
/* All of options: unknown key (nearest named), missing required, one of a few words, the adapter's
 * check, then `url`. The error has line and column. */
int lt_adapter_check(const struct lt_adapter *adapter, const struct lt_source_options *options,
    struct lt_error *err);

#endif
