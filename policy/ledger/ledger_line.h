/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The text of one adjustment in the journal.
 */
#ifndef LT_LEDGER_LINE_H
#define LT_LEDGER_LINE_H

#include "ledger_db.h"

#define LT_LINE_KEPT "adjustment 1 "
#define LT_LINE_REFUSED "refused    1 "

enum {
	/* 3 x (account, who, reason) and the numbers */
	LT_LINE_SIZE = 3 * (LT_ACCOUNT_SIZE + LT_NAME_SIZE + 256) + 512,
	LT_LINE_WORD = sizeof(LT_LINE_KEPT) - 1,
	LT_LINE_CRC = sizeof(" crc=12345678") - 1,
};

/* With its newline; the length, below size. */
size_t lt_line_format(char *line, size_t size, const struct lt_entry *entry);
/* line: without its newline. Is it whole, and does it begin with the word? */
bool lt_line_is(const char *line, const char *word);
/* The adjustment of a whole line; false = it is none. */
bool lt_line_parse(const char *line, struct lt_entry *entry);

#endif
