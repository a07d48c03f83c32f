/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A family of metrics as text: its head, then each sample's labels and value.
 */
#ifndef LT_METRICS_PUT_H
#define LT_METRICS_PUT_H

#include "metrics.h"
#include "out.h"

struct lt_put { /* where samples go, and what of */
	struct lt_out *out;
	const struct lt_metrics_view *view;
	const char *name, *suffix; /* of the family now */
};

/* unit: the end of the name where that is a base unit, else NULL. A counter's name is without
 * _total. */
void lt_put_gauge(struct lt_put *to, const char *name, const char *unit, const char *help);
void lt_put_counter(struct lt_put *to, const char *name, const char *unit, const char *help);

/* key: "{account=" of the first one, then ",window=". After the last lt_put_end(). */
void lt_put_label(struct lt_put *to, const char *key, const char *value);
/* Digits behind the point, all of them: -1 of MICROS is -0.000001. */
enum { LT_PUT_WHOLE = 0, LT_PUT_MILLIS = 3, LT_PUT_MICROS = 6 };
void lt_put_end(struct lt_put *to, int64_t value, int digits);
/* A family of one sample without labels. */
void lt_put_single(struct lt_put *to, int64_t value, int digits);

/* The labels of rows that several families have, made once: they are most of the text. */
struct lt_put_rows {
	struct lt_out text;
	size_t *ends; /* in it, after 0, a row each; malloc'd */
};
typedef void lt_put_row_function(struct lt_put *to, uint32_t index);
/* False: no memory, and the text that they are for has failed. */
bool lt_put_rows_make(
    struct lt_put_rows *rows, const struct lt_put *to, uint32_t count, lt_put_row_function *label);
/* A sample's name and those labels. */
void lt_put_row(struct lt_put *to, const struct lt_put_rows *rows, uint32_t index);
void lt_put_rows_free(struct lt_put_rows *rows);

#endif
