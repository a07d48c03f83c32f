/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Costs, times and places of a job, short enough for a column.
 */
#include <string.h>
#include <time.h>

#include "job_text.h"
#include "units.h"

enum { WEEK_S = 6 * 86400 };

const char *
lt_job_amount(
    char *out, size_t size, const json_t *amount, const char *currency)
{
	int64_t value;

	if (currency[0] != '\0' && lt_json_int(amount, "money_micros", &value))
		return lt_money_text(out, size, value, currency);
	if (currency[0] == '\0' && lt_json_int(amount, "carbon_mg", &value))
		return lt_carbon_text(out, size, value);
	snprintf(out, size, "-");
	return out;
}

const char *
lt_job_expected(char *out, size_t size, const json_t *job, const char *currency)
{
	return lt_job_amount(
	    out, size, json_object_get(job, "expected"), currency);
}

const char *
lt_job_so_far(char *out, size_t size, const json_t *job, const char *currency)
{
	const json_t *const charged = json_object_get(job, "charged");
	const json_t *const so_far = json_object_get(job, "so_far");

	return lt_job_amount(
	    out, size, json_is_object(so_far) ? so_far : charged, currency);
}

const char *
lt_job_time(char *out, size_t size, const json_t *object, const char *key)
{
	const char *const iso = lt_json_text(object, key, NULL);
	struct tm local;
	int64_t utc_s;

	if (iso == NULL) {
		snprintf(out, size, "-");
		return out;
	}
	if (lt_utc_parse(iso, &utc_s, NULL) != LT_OK ||
	    localtime_r(&(time_t){(time_t)utc_s}, &local) == NULL) {
		snprintf(out, size, "%s", iso);
		return out;
	}
	const int64_t from_now_s = utc_s - (int64_t)time(NULL);
	const bool near = from_now_s > -WEEK_S && from_now_s < WEEK_S;

	if (strftime(out, size, near ? "%a %H:%M" : "%e %b %H:%M", &local) == 0)
		snprintf(out, size, "%s", iso);
	return out;
}

const char *
lt_job_start(char *out, size_t size, const json_t *job)
{
	return lt_json_text(job, "start", NULL) != NULL ||
		       json_is_true(json_object_get(job, "ended"))
		   ? lt_job_time(out, size, job, "start")
		   : lt_job_time(
			 out, size, json_object_get(job, "plan"), "start");
}

const char *
lt_job_place(const json_t *job)
{
	return lt_json_text(job, "partition", "?");
}
