/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Standard input, a report's JSON, as the HTML statement on standard output; "csv": as CSV, to
 * compare the two; "team" NAME: as that team's. */
#include <stdio.h>
#include <string.h>

#include "cli.h"

int
main(int argc, char **argv)
{
	const bool csv = argc > 1 && strcmp(argv[1], "csv") == 0;
	const struct lt_report_look look = {
	    .format = csv ? LT_REPORT_CSV : LT_REPORT_HTML, .team = argc > 2 ? argv[2] : NULL};
	struct lt_error err = {0};
	json_error_t problem;
	json_t *const report = json_loadf(stdin, 0, &problem);

	if (report == NULL) {
		fprintf(stderr, "draw_statement: %s\n", problem.text);
		return 1;
	}
	lt_report_print(stdout, report, &look, &err);
	json_decref(report);
	if (err.code)
		fprintf(stderr, "draw_statement: %s\n", err.text);
	return err.code ? 1 : 0;
}
