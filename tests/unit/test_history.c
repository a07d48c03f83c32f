/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which jobs are of one kind, and what figures of their groups make of the next one: names, keys,
 * shapes, and the way from the narrow group to the wide one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "decide.h"
#include "history.h"

static void
names_are_folded(void **state)
{
	static const struct {
		const char *why, *name, *folded;
	} cases[] = {
	    {"nothing", "", ""},
	    {"no digit", "train", "train"},
	    {"a row of digits is one", "train_0413", "train_#"},
	    {"each row", "2026-11-25.run7", "#-#-#.run#"},
	    {"digits alone", "1", "#"},
	    {"what looks folded already", "train_#", "train_#"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char out[LT_NAME_SIZE];

		print_message("%s\n", cases[i].why);
		lt_history_fold(out, sizeof(out), cases[i].name);
		assert_string_equal(out, cases[i].folded);
	}
	char four[4];
	lt_history_fold(four, sizeof(four), "abcdef");
	assert_string_equal(four, "abc");
}

static bool
same(const struct lt_run_kind *a, const struct lt_run_kind *b, enum lt_history_group group)
{
	const struct lt_history_key x = lt_history_key(a, group);
	const struct lt_history_key y = lt_history_key(b, group);

	return x.hash == y.hash && x.uid == y.uid;
}

static void
keys_tell_kinds_apart(void **state)
{
	const struct lt_run_kind one = {1000, "vision", "train_1", 2, 16, 4, 0, 0, false};
	static const struct {
		const char *why;
		struct lt_run_kind kind;
		bool name, user, account;
	} cases[] = {
	    {"another number in the name", {1000, "vision", "train_22", 2, 16, 4, 0, 0, false},
		true, true, true},
	    {"another name", {1000, "vision", "test_1", 2, 16, 4, 0, 0, false}, false, true, true},
	    {"other nodes", {1000, "vision", "train_1", 1, 16, 4, 0, 0, false}, false, true, true},
	    {"other CPUs", {1000, "vision", "train_1", 2, 8, 4, 0, 0, false}, false, true, true},
	    {"other GPUs", {1000, "vision", "train_1", 2, 16, 8, 0, 0, false}, false, true, true},
	    {"another user", {1001, "vision", "train_1", 2, 16, 4, 0, 0, false}, false, false,
		true},
	    {"another account", {1000, "speech", "train_1", 2, 16, 4, 0, 0, false}, false, false,
		false},
	    {"another size of time limit", {1000, "vision", "train_1", 2, 16, 4, 0, 3600, false},
		false, false, false},
	    {"an interactive job", {1000, "vision", "train_1", 2, 16, 4, 0, 0, true}, false, false,
		false},
	    {"letters that move from one text to the other",
		{1000, "visiont", "rain_1", 2, 16, 4, 0, 0, false}, false, false, false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct lt_run_kind *const other = &cases[i].kind;

		print_message("%s\n", cases[i].why);
		assert_int_equal(same(&one, other, LT_HISTORY_NAME), cases[i].name);
		assert_int_equal(same(&one, other, LT_HISTORY_USER), cases[i].user);
		assert_int_equal(same(&one, other, LT_HISTORY_ACCOUNT), cases[i].account);
	}
	/* Whatever a hash may be made to be: the user is in the key. */
	assert_int_equal(lt_history_key(&one, LT_HISTORY_NAME).uid, 1000);
	assert_int_equal(lt_history_key(&one, LT_HISTORY_USER).uid, 1000);
	assert_int_equal(lt_history_key(&one, LT_HISTORY_ACCOUNT).uid, UINT32_MAX);
}

static void
limits_are_told_apart_by_size(void **state)
{
	static const struct {
		int64_t limit_s;
		uint32_t size, wide_size;
		int64_t most_s;
	} cases[] = {
	    {-1, 0, 0, 0},
	    {0, 0, 0, 0},
	    {1, 1, 1, 900},
	    {900, 1, 1, 900},
	    {901, 2, 2, 3600},
	    {3600, 2, 2, 3600},
	    {3601, 3, 2, 4 * 3600},
	    {4 * 3600, 3, 2, 4 * 3600},
	    {4 * 3600 + 1, 4, 3, 16 * 3600},
	    {24 * 3600, 5, 3, 64 * 3600},
	    {7 * 86400, 6, 4, 256 * 3600},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct lt_run_kind kind = {
		    .name = "train", .account = "vision", .limit_s = cases[i].limit_s};
		const uint32_t band = lt_history_band(&kind, LT_HISTORY_NAME);

		assert_int_equal(band, 2 * cases[i].size);
		assert_int_equal(lt_history_band_limit_s(band, LT_HISTORY_NAME), cases[i].most_s);
		assert_int_equal(lt_history_band(&kind, LT_HISTORY_USER), 2 * cases[i].wide_size);
		assert_int_equal(
		    lt_history_band(&kind, LT_HISTORY_ACCOUNT), 2 * cases[i].wide_size);
		kind.is_interactive = true;
		assert_int_equal(lt_history_band(&kind, LT_HISTORY_NAME), band + 1);
	}
	const struct lt_run_kind endless = {.limit_s = INT64_MAX},
				 long_one = {.limit_s = INT64_MAX - 1};

	for (int i = 0; i < LT_HISTORY_GROUPS; i++) {
		const enum lt_history_group group = (enum lt_history_group)i;

		assert_int_equal(lt_history_band(&endless, group), 0);
		assert_true(lt_history_band_limit_s(lt_history_band(&long_one, group), group) > 0);
	}
}

/* What sbatch, srun, salloc and portals call a job that nobody named. */
static void
some_names_are_none(void **state)
{
	static const char *const none[] = {"", "wrap", "sbatch", "bash", "sh", "interactive",
	    "python", "python3", "python3.11", "Python", "sys/dashboard/sys/jupyter",
	    "ondemand/sys/dashboard/sys/bc_desktop"};
	static const char *const names[] = {
	    "train", "train_1", "wrapped", "python_train", "bash.sh", "7", "x"};
	struct lt_history_key keys[LT_HISTORY_GROUPS];
	struct lt_run_kind kind = {1000, "vision", "", 2, 16, 4, 0, 0, false};

	(void)state;
	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
		kind.name = none[i];
		lt_history_keys(keys, &kind);
		assert_true(keys[LT_HISTORY_NAME].hash == 0);
		assert_true(keys[LT_HISTORY_USER].hash != 0);
	}
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		kind.name = names[i];
		lt_history_keys(keys, &kind);
		assert_true(
		    keys[LT_HISTORY_NAME].hash == lt_history_key(&kind, LT_HISTORY_NAME).hash);
		/* As a quote has it, whatever the limit. */
		const struct lt_run_kind quoted = {.uid = 1000,
		    .account = "vision",
		    .name = names[i],
		    .hash = lt_history_hash(&kind)};

		assert_true(
		    keys[LT_HISTORY_NAME].hash == lt_history_key(&quoted, LT_HISTORY_NAME).hash);
	}
}

/* A proof is of one user, account, name and script, of whatever shape. */
static void
proofs_are_told_apart(void **state)
{
	static const struct lt_run_kind one = {1000, "vision", "train_1", 2, 16, 4, 0, 0, false};
	static const struct {
		const char *why;
		struct lt_run_kind kind;
		const char *script;
		bool same;
	} cases[] = {
	    {"itself", {1000, "vision", "train_1", 2, 16, 4, 0, 0, false}, "a", true},
	    {"another number, another shape", {1000, "vision", "train_22", 1, 1, 0, 0, 0, false},
		"a", true},
	    {"another script", {1000, "vision", "train_1", 2, 16, 4, 0, 0, false}, "b", false},
	    {"another name", {1000, "vision", "test_1", 2, 16, 4, 0, 0, false}, "a", false},
	    {"another user", {1001, "vision", "train_1", 2, 16, 4, 0, 0, false}, "a", false},
	    {"another account", {1000, "speech", "train_1", 2, 16, 4, 0, 0, false}, "a", false},
	};
	const struct lt_history_key own = lt_history_proof_key(&one, lt_script_hash("a"));

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct lt_history_key key =
		    lt_history_proof_key(&cases[i].kind, lt_script_hash(cases[i].script));

		print_message("%s\n", cases[i].why);
		assert_int_equal(key.hash == own.hash && key.uid == own.uid, cases[i].same);
	}
	for (int group = 0; group < LT_HISTORY_GROUPS; group++)
		assert_true(lt_history_key(&one, (enum lt_history_group)group).hash != own.hash);
	/* All of the hash counts. */
	assert_true(lt_history_proof_key(&one, 5).hash !=
		    lt_history_proof_key(&one, 5 + (1ULL << 40)).hash);
	assert_true(lt_script_hash(NULL) == 0);
	assert_true(lt_script_hash("") == 0);
	/* FNV-1a with the NUL: as Python has it. */
	assert_true(lt_script_hash("#!/bin/sh\n") == 0xa86919e9e0399941);
}

static void
shapes_are_what_was_asked(void **state)
{
	static const struct {
		const char *why;
		struct lt_request request;
		uint32_t nodes, cpus, gpus;
	} cases[] = {
	    {"nothing said: a CPU of a node", {.min_nodes = 1}, 1, 1, 0},
	    {"tasks and what each takes", {.min_nodes = 1, .tasks = 3, .cpus_per_task = 4}, 1, 12,
		0},
	    {"what slurmctld made of them", {.min_nodes = 2, .tasks = 1, .cpus = 24}, 2, 24, 0},
	    {"CPUs of each node", {.min_nodes = 2, .cpus_per_node = 16}, 2, 32, 0},
	    {"GPUs of each node", {.min_nodes = 2, .gpus_per_node = 4}, 2, 2, 8},
	    {"GPUs of the job", {.min_nodes = 1, .gpus = 3}, 1, 1, 3},
	    {"GPUs of each task", {.min_nodes = 1, .tasks = 4, .gpus_per_task = 2}, 1, 4, 8},
	    {"more than can be counted", {.min_nodes = 1, .tasks = UINT32_MAX, .cpus_per_task = 2},
		1, UINT32_MAX, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct lt_run_kind kind = {0};

		print_message("%s\n", cases[i].why);
		lt_history_shape(&kind, &cases[i].request);
		assert_int_equal(kind.nodes, cases[i].nodes);
		assert_int_equal(kind.cpus, cases[i].cpus);
		assert_int_equal(kind.gpus, cases[i].gpus);
	}
}

enum { HALF = 500000, MOST = 900000 };
#define NEVER LT_HISTORY_NEVER

static void
the_narrowest_with_three_runs_speaks(void **state)
{
	static const struct {
		const char *why;
		struct lt_history_figures groups[LT_HISTORY_GROUPS];
		int64_t limit_s;
		struct lt_expected want;
	} cases[] = {
	    {"nothing is known", {{0}}, 3600, {LT_HISTORY_NONE, 0, 0, 0, 0, 0}},
	    {"two runs are too few", {{2, 60, 90, true, 0, 0}}, 3600,
		{LT_HISTORY_NONE, 0, 0, 0, 0, 0}},
	    {"three are enough; without a quantile, by the limit", {{3, 60, 90, true, 0, 0}}, 3600,
		{LT_HISTORY_NAME, 3, 60, 3600, 0, 0}},
	    {"its own quantile", {{19, 60, 90, false, 0, 0}, {30, HALF, MOST, false, 0, 0}}, 3600,
		{LT_HISTORY_NAME, 19, 60, 90, 0, 0}},
	    {"too few for one: the user's, by the limit",
		{{3, 60, 90, true, 0, 0}, {30, HALF, MOST, false, 0, 0}}, 3600,
		{LT_HISTORY_NAME, 3, 60, 3240, 0, 0}},
	    {"but not below its own longest",
		{{3, 60, 3500, true, 0, 0}, {30, HALF, MOST, false, 0, 0}}, 3600,
		{LT_HISTORY_NAME, 3, 60, 3500, 0, 0}},
	    {"then the account's",
		{{3, 60, 90, true, 0, 0}, {4, HALF, 600000, true, 0, 0},
		    {30, 100000, MOST, false, 0, 0}},
		3600, {LT_HISTORY_NAME, 3, 60, 3240, 0, 0}},
	    {"then the limit",
		{{3, 60, 90, true, 0, 0}, {4, HALF, 600000, true, 0, 0},
		    {9, 100000, MOST, true, 0, 0}},
		3600, {LT_HISTORY_NAME, 3, 60, 3600, 0, 0}},
	    {"two of the name, the user's median",
		{{2, 60, 90, true, 0, 0}, {30, HALF, MOST, false, 0, 0}}, 3600,
		{LT_HISTORY_USER, 30, 1800, 3240, 0, 0}},
	    {"the account's median",
		{{0}, {2, HALF, MOST, true, 0, 0}, {30, 100000, 400000, false, 0, 0}}, 3600,
		{LT_HISTORY_ACCOUNT, 30, 360, 3240, 0, 0}},
	    {"half of the runs met their limit: nothing below it is expected",
		{{20, NEVER, NEVER, false, 0, 0}}, 3600, {LT_HISTORY_NAME, 20, 3600, 3600, 0, 0}},
	    {"the limit is the most", {{20, 7200, 9000, false, 0, 0}}, 3600,
		{LT_HISTORY_NAME, 20, 3600, 3600, 0, 0}},
	    {"no second at all is one", {{0}, {20, 0, 0, false, 0, 0}}, 3600,
		{LT_HISTORY_USER, 20, 1, 1, 0, 0}},
	    {"the upper quantile is no less than what is expected",
		{{0}, {20, HALF, 400000, false, 0, 0}}, 3600,
		{LT_HISTORY_USER, 20, 1800, 1800, 0, 0}},
	    {"without a limit, parts of it say nothing",
		{{2, 60, 90, true, 0, 0}, {30, HALF, MOST, false, 0, 0}}, 0,
		{LT_HISTORY_NONE, 0, 0, 0, 0, 0}},
	    {"without a limit, seconds do", {{20, 60, 90, false, 0, 0}}, -1,
		{LT_HISTORY_NAME, 20, 60, 90, 0, 0}},
	    {"and the quantile may be unknown",
		{{3, 60, 90, true, 0, 0}, {30, HALF, MOST, false, 0, 0}}, -1,
		{LT_HISTORY_NAME, 3, 60, 0, 0, 0}},
	    {"a sixth from either end, too", {{19, 60, 90, false, 40, 80}}, 3600,
		{LT_HISTORY_NAME, 19, 60, 90, 40, 80}},
	    {"as parts of the limit, the longest by it",
		{{0}, {20, HALF, MOST, false, 100000, NEVER}}, 3600,
		{LT_HISTORY_USER, 20, 1800, 3240, 360, 3600}},
	    {"without a limit a longest that met one is not told", {{20, 60, 90, false, 40, NEVER}},
		-1, {LT_HISTORY_NAME, 20, 60, 90, 0, 0}},
	    {"half beyond a limit that is none", {{20, NEVER, NEVER, false, 0, 0}}, -1,
		{LT_HISTORY_NONE, 0, 0, 0, 0, 0}},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct lt_expected got = lt_history_expect(cases[i].groups, cases[i].limit_s);

		print_message("%s\n", cases[i].why);
		assert_int_equal(got.from, cases[i].want.from);
		assert_int_equal(got.runs, cases[i].want.runs);
		assert_int_equal(got.expected_s, cases[i].want.expected_s);
		assert_int_equal(got.upper_s, cases[i].want.upper_s);
		assert_int_equal(got.low_s, cases[i].want.low_s);
		assert_int_equal(got.high_s, cases[i].want.high_s);
	}
}

static void
told_with_what_it_rests_on(void **state)
{
	static const struct {
		struct lt_expected expected;
		int64_t limit_s;
		const char *text;
	} cases[] = {
	    {{LT_HISTORY_NAME, 14, 7800, 9000, 0, 0}, 43200,
		"expected 2:10 (median of 14 runs; limit 12:00)"},
	    {{LT_HISTORY_NAME, 3, 599, 599, 0, 0}, 600,
		"expected 9m 59s (median of 3 runs; limit 0:10)"},
	    {{LT_HISTORY_NAME, 3, 86369, 0, 0, 0}, 0, "expected 23:59 (median of 3 runs)"},
	    {{LT_HISTORY_NAME, 3, 86370, 0, 0, 0}, 2 * 86400 + 3660,
		"expected 1-00:00 (median of 3 runs; limit 2-01:01)"},
	    {{LT_HISTORY_USER, 40, 3600, 0, 0, 0}, 7200,
		"expected 1:00 (median of the user's 40 runs by their limits; limit 2:00)"},
	    {{LT_HISTORY_ACCOUNT, 300, 3600, 0, 0, 0}, 7200,
		"expected 1:00 (median of the account's 300 runs by their limits; limit 2:00)"},
	    {{LT_HISTORY_SAID, 0, 3600, 0, 0, 0}, 7200,
		"expected 1:00 (--expected-time; limit 2:00)"},
	    {{LT_HISTORY_NONE, 0, 0, 0, 0, 0}, 7200, ""},
	    {{0}, 7200, ""},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char out[160], cut[9];

		lt_expected_text(out, sizeof(out), &cases[i].expected, cases[i].limit_s);
		assert_string_equal(out, cases[i].text);
		lt_expected_text(cut, sizeof(cut), &cases[i].expected, cases[i].limit_s);
		assert_int_equal(strlen(cut), strlen(out) > 8 ? 8 : 0);
	}
}

static void
what_outlives_it_is_planned_on(void **state)
{
	static const struct {
		struct lt_expected expected;
		int64_t ran_s, limit_s, length_s;
	} cases[] = {
	    {{LT_HISTORY_NAME, 20, 100, 300, 0, 0}, 0, 1000, 100},
	    {{LT_HISTORY_NAME, 20, 100, 300, 0, 0}, 99, 1000, 100},
	    {{LT_HISTORY_NAME, 20, 100, 300, 0, 0}, 100, 1000, 300},
	    {{LT_HISTORY_NAME, 20, 100, 300, 0, 0}, 300, 1000, 1000},
	    {{LT_HISTORY_NAME, 20, 100, 300, 0, 0}, 100, 200, 200},
	    {{LT_HISTORY_NAME, 20, 100, 0, 0, 0}, 100, 1000, 1000},
	    {{LT_HISTORY_SAID, 0, 100, 0, 0, 0}, 0, INT64_MAX, 100},
	    {{LT_HISTORY_NONE, 0, 0, 0, 0, 0}, 0, 1000, 1000},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(
		    lt_expected_length_s(&cases[i].expected, cases[i].ran_s, cases[i].limit_s),
		    cases[i].length_s);
}

static void
what_the_user_says_wins(void **state)
{
	struct lt_request request = {
	    .expected_run_s = LT_UNSET_64, .learned = {LT_HISTORY_USER, 40, 3600, 5400, 0, 0}};

	(void)state;
	struct lt_expected got = lt_expected_of(&request);
	assert_int_equal(got.from, LT_HISTORY_USER);
	assert_int_equal(got.expected_s, 3600);
	request.expected_run_s = 60;
	got = lt_expected_of(&request);
	assert_int_equal(got.from, LT_HISTORY_SAID);
	assert_int_equal(got.expected_s, 60);
	assert_int_equal(got.upper_s, 0);
}

/* Whatever Slurm looks at makes another request; what only lowtide looks at does not. */
static void
requests_are_told_apart(void **state)
{
	struct lt_request r = {.uid = 7, .limit_s = 3600, .min_nodes = 1};
	uint64_t seen[16];
	int count = 0;

	(void)state;
	seen[count++] = lt_request_asked(&r);
	assert_true(seen[0] != 0);
	r.deadline_utc_s = r.earliest_utc_s = 9;
	r.objective = LT_OBJECTIVE_COST;
	r.max_cost_micros = 5;
	r.home = 2;
	r.asked = 99;
	assert_true(lt_request_asked(&r) == seen[0]);
	r.uid = 8;
	seen[count++] = lt_request_asked(&r);
	r.limit_s = 7200;
	seen[count++] = lt_request_asked(&r);
	r.gpus_per_node = 1;
	seen[count++] = lt_request_asked(&r);
	r.gpus_per_node = 0;
	r.gpus_per_task = 1;
	seen[count++] = lt_request_asked(&r);
	r.memory_mib_per_node = UINT64_C(1) << 33;
	seen[count++] = lt_request_asked(&r);
	snprintf(r.account, sizeof(r.account), "a");
	seen[count++] = lt_request_asked(&r);
	r.account[0] = '\0';
	snprintf(r.qos, sizeof(r.qos), "a");
	seen[count++] = lt_request_asked(&r);
	snprintf(r.features, sizeof(r.features), "fast");
	seen[count++] = lt_request_asked(&r);
	for (int i = 0; i < count; i++)
		for (int k = 0; k < i; k++)
			assert_true(seen[i] != seen[k]);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
	    cmocka_unit_test(names_are_folded),
	    cmocka_unit_test(keys_tell_kinds_apart),
	    cmocka_unit_test(limits_are_told_apart_by_size),
	    cmocka_unit_test(some_names_are_none),
	    cmocka_unit_test(proofs_are_told_apart),
	    cmocka_unit_test(shapes_are_what_was_asked),
	    cmocka_unit_test(the_narrowest_with_three_runs_speaks),
	    cmocka_unit_test(told_with_what_it_rests_on),
	    cmocka_unit_test(what_outlives_it_is_planned_on),
	    cmocka_unit_test(what_the_user_says_wins),
	    cmocka_unit_test(requests_are_told_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
