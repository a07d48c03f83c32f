/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Slurm's TRES and Gres texts, as slurmctld 22.05 and slurmdbd write them and as they never should.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pwd.h>
#include <string.h>

#include "slurm_text.h"

static void
tres_texts(void **state)
{
	static const struct {
		const char *why, *text;
		uint32_t cpus, nodes, gpus;
		uint64_t memory_mib;
		int64_t energy_joules;
	} cases[] = {
	    {"nothing", NULL, 0, 0, 0, 0, -1},
	    {"empty", "", 0, 0, 0, 0, -1},
	    {"a whole node",
		"cpu=64,mem=500G,node=1,billing=64,gres/gpu=8,"
		"gres/gpu:h100=8",
		64, 1, 8, 512000, -1},
	    {"GPUs tracked by type only", "cpu=2,node=1,gres/gpu:a100=2,gres/gpu:h100=3", 2, 1, 5,
		0, -1},
	    {"other gres is no GPU", "cpu=2,gres/gpumem=80G,gres/nic=2", 2, 0, 0, 0, -1},
	    {"MiB without a unit", "cpu=1,mem=512", 1, 0, 0, 512, -1},
	    {"part of a unit, rounded up", "mem=1.50G,cpu=1", 1, 0, 0, 1536, -1},
	    {"kilobytes round up", "mem=1K", 0, 0, 0, 1, -1},
	    {"terabytes", "mem=2T", 0, 0, 0, 2097152, -1},
	    {"energy", "cpu=1,energy=1234", 1, 0, 0, 0, 1234},
	    {"energy not known is NO_VAL64", "cpu=1,energy=18446744073709551614", 1, 0, 0, 0, -1},
	    {"negative", "cpu=-4,mem=-1G,node=1", 0, 1, 0, 0, -1},
	    {"no value", "cpu=,node=1", 0, 1, 0, 0, -1},
	    {"breaks off where it makes no sense", "cpu=3,what,node=1", 3, 0, 0, 0, -1},
	    {"absurd", "cpu=99999999999999999999,mem=9e300", 0, 0, 0, 0, -1},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct lt_tres tres;

		print_message("%s\n", cases[i].why);
		lt_tres_parse(&tres, cases[i].text);
		assert_int_equal(tres.cpus, cases[i].cpus);
		assert_int_equal(tres.nodes, cases[i].nodes);
		assert_int_equal(tres.gpus, cases[i].gpus);
		assert_int_equal(tres.memory_mib, cases[i].memory_mib);
		assert_int_equal(tres.energy_joules, cases[i].energy_joules);
	}
}

static void
tres_ids(void **state)
{
	static const struct lt_tres_id both[] = {
	    {.id = 1001}, {.id = 1002, .is_typed = true}, {.id = 1003, .is_typed = true}};

	static const struct {
		const char *why, *text;
		uint32_t ids; /* how many of both[] from its end */
		uint32_t cpus, nodes, gpus;
		uint64_t memory_mib;
		int64_t energy_joules;
	} cases[] = {
	    {"nothing", "", 3, 0, 0, 0, 0, -1},
	    {"plain and typed count once",
		"1=64,2=512000,3=18446744073709551614,4=1,5=64,1001=8,"
		"1002=8",
		3, 64, 1, 8, 512000, -1},
	    {"typed only", "1=64,4=2,1002=8,1003=1", 2, 64, 2, 9, 0, -1},
	    {"ids of other things", "1=1,4=1,1004=7", 3, 1, 1, 0, 0, -1},
	    {"energy", "1=1,3=77", 0, 1, 0, 0, 0, 77},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct lt_tres tres;

		print_message("%s\n", cases[i].why);
		lt_tres_parse_ids(&tres, cases[i].text, &both[3 - cases[i].ids], cases[i].ids);
		assert_int_equal(tres.cpus, cases[i].cpus);
		assert_int_equal(tres.nodes, cases[i].nodes);
		assert_int_equal(tres.gpus, cases[i].gpus);
		assert_int_equal(tres.memory_mib, cases[i].memory_mib);
		assert_int_equal(tres.energy_joules, cases[i].energy_joules);
	}
}

static void
shards(void **state)
{
	static const struct lt_tres_id ids[] = {{.id = 1001}, {.id = 1002, .is_shard = true}};
	struct lt_tres tres;

	(void)state;

	lt_tres_parse(&tres, "cpu=1,mem=1M,node=1,billing=1,gres/shard=3");
	assert_int_equal(tres.shards, 3);
	assert_int_equal(tres.gpus, 0);
	assert_true(tres.has_gpus);
	lt_tres_parse(&tres, "cpu=1,node=2,gres/mps=150");
	assert_int_equal(tres.shards, 150);
	lt_tres_parse_ids(&tres, "1=1,4=1,1002=5", ids, 2);
	assert_int_equal(tres.shards, 5);
	assert_int_equal(tres.gpus, 0);
	assert_true(tres.has_gpus);
	lt_tres_parse_ids(&tres, "1=1,4=1", ids, 2);
	assert_false(tres.has_gpus);

	assert_int_equal(lt_node_shards("gpu:v100:4,shard:16(S:0-1)"), 16);
	assert_int_equal(lt_node_shards("gpu:2,mps:400"), 400);
	assert_int_equal(lt_node_shards("gpu:2,mps:400,shard:8"), 8);
	assert_int_equal(lt_node_shards("gpu:2"), 0);
	assert_int_equal(lt_node_shards(NULL), 0);

	assert_true(lt_tres_counts_shards("cpu,gres/gpu", "gpu"));
	assert_true(lt_tres_counts_shards("cpu", NULL));
	assert_false(lt_tres_counts_shards("cpu,gres/gpu", "gpu,shard"));
	assert_true(lt_tres_counts_shards("gres/shard", "gpu,shard"));
	assert_false(lt_tres_counts_shards("gres/shard", "gpu,mps,shard"));
}

static void
tres_that_are_counted(void **state)
{
	static const struct {
		const char *list;
		bool counts;
	} cases[] = {
	    {NULL, false},
	    {"", false},
	    {"cpu,mem,energy,node,billing,fs/disk,vmem,pages", false},
	    {"cpu,mem,energy,node,billing,fs/disk,vmem,pages,gres/gpu", true},
	    {"Gres/GPU,cpu", true},
	    {"cpu,gres/gpu:h100", true},
	    {"cpu,gres/gpumem,gres/gpuutil", false},
	};

	(void)state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		assert_int_equal(lt_tres_counts(cases[i].list, "gres/gpu"), cases[i].counts);
}

static void
gres_texts(void **state)
{
	static const struct {
		const char *why, *text;
		uint32_t gpus;
		const char *type;
	} cases[] = {
	    {"nothing", NULL, 0, ""},
	    {"not (null), Slurm's word for nothing", "(null)", 0, ""},
	    {"type and count", "gpu:h100:8", 8, "h100"},
	    {"with sockets", "gpu:h100:8(S:0-1)", 8, "h100"},
	    {"a comma within the brackets", "gpu:h100:8(S:0,2),nic:1", 8, "h100"},
	    {"no type", "gpu:4", 4, ""},
	    {"neither", "gpu", 1, ""},
	    {"a type alone is one", "gpu:h100", 1, "h100"},
	    {"two types: the larger names it", "gpu:v100:2(S:0),gpu:a100:4(S:1)", 6, "a100"},
	    {"all of a job, as gres_total has it", "gpu:v100:16", 16, "v100"},
	    {"MIG: each slice is one", "gpu:1g.10gb:7,gpu:3g.40gb:2", 9, "1g.10gb"},
	    {"other gres before and behind", "nic:2,gpu:t4:1,mps:200", 1, "t4"},
	    {"a name that only begins so", "gpumem:80", 0, ""},
	    {"no_consume", "gpu:h100:no_consume:8", 8, "h100"},
	    {"brackets never closed", "gpu:h100:8(S:0,gpu:2", 8, "h100"},
	    {"empty items", ",,gpu:2,,", 2, ""},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct lt_shape shape = {0};

		print_message("%s\n", cases[i].why);
		lt_gres_parse(cases[i].text, &shape);
		assert_int_equal(shape.gpus, cases[i].gpus);
		assert_string_equal(shape.kinds[0].type, cases[i].type);
	}
}

static void
numbers(void **state)
{
	(void)state;
	assert_int_equal(lt_minutes(90, 7), 5400);
	assert_int_equal(lt_minutes(0, 7), 0);
	assert_int_equal(lt_minutes(0xffffffff, 7), 7); /* INFINITE */
	assert_int_equal(lt_minutes(0xfffffffe, 7), 7); /* NO_VAL */
	assert_int_equal(lt_minutes(0xfffffffd, 7), 257698037580);
	assert_string_equal(lt_state_name(1), "RUNNING");
	assert_string_equal(lt_state_name(0x8000), "PENDING");
	assert_string_equal(lt_state_name(0xff), "UNKNOWN");
}

/* tests/wait_reasons.sh proves that all are there. Numbers as Slurm has had them in all
 * releases. */
static void
reasons_to_wait(void **state)
{
	static const struct {
		uint32_t number;
		const char *name;
		enum lt_reason says;
	} cases[] = {
	    {0, "None", LT_REASON_NOTHING},
	    {1, "Priority", LT_REASON_NOTHING},
	    {2, "Dependency", LT_REASON_PASSES},
	    {3, "Resources", LT_REASON_NOTHING},
	    {5, "PartitionTimeLimit", LT_REASON_NEVER},
	    {8, "JobHeldAdmin", LT_REASON_PASSES},
	    {9, "BeginTime", LT_REASON_NOTHING},
	    {15, "ReqNodeNotAvail", LT_REASON_NOTHING},
	    {16, "JobHeldUser", LT_REASON_PASSES},
	    {21, "BadConstraints", LT_REASON_NEVER},
	    {100000, "Reason100000", LT_REASON_NOTHING},
	    {UINT32_MAX, "Reason4294967295", LT_REASON_NOTHING},
	};
	char text[LT_REASON_SIZE];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		enum lt_reason says;

		assert_string_equal(lt_wait_reason(&says, cases[i].number, text), cases[i].name);
		if (says != cases[i].says)
			fail_msg("%s", cases[i].name);
	}
	/* Limits of one job never pass, those of a group do. */
	for (uint32_t number = 0; number < 300; number++) {
		enum lt_reason says;
		const char *const name = lt_wait_reason(&says, number, text);

		if (strstr(name, "Grp") != NULL || strstr(name, "PerUser") != NULL ||
		    strstr(name, "PerAccount") != NULL)
			assert_int_equal(says, LT_REASON_PASSES);
		if (strstr(name, "PerJob") != NULL || strstr(name, "PerNode") != NULL ||
		    strncmp(name, "QOSMin", 6) == 0)
			assert_int_equal(says, LT_REASON_NEVER);
	}
}

static int looked_up;

/* In place of the C library's. */
int
getpwuid_r(uid_t uid, struct passwd *user, char *text, size_t size, struct passwd **found)
{
	looked_up++;
	strncpy(text, uid == 7 ? "seven" : "", size);
	*user = (struct passwd){.pw_name = text, .pw_uid = uid};
	*found = uid == 7 ? user : NULL;
	return 0;
}

/* The directory is asked by who may wait for it alone, and of users that have no association. */
static void
names_of_users(void **state)
{
	static const struct lt_batch_pair pairs[] = {{.account = "vision", .user = "ada", .uid = 5},
	    {.account = "vision", .user = "bob", .uid = 6},
	    {.account = "speech", .user = "bob", .uid = 6}};
	char name[LT_NAME_SIZE];
	uint32_t uid = 0;

	(void)state;
	lt_batch_know_users(pairs, 3);
	lt_user_name(name, sizeof(name), "said", 5);
	assert_string_equal(name, "said");
	lt_user_name(name, sizeof(name), NULL, 6);
	assert_string_equal(name, "bob");
	lt_user_name(name, sizeof(name), "", 7);
	assert_string_equal(name, "7");
	assert_true(lt_user_known("ada", &uid));
	assert_int_equal(uid, 5);
	assert_false(lt_user_known("seven", &uid));
	assert_int_equal(looked_up, 0);
	lt_batch_may_wait();
	lt_user_name(name, sizeof(name), "", 6);
	assert_string_equal(name, "bob");
	assert_int_equal(looked_up, 0);
	lt_user_name(name, sizeof(name), "", 7);
	assert_string_equal(name, "seven");
	lt_user_name(name, sizeof(name), "", 7);
	assert_string_equal(name, "seven");
	assert_int_equal(looked_up, 1);
	lt_user_name(name, sizeof(name), NULL, 8);
	assert_string_equal(name, "8");
	lt_batch_know_users(NULL, 0);
	lt_user_name(name, sizeof(name), NULL, 5);
	assert_string_equal(name, "5");
	assert_int_equal(looked_up, 3);
}

static void
births(void **state)
{
	static const struct {
		const char *why, *info, *parent; /* NULL: not of "fresh" */
	} cases[] = {
	    {"nothing", NULL, NULL},
	    {"empty", "", NULL},
	    {"as 22.05 writes it",
		"mod_time=1796000000, acct='fresh', parent_acct='vision', user='', "
		"shares=1",
		"vision"},
	    {"as 24.11 does",
		"mod_time=1796000000, acct='fresh', is_def=0, "
		"parent_acct='vision', user='', id_parent='4', "
		"lineage='/vision/fresh/', shares=1",
		"vision"},
	    {"letters in any case", "mod_time=1, acct='Fresh', parent_acct='Vision', user=''",
		"vision"},
	    {"another account", "mod_time=1, acct='fresher', parent_acct='vision', user=''", NULL},
	    {"a user of it", "mod_time=1, acct='fresh', is_def=1, user='ada', `partition`=''",
		NULL},
	    {"its parent, moved", "parent_acct='vision', user=''", NULL},
	    {"in a text that a user chose",
		"mod_time=1, acct='b', parent_acct='a', user='', comment='"
		"mod_time=1, acct=\\'fresh\\', parent_acct=\\'vision\\', user=\\'\\''",
		NULL},
	    {"a quote in the parent's name",
		"mod_time=1, acct='fresh', parent_acct='a\\'b', user=''", NULL},
	    {"breaks off", "mod_time=1, acct='fresh', parent_acct='vision", NULL},
	    {"longer than a name can be",
		"mod_time=1, acct='fresh', "
		"parent_acct='012345678901234567890123456789012345678901234567', user=''",
		NULL},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char parent[LT_ACCOUNT_SIZE] = "before";
		const bool is = cases[i].parent != NULL;

		print_message("%s\n", cases[i].why);
		assert_true(lt_birth_parent(parent, cases[i].info, "fresh") == is);
		assert_string_equal(parent, is ? cases[i].parent : "before");
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(tres_texts),
	    cmocka_unit_test(tres_ids),
	    cmocka_unit_test(shards),
	    cmocka_unit_test(tres_that_are_counted),
	    cmocka_unit_test(gres_texts),
	    cmocka_unit_test(numbers),
	    cmocka_unit_test(reasons_to_wait),
	    cmocka_unit_test(names_of_users),
	    cmocka_unit_test(births),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
