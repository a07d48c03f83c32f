/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The page of "lowtide web" by real connections: only who has the token, and by a name of this
 * host, gets a word of it, and strangers' connections keep its user waiting for nothing.
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
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "http.h"
#include "door.h"
#include "web_page.h"

#define TOKEN "0123456789abcdef0123456789abcdef"

enum { IDLE = 64, PROMPT_MS = 1500, WAIT_MS = 10000 };

static struct lt_page pages[2]; /* of a port, and of a Unix socket */
static pid_t servers[2];
static char folder[] = "/tmp/lowtide-page.XXXXXX";

static int
connect_to(const struct lt_page *page)
{
	const struct sockaddr_in port = {.sin_family = AF_INET,
	    .sin_port = htons((uint16_t)page->port),
	    .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct sockaddr_un local = {.sun_family = AF_UNIX};
	const bool is_port = page->port != 0;
	const int fd = socket(is_port ? AF_INET : AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	memcpy(local.sun_path, page->socket, sizeof(local.sun_path));
	assert_int_equal(is_port ? connect(fd, (const struct sockaddr *)&port, sizeof(port))
				 : connect(fd, (const struct sockaddr *)&local, sizeof(local)),
	    0);
	return fd;
}

/* The status; 0: it hung up without a word; -1: neither in time. */
static int
ask(const struct lt_page *page, const char *method, const char *path, const char *host)
{
	const int fd = connect_to(page);
	char text[512] = "";
	int status = -1;

	snprintf(text, sizeof(text), "%s %s HTTP/1.1\r\n%s%s%sConnection: close\r\n\r\n", method,
	    path, host != NULL ? "Host: " : "", host != NULL ? host : "",
	    host != NULL ? "\r\n" : "");
	(void)send(fd, text, strlen(text), MSG_NOSIGNAL);
	memset(text, 0, sizeof(text));
	if (poll(&(struct pollfd){.fd = fd, .events = POLLIN}, 1, WAIT_MS) > 0)
		status = read(fd, text, sizeof(text) - 1) > 0 ? atoi(text + 9) : 0;
	close(fd);
	return status;
}

static void
test_who_is_answered(void **state)
{
	char own[64], other[64], forged[64], named[64], bare[64];
	const int port = pages[0].port;

	(void)state;
	snprintf(own, sizeof(own), "127.0.0.1:%d", port);
	snprintf(named, sizeof(named), "LOCALHOST:%d", port);
	snprintf(other, sizeof(other), "127.0.0.1:%d", port + 1);
	snprintf(forged, sizeof(forged), "evil.example:%d", port);
	snprintf(bare, sizeof(bare), "127.0.0.1.evil.example:%d", port);
	const struct {
		const char *why;
		int page;
		const char *path, *host;
		int status;
	} cases[] = {
	    {"its user", 0, "/" TOKEN "/", own, 200},
	    {"its user, by name", 0, "/" TOKEN "/page.css", named, 200},
	    {"no such file", 0, "/" TOKEN "/page.csv", own, 404},
	    {"without the token", 0, "/", own, 0},
	    {"without the token, a file", 0, "/page.css", own, 0},
	    {"without the slash", 0, "/" TOKEN, own, 0},
	    {"the last digit is another", 0, "/0123456789abcdef0123456789abcdee/", own, 0},
	    {"the first digit is another", 0, "/1123456789abcdef0123456789abcdef/", own, 0},
	    {"a shorter token", 0, "/0123456789abcdef0123456789abcde/", own, 0},
	    {"a longer token", 0, "/" TOKEN "0/", own, 0},
	    {"something else than a slash behind it", 0, "/" TOKEN "x", own, 0},
	    {"another name", 0, "/" TOKEN "/", forged, 0},
	    {"a name that begins as ours", 0, "/" TOKEN "/", bare, 0},
	    {"another port", 0, "/" TOKEN "/", other, 0},
	    {"no port", 0, "/" TOKEN "/", "127.0.0.1", 0},
	    {"the Unix socket", 1, "/", "localhost", 200},
	    {"the Unix socket, forwarded", 1, "/", "localhost:8017", 200},
	    {"the Unix socket, another name", 1, "/", "evil.example", 0},
	    {"the Unix socket, a name that begins as ours", 1, "/", "localhost.evil.example", 0},
	    {"the Unix socket, no number", 1, "/", "localhost:80a", 0},
	    {"the Unix socket, as long a name", 1, "/", "evil.host:8017", 0},
	    {"the Unix socket, as long a name alone", 1, "/", "evilhosts", 0},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const int status = ask(&pages[cases[i].page], "GET", cases[i].path, cases[i].host);

		if (status != cases[i].status)
			fail_msg("%s: got %d, want %d", cases[i].why, status, cases[i].status);
	}
	assert_int_equal(ask(&pages[0], "POST", "/" TOKEN "/", own), 405);
	assert_int_equal(ask(&pages[0], "POST", "/", own), 0);
}

/* 64 that say nothing, of any local user: the first go, not the page's user. */
static void
test_idle_strangers(void **state)
{
	int fds[IDLE], left = IDLE;
	char own[64];

	(void)state;
	snprintf(own, sizeof(own), "127.0.0.1:%d", pages[0].port);
	for (int i = 0; i < IDLE; i++)
		fds[i] = connect_to(&pages[0]);
	const int64_t began_ms = lt_monotonic_ms();
	assert_int_equal(ask(&pages[0], "GET", "/" TOKEN "/", own), 200);
	assert_in_range(lt_monotonic_ms() - began_ms, 0, PROMPT_MS);
	/* The others have two seconds, with a byte now and then, too. */
	while (left > 0 && lt_monotonic_ms() - began_ms < WAIT_MS) {
		usleep(100000);
		for (int i = 0; i < left;) {
			char byte;

			(void)send(fds[i], "G", 1, MSG_NOSIGNAL);
			const ssize_t got = recv(fds[i], &byte, 1, MSG_DONTWAIT);
			if (got == 0 || (got < 0 && errno != EAGAIN)) {
				close(fds[i]);
				fds[i] = fds[--left];
			} else {
				i++;
			}
		}
	}
	assert_int_equal(left, 0);
	assert_in_range(lt_monotonic_ms() - began_ms, 0, LT_SLOT_SHOW_MS + 2 * PROMPT_MS);
}

static pid_t
serve(const struct lt_page *page)
{
	const pid_t child = fork();

	if (child == 0) {
		struct lt_error err = {0};

		prctl(PR_SET_PDEATHSIG, SIGKILL);
		(void)lt_page_serve(page, &err);
		_exit(1);
	}
	return child;
}

static int
set_up(void **state)
{
	static const struct lt_cli cli;
	struct lt_error err = {0};

	(void)state;
	if (mkdtemp(folder) == NULL)
		return -1;
	pages[0] = (struct lt_page){.cli = &cli, .fd = -1, .token = TOKEN};
	pages[1] = (struct lt_page){.cli = &cli, .fd = -1};
	snprintf(pages[1].socket, sizeof(pages[1].socket), "%s/socket", folder);
	if (lt_page_listen_port(&pages[0], &err) != LT_OK ||
	    lt_page_listen_socket(&pages[1], &err) != LT_OK)
		return -1;
	for (int i = 0; i < 2; i++)
		servers[i] = serve(&pages[i]);
	return 0;
}

static int
tear_down(void **state)
{
	(void)state;
	for (int i = 0; i < 2; i++) {
		kill(servers[i], SIGKILL);
		waitpid(servers[i], NULL, 0);
	}
	unlink(pages[1].socket);
	return rmdir(folder);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_who_is_answered),
	    cmocka_unit_test(test_idle_strangers),
	};

	signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
