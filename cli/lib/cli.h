/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Shared by the subcommands of lowtide: the table's row, a parsed call, and the helpers of lib/,
 * each under the name of its file. A function that returns an exit status has already printed what
 * failed.
 */
#ifndef LT_CLI_H
#define LT_CLI_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <jansson.h>

#include "error.h"
#include "slurm_conf.h"

enum {
	LT_CLI_OPTIONS_MAX = 40,
	LT_CLI_PARTS_MAX = 1000, /* of an invoice, open at once */
};

/* Numbers in JSON: 53.67, not 53.670000000000002. */
#define LT_CLI_JSON JSON_REAL_PRECISION(15)

enum { LT_EXIT_OK = 0, LT_EXIT_FAILURE = 1, LT_EXIT_USAGE = 2 };

struct lt_cli_option {
	const char *name;     /* "team"; NULL ends the table */
	const char *argument; /* "T"; "[=T]": may be left out; NULL = a flag */
	const char *help;
};

struct lt_cli;
struct lt_cli_command {
	const char *name;
	const char *usage; /* "JOBID [--json]", a line per form */
	const char *help;  /* one line */
	int operands_min, operands_max;
	bool has_json; /* --json is taken */
	bool raw;      /* all arguments belong to another program (plan) */
	const struct lt_cli_option *options;
	int (*run)(const struct lt_cli *cli); /* exit status */
};

struct lt_cli { /* one call of a command, parsed */
	const struct lt_cli_command *command;
	/* by option; a flag, or a value that was left out: "" */
	const char *values[LT_CLI_OPTIONS_MAX];
	int operand_count;
	char **operands; /* NULL ended */
	const char *run_dir;
	bool json, color;
};

/* ---- command.c: arguments, errors, JSON, periods ---- */
/*
 * Sorts argv (ended by NULL) into values, operands (argv is reordered) and the common flags.
 * LT_EINPUT names the argument and the nearest known one.
 */
int lt_cli_parse(struct lt_cli *cli, bool *help, int argc, char **argv, struct lt_error *err);

/* Prints "usage: lowtide CMD ...", a line for each form of the command. */
void lt_cli_print_usage(FILE *out, const struct lt_cli_command *command);
/* Value of an option ("" for a flag), NULL = not given. */
const char *lt_cli_value(const struct lt_cli *cli, const char *name);
/* Prints "lowtide: <text>" to stderr; returns LT_EXIT_FAILURE. */
int lt_cli_fail(const struct lt_error *err);
/* Prints "lowtide: CMD: <text>" and the usage line; LT_EXIT_USAGE. */
int lt_cli_usage(const struct lt_cli *cli, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Prints JSON and a newline to stdout; LT_EXIT_OK, or a failure after it was printed. */
int lt_cli_print_json(const json_t *body);

/* "2026-11", "2026-Q4", "2026"; LT_EINPUT. */
int lt_period_check(const char *text, struct lt_error *err);
/* "2026-11-21T02:00:00Z" in the caller's zone, "Sat 21 Nov 02:00 GMT"; the text itself when it is
 * not a time, "-" for NULL. */
const char *lt_local_time(char *out, size_t size, const char *iso);

/* ---- terminal.c ---- */
/* Columns of the terminal on stdout; 0 = stdout is not a terminal. */
int lt_cli_columns(void);
/* True if fd is a terminal that knows escape sequences and NO_COLOR is not set. */
bool lt_cli_escapes(int fd);
/* Breaks long lines between words from now on, where stdout and stderr are terminals. */
void lt_cli_wrap(void);
/* Ends that for stdout: what follows is for programs. */
void lt_cli_whole_lines(void);

/* ---- one per subcommand; returns its exit status. check, kube and simulate
 * (but for --from-slurm) do not ask lowtided ---- */
int lt_cli_init(const struct lt_cli *cli);
int lt_cli_check(const struct lt_cli *cli);
int lt_cli_plan(const struct lt_cli *cli);
int lt_cli_explain(const struct lt_cli *cli);
int lt_cli_now(const struct lt_cli *cli);
/* The file of the off switch; lent. */
const char *lt_cli_off_path(void);
int lt_cli_off(const struct lt_cli *cli);
int lt_cli_on(const struct lt_cli *cli);
int lt_cli_jobs(const struct lt_cli *cli);
int lt_cli_watch(const struct lt_cli *cli);
int lt_cli_status(const struct lt_cli *cli);
int lt_cli_signals(const struct lt_cli *cli);
int lt_cli_budget(const struct lt_cli *cli);
int lt_cli_report(const struct lt_cli *cli);
int lt_cli_close(const struct lt_cli *cli);
int lt_cli_reconcile(const struct lt_cli *cli);
int lt_cli_history(const struct lt_cli *cli);
int lt_cli_rebuild(const struct lt_cli *cli);
int lt_cli_reload(const struct lt_cli *cli);
int lt_cli_doctor(const struct lt_cli *cli);
int lt_cli_simulate(const struct lt_cli *cli);
int lt_cli_kube(const struct lt_cli *cli);
int lt_cli_notice(const struct lt_cli *cli);
int lt_cli_alerts(const struct lt_cli *cli);
int lt_cli_canary(const struct lt_cli *cli);
int lt_cli_web(const struct lt_cli *cli);
extern const struct lt_cli_option lt_cli_init_options[], lt_cli_jobs_options[],
    lt_cli_explain_options[], lt_cli_signals_options[], lt_cli_budget_options[],
    lt_cli_report_options[], lt_cli_close_options[], lt_cli_reconcile_options[],
    lt_cli_history_options[], lt_cli_simulate_options[], lt_cli_kube_options[],
    lt_cli_notice_options[], lt_cli_doctor_options[], lt_cli_web_options[];

/* ---- client.c: one request to lowtided ---- */
/*
 * Asks lowtided: body (may be NULL) is borrowed, *answer is the caller's. LT_OK only for a 2xx with
 * JSON; else err has lowtided's own error text, or what went wrong on the way and where. LT_ENOENT,
 * LT_EDENIED and LT_ECONFLICT are its 404, 403 and 409.
 */
int lt_client_get(
    json_t **answer, const struct lt_cli *cli, const char *path, struct lt_error *err);
int lt_client_post(json_t **answer, const struct lt_cli *cli, const char *path, const json_t *body,
    struct lt_error *err);
/* As lt_client_get, but runs takes the runs of the answer, and *answer has none. On the host's own
 * socket it takes them as they come, so that some may be taken before an error. */
struct lt_run_lines;
int lt_client_get_runs(json_t **answer, const struct lt_cli *cli, const char *path,
    struct lt_run_lines *runs, struct lt_error *err);
/* --run, LOWTIDE_RUN_DIR, /run/lowtide. */
const char *lt_client_run_dir(const struct lt_cli *cli);
/* text percent-encoded for a query or a path segment; LT_ELIMIT. */
int lt_client_escape(char *out, size_t size, const char *text, struct lt_error *err);
/* Appends name=value to the query of path; nothing if value is NULL. LT_ELIMIT. */
int lt_client_query(
    char *path, size_t size, const char *name, const char *value, struct lt_error *err);

/* ---- program.c: run a program, no shell ---- */
enum { LT_PROGRAM_OUTPUT_MAX = 4 * 1024 * 1024 };
struct lt_program {	   /* lt_program_free() */
	int status;	   /* exit status; 128 + signal when killed */
	char *out, *error; /* its output, NUL ended; out may be NULL */
	size_t out_length, error_length;
};
/*
 * Runs argv[0] (found in PATH); captures standard error, and standard output if capture_out (else
 * the child writes to ours). timeout_s 0 = none. LT_ENOENT:
 * no such program; LT_ELIMIT: more than LT_PROGRAM_OUTPUT_MAX bytes; LT_ESTALE:
 * killed after timeout_s.
 */
int lt_program_run(struct lt_program *child, char *const argv[], bool capture_out, int timeout_s,
    struct lt_error *err);
void lt_program_free(struct lt_program *child);
/*
 * Runs a daemon with these words (NULL at their end) and returns the JSON that it prints. The
 * program is LOWTIDED, or beside this one, in ../sbin, in PATH. daemon: NULL = lowtided, else
 * lowtide-kube.
 */
enum { LT_DAEMON_WORDS_MAX = 40 };
int lt_daemon_json(
    json_t **answer, const char *daemon, const char *const *words, struct lt_error *err);
/* The same for --probe. */
int lt_probe_facts(json_t **facts, struct lt_error *err);

/* ---- output.c: a file that is there whole or not at all ---- */
struct lt_output {
	FILE *out;
	char path[4096], new_path[4096 + 8]; /* "": standard output */
};
/* path NULL or "-": standard output. LT_EIO. */
int lt_output_open(struct lt_output *output, const char *path, struct lt_error *err);
/* Puts the file in its place, unless err has an error: then the old file stays. LT_EIO. */
int lt_output_close(struct lt_output *output, struct lt_error *err);
/* The same, but a file that exists stays: LT_EINPUT, which names it, if it is not the same to the
 * byte. LT_EIO. */
int lt_output_keep(struct lt_output *output, struct lt_error *err);

/* ---- table.c: text tables, CSV cells ---- */
enum { LT_TABLE_COLUMNS_MAX = 16 };
struct lt_table; /* opaque */
struct lt_table_column {
	const char *title; /* NULL ends the list */
	bool right;
};
/* NULL when there is no memory. columns outlive the table. */
struct lt_table *lt_table_new(const struct lt_table_column *columns);
/* Texts are copied, control characters become "?"; NULL = "-". One per
 * column. */
void lt_table_row(struct lt_table *table, const char *const *cells);
void lt_table_rule(struct lt_table *table); /* before the total line */
/* Keeps lines within this many columns of the terminal; 0 = any length. Columns of the table whose
 * bits are set in gives are cut. If that is not enough, each row is printed as lines of a title and
 * its cell. */
void lt_table_fit(struct lt_table *table, int columns, unsigned gives);
/* Before that, the columns of this list are left out in its order; -1 ends it, and it outlives the
 * table. */
void lt_table_drop(struct lt_table *table, const int *order);
/* Breaks the text of the last column between words into several lines; after lt_table_fit(). */
void lt_table_prose(struct lt_table *table);
void lt_table_print(FILE *out, const struct lt_table *table, bool color);
void lt_table_free(struct lt_table *table);

/* RFC 4180 text cell, with the formula guard: "'" before = + - @ TAB CR. */
void lt_csv_text(FILE *out, const char *text);
/* True for a word that loaders take for a missing value; it needs quotes. */
bool lt_csv_seems_missing(const char *text, size_t length);
/* Prints text from elsewhere: control characters but newline and tab are replaced. */
void lt_print_safe(FILE *out, const char *text);

/*
 * Rounds each of values[count], and *total, to a multiple of unit, half away from zero: an amount
 * is the same wherever a document shows it. Rows may then differ from their total by some units,
 * which documents say.
 */
void lt_round_each(int64_t *values, int count, int64_t *total, int64_t unit);
/*
 * Rounds values[count] to multiples of unit, so that they add up to the
 * rounded total (largest remainder; ties to the first). *total is rounded
 * half away from zero. When the values don't add up to it each is rounded by
 * itself.
 */
void lt_round_column(int64_t *values, int count, int64_t *total, int64_t unit);

/* Names the smallest amount that is shown: "the cent", "1 KRW", "0.001 KWD". Returns out. */
const char *lt_step_text(char *out, size_t size, const char *currency);

/* ---- report.c, for its tests too ---- */
#define LT_REPORT_SCHEMA "urn:lowtide:report:1" /* docs/report.schema.json */
enum lt_report_format {
	LT_REPORT_TABLE,
	LT_REPORT_CSV,
	LT_REPORT_JSON,
	LT_REPORT_FOCUS,
	LT_REPORT_OOD,
	LT_REPORT_HTML,
	LT_REPORT_FORMAT_COUNT
};
struct lt_report_look { /* how it is shown */
	enum lt_report_format format;
	bool runs;    /* each run, too; csv: instead */
	bool charges; /* focus: the dataset of charges, not that of periods */
	bool tcto;    /* total cost to outcome, too; csv: instead */
	bool unused;  /* unused time of owned nodes, too */
	bool by;      /* groups, too; csv: instead */
	bool tree;    /* teams with those below them, too; csv: instead */
	bool balance; /* what lowtide did in twelve months; csv: instead */
	bool carbon;  /* energy and carbon, too; csv: hours instead */
	bool color;
	int columns;	  /* of the terminal; 0 = any */
	const char *team; /* the one asked for; NULL: all */
};
int lt_report_print(
    FILE *out, const json_t *report, const struct lt_report_look *look, struct lt_error *err);

/* ---- status.c: read from the answer of /v1/status ---- */
bool lt_status_is_kube(const json_t *status);
/* Writes the names of nodes that are gone and still drained by lowtide, "a, b, and 7 more"; returns
 * how many there are. */
size_t lt_status_drained(char *out, size_t size, const json_t *status);

/* ---- JSON of others, read without trust ---- */
const char *lt_json_text(const json_t *object, const char *key, const char *fallback);
/* False when absent, null or not an integer. */
bool lt_json_int(const json_t *object, const char *key, int64_t *value);

#endif
