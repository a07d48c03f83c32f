/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Prices in another currency to the site's, by the policy file's dated rates, before they are
 * stored: what was known then is what is charged.
 */
#include <math.h>
#include <string.h>

#include "exchange_rates.h"
#include "min_max.h"

/* The last row of the currency that began by then; NULL = none. Rows are in order of currency, then
 * day. */
static const struct lt_policy_exchange *
row_at(const struct lt_policy *policy, const char *currency, int64_t utc_s)
{
	const struct lt_policy_exchange *found = NULL;

	for (int i = 0; i < policy->exchange_count; i++)
		if (strcmp(policy->exchanges[i].currency, currency) == 0 &&
		    policy->exchanges[i].from_utc_s <= utc_s)
			found = &policy->exchanges[i];
	return found;
}

/* Returns the end of the row that holds at utc_s; INT64_MAX = never. */
static int64_t
row_end(const struct lt_policy *policy, const char *currency, int64_t utc_s)
{
	for (int i = 0; i < policy->exchange_count; i++)
		if (strcmp(policy->exchanges[i].currency, currency) == 0 &&
		    policy->exchanges[i].from_utc_s > utc_s)
			return policy->exchanges[i].from_utc_s;
	return INT64_MAX;
}

bool
lt_exchange_begins(
    const struct lt_policy *policy, const char *currency, int64_t after_utc_s, int64_t until_utc_s)
{
	return row_end(policy, currency, after_utc_s) <= until_utc_s;
}

/* One point, cut where a new rate begins. */
static int
convert_point(struct lt_points *out, const struct lt_point *point, const char *currency,
    const struct lt_policy *policy, struct lt_error *err)
{
	struct lt_point part = *point;
	int code = LT_OK;

	for (int64_t at = point->start_utc_s; at < point->end_utc_s && code == LT_OK;
	     at = part.end_utc_s) {
		const struct lt_policy_exchange *const row = row_at(policy, currency, at);
		const int64_t end = row_end(policy, currency, at);

		part.start_utc_s = at;
		part.end_utc_s = lt_min_i64(end, point->end_utc_s);
		if (row == NULL)
			continue;
		part.value = round(point->value * row->rate);
		code = lt_points_add(out, &part, err);
	}
	return code;
}

int
lt_points_convert(struct lt_points *points, const struct lt_policy *policy, struct lt_error *err)
{
	struct lt_points out = {.quantity = points->quantity};
	const char *const currency = points->currency;
	int code = LT_OK;

	if (!currency[0] || strcmp(currency, policy->currency) == 0)
		return LT_OK;
	if (!policy->currency[0])
		return lt_fail(
		    err, LT_EINPUT, "prices in %s, but the policy file has no currency:", currency);
	for (size_t i = 0; i < points->count && code == LT_OK; i++)
		code = convert_point(&out, &points->points[i], currency, policy, err);
	if (code == LT_OK && points->count > 0 && out.count == 0)
		code = lt_fail(err, LT_EINPUT,
		    "prices in %s, want %s: exchange_rates: has no row of %s for that time",
		    currency, policy->currency, currency);
	if (code != LT_OK) {
		lt_points_free(&out);
		return code;
	}
	lt_points_free(points);
	points->points = out.points;
	points->count = out.count;
	points->capacity = out.capacity;
	memcpy(points->currency, policy->currency, sizeof(points->currency));
	return LT_OK;
}
