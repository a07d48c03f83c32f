/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Forecasts fitted to the long history of each source, in a process of its own: it reads the
 * ledger, works a tenth of a second, and its memory goes with it. Used by the one thread there is.
 */
#ifndef LT_FITTING_H
#define LT_FITTING_H

#include <poll.h>

#include "forecast_fit.h"
#include "signals.h"
#include "forecast_learn.h"

enum {
	LT_FITTING_FDS = 1,
	LT_FITTING_EVERY_S = 3 * 3600, /* a fit is for its hours of the day */
};

/* Take in what is done, begin what is due; one at a time. */
void lt_fitting_run(struct lt_signals_state *signals, struct lt_ledger *ledger, int64_t now_utc_s);
/* Fills in at most LT_FITTING_FDS, readable when there is a result; returns how many. */
int lt_fitting_fds(struct pollfd *fds);
/* Ends it if it runs. */
void lt_fitting_stop(void);

/* Here and now, from a ledger that nobody else uses. */
int lt_fitting_make(struct lt_forecast_fit *fit, struct lt_ledger *ledger,
    const struct lt_known *known, const struct lt_weather_keys *keys, struct lt_error *err);
/* In the process of its own, by the arguments that it was started with. Not for people: its answer
 * is bytes on standard input's descriptor. Returns main()'s code; -1 = these are not such
 * arguments. */
int lt_fitting_main(int argc, char **argv);

#endif
