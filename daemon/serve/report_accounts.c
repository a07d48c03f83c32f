/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The accounts of a report, by name.
 */
#include <stdlib.h>
#include <string.h>

#include "report_parts.h"

static int
compare_name(const void *name, const void *account)
{
	return strcmp(name, ((const struct lt_report_account *)account)->name);
}

int
lt_report_account_index(const struct lt_report_work *w, const char *name)
{
	const struct lt_report_account *const at = bsearch(name, w->accounts,
	    w->account_count, sizeof(w->accounts[0]), compare_name);

	return at != NULL ? (int)(at - w->accounts) : -1;
}

const struct lt_report_account *
lt_report_account_of(const struct lt_report_work *w, const char *name)
{
	const int at = lt_report_account_index(w, name);

	return at >= 0 ? &w->accounts[at] : NULL;
}
