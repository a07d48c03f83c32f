/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Slurm's texts and numbers as ours: TRES and Gres lists, minutes, states, errors. Shared by
 * adapters/slurm/ only; no Slurm type in it.
 */
#ifndef LT_SLURM_TEXT_H
#define LT_SLURM_TEXT_H

#include "batch.h"
#include "text.h"

struct lt_tres {
	bool has_cpus, has_nodes;
	bool has_gpus; /* or parts of them: no job has both */
	uint32_t cpus, nodes, gpus, shards;
	uint64_t memory_mib;
	int64_t energy_joules; /* -1 = not there */
	uint32_t max_id;       /* largest of slurmdbd's ids; 0 in texts */
};

/* "cpu=64,mem=500G,node=1,billing=64,gres/gpu=8,gres/gpu:h100=8"; NULL = "". Typed GPUs are added
 * up where the plain count is not tracked. Shards are those of gres/shard or of gres/mps. */
void lt_tres_parse(struct lt_tres *tres, const char *text);

/* slurmdbd's "1=64,2=512000,4=1,1001=8" with the cluster's ids. */
struct lt_tres_id {
	uint32_t id;
	bool is_typed, is_shard;
};
void lt_tres_parse_ids(struct lt_tres *tres, const char *text, const struct lt_tres_id *gpu_ids,
    uint32_t gpu_id_count);

/* The count of one id in it; false: it is not there. */
bool lt_tres_count_of(const char *text, uint32_t id, uint64_t *count);

/* True if AccountingStorageTRES counts "gres/gpu": "cpu,node,gres/gpu, gres/gpu:h100". A list of
 * types counts those types. NULL = "". */
bool lt_tres_counts(const char *list, const char *name);

/* True if it counts the parts of GPUs, gres/shard and gres/mps, that GresTypes names. */
bool lt_tres_counts_shards(const char *list, const char *gres_types);

/* Counts the parts of the GPUs of a node: its shards, or its gres/mps. Where it has both, the
 * fewer: no part of either is more of a GPU. */
uint32_t lt_node_shards(const char *gres);

/* "gpu:h100:8(S:0-1),gpu:2,nic:1": GPUs of a node and their kinds, the most first. */
void lt_gres_parse(const char *text, struct lt_shape *shape);

/* Returns Slurm's minutes as seconds; none: NO_VAL and INFINITE. */
int64_t lt_minutes(uint32_t minutes, int64_t none);
/* The name of a job state without its flags: "RUNNING". */
const char *lt_state_name(uint32_t state);

/* The name of a reason to wait, and what it says. A number of no row says nothing, and its name is
 * made of it. */
enum { LT_REASON_SIZE = 24 };
const char *lt_wait_reason(enum lt_reason *says, uint32_t number, char text[LT_REASON_SIZE]);

/* The account that a new one was made below, by what slurmdbd says it has added: "mod_time=1,
 * acct='NAME', parent_acct='PARENT', user=''...", from 23.11 on with ", is_def=0" before the
 * parent. Quotes in a name are escaped. False: the text is about another account, and parent is
 * left as it was. */
bool lt_birth_parent(char parent[LT_ACCOUNT_SIZE], const char *info, const char *name);

/* The uid of a user that lt_batch_know_users() has; false: it has none of that name. */
bool lt_user_known(const char *name, uint32_t *uid);
/* The name of a uid: as Slurm said, as lt_batch_know_users() has it, or, where the process may
 * wait, as the system knew it at most a minute ago; else its number. */
void lt_user_name(char *out, size_t size, const char *known, uint32_t uid);

/* True if memory is allocated (SelectTypeParameters=*_Memory), as of the last lt_batch_conf(), else
 * of slurm.conf. In conf.c. */
bool lt_slurm_memory_counts(void);

/*
 * Pings slurmctld. LT_OK if one in charge answers; LT_ENET at once when the connection is refused,
 * where every other call first tries for MessageTimeout
 * - 1 seconds. A slurmctld that hangs costs MessageTimeout (10 s by default).
 */
int lt_slurm_answers(struct lt_error *err);

/* Frees what dbd.c keeps between calls. */
void lt_slurmdbd_forget(void);

/* Fails with LT_ENET, or what the number says, as "<what>: <Slurm's text>". */
int lt_slurm_fail(const char *what, int slurm_errno, struct lt_error *err);

#endif
