/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A site's runs, from sacct, which also has the time before lowtide. sacct is asked day by day, so
 * that neither slurmdbd nor this process holds a month at once; a day that is too much for one
 * answer is split. A row that can't be read is an error.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "simulate_site.h"
#include "units.h"

enum {
	TIMEOUT_S = 300,	/* of one question */
	LEAST_SPAN_S = 15 * 60, /* a shorter one is not cut in two */
	/* Slurm's pass over all that waits (sched_interval): what was free to run when it came, as
	 * a task of an array, is eligible since then. */
	PASS_S = 60,
};

/* Between two of them, eight digits that are drawn for each question: no user knew them when they
 * named a job. */
#define DELIMITER_BYTE "\x1f"
enum { DELIMITER_SIZE = 11 };

enum column {
	ID,
	UID,
	ACCOUNT,
	PARTITION,
	QOS,
	SUBMIT,
	ELIGIBLE,
	START,
	END,
	LIMIT,
	NODES,
	CPUS,
	TRES,
	RESERVATION,
	CONSTRAINTS,
	NAME,
	LINE,
	COLUMNS
};
static const char columns_wanted[] =
    "JobID,UID,Account,Partition,QOS,Submit,Eligible,Start,End,TimelimitRaw,"
    "NNodes,NCPUS,AllocTRES,Reservation,Constraints,JobName,SubmitLine";

/* ---- a row ---- */

/* Reads a count or a time; -1 = none. */
static int64_t
number_of(const char *text)
{
	int64_t value;

	return lt_int64_parse(text, 0, INT64_MAX / 2, &value, NULL) == LT_OK ? value : -1;
}

static uint32_t
count_of(const char *text)
{
	const int64_t value = number_of(text);

	return value < 0 ? 0 : value > UINT32_MAX ? UINT32_MAX : (uint32_t)value;
}

/* Returns the amount of a name in "cpu=4,gres/gpu=2,mem=16G,node=1"; -1 = none. */
static int64_t
tres_of(const char *tres, const char *name)
{
	const size_t length = strlen(name);
	char value[32];
	int64_t amount;

	for (const char *at = tres; *at != '\0';) {
		const size_t item = strcspn(at, ",");

		if (item > length && item - length - 1 < sizeof(value) &&
		    strncmp(at, name, length) == 0 && at[length] == '=') {
			(void)snprintf(value, sizeof(value), "%.*s", (int)(item - length - 1),
			    at + length + 1);
			return lt_mebibytes_parse(value, &amount, NULL) == LT_OK ? amount : -1;
		}
		at += item + (at[item] == ',');
	}
	return -1;
}

/* True if this word of the command is that option: "-p", "-pgpu", "--partition=gpu". */
static bool
is_option(const char *word, size_t length, const char *name)
{
	const size_t named = strlen(name);

	if (named > length || strncmp(word, name, named) != 0)
		return false;
	return name[1] != '-' || length == named || word[named] == '=';
}

static const struct {
	const char *option, *other;
	enum lt_pin pin;
} pinning[] = {
    {"-p", "--partition", LT_PIN_PARTITION},
    {"-b", "--begin", LT_PIN_BEGIN},
    {"-d", "--dependency", LT_PIN_DEPENDENCY},
    {"-w", "--nodelist", LT_PIN_NODELIST},
    {"-L", "--licenses", LT_PIN_LICENSES},
    {"--bb", "--bbf", LT_PIN_BURST_BUFFER},
};

/* Returns the choices that the command line fixed. Options of the script that look alike count too:
 * then fewer runs are moved than possible. */
static uint32_t
pins_of_line(const char *line)
{
	const size_t first = strcspn(line, " ");
	const char *const slash = memrchr(line, '/', first);
	const char *const program = slash != NULL ? slash + 1 : line;
	uint32_t pins = 0;

	if (strncmp(program, "srun", 4) == 0 || strncmp(program, "salloc", 6) == 0)
		pins |= LT_PIN_INTERACTIVE;
	for (const char *word = line + first; *word != '\0';) {
		word += strspn(word, " ");
		const size_t length = strcspn(word, " ");

		for (size_t i = 0; i < sizeof(pinning) / sizeof(pinning[0]); i++)
			if (is_option(word, length, pinning[i].option) ||
			    is_option(word, length, pinning[i].other))
				pins |= (uint32_t)pinning[i].pin;
		word += length;
	}
	return pins;
}

static uint32_t
pins_of(char *const cells[COLUMNS], const struct lt_site_run *run, const struct lt_market *market)
{
	uint32_t pins = pins_of_line(cells[LINE]);

	/* A begin time, a dependency or a hold: until then it could not run. */
	if (run->eligible_utc_s > run->submit_utc_s + PASS_S)
		pins |= LT_PIN_BEGIN;
	if (cells[RESERVATION][0] != '\0')
		pins |= LT_PIN_RESERVATION;
	if (strchr(cells[ID], '+') != NULL)
		pins |= LT_PIN_HET;
	/* slurmdbd does not have #SBATCH lines. */
	if ((market->partitions[run->partition].flags & LT_PARTITION_DEFAULT) == 0)
		pins |= LT_PIN_PARTITION;
	return pins;
}

static int
add_run(struct lt_site_rows *rows, const struct lt_site_run *run, struct lt_error *err)
{
	if (rows->count == LT_SITE_RUNS_MAX)
		return lt_fail(err, LT_ELIMIT, "sacct: more than %d runs; want a shorter --last",
		    LT_SITE_RUNS_MAX);
	if (rows->count == rows->room) {
		const uint32_t more = rows->room * 2 + 1024;
		struct lt_site_run *const grown = realloc(rows->runs, more * sizeof(*grown));

		if (grown == NULL)
			return lt_fail(err, LT_ENOMEM, "runs: no memory");
		rows->runs = grown;
		rows->room = more;
	}
	rows->runs[rows->count++] = *run;
	return LT_OK;
}

static struct lt_site_run
run_of(char *const cells[COLUMNS])
{
	const int64_t limit_min = number_of(cells[LIMIT]);
	const int64_t eligible_s = number_of(cells[ELIGIBLE]);
	const int64_t cpus = tres_of(cells[TRES], "cpu");
	const int64_t memory = tres_of(cells[TRES], "mem");
	const int64_t gpus = tres_of(cells[TRES], "gres/gpu");
	struct lt_site_run run = {.submit_utc_s = number_of(cells[SUBMIT]),
	    .start_utc_s = number_of(cells[START]),
	    .end_utc_s = number_of(cells[END]),
	    .limit_s = limit_min > 0 ? limit_min * 60 : LT_UNSET_64,
	    .uid = count_of(cells[UID]),
	    .nodes = count_of(cells[NODES]),
	    .cpus = cpus > 0 ? (uint32_t)cpus : count_of(cells[CPUS]),
	    .gpus = gpus > 0 ? (uint32_t)gpus : 0,
	    .memory_mib = memory > 0 ? (uint64_t)memory : 0,
	    .account = cells[ACCOUNT],
	    .qos = cells[QOS],
	    .name = cells[NAME],
	    .features = cells[CONSTRAINTS]};

	run.eligible_utc_s = eligible_s > run.submit_utc_s && eligible_s <= run.start_utc_s
				 ? eligible_s
				 : run.submit_utc_s;
	return run;
}

/* Takes a row, unless the job never ran, or ended in the time of another page. */
static int
take_row(struct lt_site_page *page, char *cells[COLUMNS], const struct lt_site_span *span,
    struct lt_error *err)
{
	struct lt_site_rows *const rows = &page->rows;
	const int partition = lt_market_partition(&page->market, cells[PARTITION]);
	struct lt_site_run run = run_of(cells);

	if (run.submit_utc_s < 0)
		return LT_OK;
	if (run.end_utc_s <= 0) {
		rows->unended += span->is_last && run.submit_utc_s >= page->from_utc_s;
		return LT_OK;
	}
	if (run.start_utc_s < run.submit_utc_s || run.end_utc_s <= run.start_utc_s ||
	    run.nodes == 0 || run.end_utc_s < span->from_utc_s || run.end_utc_s >= span->to_utc_s)
		return LT_OK;
	if (partition < 0) {
		rows->no_partition += run.submit_utc_s >= page->from_utc_s;
		return LT_OK;
	}
	run.partition = (uint16_t)partition;
	run.pins = pins_of(cells, &run, &page->market);
	rows->gpu_runs += run.gpus > 0;
	return add_run(rows, &run, err);
}

static int
keep_page(struct lt_site_rows *rows, char *text, struct lt_error *err)
{
	char **const pages = realloc(rows->pages, (rows->page_count + 1) * sizeof(*rows->pages));

	if (pages == NULL) {
		free(text);
		return lt_fail(err, LT_ENOMEM, "runs: no memory");
	}
	rows->pages = pages;
	rows->pages[rows->page_count++] = text;
	return LT_OK;
}

/* Cuts a row into cells, in place. */
static bool
take_cells(char *cells[COLUMNS], char **rest, const char *delimiter)
{
	for (int i = 0; i < COLUMNS; i++) {
		char *const end = strstr(*rest, delimiter);

		if (end == NULL)
			return false;
		*end = '\0';
		cells[i] = *rest;
		*rest = end + strlen(delimiter);
	}
	*rest += **rest == '\n';
	return true;
}

int
lt_site_rows_take(
    struct lt_site_page *page, char *text, const struct lt_site_span *span, struct lt_error *err)
{
	char *rest = text;

	if (keep_page(&page->rows, text, err) != LT_OK)
		return err->code;
	while (*rest != '\0') {
		char *cells[COLUMNS];

		if (!take_cells(cells, &rest, span->delimiter))
			return lt_fail(err, LT_EIO, "sacct: its answer ends within a row");
		if (take_row(page, cells, span, err) != LT_OK)
			return err->code;
	}
	return LT_OK;
}

/* ---- sacct ---- */

static const char *
sacct_time(char *out, size_t size, int64_t utc_s)
{
	const time_t seconds = (time_t)utc_s;
	struct tm tm;

	gmtime_r(&seconds, &tm);
	strftime(out, size, "%Y-%m-%dT%H:%M:%S", &tm);
	return out;
}

/* Asks sacct. LT_ELIMIT: too much for one answer. */
static int
ask_sacct(struct lt_program *child, const struct lt_site_span *span, struct lt_error *err)
{
	char from[32], to[32], option[64];
	/* Times as seconds: sacct prints them in the local zone, which has an hour twice a year. */
	const char *const argv[] = {"env", "TZ=UTC0", "SLURM_TIME_FORMAT=%s", "sacct", "-a", "-X",
	    "-D", "-p", "-n", "--noconvert", option, "-S",
	    sacct_time(from, sizeof(from), span->from_utc_s), "-E",
	    sacct_time(to, sizeof(to), span->to_utc_s), "-o", columns_wanted, NULL};

	(void)snprintf(option, sizeof(option), "--delimiter=%s", span->delimiter);
	if (lt_program_run(child, (char *const *)(uintptr_t)argv, true, TIMEOUT_S, err) != LT_OK)
		return err->code;
	if (child->status == 0)
		return LT_OK;
	if (child->error != NULL)
		child->error[strcspn(child->error, "\n")] = '\0';
	lt_fail(err, LT_EIO, "sacct: exit status %d: %s", child->status,
	    child->status == 127   ? "it is not in PATH"
	    : child->error != NULL ? child->error
				   : "");
	lt_program_free(child);
	return err->code;
}

static int
read_span(struct lt_site_page *page, const struct lt_site_span *span, struct lt_error *err)
{
	const int64_t length_s = span->to_utc_s - span->from_utc_s;
	struct lt_program child;
	char *text;

	if (ask_sacct(&child, span, err) == LT_OK) {
		text = child.out;
		child.out = NULL;
		lt_program_free(&child);
		return text != NULL ? lt_site_rows_take(page, text, span, err) : LT_OK;
	}
	if (err->code != LT_ELIMIT || length_s < 2 * LEAST_SPAN_S)
		return err->code;
	*err = (struct lt_error){0};
	const int64_t middle_s = span->from_utc_s + length_s / 2;
	struct lt_site_span first = *span, second = *span;

	first.to_utc_s = second.from_utc_s = middle_s;
	first.is_last = false;

	if (read_span(page, &first, err) != LT_OK)
		return err->code;
	return read_span(page, &second, err);
}

static int
by_number(int64_t a, int64_t b)
{
	return (a > b) - (a < b);
}

/* Orders by submission; equals in any order that stays the same. */
static int
by_submission(const void *a, const void *b)
{
	const struct lt_site_run *const x = a, *const y = b;
	const int orders[] = {by_number(x->submit_utc_s, y->submit_utc_s),
	    by_number(x->start_utc_s, y->start_utc_s), by_number(x->end_utc_s, y->end_utc_s),
	    by_number(x->uid, y->uid), by_number(x->cpus, y->cpus), strcmp(x->name, y->name)};

	for (size_t i = 0; i < sizeof(orders) / sizeof(orders[0]); i++)
		if (orders[i] != 0)
			return orders[i];
	return 0;
}

int
lt_site_rows_read(struct lt_site_page *page, struct lt_error *err)
{
	const int64_t days = (page->to_utc_s - page->from_utc_s + LT_DAY_S - 1) / LT_DAY_S;
	const bool tells = lt_cli_escapes(STDERR_FILENO);
	char delimiter[DELIMITER_SIZE];
	uint32_t drawn;

	if (getrandom(&drawn, sizeof(drawn), 0) != (ssize_t)sizeof(drawn))
		return lt_fail(err, LT_EIO, "no random bytes");
	(void)snprintf(delimiter, sizeof(delimiter), DELIMITER_BYTE "%08x" DELIMITER_BYTE, drawn);
	for (int64_t day = 0; day < days && err->code == LT_OK; day++) {
		const int64_t from_s = page->from_utc_s + day * LT_DAY_S;
		const bool is_last = day + 1 == days;
		/* Runs that end in this second, too. */
		const struct lt_site_span span = {
		    from_s, is_last ? page->to_utc_s + 1 : from_s + LT_DAY_S, is_last, delimiter};

		if (tells)
			fprintf(stderr, "\rsimulate: sacct, day %lld of %lld, %u runs\033[K",
			    (long long)day + 1, (long long)days, page->rows.count);
		(void)read_span(page, &span, err);
	}
	if (tells)
		fputs("\r\033[K", stderr);
	if (err->code == LT_OK && page->rows.count > 0)
		qsort(page->rows.runs, page->rows.count, sizeof(*page->rows.runs), by_submission);
	return err->code;
}

void
lt_site_rows_free(struct lt_site_rows *rows)
{
	for (uint32_t i = 0; i < rows->page_count; i++)
		free(rows->pages[i]);
	free(rows->pages);
	free(rows->runs);
	*rows = (struct lt_site_rows){0};
}
