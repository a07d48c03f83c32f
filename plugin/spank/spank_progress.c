/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Starts a process in the step daemon that reads the job's progress from the file that the job
 * names (LOWTIDE_PROGRESS_FILE) and sends it to lowtide-node. It runs as the job's user, lives as
 * long as the step daemon keeps its end of a pipe, and is nobody's child: Slurm neither waits for
 * it nor counts it as the job's. A file that can't be read, or a node without lowtide-node, is
 * tried again without a word.
 *
 * After the fork only async-signal-safe functions are called, since the step daemon has threads.
 */
#include "spank_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "progress_message.h"

enum {
	LOOK_MS = 2000,
	TELL_S = 60, /* again, though nothing is new: a datagram may be lost */
	FILE_BYTES_MAX = 4096,
	PATH_BYTES = 4096,
	PIPE_FD = 3,
	SOCKET_FD = 4,
	FDS_MOST = 65536, /* without close_range(): more stay open */
};

struct reader {
	uid_t uid;
	gid_t gid;
	const gid_t *groups;
	int group_count;
	char path[PATH_BYTES];
	struct sockaddr_un socket;
	int pipe_fd;
	/* Used by the process alone from here on. */
	int64_t began_s, told_s;
	struct stat seen; /* of the file when it was read last */
	bool is_first_look, is_told;
	struct lt_progress_message message; /* first "" = none yet */
};

/* The step daemon's end; -1 = there is no reader. */
static int keep_fd = -1;
static unsigned task_count;

static int64_t
monotonic_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_BOOTTIME, &now);
	return now.tv_sec;
}

static bool
is_same(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
	       a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec &&
	       a->st_ctim.tv_sec == b->st_ctim.tv_sec && a->st_ctim.tv_nsec == b->st_ctim.tv_nsec;
}

/* Its text; -1: it is no plain file of at most 4 KiB, or can't be read. */
static ssize_t
read_file(struct reader *reader, char text[FILE_BYTES_MAX])
{
	const int fd =
	    open(reader->path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	ssize_t length = -1;

	if (fd < 0)
		return -1;
	if (fstat(fd, &reader->seen) == 0 && S_ISREG(reader->seen.st_mode) &&
	    reader->seen.st_size <= FILE_BYTES_MAX)
		length = read(fd, text, FILE_BYTES_MAX);
	close(fd);
	return length;
}

/* Reads the file if it changed; true if that is news. A file from before the task began belongs to
 * the run before. */
static bool
look_at_file(struct reader *reader)
{
	struct lt_progress_message *const message = &reader->message;
	const bool is_first_look = reader->is_first_look;
	char text[FILE_BYTES_MAX];
	struct stat found;

	reader->is_first_look = false;
	if (lstat(reader->path, &found) != 0 || is_same(&found, &reader->seen))
		return false;
	reader->seen = found;
	if (is_first_look || !S_ISREG(found.st_mode))
		return false;
	const ssize_t length = read_file(reader, text);
	char line[LT_MARKER_SIZE];
	/* Empty for a moment, where its writer truncates it. */
	if (length < 0 || !lt_progress_line(line, text, (size_t)length))
		return false;
	memcpy(message->newest, line, sizeof(line));
	message->newest_after_s = (uint32_t)(monotonic_s() - reader->began_s);
	if (message->first[0] == '\0') {
		memcpy(message->first, message->newest, sizeof(message->first));
		message->first_after_s = message->newest_after_s;
	}
	return true;
}

/* Sends the message; it is lost if nobody listens, and sent again. */
static void
send_progress(struct reader *reader)
{
	char bytes[LT_PROGRESS_BYTES_MAX];
	const size_t length = lt_progress_pack(bytes, &reader->message);

	reader->is_told = sendto(SOCKET_FD, bytes, length, MSG_DONTWAIT | MSG_NOSIGNAL,
			      (const struct sockaddr *)&reader->socket,
			      sizeof(reader->socket)) == (ssize_t)length;
	reader->told_s = monotonic_s();
}

static void
read_on(struct reader *reader)
{
	bool is_ending = false;

	while (!is_ending) {
		const bool is_news = look_at_file(reader);

		reader->is_told &= !is_news;
		if (reader->message.first[0] != '\0' &&
		    (!reader->is_told || monotonic_s() >= reader->told_s + TELL_S))
			send_progress(reader);
		struct pollfd wait = {.fd = PIPE_FD, .events = POLLIN};
		is_ending = poll(&wait, 1, LOOK_MS) > 0;
	}
	/* The last marker is worth most. */
	if (look_at_file(reader) || !reader->is_told)
		if (reader->message.first[0] != '\0')
			send_progress(reader);
}

/* Not the step daemon's any more: its pipes to srun would stay open. */
static bool
keep_only(int pipe_fd)
{
	if (pipe_fd != PIPE_FD && dup2(pipe_fd, PIPE_FD) != PIPE_FD)
		return false;
	if (close_range(PIPE_FD + 1, ~0U, 0) != 0)
		for (int fd = PIPE_FD + 1; fd < FDS_MOST; fd++)
			close(fd);
	for (int fd = 0; fd < PIPE_FD; fd++) {
		close(fd);
		if (open("/dev/null", O_RDWR) != fd)
			return false;
	}
	return socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0) == SOCKET_FD;
}

static bool
become_user(const struct reader *reader)
{
	if (geteuid() == 0 && (setgroups((size_t)reader->group_count, reader->groups) != 0 ||
				  setresgid(reader->gid, reader->gid, reader->gid) != 0 ||
				  setresuid(reader->uid, reader->uid, reader->uid) != 0))
		return false;
	return getuid() == reader->uid && geteuid() == reader->uid;
}

static void
be_reader(struct reader *reader)
{
	sigset_t none;

	sigemptyset(&none);
	(void)setsid();
	if (!become_user(reader) || !keep_only(reader->pipe_fd) || chdir("/") != 0)
		_exit(1);
	for (int number = 1; number < NSIG; number++)
		(void)signal(number, SIG_DFL);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
	read_on(reader);
	_exit(0);
}

/* A child of a child that is gone: Slurm's own waits never see it. */
static void
start_reader(struct reader *reader)
{
	int fds[2];

	if (pipe2(fds, O_CLOEXEC) != 0)
		return;
	reader->pipe_fd = fds[0];
	reader->began_s = monotonic_s();
	reader->is_first_look = true;
	const pid_t pid = fork();
	if (pid == 0) {
		close(fds[1]);
		const pid_t second = fork();
		if (second == 0)
			be_reader(reader);
		_exit(second < 0);
	}
	close(fds[0]);
	int status = 1;
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	keep_fd = fds[1];
	if (pid < 0 || status != 0)
		lt_spank_progress_end();
}

/* Slurm gives it to the batch step, which hands it down by the environment. */
static uint32_t
restarts_of(spank_t spank)
{
	uint32_t told = 0;
	char text[16] = "";

	if (spank_get_item(spank, S_SLURM_RESTART_COUNT, &told) != ESPANK_SUCCESS)
		told = 0;
	spank_getenv(spank, "SLURM_RESTART_COUNT", text, sizeof(text));
	const unsigned long handed_down = strtoul(text, NULL, 10);

	return told > 0 || handed_down > UINT32_MAX ? told : (uint32_t)handed_down;
}

static bool
describe(struct reader *reader, spank_t spank)
{
	struct lt_progress_message *const message = &reader->message;
	gid_t *groups = NULL;
	const int length = snprintf(reader->socket.sun_path, sizeof(reader->socket.sun_path),
	    "%s/node.sock", lt_spank.node_dir);
	struct stat found;

	reader->socket.sun_family = AF_UNIX;
	/* Nobody listens here: nothing is read. */
	if (length < 0 || length >= (int)sizeof(reader->socket.sun_path) ||
	    lstat(reader->socket.sun_path, &found) != 0 || !S_ISSOCK(found.st_mode) ||
	    spank_get_item(spank, S_JOB_ID, &message->job_id) != ESPANK_SUCCESS ||
	    spank_get_item(spank, S_JOB_UID, &reader->uid) != ESPANK_SUCCESS ||
	    spank_get_item(spank, S_JOB_GID, &reader->gid) != ESPANK_SUCCESS)
		return false;
	message->restarts = restarts_of(spank);
	reader->groups = &reader->gid;
	reader->group_count = 1;
	if (spank_get_item(spank, S_JOB_SUPPLEMENTARY_GIDS, &groups, &reader->group_count) ==
		ESPANK_SUCCESS &&
	    groups != NULL && reader->group_count > 0)
		reader->groups = groups;
	else
		reader->group_count = 1;
	return true;
}

/* True for the step's first task on the job's first node. */
static bool
is_first_task(spank_t spank)
{
	uint32_t node = 1;
	int task = 1;

	return spank_get_item(spank, S_JOB_NODEID, &node) == ESPANK_SUCCESS &&
	       spank_get_item(spank, S_TASK_ID, &task) == ESPANK_SUCCESS && node == 0 && task == 0;
}

void
lt_spank_progress_begin(spank_t spank)
{
	static struct reader reader; /* its path is much for a stack */

	task_count++;
	if (keep_fd >= 0 || !is_first_task(spank) ||
	    spank_getenv(spank, "LOWTIDE_PROGRESS_FILE", reader.path, sizeof(reader.path)) !=
		ESPANK_SUCCESS ||
	    reader.path[0] != '/' || !describe(&reader, spank))
		return;
	start_reader(&reader);
}

void
lt_spank_progress_task_over(void)
{
	if (task_count > 0 && --task_count == 0)
		lt_spank_progress_end();
}

void
lt_spank_progress_end(void)
{
	if (keep_fd >= 0)
		close(keep_fd);
	keep_fd = -1;
}
