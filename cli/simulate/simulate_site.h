/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lowtide simulate --from-slurm: what its files share.
 */
#ifndef LT_CLI_SIMULATE_SITE_H
#define LT_CLI_SIMULATE_SITE_H

#include "cli.h"
#include "site.h"

enum { LT_SITE_SETTINGS_MAX = 9 };

struct lt_site_rows {		  /* of sacct; lt_site_rows_free() */
	struct lt_site_run *runs; /* their texts lie in pages */
	uint32_t count, room;
	char **pages;
	uint32_t page_count;
	uint32_t no_partition; /* of one that is not there any more */
	uint32_t unended;      /* they wait or run */
	uint32_t gpu_runs;     /* that slurmdbd knows GPUs of */
};

struct lt_site_page { /* all of the answer */
	const struct lt_cli *cli;
	struct lt_market loaded; /* lt_market_free() */
	/* The same, perhaps with the signal of --carbon. */
	struct lt_market market;
	struct lt_partition *partitions;
	struct lt_series *series;
	struct lt_sim_signal *signals; /* of each series */
	uint32_t silent_count;	       /* sources that have nothing of the time */
	struct lt_site_rows rows;
	struct lt_site_sim *sim;
	int64_t from_utc_s, to_utc_s;
	bool anonymous;
	uint32_t setting_count;
	/* That of the table by partition: with the policy's own price of waiting. */
	uint32_t shown;
	struct lt_site_setting settings[LT_SITE_SETTINGS_MAX];
	struct lt_site_result results[LT_SITE_SETTINGS_MAX];
};

/* simulate_site.c: --from-slurm was given; exit status. */
int lt_cli_simulate_site(const struct lt_cli *cli);

/* simulate_site_rows.c */
/* All runs that ended from the beginning on, by submission. */
int lt_site_rows_read(struct lt_site_page *page, struct lt_error *err);
/* Rows of sacct, from..to of their ends: into page->rows, which takes the text. Each cell ends in
 * the delimiter, and each row in a line feed: a name or a command may have both, but none that it
 * could know of. */
struct lt_site_span {
	int64_t from_utc_s, to_utc_s;
	bool is_last; /* what has not ended is counted */
	const char *delimiter;
};
int lt_site_rows_take(
    struct lt_site_page *page, char *text, const struct lt_site_span *span, struct lt_error *err);
void lt_site_rows_free(struct lt_site_rows *rows);

/* simulate_site_print.c */
void lt_site_print(FILE *out, const struct lt_site_page *page);
json_t *lt_site_json(const struct lt_site_page *page);
int lt_site_write_svg(const struct lt_site_page *page, const char *path, struct lt_error *err);

#endif
