/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lowtide: finds the subcommand in the table, parses its arguments by the table and runs it. Help
 * and usage texts print from the same table. The exit status is the subcommand's: 0, 1 for a
 * failure, 2 for wrong usage.
 */
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "http.h"
#include "text.h"

enum { JOBS_MAX = 1000 }; /* a second or two for lowtided */

static const struct lt_cli_command commands[] = {
    {"init", "[--output FILE]", "write a first policy file from what Slurm knows", 0, 0, false,
	false, lt_cli_init_options, lt_cli_init},
    {"check", "FILE [--json]", "check a policy file", 1, 1, true, false, NULL, lt_cli_check},
    {"plan",
	"[--compare] [--] SBATCH-ARGUMENTS\n"
	"-f FILE [-n NAMESPACE] [--json]",
	"where and when a job would run, and at what cost", 0, 0, false, true, NULL, lt_cli_plan},
    {"explain", "JOBID|NAMESPACE/NAME [--formulas] [--json]",
	"why a job got its plan and its charge", 1, 1, true, false, lt_cli_explain_options,
	lt_cli_explain},
    {"now", "JOBID|NAMESPACE/NAME... [--json]", "start delayed jobs at once after all", 1, JOBS_MAX,
	true, false, NULL, lt_cli_now},
    {"jobs", "[--user U | --all] [--json]", "jobs that wait and run: plans, costs, savings", 0, 0,
	true, false, lt_cli_jobs_options, lt_cli_jobs},
    {"watch", "JOBID|NAMESPACE/NAME", "follow a job: a line whenever state, plan or cost change", 1,
	1, false, false, NULL, lt_cli_watch},
    {"status", "[--json]", "sources, snapshots, holds and the daemon", 0, 0, true, false, NULL,
	lt_cli_status},
    {"signals",
	"[--errors] [--json]\n"
	"export [SOURCE] [--from DAY] [--to DAY] [--format csv|json]\n"
	"test SOURCE [--config FILE] [--json]\n"
	"adapters [NAME] [--json]",
	"what each source says, now and next; export or test one", 0, 2, true, false,
	lt_cli_signals_options, lt_cli_signals},
    {"budget",
	"[--team T] [--json]\n"
	"adjust --team T [--amount A] [--kg-co2e K] --reason TEXT\n"
	"moved [ACCOUNT --accept]",
	"what each budget has spent, held and available; adjust one", 0, 2, true, false,
	lt_cli_budget_options, lt_cli_budget},
    {"alerts", "[--json]", "what was told of costs, and what is due", 0, 0, true, false, NULL,
	lt_cli_alerts},
    {"report",
	"[--team T] [--period P | --from DAY --to DAY] [--by D,...] [--runs]\n"
	"[...] [--format F] [--dataset D] [--tcto] [--no-users] [-o FILE]",
	"the statement of each team for a period", 0, 0, true, false, lt_cli_report_options,
	lt_cli_report},
    {"close",
	"[PERIOD | --last] [--output DIR [--no-users]] [--json]\n"
	"--reopen PERIOD --reason TEXT [--json]",
	"close a period, so that its statement stays; or list them", 0, 1, true, false,
	lt_cli_close_options, lt_cli_close},
    {"reconcile",
	"INVOICE... [--from DAY --to DAY] [--cost HOW] [--type COLUMN] "
	"[--map P=TYPE,...]\n"
	"INVOICE... [--rate CUR=RATE] [--only tag:KEY=VALUE] [--account ID,...] "
	"[--tolerance PCT]\n"
	"INVOICE... [--format table|csv|json]",
	"a cloud's invoice against what lowtide charged", 1, LT_CLI_PARTS_MAX, true, false,
	lt_cli_reconcile_options, lt_cli_reconcile},
    {"history", "[--name N] [--user U] [--json]\n--forget USER [--json]",
	"how long your jobs have run; erase it", 0, 0, true, false, lt_cli_history_options,
	lt_cli_history},
    {"canary", "JOBID [--json]", "interrupt a running job of yours, to see whether it resumes", 1,
	1, true, false, NULL, lt_cli_canary},
    {"notice", "[NODE [--in DURATION | --withdraw]] [--json]",
	"a node is about to be taken back: bring its jobs away", 0, 1, true, false,
	lt_cli_notice_options, lt_cli_notice},
    {"rebuild", "[--json]", "make the ledger again from slurmdbd", 0, 0, true, false, NULL,
	lt_cli_rebuild},
    {"reload", "[--json]", "have lowtided read its policy file now", 0, 0, true, false, NULL,
	lt_cli_reload},
    {"simulate",
	"TRACE --carbon FILE [--at TIME] [--policy P,...] [OPTIONS] [--json]\n"
	"TRACE --config FILE --source NAME [OPTIONS] [--json]\n"
	"TRACE --deadline-factor F [--events FILE] [OPTIONS] [--json]\n"
	"--from-slurm [--last TIME] [--carbon FILE] [--svg FILE] [--anonymous] [--json]",
	"what jobs of a trace would have emitted and waited, by policy; or "
	"what lowtide would have saved here",
	0, 1, true, false, lt_cli_simulate_options, lt_cli_simulate},
    {"kube", "manifest [--kubernetes-version V] [--on-unknown admit|refuse] [...]",
	"write the manifests of a Kubernetes cluster", 1, 1, false, false, lt_cli_kube_options,
	lt_cli_kube},
    {"web", "[--port N | --socket[=PATH]]",
	"a page to look at: prices, carbon, your jobs and budgets", 0, 0, false, false,
	lt_cli_web_options, lt_cli_web},
    {"off", "[REASON...] [--json]", "let every job pass as without lowtide, from now on", 0,
	JOBS_MAX, true, false, NULL, lt_cli_off},
    {"on", "[--json]", "end what lowtide off began", 0, 0, true, false, NULL, lt_cli_on},
    {"doctor", "[--config FILE] [--json] | --collect[=FILE]",
	"find what is set up wrong and how to mend it", 0, 0, true, false, lt_cli_doctor_options,
	lt_cli_doctor},
};
enum { COMMAND_COUNT = sizeof(commands) / sizeof(commands[0]) };

static const struct lt_cli_command *
command_find(const char *name)
{
	for (int i = 0; i < COMMAND_COUNT; i++)
		if (strcmp(commands[i].name, name) == 0)
			return &commands[i];
	return NULL;
}

static void
print_help(void)
{
	puts("usage: lowtide [--run DIR] COMMAND [ARGUMENTS]\n");
	for (int i = 0; i < COMMAND_COUNT; i++)
		printf("  %-9s %s\n", commands[i].name, commands[i].help);
	puts("\nlowtide help COMMAND says more; lowtide --version; man lowtide.");
}

static void
print_option(const char *name, const char *argument, const char *help)
{
	char left[64];

	snprintf(left, sizeof(left), "--%s%s%s", name,
	    argument != NULL && argument[0] != '[' ? " " : "", argument != NULL ? argument : "");
	printf("  %-18s %s\n", left, help);
}

static void
print_command_help(const struct lt_cli_command *command)
{
	lt_cli_print_usage(stdout, command);
	printf("\n%s: %s\n\n", command->name, command->help);
	for (const struct lt_cli_option *option = command->options;
	     option != NULL && option->name != NULL; option++)
		print_option(option->name, option->argument, option->help);
	if (command->has_json)
		print_option("json", NULL, "print JSON for programs");
	if (!command->raw)
		print_option(
		    "run", "DIR", "run directory of lowtided (LOWTIDE_RUN_DIR, /run/lowtide)");
	print_option("help", NULL, "this text");
}

static int
unknown_command(const char *name)
{
	const char *names[COMMAND_COUNT + 1] = {NULL};
	const char *nearest;

	for (int i = 0; i < COMMAND_COUNT; i++)
		names[i] = commands[i].name;
	nearest = lt_nearest_word(name, names);
	fprintf(stderr, "lowtide: no command \"");
	lt_print_safe(stderr, name);
	if (nearest != NULL)
		fprintf(stderr, "\"; did you mean %s?\n", nearest);
	else
		fprintf(stderr, "\"; lowtide --help lists them\n");
	return LT_EXIT_USAGE;
}

static int
run_command(const struct lt_cli_command *command, int argc, char **argv, const char *run_dir)
{
	struct lt_cli cli = {.command = command, .run_dir = run_dir};
	bool help = false;
	struct lt_error err = {0};

	cli.color = lt_cli_escapes(STDOUT_FILENO);
	if (lt_cli_parse(&cli, &help, argc, argv, &err))
		return lt_cli_usage(&cli, "%s", err.text);
	if (help) {
		print_command_help(command);
		return LT_EXIT_OK;
	}
	if (lt_http_init(&err))
		return lt_cli_fail(&err);
	const int result = command->run(&cli);

	lt_http_cleanup();
	return result;
}

/* "help", "help CMD", "--help", "--version"; -1 = none of them. */
static int
run_builtin(int argc, char **argv)
{
	const bool help = strcmp(argv[0], "help") == 0;

	if (strcmp(argv[0], "--version") == 0) {
		puts("lowtide " LT_VERSION);
		return LT_EXIT_OK;
	}
	if (help && argc > 1) {
		const struct lt_cli_command *const command = command_find(argv[1]);

		if (command == NULL)
			return unknown_command(argv[1]);
		print_command_help(command);
		return LT_EXIT_OK;
	}
	if (help || strcmp(argv[0], "--help") == 0 || strcmp(argv[0], "-h") == 0) {
		print_help();
		return LT_EXIT_OK;
	}
	return -1;
}

int
main(int argc, char **argv)
{
	const char *run_dir = NULL;
	int i = 1;

	setlocale(LC_TIME, "");
	lt_cli_wrap();
	if (i + 1 < argc && strcmp(argv[i], "--run") == 0) {
		run_dir = argv[i + 1];
		i += 2;
	} else if (i < argc && strncmp(argv[i], "--run=", 6) == 0) {
		run_dir = argv[i] + 6;
		i++;
	}
	if (i >= argc) {
		print_help();
		return LT_EXIT_USAGE;
	}
	const int builtin = run_builtin(argc - i, argv + i);

	if (builtin >= 0)
		return builtin;
	const struct lt_cli_command *const command = command_find(argv[i]);

	if (command == NULL)
		return unknown_command(argv[i]);
	return run_command(command, argc - i - 1, argv + i + 1, run_dir);
}
