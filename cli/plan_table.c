/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The plan's table as wide as the terminal is. The plugin sees no terminal and
 * writes it for any width; elsewhere, and where a cell is too long for it, its
 * text stays.
 */
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "plan.h"

enum { CELLS = 6 };

#define COLUMNS(FIRST)                                                         \
	{                                                                      \
		{FIRST, false}, {"PARTITION", false}, {"START", false},        \
		    {"DONE BY", false}, {"COST", true}, {"CO2e", true},        \
		    {"WHY", false}, {NULL, false},                             \
	}

struct lt_table *
lt_plan_new_table(bool compares)
{
	static const struct lt_table_column plan[] = COLUMNS(""),
					    comparison[] = COLUMNS("OBJECTIVE");
	static const int drops[] = {3, -1};
	struct lt_table *const table =
	    lt_table_new(compares ? comparison : plan);

	if (table == NULL)
		return NULL;
	lt_table_fit(table, lt_cli_columns(), 0);
	lt_table_drop(table, drops);
	lt_table_prose(table);
	return table;
}

/* Between cells are two spaces or more, but behind a long name one. */
static bool
split(char *line, const char *cells[CELLS])
{
	char *at = line;

	for (int i = 0; i < CELLS; i++) {
		at += strspn(at, " ");
		if (*at == '\0')
			return false;
		cells[i] = at;
		if (i == CELLS - 1)
			break;
		at = strstr(at, i == 0 ? " " : "  ");
		if (at == NULL)
			return false;
		*at++ = '\0';
	}
	return true;
}

bool
lt_plan_put_row(struct lt_table *table, const char *first, const char *row)
{
	char *const line = strdup(row);
	const char *cells[CELLS];
	const bool is_row = line != NULL && split(line, cells);

	if (is_row)
		lt_table_row(
		    table, (const char *const[]){first, cells[0], cells[1],
			       cells[2], cells[3], cells[4], cells[5]});
	free(line);
	return is_row;
}

static void
end_table(struct lt_table **table)
{
	if (*table != NULL)
		lt_table_print(stdout, *table, false);
	lt_table_free(*table);
	*table = NULL;
}

void
lt_plan_print(char *text)
{
	struct lt_table *table = NULL;
	char *rest = NULL;

	if (lt_cli_columns() == 0) {
		fputs(text, stdout);
		return;
	}
	for (char *line = strtok_r(text, "\n", &rest); line != NULL;
	     line = strtok_r(NULL, "\n", &rest)) {
		const bool is_head = strncmp(line, "  PARTITION ", 12) == 0;

		if (is_head && table == NULL)
			table = lt_plan_new_table(false);
		else if (table == NULL || strlen(line) < 2 ||
			 !lt_plan_put_row(
			     table, line[0] == '*' ? "*" : "", line + 2)) {
			end_table(&table);
			puts(line);
		}
	}
	end_table(&table);
}
