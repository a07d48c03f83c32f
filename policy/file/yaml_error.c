/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "yaml_error.h"

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
look(struct quoting *quoting, char c)
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

/* Does a comment begin here, in a text that begins at from? */
static bool
is_comment(const struct quoting *quoting, const char *at, const char *from)
{
	return *at == '#' && quoting->quote == '\0' &&
	       (at == from || isspace((unsigned char)at[-1]));
}

/* The one that begins at *at, which is the next one's beginning then; an empty
 * one at the end. */
static struct line
next_line(const char **at, const char *end)
{
	struct line line = {.text = *at};
	const char *const next =
	    *at < end ? memchr(*at, '\n', (size_t)(end - *at)) : NULL;
	const char *const stop = next != NULL ? next : end;
	struct quoting quoting = begins_line;

	*at = next != NULL ? next + 1 : end;
	while (line.text + line.length < stop &&
	       !is_comment(&quoting, line.text + line.length, line.text))
		look(&quoting, line.text[line.length++]);
	while (line.length > 0 &&
	       isspace((unsigned char)line.text[line.length - 1]))
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
	return line->length > line->indent + 1 &&
	       line->text[line->indent] == '-' &&
	       line->text[line->indent + 1] != ' ';
}

/* Is that what may stand behind a quote's end? */
static bool
ends_value(const char *at, const char *end)
{
	while (at < end && (*at == ' ' || *at == '\r'))
		at++;
	return at == end || strchr("\n#,:]}", *at) != NULL;
}

/* Where a quote begins that is not ended in its line, nor in a later one as a
 * text of many lines is; up to the line where it noticed. NULL: none. */
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
			const char *const next =
			    memchr(at, '\n', (size_t)(end - at));

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
		look(&quoting, *at);
		if (was == '\0' && quoting.quote != '\0') {
			from = at;
			is_long = false;
		} else if (was == '\'' && quoting.quote == '\0' &&
			   at + 1 < end && at[1] == was) {
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
say(struct lt_yaml_error *error, size_t line, size_t column, const char *text)
{
	error->line = line + 1;
	error->column = column + 1;
	(void)snprintf(error->text, sizeof(error->text), "%s", text);
}

/* The innermost { or [ that is open at the line where it noticed; its line and
 * column. '\0': none. */
static char
open_bracket(size_t *number, size_t *column, size_t noticed, const char *text,
    size_t length)
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

			look(&quoting, c);
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
explain_flow(struct lt_yaml_error *error, const yaml_mark_t *at,
    const char *text, size_t length)
{
	size_t number = 0, column = 0;
	const char what =
	    open_bracket(&number, &column, at->line, text, length);

	if (what == '\0' || number == at->line)
		return false;
	say(error, number, column,
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
explain_quote(struct lt_yaml_error *error, size_t noticed, const char *text,
    size_t length)
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
	say(error, number, (size_t)(from - line),
	    *from == '"'
		? "the quote \" that begins here is not closed in its line"
		: "the quote ' that begins here is not closed in its line");
	return true;
}

/* "a: 1 b: 2", "key:value", "-value", or deeper than its line allows. */
static bool
explain_value(struct lt_yaml_error *error, size_t noticed, const char *text,
    size_t length)
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
		say(error, number, at, "want a space after ':'");
		return true;
	}
	if (tight_dash(&line)) {
		say(error, noticed, line.indent, "want a space after '-'");
		return true;
	}
	if (tight_colon(&line, &at)) {
		say(error, noticed, at, "want a space after ':'");
		return true;
	}
	/* As deep as the line before that: the one between is wrong. */
	if (line.indent > before.indent && has_value(&before) &&
	    other.length > 0 && other.indent == line.indent) {
		say(error, number, before.indent,
		    "wrong indentation: the lines around it are deeper");
		return true;
	}
	if (line.indent > before.indent && has_value(&before)) {
		say(error, noticed, line.indent,
		    "wrong indentation: deeper than the line before, whose key has a value");
		return true;
	}
	return false;
}

static void
explain_key(struct lt_yaml_error *error, const yaml_mark_t *key,
    const char *text, size_t length)
{
	const struct line line = line_of(text, length, key->line);
	size_t at = 0;

	if (tight_colon(&line, &at))
		say(error, key->line, at, "want a space after ':'");
	else if (tight_dash(&line))
		say(error, key->line, line.indent, "want a space after '-'");
	else
		say(error, key->line, key->column, "want ':' after this");
}

void
lt_yaml_explain(struct lt_yaml_error *error, const yaml_parser_t *parser,
    const char *text, size_t length)
{
	const char *const problem =
	    parser->problem != NULL ? parser->problem : "can't parse";
	const char *const context =
	    parser->context != NULL ? parser->context : "";
	const yaml_mark_t *const at = &parser->problem_mark;
	const yaml_mark_t *const from = &parser->context_mark;
	/* The mark counts characters, not bytes: libyaml's own buffer says
	 * what stands there. */
	const bool is_tab = parser->buffer.pointer != NULL &&
			    parser->buffer.pointer < parser->buffer.last &&
			    *parser->buffer.pointer == '\t';

	if (is_tab)
		say(error, at->line, at->column, "a tab: indent with spaces");
	else if (explain_quote(error, at->line, text, length))
		;
	else if (strstr(context, "simple key") != NULL)
		explain_key(error, from, text, length);
	else if (strstr(context, "flow ") != NULL &&
		 explain_flow(error, at, text, length))
		;
	else if (strstr(context, "flow ") != NULL)
		say(error, at->line, at->column,
		    strstr(context, "flow mapping") != NULL
			? "want ',' or '}' here"
			: "want ',' or ']' here");
	else if (strstr(problem, "mapping values") != NULL &&
		 explain_value(error, at->line, text, length))
		;
	else if (strstr(problem, "mapping values") != NULL)
		say(error, at->line, at->column,
		    "a second ':' in this line: put text that has one into quotes");
	else if (strstr(context, "block ") != NULL)
		say(error, at->line, at->column,
		    "wrong indentation: as deep as no line before it");
	else if (strstr(problem, "cannot start any token") != NULL)
		say(error, at->line, at->column,
		    "no value begins with this character: put it into quotes");
	else {
		say(error, at->line, at->column, "");
		(void)snprintf(error->text, sizeof(error->text), "YAML: %s%s%s",
		    problem, context[0] ? " " : "", context);
	}
}
