/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lowtided's answers about its signals: asked page by page, printed as tables, and below them in
 * words what a table can't hold: sources that stand in, interruptions, errors. Also the texts of a
 * value and of a day that "signals test" prints too.
 */
#include <langinfo.h>
#include <locale.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "lookup.h"
#include "signals.h"
#include "units.h"

/* Asks for one page and appends its sources to those of *answer. */
static int
ask_page(json_t **answer, int64_t *next, const struct lt_cli *cli, const char *path,
    struct lt_error *err)
{
	char page_path[64];
	json_t *page = NULL;
	const int64_t offset = *next;

	snprintf(page_path, sizeof(page_path), "%s?offset=%lld", path, (long long)offset);
	if (lt_client_get(&page, cli, page_path, err))
		return err->code;
	if (!lt_json_int(page, "next", next))
		*next = 0; /* the last one */
	json_object_del(page, "next");
	const json_t *const more = json_object_get(page, "sources");

	if (!json_is_array(more) || (*next != 0 && *next <= offset)) {
		lt_fail(err, LT_EINPUT, "signals: not a page of them");
	} else if (*answer == NULL) {
		*answer = page;
		return LT_OK;
	} else if (json_array_extend(json_object_get(*answer, "sources"), (json_t *)more)) {
		lt_fail(err, LT_ENOMEM, "signals: no memory");
	}
	json_decref(page);
	return err->code;
}

json_t *
lt_signals_ask(const struct lt_cli *cli, const char *path, struct lt_error *err)
{
	json_t *answer = NULL;
	int64_t next = 0;

	do {
		if (ask_page(&answer, &next, cli, path, err)) {
			json_decref(answer);
			return NULL;
		}
	} while (next > 0);
	return answer;
}

/* True if the locale of this terminal shows UTF-8. The process's own locale is not changed. */
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

/* Finds the least and the largest value; false if no hour is known. */
static bool
find_range(double *least, double *most, const struct lt_hour *hours, int count)
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
	static const char *const blocks[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
	enum { LEVELS = sizeof(blocks) / sizeof(blocks[0]), MIDDLE = 3 };
	double least = 0, most = 0;
	char *end = out;

	out[0] = '\0';
	if (!find_range(&least, &most, hours, count))
		return out;
	for (int i = 0; i < count; i++) {
		if (!hours[i].known) {
			end = stpcpy(end, " ");
			continue;
		}
		/* Halves first: their difference can't pass a double. */
		const double share =
		    most > least ? (hours[i].value / 2 - least / 2) / (most / 2 - least / 2) : 0;
		const int level = most > least ? (int)fmin(LEVELS - 1, share * LEVELS) : MIDDLE;

		end = stpcpy(end, blocks[level]);
	}
	return out;
}

const char *
lt_range_text(
    char *out, size_t size, const struct lt_hour *hours, int count, enum lt_quantity quantity)
{
	double least = 0, most = 0;
	char low[64], high[64];

	if (!find_range(&least, &most, hours, count)) {
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
lt_unit_text(char *out, size_t size, enum lt_quantity quantity, const char *currency)
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

static const char yellow[] = "\033[33m", red[] = "\033[31m";

static enum lt_quantity
quantity_of(const json_t *source)
{
	return lt_quantity_find(lt_json_text(source, "quantity", ""));
}

static const char *
number_text(
    char *out, size_t size, const json_t *object, const char *key, enum lt_quantity quantity)
{
	const json_t *const value = json_object_get(object, key);

	if (json_is_number(value))
		return lt_value_text(out, size, json_number_value(value), quantity);
	snprintf(out, size, "-");
	return out;
}

/* "12m", "5h", "3d", "now"; "-" if there is none: one figure is enough. */
static const char *
seconds_text(char *out, size_t size, bool has, int64_t seconds)
{
	static const struct {
		int64_t from_s, unit_s;
		char letter;
	} units[] = {
	    {2 * LT_DAY_S, LT_DAY_S, 'd'},
	    {2 * LT_HOUR_S, LT_HOUR_S, 'h'},
	    {60, 60, 'm'},
	    {1, 1, 's'},
	};

	snprintf(out, size, has ? "now" : "-");
	for (size_t i = 0; has && i < sizeof(units) / sizeof(units[0]); i++) {
		if (seconds < units[i].from_s)
			continue;
		snprintf(
		    out, size, "%lld%c", (long long)(seconds / units[i].unit_s), units[i].letter);
		break;
	}
	return out;
}

static void
day_text(char *out, size_t size, const json_t *source, const struct lt_signals_look *look)
{
	const json_t *const list = json_object_get(source, "hours");
	struct lt_hour hours[LT_HOURS_SHOWN] = {{0}};
	size_t index;
	const json_t *item;

	json_array_foreach(list, index, item) {
		const json_t *const value = json_object_get(item, "value");

		if (index >= LT_HOURS_SHOWN)
			break;
		hours[index].known = json_is_number(value);
		hours[index].value = json_number_value(value);
	}
	if (look->blocks && size >= LT_BLOCKS_SIZE)
		lt_blocks_text(out, hours, LT_HOURS_SHOWN);
	else
		lt_range_text(out, size, hours, LT_HOURS_SHOWN, quantity_of(source));
}

static void
add_source(struct lt_table *table, const json_t *source, const char *currency, int64_t now_utc_s,
    const struct lt_signals_look *look)
{
	char unit[64], now[64], day[256], age[96], next[96], left[64];
	int64_t age_s = 0, next_utc_s = 0;
	const bool has_age = lt_json_int(source, "age_s", &age_s);
	const bool stale = json_is_true(json_object_get(source, "stale"));
	const char *const next_text = lt_json_text(source, "next_fetch", "");
	const bool has_next = next_text[0] && lt_utc_parse(next_text, &next_utc_s, NULL) == LT_OK;
	const bool replay = json_is_true(json_object_get(source, "replay"));

	seconds_text(left, sizeof(left), has_age, age_s);
	snprintf(age, sizeof(age), "%s%s", left, stale && has_age ? " stale" : "");
	seconds_text(left, sizeof(left), has_next, next_utc_s - now_utc_s);
	snprintf(next, sizeof(next), "%s%s", has_next && next_utc_s > now_utc_s ? "in " : "", left);
	day_text(day, sizeof(day), source, look);
	const char *const cells[] = {
	    lt_json_text(source, "name", "?"),
	    lt_json_text(source, "options", "")[0] ? lt_json_text(source, "options", "") : "-",
	    lt_unit_text(unit, sizeof(unit), quantity_of(source), currency),
	    number_text(now, sizeof(now), source, "value_now", quantity_of(source)),
	    day,
	    age,
	    replay ? "replay" : lt_json_text(source, "quality", "?"),
	    next,
	    lt_json_text(source, "last_error", "-"),
	};

	lt_table_row(table, cells);
}

/* Prints one line below the table: "NAME: TEXT". color: an escape, "" = none. */
static void
print_note(FILE *out, const char *name, const char *text, const char *color)
{
	char line[2048];

	snprintf(line, sizeof(line), "%s: %s", name, text);
	for (char *c = line; *c; c++)
		if (*c == '\n' || *c == '\t')
			*c = ' ';
	fputs(color, out);
	lt_print_safe(out, line);
	fputs(color[0] ? "\033[0m\n" : "\n", out);
}

/* Returns the entry of used_by for a partition's key, NULL = none. */
static const json_t *
use_of(const json_t *source, const char *partition, const char *key)
{
	size_t index;
	const json_t *use;

	json_array_foreach(json_object_get(source, "used_by"), index, use)
		if (strcmp(lt_json_text(use, "partition", ""), partition) == 0 &&
		    strcmp(lt_json_text(use, "key", ""), key) == 0)
			return use;
	return NULL;
}

/* Returns the source that is named first for a partition's key. */
static const json_t *
first_of(const json_t *sources, const char *partition, const char *key)
{
	size_t index;
	const json_t *source;

	json_array_foreach(sources, index, source) {
		int64_t place = 0;
		const json_t *const use = use_of(source, partition, key);

		if (use != NULL && lt_json_int(use, "place", &place) && place == 1)
			return source;
	}
	return NULL;
}

static void
print_stand_in(FILE *out, const json_t *sources, const json_t *source, const json_t *use,
    const struct lt_signals_look *look)
{
	const char *const partition = lt_json_text(use, "partition", "?");
	const char *const key = lt_json_text(use, "key", "?");
	const json_t *const first = first_of(sources, partition, key);
	const char *const since = lt_json_text(first, "stale_since", NULL);
	char text[512], when[96];

	snprintf(text, sizeof(text), "%s from %s, as %s %s%s", key,
	    lt_json_text(source, "name", "?"), lt_json_text(first, "name", "?"),
	    since != NULL ? "is stale since " : "has no data",
	    since != NULL ? lt_local_time(when, sizeof(when), since) : "");
	print_note(out, partition, text, look->color ? yellow : "");
}

static void
print_stand_ins(FILE *out, const json_t *sources, const struct lt_signals_look *look)
{
	size_t i, j;
	const json_t *source, *use;

	json_array_foreach(sources, i, source) {
		json_array_foreach(json_object_get(source, "used_by"), j, use) {
			int64_t place = 0;

			if (json_is_true(json_object_get(use, "in_use")) &&
			    lt_json_int(use, "place", &place) && place > 1)
				print_stand_in(out, sources, source, use, look);
		}
	}
}

static void
print_hazards(FILE *out, const json_t *partitions)
{
	size_t index;
	const json_t *partition;

	json_array_foreach(partitions, index, partition) {
		const json_t *const hazard = json_object_get(partition, "hazard");
		char value[64], published[64], own[160] = "", text[512];
		int64_t count = 0;

		if (!json_is_number(json_object_get(hazard, "value"))) {
			print_note(out, lt_json_text(partition, "name", "?"),
			    "interruptions are not known", "");
			continue;
		}
		lt_json_int(hazard, "interruptions", &count);
		if (json_is_true(json_object_get(hazard, "counts_own")))
			snprintf(own, sizeof(own),
			    ", and %.0f %% own history (%lld in %.0f node-hours)",
			    100 * json_number_value(json_object_get(hazard, "own_share")),
			    (long long)count,
			    json_number_value(json_object_get(hazard, "node_hours")));
		snprintf(text, sizeof(text), "%s interruptions per node-hour: %s by %s%s",
		    number_text(value, sizeof(value), hazard, "value", LT_QUANTITY_HAZARD),
		    number_text(
			published, sizeof(published), hazard, "published", LT_QUANTITY_HAZARD),
		    lt_json_text(hazard, "source", "the policy"), own);
		print_note(out, lt_json_text(partition, "name", "?"), text, "");
	}
}

/* Prints the texts of sources in full: a table's cell may be cut. */
static void
print_words(FILE *out, const json_t *sources, const struct lt_signals_look *look)
{
	size_t index;
	const json_t *source;
	bool replay = false;

	json_array_foreach(sources, index, source) {
		const char *const name = lt_json_text(source, "name", "?");
		const char *const note = lt_json_text(source, "note", "");
		const char *const error = lt_json_text(source, "last_error", "");

		replay = replay || json_is_true(json_object_get(source, "replay"));
		if (note[0])
			print_note(out, name, note, "");
		if (!error[0] || !look->columns)
			continue;
		print_note(out, name, error, look->color ? red : "");
	}
	if (replay)
		fputs("replayed signals: not real figures\n", out);
}

void
lt_signals_print(FILE *out, const json_t *answer, const struct lt_signals_look *look)
{
	enum { SOURCE = 0, ZONE = 1, LAST_ERROR = 8 };
	/* last error, which is printed below, too; zone, fetch, curve, age */
	static const int drops[] = {LAST_ERROR, ZONE, 7, 4, 5, -1};
	static const struct lt_table_column columns[] = {
	    {"SOURCE", false},
	    {"ZONE", false},
	    {"UNIT", false},
	    {"NOW", true},
	    {"NEXT 24 H", false},
	    {"AGE", true},
	    {"QUALITY", false},
	    {"FETCH", false},
	    {"LAST ERROR", false},
	    {NULL, false},
	};
	const json_t *const sources = json_object_get(answer, "sources");
	struct lt_table *const table = lt_table_new(columns);
	int64_t now_utc_s = 0;
	size_t index;
	const json_t *source;

	if (table == NULL)
		return;
	lt_utc_parse(lt_json_text(answer, "now", ""), &now_utc_s, NULL);
	json_array_foreach(sources, index, source)
		add_source(table, source, lt_json_text(answer, "currency", ""), now_utc_s, look);
	lt_table_fit(table, look->columns, 1u << SOURCE | 1u << ZONE | 1u << LAST_ERROR);
	lt_table_drop(table, drops);
	if (json_array_size(sources))
		lt_table_print(out, table, look->color);
	else
		fputs("no sources: all signals are numbers of the policy\n", out);
	lt_table_free(table);
	print_stand_ins(out, sources, look);
	print_hazards(out, json_object_get(answer, "partitions"));
	print_words(out, sources, look);
}

static void
add_bucket(struct lt_table *table, const json_t *source, const json_t *model, const json_t *bucket,
    const char *currency)
{
	const enum lt_quantity quantity = quantity_of(source);
	char lead[64], count[32], bias[64], mae[64], low[64], high[64], band[160], unit[64];
	int64_t from_h = 0, to_h = 0, scored = 0;

	lt_json_int(bucket, "from_h", &from_h);
	lt_json_int(bucket, "to_h", &to_h);
	lt_json_int(bucket, "count", &scored);
	snprintf(lead, sizeof(lead), "%lld to %lld h", (long long)from_h, (long long)to_h);
	snprintf(count, sizeof(count), "%lld", (long long)scored);
	snprintf(band, sizeof(band), "%s..%s",
	    number_text(low, sizeof(low), bucket, "low", quantity),
	    number_text(high, sizeof(high), bucket, "high", quantity));
	const char *const cells[] = {
	    lt_json_text(source, "name", "?"),
	    lt_json_text(model, "model", "?"),
	    lead,
	    count,
	    number_text(bias, sizeof(bias), bucket, "bias", quantity),
	    number_text(mae, sizeof(mae), bucket, "mae", quantity),
	    json_is_number(json_object_get(bucket, "low")) ? band : "-",
	    lt_unit_text(unit, sizeof(unit), quantity, currency),
	};

	lt_table_row(table, cells);
}

static void
add_models(struct lt_table *table, const json_t *source, const char *currency)
{
	size_t i, j;
	const json_t *model, *bucket;

	json_array_foreach(json_object_get(source, "models"), i, model) {
		json_array_foreach(json_object_get(model, "buckets"), j, bucket) {
			int64_t count = 0;

			if (lt_json_int(bucket, "count", &count) && count > 0)
				add_bucket(table, source, model, bucket, currency);
		}
	}
}

void
lt_signals_print_errors(FILE *out, const json_t *answer, const struct lt_signals_look *look)
{
	static const struct lt_table_column columns[] = {
	    {"SOURCE", false},
	    {"FORECAST BY", false},
	    {"AHEAD", true},
	    {"SCORED", true},
	    {"MEAN ERROR", true},
	    {"MEAN SIZE", true},
	    {"80 % WITHIN", true},
	    {"UNIT", false},
	    {NULL, false},
	};
	struct lt_table *const table = lt_table_new(columns);
	size_t index;
	const json_t *source;

	if (table == NULL)
		return;
	json_array_foreach(json_object_get(answer, "sources"), index, source)
		add_models(table, source, lt_json_text(answer, "currency", ""));
	lt_table_fit(table, look->columns, 0);
	lt_table_print(out, table, look->color);
	fputs("errors are forecast minus measured; what is not here was not scored yet\n", out);
	lt_table_free(table);
}
