/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Values and days of a signal as people read them.
 */
#include <langinfo.h>
#include <locale.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "lookup.h"
#include "signals.h"

/* Does the locale of this terminal show UTF-8? The process's own locale stays
 * as it is. */
static bool
is_utf8(void)
{
	const locale_t locale = newlocale(LC_CTYPE_MASK, "", (locale_t)0);

	if (locale == NULL)
		return false;
	const bool found = strcmp(nl_langinfo_l(CODESET, locale), "UTF-8") == 0;

	freelocale(locale);
	return found;
}

struct lt_signals_look
lt_signals_look(const struct lt_cli *cli)
{
	struct lt_signals_look look = {.color = cli->color};

	if (!isatty(STDOUT_FILENO))
		return look;
	look.blocks = is_utf8();
	look.columns = lt_cli_columns();
	return look;
}

/* False when no hour is known. */
static bool
range(double *least, double *most, const struct lt_hour *hours, int count)
{
	bool any = false;

	for (int i = 0; i < count; i++) {
		if (!hours[i].known)
			continue;
		*least = any ? fmin(*least, hours[i].value) : hours[i].value;
		*most = any ? fmax(*most, hours[i].value) : hours[i].value;
		any = true;
	}
	return any;
}

const char *
lt_blocks_text(char out[LT_BLOCKS_SIZE], const struct lt_hour *hours, int count)
{
	static const char *const blocks[] = {
	    "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
	enum { LEVELS = sizeof(blocks) / sizeof(blocks[0]), MIDDLE = 3 };
	double least = 0, most = 0;
	char *end = out;

	out[0] = '\0';
	if (!range(&least, &most, hours, count))
		return out;
	for (int i = 0; i < count; i++) {
		if (!hours[i].known) {
			end = stpcpy(end, " ");
			continue;
		}
		/* Halves first: their difference can't pass a double. */
		const double share = most > least
					 ? (hours[i].value / 2 - least / 2) /
					       (most / 2 - least / 2)
					 : 0;
		const int level = most > least
				      ? (int)fmin(LEVELS - 1, share * LEVELS)
				      : MIDDLE;

		end = stpcpy(end, blocks[level]);
	}
	return out;
}

const char *
lt_range_text(char *out, size_t size, const struct lt_hour *hours, int count,
    enum lt_quantity quantity)
{
	double least = 0, most = 0;
	char low[64], high[64];

	if (!range(&least, &most, hours, count)) {
		snprintf(out, size, "-");
		return out;
	}
	lt_value_text(low, sizeof(low), least, quantity);
	lt_value_text(high, sizeof(high), most, quantity);
	if (strcmp(low, high) == 0)
		snprintf(out, size, "%s", low);
	else
		snprintf(out, size, "%s..%s", low, high);
	return out;
}

const char *
lt_value_text(char *out, size_t size, double value, enum lt_quantity quantity)
{
	const double scale = lt_quantity_scale(quantity);
	const double written = value / scale;
	const double magnitude = fabs(written);

	if (written == 0)
		snprintf(out, size, "0");
	else if (magnitude >= 100 && magnitude < 1e6 && scale == 1)
		snprintf(out, size, "%.0f", written);
	else if (scale == 1 || magnitude < 0.001 || magnitude >= 1e9)
		snprintf(out, size, "%.3g", written);
	else
		snprintf(out, size, "%.*f", magnitude < 1 ? 4 : 2, written);
	return out;
}

const char *
lt_unit_text(
    char *out, size_t size, enum lt_quantity quantity, const char *currency)
{
	static const char *const units[LT_QUANTITY_COUNT] = {
	    [LT_QUANTITY_CARBON] = "g CO2e/kWh",
	    [LT_QUANTITY_MARGINAL] = "g/kWh marginal",
	    [LT_QUANTITY_PRICE] = "/node-h",
	    [LT_QUANTITY_TARIFF] = "/kWh",
	    [LT_QUANTITY_HAZARD] = "interr./node-h",
	    [LT_QUANTITY_SCORE] = "score of 10",
	    [LT_QUANTITY_WIND] = "m/s",
	    [LT_QUANTITY_SUN] = "W/m2",
	    [LT_QUANTITY_TEMPERATURE] = "\u00b0C",
	    [LT_QUANTITY_WIND_POWER] = "MW",
	    [LT_QUANTITY_SOLAR_POWER] = "MW",
	    [LT_QUANTITY_LOAD] = "MW",
	};
	const bool money = lt_quantity_scale(quantity) != 1;

	snprintf(out, size, "%s%s",
	    !money	  ? ""
	    : currency[0] ? currency
			  : "money",
	    LT_WORD_OR(units, quantity, "?"));
	return out;
}
