/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lowtide simulate --from-slurm: what lowtide would have saved at this site, with its own runs,
 * market and signals. Asks sacct for the runs, and lowtided for its market and for the stored
 * values of each signal at the time of the runs; or reads --carbon FILE. Fails if either can't be
 * asked.
 */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "files.h"
#include "points.h"
#include "simulate_site.h"
#include "simulation.h"
#include "units.h"

static const int64_t last_default_s = 30 * LT_DAY_S;
static const int64_t last_least_s = 60;

/* ---- the market ---- */

/* The history that a forecast is made of. */
static const int64_t history_s = 30 * LT_DAY_S;

static int
load_market(struct lt_site_page *page, struct lt_error *err)
{
	const char *const run_dir = lt_client_run_dir(page->cli);
	char path[4096];
	struct stat st;

	if (stat(run_dir, &st) == 0)
		lt_file_trust(st.st_uid);
	(void)snprintf(path, sizeof(path), "%s/%s", run_dir, LT_MARKET_FILE);
	if (lt_market_load(&page->loaded, path, NULL, err) != LT_OK)
		return lt_context(err, "the market, which lowtided (--follow) keeps here");
	page->market = page->loaded;
	return LT_OK;
}

/* ---- stored signals ---- */

static int
take_points(struct lt_points *points, const json_t *page, const struct lt_site_page *site,
    struct lt_error *err)
{
	size_t i;
	const json_t *item;

	points->quantity = lt_quantity_find(lt_json_text(page, "quantity", ""));
	json_array_foreach(json_object_get(page, "points"), i, item) {
		struct lt_point point = {
		    .value = json_number_value(json_object_get(item, "value"))};

		if (lt_utc_parse(lt_json_text(item, "start", ""), &point.start_utc_s, err) ||
		    lt_utc_parse(lt_json_text(item, "end", ""), &point.end_utc_s, err))
			return err->code;
		/* Values after the runs are not measured yet. */
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
ask_points(struct lt_points *points, const struct lt_site_page *site, const char *source,
    struct lt_error *err)
{
	char from[40], to[40], after[64] = "";
	bool more = true;

	lt_utc_text(from, sizeof(from), site->from_utc_s - history_s);
	lt_utc_text(to, sizeof(to), site->to_utc_s);
	while (more) {
		const char *const values[][2] = {{"source", source}, {"from", from}, {"to", to},
		    {"after", after[0] != '\0' ? after : NULL}};
		char path[1024] = "/v1/signals/export";
		json_t *page = NULL;

		for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
			if (lt_client_query(path, sizeof(path), values[i][0], values[i][1], err) !=
			    LT_OK)
				return err->code;
		if (lt_client_get(&page, site->cli, path, err) != LT_OK)
			return err->code;
		const char *const next = lt_json_text(page, "next", "");

		if (next[0] != '\0' && strcmp(next, after) <= 0)
			lt_fail(err, LT_EINPUT, "%s: the pages don't go on", source);
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

/* Reads the signals; a source without values of that time has none. */
static int
read_signals(struct lt_site_page *page, struct lt_error *err)
{
	for (uint32_t i = 0; i < page->market.series_count; i++) {
		const struct lt_series *const series = &page->market.series[i];
		struct lt_points points = {0};

		if (series->quality == LT_QUALITY_CONSTANT || series->source[0] == '\0' ||
		    page->signals[i].hours > 0 || !lt_market_uses(&page->market, (int)i))
			continue;
		if (ask_points(&points, page, series->source, err) == LT_OK && points.count > 0) {
			lt_points_sort(&points);
			(void)lt_simulation_signal(&page->signals[i], &points, INT64_MAX, err);
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

/* Adds a series for the file, as if it were the source of each partition. */
static int
use_file(struct lt_site_page *page, const char *path, struct lt_error *err)
{
	const uint32_t index = page->loaded.series_count;
	struct lt_sim_job ends[] = {
	    {.submit_utc_s = page->from_utc_s}, {.submit_utc_s = page->to_utc_s - LT_HOUR_S}};
	struct lt_simulation simulation = {.trace = {.count = 2, .jobs = ends}};

	if (lt_simulation_read_carbon(&simulation, path, err) != LT_OK)
		return err->code;
	page->signals[index] = simulation.signal;
	page->series[index] = (struct lt_series){.count = 1, .quality = LT_QUALITY_MEASURED};
	page->market.series_count++;
	for (uint32_t i = 0; i < page->market.partition_count; i++)
		if (page->partitions[i].flags & LT_PARTITION_MANAGED)
			page->partitions[i].carbon_series = (int)index;
	return LT_OK;
}

static int
read_market(struct lt_site_page *page, struct lt_error *err)
{
	const char *const path = lt_cli_value(page->cli, "carbon");

	if (load_market(page, err) != LT_OK)
		return err->code;
	const struct lt_market *const loaded = &page->loaded;

	page->partitions = calloc(loaded->partition_count + 1, sizeof(*page->partitions));
	page->series = calloc(loaded->series_count + 1, sizeof(*page->series));
	page->signals = calloc(loaded->series_count + 1, sizeof(*page->signals));
	if (page->partitions == NULL || page->series == NULL || page->signals == NULL)
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

static void
free_market(struct lt_site_page *page)
{
	for (uint32_t i = 0; page->signals != NULL && i <= page->loaded.series_count; i++)
		lt_sim_signal_free(&page->signals[i]);
	free(page->signals);
	free(page->series);
	free(page->partitions);
	lt_market_free(&page->loaded);
}

/* ---- settings ---- */

static int
read_last(struct lt_site_page *page, struct lt_error *err)
{
	const char *const text = lt_cli_value(page->cli, "last");
	const int64_t most_s = LT_SITE_WEEKS_MAX * 7 * LT_DAY_S;
	int64_t last_s = last_default_s;

	if (text != NULL && lt_duration_parse(text, &last_s, err) != LT_OK)
		return lt_context(err, "--last");
	if (last_s < last_least_s || last_s > most_s)
		return lt_fail(err, LT_EINPUT, "--last: got \"%s\", want 1m to %dd", text,
		    LT_SITE_WEEKS_MAX * 7);
	page->to_utc_s = (int64_t)time(NULL);
	page->from_utc_s = page->to_utc_s - last_s;
	return LT_OK;
}

/* Chooses the settings. Without a currency only carbon is weighed; without a price of waiting there
 * is only one. */
static void
choose_settings(struct lt_site_page *page)
{
	static const enum lt_objective objectives[] = {
	    LT_OBJECTIVE_BALANCED, LT_OBJECTIVE_COST, LT_OBJECTIVE_CARBON};
	static const double waits[] = {0, 1, 4};
	const bool has_waits =
	    page->market.waiting_micros_per_hour > 0 || page->market.waiting_mg_per_hour > 0;

	page->shown = has_waits ? 1 : 0;
	for (size_t o = page->market.currency[0] != '\0' ? 0 : 2; o < 3; o++)
		for (size_t w = 0; w < (has_waits ? 3 : 1); w++)
			page->settings[page->setting_count++] =
			    (struct lt_site_setting){objectives[o], waits[w]};
}

/* ---- progress ---- */

static atomic_ullong come;
static bool tells;

static void
tell_progress(void *context, uint32_t more)
{
	const unsigned long long all = atomic_fetch_add(&come, more) + more;

	if (tells)
		fprintf(stderr, "\rsimulate: %llu of %llu decisions\033[K", all,
		    *(const unsigned long long *)context);
}

static int
simulate_settings(struct lt_site_page *page, struct lt_error *err)
{
	unsigned long long most = (unsigned long long)page->rows.count * page->setting_count;
	const long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	const struct lt_site site = {.market = &page->market,
	    .signals = page->signals,
	    .runs = page->rows.runs,
	    .run_count = page->rows.count,
	    .from_utc_s = page->from_utc_s,
	    .to_utc_s = page->to_utc_s + 1,
	    .tell = tell_progress,
	    .context = &most};
	const struct lt_site_settings settings = {
	    page->settings, page->setting_count, cpus > 0 ? (uint32_t)cpus : 1};

	tells = lt_cli_escapes(STDERR_FILENO);
	if (lt_site_open(&page->sim, &site, err) != LT_OK)
		return err->code;
	if (lt_site_counts(page->sim)->counted > 0)
		(void)lt_site_simulate_all(page->results, page->sim, &settings, err);
	if (tells)
		fputs("\r\033[K", stderr);
	if (err->code == LT_OK && lt_site_counts(page->sim)->counted == 0) {
		const struct lt_site_counts *const counts = lt_site_counts(page->sim);

		return lt_fail(err, LT_ENOENT,
		    "no run of that time can be counted: sacct gave %u, of these %u in hours of which a signal is not known, %u without a place or price today, %u in partitions that are gone; see lowtide signals, or give a longer --last",
		    page->rows.count + page->rows.no_partition, counts->no_signal, counts->no_place,
		    page->rows.no_partition);
	}
	return err->code;
}

static int
make_page(struct lt_site_page *page, struct lt_error *err)
{
	const char *const svg = lt_cli_value(page->cli, "svg");

	if (read_market(page, err) != LT_OK || lt_site_rows_read(page, err) != LT_OK)
		return err->code;
	choose_settings(page);
	if (simulate_settings(page, err) != LT_OK)
		return err->code;
	return svg != NULL ? lt_site_write_svg(page, svg, err) : LT_OK;
}

static void
free_all(struct lt_site_page *page)
{
	for (uint32_t i = 0; i < page->setting_count; i++)
		lt_site_result_free(&page->results[i]);
	lt_site_close(page->sim);
	lt_site_rows_free(&page->rows);
	free_market(page);
}

int
lt_cli_simulate_site(const struct lt_cli *cli)
{
	struct lt_site_page page = {
	    .cli = cli, .anonymous = lt_cli_value(cli, "anonymous") != NULL};
	const char *const wrong = lt_simulation_misplaced(cli, LT_SIMULATION_SITE);
	struct lt_error err = {0};
	int result = LT_EXIT_OK;

	if (cli->operand_count > 0)
		return lt_cli_usage(cli, "--from-slurm takes no TRACE, got %s", cli->operands[0]);
	if (wrong != NULL)
		return lt_cli_usage(cli, "--%s does not go with --from-slurm", wrong);
	if (read_last(&page, &err) != LT_OK)
		return lt_cli_usage(cli, "%s", err.text);
	if (make_page(&page, &err) != LT_OK) {
		result = lt_cli_fail(&err);
	} else if (cli->json) {
		json_t *const body = lt_site_json(&page);

		result = lt_cli_print_json(body);
		json_decref(body);
	} else {
		lt_site_print(stdout, &page);
	}
	free_all(&page);
	return result;
}
