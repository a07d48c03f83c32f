/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Below which account a new one was made, by slurmdbd's transactions: a
 * coordinator may make it below his own, and move it before anybody looks. The
 * move itself is no transaction.
 */
#include <errno.h>

#include "dbd_link.h"
#include "slurm_text.h"

/* The last time it was made counts. */
static void
find_birth(struct lt_batch_account *account, lt_slurm_list *transactions)
{
	lt_slurm_iterator *const iterator =
	    slurm_list_iterator_create(transactions);
	time_t last = 0;

	account->parent[0] = '\0';
	for (slurmdb_txn_rec_t *made;
	     (made = slurm_list_next(iterator)) != NULL;)
		if (made->timestamp >= last &&
		    lt_birth_parent(
			account->parent, made->set_info, account->name))
			last = made->timestamp;
	slurm_list_iterator_destroy(iterator);
}

int
lt_batch_births(struct lt_batch_account *accounts, uint32_t count,
    int64_t since_utc_s, struct lt_error *err)
{
	slurmdb_txn_cond_t condition = {.time_start = since_utc_s};
	lt_slurm_list *transactions = NULL;
	struct lt_dbd_link link;
	int rc = lt_dbd_open(&link, err);

	if (rc == LT_OK) {
		condition.cluster_list = link.clusters;
		transactions = slurmdb_txn_get(link.connection, &condition);
		if (transactions == NULL)
			rc =
			    lt_slurm_fail("slurmdbd: transactions", errno, err);
		/* slurmdbd answers with an empty list where it can't
		 * read its table. */
		else if (count > 0 && slurm_list_count(transactions) == 0)
			rc = lt_fail(err, LT_ENET,
			    "slurmdbd: transactions: none, though accounts were added");
	}
	for (uint32_t i = 0; rc == LT_OK && i < count; i++)
		find_birth(&accounts[i], transactions);
	if (transactions != NULL)
		slurm_list_destroy(transactions);
	lt_dbd_close(&link);
	return rc;
}
