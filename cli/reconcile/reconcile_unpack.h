/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The bytes of an invoice that may be packed with gzip, as clouds deliver it.
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
	z_stream stream; /* without gzip only next_in and avail_in */
	unsigned char bytes[64 * 1024];
};
/* Recognises gzip by its first bytes, whatever the name; LT_EINPUT: another packing. LT_EIO,
 * LT_ENOMEM. */
int lt_unpack_start(struct lt_unpack *unpack, FILE *in, struct lt_error *err);
/* Fills all of out, unless the file ends. LT_EIO: it can't be read, or is damaged or cut. */
int lt_unpack_read(
    struct lt_unpack *unpack, char *out, size_t size, size_t *got, struct lt_error *err);
void lt_unpack_end(struct lt_unpack *unpack);

#endif
