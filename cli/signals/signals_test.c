/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lowtide signals test SOURCE: fetches a source of the policy file once, here and now, without
 * lowtided. Prints what was asked, what came and what was understood. Exit status 1 if the policy
 * is wrong or the fetch fails.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "check.h"
#include "text.h"
#include "cli.h"
#include "signals.h"
#include "units.h"
#include "web.h"

enum {
	BACK_S = 2 * LT_DAY_S, /* as lowtided asks when it has history */
	AHEAD_S = 14 * LT_DAY_S,
};

struct attempt { /* one fetch */
	const struct lt_policy *policy;
	const struct lt_policy_source *source;
	const struct lt_adapter *adapter;
	struct lt_source_options options;
	struct lt_source_memory memory;
	struct lt_points points;
	struct lt_error err;
	int64_t now_utc_s, took_ms;
};

static int64_t
now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static const struct lt_policy_source *
find_source(const struct lt_policy *policy, const char *name, struct lt_error *err)
{
	const char *names[LT_SOURCES_MAX + 1] = {NULL};

	for (int i = 0; i < policy->source_count; i++) {
		if (strcmp(policy->sources[i].name, name) == 0)
			return &policy->sources[i];
		names[i] = policy->sources[i].name;
	}
	const char *const nearest = lt_nearest_word(name, names);

	lt_fail(err, LT_ENOENT, "%s: has no source \"%s\"%s%s%s", policy->path, name,
	    nearest != NULL ? "; did you mean " : "", nearest != NULL ? nearest : "",
	    nearest != NULL ? "?" : "");
	return NULL;
}

static void
set_zone(const char *zone)
{
	if (zone != NULL)
		setenv("TZ", zone, 1);
	else
		unsetenv("TZ");
	tzset();
}

static void
fetch(struct attempt *attempt)
{
	const bool tell = lt_cli_escapes(STDERR_FILENO);
	const int64_t begin_ms = now_ms();
	const char *const zone = attempt->policy->timezone;
	const char *const own = getenv("TZ");
	char *const before = own != NULL ? strdup(own) : NULL;

	attempt->options = lt_options_of(attempt->source);
	attempt->options.timeout_s = lt_adapter_timeout_s(attempt->adapter, &attempt->options);
	if (tell)
		fprintf(stderr, "\r%s: asking, up to %lld s ...", attempt->source->name,
		    (long long)lt_web_fetch_ms(&attempt->options) / 1000);
	attempt->options.memory = &attempt->memory;
	attempt->now_utc_s = time(NULL);
	attempt->points.quantity = lt_adapter_quantity(attempt->adapter, &attempt->options);
	/* The hours of a tariff are the site's, as in lowtided. */
	if (zone[0])
		set_zone(zone);
	if (lt_adapter_fetch(attempt->adapter, &attempt->options,
		&(struct lt_window){.from_utc_s = attempt->now_utc_s - BACK_S,
		    .to_utc_s = attempt->now_utc_s + AHEAD_S,
		    .now_utc_s = attempt->now_utc_s},
		&attempt->points, &attempt->err) == LT_OK)
		lt_points_sort(&attempt->points);
	if (zone[0])
		set_zone(before);
	free(before);
	attempt->took_ms = now_ms() - begin_ms;
	if (tell)
		fputs("\r\033[K", stderr);
}

/* Returns the point that holds now, NULL = none. */
static const struct lt_point *
point_now(const struct attempt *attempt)
{
	for (size_t i = 0; i < attempt->points.count; i++) {
		const struct lt_point *const point = &attempt->points.points[i];

		if (point->start_utc_s <= attempt->now_utc_s &&
		    attempt->now_utc_s < point->end_utc_s)
			return point;
	}
	return NULL;
}

/* Returns the newest point that has ended, the latest of a late source. NULL = none. */
static const struct lt_point *
point_before(const struct attempt *attempt)
{
	const struct lt_point *newest = NULL;

	for (size_t i = 0;
	     i < attempt->points.count && attempt->points.points[i].end_utc_s <= attempt->now_utc_s;
	     i++)
		newest = &attempt->points.points[i];
	return newest;
}

static void
find_hours(struct lt_hour hours[LT_HOURS_SHOWN], const struct attempt *attempt)
{
	lt_points_hours(hours, LT_HOURS_SHOWN, attempt->now_utc_s - attempt->now_utc_s % LT_HOUR_S,
	    attempt->points.points, attempt->points.count);
}

static int
traced(const struct attempt *attempt)
{
	return attempt->memory.trace_count < LT_TRACE_MAX ? attempt->memory.trace_count
							  : LT_TRACE_MAX;
}

static void
field(const char *name, const char *text)
{
	printf("%-10s ", name);
	lt_print_safe(stdout, text);
	putchar('\n');
}

static void
print_requests(const struct attempt *attempt)
{
	const int count = traced(attempt);

	for (int i = 0; i < count; i++) {
		const struct lt_trace *const trace = &attempt->memory.trace[i];
		char text[768];

		if (trace->status)
			snprintf(text, sizeof(text), "%s\n%11sstatus %ld, %zu bytes, %lld ms",
			    trace->request, "", trace->status, trace->body_length,
			    (long long)trace->took_ms);
		else
			snprintf(text, sizeof(text), "%s\n%11sno answer, %lld ms", trace->request,
			    "", (long long)trace->took_ms);
		field("request", text);
	}
	if (attempt->memory.trace_count > count)
		printf("%-10s and %d more requests\n", "", attempt->memory.trace_count - count);
}

/* "Sat 21 Nov 2026 02:00 GMT" */
static const char *
when_text(char *out, size_t size, int64_t utc_s)
{
	char iso[40];

	return lt_local_time(out, size, lt_utc_text(iso, sizeof(iso), utc_s));
}

static void
print_points(const struct attempt *attempt)
{
	const struct lt_points *const points = &attempt->points;
	const char *const basis =
	    lt_basis_name(lt_adapter_basis(attempt->adapter, &attempt->options));
	char line[512], unit[64], first[96], last[96];

	lt_unit_text(unit, sizeof(unit), points->quantity,
	    points->currency[0] ? points->currency : attempt->policy->currency);
	snprintf(line, sizeof(line), "%s, %s%sin %s", lt_quantity_title(points->quantity), basis,
	    basis[0] != '\0' ? ", " : "", unit);
	field("quantity", line);
	if (points->count == 0) {
		field("points", "none");
		return;
	}
	snprintf(line, sizeof(line), "%zu, from %s to %s", points->count,
	    when_text(first, sizeof(first), points->points[0].start_utc_s),
	    when_text(last, sizeof(last), points->points[points->count - 1].end_utc_s));
	field("points", line);
}

static void
print_values(const struct attempt *attempt, const struct lt_signals_look *look)
{
	const struct lt_points *const points = &attempt->points;
	const struct lt_point *const now = point_now(attempt);
	const struct lt_point *const newest = point_before(attempt);
	const struct lt_point *const last = now != NULL ? now : newest;
	struct lt_hour hours[LT_HOURS_SHOWN];
	char line[512], value[64], range[160], blocks[LT_BLOCKS_SIZE];

	if (now != NULL || newest != NULL)
		snprintf(line, sizeof(line), "%s, %s%s%s",
		    lt_value_text(value, sizeof(value), last->value, points->quantity),
		    attempt->adapter->replay ? "replay" : lt_quality_name(last->quality),
		    now == NULL ? ", until " : "",
		    now == NULL ? when_text(range, sizeof(range), last->end_utc_s) : "");
	if (now == NULL && newest != NULL)
		field("newest", line);
	field("now", now != NULL      ? line
		     : newest != NULL ? "no value: the source is late"
				      : "no value for now");
	find_hours(hours, attempt);
	lt_range_text(range, sizeof(range), hours, LT_HOURS_SHOWN, points->quantity);
	blocks[0] = '\0';
	if (look->blocks)
		lt_blocks_text(blocks, hours, LT_HOURS_SHOWN);
	snprintf(line, sizeof(line), "%s%s%s", blocks, blocks[0] ? "  " : "", range);
	field("next 24 h", line);
}

static void
print_text(const struct attempt *attempt, const struct lt_signals_look *look)
{
	const struct lt_points *const points = &attempt->points;
	char line[512], when[96];

	snprintf(
	    line, sizeof(line), "%s, adapter %s", attempt->source->name, attempt->adapter->name);
	field("source", line);
	print_requests(attempt);
	if (attempt->err.code)
		return;
	print_points(attempt);
	print_values(attempt, look);
	if (points->issued_utc_s)
		field("issued", when_text(when, sizeof(when), points->issued_utc_s));
	else
		field("issued", "not said: counts as made now");
	if (points->currency[0])
		field("currency", points->currency);
	if (points->note[0])
		field("note", points->note);
	if (attempt->adapter->replay)
		field("note", "a replay: not real figures");
}

static json_t *
time_json(bool has, int64_t utc_s)
{
	char text[40];

	return has ? json_string(lt_utc_text(text, sizeof(text), utc_s)) : json_null();
}

/* Returns the JSON of the point that holds now, or the last one before. */
static json_t *
newest_json(const struct lt_point *newest)
{
	return newest == NULL ? json_null()
			      : json_pack("{s:f, s:o, s:o}", "value", newest->value, "start",
				    time_json(true, newest->start_utc_s), "end",
				    time_json(true, newest->end_utc_s));
}

static json_t *
requests_json(const struct attempt *attempt)
{
	json_t *const list = json_array();

	for (int i = 0; i < traced(attempt); i++) {
		const struct lt_trace *const trace = &attempt->memory.trace[i];

		json_array_append_new(list,
		    json_pack("{s:s, s:o, s:I, s:I}", "request", trace->request, "status",
			trace->status ? json_integer(trace->status) : json_null(), "bytes",
			(json_int_t)trace->body_length, "took_ms", (json_int_t)trace->took_ms));
	}
	return list;
}

static json_t *
hours_json(const struct attempt *attempt)
{
	json_t *const list = json_array();
	struct lt_hour hours[LT_HOURS_SHOWN];

	find_hours(hours, attempt);
	for (int i = 0; i < LT_HOURS_SHOWN; i++)
		json_array_append_new(
		    list, hours[i].known ? json_real(hours[i].value) : json_null());
	return list;
}

static int
print_json(const struct attempt *attempt)
{
	const struct lt_points *const points = &attempt->points;
	const struct lt_point *const now = point_now(attempt);
	const struct lt_point *const newest = now != NULL ? now : point_before(attempt);
	const bool any = points->count > 0;
	const char *const basis =
	    lt_basis_name(lt_adapter_basis(attempt->adapter, &attempt->options));
	json_t *const body =
	    json_pack("{s:s, s:s, s:b, s:s?, s:I, s:i, s:o, s:s, s:s?, s:s, s:f, s:I, s:o, "
		      "s:o, s:o, s:o, s:s, s:o, s:o, s:s?, s:s?, s:b}",
		"source", attempt->source->name, "adapter", attempt->adapter->name, "ok",
		attempt->err.code == 0, "error", attempt->err.code ? attempt->err.text : NULL,
		"took_ms", (json_int_t)attempt->took_ms, "request_count",
		attempt->memory.trace_count, "requests", requests_json(attempt), "quantity",
		lt_quantity_name(points->quantity), "emission_factors",
		basis[0] != '\0' ? basis : NULL, "unit", lt_quantity_unit(points->quantity),
		"scale", lt_quantity_scale(points->quantity), "points", (json_int_t)points->count,
		"first", time_json(any, any ? points->points[0].start_utc_s : 0), "last",
		time_json(any, any ? points->points[points->count - 1].end_utc_s : 0), "value_now",
		now != NULL ? json_real(now->value) : json_null(), "newest", newest_json(newest),
		"quality", lt_quality_name(now != NULL ? now->quality : LT_QUALITY_NONE), "hours",
		hours_json(attempt), "issued",
		time_json(points->issued_utc_s != 0, points->issued_utc_s), "note",
		points->note[0] ? points->note : NULL, "currency",
		points->currency[0] ? points->currency : NULL, "replay", attempt->adapter->replay);
	const int result = lt_cli_print_json(body);

	json_decref(body);
	return result;
}

static int
run_attempt(const struct lt_cli *cli, struct attempt *attempt)
{
	const struct lt_signals_look look = lt_signals_look(cli);
	int result = LT_EXIT_OK;

	fetch(attempt);
	if (cli->json)
		result = print_json(attempt);
	else
		print_text(attempt, &look);
	if (!attempt->err.code)
		return result;
	lt_context(&attempt->err, "%s", attempt->source->name);
	return cli->json ? LT_EXIT_FAILURE : lt_cli_fail(&attempt->err);
}

int
lt_signals_test(const struct lt_cli *cli)
{
	const char *const named = getenv("LOWTIDE_CONFIG");
	const char *path = lt_cli_value(cli, "config");
	struct lt_policy *policy = NULL;
	struct attempt *const attempt = calloc(1, sizeof(*attempt));
	struct lt_error err = {0};
	int result = LT_EXIT_FAILURE;

	if (path == NULL)
		path = named != NULL && named[0] ? named : "/etc/lowtide/lowtide.yaml";
	if (attempt == NULL)
		lt_fail(&err, LT_ENOMEM, "no memory");
	else if (lt_policy_load(&policy, path, lt_adapter_names(), &err) == LT_OK)
		attempt->source = find_source(policy, cli->operands[1], &err);
	if (!err.code && lt_check_source(policy, attempt->source, &err) == LT_OK) {
		attempt->policy = policy;
		attempt->adapter = lt_adapter_find(attempt->source->adapter);
		result = run_attempt(cli, attempt);
	} else {
		lt_cli_fail(&err);
	}
	if (attempt != NULL) {
		lt_points_free(&attempt->points);
		explicit_bzero(&attempt->memory, sizeof(attempt->memory));
	}
	free(attempt);
	lt_policy_free(policy);
	return result;
}
