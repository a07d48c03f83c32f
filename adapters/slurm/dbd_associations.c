/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Associations of slurmdbd: who belongs to which account.
 */
#include <errno.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>

#include "dbd_link.h"
#include "slurm_text.h"

/* The name's uid; the last one is kept, users come in blocks. */
static bool
uid_of(const char *user, uint32_t *uid)
{
	static char known_name[LT_NAME_SIZE];
	static uint32_t known_uid;
	char buffer[4096];
	struct passwd entry, *found = NULL;

	if (known_name[0] != '\0' && strcmp(user, known_name) == 0) {
		*uid = known_uid;
		return true;
	}
	if (getpwnam_r(user, &entry, buffer, sizeof(buffer), &found) != 0 ||
	    found == NULL)
		return false;
	lt_copy(known_name, sizeof(known_name), user);
	*uid = known_uid = entry.pw_uid;
	return true;
}

static int
compare_pairs(const void *left, const void *right)
{
	const struct lt_batch_pair *const a = left, *const b = right;

	if (a->uid != b->uid)
		return a->uid < b->uid ? -1 : 1;
	return strcmp(a->account, b->account);
}

/* A user may have one association per partition: one pair all the same. */
static void
merge_pairs(struct lt_batch_associations *all)
{
	uint32_t kept = 0;

	if (all->pair_count > 1)
		qsort(all->pairs, all->pair_count, sizeof(*all->pairs),
		    compare_pairs);
	for (uint32_t i = 0; i < all->pair_count; i++) {
		if (kept > 0 &&
		    compare_pairs(&all->pairs[kept - 1], &all->pairs[i]) == 0)
			all->pairs[kept - 1].is_default |=
			    all->pairs[i].is_default;
		else
			all->pairs[kept++] = all->pairs[i];
	}
	all->pair_count = kept;
}

static void
add_association(
    struct lt_batch_associations *all, const slurmdb_assoc_rec_t *from)
{
	if (from->acct == NULL || strlen(from->acct) >= LT_ACCOUNT_SIZE)
		return;
	if (from->user == NULL || from->user[0] == '\0') {
		struct lt_batch_account *const to =
		    &all->accounts[all->account_count++];

		lt_copy_lower(to->name, sizeof(to->name), from->acct);
		lt_copy_lower(
		    to->parent, sizeof(to->parent), from->parent_acct);
		return;
	}
	struct lt_batch_pair pair = {.is_default = from->is_def == 1};
	if (strlen(from->user) >= sizeof(pair.user) ||
	    !uid_of(from->user, &pair.uid)) {
		all->unknown_users++;
		return;
	}
	lt_copy(pair.user, sizeof(pair.user), from->user);
	lt_copy_lower(pair.account, sizeof(pair.account), from->acct);
	all->pairs[all->pair_count++] = pair;
}

static int
copy_associations(struct lt_batch_associations *all, lt_slurm_list *list,
    struct lt_error *err)
{
	const size_t count = (size_t)slurm_list_count(list) + 1;

	all->accounts = calloc(count, sizeof(*all->accounts));
	all->pairs = calloc(count, sizeof(*all->pairs));
	if (all->accounts == NULL || all->pairs == NULL)
		return lt_fail(
		    err, LT_ENOMEM, "associations: no memory for %zu", count);
	lt_slurm_iterator *const iterator = slurm_list_iterator_create(list);
	for (slurmdb_assoc_rec_t *record;
	     (record = slurm_list_next(iterator)) != NULL;)
		add_association(all, record);
	slurm_list_iterator_destroy(iterator);
	merge_pairs(all);
	return LT_OK;
}

int
lt_batch_associations(struct lt_batch_associations *all, struct lt_error *err)
{
	slurmdb_assoc_cond_t condition = {0};
	struct lt_dbd_link link;
	lt_slurm_list *list = NULL;
	int rc = lt_dbd_open(&link, err);

	*all = (struct lt_batch_associations){0};
	if (rc == LT_OK) {
		condition.cluster_list = link.clusters;
		list = slurmdb_associations_get(link.connection, &condition);
		if (list == NULL)
			rc =
			    lt_slurm_fail("slurmdbd: associations", errno, err);
	}
	if (rc == LT_OK)
		rc = copy_associations(all, list, err);
	if (rc == LT_OK)
		all->private_data = lt_private_dbd(link.connection);
	if (list != NULL)
		slurm_list_destroy(list);
	lt_dbd_close(&link);
	if (rc != LT_OK)
		lt_batch_associations_free(all);
	return rc;
}
