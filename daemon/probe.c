/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * `lowtided --probe`: reads Slurm once and prints it as JSON, for `lowtide init` and `doctor`.
 * Needs no policy and no state directory. If slurmctld does not answer, the reason is on stderr and
 * the exit status 1; without slurmdbd the JSON has the reason as accounting_error.
 */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

#include "batch.h"
#include "daemon.h"
#include "http.h"

static json_t *
conf_json(const struct lt_batch_conf *c)
{
	return json_pack("{s:s,s:s,s:s,s:s,s:s,s:s,s:s,s:s,s:s,s:s,s:s,s:s,"
			 "s:s,s:I,s:I,s:I,s:I,s:I,s:b,s:b,s:b,s:b,s:b,s:s,s:s,s:s}",
	    "cluster", c->cluster, "release", c->release, "our_release", c->our_release,
	    "job_submit_plugins", c->job_submit_plugins, "plugin_dir", c->plugin_dir, "plugstack",
	    c->plugstack, "control_host", c->control_host, "munge_socket", c->munge_socket,
	    "accounting_storage", c->accounting_storage, "accounting_enforce",
	    c->accounting_enforce, "priority_type", c->priority_type, "preempt_type",
	    c->preempt_type, "slurm_user", c->slurm_user, "slurm_uid", (json_int_t)c->slurm_uid,
	    "min_job_age_s", (json_int_t)c->min_job_age_s, "kill_wait_s",
	    (json_int_t)c->kill_wait_s, "max_array_size", (json_int_t)c->max_array_size,
	    "max_job_count", (json_int_t)c->max_job_count, "federated", c->federated, "job_requeue",
	    c->job_requeue, "is_acting_controller", c->is_acting_controller, "gpus_counted",
	    c->gpus_counted, "shards_counted", c->shards_counted, "cloud", c->cloud, "region",
	    c->region, "system", lt_batch_words.system);
}

static json_t *
partitions_json(json_t **left_out, struct lt_error *err)
{
	struct lt_batch_partitions read;

	if (lt_batch_partitions(&read, err) != LT_OK)
		return NULL;
	json_t *const list = json_array();
	for (uint32_t i = 0; i < read.count; i++) {
		const struct lt_partition *const p = &read.partitions[i];
		json_t *const kinds = json_array();

		for (uint32_t k = 0; k < p->shape_count; k++) {
			const struct lt_shape *const s = &read.shapes[p->first_shape + k];
			json_t *const types = json_array();

			for (int g = 0; g < LT_GPU_KINDS_MAX; g++)
				if (s->kinds[g].count > 0)
					json_array_append_new(types, json_string(s->kinds[g].type));
			json_array_append_new(kinds,
			    json_pack("{s:I,s:I,s:I,s:I,s:s,s:o,s:I,s:s}", "nodes",
				(json_int_t)s->node_count, "cpus", (json_int_t)s->cpus, "gpus",
				(json_int_t)s->gpus, "shards", (json_int_t)s->shards, "gpu_type",
				s->kinds[0].type, "gpu_types", types, "memory_mib",
				(json_int_t)s->memory_mib, "features", s->features));
		}
		json_array_append_new(list,
		    json_pack("{s:s,s:b,s:b,s:I,s:I,s:o}", "name", p->name, "default",
			(p->flags & LT_PARTITION_DEFAULT) != 0, "limited",
			p->default_time_s > 0 || p->max_time_s != INT64_MAX, "nodes",
			(json_int_t)p->node_count, "flags", (json_int_t)p->flags, "shapes", kinds));
	}
	*left_out = json_pack(
	    "{s:I,s:s}", "count", (json_int_t)read.left_out, "why", read.why_left_out.text);
	lt_batch_partitions_free(&read);
	return list;
}

/* NULL and err when slurmdbd is away: a finding for doctor, no failure. */
static json_t *
accounts_json(json_int_t *users, json_int_t *unknown, struct lt_error *err)
{
	struct lt_batch_associations all;

	if (lt_batch_associations(&all, err) != LT_OK)
		return NULL;
	json_t *const list = json_array();
	for (uint32_t i = 0; i < all.account_count; i++)
		json_array_append_new(list, json_pack("{s:s,s:s}", "name", all.accounts[i].name,
						"parent", all.accounts[i].parent));
	*users = 0;
	for (uint32_t i = 0; i < all.pair_count; i++)
		*users += all.pairs[i].is_default;
	*unknown = all.unknown_users;
	lt_batch_associations_free(&all);
	return list;
}

/* NULL: not known. */
static json_t *
qoses_json(struct lt_error *err)
{
	struct lt_batch_qoses all;
	json_t *list = NULL;

	if (lt_batch_qoses(&all, err) == LT_OK && all.are_known)
		list = json_array();
	for (uint32_t i = 0; list != NULL && i < all.count; i++)
		json_array_append_new(list, json_string(all.names[i]));
	free(all.names);
	return list;
}

static int
print(void)
{
	struct lt_batch_conf conf = {0};
	struct lt_error err = {0}, dbd = {0};
	json_int_t users = 0, unknown = 0;

	json_t *left_out = NULL;
	json_t *const partitions = partitions_json(&left_out, &err);
	if (partitions == NULL) {
		fprintf(stderr, "lowtided: %s\n", err.text);
		return 1;
	}
	/* After the nodes, which say where they are. */
	if (lt_batch_conf(&conf, &err) != LT_OK) {
		fprintf(stderr, "%s: %s\n", lt_batch_program, err.text);
		json_decref(partitions);
		json_decref(left_out);
		return 1;
	}
	json_t *const accounts = accounts_json(&users, &unknown, &dbd);
	json_t *const all = json_pack("{s:o,s:o,s:o,s:o,s:o*,s:I,s:I,s:s?}", "conf",
	    conf_json(&conf), "partitions", partitions, "left_out", left_out, "accounts",
	    accounts != NULL ? accounts : json_array(), "qoses",
	    accounts != NULL ? qoses_json(&dbd) : NULL, "users", users, "unknown_users", unknown,
	    "accounting_error", accounts != NULL ? NULL : dbd.text);
	if (all == NULL)
		return 1;
	json_dumpf(all, stdout, JSON_INDENT(2));
	putchar('\n');
	json_decref(all);
	return 0;
}

int
lt_probe(void)
{
	struct lt_error err = {0};

	if (lt_batch_init(NULL, NULL, &err) != LT_OK) {
		fprintf(stderr, "lowtided: %s\n", err.text);
		return 1;
	}
	const int status = print();
	lt_batch_fini();
	return status;
}
