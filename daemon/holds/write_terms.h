/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The file of what each live job was admitted on (terms.c).
 */
#ifndef LT_WRITE_TERMS_H
#define LT_WRITE_TERMS_H

struct lt_daemon;
struct lt_error;

int lt_write_terms(struct lt_daemon *d, struct lt_error *err);

#endif
