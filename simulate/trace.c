/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Traces of jobs: GAIA's CSV, sacct -P, and SWF (the Standard Workload Format:
 * 18 columns, -1 = not known). The first line says which form it is, and a row of `forms` how its
 * lines are read. A row that makes no sense is left out, and counted with its reason; a header that
 * is not understood is an error. Jobs are sorted by submission. lt_sim_generate() makes the limits,
 * users and names that a trace lacks.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace.h"
#include "units.h"

enum { WANTED_MAX = 8 };

struct columns {
	int index[WANTED_MAX]; /* of what the form wants; -1 = none */
	int count;	       /* of the header; 0 = it has none */
	int64_t unix_start_s;  /* SWF's; 0 = not said */
	double summed_job;     /* SWF's last line that is no part; or NAN */
};

struct row {
	const struct lt_sim_trace_look *look;
	struct columns *columns;
	char **cells;
	int count;
	bool is_part; /* by read: its job's sum is in another line */
};

struct wanted { /* a column, by the first of its names that is there */
	const char *names[3];
	bool required;
};

struct form {
	const char *header;	   /* a part of its first line; NULL = it has none */
	const char *header_wanted; /* for errors */
	char separator;
	struct wanted wanted[WANTED_MAX];
	/* A run of 0 s: to be left out. */
	int (*read)(struct lt_sim_job *job, struct row *row, struct lt_error *err);
};

/* ---- a row ---- */

enum { GAIA_ARRIVAL, GAIA_LENGTH, GAIA_CPUS };
enum { SACCT_ID, SACCT_SUBMIT, SACCT_ELAPSED, SACCT_CPUS, SACCT_LIMIT, SACCT_USER, SACCT_NAME };
enum { /* columns, from 0 */
	SWF_JOB = 0,
	SWF_SUBMIT = 1,
	SWF_RUN = 3,
	SWF_CPUS = 4,
	SWF_ASKED_CPUS = 7,
	SWF_ASKED_TIME = 8,
	SWF_STATUS = 10,
	SWF_USER = 11,
	SWF_PROGRAM = 13,
	SWF_COLUMNS = 18
};
/* Values of SWF_STATUS: a part of a job that was interrupted and went on. The job's sum stands in
 * the line above its parts, with status 0, 1 or 5. */
enum { SWF_PART_GOES_ON = 2, SWF_PART_FAILED = 4 };

/* The cell of a wanted column, "" = not there. */
static const char *
cell_of(const struct row *row, int wanted)
{
	const int index = row->columns->index[wanted];

	return index >= 0 && index < row->count ? row->cells[index] : "";
}

static int
read_number(double *value, const char *text, const char *what, struct lt_error *err)
{
	if (lt_double_parse(text, value, NULL) != LT_OK || *value < 0)
		return lt_fail(
		    err, LT_EINPUT, "%s: got \"%s\", want a number of at least 0", what, text);
	return LT_OK;
}

static int
read_count(uint32_t *count, const char *text, const char *what, struct lt_error *err)
{
	int64_t value;

	if (lt_int64_parse(text, 0, 1 << 20, &value, NULL) != LT_OK)
		return lt_fail(
		    err, LT_EINPUT, "%s: got \"%s\", want a count up to %d", what, text, 1 << 20);
	*count = (uint32_t)value;
	return LT_OK;
}

static int
read_gaia(struct lt_sim_job *job, struct row *row, struct lt_error *err)
{
	const struct lt_sim_trace_look *const look = row->look;
	double arrival, length, ticks;

	*job = (struct lt_sim_job){0};
	if (read_number(&arrival, cell_of(row, GAIA_ARRIVAL), "arrival_time", err) ||
	    read_number(&length, cell_of(row, GAIA_LENGTH), "length", err) ||
	    read_count(&job->cpus, cell_of(row, GAIA_CPUS), "cpus", err))
		return err->code;
	arrival *= (double)look->unit_s;
	length *= (double)look->unit_s;
	ticks = floor(arrival / (double)look->tick_s);
	if (arrival > LT_SIM_RUN_MAX_S || length > LT_SIM_RUN_MAX_S)
		return lt_fail(err, LT_EINPUT, "%g s, want at most %d: is the unit right?",
		    fmax(arrival, length), LT_SIM_RUN_MAX_S);
	job->submit_utc_s = look->from_utc_s + (int64_t)ticks * look->tick_s;
	job->run_s = (int64_t)floor(length / (double)look->tick_s) * look->tick_s;
	job->exact_run_s = length;
	return LT_OK;
}

/* "2022-10-19T16:00:00", as sacct has it under TZ=UTC, or seconds. */
static int
read_sacct_time(int64_t *utc_s, const char *text, struct lt_error *err)
{
	char zoned[40];

	if (lt_int64_parse(text, 0, INT64_MAX / 2, utc_s, NULL) == LT_OK)
		return LT_OK;
	(void)snprintf(zoned, sizeof(zoned), "%sZ", text);
	if (lt_utc_parse(zoned, utc_s, NULL) == LT_OK)
		return LT_OK;
	return lt_fail(
	    err, LT_EINPUT, "Submit: got \"%s\", want 2022-10-19T16:00:00 (UTC) or seconds", text);
}

/* Raw seconds or minutes, or Slurm's d-h:m:s; -1 = not known. */
static int64_t
sacct_span_s(const char *text, int64_t raw_unit_s)
{
	int64_t value;

	if (lt_int64_parse(text, 0, INT32_MAX, &value, NULL) == LT_OK)
		return value * raw_unit_s;
	return lt_slurm_time_parse(text, &value, NULL) == LT_OK ? value : -1;
}

static int
read_sacct(struct lt_sim_job *job, struct row *row, struct lt_error *err)
{
	const char *const id = cell_of(row, SACCT_ID);
	const char *const user = cell_of(row, SACCT_USER);
	const char *const name = cell_of(row, SACCT_NAME);
	const int64_t limit_s = sacct_span_s(cell_of(row, SACCT_LIMIT), 60);

	*job = (struct lt_sim_job){0};
	if (id[0] < '0' || id[0] > '9')
		return lt_fail(err, LT_EINPUT, "JobID: got \"%s\", want the number of a job", id);
	/* A step: "12.batch". */
	if (strchr(id, '.') != NULL)
		return LT_OK;
	if (read_sacct_time(&job->submit_utc_s, cell_of(row, SACCT_SUBMIT), err) ||
	    read_count(&job->cpus, cell_of(row, SACCT_CPUS), "CPUs", err))
		return err->code;
	job->run_s = sacct_span_s(cell_of(row, SACCT_ELAPSED), 1);
	if (job->run_s < 0)
		return lt_fail(err, LT_EINPUT, "Elapsed: got \"%s\", want seconds or 1-02:03:04",
		    cell_of(row, SACCT_ELAPSED));
	job->exact_run_s = (double)job->run_s;
	job->limit_s = limit_s > 0 ? limit_s : 0; /* UNLIMITED: none */
	job->user = user[0] != '\0' ? lt_name_hash(user) : 0;
	job->name = name[0] != '\0' ? lt_name_hash(name) : 0;
	return LT_OK;
}

static int
read_swf(struct lt_sim_job *job, struct row *row, struct lt_error *err)
{
	double values[SWF_COLUMNS];

	*job = (struct lt_sim_job){0};
	if (row->count != SWF_COLUMNS)
		return lt_fail(err, LT_EINPUT,
		    "got %d columns, want arrival_time,length,cpus, the header of sacct -P, or %d columns of SWF",
		    row->count, SWF_COLUMNS);
	for (int i = 0; i < SWF_COLUMNS; i++)
		if (lt_double_parse(row->cells[i], &values[i], NULL) != LT_OK ||
		    fabs(values[i]) > 1e12)
			return lt_fail(err, LT_EINPUT, "column %d: got \"%s\", want a number",
			    i + 1, row->cells[i]);
	row->is_part =
	    values[SWF_STATUS] >= SWF_PART_GOES_ON && values[SWF_STATUS] <= SWF_PART_FAILED;
	if (row->is_part && row->columns->summed_job != values[SWF_JOB])
		return lt_fail(err, LT_EINPUT,
		    "a part of job %g (status %g), want the line of the whole job above it",
		    values[SWF_JOB], values[SWF_STATUS]);
	if (row->is_part)
		return LT_OK;
	row->columns->summed_job = values[SWF_JOB];

	const double cpus = values[SWF_CPUS] > 0 ? values[SWF_CPUS] : values[SWF_ASKED_CPUS];

	if (values[SWF_RUN] <= 0 || cpus <= 0)
		return LT_OK;
	if (cpus > 1 << 20)
		return lt_fail(err, LT_EINPUT, "column %d: got %g, want a count up to %d",
		    SWF_CPUS + 1, cpus, 1 << 20);
	job->submit_utc_s =
	    (row->columns->unix_start_s > 0 ? row->columns->unix_start_s : row->look->from_utc_s) +
	    (int64_t)values[SWF_SUBMIT];
	job->run_s = (int64_t)values[SWF_RUN];
	job->exact_run_s = values[SWF_RUN];
	job->cpus = (uint32_t)cpus;
	job->limit_s = (int64_t)fmax(0, values[SWF_ASKED_TIME]);
	/* -1, not known, becomes 0. */
	job->user = (uint32_t)(int64_t)fmin(values[SWF_USER] + 1, 4e9);
	job->name = (uint32_t)(int64_t)fmin(values[SWF_PROGRAM] + 1, 4e9);
	return LT_OK;
}

static const struct form forms[] = {
    {.header = "arrival_time",
	.header_wanted = "arrival_time,length,cpus",
	.separator = ',',
	.wanted = {[GAIA_ARRIVAL] = {{"arrival_time"}, true},
	    [GAIA_LENGTH] = {{"length"}, true},
	    [GAIA_CPUS] = {{"cpus"}, true}},
	.read = read_gaia},
    {.header = "|",
	.header_wanted = "the header of sacct -P (without -n)",
	.separator = '|',
	.wanted = {[SACCT_ID] = {{"JobIDRaw", "JobID"}, true},
	    [SACCT_SUBMIT] = {{"Submit"}, true},
	    [SACCT_ELAPSED] = {{"ElapsedRaw", "Elapsed"}, true},
	    [SACCT_CPUS] = {{"AllocCPUS", "NCPUS", "ReqCPUS"}, true},
	    [SACCT_LIMIT] = {{"TimelimitRaw", "Timelimit"}, false},
	    [SACCT_USER] = {{"User"}, false},
	    [SACCT_NAME] = {{"JobName"}, false}},
	.read = read_sacct},
    /* The last: it takes what has no header. */
    {.separator = ' ', .read = read_swf},
};

static int
find_column(int *index, const struct row *header, const char *name, struct lt_error *err)
{
	for (int i = 0; i < header->count; i++) {
		if (strcmp(header->cells[i], name) != 0)
			continue;
		if (*index >= 0)
			return lt_fail(err, LT_EINPUT, "the header has column %s twice", name);
		*index = i;
	}
	return LT_OK;
}

static int
find_columns(struct columns *columns, const struct form *form, const struct row *header,
    struct lt_error *err)
{
	columns->count = header->count;
	for (int w = 0; w < WANTED_MAX; w++) {
		const struct wanted *const wanted = &form->wanted[w];

		columns->index[w] = -1;
		for (int n = 0; n < 3 && wanted->names[n] != NULL && columns->index[w] < 0; n++)
			if (find_column(&columns->index[w], header, wanted->names[n], err) != LT_OK)
				return err->code;
		if (wanted->required && columns->index[w] < 0)
			return lt_fail(err, LT_EINPUT, "got no column %s, want %s",
			    wanted->names[0], form->header_wanted);
	}
	return LT_OK;
}

static void
read_swf_comment(const char *line, struct columns *columns)
{
	static const char key[] = "UnixStartTime:";
	const char *const at = strstr(line, key);
	char text[32];
	int64_t value;

	if (at == NULL)
		return;
	(void)snprintf(
	    text, sizeof(text), "%s", at + sizeof(key) - 1 + strspn(at + sizeof(key) - 1, " \t"));
	text[strcspn(text, " \t\r")] = '\0';
	if (lt_int64_parse(text, 0, INT64_MAX / 4, &value, NULL) == LT_OK)
		columns->unix_start_s = value;
}

/* ---- lines ---- */

/* "a|b|c" into cells in place; how many there are, at most max + 1. */
static int
split_line(char *line, char separator, char **cells, int max)
{
	int count = 0;
	char *at = line;

	for (;;) {
		if (separator == ' ')
			at += strspn(at, " \t");
		if (separator == ' ' && *at == '\0')
			return count;
		if (count == max)
			return max + 1;
		cells[count++] = at;
		at = separator == ' ' ? strpbrk(at, " \t") : strchr(at, separator);
		if (at == NULL)
			return count;
		*at++ = '\0';
	}
}

static const struct form *
form_of(const char *line)
{
	const struct form *form = forms;

	while (form->header != NULL && strstr(line, form->header) == NULL)
		form++;
	return form;
}

static int
grow_trace(struct lt_sim_trace *trace, uint32_t *room, struct lt_error *err)
{
	const uint32_t more = *room == 0 ? 1024 : *room * 2;
	struct lt_sim_job *jobs;

	if (trace->count < *room)
		return LT_OK;
	if (trace->count >= LT_SIM_JOBS_MAX)
		return lt_fail(err, LT_ELIMIT, "more than %d jobs", LT_SIM_JOBS_MAX);
	jobs = realloc(trace->jobs, more * sizeof(*jobs));
	if (jobs == NULL)
		return lt_fail(err, LT_ENOMEM, "no memory for %u jobs", more);
	trace->jobs = jobs;
	*room = more;
	return LT_OK;
}

static int
check_job(const struct lt_sim_job *job, struct lt_error *err)
{
	if (job->run_s > LT_SIM_RUN_MAX_S)
		return lt_fail(err, LT_EINPUT, "a run of %lld s, want at most %d",
		    (long long)job->run_s, LT_SIM_RUN_MAX_S);
	if (job->submit_utc_s < 0)
		return lt_fail(err, LT_EINPUT, "submitted at %lld, want a time after 1970",
		    (long long)job->submit_utc_s);
	return LT_OK;
}

struct reader {
	const struct lt_sim_trace_look *look;
	const struct form *form; /* NULL = not known yet */
	struct columns columns;
	struct lt_sim_trace *trace;
	uint32_t room;
	int number; /* of the line, from 1 */
};

/* A row as the job that comes next; what is wrong with it is in err. */
static int
read_row(struct reader *reader, struct row *row, struct lt_error *err)
{
	struct lt_sim_trace *const trace = reader->trace;
	struct lt_sim_job *const job = &trace->jobs[trace->count];

	/* A name with the separator in it moves all that stand behind it. */
	if (row->columns->count > 0 && row->count != row->columns->count)
		return lt_fail(err, LT_EINPUT, "got %d cells, want %d, as many as the header has",
		    row->count, row->columns->count);
	if (reader->form->read(job, row, err) || check_job(job, err))
		return err->code;
	if (row->is_part)
		trace->parts++;
	else if (job->run_s <= 0 || job->cpus == 0)
		trace->skipped++;
	else
		trace->count++;
	return LT_OK;
}

static void
leave_row_out(struct reader *reader, const struct lt_error *bad)
{
	struct lt_sim_trace *const trace = reader->trace;

	if (trace->bad < LT_SIM_BAD_SHOWN_MAX) {
		trace->bad_first[trace->bad] = *bad;
		(void)lt_context(
		    &trace->bad_first[trace->bad], "%s:%d", reader->look->path, reader->number);
	}
	trace->bad++;
}

/* A line without its end, in place. An error is one of the file; a row that makes no sense is left
 * out. */
static int
read_line(struct reader *reader, char *line, struct lt_error *err)
{
	char *cells[LT_SIM_COLUMNS_MAX];
	struct row row = {.look = reader->look, .columns = &reader->columns, .cells = cells};
	struct lt_error bad = {0};
	bool is_header = false;

	if (line[strspn(line, " \t")] == '\0')
		return LT_OK;
	if (line[0] == ';') {
		read_swf_comment(line, &reader->columns);
		return LT_OK;
	}
	if (reader->form == NULL) {
		reader->form = form_of(line);
		is_header = reader->form->header != NULL;
	}
	row.count = split_line(line, reader->form->separator, cells, LT_SIM_COLUMNS_MAX);
	if (row.count > LT_SIM_COLUMNS_MAX)
		(void)lt_fail(
		    is_header ? err : &bad, LT_ELIMIT, "more than %d columns", LT_SIM_COLUMNS_MAX);
	else if (is_header)
		(void)find_columns(&reader->columns, reader->form, &row, err);
	else if (grow_trace(reader->trace, &reader->room, err) == LT_OK)
		(void)read_row(reader, &row, &bad);
	if (bad.code != LT_OK)
		leave_row_out(reader, &bad);
	return err->code;
}

/* The bytes of a line, which may be any. */
static int
take_line(struct reader *reader, const char *bytes, size_t length, struct lt_error *err)
{
	char line[LT_SIM_LINE_BYTES_MAX];
	struct lt_error bad = {0};

	if (length > 0 && bytes[length - 1] == '\r')
		length--;
	if (length >= sizeof(line))
		lt_fail(&bad, LT_ELIMIT, "more than %d bytes", LT_SIM_LINE_BYTES_MAX - 1);
	else if (length > 0 && memchr(bytes, '\0', length) != NULL)
		lt_fail(&bad, LT_EINPUT, "a byte of 0, want text");
	if (bad.code != LT_OK) {
		leave_row_out(reader, &bad);
		return LT_OK;
	}
	memcpy(line, bytes, length);
	line[length] = '\0';
	return read_line(reader, line, err);
}

static int
by_submission(const void *a, const void *b)
{
	const struct lt_sim_job *const x = a, *const y = b;

	if (x->submit_utc_s != y->submit_utc_s)
		return x->submit_utc_s < y->submit_utc_s ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

int
lt_sim_trace_parse(struct lt_sim_trace *trace, const char *bytes, size_t byte_count,
    const struct lt_sim_trace_look *look, struct lt_error *err)
{
	static const char byte_order_mark[] = "\xef\xbb\xbf";
	const size_t mark = sizeof(byte_order_mark) - 1;
	struct reader reader = {.look = look, .columns = {.summed_job = NAN}, .trace = trace};
	struct lt_error own = {0};
	size_t at = byte_count >= mark && memcmp(bytes, byte_order_mark, mark) == 0 ? mark : 0;

	err = err != NULL ? err : &own;
	*trace = (struct lt_sim_trace){0};
	while (at < byte_count) {
		const char *const end = memchr(bytes + at, '\n', byte_count - at);
		const size_t length = end != NULL ? (size_t)(end - bytes) - at : byte_count - at;

		reader.number++;
		if (take_line(&reader, bytes + at, length, err) != LT_OK)
			return lt_context(err, "%s:%d", look->path, reader.number);
		at += length + 1;
	}
	if (trace->count == 0 && trace->bad > 0) {
		*err = trace->bad_first[0];
		return err->code;
	}
	if (trace->count == 0)
		return lt_fail(err, LT_EINPUT, "%s: no job that ran is in it", look->path);
	for (uint32_t i = 0; i < trace->count; i++)
		trace->jobs[i].number = i;
	qsort(trace->jobs, trace->count, sizeof(trace->jobs[0]), by_submission);
	return LT_OK;
}

void
lt_sim_trace_free(struct lt_sim_trace *trace)
{
	free(trace->jobs);
	*trace = (struct lt_sim_trace){0};
}

/* ---- what a trace lacks ---- */

/* Limits, users and names by a seed; normal deviates by Box and Muller. */
static const double name_sigma = 0.5;
static const double two_pi = 6.283185307179586;

static double
random_fraction(uint64_t *seed)
{
	return (double)(lt_random(seed) >> 11) * 0x1p-53;
}

static double
normal_deviate(uint64_t *seed)
{
	const double size = sqrt(-2 * log(1 - random_fraction(seed)));

	return size * cos(two_pi * random_fraction(seed));
}

static void
make_limits(struct lt_sim_trace *trace, const struct lt_sim_generator *generator)
{
	uint64_t seed = generator->seed;

	for (uint32_t i = 0; i < trace->count; i++) {
		struct lt_sim_job *const job = &trace->jobs[i];
		const double factor =
		    generator->limit_factor * exp(generator->limit_sigma * normal_deviate(&seed));
		const double minutes = ceil(fmax(1, factor) * (double)job->run_s / 60);

		job->limit_s = (int64_t)minutes * 60;
	}
}

struct alike {
	double length;
	uint32_t job;
};

static int
by_length(const void *a, const void *b)
{
	const struct alike *const x = a, *const y = b;

	if (x->length != y->length)
		return x->length < y->length ? -1 : 1;
	return x->job < y->job ? -1 : 1;
}

static int
make_names(
    struct lt_sim_trace *trace, const struct lt_sim_generator *generator, struct lt_error *err)
{
	/* Another row of numbers than the limits'. */
	uint64_t seed = generator->seed ^ 0x6e616d6573u;
	struct alike *const rows = calloc(trace->count, sizeof(*rows));

	if (rows == NULL)
		return lt_fail(err, LT_ENOMEM, "names: no memory");
	for (uint32_t i = 0; i < trace->count; i++)
		rows[i] = (struct alike){
		    log((double)trace->jobs[i].run_s) + name_sigma * normal_deviate(&seed), i};
	qsort(rows, trace->count, sizeof(*rows), by_length);
	for (uint32_t i = 0; i < trace->count; i++) {
		struct lt_sim_job *const job = &trace->jobs[rows[i].job];
		const uint64_t name = (uint64_t)i * generator->names / trace->count;

		job->name = 1 + (uint32_t)name;
		job->user = 1 + (uint32_t)(name % (generator->users > 0 ? generator->users : 1));
	}
	free(rows);
	return LT_OK;
}

int
lt_sim_generate(
    struct lt_sim_trace *trace, const struct lt_sim_generator *generator, struct lt_error *err)
{
	if (generator->limit_factor > 0)
		make_limits(trace, generator);
	return generator->names > 0 ? make_names(trace, generator, err) : LT_OK;
}
