/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the files of "lowtide web" share: web.c has its options and what it
 * prints, web_listen.c where it listens, web_serve.c what it answers.
 */
#ifndef LT_CLI_WEB_PAGE_H
#define LT_CLI_WEB_PAGE_H

#include "cli.h"

enum {
	LT_PAGE_TOKEN_BYTES = 16, /* 128 bits: nobody guesses them */
	LT_PAGE_TOKEN_SIZE = 2 * LT_PAGE_TOKEN_BYTES + 1,
	LT_PAGE_PATH_SIZE = 108, /* of sockaddr_un */
};

struct lt_page {
	const struct lt_cli *cli;
	int fd;				/* listens */
	int port;			/* of 127.0.0.1; 0: a Unix socket */
	char token[LT_PAGE_TOKEN_SIZE]; /* in the path; "": a Unix socket */
	char socket[LT_PAGE_PATH_SIZE]; /* "": it is a port */
};

/* ---- web.c ---- */
/* On 127.0.0.1, page->port (0: any that is free, which is then there). LT_EIO.
 */
int lt_page_listen_port(struct lt_page *page, struct lt_error *err);
/*
 * On the Unix socket page->socket, of mode 0600; what an earlier one left there
 * is taken away. LT_EINPUT: too long; LT_ECONFLICT: one listens there; LT_EIO.
 */
int lt_page_listen_socket(struct lt_page *page, struct lt_error *err);

/* ---- web_serve.c ---- */
/* Answer until a signal ends the process; returns only with a failure. */
int lt_page_serve(const struct lt_page *page, struct lt_error *err);

#endif
