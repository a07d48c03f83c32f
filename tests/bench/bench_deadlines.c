/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How often the time that is not passed with 95 % is passed: jobs and arrays on recorded spot nodes
 * (Can't Be Late's windows). Of each environment every other window is learned from, by what
 * lowtided uses: how often nodes are taken, and how long work waits for them. On the others the
 * jobs are played, tick by tick. For make deadline-quality.
 */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "last_task.h"
#include "posterior.h"
#include "units.h"
#include "waits.h"

enum {
	WINDOWS = 300,
	TICKS = 560,
	START_EVERY = 36, /* ticks: 6 hours */
	POOLS_MAX = 4,
	TASKS_MAX = 16,
	WRITE_S = 60,
};

struct window {
	double tick_s;
	int ticks;
	bool is_away[TICKS];
};
static struct window windows[WINDOWS];
static int window_count;

static bool
load_window(struct window *window, const char *path)
{
	json_t *const all = json_load_file(path, 0, NULL);
	const json_t *const data = json_object_get(all, "data");
	size_t index;
	const json_t *tick;

	window->tick_s =
	    json_number_value(json_object_get(json_object_get(all, "metadata"), "gap_seconds"));
	window->ticks = 0;
	json_array_foreach(data, index, tick)
		if (window->ticks < TICKS)
			window->is_away[window->ticks++] = json_number_value(tick) != 0;
	json_decref(all);
	return window->ticks > 0 && window->tick_s > 0;
}

static int
load_environment(const char *directory, const char *name)
{
	window_count = 0;
	for (int i = 0; i < WINDOWS; i++) {
		char path[400];

		snprintf(path, sizeof(path), "%s/spot/us-west-%s/traces/random_start/%d.json",
		    directory, name, i);
		window_count += load_window(&windows[window_count], path);
	}
	return window_count;
}

/* A partition: a node, or as many pools as windows in a row, of which each goes as a whole. Windows
 * of even place are learned from. */
struct place {
	int pools, nodes; /* of each pool */
};

static const struct window *
pool_of(int first, int pool)
{
	return &windows[(first + 2 * pool) % window_count];
}

struct learned {
	struct lt_availability availability;
	double hazard_per_h;
};

static void
learn(struct learned *learned, const struct place *place)
{
	static struct lt_spell spells[WINDOWS * TICKS];
	struct lt_own_history own = {0};
	int64_t at_utc_s = 0;
	uint32_t count = 0;
	double own_share;

	for (int w = 0; w < window_count; w += 2) {
		const struct window *const in = &windows[w];
		const int64_t tick_s = (int64_t)in->tick_s;

		for (int i = 0; i < in->ticks; i++) {
			uint32_t there = 0;

			for (int p = 0; p < place->pools; p++)
				there += pool_of(w, p)->is_away[i] ? 0 : (uint32_t)place->nodes;
			spells[count++] = (struct lt_spell){at_utc_s, at_utc_s + tick_s, there,
			    (uint32_t)(place->pools * place->nodes)};
			at_utc_s += tick_s;
			own.node_hours += in->is_away[i] ? 0 : in->tick_s / LT_HOUR_S;
			own.interruptions +=
			    i + 1 < in->ticks && !in->is_away[i] && in->is_away[i + 1];
		}
		at_utc_s += LT_DAY_S; /* nothing is known of it */
	}
	if (lt_waits_learn(&learned->availability, spells, count, NULL) != LT_OK)
		exit(1);
	learned->hazard_per_h = lt_posterior(lt_hazard_per_hour(0.05, 730), &own, &own_share);
}

struct job {
	double work_s, interval_s, restart_s;
	int tasks;
};

struct task {
	int pool; /* -1: waits */
	bool is_done;
	double kept_s, part_s; /* by its checkpoints; since the last one */
	double before_s;       /* of a restart or a checkpoint's write */
};

/* A tick on its node; how much of it was left when it was done. */
static double
work(struct task *task, const struct job *job, double left_s)
{
	for (;;) {
		const double first_s = fmin(task->before_s, left_s);
		const double until_s = fmin(job->interval_s, job->work_s - task->kept_s);

		task->before_s -= first_s;
		left_s -= first_s;
		const double done_s = fmin(until_s - task->part_s, left_s);

		task->part_s += done_s;
		left_s -= done_s;
		if (task->before_s > 0 || task->part_s < until_s)
			return 0;
		task->kept_s += until_s;
		task->part_s = 0;
		task->before_s = WRITE_S;
		if (task->kept_s >= job->work_s) {
			task->is_done = true;
			return left_s;
		}
	}
}

/* Nodes that are taken back take their tasks with them; whoever waits, in order, has the free
 * ones. */
static void
place_tasks(
    struct task *tasks, const struct job *job, const struct place *place, int first, int tick)
{
	int used[POOLS_MAX] = {0};

	for (int t = 0; t < job->tasks; t++) {
		struct task *const task = &tasks[t];

		if (task->is_done || task->pool < 0)
			continue;
		if (pool_of(first, task->pool)->is_away[tick]) {
			task->pool = -1;
			task->part_s = 0;
			task->before_s = job->restart_s;
		} else {
			used[task->pool]++;
		}
	}
	for (int t = 0; t < job->tasks; t++)
		for (int p = 0; p < place->pools && tasks[t].pool < 0; p++)
			if (!pool_of(first, p)->is_away[tick] && used[p] < place->nodes) {
				tasks[t].pool = p;
				used[p]++;
			}
}

/* Seconds until the last task is done; INFINITY: not in these windows. */
static double
play(const struct job *job, const struct place *place, int first, int from)
{
	const struct window *const in = &windows[first];
	struct task tasks[TASKS_MAX];
	int done = 0;

	for (int t = 0; t < job->tasks; t++)
		tasks[t] = (struct task){.pool = -1};
	for (int i = from; i < in->ticks; i++) {
		double left_s = in->tick_s;

		place_tasks(tasks, job, place, first, i);
		for (int t = 0; t < job->tasks; t++) {
			if (tasks[t].is_done || tasks[t].pool < 0)
				continue;
			left_s = fmin(left_s, work(&tasks[t], job, in->tick_s));
			done += tasks[t].is_done;
			if (tasks[t].is_done)
				tasks[t].pool = -1;
		}
		if (done == job->tasks)
			return (i + 1 - from) * in->tick_s - left_s;
	}
	return INFINITY;
}

struct sums {
	int stated, too_long, late;
};

static void
score(struct sums *sums, const struct learned *learned, const struct place *place, struct job *job)
{
	const struct lt_exposure exposure = {.work_s = job->work_s,
	    .hazard_per_h = learned->hazard_per_h,
	    .restart_s = job->restart_s,
	    .checkpoint = {.enabled = true, .write_s = WRITE_S}};
	const struct lt_tasks tasks = {job->tasks, job->tasks};
	const double end_s =
	    lt_last_task_end_s(&exposure, &tasks, &learned->availability, job->tasks > 1, 0.95);

	job->interval_s = lt_active_time(&exposure).interval_s;
	for (int w = 1; w < window_count; w += 2)
		for (int from = 0; from < windows[w].ticks; from += START_EVERY) {
			if (!(end_s < (windows[w].ticks - from) * windows[w].tick_s)) {
				sums->too_long++;
				continue;
			}
			sums->stated++;
			sums->late += play(job, place, w, from) > end_s;
		}
}

static void
add(struct sums *total, const struct sums *sums)
{
	total->stated += sums->stated;
	total->too_long += sums->too_long;
	total->late += sums->late;
}

static void
print(const char *name, const char *what, const struct sums *sums)
{
	printf("%-10s %-22s %8d %9d ", name, what, sums->stated, sums->too_long);
	if (sums->stated > 0)
		printf("%7.1f\n", 100.0 * sums->late / sums->stated);
	else
		printf("%7s\n", "-");
}

int
main(int argc, char **argv)
{
	static const char *const names[] = {"2a_k80_1", "2a_k80_8", "2a_v100_1", "2a_v100_8",
	    "2b_k80_1", "2b_k80_8", "2b_v100_1", "2b_v100_8"};
	static const int works_h[] = {1, 2, 4, 8, 16, 24, 48};
	static const struct {
		const char *what;
		struct place place;
		int tasks;
	} kinds[] = {
	    {"one job", {1, 1}, 1},
	    {"16 tasks, one pool", {1, 16}, 16},
	    {"16 tasks, four pools", {4, 4}, 16},
	};
	static const double restarts_s[] = {180, 720};

	if (argc != 2) {
		fputs("usage: bench_deadlines DIR\n", stderr);
		return 2;
	}
	printf("%-10s %-22s %8s %9s %7s\n", "nodes of", "", "stated", "too long", "late %");
	for (int k = 0; k < 3; k++) {
		struct sums total = {0};

		for (int e = 0; e < 8; e++) {
			struct learned learned;
			struct sums sums = {0};

			if (load_environment(argv[1], names[e]) == 0) {
				fprintf(stderr, "%s: no windows of %s\n", argv[1], names[e]);
				return 1;
			}
			learn(&learned, &kinds[k].place);
			for (int w = 0; w < 7; w++)
				for (int r = 0; r < 2; r++)
					score(&sums, &learned, &kinds[k].place,
					    &(struct job){.work_s = works_h[w] * LT_HOUR_S,
						.restart_s = restarts_s[r],
						.tasks = kinds[k].tasks});
			print(names[e], kinds[k].what, &sums);
			add(&total, &sums);
		}
		print("all", kinds[k].what, &total);
	}
	return 0;
}
