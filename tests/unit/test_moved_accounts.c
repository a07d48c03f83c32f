/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An account that is moved below another one stays with the budgets that bound
 * it until an admin accepts the move.
 */
#include "ledger_fixture.h"

#include "heirs.h"
#include "log.h"
#include "moved_accounts.h"

enum { ACCOUNTS = 6 };
typedef const char *tree[ACCOUNTS][2]; /* name, parent */

static tree before = {{"root", ""}, {"vision", "root"}, {"lab", "vision"},
    {"sub", "lab"}, {"nlp", "root"}, {"other", "root"}};

/* Reads a tree as lowtided does; the parent that counts for the account. */
static char *
parent_of(struct fixture *f, struct lt_moved_accounts *moved,
    const struct lt_policy *policy, tree now, const char *account)
{
	static char parent[LT_ACCOUNT_SIZE];
	uint32_t count = ACCOUNTS;
	struct lt_batch_account *list = calloc(count, sizeof(*list));

	assert_non_null(list);
	for (uint32_t i = 0; i < count; i++) {
		(void)strcpy(list[i].name, now[i][0]);
		(void)strcpy(list[i].parent, now[i][1]);
	}
	struct lt_accounts_seen seen = {0};

	must(f, lt_ledger_accounts(f->ledger, &seen.list, &seen.count, &f->err));
	must(f, lt_moved_keep(moved, list, count, &seen, policy));
	must(f, lt_heirs_add(&list, &count, f->ledger, &seen, NOVEMBER, &f->err));
	free(seen.list);
	for (uint32_t i = 0; i < count; i++)
		if (strcmp(list[i].name, account) == 0)
			memcpy(parent, list[i].parent, sizeof(parent));
	free(list);
	return parent;
}

static void
moves_wait_for_an_admin(void **state)
{
	static const struct {
		const char *why, *account, *parent, *counts;
		bool waits;
	} cases[] = {
	    {"out of its team", "sub", "other", "lab", true},
	    {"with all that is below it", "lab", "root", "vision", true},
	    {"into another team", "other", "nlp", "root", true},
	    {"from team to team", "lab", "nlp", "vision", true},
	    {"within its team", "sub", "vision", "vision", false},
	    {"between accounts without budgets", "other", "sub2", "sub2",
		false},
	};
	struct lt_policy_budget budgets[] = {
	    {.team = "Vision"}, {.team = "nlp"}};
	const struct lt_policy policy = {.budgets = budgets, .budget_count = 2};

	lt_log_open("/dev/null");
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct fixture *const f = *state;
		struct lt_moved_accounts moved = {0};
		const char *now[ACCOUNTS][2];

		print_message("# %s\n", cases[i].why);
		memcpy(now, before, sizeof(now));
		(void)parent_of(f, &moved, &policy, before, "root");
		assert_int_equal(moved.count, 0);
		for (int k = 0; k < ACCOUNTS; k++)
			if (strcmp(now[k][0], cases[i].account) == 0)
				now[k][1] = cases[i].parent;
		/* Each time anew. */
		for (int times = 0; times < 2; times++) {
			assert_string_equal(parent_of(f, &moved, &policy, now,
						cases[i].account),
			    cases[i].counts);
			assert_int_equal(moved.count, cases[i].waits);
		}
		if (cases[i].waits) {
			assert_string_equal(
			    moved.list[0].name, cases[i].account);
			assert_string_equal(moved.list[0].to, cases[i].parent);
			must(f, lt_moved_accept(
				    f->ledger, &moved.list[0], NOVEMBER, &f->err));
			assert_string_equal(parent_of(f, &moved, &policy, now,
						cases[i].account),
			    cases[i].parent);
			assert_int_equal(moved.count, 0);
			/* And back is a move, too. */
			assert_string_equal(parent_of(f, &moved, &policy,
						before, cases[i].account),
			    cases[i].parent);
			assert_int_equal(moved.count, 1);
			must(f, lt_moved_accept(
				    f->ledger, &moved.list[0], NOVEMBER, &f->err));
		}
		free(moved.list);
	}
}

/* Two moves that together would hide one, and a parent that is gone. */
static void
no_way_round(void **state)
{
	static const struct {
		const char *why;
		tree now;
		const char *parent; /* of sub */
	} cases[] = {
	    {"its former parent is put below it",
		{{"root", ""}, {"vision", "root"}, {"lab", "sub"},
		    {"sub", "other"}, {"nlp", "root"}, {"other", "root"}},
		"lab"},
	    {"the team itself is",
		{{"root", ""}, {"vision", "sub"}, {"lab", "vision"},
		    {"sub", "other"}, {"nlp", "root"}, {"other", "root"}},
		"lab"},
	    {"its former parent is gone",
		{{"root", ""}, {"vision", "root"}, {"new", "root"},
		    {"sub", "other"}, {"nlp", "root"}, {"other", "root"}},
		"vision"},
	};
	struct lt_policy_budget budgets[] = {{.team = "vision"}};
	const struct lt_policy policy = {.budgets = budgets, .budget_count = 1};

	lt_log_open("/dev/null");
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct fixture *const f = *state;
		struct lt_moved_accounts moved = {0};
		const char *now[ACCOUNTS][2];

		print_message("# %s\n", cases[i].why);
		memcpy(now, cases[i].now, sizeof(now));
		(void)parent_of(f, &moved, &policy, before, "root");
		assert_string_equal(
		    parent_of(f, &moved, &policy, now, "sub"), cases[i].parent);
		free(moved.list);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    EACH(moves_wait_for_an_admin), EACH(no_way_round)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
