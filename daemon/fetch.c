/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Two lists, wanted and done, and one child under way. The child is a fork
 * that gives its result through a pipe and ends: a source that hangs or
 * breaks the parser takes nothing with it, and what TLS and parsing need in
 * memory is there only while it runs.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fetch.h"
#include "http.h"

enum {
	FETCH_MAX_S = 600, /* a month of history page by page; longer: killed */
	READ_BYTES = 64 * 1024,
};

struct result { /* what the child writes first, then its points */
	int code;
	struct lt_error err;
	struct lt_points points; /* without the array */
};

static struct {
	struct lt_fetch *wanted, *done, *current;
	pid_t pid;
	int fd; /* of the child's pipe; -1 = no child */
	char *bytes;
	size_t length;
} worker = { .fd = -1 };

static void
append(struct lt_fetch **list, struct lt_fetch *fetch)
{
	fetch->next = NULL;
	while (*list)
		list = &(*list)->next;
	*list = fetch;
}

void
lt_fetch_run(struct lt_fetch *fetch)
{
	struct lt_source_options options = { .name = fetch->source.name,
		.count = fetch->source.option_count };
	for (int i = 0; i < options.count; i++) {
		options.items[i].key = fetch->source.options[i].key;
		options.items[i].value = fetch->source.options[i].value;
		options.items[i].line = fetch->source.options[i].line;
		options.items[i].column = fetch->source.options[i].column;
	}
	fetch->code = lt_http_init(&fetch->err);
	if (fetch->code != LT_OK)
		return;
	fetch->code = fetch->adapter->fetch(&options, fetch->from_utc_s,
	    fetch->to_utc_s, fetch->now_utc_s, &fetch->points, &fetch->err);
	if (fetch->code == LT_OK)
		lt_points_sort(&fetch->points);
	lt_http_cleanup();
}

void
lt_fetch_free(struct lt_fetch *fetch)
{
	if (!fetch)
		return;
	lt_points_free(&fetch->points);
	free(fetch);
}

static bool
write_all(int fd, const void *bytes, size_t length)
{
	for (const char *at = bytes; length > 0;) {
		const ssize_t wrote = write(fd, at, length);
		if (wrote <= 0)
			return false;
		at += wrote;
		length -= (size_t)wrote;
	}
	return true;
}

/* In the child. It keeps nothing open that is the daemon's: a lock that it
 * held would outlive a daemon that is killed. */
static void
run_child(struct lt_fetch *fetch, int to, pid_t parent)
{
	sigset_t none;
	if (dup2(to, STDIN_FILENO) < 0)
		_exit(1);
	close_range(STDERR_FILENO + 1, ~0u, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	alarm(FETCH_MAX_S);
	lt_fetch_run(fetch);
	struct result result = { .code = fetch->code, .err = fetch->err,
		.points = fetch->points };
	result.points.points = NULL;
	result.points.capacity = result.points.count;
	_exit(write_all(STDIN_FILENO, &result, sizeof(result)) &&
	    write_all(STDIN_FILENO, fetch->points.points,
		fetch->points.count * sizeof(*fetch->points.points)) ? 0 : 1);
}

static int
start_child(struct lt_fetch *fetch)
{
	struct lt_error *const err = &fetch->err;
	const pid_t self = getpid();
	int ends[2];
	if (pipe2(ends, O_CLOEXEC) != 0)
		return lt_fail(err, LT_EIO, "pipe: %s", strerror(errno));
	const pid_t pid = fork();
	if (pid == 0)
		run_child(fetch, ends[1], self);
	close(ends[1]);
	if (pid < 0) {
		close(ends[0]);
		return lt_fail(err, LT_EIO, "fork: %s", strerror(errno));
	}
	fcntl(ends[0], F_SETFL, O_NONBLOCK);
	worker.current = fetch;
	worker.pid = pid;
	worker.fd = ends[0];
	return LT_OK;
}

/* What came through the pipe, into the fetch that it is of. Both ends are
 * this program: only its length is in doubt. */
static void
understand(struct lt_fetch *fetch, const char *bytes, size_t length,
    int status)
{
	struct result result;
	const size_t one = sizeof(*fetch->points.points);
	if (length >= sizeof(result))
		memcpy(&result, bytes, sizeof(result));
	if (length < sizeof(result) || result.points.count > LT_POINTS_MAX ||
	    length - sizeof(result) != result.points.count * one) {
		fetch->code = WIFSIGNALED(status) ?
		    lt_fail(&fetch->err, LT_EIO, "the fetch was ended by "
			"signal %d", WTERMSIG(status)) :
		    lt_fail(&fetch->err, LT_EIO, "the fetch gave no result");
		return;
	}
	fetch->code = result.code;
	fetch->err = result.err;
	fetch->points = result.points;
	fetch->points.points = calloc(result.points.count + 1, one);
	if (!fetch->points.points) {
		fetch->points.count = fetch->points.capacity = 0;
		fetch->code = lt_fail(&fetch->err, LT_ENOMEM,
		    "the fetch: out of memory");
		return;
	}
	memcpy(fetch->points.points, bytes + sizeof(result),
	    result.points.count * one);
}

static int
end_child(void)
{
	int status = 0;
	close(worker.fd);
	worker.fd = -1;
	while (waitpid(worker.pid, &status, 0) < 0 && errno == EINTR)
		;
	return status;
}

static void
forget_bytes(void)
{
	free(worker.bytes);
	worker.bytes = NULL;
	worker.length = 0;
}

/* True: the child's end of the pipe is closed, or memory is out. */
static bool
read_child(void)
{
	for (;;) {
		char *const grown =
		    realloc(worker.bytes, worker.length + READ_BYTES);
		if (!grown) {
			kill(worker.pid, SIGKILL);
			return true;
		}
		worker.bytes = grown;
		const ssize_t got =
		    read(worker.fd, grown + worker.length, READ_BYTES);
		if (got < 0)
			return errno != EAGAIN && errno != EINTR;
		if (got == 0)
			return true;
		worker.length += (size_t)got;
	}
}

/* Take in what came, start what is next. */
static void
pump(void)
{
	if (worker.fd >= 0 && read_child()) {
		struct lt_fetch *const fetch = worker.current;
		understand(fetch, worker.bytes, worker.length, end_child());
		worker.current = NULL;
		forget_bytes();
		append(&worker.done, fetch);
	}
	while (worker.fd < 0 && worker.wanted) {
		struct lt_fetch *const fetch = worker.wanted;
		worker.wanted = fetch->next;
		fetch->code = start_child(fetch);
		if (fetch->code != LT_OK)
			append(&worker.done, fetch);
	}
}

void
lt_fetch_stop(void)
{
	if (worker.fd >= 0) {
		kill(worker.pid, SIGKILL);
		end_child();
	}
	forget_bytes();
	lt_fetch_free(worker.current);
	worker.current = NULL;
	for (struct lt_fetch *f; (f = worker.done);) {
		worker.done = f->next;
		lt_fetch_free(f);
	}
	for (struct lt_fetch *f; (f = worker.wanted);) {
		worker.wanted = f->next;
		lt_fetch_free(f);
	}
}

void
lt_fetch_post(struct lt_fetch *fetch)
{
	append(&worker.wanted, fetch);
	pump();
}

struct lt_fetch *
lt_fetch_take(void)
{
	pump();
	struct lt_fetch *const fetch = worker.done;
	if (fetch)
		worker.done = fetch->next;
	return fetch;
}

int
lt_fetch_fd(void)
{
	return worker.fd;
}
