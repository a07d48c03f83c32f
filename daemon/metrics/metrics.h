/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The text of /metrics. It is made from memory alone, so that a scrape neither waits for a pass nor
 * reads the ledger. docs/metrics.md has the names.
 */
#ifndef LT_SERVE_METRICS_H
#define LT_SERVE_METRICS_H

#include "ledger.h"
#include "report_line.h"
#include "report_unused.h"

struct lt_daemon;
struct lt_out;

enum {
	LT_METRICS_BYTES_MAX = 16 * 1024 * 1024, /* more: refused, 503 */
	LT_METRICS_OVER_MAX = 16,		 /* as /v1/status has them */
};

struct lt_metrics_account { /* what was booked to it in the month */
	char name[LT_ACCOUNT_SIZE];
	struct lt_report_line line;
};

struct lt_metrics_place { /* a preemptible partition */
	char name[LT_NAME_SIZE];
	uint32_t nodes_there;
};

/* Figures that are read between passes, a part each turn: metrics_sums.c. */
struct lt_metrics_sums {
	bool has_accounts; /* all of them were read, and these are they */
	char window[24];   /* the month, "2026-11" */
	uint32_t account_count;
	struct lt_metrics_account *accounts;
	uint32_t owned_count; /* partitions of the site's own */
	struct lt_unused_row *owned;
	char owned_window[24]; /* the month of these */
	int over_count;
	struct lt_over_sum over[LT_METRICS_OVER_MAX];
	uint32_t place_count;
	struct lt_metrics_place *places;
	bool has_spool, spool_fails;
	int spool_count;
	int64_t spool_oldest_utc_s, ledger_bytes, signals_bytes, refused_adjustments;
};

struct lt_metrics_view {
	const struct lt_daemon *d;
	const struct lt_metrics_sums *sums;
	bool has_money; /* else health only */
	/* OpenMetrics 1.0; else Prometheus's text format 0.0.4. */
	bool is_open;
	int64_t now_utc_s;
};
void lt_metrics_text(struct lt_out *out, const struct lt_metrics_view *view);

/* Reads some of what is due, milliseconds at most; has_money: the sums of accounts too. Between
 * passes only: it uses the writer's ledger. */
void lt_metrics_read(
    struct lt_metrics_sums *sums, struct lt_daemon *d, bool has_money, int64_t now_utc_s);
/* The next call reads all of it, whenever it was read last. */
void lt_metrics_soon(void);
/* Milliseconds until a reading that is begun should continue, at most most_ms. */
int lt_metrics_sums_wait_ms(int64_t now_ms, int most_ms);
void lt_metrics_forget(struct lt_metrics_sums *sums);

#endif
