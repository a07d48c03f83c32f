/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One message to people, as lowtided leaves it for lowtide-notify: a file of JSON. What it says is
 * lowtided's, where it goes the policy's and Slurm's.
 */
#ifndef LT_MESSAGE_H
#define LT_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "address.h"
#include "error.h"
#include "message_kinds.h"

enum {
	LT_MESSAGE_ID_SIZE = 200, /* a file's name has at most 255 */
	LT_MESSAGE_SUBJECT_SIZE = 160,
	LT_MESSAGE_TEXT_SIZE = 4096,
	LT_MESSAGE_RECIPIENTS_MAX = 9, /* owners of a team, and a user */
	/* Each byte of the text may take six ("\u0000"), and the rest. */
	LT_MESSAGE_BYTES_MAX = 32 * 1024,
};
_Static_assert(6 * (LT_MESSAGE_TEXT_SIZE + LT_MESSAGE_SUBJECT_SIZE) +
		       LT_MESSAGE_RECIPIENTS_MAX * LT_ADDRESS_SIZE + LT_MESSAGE_ID_SIZE + 1024 <=
		   LT_MESSAGE_BYTES_MAX,
    "a whole message fits");

struct lt_message { /* start as { 0 } */
	/* lt_message_id_is(): names its file. What has been sent by this id is never sent again, so
	 * the same event always has the same one. */
	char id[LT_MESSAGE_ID_SIZE];
	enum lt_message_kind kind;
	int64_t made_utc_s;
	int to_count; /* 0: for the site's webhook and command only */
	char to[LT_MESSAGE_RECIPIENTS_MAX][LT_ADDRESS_SIZE];
	char subject[LT_MESSAGE_SUBJECT_SIZE]; /* a line */
	char text[LT_MESSAGE_TEXT_SIZE];       /* lines of UTF-8 */
};

/* Lower case letters, digits, - and _, beginning with a letter or digit. Pure. */
bool lt_message_id_is(const char *id);
/* All that an id may not have becomes _XX, its bytes in hex, as capitals do; what is too long is
 * cut. text: begins with a letter. Pure. */
void lt_message_id_of(char out[LT_MESSAGE_ID_SIZE], const char *text);
/* Begins the id of a message that a user's jobs cause, "u1000-"; returns its length. Pure. */
int lt_message_id_begin(char out[LT_MESSAGE_ID_SIZE], uint32_t uid);
/* The user by whose jobs there is a message of that id; LT_MESSAGE_OF_SITE:
 * none, it is of budgets. Pure. */
enum { LT_MESSAGE_OF_SITE = -1 };
int64_t lt_message_uid(const char *id);
/* Controls, and what is no UTF-8, become "?" in its subject and text: after it lt_message_pack()
 * takes both. Pure. */
void lt_message_clean(struct lt_message *message);

/* Returns it as JSON; free() it. NULL: it is not as above, or there is no memory. */
char *lt_message_pack(const struct lt_message *message, struct lt_error *err);
/* *message is written on success. LT_EINPUT: what is not as above is not sent
 * to anybody. Pure. */
int lt_message_unpack(
    struct lt_message *message, const char *text, size_t length, struct lt_error *err);

#endif
