/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lowtide-node: on a node that its owner may take back, watches the cloud's notice and sends it to
 * lowtided; passes on the progress of the node's jobs. One thread, one poll(2) of everything it
 * waits for; each request is bounded by seconds.
 *
 * Reads its options, the source of notices (reclaim.h) and the socket of its jobs' readers
 * (progress.h); writes key=value lines to stderr and a file in
 * --run that outlasts a restart. A failure of a source or of lowtided is logged
 * when it changes, and tried again; only poll(2) or libcurl failing ends the program.
 */
#include <errno.h>
#include <getopt.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include "log.h"
#include "notice.h"
#include "program.h"
#include "progress.h"
#include "units.h"

/* ---- the command line ---- */

struct node_args {
	const char *node, *server, *metadata, *command, *run_dir;
	const struct lt_node_source *source;
	int64_t lead_s; /* 0 = as the cloud says */
	int64_t progress_s;
	char host[256];
};

#define DMI "/sys/class/dmi/id"

static const struct lt_program_option table[] = {
    {"source", "NAME", "aws, gcp, azure, command [by the firmware]", 's'},
    {"command", "FILE", "a program that says when; then the source is command", 'c'},
    {"node", "NAME", "Slurm's name of this node [the short host name]", 'n'},
    {"server", "HOST", "lowtided [LOWTIDE_SERVER, each SlurmctldHost]", 'S'},
    {"notice", "DURATION", "ahead, where the cloud says no time [30s]", 'N'},
    {"run", "DIR", "what is kept over a restart [/run/lowtide-node]", 'r'},
    {"progress", "DURATION", "between reports of how far jobs are [1m]", 'p'},
    {"metadata", "URL", "of the metadata service, without a path", 'm'},
    {"help", NULL, "print this", 'h'},
    {"version", NULL, "print the version", 'v'},
};

static const struct lt_program program = {.name = "lowtide-node",
    .options = table,
    .option_count = sizeof(table) / sizeof(table[0]),
    .width = 19};

/* Chooses the source by its name, by --command or by the firmware. */
static int
choose_source(struct node_args *args, const char *name)
{
	if (name == NULL && args->command != NULL)
		name = lt_node_command.name;
	args->source = name != NULL && strcmp(name, "auto") != 0 ? lt_node_source_find(name)
								 : lt_node_source_detect(DMI);
	if (args->source == NULL && name != NULL && strcmp(name, "auto") != 0)
		return lt_program_refuse(&program, "--source", name, lt_node_source_names());
	if (args->source == NULL) {
		fprintf(stderr,
		    "lowtide-node: the firmware (" DMI
		    ") names no cloud that is known; give --source NAME (%s) or --command FILE\n",
		    lt_node_source_names());
		return LT_PROGRAM_MISUSE;
	}
	if ((args->source == &lt_node_command) != (args->command != NULL))
		return lt_program_refuse(&program, "--source", args->source->name,
		    "command with --command FILE, another without");
	return -1;
}

/* Slurm's own default for slurmd. */
static const char *
host_name(char *out, size_t size)
{
	if (gethostname(out, size - 1) != 0)
		out[0] = '\0';
	out[size - 1] = '\0';
	out[strcspn(out, ".")] = '\0';
	return out;
}

/* Returns -1 to start, else the exit status. */
static int
parse_args(struct node_args *args, int argc, char **argv)
{
	const char *source = NULL;
	int status = -1;

	args->run_dir = "/run/lowtide-node";
	args->progress_s = 60;
	for (int c; (c = lt_program_next(&program, argc, argv, &status)) != 0;) {
		switch (c) {
		case 's':
			source = optarg;
			break;
		case 'c':
			args->command = optarg;
			break;
		case 'n':
			args->node = optarg;
			break;
		case 'S':
			args->server = optarg;
			break;
		case 'N':
			if (lt_duration_parse(optarg, &args->lead_s, NULL) != LT_OK ||
			    args->lead_s <= 0 || args->lead_s > LT_NODE_FUTURE_S)
				return lt_program_refuse(
				    &program, "--notice", optarg, "a duration such as 2m");
			break;
		case 'r':
			args->run_dir = optarg;
			break;
		case 'p':
			if (lt_duration_parse(optarg, &args->progress_s, NULL) != LT_OK ||
			    args->progress_s <= 0)
				return lt_program_refuse(
				    &program, "--progress", optarg, "a duration such as 1m");
			break;
		case 'm':
			args->metadata = optarg;
			break;
		}
	}
	if (status >= 0)
		return status;
	if (args->node == NULL)
		args->node = host_name(args->host, sizeof(args->host));
	return choose_source(args, source);
}

/* ---- the loop ---- */

enum {
	LOOK_MS = 2000,	   /* AWS asks for 5 s, Azure for one a second at most */
	AGAIN_MS = 1000,   /* lowtided is away, or busy */
	REFUSED_MS = 5000, /* it refuses: an admin may allow it */
};

struct node {
	struct node_args args;
	struct lt_asker asker;
	struct lt_watch watch;
	struct lt_node_progress progress;
	char progress_failed[LT_ERROR_TEXT_SIZE];
	char look_failed[LT_ERROR_TEXT_SIZE]; /* said already; "" = fine */
	char tell_failed[LT_ERROR_TEXT_SIZE];
	char told_failed[LT_ERROR_TEXT_SIZE];
	char aside[sizeof(((struct lt_reading *)0)->aside)];
	bool is_ended;
};

/* One thing that is waited for: a descriptor to read from (-1: none), a time (monotonic; INT64_MAX:
 * none). run() says when it is due again. */
struct wait {
	int fd;
	int64_t due_ms;
	int64_t (*run)(struct node *node, struct wait *wait);
};

enum { WAIT_SIGNAL, WAIT_LOOK, WAIT_TELL, WAIT_PROGRESS, WAIT_COUNT };

/* A failure that stays the same is said once. */
static void
say_failure(char said[LT_ERROR_TEXT_SIZE], const char *event, const struct lt_error *err)
{
	if (strcmp(said, err->text) == 0)
		return;
	snprintf(said, LT_ERROR_TEXT_SIZE, "%s", err->text);
	lt_log(event, "why=\"%s\"", err->text);
}

static void
say_success(char said[LT_ERROR_TEXT_SIZE], const char *event)
{
	if (said[0] != '\0')
		lt_log(event, "after=\"%s\"", said);
	said[0] = '\0';
}

static int64_t
end_at_signal(struct node *node, struct wait *wait)
{
	struct signalfd_siginfo info;

	node->is_ended = read(wait->fd, &info, sizeof(info)) == sizeof(info);
	return INT64_MAX;
}

static void
take_reading(struct node *node, const struct lt_reading *reading, int64_t now_utc_s)
{
	char end[32];

	if (strcmp(node->aside, reading->aside) != 0 && reading->aside[0])
		lt_log("aside", "why=\"%s\"", reading->aside);
	snprintf(node->aside, sizeof(node->aside), "%s", reading->aside);
	if (!lt_watch_see(&node->watch, reading, now_utc_s))
		return;
	if (reading->is_noticed)
		lt_log("noticed", "what=%s end=%s", reading->what,
		    lt_utc_text(end, sizeof(end), node->watch.end_utc_s));
	else
		lt_log("notice_gone", "node=%s", node->args.node);
}

static int64_t
look_at_source(struct node *node, struct wait *wait)
{
	struct lt_reading reading = {0};
	struct lt_error err = {0};

	(void)wait;
	node->asker.now_utc_s = time(NULL);
	if (node->args.source->look(&node->asker, &reading, &err) != LT_OK) {
		say_failure(node->look_failed, "source_failed", &err);
	} else {
		say_success(node->look_failed, "source_works");
		take_reading(node, &reading, time(NULL));
	}
	return lt_monotonic_ms() + LOOK_MS;
}

/* Writes what is remembered over a restart; without it lowtide-node works, too. */
static void
remember_told(struct node *node, bool is_told)
{
	struct lt_error err = {0};

	if (lt_told_write(node->args.run_dir, is_told, &err) != LT_OK)
		say_failure(node->told_failed, "not_remembered", &err);
}

static int64_t
tell_lowtided(struct node *node, struct wait *wait)
{
	const enum lt_watch_task task = lt_watch_task(&node->watch);
	const int64_t end_utc_s = node->watch.end_utc_s;
	const struct lt_tell about = {
	    .node = node->args.node, .server = node->args.server, .now_utc_s = time(NULL)};
	struct lt_error err = {0};
	bool had_it = false;

	(void)wait;
	if (task == LT_WATCH_NOTHING)
		return 0;
	if (!node->watch.is_tried)
		remember_told(node, true);
	lt_watch_try(&node->watch);
	if (lt_tell(&about, task, end_utc_s, &had_it, &err) != LT_OK) {
		say_failure(node->tell_failed, "tell_failed", &err);
		/* If we may not withdraw it, we never sent it either. */
		if (err.code != LT_EDENIED || task != LT_WATCH_WITHDRAW)
			return lt_monotonic_ms() + (err.code == LT_EDENIED ? REFUSED_MS : AGAIN_MS);
	} else {
		say_success(node->tell_failed, "tell_works");
	}
	lt_watch_heard(&node->watch, task, end_utc_s);
	if (task == LT_WATCH_WITHDRAW)
		remember_told(node, false);
	if (err.code != LT_OK)
		return 0;
	if (task == LT_WATCH_TELL)
		lt_log("told", "node=%s in_s=%lld", about.node,
		    (long long)lt_tell_left_s(&about, end_utc_s));
	else
		lt_log(had_it ? "withdrawn" : "nothing_to_withdraw", "node=%s", about.node);
	return 0;
}

static int64_t
follow_progress(struct node *node, struct wait *wait)
{
	struct lt_node_progress *const progress = &node->progress;
	const int64_t now_ms = lt_monotonic_ms();
	struct lt_error err = {0};

	(void)wait;
	lt_node_progress_take(progress, now_ms);
	if (lt_node_progress_due_ms(progress) <= now_ms) {
		const struct lt_node_told told = {node->args.node, node->args.server, now_ms};

		if (lt_node_progress_tell(progress, &told, &err) == LT_OK)
			say_success(node->progress_failed, "progress_works");
		else
			say_failure(node->progress_failed, "progress_failed", &err);
	}
	return lt_node_progress_due_ms(progress);
}

/* Returns the milliseconds until the first of them is due. */
static int
wait_ms_of(const struct node *node, const struct wait *waits)
{
	const bool is_telling = lt_watch_task(&node->watch) != LT_WATCH_NOTHING;
	int64_t due_ms = INT64_MAX;

	for (int i = 0; i < WAIT_COUNT; i++)
		if ((i != WAIT_TELL || is_telling) && waits[i].due_ms < due_ms)
			due_ms = waits[i].due_ms;
	const int64_t left_ms = due_ms - lt_monotonic_ms();
	return left_ms <= 0 ? 0 : left_ms > LOOK_MS ? LOOK_MS : (int)left_ms;
}

static int
watch_all(struct node *node, int signals)
{
	struct wait waits[WAIT_COUNT] = {
	    [WAIT_SIGNAL] = {signals, INT64_MAX, end_at_signal},
	    [WAIT_LOOK] = {-1, 0, look_at_source},
	    [WAIT_TELL] = {-1, 0, tell_lowtided},
	    [WAIT_PROGRESS] = {node->progress.fd, INT64_MAX, follow_progress},
	};

	while (!node->is_ended) {
		struct pollfd fds[WAIT_COUNT];

		for (int i = 0; i < WAIT_COUNT; i++)
			fds[i] = (struct pollfd){.fd = waits[i].fd, .events = POLLIN};
		if (poll(fds, WAIT_COUNT, wait_ms_of(node, waits)) < 0 && errno != EINTR) {
			fprintf(stderr, "lowtide-node: poll: %s\n", strerror(errno));
			return 1;
		}
		for (int i = 0; i < WAIT_COUNT; i++)
			if (fds[i].revents != 0 || waits[i].due_ms <= lt_monotonic_ms())
				waits[i].due_ms = waits[i].run(node, &waits[i]);
	}
	return 0;
}

int
main(int argc, char **argv)
{
	static struct node node;
	struct lt_error err = {0};
	const int status = parse_args(&node.args, argc, argv);

	if (status >= 0)
		return status;
	if (lt_http_init(&err) != LT_OK) {
		fprintf(stderr, "lowtide-node: %s\n", err.text);
		return 1;
	}
	node.asker = (struct lt_asker){
	    .node = node.args.node,
	    .base = node.args.metadata != NULL ? node.args.metadata : node.args.source->base,
	    .command = node.args.command,
	    .lead_s = node.args.lead_s,
	};
	node.progress.every_ms = node.args.progress_s * 1000;
	/* Notices are worth more: without it they are watched all the same. */
	if (lt_node_progress_open(&node.progress, node.args.run_dir, &err) != LT_OK)
		lt_log("no_progress", "why=\"%s\"", err.text);
	node.watch.is_tried = lt_told_read(node.args.run_dir);
	const int signals = lt_program_signals();
	lt_log("started", "node=%s source=%s", node.args.node, node.args.source->name);
	const int result = watch_all(&node, signals);
	lt_log("ended", "node=%s", node.args.node);
	lt_http_session_end(&node.asker.session);
	lt_http_cleanup();
	close(signals);
	return result;
}
