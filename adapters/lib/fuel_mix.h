/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Carbon intensity from a generation mix: what each fuel gave by quarter of
 * an hour, and grams per kWh of each complete hour, docs/model.md eq. (34).
 */
#ifndef LT_FUEL_MIX_H
#define LT_FUEL_MIX_H

#include "option.h"
#include "units.h"

enum lt_fuel {
	LT_FUEL_BIOMASS,
	LT_FUEL_COAL,
	LT_FUEL_GAS,
	LT_FUEL_GEOTHERMAL,
	LT_FUEL_HYDRO,
	LT_FUEL_LIGNITE,
	LT_FUEL_MARINE,
	LT_FUEL_NUCLEAR,
	LT_FUEL_OIL,
	LT_FUEL_OIL_SHALE,
	LT_FUEL_OTHER,
	LT_FUEL_PEAT,
	LT_FUEL_SOLAR,
	LT_FUEL_SOLAR_BATTERY, /* below 0 it charges, and counts as 0 */
	LT_FUEL_STORAGE,       /* no source: counted where it was charged */
	LT_FUEL_WASTE,
	LT_FUEL_WIND,
	LT_FUEL_WIND_BATTERY,
	LT_FUEL_WIND_OFFSHORE,
	LT_FUEL_COUNT,
};

enum {
	LT_MIX_SLOT_S = 900,
	LT_MIX_SPAN_S = 35 * LT_DAY_S, /* of one mix, 0.9 MB: cut */
	LT_MIX_CODES_MAX = 31,	       /* of a table; one more: unknown */
	LT_MIX_MW_MAX = 1000000,       /* more than all of the USA: refused */
};

/* Where the factors are from, for lt_adapter.version. */
#define LT_FUEL_MIX_VERSION                                                                        \
	"factors of IPCC AR5 WG3 (2014) annex III and of the 2006 IPCC "                           \
	"Guidelines"

/* g CO2e/kWh, life cycle or of the stack alone; 0 for storage. */
double lt_fuel_factor(enum lt_fuel fuel, bool direct);

struct lt_mix_code { /* a source's word for a fuel; table ended by NULL */
	const char *code;
	enum lt_fuel fuel;
};

struct lt_mix {
	const struct lt_mix_code *codes;
	int code_count;
	int64_t start_utc_s; /* on the hour */
	int hour_count;
	int first_hour, end_hour; /* that anything is said of */
	double *mw;		  /* mean power by hour, slot and code; NAN = not said */
	int refused;		  /* rows */
	struct lt_error refusal;  /* of the first */
	char unknown[16];	  /* a code that is not in the table */
};

/* Empty, for the whole hours in [from, to); the last LT_MIX_SPAN_S of them. LT_EINPUT when there is
 * none. lt_mix_free() in any case. */
int lt_mix_start(struct lt_mix *mix, const struct lt_mix_code *codes, int64_t from_utc_s,
    int64_t to_utc_s, struct lt_error *err);
void lt_mix_free(struct lt_mix *mix);

/* Column of a code; of one that is not known, that of the unknown. */
int lt_mix_column(struct lt_mix *mix, const char *code);
/* Mean power over [start, end), on quarters of an hour; the later wins. What is outside of the
 * mix's time is dropped. */
void lt_mix_put(struct lt_mix *mix, int column, int64_t start_utc_s, int64_t end_utc_s, double mw);
/* Count a row that can't be used. */
void lt_mix_refuse(struct lt_mix *mix, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Makes points of all complete hours, sorted and dated; the note names what is left out. LT_EINPUT
 * without any. */
int lt_mix_points(const struct lt_mix *mix, const struct lt_source_options *options,
    int64_t now_utc_s, struct lt_points *points, struct lt_error *err);
/* Or all its codes' power of the hours that each of them is said of, MW, as forecast. LT_EINPUT
 * without any. */
int lt_mix_power(const struct lt_mix *mix, enum lt_quantity quantity, struct lt_points *points,
    struct lt_error *err);

#endif
