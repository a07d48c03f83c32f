/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * job_modify as slurmctld calls it: for which job, once for each record of an array, over what
 * Slurm itself made of the job since.
 */
#include "fake.h"

#include <time.h>

#include "files.h"
#include "quote.h"
#include "terms.h"
#include "units.h"

enum { NODE_MICROS = 3600000, OVER_MINUTES = 15000 };

/* A node for an hour, in the period of now. */
static struct lt_terms
an_hour(uint32_t job_id)
{
	const int64_t now_utc_s = (int64_t)time(NULL);

	return (struct lt_terms){.job_id = job_id,
	    .uid = getuid(),
	    .quote_id = job_id,
	    .hold_money_micros = NODE_MICROS + 1,
	    .hold_carbon_mg = 100000000,
	    .account_hash = lt_name_hash("team0000"),
	    .limit_s = 3600,
	    .tasks = 1,
	    .flags =
		LT_TERMS_PENDING | LT_TERMS_BUDGETED | LT_TERMS_HAS_MONEY | LT_TERMS_HAS_CARBON,
	    .start_utc_s = now_utc_s,
	    .end_utc_s = now_utc_s + 3600,
	    .seen_utc_s = now_utc_s - 1,
	    .partition_count = 1,
	    .partition_hash = {lt_name_hash("ondemand")},
	    .asked = {.min_nodes = 1, .max_nodes = 1, .cpus = 64}};
}

static void
world(const char *snapshots, struct lt_terms *terms, uint32_t count)
{
	char path[600];

	fake_shell("rm -f %s/*", fake_state);
	fake_snapshots(snapshots);
	snprintf(path, sizeof(path), "%s/%s", fake_state, LT_TERMS_FILE);
	assert_int_equal(lt_terms_write(path, terms, count, 1, NULL), LT_OK);
	fake_restart();
	fake_said[0] = '\0';
}

/* Job 7 has a budget, 9 has none. */
static void
test_which_job(void **state)
{
	static const struct {
		const char *why, *id;
		uint32_t number;
		int code;
	} cases[] = {
	    {"its number", "7", NO_VAL, ESLURM_ACCOUNTING_POLICY},
	    {"without a text", NULL, 7, ESLURM_ACCOUNTING_POLICY},
	    {"another's number beside", "7", 9, ESLURM_ACCOUNTING_POLICY},
	    {"blanks before", "  7", 9, ESLURM_ACCOUNTING_POLICY},
	    {"a number that Slurm cuts to 7", "4294967303", 9, ESLURM_ACCOUNTING_POLICY},
	    {"an offset that Slurm cuts to 0", "7+4294967296", 9, ESLURM_ACCOUNTING_POLICY},
	    {"an offset that is 2 modulo NO_VAL", "7+4294967294", 9, ESLURM_ACCOUNTING_POLICY},
	    {"a number that Slurm cuts to 9", "4294967305", 7, SLURM_SUCCESS},
	    {"a component", "6+3", 7, SLURM_SUCCESS},
	    {"the job without budget", "9", 7, SLURM_SUCCESS},
	    {"another name of it", "s123", 9, ESLURM_ACCOUNTING_POLICY},
	    {"no number", "x", 9, ESLURM_ACCOUNTING_POLICY},
	    {"a negative one", "-9", 9, ESLURM_ACCOUNTING_POLICY},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct lt_terms both[] = {an_hour(7), an_hour(9)};
		job_desc_msg_t job;

		print_message("# %s\n", cases[i].why);
		both[1].flags &= ~(uint32_t)LT_TERMS_BUDGETED;
		both[1].account_hash = lt_name_hash("free");
		world("--limit 10", both, 2);
		fake_job_defaults(&job);
		lt_job_desc_id(&job) = cases[i].number;
		job.job_id_str = slurm_xstrdup(cases[i].id);
		job.time_limit = OVER_MINUTES;
		assert_int_equal(fake_job_modify(&job, getuid()), cases[i].code);
		free(job.job_id_str);
	}
}

/* What names the job otherwise can't be judged, where money is at stake; the user is told what will
 * do. */
static void
test_other_names(void **state)
{
	struct lt_terms one = an_hour(7);
	job_desc_msg_t job;
	char name[] = "s123", text[] = "text";

	(void)state;
	world("--limit 10", &one, 1);
	fake_job_defaults(&job);
	job.job_id_str = name;
	job.comment = text;
	assert_int_equal(fake_job_modify(&job, getuid()), SLURM_SUCCESS);
	job.time_limit = 1;
	assert_int_equal(fake_job_modify(&job, getuid()), ESLURM_ACCOUNTING_POLICY);
	assert_non_null(strstr(fake_said, "name the job by its number"));
	assert_null(strstr(fake_said, "job 0"));
	job.user_id = getuid() + 1;
	assert_int_equal(fake_job_modify(&job, job.user_id), SLURM_SUCCESS);
#if LT_SLURM_AT_LEAST(25, 11)
	job.job_id_str = NULL;
	job.step_id.job_id = 7;
	assert_int_equal(fake_job_modify(&job, getuid()), SLURM_SUCCESS);
	job.step_id.sluid = 1;
	assert_int_equal(fake_job_modify(&job, getuid()), ESLURM_ACCOUNTING_POLICY);
#endif
}

/* slurmctld asks once for each record of an array, with the same text: the tasks share one amount,
 * which is raised once. */
static void
test_once_for_an_array(void **state)
{
	static const struct {
		const char *why, *limit, *account;
		uint32_t minutes[3];
		int code;
		uint32_t records;
		int64_t micros; /* of the last record, per task */
	} cases[] = {
	    {"an hour more for ten tasks", "--limit 36.1", NULL, {120, 120, 120}, SLURM_SUCCESS, 1,
		NODE_MICROS},
	    {"then another", "--limit 72.1", NULL, {120, 180, 180}, SLURM_SUCCESS, 2, NODE_MICROS},
	    {"less, then what is held", "--limit 1", NULL, {30, 60, 60}, SLURM_SUCCESS, 0, 0},
	    {"another team", "--limit 36.1 --teams 2", "team0001", {60, 60, 60}, SLURM_SUCCESS, 1,
		NODE_MICROS + 1},
	    {"what does not fit", "--limit 35.9", NULL, {120, 120, 120}, ESLURM_ACCOUNTING_POLICY,
		0, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct lt_terms one = an_hour(7);
		struct lt_ring_record last = {0};

		print_message("# %s\n", cases[i].why);
		one.tasks = 10;
		world(cases[i].limit, &one, 1);
		for (int k = 0; k < 3; k++) {
			job_desc_msg_t job;

			fake_job_defaults(&job);
			job.job_id_str = slurm_xstrdup("7");
			job.account = slurm_xstrdup(cases[i].account);
			job.time_limit = cases[i].minutes[k];
			assert_int_equal(fake_job_modify(&job, getuid()), cases[i].code);
			free(job.job_id_str);
			free(job.account);
		}
		assert_int_equal(fake_holds(&last), cases[i].records);
		assert_int_equal(last.per_task.money_micros, cases[i].micros);
		if (cases[i].records > 0)
			assert_int_equal(last.tasks, 10);
	}
}

static void
load_market(struct lt_market *market, char *path, size_t size)
{
	snprintf(path, size, "%s/%s", fake_run, LT_MARKET_FILE);
	assert_int_equal(lt_market_load(market, path, NULL, NULL), LT_OK);
}

/* Hours from now at a node's price each; the last goes on. */
static void
price_by_hours(const struct lt_series *parts)
{
	struct lt_market market;
	char path[600];

	load_market(&market, path, sizeof(path));
	market.series[market.partitions[0].price_series] = *parts;
	assert_int_equal(lt_market_save(&market, path, NULL), LT_OK);
	lt_market_free(&market);
}

/* Three hours at 3.60 from now, then 0.36, from the twelfth on 36. */
static void
test_begin_at_another_price(void **state)
{
	enum { CHEAP = NODE_MICROS / 10, DEAR = NODE_MICROS * 10 };

	static const struct {
		const char *why, *limit, *features;
		int64_t start_in_s, length_s, held, begin_in_s;
		uint32_t minutes;
		int code;
		int64_t micros; /* of the record; 0 = none */
	} cases[] = {
	    {"into dear hours", "--limit 35.7", NULL, 4 * 3600, 3600, CHEAP + 1, 13 * 3600, NO_VAL,
		SLURM_SUCCESS, DEAR - CHEAP},
	    {"which does not fit", "--limit 35.6", NULL, 4 * 3600, 3600, CHEAP + 1, 13 * 3600,
		NO_VAL, ESLURM_ACCOUNTING_POLICY, 0},
	    {"now, from cheap hours", "--limit 10", NULL, 4 * 3600, 3600, CHEAP + 1, -1, NO_VAL,
		SLURM_SUCCESS, NODE_MICROS - CHEAP},
	    {"into cheap hours", "--limit 0", NULL, 13 * 3600, 3600, DEAR + 1, 4 * 3600, NO_VAL,
		SLURM_SUCCESS, 0},
	    {"an hour more of cheap ones", "--limit 0.37", NULL, 4 * 3600, 3600, CHEAP + 1, 0, 120,
		SLURM_SUCCESS, CHEAP},
	    {"an hour more, dear at the end of an array's window", "--limit 36.1", NULL, 4 * 3600,
		10 * 3600, DEAR + 1, 0, 120, SLURM_SUCCESS, DEAR},
	    {"its hour has come, and is dearer than what is held", "--limit 0", "ib", -1800, 3600,
		CHEAP + 1, 0, NO_VAL, SLURM_SUCCESS, 0},
	};
	const int64_t now_utc_s = (int64_t)time(NULL);
	int64_t starts[] = {
	    now_utc_s - 3600, now_utc_s + 3 * 3600, now_utc_s + 12 * 3600, now_utc_s + 48 * 3600};
	double values[] = {NODE_MICROS, CHEAP, DEAR};
	double integrals[4];
	struct lt_series hours = {.quality = LT_QUALITY_FORECAST,
	    .source = "made",
	    .issued_utc_s = now_utc_s - 3600,
	    .count = 3,
	    .start_utc_s = starts,
	    .value = values,
	    .integral = integrals};

	(void)state;
	assert_int_equal(lt_series_prepare(&hours, NULL), LT_OK);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct lt_terms one = an_hour(7);
		struct lt_ring_record last = {0};
		job_desc_msg_t job;

		print_message("# %s\n", cases[i].why);
		one.start_utc_s = now_utc_s + cases[i].start_in_s;
		one.end_utc_s = one.start_utc_s + cases[i].length_s;
		one.hold_money_micros = cases[i].held;
		world(cases[i].limit, &one, 1);
		price_by_hours(&hours);
		fake_restart();
		fake_job_defaults(&job);
		job.job_id_str = slurm_xstrdup("7");
		job.features = slurm_xstrdup(cases[i].features);
		job.time_limit = cases[i].minutes;
		if (cases[i].begin_in_s)
			job.begin_time = (time_t)(now_utc_s + cases[i].begin_in_s);
		assert_int_equal(fake_job_modify(&job, getuid()), cases[i].code);
		free(job.job_id_str);
		free(job.features);
		assert_int_equal(fake_holds(&last), cases[i].micros > 0 ? 1 : 0);
		assert_int_equal(last.per_task.money_micros, cases[i].micros);
	}
}

/* Observe and advise refuse nothing, and say nothing. */
static void
test_other_modes(void **state)
{
	static const char *const modes[] = {"enforce", "advise", "observe"};

	static const struct {
		const char *why, *id, *partition;
		uint32_t terms, nice, priority, minutes;
		int64_t begin_in_s;
	} cases[] = {
	    {"over the budget", "7", NULL, 0, NO_VAL, NO_VAL, OVER_MINUTES, 0},
	    {"not in terms", "8", NULL, 0, NO_VAL, NO_VAL, 90, 0},
	    {"its release", "8", NULL, 0, NO_VAL, INFINITE, NO_VAL, 0},
	    {"held by lowtide", "7", NULL, LT_TERMS_OUR_HOLD, NO_VAL, INFINITE, NO_VAL, 0},
	    {"nice", "7", NULL, LT_TERMS_LOCKED, NICE_OFFSET + 5, NO_VAL, NO_VAL, 0},
	    {"het job", "7", NULL, LT_TERMS_HET_LEADER, NO_VAL, NO_VAL, 90, 0},
	    {"array", "7", NULL, LT_TERMS_ARRAY_ONLY, NO_VAL, NO_VAL, 90, 0},
	    {"requeued", "7", NULL, LT_TERMS_LOCKED, NO_VAL, NO_VAL, NO_VAL, -1},
	    {"no such partition", "7", "nosuch", 0, NO_VAL, NO_VAL, NO_VAL, 0},
	};

	(void)state;
	for (size_t i = 0; i < 3 * sizeof(cases) / sizeof(cases[0]); i++) {
		const size_t k = i / 3;
		struct lt_terms one = an_hour(7);
		job_desc_msg_t job;
		char options[64];

		print_message("# %s: %s\n", modes[i % 3], cases[k].why);
		one.flags |= cases[k].terms;
		snprintf(options, sizeof(options), "--limit 10 --mode %s", modes[i % 3]);
		world(options, &one, 1);
		fake_job_defaults(&job);
		job.job_id_str = slurm_xstrdup(cases[k].id);
		job.partition = slurm_xstrdup(cases[k].partition);
		job.nice = cases[k].nice;
		job.priority = cases[k].priority;
		job.time_limit = cases[k].minutes;
		if (cases[k].begin_in_s)
			job.begin_time = time(NULL) + cases[k].begin_in_s;
		assert_int_equal(fake_job_modify(&job, getuid()),
		    i % 3 == 0 ? ESLURM_ACCOUNTING_POLICY : SLURM_SUCCESS);
		assert_int_equal(fake_said[0] != '\0', i % 3 == 0);
		free(job.job_id_str);
		free(job.partition);
	}
}

/* lowtided is away. Where only money has a price, what raises nothing passes; what loses its price
 * does not. */
static void
test_without_carbon(void **state)
{
	static const struct {
		const char *why, *features, *partition;
		bool no_price; /* in spot */
		uint32_t minutes;
		int code;
	} cases[] = {
	    {"only touched", "ib", NULL, false, NO_VAL, SLURM_SUCCESS},
	    {"cheaper", NULL, "spot", false, NO_VAL, SLURM_SUCCESS},
	    {"longer", NULL, NULL, false, 61, ESLURM_ACCOUNTING_POLICY},
	    {"where there is no price", NULL, "spot", true, NO_VAL, ESLURM_ACCOUNTING_POLICY},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct lt_terms one = an_hour(7);
		struct lt_market market;
		job_desc_msg_t job;
		char path[600];

		print_message("# %s\n", cases[i].why);
		one.flags &= ~(uint32_t)LT_TERMS_HAS_CARBON;
		world("--limit 10 --unknown reject --age 3600 --stale 60", &one, 1);
		load_market(&market, path, sizeof(path));
		for (uint32_t k = 0; k < market.partition_count; k++)
			market.partitions[k].carbon_series = LT_NO_SERIES;
		if (cases[i].no_price)
			market.partitions[1].price_series = LT_NO_SERIES;
		assert_int_equal(lt_market_save(&market, path, NULL), LT_OK);
		lt_market_free(&market);
		fake_restart();
		fake_job_defaults(&job);
		job.job_id_str = slurm_xstrdup("7");
		job.features = slurm_xstrdup(cases[i].features);
		job.partition = slurm_xstrdup(cases[i].partition);
		job.time_limit = cases[i].minutes;
		assert_int_equal(fake_job_modify(&job, getuid()), cases[i].code);
		free(job.job_id_str);
		free(job.features);
		free(job.partition);
	}
}

/* What passed unheld while the balance was unknown is no part of what is
 * held when it is known again. */
static void
test_unheld(void **state)
{
	struct lt_terms one = an_hour(7);
	struct lt_ring_record last = {0};
	job_desc_msg_t job;
	char id[] = "7";

	(void)state;
	one.tasks = 10;
	world("--limit 100 --unknown allow --age 3600 --stale 60", &one, 1);
	fake_job_defaults(&job);
	job.job_id_str = id;
	job.time_limit = 120;
	assert_int_equal(fake_job_modify(&job, getuid()), SLURM_SUCCESS);
	assert_int_equal(fake_holds(NULL), 0);
	fake_snapshots("--limit 100");
	usleep(250000); /* it looks for new files five times a second */
	lt_job_desc_id(&job) = NO_VAL;
	job.time_limit = 180;
	assert_int_equal(fake_job_modify(&job, getuid()), SLURM_SUCCESS);
	assert_int_equal(fake_holds(&last), 1);
	assert_int_equal(last.per_task.money_micros, 2 * NODE_MICROS);
}

/* An array of which a task runs: a later begin can't start another. */
static void
test_array_that_runs(void **state)
{
	static const struct {
		const char *why, *says;
		uint32_t terms, nice;
		int64_t begin_in_s;
		int code;
	} cases[] = {
	    {"a begin in an hour", "", LT_TERMS_ARRAY_RAN, NO_VAL, 3600, SLURM_SUCCESS},
	    {"now", "name those that wait", LT_TERMS_ARRAY_RAN, NO_VAL, -1,
		ESLURM_ACCOUNTING_POLICY},
	    {"within Slurm's wait", "name those that wait", LT_TERMS_ARRAY_RAN, NO_VAL, 110,
		ESLURM_ACCOUNTING_POLICY},
	    {"nice", "name those that wait", LT_TERMS_ARRAY_RAN, NICE_OFFSET + 5, 0,
		ESLURM_ACCOUNTING_POLICY},
	    {"nice of what is held", "held by lowtide", LT_TERMS_ARRAY_RAN | LT_TERMS_OUR_HOLD,
		NICE_OFFSET + 5, 0, ESLURM_ACCOUNTING_POLICY},
	    {"requeued, in an hour", "", LT_TERMS_LOCKED, NO_VAL, 3600, SLURM_SUCCESS},
	    {"requeued, now", "not yet admitted", LT_TERMS_LOCKED, NO_VAL, -1,
		ESLURM_ACCOUNTING_POLICY},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct lt_terms one = an_hour(7);
		job_desc_msg_t job;
		char id[] = "7";

		print_message("# %s\n", cases[i].why);
		one.flags |= cases[i].terms;
		world("--limit 10", &one, 1);
		fake_job_defaults(&job);
		job.job_id_str = id;
		job.nice = cases[i].nice;
		if (cases[i].begin_in_s)
			job.begin_time = time(NULL) + cases[i].begin_in_s;
		assert_int_equal(fake_job_modify(&job, getuid()), cases[i].code);
		assert_non_null(strstr(fake_said, cases[i].says));
	}
}

/* GPUs' defaults of the partition, in the record as if they were asked. Nodes of 64 CPUs, 8 GPUs,
 * 512000 MiB; spot has the same price here. */
static void
test_defaults_of_partitions(void **state)
{
	static const struct {
		const char *why, *partition, *gpus;
		uint32_t from, to; /* DefCpuPerGPU of ondemand, spot */
		uint64_t memory_to;
		struct lt_terms_asked asked;
		uint16_t cpus_per_task; /* in the change */
		int64_t share_64ths;	/* of the node, for an hour; 0 = no more */
	} cases[] = {
	    {"none, then 16 for each of two GPUs", "spot", NULL, 0, 16, 0,
		{.tasks = 1, .cpus = 2, .gpus = 2, .cpus_per_task = 1}, NO_VAL16, 32},
	    {"2, then 16", "spot", NULL, 2, 16, 0,
		{.tasks = 1, .cpus = 4, .gpus = 2, .cpus_per_task = 1, .cpus_per_gpu = 2}, NO_VAL16,
		32},
	    {"GPUs of tasks: 2, then 16", "spot", NULL, 2, 16, 0,
		{.tasks = 2, .cpus = 4, .gpus_per_task = 1, .cpus_per_task = 2, .cpus_per_gpu = 2},
		NO_VAL16, 32},
	    {"CPUs per task that were said", "spot", NULL, 0, 16, 0,
		{.tasks = 1, .cpus = 2, .gpus = 2, .cpus_per_task = 2}, NO_VAL16, 0},
	    {"CPUs per task that are said", "spot", NULL, 0, 16, 0,
		{.tasks = 1, .cpus = 2, .gpus = 2, .cpus_per_task = 1}, 4, 0},
	    {"GPUs for a job without", NULL, "gres:gpu:2", 16, 0, 0,
		{.tasks = 1, .cpus = 1, .cpus_per_task = 1}, NO_VAL16, 32},
	    {"1000 MiB, then half of the node", "spot", NULL, 0, 0, 256000,
		{.tasks = 1, .cpus = 1, .gpus = 1, .cpus_per_task = 1, .memory_mib_per_gpu = 1000},
		NO_VAL16, 32},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct lt_terms one = an_hour(7);
		struct lt_ring_record last = {0};
		struct lt_market market;
		job_desc_msg_t job;
		char path[600], id[] = "7";

		print_message("# %s\n", cases[i].why);
		one.asked = cases[i].asked;
		one.asked.min_nodes = one.asked.max_nodes = 1;
		one.hold_money_micros = 1;
		world("--limit 10", &one, 1);
		load_market(&market, path, sizeof(path));
		market.partitions[0].default_cpus_per_gpu = cases[i].from;
		market.partitions[1].default_cpus_per_gpu = cases[i].to;
		market.partitions[1].default_memory_mib_per_gpu = cases[i].memory_to;
		market.partitions[1].price_series = market.partitions[0].price_series;
		assert_int_equal(lt_market_save(&market, path, NULL), LT_OK);
		lt_market_free(&market);
		fake_restart();
		fake_job_defaults(&job);
		job.job_id_str = id;
		job.partition = slurm_xstrdup(cases[i].partition);
		job.tres_per_node = slurm_xstrdup(cases[i].gpus);
		job.cpus_per_task = cases[i].cpus_per_task;
		assert_int_equal(fake_job_modify(&job, getuid()), SLURM_SUCCESS);
		free(job.partition);
		free(job.tres_per_node);
		assert_int_equal(fake_holds(&last), cases[i].share_64ths > 0 ? 1 : 0);
		assert_int_equal(
		    last.per_task.money_micros, NODE_MICROS * cases[i].share_64ths / 64);
	}
}

/* No record shows --distribution=plane; the quote does: with it another plane of 8 CPUs for each
 * node more. */
static void
test_planes(void **state)
{
	static const struct {
		const char *why;
		uint32_t terms;
		int64_t micros;
	} cases[] = {
	    {"64 CPUs on any nodes", 0, 0},
	    {"and 8 on each of three nodes more", LT_TERMS_PLANE, NODE_MICROS * 3 * 8 / 64},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct lt_terms one = an_hour(7);
		struct lt_ring_record last = {0};
		job_desc_msg_t job;
		char id[] = "7";

		print_message("# %s\n", cases[i].why);
		one.flags |= cases[i].terms;
		one.asked = (struct lt_terms_asked){
		    .min_nodes = 1, .max_nodes = 1, .tasks = 8, .cpus = 64, .cpus_per_task = 8};
		world("--limit 10", &one, 1);
		fake_job_defaults(&job);
		job.job_id_str = id;
		job.min_nodes = job.max_nodes = 4;
		assert_int_equal(fake_job_modify(&job, getuid()), SLURM_SUCCESS);
		fake_records(&last);
		assert_int_equal(last.per_task.money_micros, cases[i].micros);
	}
}

int
fake_change_tests(void)
{
	const struct CMUnitTest tests[] = {
	    FAKE_TEST(test_which_job),
	    FAKE_TEST(test_other_names),
	    FAKE_TEST(test_once_for_an_array),
	    FAKE_TEST(test_begin_at_another_price),
	    FAKE_TEST(test_other_modes),
	    FAKE_TEST(test_without_carbon),
	    FAKE_TEST(test_unheld),
	    FAKE_TEST(test_array_that_runs),
	    FAKE_TEST(test_defaults_of_partitions),
	    FAKE_TEST(test_planes),
	};

	return cmocka_run_group_tests_name("change", tests, NULL, NULL);
}
