/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Answers that take long: a thread beside the loop makes each of them and writes it to the
 * connection itself. It has its own connection to the ledger and a copy of what it needs, and
 * shares nothing else: a client that reads slowly, or not at all, delays nobody.
 */
#ifndef LT_ASIDE_H
#define LT_ASIDE_H

#include <stdbool.h>
#include <stdint.h>

#include "api.h"
#include "error.h"

enum {
	LT_ASIDES_MAX = 8,
	LT_ASIDE_STREAMS_MAX = 4,   /* of them: others are soon over */
	LT_ASIDES_PER_USER = 2,	    /* but for admins */
	LT_ASIDE_STALL_MS = 60000,  /* in which some of it must be taken */
	LT_ASIDE_MOST_MS = 3600000, /* in which all of it must */
};

struct lt_aside_order {
	struct lt_api_work *work; /* taken over */
	const char *state_dir;
	int fd; /* the connection's; nobody else's until it is answered */
	uint32_t uid;
	bool is_admin;
	const char *munge_socket; /* sealed for uid by this; NULL: as it is */
	void *asker;
};

/* Called for each answer that is written, or that nobody took. */
typedef void lt_aside_function(void *asker);

int lt_asides_start(lt_aside_function *ended, struct lt_error *err);
/* Those under way are cut off. */
void lt_asides_stop(void);
bool lt_aside_has_room(uint32_t uid, bool is_admin, bool is_stream);
/* False: no thread could be made; the work is dropped. */
bool lt_aside_begin(const struct lt_aside_order *order);
/* Readable when lt_asides_run() has something to do. */
int lt_asides_fd(void);
void lt_asides_run(void);

#endif
