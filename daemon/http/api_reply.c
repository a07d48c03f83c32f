/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Helpers that all answers of the API use: values of the query, errors, names of users, times and
 * amounts as JSON. api.h declares them. Text that is not UTF-8 is replaced; a missing value is
 * JSON's null.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "api.h"
#include "daemon.h"
#include "directory.h"
#include "http.h"
#include "quote.h"
#include "text.h"
#include "units.h"

const char *
lt_api_value(const struct lt_api_request *request, const char *key)
{
	for (int i = 0; i < request->value_count; i++)
		if (strcmp(request->values[i].key, key) == 0)
			return request->values[i].value;
	return NULL;
}

int
lt_api_error(json_t **reply, int status, const char *format, ...)
{
	char text[LT_ERROR_TEXT_SIZE];
	va_list list;

	va_start(list, format);
	vsnprintf(text, sizeof(text), format, list);
	va_end(list);
	json_decref(*reply);
	*reply = json_pack("{s:s}", "error", text);
	if (*reply == NULL) /* not UTF-8: what was asked is not repeated */
		*reply = json_pack("{s:s}", "error", "bad request");
	return status;
}

char *
lt_api_error_text(const char *why)
{
	json_t *json = NULL;

	(void)lt_api_error(&json, 503, "%s", why);
	char *const text = json != NULL ? json_dumps(json, JSON_COMPACT) : NULL;
	json_decref(json);
	return text;
}

const char *
lt_api_user_name(const struct lt_daemon *d, char out[LT_NAME_SIZE], uint32_t uid)
{
	const char *const known =
	    lt_pairs_user(d->site.tables.pairs, d->site.tables.pair_count, uid);

	if (known != NULL && known[0] != '\0')
		lt_copy(out, LT_NAME_SIZE, known);
	else if (lt_directory_name(uid, out, lt_monotonic_ms()) != LT_FOUND)
		snprintf(out, LT_NAME_SIZE, "%u", uid);
	return out;
}

json_t *
lt_api_time(int64_t utc_s)
{
	char text[40];

	if (utc_s == 0 || utc_s == INT64_MAX || utc_s == INT64_MIN)
		return json_null();
	return json_string(lt_utc_text(text, sizeof(text), utc_s));
}

json_t *
lt_api_string(const char *text)
{
	char shown[LT_API_STRING_SIZE];

	lt_copy(shown, sizeof(shown), text);
	lt_text_line(shown);
	return json_string(shown);
}

json_t *
lt_api_optional(bool has, int64_t value)
{
	return has ? json_integer(value) : json_null();
}

json_t *
lt_api_amount(const struct lt_amount *amount)
{
	return json_pack("{s:o,s:o}", "money_micros",
	    lt_api_optional(amount->has_money, amount->money_micros), "carbon_mg",
	    lt_api_optional(amount->has_carbon, amount->carbon_mg));
}
