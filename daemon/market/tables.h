/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Slurm's configuration, partitions, nodes, accounts and users, as last read.
 */
#ifndef LT_TABLES_H
#define LT_TABLES_H

#include "account_tree.h"
#include "batch.h"
#include "market.h"

struct lt_ledger;
struct lt_policy;

struct lt_last_shapes {
	bool is_read;
	uint32_t crc;	       /* of the file that was written; 0 = none */
	struct lt_market seen; /* partitions and shapes only */
};

struct lt_tables {
	struct lt_batch_conf conf;
	struct lt_partition *partitions;
	struct lt_shape *shapes;
	char *strings;
	struct lt_batch_nodes nodes; /* of the partitions */
	uint32_t partition_count, shape_count;
	struct lt_last_shapes last;
	struct lt_batch_account *accounts; /* by name */
	struct lt_batch_pair *pairs;
	struct lt_batch_tie *ties;
	struct lt_batch_manager *managers;
	uint32_t account_count, pair_count, tie_count, manager_count;
	struct lt_moved_accounts moved; /* not accepted yet */
	struct lt_account_moves moves;	/* of the past */
	uint32_t unknown_users;
	/* LT_PRIVATE_*, of slurmdbd.conf, and of slurm.conf too */
	uint32_t private_dbd, private_data;
	/* enum lt_job_limit: of QOS, and of associations */
	uint32_t qos_limits, account_limits;
	uint32_t left_out_accounts; /* new, made nobody knows where */
	uint32_t left_out;	    /* partitions, as lt_batch_partitions has them */
	char *closed;		    /* lists of the partitions */
	int64_t read_utc_s;	    /* 0 = never */
};

/*
 * Makes each partition's deny list anew from slurm.conf's: with all accounts
 * below those (Slurm 23.11 and later deny them, too), with accounts in which
 * a user has associations of single partitions only, for which Slurm refuses a
 * job in another, and with those that have associations of this partition. And
 * each partition's qos_accounts. The lists are lent by tables->closed.
 * LT_ENOMEM leaves them as they were.
 */
int lt_close_accounts(struct lt_tables *tables, struct lt_error *err);

/* Reads all but conf, which was read just now. state_dir has what is taken where slurmdbd gives no
 * answer. On failure what was there stays. */
int lt_tables_load(struct lt_tables *tables, const struct lt_batch_conf *conf,
    const struct lt_policy *policy, struct lt_ledger *ledger, const char *state_dir,
    int64_t now_utc_s, struct lt_error *err);

static inline struct lt_account_tree
lt_tables_tree(const struct lt_tables *tables)
{
	return (struct lt_account_tree){tables->accounts, tables->account_count, tables->moves};
}

static inline bool
lt_is_admin(const struct lt_tables *tables, uint32_t uid)
{
	return uid == 0 || uid == tables->conf.slurm_uid;
}

#endif
