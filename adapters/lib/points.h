/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Points: the values of every source, in one unit, each with its time and quality; their means over
 * whole hours; and the age of figures that lowtide brings along.
 */
#ifndef LT_POINTS_H
#define LT_POINTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "error.h"
#include "series.h"

enum lt_quantity {
	LT_QUANTITY_CARBON,   /* g CO2e per kWh, average intensity */
	LT_QUANTITY_MARGINAL, /* g CO2e per kWh, marginal intensity; never
			       * compared with the average */
	LT_QUANTITY_PRICE,    /* micros per node-hour */
	LT_QUANTITY_TARIFF,   /* micros per kWh */
	LT_QUANTITY_HAZARD,   /* interruptions per node-hour */
	LT_QUANTITY_SCORE,    /* 1 to 10, the provider's hint; decides nothing */
	/* Weather, as forecast: for our own forecasts of intensity. In the order of forecast.h. */
	LT_QUANTITY_WIND,	 /* m/s */
	LT_QUANTITY_SUN,	 /* W/m2 on the ground */
	LT_QUANTITY_TEMPERATURE, /* degrees Celsius */
	/* The day-ahead expectation of a grid's operator, MW. */
	LT_QUANTITY_WIND_POWER,
	LT_QUANTITY_SOLAR_POWER,
	LT_QUANTITY_LOAD,
	LT_QUANTITY_COUNT,
};

enum lt_basis {		    /* of an intensity; never compared with another basis */
	LT_BASIS_UNSAID,    /* as for a number of the admin, or no intensity */
	LT_BASIS_LIFECYCLE, /* building of plants and supply of fuel, too */
	LT_BASIS_DIRECT,    /* combustion alone, what leaves the stacks */
	LT_BASIS_COUNT,
};

/* As the option emission_factors has it: "lifecycle"; "" = not said. */
const char *lt_basis_name(enum lt_basis basis);

/* Its name in options and JSON ("carbon"); "unknown". */
const char *lt_quantity_name(enum lt_quantity quantity);
/* True for an intensity, average or marginal. */
bool lt_quantity_is_carbon(enum lt_quantity quantity);
/* Or the operator's: what goes into our forecasts alone, and may be 0. */
bool lt_quantity_is_weather(enum lt_quantity quantity);
/* Returns the quantity of that name; LT_QUANTITY_COUNT = none. */
enum lt_quantity lt_quantity_find(const char *name);
/* For people: "carbon intensity"; its unit in words: "g CO2e/kWh". */
const char *lt_quantity_title(enum lt_quantity quantity);
const char *lt_quantity_unit(enum lt_quantity quantity);
/* Points per unit that people write: a million for money, else 1. */
double lt_quantity_scale(enum lt_quantity quantity);

/* A value as people write it (money in units of its currency) in the unit of points: whole micros
 * for money. */
double lt_quantity_from(enum lt_quantity quantity, double written);

struct lt_point { /* holds on [start, end) */
	int64_t start_utc_s, end_utc_s;
	double value;
	enum lt_quality quality;
};

enum {
	LT_POINTS_MAX = 524288,	      /* 60 years of hours, 16 MiB: more, refused */
	LT_POINTS_NOTE_SIZE = 192,    /* longer: cut */
	LT_RETRY_AFTER_MAX_S = 86400, /* a source that asks for more: this */
};

struct lt_points {			/* start as { 0 }; grows; lt_points_free() */
	enum lt_quantity quantity;	/* set by the adapter */
	int64_t issued_utc_s;		/* 0 = fetch time */
	int64_t retry_after_s;		/* of a failed fetch: the source asks for this
					 * pause; 0 = it asks for none */
	char note[LT_POINTS_NOTE_SIZE]; /* what readers must know ("replay of
					 * gb.csv, ..."), "" = nothing */
	/* The source never has 0 for a missing value: its 0 is a figure. Set by the adapter, if it
	 * knows. */
	bool zero_is_data;
	char currency[4]; /* ISO 4217 of prices and tariffs; "" = the site's */
	bool past_lost;	  /* these are good, but older ones did not come; they
			   * are asked for again */
	bool unchanged;	  /* the last answer still holds (HTTP 304): no
			   * points */
	size_t count, capacity;
	struct lt_point *points;
};
/* "; " and words at the end of a note, cut to fit. */
void lt_note_add(struct lt_points *points, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/*
 * Refuses a value that is not finite or absurd, 0 or negative intensity or
 * price ("missing is not zero"; 0 is allowed as LT_QUALITY_CONSTANT, with
 * zero_is_data and as weather; tariffs may be 0 or negative, as on power
 * exchanges, and temperatures),
 * end <= start.
 * LT_EINPUT names it, LT_ELIMIT at LT_POINTS_MAX.
 */
int lt_points_add(struct lt_points *points, const struct lt_point *point, struct lt_error *err);
/* Sorts by start; of two with the same start the later added stays; overlaps are cut. */
void lt_points_sort(struct lt_points *points);
void lt_points_free(struct lt_points *points);

/* Appends the points of all that overlap [from, to). */
int lt_points_copy(struct lt_points *points, const struct lt_points *all, int64_t from_utc_s,
    int64_t to_utc_s, struct lt_error *err);
/* Sets issued_utc_s: now for data that covers now, else the end of the data. */
void lt_points_date(struct lt_points *points, int64_t now_utc_s);

enum { LT_HOURS_SHOWN = 24 };

struct lt_hour {
	bool known;
	double value;		 /* mean over its known part */
	enum lt_quality quality; /* the worst of its parts */
};

/*
 * Computes count hours from start_utc_s on. points: sorted, not overlapping (lt_points_sort). An
 * hour of which less than half is covered stays unknown:
 * missing is not zero. Pure.
 */
void lt_points_hours(struct lt_hour *hours, int count, int64_t start_utc_s,
    const struct lt_point *points, size_t point_count);

enum { LT_TABLE_YEARS_MAX = 2 };

/* Grids change: figures of years ago still distinguish grids, but no longer show how clean a grid
 * is. True if the year ended more than LT_TABLE_YEARS_MAX years ago. Pure. */
bool lt_table_is_old(int year, int64_t now_utc_s);

/* Adds that to the note of points, if it is so. */
void lt_table_age_note(struct lt_points *points, int year, int64_t now_utc_s);

#endif
