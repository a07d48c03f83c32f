/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A fit is asked for in turn by each source. The process is this program
 * started anew, not a mere fork: SQLite's connections must not be carried
 * over one.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "child.h"
#include "fitting.h"
#include "log.h"
#include "units.h"

enum {
	MOST_S = 120,  /* much more than 400 days of minutes take */
	FIT_NICE = 10, /* the loop, and slurmctld, go first */
	ARGUMENTS = 5 + LT_AHEAD_COUNT,
};
static const char command[] = "--fit";

struct asked { /* of the child, and by it */
	char key[LT_NAME_SIZE];
	char weather[LT_AHEAD_COUNT][LT_NAME_SIZE];
	const char *state_dir;
	int64_t now_utc_s;
};

static struct {
	bool is_running;
	struct lt_child child;
	struct asked asked;
} fitting;

static void
start_anew(void *work, int fd)
{
	const struct asked *const asked = work;
	char now[24];

	(void)fd; /* it is where the process that begins looks for it */
	(void)nice(FIT_NICE);
	(void)snprintf(now, sizeof(now), "%lld", (long long)asked->now_utc_s);
	(void)execl("/proc/self/exe", "lowtided", command, asked->state_dir, asked->key, now,
	    asked->weather[0], asked->weather[1], asked->weather[2], asked->weather[3],
	    asked->weather[4], asked->weather[5], (char *)NULL);
}

int
lt_fitting_make(struct lt_forecast_fit *fit, struct lt_ledger *ledger, const struct lt_known *known,
    const struct lt_weather_keys *keys, struct lt_error *err)
{
	const int64_t from_utc_s = known->now_utc_s - (int64_t)LT_FIT_DAYS * LT_DAY_S;
	const struct lt_points_asked asked = {keys->source, {from_utc_s, known->now_utc_s}};
	struct lt_rate_step *steps = NULL;
	struct lt_known all = *known;
	uint32_t measured = 0;
	int rc = lt_ledger_points(ledger, &asked, &steps, &all.count, err);

	/* A value that was only forecast, and never came, teaches nothing. */
	for (uint32_t i = 0; rc == LT_OK && i < all.count; i++)
		if (steps[i].quality != LT_QUALITY_FORECAST)
			steps[measured++] = steps[i];
	all.steps = steps;
	all.count = measured;
	if (rc == LT_OK)
		rc = lt_weather_load(
		    &all, ledger, keys, (const int64_t[]){from_utc_s, known->now_utc_s}, err);
	if (rc == LT_OK)
		rc = lt_forecast_fit(fit, &all, err);
	lt_weather_free(&all);
	free(steps);
	return rc;
}

int
lt_fitting_main(int argc, char **argv)
{
	struct lt_forecast_fit fit;
	struct lt_ledger *ledger;
	struct lt_error err = {0};

	if (argc != ARGUMENTS || strcmp(argv[1], command) != 0)
		return -1;
	const struct lt_known known = {.seasonal = true, .now_utc_s = strtoll(argv[4], NULL, 10)};
	int rc = lt_ledger_open_reader(&ledger, argv[2], &err);
	if (rc == LT_OK) {
		rc = lt_fitting_make(&fit, ledger, &known,
		    &(struct lt_weather_keys){
			argv[3], {argv[5], argv[6], argv[7], argv[8], argv[9], argv[10]}},
		    &err);
		lt_ledger_close(ledger);
	}
	if (rc != LT_OK)
		fprintf(stderr, "lowtided: forecast of %s: %s\n", argv[3], err.text);
	return rc == LT_OK && lt_child_write(STDIN_FILENO, &fit, sizeof(fit)) ? 0 : 1;
}

static struct lt_source *
source_of(struct lt_signals_state *signals, const char *key)
{
	for (int i = 0; i < signals->source_count; i++)
		if (strcmp(signals->sources[i].key, key) == 0)
			return &signals->sources[i];
	return NULL; /* the policy changed meanwhile */
}

static void
take_fit(struct lt_signals_state *signals, struct lt_ledger *ledger, int status, int64_t now_utc_s)
{
	struct lt_source *const source = source_of(signals, fitting.asked.key);
	struct lt_forecast_fit fit;

	if (source == NULL)
		return;
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0 || fitting.child.length != sizeof(fit)) {
		lt_log("fit_failed", "source=%s status=%d", source->policy->name, status);
		return;
	}
	memcpy(&fit, fitting.child.bytes, sizeof(fit));
	if (lt_signals_take_fit(signals, ledger, source, &fit, now_utc_s))
		lt_log("fitted", "source=%s days=%d weather_days=%d operator_days=%d",
		    source->policy->name, fit.days[LT_FIT_WITHOUT], fit.days[LT_FIT_WITH],
		    fit.days[LT_FIT_OPERATOR]);
}

static bool
is_due(const struct lt_source *source, int64_t now_utc_s)
{
	return source->step_count > 0 && lt_signals_is_seasonal(source) &&
	       (source->fit_utc_s + LT_FITTING_EVERY_S <= now_utc_s ||
		   source->fit_utc_s > now_utc_s);
}

/* The one that waits longest. */
static struct lt_source *
next_due(struct lt_signals_state *signals, int64_t now_utc_s)
{
	struct lt_source *due = NULL;

	for (int i = 0; i < signals->source_count; i++) {
		struct lt_source *const source = &signals->sources[i];

		if (is_due(source, now_utc_s) &&
		    (due == NULL || source->fit_utc_s < due->fit_utc_s))
			due = source;
	}
	return due;
}

void
lt_fitting_run(struct lt_signals_state *signals, struct lt_ledger *ledger, int64_t now_utc_s)
{
	struct lt_error err = {0};
	int status;

	if (fitting.is_running) {
		if (!lt_child_read(&fitting.child, &status))
			return;
		take_fit(signals, ledger, status, now_utc_s);
		lt_fitting_stop();
	}
	struct lt_source *const source = next_due(signals, now_utc_s);
	if (source == NULL)
		return;
	source->fit_utc_s = now_utc_s;
	fitting.asked =
	    (struct asked){.state_dir = lt_ledger_state(ledger), .now_utc_s = now_utc_s};
	memcpy(fitting.asked.key, source->key, sizeof(source->key));
	for (int i = 0; i < LT_AHEAD_COUNT; i++)
		if (source->weather[i] != NULL)
			snprintf(fitting.asked.weather[i], sizeof(fitting.asked.weather[i]), "%s",
			    source->weather[i]);
	fitting.is_running =
	    lt_child_start(&fitting.child, start_anew, &fitting.asked, MOST_S, &err) == LT_OK;
	if (!fitting.is_running)
		lt_log("fit_failed", "source=%s error=\"%s\"", source->policy->name, err.text);
}

int
lt_fitting_fds(struct pollfd *fds)
{
	if (!fitting.is_running)
		return 0;
	fds[0] = (struct pollfd){.fd = fitting.child.fd, .events = POLLIN};
	return 1;
}

void
lt_fitting_stop(void)
{
	if (fitting.is_running)
		lt_child_drop(&fitting.child);
	fitting.is_running = false;
}
