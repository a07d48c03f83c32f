/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Slurm without Slurm: this program has the symbols that slurmctld, sbatch
 * and slurmstepd give to plugins, loads both .so files and drives them
 * through every path, with files missing, torn, stale and full.
 * Arguments: the build directory, an empty directory; "bench" to measure
 * instead, or to make so many calls of one kind for who counts instructions.
 */
#include "fake.h"

#include <dlfcn.h>

int (*fake_init)(void), (*fake_fini)(void);
int (*fake_submit)(job_desc_msg_t *, uint32_t, char **);
#if LT_MODIFY_HAS_MESSAGE
int (*fake_modify)(job_desc_msg_t *, void *, uint32_t, char **);
#else
int (*fake_modify)(job_desc_msg_t *, void *, uint32_t);
#endif
spank_f *fake_spank_init, *fake_spank_post_opt, *fake_spank_task_init;
char fake_run[512], fake_state[512];
static const char *build;

void
fake_snapshots(const char *arguments)
{
	char command[4096];

	snprintf(command, sizeof(command),
	    "%s/tests/tools/make_snapshot --run %s --state %s %s >/dev/null", build, fake_run,
	    fake_state, arguments);
	assert_int_equal(system(command), 0);
}

void
fake_shell(const char *format, ...)
{
	char command[4096];
	va_list list;

	va_start(list, format);
	vsnprintf(command, sizeof(command), format, list);
	va_end(list);
	assert_int_equal(system(command), 0);
}

/* A fresh pair of directories, nothing in them, the plugin started. */
int
fake_fresh(void **state)
{
	(void)state;
	fake_shell(
	    "rm -rf %s %s && mkdir -m 700 %s %s", fake_run, fake_state, fake_run, fake_state);
	fake_said[0] = '\0';
	setenv("LOWTIDE_RUN_DIR", fake_run, 1);
	setenv("LOWTIDE_STATE_DIR", fake_state, 1);
	unsetenv("LOWTIDE_OFF_FILE");
	assert_int_equal(fake_init(), SLURM_SUCCESS);
	return 0;
}

void
fake_again(void)
{
	assert_int_equal(fake_fini(), SLURM_SUCCESS);
	assert_int_equal(fake_init(), SLURM_SUCCESS);
}

int
fake_done(void **state)
{
	(void)state;
	assert_int_equal(fake_fini(), SLURM_SUCCESS);
	return 0;
}

static void *
load(const char *file)
{
	char path[600];
	void *handle;

	snprintf(path, sizeof(path), "%s/%s", build, file);
	handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (handle == NULL) {
		fprintf(stderr, "%s\n", dlerror());
		exit(1);
	}
	return handle;
}

static void
find(void *function, void *handle, const char *name)
{
	void *const address = dlsym(handle, name);

	if (address == NULL) {
		fprintf(stderr, "%s\n", dlerror());
		exit(1);
	}
	memcpy(function, &address, sizeof(address));
}

int
main(int argc, char **argv)
{
	void *submit_so, *spank_so;

	if (argc != 3 && ((argc != 4 && argc != 7) || strcmp(argv[3], "bench"))) {
		fprintf(stderr, "usage: fake_slurm BUILD DIR [bench [PARTITIONS CALLS "
				"plain|carbon-aware]]\n");
		return 2;
	}
	build = argv[1];
	snprintf(fake_run, sizeof(fake_run), "%s/run", argv[2]);
	snprintf(fake_state, sizeof(fake_state), "%s/state", argv[2]);
	submit_so = load("job_submit_lowtide.so");
	spank_so = load("spank_lowtide.so");
	find(&fake_init, submit_so, "init");
	find(&fake_fini, submit_so, "fini");
	find(&fake_submit, submit_so, "job_submit");
	find(&fake_modify, submit_so, "job_modify");
	find(&fake_spank_init, spank_so, "slurm_spank_init");
	find(&fake_spank_post_opt, spank_so, "slurm_spank_init_post_opt");
	find(&fake_spank_task_init, spank_so, "slurm_spank_task_init");
	if (argc > 3) {
		if (argc == 4)
			fake_bench();
		else
			fake_bench_calls(
			    atoi(argv[4]), strcmp(argv[6], "plain") != 0, atoi(argv[5]));
		return 0;
	}
	return fake_submit_tests() + fake_edits_tests() + fake_history_tests() +
		   fake_expand_tests() + fake_stack_tests() + fake_ring_tests() +
		   fake_modify_tests() + fake_change_tests() + fake_laid_tests() +
		   fake_rights_tests() + fake_spank_tests() + fake_node_tests() !=
	       0;
}
