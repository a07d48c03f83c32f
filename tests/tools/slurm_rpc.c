/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One job description as raw fields, sent as a submission, an allocation or
 * an update: what Slurm's own commands never ask for, any client may. Prints
 * the job's id and where it runs; what Slurm says to a refusal goes to stderr.
 */
#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "compat.h"

enum kind { TEXT, NUMBER };

/* Numbers are as wide as the member. */
#define FIELD(member, what)                                                                        \
	{                                                                                          \
#member, what, offsetof(job_desc_msg_t, member),                                   \
		    sizeof(((job_desc_msg_t *)0)->member)                                          \
	}

static const struct field {
	const char *name;
	enum kind kind;
	size_t offset, size;
} fields[] = {
    FIELD(account, TEXT),
    FIELD(admin_comment, TEXT),
    FIELD(array_inx, TEXT),
    FIELD(begin_time, NUMBER),
    FIELD(bitflags, NUMBER),
    FIELD(boards_per_node, NUMBER),
    FIELD(comment, TEXT),
    FIELD(contiguous, NUMBER),
    FIELD(core_spec, NUMBER),
    FIELD(cores_per_socket, NUMBER),
    FIELD(cpus_per_task, NUMBER),
    FIELD(cpus_per_tres, TEXT),
    FIELD(deadline, NUMBER),
    FIELD(dependency, TEXT),
    FIELD(end_time, NUMBER),
    FIELD(exc_nodes, TEXT),
    FIELD(features, TEXT),
    FIELD(group_id, NUMBER),
    FIELD(het_job_offset, NUMBER),
    FIELD(immediate, NUMBER),
    FIELD(job_id_str, TEXT),
    FIELD(licenses, TEXT),
    FIELD(max_cpus, NUMBER),
    FIELD(max_nodes, NUMBER),
    FIELD(mem_per_tres, TEXT),
    FIELD(min_cpus, NUMBER),
    FIELD(min_nodes, NUMBER),
    FIELD(name, TEXT),
    FIELD(nice, NUMBER),
    FIELD(ntasks_per_board, NUMBER),
    FIELD(ntasks_per_core, NUMBER),
    FIELD(ntasks_per_node, NUMBER),
    FIELD(ntasks_per_socket, NUMBER),
    FIELD(ntasks_per_tres, NUMBER),
    FIELD(num_tasks, NUMBER),
    FIELD(overcommit, NUMBER),
    FIELD(partition, TEXT),
    FIELD(plane_size, NUMBER),
    FIELD(pn_min_cpus, NUMBER),
    FIELD(pn_min_memory, NUMBER),
    FIELD(pn_min_tmp_disk, NUMBER),
    FIELD(priority, NUMBER),
    FIELD(qos, TEXT),
    FIELD(req_nodes, TEXT),
    FIELD(req_switch, NUMBER),
    FIELD(requeue, NUMBER),
    FIELD(reservation, TEXT),
    FIELD(script, TEXT),
    FIELD(shared, NUMBER),
    FIELD(sockets_per_board, NUMBER),
    FIELD(sockets_per_node, NUMBER),
    FIELD(std_err, TEXT),
    FIELD(std_out, TEXT),
    FIELD(task_dist, NUMBER),
    FIELD(threads_per_core, NUMBER),
    FIELD(time_limit, NUMBER),
    FIELD(time_min, NUMBER),
    FIELD(tres_per_job, TEXT),
    FIELD(tres_per_node, TEXT),
    FIELD(tres_per_socket, TEXT),
    FIELD(tres_per_task, TEXT),
    FIELD(user_id, NUMBER),
    FIELD(work_dir, TEXT),
};

/* A number in any base of strtoull(3); the text stays the caller's. */
static bool
set_field(job_desc_msg_t *job, char *pair)
{
	char *const value = strchr(pair, '=');

	for (size_t i = 0; value != NULL && i < sizeof(fields) / sizeof(*fields); i++) {
		const struct field *const f = &fields[i];
		char *const at = (char *)job + f->offset;
		char *end = NULL;

		if (strlen(f->name) != (size_t)(value - pair) ||
		    strncmp(f->name, pair, (size_t)(value - pair)) != 0)
			continue;
		if (f->kind == TEXT) {
			char *const text = value + 1;

			memcpy(at, &text, sizeof(text));
			return true;
		}
		const uint64_t number = strtoull(value + 1, &end, 0);

		memcpy(at, &number, f->size); /* little-endian */
		return end != value + 1 && *end == '\0';
	}
	return false;
}

static int
submit(job_desc_msg_t *job)
{
	static char *environment[] = {"PATH=/usr/bin:/bin", NULL};
	static char script[] = "#!/bin/sh\nsleep 300\n";
	submit_response_msg_t *reply = NULL;

	job->environment = environment;
	job->env_size = 1;
	if (job->script == NULL)
		job->script = script;
	if (slurm_submit_batch_job(job, &reply) != SLURM_SUCCESS)
		return errno;
	printf("%u\n", LT_SLURM_JOB_ID(reply));
	if (reply->job_submit_user_msg != NULL)
		(void)fprintf(stderr, "%s\n", reply->job_submit_user_msg);
	return SLURM_SUCCESS;
}

static int
allocate(job_desc_msg_t *job)
{
	resource_allocation_response_msg_t *reply = NULL;

	if (slurm_allocate_resources(job, &reply) != SLURM_SUCCESS)
		return errno;
	printf("%u %s\n", LT_SLURM_JOB_ID(reply), reply->node_list == NULL ? "" : reply->node_list);
	if (reply->job_submit_user_msg != NULL)
		(void)fprintf(stderr, "%s\n", reply->job_submit_user_msg);
	return SLURM_SUCCESS;
}

static int
update(job_desc_msg_t *job)
{
	return slurm_update_job(job) == SLURM_SUCCESS ? SLURM_SUCCESS : errno;
}

static const struct {
	const char *name;
	int (*run)(job_desc_msg_t *job);
} verbs[] = {
    {"submit", submit},
    {"allocate", allocate},
    {"update", update},
};

int
main(int argc, char **argv)
{
	static char work_dir[] = "/tmp", null[] = "/dev/null", name[] = "rpc";
	job_desc_msg_t job;

	slurm_init(NULL);
	slurm_init_job_desc_msg(&job);
	for (size_t i = 0; i < sizeof(verbs) / sizeof(*verbs); i++) {
		if (argc < 2 || strcmp(argv[1], verbs[i].name) != 0)
			continue;
		if (verbs[i].run != update) {
			job.user_id = getuid();
			job.group_id = getgid();
			job.name = name;
			job.work_dir = work_dir;
			job.std_out = job.std_err = job.std_in = null;
		}
		for (int a = 2; a < argc; a++)
			if (!set_field(&job, argv[a])) {
				(void)fprintf(stderr,
				    "slurm_rpc: got \"%s\", want a "
				    "field=value of job_desc_msg_t\n",
				    argv[a]);
				return 2;
			}
		const int code = verbs[i].run(&job);

		if (code == SLURM_SUCCESS)
			return 0;
		(void)fprintf(stderr, "slurm_rpc: %s (%d)\n", slurm_strerror(code), code);
		return 1;
	}
	(void)fprintf(stderr, "usage: slurm_rpc submit|allocate|update field=value...\n");
	return 2;
}
