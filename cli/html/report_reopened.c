/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * That a period was closed, and opened again: a line each time, of tables and
 * of the statement in HTML.
 */
#include <string.h>

#include "cli.h"
#include "report.h"
#include "report_html.h"

/* "2026-11-12" of the time that it was. */
static const char *
day_of(char out[sizeof("2026-11-12")], const json_t *reopened)
{
	snprintf(out, sizeof("2026-11-12"), "%s",
	    lt_json_text(reopened, "reopened", "?"));
	return out;
}

void
lt_report_reopened(FILE *out, const json_t *report)
{
	const json_t *reopened;
	char day[sizeof("2026-11-12")];
	size_t i;

	json_array_foreach(
	    json_object_get(json_object_get(report, "period"), "reopened"), i,
	    reopened) {
		const char *const texts[][2] = {
		    {"reopened on ", day_of(day, reopened)},
		    {" by ", lt_json_text(reopened, "reopened_by", "?")},
		    {": ", lt_json_text(reopened, "reason", "?")}};

		for (size_t k = 0; k < sizeof(texts) / sizeof(*texts); k++) {
			fputs(texts[k][0], out);
			lt_print_safe(out, texts[k][1]);
		}
		fputc('\n', out);
	}
}

void
lt_html_reopened(FILE *out, const json_t *report)
{
	const json_t *reopened;
	char day[40];
	size_t i;

	json_array_foreach(
	    json_object_get(json_object_get(report, "period"), "reopened"), i,
	    reopened) {
		fputs("<p>Reopened on ", out);
		lt_html_text(out,
		    lt_day_text(day, sizeof(day),
			lt_json_text(reopened, "reopened", "?"), LT_DAY_LONG));
		fputs(" by <bdi>", out);
		lt_html_text(out, lt_json_text(reopened, "reopened_by", "?"));
		fputs("</bdi>: <bdi>", out);
		lt_html_text(out, lt_json_text(reopened, "reason", "?"));
		fputs("</bdi></p>\n", out);
	}
}
