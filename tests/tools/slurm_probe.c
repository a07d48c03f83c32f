/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Prints what adapters/slurm/slurm.h returns, one record a line, and makes its changes: for the
 * cluster tests, and to look at a strange cluster by hand.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "batch.h"
#include "units.h"

static int
print_conf(char **arguments, struct lt_error *err)
{
	struct lt_batch_conf c;
	const int rc = lt_batch_conf(&c, err);

	(void)arguments;
	if (rc != LT_OK)
		return rc;
	printf("cluster=%s release=%s our_release=%s control_host=%s\n"
	       "job_submit_plugins=%s plugin_dir=%s plugstack=%s\n"
	       "munge_socket=%s accounting_storage=%s enforce=%s\n"
	       "priority=%s preempt=%s slurm_user=%s(%u)\n"
	       "min_job_age_s=%" PRId64 " kill_wait_s=%" PRId64
	       " max_array_size=%u max_job_count=%u\n"
	       "federated=%d job_requeue=%d acting=%d\n",
	    c.cluster, c.release, c.our_release, c.control_host, c.job_submit_plugins, c.plugin_dir,
	    c.plugstack, c.munge_socket, c.accounting_storage, c.accounting_enforce,
	    c.priority_type, c.preempt_type, c.slurm_user, c.slurm_uid, c.min_job_age_s,
	    c.kill_wait_s, c.max_array_size, c.max_job_count, c.federated, c.job_requeue,
	    c.is_acting_controller);
	return LT_OK;
}

static int
print_partitions(char **arguments, struct lt_error *err)
{
	struct lt_batch_partitions read;
	const int rc = lt_batch_partitions(&read, err);

	(void)arguments;
	if (rc != LT_OK)
		return rc;
	for (uint32_t i = 0; i < read.count; i++) {
		const struct lt_partition *const p = &read.partitions[i];

		printf("partition=%s flags=0x%x max_time_s=%" PRId64 " default_time_s=%" PRId64
		       " overrun_s=%" PRId64 " nodes=%u..%u"
		       " default_memory_mib=%" PRIu64 "%s max_memory_mib=%" PRIu64
		       "%s cpus_per_gpu=%u memory_mib_per_gpu=%" PRIu64 " allow_accounts=%s"
		       " deny_accounts=%s allow_qos=%s deny_qos=%s"
		       " node_count=%u\n",
		    p->name, p->flags, p->max_time_s, p->default_time_s, p->overrun_s, p->min_nodes,
		    p->max_nodes, p->default_memory_mib, p->default_memory_is_per_cpu ? "/cpu" : "",
		    p->max_memory_mib, p->max_memory_is_per_cpu ? "/cpu" : "",
		    p->default_cpus_per_gpu, p->default_memory_mib_per_gpu, p->allow_accounts,
		    p->deny_accounts, p->allow_qos, p->deny_qos, p->node_count);
		for (uint32_t s = 0; s < p->shape_count; s++) {
			const struct lt_shape *const shape = &read.shapes[p->first_shape + s];

			printf(" shape nodes=%u cpus=%u memory_mib=%" PRIu64 " gpus=%u type=%s\n",
			    shape->node_count, shape->cpus, shape->memory_mib, shape->gpus,
			    shape->kinds[0].type);
		}
	}
	lt_batch_partitions_free(&read);
	return LT_OK;
}

static int
print_associations(char **arguments, struct lt_error *err)
{
	struct lt_batch_associations all;
	const int rc = lt_batch_associations(&all, err);

	(void)arguments;
	if (rc != LT_OK)
		return rc;
	for (uint32_t i = 0; i < all.account_count; i++)
		printf("account=%s parent=%s\n", all.accounts[i].name, all.accounts[i].parent);
	for (uint32_t i = 0; i < all.pair_count; i++)
		printf("pair user=%s uid=%u account=%s default=%d\n", all.pairs[i].user,
		    all.pairs[i].uid, all.pairs[i].account, all.pairs[i].is_default);
	printf("unknown_users=%u\n", all.unknown_users);
	lt_batch_associations_free(&all);
	return LT_OK;
}

static int
print_jobs(struct lt_batch_jobs *jobs)
{
	for (uint32_t i = 0; i < jobs->count; i++) {
		const struct lt_batch_job *const j = &jobs->jobs[i];

		printf("job=%u array=%u task=%d stands_for=%u het=%u user=%s"
		       " uid=%u account=%s qos=%s partition=%s name=%s"
		       " state=%s(%d) reason=%s completing=%d requeued=%d"
		       " cron=%d held=%d user_held=%d exclusive=%d"
		       " requeue_allowed=%d submit=%" PRId64 " start=%" PRId64 " end=%" PRId64
		       " eligible=%" PRId64 " limit_s=%" PRId64
		       " nodes=%u cpus=%u gpus=%u memory_mib=%" PRIu64
		       " priority=%u node_list=%s comment=%s"
		       " admin_comment=%s\n",
		    j->job_id, j->array_job_id, (int)j->array_task, j->array_pending, j->het_job_id,
		    j->user, j->uid, j->account, j->qos, j->partition, j->name, j->state_text,
		    j->state, j->reason_text, j->completing, j->requeued, j->is_cron, j->held,
		    j->user_held, j->exclusive, j->requeue_allowed, j->submit_utc_s, j->start_utc_s,
		    j->end_utc_s, j->eligible_utc_s, j->limit_s, j->nodes, j->cpus, j->gpus,
		    j->memory_mib, j->priority, j->node_list, j->comment_head,
		    j->admin_comment == NULL ? "" : j->admin_comment);
	}
	printf("jobs=%u begun=%" PRId64 "\n", jobs->count, jobs->begun_utc_s);
	lt_batch_jobs_free(jobs);
	return LT_OK;
}

static int
print_runs(struct lt_batch_runs *runs)
{
	for (uint32_t i = 0; i < runs->count; i++) {
		const struct lt_batch_run *const r = &runs->runs[i];

		printf("run job=%u array=%u task=%d restarts=%u user=%s uid=%u"
		       " account=%s partition=%s qos=%s state=%s finished=%d"
		       " requeued=%d submit=%" PRId64 " eligible=%" PRId64 " start=%" PRId64
		       " end=%" PRId64 " limit_s=%" PRId64
		       " nodes=%u cpus=%u gpus=%u memory_mib=%" PRIu64 " energy_joules=%" PRId64
		       " first_node=%s admin_comment=%s\n",
		    r->job_id, r->array_job_id, (int)r->array_task, r->restarts, r->user, r->uid,
		    r->account, r->partition, r->qos, r->state_text, r->finished, r->requeued,
		    r->submit_utc_s, r->eligible_utc_s, r->start_utc_s, r->end_utc_s, r->limit_s,
		    r->nodes, r->cpus, r->gpus, r->memory_mib, r->energy_joules, r->first_node,
		    r->admin_comment == NULL ? "" : r->admin_comment);
	}
	printf("runs=%u\n", runs->count);
	lt_batch_runs_free(runs);
	return LT_OK;
}

static int
number(const char *text, int64_t *value, struct lt_error *err)
{
	return lt_int64_parse(text, 0, INT64_MAX, value, err);
}

static int
show_jobs(char **arguments, struct lt_error *err)
{
	struct lt_batch_jobs jobs;
	int64_t id = 0;
	int rc = LT_OK;

	if (arguments[0] != NULL)
		rc = number(arguments[0], &id, err);
	if (rc == LT_OK)
		rc = lt_batch_jobs(&jobs, (uint32_t)id, err);
	return rc == LT_OK ? print_jobs(&jobs) : rc;
}

/* runs [FROM TO]: the last day and the next hour if not said. */
static int
show_runs(char **arguments, struct lt_error *err)
{
	struct lt_batch_runs runs;
	int64_t from = time(NULL) - LT_DAY_S, to = time(NULL) + LT_HOUR_S;
	int rc = LT_OK;

	if (arguments[0] != NULL && arguments[1] != NULL) {
		rc = number(arguments[0], &from, err);
		if (rc == LT_OK)
			rc = number(arguments[1], &to, err);
	}
	if (rc == LT_OK)
		rc = lt_batch_runs(&runs, from, to, err);
	return rc == LT_OK ? print_runs(&runs) : rc;
}

static int
show_runs_of(char **arguments, struct lt_error *err)
{
	struct lt_batch_runs runs;
	int64_t id = 0;
	int rc = number(arguments[0] == NULL ? "" : arguments[0], &id, err);

	if (rc == LT_OK)
		rc = lt_batch_runs_of(&runs, &(uint32_t){(uint32_t)id}, 1, err);
	return rc == LT_OK ? print_runs(&runs) : rc;
}

static int
show_queue(char **arguments, struct lt_error *err)
{
	uint32_t queued = 0;
	const int rc = lt_batch_dbd_queue(&queued, err);

	(void)arguments;
	if (rc == LT_OK)
		printf("queued=%u\n", queued);
	return rc;
}

/* update JOB [partition=P] [admin_comment=T] [begin=S] [limit=S] [hold] [release] */
static int
update(char **arguments, struct lt_error *err)
{
	struct lt_batch_update change;
	int64_t id = 0;
	int rc = number(arguments[0] == NULL ? "" : arguments[0], &id, err);

	lt_batch_update_init(&change, (uint32_t)id);
	for (char **a = arguments + 1; rc == LT_OK && *a != NULL; a++) {
		if (strncmp(*a, "partition=", 10) == 0)
			change.partition = *a + 10;
		else if (strncmp(*a, "admin_comment=", 14) == 0)
			change.admin_comment = *a + 14;
		else if (strncmp(*a, "begin=", 6) == 0)
			rc = number(*a + 6, &change.begin_utc_s, err);
		else if (strncmp(*a, "limit=", 6) == 0)
			rc = number(*a + 6, &change.limit_s, err);
		else if (strcmp(*a, "hold") == 0)
			change.hold = LT_HOLD;
		else if (strcmp(*a, "release") == 0)
			change.hold = LT_RELEASE;
		else
			rc = lt_fail(err, LT_EINPUT, "update: got \"%s\"", *a);
	}
	return rc == LT_OK ? lt_batch_update_job(&change, err) : rc;
}

static int
cancel(char **arguments, struct lt_error *err)
{
	int64_t id = 0;
	const int rc = number(arguments[0] == NULL ? "" : arguments[0], &id, err);

	return rc == LT_OK ? lt_batch_cancel((uint32_t)id, err) : rc;
}

static const struct {
	const char *name;
	int (*run)(char **arguments, struct lt_error *err);
} commands[] = {
    {"conf", print_conf},
    {"partitions", print_partitions},
    {"associations", print_associations},
    {"jobs", show_jobs},
    {"runs", show_runs},
    {"runs-of", show_runs_of},
    {"queue", show_queue},
    {"update", update},
    {"cancel", cancel},
};

int
main(int argc, char **argv)
{
	struct lt_error err = {0};

	for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++) {
		if (argc < 2 || strcmp(argv[1], commands[i].name) != 0)
			continue;
		int rc = lt_batch_init(NULL, NULL, &err);
		if (rc == LT_OK) {
			rc = commands[i].run(argv + 2, &err);
			lt_batch_fini();
		}
		if (rc == LT_OK)
			return 0;
		(void)fprintf(stderr, "slurm_probe: %s (%d)\n", err.text, (int)err.code);
		return 1;
	}
	(void)fprintf(stderr, "usage: slurm_probe");
	for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++)
		(void)fprintf(stderr, "%s%s", i == 0 ? " " : "|", commands[i].name);
	(void)fprintf(stderr, " [ARGUMENTS]\n");
	return 2;
}
