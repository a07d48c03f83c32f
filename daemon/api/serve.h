/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The HTTP server: Unix socket with peer credentials, TCP with munge credentials; both end in
 * lt_api_begin().
 */
#ifndef LT_SERVE_H
#define LT_SERVE_H

#include <poll.h>

#include "directory.h"
#include "question.h"

struct lt_daemon;

enum { LT_SERVE_FDS = 6 + LT_DIRECTORY_FDS };

/* A server that has the answers from another. */
struct lt_serve_relay {
	/* Gives the path to ask of the other lowtided when uid asks for `uri` here; false: not
	 * answered here. */
	bool (*path)(char *path, size_t size, uint32_t uid, const char *uri);
	lt_question_function *ask;
};

/* relay: NULL = it answers by lt_api_begin(). */
int lt_serve_start(struct lt_daemon *d, const struct lt_serve_relay *relay, struct lt_error *err);
void lt_serve_stop(void);
/* Descriptors to poll; how many. */
int lt_serve_fds(struct pollfd *fds, int room);
/* The smaller of wait_ms and what the server needs. */
int lt_serve_timeout_ms(int wait_ms);
/* Do what can be done without waiting. */
void lt_serve_run(void);

#endif
