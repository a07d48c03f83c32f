/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The scalars of a policy file: one reader per type, called from the tables
 * of keys.c and of the other sections. Each reads its key's text within its
 * range into the object at the key's offset, or complains with the key's
 * `want` and writes nothing. Currencies are checked against ISO 4217, with a
 * hint at the code that may have been meant.
 */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <time.h>

#include "currency.h"
#include "reader.h"
#include "text.h"
#include "units.h"

/* ---- Currencies ---- */

bool
lt_currency_is(const char *code)
{
	return lt_currency_find(code) != NULL;
}

const char *
lt_currency_hint(char *out, size_t size, const char *code)
{
	const char *codes[LT_CURRENCIES_MAX + 1];
	int count;
	const struct lt_currency *const table = lt_currency_table(&count);

	for (int i = 0; i < count; i++)
		codes[i] = table[i].code;
	codes[count] = NULL;
	const char *const nearest = lt_nearest_word(code, codes);

	out[0] = '\0';
	if (nearest != NULL && strncasecmp(nearest, code, 2) == 0)
		(void)snprintf(out, size, "; did you mean %s?", nearest);
	return out;
}

/* ---- Scalars ---- */

#define ZONE_DIR "/usr/share/zoneinfo/"

static void *
target(const struct lt_key *key, void *object)
{
	return (char *)object + key->offset;
}

/* Complains unless node is a scalar. */
static const char *
take_text(struct lt_reader *reader, const struct lt_key *key, const yaml_node_t *node)
{
	const char *text = lt_scalar_peek(node);

	if (text == NULL)
		lt_unwanted(reader, key, node, "");
	return text;
}

/* ---- names ---- */

/* Slurm's names have no white space, comma, quotes or control characters. */
static bool
is_name(const char *text)
{
	for (const char *c = text; *c != '\0'; c++)
		if ((unsigned char)*c <= ' ' || strchr(",'\"\177", *c) != NULL)
			return false;
	return text[0] != '\0';
}

bool
lt_take_name(struct lt_reader *reader, const struct lt_key *key, const yaml_node_t *node, char *out,
    size_t size)
{
	const char *text = take_text(reader, key, node);

	if (text == NULL)
		return false;
	if (!is_name(text)) {
		lt_unwanted(reader, key, node, "");
		return false;
	}
	if (strlen(text) >= size) {
		lt_complain(reader, node, "%s: got a name of %zu bytes, want at most %zu",
		    key->name, strlen(text), size - 1);
		return false;
	}
	snprintf(out, size, "%s", text);
	return true;
}

void
lt_read_name(
    struct lt_reader *reader, const struct lt_key *key, const yaml_node_t *node, void *object)
{
	lt_take_name(reader, key, node, target(key, object), key->size);
}

void
lt_lower(char *text)
{
	for (char *c = text; *c != '\0'; c++)
		if (*c >= 'A' && *c <= 'Z')
			*c = (char)(*c - 'A' + 'a');
}

/* Accounts and QOS: Slurm keeps both in lower case. */
void
lt_read_account(
    struct lt_reader *reader, const struct lt_key *key, const yaml_node_t *node, void *object)
{
	char *name = target(key, object);

	lt_take_name(reader, key, node, name, key->size);
	lt_lower(name);
}

void
lt_read_currency(
    struct lt_reader *reader, const struct lt_key *key, const yaml_node_t *node, void *object)
{
	const char *text = take_text(reader, key, node);
	char hint[32];

	if (text == NULL)
		return;
	reader->has_currency |= object == reader->policy;
	if (!lt_currency_is(text)) {
		lt_unwanted(reader, key, node, lt_currency_hint(hint, sizeof(hint), text));
		return;
	}
	memcpy(target(key, object), text, 4);
}

static bool
is_zone(const char *name)
{
	char path[sizeof(ZONE_DIR) + 64], magic[4] = "";

	for (const char *c = name; *c != '\0'; c++)
		if (!isalnum((unsigned char)*c) && strchr("_+-/", *c) == NULL)
			return false; /* "." too: no way out of the folder */
	if (name[0] == '/' || strlen(name) >= 64)
		return false;
	snprintf(path, sizeof(path), ZONE_DIR "%s", name);
	struct stat status;
	if (stat(path, &status) != 0 || !S_ISREG(status.st_mode))
		return false;
	FILE *file = fopen(path, "re");
	if (file == NULL)
		return false;
	const bool is_ours = fread(magic, 1, sizeof(magic), file) == sizeof(magic) &&
			     memcmp(magic, "TZif", sizeof(magic)) == 0;
	fclose(file);
	return is_ours;
}

void
lt_read_timezone(
    struct lt_reader *reader, const struct lt_key *key, const yaml_node_t *node, void *object)
{
	const char *text = take_text(reader, key, node);

	if (text == NULL)
		return;
	if (!is_zone(text))
		lt_unwanted(reader, key, node, "");
	else
		snprintf(target(key, object), key->size, "%s", text);
}

void
lt_read_word(
    struct lt_reader *reader, const struct lt_key *key, const yaml_node_t *node, void *object)
{
	const char *text = take_text(reader, key, node);

	if (text == NULL)
		return;
	for (const struct lt_word *word = key->words; word->name != NULL; word++) {
		if (strcmp(word->name, text) == 0) {
			/* an enum: as wide as int */
			memcpy(target(key, object), &word->value, sizeof(int));
			return;
		}
	}
	lt_unwanted(reader, key, node, "");
}

void
lt_read_word_bits(
    struct lt_reader *reader, const struct lt_key *key, const yaml_node_t *node, void *object)
{
	const struct lt_key one = {.name = key->name, .want = key->want, .words = key->words};
	uint32_t *const bits = target(key, object);

	if (node->type != YAML_SEQUENCE_NODE) {
		lt_unwanted(reader, key, node, "");
		return;
	}
	for (const yaml_node_item_t *item = node->data.sequence.items.start;
	     item < node->data.sequence.items.top; item++) {
		int bit = -1;

		lt_read_word(reader, &one, yaml_document_get_node(reader->document, *item), &bit);
		if (bit >= 0)
			*bits |= 1u << bit;
	}
}

void
lt_read_bool(
    struct lt_reader *reader, const struct lt_key *key, const yaml_node_t *node, void *object)
{
	static const char *const words[][2] = {{"false", "true"}, {"no", "yes"}, {"off", "on"}};
	const char *text = take_text(reader, key, node);

	if (text == NULL)
		return;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		for (int value = 0; value < 2; value++) {
			if (strcasecmp(words[i][value], text) == 0) {
				*(bool *)target(key, object) = value == 1;
				return;
			}
		}
	}
	lt_unwanted(reader, key, node, "");
}

/* ---- numbers ---- */

/* A number in the key's range, or a complaint and false. */
static bool
take_double(
    struct lt_reader *reader, const struct lt_key *key, const yaml_node_t *node, double *value)
{
	const char *text = take_text(reader, key, node);

	if (text == NULL)
		return false;
	if (lt_double_parse(text, value, NULL) == LT_OK && *value >= key->min && *value <= key->max)
		return true;
	lt_unwanted(reader, key, node, "");
	return false;
}

/* The same as exact micros; percent: one "%" may follow. */
static bool
take_micros(struct lt_reader *reader, const struct lt_key *key, const yaml_node_t *node,
    bool percent, int64_t *micros)
{
	char digits[64];
	const char *text = take_text(reader, key, node);

	if (text == NULL)
		return false;
	snprintf(digits, sizeof(digits), "%s", text);
	const size_t length = strlen(digits);
	if (percent && length > 0 && digits[length - 1] == '%')
		digits[length - 1] = '\0';
	if (strlen(text) < sizeof(digits) && lt_micros_parse(digits, micros, NULL) == LT_OK &&
	    (double)*micros >= key->min * LT_MICROS && (double)*micros <= key->max * LT_MICROS)
		return true;
	lt_unwanted(reader, key, node, "");
	return false;
}

void
lt_read_duration(
    struct lt_reader *reader, const struct lt_key *key, const yaml_node_t *node, void *object)
{
	int64_t seconds;
	const char *text = take_text(reader, key, node);

	if (text == NULL)
		return;
	if (lt_duration_parse(text, &seconds, NULL) != LT_OK || (double)seconds < key->min ||
	    (double)seconds > key->max)
		lt_unwanted(reader, key, node, "");
	else
		*(int64_t *)target(key, object) = seconds;
}

/* Percent to parts per million; finer than that is cut. */
void
lt_read_ppm(
    struct lt_reader *reader, const struct lt_key *key, const yaml_node_t *node, void *object)
{
	int64_t micros;

	if (take_micros(reader, key, node, true, &micros))
		*(uint32_t *)target(key, object) = (uint32_t)(micros / 100);
}

void
lt_read_micros(
    struct lt_reader *reader, const struct lt_key *key, const yaml_node_t *node, void *object)
{
	int64_t micros;

	if (take_micros(reader, key, node, false, &micros))
		*(int64_t *)target(key, object) = micros;
}

void
lt_read_money_limit(
    struct lt_reader *reader, const struct lt_key *key, const yaml_node_t *node, void *object)
{
	struct lt_amount *limit = target(key, object);

	limit->has_money = take_micros(reader, key, node, false, &limit->money_micros);
}

/* Kilograms to milligrams: a millionth of the one is the other. */
void
lt_read_carbon_limit(
    struct lt_reader *reader, const struct lt_key *key, const yaml_node_t *node, void *object)
{
	struct lt_amount *limit = target(key, object);

	limit->has_carbon = take_micros(reader, key, node, false, &limit->carbon_mg);
}

void
lt_read_double(
    struct lt_reader *reader, const struct lt_key *key, const yaml_node_t *node, void *object)
{
	double value;

	if (take_double(reader, key, node, &value))
		*(double *)target(key, object) = value;
}

/* An integer in the key's range. */
static bool
take_integer(
    struct lt_reader *reader, const struct lt_key *key, const yaml_node_t *node, int64_t *value)
{
	const char *text = take_text(reader, key, node);

	if (text == NULL)
		return false;
	if (lt_int64_parse(text, (int64_t)key->min, (int64_t)key->max, value, NULL) == LT_OK)
		return true;
	lt_unwanted(reader, key, node, "");
	return false;
}

void
lt_read_path(
    struct lt_reader *reader, const struct lt_key *key, const yaml_node_t *node, void *object)
{
	const char *const text = lt_scalar_peek(node);

	if (text == NULL || text[0] != '/' || strlen(text) >= key->size)
		lt_unwanted(reader, key, node, "");
	else
		snprintf(target(key, object), key->size, "%s", text);
}

void
lt_read_port(
    struct lt_reader *reader, const struct lt_key *key, const yaml_node_t *node, void *object)
{
	int64_t value;

	if (take_integer(reader, key, node, &value))
		*(uint16_t *)target(key, object) = (uint16_t)value;
}

void
lt_read_u32(
    struct lt_reader *reader, const struct lt_key *key, const yaml_node_t *node, void *object)
{
	int64_t value;

	if (take_integer(reader, key, node, &value))
		*(uint32_t *)target(key, object) = (uint32_t)value;
}

void
lt_read_mebibytes(
    struct lt_reader *reader, const struct lt_key *key, const yaml_node_t *node, void *object)
{
	int64_t value;
	const char *text = take_text(reader, key, node);

	if (text == NULL)
		return;
	if (lt_mebibytes_parse(text, &value, NULL) != LT_OK || (double)value < key->min ||
	    (double)value > key->max)
		lt_unwanted(reader, key, node, "");
	else
		*(uint32_t *)target(key, object) = (uint32_t)value;
}

/* "8.0" to 80. */
void
lt_read_capability(
    struct lt_reader *reader, const struct lt_key *key, const yaml_node_t *node, void *object)
{
	double value;

	if (take_double(reader, key, node, &value))
		*(uint32_t *)target(key, object) = (uint32_t)lround(value * 10.0);
}

/* A list of whole percents. */
void
lt_read_percents(
    struct lt_reader *reader, const struct lt_key *key, const yaml_node_t *node, void *object)
{
	struct lt_policy_budget *budget = object;
	const struct lt_key percent = {.name = key->name,
	    .min = key->min,
	    .max = key->max,
	    .want = "a whole percent from 1 to 1000 such as 80"};

	if (node->type != YAML_SEQUENCE_NODE) {
		lt_unwanted(reader, key, node, "");
		return;
	}
	for (const yaml_node_item_t *item = node->data.sequence.items.start;
	     item < node->data.sequence.items.top; item++) {
		int64_t value;

		if (budget->alert_count == LT_ALERTS_MAX) {
			lt_complain(reader, node, "%s: got more than %d, the limit", key->name,
			    LT_ALERTS_MAX);
			return;
		}
		if (!take_integer(
			reader, &percent, yaml_document_get_node(reader->document, *item), &value))
			return;
		budget->alert_at[budget->alert_count++] = (int)value;
	}
}

/* "13 months" */
void
lt_read_months(
    struct lt_reader *reader, const struct lt_key *key, const yaml_node_t *node, void *object)
{
	char digits[16];
	int64_t value;
	const char *text = take_text(reader, key, node);

	if (text == NULL)
		return;
	const size_t length = strcspn(text, " ");
	snprintf(digits, sizeof(digits), "%.*s", (int)length, text);
	if ((strcmp(text + length, " months") == 0 || strcmp(text + length, " month") == 0) &&
	    lt_int64_parse(digits, (int64_t)key->min, (int64_t)key->max, &value, NULL) == LT_OK)
		*(uint32_t *)target(key, object) = (uint32_t)value;
	else
		lt_unwanted(reader, key, node, "");
}

/* Reads names of Unix groups; those of a directory may have blanks in them. */
void
lt_read_groups(
    struct lt_reader *reader, const struct lt_key *key, const yaml_node_t *node, void *object)
{
	struct lt_policy *policy = object;

	if (node->type != YAML_SEQUENCE_NODE) {
		lt_unwanted(reader, key, node, "");
		return;
	}
	for (const yaml_node_item_t *item = node->data.sequence.items.start;
	     item < node->data.sequence.items.top; item++) {
		const yaml_node_t *one = yaml_document_get_node(reader->document, *item);
		const char *text = take_text(reader, key, one);

		if (text == NULL)
			return;
		if (text[0] == '\0' || strlen(text) >= LT_NAME_SIZE ||
		    policy->viewer_count == LT_VIEWERS_MAX) {
			lt_complain(reader, one,
			    "%s: got \"%.80s\", want at most %d names of 1 to %d bytes", key->name,
			    text, LT_VIEWERS_MAX, LT_NAME_SIZE - 1);
			return;
		}
		snprintf(policy->viewers[policy->viewer_count++], LT_NAME_SIZE, "%s", text);
	}
}

/* ---- dates ---- */

/* Where midnight happens twice, mktime(3) may mean the second; where it never does, an hour of the
 * day before. */
static int64_t
midnight(struct tm *parts)
{
	const int day = parts->tm_mday;
	int64_t utc_s = (int64_t)mktime(parts);
	struct tm before;
	time_t at = (time_t)utc_s + LT_HOUR_S;

	if (parts->tm_hour > 12)
		utc_s = (int64_t)at;
	localtime_r(&at, parts);
	at = (time_t)utc_s - LT_HOUR_S;
	localtime_r(&at, &before);
	if (before.tm_mday == day)
		utc_s = (int64_t)at;
	return utc_s;
}

/*
 * mktime(3) knows only the process's zone, so TZ is set for the moment, and
 * only where it differs: a daemon that runs under its policy's zone never
 * has its environment touched.
 */
static int64_t
local_time(struct tm *parts, const char *zone)
{
	const char *now = getenv("TZ");

	if (zone[0] == '\0' || (now != NULL && strcmp(now, zone) == 0))
		return midnight(parts);
	char *before = now != NULL ? strdup(now) : NULL;
	if (now != NULL && before == NULL) {
		parts->tm_mday = 0; /* no memory: no such day */
		return 0;
	}
	setenv("TZ", zone, 1);
	tzset();
	const int64_t utc_s = midnight(parts);
	if (before != NULL)
		setenv("TZ", before, 1);
	else
		unsetenv("TZ");
	tzset();
	free(before);
	return utc_s;
}

bool
lt_date_utc_s(const char *text, const char *zone, int64_t *utc_s)
{
	int part[3];
	static const int width[3] = {4, 2, 2};
	const char *c = text;

	for (int i = 0; i < 3; i++) {
		part[i] = 0;
		for (int digit = 0; digit < width[i]; digit++, c++) {
			if (*c < '0' || *c > '9')
				return false;
			part[i] = part[i] * 10 + (*c - '0');
		}
		if (*c != (i < 2 ? '-' : '\0'))
			return false;
		c++;
	}
	if (part[0] < 1970 || part[0] > 2200)
		return false;
	struct tm wanted = {
	    .tm_year = part[0] - 1900, .tm_mon = part[1] - 1, .tm_mday = part[2], .tm_isdst = -1};
	*utc_s = local_time(&wanted, zone);
	/* mktime(3) turns 31 April into 1 May: such a day is not */
	return wanted.tm_mon == part[1] - 1 && wanted.tm_mday == part[2];
}
