/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Holds of the ring into the ledger, and W.
 */
#ifndef LT_INGEST_H
#define LT_INGEST_H

#include <stdint.h>

struct lt_books;
struct lt_error;

int lt_ingest(const struct lt_books *books, int64_t now_utc_s, struct lt_error *err);

#endif
