/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sums per account and user of the spans that budgets ask for again and again:
 * kept, and carried on by the entries that came since. So a look costs what is
 * new, not what a year has. Entries only ever come behind the last one; where
 * any were taken away (lt_ledger_repair(), somebody else's connection) all is
 * read anew.
 */
#include <stdlib.h>
#include <string.h>

#include "ledger_kept.h"

static void
read_sum(struct lt_rows *rows, void *element)
{
	struct lt_account_sum *const sum = element;

	lt_row_text(rows, sum->account, sizeof(sum->account));
	sum->uid = (uint32_t)lt_row_int(rows);
	sum->money_micros = lt_row_int(rows);
	sum->carbon_mg = lt_row_int(rows);
}

static void
read_number(struct lt_rows *rows, void *element)
{
	int64_t *const number = element;

	*number = lt_row_int(rows);
}

int
lt_sums_read(struct lt_ledger *ledger, struct lt_bound bound,
    struct lt_sums *sums, struct lt_error *err)
{
	struct lt_array found = {
	    .read = read_sum, .size = sizeof(struct lt_account_sum)};
	const int rc = lt_rows_all(ledger, bound, &found, err);

	*sums = (struct lt_sums){.items = found.items, .count = found.count};
	return rc;
}

static int
compare(const struct lt_account_sum *a, const struct lt_account_sum *b)
{
	const int by_account = strcmp(a->account, b->account);

	return by_account != 0 ? by_account
			       : (a->uid > b->uid) - (a->uid < b->uid);
}

/* Both in the order of account and uid, and so is what comes of them; false:
 * it passes 64 bits, or there is no memory. */
static bool
merge(struct lt_sums *into, const struct lt_sums *more)
{
	const uint32_t room = into->count + more->count;
	struct lt_account_sum *const all = calloc(room, sizeof(*all));
	uint32_t i = 0, k = 0, count = 0;

	if (all == NULL)
		return false;
	while (i < into->count || k < more->count) {
		const int order = i == into->count   ? 1
				  : k == more->count ? -1
						     : compare(&into->items[i],
							   &more->items[k]);
		struct lt_account_sum *const sum = &all[count++];

		*sum = order <= 0 ? into->items[i++] : more->items[k++];
		if (order != 0)
			continue;
		const struct lt_account_sum *const add = &more->items[k++];

		if (__builtin_add_overflow(sum->money_micros, add->money_micros,
			&sum->money_micros) ||
		    __builtin_add_overflow(
			sum->carbon_mg, add->carbon_mg, &sum->carbon_mg)) {
			free(all);
			return false;
		}
	}
	free(into->items);
	*into = (struct lt_sums){.items = all, .count = count};
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

/* last: of the entries there are now. */
static int
carry_on(struct lt_ledger *ledger, struct lt_kept_span *kept, int64_t last,
    struct lt_error *err)
{
	struct lt_sums more;
	int code = lt_sums_read(ledger,
	    LT_BIND(LT_SQL_SUMS_SINCE, LT_INT(kept->span.from_utc_s),
		LT_INT(kept->span.to_utc_s), LT_INT(kept->last_entry),
		LT_INT(last)),
	    &more, err);

	if (code == LT_OK && more.count > 0 && !merge(&kept->sums, &more))
		code = lt_fail(err, LT_EOVERFLOW,
		    "ledger: sums of a period pass 64 bits, or no memory");
	free(more.items);
	return code;
}

int
lt_kept_sums(struct lt_ledger *ledger, struct lt_span span,
    struct lt_bound whole, struct lt_sums *sums, struct lt_error *err)
{
	struct lt_kept *const all = &ledger->kept;
	int64_t version = 0, last = 0;
	int code = lt_row_one(
	    ledger, LT_PLAIN(LT_SQL_DATA_VERSION), read_number, &version, err);

	if (code >= 0)
		code = lt_row_one(ledger, LT_PLAIN(LT_SQL_LAST_ENTRY),
		    read_number, &last, err);
	if (code < 0)
		return code;
	if (version != all->data_version)
		lt_kept_drop(ledger);
	all->data_version = version;
	struct lt_kept_span *const kept = find(all, span);

	code = LT_OK;
	if (kept->asked == 0)
		code = lt_sums_read(ledger, whole, &kept->sums, err);
	else if (last != kept->last_entry)
		code = carry_on(ledger, kept, last, err);
	if (code != LT_OK) {
		drop(kept);
		return code;
	}
	kept->last_entry = last;
	kept->asked = ++all->asked;
	*sums = (struct lt_sums){.count = kept->sums.count};
	if (sums->count == 0)
		return LT_OK;
	sums->items = calloc(sums->count, sizeof(*sums->items));
	if (sums->items == NULL)
		return lt_fail(err, LT_ENOMEM, "ledger: no memory");
	memcpy(
	    sums->items, kept->sums.items, sums->count * sizeof(*sums->items));
	return LT_OK;
}
