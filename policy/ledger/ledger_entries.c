/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What an entry's figures are, in one place, and their sums.
 */
#include "ledger.h"

void
lt_entry_figures(int64_t *out[LT_ENTRY_FIGURES], struct lt_entry *entry)
{
#define FIGURE(column, member) *out++ = &entry->member;
	LT_FIGURES(FIGURE)
#undef FIGURE
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
#define FIGURE(column, member) .member = run->member,
	return (struct lt_entry){LT_FIGURES(FIGURE)};
#undef FIGURE
}
