/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A time series in a local CSV or JSON file: what the adapters file and
 * replay have in common, from the options to points.
 */
#ifndef LT_RECORDING_H
#define LT_RECORDING_H

#include "source.h"

enum {
	LT_RECORDING_CELL_SIZE = 128, /* of one cell: refused */
	LT_RECORDING_SKIP_MAX = 1000, /* lines before the header */
};

struct lt_recording { /* options, read; texts are the options' own */
	enum lt_quantity quantity;
	char currency[4]; /* of money; "" = the site's */
	double scale;	  /* values times this are the site's unit */
	const char *time, *value, *end; /* column names; end may be NULL */
	int skip;
	bool utc; /* times without a zone are UTC */
	bool zero_is_data;
};

/* The options both adapters have; ended by key NULL. */
extern const struct lt_adapter_option lt_recording_options[];

/* Read and check the options. */
int lt_recording_init(struct lt_recording *recording,
    const struct lt_source_options *options, struct lt_error *err);
enum lt_quantity lt_recording_quantity(const struct lt_source_options *options);

/*
 * CSV or JSON (by the first byte) to sorted points: a row holds until its
 * end, else until the next row, the last one as long as the one before it.
 * points starts as { 0 }. Pure.
 */
int lt_recording_parse(const struct lt_recording *recording, const char *bytes,
    size_t byte_count, struct lt_points *points, struct lt_error *err);
/* The same of the file that `path` names; errors name file and place. */
int lt_recording_read(const struct lt_source_options *options,
    struct lt_points *points, struct lt_error *err);

struct lt_recording_row {	  /* its texts */
	const char *time, *value; /* "" = a gap: no point */
	const char *end;	  /* "" = until the next row */
};
/* For the two formats. */
int lt_recording_row(const struct lt_recording *recording,
    const struct lt_recording_row *row, struct lt_points *points,
    struct lt_error *err);
int lt_recording_csv(const struct lt_recording *recording, const char *bytes,
    size_t byte_count, struct lt_points *points, struct lt_error *err);
int lt_recording_json(const struct lt_recording *recording, const char *bytes,
    size_t byte_count, struct lt_points *points, struct lt_error *err);

#endif
