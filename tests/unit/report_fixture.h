/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Answers of lowtided to /v1/report, in tests/golden/report, and what comes of one whose runs are
 * rows.
 */
#ifndef LT_TEST_REPORT_FIXTURE_H
#define LT_TEST_REPORT_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cli.h"
#include "report.h"

#define REPORT_FOLDER "tests/golden/report/"

static inline json_t *
report_load(const char *name)
{
	char path[256];
	json_error_t problem;

	snprintf(path, sizeof(path), REPORT_FOLDER "%s.json", name);
	json_t *const report = json_load_file(path, 0, &problem);

	if (report == NULL)
		fail_msg("%s: %s", path, problem.text);
	return report;
}

/* As it is shown; *err says why it is not. The report is dropped. */
static inline char *
report_text(json_t *report, const struct lt_report_look *look, struct lt_error *err)
{
	char *text = NULL;
	size_t length = 0;
	FILE *const out = open_memstream(&text, &length);

	assert_non_null(report);
	assert_non_null(out);
	lt_report_print(out, report, look, err);
	fclose(out);
	json_decref(report);
	return text;
}

/* Its runs as they come from lowtided, each a text. */
static inline void
report_rows(FILE *out, const json_t *report, const struct lt_rows_kind *kind)
{
	struct lt_rows rows = {.out = NULL};
	struct lt_error err = {0};
	size_t index;
	const json_t *run;

	if (lt_rows_begin(&rows, out, kind, report, &err))
		fail_msg("%s", err.text);
	json_array_foreach(json_object_get(report, "runs"), index, run) {
		char *const text = json_dumps(run, JSON_COMPACT);

		assert_non_null(text);
		if (kind->run(&rows, text, strlen(text), &err))
			fail_msg("%s", err.text);
		free(text);
	}
	if (kind->end != NULL && kind->end(&rows, &err))
		fail_msg("%s", err.text);
	lt_rows_free(&rows);
}

#endif
