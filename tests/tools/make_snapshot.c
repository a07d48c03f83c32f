/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes a market and a budget snapshot of any size without lowtided, for
 * tests of the plugins and for benches. The budget snapshot names the holds
 * ring of the state directory, which is made if it is not there.
 */
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "files.h"
#include "ring.h"
#include "units.h"

static const char usage[] =
    "usage: make_snapshot --run DIR --state DIR [options]\n"
    "  --partitions N    how many (2)\n"
    "  --partition NAME  the first, Slurm's default (ondemand)\n"
    "  --spot NAME       the second, preemptible, a quarter of the price "
    "(spot)\n"
    "  --days D          of 5-minute carbon signal (2)\n"
    "  --teams N         how many (1)\n"
    "  --shapes N        of nodes, in each partition (1)\n"
    "  --kinds N         of nodes, over the partitions in turn (1)\n"
    "  --team NAME       the first (team0000)\n"
    "  --free NAME       an account without a budget (free)\n"
    "  --uid UID         member of all, its default the first (own)\n"
    "  --limit AMOUNT    of each team (1000000)\n"
    "  --next AMOUNT     of each team in the next period (--limit's)\n"
    "  --ends SECONDS    from now, the period (the month's end, in 15 days at least)\n"
    "  --rule reject|hold|warn  on_exceed (reject)\n"
    "  --unknown hold|reject|allow  on_unknown (hold)\n"
    "  --mode observe|advise|enforce (enforce)\n"
    "  --stale SECONDS   after which the sheet is unknown (7 days)\n"
    "  --absorbed N      W (0)\n"
    "  --age SECONDS     how long ago both were made (0)\n"
    "  --seen SECONDS    submissions until then from now are in the occupancy\n"
    "                    (none are)\n";

struct wanted {
	const char *run, *state, *partition, *spot, *team, *free, *rule, *unknown, *mode;
	uint32_t partitions, days, teams, uid, shapes, kinds;
	int64_t limit_micros, next_micros, ends_s, stale_s, ingested, age_s, seen_s;
};

enum {
	STEP_S = 300,
	/* A period goes on for so long, so that what is tried on a month's last day is within it as
	 * on any other. */
	LONG_S = 15 * 86400,
};

static void *
room(size_t count, size_t size)
{
	void *const memory = calloc(count, size);

	if (memory == NULL) {
		fprintf(stderr, "make_snapshot: no memory\n");
		exit(1);
	}
	return memory;
}

static void
fill_series(
    struct lt_series *series, int64_t start_utc_s, uint32_t count, double base, double swing)
{
	series->count = count;
	series->quality = count > 1 ? LT_QUALITY_FORECAST : LT_QUALITY_CONSTANT;
	series->issued_utc_s = start_utc_s;
	if (count > 1)
		snprintf(series->source, sizeof(series->source), "made");
	series->start_utc_s = room(count + 1, sizeof(int64_t));
	series->value = room(count, sizeof(double));
	series->integral = room(count + 1, sizeof(double));
	for (uint32_t i = 0; i <= count; i++)
		series->start_utc_s[i] = start_utc_s + (int64_t)i * STEP_S;
	for (uint32_t i = 0; i < count; i++)
		series->value[i] =
		    base + swing * sin(6.2831853 * (double)i * STEP_S / LT_DAY_S) + (double)(i % 7);
	if (lt_series_prepare(series, NULL) != LT_OK) {
		fprintf(stderr, "make_snapshot: bad series\n");
		exit(1);
	}
}

static void
fill_partition(struct lt_market *market, uint32_t i, const struct wanted *w)
{
	struct lt_partition *const p = &market->partitions[i];
	const uint32_t first = i * w->shapes;
	const double price = i == 1 ? 900000 : 3600000 + 10000.0 * i;

	snprintf(p->name, sizeof(p->name), "p%03u", i);
	if (i == 0)
		snprintf(p->name, sizeof(p->name), "%s", w->partition);
	if (i == 1)
		snprintf(p->name, sizeof(p->name), "%s", w->spot);
	p->flags = LT_PARTITION_UP | LT_PARTITION_MANAGED | (i == 0 ? LT_PARTITION_DEFAULT : 0) |
		   (i == 1 ? LT_PARTITION_PREEMPTIBLE : 0);
	p->max_time_s = 7 * LT_DAY_S;
	p->default_time_s = LT_HOUR_S;
	p->min_nodes = 1;
	p->max_nodes = UINT32_MAX;
	p->node_count = 2 * w->shapes;
	p->first_shape = first;
	p->shape_count = w->shapes;
	p->allow_accounts = p->deny_accounts = p->allow_qos = p->deny_qos = "";
	p->price_series = (int)(2 * i);
	p->carbon_series = (int)(2 * i + 1);
	p->tariff_series = p->occupancy_series = LT_NO_SERIES;
	p->node_idle_w = 500;
	p->node_cpu_w = 600;
	p->node_gpu_w = 2400;
	p->pue = 1.2;
	if (i == 1) {
		p->hazard_per_node_hour = 0.004;
		p->notice_s = 120;
		p->restart_s = 360;
		p->availability = (struct lt_availability){
		    .seen_s = 86400, .there_ppm = 950000, .taken_ppm = 4000};
		p->availability.waits[0][1][4].mean_s = 1800;
		p->availability.waits[1][2][9].passed_s[7] = LT_WAIT_UNKNOWN;
	}
	for (uint32_t k = 0; k < w->shapes; k++)
		market->shapes[first + k] = (struct lt_shape){.node_count = 2,
		    .cpus = 64 * (k + 1),
		    .sockets = 2,
		    .threads = 1,
		    .gpus = 8,
		    .memory_mib = 512000 * (k + 1) + i % w->kinds,
		    .gpu_index = -1};
	fill_series(&market->series[2 * i], market->compiled_utc_s, 1, price, 0);
	fill_series(&market->series[2 * i + 1], market->compiled_utc_s / STEP_S * STEP_S,
	    w->days * (LT_DAY_S / STEP_S), 300, 100);
}

static void
fill_market(struct lt_market *market, const struct wanted *w)
{
	static const char *const modes[] = {"observe", "advise", "enforce"};

	memset(market, 0, sizeof(*market));
	market->compiled_utc_s = (int64_t)time(NULL) - w->age_s;
	market->generation = (uint64_t)market->compiled_utc_s;
	if (w->seen_s != 0)
		market->jobs_utc_s = market->compiled_utc_s + w->seen_s;
	snprintf(market->cluster, sizeof(market->cluster), "made");
	snprintf(market->currency, sizeof(market->currency), "USD");
	for (int i = 0; i < 3; i++)
		if (strcmp(w->mode, modes[i]) == 0)
			market->mode = (enum lt_mode)i;
	market->carbon_price_micros_per_tonne = 100 * (int64_t)LT_MICROS;
	market->max_delay_s = LT_DAY_S;
	market->stale_after_s = 3 * LT_HOUR_S;
	market->deadline_slack_s = 1800;
	market->assume_time_s = LT_HOUR_S;
	market->deadline_confidence_ppm = 950000;
	market->max_restart_risk_ppm = 100000;
	market->max_extra_cost_ppm = 100000;
	market->max_array_size = 10001;
	market->core_spec_counts = true;
	market->partition_count = w->partitions;
	market->shape_count = w->partitions * w->shapes;
	market->series_count = 2 * w->partitions;
	market->partitions = room(w->partitions, sizeof(*market->partitions));
	market->shapes = room(market->shape_count, sizeof(*market->shapes));
	market->series = room(market->series_count, sizeof(*market->series));
	for (uint32_t i = 0; i < w->partitions; i++)
		fill_partition(market, i, w);
}

static void
month_of(struct lt_period *period, int month_offset, int64_t limit_micros)
{
	const time_t now = time(NULL);
	struct tm tm;

	gmtime_r(&now, &tm);
	tm.tm_mday = 1;
	tm.tm_hour = tm.tm_min = tm.tm_sec = 0;
	tm.tm_mon += month_offset;
	period->start_utc_s = timegm(&tm);
	strftime(period->label, sizeof(period->label), "%B", &tm);
	tm.tm_mon++;
	period->end_utc_s = timegm(&tm);
	period->limit.has_money = period->settled.has_money = period->held.has_money = true;
	period->settled.has_carbon = period->held.has_carbon = true;
	period->limit.money_micros = limit_micros;
}

static enum lt_rule
rule_of(const char *word)
{
	static const char *const words[] = {"reject", "hold", "warn", "allow"};

	for (int i = 0; i < 4; i++)
		if (strcmp(word, words[i]) == 0)
			return (enum lt_rule)i;
	fprintf(stderr, "make_snapshot: no rule %s\n", word);
	exit(2);
}

static int
compare_accounts(const void *a, const void *b)
{
	const struct lt_account *const x = a, *const y = b;

	return strcmp(x->name, y->name);
}

/* Teams, and last one account that nothing binds. */
static void
fill_sheet(struct lt_budget_snapshot *snapshot, const struct wanted *w, uint64_t ring_generation)
{
	memset(snapshot, 0, sizeof(*snapshot));
	snapshot->compiled_utc_s = (int64_t)time(NULL) - w->age_s;
	snapshot->generation = (uint64_t)snapshot->compiled_utc_s;
	snapshot->ring_generation = ring_generation;
	snapshot->ring_absorbed = (uint64_t)w->ingested;
	snapshot->ready = true;
	snapshot->on_unknown = rule_of(w->unknown);
	snapshot->stale_after_s = w->stale_s;
	snapshot->budget_count = snapshot->binding_count = w->teams;
	snapshot->account_count = snapshot->pair_count = w->teams + 1;
	snapshot->budgets = room(w->teams, sizeof(*snapshot->budgets));
	snapshot->bindings = room(w->teams, sizeof(*snapshot->bindings));
	snapshot->accounts = room(w->teams + 1, sizeof(*snapshot->accounts));
	snapshot->pairs = room(w->teams + 1, sizeof(*snapshot->pairs));
	snapshot->usages = room(1, sizeof(*snapshot->usages));
	for (uint32_t i = 0; i < w->teams; i++) {
		struct lt_budget *const budget = &snapshot->budgets[i];

		snprintf(budget->team, sizeof(budget->team), "team%04u", i);
		if (i == 0)
			snprintf(budget->team, sizeof(budget->team), "%s", w->team);
		budget->on_exceed = rule_of(w->rule);
		month_of(&budget->periods[0], 0, w->limit_micros);
		month_of(
		    &budget->periods[1], 1, w->next_micros > 0 ? w->next_micros : w->limit_micros);
		const int64_t end_utc_s = time(NULL) + (w->ends_s > 0 ? w->ends_s : LONG_S);
		if (w->ends_s > 0 || budget->periods[0].end_utc_s < end_utc_s)
			budget->periods[0].end_utc_s = budget->periods[1].start_utc_s = end_utc_s;
		memcpy(snapshot->accounts[i].name, budget->team, sizeof(budget->team));
		snapshot->accounts[i].first_binding = i;
		snapshot->accounts[i].binding_count = 1;
		snapshot->bindings[i] = i;
	}
	snprintf(snapshot->accounts[w->teams].name, LT_ACCOUNT_SIZE, "%s", w->free);
	qsort(snapshot->accounts, snapshot->account_count, sizeof(*snapshot->accounts),
	    compare_accounts);
	for (uint32_t i = 0; i < snapshot->pair_count; i++) {
		snapshot->pairs[i].uid = w->uid;
		snapshot->pairs[i].account = i;
		snapshot->pairs[i].is_default = strcmp(snapshot->accounts[i].name, w->team) == 0;
	}
}

static int64_t
number(const char *text)
{
	int64_t value = 0;
	struct lt_error err = {0};

	if (lt_int64_parse(text, INT32_MIN, INT64_MAX, &value, &err) != LT_OK) {
		fprintf(stderr, "make_snapshot: %s\n", err.text);
		exit(2);
	}
	return value;
}

static void
read_options(struct wanted *w, int argc, char **argv)
{
	static const char *const names[] = {"run", "state", "partition", "spot", "team", "free",
	    "rule", "unknown", "mode", "partitions", "days", "teams", "uid", "shapes", "kinds",
	    "limit", "next", "stale", "absorbed", "age", "seen", "ends"};
	struct option table[sizeof(names) / sizeof(names[0]) + 1];
	const char **const texts[] = {&w->run, &w->state, &w->partition, &w->spot, &w->team,
	    &w->free, &w->rule, &w->unknown, &w->mode};
	uint32_t *const numbers[] = {
	    &w->partitions, &w->days, &w->teams, &w->uid, &w->shapes, &w->kinds};
	int64_t *const longs[] = {&w->limit_micros, &w->next_micros, &w->stale_s, &w->ingested,
	    &w->age_s, &w->seen_s, &w->ends_s};
	int c;

	memset(table, 0, sizeof(table));
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		table[i] = (struct option){names[i], required_argument, NULL, (int)i + 1};
	while ((c = getopt_long(argc, argv, "", table, NULL)) != -1) {
		if (c >= 1 && c <= 9)
			*texts[c - 1] = optarg;
		else if (c >= 10 && c <= 15)
			*numbers[c - 10] = (uint32_t)number(optarg);
		else if ((c == 16 || c == 17) &&
			 lt_micros_parse(optarg, longs[c - 16], NULL) == LT_OK)
			continue;
		else if (c >= 18 && c <= 22)
			*longs[c - 16] = number(optarg);
		else {
			fputs(usage, stderr);
			exit(2);
		}
	}
	if (w->run == NULL || w->state == NULL || optind != argc || w->partitions < 2 ||
	    w->shapes < 1 || w->kinds < 1 || w->shapes > LT_SHAPES_MAX / w->partitions ||
	    w->partitions > LT_PARTITIONS_MAX || w->days < 1 || w->days > 14 || w->teams < 1 ||
	    w->teams > LT_BUDGETS_MAX) {
		fputs(usage, stderr);
		exit(2);
	}
}

int
main(int argc, char **argv)
{
	static struct lt_market market;
	static struct lt_budget_snapshot snapshot;
	struct wanted w = {.partition = "ondemand",
	    .spot = "spot",
	    .team = "team0000",
	    .free = "free",
	    .rule = "reject",
	    .unknown = "hold",
	    .mode = "enforce",
	    .partitions = 2,
	    .days = 2,
	    .teams = 1,
	    .shapes = 1,
	    .kinds = 1,
	    .uid = getuid(),
	    .limit_micros = 1000000 * (int64_t)LT_MICROS,
	    .stale_s = 7 * LT_DAY_S};
	struct lt_error err = {0};
	char path[1024];
	uint64_t generation = 0;
	int fd;

	read_options(&w, argc, argv);
	snprintf(path, sizeof(path), "%s/%s", w.state, LT_RING_FILE);
	fd = lt_ring_open(path, true, &generation, &err);
	if (fd < 0)
		goto failed;
	close(fd);
	fill_market(&market, &w);
	fill_sheet(&snapshot, &w, generation);
	snprintf(path, sizeof(path), "%s/%s", w.run, LT_MARKET_FILE);
	if (lt_market_save(&market, path, &err) != LT_OK)
		goto failed;
	snprintf(path, sizeof(path), "%s/%s", w.state, LT_SHEET_FILE);
	if (lt_sheet_save(&snapshot, path, &err) != LT_OK)
		goto failed;
	printf("%s: %u partitions, %u days, %u teams\n", path, w.partitions, w.days, w.teams);
	return 0;
failed:
	fprintf(stderr, "make_snapshot: %s: %s\n", path, err.text);
	return 1;
}
