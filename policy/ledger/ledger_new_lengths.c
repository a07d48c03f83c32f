/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Most runs of a transaction are of few groups: all are kept until its end, then what stays of them
 * is written (ledger_lengths.c reads it), and each group once.
 */
#include <stdlib.h>
#include <string.h>

#include "grow.h"
#include "ledger_db.h"

/* But its key. LENGTH_PUT has the places of uid and end_utc_s. */
#define LENGTH(column, member) LT_DB_COLUMN(struct lt_length, column, member)
static const struct lt_db_column length_list[] = {
    {LENGTH("kind", kinds[LT_HISTORY_NAME].key.hash)},
    {LENGTH("uid", kinds[LT_HISTORY_NAME].key.uid)},
    {LENGTH("account", kinds[LT_HISTORY_NAME].account)},
    {LENGTH("end_utc_s", kinds[LT_HISTORY_NAME].last_utc_s)},
    {LENGTH("length_s", length.length_s)},
    {LENGTH("limit_s", length.limit_s)},
    {LENGTH("at_least", length.at_least)},
    {LENGTH("gpu", gpu)},
    {LENGTH("gpu_length_s", gpu_length_s)},
    {LENGTH("band", kinds[LT_HISTORY_USER].band)},
};
static const struct lt_db_columns length_columns = {LT_DB_COLUMNS(struct lt_length, length_list)};

static int
put_kind(struct lt_ledger *ledger, const struct lt_kind *kind, struct lt_error *err)
{
	const int rc = lt_sql_do(ledger,
	    LT_BIND(LT_SQL_KIND_PUT, LT_INT(kind->key.hash), LT_INT(kind->key.uid),
		LT_INT(kind->group), LT_TEXT(kind->account), LT_TEXT(kind->name),
		LT_INT(kind->nodes), LT_INT(kind->cpus), LT_INT(kind->gpus),
		LT_INT(kind->last_utc_s), LT_INT(kind->band)),
	    err);

	return rc == LT_OK && kind->group == LT_HISTORY_NAME
		   ? lt_sql_do(ledger,
			 LT_BIND(LT_SQL_LENGTHS_TRIM, LT_INT(kind->key.hash), LT_INT(kind->key.uid),
			     LT_INT(LT_RUNS_OF_NAME)),
			 err)
		   : rc;
}

enum { KIND_PLACES = 64 };
struct kinds {
	struct lt_kind places[KIND_PLACES]; /* by hash, one each; 0: none */
};

/* Notes a kind with the last of its runs, as KIND_PUT would leave it. */
static int
note_kind(
    struct lt_ledger *ledger, struct kinds *kinds, const struct lt_kind *kind, struct lt_error *err)
{
	const uint64_t spread = kind->key.hash ^ kind->key.uid;
	struct lt_kind *const place = &kinds->places[spread % KIND_PLACES];
	int rc = LT_OK;

	if (place->key.hash == kind->key.hash && place->key.uid == kind->key.uid) {
		if (kind->last_utc_s >= place->last_utc_s)
			*place = *kind;
		return LT_OK;
	}
	if (place->key.hash != 0)
		rc = put_kind(ledger, place, err);
	if (rc == LT_OK)
		*place = *kind;
	return rc;
}

static int
put_kinds(struct lt_ledger *ledger, const struct kinds *kinds, struct lt_error *err)
{
	int rc = LT_OK;

	for (int i = 0; rc == LT_OK && i < KIND_PLACES; i++)
		if (kinds->places[i].key.hash != 0)
			rc = put_kind(ledger, &kinds->places[i], err);
	return rc;
}

/* Returns 1 if it changes what is known. A length that does not stay is one that TRIM would
 * drop. */
static int
put_length(
    struct lt_ledger *ledger, const struct lt_length *length, bool stays, struct lt_error *err)
{
	if (!stays && length->is_new)
		return 0;
	return lt_sql_get(ledger,
	    stays ? LT_BIND_RECORD(LT_SQL_LENGTH_PUT, &length_columns, length,
			LT_INT(length->run.job_id), LT_INT(length->run.submit_utc_s))
		  : LT_BIND(LT_SQL_LENGTH_DROP, LT_INT(length->run.job_id),
			LT_INT(length->run.submit_utc_s)),
	    NULL, NULL, err);
}

/* Orders by name and shape, the newest first. */
static int
by_name(const void *a, const void *b)
{
	const struct lt_length *const x = a, *const y = b;
	const struct lt_kind *const p = &x->kinds[LT_HISTORY_NAME];
	const struct lt_kind *const q = &y->kinds[LT_HISTORY_NAME];

	if (p->key.hash != q->key.hash)
		return p->key.hash < q->key.hash ? -1 : 1;
	if (p->key.uid != q->key.uid)
		return p->key.uid < q->key.uid ? -1 : 1;
	return (p->last_utc_s < q->last_utc_s) - (p->last_utc_s > q->last_utc_s);
}

static bool
is_same_name(const struct lt_length *a, const struct lt_length *b)
{
	const struct lt_history_key *const p = &a->kinds[LT_HISTORY_NAME].key;
	const struct lt_history_key *const q = &b->kinds[LT_HISTORY_NAME].key;

	return p->hash == q->hash && p->uid == q->uid;
}

int
lt_lengths_put(
    struct lt_ledger *ledger, const struct lt_length *lengths, uint32_t count, struct lt_error *err)
{
	struct kinds *const kinds = calloc(1, sizeof(*kinds));
	uint32_t newer = 0;
	int rc = LT_OK;

	if (kinds == NULL)
		return lt_fail(err, LT_ENOMEM, "ledger: no memory for groups");
	for (uint32_t i = 0; rc == LT_OK && i < count; i++) {
		const struct lt_length *const length = &lengths[i];

		if (i > 0 && !is_same_name(length, length - 1))
			newer = 0;
		const bool stays = !length->is_short && newer++ < LT_RUNS_OF_NAME;
		const int changed = put_length(ledger, length, stays, err);
		rc = changed < 0 ? changed : LT_OK;
		for (int k = 0; rc == LT_OK && changed == 1 && k < LT_HISTORY_GROUPS; k++)
			rc = note_kind(ledger, kinds, &length->kinds[k], err);
	}
	if (rc == LT_OK)
		rc = put_kinds(ledger, kinds, err);
	free(kinds);
	return rc;
}

int
lt_lengths_write(struct lt_ledger *ledger, struct lt_error *err)
{
	struct lt_new_lengths *const all = &ledger->new_lengths;

	if (all->count == 0)
		return LT_OK;
	qsort(all->items, all->count, sizeof(*all->items), by_name);
	const int rc = lt_lengths_put(ledger, all->items, all->count, err);
	/* A refused row stays, for then the commit is refused too. */
	if (rc == LT_OK)
		lt_lengths_drop(ledger);
	return rc;
}

void
lt_lengths_drop(struct lt_ledger *ledger)
{
	free(ledger->new_lengths.items);
	ledger->new_lengths = (struct lt_new_lengths){0};
}

int
lt_lengths_keep(struct lt_ledger *ledger, const struct lt_length *length, struct lt_error *err)
{
	struct lt_new_lengths *const all = &ledger->new_lengths;
	const int rc = all->count < LT_NEW_LENGTHS_MAX ? LT_OK : lt_lengths_write(ledger, err);

	if (rc != LT_OK)
		return rc;
	struct lt_length *const grown =
	    lt_items_grow(all->items, &all->capacity, all->count, sizeof(*grown));
	if (grown == NULL)
		return lt_fail(err, LT_ENOMEM, "ledger: no memory for lengths");
	all->items = grown;
	all->items[all->count++] = *length;
	return LT_OK;
}
