/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads the input of a simulation: the trace of a file, and a signal by the hour, from a file or
 * from any source of a policy file. Errors name the file; rows that can't be used are left out, and
 * the first of them is printed.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "csv.h"
#include "plain_file.h"
#include "simulation.h"
#include "units.h"

enum {
	HISTORY_S = 400 * LT_DAY_S, /* for fitting a forecast */
	AFTER_S = 30 * LT_DAY_S,
	EARLIEST_UTC_S = 631152000, /* 1990: earlier times are errors */
	HEADER_SIZE = 4096,
};

/* Prints the first of the rows that were left out, with the reason, to stderr. */
static void
print_bad_rows(const struct lt_sim_trace *trace)
{
	for (uint32_t i = 0; i < trace->bad && i < LT_SIM_BAD_SHOWN_MAX; i++) {
		fputs("lowtide: left out: ", stderr);
		lt_print_safe(stderr, trace->bad_first[i].text);
		fputc('\n', stderr);
	}
	if (trace->bad > LT_SIM_BAD_SHOWN_MAX)
		fprintf(
		    stderr, "lowtide: left out: %u more rows\n", trace->bad - LT_SIM_BAD_SHOWN_MAX);
}

int
lt_simulation_read_trace(struct lt_simulation *simulation, const char *path,
    const struct lt_sim_trace_look *look, struct lt_error *err)
{
	char *bytes = NULL;
	size_t byte_count = 0;

	if (lt_plain_file_read(path, &bytes, &byte_count, err))
		return err->code;
	(void)lt_sim_trace_parse(&simulation->trace, bytes, byte_count, look, err);
	free(bytes);
	if (err->code == LT_OK)
		print_bad_rows(&simulation->trace);
	if (err->code == LT_OK && simulation->trace.jobs[0].submit_utc_s < EARLIEST_UTC_S)
		return lt_fail(err, LT_EINPUT,
		    "%s: its times count from its own beginning: --at says when that was", path);
	return err->code;
}

struct hours {
	int64_t first;
	int count;
	double *sum, *seconds;
};

static void
add_point(struct hours *hours, const struct lt_point *point, int64_t end_s)
{
	const int64_t limit_s = (hours->first + hours->count) * LT_HOUR_S;
	int64_t at_s = point->start_utc_s > hours->first * LT_HOUR_S ? point->start_utc_s
								     : hours->first * LT_HOUR_S;

	end_s = end_s < limit_s ? end_s : limit_s;
	while (at_s < end_s) {
		const int64_t hour = at_s / LT_HOUR_S;
		const int64_t next_s =
		    (hour + 1) * LT_HOUR_S < end_s ? (hour + 1) * LT_HOUR_S : end_s;

		hours->sum[hour - hours->first] += point->value * (double)(next_s - at_s);
		hours->seconds[hour - hours->first] += (double)(next_s - at_s);
		at_s = next_s;
	}
}

int
lt_simulation_signal(struct lt_sim_signal *signal, const struct lt_points *points,
    int64_t longest_s, struct lt_error *err)
{
	const int64_t first = points->points[0].start_utc_s / LT_HOUR_S;
	const int64_t last = (points->points[points->count - 1].end_utc_s - 1) / LT_HOUR_S;
	struct hours hours = {.first = first};

	if (last - first >= LT_SIM_HOURS_MAX)
		return lt_fail(err, LT_ELIMIT, "%lld hours, limit %d",
		    (long long)(last - first + 1), LT_SIM_HOURS_MAX);
	hours.count = (int)(last - first + 1);
	hours.sum = calloc((size_t)hours.count, sizeof(*hours.sum));
	hours.seconds = calloc((size_t)hours.count, sizeof(*hours.seconds));
	if (hours.sum == NULL || hours.seconds == NULL) {
		lt_fail(err, LT_ENOMEM, "no memory");
	} else {
		for (size_t i = 0; i < points->count; i++) {
			const struct lt_point *const point = &points->points[i];
			const int64_t end_s = point->end_utc_s - point->start_utc_s > longest_s
						  ? point->start_utc_s + longest_s
						  : point->end_utc_s;

			add_point(&hours, point, end_s);
		}
		for (int i = 0; i < hours.count; i++)
			hours.sum[i] = hours.seconds[i] > 0 ? hours.sum[i] / hours.seconds[i] : NAN;
		(void)lt_sim_signal_make(signal, first, hours.sum, hours.count, err);
	}
	free(hours.sum);
	free(hours.seconds);
	return err->code;
}

static int
check_span(const struct lt_simulation *simulation, const struct lt_sim_signal *signal,
    struct lt_error *err)
{
	const struct lt_sim_trace *const trace = &simulation->trace;
	const int64_t from_s = signal->first_hour * LT_HOUR_S;
	const int64_t to_s = (signal->first_hour + signal->hours) * LT_HOUR_S;
	const int64_t first_s = trace->jobs[0].submit_utc_s;
	const int64_t last_s = trace->jobs[trace->count - 1].submit_utc_s;
	char a[40], b[40], c[40], d[40];

	if (from_s <= first_s && last_s < to_s)
		return LT_OK;
	return lt_fail(err, LT_EINPUT, "is of %s to %s, want the time of the jobs, %s to %s",
	    lt_utc_text(a, sizeof(a), from_s), lt_utc_text(b, sizeof(b), to_s),
	    lt_utc_text(c, sizeof(c), first_s), lt_utc_text(d, sizeof(d), last_s));
}

struct wanted {
	const char *adapter;
	struct lt_source_options options;
	enum lt_quantity quantity; /* CARBON: marginal will do as well */
	int64_t longest_s;	   /* a value holds at most so long */
	struct lt_sim_signal *signal;
};

static int
fetch(const struct lt_simulation *simulation, struct wanted *wanted, struct lt_error *err)
{
	const struct lt_adapter *const adapter = lt_adapter_find(wanted->adapter);
	const struct lt_sim_trace *const trace = &simulation->trace;
	const int64_t to_s = trace->jobs[trace->count - 1].submit_utc_s + AFTER_S;
	const struct lt_window window = {trace->jobs[0].submit_utc_s - HISTORY_S, to_s, to_s};
	struct lt_source_options *const options = &wanted->options;
	struct lt_source_memory memory = {0};
	struct lt_points points = {0};

	options->memory = &memory;
	options->timeout_s = lt_adapter_timeout_s(adapter, options);
	points.quantity = lt_adapter_quantity(adapter, options);
	if (points.quantity != wanted->quantity &&
	    !(wanted->quantity == LT_QUANTITY_CARBON && lt_quantity_is_carbon(points.quantity)))
		lt_fail(err, LT_EINPUT, "gives %s, want %s", lt_quantity_title(points.quantity),
		    lt_quantity_title(wanted->quantity));
	else if (lt_adapter_fetch(adapter, options, &window, &points, err) == LT_OK) {
		lt_points_sort(&points);
		if (points.count == 0)
			lt_fail(err, LT_EINPUT, "has nothing of the time of the jobs");
		else if (lt_simulation_signal(wanted->signal, &points, wanted->longest_s, err) ==
			 LT_OK)
			(void)check_span(simulation, wanted->signal, err);
	}
	lt_points_free(&points);
	return err->code;
}

/* Copies the name of the header's column that has `part` in it. */
static bool
find_column(char *name, size_t size, const char *header, const char *part)
{
	const char *const found = strstr(header, part);
	const char *from = found;

	if (found == NULL)
		return false;
	while (from > header && from[-1] != ',')
		from--;
	(void)snprintf(name, size, "%.*s", (int)strcspn(from, ",\r\n"), from);
	return true;
}

/* Finds the columns by the names in published files; else time and value. */
static void
find_columns(char *time, char *value, size_t size, const char *header)
{
	static const char *const times[] = {"zone_datetime", "Datetime (UTC)"};
	static const char *const values[] = {"carbon_intensity_avg", "Life cycle", "LCA"};
	bool found = false;

	for (size_t i = 0; !found && i < sizeof(times) / sizeof(times[0]); i++)
		found = find_column(time, size, header, times[i]);
	if (!found)
		(void)snprintf(time, size, "time");
	found = false;
	for (size_t i = 0; !found && i < sizeof(values) / sizeof(values[0]); i++)
		found = find_column(value, size, header, values[i]);
	if (!found)
		(void)snprintf(value, size, "value");
}

/* Reads a CSV file by the adapter for such files. */
static int
read_file(const struct lt_simulation *simulation, struct wanted *wanted, const char *path,
    struct lt_error *err)
{
	char header[HEADER_SIZE] = "", time[256], value[256];
	char *const full = realpath(path, NULL);
	FILE *const file = fopen(path, "r");

	if (full == NULL || file == NULL)
		lt_fail(err, LT_ENOENT, "cannot be read");
	else if (fgets(header, sizeof(header), file) == NULL)
		lt_fail(err, LT_EINPUT, "is empty");
	if (file != NULL)
		fclose(file);
	if (err->code == LT_OK) {
		const struct {
			const char *key, *value;
		} items[] = {{"path", full}, {"quantity", lt_quantity_name(wanted->quantity)},
		    {"time", time}, {"value", value}, {"zone", "utc"}};

		find_columns(time, value, sizeof(time), header);
		wanted->adapter = "file";
		wanted->options.name = path;
		wanted->options.count = sizeof(items) / sizeof(items[0]);
		for (int i = 0; i < wanted->options.count; i++) {
			wanted->options.items[i].key = items[i].key;
			wanted->options.items[i].value = items[i].value;
		}
		(void)fetch(simulation, wanted, err);
	}
	free(full);
	return err->code == LT_OK ? LT_OK : lt_context(err, "%s", path);
}

int
lt_simulation_read_carbon(struct lt_simulation *simulation, const char *path, struct lt_error *err)
{
	struct wanted wanted = {
	    .quantity = LT_QUANTITY_CARBON, .longest_s = LT_HOUR_S, .signal = &simulation->signal};

	return read_file(simulation, &wanted, path, err);
}

int
lt_simulation_read_price(struct lt_simulation *simulation, const char *path, struct lt_error *err)
{
	struct wanted wanted = {
	    .quantity = LT_QUANTITY_PRICE, .longest_s = INT64_MAX, .signal = &simulation->price};

	return read_file(simulation, &wanted, path, err);
}

int
lt_simulation_read_source(
    struct lt_simulation *simulation, const char *config, const char *source, struct lt_error *err)
{
	struct lt_policy *policy = NULL;
	const struct lt_policy_source *found = NULL;

	if (lt_policy_load(&policy, config, lt_adapter_names(), err) != LT_OK)
		return err->code;
	for (int i = 0; i < policy->source_count; i++)
		if (strcmp(policy->sources[i].name, source) == 0)
			found = &policy->sources[i];
	if (found == NULL) {
		lt_fail(err, LT_ENOENT, "%s: has no source \"%s\"", config, source);
	} else if (lt_check_source(policy, found, err) == LT_OK) {
		struct wanted wanted = {.adapter = found->adapter,
		    .options = lt_options_of(found),
		    .quantity = LT_QUANTITY_CARBON,
		    .longest_s = INT64_MAX,
		    .signal = &simulation->signal};

		if (fetch(simulation, &wanted, err) != LT_OK)
			lt_context(err, "%s", source);
	}
	lt_policy_free(policy);
	return err->code;
}

static int
read_look(struct lt_simulation *simulation, const struct lt_csv_row *row, struct lt_error *err)
{
	struct lt_sim_look look;

	if (lt_utc_parse(row->cells[0], &look.at_utc_s, NULL) != LT_OK ||
	    lt_utc_parse(row->cells[1], &look.done_utc_s, NULL) != LT_OK ||
	    look.done_utc_s < look.at_utc_s ||
	    (simulation->look_count > 0 &&
		look.at_utc_s < simulation->looks[simulation->look_count - 1].done_utc_s))
		return lt_fail(err, LT_EINPUT,
		    "line %d: got \"%s,%s\", want two times, none before those above", row->line,
		    row->cells[0], row->cells[1]);
	simulation->looks[simulation->look_count++] = look;
	return LT_OK;
}

static int
read_looks(struct lt_simulation *simulation, struct lt_csv *csv, struct lt_csv_row *row,
    struct lt_error *err)
{
	static const struct lt_csv_column columns[] = {{"at", true}, {"done", true}};
	uint32_t lines = 1;

	for (const char *at = csv->at; at < csv->end; at++)
		lines += *at == '\n';
	simulation->looks = calloc(lines, sizeof(*simulation->looks));
	if (simulation->looks == NULL)
		return lt_fail(err, LT_ENOMEM, "no memory for %u looks", lines);
	int code = lt_csv_header(csv, columns, 2, err);
	while (code == LT_OK && (code = lt_csv_row(csv, row, err)) == LT_OK && row->cell_count > 0)
		code = read_look(simulation, row, err);
	return code;
}

int
lt_simulation_read_looks(struct lt_simulation *simulation, const char *path, struct lt_error *err)
{
	struct lt_csv_row *const row = malloc(sizeof(*row));
	struct lt_csv csv;
	char *bytes = NULL;
	size_t byte_count = 0;
	int code = row != NULL ? lt_plain_file_read(path, &bytes, &byte_count, err)
			       : lt_fail(err, LT_ENOMEM, "no memory");

	if (code == LT_OK) {
		lt_csv_start(&csv, bytes, byte_count);
		if (read_looks(simulation, &csv, row, err) != LT_OK)
			code = lt_context(err, "%s", path);
	}
	free(bytes);
	free(row);
	return code;
}
