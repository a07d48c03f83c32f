/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the next tick of a CronJob's schedule: five fields, @hourly and the like, and @every, as
 * kube-controller-manager reads them. Pure. False for a schedule that can't be read, or that has no
 * tick within five years.
 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "kube_facts.h"
#include "lookup.h"
#include "units.h"

enum field { MINUTE, HOUR, DAY, MONTH, WEEKDAY, FIELDS };

enum {
	DAYS_AHEAD = 5 * 366,
	HOURS = 24,
	HOUR_S = 3600,
	MINUTE_S = 60,
};

static const struct {
	uint32_t least, most;
	const char *names; /* of three letters, from the least on */
} fields[FIELDS] = {
    [MINUTE] = {0, 59, ""},
    [HOUR] = {0, 23, ""},
    [DAY] = {1, 31, ""},
    [MONTH] = {1, 12, "janfebmaraprmayjunjulaugsepoctnovdec"},
    [WEEKDAY] = {0, 6, "sunmontuewedthufrisat"},
};

static const struct {
	const char *word, *schedule;
} words[] = {
    {"@yearly", "0 0 1 1 *"},
    {"@annually", "0 0 1 1 *"},
    {"@monthly", "0 0 1 * *"},
    {"@weekly", "0 0 * * 0"},
    {"@daily", "0 0 * * *"},
    {"@midnight", "0 0 * * *"},
    {"@hourly", "0 * * * *"},
};

struct cron {
	uint64_t sets[FIELDS]; /* bit n: n is in it */
	bool any[FIELDS];      /* "*": the other of the two kinds of day counts */
};

/* A number or a name; false: neither. */
static bool
read_value(const char **at, int field, uint32_t *value)
{
	const char *const names = LT_ROW(fields, field).names;
	char *end;

	for (uint32_t i = 0; names[3 * i] != '\0'; i++)
		if (strncasecmp(*at, names + (size_t)3 * i, 3) == 0) {
			*value = LT_ROW(fields, field).least + i;
			*at += 3;
			return true;
		}
	if (**at < '0' || **at > '9')
		return false;
	const unsigned long number = strtoul(*at, &end, 10);
	*at = end;
	*value = number > LT_ROW(fields, field).most ? UINT32_MAX : (uint32_t)number;
	return number >= LT_ROW(fields, field).least && number <= LT_ROW(fields, field).most;
}

/* "*", "5", "1-5", "5/15" (to the end), "1-30/2". */
static bool
read_range(struct cron *cron, const char **at, int field)
{
	const bool is_any = **at == '*' || **at == '?';
	uint32_t from = LT_ROW(fields, field).least, to = LT_ROW(fields, field).most;
	unsigned long step = 1;

	if (is_any) {
		++*at;
	} else {
		if (!read_value(at, field, &from))
			return false;
		to = from;
		if (**at == '-') {
			++*at;
			if (!read_value(at, field, &to))
				return false;
		} else if (**at == '/') {
			to = LT_ROW(fields, field).most;
		}
	}
	if (**at == '/') {
		char *end;

		step = (*at)[1] >= '0' && (*at)[1] <= '9' ? strtoul(*at + 1, &end, 10) : 0;
		if (step == 0 || step > LT_ROW(fields, field).most)
			return false;
		*at = end;
	}
	cron->any[field] |= is_any && step == 1;
	for (uint32_t i = from; i <= to; i += (uint32_t)step)
		cron->sets[field] |= UINT64_C(1) << i;
	return from <= to;
}

static bool
read_schedule(struct cron *cron, const char *at)
{
	*cron = (struct cron){{0}, {0}};
	for (int field = 0; field < FIELDS; field++) {
		at += strspn(at, " \t");
		do {
			if (!read_range(cron, &at, field))
				return false;
		} while (*at == ',' && *++at != '\0');
		if (*at != ' ' && *at != '\t' && *at != '\0')
			return false;
	}
	return at[strspn(at, " \t")] == '\0';
}

static bool
has_value(const struct cron *cron, int field, int value)
{
	return (cron->sets[field] >> value & 1) != 0;
}

/* Either counts where days of the month and of the week are both named. */
static bool
has_day(const struct cron *cron, const struct tm *day)
{
	const bool in_month = has_value(cron, DAY, day->tm_mday);
	const bool in_week = has_value(cron, WEEKDAY, day->tm_wday);

	return has_value(cron, MONTH, day->tm_mon + 1) &&
	       (cron->any[DAY] || cron->any[WEEKDAY] ? in_month && in_week : in_month || in_week);
}

/* Local seconds; day_s is a local midnight. */
static bool
next_of_day(const struct cron *cron, int64_t day_s, int64_t after_s, int64_t *next_s)
{
	for (int hour = 0; hour < HOURS; hour++)
		for (int minute = 0; has_value(cron, HOUR, hour) && minute < 60; minute++) {
			*next_s = day_s + hour * HOUR_S + minute * MINUTE_S;
			if (has_value(cron, MINUTE, minute) && *next_s > after_s)
				return true;
		}
	return false;
}

bool
lt_kube_cron_next(
    int64_t *next_utc_s, const char *schedule, int64_t after_utc_s, int32_t zone_offset_s)
{
	static const char every[] = "@every ";
	const int64_t after_s = after_utc_s + zone_offset_s;
	int64_t seconds, day_s = after_s - after_s % LT_DAY_S;
	struct cron cron;

	if (strncmp(schedule, every, strlen(every)) == 0) {
		if (lt_duration_parse(schedule + strlen(every), &seconds, NULL) != LT_OK ||
		    seconds <= 0)
			return false;
		*next_utc_s = after_utc_s + seconds;
		return true;
	}
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strcmp(schedule, words[i].word) == 0)
			schedule = words[i].schedule;
	if (!read_schedule(&cron, schedule))
		return false;
	for (int i = 0; i < DAYS_AHEAD; i++, day_s += LT_DAY_S) {
		const time_t time_s = (time_t)day_s;
		struct tm day;

		if (gmtime_r(&time_s, &day) != NULL && has_day(&cron, &day) &&
		    next_of_day(&cron, day_s, after_s, next_utc_s)) {
			*next_utc_s -= zone_offset_s;
			return true;
		}
	}
	return false;
}
