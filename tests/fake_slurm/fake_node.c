/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * spank_lowtide.so in the step daemon: what it puts into a job's environment.
 */
#include "fake.h"

static void
expect_env(const char *name, const char *value)
{
	char found[256] = "unset";

	spank_getenv(NULL, name, found, sizeof(found));
	assert_string_equal(found, value);
}

static void
test_spank_environment(void **state)
{
	char gpu[] = "gpu=v[1-2]:V100-SXM2,a:A100-SXM4-40GB,h:H100-SXM5",
	     spot[] = "preemptible=spot:0.02", *arguments[] = {gpu, spot};

	static const struct {
		const char *why, *node, *amp, *theirs, *accelerate, *lightning, *memory;
	} cases[] = {
	    {"nobody asked", "a1", NULL, NULL, "unset", "unset", "unset"},
	    {"Ampere", "a1", "auto", NULL, "bf16", "bf16-mixed", "40960"},
	    {"Volta", "v2", "auto", NULL, "fp16", "16-mixed", "16384"},
	    {"no such node", "v3", "auto", NULL, "unset", "unset", "unset"},
	    {"off", "a1", "off", NULL, "unset", "unset", "40960"},
	    {"the user's own value", "a1", "auto", "no", "no", "unset", "40960"},
	    {"bf16 is not for Volta", "v1", "bf16", NULL, "fp16", "16-mixed", "16384"},
	    {"fp16 on Ampere", "a7", "fp16", NULL, "fp16", "16-mixed", "40960"},
	    {"fp8 on Hopper", "h1", "fp8", NULL, "fp8", "bf16-mixed", "81559"},
	    {"fp8 on Ampere", "a1", "fp8", NULL, "bf16", "bf16-mixed", "40960"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		print_message("# %s\n", cases[i].why);
		fake_spank_start(S_CTX_REMOTE, arguments, 2);
		setenv("SLURMD_NODENAME", cases[i].node, 1);
		if (cases[i].theirs != NULL)
			fake_env("ACCELERATE_MIXED_PRECISION", cases[i].theirs);
		if (cases[i].amp != NULL)
			fake_env("SLURM_SPANK__SLURM_SPANK_OPTION_lowtide_amp", cases[i].amp);
		assert_int_equal(fake_spank_post_opt(NULL, 0, NULL), 0);
		assert_int_equal(fake_spank_task_init(NULL, 0, NULL), 0);
		expect_env("ACCELERATE_MIXED_PRECISION", cases[i].accelerate);
		expect_env("PL_TRAINER_PRECISION", cases[i].lightning);
		expect_env("LOWTIDE_PREEMPTIBLE", "unset");
		expect_env("LOWTIDE_GPU_MEMORY_MIB", cases[i].memory);
		expect_env("LOWTIDE_RESTARTS", cases[i].amp ? "0" : "unset");
	}
}

/* The site's rules, where the user said nothing; the first that matches. */
static void
test_spank_precision(void **state)
{
	char gpu[] = "gpu=a:A100-SXM4-40GB",
	     rules[] = "precision=account:audit:off,qos:fast:fp16,partition:old:fp8,"
		       "account:a:b:bf16,qos:wrong:fp4,partition:,x,account:late:off",
	     *arguments[] = {gpu, rules};
	static const struct {
		const char *why, *account, *qos, *partition, *amp, *accelerate, *tf32;
	} cases[] = {
	    {"none matches", "vision", "normal", "spot", NULL, "unset", "unset"},
	    {"an account", "audit", "normal", "spot", NULL, "unset", "0"},
	    {"the first of two", "audit", "fast", "old", NULL, "unset", "0"},
	    {"a QOS before a partition", "vision", "fast", "old", NULL, "fp16", "unset"},
	    {"a partition, and what the card has", "vision", "normal", "old", NULL, "bf16",
		"unset"},
	    {"the user's word", "audit", "normal", "spot", "fp16", "fp16", "unset"},
	    {"a colon in the name", "a:b", "normal", "spot", NULL, "bf16", "unset"},
	    {"no such precision", "vision", "wrong", "spot", NULL, "unset", "unset"},
	    {"behind what can't be read", "late", "normal", "spot", NULL, "unset", "0"},
	    {"a name that begins alike", "audit2", "normal", "spot", NULL, "unset", "unset"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		print_message("# %s\n", cases[i].why);
		fake_spank_start(S_CTX_REMOTE, arguments, 2);
		setenv("SLURMD_NODENAME", "a1", 1);
		fake_env("SLURM_JOB_ACCOUNT", cases[i].account);
		fake_env("SLURM_JOB_QOS", cases[i].qos);
		fake_env("SLURM_JOB_PARTITION", cases[i].partition);
		if (cases[i].amp != NULL)
			assert_int_equal(fake_give("amp", cases[i].amp, 1), 0);
		assert_int_equal(fake_spank_post_opt(NULL, 0, NULL), 0);
		expect_env("ACCELERATE_MIXED_PRECISION", cases[i].accelerate);
		expect_env("NVIDIA_TF32_OVERRIDE", cases[i].tf32);
	}
}

static void
test_spank_checkpoint(void **state)
{
	/* The interval is about sqrt(2 x 120 s x 180,000 s): research's own figure. */
	static const struct {
		const char *why, *line, *partition, *checkpoint, *restarts, *preemptible, *kind,
		    *notice, *interval;
	} cases[] = {
	    {"nodes are not taken", "preemptible=spot:0.02", "ondemand", "write=2m", NULL, "0",
		"on_demand", "0", "3600"},
	    {"nor by a line without any", "gpu=a:T4", "spot", "write=2m", NULL, "0", "on_demand",
		"0", "3600"},
	    {"the user's own interval there", "preemptible=spot:0.02", "ondemand", "every=30m",
		NULL, "0", "on_demand", "0", "1800"},
	    {"the best one", "preemptible=spot:0.02", "spot", "write=2m", "3", "1", "preemptible",
		"0", "6493"},
	    {"with a notice", "preemptible=a:1,spot:0.02:120", "spot", "write=2m", "1", "1",
		"preemptible", "120", "6493"},
	    {"the user's own", "preemptible=spot:0.02:30", "spot", "every=30m", NULL, "1",
		"preemptible", "30", "1800"},
	    {"by its size", "preemptible=spot:0.02:0:2", "spot", "size=240G", NULL, "1",
		"preemptible", "0", "6493"},
	    {"four fields", "preemptible=spot:0.02:0:2:1", "spot", "write=2m", NULL, "0",
		"on_demand", "0", "3600"},
	    {"a notice that is none", "preemptible=spot:0.02:2m", "spot", "write=2m", NULL, "0",
		"on_demand", "0", "3600"},
	    {"never taken", "preemptible=spot:0:60", "spot", "write=2m", NULL, "1", "preemptible",
		"60", "3600"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char line[64], *arguments[] = {line};

		print_message("# %s\n", cases[i].why);
		snprintf(line, sizeof(line), "%s", cases[i].line);
		fake_spank_start(S_CTX_REMOTE, arguments, 1);
		fake_env("SLURM_JOB_PARTITION", cases[i].partition);
		assert_int_equal(fake_give("checkpoint", cases[i].checkpoint, 1), 0);
		assert_int_equal(fake_spank_post_opt(NULL, 0, NULL), 0);
		/* Slurm puts it there between the two. */
		if (cases[i].restarts != NULL)
			fake_env("SLURM_RESTART_COUNT", cases[i].restarts);
		assert_int_equal(fake_spank_task_init(NULL, 0, NULL), 0);
		expect_env("LOWTIDE_RESTARTS", cases[i].restarts != NULL ? cases[i].restarts : "0");
		expect_env("LOWTIDE_PREEMPTIBLE", cases[i].preemptible);
		expect_env("LOWTIDE_PARTITION_KIND", cases[i].kind);
		expect_env("LOWTIDE_NOTICE_SECONDS", cases[i].notice);
		expect_env("LOWTIDE_CHECKPOINT_INTERVAL_SECONDS", cases[i].interval);
		expect_env("LOWTIDE_DEADLINE", "unset");
	}
	/* A step with --export=NONE has Slurm's own variables. */
	fake_spank_start(S_CTX_REMOTE, NULL, 0);
	fake_env("SLURM_RESTART_COUNT", "5");
	fake_env("SLURM_LOWTIDE_DEADLINE", "1795176000");
	assert_int_equal(fake_give("checkpoint", "", 1), 0);
	assert_int_equal(fake_spank_post_opt(NULL, 0, NULL), 0);
	assert_int_equal(fake_spank_task_init(NULL, 0, NULL), 0);
	expect_env("LOWTIDE_RESTARTS", "5");
	expect_env("LOWTIDE_DEADLINE", "2026-11-20T12:00:00Z");
}

/* By the client's word: a batch script whose plan that is, and nobody else. What slurmctld says of
 * it is the cluster's matter. */
static void
test_spank_cap(void **state)
{
	static const char cap[] = "1200,low,%s,80000,1900,400,523";
	static const struct {
		const char *why, *from, *until, *gpu, *cpu;
		uint32_t step;
		const char *want_gpu, *want_cpu, *want_capped;
	} cases[] = {
	    {"its plan", "1000", "9999999999", NULL, NULL, SLURM_BATCH_SCRIPT, "1200", "low", "1"},
	    {"a step is srun's", "1000", "9999999999", NULL, NULL, 0, "unset", "unset", "unset"},
	    {"the user's GPUs", "1000", "9999999999", "high", NULL, SLURM_BATCH_SCRIPT, "high",
		"unset", "unset"},
	    {"the user's CPUs", "1000", "9999999999", NULL, "", SLURM_BATCH_SCRIPT, "unset", "",
		"unset"},
	    {"the hours are over", "1000", "2000", NULL, NULL, SLURM_BATCH_SCRIPT, "unset", "unset",
		"unset"},
	    {"sooner than planned", "9999999998", "9999999999", NULL, NULL, SLURM_BATCH_SCRIPT,
		"unset", "unset", "unset"},
	    {"forged", "-1", "9999999999", NULL, NULL, SLURM_BATCH_SCRIPT, "unset", "unset",
		"unset"},
	    {"forged, too", "1000", "9999999999,1", NULL, NULL, SLURM_BATCH_SCRIPT, "unset",
		"unset", "unset"},
	    {"none", NULL, "", NULL, NULL, SLURM_BATCH_SCRIPT, "unset", "unset", "unset"},
	};
	char yes[] = "power_cap=no", *arguments[] = {yes};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char text[192], words[128];

		print_message("# %s\n", cases[i].why);
		fake_spank_start(S_CTX_REMOTE, arguments, 1);
		assert_string_equal(fake_said, "");
		snprintf(words, sizeof(words), cap, cases[i].until);
		snprintf(
		    text, sizeof(text), "%s,%s", cases[i].from != NULL ? cases[i].from : "", words);
		if (cases[i].from != NULL)
			fake_env("SLURM_LOWTIDE_CAP", text);
		if (cases[i].gpu != NULL)
			fake_env("SLURM_GPU_FREQ", cases[i].gpu);
		if (cases[i].cpu != NULL)
			fake_env("SLURM_CPU_FREQ_REQ", cases[i].cpu);
		fake_step = cases[i].step;
		assert_int_equal(fake_spank_post_opt(NULL, 0, NULL), 0);
		expect_env("SLURM_GPU_FREQ", cases[i].want_gpu);
		expect_env("SLURM_CPU_FREQ_REQ", cases[i].want_cpu);
		expect_env("LOWTIDE_POWER_CAP", cases[i].want_capped);
	}
	fake_step = SLURM_BATCH_SCRIPT;
}

int
fake_node_tests(void)
{
	const struct CMUnitTest tests[] = {
	    FAKE_TEST(test_spank_environment),
	    FAKE_TEST(test_spank_precision),
	    FAKE_TEST(test_spank_checkpoint),
	    FAKE_TEST(test_spank_cap),
	};

	return cmocka_run_group_tests_name("node", tests, NULL, NULL);
}
