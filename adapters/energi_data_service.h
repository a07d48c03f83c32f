/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the two adapters of Energi Data Service share: answers in records, and
 * the requests for them.
 */
#ifndef LT_ENERGI_DATA_SERVICE_H
#define LT_ENERGI_DATA_SERVICE_H

#include "source.h"
#include "tariff_terms.h"

#define LT_EDS_URL "https://api.energidataservice.dk"

struct lt_eds_dataset {
	const char *name; /* "CO2Emis" */
	const char *time; /* column: a start, in UTC */
	const char *value;
	int step_s;	 /* of a record; or, where the next is sooner, less */
	bool is_outlook; /* records of what is to come */
};

/* The option `area`, DK1 or DK2. */
int lt_eds_area_check(
    const struct lt_source_options *options, struct lt_error *err);
struct lt_eds_wanted { /* of an answer */
	/* Ended by name NULL; the one that the answer names. */
	const struct lt_eds_dataset *datasets;
	const struct lt_tariff_terms *terms; /* NULL: values as they are */
};

/* The records of an answer as points, sorted and dated. points->quantity and
 * ->currency are the caller's. Pure. */
int lt_eds_read(const struct lt_source_options *options,
    const struct lt_eds_wanted *wanted, const struct lt_answer *answer,
    struct lt_points *points, struct lt_error *err);

struct lt_web;
/* Records of [from, to), or with to 0 of all times from then on, parsed into
 * web->points: there may be some around that time, too. */
int lt_eds_request(struct lt_web *web, const struct lt_eds_dataset *dataset,
    lt_parse_fn *parse, const struct lt_window *window, struct lt_error *err);

#endif
