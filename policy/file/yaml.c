/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Walks a YAML document by tables of keys, and words every complaint: where
 * it is, what stands there, what is wanted. For text that libyaml can't read
 * it finds the line that is to be changed, which is often before the one
 * where libyaml noticed. Between policy.c and values.c.
 *
 * Reads a text or a document, writes complaints into the reader's errors;
 * once these are full, reading stops.
 */
#include <ctype.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reader.h"
#include "text.h"

/* ---- Errors of libyaml ---- */

struct yaml_error {
	size_t line, column; /* from 1 */
	char text[192];
};

struct line {
	const char *text;
	size_t length; /* without comment and white space at its end */
	size_t indent;
};

struct quoting {
	char quote; /* that is open; '\0': none */
	char before;
	bool escaped;
};
static const struct quoting begins_line = {.before = '['};

static void
pass_char(struct quoting *quoting, char c)
{
	/* Where a value begins: an apostrophe in a text begins none. */
	const bool begins = strchr("[{,:-", quoting->before) != NULL;

	if (quoting->escaped)
		quoting->escaped = false;
	else if (quoting->quote == '"' && c == '\\')
		quoting->escaped = true;
	else if (quoting->quote != '\0')
		quoting->quote = c == quoting->quote ? '\0' : quoting->quote;
	else if ((c == '"' || c == '\'') && begins)
		quoting->quote = c;
	if (!isspace((unsigned char)c))
		quoting->before = c;
}

/* True if a comment begins here, in a text that begins at from. */
static bool
is_comment(const struct quoting *quoting, const char *at, const char *from)
{
	return *at == '#' && quoting->quote == '\0' &&
	       (at == from || isspace((unsigned char)at[-1]));
}

/* The one that begins at *at, which is the next one's beginning then; an empty one at the end. */
static struct line
next_line(const char **at, const char *end)
{
	struct line line = {.text = *at};
	const char *const next = *at < end ? memchr(*at, '\n', (size_t)(end - *at)) : NULL;
	const char *const stop = next != NULL ? next : end;
	struct quoting quoting = begins_line;

	*at = next != NULL ? next + 1 : end;
	while (line.text + line.length < stop &&
	       !is_comment(&quoting, line.text + line.length, line.text))
		pass_char(&quoting, line.text[line.length++]);
	while (line.length > 0 && isspace((unsigned char)line.text[line.length - 1]))
		line.length--;
	while (line.indent < line.length && line.text[line.indent] == ' ')
		line.indent++;
	return line;
}

/* From 0. */
static struct line
line_of(const char *text, size_t length, size_t number)
{
	const char *const end = text + length;
	const char *at = text;

	while (number-- > 0 && at < end) {
		const char *const next = memchr(at, '\n', (size_t)(end - at));

		at = next != NULL ? next + 1 : end;
	}
	return next_line(&at, end);
}

/* "-value" */
static bool
tight_dash(const struct line *line)
{
	return line->length > line->indent + 1 && line->text[line->indent] == '-' &&
	       line->text[line->indent + 1] != ' ';
}

/* True if that may stand behind a quote's end. */
static bool
ends_value(const char *at, const char *end)
{
	while (at < end && (*at == ' ' || *at == '\r'))
		at++;
	return at == end || strchr("\n#,:]}", *at) != NULL;
}

/* Where a quote begins that is not ended in its line, nor in a later one as a text of many lines
 * is; up to the line where it noticed. NULL: none. */
static const char *
open_quote(const char *text, size_t length, size_t noticed)
{
	const char *const end = text + length;
	const char *from = NULL;
	struct quoting quoting = begins_line;
	bool is_long = false;

	for (const char *at = text; at < end; at++) {
		const char was = quoting.quote;

		if (is_comment(&quoting, at, text)) {
			const char *const next = memchr(at, '\n', (size_t)(end - at));

			if (next == NULL)
				break;
			at = next;
		}
		if (*at == '\n' && noticed-- == 0)
			break;
		if (*at == '\n' && was == '\0') {
			quoting = begins_line;
			continue;
		}
		is_long |= *at == '\n';
		pass_char(&quoting, *at);
		if (was == '\0' && quoting.quote != '\0') {
			from = at;
			is_long = false;
		} else if (was == '\'' && quoting.quote == '\0' && at + 1 < end && at[1] == was) {
			quoting.quote = was; /* '' is one of the text */
			at++;
		} else if (was != '\0' && quoting.quote == '\0' && is_long &&
			   !ends_value(at + 1, end)) {
			return from;
		}
	}
	return quoting.quote != '\0' ? from : NULL;
}

/* The ':' of "key:value"; false: none, or one with a space. */
static bool
tight_colon(const struct line *line, size_t *at)
{
	for (size_t i = line->indent; i + 1 < line->length; i++) {
		const char c = line->text[i];

		if (c == ':' && i > line->indent) {
			*at = i;
			return !isspace((unsigned char)line->text[i + 1]);
		}
		if (!isalnum((unsigned char)c) && strchr("_- .", c) == NULL)
			return false;
	}
	return false;
}

static void
set_error(struct yaml_error *error, size_t line, size_t column, const char *text)
{
	error->line = line + 1;
	error->column = column + 1;
	(void)snprintf(error->text, sizeof(error->text), "%s", text);
}

/* The innermost { or [ that is open at the line where it noticed; its line and column. '\0':
 * none. */
static char
open_bracket(size_t *number, size_t *column, size_t noticed, const char *text, size_t length)
{
	enum { DEPTH = 64 };
	struct {
		size_t line, column;
		char what;
	} open[DEPTH];
	const char *next = text;
	size_t depth = 0;

	for (size_t i = 0; i <= noticed; i++) {
		const struct line line = next_line(&next, text + length);
		struct quoting quoting = begins_line;

		for (size_t k = 0; k < line.length; k++) {
			const char c = line.text[k];

			pass_char(&quoting, c);
			if (quoting.quote != '\0')
				continue;
			if ((c == '{' || c == '[') && depth < DEPTH) {
				open[depth].line = i;
				open[depth].column = k;
				open[depth++].what = c;
			} else if ((c == '}' || c == ']') && depth > 0) {
				depth--;
			}
		}
	}
	if (depth == 0)
		return '\0';
	*number = open[depth - 1].line;
	*column = open[depth - 1].column;
	return open[depth - 1].what;
}

static bool
explain_flow(struct yaml_error *error, const yaml_mark_t *at, const char *text, size_t length)
{
	size_t number = 0, column = 0;
	const char what = open_bracket(&number, &column, at->line, text, length);

	if (what == '\0' || number == at->line)
		return false;
	set_error(error, number, column,
	    what == '{' ? "the { that begins here is not closed by }"
			: "the [ that begins here is not closed by ]");
	return true;
}

static bool
has_value(const struct line *line)
{
	return line->length > 0 && line->text[line->length - 1] != ':';
}

static bool
explain_quote(struct yaml_error *error, size_t noticed, const char *text, size_t length)
{
	const char *const from = open_quote(text, length, noticed);
	const char *line = text;
	size_t number = 0;

	if (from == NULL)
		return false;
	for (const char *at = text; at < from; at++)
		if (*at == '\n') {
			line = at + 1;
			number++;
		}
	set_error(error, number, (size_t)(from - line),
	    *from == '"' ? "the quote \" that begins here is not closed in its line"
			 : "the quote ' that begins here is not closed in its line");
	return true;
}

/* "a: 1 b: 2", "key:value", "-value", or deeper than its line allows. */
static bool
explain_value(struct yaml_error *error, size_t noticed, const char *text, size_t length)
{
	/* The last two before it that are not empty. */
	struct line line = {.text = text}, before = line, other = line;
	const char *next = text;
	size_t number = 0, at = 0;

	for (size_t i = 0; i <= noticed; i++) {
		if (line.length > 0) {
			other = before;
			before = line;
			number = i - 1;
		}
		line = next_line(&next, text + length);
	}
	if (before.length > 0 && tight_colon(&before, &at)) {
		set_error(error, number, at, "want a space after ':'");
		return true;
	}
	if (tight_dash(&line)) {
		set_error(error, noticed, line.indent, "want a space after '-'");
		return true;
	}
	if (tight_colon(&line, &at)) {
		set_error(error, noticed, at, "want a space after ':'");
		return true;
	}
	/* As deep as the line before that: the one between is wrong. */
	if (line.indent > before.indent && has_value(&before) && other.length > 0 &&
	    other.indent == line.indent) {
		set_error(error, number, before.indent,
		    "wrong indentation: the lines around it are deeper");
		return true;
	}
	if (line.indent > before.indent && has_value(&before)) {
		set_error(error, noticed, line.indent,
		    "wrong indentation: deeper than the line before, whose key has a value");
		return true;
	}
	return false;
}

static void
explain_key(struct yaml_error *error, const yaml_mark_t *key, const char *text, size_t length)
{
	const struct line line = line_of(text, length, key->line);
	size_t at = 0;

	if (tight_colon(&line, &at))
		set_error(error, key->line, at, "want a space after ':'");
	else if (tight_dash(&line))
		set_error(error, key->line, line.indent, "want a space after '-'");
	else
		set_error(error, key->line, key->column, "want ':' after this");
}

/* Explains a scanner's or parser's error in words of the file. text: what the parser failed on. */
static void
explain_syntax_error(
    struct yaml_error *error, const yaml_parser_t *parser, const char *text, size_t length)
{
	const char *const problem = parser->problem != NULL ? parser->problem : "can't parse";
	const char *const context = parser->context != NULL ? parser->context : "";
	const yaml_mark_t *const at = &parser->problem_mark;
	const yaml_mark_t *const from = &parser->context_mark;
	/* The mark counts characters, not bytes: libyaml's own buffer says what stands there. */
	const bool is_tab = parser->buffer.pointer != NULL &&
			    parser->buffer.pointer < parser->buffer.last &&
			    *parser->buffer.pointer == '\t';

	if (is_tab)
		set_error(error, at->line, at->column, "a tab: indent with spaces");
	else if (explain_quote(error, at->line, text, length))
		;
	else if (strstr(context, "simple key") != NULL)
		explain_key(error, from, text, length);
	else if (strstr(context, "flow ") != NULL && explain_flow(error, at, text, length))
		;
	else if (strstr(context, "flow ") != NULL)
		set_error(error, at->line, at->column,
		    strstr(context, "flow mapping") != NULL ? "want ',' or '}' here"
							    : "want ',' or ']' here");
	else if (strstr(problem, "mapping values") != NULL &&
		 explain_value(error, at->line, text, length))
		;
	else if (strstr(problem, "mapping values") != NULL)
		set_error(error, at->line, at->column,
		    "a second ':' in this line: put text that has one into quotes");
	else if (strstr(context, "block ") != NULL)
		set_error(
		    error, at->line, at->column, "wrong indentation: as deep as no line before it");
	else if (strstr(problem, "cannot start any token") != NULL)
		set_error(error, at->line, at->column,
		    "no value begins with this character: put it into quotes");
	else {
		set_error(error, at->line, at->column, "");
		(void)snprintf(error->text, sizeof(error->text), "YAML: %s%s%s", problem,
		    context[0] ? " " : "", context);
	}
}

/* ---- Reading by tables of keys ---- */

enum { SHOWN_MAX = 60, NAME_SHOWN_MAX = 200, DEPTH_MAX = 16 };

bool
lt_errors_full(const struct lt_reader *reader)
{
	return reader->errors->count >= LT_POLICY_ERRORS_MAX;
}

static void complain_at(struct lt_reader *reader, size_t line, size_t column, const char *format,
    va_list arguments) __attribute__((format(printf, 4, 0)));

static void
complain_at(
    struct lt_reader *reader, size_t line, size_t column, const char *format, va_list arguments)
{
	if (lt_errors_full(reader))
		return;
	struct lt_error *err = &reader->errors->items[reader->errors->count++];
	/* A long path would push the message out: its end says most. */
	const char *name = reader->name;
	const size_t length = strlen(name);
	if (length > NAME_SHOWN_MAX)
		name += length - NAME_SHOWN_MAX;
	char text[LT_ERROR_TEXT_SIZE];
	vsnprintf(text, sizeof(text), format, arguments);
	lt_fail(err, LT_EINPUT, "%s:%zu:%zu: %s", name, line, column, text);
	err->line = (int)line;
	err->column = (int)column;
}

void
lt_complain(struct lt_reader *reader, const yaml_node_t *at, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	complain_at(reader, at != NULL ? at->start_mark.line + 1 : 1,
	    at != NULL ? at->start_mark.column + 1 : 1, format, arguments);
	va_end(arguments);
}

static void complain_place(struct lt_reader *reader, size_t line, size_t column, const char *format,
    ...) __attribute__((format(printf, 4, 5)));

static void
complain_place(struct lt_reader *reader, size_t line, size_t column, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	complain_at(reader, line, column, format, arguments);
	va_end(arguments);
}

/* Text of the file for a terminal: short, and no control characters. */
static void
show_scalar(char *out, size_t size, const unsigned char *text, size_t length)
{
	size_t used = 0;
	size_t end = length;

	if (end > SHOWN_MAX) {
		end = SHOWN_MAX;
		while (end > 0 && (text[end] & 0xc0) == 0x80)
			end--; /* not within a UTF-8 character */
	}
	for (size_t i = 0; i < end && used + 5 < size; i++)
		out[used++] = (char)(text[i] < 0x20 || text[i] == 0x7f ? '?' : text[i]);
	out[used] = '\0';
	if (end < length)
		strcat(out, "...");
}

bool
lt_is_nothing(const yaml_node_t *node)
{
	if (node->type != YAML_SCALAR_NODE || node->data.scalar.style != YAML_PLAIN_SCALAR_STYLE)
		return false;
	const char *text = (const char *)node->data.scalar.value;
	return text[0] == '\0' || strcmp(text, "~") == 0 || strcasecmp(text, "null") == 0;
}

const char *
lt_scalar_peek(const yaml_node_t *node)
{
	if (node->type != YAML_SCALAR_NODE || lt_is_nothing(node))
		return NULL;
	const char *text = (const char *)node->data.scalar.value;
	if (strlen(text) != node->data.scalar.length)
		return NULL; /* "\0" inside */
	return text;
}

const char *
lt_number_hint(char *out, size_t size, const char *text)
{
	char digits[32];
	size_t used = 0, behind = 0; /* the last comma */
	bool has_comma = false, has_point = false, has_sign = false;

	out[0] = '\0';
	/* A sign as "$", or of several bytes. */
	while (*text == '$' || (unsigned char)*text >= 0x80) {
		text++;
		has_sign = true;
	}
	for (; *text != '\0' && used + 2 < sizeof(digits); text++) {
		if (isdigit((unsigned char)*text)) {
			digits[used++] = *text;
			behind++;
		} else if (*text == '.' && !has_point) {
			digits[used++] = *text;
			has_point = true;
		} else if (*text == ',' && !has_point) {
			if (has_comma && behind != 3)
				return out;
			has_comma = true;
			behind = 0;
		} else {
			return out;
		}
	}
	if (*text != '\0' || used == 0 || (!has_comma && !has_sign))
		return out;
	digits[used] = '\0';
	/* As in 0,215 and ,5. */
	if (has_comma && !has_point && (behind != 3 || digits[0] == '0' || behind == used)) {
		memmove(digits + used - behind + 1, digits + used - behind, behind + 1);
		digits[used - behind] = '.';
	}
	(void)snprintf(out, size, "; write %s%s", digits[0] == '.' ? "0" : "", digits);
	return out;
}

void
lt_unwanted(
    struct lt_reader *reader, const struct lt_key *key, const yaml_node_t *node, const char *suffix)
{
	char shown[SHOWN_MAX + 8], got[SHOWN_MAX + 16], hint[48];
	const char *const text = lt_scalar_peek(node);

	if (text != NULL && suffix[0] == '\0')
		suffix = lt_number_hint(hint, sizeof(hint), text);
	if (node->type == YAML_MAPPING_NODE) {
		snprintf(got, sizeof(got), "a mapping");
	} else if (node->type == YAML_SEQUENCE_NODE) {
		snprintf(got, sizeof(got), "a list");
	} else if (lt_is_nothing(node)) {
		snprintf(got, sizeof(got), "nothing");
	} else {
		show_scalar(
		    shown, sizeof(shown), node->data.scalar.value, node->data.scalar.length);
		snprintf(got, sizeof(got), "\"%s\"", shown);
	}
	lt_complain(reader, node, "%s: got %s, want %s%s", key->name, got, key->want, suffix);
}

/* ---- the document ---- */

/* Line and column of a byte that is not UTF-8: libyaml gives its offset. */
static void
complain_encoding(
    struct lt_reader *reader, const yaml_parser_t *parser, const char *text, size_t length)
{
	size_t line = 1, column = 1;

	for (size_t i = 0; i < length && i < parser->problem_offset; i++) {
		if (text[i] == '\n') {
			line++;
			column = 1;
		} else {
			column++;
		}
	}
	complain_place(reader, line, column, "%s (byte 0x%02x), want UTF-8 text", parser->problem,
	    (unsigned int)parser->problem_value & 0xff);
}

static void
complain_yaml(
    struct lt_reader *reader, const yaml_parser_t *parser, const char *text, size_t length)
{
	if (parser->error == YAML_MEMORY_ERROR) {
		complain_place(reader, 1, 1, "out of memory");
		return;
	}
	if (parser->error == YAML_READER_ERROR) {
		complain_encoding(reader, parser, text, length);
		return;
	}
	struct yaml_error error;

	explain_syntax_error(&error, parser, text, length);
	complain_place(reader, error.line, error.column, "%s", error.text);
}

static bool
parser_open(struct lt_reader *reader, yaml_parser_t *parser, const char *text, size_t length)
{
	if (!yaml_parser_initialize(parser)) {
		complain_place(reader, 1, 1, "out of memory");
		return false;
	}
	yaml_parser_set_input_string(parser, (const unsigned char *)text, length);
	return true;
}

/* libyaml's time grows by the square of the depth, so tokens are counted before it builds
 * anything. */
static bool
check_depth(struct lt_reader *reader, const char *text, size_t length)
{
	yaml_parser_t parser;

	if (!parser_open(reader, &parser, text, length))
		return false;
	int depth = 0;
	bool ok = true, more = true;
	while (ok && more) {
		yaml_token_t token;

		if (!yaml_parser_scan(&parser, &token)) {
			complain_yaml(reader, &parser, text, length);
			ok = false;
			break;
		}
		const yaml_token_type_t type = token.type;
		if (type == YAML_BLOCK_SEQUENCE_START_TOKEN ||
		    type == YAML_BLOCK_MAPPING_START_TOKEN ||
		    type == YAML_FLOW_SEQUENCE_START_TOKEN || type == YAML_FLOW_MAPPING_START_TOKEN)
			depth++;
		else if (type == YAML_BLOCK_END_TOKEN || type == YAML_FLOW_SEQUENCE_END_TOKEN ||
			 type == YAML_FLOW_MAPPING_END_TOKEN)
			depth--;
		if (depth > DEPTH_MAX) {
			complain_place(reader, token.start_mark.line + 1,
			    token.start_mark.column + 1, "YAML: nested deeper than %d levels",
			    DEPTH_MAX);
			ok = false;
		}
		more = type != YAML_STREAM_END_TOKEN;
		yaml_token_delete(&token);
	}
	yaml_parser_delete(&parser);
	return ok;
}

bool
lt_yaml_load(struct lt_reader *reader, yaml_document_t *document, const char *text, size_t length)
{
	yaml_parser_t parser;

	if (!check_depth(reader, text, length) || !parser_open(reader, &parser, text, length))
		return false;
	bool loaded = yaml_parser_load(&parser, document) != 0;
	if (!loaded) {
		complain_yaml(reader, &parser, text, length);
		yaml_parser_delete(&parser);
		return false;
	}
	yaml_document_t next;
	if (yaml_document_get_root_node(document) == NULL) {
		complain_place(reader, 1, 1,
		    "the file is empty, want keys such as partitions: (lowtide init writes a first one)");
		loaded = false;
	} else if (!yaml_parser_load(&parser, &next)) {
		complain_yaml(reader, &parser, text, length);
		loaded = false;
	} else {
		if (yaml_document_get_root_node(&next) != NULL) {
			complain_place(reader, next.start_mark.line + 1, next.start_mark.column + 1,
			    "got a second document (---), want one");
			loaded = false;
		}
		yaml_document_delete(&next);
	}
	yaml_parser_delete(&parser);
	if (!loaded)
		yaml_document_delete(document);
	return loaded;
}

/* ---- nearest word ---- */

void
lt_suggest(char *out, size_t size, const char *word, const char *const *names)
{
	enum { KNOWN_MAX = 265 };
	const char *const nearest = lt_nearest_word(word, names);
	size_t used = 0;

	out[0] = '\0';
	if (nearest != NULL) {
		snprintf(out, size, "; did you mean %s?", nearest);
		return;
	}
	for (; *names != NULL && used + strlen(*names) + 8 < KNOWN_MAX; names++)
		used += (size_t)snprintf(
		    out + used, size - used, "%s%s", used > 0 ? ", " : "; known: ", *names);
	if (*names != NULL && used > 0)
		snprintf(out + used, size - used, ", ...");
}

/* ---- mappings ---- */

static void
complain_key(struct lt_reader *reader, const struct lt_key *keys, const yaml_node_t *node)
{
	if (node->type != YAML_SCALAR_NODE) {
		lt_complain(reader, node, "got a %s as a key, want a name",
		    node->type == YAML_MAPPING_NODE ? "mapping" : "list");
		return;
	}
	const char *names[LT_KEYS_MAX + 1];
	char shown[SHOWN_MAX + 8], hint[384];
	int count = 0;
	show_scalar(shown, sizeof(shown), node->data.scalar.value, node->data.scalar.length);
	for (; keys[count].name != NULL; count++)
		names[count] = keys[count].name;
	names[count] = NULL;
	lt_suggest(hint, sizeof(hint), shown, names);
	if (strncmp(hint, "; known", strlen("; known")) == 0) {
		if (reader->keys_told == keys)
			hint[0] = '\0'; /* the list once */
		reader->keys_told = keys;
	}
	lt_complain(reader, node, "%s: unknown key%s", shown, hint);
}

/* Text of a number's digits, or NULL. */
static const char *
digits_of(const struct lt_reader *reader, int index)
{
	const char *const text = lt_scalar_peek(yaml_document_get_node(reader->document, index));

	return text != NULL && strlen(text) <= 15 && strspn(text, "0123456789.") == strlen(text)
		   ? text
		   : NULL;
}

/* "amount: 10,000" in {}: the comma made a key of 000. How many keys are such parts of one number,
 * from this one on; 0: none. */
static int
complain_comma(struct lt_reader *reader, const yaml_node_t *mapping, const yaml_node_pair_t *pair)
{
	if (pair == mapping->data.mapping.pairs.start)
		return 0;
	const yaml_node_t *const key = yaml_document_get_node(reader->document, pair[-1].key);
	const char *const begins = digits_of(reader, pair[-1].value);
	char got[SHOWN_MAX], hint[48], shown[SHOWN_MAX + 8];
	struct lt_text text = {.out = got, .size = sizeof(got)};
	int parts = 0;

	if (begins == NULL || lt_scalar_peek(key) == NULL)
		return 0;
	lt_text_put(&text, "%s", begins);
	for (; pair + parts < mapping->data.mapping.pairs.top; parts++) {
		const char *const part = digits_of(reader, pair[parts].key);

		if (part == NULL ||
		    !lt_is_nothing(yaml_document_get_node(reader->document, pair[parts].value)))
			break;
		lt_text_put(&text, ",%s", part);
	}
	if (parts == 0)
		return 0;
	show_scalar(shown, sizeof(shown), key->data.scalar.value, key->data.scalar.length);
	lt_complain(reader, yaml_document_get_node(reader->document, pair[-1].value),
	    "%s: got \"%s\"%s", shown, got,
	    lt_number_hint(hint, sizeof(hint), got)[0] != '\0' ? hint
							       : "; want a number without commas");
	return parts;
}

/* Index in keys, or -1. */
static int
find_key(const struct lt_key *keys, const yaml_node_t *node)
{
	const char *text = lt_scalar_peek(node);

	for (int i = 0; text != NULL && keys[i].name != NULL; i++)
		if (strcmp(keys[i].name, text) == 0)
			return i;
	return -1;
}

void
lt_read_mapping(
    struct lt_reader *reader, const struct lt_key *keys, const yaml_node_t *node, void *object)
{
	const yaml_node_t *values[LT_KEYS_MAX] = {NULL};

	for (const yaml_node_pair_t *pair = node->data.mapping.pairs.start;
	     pair < node->data.mapping.pairs.top && !lt_errors_full(reader); pair++) {
		const yaml_node_t *name = yaml_document_get_node(reader->document, pair->key);
		const int i = find_key(keys, name);

		const int parts = i < 0 ? complain_comma(reader, node, pair) : 0;

		if (parts > 0)
			pair += parts - 1;
		else if (i < 0)
			complain_key(reader, keys, name);
		else if (values[i] != NULL)
			lt_complain(reader, name,
			    "%s: got it twice (line %zu has the first), want it once", keys[i].name,
			    values[i]->start_mark.line + 1);
		else
			values[i] = yaml_document_get_node(reader->document, pair->value);
	}
	/* In the table's order, so that a key can stand on those before. */
	for (int i = 0; keys[i].name != NULL; i++) {
		if (values[i] == NULL) {
			if (keys[i].required)
				lt_complain(reader, node, "%s: missing, want %s", keys[i].name,
				    keys[i].want);
			continue;
		}
		if (keys[i].is_money && reader->money_node == NULL) {
			reader->money_key = keys[i].name;
			reader->money_node = values[i];
		}
		keys[i].read(reader, &keys[i], values[i], object);
	}
}
