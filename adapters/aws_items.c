/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Answers of the EC2 API, after http.c and before an adapter's items: a small
 * reader of XML without attributes, entities of its own or DTD. Not expat, as
 * in entsoe_xml.c: 100,000 prices (37 MB) must take less than 100 ms. Where
 * this reader and all that is done with them take 40 ms (bench_parse), expat
 * 2.5.0 takes 280 ms, without a handler.
 */
#include <stdio.h>
#include <string.h>

#include "aws.h"
#include "source.h"

enum { ROOT_DEPTH = 1, SET_DEPTH, ITEM_DEPTH, FIELD_DEPTH };

struct reader {
	const struct lt_aws_items *items;
	void *context;
	const char *begin, *at, *end;
	int depth;
	struct lt_aws_text open[LT_AWS_DEPTH_MAX]; /* local and whole names */
	size_t prefix[LT_AWS_DEPTH_MAX];
	bool seen_root, in_set;
	/* The element whose text is wanted, and where that text begins. */
	struct lt_aws_text *field;
	const char *text;
	struct lt_aws_text texts[LT_AWS_FIELDS_MAX], next;
};

bool
lt_aws_text_is(const struct lt_aws_text *text, const char *wanted)
{
	return text->at != NULL && strlen(wanted) == text->length &&
	       memcmp(text->at, wanted, text->length) == 0;
}

/* The character that the entity at `at` stands for, and its length; an
 * unknown one stays as it is. */
static char
entity(const char *at, size_t length, size_t *used)
{
	static const struct {
		const char *name;
		size_t length;
		char character;
	} entities[] = {
	    {"&amp;", 5, '&'},
	    {"&lt;", 4, '<'},
	    {"&gt;", 4, '>'},
	    {"&quot;", 6, '"'},
	    {"&apos;", 6, '\''},
	};

	for (size_t i = 0; i < sizeof(entities) / sizeof(entities[0]); i++)
		if (length >= entities[i].length &&
		    memcmp(at, entities[i].name, entities[i].length) == 0) {
			*used = entities[i].length;
			return entities[i].character;
		}
	*used = 1;
	return *at;
}

bool
lt_aws_text_copy(char *out, size_t size, const struct lt_aws_text *text)
{
	size_t length = 0, used = 1;

	for (size_t i = 0; text->at != NULL && i < text->length; i += used) {
		if (length + 1 >= size) {
			out[0] = '\0';
			return false;
		}
		used = 1;
		out[length++] =
		    text->at[i] != '&'
			? text->at[i]
			: entity(text->at + i, text->length - i, &used);
	}
	out[length] = '\0';
	return text->at != NULL;
}

static int
refuse(const struct reader *reader, const char *at, const char *what,
    struct lt_error *err)
{
	int line = 1, column = 1;

	for (const char *byte = reader->begin; byte < at; byte++) {
		column = *byte == '\n' ? 1 : column + 1;
		line += *byte == '\n';
	}
	lt_fail(err, LT_EINPUT, "%s", what);
	lt_error_at(err, line, column);
	return LT_EINPUT;
}

static bool
is_blank(const char *at, const char *end)
{
	while (at < end && (*at == ' ' || (*at >= '\t' && *at <= '\r')))
		at++;
	return at == end;
}

/* Is the element that was opened last one whose text is wanted? */
static struct lt_aws_text *
wanted_field(struct reader *reader, const struct lt_aws_text *name)
{
	if (reader->depth == SET_DEPTH)
		return lt_aws_text_is(name, "nextToken") ? &reader->next : NULL;
	if (reader->depth != FIELD_DEPTH || !reader->in_set)
		return NULL;
	for (int i = 0; i < LT_AWS_FIELDS_MAX; i++)
		if (reader->items->fields[i] != NULL &&
		    lt_aws_text_is(name, reader->items->fields[i]))
			return &reader->texts[i];
	return NULL;
}

static int
open_element(struct reader *reader, const char *begin, const char *end,
    struct lt_error *err)
{
	const char *const colon = memchr(begin, ':', (size_t)(end - begin));
	const char *const local = colon == NULL ? begin : colon + 1;
	const struct lt_aws_text name = {local, (size_t)(end - local)};

	if (name.length == 0)
		return refuse(reader, begin, "an element without name", err);
	if (reader->field != NULL)
		return refuse(reader, begin, "elements where text is", err);
	if (reader->depth == LT_AWS_DEPTH_MAX)
		return refuse(reader, begin, "too many levels of XML", err);
	if (reader->depth == 0 && reader->seen_root)
		return refuse(reader, begin, "a second root element", err);
	reader->prefix[reader->depth] = (size_t)(local - begin);
	reader->open[reader->depth++] = name;
	reader->seen_root = true;
	if (reader->depth == ROOT_DEPTH &&
	    !lt_aws_text_is(&name, reader->items->root)) {
		char words[LT_AWS_TEXT_SIZE];

		snprintf(words, sizeof(words), "XML of <%.*s>, want <%s>",
		    (int)(name.length < 40 ? name.length : 40), name.at,
		    reader->items->root);
		return refuse(reader, begin, words, err);
	}
	if (reader->depth == SET_DEPTH)
		reader->in_set = lt_aws_text_is(&name, reader->items->set);
	if (reader->depth == ITEM_DEPTH)
		memset(reader->texts, 0, sizeof(reader->texts));
	reader->field = wanted_field(reader, &name);
	return LT_OK;
}

/* text_end: where the tag that closes begins. */
static int
close_element(struct reader *reader, const char *text_end, struct lt_error *err)
{
	if (reader->field != NULL)
		*reader->field = (struct lt_aws_text){
		    reader->text, (size_t)(text_end - reader->text)};
	reader->field = NULL;
	if (reader->depth-- != ITEM_DEPTH || !reader->in_set)
		return LT_OK;
	return reader->items->take(reader->context, reader->texts, err);
}

/* "</name>": the name of the one that is open. */
static int
end_tag(struct reader *reader, const char *tag, struct lt_error *err)
{
	const char *const name = tag + 2;
	const char *const close =
	    memchr(name, '>', (size_t)(reader->end - name));

	if (close == NULL)
		return refuse(reader, tag, "cut off within a tag", err);
	if (reader->depth == 0)
		return refuse(reader, tag, "an end without a start", err);
	const struct lt_aws_text *const open = &reader->open[reader->depth - 1];
	const size_t prefix = reader->prefix[reader->depth - 1];
	const size_t length = prefix + open->length;
	if ((size_t)(close - name) < length ||
	    memcmp(name, open->at - prefix, length) != 0 ||
	    !is_blank(name + length, close))
		return refuse(reader, tag, "the end of another element", err);
	reader->at = close + 1;
	return close_element(reader, tag, err);
}

/* Attributes are passed over; ">" may stand within their quotes. */
static const char *
tag_end(const char *at, const char *end)
{
	char quote = '\0';

	for (; at < end; at++) {
		if (quote != '\0')
			quote = *at == quote ? '\0' : quote;
		else if (*at == '"' || *at == '\'')
			quote = *at;
		else if (*at == '>')
			return at;
	}
	return NULL;
}

static int
start_tag(struct reader *reader, const char *tag, struct lt_error *err)
{
	const char *name_end = tag + 1;

	while (name_end < reader->end && *name_end != '>' && *name_end != '/' &&
	       (unsigned char)*name_end > ' ')
		name_end++;
	const char *const close = tag_end(name_end, reader->end);
	if (close == NULL)
		return refuse(reader, tag, "cut off within a tag", err);
	const int code = open_element(reader, tag + 1, name_end, err);
	if (code != LT_OK)
		return code;
	reader->at = reader->text = close + 1;
	return close[-1] == '/' ? close_element(reader, close + 1, err) : LT_OK;
}

/* <?xml ...?> and comments. Nothing else that begins so is ever sent. */
static int
pass_over(struct reader *reader, const char *tag, struct lt_error *err)
{
	const size_t left = (size_t)(reader->end - tag);
	const bool comment = left >= 4 && memcmp(tag, "<!--", 4) == 0;
	const char *const mark = comment ? "-->" : "?>";

	if (tag[1] == '!' && !comment)
		return refuse(reader, tag, "a DTD or CDATA, want neither", err);
	if (reader->field != NULL)
		return refuse(reader, tag, "a comment where text is", err);
	const char *const close = memmem(tag + 2, left - 2, mark, strlen(mark));
	if (close == NULL)
		return refuse(reader, tag, "cut off within a comment", err);
	reader->at = close + strlen(mark);
	return LT_OK;
}

static int
step(struct reader *reader, struct lt_error *err)
{
	const char *const tag =
	    memchr(reader->at, '<', (size_t)(reader->end - reader->at));
	const char *const text_end = tag == NULL ? reader->end : tag;

	if (reader->depth == 0 && !is_blank(reader->at, text_end))
		return refuse(reader, reader->at, "not XML", err);
	if (tag == NULL || tag + 1 == reader->end) {
		if (tag != NULL)
			return refuse(reader, tag, "cut off", err);
		reader->at = reader->end;
		return LT_OK;
	}
	if (tag[1] == '/')
		return end_tag(reader, tag, err);
	if (tag[1] == '?' || tag[1] == '!')
		return pass_over(reader, tag, err);
	return start_tag(reader, tag, err);
}

int
lt_aws_items_read(const struct lt_aws_items *items, void *context,
    struct lt_aws_page *page, struct lt_error *err)
{
	const char *const bytes = page->bytes;
	const size_t byte_count = page->byte_count;

	if (byte_count == 0)
		return lt_fail(err, LT_EINPUT, "empty, want XML");
	struct reader reader = {.items = items,
	    .context = context,
	    .begin = bytes,
	    .at = bytes,
	    .end = bytes + byte_count};
	int code = LT_OK;

	if (byte_count >= 3 && memcmp(bytes, "\xEF\xBB\xBF", 3) == 0)
		reader.at = reader.begin += 3;
	if (memchr(bytes, '\0', byte_count) != NULL)
		return lt_fail(err, LT_EINPUT, "not XML in UTF-8: a NUL byte");
	while (code == LT_OK && reader.at < reader.end)
		code = step(&reader, err);
	if (code == LT_OK && reader.depth > 0)
		code = refuse(&reader, reader.end, "cut off", err);
	if (code == LT_OK && !reader.seen_root)
		code = lt_fail(err, LT_EINPUT, "empty, want XML");
	if (code == LT_OK)
		page->next = reader.next;
	return code;
}
