/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>

#include "known_names.h"
#include "log.h"
#include "tables.h"
#include "unknown_names.h"

static void
tell(void *context, const struct lt_unknown_name *unknown)
{
	(void)context;
	lt_log("unknown_name", "error=\"%s\"", unknown->text);
}

void
lt_unknown_names_log(
    const struct lt_policy *policy, const struct lt_tables *tables)
{
	const struct lt_unknown_teller teller = {.tell = tell};
	struct lt_batch_qoses qoses = {0};
	struct lt_error err = {0};

	if (lt_batch_qoses(&qoses, &err) != LT_OK)
		qoses.are_known = false;
	const char **const names =
	    calloc((size_t)tables->partition_count + tables->account_count +
		       qoses.count + 3,
		sizeof(*names));
	if (names != NULL) {
		const char **const accounts =
		    names + tables->partition_count + 1;
		const char **const of_qos =
		    accounts + tables->account_count + 1;

		for (uint32_t i = 0; i < tables->partition_count; i++)
			names[i] = tables->partitions[i].name;
		for (uint32_t i = 0; i < tables->account_count; i++)
			accounts[i] = tables->accounts[i].name;
		for (uint32_t i = 0; i < qoses.count; i++)
			of_qos[i] = qoses.names[i];
		(void)lt_policy_unknown_names(policy,
		    &(struct lt_known_names){.partitions = names,
			.accounts = tables->accounts != NULL ? accounts : NULL,
			.qoses = qoses.are_known ? of_qos : NULL},
		    &teller);
		free(names);
	}
	free(qoses.names);
}
