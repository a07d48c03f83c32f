/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What Slurm knows and seldom changes: configuration, partitions, node
 * shapes, accounts, who belongs to them. A failed read keeps what was there.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "associations.h"
#include "associations_child.h"
#include "breath.h"
#include "closed_accounts.h"
#include "heirs.h"
#include "last_shapes.h"
#include "ledger.h"
#include "log.h"
#include "policy.h"
#include "tables.h"
#include "units.h"

static void
name_partitions(const struct lt_policy *policy)
{
	struct lt_batch_named named[LT_PARTITIONS_MAX];
	uint32_t count = 0;

	for (int i = 0;
	     i < policy->partition_count && count < LT_PARTITIONS_MAX; i++) {
		const struct lt_policy_partition *const p =
		    &policy->partitions[i];

		named[count++] = (struct lt_batch_named){.name = p->name,
		    .scales = p->target_said && p->is_target,
		    .cpus = p->node.cpus,
		    .memory_mib = p->node.memory_mib,
		    .gpus = p->node.gpus,
		    .most = p->node.is_set ? p->node.count : LT_NODES_MAX,
		    .labels = p->node.labels,
		    .taints = p->node.taints};
	}
	lt_batch_name_partitions(named, count);
}

static int
load_partitions(struct lt_tables *tables, struct lt_error *err)
{
	struct lt_batch_partitions read;

	lt_breath(LT_TURN_COMMITTED);
	const int code = lt_batch_partitions(&read, err);

	if (code != LT_OK)
		return code;
	free(tables->partitions);
	free(tables->shapes);
	free(tables->strings);
	lt_batch_nodes_free(&tables->nodes);
	tables->partitions = read.partitions;
	tables->partition_count = read.count;
	tables->shapes = read.shapes;
	tables->shape_count = read.shape_count;
	tables->strings = read.strings;
	tables->nodes = read.nodes;
	tables->qos_limits = read.job_limits;
	if (read.left_out != tables->left_out)
		lt_log("partitions_left_out", "count=%u first=\"%s\"",
		    read.left_out, read.why_left_out.text);
	tables->left_out = read.left_out;
	return LT_OK;
}

struct newcomers {		       /* the accounts that were never seen */
	struct lt_batch_account *list; /* each below where it was made, or "" */
	uint32_t count;
};

/* Puts each new account into the ledger where it was made. */
static int
see_births(const struct newcomers *fresh, struct lt_ledger *ledger,
    int64_t now_utc_s, struct lt_error *err)
{
	int code = LT_OK;

	for (uint32_t i = 0; code == LT_OK && i < fresh->count; i++)
		if (fresh->list[i].parent[0] != '\0')
			code =
			    lt_ledger_put_account(ledger, fresh->list[i].name,
				fresh->list[i].parent, now_utc_s, err);
	if (code == LT_OK)
		code = lt_ledger_put_number(
		    ledger, "accounts_read", now_utc_s, err);
	return code;
}

/* Takes out the accounts that were never seen. */
static void
leave_out_new(
    struct lt_batch_associations *all, const struct lt_accounts_seen *seen)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < all->account_count; i++)
		if (lt_seen_find(seen, all->accounts[i].name) != NULL)
			all->accounts[kept++] = all->accounts[i];
	all->account_count = kept;
}

/* Asks slurmdbd where the new accounts were made; since when, by its clock.
 * True also before a first reading, when no account is new. */
static bool
find_births(
    struct newcomers *fresh, struct lt_tables *tables, struct lt_ledger *ledger)
{
	struct lt_error why = {0};
	int64_t read_utc_s = 0;
	int code = LT_OK;

	if (!lt_ledger_get_number(ledger, "accounts_read", 1, &read_utc_s))
		fresh->count = 0;
	if (fresh->count > 0)
		code = lt_child_births(
		    fresh->list, fresh->count, read_utc_s - LT_HOUR_S, &why);
	const uint32_t left_out = code == LT_OK ? 0 : fresh->count;

	if (left_out != 0 && left_out != tables->left_out_accounts)
		lt_log("accounts_left_out",
		    "count=%u first=%s error=\"%s\" why=\"where they were made is not known\"",
		    left_out, fresh->list[0].name, why.text);
	tables->left_out_accounts = left_out;
	return code == LT_OK;
}

/* All that were ever seen, the new ones where they were made. */
static int
load_seen(struct lt_accounts_seen *seen, struct lt_batch_associations *all,
    struct lt_tables *tables, struct lt_ledger *ledger, int64_t now_utc_s,
    struct lt_error *err)
{
	struct newcomers fresh = {.list = calloc((size_t)all->account_count + 1,
				      sizeof(*fresh.list))};
	int code =
	    fresh.list != NULL
		? lt_ledger_accounts(ledger, &seen->list, &seen->count, err)
		: lt_fail(err, LT_ENOMEM, "accounts: out of memory");

	for (uint32_t i = 0; code == LT_OK && i < all->account_count; i++)
		if (lt_seen_find(seen, all->accounts[i].name) == NULL)
			fresh.list[fresh.count++] = all->accounts[i];
	if (code == LT_OK && !find_births(&fresh, tables, ledger)) {
		leave_out_new(all, seen); /* the others are read all the same */
		fresh.count = 0;
	} else if (code == LT_OK)
		code = see_births(&fresh, ledger, now_utc_s, err);
	free(fresh.list);
	if (code != LT_OK || fresh.count == 0)
		return code;
	free(seen->list);
	return lt_ledger_accounts(ledger, &seen->list, &seen->count, err);
}

/* Slurm's accounts as lowtide takes them: moved ones where they were, those
 * that are gone, and how they stood before. */
static int
take_accounts(struct lt_tables *tables, struct lt_batch_associations *all,
    const struct lt_policy *policy, struct lt_ledger *ledger, int64_t now_utc_s,
    struct lt_error *err)
{
	struct lt_accounts_seen seen = {0};
	struct lt_account_moves moves = {0};
	int code = load_seen(&seen, all, tables, ledger, now_utc_s, err);

	/* In Kubernetes only an admin says whose a namespace is. */
	if (code == LT_OK && strcmp(lt_batch_words.system, "slurm") == 0 &&
	    lt_moved_keep(&tables->moved, all->accounts, all->account_count,
		&seen, policy) != LT_OK)
		code = lt_fail(err, LT_ENOMEM, "accounts: out of memory");
	if (code == LT_OK)
		code = lt_heirs_add(all, ledger, &seen, now_utc_s, err);
	if (code == LT_OK)
		code = lt_ledger_account_moves(ledger, &moves, err);
	free(seen.list);
	if (code != LT_OK)
		return code;
	free(tables->moves.list);
	tables->moves = moves;
	return LT_OK;
}

static int
load_associations(struct lt_tables *tables, const struct lt_policy *policy,
    struct lt_ledger *ledger, int64_t now_utc_s, struct lt_error *err)
{
	struct lt_batch_associations all;

	int code = lt_child_associations(&all, err);

	if (code == LT_OK)
		code =
		    take_accounts(tables, &all, policy, ledger, now_utc_s, err);
	if (code != LT_OK) {
		lt_batch_associations_free(&all);
		return code;
	}
	free(tables->accounts);
	free(tables->pairs);
	free(tables->ties);
	tables->accounts = all.accounts;
	tables->account_count = all.account_count;
	tables->pairs = all.pairs;
	tables->pair_count = all.pair_count;
	lt_batch_know_users(all.pairs, all.pair_count);
	tables->ties = all.ties;
	tables->tie_count = all.tie_count;
	tables->unknown_users = all.unknown_users;
	tables->private_dbd = all.private_data;
	tables->private_data |= all.private_data;
	tables->account_limits = all.job_limits;
	return LT_OK;
}

/* Without an answer those of before are known: their changes are judged, and
 * of others what was raised is held within a pass. */
static void
load_managers(struct lt_tables *tables)
{
	struct lt_batch_manager *managers = NULL;
	struct lt_error err = {0};
	uint32_t count = 0;

	lt_breath(LT_TURN_COMMITTED);
	if (lt_batch_managers(&managers, &count, &err) != LT_OK) {
		lt_log("managers_failed", "error=\"%s\"", err.text);
		return;
	}
	free(tables->managers);
	tables->managers = managers;
	tables->manager_count = count;
}

int
lt_tables_load(struct lt_tables *tables, const struct lt_batch_conf *conf,
    const struct lt_policy *policy, struct lt_ledger *ledger,
    const char *state_dir, int64_t now_utc_s, struct lt_error *err)
{
	tables->conf = *conf;
	tables->private_data = conf->private_data | tables->private_dbd;
	name_partitions(policy);
	int code = load_partitions(tables, err);
	if (code != LT_OK)
		return code;
	lt_last_shapes_lay(tables, state_dir);
	if (lt_batch_has_dbd(conf)) {
		code =
		    load_associations(tables, policy, ledger, now_utc_s, err);
		load_managers(tables);
		if (code == LT_OK)
			code = lt_associations_save(tables, state_dir, err);
		else if (tables->accounts == NULL) {
			if (lt_associations_load(tables, state_dir,
				&(struct lt_error){0}) != LT_OK)
				return code; /* nothing to work with */
			lt_accounts_sort(
			    tables->accounts, tables->account_count);
			(void)lt_ledger_account_moves(
			    ledger, &tables->moves, &(struct lt_error){0});
			lt_batch_know_users(tables->pairs, tables->pair_count);
		}
	}
	const int closed = lt_close_accounts(tables, err);

	if (closed != LT_OK)
		return closed;
	tables->read_utc_s = now_utc_s;
	return code;
}
