/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A request inside a munge credential, the reply inside another.
 */
#ifndef LT_SERVE_MUNGE_H
#define LT_SERVE_MUNGE_H

struct lt_daemon;

/*
 * credential: text of the body. *text: malloc'd, a credential that only the
 * caller's uid can decode (status 200), or JSON with an error. munged itself
 * refuses a credential that it has seen.
 */
int lt_serve_munge(struct lt_daemon *d, const char *credential, char **text);

#endif
