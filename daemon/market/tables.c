/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads what Slurm knows and seldom changes: configuration, partitions, node shapes, accounts, and
 * who belongs to them. A failed read keeps what was there.
 *
 * Partitions without a node keep the shapes that they had last, from <state>/shapes. Accounts whose
 * jobs no partition takes from another are written into the deny lists, which the decision asks for
 * moves only; so are those whose jobs without --qos a partition's lists of QOS take.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "account_tree.h"
#include "associations.h"
#include "breath.h"
#include "files.h"
#include "ledger.h"
#include "log.h"
#include "paths.h"
#include "policy.h"
#include "tables.h"
#include "text.h"
#include "units.h"

static void
read_seen(struct lt_last_shapes *last, const char *path)
{
	struct lt_error err = {0};

	last->is_read = true;
	/* One of another release is as none. */
	if (lt_market_load(&last->seen, path, NULL, &err) != LT_OK && err.code != LT_ENOENT)
		lt_log("shapes_unknown", "error=\"%s\"", err.text);
}

/* Its shapes as they were, after all others. */
static void
lay(struct lt_tables *tables, struct lt_partition *partition)
{
	const struct lt_market *const seen = &tables->last.seen;
	const int index = lt_market_partition(seen, partition->name);

	partition->flags |= LT_PARTITION_NO_NODES;
	if (index < 0)
		return;
	const struct lt_partition *const was = &seen->partitions[index];
	if (was->shape_count == 0 || tables->shape_count + was->shape_count > LT_SHAPES_MAX)
		return;
	struct lt_shape *const shapes =
	    realloc(tables->shapes, (tables->shape_count + was->shape_count) * sizeof(*shapes));
	if (shapes == NULL)
		return;
	memcpy(shapes + tables->shape_count, seen->shapes + was->first_shape,
	    was->shape_count * sizeof(*shapes));
	tables->shapes = shapes;
	/* How many took no job then says nothing of those that come. */
	for (uint32_t i = 0; i < was->shape_count; i++)
		shapes[tables->shape_count + i].closed_count = 0;
	partition->first_shape = tables->shape_count;
	partition->shape_count = was->shape_count;
	partition->node_count = was->node_count;
	tables->shape_count += was->shape_count;
}

static int
save_shapes(struct lt_tables *tables, const char *path, struct lt_error *err)
{
	const struct lt_market market = {.partitions = tables->partitions,
	    .partition_count = tables->partition_count,
	    .shapes = tables->shapes,
	    .shape_count = tables->shape_count};
	struct lt_last_shapes *const last = &tables->last;
	unsigned char *bytes = NULL;
	size_t byte_count = 0;
	struct lt_market seen;
	int code = lt_market_pack(&market, &bytes, &byte_count, err);

	if (code != LT_OK)
		return code;
	const uint32_t crc = lt_crc32c(0, bytes, byte_count);
	if (crc != last->crc) {
		code = lt_market_unpack(&seen, bytes, byte_count, err);
		if (code == LT_OK) {
			lt_market_free(&last->seen);
			last->seen = seen;
			last->crc = crc;
			code = lt_market_save(&last->seen, path, err);
		}
	}
	free(bytes);
	return code;
}

/*
 * Gives each partition without a node the shapes of those that it had last, by <state>/shapes, a
 * market snapshot without signals, written only when it changes. Such partitions get
 * LT_PARTITION_NO_NODES, those without any memory too. A file that can't be read or written is
 * logged: then only what this process has seen counts.
 */
static void
lay_last_shapes(struct lt_tables *tables, const char *state)
{
	struct lt_error err = {0};
	char path[LT_PATH_SIZE];

	snprintf(path, sizeof(path), "%s/shapes", state);
	if (!tables->last.is_read)
		read_seen(&tables->last, path);
	/* The market makes the rows of GPUs. */
	for (uint32_t i = 0; i < tables->shape_count; i++) {
		tables->shapes[i].gpu_index = -1;
		for (int k = 0; k < LT_GPU_KINDS_MAX; k++)
			tables->shapes[i].kinds[k].gpu_index = -1;
	}
	for (uint32_t i = 0; i < tables->partition_count; i++)
		if (tables->partitions[i].shape_count == 0)
			lay(tables, &tables->partitions[i]);
	if (save_shapes(tables, path, &err) != LT_OK)
		lt_log("shapes_not_kept", "error=\"%s\"", err.text);
}

static int
compare_names(const void *left, const void *right)
{
	const struct lt_batch_account *const *const a = left, *const *const b = right;

	return strcmp((*a)->name, (*b)->name);
}

/* Returns all accounts by name; malloc'd, NULL without memory. */
static const struct lt_batch_account **
sorted_accounts(const struct lt_tables *tables)
{
	const struct lt_batch_account **const sorted =
	    calloc((size_t)tables->account_count + 1, sizeof(struct lt_batch_account *));

	for (uint32_t i = 0; sorted != NULL && i < tables->account_count; i++)
		sorted[i] = &tables->accounts[i];
	if (sorted != NULL)
		qsort(sorted, tables->account_count, sizeof(struct lt_batch_account *),
		    compare_names);
	return sorted;
}

/* True if the account, or one above it, is in the list. */
static bool
is_account_below(const struct lt_batch_account *account, const char *list,
    const struct lt_batch_account **sorted, uint32_t count)
{
	for (uint32_t levels = 0; levels < count; levels++) {
		if (lt_text_is_among(account->name, list))
			return true;

		struct lt_batch_account wanted;
		const struct lt_batch_account *const key = &wanted;

		memcpy(wanted.name, account->parent, sizeof(wanted.name));
		const struct lt_batch_account **const parent =
		    bsearch(&key, sorted, count, sizeof(key), compare_names);
		if (parent == NULL)
			return false;
		account = *parent;
	}
	return false;
}

/* An account, by all of its pairs. */
struct used_account {
	const char *name;
	const char *default_qos; /* "" = not known, or not the same for all */
	bool is_tied;		 /* a user may only be in some partitions */
};

static int
compare_used(const void *left, const void *right)
{
	const struct used_account *const a = left, *const b = right;

	return strcmp(a->name, b->name);
}

struct used_accounts {
	struct used_account *items;
	uint32_t count;
};

/* Returns each account that has users, once, by name; malloc'd, NULL without memory. */
static struct used_accounts
used_accounts(const struct lt_tables *tables)
{
	uint32_t count = 0;
	struct used_account *const all = calloc((size_t)tables->pair_count + 1, sizeof(*all));

	if (all == NULL)
		return (struct used_accounts){0};
	for (uint32_t i = 0; i < tables->pair_count; i++)
		all[i] = (struct used_account){tables->pairs[i].account,
		    tables->pairs[i].default_qos, tables->pairs[i].by_partition};
	qsort(all, tables->pair_count, sizeof(*all), compare_used);
	for (uint32_t i = 0; i < tables->pair_count; i++) {
		struct used_account *const last = count > 0 ? &all[count - 1] : NULL;

		if (last == NULL || strcmp(last->name, all[i].name) != 0) {
			all[count++] = all[i];
			continue;
		}
		last->is_tied |= all[i].is_tied;
		if (strcmp(last->default_qos, all[i].default_qos) != 0)
			last->default_qos = "";
	}
	return (struct used_accounts){all, count};
}

/* Writes slurm.conf's own denied accounts, those below them, all that are tied, and those that have
 * associations of this partition, for which other limits may be set. */
static void
put_denied(FILE *out, const struct lt_tables *tables, const struct lt_partition *partition,
    const struct lt_batch_account **sorted, const struct used_accounts *used)
{
	const char *const own = partition->deny_accounts;

	(void)fputs(own, out);
	for (uint32_t i = 0; own[0] != '\0' && i < tables->account_count; i++)
		if (is_account_below(&tables->accounts[i], own, sorted, tables->account_count))
			(void)fprintf(out, ",%s", tables->accounts[i].name);
	for (uint32_t i = 0; i < used->count; i++)
		if (used->items[i].is_tied)
			(void)fprintf(out, ",%s", used->items[i].name);
	for (uint32_t i = 0; i < tables->tie_count; i++)
		if (strcmp(tables->ties[i].partition, partition->name) == 0)
			(void)fprintf(out, ",%s", tables->ties[i].account);
	(void)fputc('\0', out);
}

/* Writes the accounts whose default QOS the partition's lists let in; none where it has no such
 * list. */
static void
put_qos_accounts(FILE *out, const struct lt_partition *partition, const struct used_accounts *used)
{
	const char *const allow = partition->allow_qos;
	const char *const deny = partition->deny_qos;

	for (uint32_t i = 0; i < used->count; i++)
		if ((allow[0] != '\0' && lt_text_is_among(used->items[i].default_qos, allow)) ||
		    (deny[0] != '\0' && used->items[i].default_qos[0] != '\0' &&
			!lt_text_is_among(used->items[i].default_qos, deny)))
			(void)fprintf(out, "%s,", used->items[i].name);
	(void)fputc('\0', out);
}

int
lt_close_accounts(struct lt_tables *tables, struct lt_error *err)
{
	const struct lt_batch_account **const sorted = sorted_accounts(tables);
	const struct used_accounts used = used_accounts(tables);
	char *text = NULL;
	size_t size = 0;
	FILE *const out = open_memstream(&text, &size);

	for (uint32_t i = 0;
	     out != NULL && sorted != NULL && used.items != NULL && i < tables->partition_count;
	     i++) {
		const struct lt_partition *const p = &tables->partitions[i];

		put_denied(out, tables, p, sorted, &used);
		put_qos_accounts(out, p, &used);
	}
	const bool made = out != NULL && fclose(out) == 0 && sorted != NULL && used.items != NULL;

	free(sorted);
	free(used.items);
	if (!made) {
		free(text);
		return lt_fail(err, LT_ENOMEM, "deny lists: out of memory");
	}
	free(tables->closed);
	tables->closed = text;
	for (uint32_t i = 0; i < tables->partition_count; i++) {
		struct lt_partition *const p = &tables->partitions[i];

		p->deny_accounts = text;
		text += strlen(text) + 1;
		p->qos_accounts = text;
		text += strlen(text) + 1;
	}
	return LT_OK;
}

static void
name_partitions(const struct lt_policy *policy)
{
	struct lt_batch_named named[LT_PARTITIONS_MAX];
	uint32_t count = 0;

	for (int i = 0; i < policy->partition_count && count < LT_PARTITIONS_MAX; i++) {
		const struct lt_policy_partition *const p = &policy->partitions[i];

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
		lt_log("partitions_left_out", "count=%u first=\"%s\"", read.left_out,
		    read.why_left_out.text);
	tables->left_out = read.left_out;
	return LT_OK;
}

struct newcomers {		       /* the accounts that were never seen */
	struct lt_batch_account *list; /* each below where it was made, or "" */
	uint32_t count;
};

/* Puts each new account into the ledger where it was made. */
static int
see_births(const struct newcomers *fresh, struct lt_ledger *ledger, int64_t now_utc_s,
    struct lt_error *err)
{
	int code = LT_OK;

	for (uint32_t i = 0; code == LT_OK && i < fresh->count; i++)
		if (fresh->list[i].parent[0] != '\0')
			code = lt_ledger_put_account(
			    ledger, fresh->list[i].name, fresh->list[i].parent, now_utc_s, err);
	if (code == LT_OK)
		code = lt_ledger_put_number(ledger, "accounts_read", now_utc_s, err);
	return code;
}

/* Takes out the accounts that were never seen. */
static void
leave_out_new(struct lt_batch_associations *all, const struct lt_accounts_seen *seen)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < all->account_count; i++)
		if (lt_seen_find(seen, all->accounts[i].name) != NULL)
			all->accounts[kept++] = all->accounts[i];
	all->account_count = kept;
}

/* Asks slurmdbd where the new accounts were made; since when, by its clock. True also before a
 * first reading, when no account is new. */
static bool
find_births(struct newcomers *fresh, struct lt_tables *tables, struct lt_ledger *ledger)
{
	struct lt_error why = {0};
	int64_t read_utc_s = 0;
	int code = LT_OK;

	if (!lt_ledger_get_number(ledger, "accounts_read", 1, &read_utc_s))
		fresh->count = 0;
	if (fresh->count > 0)
		code = lt_child_births(fresh->list, fresh->count, read_utc_s - LT_HOUR_S, &why);
	const uint32_t left_out = code == LT_OK ? 0 : fresh->count;

	if (left_out != 0 && left_out != tables->left_out_accounts)
		lt_log("accounts_left_out",
		    "count=%u first=%s error=\"%s\" why=\"where they were made is not known\"",
		    left_out, fresh->list[0].name, why.text);
	tables->left_out_accounts = left_out;
	return code == LT_OK;
}

/* Loads all accounts that were ever seen, the new ones where they were made. */
static int
load_seen(struct lt_accounts_seen *seen, struct lt_batch_associations *all,
    struct lt_tables *tables, struct lt_ledger *ledger, int64_t now_utc_s, struct lt_error *err)
{
	struct newcomers fresh = {
	    .list = calloc((size_t)all->account_count + 1, sizeof(*fresh.list))};
	int code = fresh.list != NULL ? lt_ledger_accounts(ledger, &seen->list, &seen->count, err)
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

/* Takes Slurm's accounts as lowtide has them: moved ones where they were, those that are gone, and
 * how they stood before. */
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
	    lt_moved_keep(&tables->moved, all->accounts, all->account_count, &seen, policy) !=
		LT_OK)
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
		code = take_accounts(tables, &all, policy, ledger, now_utc_s, err);
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

/* Loads the managers. Without an answer the former ones stay: their changes are judged, and a raise
 * by anybody else is held within a pass. */
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
    const struct lt_policy *policy, struct lt_ledger *ledger, const char *state_dir,
    int64_t now_utc_s, struct lt_error *err)
{
	tables->conf = *conf;
	tables->private_data = conf->private_data | tables->private_dbd;
	name_partitions(policy);
	int code = load_partitions(tables, err);
	if (code != LT_OK)
		return code;
	lay_last_shapes(tables, state_dir);
	if (lt_batch_has_dbd(conf)) {
		code = load_associations(tables, policy, ledger, now_utc_s, err);
		load_managers(tables);
		if (code == LT_OK)
			code = lt_associations_save(tables, state_dir, err);
		else if (tables->accounts == NULL) {
			if (lt_associations_load(tables, state_dir, &(struct lt_error){0}) != LT_OK)
				return code; /* nothing to work with */
			lt_accounts_sort(tables->accounts, tables->account_count);
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
