/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Weights of a forecast's signs, fitted to the long history of one source. Pure. Made in a child
 * (daemon/signals/fitting.c), used by lt_forecast().
 */
#ifndef LT_FORECAST_FIT_H
#define LT_FORECAST_FIT_H

#include "error.h"
#include "forecast_view.h"

enum {
	LT_FIT_KNOTS = 28,
	LT_FIT_DAYS = 400,    /* of history, at most */
	LT_FIT_MIN_DAYS = 90, /* with less: nothing is fitted */
};

struct lt_forecast_fit {
	int64_t seen_hour; /* the last hour it has learned from */
	bool is_fitted[LT_FIT_KINDS];
	float weights[LT_FIT_KINDS][LT_FIT_KNOTS][LT_SIGN_COUNT];
	int days[LT_FIT_KINDS]; /* of history that each has learned from */
	double low, high;	/* of all that was seen: no forecast is beyond */
};

/*
 * Fits `known`, with up to LT_FIT_DAYS of history: at each lead of the table the weights of the
 * least absolute errors of forecasts made at about this hour of the day. Takes some 0.1 s and 3 MB:
 * not for the daemon's loop. LT_ENOMEM only; what cannot be fitted is marked so. Source:
 * docs/model.md, eq. (31).
 */
int lt_forecast_fit(
    struct lt_forecast_fit *fit, const struct lt_known *known, struct lt_error *err);

struct lt_fitted {
	double value;
	double trust; /* 0 to 1: its part beside a forecast from four weeks */
};

/* The value `lead` hours after the view's. False: it was not fitted. */
bool lt_forecast_fit_at(const struct lt_forecast_fit *fit, const struct lt_view *view, int lead,
    struct lt_fitted *fitted);

#endif
