/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sums per account and user of the spans that budgets ask for again and again:
 * kept, and each entry that is put is added to them. So a look costs nothing
 * of what a year has. Where any were taken away (what a transaction undoes,
 * lt_ledger_repair(), somebody else's connection) all is read anew.
 */
#include <stdlib.h>
#include <string.h>

#include "grow.h"
#include "ledger_kept.h"
#include "units.h"

static int
compare(const struct lt_account_sum *a, const struct lt_account_sum *b)
{
	const int by_account = strcmp(a->account, b->account);

	if (a->tree_utc_s != b->tree_utc_s)
		return a->tree_utc_s < b->tree_utc_s ? -1 : 1;
	return by_account != 0 ? by_account
			       : (a->uid > b->uid) - (a->uid < b->uid);
}

/* Of the first that is not before it. */
static uint32_t
place_of(const struct lt_sums *sums, const struct lt_account_sum *wanted)
{
	uint32_t low = 0, high = sums->count;

	while (low < high) {
		const uint32_t middle = low + (high - low) / 2;

		if (compare(&sums->items[middle], wanted) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* false: it passes 64 bits, or there is no memory. */
static bool
add(struct lt_sums *sums, const struct lt_account_sum *more)
{
	const uint32_t at = place_of(sums, more);

	if (at < sums->count && compare(&sums->items[at], more) == 0)
		return lt_add(
			   &sums->items[at].money_micros, more->money_micros) &&
		       lt_add(&sums->items[at].carbon_mg, more->carbon_mg);
	struct lt_account_sum *const all = lt_items_grow(
	    sums->items, &sums->capacity, sums->count, sizeof(*all));
	if (all == NULL)
		return false;
	sums->items = all;
	memmove(&all[at + 1], &all[at], (sums->count++ - at) * sizeof(*all));
	all[at] = *more;
	return true;
}

static void
drop(struct lt_kept_span *kept)
{
	free(kept->sums.items);
	*kept = (struct lt_kept_span){0};
}

/* That span's, or the one that was not asked for the longest, emptied. */
static struct lt_kept_span *
find(struct lt_kept *all, struct lt_span span)
{
	struct lt_kept_span *oldest = &all->spans[0];

	for (int i = 0; i < LT_KEPT_SPANS; i++) {
		struct lt_kept_span *const kept = &all->spans[i];

		if (kept->asked > 0 &&
		    kept->span.from_utc_s == span.from_utc_s &&
		    kept->span.to_utc_s == span.to_utc_s)
			return kept;
		if (kept->asked < oldest->asked)
			oldest = kept;
	}
	drop(oldest);
	oldest->span = span;
	return oldest;
}

void
lt_kept_add(struct lt_ledger *ledger, const struct lt_entry *entry)
{
	struct lt_account_sum sum = {.uid = entry->uid,
	    .money_micros = entry->money_micros,
	    .carbon_mg = entry->carbon_mg};

	ledger->kept.has_added = true;
	memcpy(sum.account, entry->account, sizeof(sum.account));
	for (int i = 0; i < LT_KEPT_SPANS; i++) {
		struct lt_kept_span *const kept = &ledger->kept.spans[i];

		if (kept->asked == 0 ||
		    entry->at_utc_s < kept->span.from_utc_s ||
		    entry->at_utc_s >= kept->span.to_utc_s)
			continue;
		sum.tree_utc_s = kept->sums.tree_utc_s;
		/* Before the last move, or too large: whoever looks next reads
		 * all, and says what is wrong. */
		if (entry->at_utc_s < sum.tree_utc_s ||
		    !add(&kept->sums, &sum))
			drop(kept);
	}
}

int
lt_kept_sums(struct lt_ledger *ledger, struct lt_span span,
    struct lt_sums *sums, struct lt_error *err)
{
	struct lt_kept *const all = &ledger->kept;
	int64_t version = 0;
	int code = lt_row_one(ledger, LT_PLAIN(LT_SQL_DATA_VERSION),
	    lt_row_number, &version, err);

	*sums = (struct lt_sums){0};
	if (code < 0)
		return code;
	if (version != all->data_version)
		lt_kept_drop(ledger);
	all->data_version = version;
	struct lt_kept_span *const kept = find(all, span);

	code = LT_OK;
	if (kept->asked == 0)
		code = lt_sums_read(
		    &kept->sums, ledger, LT_SQL_SUMS, span, err);
	if (code != LT_OK) {
		drop(kept);
		return code;
	}
	kept->asked = ++all->asked;
	if (kept->sums.count == 0)
		return LT_OK;
	sums->items = calloc(kept->sums.count, sizeof(*sums->items));
	if (sums->items == NULL)
		return lt_fail(err, LT_ENOMEM, "ledger: no memory");
	sums->count = kept->sums.count;
	memcpy(
	    sums->items, kept->sums.items, sums->count * sizeof(*sums->items));
	return LT_OK;
}
