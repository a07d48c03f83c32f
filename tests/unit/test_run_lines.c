/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs out of an answer that comes in pieces, and each as a row of CSV.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "report.h"
#include "run_lines.h"

#define REST ",,,,,,,,,,,,,,,,,," /* what came later: state .. discount */
#define HEAD "{\"currency\":\"EUR\",\"total\":{\"runs\":2},\"runs\":["
#define TAIL "\n],\"next\":null}"

struct taken {
	char text[256];
	int refuse; /* the run that is not taken; 0: none */
	int count;
	const struct lt_run_lines *lines;
};

static int
take(void *context, const char *json, size_t length, struct lt_error *err)
{
	struct taken *const taken = context;

	if (++taken->count == taken->refuse)
		return lt_fail(err, LT_EIO, "full");
	json_t *const head = lt_run_lines_head(taken->lines);

	assert_string_equal(json_string_value(json_object_get(head, "currency")), "EUR");
	json_decref(head);
	strncat(taken->text, json, length);
	strcat(taken->text, "|");
	return LT_OK;
}

/* In pieces of so many bytes; the rest as JSON, NULL: it is none. */
static json_t *
feed(struct taken *taken, const char *answer, size_t piece)
{
	struct lt_run_lines lines = {.take = take, .context = taken};
	const size_t length = strlen(answer);

	taken->lines = &lines;
	for (size_t at = 0; at < length; at += piece)
		assert_true(lt_run_lines_feed(
		    &lines, answer + at, length - at < piece ? length - at : piece));
	assert_int_equal(lines.count, taken->count);
	json_t *const rest = json_loads(lt_run_lines_rest(&lines), 0, NULL);

	lt_run_lines_free(&lines);
	return rest;
}

static void
test_pieces(void **state)
{
	static const struct {
		const char *why, *answer, *runs;
		const char *member; /* of the rest; NULL: it is no JSON */
	} cases[] = {
	    {"two", HEAD "\n{\"a\":1},\n{\"b\":\"],\"}" TAIL, "{\"a\":1}|{\"b\":\"],\"}|", "next"},
	    {"none", HEAD TAIL, "", "next"},
	    {"it went wrong after one", HEAD "\n{\"a\":1}\n],\"error\":\"disk\"}", "{\"a\":1}|",
		"error"},
	    {"cut in a run", HEAD "\n{\"a\":1},\n{\"b\"", "{\"a\":1}|", NULL},
	    {"cut behind one", HEAD "\n{\"a\":1},\n", "{\"a\":1}|", NULL},
	    {"cut before the first", HEAD, "", NULL},
	    {"no runs at all", "{\"error\":\"busy\"}", "", "error"},
	    {"nothing", "", "", NULL},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		for (size_t piece = 1; piece < 80; piece++) {
			struct taken taken = {0};
			json_t *const rest = feed(&taken, cases[i].answer, piece);

			if (strcmp(taken.text, cases[i].runs) != 0 ||
			    (rest != NULL) != (cases[i].member != NULL))
				fail_msg("%s, by %zu: %s", cases[i].why, piece, taken.text);
			if (rest != NULL && json_object_get(rest, cases[i].member) == NULL)
				fail_msg("%s: no %s", cases[i].why, cases[i].member);
			json_decref(rest);
		}
	}
}

static void
test_ended(void **state)
{
	static char junk[1024 * 1024];
	struct taken taken = {.refuse = 2};
	struct lt_run_lines lines = {.take = take, .context = &taken};
	static const char answer[] = HEAD "\n{},\n{},\n{},\n";

	(void)state;
	taken.lines = &lines;
	assert_false(lt_run_lines_feed(&lines, answer, strlen(answer)));
	assert_int_equal(lines.err.code, LT_EIO);
	assert_string_equal(lines.err.text, "full");
	assert_int_equal(lines.count, 1);
	lt_run_lines_free(&lines);

	/* One that has no end. */
	memset(junk, 'x', sizeof(junk));
	lines = (struct lt_run_lines){.take = take, .context = &taken};
	int fed = 0;

	while (lt_run_lines_feed(&lines, junk, sizeof(junk)))
		assert_true(++fed < 20);
	assert_int_equal(lines.err.code, LT_ELIMIT);
	lt_run_lines_free(&lines);
}

/* A row without what it has of its kind and its period; "" where it is refused. */
static void
row_of(char *row, size_t size, const char *json)
{
	static const char begin[] = "run,", end[] = ",,,,,,EUR\r\n";
	json_t *const report = json_pack("{s:s}", "currency", "EUR");
	struct lt_rows rows;
	struct lt_error err = {0};
	char *text = NULL;
	size_t length = 0;
	FILE *const out = open_memstream(&text, &length);

	assert_non_null(out);
	assert_int_equal(lt_rows_begin(&rows, out, &lt_run_csv, report, &err), LT_OK);
	fflush(out);
	const size_t header = length;

	lt_run_csv.run(&rows, json, strlen(json), &err);
	fclose(out);
	row[0] = '\0';
	if (err.code) {
		assert_int_equal(err.code, LT_EINPUT);
		assert_int_equal(length, header); /* no half of it */
	} else {
		const char *const at = text + header + strlen(begin);
		const size_t rest = length - header - strlen(begin);

		assert_true(rest > strlen(end) && rest < size);
		assert_memory_equal(text + header, begin, strlen(begin));
		assert_string_equal(at + rest - strlen(end), end);
		snprintf(row, size, "%.*s", (int)(rest - strlen(end)), at);
	}
	free(text);
	lt_rows_free(&rows);
	json_decref(report);
}

static void
test_rows(void **state)
{
	static const struct {
		const char *why, *json, *row;
	} cases[] = {
	    {"as it is written",
		"{\"job_id\":7,\"array_job_id\":null,\"array_task\":null,"
		"\"user\":\"ann\",\"account\":\"a\",\"partition\":\"p\","
		"\"submit\":\"s\",\"start\":\"t\",\"end\":\"e\",\"nodes\":2,"
		"\"share\":\"1/8\",\"money_micros\":-1500000,\"carbon_mg\":10,"
		"\"energy_wh\":3,\"base_micros\":null,\"base_mg\":0,"
		"\"moved\":true,\"over_reason\":null,\"quality\":\"measured\","
		"\"gpus\":4,\"gpus_from\":\"slurmdbd\",\"suspended_s\":0}",
		"7,,,ann,a,p,s,t,e,2,1/8,-1.500000,0.000010,3,,0.000000,,,,,"
		"yes,,measured,4,slurmdbd,0" REST},
	    {"in another order, one member more", "{\"gpus\":4,\"later\":\"x\",\"job_id\":7}",
		"7,,,,,,,,,,,,,,,,,,,,,,,4,," REST},
	    {"escapes, quotes, a formula", "{\"user\":\"a\\\"b,\\u00e9\\\\\",\"account\":\"=1\"}",
		",,,\"a\"\"b,\xc3\xa9\\\",'=1,,,,,,,,,,,,,,,,,,,,," REST},
	    {"money that is no integer: not known", "{\"money_micros\":1.5,\"moved\":false}",
		",,,,,,,,,,,,,,,,,,,,no,,,,," REST},
	    {"what came later",
		"{\"corrections_micros\":-1,\"whole_mg\":null,\"state\":"
		"\"FAILED\",\"exit_code\":\"1:0\",\"name\":\"-x\",\"restarts\":2,"
		"\"cpu_used_ms\":1500,\"gpu_used_ppm\":null,"
		"\"idle_micros\":250000,\"carbon_charge_micros\":80000,"
		"\"discount_micros\":7}",
		",,,,,,,,,,,,,,,,-0.000001,,,,,,,,,,FAILED,1:0,'-x,,,,,,,2,"
		"1500,,0.250000,,,,0.080000,0.000007"},
	    {"a list", "{\"user\":[1]}", ""},
	    {"an object within", "{\"user\":{}}", ""},
	    {"cut in a text", "{\"user\":\"an", ""},
	    {"cut before its brace", "{\"job_id\":7", ""},
	    {"cut behind an escape", "{\"user\":\"an\\", ""},
	    {"more behind it", "{\"job_id\":7}{", ""},
	    {"no key", "{7:7}", ""},
	    {"nothing", "", ""},
	    {"no object", "7", ""},
	};
	char row[512];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		row_of(row, sizeof(row), cases[i].json);
		if (strcmp(row, cases[i].row) != 0)
			fail_msg("%s: %s", cases[i].why, row);
	}
}

/* A text too long for the buffer on the stack is read by jansson. */
static void
test_long_text(void **state)
{
	char name[400], json[512], row[512], want[512];

	(void)state;
	for (size_t length = 250; length < 260; length++) {
		memset(name, 'n', length);
		name[length] = '\0';
		snprintf(json, sizeof(json), "{\"user\":\"%s\"}", name);
		snprintf(want, sizeof(want), ",,,%s,,,,,,,,,,,,,,,,,,,,,," REST, name);
		row_of(row, sizeof(row), json);
		assert_string_equal(row, want);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_pieces),
	    cmocka_unit_test(test_ended),
	    cmocka_unit_test(test_rows),
	    cmocka_unit_test(test_long_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
