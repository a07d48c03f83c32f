/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The symbols that slurmctld, sbatch and slurmstepd give to plugins, as far
 * as lowtide uses them.
 */
#include "fake.h"

#include <pthread.h>

/* What Slurm gives to plugins. */
slurm_conf_t slurm_conf;
char opt[64];
int sbopt;
char fake_said[65536];
static pthread_mutex_t said_mutex = PTHREAD_MUTEX_INITIALIZER;

static void say(const char *format, va_list list) __attribute__((format(printf, 1, 0)));

static void
say(const char *format, va_list list)
{
	char line[4096];
	size_t used;

	vsnprintf(line, sizeof(line), format, list);
	pthread_mutex_lock(&said_mutex);
	used = strlen(fake_said);
	snprintf(fake_said + used, sizeof(fake_said) - used, "%s\n", line);
	pthread_mutex_unlock(&said_mutex);
}

void
slurm_info(const char *format, ...)
{
	va_list list;

	va_start(list, format);
	say(format, list);
	va_end(list);
}

void
slurm_error(const char *format, ...)
{
	va_list list;

	va_start(list, format);
	say(format, list);
	va_end(list);
}

char *
slurm_xstrdup(const char *text)
{
	return text != NULL ? strdup(text) : NULL;
}

void
slurm_xfree(void **memory)
{
	free(*memory);
	*memory = NULL;
}

/* SPANK: one handle, a few options, an environment of a few lines. */
spank_context_t fake_context;
struct spank_option fake_options[16];
int fake_option_count;
static struct {
	char name[128], value[256];
} environment[32];
int fake_environment_count;

spank_context_t
spank_context(void)
{
	return fake_context;
}

spank_err_t
spank_option_register(spank_t spank, struct spank_option *option)
{
	(void)spank;
	assert_true(fake_option_count < 16);
	fake_options[fake_option_count++] = *option;
	return 0;
}

spank_err_t
spank_getenv(spank_t spank, const char *name, char *out, int size)
{
	(void)spank;
	for (int i = 0; i < fake_environment_count; i++)
		if (strcmp(environment[i].name, name) == 0) {
			snprintf(out, (size_t)size, "%s", environment[i].value);
			return 0;
		}
	return ESPANK_ENV_NOEXIST;
}

uint32_t fake_step = SLURM_BATCH_SCRIPT;

spank_err_t
spank_get_item(spank_t spank, spank_item_t item, ...)
{
	va_list list;

	(void)spank;
	va_start(list, item);
	*va_arg(list, uint32_t *) = item == S_JOB_STEPID ? fake_step : 7;
	va_end(list);
	return item == S_JOB_STEPID || item == S_JOB_ID ? ESPANK_SUCCESS : ESPANK_BAD_ARG;
}

spank_err_t
spank_setenv(spank_t spank, const char *name, const char *value, int overwrite)
{
	char old[256];

	if (!overwrite && spank_getenv(spank, name, old, sizeof(old)) == 0)
		return ESPANK_ENV_EXISTS;
	snprintf(environment[fake_environment_count].name, 128, "%s", name);
	snprintf(environment[fake_environment_count++].value, 256, "%s", value);
	return 0;
}

/* libslurmfull: the client's own options. */
job_desc_msg_t fake_client_job;
char fake_set_options[4096];
const char *fake_test_only = "unset";

int slurm_option_set(void *o, const char *name, const char *value, bool early);
char *slurm_option_get(void *o, const char *name);
job_desc_msg_t *slurm_opt_create_job_desc(void *o, bool defaults);

int
slurm_option_set(void *o, const char *name, const char *value, bool early)
{
	const size_t used = strlen(fake_set_options);

	assert_ptr_equal(o, opt);
	assert_false(early);
	snprintf(fake_set_options + used, sizeof(fake_set_options) - used, "%s=%s ", name, value);
	return 0;
}

char *
slurm_option_get(void *o, const char *name)
{
	(void)o;
	return strdup(strcmp(name, "test-only") == 0 ? fake_test_only : "unset");
}

job_desc_msg_t *
slurm_opt_create_job_desc(void *o, bool defaults)
{
	assert_ptr_equal(o, opt);
	assert_true(defaults);
	return &fake_client_job;
}

void
fake_env(const char *name, const char *value)
{
	snprintf(environment[fake_environment_count].name, 128, "%s", name);
	snprintf(environment[fake_environment_count++].value, 256, "%s", value);
}

void
fake_env_clear(void)
{
	fake_environment_count = 0;
}

void
fake_job_defaults(job_desc_msg_t *job)
{
	memset(job, 0, sizeof(*job));
	lt_job_desc_id(job) = NO_VAL;
	job->time_limit = job->time_min = NO_VAL;
	job->min_nodes = job->max_nodes = job->num_tasks = NO_VAL;
	job->min_cpus = job->max_cpus = job->priority = job->nice = NO_VAL;
	job->cpus_per_task = job->ntasks_per_node = NO_VAL16;
	job->sockets_per_node = job->pn_min_cpus = NO_VAL16;
	job->shared = job->requeue = NO_VAL16;
	job->ntasks_per_tres = job->core_spec = NO_VAL16;
	job->contiguous = job->cores_per_socket = job->reboot = NO_VAL16;
	job->ntasks_per_core = job->ntasks_per_socket = NO_VAL16;
	job->threads_per_core = NO_VAL16;
	job->pn_min_tmp_disk = NO_VAL;
	job->pn_min_memory = NO_VAL64;
	job->het_job_offset = NO_VAL;
	job->user_id = getuid();
}
