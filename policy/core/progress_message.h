/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A datagram from the reader in the step daemon to lowtide-node: how far a job is, as its own file
 * says.
 *
 *   "lowtide progress 1 <job id> <restarts> <first after s> <newest after s>\n"
 *   "<first marker>\n<newest marker>\n"
 *
 * It is valid if and only if it is exactly that: decimal numbers without leading zeros, and markers
 * of 1 to 63 printable ASCII characters.
 */
#ifndef LT_PROGRESS_MESSAGE_H
#define LT_PROGRESS_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "limits.h"

enum { LT_PROGRESS_BYTES_MAX = 256 };

struct lt_progress_message {
	uint32_t job_id, restarts;
	/* Since the task began, when they were seen. */
	uint32_t first_after_s, newest_after_s;
	char first[LT_MARKER_SIZE], newest[LT_MARKER_SIZE];
};

/* The first line of a marker's file, cut; what is not printable is '?'. False:
 * there is no digit in it. */
bool lt_progress_line(char out[LT_MARKER_SIZE], const char *bytes, size_t length);
/* Bytes written, without a NUL. May be called after a fork. */
size_t lt_progress_pack(char out[LT_PROGRESS_BYTES_MAX], const struct lt_progress_message *message);
bool lt_progress_unpack(struct lt_progress_message *message, const char *bytes, size_t length);

#endif
