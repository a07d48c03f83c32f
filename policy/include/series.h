/*
 * A signal as a step function of time with prefix sums, so that the cost of any window is two
 * look-ups. One unit per series, said by whoever made it.
 */
#ifndef LT_SERIES_H
#define LT_SERIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "error.h"

enum {
	LT_SERIES_BLOCK = 32, /* steps of one entry of block_min[] */
	/* The windows of window_min[] are of a day, half of it and so on. */
	LT_SERIES_WINDOWS = 4,
};

enum lt_quality { /* from best to worst; text by lt_quality_name() */
	LT_QUALITY_NONE,
	LT_QUALITY_CONSTANT, /* the admin wrote it: exact, but moves nothing */
	LT_QUALITY_MEASURED,
	LT_QUALITY_ESTIMATED,
	LT_QUALITY_FORECAST,
	LT_QUALITY_CLIMATOLOGY,
	LT_QUALITY_LAST_VALUE,
	LT_QUALITY_REPLAY, /* a recording re-dated to now: never real */
	LT_QUALITY_COUNT,
};

const char *lt_quality_name(enum lt_quality quality);

/*
 * value[i] holds on [start_utc_s[i], start_utc_s[i + 1]); start_utc_s has count + 1 entries,
 * strictly rising, the last is the end. integral[i] is the integral of value, in unit-hours, from
 * start_utc_s[0] to start_utc_s[i]. After the end the last value holds; before the start the first.
 */
struct lt_series {
	uint32_t count; /* >= 1 */
	enum lt_quality quality;
	int64_t issued_utc_s;	   /* when the source said so; staleness is by this */
	char source[LT_NAME_SIZE]; /* as in the policy file, "" = constant */
	int64_t *start_utc_s;
	double *value;
	double *integral;
	/* Set by lt_series_prepare(), for bounds and for finding steps: */
	double min_value, max_value;
	/* Least integral of all windows of LT_DAY_S >> i seconds that lie between the start and the
	 * end. */
	double window_min[LT_SERIES_WINDOWS];
	double steps_per_s;				  /* count over the whole length */
	double block_min[LT_STEPS_MAX / LT_SERIES_BLOCK]; /* least value of
							   * steps [i * LT_SERIES_BLOCK, ...) */
};

/* Fill integral[] and what follows it from start_utc_s[] and value[]; equal
 * neighbours are merged first (count shrinks). Whoever fills or loads a series
 * calls this before use. LT_EINPUT when not strictly rising or a
 * value is not finite. */
int lt_series_prepare(struct lt_series *series, struct lt_error *err);

/* Index of the step that holds at utc_s, clamped to [0, count - 1]. */
uint32_t lt_series_index(const struct lt_series *series, int64_t utc_s);
/* The same, when it is known to be in [low, high] of the indexes. */
uint32_t lt_series_index_in(
    const struct lt_series *series, int64_t utc_s, uint32_t low, uint32_t high);
double lt_series_at(const struct lt_series *series, int64_t utc_s);

/* Integral over [from, to) in unit-hours; from <= to. */
double lt_series_integral(const struct lt_series *series, int64_t from_utc_s, int64_t to_utc_s);

/* Largest value in force in [from, to]. */
double lt_series_max(const struct lt_series *series, int64_t from_utc_s, int64_t to_utc_s);

#endif
