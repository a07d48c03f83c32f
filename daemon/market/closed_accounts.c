/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Accounts whose jobs no partition takes from another: written into the deny
 * lists, which the decision asks for every move and for nothing else.
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

static int
compare_accounts(const void *left, const void *right)
{
	const struct lt_batch_pair *const *const a = left, *const *const b =
							       right;

	return strcmp((*a)->account, (*b)->account);
}

/* Accounts with an association of a single partition, ",a,b"; malloc'd, NULL
 * without memory. */
static char *
tied_accounts(const struct lt_tables *tables)
{
	const struct lt_batch_pair **const tied = calloc(
	    (size_t)tables->pair_count + 1, sizeof(struct lt_batch_pair *));
	uint32_t count = 0;
	size_t size = 1, used = 0;

	for (uint32_t i = 0; tied != NULL && i < tables->pair_count; i++)
		if (tables->pairs[i].by_partition) {
			tied[count++] = &tables->pairs[i];
			size += strlen(tables->pairs[i].account) + 1;
		}
	char *const text = tied != NULL ? calloc(1, size) : NULL;

	if (text != NULL)
		qsort(tied, count, sizeof(struct lt_batch_pair *),
		    compare_accounts);
	for (uint32_t i = 0; text != NULL && i < count; i++)
		if (i == 0 ||
		    strcmp(tied[i]->account, tied[i - 1]->account) != 0)
			used += (size_t)snprintf(
			    text + used, size - used, ",%s", tied[i]->account);
	free(tied);
	return text;
}

static void
put_denied(FILE *out, const struct lt_tables *tables, const char *own,
    const struct lt_batch_account **sorted)
{
	(void)fputs(own, out);
	for (uint32_t i = 0; own[0] != '\0' && i < tables->account_count; i++)
		if (is_below(&tables->accounts[i], own, sorted,
			tables->account_count))
			(void)fprintf(out, ",%s", tables->accounts[i].name);
}

int
lt_close_accounts(struct lt_tables *tables, struct lt_error *err)
{
	const struct lt_batch_account **const sorted = sorted_accounts(tables);
	char *const tied = tied_accounts(tables);
	char *text = NULL;
	size_t size = 0;
	FILE *const out = open_memstream(&text, &size);

	for (uint32_t i = 0; out != NULL && sorted != NULL && tied != NULL &&
			     i < tables->partition_count;
	     i++) {
		put_denied(
		    out, tables, tables->partitions[i].deny_accounts, sorted);
		(void)fputs(tied, out);
		(void)fputc('\0', out);
	}
	const bool made =
	    out != NULL && fclose(out) == 0 && sorted != NULL && tied != NULL;

	free(sorted);
	free(tied);
	if (!made) {
		free(text);
		return lt_fail(err, LT_ENOMEM, "deny lists: out of memory");
	}
	free(tables->denied);
	tables->denied = text;
	for (uint32_t i = 0; i < tables->partition_count; i++) {
		tables->partitions[i].deny_accounts = text;
		text += strlen(text) + 1;
	}
	return LT_OK;
}
