/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A request inside a munge credential, the reply inside another.
 */
#ifndef LT_SERVE_MUNGE_H
#define LT_SERVE_MUNGE_H

#include <netinet/in.h>
#include <stdint.h>

struct lt_munge_request { /* start as { 0 } */
	uint32_t uid;
	struct in_addr from; /* as the munged says that sealed it */
	char *payload;	     /* malloc'd; begins with the method */
	const char *path, *body;
};

/*
 * credential: text of the body. 200, or another status with JSON in *text, malloc'd. Once only:
 * munged itself refuses a credential that it has seen.
 */
int lt_munge_open(
    struct lt_munge_request *asked, const char *munge_socket, const char *credential, char **text);
/* reply: JSON with that status. *text: malloc'd, a credential that only that uid can decode (status
 * 200), or JSON with an error. */
int lt_munge_seal(
    char **text, const char *munge_socket, uint32_t uid, int status, const char *reply);
void lt_munge_free(struct lt_munge_request *asked);

#endif
