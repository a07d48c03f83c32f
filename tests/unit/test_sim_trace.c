/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Traces of jobs: the three forms, rows that are no job, and what is wrong with a line and where.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "trace.h"

#define SACCT "JobIDRaw|User|JobName|Submit|ElapsedRaw|TimelimitRaw|AllocCPUS\n"
#define SWF(submit, run, cpus)                                                                     \
	"1 " submit " 5 " run " " cpus " -1 -1 8 7200 -1 1 7 1 12 1 -1 -1 -1\n"

static const struct {
	const char *why, *bytes;
	/* Of the first job. */
	uint32_t count, skipped, cpus;
	int64_t submit_utc_s, run_s, limit_s;
} good[] = {
    {"GAIA: whole ticks of 5 s", "arrival_time,length,cpus\n9.9,304,3\n", 1, 0, 3, 1005, 300, 0},
    {"columns in any order, CRLF", "cpus,length,arrival_time\r\n2,60,5\r\n", 1, 0, 2, 1005, 60, 0},
    {"sorted by submission", "arrival_time,length,cpus\n50,60,1\n5,65,2\n50,60,3\n", 3, 0, 2, 1005,
	65, 0},
    {"a run of less than a tick is none", "arrival_time,length,cpus\n0,4,1\n0,5,1\n", 1, 1, 1, 1000,
	5, 0},
    {"sacct: steps and what never ran left out",
	SACCT "7|ann|train|2022-10-19T16:00:00|3600|120|4\n"
	      "7.batch||batch|2022-10-19T16:00:00|3600||4\n"
	      "8|bob|x|2022-10-19T16:01:00|0|Partition_Limit|0\n",
	1, 2, 4, 1666195200, 3600, 7200},
    {"sacct: times in seconds, spans in words",
	"JobID|Submit|Elapsed|Timelimit|NCPUS\n1|1666195200|1-00:00:05|"
	"UNLIMITED|2\n",
	1, 0, 2, 1666195200, 86405, 0},
    {"SWF", "; UnixStartTime: 1666195200\n;\n" SWF("30", "600", "4"), 1, 0, 4, 1666195230, 600,
	7200},
    {"SWF: asked CPUs where none are known, begin by the caller", SWF("30", "600", "-1"), 1, 0, 8,
	1030, 600, 7200},
    {"SWF: the parts of a job are in its sum",
	"1 30 10 7200 16 -1 -1 16 14400 -1 1 3 1 7 1 1 -1 -1\n"
	"1 30 10 3600 16 -1 -1 16 14400 -1 2 3 1 7 1 1 -1 -1\n"
	"1 -1 60 3600 16 -1 -1 16 14400 -1 3 3 1 7 1 1 -1 -1\n"
	"1 -1 60 3600 16 -1 -1 16 14400 -1 4 3 1 7 1 1 -1 -1\n",
	1, 0, 16, 1030, 7200, 14400},
    {"SWF: failed and cancelled jobs are no parts",
	"1 30 10 7200 16 -1 -1 16 14400 -1 0 3 1 7 1 1 -1 -1\n"
	"2 31 10 3600 16 -1 -1 16 14400 -1 5 3 1 7 1 1 -1 -1\n",
	2, 0, 16, 1030, 7200, 14400},
    {"a byte order mark, CRLF",
	"\xef\xbb\xbfJobIDRaw|Submit|ElapsedRaw|AllocCPUS|JobName\r\n"
	"101|2025-11-03T09:00:00|3600|4|a\xc3\xa0"
	"b\r\n",
	1, 0, 4, 1762160400, 3600, 0},
    {"sacct --parsable ends its header and rows with |",
	"JobIDRaw|Submit|ElapsedRaw|AllocCPUS|\n"
	"101|2025-11-03T09:00:00|3600|4|\n",
	1, 0, 4, 1762160400, 3600, 0},
    {"a name that is cut within a letter, or has a carriage return",
	"JobName|JobIDRaw|Submit|ElapsedRaw|AllocCPUS\n"
	"\xc3\r|101|2025-11-03T09:00:00|3600|4\n",
	1, 0, 4, 1762160400, 3600, 0},
    {"SWF: never ran", SWF("30", "-1", "4") SWF("31", "9", "1"), 1, 1, 1, 1031, 9, 7200},
};

static const struct {
	const char *why, *bytes, *says;
} bad[] = {
    {"nothing", "", "t: no job that ran is in it"},
    {"a header alone", "arrival_time,length,cpus\n", "t: no job that ran is in it"},
    {"no column", "arrival_time,cpus\n1,1\n",
	"t:1: got no column length, want arrival_time,length,cpus"},
    {"sacct -n", "101|2025-11-03T09:00:00|3600|4\n",
	"t:1: got no column JobIDRaw, want the header of sacct -P (without -n)"},
    {"a column twice", "JobID|JobID|Submit|Elapsed|NCPUS\n",
	"t:1: the header has column JobID twice"},
    {"no number", "arrival_time,length,cpus\n1,x,1\n",
	"t:2: length: got \"x\", want a number of at least 0"},
    {"negative", "arrival_time,length,cpus\n-1,1,1\n",
	"t:2: arrival_time: got \"-1\", want a number of at least 0"},
    {"no count", "arrival_time,length,cpus\n1,10,1.5\n",
	"t:2: cpus: got \"1.5\", want a count up to 1048576"},
    {"a cell too few", "arrival_time,length,cpus\n1,10\n",
	"t:2: got 2 cells, want 3, as many as the header has"},
    {"too long to be true", "arrival_time,length,cpus\n1,1000000001,1\n",
	"t:2: 1e+09 s, want at most 1000000000: is the unit right?"},
    {"sacct: no time", SACCT "7|ann|train|Unknown|3600|120|4\n",
	"t:2: Submit: got \"Unknown\", want 2022-10-19T16:00:00 (UTC) or seconds"},
    {"something else", "hello world\n",
	"t:1: got 2 columns, want arrival_time,length,cpus, the header of sacct -P, or 18 columns of SWF"},
    {"SWF: no number", SWF("x", "9", "1"), "t:1: column 2: got \"x\", want a number"},
    {"before 1970", SWF("-2000", "9", "1"), "t:1: submitted at -1000, want a time after 1970"},
};

static const struct lt_sim_trace_look look = {
    .path = "t", .from_utc_s = 1000, .unit_s = 1, .tick_s = 5};

static void
test_good(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		struct lt_sim_trace trace;
		struct lt_error err = {0};

		if (lt_sim_trace_parse(&trace, good[i].bytes, strlen(good[i].bytes), &look, &err) !=
		    LT_OK)
			fail_msg("%s: %s", good[i].why, err.text);
		const struct lt_sim_job *const job = &trace.jobs[0];

		if (trace.count != good[i].count || trace.skipped != good[i].skipped ||
		    job->cpus != good[i].cpus || job->submit_utc_s != good[i].submit_utc_s ||
		    job->run_s != good[i].run_s || job->limit_s != good[i].limit_s)
			fail_msg("%s: %u jobs, %u skipped; %u CPUs at %lld for "
				 "%lld, limit %lld",
			    good[i].why, trace.count, trace.skipped, job->cpus,
			    (long long)job->submit_utc_s, (long long)job->run_s,
			    (long long)job->limit_s);
		lt_sim_trace_free(&trace);
	}
}

static void
test_bad(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct lt_sim_trace trace;
		struct lt_error err = {0};

		if (lt_sim_trace_parse(&trace, bad[i].bytes, strlen(bad[i].bytes), &look, &err) ==
			LT_OK ||
		    strcmp(err.text, bad[i].says) != 0)
			fail_msg("%s: %s", bad[i].why, err.text);
		lt_sim_trace_free(&trace);
	}
}

/* Each of these rows is left out, between two that are read. */
static const struct {
	const char *why, *header, *row, *says;
	size_t row_bytes; /* 0 = its length as a text */
} bad_rows[] = {
    {"a name that forges the cells behind it", SACCT,
	"101|alice|a|2025-11-03T09:00:00|60|1|1|2025-11-03T09:00:00|360000|6000|64\n",
	"t:3: got 11 cells, want 7, as many as the header has", 0},
    {"a name with |", SACCT, "101|alice|ps | grep hot|2025-11-03T09:00:00|3600|120|4\n",
	"t:3: got 8 cells, want 7, as many as the header has", 0},
    {"a cut row", SACCT, "101|alice|a|2025-11-03T09:00:00|36\n",
	"t:3: got 5 cells, want 7, as many as the header has", 0},
    {"no elapsed time", SACCT, "101|alice|a|2025-11-03T09:00:00||120|4\n",
	"t:3: Elapsed: got \"\", want seconds or 1-02:03:04", 0},
    {"no CPUs", SACCT, "101|alice|a|2025-11-03T09:00:00|60|120|\n",
	"t:3: CPUs: got \"\", want a count up to 1048576", 0},
    {"no submission", SACCT, "101|alice|a||60|120|4\n",
	"t:3: Submit: got \"\", want 2022-10-19T16:00:00 (UTC) or seconds", 0},
    {"no job id", SACCT, "|alice|a|2025-11-03T09:00:00|60|120|4\n",
	"t:3: JobID: got \"\", want the number of a job", 0},
    {"the header again", SACCT, SACCT, "t:3: JobID: got \"JobIDRaw\", want the number of a job", 0},
    {"a byte of 0", SACCT, "101|alice|a\0|2025-11-03T09:00:00|60|120|4\n",
	"t:3: a byte of 0, want text", 42},
    {"SWF: a part without its job", "; SWF\n",
	"1 0 10 3600 16 -1 -1 16 14400 -1 2 3 1 7 1 1 -1 -1\n",
	"t:3: a part of job 1 (status 2), want the line of the whole job above it", 0},
    {"SWF: a column too few", "; SWF\n", "3 0 10 3600 16 -1 -1 16 14400 -1 1 3 1 7 1 1 -1\n",
	"t:3: got 17 columns, want arrival_time,length,cpus, the header of sacct -P, or 18 columns of SWF",
	0},
    {"GAIA: a cell too many", "arrival_time,length,cpus\n", "9,60,3,4\n",
	"t:3: got 4 cells, want 3, as many as the header has", 0},
};

/* The row of each form that can be read: one CPU for an hour. */
static const char *
good_row(const char *header)
{
	return strchr(header, '|') != NULL ? "7|ann|b|2025-11-03T09:00:00|3600|120|1\n"
	       : header[0] == ';'	   ? "2 9 1 3600 1 -1 -1 1 7200 -1 1 7 1 12 1 -1 -1 -1\n"
					   : "9,3600,1\n";
}

static void
test_bad_rows(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(bad_rows) / sizeof(bad_rows[0]); i++) {
		const char *const good_one = good_row(bad_rows[i].header);
		const size_t row_bytes =
		    bad_rows[i].row_bytes > 0 ? bad_rows[i].row_bytes : strlen(bad_rows[i].row);
		char bytes[1024];
		size_t used = 0;
		struct lt_sim_trace trace;
		struct lt_error err = {0};
		const struct {
			const char *text;
			size_t count;
		} lines[] = {{bad_rows[i].header, strlen(bad_rows[i].header)},
		    {good_one, strlen(good_one)}, {bad_rows[i].row, row_bytes},
		    {good_one, strlen(good_one)}};

		for (size_t n = 0; n < sizeof(lines) / sizeof(lines[0]); n++) {
			memcpy(bytes + used, lines[n].text, lines[n].count);
			used += lines[n].count;
		}
		if (lt_sim_trace_parse(&trace, bytes, used, &look, &err) != LT_OK)
			fail_msg("%s: %s", bad_rows[i].why, err.text);
		if (trace.bad != 1 || trace.count != 2 || trace.skipped != 0 ||
		    trace.jobs[0].run_s != 3600 || trace.jobs[1].run_s != 3600 ||
		    strcmp(trace.bad_first[0].text, bad_rows[i].says) != 0)
			fail_msg("%s: %u jobs, %u bad: %s", bad_rows[i].why, trace.count, trace.bad,
			    trace.bad_first[0].text);
		lt_sim_trace_free(&trace);
	}
}

/* As many rows as sites have in a month, each third of them bad: all are counted, the first are
 * shown. */
static void
test_many_bad_rows(void **state)
{
	enum { ROWS = 100000, ROW_BYTES = 64 };
	char *const bytes = malloc((size_t)ROWS * ROW_BYTES);
	size_t used = 0;
	struct lt_sim_trace trace;
	struct lt_error err = {0};

	(void)state;
	assert_non_null(bytes);
	used += (size_t)sprintf(bytes, "%s", SACCT);
	for (int i = 0; i < ROWS; i++)
		used += (size_t)sprintf(bytes + used, "%d|ann|%s|2025-11-03T09:00:00|60|1|1\n", i,
		    i % 3 == 0 ? "a|b" : "ab");
	assert_int_equal(lt_sim_trace_parse(&trace, bytes, used, &look, &err), LT_OK);
	assert_int_equal(trace.bad, (ROWS + 2) / 3);
	assert_int_equal(trace.count, ROWS - (ROWS + 2) / 3);
	assert_string_equal(trace.bad_first[LT_SIM_BAD_SHOWN_MAX - 1].text,
	    "t:14: got 8 cells, want 7, as many as the header has");
	lt_sim_trace_free(&trace);
	free(bytes);
}

/* A line of just the room, and one byte more. */
static void
test_long_line(void **state)
{
	static char bytes[LT_SIM_LINE_BYTES_MAX + 64];
	const char header[] = "arrival_time,length,cpus,x\n1,60,1,";

	(void)state;
	for (int more = 0; more < 2; more++) {
		const size_t length =
		    sizeof(header) - 1 + LT_SIM_LINE_BYTES_MAX - 1 - 7 + (size_t)more;
		struct lt_sim_trace trace;
		struct lt_error err = {0};

		memset(bytes, 'a', sizeof(bytes));
		memcpy(bytes, header, sizeof(header) - 1);
		if (lt_sim_trace_parse(&trace, bytes, length, &look, &err) == LT_OK)
			assert_int_equal(more, 0);
		else
			assert_string_equal(err.text, "t:2: more than 8191 bytes");
		assert_int_equal(err.code == LT_OK, more == 0);
		lt_sim_trace_free(&trace);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_good),
	    cmocka_unit_test(test_bad),
	    cmocka_unit_test(test_bad_rows),
	    cmocka_unit_test(test_many_bad_rows),
	    cmocka_unit_test(test_long_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
