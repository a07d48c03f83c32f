/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lowtide plan: where and when a job would run, and at what cost.
 *
 * With Slurm it runs sbatch --carbon-plan. The plugin refuses that submission with a table as its
 * message; lowtide removes sbatch's prefixes and fits the table to the terminal. The plugin can't
 * see a terminal and writes the table for any width; without a terminal, or if a cell is too long,
 * the text stays as it came. With -f FILE it posts a Kubernetes manifest to lowtided, which plans
 * it as if it had been created. Fails with sbatch's exit status, or 1.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "manifest.h"
#include "plan.h"

enum { CELLS = 6 };

#define COLUMNS(FIRST)                                                                             \
	{                                                                                          \
		{FIRST, false}, {"PARTITION", false}, {"START", false}, {"DONE BY", false},        \
		    {"COST", true}, {"CO2e", true}, {"WHY", false}, {NULL, false},                 \
	}

/* Returns a table for the rows of one plan, or of several, each named by its objective; NULL if
 * there is no memory. */
static struct lt_table *
new_plan_table(bool compares)
{
	static const struct lt_table_column plan[] = COLUMNS(""),
					    comparison[] = COLUMNS("OBJECTIVE");
	static const int drops[] = {3, -1};
	struct lt_table *const table = lt_table_new(compares ? comparison : plan);

	if (table == NULL)
		return NULL;
	lt_table_fit(table, lt_cli_columns(), 0);
	lt_table_drop(table, drops);
	lt_table_prose(table);
	return table;
}

/* Cuts a row of the plugin's text into cells. Two spaces or more are between them, but only one
 * behind a long first name. */
static bool
split_row(char *line, const char *cells[CELLS])
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

/* Adds a row of the plugin's text, given without its mark; false if it is not a row. */
static bool
put_plan_row(struct lt_table *table, const char *first, const char *row)
{
	char *const line = strdup(row);
	const char *cells[CELLS];
	const bool is_row = line != NULL && split_row(line, cells);

	if (is_row)
		lt_table_row(table, (const char *const[]){first, cells[0], cells[1], cells[2],
					cells[3], cells[4], cells[5]});
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

/* Prints what the plugin said; text is cut up. */
static void
print_plan(char *text)
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
			table = new_plan_table(false);
		else if (table == NULL || strlen(line) < 2 ||
			 !put_plan_row(table, line[0] == '*' ? "*" : "", line + 2)) {
			end_table(&table);
			puts(line);
		}
	}
	end_table(&table);
}

struct wanted {
	const char *file, *namespace;
	bool json;
};

/* True if the arguments are those of a manifest and not of sbatch. */
static bool
has_manifest(const struct lt_cli *cli)
{
	const char *const first = cli->operand_count > 0 ? cli->operands[0] : "";

	/* sbatch takes none of these alone. */
	return strcmp(first, "-f") == 0 || strcmp(first, "-n") == 0 || strcmp(first, "--json") == 0;
}

static int
read_words(struct wanted *wanted, const struct lt_cli *cli)
{
	for (int i = 0; i < cli->operand_count; i++) {
		const char *const word = cli->operands[i];
		const char **const value =
		    strcmp(word, "-f") == 0 ? &wanted->file
		    : strcmp(word, "-n") == 0 || strcmp(word, "--namespace") == 0
			? &wanted->namespace
			: NULL;

		if (strcmp(word, "--json") == 0)
			wanted->json = true;
		else if (value == NULL)
			return lt_cli_usage(
			    cli, "got \"%s\", want -f FILE [-n NAMESPACE] [--json]", word);
		else if (i + 1 == cli->operand_count)
			return lt_cli_usage(cli, "%s wants a value", word);
		else
			*value = cli->operands[++i];
	}
	return wanted->file != NULL ? LT_EXIT_OK
				    : lt_cli_usage(cli, "want -f FILE, or - for standard input");
}

static int
read_file(char *bytes, size_t *length, const char *path, struct lt_error *err)
{
	FILE *const in = strcmp(path, "-") == 0 ? stdin : fopen(path, "re");

	if (in == NULL)
		return lt_fail(err, LT_EIO, "%s: %s", path, strerror(errno));
	/* One byte above the limit shows that the file is too long. */
	*length = fread(bytes, 1, LT_MANIFEST_BYTES_MAX + 1, in);
	if (ferror(in))
		lt_fail(err, LT_EIO, "%s: can't be read", path);
	if (in != stdin)
		fclose(in);
	return err->code;
}

/* Sets the namespace in which kubectl would create it. */
static int
set_namespace(json_t *manifest, const char *namespace, struct lt_error *err)
{
	json_t *const metadata = json_object_get(manifest, "metadata");
	const char *const own = lt_json_text(metadata, "namespace", NULL);

	if (namespace == NULL)
		return LT_OK;
	if (own != NULL && strcmp(own, namespace) != 0)
		return lt_fail(err, LT_EINPUT,
		    "-n: got \"%s\", but the manifest has namespace \"%s\"", namespace, own);
	if (json_is_object(metadata))
		json_object_set_new(metadata, "namespace", json_string(namespace));
	return LT_OK;
}

static int
read_manifest(json_t **manifest, const struct wanted *wanted, struct lt_error *err)
{
	char *const bytes = malloc(LT_MANIFEST_BYTES_MAX + 1);
	const char *const file = wanted->file;
	struct lt_manifest_text text = {
	    .name = strcmp(file, "-") == 0 ? "standard input" : file, .bytes = bytes};

	if (bytes == NULL)
		return lt_fail(err, LT_ENOMEM, "no memory");
	if (read_file(bytes, &text.length, file, err) == LT_OK &&
	    lt_manifest_parse(manifest, &text, err) == LT_OK &&
	    set_namespace(*manifest, wanted->namespace, err) != LT_OK) {
		json_decref(*manifest);
		*manifest = NULL;
	}
	free(bytes);
	return err->code;
}

/* Prints the plan of the manifest that the arguments name. Exit status. */
static int
plan_manifest(const struct lt_cli *cli)
{
	struct wanted wanted = {0};
	json_t *manifest = NULL, *answer = NULL;
	struct lt_error err = {0};
	int result = read_words(&wanted, cli);

	if (result != LT_EXIT_OK)
		return result;
	if (read_manifest(&manifest, &wanted, &err) != LT_OK)
		return lt_cli_fail(&err);
	lt_client_post(&answer, cli, "/v1/plan/manifest", manifest, &err);
	json_decref(manifest);
	if (err.code != LT_OK)
		return lt_cli_fail(&err);
	if (wanted.json)
		result = lt_cli_print_json(answer);
	else
		lt_print_safe(stdout, lt_json_text(answer, "text", ""));
	json_decref(answer);
	return result;
}

/* Returns the text of a line after sbatch's prefix and ours; NULL: not ours. slurmctld's message
 * and the plugin's come as errors or not, which depends on the release and on the way they took. */
static const char *
table_line(const char *line)
{
	static const char *const prefixes[] = {"sbatch: error: ", "sbatch: "};
	static const char ours[] = "lowtide: ";

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
		const size_t length = strlen(prefixes[i]);

		if (strncmp(line, prefixes[i], length) != 0)
			continue;
		line += length;
		/* "1: " names a component of a heterogeneous job. */
		const size_t digits = strspn(line, "0123456789");

		if (digits > 0 && strncmp(line + digits, ": ", 2) == 0)
			line += digits + 2;
		return strncmp(line, ours, sizeof(ours) - 1) == 0 ? line + sizeof(ours) - 1 : NULL;
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

		if (shown != NULL && strncmp(shown, LT_PLAN_MARK, strlen(LT_PLAN_MARK)) == 0)
			found = true;
		if (!found || shown == NULL)
			continue;
		lt_print_safe(out, shown);
		fputc('\n', out);
	}
	return found;
}

/* Runs sbatch. *text is its plan, which the caller frees; NULL if there is none, after the reason
 * was printed. Returns the exit status. */
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

	if (out == NULL || copy == NULL || child.status == 0 || !lt_plan_extract(out, copy)) {
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

/* Returns the first line that begins so, and its *length without the newline; NULL: none. */
static const char *
line_with(const char *text, const char *beginning, size_t *length)
{
	for (const char *line = text; line != NULL && *line != '\0';
	     line = strchr(line, '\n') != NULL ? strchr(line, '\n') + 1 : NULL) {
		*length = strcspn(line, "\n");
		if (strncmp(line, beginning, strlen(beginning)) == 0)
			return line;
	}
	return NULL;
}

/* Adds the choice of one objective to the table; without a table, or if it does not parse as a row,
 * prints it as a line of text. */
static void
print_choice(struct lt_table *table, const char *objective, const char *text, bool is_first)
{
	size_t length;
	const char *const head = line_with(text, "  PARTITION", &length);

	if (table == NULL && is_first && head != NULL)
		printf("%-10s %.*s\n", "OBJECTIVE", (int)(length - 2), head + 2);
	const char *const row = line_with(text, "* ", &length);
	char line[LT_ERROR_TEXT_SIZE * 4] = "nowhere";

	if (row != NULL)
		snprintf(line, sizeof(line), "%.*s", (int)(length - 2), row + 2);
	if (table == NULL || !put_plan_row(table, objective, line))
		printf("%-10s %s\n", objective, line);
}

/* Runs sbatch once for each objective and prints the choice of each. */
static int
compare_objectives(char **argv, int objective_at)
{
	static const char *const objectives[] = {"balanced", "cost", "carbon", "fast"};
	enum { COUNT = sizeof(objectives) / sizeof(objectives[0]) };
	struct lt_table *const table = lt_cli_columns() > 0 ? new_plan_table(true) : NULL;
	int status = LT_EXIT_OK;

	for (int i = 0; i < COUNT && status == LT_EXIT_OK; i++) {
		char option[48], *text = NULL;

		(void)snprintf(option, sizeof(option), "--carbon-aware=%s", objectives[i]);
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

/* Removes --compare if it stands first: elsewhere it is an argument of sbatch. */
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

/* True if the arguments choose an objective themselves: sbatch would take that one, and all rows
 * would be the same. */
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
	const int skip = cli->operand_count && strcmp(cli->operands[0], "--") == 0 ? 1 : 0;
	int count = cli->operand_count - skip, used = 0, result;
	char *text = NULL;

	if (has_manifest(cli))
		return plan_manifest(cli);
	const bool compares = take_compare(cli->operands + skip, &count);
	if (!count)
		return lt_cli_usage(cli, "want the arguments of sbatch");
	if (compares && names_objective(cli->operands + skip, count))
		return lt_cli_usage(
		    cli, "--compare shows each objective: leave --carbon-aware out");
	char **const argv = calloc((size_t)count + 4, sizeof(*argv));

	if (argv == NULL) {
		const struct lt_error err = {.text = "no memory"};

		return lt_cli_fail(&err);
	}
	argv[used++] = (char *)(uintptr_t) "sbatch";
	argv[used++] = (char *)(uintptr_t) "--carbon-plan";
	if (compares)
		used++;
	memcpy(argv + used, cli->operands + skip, (size_t)count * sizeof(*argv));
	if (compares) {
		result = compare_objectives(argv, used - 1);
	} else {
		result = run_sbatch(&text, argv);
		if (text != NULL)
			print_plan(text);
	}
	free(text);
	free(argv);
	return result;
}
