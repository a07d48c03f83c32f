/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A connection to slurmdbd: one for each call, as it may be down for days.
 */
#ifndef LT_DBD_LINK_H
#define LT_DBD_LINK_H

#include "compat.h"
#include "error.h"

struct lt_dbd_link {
	void *connection;
	lt_slurm_list *clusters; /* of one, for conditions */
};

/* Opens it; lt_dbd_close() also after a failure. */
int lt_dbd_open(struct lt_dbd_link *link, struct lt_error *err);
void lt_dbd_close(struct lt_dbd_link *link);

#endif
