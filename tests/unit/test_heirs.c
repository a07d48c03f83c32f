/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A deleted account stays below the nearest account above it that is left.
 */
#include "ledger_fixture.h"

#include "account_tree.h"

static struct lt_batch_account *
accounts_of(const char *const (*tree)[2], uint32_t count)
{
	struct lt_batch_account *const list = calloc(count, sizeof(*list));

	assert_non_null(list);
	for (uint32_t i = 0; i < count; i++) {
		(void)strcpy(list[i].name, tree[i][0]);
		(void)strcpy(list[i].parent, tree[i][1]);
	}
	return list;
}

static void
add_heirs(struct fixture *f, struct lt_batch_account **list, uint32_t *count)
{
	struct lt_accounts_seen seen = {0};
	struct lt_batch_associations all = {.accounts = *list, .account_count = *count};

	must(f, lt_ledger_accounts(f->ledger, &seen.list, &seen.count, &f->err));
	must(f, lt_heirs_add(&all, f->ledger, &seen, NOVEMBER, &f->err));
	*list = all.accounts;
	*count = all.account_count;
	free(seen.list);
}

static void
charge_account(struct fixture *f, uint32_t job_id, const char *account)
{
	struct lt_run run = make_run(job_id, NOVEMBER, NOVEMBER + HOUR, 100);

	(void)strcpy(run.account, account);
	assert_true(settle(f, &run, NOVEMBER + 2 * HOUR, NOVEMBER));
}

static const char *
parent_in(const struct lt_batch_account *list, uint32_t count, const char *name)
{
	for (uint32_t i = 0; i < count; i++)
		if (strcmp(list[i].name, name) == 0)
			return list[i].parent;
	return NULL;
}

static void
deleted_accounts_keep_their_place(void **state)
{
	static const char *const before[][2] = {{"root", ""}, {"vision", "root"},
	    {"vision-a", "vision"}, {"deep", "vision-a"}, {"idle", "vision"}, {"nlp", "root"}};
	static const char *const after[][2] = {{"root", ""}, {"vision", "root"}, {"nlp", "root"}};
	static const char *const moved[][2] = {
	    {"root", ""}, {"vision", "root"}, {"nlp", "root"}, {"vision-a", "nlp"}};
	struct fixture *const f = *state;
	uint32_t count = 6;
	struct lt_batch_account *list = accounts_of(before, count);

	add_heirs(f, &list, &count);
	assert_int_equal(count, 6);
	free(list);
	charge_account(f, 1, "vision-a");
	charge_account(f, 2, "deep");
	/* All three below vision go; the one that was charged nothing is no line of any report. */
	count = 3;
	list = accounts_of(after, count);
	add_heirs(f, &list, &count);
	assert_int_equal(count, 5);
	assert_string_equal(parent_in(list, count, "vision-a"), "vision");
	assert_string_equal(parent_in(list, count, "deep"), "vision");
	assert_null(parent_in(list, count, "idle"));
	free(list);
	/* Each time anew, also over a restart. */
	reopen(f);
	count = 3;
	list = accounts_of(after, count);
	add_heirs(f, &list, &count);
	assert_int_equal(count, 5);
	free(list);
	/* Made again elsewhere: Slurm's tree counts. */
	count = 4;
	list = accounts_of(moved, count);
	add_heirs(f, &list, &count);
	assert_int_equal(count, 5);
	assert_string_equal(parent_in(list, count, "vision-a"), "nlp");
	assert_string_equal(parent_in(list, count, "deep"), "vision-a");
	free(list);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {EACH(deleted_accounts_keep_their_place)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
