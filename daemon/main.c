/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lowtided: the command line, a list of init calls, a loop, and the same list backwards. It runs
 * beside slurmctld as SlurmUser; only the acting controller's works, the others wait for their
 * turn. A failure to start is printed to stderr with exit status 1; a failed step of a pass is
 * logged and tried again in the next.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <malloc.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "batch.h"
#include "daemon.h"
#include "fetch.h"
#include "fitting.h"
#include "follow.h"
#include "http.h"
#include "log.h"
#include "metrics_listen.h"
#include "off.h"
#include "policy_follow.h"
#include "policy_load.h"
#include "poll_schedule.h"
#include "program.h"
#include "schedule.h"
#include "serve.h"

/* ---- command line ---- */

static const struct lt_program_option options[] = {
    {"config", "FILE", "policy [LOWTIDE_CONFIG, /etc/lowtide/lowtide.yaml]", 'c'},
    {"state", "DIR", "ledger, ring, terms [LOWTIDE_STATE_DIR, /var/lib/lowtide]", 's'},
    {"run", "DIR", "market, socket [LOWTIDE_RUN_DIR, /run/lowtide]", 'r'},
    {"once", NULL, "fetch, compile, settle once, then exit", 'o'},
    {"probe", NULL, "print what Slurm says, as JSON, then exit", 'p'},
    {"follow", "HOST", "keep HOST's market here (login nodes)", 'f'},
    {"log", "FILE", "append the log there [stderr]", 'l'},
    {"foreground", NULL, "the only mode; accepted and ignored", 'F'},
    {"help", NULL, "print this", 'h'},
    {"version", NULL, "print the version", 'v'},
};

static const char *
from_environment(const char *name, const char *fallback)
{
	const char *value = getenv(name);

	return value != NULL && value[0] ? value : fallback;
}

/* Reads the command line, then the environment, then the defaults. Returns -1 to start, else the
 * exit status (help, version, misuse). */
static int
parse_args(struct lt_args *args, int argc, char **argv)
{
	const struct lt_program program = {.name = lt_batch_program,
	    .options = options,
	    .option_count = sizeof(options) / sizeof(options[0]),
	    .width = 16};
	int status = -1;

	*args = (struct lt_args){
	    .config = from_environment("LOWTIDE_CONFIG", "/etc/lowtide/lowtide.yaml"),
	    .state = from_environment("LOWTIDE_STATE_DIR", "/var/lib/lowtide"),
	    .off = from_environment(LT_OFF_VARIABLE, LT_OFF_PATH),
	    .run = from_environment("LOWTIDE_RUN_DIR", "/run/lowtide"),
	};
	for (int c; (c = lt_program_next(&program, argc, argv, &status)) != 0;) {
		switch (c) {
		case 'c':
			args->config = optarg;
			break;
		case 's':
			args->state = optarg;
			break;
		case 'r':
			args->run = optarg;
			break;
		case 'o':
			args->once = true;
			break;
		case 'p':
			args->probe = true;
			break;
		case 'f':
			args->follow = optarg;
			break;
		case 'l':
			args->log = optarg;
			break;
		case 'F':
			break;
		}
	}
	return status;
}

/* ---- start and end ---- */

enum { TURN_MS = 5000, LOOP_MS = 10000, LARGE_BYTES = 128 * 1024 };

static int64_t
now_s(void)
{
	return (int64_t)time(NULL);
}

static int64_t
wall_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void
join_path(char out[LT_PATH_SIZE], const char *directory, const char *name)
{
	snprintf(out, LT_PATH_SIZE, "%s/%s", directory, name);
}

/* Makes the directory if it is absent; its parent must be there. */
static int
make_directory(const char *path, mode_t mode, struct lt_error *err)
{
	if (mkdir(path, mode) != 0 && errno != EEXIST)
		return lt_fail(err, LT_EIO, "%s: %s", path, strerror(errno));
	return LT_OK;
}

/* Allows one lowtided per state directory, by an OFD lock that ends with us. */
static int
lock_state(int *lock_fd, const char *state, struct lt_error *err)
{
	char path[LT_PATH_SIZE];
	struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};

	join_path(path, state, "lock");
	*lock_fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (*lock_fd < 0)
		return lt_fail(err, LT_EIO, "%s: %s", path, strerror(errno));
	if (fcntl(*lock_fd, F_OFD_SETLK, &whole) != 0)
		return lt_fail(
		    err, LT_EIO, "%s: another lowtided works with this state directory", path);
	return LT_OK;
}

/* Logs refused adjustments at each start: money that somebody meant to move has not moved. */
static void
tell_refused(struct lt_ledger *ledger, const char *state)
{
	char count[24] = "";

	if (lt_ledger_get(ledger, LT_JOURNAL_REFUSED, count, sizeof(count), NULL) == LT_OK &&
	    strcmp(count, "0") != 0)
		lt_log("adjustments_refused",
		    "count=%s file=\"%s/adjustments\" why=\"lines that begin with refused pass what the ledger can add: they are not in it\"",
		    count, state);
}

/* Checks that rows kept beside the ledger are of the same site. */
static int
check_rows(struct lt_ledger *ledger, struct lt_error *err)
{
	bool has_money = false;
	const int code = lt_ledger_has_money(ledger, &has_money, err);

	return code == LT_OK ? lt_batch_check(has_money, err) : code;
}

static int
init_daemon(struct lt_daemon *d, struct lt_error *err)
{
	int code;

	d->started_utc_s = now_s();
	d->cycle = lt_cycle;
	join_path(d->paths.market, d->args.run, LT_MARKET_FILE);
	join_path(d->paths.socket, d->args.run, LT_SOCKET_FILE);
	join_path(d->paths.snapshot, d->args.state, LT_SHEET_FILE);
	join_path(d->paths.bound, d->args.run, LT_BOUND_FILE);
	join_path(d->paths.in_force, d->args.state, LT_IN_FORCE_FILE);
	join_path(d->paths.last_policy, d->args.state, LT_LAST_POLICY_FILE);
	join_path(d->paths.terms, d->args.state, LT_TERMS_FILE);
	join_path(d->paths.history, d->args.state, LT_HISTORY_FILE);
	join_path(d->paths.ring, d->args.state, LT_RING_FILE);
	if ((code = make_directory(d->args.state, 0700, err)) != LT_OK ||
	    (code = make_directory(d->args.run, 0755, err)) != LT_OK ||
	    (code = lock_state(&d->lock_fd, d->args.state, err)) != LT_OK ||
	    (code = lt_batch_init(NULL, d->args.state, err)) != LT_OK ||
	    (code = lt_ledger_open(&d->ledger, d->args.state, err)) != LT_OK ||
	    (code = check_rows(d->ledger, err)) != LT_OK ||
	    (code = lt_daemon_load_policy(d, d->started_utc_s, err)) != LT_OK)
		return code;
	tell_refused(d->ledger, d->args.state);
	lt_signals_restore(&d->signals, d->ledger, d->started_utc_s);
	return LT_OK;
}

static void
end_daemon(struct lt_daemon *d)
{
	lt_fetch_stop();
	lt_fitting_stop();
	lt_batch_jobs_free(&d->jobs.list);
	for (uint32_t i = 0; i < d->jobs.ended_count; i++)
		free(d->jobs.ended[i].run.admin_comment);
	free(d->jobs.ended);
	free(d->jobs.live);
	free(d->jobs.counted);
	free(d->jobs.admitted);
	lt_replan_free(&d->replan);
	lt_afterwards_free(&d->after);
	free(d->site.bars.items);
	lt_notice_free(&d->notice);
	lt_mails_free(&d->mails);
	free(d->jobs.paused);
	lt_proof_free(&d->proof);
	lt_announced_free(&d->announced);
	lt_counters_free(&d->tally);
	free(d->rebuild.keys);
	free(d->budget.recent);
	free(d->budget.forecasts);
	free(d->site.rates.recorded);
	lt_there_free(d->site.there);
	free(d->signals.chosen);
	free(d->signals.seen);
	if (d->ring.fd >= 0)
		close(d->ring.fd);
	if (d->budget.has_snapshot)
		lt_sheet_free(&d->budget.snapshot);
	if (d->site.has_market)
		lt_market_free(&d->site.market);
	free(d->site.tables.partitions);
	free(d->site.tables.shapes);
	lt_market_free(&d->site.tables.last.seen);
	free(d->site.tables.strings);
	lt_batch_nodes_free(&d->site.tables.nodes);
	free(d->site.tables.closed);
	free(d->site.tables.accounts);
	lt_batch_know_users(NULL, 0);
	free(d->site.tables.pairs);
	free(d->site.tables.ties);
	free(d->site.tables.moved.list);
	free(d->site.tables.moves.list);
	free(d->site.tables.managers);
	lt_policy_drop(&d->site, &d->signals);
	lt_ledger_close(d->ledger);
	lt_batch_fini();
	if (d->lock_fd >= 0)
		close(d->lock_fd);
}

/* Signals of the loop come by descriptor; a client that goes away is no
 * reason to die. */
static int
open_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signal(SIGPIPE, SIG_IGN);
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

/* False if lowtided shall end. */
static bool
take_signals(struct lt_daemon *d, int fd)
{
	struct signalfd_siginfo info;

	while (read(fd, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
		if (info.ssi_signo != SIGHUP)
			return false;
		(void)lt_daemon_reload_policy(d, now_s(), NULL);
	}
	return true;
}

/*
 * Waits until this host's controller is in charge: if controllers share a state directory, only the
 * acting one's lowtided works. Nothing is opened until then. A slurmctld that does not answer is no
 * reason to wait: status shall say so. False: a signal ended the wait.
 */
static bool
wait_for_turn(int signals)
{
	struct lt_batch_conf conf;
	bool said = false;

	for (;;) {
		struct lt_error err = {0};
		struct pollfd fd = {.fd = signals, .events = POLLIN};

		if (lt_batch_init(NULL, NULL, &err) != LT_OK)
			return true; /* init_daemon() says why */
		const int code = lt_batch_conf(&conf, &err);
		lt_batch_fini();
		if (code != LT_OK || conf.is_acting_controller)
			return true;
		if (!said)
			lt_log("waiting", "why=\"this host's slurmctld is not in charge\"");
		said = true;
		if (poll(&fd, 1, TURN_MS) > 0)
			return false;
	}
}

/* Takes the changes that the batch system reported, if it reports any, so that they are read at
 * once. */
static bool
take_changes(struct lt_daemon *d, int64_t now_utc_s)
{
	struct lt_batch_changes changes;

	lt_batch_take(&changes, now_utc_s);
	if (changes.all)
		d->jobs.next.list = 0;
	if (changes.tables)
		d->site.next.tables = d->site.next.market = 0;
	for (uint32_t i = 0; i < changes.count; i++)
		lt_poll_at(&d->jobs, changes.jobs[i]);
	return changes.all || changes.tables || changes.count > 0;
}

/* Returns LT_OK at a signal, LT_ESTALE when another controller took over. */
static int
run_loop(struct lt_daemon *d, int signals, struct lt_error *err)
{
	lt_schedule_start(d->started_utc_s);
	const int code = lt_serve_start(d, NULL, err);
	if (code != LT_OK)
		return code;
	lt_log("started", "pid=%d state=%s run=%s", (int)getpid(), d->args.state, d->args.run);
	int64_t next_ms = 0;
	for (;;) {
		struct pollfd fds[1 + LT_BATCH_FDS + LT_FETCH_FDS + LT_FITTING_FDS + LT_SERVE_FDS] =
		    {
			{.fd = signals, .events = POLLIN},
		    };
		nfds_t count = 1 + (nfds_t)lt_batch_fds(&fds[1]);

		count += (nfds_t)lt_fetch_fds(&fds[count]);
		count += (nfds_t)lt_fitting_fds(&fds[count]);
		count += (nfds_t)lt_serve_fds(&fds[count], LT_SERVE_FDS);
		const int64_t now_ms = lt_monotonic_ms();
		const int64_t left_ms = next_ms - now_ms;
		const int most_ms = lt_metrics_reading_wait_ms(now_ms, LOOP_MS);
		const int wait_ms = lt_serve_timeout_ms(left_ms > most_ms ? most_ms
							: left_ms > 0	  ? (int)left_ms
									  : 0);

		if (poll(fds, count, wait_ms) < 0 && errno != EINTR)
			return lt_fail(err, LT_EIO, "poll: %s", strerror(errno));
		if (!take_signals(d, signals))
			return LT_OK;
		lt_clock_follow(d, wall_ms(), lt_monotonic_ms());
		const bool has_come = take_changes(d, now_s());
		lt_serve_run();
		const int64_t fetch_s =
		    lt_schedule_run(&d->signals, d->ledger, d->site.policy, now_s()) - now_s();
		if (lt_monotonic_ms() >= next_ms || d->signals.changed || d->budget.dirty ||
		    has_come) {
			const int64_t cycle_s = lt_cycle(d, now_s());

			next_ms =
			    lt_monotonic_ms() + 1000 * (fetch_s < cycle_s ? fetch_s : cycle_s);
			if (d->site.tables.read_utc_s && !d->acting)
				return LT_ESTALE;
		}
	}
}

static int
run_once(struct lt_daemon *d)
{
	lt_schedule_once(&d->signals, d->ledger, d->site.policy, now_s());
	lt_cycle(d, now_s());
	char failed[LT_ERROR_TEXT_SIZE];
	lt_steps_text(failed, &d->steps);
	if (d->site.tables.read_utc_s && d->site.has_market && d->budget.has_snapshot && !failed[0])
		return 0;
	fprintf(stderr, "lowtided: %s\n",
	    failed[0] ? failed : "this host's slurmctld is not in charge");
	return 1;
}

int
main(int argc, char **argv)
{
	static struct lt_daemon daemon = {.lock_fd = -1, .ring.fd = -1};
	struct lt_error err = {0};
	const int fitted = lt_fitting_main(argc, argv);

	if (fitted >= 0)
		return fitted;
	const int done = lt_batch_main(argc, argv);
	if (done >= 0)
		return done;
	const int status = parse_args(&daemon.args, argc, argv);

	if (status >= 0)
		return status;
	const int failed = lt_log_open(daemon.args.log);
	if (failed) {
		fprintf(stderr, "lowtided: %s: %s\n", daemon.args.log, strerror(failed));
		return 1;
	}
	umask(0022);
	/* Lists of jobs and rows go back to the system when they are freed; left alone, glibc would
	 * keep ever larger ones. */
	mallopt(M_MMAP_THRESHOLD, LARGE_BYTES);
	if (daemon.args.probe)
		return lt_probe();
	const int signals = open_signals();
	if (daemon.args.follow != NULL)
		return lt_follow(&daemon, signals);
	int code, result = 0;
	do {
		if (!daemon.args.once && !wait_for_turn(signals))
			break;
		code = init_daemon(&daemon, &err);
		if (code == LT_OK && daemon.args.once)
			result = run_once(&daemon);
		else if (code == LT_OK)
			code = run_loop(&daemon, signals, &err);
		if (err.code != LT_OK) {
			fprintf(stderr, "lowtided: %s\n", err.text);
			result = 1;
		}
		lt_serve_stop();
		end_daemon(&daemon);
		daemon = (struct lt_daemon){.lock_fd = -1, .ring.fd = -1, .args = daemon.args};
	} while (code == LT_ESTALE && result == 0);
	close(signals);
	return result;
}
