/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The site as it is decided by: lowtided's market, and of each of its signals
 * what lowtided has stored of the time of the runs, or --carbon FILE.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "files.h"
#include "points.h"
#include "simulate_site.h"
#include "simulation.h"
#include "units.h"

/* A forecast is made of so much. */
static const int64_t history_s = 30 * LT_DAY_S;

static int
load(struct lt_site_page *page, struct lt_error *err)
{
	const char *const run_dir = lt_client_run_dir(page->cli);
	char path[4096];
	struct stat st;

	if (stat(run_dir, &st) == 0)
		lt_file_trust(st.st_uid);
	(void)snprintf(path, sizeof(path), "%s/%s", run_dir, LT_MARKET_FILE);
	if (lt_market_load(&page->loaded, path, NULL, err) != LT_OK)
		return lt_context(
		    err, "the market, which lowtided (--follow) keeps here");
	page->market = page->loaded;
	return LT_OK;
}

/* ---- stored signals ---- */

static int
take_points(struct lt_points *points, const json_t *page,
    const struct lt_site_page *site, struct lt_error *err)
{
	size_t i;
	const json_t *item;

	points->quantity = lt_quantity_find(lt_json_text(page, "quantity", ""));
	json_array_foreach(json_object_get(page, "points"), i, item) {
		struct lt_point point = {
		    .value = json_number_value(json_object_get(item, "value"))};

		if (lt_utc_parse(lt_json_text(item, "start", ""),
			&point.start_utc_s, err) ||
		    lt_utc_parse(
			lt_json_text(item, "end", ""), &point.end_utc_s, err))
			return err->code;
		/* What is still to come was not measured. */
		if (point.end_utc_s > site->to_utc_s)
			point.end_utc_s = site->to_utc_s;
		point.quality = LT_QUALITY_CONSTANT; /* lowtided checked it */
		if (point.end_utc_s > point.start_utc_s &&
		    lt_points_add(points, &point, err) != LT_OK)
			return err->code;
	}
	return LT_OK;
}

static int
ask_points(struct lt_points *points, const struct lt_site_page *site,
    const char *source, struct lt_error *err)
{
	char from[40], to[40], after[64] = "";
	bool more = true;

	lt_utc_text(from, sizeof(from), site->from_utc_s - history_s);
	lt_utc_text(to, sizeof(to), site->to_utc_s);
	while (more) {
		const char *const values[][2] = {{"source", source},
		    {"from", from}, {"to", to},
		    {"after", after[0] != '\0' ? after : NULL}};
		char path[1024] = "/v1/signals/export";
		json_t *page = NULL;

		for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
			if (lt_client_query(path, sizeof(path), values[i][0],
				values[i][1], err) != LT_OK)
				return err->code;
		if (lt_client_get(&page, site->cli, path, err) != LT_OK)
			return err->code;
		const char *const next = lt_json_text(page, "next", "");

		if (next[0] != '\0' && strcmp(next, after) <= 0)
			lt_fail(err, LT_EINPUT, "%s: the pages don't go on",
			    source);
		else
			(void)take_points(points, page, site, err);
		more = next[0] != '\0';
		(void)snprintf(after, sizeof(after), "%s", next);
		json_decref(page);
		if (err->code != LT_OK)
			return err->code;
	}
	return LT_OK;
}

/* Of a source that has told nothing of that time there is no signal. */
static int
read_signals(struct lt_site_page *page, struct lt_error *err)
{
	for (uint32_t i = 0; i < page->market.series_count; i++) {
		const struct lt_series *const series = &page->market.series[i];
		struct lt_points points = {0};

		if (series->quality == LT_QUALITY_CONSTANT ||
		    series->source[0] == '\0' || page->signals[i].hours > 0 ||
		    !lt_market_uses(&page->market, (int)i))
			continue;
		if (ask_points(&points, page, series->source, err) == LT_OK &&
		    points.count > 0) {
			lt_points_sort(&points);
			(void)lt_simulation_signal(
			    &page->signals[i], &points, INT64_MAX, err);
		} else if (err->code == LT_OK) {
			page->silent_count++;
		}
		lt_points_free(&points);
		if (err->code != LT_OK)
			return lt_context(err, "%s", series->source);
	}
	return LT_OK;
}

/* ---- --carbon FILE ---- */

/* As if each partition had the file for its source: one more series. */
static int
use_file(struct lt_site_page *page, const char *path, struct lt_error *err)
{
	const uint32_t index = page->loaded.series_count;
	struct lt_sim_job ends[] = {{.submit_utc_s = page->from_utc_s},
	    {.submit_utc_s = page->to_utc_s - LT_HOUR_S}};
	struct lt_simulation simulation = {.trace = {.count = 2, .jobs = ends}};

	if (lt_simulation_read_carbon(&simulation, path, err) != LT_OK)
		return err->code;
	page->signals[index] = simulation.signal;
	page->series[index] =
	    (struct lt_series){.count = 1, .quality = LT_QUALITY_MEASURED};
	page->market.series_count++;
	for (uint32_t i = 0; i < page->market.partition_count; i++)
		if (page->partitions[i].flags & LT_PARTITION_MANAGED)
			page->partitions[i].carbon_series = (int)index;
	return LT_OK;
}

int
lt_site_market_read(struct lt_site_page *page, struct lt_error *err)
{
	const char *const path = lt_cli_value(page->cli, "carbon");

	if (load(page, err) != LT_OK)
		return err->code;
	const struct lt_market *const loaded = &page->loaded;

	page->partitions =
	    calloc(loaded->partition_count + 1, sizeof(*page->partitions));
	page->series = calloc(loaded->series_count + 1, sizeof(*page->series));
	page->signals =
	    calloc(loaded->series_count + 1, sizeof(*page->signals));
	if (page->partitions == NULL || page->series == NULL ||
	    page->signals == NULL)
		return lt_fail(err, LT_ENOMEM, "market: no memory");
	for (uint32_t i = 0; i < loaded->partition_count; i++)
		page->partitions[i] = loaded->partitions[i];
	for (uint32_t i = 0; i < loaded->series_count; i++)
		page->series[i] = loaded->series[i];
	page->market.partitions = page->partitions;
	page->market.series = page->series;
	if (path != NULL && use_file(page, path, err) != LT_OK)
		return err->code;
	return read_signals(page, err);
}

void
lt_site_market_free(struct lt_site_page *page)
{
	for (uint32_t i = 0;
	     page->signals != NULL && i <= page->loaded.series_count; i++)
		lt_sim_signal_free(&page->signals[i]);
	free(page->signals);
	free(page->series);
	free(page->partitions);
	lt_market_free(&page->loaded);
}
