/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Is a user in one of some Unix groups, by his primary group too? The system's
 * directory may be slow or hang: a child asks it, for whom we wait a moment,
 * and what it said is kept for a while.
 */
#ifndef LT_GROUPS_H
#define LT_GROUPS_H

#include <stdbool.h>
#include <stdint.h>

#include "market.h"

enum {
	LT_GROUPS_KEEP_S = 300,
	LT_GROUPS_KNOWN_MAX = 512, /* users; then the first is asked anew */
	LT_GROUPS_WAIT_MS = 1000,  /* longer: as it was, at first not; */
	LT_GROUPS_PAUSE_S = 60,	   /* and nobody is asked for so long */
};

struct lt_groups { /* what is known; start as { 0 }, for other groups too */
	struct lt_group_member {
		uint32_t uid;
		bool is_used, is_member;
		int64_t until_utc_s; /* known */
	} known[LT_GROUPS_KNOWN_MAX];
	uint32_t next;
	int64_t pause_utc_s; /* until then */
};

struct lt_groups_asked {
	char (*names)[LT_NAME_SIZE]; /* read only */
	int count;
	uint32_t uid;
};
bool lt_groups_has(struct lt_groups *groups,
    const struct lt_groups_asked *asked, int64_t now_utc_s);

#endif
