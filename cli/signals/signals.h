/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lowtide signals: its forms, and what they print alike: a value and its unit for people, a day as
 * a line of blocks.
 */
#ifndef LT_CLI_SIGNALS_H
#define LT_CLI_SIGNALS_H

#include "cli.h"
#include "points.h"

/* One form each, named by operands[0]. Exit status. */
int lt_signals_export(const struct lt_cli *cli);
int lt_signals_test(const struct lt_cli *cli);

/* ---- signals_table.c ---- */
/* Asks for all sources of this path, page by page. Returns lowtided's answer, the caller's; NULL:
 * err. */
json_t *lt_signals_ask(const struct lt_cli *cli, const char *path, struct lt_error *err);

struct lt_signals_look { /* how it is shown */
	bool color;
	bool blocks; /* a terminal that shows UTF-8 */
	int columns; /* of the terminal; 0 = no limit */
};
struct lt_signals_look lt_signals_look(const struct lt_cli *cli);

enum { LT_BLOCKS_SIZE = 3 * LT_HOURS_SHOWN + 1 };
/* Writes one block per hour, from the least known value (the lowest block) to the largest; a space
 * for an unknown hour, blocks of half height when all are equal, "" when none is known. count <=
 * LT_HOURS_SHOWN. Returns out. */
const char *lt_blocks_text(char out[LT_BLOCKS_SIZE], const struct lt_hour *hours, int count);
/* The same without Unicode: "180..240", "-". */
const char *lt_range_text(
    char *out, size_t size, const struct lt_hour *hours, int count, enum lt_quantity quantity);
/* Writes a value of a point as people write it: money by the unit of its currency, with as many
 * decimals as the quantity is known to. */
const char *lt_value_text(char *out, size_t size, double value, enum lt_quantity quantity);
/* Writes the unit of such values: "g CO2e/kWh", "USD/node-h". */
const char *lt_unit_text(char *out, size_t size, enum lt_quantity quantity, const char *currency);

void lt_signals_print(FILE *out, const json_t *answer, const struct lt_signals_look *look);
void lt_signals_print_errors(FILE *out, const json_t *answer, const struct lt_signals_look *look);

#endif
