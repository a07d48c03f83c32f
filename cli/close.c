/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lowtide close: lists closed periods; with a period, closes it; with --reopen, undoes that.
 *
 * With --output DIR it also writes the statement into DIR/PERIOD: the report in each format, and
 * SHA256SUMS of the files that never change. A file that exists is compared and never overwritten:
 * if it differs, that is an error which names it. --last of a month that can't be closed yet
 * succeeds, so that a daily timer stays quiet.
 */
#include <errno.h>
#include <nettle/base16.h>
#include <nettle/sha2.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"
#include "report.h"
#include "units.h"

static const struct file {
	const char *name;
	struct lt_report_look look;
	bool of_money; /* a site without a currency has none */
	bool drawn;    /* another release may draw it differently: stays */
} files[] = {
    {"statement.json", {.format = LT_REPORT_JSON}, false, false},
    {"statement.csv", {.format = LT_REPORT_CSV}, false, false},
    {"runs.csv", {.format = LT_REPORT_CSV, .runs = true}, false, false},
    {"focus.csv", {.format = LT_REPORT_FOCUS, .charges = true}, true, false},
    {"billing-period.csv", {.format = LT_REPORT_FOCUS}, true, false},
    {"statement.html", {.format = LT_REPORT_HTML}, false, true},
};
enum { FILES = sizeof(files) / sizeof(files[0]) };
#define CHECKSUMS "SHA256SUMS"

struct folder {
	const struct lt_cli *cli;
	struct lt_report_query query;
	int closing; /* the first is 1 */
	bool has_money;
	char path[4096 - 32];
};

static bool
is_of(const struct folder *folder, const struct file *file)
{
	return folder->has_money || !file->of_money;
}

/* Gives the folder the group of the folder around it, whoever writes. */
static int
take_group(const struct folder *folder, const char *around, struct lt_error *err)
{
	struct stat ours, theirs;

	if (stat(around, &theirs) != 0)
		return lt_fail(err, LT_EIO, "%s: %s", around, strerror(errno));
	if (lstat(folder->path, &ours) != 0 || !S_ISDIR(ours.st_mode))
		return lt_fail(err, LT_EIO, "%s: want a folder", folder->path);
	if (ours.st_gid == theirs.st_gid && (ours.st_mode & S_ISGID))
		return LT_OK;
	if (chown(folder->path, (uid_t)-1, theirs.st_gid) != 0 ||
	    chmod(folder->path, S_ISGID | 0750) != 0)
		return lt_fail(err, LT_EIO, "%s: can't have the group of %s (%s); chmod g+s %s",
		    folder->path, around, strerror(errno), around);
	return LT_OK;
}

static int
make_folder(struct folder *folder, const char *around, struct lt_error *err)
{
	char closing[16] = "";

	if (folder->closing > 1)
		snprintf(closing, sizeof(closing), ".%d", folder->closing);
	const int length = snprintf(
	    folder->path, sizeof(folder->path), "%s/%s%s", around, folder->query.period, closing);

	if (length >= (int)sizeof(folder->path))
		return lt_fail(err, LT_EIO, "%.60s...: the name is too long", around);
	if (mkdir(folder->path, 0750) != 0 && errno != EEXIST)
		return lt_fail(err, LT_EIO, "%s: %s", folder->path, strerror(errno));
	return take_group(folder, around, err);
}

static int
begin_file(
    struct lt_output *output, const struct folder *folder, const char *name, struct lt_error *err)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/%s", folder->path, name);
	return lt_output_open(output, path, err);
}

static int
write_file(const struct folder *folder, const struct file *file, struct lt_error *err)
{
	char path[4096];
	struct stat there;
	struct lt_output output;

	snprintf(path, sizeof(path), "%s/%s", folder->path, file->name);
	if (file->drawn && lstat(path, &there) == 0)
		return LT_OK;
	if (begin_file(&output, folder, file->name, err))
		return err->code;
	lt_report_write(output.out, folder->cli, &folder->query, &file->look, err);
	return lt_output_keep(&output, err);
}

static int
write_checksum(FILE *out, const struct folder *folder, const char *name, struct lt_error *err)
{
	char path[4096], hex[BASE16_ENCODE_LENGTH(SHA256_DIGEST_SIZE)];
	uint8_t bytes[16384], digest[SHA256_DIGEST_SIZE];
	struct sha256_ctx hash;
	size_t length;

	snprintf(path, sizeof(path), "%s/%s", folder->path, name);
	FILE *const in = fopen(path, "r");
	if (in == NULL)
		return lt_fail(err, LT_EIO, "%s: %s", path, strerror(errno));
	sha256_init(&hash);
	while ((length = fread(bytes, 1, sizeof(bytes), in)) > 0)
		sha256_update(&hash, length, bytes);
	if (ferror(in))
		lt_fail(err, LT_EIO, "%s: can't be read", path);
	fclose(in);
	sha256_digest(&hash, sizeof(digest), digest);
	base16_encode_update(hex, sizeof(digest), digest);
	fprintf(out, "%.*s  %s\n", (int)sizeof(hex), hex, name);
	return err->code;
}

/* Writes the checksums as sha256sum -c reads them. */
static int
write_checksums(const struct folder *folder, struct lt_error *err)
{
	struct lt_output output;

	if (begin_file(&output, folder, CHECKSUMS, err))
		return err->code;
	for (int i = 0; i < FILES && !err->code; i++)
		if (is_of(folder, &files[i]) && !files[i].drawn)
			write_checksum(output.out, folder, files[i].name, err);
	return lt_output_keep(&output, err);
}

static int
ask_currency(struct folder *folder, struct lt_error *err)
{
	json_t *report = NULL;

	if (lt_report_ask(&report, folder->cli, &folder->query, false, err))
		return err->code;
	folder->has_money = *lt_json_text(report, "currency", "") != '\0';
	json_decref(report);
	return LT_OK;
}

/*
 * Writes the statement in each format into the folder around/PERIOD, which is made with the group
 * of around. query->period is a label, "2026-10"; if the period was closed again, the folder has
 * the number of that closing, "2026-10.2". A file with the same content stays; one that differs
 * stays too, and is LT_EINPUT with its name. LT_EIO, or the code of the failed report.
 */
static int
write_statement(const struct lt_cli *cli, const char *around, const struct lt_report_query *query,
    int closing, struct lt_error *err)
{
	struct folder folder = {.cli = cli, .query = *query, .closing = closing};
	const mode_t umask_before = umask(0027); /* the group reads, no others */

	if (ask_currency(&folder, err) == LT_OK)
		make_folder(&folder, around, err);
	for (int i = 0; i < FILES && !err->code; i++)
		if (is_of(&folder, &files[i]))
			write_file(&folder, &files[i], err);
	if (!err->code)
		write_checksums(&folder, err);
	umask(umask_before);
	return err->code;
}

const struct lt_cli_option lt_cli_close_options[] = {
    {"last", NULL, "the last month that is over, once it can be"},
    {"output", "DIR", "write its statement to DIR/PERIOD (-o DIR)"},
    {"no-users", NULL, "whose runs they are, and their names, left out"},
    {"reopen", NULL, "undo the closing of PERIOD, which is the last"},
    {"reason", "TEXT", "why it is opened again; kept with who and when"},
    {NULL, NULL, NULL},
};

/* Prints a line about a closing that was undone. */
static void
print_reopened(const json_t *reopened)
{
	char at[64];
	const char *const texts[][2] = {{"", lt_json_text(reopened, "label", "?")},
	    {" was reopened ",
		lt_local_time(at, sizeof(at), lt_json_text(reopened, "reopened", NULL))},
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
	static const struct lt_table_column columns[] = {{"PERIOD", false}, {"CLOSED", false},
	    {"BY", false}, {"CHECKSUM", false}, {NULL, false}};
	struct lt_table *const table = lt_table_new(columns);
	size_t i, k;
	const json_t *closed, *reopened;

	if (table == NULL)
		return;
	json_array_foreach(json_object_get(answer, "closed"), i, closed) {
		char at[64];
		const char *const cells[] = {lt_json_text(closed, "label", "?"),
		    lt_local_time(at, sizeof(at), lt_json_text(closed, "closed", NULL)),
		    lt_json_text(closed, "closed_by", "?"), lt_json_text(closed, "checksum", "?")};

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

/* Returns how often the period was closed, this time included. */
static int
closing_of(const json_t *answer)
{
	int64_t number = 1;

	(void)lt_json_int(answer, "closing", &number);
	return (int)number;
}

/* Prints the folder of the period's statement. */
static void
print_folder(const struct lt_cli *cli, const json_t *answer)
{
	const int closing = closing_of(answer);

	printf("%s/%s", lt_cli_value(cli, "output"), lt_json_text(answer, "label", ""));
	if (closing > 1)
		printf(".%d", closing);
	putchar('\n');
}

/* Returns the sign that a positive difference is printed with. */
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
		return lt_cli_usage(cli, "--output is of a period that is closed, not of --reopen");
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
		return lt_cli_usage(cli, "--output wants PERIOD or --last beside it");
	if (lt_cli_value(cli, "output") == NULL && lt_cli_value(cli, "no-users") != NULL)
		return lt_cli_usage(cli, "--no-users belongs to --output");
	return check_reopen(cli, period);
}

/* Succeeds: a timer asks each day until the period can be closed, and that must not alarm
 * anybody. */
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

/* Writes the statement of the period that lowtided named: what "last" is depends on the site's time
 * zone. */
static int
write_files(const struct lt_cli *cli, const json_t *answer, struct lt_error *err)
{
	const struct lt_report_query query = {
	    .period = lt_json_text(answer, "label", ""),
	    .no_users = lt_cli_value(cli, "no-users") != NULL,
	};

	if (lt_cli_value(cli, "output") == NULL)
		return LT_OK;
	if (lt_period_check(query.period, err))
		return err->code;
	return write_statement(cli, lt_cli_value(cli, "output"), &query, closing_of(answer), err);
}

static int
close_period(const struct lt_cli *cli, const char *period, bool last)
{
	json_t *const body = json_pack("{s:s}", "period", last ? "last" : period);
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
	json_t *const body =
	    json_pack("{s:s,s:s}", "period", period, "reason", lt_cli_value(cli, "reason"));
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
	const char *const period = cli->operand_count > 0 ? cli->operands[0] : NULL;
	const bool last = lt_cli_value(cli, "last") != NULL;

	if (check_use(cli, period, last))
		return LT_EXIT_USAGE;
	if (lt_cli_value(cli, "reopen") != NULL)
		return reopen_period(cli, period);
	return period != NULL || last ? close_period(cli, period, last) : list_closed(cli);
}
