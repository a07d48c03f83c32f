/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lowtide plan: the way of a submission, sbatch --carbon-aware=plan, which
 * the plugin refuses with the table as its message. Here that table loses
 * sbatch's prefixes and the refusal its exit status. On Kubernetes there is no
 * sbatch: plan_manifest.c.
 */
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "plan.h"

/* "--carbon-aware" or a start of it that getopt_long would take for it:
 * a later one would win over ours and submit the job. */
static bool
is_our_option(const char *argument)
{
	static const char name[] = "--carbon-aware";
	const size_t length = strcspn(argument, "=");

	return length > 4 && length < sizeof(name) &&
	       strncmp(argument, name, length) == 0;
}

/* Text of a line after sbatch's prefix and ours; NULL: not ours. slurmctld's
 * message and the plugin's come as errors or not, by release and way. */
static const char *
table_line(const char *line)
{
	static const char *const prefixes[] = {
	    "sbatch: error: lowtide: ", "sbatch: lowtide: "};

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
		const size_t length = strlen(prefixes[i]);

		if (strncmp(line, prefixes[i], length) == 0)
			return line + length;
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

static int
run_sbatch(char **argv)
{
	struct lt_program child;
	struct lt_error err = {0};

	fflush(stdout);
	if (lt_program_run(&child, argv, false, 0, &err))
		return lt_cli_fail(&err);
	char *const text = child.error != NULL ? child.error : NULL;
	char *const copy = strdup(text != NULL ? text : "");
	int result = child.status;

	if (copy != NULL && child.status && lt_plan_extract(stdout, copy)) {
		result = LT_EXIT_OK;
	} else {
		lt_print_safe(stderr, text != NULL ? text : "");
		if (!child.status) {
			fputs(
			    "lowtide: sbatch submitted the job: the plugin did not see the wish for a plan\n",
			    stderr);
			result = LT_EXIT_FAILURE;
		} else if (text != NULL &&
			   strstr(text, "carbon-aware=plan'") != NULL) {
			fputs(
			    "lowtide: sbatch does not know --carbon-aware: plugstack.conf here lacks spank_lowtide.so (lowtide doctor)\n",
			    stderr);
		}
	}
	free(copy);
	lt_program_free(&child);
	return result;
}

int
lt_cli_plan(const struct lt_cli *cli)
{
	const int skip =
	    cli->operand_count && strcmp(cli->operands[0], "--") == 0 ? 1 : 0;
	const int count = cli->operand_count - skip;
	int used = 0;

	if (lt_plan_has_manifest(cli))
		return lt_plan_manifest(cli);
	if (!count)
		return lt_cli_usage(cli, "want the arguments of sbatch");
	for (int i = 0; i < count; i++)
		if (is_our_option(cli->operands[skip + i]))
			return lt_cli_usage(cli,
			    "%s would submit the job; leave it out",
			    cli->operands[skip + i]);
	char **const argv = calloc((size_t)count + 3, sizeof(*argv));

	if (argv == NULL) {
		const struct lt_error err = {.text = "no memory"};

		return lt_cli_fail(&err);
	}
	argv[used++] = (char *)(uintptr_t) "sbatch";
	argv[used++] = (char *)(uintptr_t) "--carbon-aware=plan";
	memcpy(
	    argv + used, cli->operands + skip, (size_t)count * sizeof(*argv));
	const int result = run_sbatch(argv);

	free(argv);
	return result;
}
