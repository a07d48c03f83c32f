/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Traces of jobs, line by line: which form it is, a row of the table for each,
 * and the jobs sorted by submission.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "trace_rows.h"
#include "units.h"

/* "a|b|c" into cells in place; how many there are, at most max + 1. */
static int
split(char *line, char separator, char **cells, int max)
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
		at = separator == ' ' ? strpbrk(at, " \t")
				      : strchr(at, separator);
		if (at == NULL)
			return count;
		*at++ = '\0';
	}
}

static const struct lt_sim_form *
form_of(const char *line)
{
	const struct lt_sim_form *form = lt_sim_forms;

	/* The last of the table takes what has no header. */
	while (form->header != NULL && strstr(line, form->header) == NULL)
		form++;
	return form;
}

static int
grow(struct lt_sim_trace *trace, uint32_t *room, struct lt_error *err)
{
	const uint32_t more = *room == 0 ? 1024 : *room * 2;
	struct lt_sim_job *jobs;

	if (trace->count < *room)
		return LT_OK;
	if (trace->count >= LT_SIM_JOBS_MAX)
		return lt_fail(
		    err, LT_ELIMIT, "more than %d jobs", LT_SIM_JOBS_MAX);
	jobs = realloc(trace->jobs, more * sizeof(*jobs));
	if (jobs == NULL)
		return lt_fail(err, LT_ENOMEM, "no memory for %u jobs", more);
	trace->jobs = jobs;
	*room = more;
	return LT_OK;
}

static int
check(const struct lt_sim_job *job, struct lt_error *err)
{
	if (job->run_s > LT_SIM_RUN_MAX_S)
		return lt_fail(err, LT_EINPUT,
		    "a run of %lld s, want at most %d", (long long)job->run_s,
		    LT_SIM_RUN_MAX_S);
	if (job->submit_utc_s < 0)
		return lt_fail(err, LT_EINPUT,
		    "submitted at %lld, want a time after 1970",
		    (long long)job->submit_utc_s);
	return LT_OK;
}

struct reader {
	const struct lt_sim_trace_look *look;
	const struct lt_sim_form *form; /* NULL = not known yet */
	struct lt_sim_columns columns;
	struct lt_sim_trace *trace;
	uint32_t room;
	int number; /* of the line, from 1 */
};

/* A row as the job that comes next; what is wrong with it is in err. */
static int
read_row(struct reader *reader, struct lt_sim_row *row, struct lt_error *err)
{
	struct lt_sim_trace *const trace = reader->trace;
	struct lt_sim_job *const job = &trace->jobs[trace->count];

	/* A name with the separator in it moves all that stand behind it. */
	if (row->columns->count > 0 && row->count != row->columns->count)
		return lt_fail(err, LT_EINPUT,
		    "got %d cells, want %d, as many as the header has",
		    row->count, row->columns->count);
	if (reader->form->read(job, row, err) || check(job, err))
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
leave_out(struct reader *reader, const struct lt_error *bad)
{
	struct lt_sim_trace *const trace = reader->trace;

	if (trace->bad < LT_SIM_BAD_SHOWN_MAX) {
		trace->bad_first[trace->bad] = *bad;
		(void)lt_context(&trace->bad_first[trace->bad], "%s:%d",
		    reader->look->path, reader->number);
	}
	trace->bad++;
}

/* A line without its end, in place. An error is one of the file; a row that
 * makes no sense is left out. */
static int
read_line(struct reader *reader, char *line, struct lt_error *err)
{
	char *cells[LT_SIM_COLUMNS_MAX];
	struct lt_sim_row row = {
	    .look = reader->look, .columns = &reader->columns, .cells = cells};
	struct lt_error bad = {0};
	bool is_header = false;

	if (line[strspn(line, " \t")] == '\0')
		return LT_OK;
	if (line[0] == ';') {
		lt_sim_swf_comment(line, &reader->columns);
		return LT_OK;
	}
	if (reader->form == NULL) {
		reader->form = form_of(line);
		is_header = reader->form->header != NULL;
	}
	row.count =
	    split(line, reader->form->separator, cells, LT_SIM_COLUMNS_MAX);
	if (row.count > LT_SIM_COLUMNS_MAX)
		(void)lt_fail(is_header ? err : &bad, LT_ELIMIT,
		    "more than %d columns", LT_SIM_COLUMNS_MAX);
	else if (is_header)
		(void)lt_sim_find_columns(
		    &reader->columns, reader->form, &row, err);
	else if (grow(reader->trace, &reader->room, err) == LT_OK)
		(void)read_row(reader, &row, &bad);
	if (bad.code != LT_OK)
		leave_out(reader, &bad);
	return err->code;
}

/* The bytes of a line, which may be any. */
static int
take_line(struct reader *reader, const char *bytes, size_t length,
    struct lt_error *err)
{
	char line[LT_SIM_LINE_BYTES_MAX];
	struct lt_error bad = {0};

	if (length > 0 && bytes[length - 1] == '\r')
		length--;
	if (length >= sizeof(line))
		lt_fail(&bad, LT_ELIMIT, "more than %d bytes",
		    LT_SIM_LINE_BYTES_MAX - 1);
	else if (length > 0 && memchr(bytes, '\0', length) != NULL)
		lt_fail(&bad, LT_EINPUT, "a byte of 0, want text");
	if (bad.code != LT_OK) {
		leave_out(reader, &bad);
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
lt_sim_trace_parse(struct lt_sim_trace *trace, const char *bytes,
    size_t byte_count, const struct lt_sim_trace_look *look,
    struct lt_error *err)
{
	static const char byte_order_mark[] = "\xef\xbb\xbf";
	const size_t mark = sizeof(byte_order_mark) - 1;
	struct reader reader = {
	    .look = look, .columns = {.summed_job = NAN}, .trace = trace};
	struct lt_error own = {0};
	size_t at =
	    byte_count >= mark && memcmp(bytes, byte_order_mark, mark) == 0
		? mark
		: 0;

	err = err != NULL ? err : &own;
	*trace = (struct lt_sim_trace){0};
	while (at < byte_count) {
		const char *const end =
		    memchr(bytes + at, '\n', byte_count - at);
		const size_t length =
		    end != NULL ? (size_t)(end - bytes) - at : byte_count - at;

		reader.number++;
		if (take_line(&reader, bytes + at, length, err) != LT_OK)
			return lt_context(
			    err, "%s:%d", look->path, reader.number);
		at += length + 1;
	}
	if (trace->count == 0 && trace->bad > 0) {
		*err = trace->bad_first[0];
		return err->code;
	}
	if (trace->count == 0)
		return lt_fail(
		    err, LT_EINPUT, "%s: no job that ran is in it", look->path);
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
