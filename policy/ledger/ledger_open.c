/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Opens the ledger: the databases, then what a crash left only in the journal.
 */
#include "ledger_db.h"

int
lt_ledger_open(
    struct lt_ledger **ledger, const char *state_dir, struct lt_error *err)
{
	int rc = lt_ledger_connect(ledger, state_dir, err);

	if (rc == LT_OK)
		rc = lt_journal_catch_up(*ledger, err);
	if (rc != LT_OK) {
		lt_ledger_close(*ledger);
		*ledger = NULL;
	}
	return rc;
}
