/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The records of a market snapshot, one function each for both ways.
 */
#ifndef LT_MARKET_RECORDS_H
#define LT_MARKET_RECORDS_H

#include "container.h"
#include "market.h"

enum { LT_LISTS = 5, LT_LISTS_BEFORE = 4 }; /* texts a partition */

/*
 * A coder with is_before codes records as version 0.2 has them. Reading: what 0.2 did not know is
 * as if there were none. Writing: where 0.2 would not see what keeps a job out of a partition, it
 * sees one that is down, or unlike.
 */

void lt_code_settings(struct lt_coder *coder, struct lt_market *m);
void lt_code_partition(struct lt_coder *coder, struct lt_partition *p);
void lt_code_shape(struct lt_coder *coder, struct lt_shape *shape);
void lt_code_gpu(struct lt_coder *coder, struct lt_gpu *gpu);
void lt_code_class(struct lt_coder *coder, struct lt_class *row);
void lt_code_precision_rule(struct lt_coder *coder, struct lt_precision_rule *rule);
void lt_code_power_cap(struct lt_coder *coder, struct lt_power_cap *rule);
void lt_code_bar(struct lt_coder *coder, struct lt_bar *bar);
void lt_code_series_head(struct lt_coder *coder, struct lt_series *series);
void lt_code_steps(struct lt_coder *coder, struct lt_series *series);
size_t lt_steps_bytes(uint32_t count);
void lt_pack_lists(struct lt_coder *coder, const struct lt_partition *partition);
bool lt_unpack_lists(struct lt_market *market, const char *text, size_t length, int lists);

#endif
