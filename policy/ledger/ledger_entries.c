/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What an entry's figures are, in one place, and their sums.
 */
#include "ledger.h"

void
lt_entry_figures(int64_t *out[LT_ENTRY_FIGURES], struct lt_entry *entry)
{
	out[0] = &entry->money_micros;
	out[1] = &entry->carbon_mg;
	out[2] = &entry->energy_wh;
	out[3] = &entry->baseline_money_micros;
	out[4] = &entry->baseline_carbon_mg;
	out[5] = &entry->saved_by.time_micros;
	out[6] = &entry->saved_by.time_mg;
	out[7] = &entry->saved_by.gpu_micros;
	out[8] = &entry->saved_by.gpu_mg;
	out[9] = &entry->parts.carbon_charge_micros;
	out[10] = &entry->parts.discount_micros;
}

bool
lt_entry_add(struct lt_entry *sum, const struct lt_entry *addend, int sign)
{
	struct lt_entry copy = *addend;
	int64_t *to[LT_ENTRY_FIGURES], *from[LT_ENTRY_FIGURES];

	lt_entry_figures(to, sum);
	lt_entry_figures(from, &copy);
	for (int i = 0; i < LT_ENTRY_FIGURES; i++)
		if (sign > 0 ? __builtin_add_overflow(*to[i], *from[i], to[i])
			     : __builtin_sub_overflow(*to[i], *from[i], to[i]))
			return false;
	return true;
}

struct lt_entry
lt_entry_of_run(const struct lt_run *run)
{
	return (struct lt_entry){.money_micros = run->money_micros,
	    .carbon_mg = run->carbon_mg,
	    .energy_wh = run->energy_wh,
	    .baseline_money_micros = run->baseline_money_micros,
	    .baseline_carbon_mg = run->baseline_carbon_mg,
	    .saved_by = run->saved_by,
	    .parts = run->parts};
}
