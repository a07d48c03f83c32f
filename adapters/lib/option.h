/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The options of a source in the policy file: their values, and errors that have their place.
 */
#ifndef LT_OPTION_H
#define LT_OPTION_H

#include <stdbool.h>

#include "error.h"
#include "points.h"

enum {
	LT_TIMEOUT_S = 10,
	LT_TIMEOUT_MAX_S = 300,
};

enum {
	LT_TOKEN_SIZE = 4096,
	LT_TRACE_MAX = 8, /* requests of a fetch that are kept; more are counted */
};

/* The memory of a source between two fetches: token, validators, and the trace for `lowtide signals
 * test`. It is never written to disk, logged or shown, except the trace, which has no secrets. Zero
 * at the start. */
struct lt_source_memory {
	char token[LT_TOKEN_SIZE]; /* secret; "" = none */
	int64_t token_until_utc_s;
	/* Validators of the one answer that the last points came from. */
	char etag[256], last_modified[64];
	/* Since when that answer has been the same: by Last-Modified, else since it was first seen;
	 * 0 = no validators. */
	int64_t changed_utc_s;
	int version; /* of a catalog with several, the one in use; 0: none */
	/* History, or the forecast, is not asked for before these times: the source asked for that
	 * pause, while it gave the other. */
	int64_t past_pause_utc_s, ahead_pause_utc_s;
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
	int timeout_s;			 /* of silence, for sources on the web; 0: LT_TIMEOUT_S */
};
/* Value of an option, or fallback. */
const char *lt_source_option(
    const struct lt_source_options *options, const char *key, const char *fallback);

struct lt_adapter_option {
	const char *key;
	bool required;
	const char *usage;
	const char *fallback; /* default, for help and docs */
};

enum { LT_CHOICE_WORDS_MAX = 4 };

struct lt_option_choice { /* an option that has one of a few words */
	const char *key;
	const char *words[LT_CHOICE_WORDS_MAX]; /* NULL = no more */
	const char *want;			/* in an error */
};

/* Sets the place of an option in the policy file, as lt_error_at(). */
void lt_option_at(const struct lt_source_options *options, const char *key, struct lt_error *err);
/* Fails with LT_EINPUT at the place of an option in the policy file. */
int lt_option_fail(const struct lt_source_options *options, const char *key, struct lt_error *err,
    const char *format, ...) __attribute__((format(printf, 4, 5)));

/* The entry of the option `timeout` in the table of a source on the web. */
#define LT_TIMEOUT_OPTION                                                                          \
	{                                                                                          \
		"timeout", false, "how long it may be silent before it fails", "10s"               \
	}

/* Returns the option `emission_factors`, else `fallback`. */
enum lt_basis lt_basis_of_option(const struct lt_source_options *options, enum lt_basis fallback);
/* Its entry in the table of a source whose answers do not give it. */
#define LT_BASIS_OPTION                                                                            \
	{                                                                                          \
		"emission_factors", false, "lifecycle or direct: what its intensities count",      \
		    "not said"                                                                     \
	}

/* The option `currency` of a source, "" = the site's own: as an adapter's currency(), and checked
 * (three capitals; only of money) into points. */
const char *lt_currency_of_option(const struct lt_source_options *options);
int lt_currency_option(
    struct lt_points *points, const struct lt_source_options *options, struct lt_error *err);

struct lt_window {		      /* the time asked for, and now */
	int64_t from_utc_s, to_utc_s; /* half-open */
	int64_t now_utc_s;
};

struct lt_answer { /* of a source, or a file */
	const char *bytes;
	size_t byte_count;
	int64_t now_utc_s;
};

/* Reads the bytes of one answer or file into points. Pure; an error has their line and column where
 * known. */
typedef int lt_parse_fn(const struct lt_source_options *options, const struct lt_answer *answer,
    struct lt_points *points, struct lt_error *err);

#endif
