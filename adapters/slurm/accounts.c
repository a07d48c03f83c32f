/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Accounts and their users: associations of slurmdbd (who belongs to which account, with which QOS
 * and limits), below which account a new one was made, and who may change jobs of others.
 *
 * A coordinator may make an account below his own and move it before lowtide looks; the move is no
 * transaction, so slurmdbd's transactions say where it was made. Managers come from slurmctld's own
 * memory of slurmdbd's users, since it decides by that. Each call to slurmdbd opens a connection of
 * its own; a failure is returned, and lists that were begun are the caller's to free.
 */
#include <errno.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "compat.h"
#include "dbd_link.h"
#include "slurm_text.h"

/* ---- PrivateData of slurmdbd ---- */

#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(26, 5, 0)
/* Returns 0: slurmdbd no longer has it; what sacctmgr shows as its own is slurm.conf's. */
static uint32_t
private_data_of(void *connection)
{
	(void)connection;
	return 0;
}
#else
/* Reads the text of slurmdbd's configuration, "jobs,usage". */
static uint32_t
private_words(const char *text)
{
	return (strcasestr(text, "jobs") != NULL ? LT_PRIVATE_JOBS : 0u) |
	       (strcasestr(text, "usage") != NULL ? LT_PRIVATE_USAGE : 0u) |
	       (strcasestr(text, "accounts") != NULL ? LT_PRIVATE_ACCOUNTS : 0u);
}

/* Returns LT_PRIVATE_* of slurmdbd's own PrivateData; all of them where it is not known, so that
 * nothing is shown that one of them would hide. */
static uint32_t
private_data_of(void *connection)
{
	uint32_t bits = 0;
	lt_slurm_list *const list = slurmdb_config_get(connection);
	lt_slurm_config_pair *pair;

	if (list == NULL)
		return LT_PRIVATE_JOBS | LT_PRIVATE_USAGE | LT_PRIVATE_ACCOUNTS;
	lt_slurm_iterator *const iterator = slurm_list_iterator_create(list);
	while ((pair = slurm_list_next(iterator)) != NULL)
		if (pair->name != NULL && pair->value != NULL &&
		    strcasecmp(pair->name, "PrivateData") == 0)
			bits = private_words(pair->value);
	slurm_list_iterator_destroy(iterator);
	slurm_list_destroy(list);
	return bits;
}
#endif

/* ---- associations ---- */

enum { SLOW_S = 10 };

/* Returns seconds of the clock that nobody sets. */
static time_t
now_s(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec;
}

/* The name's uid; the last one is kept, users come in blocks. Once the system's directory has taken
 * SLOW_S in all, those who were known stay as they were. */
static bool
uid_of(const char *user, uint32_t *uid, time_t began_s)
{
	static char known_name[LT_NAME_SIZE];
	static uint32_t known_uid;
	char buffer[4096];
	struct passwd entry, *found = NULL;

	if (known_name[0] != '\0' && strcmp(user, known_name) == 0) {
		*uid = known_uid;
		return true;
	}
	if (now_s() - began_s >= SLOW_S && lt_user_known(user, uid))
		return true;
	if (getpwnam_r(user, &entry, buffer, sizeof(buffer), &found) != 0 || found == NULL)
		return false;
	lt_copy(known_name, sizeof(known_name), user);
	*uid = known_uid = entry.pw_uid;
	return true;
}

static int
compare_pairs(const void *left, const void *right)
{
	const struct lt_batch_pair *const a = left, *const b = right;

	if (a->uid != b->uid)
		return a->uid < b->uid ? -1 : 1;
	return strcmp(a->account, b->account);
}

static int
compare_ties(const void *left, const void *right)
{
	const struct lt_batch_tie *const a = left, *const b = right;
	const int by_account = strcmp(a->account, b->account);

	return by_account != 0 ? by_account : strcmp(a->partition, b->partition);
}

/* Each once. */
static void
merge_ties(struct lt_batch_associations *all)
{
	uint32_t kept = 0;

	if (all->tie_count > 1)
		qsort(all->ties, all->tie_count, sizeof(*all->ties), compare_ties);
	for (uint32_t i = 0; i < all->tie_count; i++)
		if (kept == 0 || compare_ties(&all->ties[kept - 1], &all->ties[i]) != 0)
			all->ties[kept++] = all->ties[i];
	all->tie_count = kept;
}

/* A user may have one association per partition: one pair all the same. */
static void
merge_pairs(struct lt_batch_associations *all)
{
	uint32_t kept = 0;

	if (all->pair_count > 1)
		qsort(all->pairs, all->pair_count, sizeof(*all->pairs), compare_pairs);
	for (uint32_t i = 0; i < all->pair_count; i++) {
		if (kept > 0 && compare_pairs(&all->pairs[kept - 1], &all->pairs[i]) == 0) {
			all->pairs[kept - 1].is_default |= all->pairs[i].is_default;
			all->pairs[kept - 1].by_partition &= all->pairs[i].by_partition;
			if (all->pairs[kept - 1].wall_s < all->pairs[i].wall_s)
				all->pairs[kept - 1].wall_s = all->pairs[i].wall_s;
			all->pairs[kept - 1].wall_always &= all->pairs[i].wall_always;
			if (strcmp(all->pairs[kept - 1].default_qos, all->pairs[i].default_qos) !=
			    0)
				all->pairs[kept - 1].default_qos[0] = '\0';
		} else
			all->pairs[kept++] = all->pairs[i];
	}
	all->pair_count = kept;
}

/* Ids that are the same in each slurmdbd. */
enum { SLURM_CPU = 1, SLURM_MEM = 2, SLURM_NODE = 4 };

/* True if the TRES of slurmdbd, "ID=COUNT" with commas, are CPUs, memory, nodes and GPUs; those of
 * gres have other ids at each site. */
static bool
is_amount(uint32_t id, uint32_t gpu_id)
{
	return id == SLURM_CPU || id == SLURM_MEM || id == SLURM_NODE ||
	       (gpu_id != 0 && id == gpu_id);
}

/* Returns enum lt_job_limit of a list of TRES: each may keep a job from starting where it is given
 * more. */
static uint32_t
kinds_of_list(const char *list, uint32_t gpu_id)
{
	uint32_t kinds = 0;

	while (list != NULL && *list != '\0') {
		const uint32_t id = (uint32_t)strtoul(list, NULL, 10);

		kinds |= is_amount(id, gpu_id) ? LT_LIMITS_AMOUNTS : LT_LIMITS_OTHERS;
		list = strchr(list, ',');
		if (list != NULL)
			list++;
	}
	return kinds;
}

static uint32_t
kinds_of(const slurmdb_assoc_rec_t *from, uint32_t gpu_id)
{
	const char *const per_job[] = {
	    from->max_tres_pj, from->max_tres_pn, from->max_tres_mins_pj, from->grp_tres};
	const char *const minutes[] = {
	    from->grp_tres_mins, from->grp_tres_run_mins, from->max_tres_run_mins};
	uint32_t kinds = 0;

	for (size_t i = 0; i < sizeof(per_job) / sizeof(per_job[0]); i++)
		kinds |= kinds_of_list(per_job[i], gpu_id);
	/* Minutes of other TRES, as billing, run out slowly: Slurm's reason says so when they
	 * do. */
	for (size_t i = 0; i < sizeof(minutes) / sizeof(minutes[0]); i++)
		kinds |= kinds_of_list(minutes[i], gpu_id) & LT_LIMITS_AMOUNTS;
	return kinds;
}

/* The id that "gres/gpu" has there; 0 = none. */
static uint32_t
gpu_tres(struct lt_dbd_link *link)
{
	slurmdb_tres_cond_t condition = {0};
	lt_slurm_list *const list = slurmdb_tres_get(link->connection, &condition);
	uint32_t id = 0;

	if (list == NULL)
		return 0;
	lt_slurm_iterator *const iterator = slurm_list_iterator_create(list);
	for (slurmdb_tres_rec_t *tres; (tres = slurm_list_next(iterator)) != NULL;)
		if (tres->type != NULL && strcmp(tres->type, "gres") == 0 && tres->name != NULL &&
		    strcmp(tres->name, "gpu") == 0)
			id = tres->id;
	slurm_list_iterator_destroy(iterator);
	slurm_list_destroy(list);
	return id;
}

struct qoses {
	lt_slurm_list *list;   /* of slurmdb_qos_rec_t */
	uint32_t root_default; /* the root association's; 0 = none */
	/* The last one named: most associations have the same. 0 = none */
	uint32_t named_id;
	char named[LT_ACCOUNT_SIZE];
};

static bool
is_id(uint32_t id)
{
	return id > 0 && id != NO_VAL && id != INFINITE;
}

/* Writes the QOS's name, lower case; "" where there is none of that id, or its name is too long for
 * ours. */
static void
name_qos(char out[LT_ACCOUNT_SIZE], struct qoses *qoses, uint32_t id)
{
	if (id == qoses->named_id) {
		lt_copy(out, LT_ACCOUNT_SIZE, qoses->named);
		return;
	}
	lt_slurm_iterator *const iterator = slurm_list_iterator_create(qoses->list);

	out[0] = '\0';
	for (slurmdb_qos_rec_t *qos; (qos = slurm_list_next(iterator)) != NULL;)
		if (qos->id == id && qos->name != NULL && strlen(qos->name) < LT_ACCOUNT_SIZE)
			lt_copy_lower(out, LT_ACCOUNT_SIZE, qos->name);
	slurm_list_iterator_destroy(iterator);
	qoses->named_id = id;
	lt_copy(qoses->named, LT_ACCOUNT_SIZE, out);
}

/*
 * Writes the QOS that Slurm gives a job of the association without --qos, as
 * assoc_mgr_get_default_qos_info() finds it: the association's default, else the only one that it
 * has, else the root association's default, else "normal". "" where the default is none of those
 * that it has, or one is "+name".
 */
static void
find_default_qos(char out[LT_ACCOUNT_SIZE], const slurmdb_assoc_rec_t *from, struct qoses *qoses)
{
	uint32_t count = 0, only = 0;
	bool has_default = !is_id(from->def_qos_id), are_ids = true;

	out[0] = '\0';
	if (from->qos_list == NULL)
		return;
	lt_slurm_iterator *const iterator = slurm_list_iterator_create(from->qos_list);
	for (const char *text; (text = slurm_list_next(iterator)) != NULL;) {
		only = (uint32_t)strtoul(text, NULL, 10);
		are_ids &= text[0] >= '1' && text[0] <= '9';
		has_default |= only == from->def_qos_id;
		count++;
	}
	slurm_list_iterator_destroy(iterator);
	if (!are_ids || !has_default)
		return;
	if (is_id(from->def_qos_id))
		name_qos(out, qoses, from->def_qos_id);
	else if (count == 1)
		name_qos(out, qoses, only);
	else if (is_id(qoses->root_default))
		name_qos(out, qoses, qoses->root_default);
	else
		lt_copy(out, LT_ACCOUNT_SIZE, "normal");
}

/* The shorter of two walls of Slurm's, minutes; 0 = none. */
static int64_t
shorter_wall(uint32_t max_wall, uint32_t grp_wall)
{
	const int64_t one_s = lt_minutes(max_wall, 0);
	const int64_t all_s = lt_minutes(grp_wall, 0);

	return one_s > 0 && (all_s == 0 || one_s < all_s) ? one_s : all_s;
}

/* Returns the seconds that the QOS with this id allows; 0 = no limit. */
static int64_t
wall_of_qos(const struct qoses *qoses, uint32_t id)
{
	lt_slurm_iterator *const iterator = slurm_list_iterator_create(qoses->list);
	int64_t wall_s = 0;

	for (slurmdb_qos_rec_t *qos; (qos = slurm_list_next(iterator)) != NULL;)
		if (qos->id == id)
			wall_s = shorter_wall(qos->max_wall_pj, qos->grp_wall);
	slurm_list_iterator_destroy(iterator);
	return wall_s;
}

/* A QOS's wall goes before the association's; which QOS a job takes is not known here. */
static void
find_wall(struct lt_batch_pair *to, const slurmdb_assoc_rec_t *from, const struct qoses *qoses)
{
	const bool enforced =
	    (slurm_conf.accounting_storage_enforce & LT_SLURM_ENFORCE_LIMITS) != 0;
	const int64_t own_s = shorter_wall(from->max_wall_pj, from->grp_wall);
	uint32_t count = 0, without = 0;

	if (!enforced)
		return;
	to->wall_s = own_s;
	if (from->qos_list != NULL) {
		lt_slurm_iterator *const iterator = slurm_list_iterator_create(from->qos_list);

		for (const char *text; (text = slurm_list_next(iterator)) != NULL; count++) {
			const int64_t wall_s =
			    wall_of_qos(qoses, (uint32_t)strtoul(text, NULL, 10));

			without += wall_s == 0;
			if (wall_s > to->wall_s)
				to->wall_s = wall_s;
		}
		slurm_list_iterator_destroy(iterator);
	}
	to->wall_always = own_s > 0 || (count > 0 && without == 0);
}

static bool
is_user(const slurmdb_assoc_rec_t *from)
{
	return from->user != NULL && from->user[0] != '\0';
}

/* The QOS of a job whose association names none; 0 = no such default. */
static uint32_t
root_default_of(lt_slurm_list *associations)
{
	lt_slurm_iterator *const iterator = slurm_list_iterator_create(associations);
	uint32_t id = 0;

	for (slurmdb_assoc_rec_t *from; (from = slurm_list_next(iterator)) != NULL;)
		if (!is_user(from) && from->acct != NULL && strcmp(from->acct, "root") == 0)
			id = from->def_qos_id;
	slurm_list_iterator_destroy(iterator);
	return id;
}

static void
add_association(struct lt_batch_associations *all, const slurmdb_assoc_rec_t *from,
    struct qoses *qoses, time_t began_s)
{
	if (from->acct == NULL || strlen(from->acct) >= LT_ACCOUNT_SIZE)
		return;
	if (!is_user(from)) {
		struct lt_batch_account *const to = &all->accounts[all->account_count++];

		lt_copy_lower(to->name, sizeof(to->name), from->acct);
		lt_copy_lower(to->parent, sizeof(to->parent), from->parent_acct);
		return;
	}
	struct lt_batch_pair pair = {.is_default = from->is_def == 1,
	    .by_partition = from->partition != NULL && from->partition[0] != '\0'};
	if (pair.by_partition) {
		struct lt_batch_tie *const tie = &all->ties[all->tie_count++];

		lt_copy_lower(tie->account, sizeof(tie->account), from->acct);
		lt_copy(tie->partition, sizeof(tie->partition), from->partition);
	}
	if (strlen(from->user) >= sizeof(pair.user) || !uid_of(from->user, &pair.uid, began_s)) {
		all->unknown_users++;
		return;
	}
	lt_copy(pair.user, sizeof(pair.user), from->user);
	lt_copy_lower(pair.account, sizeof(pair.account), from->acct);
	find_default_qos(pair.default_qos, from, qoses);
	find_wall(&pair, from, qoses);
	all->pairs[all->pair_count++] = pair;
}

static int
copy_associations(struct lt_batch_associations *all, lt_slurm_list *list, lt_slurm_list *qos_list,
    uint32_t gpu_id, struct lt_error *err)
{
	struct qoses qoses = {.list = qos_list, .root_default = root_default_of(list)};
	const size_t count = (size_t)slurm_list_count(list) + 1;
	const time_t began_s = now_s();

	all->accounts = calloc(count, sizeof(*all->accounts));
	all->pairs = calloc(count, sizeof(*all->pairs));
	all->ties = calloc(count, sizeof(*all->ties));
	if (all->accounts == NULL || all->pairs == NULL || all->ties == NULL)
		return lt_fail(err, LT_ENOMEM, "associations: no memory for %zu", count);
	lt_slurm_iterator *const iterator = slurm_list_iterator_create(list);
	for (slurmdb_assoc_rec_t *record; (record = slurm_list_next(iterator)) != NULL;) {
		add_association(all, record, &qoses, began_s);
		all->job_limits |= kinds_of(record, gpu_id);
	}
	slurm_list_iterator_destroy(iterator);
	merge_pairs(all);
	merge_ties(all);
	return LT_OK;
}

int
lt_batch_associations(struct lt_batch_associations *all, struct lt_error *err)
{
	slurmdb_assoc_cond_t condition = {0};
	slurmdb_qos_cond_t all_qos = {0};
	struct lt_dbd_link link;
	lt_slurm_list *list = NULL, *qos_list = NULL;
	int rc = lt_dbd_open(&link, err);

	*all = (struct lt_batch_associations){0};
	if (rc == LT_OK) {
		condition.cluster_list = link.clusters;
		list = slurmdb_associations_get(link.connection, &condition);
		if (list == NULL)
			rc = lt_slurm_fail("slurmdbd: associations", errno, err);
	}
	if (rc == LT_OK) {
		qos_list = slurmdb_qos_get(link.connection, &all_qos);
		if (qos_list == NULL)
			rc = lt_slurm_fail("slurmdbd: QOS", errno, err);
	}
	if (rc == LT_OK)
		rc = copy_associations(all, list, qos_list, gpu_tres(&link), err);
	if (rc == LT_OK)
		all->private_data = private_data_of(link.connection);
	if (list != NULL)
		slurm_list_destroy(list);
	if (qos_list != NULL)
		slurm_list_destroy(qos_list);
	lt_dbd_close(&link);
	if (rc != LT_OK)
		lt_batch_associations_free(all);
	return rc;
}

/* ---- births of accounts ---- */

/* The last time it was made counts. */
static void
find_birth(struct lt_batch_account *account, lt_slurm_list *transactions)
{
	lt_slurm_iterator *const iterator = slurm_list_iterator_create(transactions);
	time_t last = 0;

	account->parent[0] = '\0';
	for (slurmdb_txn_rec_t *made; (made = slurm_list_next(iterator)) != NULL;)
		if (made->timestamp >= last &&
		    lt_birth_parent(account->parent, made->set_info, account->name))
			last = made->timestamp;
	slurm_list_iterator_destroy(iterator);
}

int
lt_batch_births(
    struct lt_batch_account *accounts, uint32_t count, int64_t since_utc_s, struct lt_error *err)
{
	slurmdb_txn_cond_t condition = {.time_start = since_utc_s};
	lt_slurm_list *transactions = NULL;
	struct lt_dbd_link link;
	int rc = lt_dbd_open(&link, err);

	if (rc == LT_OK) {
		condition.cluster_list = link.clusters;
		transactions = slurmdb_txn_get(link.connection, &condition);
		if (transactions == NULL)
			rc = lt_slurm_fail("slurmdbd: transactions", errno, err);
		/* slurmdbd answers with an empty list where it can't
		 * read its table. */
		else if (count > 0 && slurm_list_count(transactions) == 0)
			rc = lt_fail(err, LT_ENET,
			    "slurmdbd: transactions: none, though accounts were added");
	}
	for (uint32_t i = 0; rc == LT_OK && i < count; i++)
		find_birth(&accounts[i], transactions);
	if (transactions != NULL)
		slurm_list_destroy(transactions);
	lt_dbd_close(&link);
	return rc;
}

/* ---- managers of others' jobs ---- */

/* One row for an operator, for a coordinator one an account. */
static size_t
rows_of(const slurmdb_user_rec_t *user)
{
	return 1 + (user->coord_accts == NULL ? 0 : (size_t)slurm_list_count(user->coord_accts));
}

static void
add_user(struct lt_batch_manager *managers, uint32_t *count, const slurmdb_user_rec_t *user)
{
	if (user->uid == NO_VAL)
		return; /* nobody of this system */
	if (user->admin_level >= SLURMDB_ADMIN_OPERATOR) {
		managers[(*count)++].uid = user->uid;
		return;
	}
	if (user->coord_accts == NULL)
		return;
	lt_slurm_iterator *const iterator = slurm_list_iterator_create(user->coord_accts);
	for (slurmdb_coord_rec_t *coord; (coord = slurm_list_next(iterator)) != NULL;) {
		struct lt_batch_manager *const to = &managers[*count];

		if (coord->name == NULL || coord->name[0] == '\0')
			continue;
		lt_copy_lower(to->account, sizeof(to->account), coord->name);
		to->uid = user->uid;
		++*count;
	}
	slurm_list_iterator_destroy(iterator);
}

static int
copy_users(
    struct lt_batch_manager **managers, uint32_t *count, lt_slurm_list *users, struct lt_error *err)
{
	size_t rows = 1;
	lt_slurm_iterator *const iterator = slurm_list_iterator_create(users);
	slurmdb_user_rec_t *user;

	while ((user = slurm_list_next(iterator)) != NULL)
		rows += rows_of(user);
	slurm_list_iterator_reset(iterator);
	*managers = calloc(rows, sizeof(**managers));
	while (*managers != NULL && (user = slurm_list_next(iterator)) != NULL)
		add_user(*managers, count, user);
	slurm_list_iterator_destroy(iterator);
	return *managers != NULL ? LT_OK
				 : lt_fail(err, LT_ENOMEM, "managers: no memory for %zu", rows);
}

int
lt_batch_managers(struct lt_batch_manager **managers, uint32_t *count, struct lt_error *err)
{
	assoc_mgr_info_request_msg_t request = {.flags = ASSOC_MGR_INFO_FLAG_USERS};
	assoc_mgr_info_msg_t *answer = NULL;
	int rc = lt_slurm_answers(err);

	*managers = NULL;
	*count = 0;
	if (rc != LT_OK)
		return rc;
	if (slurm_load_assoc_mgr_info(&request, &answer) != SLURM_SUCCESS || answer == NULL)
		return lt_slurm_fail("slurmctld: users", errno, err);
	if (answer->user_list != NULL)
		rc = copy_users(managers, count, answer->user_list, err);
	slurm_free_assoc_mgr_info_msg(answer);
	return rc;
}
