/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lowtide simulate --from-slurm: what lowtide would have saved at this site,
 * of its own runs, market and signals. Asks sacct and lowtided.
 */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "simulate_site.h"
#include "units.h"

static const int64_t last_default_s = 30 * LT_DAY_S;
static const int64_t last_least_s = 60;

/* An option that --from-slurm does not take; NULL: none. */
static const char *
misplaced(const struct lt_cli *cli)
{
	static const char *const ours[] = {
	    "from-slurm", "last", "carbon", "svg", "anonymous"};
	const struct lt_cli_option *option = cli->command->options;

	for (; option->name != NULL; option++) {
		bool is_ours = lt_cli_value(cli, option->name) == NULL;

		for (size_t i = 0; i < sizeof(ours) / sizeof(ours[0]); i++)
			is_ours |= strcmp(option->name, ours[i]) == 0;
		if (!is_ours)
			return option->name;
	}
	return NULL;
}

static int
read_last(struct lt_site_page *page, struct lt_error *err)
{
	const char *const text = lt_cli_value(page->cli, "last");
	const int64_t most_s = LT_SITE_WEEKS_MAX * 7 * LT_DAY_S;
	int64_t last_s = last_default_s;

	if (text != NULL && lt_duration_parse(text, &last_s, err) != LT_OK)
		return lt_context(err, "--last");
	if (last_s < last_least_s || last_s > most_s)
		return lt_fail(err, LT_EINPUT,
		    "--last: got \"%s\", want 1m to %dd", text,
		    LT_SITE_WEEKS_MAX * 7);
	page->to_utc_s = (int64_t)time(NULL);
	page->from_utc_s = page->to_utc_s - last_s;
	return LT_OK;
}

/* Without a currency only carbon is weighed; without a price of waiting there
 * is but one. */
static void
choose_settings(struct lt_site_page *page)
{
	static const enum lt_objective objectives[] = {
	    LT_OBJECTIVE_BALANCED, LT_OBJECTIVE_COST, LT_OBJECTIVE_CARBON};
	static const double waits[] = {0, 1, 4};
	const bool has_waits = page->market.waiting_micros_per_hour > 0 ||
			       page->market.waiting_mg_per_hour > 0;

	page->shown = has_waits ? 1 : 0;
	for (size_t o = page->market.currency[0] != '\0' ? 0 : 2; o < 3; o++)
		for (size_t w = 0; w < (has_waits ? 3 : 1); w++)
			page->settings[page->setting_count++] =
			    (struct lt_site_setting){objectives[o], waits[w]};
}

/* ---- how far it is ---- */

static atomic_ullong come;
static bool tells;

static void
tell(void *context, uint32_t more)
{
	const unsigned long long all = atomic_fetch_add(&come, more) + more;

	if (tells)
		fprintf(stderr, "\rsimulate: %llu of %llu decisions\033[K", all,
		    *(const unsigned long long *)context);
}

static int
simulate(struct lt_site_page *page, struct lt_error *err)
{
	unsigned long long most =
	    (unsigned long long)page->rows.count * page->setting_count;
	const long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	const struct lt_site site = {.market = &page->market,
	    .signals = page->signals,
	    .runs = page->rows.runs,
	    .run_count = page->rows.count,
	    .from_utc_s = page->from_utc_s,
	    .to_utc_s = page->to_utc_s + 1,
	    .tell = tell,
	    .context = &most};
	const struct lt_site_settings settings = {
	    page->settings, page->setting_count, cpus > 0 ? (uint32_t)cpus : 1};

	tells = lt_cli_escapes(STDERR_FILENO);
	if (lt_site_open(&page->sim, &site, err) != LT_OK)
		return err->code;
	if (lt_site_counts(page->sim)->counted > 0)
		(void)lt_site_simulate_all(
		    page->results, page->sim, &settings, err);
	if (tells)
		fputs("\r\033[K", stderr);
	if (err->code == LT_OK && lt_site_counts(page->sim)->counted == 0) {
		const struct lt_site_counts *const counts =
		    lt_site_counts(page->sim);

		return lt_fail(err, LT_ENOENT,
		    "no run of that time can be counted: sacct gave %u, of these %u in hours of which a signal is not known, %u without a place or price today, %u in partitions that are gone; see lowtide signals, or give a longer --last",
		    page->rows.count + page->rows.no_partition,
		    counts->no_signal, counts->no_place,
		    page->rows.no_partition);
	}
	return err->code;
}

static int
make(struct lt_site_page *page, struct lt_error *err)
{
	const char *const svg = lt_cli_value(page->cli, "svg");

	if (lt_site_market_read(page, err) != LT_OK ||
	    lt_site_rows_read(page, err) != LT_OK)
		return err->code;
	choose_settings(page);
	if (simulate(page, err) != LT_OK)
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
	lt_site_market_free(page);
}

int
lt_cli_simulate_site(const struct lt_cli *cli)
{
	struct lt_site_page page = {
	    .cli = cli, .anonymous = lt_cli_value(cli, "anonymous") != NULL};
	const char *const wrong = misplaced(cli);
	struct lt_error err = {0};
	int result = LT_EXIT_OK;

	if (cli->operand_count > 0)
		return lt_cli_usage(cli, "--from-slurm takes no TRACE, got %s",
		    cli->operands[0]);
	if (wrong != NULL)
		return lt_cli_usage(
		    cli, "--%s does not go with --from-slurm", wrong);
	if (read_last(&page, &err) != LT_OK)
		return lt_cli_usage(cli, "%s", err.text);
	if (make(&page, &err) != LT_OK) {
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
