/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Accounts whose jobs no partition takes from another: written into the deny
 * lists, which the decision asks for every move and for nothing else. And those
 * whose jobs without --qos a partition's lists of QOS take.
 */
#include "closed_accounts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "text.h"

static int
compare_names(const void *left, const void *right)
{
	const struct lt_batch_account *const *const a = left, *const *const b =
								  right;

	return strcmp((*a)->name, (*b)->name);
}

/* All accounts by name; malloc'd, NULL without memory. */
static const struct lt_batch_account **
sorted_accounts(const struct lt_tables *tables)
{
	const struct lt_batch_account **const sorted =
	    calloc((size_t)tables->account_count + 1,
		sizeof(struct lt_batch_account *));

	for (uint32_t i = 0; sorted != NULL && i < tables->account_count; i++)
		sorted[i] = &tables->accounts[i];
	if (sorted != NULL)
		qsort(sorted, tables->account_count,
		    sizeof(struct lt_batch_account *), compare_names);
	return sorted;
}

/* Is the account, or one above it, in the list? */
static bool
is_below(const struct lt_batch_account *account, const char *list,
    const struct lt_batch_account **sorted, uint32_t count)
{
	for (uint32_t levels = 0; levels < count; levels++) {
		if (lt_text_is_among(account->name, list))
			return true;

		struct lt_batch_account wanted;
		const struct lt_batch_account *const key = &wanted;

		memcpy(wanted.name, account->parent, sizeof(wanted.name));
		const struct lt_batch_account **const parent =
		    bsearch(&key, sorted, count, sizeof(key), compare_names);
		if (parent == NULL)
			return false;
		account = *parent;
	}
	return false;
}

/* An account, by all of its pairs. */
struct used_account {
	const char *name;
	const char *default_qos; /* "" = not known, or not the same for all */
	bool is_tied;		 /* a user may only be in some partitions */
};

static int
compare_used(const void *left, const void *right)
{
	const struct used_account *const a = left, *const b = right;

	return strcmp(a->name, b->name);
}

struct used_accounts {
	struct used_account *items;
	uint32_t count;
};

/* Each account that has users, once, by name; malloc'd, NULL without memory. */
static struct used_accounts
used_accounts(const struct lt_tables *tables)
{
	uint32_t count = 0;
	struct used_account *const all =
	    calloc((size_t)tables->pair_count + 1, sizeof(*all));

	if (all == NULL)
		return (struct used_accounts){0};
	for (uint32_t i = 0; i < tables->pair_count; i++)
		all[i] = (struct used_account){tables->pairs[i].account,
		    tables->pairs[i].default_qos,
		    tables->pairs[i].by_partition};
	qsort(all, tables->pair_count, sizeof(*all), compare_used);
	for (uint32_t i = 0; i < tables->pair_count; i++) {
		struct used_account *const last =
		    count > 0 ? &all[count - 1] : NULL;

		if (last == NULL || strcmp(last->name, all[i].name) != 0) {
			all[count++] = all[i];
			continue;
		}
		last->is_tied |= all[i].is_tied;
		if (strcmp(last->default_qos, all[i].default_qos) != 0)
			last->default_qos = "";
	}
	return (struct used_accounts){all, count};
}

/* slurm.conf's own, those below them, all that are tied, and those that have
 * associations of this partition, which other limits may be set for. */
static void
put_denied(FILE *out, const struct lt_tables *tables,
    const struct lt_partition *partition,
    const struct lt_batch_account **sorted, const struct used_accounts *used)
{
	const char *const own = partition->deny_accounts;

	(void)fputs(own, out);
	for (uint32_t i = 0; own[0] != '\0' && i < tables->account_count; i++)
		if (is_below(&tables->accounts[i], own, sorted,
			tables->account_count))
			(void)fprintf(out, ",%s", tables->accounts[i].name);
	for (uint32_t i = 0; i < used->count; i++)
		if (used->items[i].is_tied)
			(void)fprintf(out, ",%s", used->items[i].name);
	for (uint32_t i = 0; i < tables->tie_count; i++)
		if (strcmp(tables->ties[i].partition, partition->name) == 0)
			(void)fprintf(out, ",%s", tables->ties[i].account);
	(void)fputc('\0', out);
}

/* Those whose default QOS its lists let in; none where it has no such list. */
static void
put_qos_accounts(FILE *out, const struct lt_partition *partition,
    const struct used_accounts *used)
{
	const char *const allow = partition->allow_qos;
	const char *const deny = partition->deny_qos;

	for (uint32_t i = 0; i < used->count; i++)
		if ((allow[0] != '\0' &&
			lt_text_is_among(used->items[i].default_qos, allow)) ||
		    (deny[0] != '\0' && used->items[i].default_qos[0] != '\0' &&
			!lt_text_is_among(used->items[i].default_qos, deny)))
			(void)fprintf(out, "%s,", used->items[i].name);
	(void)fputc('\0', out);
}

int
lt_close_accounts(struct lt_tables *tables, struct lt_error *err)
{
	const struct lt_batch_account **const sorted = sorted_accounts(tables);
	const struct used_accounts used = used_accounts(tables);
	char *text = NULL;
	size_t size = 0;
	FILE *const out = open_memstream(&text, &size);

	for (uint32_t i = 0; out != NULL && sorted != NULL &&
			     used.items != NULL && i < tables->partition_count;
	     i++) {
		const struct lt_partition *const p = &tables->partitions[i];

		put_denied(out, tables, p, sorted, &used);
		put_qos_accounts(out, p, &used);
	}
	const bool made = out != NULL && fclose(out) == 0 && sorted != NULL &&
			  used.items != NULL;

	free(sorted);
	free(used.items);
	if (!made) {
		free(text);
		return lt_fail(err, LT_ENOMEM, "deny lists: out of memory");
	}
	free(tables->closed);
	tables->closed = text;
	for (uint32_t i = 0; i < tables->partition_count; i++) {
		struct lt_partition *const p = &tables->partitions[i];

		p->deny_accounts = text;
		text += strlen(text) + 1;
		p->qos_accounts = text;
		text += strlen(text) + 1;
	}
	return LT_OK;
}
