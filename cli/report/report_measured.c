/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a report measured, a line each: what moving saved against the jobs that
 * were kept, and how good quotes were.
 */
#include <string.h>

#include "cli.h"
#include "report.h"
#include "units.h"

static double
percent(int64_t part, int64_t whole)
{
	return whole != 0 ? 100.0 * (double)part / (double)whole : 0;
}

struct saved { /* of money or of carbon */
	int64_t charged, saved, low, high, modelled;
	int64_t quote_charged, quote_low,
	    quote_high; /* whatever they were to take */
	bool has, has_quote, has_modelled;
};

static struct saved
saved_of(const json_t *of)
{
	struct saved s = {0};

	s.has_modelled = lt_json_int(of, "modelled", &s.modelled);
	s.has_quote = lt_json_int(of, "by_quote_charged", &s.quote_charged) &&
		      lt_json_int(of, "by_quote_low", &s.quote_low) &&
		      lt_json_int(of, "by_quote_high", &s.quote_high);
	s.has = lt_json_int(of, "charged", &s.charged) &&
		lt_json_int(of, "saved", &s.saved) &&
		lt_json_int(of, "saved_low", &s.low) &&
		lt_json_int(of, "saved_high", &s.high);
	return s;
}

static const char *
amount_text(char *out, size_t size, int64_t value, const char *currency)
{
	char carbon[48];

	if (currency[0] != '\0')
		return lt_money_text(out, size, value, currency);
	snprintf(out, size, "%s CO2e",
	    lt_carbon_text(carbon, sizeof(carbon), value));
	return out;
}

/* currency "": of carbon. */
static bool
saved_line(char *out, size_t size, const json_t *of, const char *currency)
{
	const struct saved s = saved_of(of);
	char saved[64], modelled[64] = "not known", quote[64] = "";

	if (!s.has)
		return false;
	if (s.has_modelled)
		amount_text(modelled, sizeof(modelled), s.modelled, currency);
	if (s.has_quote)
		snprintf(quote, sizeof(quote), "; by quotes %.1f to %.1f %%",
		    percent(s.quote_low, s.quote_charged + s.quote_low),
		    percent(s.quote_high, s.quote_charged + s.quote_high));
	snprintf(out, size,
	    "measured: moving saved %s, %.1f %% (95 %%: %.1f to %.1f %%%s), against jobs that were kept; modelled of the same jobs: %s",
	    amount_text(saved, sizeof(saved), s.saved, currency),
	    percent(s.saved, s.charged + s.saved),
	    percent(s.low, s.charged + s.low),
	    percent(s.high, s.charged + s.high), quote, modelled);
	return true;
}

static bool
money_line(char *out, size_t size, const json_t *report, const json_t *measured)
{
	const char *const currency = lt_json_text(report, "currency", "");

	return currency[0] != '\0' &&
	       saved_line(
		   out, size, json_object_get(measured, "micros"), currency);
}

static bool
carbon_line(
    char *out, size_t size, const json_t *report, const json_t *measured)
{
	(void)report;
	return saved_line(out, size, json_object_get(measured, "mg"), "");
}

/* Who was compared, and whether that was enough. */
static bool
jobs_line(char *out, size_t size, const json_t *report, const json_t *measured)
{
	const json_t *const money = json_object_get(measured, "micros");
	const json_t *const carbon = json_object_get(measured, "mg");
	const bool has_any = saved_of(money).has || saved_of(carbon).has;
	int64_t moved = 0, kept = 0, left = 0, days = 0, more = 0;

	(void)report;
	lt_json_int(measured, "moved_jobs", &moved);
	lt_json_int(measured, "kept_jobs", &kept);
	lt_json_int(measured, "left_jobs", &left);
	lt_json_int(money, "kept_user_days", &days);
	lt_json_int(carbon, "kept_user_days", &more);
	if (moved + kept == 0)
		return false;
	const int wrote = snprintf(out, size,
	    "compared: %lld moved jobs with %lld that were kept (holdout) on %lld user-days",
	    (long long)moved, (long long)kept,
	    (long long)(days > more ? days : more));
	size_t used = wrote > 0 ? (size_t)wrote : 0;

	if (left > 0 && used < size)
		used += (size_t)snprintf(out + used, size - used,
		    ", of which users moved %lld, which count as kept",
		    (long long)left);
	if (!has_any && used < size)
		snprintf(out + used, size - used,
		    ": too few to tell what moving saved");
	return true;
}

static bool
quotes_line(
    char *out, size_t size, const json_t *report, const json_t *measured)
{
	const json_t *const quotes = json_object_get(measured, "quotes");
	const bool has_money = lt_json_text(report, "currency", "")[0] != '\0';
	int64_t jobs = 0, ppm;

	lt_json_int(quotes, "jobs", &jobs);
	if (!lt_json_int(quotes,
		has_money ? "median_error_ppm" : "median_error_mg_ppm", &ppm))
		return false;
	snprintf(out, size,
	    "quotes: of %lld jobs that completed half were within %.1f %% of what was charged",
	    (long long)jobs, percent(ppm, LT_MICROS));
	return true;
}

static bool
deadlines_line(
    char *out, size_t size, const json_t *report, const json_t *measured)
{
	const json_t *const quotes = json_object_get(measured, "quotes");
	int64_t jobs = 0, met = 0, stated = 0;

	(void)report;
	lt_json_int(quotes, "deadline_jobs", &jobs);
	lt_json_int(quotes, "deadlines_met", &met);
	lt_json_int(quotes, "stated_ppm", &stated);
	if (jobs == 0)
		return false;
	snprintf(out, size,
	    "deadlines: %lld of %lld met, %.1f %%; stated: %.4g %%",
	    (long long)met, (long long)jobs, percent(met, jobs),
	    percent(stated, LT_MICROS));
	return true;
}

int
lt_measured_lines(
    char lines[LT_MEASURED_LINES][LT_MEASURED_LINE_SIZE], const json_t *report)
{
	static bool (*const fill[LT_MEASURED_LINES])(
	    char *, size_t, const json_t *, const json_t *) = {
	    jobs_line, money_line, carbon_line, quotes_line, deadlines_line};
	const json_t *const measured = json_object_get(report, "measured");
	int count = 0;

	for (int i = 0; i < LT_MEASURED_LINES; i++)
		if (fill[i](
			lines[count], LT_MEASURED_LINE_SIZE, report, measured))
			count++;
	return count;
}
