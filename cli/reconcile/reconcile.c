/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lowtide reconcile: compares a cloud's invoice with what lowtide charged.
 *
 * The steps: read the arguments; find the instance types of the partitions; read the invoice; ask
 * lowtided what it charged on the invoice's days; put the two together; print. Exit status 1 if a
 * step fails, or if more than
 * --tolerance of the instances is unexplained.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli.h"
#include "date.h"
#include "reconcile_tie.h"
#include "signals.h"
#include "units.h"

const struct lt_cli_option lt_cli_reconcile_options[] = {
    {"from", "DAY", "first day (UTC); default: the billing period"},
    {"to", "DAY", "last day"},
    {"cost", "HOW", "amortised, billed or a column; default: as it can"},
    {"only", "tag:KEY=VALUE", "rows with that tag alone"},
    {"account", "ID,...", "rows of these accounts alone"},
    {"type", "COLUMN", "where instance types are; default: by the format"},
    {"map", "P=TYPE,...", "instance types of partitions"},
    {"rate", "CUR=RATE", "what an invoice's other currency is worth"},
    {"tolerance", "PCT", "exit 1 if more of the instances is unexplained"},
    {"format", "F", "table, csv or json"},
    {NULL, NULL, NULL},
};

enum format { TABLE, CSV, JSON, FORMAT_COUNT };

struct wish { /* the arguments, parsed */
	struct lt_invoice_ask ask;
	enum format format;
	bool has_tolerance;
	int64_t tolerance_micros; /* per cent */
};

struct work { /* all that is read; on the heap, as the tables are large */
	struct lt_tie_map map;
	struct lt_invoice invoice;
	struct lt_tie_jobs jobs;
	struct lt_invoice_rates rates;
	struct lt_tie tie;
	char currency[8];
};

/* ---- arguments ---- */
static int
parse_day(int64_t *day, const char *name, const char *text, struct lt_error *err)
{
	char midnight[32];
	int64_t utc_s;

	snprintf(midnight, sizeof(midnight), "%.12sT00:00Z", text);
	if (strlen(text) != strlen("2026-11-21") || lt_utc_parse(midnight, &utc_s, NULL) != LT_OK)
		return lt_fail(err, LT_EINPUT, "--%s: got \"%.40s\", want a day such as 2026-11-21",
		    name, text);
	*day = lt_day_of_second(utc_s);
	return LT_OK;
}

static int
parse_days(struct wish *wish, const struct lt_cli *cli, struct lt_error *err)
{
	const char *const from = lt_cli_value(cli, "from");
	const char *const to = lt_cli_value(cli, "to");
	int64_t last;

	if (from == NULL && to == NULL)
		return LT_OK;
	if (from == NULL || to == NULL)
		return lt_fail(err, LT_EINPUT, "--from and --to go together");
	if (parse_day(&wish->ask.first_day, "from", from, err) || parse_day(&last, "to", to, err))
		return err->code;
	if (last < wish->ask.first_day || last - wish->ask.first_day >= LT_TIE_DAYS_MAX)
		return lt_fail(
		    err, LT_EINPUT, "--from and --to: want 1 to %d days", LT_TIE_DAYS_MAX);
	wish->ask.day_count = (int)(last - wish->ask.first_day) + 1;
	return LT_OK;
}

static int
parse_format(enum format *format, const struct lt_cli *cli, struct lt_error *err)
{
	static const char *const names[] = {"table", "csv", "json"};
	const char *const word = lt_cli_value(cli, "format");

	*format = cli->json ? JSON : TABLE;
	if (word == NULL)
		return LT_OK;
	for (int i = 0; i < FORMAT_COUNT; i++) {
		if (strcmp(word, names[i]) == 0) {
			*format = (enum format)i;
			return LT_OK;
		}
	}
	return lt_fail(err, LT_EINPUT, "--format: got \"%s\", want table, csv or json", word);
}

static void
parse_cost(struct lt_invoice_ask *ask, const char *text)
{
	static const struct {
		const char *name;
		enum lt_invoice_basis basis;
	} words[] = {
	    {"billed", LT_INVOICE_BILLED},
	    {"amortised", LT_INVOICE_AMORTISED},
	    {"amortized", LT_INVOICE_AMORTISED},
	};

	if (text == NULL)
		return;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (strcmp(text, words[i].name) == 0) {
			ask->basis = words[i].basis;
			return;
		}
	}
	ask->basis = LT_INVOICE_COLUMN;
	ask->cost = text;
}

static int
parse_wish(struct wish *wish, const struct lt_cli *cli, struct lt_error *err)
{
	const char *const tolerance = lt_cli_value(cli, "tolerance");
	const char *const only = lt_cli_value(cli, "only");

	parse_cost(&wish->ask, lt_cli_value(cli, "cost"));
	wish->ask.type = lt_cli_value(cli, "type");
	wish->ask.filter.accounts = lt_cli_value(cli, "account");
	wish->has_tolerance = tolerance != NULL;
	if (only != NULL && lt_invoice_only_parse(&wish->ask.filter, only, err))
		return err->code;
	if (parse_days(wish, cli, err) || parse_format(&wish->format, cli, err))
		return err->code;
	if (tolerance != NULL && (lt_micros_parse(tolerance, &wish->tolerance_micros, NULL) ||
				     wish->tolerance_micros < 0))
		return lt_fail(err, LT_EINPUT,
		    "--tolerance: got \"%.40s\", want per cent, such as 2.5", tolerance);
	return LT_OK;
}

/* ---- input ---- */
static const char *
name_of(const char *operand)
{
	return strcmp(operand, "-") == 0 ? "standard input" : operand;
}

static int
find_types(struct work *work, const struct lt_cli *cli, struct lt_error *err)
{
	json_t *const signals = lt_signals_ask(cli, "/v1/signals", err);

	if (signals == NULL)
		return err->code;
	snprintf(
	    work->currency, sizeof(work->currency), "%s", lt_json_text(signals, "currency", ""));
	if (lt_tie_map_signals(&work->map, signals, err) == LT_OK)
		lt_invoice_rates_signals(&work->rates, signals, err);
	json_decref(signals);
	if (!err->code && !work->currency[0])
		lt_fail(err, LT_EINPUT, "this site has no money in lowtide");
	if (!err->code && work->map.count == 0)
		lt_fail(err, LT_EINPUT,
		    "no partition's price comes from a source with an instance type; say --map PARTITION=TYPE");
	return err->code;
}

/* Refuses a file that is named twice: its charges would count twice. */
static int
check_once(const struct lt_cli *cli, int index, FILE *const *files, struct lt_error *err)
{
	struct stat one, other;

	for (int i = 0; i < index; i++)
		if (fstat(fileno(files[index]), &one) == 0 &&
		    fstat(fileno(files[i]), &other) == 0 && one.st_dev == other.st_dev &&
		    one.st_ino == other.st_ino)
			return lt_fail(err, LT_EINPUT, "%s: is %s once more", cli->operands[index],
			    cli->operands[i]);
	return LT_OK;
}

static int
open_parts(FILE **files, const struct lt_cli *cli, struct lt_error *err)
{
	for (int i = 0; i < cli->operand_count; i++) {
		const char *const path = cli->operands[i];

		files[i] = strcmp(path, "-") == 0 ? stdin : fopen(path, "re");
		if (files[i] == NULL)
			return lt_fail(err, errno == ENOENT ? LT_ENOENT : LT_EIO, "%s: %s", path,
			    strerror(errno));
		if (check_once(cli, i, files, err))
			return err->code;
	}
	return LT_OK;
}

static int
read_invoice(
    struct work *work, const struct wish *wish, const struct lt_cli *cli, struct lt_error *err)
{
	struct lt_invoice_ask ask = wish->ask;
	FILE **const files = calloc((size_t)cli->operand_count, sizeof(*files));

	if (files == NULL)
		return lt_fail(err, LT_ENOMEM, "no memory");
	ask.currency = work->currency;
	ask.rates = &work->rates;
	open_parts(files, cli, err);
	for (int i = 0; i < cli->operand_count && !err->code; i++) {
		ask.path = name_of(cli->operands[i]);
		lt_invoice_read(&work->invoice, files[i], &ask, &work->map, err);
	}
	if (!err->code)
		lt_invoice_finish(&work->invoice, &ask, err);
	for (int i = 0; i < cli->operand_count; i++)
		if (files[i] != NULL && files[i] != stdin)
			fclose(files[i]);
	free(files);
	return err->code;
}

static int
ask_jobs(struct work *work, const struct lt_cli *cli, struct lt_error *err)
{
	if (lt_tie_jobs_start(&work->jobs, &work->invoice, err))
		return err->code;
	for (int i = 0; i < work->jobs.day_count && !err->code; i++) {
		char path[160];
		json_t *report = NULL;

		lt_tie_jobs_path(path, sizeof(path), &work->jobs, i);
		if (lt_client_get(&report, cli, path, err) == LT_OK)
			lt_tie_jobs_add(&work->jobs, i, &work->map, report, err);
		json_decref(report);
	}
	return err->code;
}

static int
print(const struct work *work, const struct wish *wish, const struct lt_cli *cli,
    struct lt_error *err)
{
	const struct lt_tie_parts parts = {&work->invoice, &work->map, &work->jobs};
	const struct lt_tie_shown shown = {.files = cli->operands,
	    .file_count = cli->operand_count,
	    .currency = work->currency,
	    .rates = &work->rates,
	    .filter = &wish->ask.filter,
	    .parts = &parts,
	    .tie = &work->tie};

	if (wish->format != TABLE)
		lt_cli_whole_lines();
	if (wish->format == CSV) {
		lt_tie_csv(stdout, &shown);
	} else if (wish->format == TABLE) {
		lt_tie_table(stdout, &shown, cli->color);
	} else {
		json_t *const body = lt_tie_json(&shown);

		if (body == NULL || json_dumpf(body, stdout, JSON_INDENT(2)) != 0)
			lt_fail(err, LT_EIO, "can't write JSON");
		fputc('\n', stdout);
		json_decref(body);
	}
	if (fflush(stdout) != 0 || ferror(stdout))
		lt_fail(err, LT_EIO, "can't write the tie-out");
	return err->code;
}

/* Runs the steps; each uses what those before it found. */
static int
reconcile(
    struct work *work, const struct wish *wish, const struct lt_cli *cli, struct lt_error *err)
{
	if (find_types(work, cli, err) || read_invoice(work, wish, cli, err) ||
	    ask_jobs(work, cli, err))
		return err->code;
	const struct lt_tie_parts parts = {&work->invoice, &work->map, &work->jobs};

	if (lt_tie_make(&work->tie, &parts, err) || print(work, wish, cli, err))
		return err->code;
	if (wish->has_tolerance && lt_tie_exceeds(&work->tie.instances, wish->tolerance_micros))
		return lt_fail(err, LT_EINPUT,
		    "more than %s %% of the instances' invoice is unexplained",
		    lt_cli_value(cli, "tolerance"));
	return LT_OK;
}

int
lt_cli_reconcile(const struct lt_cli *cli)
{
	const char *const map = lt_cli_value(cli, "map");
	const char *const rate = lt_cli_value(cli, "rate");
	struct work *const work = calloc(1, sizeof(*work));
	struct wish wish = {0};
	struct lt_error err = {0};
	int status = LT_EXIT_OK;

	if (work == NULL) {
		lt_fail(&err, LT_ENOMEM, "no memory");
		return lt_cli_fail(&err);
	}
	if (parse_wish(&wish, cli, &err))
		status = lt_cli_usage(cli, "%s", err.text);
	else if (map != NULL && lt_tie_map_parse(&work->map, map, &err))
		status = lt_cli_usage(cli, "--map: %s", err.text);
	else if (rate != NULL && lt_invoice_rate_parse(&work->rates, rate, &err))
		status = lt_cli_usage(cli, "%s", err.text);
	else if (reconcile(work, &wish, cli, &err))
		status = lt_cli_fail(&err);
	lt_tie_free(&work->tie);
	lt_tie_jobs_free(&work->jobs);
	lt_invoice_free(&work->invoice);
	free(work);
	return status;
}
