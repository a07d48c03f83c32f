/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs the threads of aside.h: a table with a row for each. A thread touches its own row only;
 * until it is joined the loop touches only `done` and `stop` of that row. A thread that can't be
 * started, or a ledger that can't be opened, is answered with 503; a reader that is too slow is cut
 * off.
 */
#include <errno.h>
#include <microhttpd.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "aside.h"
#include "http.h"
#include "ledger.h"
#include "out.h"
#include "paths.h"
#include "serve_munge.h"

/* ASIDE_NICE: the loop, and slurmctld, go first. */
enum { STACK_BYTES = 256 * 1024, LOOK_MS = 1000, ASIDE_NICE = 10 };

struct aside {
	bool taken;
	pthread_t thread;
	atomic_bool done, stop;
	struct lt_api_work *work;
	char state_dir[LT_PATH_SIZE], munge_socket[LT_PATH_SIZE];
	bool is_sealed, is_admin;
	int fd, told_fd; /* told_fd: of the loop, when it is done */
	uint32_t uid;
	void *asker;
	int64_t began_ms, moved_ms; /* moved: some of it was taken */
};

static struct {
	struct aside all[LT_ASIDES_MAX];
	lt_aside_function *ended;
	int fd;
} desk = {.fd = -1};

/* ---- in the thread ---- */

static bool
wait_for_taker(struct aside *a)
{
	struct pollfd fd = {.fd = a->fd, .events = POLLOUT};

	(void)poll(&fd, 1, LOOK_MS);
	const int64_t now_ms = lt_monotonic_ms();

	return !atomic_load(&a->stop) && now_ms - a->moved_ms < LT_ASIDE_STALL_MS &&
	       now_ms - a->began_ms < LT_ASIDE_MOST_MS;
}

static bool
send_all(struct aside *a, const char *bytes, size_t length)
{
	while (length > 0) {
		const ssize_t sent = send(a->fd, bytes, length, MSG_NOSIGNAL | MSG_DONTWAIT);

		if (sent < 0 && errno != EAGAIN && errno != EINTR)
			return false;
		if (sent < 0 && !wait_for_taker(a))
			return false;
		if (sent <= 0)
			continue;
		bytes += sent;
		length -= (size_t)sent;
		a->moved_ms = lt_monotonic_ms();
	}
	return true;
}

static bool
send_head(struct aside *a, unsigned status, const char *type, const char *length_header)
{
	char head[256];

	return send_all(a, head,
	    (size_t)snprintf(head, sizeof(head),
		"HTTP/1.1 %u %s\r\nContent-Type: %s\r\n"
		"Connection: close\r\n%s\r\n\r\n",
		status, MHD_get_reason_phrase_for(status), type, length_header));
}

static bool
send_whole(struct aside *a, int status, const char *type, const char *text)
{
	char header[48];

	(void)snprintf(header, sizeof(header), "Content-Length: %zu", strlen(text));
	return send_head(a, (unsigned)status, type, header) && send_all(a, text, strlen(text));
}

/* An lt_out_function. */
static bool
send_piece(void *context, const char *bytes, size_t length)
{
	struct aside *const a = context;
	char head[24];
	const int head_length = snprintf(head, sizeof(head), "%zx\r\n", length);

	return send_all(a, head, (size_t)head_length) && send_all(a, bytes, length) &&
	       send_all(a, "\r\n", 2);
}

/* The piece of no length says that it is whole. */
static bool
stream(struct aside *a, struct lt_ledger *ledger)
{
	struct lt_out out = {.take = send_piece, .context = a};

	if (!send_head(a, 200, "application/json", "Transfer-Encoding: chunked"))
		return false;
	(void)a->work->write(a->work, ledger, &out);
	lt_out_flush(&out);
	const bool whole = !out.failed && send_all(a, "0\r\n\r\n", 5);
	lt_out_free(&out);
	return whole;
}

/* With the ledger closed: who takes it slowly keeps no state of it alive. */
static bool
answer(struct aside *a, int status, char *text)
{
	char *sealed = NULL;

	if (text == NULL)
		return false;
	if (a->is_sealed)
		status = lt_munge_seal(&sealed, a->munge_socket, a->uid, status, text);
	const bool taken = send_whole(a, status,
	    sealed != NULL && status == 200 ? "text/plain" : "application/json",
	    sealed != NULL ? sealed : text);
	free(sealed);
	return taken;
}

static void *
run_thread(void *closure)
{
	struct aside *const a = closure;
	struct lt_ledger *ledger = NULL;
	struct lt_error err = {0};
	char *text = NULL;
	bool taken = false;
	int status = 503;

	(void)nice(ASIDE_NICE); /* of this thread alone: nice(2), C library */
	if (lt_ledger_open_reader(&ledger, a->state_dir, &err) != LT_OK)
		text = lt_api_error_text(err.text);
	else if (a->work->is_stream)
		taken = stream(a, ledger);
	else
		status = lt_api_end(a->work, ledger, &text);
	lt_ledger_close(ledger);
	if (text != NULL)
		taken = answer(a, status, text);
	free(text);
	if (!taken)
		(void)shutdown(a->fd, SHUT_RDWR);
	atomic_store(&a->done, true);
	(void)eventfd_write(a->told_fd, 1);
	return NULL;
}

/* ---- in the loop ---- */

int
lt_asides_start(lt_aside_function *ended, struct lt_error *err)
{
	desk.ended = ended;
	desk.fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	return desk.fd >= 0 ? LT_OK : lt_fail(err, LT_EIO, "eventfd: %s", strerror(errno));
}

static void
end_thread(struct aside *a)
{
	(void)pthread_join(a->thread, NULL);
	free(a->work);
	a->taken = false;
	desk.ended(a->asker);
}

void
lt_asides_run(void)
{
	eventfd_t count;

	if (desk.fd < 0 || eventfd_read(desk.fd, &count) != 0)
		return;
	for (int i = 0; i < LT_ASIDES_MAX; i++)
		if (desk.all[i].taken && atomic_load(&desk.all[i].done))
			end_thread(&desk.all[i]);
}

void
lt_asides_stop(void)
{
	for (int i = 0; i < LT_ASIDES_MAX; i++) {
		struct aside *const a = &desk.all[i];

		if (!a->taken)
			continue;
		atomic_store(&a->stop, true);
		(void)shutdown(a->fd, SHUT_RDWR);
		end_thread(a);
	}
	if (desk.fd >= 0)
		close(desk.fd);
	desk.fd = -1;
}

int
lt_asides_fd(void)
{
	return desk.fd;
}

bool
lt_aside_has_room(uint32_t uid, bool is_admin, bool is_stream)
{
	int all = 0, streams = 0, own = 0;

	for (int i = 0; i < LT_ASIDES_MAX; i++) {
		const struct aside *const a = &desk.all[i];

		if (!a->taken)
			continue;
		all++;
		streams += a->work->is_stream;
		own += a->uid == uid;
	}
	return all < LT_ASIDES_MAX && (is_admin || own < LT_ASIDES_PER_USER) &&
	       (!is_stream || streams < LT_ASIDE_STREAMS_MAX);
}

static bool
start_thread(struct aside *a)
{
	pthread_attr_t attributes;

	if (pthread_attr_init(&attributes) != 0)
		return false;
	const bool started = pthread_attr_setstacksize(&attributes, STACK_BYTES) == 0 &&
			     pthread_create(&a->thread, &attributes, run_thread, a) == 0;
	(void)pthread_attr_destroy(&attributes);
	return started;
}

bool
lt_aside_begin(const struct lt_aside_order *order)
{
	struct aside *a = NULL;

	for (int i = 0; i < LT_ASIDES_MAX; i++)
		if (!desk.all[i].taken)
			a = &desk.all[i];
	if (a == NULL) {
		free(order->work);
		return false;
	}
	*a = (struct aside){.work = order->work,
	    .is_sealed = order->munge_socket != NULL,
	    .is_admin = order->is_admin,
	    .fd = order->fd,
	    .told_fd = desk.fd,
	    .uid = order->uid,
	    .asker = order->asker,
	    .began_ms = lt_monotonic_ms(),
	    .moved_ms = lt_monotonic_ms()};
	snprintf(a->state_dir, sizeof(a->state_dir), "%s", order->state_dir);
	snprintf(a->munge_socket, sizeof(a->munge_socket), "%s",
	    order->munge_socket != NULL ? order->munge_socket : "");
	a->taken = start_thread(a);
	if (!a->taken)
		free(order->work);
	return a->taken;
}
