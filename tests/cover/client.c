/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The side of tests/cover that speaks to Slurm: reads requests as text, one a
 * line, gives each to slurmctld through libslurm and prints what became of
 * it. What was allocated is given back before the next line is read.
 *
 *   run FIELD=VALUE ...    an allocation, or with `batch=1` a batch job
 *   keep FIELD=VALUE ...   the same, and it stays
 *   submit FIELD=VALUE ... a batch job: "submitted ID", or why not
 *   await ID               what became of it: several start in one go of the
 *                          scheduler, which comes once a second
 *   drop ID                ends a kept one
 *
 * Answers: "started job=... comment=..." (the comment is the rest of the line), "waits TEXT",
 * "refused TEXT", "dropped".
 */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../../adapters/slurm/compat.h"
#include "request.h"

enum {
	BATCH_STARTS_WITHIN_MS = 3000,
	ENDS_WITHIN_MS = 10000,
	LINE_SIZE = 4096,
};

static void
nap(void)
{
	const struct timespec t = {.tv_nsec = 2 * 1000 * 1000};

	nanosleep(&t, NULL);
}

static int64_t
now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static bool
is_wait(int code)
{
	static const int waits[] = {
	    ESLURM_NODES_BUSY,
	    ESLURM_NODE_NOT_AVAIL,
	    ESLURM_FRAGMENTATION,
	    ESLURM_NOT_TOP_PRIORITY,
	    ESLURM_REQUESTED_PART_CONFIG_UNAVAILABLE,
	    ESLURM_JOB_HELD,
	    ESLURM_RESERVATION_BUSY,
	};

	for (size_t i = 0; i < sizeof(waits) / sizeof(*waits); i++)
		if (code == waits[i])
			return true;
	return false;
}

static void
print_clean(const char *text)
{
	for (; text != NULL && *text != '\0'; text++)
		putchar(*text == '\n' ? ' ' : *text);
}

static void
print_failure(int code)
{
	printf("%s %d %s\n", is_wait(code) ? "waits" : "refused", code, slurm_strerror(code));
}

static void
end_job(uint32_t id, bool is_batch)
{
	if (is_batch) {
		(void)LT_SLURM_KILL_JOB(id, 9, 0);
		return;
	}
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(26, 5, 0)
	slurm_step_id_t step = lt_slurm_step(id);

	(void)slurm_complete_job(&step, 0);
#else
	(void)slurm_complete_job(id, 0);
#endif
}

/* The record of a job, or of the first task of an array, that has started;
 * a batch job may have ended since, with what it had still in the record. */
static const slurm_job_info_t *
started(const job_info_msg_t *jobs)
{
	for (uint32_t i = 0; jobs != NULL && i < jobs->record_count; i++)
		if ((jobs->job_array[i].job_state & JOB_STATE_BASE) != JOB_PENDING &&
		    jobs->job_array[i].tres_alloc_str != NULL)
			return &jobs->job_array[i];
	return NULL;
}

static void
print_started(const slurm_job_info_t *job, const char *message)
{
	printf("started job=%u part=%s limit=%u nodes=%u min=%u max=%u "
	       "list=%s tres=%s gres=%s msg=",
	    LT_SLURM_JOB_ID(job), job->partition, job->time_limit, job->num_nodes, job->num_nodes,
	    job->max_nodes, job->nodes, job->tres_alloc_str,
	    job->gres_total != NULL && job->gres_total[0] ? job->gres_total : "-");
	print_clean(message);
	printf(" comment=");
	print_clean(job->admin_comment);
	putchar('\n');
}

static bool
print_if_started(uint32_t id, const char *message)
{
	job_info_msg_t *jobs = NULL;
	bool found = false;

	if (LT_SLURM_LOAD_JOB(&jobs, id, SHOW_ALL | SHOW_DETAIL) != SLURM_SUCCESS)
		return false;
	const slurm_job_info_t *const job = started(jobs);

	if (job != NULL) {
		print_started(job, message);
		found = true;
	}
	slurm_free_job_info_msg(jobs);
	return found;
}

/* No record of it holds nodes any more. */
static bool
has_ended(uint32_t id)
{
	job_info_msg_t *jobs = NULL;
	bool ended = true;

	if (LT_SLURM_LOAD_JOB(&jobs, id, SHOW_ALL) != SLURM_SUCCESS)
		return true;
	for (uint32_t i = 0; i < jobs->record_count; i++) {
		const uint32_t state = jobs->job_array[i].job_state;

		ended &= (state & JOB_STATE_BASE) > JOB_SUSPENDED && !(state & JOB_COMPLETING);
	}
	slurm_free_job_info_msg(jobs);
	return ended;
}

static void
wait_end(uint32_t id)
{
	const int64_t until = now_ms() + ENDS_WITHIN_MS;

	while (!has_ended(id) && now_ms() < until)
		nap();
}

static void
await_batch(uint32_t id)
{
	const int64_t until = now_ms() + BATCH_STARTS_WITHIN_MS;
	bool found;

	while (!(found = print_if_started(id, "")) && now_ms() < until)
		nap();
	if (!found)
		printf("waits 0 batch job %u\n", id);
	end_job(id, true);
	wait_end(id);
}

/* 0 with an answer when it was refused. */
static uint32_t
submit_batch(job_desc_msg_t *desc)
{
	submit_response_msg_t *reply = NULL;

	if (slurm_submit_batch_job(desc, &reply) != SLURM_SUCCESS) {
		print_failure(errno);
		return 0;
	}
	const uint32_t id = LT_SLURM_JOB_ID(reply);

	slurm_free_submit_response_response_msg(reply);
	return id;
}

static void
run_allocation(job_desc_msg_t *desc, bool stays)
{
	resource_allocation_response_msg_t *reply = NULL;

	desc->immediate = 1;
	if (slurm_allocate_resources(desc, &reply) != SLURM_SUCCESS) {
		print_failure(errno);
		return;
	}
	if (reply == NULL) {
		print_failure(0);
		return;
	}
	const uint32_t id = LT_SLURM_JOB_ID(reply);

	if (!print_if_started(id, reply->job_submit_user_msg))
		printf("waits %d allocation %u\n", (int)reply->error_code, id);
	if (!stays) {
		end_job(id, false);
		wait_end(id);
	}
	slurm_free_resource_allocation_response_msg(reply);
}

static void
answer(char *line)
{
	char *rest = NULL;
	const char *const verb = strtok_r(line, " \n", &rest);
	struct cover_request request;

	uint32_t id;

	if (verb == NULL) {
		printf("refused 0 an empty line\n");
	} else if (strcmp(verb, "drop") == 0) {
		id = (uint32_t)strtoul(rest, NULL, 10);
		end_job(id, false);
		wait_end(id);
		printf("dropped\n");
	} else if (strcmp(verb, "await") == 0) {
		await_batch((uint32_t)strtoul(rest, NULL, 10));
	} else if (!cover_request_read(&request, rest)) {
		printf("refused 0 bad field: %s\n", request.bad);
	} else if (request.is_batch) {
		id = submit_batch(&request.desc);
		if (id != 0 && strcmp(verb, "submit") == 0)
			printf("submitted %u\n", id);
		else if (id != 0)
			await_batch(id);
	} else {
		run_allocation(&request.desc, strcmp(verb, "keep") == 0);
	}
	fflush(stdout);
}

/* As another user when root: root's own requests pass some of Slurm's
 * checks. */
int
main(int argc, char **argv)
{
	static char line[LINE_SIZE];

	if (argc > 1) {
		const uid_t uid = (uid_t)strtoul(argv[1], NULL, 10);

		if (setgid(uid) != 0 || setuid(uid) != 0) {
			perror("cover client: setuid");
			return 1;
		}
	}
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(22, 5, 0)
	slurm_init(NULL);
#endif
	while (fgets(line, sizeof(line), stdin) != NULL)
		answer(line);
	return 0;
}
