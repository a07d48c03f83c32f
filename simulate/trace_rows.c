/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A line of a trace as a job, by its form: GAIA's CSV, sacct -P, SWF (the
 * Standard Workload Format: 18 columns, -1 = not known).
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "trace_rows.h"
#include "units.h"

enum { GAIA_ARRIVAL, GAIA_LENGTH, GAIA_CPUS };
enum {
	SACCT_ID,
	SACCT_SUBMIT,
	SACCT_ELAPSED,
	SACCT_CPUS,
	SACCT_LIMIT,
	SACCT_USER,
	SACCT_NAME
};
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
/* Of SWF_STATUS: a part of a job that was interrupted and went on. The job's
 * sum stands in the line above its parts, with status 0, 1 or 5. */
enum { SWF_PART_GOES_ON = 2, SWF_PART_FAILED = 4 };

/* The cell of a wanted column, "" = not there. */
static const char *
cell(const struct lt_sim_row *row, int wanted)
{
	const int index = row->columns->index[wanted];

	return index >= 0 && index < row->count ? row->cells[index] : "";
}

static int
number(double *value, const char *text, const char *what, struct lt_error *err)
{
	if (lt_double_parse(text, value, NULL) != LT_OK || *value < 0)
		return lt_fail(err, LT_EINPUT,
		    "%s: got \"%s\", want a number of at least 0", what, text);
	return LT_OK;
}

static int
count_of(
    uint32_t *count, const char *text, const char *what, struct lt_error *err)
{
	int64_t value;

	if (lt_int64_parse(text, 0, 1 << 20, &value, NULL) != LT_OK)
		return lt_fail(err, LT_EINPUT,
		    "%s: got \"%s\", want a count up to %d", what, text,
		    1 << 20);
	*count = (uint32_t)value;
	return LT_OK;
}

static int
read_gaia(struct lt_sim_job *job, struct lt_sim_row *row, struct lt_error *err)
{
	const struct lt_sim_trace_look *const look = row->look;
	double arrival, length, ticks;

	*job = (struct lt_sim_job){0};
	if (number(&arrival, cell(row, GAIA_ARRIVAL), "arrival_time", err) ||
	    number(&length, cell(row, GAIA_LENGTH), "length", err) ||
	    count_of(&job->cpus, cell(row, GAIA_CPUS), "cpus", err))
		return err->code;
	arrival *= (double)look->unit_s;
	length *= (double)look->unit_s;
	ticks = floor(arrival / (double)look->tick_s);
	if (arrival > LT_SIM_RUN_MAX_S || length > LT_SIM_RUN_MAX_S)
		return lt_fail(err, LT_EINPUT,
		    "%g s, want at most %d: is the unit right?",
		    fmax(arrival, length), LT_SIM_RUN_MAX_S);
	job->submit_utc_s = look->from_utc_s + (int64_t)ticks * look->tick_s;
	job->run_s =
	    (int64_t)floor(length / (double)look->tick_s) * look->tick_s;
	job->exact_run_s = length;
	return LT_OK;
}

/* "2022-10-19T16:00:00", as sacct has it under TZ=UTC, or seconds. */
static int
sacct_time(int64_t *utc_s, const char *text, struct lt_error *err)
{
	char zoned[40];

	if (lt_int64_parse(text, 0, INT64_MAX / 2, utc_s, NULL) == LT_OK)
		return LT_OK;
	(void)snprintf(zoned, sizeof(zoned), "%sZ", text);
	if (lt_utc_parse(zoned, utc_s, NULL) == LT_OK)
		return LT_OK;
	return lt_fail(err, LT_EINPUT,
	    "Submit: got \"%s\", want 2022-10-19T16:00:00 (UTC) or seconds",
	    text);
}

/* Raw seconds or minutes, or Slurm's d-h:m:s; -1 = not known. */
static int64_t
sacct_span(const char *text, int64_t raw_unit_s)
{
	int64_t value;

	if (lt_int64_parse(text, 0, INT32_MAX, &value, NULL) == LT_OK)
		return value * raw_unit_s;
	return lt_slurm_time_parse(text, &value, NULL) == LT_OK ? value : -1;
}

static int
read_sacct(struct lt_sim_job *job, struct lt_sim_row *row, struct lt_error *err)
{
	const char *const id = cell(row, SACCT_ID);
	const char *const user = cell(row, SACCT_USER);
	const char *const name = cell(row, SACCT_NAME);
	const int64_t limit_s = sacct_span(cell(row, SACCT_LIMIT), 60);

	*job = (struct lt_sim_job){0};
	if (id[0] < '0' || id[0] > '9')
		return lt_fail(err, LT_EINPUT,
		    "JobID: got \"%s\", want the number of a job", id);
	/* Of steps: "12.batch". */
	if (strchr(id, '.') != NULL)
		return LT_OK;
	if (sacct_time(&job->submit_utc_s, cell(row, SACCT_SUBMIT), err) ||
	    count_of(&job->cpus, cell(row, SACCT_CPUS), "CPUs", err))
		return err->code;
	job->run_s = sacct_span(cell(row, SACCT_ELAPSED), 1);
	if (job->run_s < 0)
		return lt_fail(err, LT_EINPUT,
		    "Elapsed: got \"%s\", want seconds or 1-02:03:04",
		    cell(row, SACCT_ELAPSED));
	job->exact_run_s = (double)job->run_s;
	job->limit_s = limit_s > 0 ? limit_s : 0; /* UNLIMITED: none */
	job->user = user[0] != '\0' ? lt_name_hash(user) : 0;
	job->name = name[0] != '\0' ? lt_name_hash(name) : 0;
	return LT_OK;
}

static int
read_swf(struct lt_sim_job *job, struct lt_sim_row *row, struct lt_error *err)
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
			return lt_fail(err, LT_EINPUT,
			    "column %d: got \"%s\", want a number", i + 1,
			    row->cells[i]);
	row->is_part = values[SWF_STATUS] >= SWF_PART_GOES_ON &&
		       values[SWF_STATUS] <= SWF_PART_FAILED;
	if (row->is_part && row->columns->summed_job != values[SWF_JOB])
		return lt_fail(err, LT_EINPUT,
		    "a part of job %g (status %g), want the line of the whole job above it",
		    values[SWF_JOB], values[SWF_STATUS]);
	if (row->is_part)
		return LT_OK;
	row->columns->summed_job = values[SWF_JOB];

	const double cpus =
	    values[SWF_CPUS] > 0 ? values[SWF_CPUS] : values[SWF_ASKED_CPUS];

	if (values[SWF_RUN] <= 0 || cpus <= 0)
		return LT_OK;
	if (cpus > 1 << 20)
		return lt_fail(err, LT_EINPUT,
		    "column %d: got %g, want a count up to %d", SWF_CPUS + 1,
		    cpus, 1 << 20);
	job->submit_utc_s =
	    (row->columns->unix_start_s > 0 ? row->columns->unix_start_s
					    : row->look->from_utc_s) +
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

const struct lt_sim_form lt_sim_forms[] = {
    {"arrival_time", "arrival_time,length,cpus", ',',
	{{{"arrival_time"}, true}, {{"length"}, true}, {{"cpus"}, true}},
	read_gaia},
    {"|", "the header of sacct -P (without -n)", '|',
	{{{"JobIDRaw", "JobID"}, true}, {{"Submit"}, true},
	    {{"ElapsedRaw", "Elapsed"}, true},
	    {{"AllocCPUS", "NCPUS", "ReqCPUS"}, true},
	    {{"TimelimitRaw", "Timelimit"}, false}, {{"User"}, false},
	    {{"JobName"}, false}},
	read_sacct},
    {NULL, NULL, ' ', {{{0}, false}}, read_swf},
};

static int
find_column(int *index, const struct lt_sim_row *header, const char *name,
    struct lt_error *err)
{
	for (int i = 0; i < header->count; i++) {
		if (strcmp(header->cells[i], name) != 0)
			continue;
		if (*index >= 0)
			return lt_fail(err, LT_EINPUT,
			    "the header has column %s twice", name);
		*index = i;
	}
	return LT_OK;
}

int
lt_sim_find_columns(struct lt_sim_columns *columns,
    const struct lt_sim_form *form, const struct lt_sim_row *header,
    struct lt_error *err)
{
	columns->count = header->count;
	for (int w = 0; w < LT_SIM_WANTED_MAX; w++) {
		const struct lt_sim_wanted *const wanted = &form->wanted[w];

		columns->index[w] = -1;
		for (int n = 0;
		     n < 3 && wanted->names[n] != NULL && columns->index[w] < 0;
		     n++)
			if (find_column(&columns->index[w], header,
				wanted->names[n], err) != LT_OK)
				return err->code;
		if (wanted->required && columns->index[w] < 0)
			return lt_fail(err, LT_EINPUT,
			    "got no column %s, want %s", wanted->names[0],
			    form->header_wanted);
	}
	return LT_OK;
}

void
lt_sim_swf_comment(const char *line, struct lt_sim_columns *columns)
{
	static const char key[] = "UnixStartTime:";
	const char *const at = strstr(line, key);
	char text[32];
	int64_t value;

	if (at == NULL)
		return;
	(void)snprintf(text, sizeof(text), "%s",
	    at + sizeof(key) - 1 + strspn(at + sizeof(key) - 1, " \t"));
	text[strcspn(text, " \t\r")] = '\0';
	if (lt_int64_parse(text, 0, INT64_MAX / 4, &value, NULL) == LT_OK)
		columns->unix_start_s = value;
}
