/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The Unix socket, asked by several users: the kernel says who, admins alone may what is theirs,
 * and who takes many connections takes them from himself. Other users than our own need root; what
 * needs them is left out aloud.
 */
#include <errno.h>
#include <poll.h>
#include <pwd.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "breath.h"
#include "daemon.h"
#include "http.h"
#include "serve.h"

enum { STRANGER = 65534, SLURM = 64030, REPLY_MAX = 4096, ANSWER_MS = 10000 };

static char folder[] = "/tmp/lowtide-serve.XXXXXX";
static struct lt_policy policy;
static struct lt_daemon d = {.site.policy = &policy};

static void
turn(int most_ms)
{
	struct pollfd fds[LT_SERVE_FDS];
	const int count = lt_serve_fds(fds, LT_SERVE_FDS);

	(void)poll(fds, (nfds_t)count, lt_serve_timeout_ms(most_ms));
	lt_serve_run();
}

static int
connect_here(void)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(address.sun_path, sizeof(address.sun_path), "%s/socket", folder);
	return fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0 ? fd : -1;
}

/* A child takes that uid, and ends with us, whatever a test comes to. */
static void
become(uid_t uid)
{
	if (uid != geteuid() && setuid(uid) != 0)
		_exit(1);
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() == 1)
		_exit(1);
}

/* One request by a child of that uid; its answer comes through the pipe. */
static pid_t
ask_as(uid_t uid, const char *request, int *out)
{
	int pipe_fd[2];

	assert_int_equal(pipe(pipe_fd), 0);
	const pid_t child = fork();
	if (child == 0) {
		char text[REPLY_MAX];
		ssize_t got;

		become(uid);
		const int fd = connect_here();
		if (fd < 0)
			_exit(1);
		/* One that is refused is answered before it has asked. */
		(void)send(fd, request, strlen(request), MSG_NOSIGNAL);
		while ((got = read(fd, text, sizeof(text))) > 0)
			if (write(pipe_fd[1], text, (size_t)got) < 0)
				_exit(1);
		_exit(0);
	}
	close(pipe_fd[1]);
	*out = pipe_fd[0];
	return child;
}

/* Its status, 0 when none came in time; the whole answer in text. */
static int
answer_to(uid_t uid, const char *request, char text[REPLY_MAX])
{
	size_t used = 0;
	int fd;
	const int64_t until_ms = lt_monotonic_ms() + ANSWER_MS;
	const pid_t child = ask_as(uid, request, &fd);
	bool ended = false;

	while (!ended && lt_monotonic_ms() < until_ms) {
		struct pollfd ready = {.fd = fd, .events = POLLIN};

		turn(20);
		while (poll(&ready, 1, 0) > 0 && !ended) {
			const ssize_t got = read(fd, text + used, REPLY_MAX - 1 - used);

			ended = got <= 0;
			used += got > 0 ? (size_t)got : 0;
		}
	}
	text[used] = '\0';
	close(fd);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	return strncmp(text, "HTTP/1.", 7) == 0 ? atoi(text + 9) : 0;
}

#define HEAD " HTTP/1.1\r\nHost: localhost\r\n"
#define ADJUST "POST /v1/budget/adjust" HEAD "Content-Length: 2\r\n\r\n{}"
#define REBUILD "POST /v1/rebuild" HEAD "Content-Length: 0\r\n\r\n"

static void
test_who_may_what(void **state)
{
	const uid_t self = geteuid();

	const struct {
		const char *why;
		uid_t uid, slurm_uid;
		const char *request;
		int status;
		const char *text;
	} cases[] = {
	    {"SlurmUser may adjust", self, self, ADJUST, 400, "want {team"},
	    {"root may adjust", 0, SLURM, ADJUST, 400, "want {team"},
	    {"another SlurmUser may", SLURM, SLURM, ADJUST, 400, "want {team"},
	    {"a stranger may not", STRANGER, SLURM, ADJUST, 403, "only for root"},
	    {"a former SlurmUser may not", SLURM, STRANGER, ADJUST, 403, "only for root"},
	    {"a stranger may not rebuild", STRANGER, SLURM, REBUILD, 403, "only for root"},
	    {"a stranger asks for nothing", STRANGER, SLURM, "GET /v1/nothing" HEAD "\r\n", 404,
		"no such request"},
	    {"the other method", STRANGER, SLURM, "GET /v1/budget/adjust" HEAD "\r\n", 400,
		"want the other one"},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char text[REPLY_MAX];

		if (cases[i].uid != self && self != 0) {
			print_message("# not root: left out: %s\n", cases[i].why);
			continue;
		}
		d.site.tables.conf.slurm_uid = cases[i].slurm_uid;
		const int status = answer_to(cases[i].uid, cases[i].request, text);
		if (status != cases[i].status || strstr(text, cases[i].text) == NULL)
			fail_msg("%s: got %d, %s", cases[i].why, status, text);
	}
}

/* The answer to a body of that many blanks. */
static int
answer_to_body(size_t length, char text[REPLY_MAX])
{
	static char request[2 * LT_API_BODY_MAX];
	const int head = snprintf(request, sizeof(request),
	    "POST /v1/budget/adjust" HEAD "Content-Length: %zu\r\n\r\n", length);

	memset(request + head, ' ', length);
	request[(size_t)head + length] = '\0';
	return answer_to(geteuid(), request, text);
}

static void
test_the_longest_body(void **state)
{
	static const struct {
		const char *why;
		size_t length;
		const char *text;
	} cases[] = {
	    {"as long as may be: read, and no JSON", LT_API_BODY_MAX, "near end of file"},
	    {"one byte more", LT_API_BODY_MAX + 1, "body too large"},
	};

	(void)state;
	d.site.tables.conf.slurm_uid = geteuid();
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char text[REPLY_MAX];
		const int status = answer_to_body(cases[i].length, text);

		if (status != 400 || strstr(text, cases[i].text) == NULL)
			fail_msg("%s: got %d, %s", cases[i].why, status, text);
	}
}

/* Our own uid, when it is no admin. */
static void
test_an_ordinary_user(void **state)
{
	char text[REPLY_MAX];

	(void)state;
	if (geteuid() == 0)
		skip();
	d.site.tables.conf.slurm_uid = geteuid() + 1;
	assert_int_equal(answer_to(geteuid(), ADJUST, text), 403);
}

/* A child of that uid takes 320 connections, a byte in each, and waits. */
static pid_t
hog_as(uid_t uid)
{
	int ready[2];
	char byte;

	assert_int_equal(pipe(ready), 0);
	const pid_t child = fork();
	if (child == 0) {
		become(uid);
		for (int i = 0; i < 320; i++) {
			const int fd = connect_here();

			if (fd >= 0)
				(void)send(fd, "G", 1, MSG_NOSIGNAL);
		}
		(void)!write(ready[1], "", 1);
		for (;;)
			pause();
	}
	close(ready[1]);
	for (struct pollfd wait = {.fd = ready[0], .events = POLLIN}; poll(&wait, 1, 0) == 0;)
		turn(20);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	return child;
}

static void
test_a_hog_starves_himself(void **state)
{
	const uid_t hog = geteuid() == 0 ? STRANGER : geteuid();
	const char *const request = "GET /v1/nothing" HEAD "\r\n";
	char text[REPLY_MAX];

	(void)state;
	d.site.tables.conf.slurm_uid = SLURM;
	const pid_t child = hog_as(hog);
	assert_int_equal(answer_to(hog, request, text), 503);
	assert_non_null(strstr(text, "too many connections"));
	if (geteuid() == 0) {
		assert_int_equal(answer_to(1000, request, text), 404);
		assert_int_equal(answer_to(0, request, text), 404);
		assert_int_equal(answer_to(SLURM, request, text), 404);
	} else {
		d.site.tables.conf.slurm_uid = geteuid(); /* an admin now */
		assert_int_equal(answer_to(geteuid(), request, text), 404);
		d.site.tables.conf.slurm_uid = SLURM;
	}
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	for (int i = 0; i < 20; i++)
		turn(5);
	assert_int_equal(answer_to(hog, request, text), 404);
}

static void
expect(int asked, pid_t child, const char *want, enum lt_turn turn)
{
	char text[REPLY_MAX] = "";
	size_t used = 0;
	ssize_t got;

	do {
		lt_breath_until(turn, asked);
		got = read(asked, text + used, sizeof(text) - 1 - used);
		used += got > 0 ? (size_t)got : 0;
	} while (got > 0);
	close(asked);
	waitpid(child, NULL, 0);
	if (strncmp(text, "HTTP/1.", 7) != 0 || strstr(text, want) == NULL)
		fail_msg("got \"%s\", want %s", text, want);
}

static bool
is_answered(int asked)
{
	return poll(&(struct pollfd){.fd = asked, .events = POLLIN}, 1, 0) > 0;
}

/* Amid work only what reads is answered; what waits is, once all is done. */
static void
test_turns(void **state)
{
	static const struct {
		const char *request;
		enum lt_turn turn;
		const char *answer;
	} cases[] = {
	    {"GET /v1/nothing" HEAD "\r\n", LT_TURN_READ, "no such request"},
	    {"GET /v1/balance" HEAD "\r\n", LT_TURN_READ, "account"},
	    {"GET /v1/report?period=x" HEAD "\r\n", LT_TURN_COMMITTED, "400"},
	    {ADJUST, LT_TURN_ALL, "want {team"},
	};

	(void)state;
	d.site.tables.conf.slurm_uid = geteuid();
	d.budget.has_snapshot = d.budget.snapshot.ready = true;
	d.next.snapshot = d.next.renewal = INT64_MAX; /* nothing to publish */
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int asked, later;
		const pid_t child = ask_as(geteuid(), cases[i].request, &asked);

		for (int at = LT_TURN_READ; at < LT_TURN_ALL; at++) {
			if (at >= (int)cases[i].turn) {
				lt_breath_until((enum lt_turn)at, asked);
				break;
			}
			/* Others come and go meanwhile. */
			for (int k = 0; k < 3; k++) {
				const pid_t other = ask_as(geteuid(), cases[0].request, &later);

				lt_breath_until((enum lt_turn)at, later);
				expect(later, other, cases[0].answer, (enum lt_turn)at);
			}
			assert_false(is_answered(asked));
		}
		while (!is_answered(asked)) {
			assert_int_equal(cases[i].turn, LT_TURN_ALL);
			turn(20);
		}
		expect(asked, child, cases[i].answer, LT_TURN_ALL);
	}
	/* Before job_submit has a snapshot that is ready, nobody. */
	d.budget.snapshot.ready = false;
	int asked, ends[2];
	const pid_t child = ask_as(geteuid(), cases[0].request, &asked);
	assert_int_equal(pipe(ends), 0);
	close(ends[1]);
	lt_breath_until(LT_TURN_READ, ends[0]);
	for (int i = 0; i < 20; i++) {
		usleep(6000);
		lt_breath(LT_TURN_READ);
	}
	assert_false(is_answered(asked));
	while (!is_answered(asked))
		turn(20);
	d.budget.snapshot.ready = true;
	expect(asked, child, cases[0].answer, LT_TURN_READ);
	close(ends[0]);
}

/* How many look-ups, and how long each takes; the children's, too. */
static struct directory {
	useconds_t delay_us;
	uint32_t names, uids;
} * directory;

/* In place of the C library's: the system's directory of users. */
struct passwd *
getpwnam(const char *name)
{
	(void)name;
	__atomic_fetch_add(&directory->names, 1, __ATOMIC_RELAXED);
	usleep(directory->delay_us);
	return NULL;
}

struct passwd *
getpwuid(uid_t uid)
{
	static char name[] = "stranger";
	static struct passwd user = {.pw_name = name};

	user.pw_uid = uid;
	__atomic_fetch_add(&directory->uids, 1, __ATOMIC_RELAXED);
	usleep(directory->delay_us);
	return &user;
}

enum { HASTY = 24, SLOW_US = 2000000, PROMPT_MS = 1000 };

/* Names that a user without rights makes up are not looked up, and who waits for the directory, by
 * right or for their own name, keeps nobody waiting. */
static void
test_a_slow_directory(void **state)
{
	const uid_t self = geteuid(), asks = self == 0 ? STRANGER : self;
	int asked[HASTY + 1];
	pid_t children[HASTY + 1];
	char request[128];

	(void)state;
	*directory = (struct directory){.delay_us = SLOW_US};
	d.site.tables.conf.slurm_uid = SLURM;
	for (int i = 0; i < HASTY; i++) {
		snprintf(request, sizeof(request), "GET /v1/%s?user=nobody-%d" HEAD "\r\n",
		    i % 2 == 0 ? "history" : "jobs", i);
		children[i] = ask_as(asks, request, &asked[i]);
	}
	children[HASTY] =
	    self == 0 ? ask_as(0, "GET /v1/jobs?user=nobody" HEAD "\r\n", &asked[HASTY]) : 0;
	for (int64_t end_ms = lt_monotonic_ms() + SLOW_US / 2000; lt_monotonic_ms() < end_ms;) {
		const int64_t began_ms = lt_monotonic_ms();
		char text[REPLY_MAX];

		assert_int_equal(answer_to(self, "GET /v1/nothing" HEAD "\r\n", text), 404);
		assert_in_range(lt_monotonic_ms() - began_ms, 0, PROMPT_MS);
	}
	for (int i = 0; i < HASTY; i++) {
		while (!is_answered(asked[i]))
			turn(20);
		expect(asked[i], children[i], "403", LT_TURN_ALL);
	}
	if (self == 0) {
		while (!is_answered(asked[HASTY]))
			turn(20);
		expect(asked[HASTY], children[HASTY], "nobody: not known", LT_TURN_ALL);
	}
	assert_int_equal(directory->names, self == 0);
	assert_int_equal(directory->uids, 1);
	/* Known now. */
	char text[REPLY_MAX];
	assert_int_equal(answer_to(asks, "GET /v1/jobs?user=else" HEAD "\r\n", text), 403);
	assert_int_equal(answer_to(asks, "GET /v1/jobs?user=stranger" HEAD "\r\n", text), 200);
	assert_int_equal(directory->names, self == 0);
	assert_int_equal(directory->uids, 1);
}

static int
set_up(void **state)
{
	struct lt_error err = {0};

	(void)state;
	directory = mmap(
	    NULL, sizeof(*directory), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (directory == MAP_FAILED || mkdtemp(folder) == NULL || chmod(folder, 0755) != 0)
		return -1;
	snprintf(d.paths.socket, sizeof(d.paths.socket), "%s/socket", folder);
	if (lt_serve_start(&d, NULL, &err) == LT_OK)
		return 0;
	print_error("%s\n", err.text);
	return -1;
}

static int
tear_down(void **state)
{
	(void)state;
	lt_serve_stop();
	return rmdir(folder);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_who_may_what),
	    cmocka_unit_test(test_the_longest_body),
	    cmocka_unit_test(test_an_ordinary_user),
	    cmocka_unit_test(test_turns),
	    cmocka_unit_test(test_a_hog_starves_himself),
	    cmocka_unit_test(test_a_slow_directory),
	};

	signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
