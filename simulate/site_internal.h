/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Inside the simulator of a site; site.h says which file does what.
 */
#ifndef LT_SIM_SITE_INTERNAL_H
#define LT_SIM_SITE_INTERNAL_H

#include "forecast.h"
#include "rate.h"
#include "replan.h"
#include "site.h"

/* A run of the site, and what no setting changes of it. */
struct lt_site_base {
	struct lt_expected learned;
	double micros, mg;	 /* as it ran */
	double node_equivalents; /* where it ran */
	bool counted;		 /* decided, and in the sums */
	bool has_micros, has_mg;
};

struct lt_site_truth; /* site_price.c: the market, its signals as they were */
struct lt_site_view;  /* site_view.c */

struct lt_site_sim {
	struct lt_site site;
	struct lt_site_base *bases;
	double *room;			  /* of each partition, node equivalents */
	struct lt_sim_outlook **outlooks; /* by series; NULL = none */
	struct lt_site_truth *truth;
	struct lt_site_counts counts;
	int week_count;
};

/* ---- site_price.c ---- */
/* length_s: that it is known to take; 0 = what was learned counts. */
void lt_site_request(
    struct lt_request *request, const struct lt_site_sim *sim, uint32_t index, int64_t length_s);
/* It can be put off, or go elsewhere. */
bool lt_site_is_free(const struct lt_market *market, const struct lt_site_run *run);
int64_t lt_site_length_s(const struct lt_site_run *run);

int lt_site_truth_open(
    struct lt_site_truth **truth, const struct lt_site_sim *sim, struct lt_error *err);
void lt_site_truth_close(struct lt_site_truth *truth);
/* The hours that may be asked for. */
struct lt_span lt_site_truth_hours(const struct lt_site_truth *truth);
/* True if all signals of the partitions are known in these hours. */
bool lt_site_truth_covers(const struct lt_site_truth *truth, int64_t from_utc_s, int64_t to_utc_s);
/* Finds what it would have cost there from then on: with its true length at home, times the ratio
 * of the partitions, times `stretch`. False: it can't run there. */
struct lt_site_stay {
	int partition;
	int64_t start_utc_s;
	double stretch; /* by interruptions; 1 = none */
};
bool lt_site_price(struct lt_estimate *estimate, const struct lt_site_sim *sim, uint32_t index,
    const struct lt_site_stay *stay);

/* ---- site_view.c ---- */
int lt_site_view_open(struct lt_site_view **view, const struct lt_site_sim *sim,
    const struct lt_site_setting *setting, struct lt_error *err);
void lt_site_view_close(struct lt_site_view *view);
/* True if what it has is too old, or too much was planned since. */
bool lt_site_view_is_old(const struct lt_site_view *view, int64_t now_utc_s);
/* Begin anew at this time; then each window that is taken, then the end. */
int lt_site_view_begin(struct lt_site_view *view, int64_t now_utc_s, struct lt_error *err);
void lt_site_view_take(struct lt_site_view *view, const struct lt_planned *window);
int lt_site_view_end(struct lt_site_view *view, const uint32_t *queued, struct lt_error *err);
/* Since then; negative nodes take one out. */
void lt_site_view_plan(struct lt_site_view *view, const struct lt_planned *window);
/* As if the last `count` of these had not been. */
void lt_site_view_unplan(struct lt_site_view *view, uint32_t count);
/* Whole steps, as windows are counted in it. */
struct lt_planned lt_site_view_window(
    const struct lt_site_view *view, const struct lt_planned *window);
struct lt_site_seen { /* lent */
	const struct lt_market *market;
	const struct lt_planned *planned;
	uint32_t planned_count;
};
struct lt_site_seen lt_site_view_seen(const struct lt_site_view *view);

#endif
