/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A run as a row of RFC 4180 CSV with exact decimals. Absence is an empty
 * cell, never 0. Of a run's JSON only what it can have is read here, member by
 * member: jansson alone needs 7.5 microseconds for a row, this 2.
 */
#include <ctype.h>
#include <string.h>

#include "cli.h"
#include "report.h"
#include "run_lines.h"
#include "units.h"

/* In the order of lowtided's members, where they are found at once. */
static const struct lt_column columns[] = {
    {"job_id", "job_id", LT_COLUMN_ANY},
    {"array_job_id", "array_job_id", LT_COLUMN_ANY},
    {"array_task", "array_task", LT_COLUMN_ANY},
    {"user", "user", LT_COLUMN_ANY},
    {"account", "account", LT_COLUMN_ANY},
    {"partition", "partition", LT_COLUMN_ANY},
    {"submit", "submit", LT_COLUMN_ANY},
    {"start", "start", LT_COLUMN_ANY},
    {"end", "end", LT_COLUMN_ANY},
    {"nodes", "nodes", LT_COLUMN_ANY},
    {"share", "share", LT_COLUMN_ANY},
    {"cost", "money_micros", LT_COLUMN_MONEY},
    {"kg_co2e", "carbon_mg", LT_COLUMN_CARBON},
    {"energy_wh", "energy_wh", LT_COLUMN_ANY},
    {"without_lowtide", "base_micros", LT_COLUMN_MONEY},
    {"without_lowtide_kg_co2e", "base_mg", LT_COLUMN_CARBON},
    {"moved", "moved", LT_COLUMN_ANY},
    {"over_reason", "over_reason", LT_COLUMN_ANY},
    {"quality", "quality", LT_COLUMN_ANY},
    {"gpus", "gpus", LT_COLUMN_ANY},
    {"gpus_from", "gpus_from", LT_COLUMN_ANY},
    {"suspended_s", "suspended_s", LT_COLUMN_ANY},
};
enum { COLUMNS = sizeof(columns) / sizeof(columns[0]) };

struct token { /* of JSON: a string with its quotes, a number, a word */
	const char *at;
	size_t length; /* 0: not there */
};

void
lt_run_csv_head(FILE *out)
{
	for (int i = 0; i < COLUMNS; i++)
		fprintf(out, "%s%s", i > 0 ? "," : "", columns[i].header);
	fputs("\r\n", out);
}

/* Where the token that begins at at ends; NULL: none does. */
static const char *
token_end(const char *at, const char *end)
{
	if (at == end || *at != '"') {
		const char *const start = at;

		while (at < end && (isalnum((unsigned char)*at) || *at == '-' ||
				       *at == '+' || *at == '.'))
			at++;
		return at > start ? at : NULL;
	}
	for (at++; at < end && *at != '"'; at++)
		if (*at == '\\')
			at++;
	return at < end ? at + 1 : NULL;
}

/* The column of a key, most likely the one after the last; -1: not shown. */
static int
column_of(const char *key, size_t length, int last)
{
	for (int i = 1; i <= COLUMNS; i++) {
		const int column = (last + i) % COLUMNS;

		if (strncmp(columns[column].key, key, length) == 0 &&
		    columns[column].key[length] == '\0')
			return column;
	}
	return -1;
}

/* An object of scalars, without blanks, as lowtided writes it. */
static bool
read_run(struct token *tokens, const char *json, size_t length)
{
	const char *const end = json + length;
	int column = -1;

	for (const char *at = json;
	     at < end && *at == (at == json ? '{' : ',');) {
		const char *const key = at + 1;
		const char *const colon = token_end(key, end);

		if (colon == NULL || *key != '"' || colon == end ||
		    *colon != ':' || (at = token_end(colon + 1, end)) == NULL)
			return false;
		const int found =
		    column_of(key + 1, (size_t)(colon - key) - 2, column);

		if (found >= 0) {
			column = found;
			tokens[column] =
			    (struct token){colon + 1, (size_t)(at - colon) - 1};
		}
		if (at + 1 == end && *at == '}')
			return true;
	}
	return false;
}

static bool
is_word(const struct token *token, const char *word)
{
	return token->length == strlen(word) &&
	       memcmp(token->at, word, token->length) == 0;
}

static void
print_text(FILE *out, const struct token *token)
{
	char text[256];
	const size_t length = token->length - 2;

	if (length < sizeof(text) &&
	    memchr(token->at, '\\', token->length) == NULL) {
		memcpy(text, token->at + 1, length);
		text[length] = '\0';
		lt_csv_text(out, text);
		return;
	}
	json_t *const value =
	    json_loadb(token->at, token->length, JSON_DECODE_ANY, NULL);

	lt_csv_text(out, json_is_string(value) ? json_string_value(value) : "");
	json_decref(value);
}

static void
print_amount(FILE *out, const struct token *token, enum lt_column_kind kind)
{
	char digits[24];
	int64_t value;

	snprintf(digits, sizeof(digits), "%.*s", (int)token->length, token->at);
	if (token->length < sizeof(digits) &&
	    lt_int64_parse(digits, INT64_MIN, INT64_MAX, &value, NULL) == LT_OK)
		lt_csv_amount(out, kind, value);
}

static void
print_token(FILE *out, const struct token *token, enum lt_column_kind kind)
{
	if (token->length == 0 || is_word(token, "null"))
		return;
	if (kind != LT_COLUMN_ANY)
		print_amount(out, token, kind);
	else if (*token->at == '"')
		print_text(out, token);
	else if (is_word(token, "true"))
		fputs("yes", out);
	else if (is_word(token, "false"))
		fputs("no", out);
	else
		fwrite(token->at, 1, token->length, out);
}

int
lt_run_csv(FILE *out, const char *json, size_t length, bool has_money,
    struct lt_error *err)
{
	struct token tokens[COLUMNS] = {0};

	if (!read_run(tokens, json, length))
		return lt_fail(err, LT_EINPUT, "not a run: \"%.*s\"",
		    (int)(length < 40 ? length : 40), json);
	for (int i = 0; i < COLUMNS; i++) {
		if (i > 0)
			fputc(',', out);
		if (has_money || columns[i].kind != LT_COLUMN_MONEY)
			print_token(out, &tokens[i], columns[i].kind);
	}
	fputs("\r\n", out);
	return LT_OK;
}
