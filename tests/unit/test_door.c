/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Real connections at a door: strangers who say nothing, or a byte at a time, have two seconds, and
 * keep nobody of their host out.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <arpa/inet.h>
#include <cmocka.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "door.h"
#include "http.h"

enum { IDLE = 200, PROMPT_MS = 1000, UID = 1000 };

static struct lt_door door = {.fd = -1};
static uint16_t port;
static bool is_admin;

static enum MHD_Result
answer(void *closure, struct MHD_Connection *connection, const char *url, const char *method,
    const char *version, const char *data, size_t *length, void **state)
{
	static char text[] = "shown", begun;

	/* Answered at the first call, it would be closed. */
	if (*state == NULL) {
		*state = &begun;
		return MHD_YES;
	}
	struct MHD_Response *const response =
	    MHD_create_response_from_buffer(5, text, MHD_RESPMEM_PERSISTENT);

	(void)closure;
	(void)url;
	(void)method;
	(void)version;
	(void)data;
	(void)length;
	const bool is_shown = lt_door_show(&door, connection, UID, is_admin, lt_monotonic_ms());
	const enum MHD_Result result =
	    MHD_queue_response(connection, is_shown ? 200 : 503, response);
	MHD_destroy_response(response);
	return result;
}

static void
turn(int most_ms)
{
	const union MHD_DaemonInfo *const info =
	    MHD_get_daemon_info(door.server, MHD_DAEMON_INFO_EPOLL_FD);
	struct pollfd fds[] = {
	    {.fd = door.fd, .events = POLLIN}, {.fd = info->epoll_fd, .events = POLLIN}};

	(void)poll(fds, 2, lt_slots_wait_ms(&door.slots, lt_monotonic_ms(), most_ms));
	lt_door_run(&door, lt_monotonic_ms());
}

static int
connect_here(void)
{
	const struct sockaddr_in address = {.sin_family = AF_INET,
	    .sin_port = htons(port),
	    .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	assert_int_equal(connect(fd, (const struct sockaddr *)&address, sizeof(address)), 0);
	return fd;
}

static bool
is_open(int fd)
{
	char byte;
	const ssize_t got = recv(fd, &byte, 1, MSG_DONTWAIT | MSG_PEEK);

	return got > 0 || (got < 0 && errno == EAGAIN);
}

static int
count_open(const int *fds)
{
	int count = 0;

	for (int i = 0; i < IDLE; i++)
		count += is_open(fds[i]);
	return count;
}

static void
close_all(const int *fds, int count)
{
	for (int i = 0; i < count; i++)
		close(fds[i]);
	for (int i = 0; i < 20; i++)
		turn(5);
	for (int i = 0; i < LT_SLOTS_MAX; i++)
		assert_false(door.slots.slots[i].taken);
}

/* The status of an answer to a whole request; 0: none in time. It stays open. */
static int
ask(int fd)
{
	static const char request[] = "GET / HTTP/1.1\r\nHost: here\r\n\r\n";
	const int64_t until_ms = lt_monotonic_ms() + PROMPT_MS;
	char text[256] = "";

	assert_int_equal(send(fd, request, sizeof(request) - 1, MSG_NOSIGNAL), sizeof(request) - 1);
	while (lt_monotonic_ms() < until_ms) {
		turn(20);
		if (recv(fd, text, sizeof(text) - 1, MSG_DONTWAIT) > 0)
			return (text[9] - '0') * 100;
	}
	return 0;
}

static void
test_idle_ones_go_first(void **state)
{
	int fds[IDLE];

	(void)state;
	for (int i = 0; i < IDLE; i++) {
		fds[i] = connect_here();
		turn(0);
	}
	assert_in_range(count_open(fds), 1, LT_SLOTS_PER_HOST);
	/* The last ones, for they came last. */
	assert_true(is_open(fds[IDLE - 1]));
	assert_false(is_open(fds[0]));
	for (int i = 0; i < 3; i++) {
		const int fd = connect_here();

		assert_int_equal(ask(fd), 200);
		close(fd);
	}
	/* Who has shown who it is stays, however many come. */
	const int known = connect_here();
	assert_int_equal(ask(known), 200);
	for (int i = 0; i < LT_SLOTS_PER_HOST * 2; i++) {
		close(fds[i]);
		fds[i] = connect_here();
		turn(0);
	}
	assert_true(is_open(known));
	close(known);
	close_all(fds, IDLE);
}

static void
test_a_byte_at_a_time(void **state)
{
	const int64_t began_ms = lt_monotonic_ms();
	const int slow = connect_here(), known = connect_here();

	(void)state;
	assert_int_equal(ask(known), 200);
	while (is_open(slow) && lt_monotonic_ms() - began_ms < 4 * LT_SLOT_SHOW_MS) {
		/* Slowly: a header that is too long would be answered. */
		(void)send(slow, "G", 1, MSG_NOSIGNAL);
		usleep(20 * 1000);
		turn(100);
	}
	assert_in_range(lt_monotonic_ms() - began_ms, LT_SLOT_SHOW_MS, 2 * LT_SLOT_SHOW_MS);
	assert_true(is_open(known));
	close_all((const int[]){slow, known}, 2);
}

/* A door that nobody looked at for long: what came meanwhile is not late. */
static void
test_late_turn(void **state)
{
	static const char request[] = "GET / HTTP/1.1\r\nHost: here\r\n\r\n";
	const int fd = connect_here();
	char text[64] = "";

	(void)state;
	turn(100); /* accepted */
	assert_int_equal(send(fd, request, sizeof(request) - 1, MSG_NOSIGNAL), sizeof(request) - 1);
	usleep((LT_SLOT_SHOW_MS + 200) * 1000);
	turn(0);
	turn(100);
	assert_true(recv(fd, text, sizeof(text) - 1, MSG_DONTWAIT) > 0);
	assert_non_null(strstr(text, "200"));
	close_all(&fd, 1);
}

static void
test_a_user_has_a_share(void **state)
{
	int fds[LT_SLOTS_PER_USER + 2];

	(void)state;
	for (int i = 0; i < LT_SLOTS_PER_USER; i++) {
		fds[i] = connect_here();
		assert_int_equal(ask(fds[i]), 200);
	}
	fds[LT_SLOTS_PER_USER] = connect_here();
	assert_int_equal(ask(fds[LT_SLOTS_PER_USER]), 500);
	is_admin = true;
	fds[LT_SLOTS_PER_USER + 1] = connect_here();
	assert_int_equal(ask(fds[LT_SLOTS_PER_USER + 1]), 200);
	is_admin = false;
	close_all(fds, LT_SLOTS_PER_USER + 2);
}

static int
set_up(void **state)
{
	struct sockaddr_in address;
	socklen_t size = sizeof(address);
	struct lt_error err = {0};

	(void)state;
	door.fd = lt_door_listen(0, &err);
	if (door.fd < 0 || getsockname(door.fd, (struct sockaddr *)&address, &size) != 0)
		return -1;
	port = ntohs(address.sin_port);
	door.server = MHD_start_daemon(MHD_USE_EPOLL | MHD_USE_NO_LISTEN_SOCKET, 0, NULL, NULL,
	    answer, NULL, MHD_OPTION_NOTIFY_CONNECTION, lt_door_watch, &door,
	    MHD_OPTION_CONNECTION_LIMIT, (unsigned)LT_SLOTS_MAX, MHD_OPTION_END);
	return door.server != NULL ? 0 : -1;
}

static int
tear_down(void **state)
{
	(void)state;
	MHD_stop_daemon(door.server);
	return close(door.fd);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_idle_ones_go_first),
	    cmocka_unit_test(test_a_byte_at_a_time),
	    cmocka_unit_test(test_late_turn),
	    cmocka_unit_test(test_a_user_has_a_share),
	};

	signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
