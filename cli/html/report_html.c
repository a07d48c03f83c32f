/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The report as a statement for people: one HTML file that stands alone. It has no script and loads
 * nothing, which its Content-Security-Policy enforces; charts are inline SVG whose figures are also
 * in tables; it is XML too, so that a test can read it. Sections are in the order in which finance
 * asks. Without memory for a section it fails, and the output is not kept.
 */
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "report.h"
#include "report_html.h"

struct section {
	const char *id, *title;
	void (*print)(const struct lt_statement *statement);
	/* The member that the report must have, in "by" if is_group; else the section is left out.
	 * NULL: always printed. */
	const char *needed;
	bool is_group;
	bool money; /* left out where no money is shown */
	bool keep;  /* short: on one sheet */
};

static const struct section sections[] = {
    {"over", "Who is over budget", lt_html_over, NULL, false, false, true},
    {"glance", "At a glance", lt_html_glance, NULL, false, false, true},
    {"parts", "What the cost is for", lt_html_parts, NULL, false, true, true},
    {"change", "What changed, and why", lt_html_change, "previous", false, false, false},
    {"budget", "Against the budget", lt_html_budget, NULL, false, true, true},
    {"budgets", "Budgets", lt_html_budgets, NULL, false, false, false},
    {"days", "By day", lt_html_by_day, "day", true, false, false},
    {"trend", "Twelve months", lt_html_trend, "trend", false, false, false},
    {"balance", "What lowtide did", lt_html_balance, "balance", false, false, false},
    {"teams", "By team", lt_html_by_team, NULL, false, false, false},
    {"tree", "Teams with all teams below them", lt_html_tree, "tree", false, false, false},
    {"labels", "By label", lt_html_by_label, NULL, false, false, false},
    {"partitions", "By partition", lt_html_by_partition, "partition", true, false, false},
    {"unused", "Owned nodes, used or not", lt_html_unused, "unused", false, false, true},
    {"gpus", "By GPU", lt_html_by_gpu, "gpu", true, false, true},
    {"users", "By user", lt_html_by_user, "user", true, false, false},
    {"failed", "Idle and failed", lt_html_failed, "state", true, false, true},
    {"top", "Top jobs", lt_html_top, "top", false, false, false},
    {"carbon", "Carbon and energy", lt_html_carbon, NULL, false, false, true},
    {"audit", "Carbon by place and method", lt_html_audit, "carbon", false, false, false},
    {"adjustments", "Adjustments", lt_html_adjustments, "adjustments", false, false, false},
    {"corrections", "Corrections", lt_html_corrections, "corrections", false, false, false},
    {"quality", "Estimated share of the data", lt_html_quality, NULL, false, false, true},
    {"method", "Method and sources", lt_html_method, NULL, false, false, true},
    {"checksum", "Checksum", lt_html_checksum, NULL, false, false, true},
};

/* ---- reading the report ---- */

static bool
is_closed(const json_t *report)
{
	return strcmp(lt_json_text(json_object_get(report, "period"), "state", ""), "closed") == 0;
}

/* Names a part of a period: "1 to 18 October 2026", "1-18 Oct"; over several months both are
 * named. */
static void
name_part(struct lt_statement *statement)
{
	const json_t *const period = json_object_get(statement->previous, "period");
	const char *const first = lt_json_text(period, "first_day", "");
	const char *const last = lt_json_text(period, "last_day", "");
	const bool one_month = strlen(first) == 10 && strncmp(first, last, 7) == 0;
	char from[40], to[40], short_to[16];

	lt_day_text(to, sizeof(to), last, LT_DAY_LONG);
	lt_day_text(short_to, sizeof(short_to), last, LT_DAY_SHORT);
	lt_day_text(from, sizeof(from), first, LT_DAY_SHORT);
	if (one_month)
		snprintf(from, sizeof(from), "%d", atoi(first + 8));
	if (strcmp(first, last) == 0) {
		memcpy(statement->before, to, sizeof(to));
		memcpy(statement->short_before, short_to, sizeof(short_to));
		return;
	}
	snprintf(statement->before, sizeof(statement->before), "%.10s to %.30s", from, to);
	snprintf(statement->short_before, sizeof(statement->short_before), "%.10s\u2013%s", from,
	    short_to);
}

static void
name_periods(struct lt_statement *statement)
{
	const char *const now =
	    lt_json_text(json_object_get(statement->report, "period"), "label", "");
	const char *const before =
	    lt_json_text(json_object_get(statement->previous, "period"), "label", "");
	enum { SIZE = sizeof(statement->name) };

	lt_period_name(statement->name, SIZE, now, LT_DAY_LONG);
	lt_period_name(statement->short_name, SIZE, now, LT_DAY_SHORT);
	if (statement->partly) {
		name_part(statement);
		return;
	}
	lt_period_name(statement->before, SIZE, before, LT_DAY_LONG);
	lt_period_name(statement->short_before, SIZE, before, LT_DAY_SHORT);
}

static bool
has_months(const json_t *period)
{
	int64_t first, last;

	return lt_day_number(lt_json_text(period, "first_day", ""), &first) &&
	       lt_day_number(lt_json_text(period, "last_day", ""), &last) &&
	       last - first >= LT_HTML_STEPS_MAX;
}

static void
read_statement(struct lt_statement *statement)
{
	enum { SMALL_KG = 10, KG_MG = 1000000, SMALL_WH = 10000 };
	const json_t *const report = statement->report;
	const char *const state = lt_json_text(json_object_get(report, "period"), "state", "open");
	const json_t *const previous = json_object_get(report, "previous");
	int64_t carbon = 0, energy = 0;

	statement->total = json_object_get(report, "total");
	if (json_is_object(previous))
		statement->previous = previous;
	statement->currency = lt_json_text(report, "currency", "");
	statement->has_money = statement->currency[0] != '\0';
	statement->open = strcmp(state, "open") == 0 || strcmp(state, "future") == 0;
	lt_json_int(statement->total, "carbon_mg", &carbon);
	lt_json_int(statement->total, "energy_wh", &energy);
	statement->carbon_unit_mg = carbon < (int64_t)SMALL_KG * KG_MG ? 1000 : KG_MG / 10;
	statement->energy_unit_wh = energy < SMALL_WH ? 1 : 100;
	statement->partly = statement->open && json_is_object(previous) &&
			    strcmp(lt_json_text(json_object_get(previous, "period"), "end", ""),
				lt_json_text(json_object_get(report, "period"), "start", "")) < 0;
	name_periods(statement);
	statement->months = has_months(json_object_get(report, "period"));
}

/* 10 thousand million of the currency: the sum of a thousand fits 64 bits. */
static const int64_t figure_max = 10000000000000000;

static bool
has_large_figure(const json_t *value)
{
	const json_int_t number = json_integer_value(value);
	const char *key;
	json_t *member;
	size_t index;

	json_array_foreach(value, index, member)
		if (has_large_figure(member))
			return true;
	json_object_foreach((json_t *)value, key, member)
		if (has_large_figure(member))
			return true;
	return number > figure_max || number < -figure_max;
}

/* ---- the style sheet ---- */

/* Colors are named once for light and once for dark; paper is always light. A test computes the
 * contrast of each pair that a rule puts together. */
static const char *const style[] = {
    ":root{color-scheme:light dark;--page:#ffffff;--panel:#f4f6f9;--ink:#17202c;--quiet:#4d5a6b;"
    "--line:#d5dbe4;--mark:#0b5cad;--good:#176b39;--bad:#b3261e;--track:#e3e8ef;--range:#bcd6f0}\n",
    "@media screen and (prefers-color-scheme:dark){:root{--page:#12171f;--panel:#1b222d;--ink:#e8edf4;--quiet:#a9b4c3;"
    "--line:#36404f;--mark:#6db3f8;--good:#74d49a;--bad:#ff978d;--track:#2a3442;--range:#27476b}}\n",
    "*{box-sizing:border-box}\n",
    "html{-webkit-text-size-adjust:100%;text-size-adjust:100%}\n",
    "body{margin:0;background:var(--page);color:var(--ink);font:16px/1.5 system-ui,-apple-system,\"Segoe UI\",Roboto,\"Helvetica Neue\",Arial,sans-serif;overflow-wrap:anywhere}\n",
    "header,main,footer{max-width:60rem;margin:0 auto;padding:0 1.25rem}\n",
    "header{padding-top:2.5rem}\n",
    "h1{font-size:2rem;line-height:1.2;margin:.25rem 0}\n",
    "h2{font-size:1.25rem;line-height:1.3;margin:0 0 .75rem}\n",
    "p{margin:0 0 .75rem;max-width:46rem}\n",
    "a{color:var(--mark)}\n",
    ".over,.note,small,figcaption,caption,footer{color:var(--quiet)}\n",
    ".over{margin:0}.over,.note{font-size:.875rem}\n",
    ".state{display:inline-block;margin:.25rem 0 0;padding:.1rem .6rem;border:1px solid;border-radius:1rem;font-size:.875rem;font-weight:600}\n",
    ".good{color:var(--good)}.bad{color:var(--bad)}\n",
    ".state{margin-right:.5rem}\n",
    ".who{list-style:none;padding:0;max-width:none}.who li{margin:0 0 .4rem;padding:.35rem .75rem;background:var(--panel);border-left:4px solid}.who li:not([class]){border:0;padding-left:0;background:none}\n",
    ".lead{font-size:1.125rem;margin:0 0 1rem}\n",
    "section{margin:0;padding:1.75rem 0 0}\n",
    ".tiles{display:grid;gap:.75rem;margin:0}.of2{grid-template-columns:repeat(2,1fr)}.of3,.long{grid-template-columns:repeat(3,1fr)}.of4{grid-template-columns:repeat(4,1fr)}\n",
    ".tile:first-child:nth-last-child(5),.of4 .tile:first-child:nth-last-child(7){grid-column:span 2}.long .tile:first-child:nth-last-child(3n+1){grid-column:span 3}\n",
    ".tile{background:var(--panel);border-radius:.5rem;padding:.75rem 1rem}\n",
    ".tile dt{font-size:.875rem}\n",
    ".tile dd{margin:0;font-size:.875rem;color:var(--quiet)}\n",
    ".tile .figure{font-size:1.5rem;line-height:1.3;font-weight:650;color:var(--ink);font-variant-numeric:tabular-nums;white-space:nowrap}\n",
    ".tile .figure.good{color:var(--good)}.tile .figure.bad{color:var(--bad)}\n",
    ".scroll{overflow-x:auto;margin:0 0 1rem;background:linear-gradient(to left,var(--page) 30%,transparent) right/3rem 100% no-repeat local,linear-gradient(to left,var(--line),transparent) right/1rem 100% no-repeat scroll}\n",
    ".scroll:focus-visible{outline:2px solid var(--mark);outline-offset:2px}\n",
    "table{border-collapse:separate;border-spacing:0;width:100%;font-size:.9375rem;font-variant-numeric:tabular-nums}\n",
    "caption{text-align:left;font-size:.875rem;padding:0 0 .35rem}\n",
    "th,td{text-align:right;vertical-align:top;padding:.35rem 0 .35rem 1rem;border-bottom:1px solid var(--line);font-weight:400;white-space:nowrap}\n",
    "th:first-child{text-align:left;padding-left:0;min-width:9rem;white-space:normal}\n",
    "thead th{font-size:.8125rem;overflow-wrap:normal;font-weight:600;color:var(--quiet);vertical-align:bottom;border-bottom:2px solid var(--line)}\n",
    "th.text,td.text{text-align:left;white-space:normal}\n",
    "td.text{min-width:6rem}\n",
    "tfoot th,tfoot td{font-weight:650;border-top:1px solid var(--line);border-bottom:0}\n",
    "tbody th small{display:block}\n",
    ".ours{font-style:italic}\n",
    ".none{color:var(--quiet)}\n",
    ".in1>bdi{margin-left:.6rem}.in2>bdi{margin-left:1.2rem}.in3>bdi{margin-left:1.8rem}.in4>bdi{margin-left:2.4rem}\n",
    ".facts td{white-space:normal}.few,.facts{max-width:46rem}.few th,.facts th{white-space:normal}.dense th,.dense td{padding-top:.15rem;padding-bottom:.15rem}\n",
    ".bar{display:block;width:100%;height:5px;margin-top:3px}\n",
    "figure{margin:0 0 1rem}\n",
    "figcaption{font-size:.875rem}\n",
    ".chart{display:block;width:100%;height:auto}\n",
    ".tick{font-size:12px;fill:var(--quiet)}\n",
    ".track{fill:var(--track)}.mark{fill:var(--mark)}.back{fill:var(--good)}\n",
    ".grid{stroke:var(--line)}.zero{stroke:var(--quiet)}\n",
    ".line{fill:none;stroke:var(--mark);stroke-width:2.5;stroke-linejoin:round}\n",
    ".pace{stroke:var(--quiet);stroke-width:1.5;stroke-dasharray:2 4}\n",
    ".range{fill:var(--range)}\n",
    ".forecast{stroke:var(--mark);stroke-width:2;stroke-dasharray:6 4}\n",
    ".open{fill:var(--range);stroke:var(--mark)}.limit{stroke:var(--ink);stroke-width:2.5}\n",
    ".key{display:inline-block;width:1.5rem;height:0;margin:0 .25rem 0 .75rem;vertical-align:middle}\n",
    ".line-key{border-top:3px solid var(--mark)}.pace-key{border-top:2px dotted var(--quiet)}.range-key{border-top:.7rem solid var(--range)}\n",
    ".mark-key{border-top:.7rem solid var(--mark)}.open-key{border:1px solid var(--mark);height:.7rem;background:var(--range)}.limit-key{width:0;height:1rem;border-left:3px solid var(--ink)}\n",
    "code{font:.875rem/1.4 ui-monospace,Menlo,Consolas,monospace;word-break:break-all}\n",
    "ul{margin:0 0 .75rem;padding-left:1.25rem;max-width:46rem}\n",
    "footer{font-size:.875rem;padding-top:2rem;padding-bottom:3rem}\n",
    "@media (max-width:60rem){.of4{grid-template-columns:repeat(3,1fr)}.of4 .tile:first-child:nth-last-child(n){grid-column:span 3}.long{grid-template-columns:repeat(2,1fr)}"
    ".long .tile:first-child:nth-last-child(n){grid-column:span 1}.long .tile:first-child:nth-last-child(odd){grid-column:span 2}}\n",
    "@media screen and (max-width:40rem){header{padding-top:1.5rem}h1{font-size:1.6rem}.of2,.of3,.of4{grid-template-columns:repeat(2,1fr)}.tile:first-child:nth-last-child(n),.of4 .tile:first-child:nth-last-child(n){grid-column:span 1}.long{grid-template-columns:1fr}.tile{padding:.6rem .7rem}.tile .figure{font-size:1.2rem}"
    ".tile:first-child:nth-last-child(odd),.of4 .tile:first-child:nth-last-child(odd){grid-column:span 2}.long .tile:first-child:nth-last-child(n){grid-column:span 1}.tick{font-size:20px}table{font-size:.8125rem}thead th{font-size:.75rem}th,td{padding-left:.6rem}th:first-child{min-width:5.4rem;position:sticky;left:0;background:var(--page)}td.text{min-width:5.2rem}.change{font-size:.75rem}.change th,.change td{padding-left:.5rem}.change th:first-child{min-width:4.5rem;padding-left:0}}\n",
    "@page{size:A4;margin:15mm}\n",
    "@media print{html{font-size:9.5pt}body{font-size:1rem}header,main,footer{max-width:none;padding:0}.scroll{overflow:visible}"
    "h2{break-after:avoid}tr,figure,.tile,.keep,.scroll{break-inside:avoid}thead{display:table-header-group}tfoot{display:table-row-group}caption{break-after:avoid}"
    ".tile{border:1px solid var(--line)}section{padding-top:1.25rem}.scroll{background:none}table{font-size:.9rem}a{color:inherit}}\n",
    NULL,
};

/* ---- the frame ---- */

/* Prints "Final: closed on 4 November 2026 by root", as far as it is known. */
static void
print_closed(FILE *out, const json_t *period)
{
	const char *const closed = lt_json_text(period, "closed", "");
	const char *const who = lt_json_text(period, "closed_by", "");
	char day[40];

	fputs("<p class=\"state good\">Final: the period is closed", out);
	if (closed[0] != '\0') {
		fputs(" since ", out);
		lt_html_text(out, lt_day_text(day, sizeof(day), closed, LT_DAY_LONG));
	}
	if (who[0] != '\0') {
		fputs(", by <bdi>", out);
		lt_html_text(out, who);
		fputs("</bdi>", out);
	}
	fputs("</p>\n", out);
}

static void
print_state(const struct lt_statement *statement)
{
	const json_t *const period = json_object_get(statement->report, "period");
	const char *const state = lt_json_text(period, "state", "");
	const char *text = "the period is open";

	if (is_closed(statement->report)) {
		print_closed(statement->out, period);
		return;
	}
	if (strcmp(state, "ended") == 0)
		text = "the period has ended, and is not closed";
	else if (strcmp(state, "future") == 0)
		text = "the period has not begun";
	fprintf(statement->out, "<p class=\"state bad\">Not complete: %s</p>\n", text);
}

/* Prints a line for each time that the period was closed and opened again. */
static void
print_reopened(FILE *out, const json_t *report)
{
	const json_t *reopened;
	char day[40];
	size_t i;

	json_array_foreach(
	    json_object_get(json_object_get(report, "period"), "reopened"), i, reopened) {
		fputs("<p>Reopened on ", out);
		lt_html_text(out, lt_day_text(day, sizeof(day),
				      lt_json_text(reopened, "reopened", "?"), LT_DAY_LONG));
		fputs(" by <bdi>", out);
		lt_html_text(out, lt_json_text(reopened, "reopened_by", "?"));
		fputs("</bdi>: <bdi>", out);
		lt_html_text(out, lt_json_text(reopened, "reason", "?"));
		fputs("</bdi></p>\n", out);
	}
}

static void
print_replay(const struct lt_statement *statement)
{
	const json_t *const teams = json_object_get(statement->report, "teams");
	bool is_replay = json_is_true(json_object_get(statement->total, "replay"));
	size_t index;
	const json_t *team;

	json_array_foreach(teams, index, team)
		is_replay |= json_is_true(json_object_get(team, "replay"));
	if (is_replay)
		fputs("<p class=\"state bad\">Not real figures: some signals were replayed</p>\n",
		    statement->out);
}

/* Prints the time of the figures, unless they are final. */
static void
print_as_of(const struct lt_statement *statement)
{
	const char *const as_of = lt_json_text(statement->report, "as_of", "");
	char day[40];

	if (strlen(as_of) < sizeof("2026-11-18T17:40") - 1)
		return;
	fputs("<p class=\"over\">As of ", statement->out);
	lt_html_text(statement->out, lt_day_text(day, sizeof(day), as_of, LT_DAY_LONG));
	snprintf(day, sizeof(day), ", %.5s UTC", as_of + strlen("2026-11-18T"));
	lt_html_text(statement->out, day);
	fputs("</p>\n", statement->out);
}

static void
print_head(const struct lt_statement *statement)
{
	FILE *const out = statement->out;
	const json_t *const period = json_object_get(statement->report, "period");
	const char *const cluster = lt_json_text(statement->report, "cluster", "");
	char first[40], last[40];

	fputs(
	    "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
	    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\"/>\n"
	    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
	    "<meta name=\"referrer\" content=\"no-referrer\"/>\n"
	    "<meta name=\"generator\" content=\"lowtide " LT_VERSION "\"/>\n<title>",
	    out);
	if (statement->team != NULL) {
		lt_html_text(out, statement->team);
		fputs(", ", out);
	}
	lt_html_text(out, statement->name);
	fputs(", ", out);
	lt_html_text(out, cluster);
	fputs(": compute statement</title>\n<style>\n", out);
	for (int i = 0; style[i] != NULL; i++)
		fputs(style[i], out);
	fputs(
	    "</style>\n</head>\n<body>\n<header>\n<p class=\"over\">Compute statement of cluster <bdi>",
	    out);
	lt_html_text(out, cluster);
	fputs("</bdi></p>\n<h1>", out);
	if (statement->team != NULL) {
		fputs("<bdi>", out);
		lt_html_text(out, statement->team);
		fputs("</bdi>, ", out);
	}
	lt_html_text(out, statement->name);
	fputs("</h1>\n<p class=\"over\">", out);
	lt_html_text(out,
	    lt_day_text(first, sizeof(first), lt_json_text(period, "first_day", ""), LT_DAY_LONG));
	fputs(" to ", out);
	lt_html_text(out,
	    lt_day_text(last, sizeof(last), lt_json_text(period, "last_day", ""), LT_DAY_LONG));
	fputs("</p>\n", out);
	print_as_of(statement);
	print_state(statement);
	print_reopened(statement->out, statement->report);
	print_replay(statement);
	fputs("</header>\n<main>\n", out);
}

static const char *
title_of(const struct section *section, const struct lt_statement *statement)
{
	const json_t *const unused = json_object_get(statement->report, "unused");

	if (section->print == lt_html_by_day && statement->months)
		return "By month";
	if (section->print == lt_html_unused && json_is_true(json_object_get(unused, "all")))
		return "Nodes, used or not";
	return section->title;
}

static bool
is_shown(const struct lt_statement *statement, const struct section *section)
{
	const json_t *const object =
	    section->is_group ? json_object_get(statement->report, "by") : statement->report;
	const json_t *const needed =
	    section->needed != NULL ? json_object_get(object, section->needed) : NULL;

	if (section->money && !statement->has_money)
		return false;
	if (section->print == lt_html_unused &&
	    json_array_size(lt_report_unused_rows(statement->report)) == 0)
		return false;
	if (section->print == lt_html_tree && !lt_html_has_tree(statement->report))
		return false;
	if (section->print == lt_html_by_label && !lt_html_has_labels(statement->report))
		return false;
	if (section->print == lt_html_parts && !lt_report_has_parts(statement->report))
		return false;
	return section->needed == NULL || (needed != NULL && !json_is_null(needed));
}

int
lt_report_html(FILE *out, const json_t *report, const char *team, struct lt_error *err)
{
	struct lt_statement statement = {.out = out, .err = err, .report = report, .team = team};

	if (has_large_figure(report))
		return lt_fail(err, LT_ELIMIT,
		    "a figure is above 10^16 micros or mg: csv and json have it, a statement can't");
	read_statement(&statement);
	print_head(&statement);
	for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); i++) {
		const struct section *const section = &sections[i];

		if (!is_shown(&statement, section))
			continue;
		fprintf(out, "<section%s aria-labelledby=\"%s\">\n<h2 id=\"%s\">%s</h2>\n",
		    section->keep ? " class=\"keep\"" : "", section->id, section->id,
		    title_of(section, &statement));
		section->print(&statement);
		fputs("</section>\n", out);
	}
	fputs("</main>\n<footer>Made by lowtide " LT_VERSION ".</footer>\n</body>\n</html>\n", out);
	return err->code;
}
