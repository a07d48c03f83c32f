/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which rows of an invoice are taken: those with a tag, those of accounts.
 * Tags are an object in one column or, in AWS's older report, a column each.
 */
#include <string.h>

#include "cli.h"
#include "reconcile_row.h"

int
lt_invoice_only_parse(
    struct lt_invoice_filter *filter, const char *text, struct lt_error *err)
{
	static const char word[] = "tag:";
	const char *const key = text + sizeof(word) - 1;
	const char *const equals = strchr(text, '=');

	if (strncmp(text, word, sizeof(word) - 1) != 0 || equals == NULL ||
	    equals == key || !equals[1] ||
	    (size_t)(equals - key) >= sizeof(filter->key))
		return lt_fail(err, LT_EINPUT,
		    "--only: got \"%.80s\", want a tag and its value, such as tag:team=vision",
		    text);
	filter->only = text;
	snprintf(
	    filter->key, sizeof(filter->key), "%.*s", (int)(equals - key), key);
	filter->value = equals + 1;
	return LT_OK;
}

void
lt_invoice_filter_start(
    struct lt_invoice_parser *parser, const struct lt_invoice_filter *filter)
{
	struct lt_csv_column *const tags = &parser->columns[LT_FIELD_TAGS];

	parser->filter = filter;
	if (filter->accounts != NULL)
		parser->columns[LT_FIELD_ACCOUNT].required = true;
	else
		parser->columns[LT_FIELD_ACCOUNT].name = NULL;
	if (filter->only == NULL) {
		tags->name = NULL;
		return;
	}
	if (parser->format->has_tag_columns) {
		snprintf(parser->tag_column, sizeof(parser->tag_column),
		    "%s%s%s", tags->name,
		    strchr(filter->key, ':') != NULL ? "" : "user:",
		    filter->key);
		tags->name = parser->tag_column;
	}
	tags->required = true;
}

static bool
is_listed(const char *list, const char *account)
{
	const size_t length = strlen(account);

	for (const char *at = list; length > 0; at++) {
		const size_t one = strcspn(at, ",");

		if (one == length && strncmp(at, account, length) == 0)
			return true;
		at += one;
		if (*at == '\0')
			break;
	}
	return false;
}

/* The tag as it was named, or as AWS calls one of a user's. */
static bool
has_tag(const json_t *tags, const struct lt_invoice_filter *filter)
{
	static const char *const prefixes[] = {"", "user:", "user_"};

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
		char key[LT_TIE_TAG_SIZE + 8];

		snprintf(key, sizeof(key), "%s%s", prefixes[i], filter->key);
		if (strcmp(lt_json_text(tags, key, ""), filter->value) == 0)
			return true;
	}
	return false;
}

/* Into parser->tags_taken, of the tags that were read last. */
static int
read_tags(
    struct lt_invoice_parser *parser, const char *text, struct lt_error *err)
{
	char object[LT_CSV_CELL_SIZE + 2];

	if (strcmp(parser->tags, text) == 0)
		return LT_OK;
	/* Azure's older exports leave the braces away. */
	snprintf(object, sizeof(object), text[0] == '{' ? "%s" : "{%s}", text);
	json_t *const tags = json_loads(object, 0, NULL);

	if (!json_is_object(tags)) {
		json_decref(tags);
		lt_fail(err, LT_EINPUT,
		    "got \"%.40s\", want tags such as {\"team\": \"vision\"}",
		    text);
		return lt_invoice_in_column(parser, LT_FIELD_TAGS, err);
	}
	parser->tags_taken = has_tag(tags, parser->filter);
	strcpy(parser->tags, text);
	json_decref(tags);
	return LT_OK;
}

int
lt_invoice_filter_row(bool *taken, struct lt_invoice_parser *parser,
    const struct lt_csv_row *row, struct lt_error *err)
{
	const struct lt_invoice_filter *const filter = parser->filter;
	const char *const tags = lt_invoice_cell(row, LT_FIELD_TAGS);

	*taken =
	    filter->accounts == NULL ||
	    is_listed(filter->accounts, lt_invoice_name(row, LT_FIELD_ACCOUNT));
	if (!*taken || filter->only == NULL)
		return LT_OK;
	if (parser->format->has_tag_columns) {
		*taken = strcmp(lt_invoice_name(row, LT_FIELD_TAGS),
			     filter->value) == 0;
		return LT_OK;
	}
	if (tags[0] && read_tags(parser, tags, err))
		return err->code;
	*taken = tags[0] && parser->tags_taken;
	return LT_OK;
}
