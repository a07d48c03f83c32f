/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs a program without a shell and keeps its output: sbatch for plan, lowtided --probe for init
 * and doctor. The output is bounded, and so is the time if the caller says; a program that does not
 * exist, fails or prints bad JSON is an error that names it.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli.h"

enum { PROBE_TIMEOUT_S = 60, READ_BYTES = 16384 };

struct stream {
	int fd; /* -1 = closed */
	char *bytes;
	size_t length, capacity;
};

static int
stream_read(struct stream *stream, struct lt_error *err)
{
	if (stream->length + READ_BYTES + 1 > stream->capacity) {
		const size_t capacity = stream->capacity * 2 + 2 * READ_BYTES;
		char *const bytes = realloc(stream->bytes, capacity);

		if (bytes == NULL)
			return lt_fail(err, LT_ENOMEM, "no memory");
		stream->bytes = bytes;
		stream->capacity = capacity;
		/* A program without output has "". */
		bytes[stream->length] = '\0';
	}
	const ssize_t count = read(stream->fd, stream->bytes + stream->length, READ_BYTES);

	if (count < 0 && errno == EINTR)
		return LT_OK;
	if (count <= 0) {
		close(stream->fd);
		stream->fd = -1;
		return LT_OK;
	}
	stream->length += (size_t)count;
	stream->bytes[stream->length] = '\0';
	if (stream->length > LT_PROGRAM_OUTPUT_MAX)
		return lt_fail(
		    err, LT_ELIMIT, "more than %d bytes of output", (int)LT_PROGRAM_OUTPUT_MAX);
	return LT_OK;
}

static int64_t
now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Reads until the other end has closed both streams. */
static int
collect_output(struct stream streams[2], int timeout_s, struct lt_error *err)
{
	const int64_t end_ms = now_ms() + (int64_t)timeout_s * 1000;

	while (streams[0].fd >= 0 || streams[1].fd >= 0) {
		struct pollfd polls[2] = {
		    {.fd = streams[0].fd, .events = POLLIN},
		    {.fd = streams[1].fd, .events = POLLIN},
		};
		const int64_t left = end_ms - now_ms();

		if (timeout_s && left <= 0)
			return lt_fail(err, LT_ESTALE, "no end after %d seconds", timeout_s);
		if (poll(polls, 2, timeout_s ? (int)left : -1) < 0 && errno != EINTR)
			return lt_fail(err, LT_EIO, "poll: %s", strerror(errno));
		for (int i = 0; i < 2; i++)
			if (polls[i].revents && streams[i].fd >= 0 && stream_read(&streams[i], err))
				return err->code;
	}
	return LT_OK;
}

/* Runs in the child, with async-signal-safe calls only. A failed exec sends its errno through the
 * close-on-exec pipe. */
static void __attribute__((noreturn))
exec_child(char *const argv[], int out, int error, int failure)
{
	if (out >= 0)
		dup2(out, STDOUT_FILENO);
	dup2(error, STDERR_FILENO);
	execvp(argv[0], argv);
	const int code = errno;

	if (write(failure, &code, sizeof(code)) < 0)
		_exit(126);
	_exit(127);
}

static int
pipes_open(int pipes[3][2], struct lt_error *err)
{
	for (int i = 0; i < 3; i++) {
		if (!pipe2(pipes[i], O_CLOEXEC))
			continue;
		lt_fail(err, LT_EIO, "pipe: %s", strerror(errno));
		while (i-- > 0) {
			close(pipes[i][0]);
			close(pipes[i][1]);
		}
		return err->code;
	}
	return LT_OK;
}

/* Fails if exec failed; if it succeeded, the pipe closes without a byte. */
static int
exec_check(int failure, const char *program, struct lt_error *err)
{
	int code = 0;
	ssize_t count;

	do {
		count = read(failure, &code, sizeof(code));
	} while (count < 0 && errno == EINTR);
	if (count != (ssize_t)sizeof(code))
		return LT_OK;
	return lt_fail(err, code == ENOENT ? LT_ENOENT : LT_EIO, "%s: %s", program, strerror(code));
}

int
lt_program_run(struct lt_program *child, char *const argv[], bool capture_out, int timeout_s,
    struct lt_error *err)
{
	enum { OUT, ERROR, FAILURE };
	int pipes[3][2], status = 0;

	memset(child, 0, sizeof(*child));
	if (pipes_open(pipes, err))
		return err->code;
	const pid_t pid = fork();

	if (pid == 0)
		exec_child(
		    argv, capture_out ? pipes[OUT][1] : -1, pipes[ERROR][1], pipes[FAILURE][1]);
	for (int i = 0; i < 3; i++)
		close(pipes[i][1]);
	struct stream streams[2] = {{.fd = pipes[OUT][0]}, {.fd = pipes[ERROR][0]}};
	int result;

	if (pid < 0)
		result = lt_fail(err, LT_EIO, "fork: %s", strerror(errno));
	else
		result = exec_check(pipes[FAILURE][0], argv[0], err);
	close(pipes[FAILURE][0]);
	if (result == LT_OK && collect_output(streams, timeout_s, err)) {
		result = lt_context(err, "%s", argv[0]);
		kill(pid, SIGKILL);
	}
	for (int i = 0; i < 2; i++)
		if (streams[i].fd >= 0)
			close(streams[i].fd);
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	child->status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	child->out = streams[0].bytes;
	child->out_length = streams[0].length;
	child->error = streams[1].bytes;
	child->error_length = streams[1].length;
	if (result)
		lt_program_free(child);
	return result;
}

void
lt_program_free(struct lt_program *child)
{
	free(child->out);
	free(child->error);
	memset(child, 0, sizeof(*child));
}

/* Writes the directory of this program; "" if it is not known. */
static void
own_directory(char *out, size_t size)
{
	const ssize_t length = readlink("/proc/self/exe", out, size - 1);

	out[length > 0 ? length : 0] = '\0';
	char *const slash = strrchr(out, '/');

	if (slash != NULL)
		*slash = '\0';
}

/* Finds the daemon of this name; NULL: whichever there is. */
static void
find_daemon(char *out, size_t size, const char *wanted)
{
	/* A cluster's image has only the second. */
	static const char *const names[] = {"lowtided", "lowtide-kube"};
	static const char *const beside[] = {"", "../sbin/"};
	const char *const named = getenv("LOWTIDED");
	char directory[2048];

	if (named != NULL && named[0]) {
		snprintf(out, size, "%s", named);
		return;
	}
	own_directory(directory, sizeof(directory));
	for (size_t i = 0; i < 2 * sizeof(names) / sizeof(names[0]); i++) {
		const char *const name = names[i / 2];

		if (wanted != NULL && strcmp(wanted, name) != 0)
			continue;
		snprintf(out, size, "%s/%s%s", directory, beside[i % 2], name);
		if (directory[0] && !access(out, X_OK))
			return;
	}
	snprintf(out, size, "%s", wanted != NULL ? wanted : names[0]);
}

int
lt_daemon_json(json_t **answer, const char *daemon, const char *const *words, struct lt_error *err)
{
	char program[4096];
	char *argv[LT_DAEMON_WORDS_MAX + 2] = {program};
	struct lt_program child;
	json_error_t problem;

	find_daemon(program, sizeof(program), daemon);
	for (int i = 0; i < LT_DAEMON_WORDS_MAX && words[i] != NULL; i++)
		argv[i + 1] = (char *)(uintptr_t)words[i];
	if (lt_program_run(&child, argv, true, PROBE_TIMEOUT_S, err))
		return err->code;
	if (child.status) {
		if (child.error != NULL)
			child.error[strcspn(child.error, "\n")] = '\0';
		lt_fail(err, LT_EIO, "%s %s: exit status %d: %s", program, words[0], child.status,
		    child.error != NULL ? child.error : "");
		lt_program_free(&child);
		return err->code;
	}
	*answer = json_loadb(child.out != NULL ? child.out : "", child.out_length, 0, &problem);
	if (*answer == NULL)
		lt_fail(err, LT_EINPUT, "%s %s: not JSON: %s", program, words[0], problem.text);
	lt_program_free(&child);
	return *answer != NULL ? LT_OK : err->code;
}

int
lt_probe_facts(json_t **facts, struct lt_error *err)
{
	static const char *const words[] = {"--probe", NULL};

	return lt_daemon_json(facts, NULL, words, err);
}
