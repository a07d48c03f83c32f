/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The port of `metrics:`: GET /health and GET /metrics, over HTTP without TLS, with a token or
 * health only. serve.c drives it as the others.
 */
#ifndef LT_METRICS_LISTEN_H
#define LT_METRICS_LISTEN_H

#include <stdbool.h>
#include <stdint.h>

struct MHD_Daemon;
struct lt_daemon;

/* Starts, moves or stops the server as the policy that was loaded last wants it, and reads the
 * token anew. Then reads some figures for the next scrape. Between passes only. Returns the server,
 * lent until the next call; NULL:
 * none. */
struct MHD_Daemon *lt_metrics_follow(struct lt_daemon *d);
/* Ends connections that are over their time. */
void lt_metrics_expire(int64_t now_ms);
int lt_metrics_wait_ms(int64_t now_ms, int most_ms);
/* Until lt_metrics_follow() should read on, most_ms at most. */
int lt_metrics_reading_wait_ms(int64_t now_ms, int most_ms);
void lt_metrics_stop(void);

#endif
