/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lt_admit(): all that bind a hold, together or not at all.
 */
#include "budget_fixture.h"

enum { OPERATOR = 900, HEAD = 950, LEAD = 2000, NOBODY = 3000 };

/* Who may change whose jobs: by the account, or one above it. */
static void
test_managers(void **state)
{
	static struct lt_manager rows[] = {{OPERATOR, 0}, {HEAD, ACCOUNT_RESEARCH + 1},
	    {LEAD, ACCOUNT_FREE + 1}, {LEAD, ACCOUNT_VISION + 1}};

	static const struct {
		const char *why;
		uint32_t uid;
		int account;
		bool manages, any;
	} cases[] = {
	    {"an operator", OPERATOR, ACCOUNT_YARD, true, true},
	    {"an operator, of who knows what", OPERATOR, -1, true, true},
	    {"the coordinator himself", HEAD, ACCOUNT_RESEARCH, true, true},
	    {"of the account below", HEAD, ACCOUNT_VISION, true, true},
	    {"of one two below", HEAD, ACCOUNT_YARD, true, true},
	    {"not of another tree", HEAD, ACCOUNT_FREE, false, true},
	    {"not of who knows what", HEAD, -1, false, true},
	    {"of two", LEAD, ACCOUNT_FREE, true, true},
	    {"of the other", LEAD, ACCOUNT_VISION, true, true},
	    {"not of the account above", LEAD, ACCOUNT_RESEARCH, false, true},
	    {"nobody", NOBODY, ACCOUNT_VISION, false, false},
	    {"a uid between", HEAD + 1, ACCOUNT_VISION, false, false},
	    {"a member", ALICE, ACCOUNT_VISION, false, false},
	};
	(void)state;
	snapshot.managers = rows;
	snapshot.manager_count = sizeof(rows) / sizeof(rows[0]);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		print_message("# %s\n", cases[i].why);
		assert_int_equal(
		    lt_sheet_manages(&snapshot, cases[i].uid, cases[i].account), cases[i].manages);
		assert_int_equal(lt_sheet_is_manager(&snapshot, cases[i].uid), cases[i].any);
	}
	/* A loop in the tree of accounts ends. */
	accounts[ACCOUNT_RESEARCH].parent = ACCOUNT_YARD + 1;
	assert_false(lt_sheet_manages(&snapshot, ALICE, ACCOUNT_YARD));
	rows[1].account = ACCOUNT_FREE + 1;
	assert_false(lt_sheet_manages(&snapshot, HEAD, ACCOUNT_YARD));
	accounts[ACCOUNT_RESEARCH].parent = 0;
}

static int64_t
left(uint32_t uid, int account, int64_t start, int64_t end)
{
	struct lt_amount available;

	lt_available(
	    &available, &snapshot, recent, LT_RULES_BIND | LT_RULES_WARN, uid, account, start, end);
	return available.money_micros;
}

static const struct {
	const char *why;
	uint32_t uid;
	int account;
	struct lt_amount amount;
	int64_t start, end;
	enum lt_verdict_code code;
	enum lt_rule rule;
	const char *team;
	bool is_user_cap, is_carbon;
	int64_t available;
} cases[] = {
    {"no budget binds", BOB, ACCOUNT_YARD, {0}, NOW, NEXT, LT_ADMIT, LT_RULE_ALLOW, "", false,
	false, 0},
    {"an account that is none", BOB, -1, {0}, NOW, NEXT, LT_ADMIT, LT_RULE_ALLOW, "", false, false,
	0},
    {"up to the cap", BOB, ACCOUNT_VISION, {true, true, 200, 1}, NOW, NEXT, LT_ADMIT, LT_RULE_ALLOW,
	"", false, false, 0},
    {"one micro over the cap", BOB, ACCOUNT_VISION, {true, true, 201, 1}, NOW, NEXT, LT_OVER,
	LT_RULE_REJECT, "vision", true, false, 200},
    {"the cap counts what the user had", ALICE, ACCOUNT_VISION, {true, true, 151, 1}, NOW, NEXT,
	LT_OVER, LT_RULE_REJECT, "vision", true, false, 150},
    {"the next period is touched too and has its own figures", ALICE, ACCOUNT_VISION,
	{true, true, 200, 1}, NEXT, LATER, LT_ADMIT, LT_RULE_ALLOW, "", false, false, 0},
    {"half open: an end at the boundary does not touch", BOB, ACCOUNT_VISION, {true, true, 150, 1},
	NOW, NEXT, LT_ADMIT, LT_RULE_ALLOW, "", false, false, 0},
    {"the strictest rule and then the tightest", BOB, ACCOUNT_VISION, {true, true, 2000, 1}, NOW,
	NEXT, LT_OVER, LT_RULE_REJECT, "vision", true, false, 200},
    {"the parent's carbon, by its own rule", ALICE, ACCOUNT_VISION, {true, true, 1, 501}, NOW, NEXT,
	LT_OVER, LT_RULE_HOLD, "research", false, true, 500},
    {"an account of the parent itself has no cap", ALICE, ACCOUNT_RESEARCH, {true, true, 900, 1},
	NOW, NEXT, LT_ADMIT, LT_RULE_ALLOW, "", false, false, 0},
    {"one micro over the parent", ALICE, ACCOUNT_RESEARCH, {true, true, 901, 1}, NOW, NEXT, LT_OVER,
	LT_RULE_HOLD, "research", false, false, 900},
    {"limited and unknown", ALICE, ACCOUNT_VISION, {true, false, 1, 0}, NOW, NEXT, LT_UNKNOWN,
	LT_RULE_HOLD, "", false, false, 0},
    {"a sure refusal outranks a doubt that would only hold", BOB, ACCOUNT_VISION,
	{true, false, 201, 0}, NOW, NEXT, LT_OVER, LT_RULE_REJECT, "vision", true, false, 200},
    {"after all periods nothing binds yet", BOB, ACCOUNT_VISION, {true, true, 9999, 9999}, LATER,
	LATER + 1, LT_ADMIT, LT_RULE_ALLOW, "", false, false, 0},
    {"what costs nothing passes an empty budget", BOB, ACCOUNT_FREE, {true, true, 0, 0}, NOW, NEXT,
	LT_ADMIT, LT_RULE_ALLOW, "", false, false, 0},
    {"warn is over and says so", BOB, ACCOUNT_FREE, {true, true, 1, 0}, NOW, NEXT, LT_OVER,
	LT_RULE_WARN, "free", false, false, 0},
    {"no length counts as its second", BOB, ACCOUNT_VISION, {true, true, 201, 0}, NEXT, NEXT,
	LT_OVER, LT_RULE_REJECT, "vision", true, false, 200},
    {"near the end of int64", ALICE, ACCOUNT_RESEARCH, {true, true, INT64_MAX, 1}, NOW, NEXT,
	LT_OVER, LT_RULE_HOLD, "research", false, false, 900},
};

static void
test_cases(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		print_message("%s\n", cases[i].why);
		lt_recent_init(recent, &snapshot);
		const int64_t before =
		    left(cases[i].uid, cases[i].account, cases[i].start, cases[i].end);
		const struct lt_verdict verdict = admit(
		    cases[i].uid, cases[i].account, cases[i].amount, cases[i].start, cases[i].end);
		assert_int_equal(verdict.code, cases[i].code);
		assert_int_equal(verdict.rule, cases[i].rule);
		assert_string_equal(verdict.team, cases[i].team);
		assert_int_equal(verdict.is_user_cap, cases[i].is_user_cap);
		assert_int_equal(verdict.is_carbon, cases[i].is_carbon);
		assert_int_equal(verdict.available, cases[i].available);
		assert_int_equal(verdict.why != NULL, cases[i].code == LT_UNKNOWN);
		const bool added = verdict.code == LT_ADMIT || verdict.rule == LT_RULE_WARN;
		const int64_t after =
		    left(cases[i].uid, cases[i].account, cases[i].start, cases[i].end);
		if (before != INT64_MAX)
			assert_int_equal(
			    after, added ? before - cases[i].amount.money_micros : before);
	}
}

static void
test_sums_up(void **state)
{
	(void)state;
	/* 350 are left in November: two users of 200 each do not fit. */
	assert_int_equal(admit(BOB, ACCOUNT_VISION, both(200, 0), NOW, NEXT).code, LT_ADMIT);
	assert_int_equal(admit(ALICE, ACCOUNT_VISION, both(150, 0), NOW, NEXT).code, LT_ADMIT);
	struct lt_verdict verdict = admit(503, ACCOUNT_VISION, both(1, 0), NOW, NEXT);
	assert_int_equal(verdict.code, LT_OVER);
	assert_false(verdict.is_user_cap);
	assert_int_equal(verdict.limit, 500);
	assert_int_equal(verdict.settled, 100);
	assert_int_equal(verdict.held, 400);
	assert_int_equal(verdict.available, 0);
	/* Taken back, it is as if it had never been. */
	const struct lt_hold hold = {.uid = BOB,
	    .account = ACCOUNT_VISION,
	    .amount = both(200, 0),
	    .start_utc_s = NOW,
	    .end_utc_s = NEXT};
	lt_recent_remove(recent, &snapshot, &hold);
	assert_int_equal(left(503, ACCOUNT_VISION, NOW, NEXT), 200);
	assert_int_equal(left(BOB, ACCOUNT_VISION, NOW, NEXT), 200);
	lt_recent_add(recent, &snapshot, &hold);
	assert_int_equal(left(503, ACCOUNT_VISION, NOW, NEXT), 0);
}

static void
test_long_hold_counts_in_both_periods(void **state)
{
	(void)state;
	assert_int_equal(
	    admit(BOB, ACCOUNT_VISION, both(200, 0), NEXT - 1, NEXT + 1).code, LT_ADMIT);
	assert_int_equal(left(503, ACCOUNT_VISION, NOW, NEXT), 150);
	assert_int_equal(left(503, ACCOUNT_VISION, NEXT, LATER), 100);
}

static void
test_overflow_is_unknown(void **state)
{
	(void)state;
	const struct lt_hold hold = {.uid = ALICE,
	    .account = ACCOUNT_RESEARCH,
	    .amount = both(INT64_MAX, 0),
	    .start_utc_s = NOW,
	    .end_utc_s = NEXT};
	lt_recent_add(recent, &snapshot, &hold);
	lt_recent_add(recent, &snapshot, &hold);
	assert_int_equal(admit(ALICE, ACCOUNT_RESEARCH, both(1, 1), NOW, NEXT).code, LT_OVER);
	snapshot.on_unknown = LT_RULE_REJECT;
	assert_int_equal(admit(ALICE, ACCOUNT_RESEARCH, both(1, 1), NOW, NEXT).code, LT_UNKNOWN);
}

static void
test_balance_out_of_range(void **state)
{
	(void)state;
	budgets[VISION].periods[0].settled.money_micros = INT64_MIN;
	assert_int_equal(admit(BOB, ACCOUNT_VISION, both(1, 1), NOW, NOW + 1).code, LT_UNKNOWN);
}

/* The cap is each user's own, also for what was held since the snapshot. */
static void
test_caps_are_apart(void **state)
{
	(void)state;
	assert_int_equal(admit(ALICE, ACCOUNT_VISION, both(150, 1), NOW, NOW + 1).code, LT_ADMIT);
	assert_int_equal(admit(BOB, ACCOUNT_VISION, both(200, 1), NOW, NOW + 1).code, LT_ADMIT);
	assert_int_equal(admit(ALICE, ACCOUNT_VISION, both(1, 1), NOW, NOW + 1).code, LT_OVER);
}

/* What only warns takes nothing away from a plan, at any level. */
static void
test_available_by_rule(void **state)
{
	static const struct {
		const char *why;
		enum lt_rule research, vision;
		uint32_t rules, uid;
		int64_t micros, mg;
	} rows[] = {
	    {"all that bind: her cap, 200 - 30 - 20", LT_RULE_HOLD, LT_RULE_REJECT, LT_RULES_BIND,
		ALICE, 150, 500},
	    {"Bob's cap, of which nothing is used", LT_RULE_HOLD, LT_RULE_REJECT, LT_RULES_BIND,
		BOB, 200, 500},
	    {"a cap within what warns only warns: the parent's 1000 - 100", LT_RULE_HOLD,
		LT_RULE_WARN, LT_RULES_BIND, ALICE, 900, 500},
	    {"the cap alone", LT_RULE_HOLD, LT_RULE_WARN, LT_RULES_WARN, ALICE, 150, INT64_MAX},
	    {"the parent warns", LT_RULE_WARN, LT_RULE_REJECT, LT_RULES_BIND, BOB, 200, INT64_MAX},
	    {"the parent alone", LT_RULE_WARN, LT_RULE_REJECT, LT_RULES_WARN, BOB, 900, 500},
	    {"both warn: nothing bounds", LT_RULE_WARN, LT_RULE_WARN, LT_RULES_BIND, ALICE,
		INT64_MAX, INT64_MAX},
	    {"both warn, and are asked", LT_RULE_WARN, LT_RULE_WARN, LT_RULES_WARN, ALICE, 150,
		500},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct lt_amount left;

		budgets[RESEARCH].on_exceed = rows[i].research;
		budgets[VISION].on_exceed = rows[i].vision;
		lt_available(&left, &snapshot, recent, rows[i].rules, rows[i].uid, ACCOUNT_VISION,
		    NOW, NOW + 1);
		if (left.money_micros != rows[i].micros || left.carbon_mg != rows[i].mg)
			fail_msg("%s: %lld micros, %lld mg", rows[i].why,
			    (long long)left.money_micros, (long long)left.carbon_mg);
	}
}

/* Whatever places their names take: each has held his own and no more. */
static void
test_many_users(void **state)
{
	enum { USERS = 60 };

	(void)state;
	for (uint32_t uid = 1000; uid < 1000 + 100 * USERS; uid += 100) {
		const struct lt_hold hold = {.uid = uid,
		    .account = ACCOUNT_VISION,
		    .amount = money(1),
		    .start_utc_s = NOW,
		    .end_utc_s = NOW + 1};

		lt_recent_add(recent, &snapshot, &hold);
	}
	for (uint32_t uid = 1000; uid < 1000 + 100 * USERS; uid += 100) {
		struct lt_amount left;

		lt_available(
		    &left, &snapshot, recent, LT_RULES_BIND, uid, ACCOUNT_VISION, NOW, NOW + 1);
		assert_int_equal(left.money_micros, 199);
	}
}

/* Where nothing is held yet. */
static void
test_new_period(void **state)
{
	static const struct {
		const char *why;
		int account;
		int64_t held_from, held_to, from, to;
		bool is_new;
	} rows[] = {
	    {"the same month", ACCOUNT_VISION, NOW, NOW + 1, NOW + 2, NOW + 3, false},
	    {"into the next", ACCOUNT_VISION, NOW, NOW + 1, NOW + 2, NEXT + 1, true},
	    {"held in both", ACCOUNT_VISION, NOW, NEXT + 1, NEXT, NEXT + 1, false},
	    {"the same quarter", ACCOUNT_RESEARCH, NOW, NOW + 1, NEXT, NEXT + 1, false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct lt_hold held = {.account = rows[i].account,
		    .start_utc_s = rows[i].held_from,
		    .end_utc_s = rows[i].held_to};

		print_message("# %s\n", rows[i].why);
		assert_int_equal(lt_sheet_new_period(&snapshot, &held, rows[i].from, rows[i].to),
		    rows[i].is_new);
	}
}

static void
test_has_time(void **state)
{
	static const struct {
		const char *why;
		int account;
		int64_t utc_s;
		bool has;
	} rows[] = {
	    {"the month's first second", ACCOUNT_VISION, NOW, true},
	    {"a second before it", ACCOUNT_VISION, NOW - 1, false},
	    {"the next month's last", ACCOUNT_VISION, LATER - 1, true},
	    {"a second after that", ACCOUNT_VISION, LATER, false},
	    {"no budget binds it", ACCOUNT_YARD, 0, true},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		print_message("# %s\n", rows[i].why);
		assert_int_equal(
		    lt_sheet_has_time(&snapshot, rows[i].account, rows[i].utc_s), rows[i].has);
	}
}

static void
test_unlisted_users_end_in_unknown(void **state)
{
	(void)state;
	enum lt_verdict_code code = LT_ADMIT;
	budgets[VISION].periods[0].limit = money(INT32_MAX);
	budgets[RESEARCH].periods[0].limit = both(INT32_MAX, 500);
	for (uint32_t uid = 1; uid < 1000 && code == LT_ADMIT; uid++)
		code = admit(10000 + uid, ACCOUNT_VISION, both(1, 0), NOW, NEXT).code;
	assert_int_equal(code, LT_UNKNOWN);
}

static void
test_lookups(void **state)
{
	(void)state;
	assert_int_equal(lt_sheet_account(&snapshot, "Vision"), ACCOUNT_VISION);
	assert_int_equal(lt_sheet_account(&snapshot, "vis"), -1);
	assert_int_equal(lt_sheet_account(&snapshot, ""), -1);
	char name[LT_ACCOUNT_SIZE + 1];
	memset(name, 'a', sizeof(name));
	name[LT_ACCOUNT_SIZE] = '\0';
	assert_int_equal(lt_sheet_account(&snapshot, name), -1);
	assert_int_equal(lt_sheet_default_account(&snapshot, ALICE), ACCOUNT_VISION);
	assert_int_equal(lt_sheet_default_account(&snapshot, 1), -1);
	assert_true(lt_sheet_pair(&snapshot, ALICE, ACCOUNT_RESEARCH));
	assert_false(lt_sheet_pair(&snapshot, BOB, ACCOUNT_RESEARCH));
	assert_false(lt_sheet_pair(&snapshot, BOB, -1));
	assert_true(lt_sheet_budgeted(&snapshot, ACCOUNT_VISION));
	assert_false(lt_sheet_budgeted(&snapshot, ACCOUNT_YARD));
	assert_false(lt_sheet_budgeted(&snapshot, 4));
	assert_string_equal(lt_rule_name(LT_RULE_WARN), "warn");
}

static void
test_text(void **state)
{
	(void)state;
	char text[256];
	struct lt_verdict verdict = {.code = LT_OVER,
	    .team = "vision",
	    .label = "November",
	    .asked = 9437760000,
	    .limit = 5000000000,
	    .settled = 4100000000,
	    .held = 587500000,
	    .available = 312500000};
	lt_verdict_text(text, sizeof(text), &verdict, "USD");
	assert_string_equal(text, "vision has $312.50 of $5,000.00 left for November ($4,100.00 "
				  "spent, $587.50 held);\nthis job may cost $9,437.76.");
	verdict.is_user_cap = verdict.is_carbon = true;
	lt_verdict_text(text, sizeof(text), &verdict, "USD");
	assert_non_null(strstr(text, " CO2e left for you for November ("));
	assert_non_null(strstr(text, "\nthis job may emit "));
	verdict.limit = -1;
	verdict.is_user_cap = verdict.is_carbon = false;
	lt_verdict_text(text, sizeof(text), &verdict, "USD");
	assert_string_equal(text, "vision has $312.50 left for November;\nthis job may cost "
				  "$9,437.76.");
	verdict.is_unseen = true;
	lt_verdict_text(text, sizeof(text), &verdict, "USD");
	assert_string_equal(text,
	    "vision has $312.50 left for November; jobs of yours that lowtide has "
	    "not seen yet hold $587.50,\nand with $9,437.76 for this one that is "
	    "more than one part in 10.");
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
	    TEST(test_cases),
	    TEST(test_sums_up),
	    TEST(test_long_hold_counts_in_both_periods),
	    TEST(test_overflow_is_unknown),
	    TEST(test_balance_out_of_range),
	    TEST(test_caps_are_apart),
	    TEST(test_new_period),
	    TEST(test_has_time),
	    TEST(test_available_by_rule),
	    TEST(test_many_users),
	    TEST(test_unlisted_users_end_in_unknown),
	    TEST(test_lookups),
	    TEST(test_managers),
	    TEST(test_text),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
