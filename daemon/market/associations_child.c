/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Through the pipe: a head, which is the struct with its counts, then the
 * arrays, which hold no pointers.
 */
#include <stdlib.h>
#include <string.h>

#include "associations_child.h"
#include "breath.h"
#include "child.h"

struct head {
	int code;
	struct lt_error err;
	struct lt_batch_associations all; /* its pointers are the child's */
};

static void
read_all(void *work, int fd)
{
	struct head head = {0};
	const struct lt_batch_associations *const all = &head.all;

	(void)work;
	lt_batch_may_wait();
	head.code = lt_batch_associations(&head.all, &head.err);
	if (lt_child_write(fd, &head, sizeof(head)) &&
	    lt_child_write(fd, all->accounts,
		all->account_count * sizeof(*all->accounts)) &&
	    lt_child_write(
		fd, all->pairs, all->pair_count * sizeof(*all->pairs)))
		(void)lt_child_write(
		    fd, all->ties, all->tie_count * sizeof(*all->ties));
}

/* Copies the next array out of the child's bytes; NULL: they end before its
 * end, or there is no memory. */
static void *
take(const struct lt_child *child, size_t *at, uint32_t count, size_t size)
{
	const size_t length = count * size;

	if (child->length - *at < length)
		return NULL;
	void *const items = malloc(length + 1);
	if (items != NULL && length > 0)
		memcpy(items, child->bytes + *at, length);
	*at += length;
	return items;
}

static int
take_all(struct lt_batch_associations *all, const struct lt_child *child,
    struct lt_error *err)
{
	struct head head;
	size_t at = sizeof(head);

	if (child->length < sizeof(head))
		return lt_fail(
		    err, LT_ENET, "slurmdbd: associations: no answer");
	memcpy(&head, child->bytes, sizeof(head));
	if (head.code != LT_OK)
		return lt_fail(err, head.code, "%s", head.err.text);
	*all = head.all;
	all->accounts =
	    take(child, &at, all->account_count, sizeof(*all->accounts));
	all->pairs = take(child, &at, all->pair_count, sizeof(*all->pairs));
	all->ties = take(child, &at, all->tie_count, sizeof(*all->ties));
	return all->accounts != NULL && all->pairs != NULL && all->ties != NULL
		   ? LT_OK
		   : lt_fail(err, LT_ENET,
			 "slurmdbd: associations: not all of them came");
}

int
lt_child_associations(struct lt_batch_associations *all, struct lt_error *err)
{
	struct lt_child child = {.fd = -1};
	int status;

	if (lt_batch_is_near())
		return lt_batch_associations(all, err);
	*all = (struct lt_batch_associations){0};
	int code =
	    lt_child_start(&child, read_all, NULL, LT_ASSOCIATIONS_S, err);
	if (code != LT_OK)
		return code;
	do
		lt_breath_until(LT_TURN_COMMITTED, child.fd);
	while (!lt_child_read(&child, &status));
	code = take_all(all, &child, err);
	lt_child_drop(&child);
	if (code != LT_OK)
		lt_batch_associations_free(all);
	return code;
}

struct births {
	struct lt_batch_account *accounts;
	int64_t since_utc_s;
	uint32_t count;
};
struct births_head {
	int code;
	struct lt_error err;
};

static void
read_births(void *work, int fd)
{
	const struct births *const asked = work;
	struct births_head head = {0};

	head.code = lt_batch_births(
	    asked->accounts, asked->count, asked->since_utc_s, &head.err);
	if (lt_child_write(fd, &head, sizeof(head)))
		(void)lt_child_write(fd, asked->accounts,
		    asked->count * sizeof(*asked->accounts));
}

int
lt_child_births(struct lt_batch_account *accounts, uint32_t count,
    int64_t since_utc_s, struct lt_error *err)
{
	struct births asked = {accounts, since_utc_s, count};
	const size_t wanted = count * sizeof(*accounts);
	struct births_head head = {.code = LT_ENET};
	struct lt_child child = {.fd = -1};
	int status;

	if (lt_batch_is_near())
		return lt_batch_births(accounts, count, since_utc_s, err);
	int code =
	    lt_child_start(&child, read_births, &asked, LT_BIRTHS_S, err);
	if (code != LT_OK)
		return code;
	do
		lt_breath_until(LT_TURN_COMMITTED, child.fd);
	while (!lt_child_read(&child, &status));
	if (child.length >= sizeof(head))
		memcpy(&head, child.bytes, sizeof(head));
	if (child.length < sizeof(head) ||
	    (head.code == LT_OK && child.length - sizeof(head) != wanted))
		code =
		    lt_fail(err, LT_ENET, "slurmdbd: transactions: no answer");
	else if (head.code != LT_OK)
		code = lt_fail(err, head.code, "%s", head.err.text);
	else
		memcpy(accounts, child.bytes + sizeof(head), wanted);
	lt_child_drop(&child);
	return code;
}
