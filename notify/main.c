/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lowtide-notify: sends what lowtided left in the spool, then ends; its path unit starts it when
 * there is more. It runs as a user of its own without rights in Slurm, so that an attacker who
 * reaches it through a mail server or a webhook reaches no job.
 *
 * Reads the policy anew before each round, and the spool; writes the file of what was sent, and
 * key=value lines to stderr. Exit status 1: an error with
 * --once, or messages that stay for the next start.
 */
#include <getopt.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "http.h"
#include "log.h"
#include "program.h"
#include "round.h"
#include "units.h"

/* ---- the command line ---- */

struct notify_args {
	const char *config, *state_dir;
	int64_t retry_s;
	bool once;
};

static const struct lt_program_option table[] = {
    {"config", "FILE", "the policy [/etc/lowtide/lowtide.yaml]", 'c'},
    {"state", "DIR", "what was sent [/var/lib/lowtide-notify]", 's'},
    {"retry", "DURATION", "from the first try to the second [30s]", 'r'},
    {"once", NULL, "try each once; exit status 1: some are left", 'o'},
    {"help", NULL, "print this", 'h'},
    {"version", NULL, "print the version", 'v'},
};

static const struct lt_program program = {.name = "lowtide-notify",
    .options = table,
    .option_count = sizeof(table) / sizeof(table[0]),
    .width = 17};

/* Returns -1 to start, else the exit status. */
static int
parse_args(struct notify_args *args, int argc, char **argv)
{
	const char *const given = getenv("STATE_DIRECTORY"); /* of the unit */
	int status = -1;

	*args = (struct notify_args){.config = "/etc/lowtide/lowtide.yaml",
	    .state_dir = given != NULL ? given : "/var/lib/lowtide-notify",
	    .retry_s = 30};
	for (int c; (c = lt_program_next(&program, argc, argv, &status)) != 0;) {
		switch (c) {
		case 'c':
			args->config = optarg;
			break;
		case 's':
			args->state_dir = optarg;
			break;
		case 'r':
			if (lt_duration_parse(optarg, &args->retry_s, NULL) != LT_OK ||
			    args->retry_s <= 0 || args->retry_s > LT_HOUR_S)
				return lt_program_refuse(
				    &program, "--retry", optarg, "a duration up to 1h such as 30s");
			break;
		case 'o':
			args->once = true;
			break;
		}
	}
	return status;
}

/* ---- the loop ---- */

enum { LOOK_MS = 5000 }; /* what came meanwhile */

static int
print_failure(const struct lt_error *err)
{
	fprintf(stderr, "lowtide-notify: %s\n", err->text);
	return 1;
}

/* Runs one round by the policy as it is now: an admin may have corrected what keeps a message
 * waiting. */
static int
run_round(struct lt_round *round, const char *config, struct lt_error *err)
{
	struct lt_policy *policy = NULL;

	round->due_ms = INT64_MAX;
	int code = lt_policy_load(&policy, config, NULL, err);

	if (code == LT_OK && !policy->notify.is_set)
		code = lt_fail(err, LT_EINPUT,
		    "%s: notify: missing, want it, or this service disabled", config);
	if (code == LT_OK) {
		round->notify = &policy->notify;
		code = lt_round_run(round, time(NULL), lt_monotonic_ms(), err);
	}
	lt_policy_free(policy);
	round->notify = NULL;
	return code;
}

/* Waits until the next message is due. Returns true if a signal says to end. */
static bool
is_ended(int signals, int64_t due_ms)
{
	struct pollfd wait = {.fd = signals, .events = POLLIN};
	const int64_t left_ms = due_ms - lt_monotonic_ms();

	return poll(&wait, 1, left_ms <= 0 ? 0 : left_ms < LOOK_MS ? (int)left_ms : LOOK_MS) > 0;
}

static int
run_rounds(struct lt_round *round, const struct notify_args *args, int signals)
{
	char said[LT_ERROR_TEXT_SIZE] = "";

	do {
		struct lt_error err = {0};
		const int code = run_round(round, args->config, &err);

		if (code != LT_OK && args->once)
			return print_failure(&err);
		if (code == LT_OK && round->left == 0)
			return 0;
		/* Ending would start us again at once. */
		if (code != LT_OK && strcmp(said, err.text) != 0)
			lt_log("waits", "why=\"%s\"", err.text);
		memcpy(said, err.text, sizeof(said));
	} while (!args->once && !is_ended(signals, round->due_ms));
	return args->once; /* what is left stays for the next start */
}

int
main(int argc, char **argv)
{
	static struct lt_round round;
	struct notify_args args;
	struct lt_sent sent;
	struct lt_error err = {0};
	const int status = parse_args(&args, argc, argv);

	if (status >= 0)
		return status;
	umask(0077);
	if (lt_sent_open(&sent, args.state_dir, time(NULL), &err) != LT_OK)
		return print_failure(&err);
	round.sent = &sent;
	round.retry_s = args.retry_s;
	const int signals = lt_program_signals();
	const int result = run_rounds(&round, &args, signals);
	lt_round_end(&round);
	lt_sent_close(&sent);
	lt_http_cleanup();
	close(signals);
	return result;
}
