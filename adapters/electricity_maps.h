/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Between the requests of the Electricity Maps adapter and the reading of
 * their answers.
 */
#ifndef LT_ELECTRICITY_MAPS_H
#define LT_ELECTRICITY_MAPS_H

#include "source.h"

#define LT_EM_FACTORS "lifecycle" /* emission_factors, when not given */

/* The answers of latest, history, past-range and forecast alike: an adapter's
 * parse. */
lt_parse_fn lt_em_parse;
/* The words of a refusal, for lt_web_do(). */
void lt_em_error_text(char *out, size_t size, const char *body, size_t length);

#endif
