/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An account that is moved below another one stays with the budgets that bound it until an admin
 * accepts the move.
 */
#include "ledger_fixture.h"

#include <time.h>

#include "account_tree.h"
#include "log.h"

enum { ACCOUNTS = 6 };
typedef const char *tree[ACCOUNTS][2]; /* name, parent */

static tree before = {{"root", ""}, {"vision", "root"}, {"lab", "vision"}, {"sub", "lab"},
    {"nlp", "root"}, {"other", "root"}};

/* Reads a tree as lowtided does; the parent that counts for the account. */
static char *
parent_of(struct fixture *f, struct lt_moved_accounts *moved, const struct lt_policy *policy,
    tree now, const char *account)
{
	static char parent[LT_ACCOUNT_SIZE];
	struct lt_batch_associations all = {
	    .accounts = calloc(ACCOUNTS, sizeof(*all.accounts)), .account_count = ACCOUNTS};
	struct lt_accounts_seen seen = {0};

	assert_non_null(all.accounts);
	for (uint32_t i = 0; i < ACCOUNTS; i++) {
		(void)strcpy(all.accounts[i].name, now[i][0]);
		(void)strcpy(all.accounts[i].parent, now[i][1]);
	}
	must(f, lt_ledger_accounts(f->ledger, &seen.list, &seen.count, &f->err));
	must(f, lt_moved_keep(moved, all.accounts, ACCOUNTS, &seen, policy));
	must(f, lt_heirs_add(&all, f->ledger, &seen, NOVEMBER, &f->err));
	free(seen.list);
	for (uint32_t i = 0; i < all.account_count; i++)
		if (strcmp(all.accounts[i].name, account) == 0)
			memcpy(parent, all.accounts[i].parent, sizeof(parent));
	free(all.accounts);
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
	    {"between accounts without budgets", "other", "sub2", "sub2", false},
	};
	struct lt_policy_budget budgets[] = {{.team = "Vision"}, {.team = "nlp"}};
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
			assert_string_equal(
			    parent_of(f, &moved, &policy, now, cases[i].account), cases[i].counts);
			assert_int_equal(moved.count, cases[i].waits);
		}
		if (cases[i].waits) {
			assert_string_equal(moved.list[0].name, cases[i].account);
			assert_string_equal(moved.list[0].to, cases[i].parent);
			must(f, lt_moved_accept(f->ledger, &moved.list[0], NOVEMBER, &f->err));
			assert_string_equal(
			    parent_of(f, &moved, &policy, now, cases[i].account), cases[i].parent);
			assert_int_equal(moved.count, 0);
			/* And back is a move, too. */
			assert_string_equal(parent_of(f, &moved, &policy, before, cases[i].account),
			    cases[i].parent);
			assert_int_equal(moved.count, 1);
			must(f, lt_moved_accept(f->ledger, &moved.list[0], NOVEMBER, &f->err));
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
		{{"root", ""}, {"vision", "root"}, {"lab", "sub"}, {"sub", "other"},
		    {"nlp", "root"}, {"other", "root"}},
		"lab"},
	    {"the team itself is",
		{{"root", ""}, {"vision", "sub"}, {"lab", "vision"}, {"sub", "other"},
		    {"nlp", "root"}, {"other", "root"}},
		"lab"},
	    {"its former parent is gone",
		{{"root", ""}, {"vision", "root"}, {"new", "root"}, {"sub", "other"},
		    {"nlp", "root"}, {"other", "root"}},
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
		assert_string_equal(parent_of(f, &moved, &policy, now, "sub"), cases[i].parent);
		free(moved.list);
	}
}

/* What was below an account that is gone stays with what was above that. */
static void
past_of_what_is_gone(void **state)
{
	static const tree gone = {{"root", ""}, {"vision", "root"}, {"new", "root"},
	    {"sub", "other"}, {"nlp", "root"}, {"other", "root"}};
	struct lt_policy_budget budgets[] = {{.team = "vision"}};
	const struct lt_policy policy = {.budgets = budgets, .budget_count = 1};
	struct fixture *const f = *state;
	struct lt_moved_accounts moved = {0};
	struct lt_account_moves moves;
	const char *now[ACCOUNTS][2];

	lt_log_open("/dev/null");
	memcpy(now, gone, sizeof(now));
	(void)parent_of(f, &moved, &policy, before, "root");
	/* Lab had no charge, and is gone. */
	assert_string_equal(parent_of(f, &moved, &policy, now, "lab"), "vision");
	must(f, lt_moved_accept(f->ledger, &moved.list[0], NOVEMBER + 1, &f->err));
	assert_string_equal(parent_of(f, &moved, &policy, now, "sub"), "other");
	assert_string_equal(parent_of(f, &moved, &policy, now, "lab"), "vision");
	must(f, lt_ledger_account_moves(f->ledger, &moves, &f->err));
	assert_string_equal(lt_account_parent_then(&moves, "sub", NOVEMBER - 1), "lab");
	assert_string_equal(lt_account_parent_then(&moves, "sub", NOVEMBER), "vision");
	assert_null(lt_account_parent_then(&moves, "sub", NOVEMBER + 1));
	assert_null(lt_account_parent_then(&moves, "other", 0));
	free(moves.list);
	free(moved.list);
}

static double
seconds(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Who moves ten thousand accounts at once, stops nobody. */
static void
many_moves(void **state)
{
	enum { ALL = 16000, MOVED = 10000, TEAMS = 100, MOST_S = 5 };
	struct fixture *const f = *state;
	struct lt_policy_budget budgets[TEAMS];
	const struct lt_policy policy = {.budgets = budgets, .budget_count = TEAMS};
	struct lt_moved_accounts moved = {0};

	memset(budgets, 0, sizeof(budgets));
	for (int i = 0; i < TEAMS; i++)
		snprintf(budgets[i].team, sizeof(budgets[i].team), "team%d", i);
	lt_log_open("/dev/null");
	for (int round = 0; round < 3; round++) {
		struct lt_accounts_seen seen = {0};
		struct lt_batch_account *const list = calloc(ALL, sizeof(*list));
		struct lt_batch_associations all = {.accounts = list, .account_count = ALL};

		assert_non_null(list);
		for (int i = 0; i < ALL; i++) {
			const int up = i < TEAMS ? -1 : i % TEAMS;

			snprintf(list[i].name, sizeof(list[i].name), "%s%d",
			    i < TEAMS ? "team" : "lab", i);
			if (up >= 0)
				snprintf(list[i].parent, sizeof(list[i].parent), "team%d",
				    round > 0 && i >= ALL - MOVED ? (up + 1) % TEAMS : up);
		}
		const double began = seconds();
		must(f, lt_ledger_accounts(f->ledger, &seen.list, &seen.count, &f->err));
		must(f, lt_moved_keep(&moved, list, ALL, &seen, &policy));
		must(f, lt_heirs_add(&all, f->ledger, &seen, NOVEMBER, &f->err));
		const double took = seconds() - began;
		print_message("# %u moves, %.3f s\n", moved.count, took);
		assert_int_equal(moved.count, round > 0 ? MOVED : 0);
		assert_true(took < MOST_S);
		free(seen.list);
		free(all.accounts);
	}
	free(moved.list);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {EACH(moves_wait_for_an_admin), EACH(no_way_round),
	    EACH(past_of_what_is_gone), EACH(many_moves)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
