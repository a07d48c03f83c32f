/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Texts of the HTML statement: the one escape that names, reasons and labels of users pass through,
 * figures as they are shown, days and periods in words. A text that is not UTF-8 has U+FFFD for
 * each bad byte.
 */
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "currency.h"
#include "date.h"
#include "report_html.h"
#include "units.h"

__extension__ typedef __int128 wide;

static const char *const months[] = {"January", "February", "March", "April", "May", "June", "July",
    "August", "September", "October", "November", "December"};

/* Reads one UTF-8 character and returns its length; 1 for a bad byte, for which
 * *point is U+FFFD. */
static int
read_character(const char *text, uint32_t *point)
{
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	const unsigned char *const bytes = (const unsigned char *)text;
	const int length = bytes[0] < 0x80	       ? 1
			   : (bytes[0] & 0xe0) == 0xc0 ? 2
			   : (bytes[0] & 0xf0) == 0xe0 ? 3
			   : (bytes[0] & 0xf8) == 0xf0 ? 4
						       : 0;

	*point = 0xfffd;
	if (length == 0)
		return 1;
	uint32_t value = length == 1 ? bytes[0] : bytes[0] & (0x7fu >> length);

	for (int i = 1; i < length; i++) {
		if ((bytes[i] & 0xc0) != 0x80)
			return 1;
		value = value << 6 | (bytes[i] & 0x3f);
	}
	/* An overlong form: another way to write "<". */
	if (value < least[length])
		return 1;
	*point = value;
	return length;
}

/* True for controls and for characters without width that have an effect:
 * directions, joiners, marks of order, separators of lines, tags. */
static bool
is_trick(uint32_t point)
{
	static const struct {
		uint32_t first, last;
	} ranges[] = {{0, 0x1f}, {0x7f, 0x9f}, {0xad, 0xad}, {0x61c, 0x61c}, {0x180e, 0x180e},
	    {0x200b, 0x200f}, {0x2028, 0x202e}, {0x2060, 0x206f}, {0xd800, 0xdfff},
	    {0xfeff, 0xfeff}, {0xfff9, 0xfffb}, {0xfffe, 0xffff}, {0xe0000, 0xe0fff},
	    {0x110000, UINT32_MAX}};

	for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++)
		if (point >= ranges[i].first && point <= ranges[i].last)
			return true;
	return false;
}

void
lt_html_text(FILE *out, const char *text)
{
	for (int count = 0; *text != '\0'; count++) {
		uint32_t point;
		const int length = read_character(text, &point);

		if (count == LT_HTML_TEXT_MAX) {
			fputs("\u2026", out);
			return;
		}
		if (point == '&')
			fputs("&amp;", out);
		else if (point == '<')
			fputs("&lt;", out);
		else if (point == '>')
			fputs("&gt;", out);
		else if (point == '"')
			fputs("&quot;", out);
		else if (point == '\'')
			fputs("&#39;", out);
		else if (point == 0xfffd || is_trick(point))
			fputs("\ufffd", out);
		else
			fwrite(text, 1, (size_t)length, out);
		text += length;
	}
}

/* Writes value, in units of 10^-decimals, as "-1,234.5". */
static void
decimal_text(char *out, size_t size, int64_t value, int decimals)
{
	uint64_t rest = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
	char digits[LT_FIGURE_SIZE];
	int at = (int)sizeof(digits) - 1;

	digits[at] = '\0';
	for (int i = 0; rest > 0 || i <= decimals; i++) {
		if (i == decimals && i > 0)
			digits[--at] = '.';
		else if (i > decimals && (i - decimals) % 3 == 0)
			digits[--at] = ',';
		digits[--at] = (char)('0' + rest % 10);
		rest /= 10;
	}
	snprintf(out, size, "%s%s", value < 0 ? "-" : "", digits + at);
}

int64_t
lt_unit_shown(const struct lt_statement *statement, enum lt_unit unit)
{
	switch (unit) {
	case LT_UNIT_MONEY:
		return lt_currency_step(statement->currency);
	case LT_UNIT_CARBON:
		return statement->carbon_unit_mg;
	case LT_UNIT_ENERGY:
		return statement->energy_unit_wh;
	case LT_UNIT_HOURS:
		return LT_HOUR_S / 10;
	case LT_UNIT_SHARE:
		return 1000;
	case LT_UNIT_COUNT:
	case LT_UNIT_FLAG:
		break;
	}
	return 1;
}

const char *
lt_figure_text(char out[LT_FIGURE_SIZE], const struct lt_statement *statement, int64_t value,
    enum lt_unit unit)
{
	const int64_t shown = lt_unit_shown(statement, unit);
	/* Kilograms and kilowatt-hours are 10 or 1000 shown units. */
	const int64_t whole = unit == LT_UNIT_CARBON ? 1000000 : unit == LT_UNIT_ENERGY ? 1000 : 0;

	lt_round_each(NULL, 0, &value, shown);
	if (unit == LT_UNIT_MONEY) {
		lt_money_text(out, LT_FIGURE_SIZE, value, statement->currency);
	} else if (unit == LT_UNIT_COUNT) {
		decimal_text(out, LT_FIGURE_SIZE, value, 0);
	} else if (whole == 0) {
		decimal_text(out, LT_FIGURE_SIZE, value / shown, 1);
	} else {
		decimal_text(out, LT_FIGURE_SIZE, value / shown, whole / shown == 10 ? 1 : 3);
	}
	if (unit == LT_UNIT_SHARE)
		strcat(out, " %");
	return out;
}

const char *
lt_estimate_text(char out[LT_FIGURE_SIZE], const struct lt_statement *statement, int64_t value,
    enum lt_unit unit)
{
	int64_t step = 1;

	while (value / step >= 1000 || value / step <= -1000)
		step *= 10;
	lt_round_each(NULL, 0, &value, step);
	lt_figure_text(out, statement, value, unit);
	char *const point = strrchr(out, '.');
	if (point != NULL && step > lt_unit_shown(statement, unit) &&
	    point[1 + strspn(point + 1, "0")] == '\0')
		*point = '\0';
	return out;
}

const char *
lt_change_text(char out[LT_FIGURE_SIZE], const struct lt_statement *statement, int64_t value,
    enum lt_unit unit)
{
	char text[LT_FIGURE_SIZE];

	lt_round_each(NULL, 0, &value, lt_unit_shown(statement, unit));
	snprintf(out, LT_FIGURE_SIZE, "%s%.60s", value > 0 ? "+" : "",
	    lt_figure_text(text, statement, value, unit));
	return out;
}

int64_t
lt_shown_difference(
    const struct lt_statement *statement, int64_t one, int64_t other, enum lt_unit unit)
{
	const int64_t shown = lt_unit_shown(statement, unit);

	lt_round_each(NULL, 0, &one, shown);
	lt_round_each(NULL, 0, &other, shown);
	return one - other;
}

bool
lt_ppm(int64_t *ppm, int64_t part, int64_t whole)
{
	if (whole <= 0)
		return false;
	const wide scaled = (wide)part * LT_MICROS, half = scaled < 0 ? -(whole / 2) : whole / 2,
		   result = (scaled + half) / whole;

	if (result > INT64_MAX / 2 || result < INT64_MIN / 2)
		return false;
	*ppm = (int64_t)result;
	return true;
}

bool
lt_day_number(const char *text, int64_t *day)
{
	int year, month, date;
	char dash[2];

	if (sscanf(text, "%4d%1[-]%2d%1[-]%2d", &year, dash, &month, dash, &date) != 5 ||
	    year < 1970 || month < 1 || month > 12 || date < 1 || date > 31)
		return false;
	*day = lt_day_of_date(year, month, date);
	return true;
}

const char *
lt_day_text(char *out, size_t size, const char *day, enum lt_day_look look)
{
	int64_t number;

	if (!lt_day_number(day, &number)) {
		snprintf(out, size, "%s", day);
		return out;
	}
	const struct lt_date date = lt_date_of_day(number);
	const char *const month = months[date.month - 1];

	if (look == LT_DAY_SHORT)
		snprintf(out, size, "%d %.3s", date.day, month);
	else
		snprintf(out, size, "%d %s %d", date.day, month, (int)date.year);
	return out;
}

const char *
lt_period_name(char *out, size_t size, const char *label, enum lt_day_look look)
{
	int year, part;
	char end;

	if (sscanf(label, "%4d-Q%1d%c", &year, &part, &end) == 2)
		snprintf(out, size, "Q%d %d", part, year);
	else if (strlen(label) == 7 && sscanf(label, "%4d-%2d%c", &year, &part, &end) == 2 &&
		 part >= 1 && part <= 12)
		snprintf(
		    out, size, "%.*s %d", look == LT_DAY_SHORT ? 3 : 10, months[part - 1], year);
	else
		snprintf(out, size, "%s", label);
	return out;
}

const json_t *
lt_html_groups_by(const json_t *report, const char *dimension)
{
	return json_object_get(json_object_get(report, "by"), dimension);
}

int64_t
lt_html_sum_of(const json_t *groups, const char *key)
{
	int64_t sum = 0;
	size_t index;
	const json_t *group;

	json_array_foreach(groups, index, group) {
		int64_t value = 0;

		lt_json_int(group, key, &value);
		sum += value;
	}
	return sum;
}
