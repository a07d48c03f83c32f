/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fuzzes the budget snapshot: any bytes are refused with a reason, or give a snapshot that packs
 * again to the same bytes and against which can be held.
 */
#include <stdint.h>

#include "files.h"
#include "mend.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t byte_count);

/* Admission adds nothing unless it says so, and taking back restores. */
static void
use(const struct lt_budget_snapshot *snapshot)
{
	struct lt_recent *const recent = malloc(lt_recent_size(snapshot));

	if (recent == NULL)
		abort();
	lt_recent_init(recent, snapshot);
	for (int account = -1; account < (int)snapshot->account_count; account++) {
		struct lt_hold hold = {.uid = 1000,
		    .account = account,
		    .amount = {true, true, 12345, 678},
		    .start_utc_s = 1763683200,
		    .end_utc_s = 1763769600};
		struct lt_amount before, after;
		struct lt_verdict verdict;
		char text[512];

		if (snapshot->budget_count > 0)
			hold.start_utc_s = snapshot->budgets[0].periods[0].start_utc_s;
		lt_available(&before, snapshot, recent, LT_RULES_BIND | LT_RULES_WARN, hold.uid,
		    account, hold.start_utc_s, hold.end_utc_s);
		lt_admit(&verdict, snapshot, recent, &hold);
		lt_verdict_text(text, sizeof(text), &verdict, "USD");
		if (verdict.code == LT_ADMIT ||
		    (verdict.code == LT_OVER && verdict.rule == LT_RULE_WARN))
			lt_recent_remove(recent, snapshot, &hold);
		lt_available(&after, snapshot, recent, LT_RULES_BIND | LT_RULES_WARN, hold.uid,
		    account, hold.start_utc_s, hold.end_utc_s);
		if (verdict.code == LT_UNKNOWN && verdict.why == NULL)
			__builtin_trap();
		if (before.money_micros != after.money_micros ||
		    before.carbon_mg != after.carbon_mg)
			__builtin_trap();
		(void)lt_sheet_default_account(snapshot, hold.uid);
	}
	free(recent);
}

static void
try_one(const uint8_t *bytes, size_t byte_count)
{
	struct lt_budget_snapshot snapshot;
	struct lt_error err = {0};
	unsigned char *packed = NULL;
	size_t packed_count = 0;

	if (lt_sheet_unpack(&snapshot, bytes, byte_count, &err) != LT_OK) {
		if (err.text[0] == '\0' || snapshot.arena != NULL)
			__builtin_trap();
		return;
	}
	use(&snapshot);
	/* One form only: what was accepted is what would be written. */
	if (lt_sheet_pack(&snapshot, &packed, &packed_count, &err) != LT_OK ||
	    packed_count != byte_count || memcmp(packed, bytes, byte_count) != 0)
		__builtin_trap();
	lt_sheet_free(&snapshot);
	free(packed);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t byte_count)
{
	unsigned char *const mended = mend_container(bytes, byte_count);

	try_one(bytes, byte_count);
	if (mended != NULL)
		try_one(mended, byte_count);
	free(mended);
	return 0;
}
