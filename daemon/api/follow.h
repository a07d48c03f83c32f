/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lowtided on a login node (`--follow HOST`).
 */
#ifndef LT_FOLLOW_H
#define LT_FOLLOW_H

#include <stdint.h>

#include "seal.h"

struct lt_daemon;

/* Runs until a signal; the exit status. */
int lt_follow(struct lt_daemon *d, int signals_fd);

/* Sets the controller whose answers are believed from now on, and the file for the market; the
 * arguments must stay valid. */
void lt_follow_whom(const char *host, const struct lt_seal *seal, const char *market_path);
/* The whole market: checked, who sealed it too, before it replaces the file, which has the one of
 * *generation (0 = none). */
int lt_follow_refresh(uint64_t *generation, struct lt_error *err);
/* Gives the path to ask of the controller when uid asks for `uri` here; false:
 * not answered here. Only root and SlurmUser may ask for others, so a follower runs as one of
 * them. */
bool lt_follow_path(char *path, size_t size, uint32_t uid, const char *uri);
/* Ask the controller, with a body by POST: HTTP status; *reply is malloc'd. */
int lt_follow_ask(const char *path, const char *body, char **reply);

#endif
