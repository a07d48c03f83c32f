/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * require_smoke: node-hours, who is told apart, when a run counts, and the command that is told.
 */
#include "decide_fixture.h"

#include "smoke.h"

static struct lt_class class;

static int
begin(void **state)
{
	setup(state);
	class = (struct lt_class){
	    .name = "big", .smoke_above_node_s = 64 * HOUR, .smoke_within_s = 7 * DAY};
	request.exclusive = true;
	return 0;
}

static void
test_node_hours(void **state)
{
	static const struct {
		const char *why;
		uint32_t nodes, tasks;
		int64_t limit_s, node_h;
	} cases[] = {
	    {"one node, its limit", 1, 1, 2 * HOUR, 2},
	    {"all nodes", 4, 1, 3 * HOUR, 12},
	    {"all tasks of an array", 2, 100, HOUR, 200},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		begin(state);
		print_message("%s\n", cases[i].why);
		request.min_nodes = request.max_nodes = cases[i].nodes;
		request.array_tasks = cases[i].tasks;
		request.limit_s = cases[i].limit_s;
		assert_int_equal(lt_smoke_node_s(&request, &market), cases[i].node_h * HOUR);
	}
	/* Half a node is half a node-hour. */
	begin(state);
	request.exclusive = false;
	request.cpus = 32;
	assert_int_equal(lt_smoke_node_s(&request, &market), HOUR);
	/* Of two partitions the larger part. */
	request.named_count = 2;
	request.named[0] = HOME;
	request.named[1] = CHEAP;
	shapes[CHEAP].cpus = 32;
	assert_int_equal(lt_smoke_node_s(&request, &market), 2 * HOUR);
	/* Without a limit it is more than any bound. */
	request.limit_s = LT_UNSET_64;
	assert_int_equal(lt_smoke_node_s(&request, &market), INT64_MAX);
}

static void
test_judged(void **state)
{
	static const struct {
		const char *why;
		int64_t node_s;
		uint32_t runs;
		int64_t age_s;
		bool is_known;
		enum lt_smoke smoke;
	} cases[] = {
	    {"as much as may be", 64 * HOUR, 0, 0, true, LT_SMOKE_FREE},
	    {"a second more", 64 * HOUR + 1, 0, 0, true, LT_SMOKE_MISSING},
	    {"had one", 65 * HOUR, 1, 60, true, LT_SMOKE_DONE},
	    {"as old as may be", 65 * HOUR, 3, 7 * DAY, true, LT_SMOKE_DONE},
	    {"too old", 65 * HOUR, 3, 7 * DAY + 1, true, LT_SMOKE_MISSING},
	    {"no file", 65 * HOUR, 0, 0, false, LT_SMOKE_UNKNOWN},
	    {"no file, and none is wanted", 1, 0, 0, false, LT_SMOKE_FREE},
	    {"no limit of time", INT64_MAX, 0, 0, true, LT_SMOKE_MISSING},
	};

	begin(state);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct lt_history_figures figures = {
		    .runs = cases[i].runs, .median = (uint32_t)(NOW - cases[i].age_s)};

		print_message("%s\n", cases[i].why);
		assert_int_equal(lt_smoke_judge(&class, cases[i].node_s,
				     cases[i].is_known ? &figures : NULL, NOW),
		    cases[i].smoke);
	}
	assert_int_equal(lt_smoke_judge(NULL, INT64_MAX, NULL, NOW), LT_SMOKE_FREE);
	class.smoke_within_s = 0;
	assert_int_equal(lt_smoke_judge(&class, INT64_MAX, NULL, NOW), LT_SMOKE_FREE);
}

static bool
is_same(struct lt_history_key a, struct lt_history_key b)
{
	return a.hash == b.hash && a.uid == b.uid;
}

static void
test_keys(void **state)
{
	char longer[3 * LT_NAME_SIZE], cut[LT_NAME_SIZE];
	const uint32_t name = lt_smoke_name_hash("train");
	const struct lt_history_key key = lt_smoke_key(7, "vision", name);

	(void)state;
	assert_true(is_same(lt_smoke_key(7, "vision", name), key));
	assert_false(is_same(lt_smoke_key(8, "vision", name), key));
	assert_false(is_same(lt_smoke_key(7, "nlp", name), key));
	assert_false(is_same(lt_smoke_key(7, "vision", lt_smoke_name_hash("trainer")), key));
	assert_int_equal(lt_smoke_name_hash("run_7"), lt_smoke_name_hash("run_0413"));
	/* The ledger has the name cut: then it is the same all the same. */
	memset(longer, '1', sizeof(longer));
	longer[LT_NAME_SIZE - 8] = 'a';
	longer[sizeof(longer) - 1] = '\0';
	memcpy(cut, longer, sizeof(cut));
	cut[sizeof(cut) - 1] = '\0';
	assert_int_equal(lt_smoke_name_hash(longer), lt_smoke_name_hash(cut));
}

static void
test_words(void **state)
{
	static const char *const command[] = {"./my train.sh", "it's", ""};
	struct lt_smoke_job job = {.class = &class,
	    .request = &request,
	    .nodes = 64,
	    .node_s = 128 * HOUR,
	    .name = "train",
	    .command = command,
	    .command_count = 3};
	char text[1024];

	begin(state);
	request.min_nodes = request.max_nodes = 64;
	request.tasks = 512;
	request.gpus_per_node = 8;
	snprintf(request.qos, sizeof(request.qos), "long");
	lt_smoke_text(text, sizeof(text), &job);
	assert_string_equal(text,
	    "class big: above 64 node-hours a job needs a COMPLETED run of its name on at most 2 nodes within 7d, and train has none (this one asks for up to 128).\n"
	    "First: sbatch --job-name=train --account=vision --qos=long --nodes=2 --gpus-per-node=8 --ntasks=16 --time=0:30:00 './my train.sh' 'it'\\''s' ''");
	/* No nodes named: as many tasks as fit two of those it would get. */
	request.min_nodes = request.max_nodes = 0;
	request.gpus_per_node = 0;
	request.gpus = 512;
	lt_smoke_text(text, sizeof(text), &job);
	assert_non_null(strstr(text, " --nodes=2 --ntasks=16 --gpus=16 "));
	request.gpus = 0;
	/* So that it needs none itself; an allocation's command is not known. */
	class.smoke_above_node_s = HOUR / 2;
	request.tasks_implied = true;
	request.array_tasks = 9;
	request.gpus_per_node = 0;
	request.qos[0] = '\0';
	/* A client of its own left a word out. */
	job.command = (const char *const[]){"./train.sh", NULL};
	job.command_count = 2;
	lt_smoke_text(text, sizeof(text), &job);
	assert_non_null(strstr(text, " ./train.sh ''"));
	job.command_count = 0;
	job.node_s = INT64_MAX;
	lt_smoke_text(text, sizeof(text), &job);
	assert_string_equal(text,
	    "class big: above 0.5 node-hours a job needs a COMPLETED run of its name on at most 2 nodes within 7d, and train has none.\n"
	    "First: the same command with --job-name=train --account=vision --nodes=2 --array=0 --time=0:15:00");
	job.name = NULL;
	lt_smoke_text(text, sizeof(text), &job);
	assert_non_null(strstr(text, "within 7d, and this one has none."));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_node_hours),
	    cmocka_unit_test(test_judged),
	    cmocka_unit_test(test_keys),
	    cmocka_unit_test(test_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
