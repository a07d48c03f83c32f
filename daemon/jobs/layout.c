/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "layout.h"

/* Or the pool would not align it. */
_Static_assert(sizeof(struct lt_batch_asked) % 8 == 0, "of whole words");
#define TEXT(member)                                                           \
	{                                                                      \
		.at = offsetof(struct lt_batch_job, member)                    \
	}
/* What is no text comes first: there it is aligned. */
const struct lt_layout lt_layout_of_job = {sizeof(struct lt_batch_job), 15,
    {{.at = offsetof(struct lt_batch_job, asked),
	 .size = sizeof(struct lt_batch_asked)},
	TEXT(user), TEXT(account), TEXT(qos), TEXT(partition), TEXT(name),
	TEXT(state_text), TEXT(reason_text), TEXT(node_list),
	TEXT(comment_head), TEXT(array_tasks), TEXT(wishes), TEXT(req_nodes),
	TEXT(mail_to),
	{.at = offsetof(struct lt_batch_job, admin_comment), .is_own = true}}};
const struct lt_layout lt_layout_of_run = {sizeof(struct lt_batch_run), 1,
    {{.at = offsetof(struct lt_batch_run, admin_comment), .is_own = true}}};

const void *
lt_part_get(const void *record, const struct lt_part *part)
{
	const void *at;

	memcpy(&at, (const char *)record + part->at, sizeof(at));
	return at;
}

void
lt_part_set(void *record, const struct lt_part *part, const void *at)
{
	memcpy((char *)record + part->at, &at, sizeof(at));
}

size_t
lt_part_length(const void *at, const struct lt_part *part)
{
	if (at == NULL)
		return 0;
	return part->size > 0 ? part->size : strlen(at) + 1;
}

const void *
lt_part_pool(struct lt_pool **pool, const struct lt_part *part, const void *at)
{
	const size_t length = lt_part_length(at, part);

	return part->is_own ? lt_pool_add(pool, at, length)
			    : lt_pool_share(pool, at, length);
}
