/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lowtide plan: the way of a submission, sbatch --carbon-plan, which the plugin
 * refuses with the table as its message. Here that table loses sbatch's
 * prefixes and the refusal its exit status. On Kubernetes there is no sbatch:
 * plan_manifest.c.
 */
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "plan.h"

/* Text of a line after sbatch's prefix and ours; NULL: not ours. slurmctld's
 * message and the plugin's come as errors or not, by release and way. */
static const char *
table_line(const char *line)
{
	static const char *const prefixes[] = {
	    "sbatch: error: ", "sbatch: "};
	static const char ours[] = "lowtide: ";

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
		const size_t length = strlen(prefixes[i]);

		if (strncmp(line, prefixes[i], length) != 0)
			continue;
		line += length;
		/* "1: ": which component of a heterogeneous job. */
		const size_t digits = strspn(line, "0123456789");

		if (digits > 0 && strncmp(line + digits, ": ", 2) == 0)
			line += digits + 2;
		return strncmp(line, ours, sizeof(ours) - 1) == 0
			   ? line + sizeof(ours) - 1
			   : NULL;
	}
	return NULL;
}

bool
lt_plan_extract(FILE *out, char *text)
{
	char *rest = NULL;
	bool found = false;

	for (char *line = strtok_r(text, "\n", &rest); line != NULL;
	     line = strtok_r(NULL, "\n", &rest)) {
		const char *const shown = table_line(line);

		if (shown != NULL &&
		    strncmp(shown, LT_PLAN_MARK, strlen(LT_PLAN_MARK)) == 0)
			found = true;
		if (!found || shown == NULL)
			continue;
		lt_print_safe(out, shown);
		fputc('\n', out);
	}
	return found;
}

/* *text: what sbatch said of the plan, the caller's; NULL where there is none,
 * which has been told. The exit status. */
static int
run_sbatch(char **text, char **argv)
{
	struct lt_program child;
	struct lt_error err = {0};
	size_t length = 0;
	int result = LT_EXIT_OK;

	*text = NULL;
	fflush(stdout);
	if (lt_program_run(&child, argv, false, 0, &err))
		return lt_cli_fail(&err);
	char *const said = child.error != NULL ? child.error : "";
	char *const copy = strdup(said);
	FILE *const out = open_memstream(text, &length);

	if (out == NULL || copy == NULL || child.status == 0 ||
	    !lt_plan_extract(out, copy)) {
		lt_print_safe(stderr, said);
		if (child.status == 0)
			fputs(
			    "lowtide: sbatch submitted the job: the plugin did not see the wish for a plan\n",
			    stderr);
		else if (strstr(said, "carbon-plan'") != NULL)
			fputs(
			    "lowtide: sbatch does not know --carbon-plan: plugstack.conf here lacks spank_lowtide.so, or it is older (lowtide doctor)\n",
			    stderr);
		result = child.status != 0 ? child.status : LT_EXIT_FAILURE;
	}
	if (out != NULL)
		fclose(out);
	if (result != LT_EXIT_OK) {
		free(*text);
		*text = NULL;
	}
	free(copy);
	lt_program_free(&child);
	return result;
}

/* The line of that beginning; *length without its end. NULL: none. */
static const char *
line_with(const char *text, const char *beginning, size_t *length)
{
	for (const char *line = text; line != NULL && *line != '\0';
	     line = strchr(line, '\n') != NULL ? strchr(line, '\n') + 1
					       : NULL) {
		*length = strcspn(line, "\n");
		if (strncmp(line, beginning, strlen(beginning)) == 0)
			return line;
	}
	return NULL;
}

/* Its choice, as a row of the table; a line of the text where there is no
 * table, or the row is none. */
static void
print_choice(struct lt_table *table, const char *objective, const char *text,
    bool is_first)
{
	size_t length;
	const char *const head = line_with(text, "  PARTITION", &length);

	if (table == NULL && is_first && head != NULL)
		printf(
		    "%-10s %.*s\n", "OBJECTIVE", (int)(length - 2), head + 2);
	const char *const row = line_with(text, "* ", &length);
	char line[LT_ERROR_TEXT_SIZE * 4] = "nowhere";

	if (row != NULL)
		snprintf(
		    line, sizeof(line), "%.*s", (int)(length - 2), row + 2);
	if (table == NULL || !lt_plan_put_row(table, objective, line))
		printf("%-10s %s\n", objective, line);
}

/* One row for each objective: its choice. */
static int
compare(char **argv, int objective_at)
{
	static const char *const objectives[] = {
	    "balanced", "cost", "carbon", "fast"};
	enum { COUNT = sizeof(objectives) / sizeof(objectives[0]) };
	struct lt_table *const table =
	    lt_cli_columns() > 0 ? lt_plan_new_table(true) : NULL;
	int status = LT_EXIT_OK;

	for (int i = 0; i < COUNT && status == LT_EXIT_OK; i++) {
		char option[48], *text = NULL;

		(void)snprintf(
		    option, sizeof(option), "--carbon-aware=%s", objectives[i]);
		argv[objective_at] = option;
		status = run_sbatch(&text, argv);
		if (status == LT_EXIT_OK)
			print_choice(table, objectives[i], text, i == 0);
		free(text);
	}
	if (table != NULL && status == LT_EXIT_OK)
		lt_table_print(stdout, table, false);
	lt_table_free(table);
	return status;
}

/* Ours stands first, wherever sbatch would take it for its own. */
static bool
take_compare(char **operands, int *count)
{
	if (*count == 0 || strcmp(operands[0], "--compare") != 0)
		return false;
	const int taken = *count > 1 && strcmp(operands[1], "--") == 0 ? 2 : 1;

	*count -= taken;
	memmove(operands, operands + taken, (size_t)*count * sizeof(*operands));
	return true;
}

/* It would stand behind ours, and each row would be of the same objective. */
static bool
names_objective(char *const *operands, int count)
{
	static const char option[] = "--carbon-aware";

	for (int i = 0; i < count; i++)
		if (strncmp(operands[i], option, strlen(option)) == 0 &&
		    strchr("=", operands[i][strlen(option)]) != NULL)
			return true;
	return false;
}

int
lt_cli_plan(const struct lt_cli *cli)
{
	const int skip =
	    cli->operand_count && strcmp(cli->operands[0], "--") == 0 ? 1 : 0;
	int count = cli->operand_count - skip, used = 0, result;
	char *text = NULL;

	if (lt_plan_has_manifest(cli))
		return lt_plan_manifest(cli);
	const bool compares = take_compare(cli->operands + skip, &count);
	if (!count)
		return lt_cli_usage(cli, "want the arguments of sbatch");
	if (compares && names_objective(cli->operands + skip, count))
		return lt_cli_usage(cli,
		    "--compare shows each objective: leave --carbon-aware out");
	char **const argv = calloc((size_t)count + 4, sizeof(*argv));

	if (argv == NULL) {
		const struct lt_error err = {.text = "no memory"};

		return lt_cli_fail(&err);
	}
	argv[used++] = (char *)(uintptr_t) "sbatch";
	argv[used++] = (char *)(uintptr_t) "--carbon-plan";
	if (compares)
		used++;
	memcpy(
	    argv + used, cli->operands + skip, (size_t)count * sizeof(*argv));
	if (compares) {
		result = compare(argv, used - 1);
	} else {
		result = run_sbatch(&text, argv);
		if (text != NULL)
			lt_plan_print(text);
	}
	free(text);
	free(argv);
	return result;
}
