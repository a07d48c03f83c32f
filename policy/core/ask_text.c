/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Counts in the texts of a request: TRES and Gres lists, and the tasks of an
 * --array text, "first[-last[:step]][%parallel]" separated by commas, within
 * optional brackets. For an array an upper bound is enough, so overlaps are not searched for.
 *
 * Bounded by the length of the text. slurmctld reads the text again after the plugin with its own
 * parser, so what is unclear here only counts as more.
 */
#include <stdbool.h>
#include <string.h>
#include <strings.h>

#include "array_text.h"
#include "ask_text.h"
#include "limits.h"

/* ---- Tasks of --array ---- */

struct scanner {
	const char *text, *at;
	struct lt_error *err;
};

static int
refuse(const struct scanner *scanner, const char *wanted)
{
	const char found[2] = {*scanner->at, '\0'};
	const int column = (int)(scanner->at - scanner->text) + 1;
	const int code =
	    lt_fail(scanner->err, LT_EINPUT, "--array: column %d: found %s%s%s, want %s", column,
		*found ? "\"" : "", *found ? found : "the end", *found ? "\"" : "", wanted);

	if (scanner->err != NULL && scanner->err->column == 0)
		scanner->err->column = column;
	return code;
}

/* A decimal number up to max; larger ones stop at max + 1. */
static int
number(struct scanner *scanner, uint32_t max, uint32_t *value)
{
	uint64_t sum = 0;

	if (*scanner->at < '0' || *scanner->at > '9')
		return refuse(scanner, "a number");
	for (; *scanner->at >= '0' && *scanner->at <= '9'; scanner->at++) {
		sum = sum * 10 + (uint64_t)(*scanner->at - '0');
		if (sum > max)
			sum = (uint64_t)max + 1;
	}
	*value = (uint32_t)sum;
	return LT_OK;
}

static void
skip_close(struct scanner *scanner)
{
	if (*scanner->at == ']')
		scanner->at++;
}

static int
check_id(const struct scanner *scanner, uint32_t id, uint32_t size)
{
	if (id < size)
		return LT_OK;
	return lt_fail(scanner->err, LT_ELIMIT,
	    "--array: column %d: an id is not below MaxArraySize %u",
	    (int)(scanner->at - scanner->text) + 1, size);
}

/* One item; *tasks grows by its ids. */
static int
item(struct scanner *scanner, uint32_t size, uint64_t *tasks, uint32_t *parallel)
{
	uint32_t first, last, step = 1;

	while (*scanner->at == ' ' || *scanner->at == '[')
		scanner->at++;
	int code = number(scanner, size, &first);
	if (code == LT_OK)
		code = check_id(scanner, first, size);
	if (code != LT_OK)
		return code;
	last = first;
	skip_close(scanner);
	if (*scanner->at == '-') {
		scanner->at++;
		code = number(scanner, size, &last);
		if (code == LT_OK)
			code = check_id(scanner, last, size);
		if (code != LT_OK)
			return code;
		if (last < first)
			return refuse(scanner, "a last id not below the first before this");
		skip_close(scanner);
		if (*scanner->at == ':') {
			scanner->at++;
			code = number(scanner, size, &step);
			if (code != LT_OK)
				return code;
			if (step == 0)
				return refuse(scanner, "a step above 0 before this");
			skip_close(scanner);
		}
	}
	*tasks += (last - first) / step + 1;
	if (*scanner->at == '%') {
		uint32_t most;

		scanner->at++;
		code = number(scanner, INT32_MAX, &most);
		if (code != LT_OK)
			return code;
		/* Slurm takes the first; a lower one makes a longer window. */
		if (*parallel == 0 || (most != 0 && most < *parallel))
			*parallel = most;
		skip_close(scanner);
	}
	return LT_OK;
}

int
lt_array_count(const char *text, uint32_t max_array_size, uint32_t *tasks, uint32_t *parallel,
    struct lt_error *err)
{
	struct scanner scanner = {text, text, err};
	const uint32_t size = max_array_size == 0 ? LT_ARRAY_TASKS_MAX : max_array_size;
	uint64_t sum = 0;
	uint32_t most = 0;

	if (strnlen(text, LT_ARRAY_TEXT_MAX + 1) > LT_ARRAY_TEXT_MAX)
		return lt_fail(
		    err, LT_ELIMIT, "--array: longer than %d characters", LT_ARRAY_TEXT_MAX);
	for (;;) {
		/* slurmctld passes over empty items. */
		while (*scanner.at == ',')
			scanner.at++;
		if (*scanner.at == '\0' && sum > 0)
			break;
		const int code = item(&scanner, size, &sum, &most);
		if (code != LT_OK)
			return code;
		if (*scanner.at != ',' && *scanner.at != '\0')
			return refuse(
			    &scanner, "first[-last[:step]][%parallel], separated by commas");
	}
	/* Items may overlap: there are no more ids than the size allows. */
	*tasks = sum < size ? (uint32_t)sum : size;
	*parallel = most;
	return LT_OK;
}

/* ---- TRES, Gres and node lists ---- */

static uint64_t
at_most(uint64_t count)
{
	return count > LT_ASK_MAX ? LT_ASK_MAX : count;
}

/* Reads digits at *text, which is moved behind them. False without any. */
static bool
read_number(const char **text, uint64_t *number)
{
	const char *at = *text;

	*number = 0;
	for (; *at >= '0' && *at <= '9'; at++)
		*number = at_most(*number * 10 + (uint64_t)(*at - '0'));
	if (at == *text)
		return false;
	*text = at;
	return true;
}

/* Returns the factor of "k" in "64k"; 0 = no unit. */
static uint64_t
unit_of(const char *suffix, size_t length)
{
	static const struct {
		const char *suffix;
		uint64_t times;
	} units[] = {{"", 1}, {"k", 1 << 10}, {"kib", 1 << 10}, {"kb", 1000}, {"m", 1 << 20},
	    {"mib", 1 << 20}, {"mb", 1000000}, {"g", 1 << 30}, {"gib", 1 << 30}, {"gb", 1000000000},
	    {"t", LT_ASK_MAX}, {"tib", LT_ASK_MAX}, {"tb", LT_ASK_MAX}, {"p", LT_ASK_MAX},
	    {"pib", LT_ASK_MAX}, {"pb", LT_ASK_MAX}};

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (strlen(units[i].suffix) == length &&
		    strncasecmp(units[i].suffix, suffix, length) == 0)
			return units[i].times;
	return 0;
}

/* Before a number, where strtol() skips it. */
static bool
is_signed(char c)
{
	return c != '\0' && strchr("+- \t\n\v\f\r", c) != NULL;
}

/* "4", "64kb". Some releases of Slurm take "+8", " 8" and "-8" for numbers, others for types: the
 * most. */
static bool
read_count(const char *field, const char *end, uint64_t *count)
{
	uint64_t number;

	if (field < end && is_signed(*field)) {
		*count = LT_ASK_MAX;
		return true;
	}
	if (!read_number(&field, &number))
		return false;

	const uint64_t unit = unit_of(field, (size_t)(end - field));

	*count = at_most(number * unit);
	return unit > 0;
}

/* Notes a GPU type. Several types, or one that is too long, become a type that no node has; each
 * further name counts as another, as the first ones are not known any more. */
static void
note_type(char *type, const char *name, size_t length)
{
	const size_t kinds = strspn(type, LT_GPU_TYPES);

	if (kinds > 0) {
		if (kinds + 1 < LT_GPU_NAME_SIZE)
			memcpy(type + kinds, LT_GPU_TYPES, sizeof(LT_GPU_TYPES));
		return;
	}
	if (length >= LT_GPU_NAME_SIZE ||
	    (type[0] != '\0' && (strncmp(type, name, length) != 0 || type[length] != '\0'))) {
		memcpy(type, LT_GPU_TYPES, sizeof(LT_GPU_TYPES));
		return;
	}
	memcpy(type, name, length);
	type[length] = '\0';
}

/* One item after its name: "", ":4", ":a100:4", ":a100", "=4(S:0-1)". */
static uint64_t
count_of_item(const char *item, const char *end, char *type)
{
	uint64_t count = 1;

	while (item < end && *item != '(') {
		const char *const field = ++item;
		uint64_t number;

		while (item < end && *item != ':' && *item != '=' && *item != '(')
			item++;
		/* Before a count a number is a type: "gpu:4090:1". */
		const bool is_last = item >= end || *item != ':';

		if ((is_last || type == NULL) && read_count(field, item, &number)) {
			count = number;
		} else if (type != NULL && item > field) {
			note_type(type, field, (size_t)(item - field));
		}
	}
	return count;
}

/* Behind the "gres:" or "gres/" that the item may begin with. */
static const char *
without_gres(const char *item, const char *end)
{
	return end - item >= 5 && (strncmp(item, "gres:", 5) == 0 || strncmp(item, "gres/", 5) == 0)
		   ? item + 5
		   : item;
}

uint32_t
lt_gres_count(const char *text, const char *name, char *type)
{
	const size_t name_length = strlen(name);
	uint64_t sum = 0;

	while (text != NULL && *text) {
		const char *const end = text + strcspn(text, ",;");
		const char *item = without_gres(text, end);

		if ((size_t)(end - item) >= name_length && strncmp(item, name, name_length) == 0) {
			item += name_length;
			/* Else another one, as gpumem. */
			if (item == end || *item == ':' || *item == '=' || *item == '(')
				sum = at_most(sum + count_of_item(item, end, type));
		}
		text = end + (*end != '\0');
	}
	return (uint32_t)sum;
}

const char *
lt_tres_unknown(const char *text, size_t *length)
{
	static const char *const known[] = {"cpu", "gpu", "shard", "mps"};

	while (text != NULL && *text) {
		const char *const end = text + strcspn(text, ",;");
		const char *const item = without_gres(text, end);
		bool is_known = end == item;

		*length = strcspn(item, ":=(,;");
		for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
			is_known |=
			    strlen(known[i]) == *length && strncmp(item, known[i], *length) == 0;
		if (!is_known)
			return item;
		text = end + (*end != '\0');
	}
	return NULL;
}

uint32_t
lt_gpu_kinds(const char *type)
{
	const size_t more = strspn(type, LT_GPU_TYPES);

	return more + 1 < LT_GPU_NAME_SIZE ? (uint32_t)more + 1 : LT_ASK_MAX;
}

uint32_t
lt_shards_count(const char *text)
{
	return lt_gres_count(text, "shard", NULL) + lt_gres_count(text, "mps", NULL);
}

uint32_t
lt_features_count(const char *text)
{
	const char *at = text != NULL ? strchr(text, '*') : NULL;
	uint64_t sum = 0;

	for (; at != NULL; at = strchr(at, '*')) {
		uint64_t count = 0;

		at++;
		if (is_signed(*at))
			count = LT_ASK_MAX;
		else
			(void)read_number(&at, &count);
		sum = at_most(sum + count);
	}
	return (uint32_t)sum;
}

/* True if a job id ends here; slurmctld shows it as "12(unfulfilled)". */
static bool
ends_job_id(char c)
{
	return c == '\0' || strchr(",?(", c) != NULL;
}

uint32_t
lt_expanded_job(const char *dependency)
{
	static const char word[] = "expand:";
	uint64_t job_id = 0;
	uint32_t count = 0;

	for (const char *at = dependency; at != NULL && *at; at++) {
		if (strncasecmp(at, word, sizeof(word) - 1) != 0)
			continue;
		const char *end = at + sizeof(word) - 1;

		/* Slurm may read some job's id from any other text. */
		if (!read_number(&end, &job_id) || job_id == 0 || !ends_job_id(*end))
			job_id = LT_ASK_MAX;
		if (count++ > 0) /* the last one decides, up to 24.11 */
			job_id = LT_ASK_MAX;
	}
	return (uint32_t)job_id;
}

/* "[1-2,5]": how many, and *text behind it. */
static uint64_t
count_of_range(const char **text)
{
	const char *at = *text + 1;
	uint64_t count = 0;

	while (*at && *at != ']') {
		uint64_t low, high;

		if (!read_number(&at, &low)) {
			at++;
			continue;
		}
		high = low;
		if (*at == '-') {
			at++;
			if (!read_number(&at, &high))
				high = LT_ASK_MAX;
		}
		count = at_most(count + (high >= low ? high - low + 1 : 1));
	}
	*text = at + (*at == ']');
	return count;
}

uint32_t
lt_hosts_count(const char *text)
{
	uint64_t sum = 0;

	while (text != NULL && *text) {
		uint64_t hosts = *text == ',' ? 0 : 1;

		while (*text && *text != ',') {
			if (*text == '[')
				hosts = at_most(hosts * count_of_range(&text));
			else
				text++;
		}
		text += *text == ',';
		sum = at_most(sum + hosts);
	}
	return (uint32_t)sum;
}
