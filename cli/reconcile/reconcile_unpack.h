/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Bytes of an invoice that may be packed with gzip, as clouds deliver them.
 */
#ifndef LT_RECONCILE_UNPACK_H
#define LT_RECONCILE_UNPACK_H

#include <stdbool.h>
#include <stdio.h>

#include <zlib.h>

#include "error.h"

struct lt_unpack { /* lt_unpack_end() */
	FILE *in;
	bool is_gzip, in_member;
	z_stream stream; /* of plain bytes next_in and avail_in only */
	unsigned char bytes[64 * 1024];
};
/* Tells gzip by its first bytes, whatever the name; LT_EINPUT: it is packed
 * otherwise. LT_EIO, LT_ENOMEM. */
int lt_unpack_start(struct lt_unpack *unpack, FILE *in, struct lt_error *err);
/* Fills all of out but at the end of the file. LT_EIO: it can't be read or is
 * damaged or cut off. */
int lt_unpack_read(struct lt_unpack *unpack, char *out, size_t size,
    size_t *got, struct lt_error *err);
void lt_unpack_end(struct lt_unpack *unpack);

#endif
