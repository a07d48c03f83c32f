/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * PrivateData: slurm.conf has it as bits, slurmdbd tells its own as text.
 */
#include <string.h>

#include "compat.h"
#include "batch.h"
#include "slurm_text.h"

uint32_t
lt_private_conf(uint16_t bits)
{
	return ((bits & PRIVATE_DATA_JOBS) != 0 ? LT_PRIVATE_JOBS : 0u) |
	       ((bits & PRIVATE_DATA_USAGE) != 0 ? LT_PRIVATE_USAGE : 0u) |
	       ((bits & PRIVATE_DATA_ACCOUNTS) != 0 ? LT_PRIVATE_ACCOUNTS : 0u);
}

#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(26, 5, 0)
/* slurmdbd does not tell it any more: what sacctmgr shows as its own is
 * slurm.conf's. */
uint32_t
lt_private_dbd(void *connection)
{
	(void)connection;
	return 0;
}
#else
/* What slurmdbd's configuration says as text, "jobs,usage". */
static uint32_t
private_words(const char *text)
{
	return (strcasestr(text, "jobs") != NULL ? LT_PRIVATE_JOBS : 0u) |
	       (strcasestr(text, "usage") != NULL ? LT_PRIVATE_USAGE : 0u) |
	       (strcasestr(text, "accounts") != NULL ? LT_PRIVATE_ACCOUNTS
						     : 0u);
}

/* Not known: nothing is shown that any of it would hide. */
uint32_t
lt_private_dbd(void *connection)
{
	uint32_t bits = 0;
	lt_slurm_list *const list = slurmdb_config_get(connection);
	lt_slurm_config_pair *pair;

	if (list == NULL)
		return LT_PRIVATE_JOBS | LT_PRIVATE_USAGE | LT_PRIVATE_ACCOUNTS;
	lt_slurm_iterator *const iterator = slurm_list_iterator_create(list);
	while ((pair = slurm_list_next(iterator)) != NULL)
		if (pair->name != NULL && pair->value != NULL &&
		    strcasecmp(pair->name, "PrivateData") == 0)
			bits = private_words(pair->value);
	slurm_list_iterator_destroy(iterator);
	slurm_list_destroy(list);
	return bits;
}
#endif
