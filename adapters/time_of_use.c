/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An electricity tariff by time of use, as the contract has it: a base rate and rules by month, day
 * and hour of the wall clock. Nothing is fetched. docs/sources/time_of_use.md has the grammar.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "source.h"
#include "units.h"

enum {
	RULES_MAX = 64, /* refused */
	DAY_MINUTES = 1440,
	WORD_SIZE = 48,		     /* longer: no word of ours */
	SPAN_MAX_S = 400 * LT_DAY_S, /* of one fetch: cut at the start */
};

static const struct lt_adapter_option tou_options[] = {
    {"rates", true, "base rate, then rules: \"0.31; mon-fri 07:00-21:00 0.42\"", NULL},
    {"timezone", false, "of the times, as Europe/London", "the site's"},
    {"currency", false, "of the rates, as EUR", "the site's own"},
    {NULL, false, NULL, NULL},
};

struct rule {
	unsigned months, days;	      /* bits; Sunday is day 0 */
	int start_minute, end_minute; /* end <= start: over midnight */
	double rate;		      /* points per kWh */
};

struct rates {
	int count;
	struct rule rules[RULES_MAX]; /* the last that fits holds; [0] fits
				       * always */
};

/* ---- the text ---- */

struct cursor {
	const struct lt_source_options *options;
	const char *text, *at;
	struct lt_error *err;
};

static int
word_fail(const struct cursor *cursor, const char *at, const char *wanted)
{
	const size_t length = strcspn(at, " \t\r\n;");
	char word[WORD_SIZE] = "the end";

	if (*at != '\0')
		snprintf(word, sizeof(word), "%.*s", length == 0 ? 1 : (int)length, at);
	return lt_option_fail(cursor->options, "rates", cursor->err,
	    "%s: rates: at character %d: got \"%s\", want %s", cursor->options->name,
	    (int)(at - cursor->text) + 1, word, wanted);
}

static const char *
skip_blanks(const char *text)
{
	return text + strspn(text, " \t\r\n");
}

/* Returns the index of text in "sunmon..." or "janfeb..."; -1 = none. */
static int
find_name(const char *names, int count, const char *text)
{
	for (int i = 0; i < count; i++)
		if (strncasecmp(names + i * 3, text, 3) == 0)
			return i;
	return -1;
}

/* "mon-fri", "sat,sun", "oct-mar": bits into *set. False: other than that. */
static bool
read_set(const char *names, int count, const char *word, unsigned *set)
{
	unsigned found = 0;

	for (;;) {
		const int first = find_name(names, count, word);
		int last = first;

		if (first < 0)
			return false;
		word += 3;
		if (*word == '-') {
			last = find_name(names, count, word + 1);
			if (last < 0)
				return false;
			word += 4;
		}
		for (int i = first;; i = (i + 1) % count) {
			found |= 1u << i;
			if (i == last)
				break;
		}
		if (*word == '\0') {
			*set = found;
			return true;
		}
		if (*word++ != ',')
			return false;
	}
}

/* "07:00", "24:00": minutes of the day; -1 = none. */
static int
read_clock(const char *text)
{
	for (int i = 0; i < 5; i++)
		if (i == 2 ? text[i] != ':' : !isdigit((unsigned char)text[i]))
			return -1;
	const int hour = (text[0] - '0') * 10 + text[1] - '0';
	const int minute = (text[3] - '0') * 10 + text[4] - '0';
	return minute < 60 && hour * 60 + minute <= DAY_MINUTES ? hour * 60 + minute : -1;
}

static bool
read_times(const char *word, struct rule *rule)
{
	if (strlen(word) != 11 || word[5] != '-')
		return false;
	rule->start_minute = read_clock(word);
	rule->end_minute = read_clock(word + 6);
	return rule->start_minute >= 0 && rule->end_minute >= 0 &&
	       rule->start_minute < DAY_MINUTES && rule->start_minute != rule->end_minute;
}

static bool
read_rate(const char *word, double *rate)
{
	int64_t micros;

	if (lt_micros_parse(word, &micros, NULL) != LT_OK)
		return false;
	*rate = (double)micros;
	return true;
}

enum part { PART_MONTHS, PART_DAYS, PART_TIMES, PART_RATE, PART_NONE };

static enum part
read_word(const char *word, struct rule *rule)
{
	static const char months[] = "janfebmaraprmayjunjulaugsepoctnovdec";
	static const char days[] = "sunmontuewedthufrisat";

	if (read_set(months, 12, word, &rule->months))
		return PART_MONTHS;
	if (read_set(days, 7, word, &rule->days))
		return PART_DAYS;
	if (read_times(word, rule))
		return PART_TIMES;
	return read_rate(word, &rule->rate) ? PART_RATE : PART_NONE;
}

/* One rule up to ";" or the end: months, days, times, each once at most and
 * in this order, then the rate. The first has the rate alone. */
static int
read_rule(struct cursor *cursor, struct rule *rule, bool is_base)
{
	static const char all[] =
	    "months (apr-sep), days (mon-fri), times (07:00-21:00) in this order, then a rate such as 0.42";
	enum part next = is_base ? PART_RATE : PART_MONTHS;

	*rule = (struct rule){.months = 0xfff, .days = 0x7f, .end_minute = DAY_MINUTES};
	do {
		const char *const begin = skip_blanks(cursor->at);
		const size_t length = strcspn(begin, " \t\r\n;");
		char word[WORD_SIZE];

		snprintf(word, sizeof(word), "%.*s", length < WORD_SIZE ? (int)length : 0, begin);
		const enum part part = read_word(word, rule);
		if (part == PART_NONE || part < next)
			return word_fail(
			    cursor, begin, is_base ? "the base rate, such as 0.31" : all);
		next = part + 1;
		cursor->at = skip_blanks(begin + length);
	} while (next <= PART_RATE);
	return *cursor->at == '\0' || *cursor->at == ';'
		   ? LT_OK
		   : word_fail(cursor, cursor->at, "\";\" after a rate");
}

static int
read_rates(const struct lt_source_options *options, struct rates *rates, struct lt_error *err)
{
	const char *const text = lt_source_option(options, "rates", "");
	struct cursor cursor = {options, text, text, err};

	rates->count = 0;
	for (;;) {
		if (rates->count == RULES_MAX)
			return word_fail(&cursor, cursor.at, "at most 63 rules");
		const int code = read_rule(&cursor, &rates->rules[rates->count], rates->count == 0);
		if (code != LT_OK)
			return code;
		rates->count++;
		if (*cursor.at == '\0')
			return LT_OK;
		cursor.at = skip_blanks(cursor.at + 1); /* ";" */
		if (*cursor.at == '\0')
			return LT_OK; /* one at the end is fine */
	}
}

/* ---- the zone ---- */

static int
check_zone(const struct lt_source_options *options, struct lt_error *err)
{
	const char *const zone = lt_source_option(options, "timezone", NULL);
	char path[128];
	struct stat status;

	if (zone == NULL)
		return LT_OK;
	snprintf(path, sizeof(path), "/usr/share/zoneinfo/%.64s", zone);
	if (isalpha((unsigned char)zone[0]) && strlen(zone) <= 64 && strchr(zone, '.') == NULL &&
	    stat(path, &status) == 0 && S_ISREG(status.st_mode))
		return LT_OK;
	return lt_option_fail(options, "timezone", err,
	    "%s: timezone: got \"%s\", want a name below /usr/share/zoneinfo such as Europe/London",
	    options->name, zone);
}

/* TZ is the only way to ask the C library for another zone; sources are fetched in a process of one
 * thread, and what was set is put back. */
static int
set_zone(const char *zone, char **before, struct lt_error *err)
{
	const char *const now = getenv("TZ");

	*before = NULL;
	if (zone == NULL)
		return LT_OK;
	if (now != NULL && (*before = strdup(now)) == NULL)
		return lt_fail(err, LT_ENOMEM, "TZ");
	setenv("TZ", zone, 1);
	tzset();
	return LT_OK;
}

static void
restore_zone(const char *zone, char *before)
{
	if (zone != NULL && before != NULL)
		setenv("TZ", before, 1);
	else if (zone != NULL)
		unsetenv("TZ");
	tzset();
	free(before);
}

/* ---- steps ---- */

static struct tm
local(int64_t utc_s)
{
	const time_t seconds = (time_t)utc_s;
	struct tm parts = {0};

	localtime_r(&seconds, &parts);
	return parts;
}

static bool
is_day(const struct rule *rule, int month, int weekday)
{
	return (rule->months >> month & 1) != 0 && (rule->days >> weekday & 1) != 0;
}

/* Months and days are those on which the hours begin. */
static bool
fits(const struct rule *rule, const struct tm *at)
{
	const int minute = at->tm_hour * 60 + at->tm_min;
	const bool today = is_day(rule, at->tm_mon, at->tm_wday);

	if (rule->start_minute < rule->end_minute)
		return today && minute >= rule->start_minute && minute < rule->end_minute;
	return (today && minute >= rule->start_minute) ||
	       (minute < rule->end_minute &&
		   is_day(rule, at->tm_mday == 1 ? (at->tm_mon + 11) % 12 : at->tm_mon,
		       (at->tm_wday + 6) % 7));
}

static double
rate_at(const struct rates *rates, int64_t utc_s)
{
	const struct tm at = local(utc_s);
	int i = rates->count - 1;

	while (i > 0 && !fits(&rates->rules[i], &at))
		i--;
	return rates->rules[i].rate;
}

/* The first second in (from, to] with another offset from UTC than from. */
static int64_t
find_change(int64_t from_utc_s, int64_t to_utc_s)
{
	const long offset_s = local(from_utc_s).tm_gmtoff;

	while (to_utc_s - from_utc_s > 1) {
		const int64_t middle = from_utc_s + (to_utc_s - from_utc_s) / 2;

		if (local(middle).tm_gmtoff == offset_s)
			from_utc_s = middle;
		else
			to_utc_s = middle;
	}
	return to_utc_s;
}

/* When the rate may change next: an edge of a rule, midnight, or a change of the clock. The wall
 * clock decides: hours that it skips never come, hours that it repeats count twice. */
static int64_t
next_edge(const struct rates *rates, int64_t utc_s)
{
	const struct tm at = local(utc_s);
	const int minute = at.tm_hour * 60 + at.tm_min;
	int next = DAY_MINUTES;

	for (int i = 1; i < rates->count; i++) {
		const int edges[] = {rates->rules[i].start_minute, rates->rules[i].end_minute};

		for (int j = 0; j < 2; j++)
			if (edges[j] > minute && edges[j] < next)
				next = edges[j];
	}
	const int64_t edge = utc_s + (int64_t)(next - minute) * 60 - at.tm_sec;
	/* Zones that count leap seconds have a second 60. */
	if (edge <= utc_s)
		return utc_s + 1;
	return local(edge).tm_gmtoff == at.tm_gmtoff ? edge : find_change(utc_s, edge);
}

static int
add_steps(const struct rates *rates, int64_t from_utc_s, int64_t to_utc_s, struct lt_points *points,
    struct lt_error *err)
{
	struct lt_point point = {.start_utc_s = from_utc_s, .quality = LT_QUALITY_MEASURED};

	point.value = rate_at(rates, from_utc_s);
	for (int64_t at = from_utc_s; at < to_utc_s;) {
		const int64_t edge = next_edge(rates, at);
		const double value = rate_at(rates, edge);

		at = edge < to_utc_s ? edge : to_utc_s;
		if (value == point.value && at < to_utc_s)
			continue;
		point.end_utc_s = at;
		const int code = lt_points_add(points, &point, err);
		if (code != LT_OK)
			return code;
		point.start_utc_s = at;
		point.value = value;
	}
	return LT_OK;
}

/* ---- the adapter ---- */

/* Also rates that never hold must be ones that could. */
static int
check_values(
    const struct lt_source_options *options, const struct rates *rates, struct lt_error *err)
{
	struct lt_points points = {.quantity = LT_QUANTITY_TARIFF};
	int code = LT_OK;

	for (int i = 0; code == LT_OK && i < rates->count; i++) {
		const struct lt_point point = {0, 1, rates->rules[i].rate, LT_QUALITY_MEASURED};

		code = lt_points_add(&points, &point, err);
		if (code != LT_OK)
			lt_option_at(options, "rates", err);
	}
	lt_points_free(&points);
	return code;
}

/* All options; the currency goes into points. */
static int
read_options(const struct lt_source_options *options, struct rates *rates, struct lt_points *points,
    struct lt_error *err)
{
	int code = read_rates(options, rates, err);

	points->quantity = LT_QUANTITY_TARIFF;
	if (code == LT_OK)
		code = check_values(options, rates, err);
	if (code == LT_OK)
		code = lt_currency_option(points, options, err);
	if (code == LT_OK)
		code = check_zone(options, err);
	return lt_error_mend(err, code);
}

static int
tou_check(const struct lt_source_options *options, struct lt_error *err)
{
	struct lt_points points = {0};
	struct rates rates;

	return read_options(options, &rates, &points, err);
}

static int
tou_fetch(const struct lt_source_options *options, const struct lt_window *window,
    struct lt_points *points, struct lt_error *err)
{
	const char *const zone = lt_source_option(options, "timezone", NULL);
	struct rates rates;
	int64_t from_utc_s = window->from_utc_s;
	char *before;
	int code = read_options(options, &rates, points, err);

	if (code == LT_OK)
		code = set_zone(zone, &before, err);
	if (code != LT_OK)
		return code;
	if (from_utc_s < window->to_utc_s - SPAN_MAX_S)
		from_utc_s = window->to_utc_s - SPAN_MAX_S;
	code = add_steps(&rates, from_utc_s, window->to_utc_s, points, err);
	restore_zone(zone, before);
	return code;
}

const struct lt_adapter lt_adapter_time_of_use = {
    .name = "time_of_use",
    .usage = "an electricity tariff by month, day and hour that you write",
    .options = tou_options,
    .interval_s = 6 * LT_HOUR_S,
    .gives = LT_QUANTITY_TARIFF,
    .currency = lt_currency_of_option,
    .check = tou_check,
    .fetch = tou_fetch,
};
