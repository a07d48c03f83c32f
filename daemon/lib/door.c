/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Accepts connections for libmicrohttpd and says which of them may stay. A bound by address of its
 * own would make libmicrohttpd refuse the next connection for as long as those before it say
 * nothing: hence the accept() here, into slots that have deadlines.
 *
 * Slots are pure but for the descriptors that end() closes. Only listening fails: a connection
 * without a slot is closed, one that is late is shut down.
 */
#include <errno.h>
#include <netinet/in.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "door.h"

/* ---- slots ---- */

/* Slots of users who are known: of this one, and of all who are no admins. */
struct known {
	int own, others;
};

static struct known
count_known(const struct lt_slots *slots, uint32_t who)
{
	struct known known = {0};

	for (int i = 0; i < LT_SLOTS_MAX; i++) {
		const struct lt_slot *const slot = &slots->slots[i];

		if (!slot->taken || slot->is_stranger)
			continue;
		known.own += slot->who == who;
		known.others += !slot->is_admin;
	}
	return known;
}

static struct lt_slot *
find_unused(struct lt_slots *slots)
{
	for (int i = 0; i < LT_SLOTS_MAX; i++)
		if (!slots->slots[i].taken)
			return &slots->slots[i];
	return NULL;
}

struct lt_slot *
lt_slot_take(struct lt_slots *slots, int fd, uint32_t who, bool is_admin, int64_t now_ms)
{
	const struct known known = count_known(slots, who);
	struct lt_slot *const unused = find_unused(slots);

	if (unused == NULL ||
	    (!is_admin && (known.own >= LT_SLOTS_PER_USER ||
			      known.others >= LT_SLOTS_MAX - LT_SLOTS_FOR_ADMINS)))
		return NULL;
	*unused = (struct lt_slot){.taken = true,
	    .is_admin = is_admin,
	    .fd = fd,
	    .who = who,
	    .since_ms = now_ms,
	    .deadline_ms = now_ms + LT_SLOT_REQUEST_MS};
	return unused;
}

static bool
is_waiting(const struct lt_slot *slot)
{
	return slot->taken && slot->is_stranger && !slot->is_ending;
}

static int
count_strangers(const struct lt_slots *slots, uint32_t host)
{
	int count = 0;

	for (int i = 0; i < LT_SLOTS_MAX; i++)
		count += is_waiting(&slots->slots[i]) && slots->slots[i].who == host;
	return count;
}

struct lt_slot *
lt_slot_take_stranger(struct lt_slots *slots, int fd, uint32_t host, int64_t now_ms)
{
	struct lt_slot *const unused = find_unused(slots);
	int all = 0;

	for (int i = 0; i < LT_SLOTS_MAX; i++)
		all += is_waiting(&slots->slots[i]);
	if (unused == NULL || all >= LT_SLOTS_STRANGERS ||
	    count_strangers(slots, host) >= LT_SLOTS_PER_HOST)
		return NULL;
	*unused = (struct lt_slot){.taken = true,
	    .is_stranger = true,
	    .fd = fd,
	    .who = host,
	    .since_ms = now_ms,
	    .deadline_ms = now_ms + LT_SLOT_SHOW_MS};
	return unused;
}

void
lt_slots_drop_stranger(struct lt_slots *slots, uint32_t host, void (*end)(int fd))
{
	struct lt_slot *first = NULL;
	int most = count_strangers(slots, host);

	if (most < LT_SLOTS_PER_HOST)
		for (int i = 0; i < LT_SLOTS_MAX; i++) {
			const struct lt_slot *const slot = &slots->slots[i];
			const int count = is_waiting(slot) ? count_strangers(slots, slot->who) : 0;

			if (count > most) {
				most = count;
				host = slot->who;
			}
		}
	for (int i = 0; i < LT_SLOTS_MAX; i++) {
		struct lt_slot *const slot = &slots->slots[i];

		if (is_waiting(slot) && slot->who == host &&
		    (first == NULL || slot->since_ms < first->since_ms))
			first = slot;
	}
	if (first == NULL)
		return;
	first->is_ending = true;
	first->deadline_ms = INT64_MAX;
	end(first->fd);
}

bool
lt_slot_show(
    struct lt_slots *slots, struct lt_slot *slot, uint32_t who, bool is_admin, int64_t now_ms)
{
	enum { USERS = LT_SLOTS_MAX - LT_SLOTS_FOR_ADMINS - LT_SLOTS_STRANGERS };
	const struct known known = count_known(slots, who);

	if (!is_admin && (known.own >= LT_SLOTS_PER_USER || known.others >= USERS))
		return false;
	slot->is_stranger = false;
	slot->is_admin = is_admin;
	slot->who = who;
	slot->since_ms = now_ms;
	slot->deadline_ms = now_ms + LT_SLOT_REQUEST_MS;
	return true;
}

void
lt_slot_free(struct lt_slot *slot)
{
	*slot = (struct lt_slot){0};
}

void
lt_slots_expire(struct lt_slots *slots, int64_t now_ms, void (*end)(int fd))
{
	for (int i = 0; i < LT_SLOTS_MAX; i++) {
		struct lt_slot *const slot = &slots->slots[i];

		if (!slot->taken || slot->deadline_ms > now_ms)
			continue;
		slot->deadline_ms = INT64_MAX;
		end(slot->fd);
	}
}

int
lt_slots_wait_ms(const struct lt_slots *slots, int64_t now_ms, int most_ms)
{
	int64_t wait_ms = most_ms;

	for (int i = 0; i < LT_SLOTS_MAX; i++) {
		const struct lt_slot *const slot = &slots->slots[i];

		if (slot->taken && slot->deadline_ms - now_ms < wait_ms)
			wait_ms = slot->deadline_ms - now_ms;
	}
	return wait_ms < 0 ? 0 : (int)wait_ms;
}

/* ---- the door ---- */

enum {
	BACKLOG = 256,
	ACCEPTED_MAX = 64,	    /* then those that are here have a turn */
	FREE_WITHIN_MS = 10 * 1000, /* children of a killed one end by then */
	LOOK_MS = 100,
};

/* Returns a listening socket, or -1 with errno. */
static int
listen_at(uint16_t port)
{
	const struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
	const int one = 1;
	const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	/* A port of connections that ended is free; one that another process listens on is not. */
	if (fd < 0 || (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) == 0 &&
			  bind(fd, (const struct sockaddr *)&address, sizeof(address)) == 0 &&
			  listen(fd, BACKLOG) == 0))
		return fd;
	const int why = errno;
	close(fd);
	errno = why;
	return -1;
}

int
lt_door_listen(uint16_t port, struct lt_error *err)
{
	int fd = listen_at(port);

	for (int ms = 0; fd < 0 && errno == EADDRINUSE && ms < FREE_WITHIN_MS; ms += LOOK_MS) {
		usleep(LOOK_MS * 1000);
		fd = listen_at(port);
	}
	if (fd >= 0)
		return fd;
	return errno == EADDRINUSE
		   ? lt_fail(err, LT_ECONFLICT,
			 "port %u: another program listens there, a second lowtided maybe: stop it, or give this one another listen_port: in its policy",
			 port)
		   : lt_fail(err, LT_EIO, "port %u: %s", port, strerror(errno));
}

void
lt_door_watch(void *door, struct MHD_Connection *connection, void **context,
    enum MHD_ConnectionNotificationCode code)
{
	struct lt_door *const at = door;

	(void)connection;
	if (code == MHD_CONNECTION_NOTIFY_CLOSED) {
		if (*context != NULL)
			lt_slot_free(*context);
		*context = NULL;
		return;
	}
	*context = at->accepted;
	at->accepted = NULL;
}

static void
hang_up(int fd)
{
	(void)shutdown(fd, SHUT_RDWR);
}

/* Those who have asked by now are no strangers any more; else one that has not goes. NULL: there is
 * no room all the same. */
static struct lt_slot *
take_slot(struct lt_door *door, int fd, uint32_t host, int64_t now_ms)
{
	struct lt_slot *slot = lt_slot_take_stranger(&door->slots, fd, host, now_ms);

	if (slot != NULL)
		return slot;
	MHD_run(door->server);
	slot = lt_slot_take_stranger(&door->slots, fd, host, now_ms);
	if (slot != NULL)
		return slot;
	lt_slots_drop_stranger(&door->slots, host, hang_up);
	MHD_run(door->server);
	return lt_slot_take_stranger(&door->slots, fd, host, now_ms);
}

void
lt_door_admit(struct lt_door *door, struct lt_slot *slot, int fd, const struct sockaddr *address,
    socklen_t size)
{
	door->accepted = slot;
	(void)MHD_add_connection(door->server, fd, address, size);
	/* From libmicrohttpd 0.9.76 on it is only queued there. */
	if (door->accepted != NULL)
		MHD_run(door->server);
	if (door->accepted != NULL) /* not even begun; it closed fd */
		lt_slot_free(door->accepted);
	door->accepted = NULL;
}

/* False: nobody waits. */
static bool
accept_one(struct lt_door *door, int64_t now_ms)
{
	union {
		struct sockaddr any;
		struct sockaddr_in v4;
		struct sockaddr_storage room;
	} address = {.room = {0}};
	socklen_t size = sizeof(address);
	const int fd = accept4(door->fd, &address.any, &size, SOCK_CLOEXEC | SOCK_NONBLOCK);

	if (fd < 0)
		return false;
	const uint32_t host = address.any.sa_family == AF_INET ? address.v4.sin_addr.s_addr : 0;
	struct lt_slot *const slot = take_slot(door, fd, host, now_ms);
	if (slot != NULL)
		lt_door_admit(door, slot, fd, &address.any, size);
	else
		close(fd);
	return true;
}

void
lt_door_run(struct lt_door *door, int64_t now_ms)
{
	for (int i = 0; i < ACCEPTED_MAX && accept_one(door, now_ms); i++)
		;
	MHD_run(door->server);
	/* After it: what came while nobody looked is not late. */
	lt_slots_expire(&door->slots, now_ms, hang_up);
}

struct lt_slot *
lt_door_slot(struct MHD_Connection *connection)
{
	const union MHD_ConnectionInfo *const info =
	    MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

	return info != NULL ? info->socket_context : NULL;
}

bool
lt_door_show(struct lt_door *door, struct MHD_Connection *connection, uint32_t uid, bool is_admin,
    int64_t now_ms)
{
	struct lt_slot *const slot = lt_door_slot(connection);

	return slot != NULL &&
	       (!slot->is_stranger || lt_slot_show(&door->slots, slot, uid, is_admin, now_ms));
}
