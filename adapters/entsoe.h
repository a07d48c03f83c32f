/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Shared by the adapters of ENTSO-E's Transparency Platform share: its areas, the reader of its
 * documents, and the requests for them.
 */
#ifndef LT_ENTSOE_H
#define LT_ENTSOE_H

#include "fuel_mix.h"
#include "option.h"
#include "web.h"

enum {
	LT_EIC_SIZE = 17,
	LT_ENTSOE_TIMEOUT_S = 90,
};

#define LT_ENTSOE_URL "https://web-api.tp.entsoe.eu"

/* The energy identification code of an area: itself, or of a short code such as DE or NO1. NULL =
 * neither, or a wrong check character. */
const char *lt_entsoe_area(const char *text);
/* That of the option `area`. */
int lt_entsoe_area_option(
    const struct lt_source_options *options, const char **eic, struct lt_error *err);

/* ---- reading ---- */

struct lt_entsoe_series { /* what a TimeSeries says of itself; "" = nothing */
	char in_eic[LT_EIC_SIZE], out_eic[LT_EIC_SIZE];
	char unit[8], currency[8], curve[8], fuel[8], contract[8], sequence[8];
};
struct lt_entsoe_step { /* of a series: one value, on [start, end) */
	int64_t start_utc_s, end_utc_s;
	double value;
};

/* A kind of document, and the functions that take its parts: they get the sink of
 * lt_entsoe_read(). */
struct lt_entsoe_document {
	const char *root, *type; /* "GL_MarketDocument", "A75" */
	const char *title;	 /* of the type, for people */
	const char *value;	 /* a point's element: "quantity" */
	int value_max;		 /* either way; more: refused */
	/* True for a series to read; counts those that it refuses. */
	bool (*wanted)(void *sink, const struct lt_entsoe_series *series);
	void (*put)(
	    void *sink, const struct lt_entsoe_series *series, const struct lt_entsoe_step *step);
	void (*refuse)(void *sink, const char *what);
};

struct lt_entsoe_mix { /* a sink of MW by psrType */
	const char *eic;
	struct lt_mix mix;
};
/* A document's put and refuse; the sink begins with a struct lt_entsoe_mix. */
void lt_entsoe_mix_put(
    void *sink, const struct lt_entsoe_series *series, const struct lt_entsoe_step *step);
void lt_entsoe_mix_refuse(void *sink, const char *what);

enum lt_entsoe_kind {
	LT_ENTSOE_DATA,
	LT_ENTSOE_NO_DATA,  /* nothing for that area and time */
	LT_ENTSOE_TOO_MUCH, /* ask for a shorter time */
	LT_ENTSOE_REFUSED,  /* another reason */
};
struct lt_entsoe_answer {
	enum lt_entsoe_kind kind;
	char reason[200]; /* of all but data */
};

/*
 * Data goes to the document's functions (NULL: none is taken, reasons only); curves and steps that
 * nobody knows are refused. LT_EINPUT for what is no answer at all, with line and column. Pure.
 */
int lt_entsoe_read(const struct lt_answer *answer, const struct lt_entsoe_document *document,
    void *sink, struct lt_entsoe_answer *said, struct lt_error *err);
/* The error of an answer that is no data. */
int lt_entsoe_refused(const struct lt_entsoe_answer *answer, struct lt_error *err);

/* ---- requests ---- */

struct lt_entsoe_job { /* one fetch */
	struct lt_web web;
	const struct lt_entsoe_document *document;
	void *sink;
	const struct lt_query *query; /* but the times; ended by NULL */
	bool has_data;
	char missing[LT_POINTS_NOTE_SIZE]; /* why older hours are not here */
	const char *secret_query;	   /* set by lt_entsoe_fetch() */
	int requests;			   /* so far */
};

/* [from, to) from the newest part to the oldest: what fails after data has come costs the older
 * hours only, and job->missing says so. */
int lt_entsoe_fetch(
    struct lt_entsoe_job *job, int64_t from_utc_s, int64_t to_utc_s, struct lt_error *err);

#endif
