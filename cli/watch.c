/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lowtide watch JOB: prints a line whenever the state, plan or cost of a job changes, until it has
 * ended and was charged.
 *
 * Asks GET /v1/jobs/JOB every 2 to 15 seconds. On a terminal it redraws the last line if only the
 * cost changed. If lowtided stops answering it says so once and keeps asking; the exit status is 1
 * if the job is not known or may not be seen.
 */
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "job.h"
#include "text.h"

enum {
	PATH_SIZE = 512,
	LINE_SIZE = 1024,
	FIRST_PAUSE_S = 2,
	LAST_PAUSE_S = 15,
	CHARGE_WAIT_S = 60,
	/* A lowtided that has just started may not have the job yet. */
	UNKNOWN_MOST = 3,
	INTERRUPTED = 130,
};

struct watch {
	const struct lt_cli *cli;
	char path[PATH_SIZE];
	int columns;	 /* of a terminal to draw on; 0: plain lines */
	json_t *shown;	 /* by job id: {"state", "costs"} */
	int64_t drawn;	 /* job id whose line is still open; 0 = none */
	bool was_known;	 /* at least once */
	bool is_silent;	 /* lowtided does not answer; reported */
	int unknown;	 /* times in a row */
	int64_t ended_s; /* of the monotonic clock; 0 = not ended */
	int pause_s;
};

static volatile sig_atomic_t line_is_open;

static void
interrupted(int signal)
{
	(void)signal;
	if (line_is_open)
		(void)!write(STDOUT_FILENO, "\n", 1);
	_exit(INTERRUPTED);
}

static void
catch_interrupt(void)
{
	struct sigaction action = {.sa_handler = interrupted};

	sigemptyset(&action.sa_mask);
	(void)sigaction(SIGINT, &action, NULL);
}

static int64_t
monotonic_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec;
}

static void
close_line(struct watch *w)
{
	if (w->drawn != 0)
		putchar('\n');
	w->drawn = 0;
	line_is_open = 0;
}

/* Redraws the last line if it shows the same job and only its cost has changed. Prints a line of
 * its own if the text is wider than the terminal, or there is no terminal. */
static void
draw(struct watch *w, int64_t job_id, const char *line, bool same_state)
{
	if (lt_text_width(line) >= w->columns) {
		close_line(w);
		lt_print_safe(stdout, line);
		putchar('\n');
		fflush(stdout);
		return;
	}
	if (same_state && w->drawn == job_id)
		fputs("\r\033[K", stdout);
	else
		close_line(w);
	putchar('\r'); /* so that it is seen before it ends */
	lt_print_safe(stdout, line);
	w->drawn = job_id;
	line_is_open = 1;
	fflush(stdout);
}

/* Prints the job if its line differs from the last; true if its state, plan or place has
 * changed. */
static bool
show_job(struct watch *w, const json_t *job, const char *currency)
{
	char state[LINE_SIZE / 2], costs[160], line[LINE_SIZE], key[24], at[40] = "";
	const time_t now = time(NULL);
	struct tm local;
	int64_t job_id = 0;

	lt_json_int(job, "job_id", &job_id);
	snprintf(key, sizeof(key), "%lld", (long long)job_id);
	lt_job_state(state, sizeof(state), job, currency);
	lt_job_costs(costs, sizeof(costs), job, currency);
	const json_t *const before = json_object_get(w->shown, key);
	const bool same_state = strcmp(lt_json_text(before, "state", ""), state) == 0;

	if (same_state && strcmp(lt_json_text(before, "costs", ""), costs) == 0)
		return false;
	json_object_set_new(w->shown, key, json_pack("{s:s,s:s}", "state", state, "costs", costs));
	if (localtime_r(&now, &local) != NULL)
		strftime(at, sizeof(at), "%a %H:%M:%S %Z", &local);
	const char *const id = lt_json_text(job, "id", key);
	const char *const cost = costs + strspn(costs, ",; ");

	snprintf(line, sizeof(line), "%s  %s  %s%s", at, id, state, costs);
	/* A line that is too long is not redrawn; its cost is, on a line
	 * below it. */
	if (lt_text_width(line) >= w->columns && w->columns > 0 && cost[0]) {
		snprintf(line, sizeof(line), "%s  %s  %s", at, id, state);
		if (!same_state)
			draw(w, job_id, line, false);
		snprintf(line, sizeof(line), "%s  %s  %s", at, id, cost);
	}
	draw(w, job_id, line, same_state);
	return !same_state;
}

/* True if the job has ended and was charged, or never ran. */
static bool
is_done(const json_t *job)
{
	return json_is_true(json_object_get(job, "ended")) &&
	       (lt_json_text(job, "start", NULL) == NULL ||
		   json_is_object(json_object_get(job, "charged")));
}

/* Prints the jobs of an answer; true if nothing more is to come. */
static bool
show_answer(struct watch *w, const json_t *answer)
{
	const json_t *const jobs = json_object_get(answer, "jobs");
	const char *const currency = lt_json_text(answer, "currency", "");
	bool changed = false, ended = true, done = true;
	size_t index;
	const json_t *job;

	json_array_foreach(jobs, index, job) {
		changed |= show_job(w, job, currency);
		ended &= json_is_true(json_object_get(job, "ended"));
		done &= is_done(job);
	}
	w->was_known = true;
	w->is_silent = false;
	w->unknown = 0;
	if (!ended)
		w->ended_s = 0; /* requeued, too */
	else if (w->ended_s == 0)
		w->ended_s = monotonic_s();
	w->pause_s = changed || ended ? FIRST_PAUSE_S : w->pause_s * 3 / 2;
	if (w->pause_s > LAST_PAUSE_S)
		w->pause_s = LAST_PAUSE_S;
	return done || (ended && monotonic_s() - w->ended_s >= CHARGE_WAIT_S);
}

/* True if lowtided does not know the job; a missing socket has the same code. */
static bool
is_unknown(const struct lt_error *err)
{
	return err->code == LT_ENOENT && strncmp(err->text, "job ", 4) == 0;
}

/* Notes a failure and reports the first; true if asking again is useless. */
static bool
must_give_up(struct watch *w, const struct lt_error *err)
{
	w->unknown = is_unknown(err) ? w->unknown + 1 : 0;
	if (!w->was_known || err->code == LT_EDENIED || w->unknown == UNKNOWN_MOST)
		return true;
	w->pause_s = w->pause_s * 3 / 2;
	if (w->pause_s > LAST_PAUSE_S)
		w->pause_s = LAST_PAUSE_S;
	if (w->is_silent || w->unknown > 0)
		return false;
	w->is_silent = true;
	close_line(w);
	fflush(stdout);
	(void)lt_cli_fail(err);
	return false;
}

/* Ends with a failure, unless the job was known before: then it has ended. */
static int
give_up(struct watch *w, const struct lt_error *err)
{
	close_line(w);
	if (!w->was_known || !is_unknown(err))
		return lt_cli_fail(err);
	puts("it has ended, and nothing was charged");
	return LT_EXIT_OK;
}

static int
follow_job(struct watch *w)
{
	for (;;) {
		json_t *answer = NULL;
		struct lt_error err = {0};
		bool over;

		lt_client_get(&answer, w->cli, w->path, &err);
		over = err.code != LT_OK ? must_give_up(w, &err) : show_answer(w, answer);
		json_decref(answer);
		if (over && err.code != LT_OK)
			return give_up(w, &err);
		if (over)
			break;
		sleep((unsigned)w->pause_s);
	}
	close_line(w);
	return LT_EXIT_OK;
}

int
lt_cli_watch(const struct lt_cli *cli)
{
	struct watch w = {.cli = cli,
	    .columns = lt_cli_escapes(STDOUT_FILENO) ? lt_cli_columns() : 0,
	    .shown = json_object(),
	    .pause_s = FIRST_PAUSE_S};
	struct lt_error err = {0};

	if (lt_job_path(w.path, sizeof(w.path), "/v1/jobs", cli->operands[0], &err) != LT_OK) {
		json_decref(w.shown);
		return lt_cli_usage(cli, "%s", err.text);
	}
	catch_interrupt();
	const int result = follow_job(&w);

	json_decref(w.shown);
	return result;
}
