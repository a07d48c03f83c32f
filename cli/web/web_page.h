/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Shared by the files of "lowtide web": web.c has the options and opens the socket, web_serve.c
 * answers requests.
 */
#ifndef LT_CLI_WEB_PAGE_H
#define LT_CLI_WEB_PAGE_H

#include "cli.h"

enum {
	LT_PAGE_TOKEN_BYTES = 16, /* 128 bits, not to be guessed */
	LT_PAGE_TOKEN_SIZE = 2 * LT_PAGE_TOKEN_BYTES + 1,
	LT_PAGE_PATH_SIZE = 108, /* of sockaddr_un */
};

struct lt_page {
	const struct lt_cli *cli;
	int fd;				/* the listening socket */
	int port;			/* of 127.0.0.1; 0: a Unix socket */
	char token[LT_PAGE_TOKEN_SIZE]; /* in the path; "": a Unix socket */
	char socket[LT_PAGE_PATH_SIZE]; /* "": it is a port */
};

/* ---- web.c ---- */
/* Listens on 127.0.0.1, page->port (0: any that is free, and sets it). LT_EIO. */
int lt_page_listen_port(struct lt_page *page, struct lt_error *err);
/*
 * Listens on the Unix socket page->socket, of mode 0600, and removes one that an earlier process
 * left. LT_EINPUT: too long; LT_ECONFLICT: another one listens there; LT_EIO.
 */
int lt_page_listen_socket(struct lt_page *page, struct lt_error *err);

/* ---- web_serve.c ---- */
/* Answers until a signal ends the process; returns only with a failure. */
int lt_page_serve(const struct lt_page *page, struct lt_error *err);

#endif
