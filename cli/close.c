/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lowtide close: what has been closed, and by whom; with a period, close it,
 * and with a folder, write its statement there (statement.c). With --reopen the
 * closing is undone.
 */
#include <string.h>

#include "cli.h"
#include "report.h"
#include "statement.h"
#include "units.h"

const struct lt_cli_option lt_cli_close_options[] = {
    {"last", NULL, "the last month that is over, once it can be"},
    {"output", "DIR", "write its statement to DIR/PERIOD (-o DIR)"},
    {"no-users", NULL, "whose runs they are, and their names, left out"},
    {"reopen", NULL, "undo the closing of PERIOD, which is the last"},
    {"reason", "TEXT", "why it is opened again; kept with who and when"},
    {NULL, NULL, NULL},
};

/* A closing that was undone, a line. */
static void
print_reopened(const json_t *reopened)
{
	char at[64];
	const char *const texts[][2] = {
	    {"", lt_json_text(reopened, "label", "?")},
	    {" was reopened ", lt_local_time(at, sizeof(at),
				   lt_json_text(reopened, "reopened", NULL))},
	    {" by ", lt_json_text(reopened, "reopened_by", "?")},
	    {": ", lt_json_text(reopened, "reason", "?")},
	    {". Until then: ", lt_json_text(reopened, "checksum", "?")}};

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		fputs(texts[i][0], stdout);
		lt_print_safe(stdout, texts[i][1]);
	}
	putchar('\n');
}

static void
print_closed(const json_t *answer, bool color)
{
	static const struct lt_table_column columns[] = {{"PERIOD", false},
	    {"CLOSED", false}, {"BY", false}, {"CHECKSUM", false},
	    {NULL, false}};
	struct lt_table *const table = lt_table_new(columns);
	size_t i, k;
	const json_t *closed, *reopened;

	if (table == NULL)
		return;
	json_array_foreach(json_object_get(answer, "closed"), i, closed) {
		char at[64];
		const char *const cells[] = {lt_json_text(closed, "label", "?"),
		    lt_local_time(
			at, sizeof(at), lt_json_text(closed, "closed", NULL)),
		    lt_json_text(closed, "closed_by", "?"),
		    lt_json_text(closed, "checksum", "?")};

		lt_table_row(table, cells);
	}
	lt_table_fit(table, lt_cli_columns(), 1 << 2);
	if (i == 0)
		puts("No period is closed. lowtide close 2026-11 closes one.");
	else
		lt_table_print(stdout, table, color);
	lt_table_free(table);
	json_array_foreach(json_object_get(answer, "reopened"), k, reopened)
		print_reopened(reopened);
}

/* The first is 1. */
static int
closing_of(const json_t *answer)
{
	int64_t number = 1;

	(void)lt_json_int(answer, "closing", &number);
	return (int)number;
}

/* The folder of its statement. */
static void
print_folder(const struct lt_cli *cli, const json_t *answer)
{
	const int closing = closing_of(answer);

	printf("%s/%s", lt_cli_value(cli, "output"),
	    lt_json_text(answer, "label", ""));
	if (closing > 1)
		printf(".%d", closing);
	putchar('\n');
}

/* The sign of what was added, too. */
static const char *
plus(int64_t value)
{
	return value > 0 ? "+" : "";
}

/* Prints how the total differs from that of the closing that was undone. */
static void
say_difference(const json_t *answer)
{
	const json_t *const difference = json_object_get(answer, "difference");
	const char *const currency = lt_json_text(difference, "currency", "");
	char money[64], carbon[64];
	int64_t micros = 0, mg = 0;

	if (!lt_json_int(difference, "cost_micros", &micros) ||
	    !lt_json_int(difference, "carbon_mg", &mg))
		return;
	lt_money_text(money, sizeof(money), micros, currency);
	lt_carbon_text(carbon, sizeof(carbon), mg);
	printf("It is closing %d of this period, in total against the one "
	       "before: ",
	    closing_of(answer));
	if (currency[0] != '\0')
		printf("%s%s, ", plus(micros), money);
	printf("%s%s CO2e.\n", plus(mg), carbon);
}

static void
say_closed(const struct lt_cli *cli, const json_t *answer)
{
	char at[64];

	lt_local_time(at, sizeof(at), lt_json_text(answer, "closed", NULL));
	lt_print_safe(stdout, lt_json_text(answer, "label", "?"));
	printf(" is closed since %s, by ", at);
	lt_print_safe(stdout, lt_json_text(answer, "closed_by", "?"));
	puts(".\nWhat comes later for it is a correction in an open period.");
	say_difference(answer);
	puts(lt_json_text(answer, "checksum", ""));
	if (lt_cli_value(cli, "output") != NULL)
		print_folder(cli, answer);
}

static int
check_reopen(const struct lt_cli *cli, const char *period)
{
	const char *const reason = lt_cli_value(cli, "reason");
	const bool is_reopened = lt_cli_value(cli, "reopen") != NULL;

	if (!is_reopened && reason != NULL)
		return lt_cli_usage(cli, "--reason belongs to --reopen");
	if (!is_reopened)
		return LT_EXIT_OK;
	if (period == NULL)
		return lt_cli_usage(cli, "--reopen wants PERIOD");
	if (lt_cli_value(cli, "output") != NULL)
		return lt_cli_usage(cli,
		    "--output is of a period that is closed, not of --reopen");
	if (reason == NULL || reason[strspn(reason, " \t\r\n")] == '\0')
		return lt_cli_usage(cli, "--reopen wants --reason TEXT");
	return LT_EXIT_OK;
}

static int
check_use(const struct lt_cli *cli, const char *period, bool last)
{
	struct lt_error err = {0};

	if (period != NULL && last)
		return lt_cli_usage(cli, "PERIOD and --last are two of them");
	if (period != NULL && lt_period_check(period, &err))
		return lt_cli_usage(cli, "%s", err.text);
	if (period == NULL && !last && lt_cli_value(cli, "output") != NULL)
		return lt_cli_usage(
		    cli, "--output wants PERIOD or --last beside it");
	if (lt_cli_value(cli, "output") == NULL &&
	    lt_cli_value(cli, "no-users") != NULL)
		return lt_cli_usage(cli, "--no-users belongs to --output");
	return check_reopen(cli, period);
}

/* A timer asks each day until it can be: that is nothing to wake anybody. */
static int
say_not_yet(const struct lt_cli *cli, const struct lt_error *err)
{
	if (cli->json) {
		json_t *const body = json_pack("{s:s}", "not_yet", err->text);
		const int result = lt_cli_print_json(body);

		json_decref(body);
		return result;
	}
	fputs("Not yet: ", stdout);
	lt_print_safe(stdout, err->text);
	putchar('\n');
	return LT_EXIT_OK;
}

/* lowtided says which period it is: "last" is of the site's time zone. */
static int
write_files(
    const struct lt_cli *cli, const json_t *answer, struct lt_error *err)
{
	const struct lt_report_query query = {
	    .period = lt_json_text(answer, "label", ""),
	    .no_users = lt_cli_value(cli, "no-users") != NULL,
	};

	if (lt_cli_value(cli, "output") == NULL)
		return LT_OK;
	if (lt_period_check(query.period, err))
		return err->code;
	return lt_statement_write(
	    cli, lt_cli_value(cli, "output"), &query, closing_of(answer), err);
}

static int
close_period(const struct lt_cli *cli, const char *period, bool last)
{
	json_t *const body =
	    json_pack("{s:s}", "period", last ? "last" : period);
	json_t *answer = NULL;
	struct lt_error err = {0};
	int result = LT_EXIT_OK;

	lt_client_post(&answer, cli, "/v1/close", body, &err);
	json_decref(body);
	if (last && err.code == LT_ECONFLICT)
		return say_not_yet(cli, &err);
	if (err.code || write_files(cli, answer, &err))
		result = lt_cli_fail(&err);
	else if (cli->json)
		result = lt_cli_print_json(answer);
	else
		say_closed(cli, answer);
	json_decref(answer);
	return result;
}

static int
reopen_period(const struct lt_cli *cli, const char *period)
{
	json_t *const body = json_pack("{s:s,s:s}", "period", period, "reason",
	    lt_cli_value(cli, "reason"));
	json_t *answer = NULL;
	struct lt_error err = {0};
	int result = LT_EXIT_OK;

	if (body == NULL)
		lt_fail(&err, LT_EINPUT, "--reason must be UTF-8");
	else
		lt_client_post(&answer, cli, "/v1/reopen", body, &err);
	json_decref(body);
	if (err.code)
		result = lt_cli_fail(&err);
	else if (cli->json)
		result = lt_cli_print_json(answer);
	else
		printf("%s is open again. What was corrected of it is booked "
		       "in it.\nOwners are told nothing by its next closing: "
		       "lowtide close %s\n",
		    period, period);
	json_decref(answer);
	return result;
}

static int
list_closed(const struct lt_cli *cli)
{
	json_t *answer = NULL;
	struct lt_error err = {0};
	int result = LT_EXIT_OK;

	if (lt_client_get(&answer, cli, "/v1/closed", &err))
		return lt_cli_fail(&err);
	if (cli->json)
		result = lt_cli_print_json(answer);
	else
		print_closed(answer, cli->color);
	json_decref(answer);
	return result;
}

int
lt_cli_close(const struct lt_cli *cli)
{
	const char *const period =
	    cli->operand_count > 0 ? cli->operands[0] : NULL;
	const bool last = lt_cli_value(cli, "last") != NULL;

	if (check_use(cli, period, last))
		return LT_EXIT_USAGE;
	if (lt_cli_value(cli, "reopen") != NULL)
		return reopen_period(cli, period);
	return period != NULL || last ? close_period(cli, period, last)
				      : list_closed(cli);
}
