/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One fork and its pipe. What TLS and parsers need in memory is there only while it runs, and what
 * they do wrong ends with it.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "child.h"

enum { READ_BYTES = 64 * 1024, READ_MOST = 16 * READ_BYTES };

bool
lt_child_write(int fd, const void *bytes, size_t length)
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

/* Closes what is the daemon's: a lock that the child kept open would outlive a daemon that is
 * killed. */
static void
run_child(lt_child_function *run, void *work, unsigned most_s, int to, pid_t parent)
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
	alarm(most_s);
	run(work, STDIN_FILENO);
	_exit(0);
}

int
lt_child_start(struct lt_child *child, lt_child_function *run, void *work, unsigned most_s,
    struct lt_error *err)
{
	const pid_t self = getpid();
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) != 0)
		return lt_fail(err, LT_EIO, "pipe: %s", strerror(errno));
	const pid_t pid = fork();
	if (pid == 0)
		run_child(run, work, most_s, ends[1], self);
	close(ends[1]);
	if (pid < 0) {
		close(ends[0]);
		return lt_fail(err, LT_EIO, "fork: %s", strerror(errno));
	}
	fcntl(ends[0], F_SETFL, O_NONBLOCK);
	*child = (struct lt_child){.pid = pid, .fd = ends[0]};
	return LT_OK;
}

static int
end_child(struct lt_child *child)
{
	int status = 0;

	close(child->fd);
	child->fd = -1;
	while (waitpid(child->pid, &status, 0) < 0 && errno == EINTR)
		;
	return status;
}

bool
lt_child_read(struct lt_child *child, int *status)
{
	const size_t most = child->length + READ_MOST;
	ssize_t got = 1;

	while (got > 0) {
		if (child->length >= most)
			return false;
		char *const grown = realloc(child->bytes, child->length + READ_BYTES);

		if (grown == NULL) {
			kill(child->pid, SIGKILL);
			break;
		}
		child->bytes = grown;
		got = read(child->fd, grown + child->length, READ_BYTES);
		if (got < 0 && (errno == EAGAIN || errno == EINTR))
			return false;
		if (got > 0)
			child->length += (size_t)got;
	}
	*status = end_child(child);
	return true;
}

/* One of them has come: the clock's first. */
static int
wait_on(struct lt_child *child, int timer)
{
	struct pollfd fds[] = {
	    {.fd = timer, .events = POLLIN}, {.fd = child->fd, .events = POLLIN}};

	while (poll(fds, 2, -1) < 0)
		;
	return fds[0].revents != 0 ? timer : child->fd;
}

int
lt_child_wait(
    struct lt_child *child, unsigned most_s, size_t most_bytes, int *status, struct lt_error *err)
{
	const struct itimerspec end = {.it_value.tv_sec = most_s};
	const int timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
	bool is_ended = false;
	int code = LT_OK;

	if (timer < 0 || timerfd_settime(timer, 0, &end, NULL) != 0)
		code = lt_fail(err, LT_EIO, "timerfd: %s", strerror(errno));
	while (code == LT_OK && !is_ended) {
		if (wait_on(child, timer) == timer)
			code = lt_fail(err, LT_ESTALE, "no end within %u s", most_s);
		else if (!(is_ended = lt_child_read(child, status)) && child->length > most_bytes)
			code = lt_fail(err, LT_ELIMIT, "more than %zu bytes of output", most_bytes);
	}
	if (timer >= 0)
		close(timer);
	return code;
}

void
lt_child_drop(struct lt_child *child)
{
	if (child->fd >= 0) {
		kill(child->pid, SIGKILL);
		end_child(child);
	}
	free(child->bytes);
	*child = (struct lt_child){.fd = -1};
}
