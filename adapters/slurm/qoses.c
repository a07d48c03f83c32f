/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The names of all QOS, for what the policy says of them.
 */
#include <stdlib.h>

#include "batch.h"
#include "dbd_link.h"
#include "slurm_text.h"

int
lt_batch_qoses(struct lt_batch_qoses *all, struct lt_error *err)
{
	slurmdb_qos_cond_t condition = {0};
	struct lt_dbd_link link;
	lt_slurm_list *list = NULL;
	int rc = lt_dbd_open(&link, err);

	*all = (struct lt_batch_qoses){.are_known = true};
	if (rc == LT_OK) {
		list = slurmdb_qos_get(link.connection, &condition);
		if (list == NULL)
			rc = lt_slurm_fail("slurmdbd: QOS", errno, err);
	}
	if (rc == LT_OK) {
		all->names = calloc(
		    (size_t)slurm_list_count(list) + 1, sizeof(*all->names));
		if (all->names == NULL)
			rc = lt_fail(err, LT_ENOMEM, "QOS: out of memory");
	}
	if (rc == LT_OK) {
		lt_slurm_iterator *const iterator =
		    slurm_list_iterator_create(list);

		for (slurmdb_qos_rec_t *qos;
		     (qos = slurm_list_next(iterator)) != NULL;)
			lt_copy(all->names[all->count++], sizeof(all->names[0]),
			    qos->name);
		slurm_list_iterator_destroy(iterator);
	}
	if (list != NULL)
		slurm_list_destroy(list);
	lt_dbd_close(&link);
	return rc;
}
