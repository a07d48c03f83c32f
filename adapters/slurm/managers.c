/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who may change jobs of others, as slurmctld decides by it: its own memory of
 * slurmdbd's users, in one question however many they are.
 */
#include <errno.h>
#include <stdlib.h>

#include "compat.h"
#include "slurm_text.h"

/* One row for an operator, for a coordinator one an account. */
static size_t
rows_of(const slurmdb_user_rec_t *user)
{
	return 1 + (user->coord_accts == NULL
			   ? 0
			   : (size_t)slurm_list_count(user->coord_accts));
}

static void
add_user(struct lt_batch_manager *managers, uint32_t *count,
    const slurmdb_user_rec_t *user)
{
	if (user->uid == NO_VAL)
		return; /* nobody of this system */
	if (user->admin_level >= SLURMDB_ADMIN_OPERATOR) {
		managers[(*count)++].uid = user->uid;
		return;
	}
	if (user->coord_accts == NULL)
		return;
	lt_slurm_iterator *const iterator =
	    slurm_list_iterator_create(user->coord_accts);
	for (slurmdb_coord_rec_t *coord;
	     (coord = slurm_list_next(iterator)) != NULL;) {
		struct lt_batch_manager *const to = &managers[*count];

		if (coord->name == NULL || coord->name[0] == '\0')
			continue;
		lt_copy_lower(to->account, sizeof(to->account), coord->name);
		to->uid = user->uid;
		++*count;
	}
	slurm_list_iterator_destroy(iterator);
}

static int
copy_users(struct lt_batch_manager **managers, uint32_t *count,
    lt_slurm_list *users, struct lt_error *err)
{
	size_t rows = 1;
	lt_slurm_iterator *const iterator = slurm_list_iterator_create(users);
	slurmdb_user_rec_t *user;

	while ((user = slurm_list_next(iterator)) != NULL)
		rows += rows_of(user);
	slurm_list_iterator_reset(iterator);
	*managers = calloc(rows, sizeof(**managers));
	while (*managers != NULL && (user = slurm_list_next(iterator)) != NULL)
		add_user(*managers, count, user);
	slurm_list_iterator_destroy(iterator);
	return *managers != NULL ? LT_OK
				 : lt_fail(err, LT_ENOMEM,
				       "managers: no memory for %zu", rows);
}

int
lt_batch_managers(
    struct lt_batch_manager **managers, uint32_t *count, struct lt_error *err)
{
	assoc_mgr_info_request_msg_t request = {
	    .flags = ASSOC_MGR_INFO_FLAG_USERS};
	assoc_mgr_info_msg_t *answer = NULL;
	int rc = lt_slurm_answers(err);

	*managers = NULL;
	*count = 0;
	if (rc != LT_OK)
		return rc;
	if (slurm_load_assoc_mgr_info(&request, &answer) != SLURM_SUCCESS ||
	    answer == NULL)
		return lt_slurm_fail("slurmctld: users", errno, err);
	if (answer->user_list != NULL)
		rc = copy_users(managers, count, answer->user_list, err);
	slurm_free_assoc_mgr_info_msg(answer);
	return rc;
}
