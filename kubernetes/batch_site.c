/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A Kubernetes cluster where Slurm's adapter has slurm.conf: what it is called, its pools as
 * partitions, the namespaces that opted in as accounts; and how it is watched and what waits there,
 * for lowtide status and doctor.
 *
 * Starts the watcher and takes what it brings; reads the environment and kube.db. A watcher that
 * fails or ends is logged and started again.
 */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "batch.h"
#include "grow.h"
#include "http.h"
#include "log.h"
#include "object.h"
#include "site.h"
#include "text.h"
#include "cluster.h"

enum {
	FIRST_LISTS_MS = 60000,
	GRACE_S = 30,
	REST_S = 5, /* after the store could not be written */
};

const char lt_batch_program[] = "lowtide-kube";

static const char *
from_environment(const char *name, const char *fallback)
{
	const char *const value = getenv(name);

	return value != NULL && value[0] != '\0' ? value : fallback;
}

int
lt_batch_init(const char *conf_path, const char *state_dir, struct lt_error *err)
{
	struct lt_kube_site *const s = &lt_kube_site;
	struct lt_kube_place place = lt_kube_place_of_environment();

	if (conf_path != NULL)
		place.kubeconfig = conf_path;
	s->namespace = from_environment("LOWTIDE_NAMESPACE", "lowtide");
	s->cluster.names =
	    (struct lt_kube_names){.pool = from_environment("LOWTIDE_POOL_LABEL", NULL),
		.team = from_environment("LOWTIDE_TEAM_LABEL", NULL)};
	s->dry_runs = strcmp(from_environment("LOWTIDE_DRY_RUN_PODS", ""), "true") == 0;
	s->uid = (uint32_t)getuid();
	s->allowance = LT_KUBE_REQUESTS_A_SECOND;
	int code = lt_http_init(err);
	if (code == LT_OK)
		code = lt_kube_open(&s->kube, &place, err);
	if (code == LT_OK && state_dir != NULL) {
		snprintf(s->state_dir, sizeof(s->state_dir), "%s", state_dir);
		code = lt_kube_store_open(&s->cluster.store, state_dir, err);
	}
	if (code == LT_OK && state_dir != NULL)
		code = lt_kube_kept_load(&s->cluster, state_dir, err);
	return code;
}

void
lt_batch_know_users(const struct lt_batch_pair *pairs, uint32_t count)
{
	(void)pairs; /* a user's name is in the request */
	(void)count;
}

void
lt_batch_may_wait(void)
{
}

void
lt_batch_name_partitions(const struct lt_batch_named *named, uint32_t count)
{
	const char *names[LT_PARTITIONS_MAX];

	for (uint32_t i = 0; i < count; i++)
		names[i] = named[i].name;
	lt_kube_cluster_name(&lt_kube_site.cluster, names, count);
	lt_kube_kept_name(&lt_kube_site.cluster, named, count);
}

void
lt_batch_know(const struct lt_market *market)
{
	lt_kube_know_pools(market);
	lt_kube_know_limits(market);
}

int
lt_batch_check(bool has_history, struct lt_error *err)
{
	bool is_empty = false;
	const int code = lt_kube_store_is_empty(lt_kube_site.cluster.store, &is_empty, err);

	if (code != LT_OK || !has_history || !is_empty)
		return code;
	return lt_fail(err, LT_EINPUT,
	    "%s/kube.db knows no pod, but the ledger beside it has charged some: put back the one of its backup, or all that the cluster still has would be charged twice",
	    lt_kube_site.state_dir);
}

void
lt_batch_fini(void)
{
	struct lt_kube_site *const s = &lt_kube_site;

	lt_kube_watcher_stop();
	lt_kube_cluster_free(&s->cluster);
	lt_kube_close(s->kube);
	free(s->balances);
	free(s->classes);
	lt_kube_job_free(&s->question.facts);
	json_decref(s->tried);
	json_decref(s->given.requests);
	json_decref(s->given.classes);
	json_decref(s->given.device_classes);
	json_decref(s->given.devices);
	*s = (struct lt_kube_site){0};
}

void
lt_batch_conf_here(struct lt_batch_conf *conf)
{
	*conf = (struct lt_batch_conf){.slurm_uid = (uint32_t)getuid()};
}

/* False, too, of a version that can't be read. */
static bool
is_version(const char *text, unsigned major, unsigned minor)
{
	unsigned is[2];

	return sscanf(text, "v%u.%u", &is[0], &is[1]) == 2 &&
	       (is[0] > major || (is[0] == major && is[1] >= minor));
}

/* Reads the cloud and region of the first node that names them. */
static void
find_cloud(struct lt_batch_conf *conf)
{
	const struct lt_kube_cluster *const c = &lt_kube_site.cluster;

	for (uint32_t i = 0; i < c->node_count && conf->region[0] == '\0'; i++) {
		const struct lt_kube_node *const node = &c->nodes[i].facts;

		if (node->cloud[0] == '\0')
			continue;
		snprintf(conf->cloud, sizeof(conf->cloud), "%s", node->cloud);
		snprintf(conf->region, sizeof(conf->region), "%s", node->region);
	}
}

int
lt_batch_conf(struct lt_batch_conf *conf, struct lt_error *err)
{
	const struct lt_kube_request request = {.path = "/version"};
	json_t *version = NULL;
	const int code = lt_kube_do(lt_kube_site.kube, &request, &version, err);

	if (code != LT_OK)
		return code;
	lt_batch_conf_here(conf);
	snprintf(conf->cluster, sizeof(conf->cluster), "%s",
	    from_environment("LOWTIDE_CLUSTER", "kubernetes"));
	snprintf(conf->release, sizeof(conf->release), "%s", lt_kube_string(version, "gitVersion"));
	lt_kube_site.cluster.names.places_anew = is_version(conf->release, 1, 36);
	snprintf(conf->control_host, sizeof(conf->control_host), "%s",
	    lt_kube_server(lt_kube_site.kube));
	find_cloud(conf);
	conf->kill_wait_s = GRACE_S;
	conf->keeps_rows = true;
	conf->memory_counts = conf->gpus_counted = conf->shards_counted = true;
	conf->is_acting_controller = true;
	json_decref(version);
	return LT_OK;
}

/* ---- what has been seen ---- */

static void
take_line(void *context, const struct lt_kube_line *line)
{
	if ((int)line->kind == LT_KUBE_BALANCES)
		lt_kube_see_balances(line);
	else
		lt_kube_cluster_take(context, line);
}

int
lt_batch_fds(struct pollfd *fds)
{
	*fds = (struct pollfd){.fd = lt_kube_watcher_fd(), .events = POLLIN};
	return fds->fd >= 0;
}

/* All that a pass takes in is on disk together, or is listed anew once that can be written. Who
 * only looks has no store. */
static int
take_all(struct lt_kube_cluster *c, struct lt_error *err)
{
	int code = LT_OK;

	if (c->store != NULL)
		code = lt_kube_store_begin(c->store, err);
	if (code != LT_OK)
		return code;
	if (!lt_kube_watcher_take(take_line, c))
		lt_log("watcher_ended", "why=\"it is started again\"");
	if (c->store == NULL)
		return LT_OK;
	if (!c->lost)
		code = lt_kube_cluster_catch_up(c, err);
	if (!c->lost && code == LT_OK)
		code = lt_kube_cluster_mark(c, c->now_utc_s, err);
	if (!c->lost && code == LT_OK)
		code = lt_kube_unheld_charge(c, err);
	if (!c->lost && code == LT_OK)
		code = lt_kube_store_commit(c->store, err);
	if (!c->lost && code == LT_OK)
		return LT_OK;
	lt_kube_store_rollback(c->store);
	lt_kube_watcher_stop();
	lt_kube_cluster_reset(c);
	lt_kube_site.rest_until_utc_s = c->now_utc_s + REST_S;
	return code;
}

void
lt_batch_take(struct lt_batch_changes *changes, int64_t now_utc_s)
{
	struct lt_kube_cluster *const c = &lt_kube_site.cluster;
	struct lt_error err = {0};

	*changes = (struct lt_batch_changes){.count = 0};
	c->now_utc_s = now_utc_s;
	if (now_utc_s < lt_kube_site.rest_until_utc_s)
		return;
	if (lt_kube_ask_given(now_utc_s) || c->list_anew)
		lt_kube_watcher_stop(); /* so that all is listed anew */
	c->list_anew = false;
	if (lt_kube_watcher_fd() < 0 &&
	    lt_kube_watcher_start(lt_kube_site.namespace, NULL) != LT_OK)
		return;
	if (take_all(c, &err) != LT_OK)
		lt_log("store_failed", "error=\"%s\"", err.text);
	if (!lt_kube_cluster_is_complete(c))
		return;
	lt_kube_ask_cron_jobs(now_utc_s);
	lt_kube_ask_dry_runs(now_utc_s);
	changes->tables = c->nodes_changed || c->namespaces_changed;
	changes->all = c->all_changed;
	changes->count = c->changed_count;
	memcpy(changes->jobs, c->changed, sizeof(changes->jobs));
	c->all_changed = c->nodes_changed = c->namespaces_changed = false;
	c->changed_count = 0;
}

/* And SQLite's connections must not be carried over a fork. */
bool
lt_batch_is_near(void)
{
	return true;
}

/* The watcher runs, and has given each kind once. */
static int
wait_for_lists(struct lt_error *err)
{
	struct lt_kube_cluster *const c = &lt_kube_site.cluster;
	const int64_t until_ms = lt_monotonic_ms() + FIRST_LISTS_MS;

	for (;;) {
		struct lt_batch_changes seen;
		struct pollfd fd;
		const int code = lt_kube_watcher_start(lt_kube_site.namespace, err);

		if (code != LT_OK || lt_kube_cluster_is_complete(c))
			return code;
		const int64_t left_ms = until_ms - lt_monotonic_ms();
		if (left_ms <= 0)
			break;
		if (lt_batch_fds(&fd) > 0)
			poll(&fd, 1, (int)left_ms);
		lt_batch_take(&seen, (int64_t)time(NULL));
	}
	return lt_fail(err, LT_ENET, "%s: %s", lt_kube_server(lt_kube_site.kube),
	    c->failed.text[0] != '\0' ? c->failed.text : "no list of it within a minute");
}

/* ---- pools ---- */

/* Compares what describe_node() wrote: one machine may be sold in two ways. */
static bool
is_kind(const char *features, const struct lt_kube_node *node)
{
	char machine[LT_NAME_SIZE + 16];

	snprintf(machine, sizeof(machine), "instance-type=%s", node->instance);
	return (node->instance[0] == '\0' || lt_text_is_among(machine, features)) &&
	       lt_text_is_among("spot", features) == (node->is_spot || node->is_reclaimable);
}

static bool
same_shape(const struct lt_shape *shape, const struct lt_kube_node *node)
{
	return is_kind(shape->features, node) && shape->exact.cpu_milli == node->exact.cpu_milli &&
	       shape->gpus == node->gpus && shape->exact.memory_kib == node->exact.memory_kib &&
	       shape->exact.gpu_micro == node->exact.gpu_micro &&
	       strcmp(shape->kinds[0].type, node->gpu_type) == 0;
}

/* Describes a node for authors of a policy, as Slurm's nodes have features. */
static void
describe_node(char *out, size_t size, const struct lt_kube_node *node)
{
	struct lt_text text = {.out = out, .size = size};

	if (node->instance[0] != '\0')
		lt_text_put(&text, "instance-type=%s,", node->instance);
	if (node->zone[0] != '\0')
		lt_text_put(&text, "zone=%s,", node->zone);
	if (node->is_spot || node->is_reclaimable)
		lt_text_put(&text, "spot,");
	if (text.at > 0)
		out[text.full ? 0 : text.at - 1] = '\0';
}

static int
add_node(struct lt_batch_partitions *read, struct lt_partition *p, const struct lt_kube_node *node,
    struct lt_error *err)
{
	struct lt_shape *const first = &read->shapes[p->first_shape];

	p->node_count++;
	if (node->is_up)
		p->flags |= LT_PARTITION_UP;
	for (uint32_t i = 0; i < p->shape_count; i++)
		if (same_shape(&first[i], node)) {
			first[i].node_count++;
			return LT_OK;
		}
	if (read->shape_count >= LT_SHAPES_MAX)
		return lt_fail(
		    err, LT_ELIMIT, "pool %s: more than %d kinds of node", p->name, LT_SHAPES_MAX);
	struct lt_shape *const shape = &first[p->shape_count++];
	*shape = (struct lt_shape){.node_count = 1,
	    .cpus = node->cpus,
	    .threads = 1,
	    .sockets = 1,
	    .socket_cores = node->cpus,
	    .gpus = node->gpus,
	    .memory_mib = node->memory_mib,
	    .exact = node->exact,
	    .gpu_index = -1};
	if (node->gpu_type[0] != '\0')
		shape->kinds[0].count = node->gpus;
	memcpy(shape->kinds[0].type, node->gpu_type, sizeof(shape->kinds[0].type));
	describe_node(shape->features, sizeof(shape->features), node);
	read->shape_count++;
	return LT_OK;
}

static int
by_pool(const void *a, const void *b)
{
	const struct lt_kube_known_node *const x = a, *const y = b;
	const int order = strcmp(x->facts.pool, y->facts.pool);

	return order != 0 ? order : strcmp(x->facts.name, y->facts.name);
}

static struct lt_partition *
add_partition(struct lt_batch_partitions *read, const char *pool)
{
	static const char no_list[] = "";
	struct lt_partition *const p = &read->partitions[read->count++];

	*p = (struct lt_partition){.max_time_s = INT64_MAX,
	    .max_nodes = UINT32_MAX,
	    .default_memory_mib = 1,
	    .price_series = LT_NO_SERIES,
	    .carbon_series = LT_NO_SERIES,
	    .tariff_series = LT_NO_SERIES,
	    .occupancy_series = LT_NO_SERIES,
	    .allow_accounts = no_list,
	    .deny_accounts = no_list,
	    .allow_qos = no_list,
	    .deny_qos = no_list,
	    .first_shape = read->shape_count};
	lt_copy(p->name, sizeof(p->name), pool);
	return p;
}

/* nodes: sorted by their pools. */
static int
fill_partitions(struct lt_batch_partitions *read, const struct lt_kube_known_node *nodes,
    uint32_t count, struct lt_error *err)
{
	for (uint32_t i = 0; i < count; i++) {
		const struct lt_kube_node *const node = &nodes[i].facts;

		read->nodes.are_there[i] = true;
		if (node->pool[0] == '\0')
			continue;
		struct lt_partition *p =
		    read->count > 0 ? &read->partitions[read->count - 1] : NULL;
		if (p == NULL || strcmp(p->name, node->pool) != 0) {
			if (read->count == LT_PARTITIONS_MAX)
				return lt_fail(
				    err, LT_ELIMIT, "more than %d pools", LT_PARTITIONS_MAX);
			read->nodes.ranges[read->nodes.range_count++] =
			    (struct lt_node_range){read->count, i, i};
			p = add_partition(read, node->pool);
		}
		read->nodes.ranges[read->nodes.range_count - 1].last = i;
		const int code = add_node(read, p, node, err);
		if (code != LT_OK)
			return code;
	}
	return LT_OK;
}

static struct lt_partition *
find_partition(const struct lt_batch_partitions *read, const char *pool)
{
	for (uint32_t i = 0; i < read->count; i++)
		if (strcmp(read->partitions[i].name, pool) == 0)
			return &read->partitions[i];
	return NULL;
}

/* Without a node: with what one would be. */
static struct lt_partition *
add_empty(struct lt_batch_partitions *read, const struct lt_kube_cluster *c, const char *pool)
{
	struct lt_partition *const p = add_partition(read, pool);

	for (uint32_t i = 0; i < c->kept_count; i++)
		if (strcmp(c->kept[i].facts.pool, pool) == 0 && read->shape_count < LT_SHAPES_MAX)
			(void)add_node(read, p, &c->kept[i].facts, NULL);
	p->flags |= LT_PARTITION_UP | LT_PARTITION_NO_NODES;
	return p;
}

/* Pools of the policy that have no node now, and how many those that scale may bring, of whichever
 * kind. */
static void
add_growth(struct lt_batch_partitions *read, const struct lt_kube_cluster *c)
{
	for (uint32_t i = 0; i < c->named_count; i++) {
		struct lt_partition *p = find_partition(read, c->named[i]);
		const uint32_t has = p != NULL ? p->node_count : 0;
		const uint32_t brings = lt_kube_pool_brings(c, c->named[i], has);

		if (p == NULL && read->count < LT_PARTITIONS_MAX)
			p = add_empty(read, c, c->named[i]);
		if (p == NULL || brings == 0)
			continue;
		p->node_count = has + brings;
		for (uint32_t k = 0; k < p->shape_count; k++)
			read->shapes[p->first_shape + k].node_count += brings;
	}
}

int
lt_batch_partitions(struct lt_batch_partitions *read, struct lt_error *err)
{
	struct lt_kube_cluster *const c = &lt_kube_site.cluster;
	int code = wait_for_lists(err);

	*read = (struct lt_batch_partitions){0};
	if (code != LT_OK)
		return code;
	const uint32_t count = c->node_count;
	read->partitions = calloc(LT_PARTITIONS_MAX + 1u, sizeof(*read->partitions));
	read->shapes = calloc(LT_SHAPES_MAX, sizeof(*read->shapes));
	read->strings = calloc(1, 1);
	read->nodes.ranges = calloc(count + 1u, sizeof(*read->nodes.ranges));
	read->nodes.are_there = calloc(count + 1u, sizeof(bool));
	read->nodes.count = count;
	if (read->partitions == NULL || read->shapes == NULL || read->strings == NULL ||
	    read->nodes.ranges == NULL || read->nodes.are_there == NULL)
		code = lt_fail(err, LT_ENOMEM, "pools: out of memory");
	if (code == LT_OK && count > 1)
		qsort(c->nodes, count, sizeof(*c->nodes), by_pool);
	if (code == LT_OK)
		code = fill_partitions(read, c->nodes, count, err);
	if (code == LT_OK)
		add_growth(read, c);
	if (code != LT_OK)
		lt_batch_partitions_free(read);
	return code;
}

int
lt_batch_partition_of(char out[LT_NAME_SIZE], const char *node, const char *among,
    const char *preferred, struct lt_error *err)
{
	const char *const pool = lt_kube_cluster_pool(&lt_kube_site.cluster, node);

	(void)among;
	(void)preferred;
	if (pool[0] == '\0')
		return lt_fail(err, LT_ENOENT, "%s: in no pool", node);
	snprintf(out, LT_NAME_SIZE, "%s", pool);
	return LT_OK;
}

/* ---- who may use them ---- */

static bool
has_account(const struct lt_batch_associations *all, const char *name)
{
	for (uint32_t i = 0; i < all->account_count; i++)
		if (strcmp(all->accounts[i].name, name) == 0)
			return true;
	return false;
}

static int
add_account(
    struct lt_batch_associations *all, size_t *capacity, const char *name, struct lt_error *err)
{
	if (has_account(all, name))
		return LT_OK;
	struct lt_batch_account *const grown =
	    lt_items_grow(all->accounts, capacity, all->account_count, sizeof(*grown));
	if (grown == NULL)
		return lt_fail(err, LT_ENOMEM, "teams: out of memory");
	all->accounts = grown;
	struct lt_batch_account *const account = &grown[all->account_count++];
	*account = (struct lt_batch_account){.parent = ""};
	snprintf(account->name, sizeof(account->name), "%s", name);
	return LT_OK;
}

/* Lists the teams of namespaces that opted in. */
int
lt_batch_associations(struct lt_batch_associations *all, struct lt_error *err)
{
	const struct lt_kube_cluster *const c = &lt_kube_site.cluster;
	size_t capacity = 0;
	int code = wait_for_lists(err);

	*all = (struct lt_batch_associations){0};
	for (uint32_t i = 0; code == LT_OK && i < c->namespace_count; i++)
		if (c->namespaces[i].is_managed)
			code = add_account(all, &capacity, c->namespaces[i].team, err);
	if (code != LT_OK)
		lt_batch_associations_free(all);
	return code;
}

/* ---- how it is watched ---- */

const struct lt_batch_words lt_batch_words = {.system = "kubernetes",
    .lock = LT_KUBE_DOMAIN "hold",
    .record = "its pods as they were seen last, as they have no end yet",
    .name = "NAMESPACE/NAME",
    .renews = true,
    .pays_all_nodes = true,
    .brings_nodes = true};

static void
count_waiting(struct lt_batch_watch *watch, const struct lt_kube_cluster *c)
{
	for (uint32_t i = 0; i < c->job_count; i++) {
		const struct lt_kube_known_job *const job = c->jobs[i];

		if (job->forget_utc_s != 0 || !job->facts.is_waiting || job->facts.is_deleted)
			continue;
		watch->left += lt_kube_is_left(job);
		if (!lt_kube_is_ours(job))
			continue;
		watch->waiting++;
		if (lt_kube_job_text(&job->facts, LT_KUBE_HOLD)[0] != '\0')
			watch->waiting_budget++;
	}
}

const char *
lt_batch_starter(uint32_t job_id)
{
	const struct lt_kube_known_job *const job =
	    lt_kube_cluster_job(&lt_kube_site.cluster, job_id);

	return job != NULL && lt_kube_is_left(job) ? lt_kube_job_text(&job->facts, LT_KUBE_STARTER)
						   : NULL;
}

bool
lt_batch_watch(struct lt_batch_watch *watch)
{
	const struct lt_kube_site *const site = &lt_kube_site;
	const struct lt_kube_cluster *const c = &site->cluster;

	*watch = (struct lt_batch_watch){.namespace = site->namespace,
	    .places_anew = c->names.places_anew,
	    .runs = lt_kube_watcher_fd() >= 0,
	    .heard_utc_s = c->heard_utc_s,
	    .failed_utc_s = c->failed_utc_s,
	    .away_from_utc_s = c->away_from_utc_s,
	    .away_to_utc_s = c->away_to_utc_s,
	    .unsuspended = c->unsuspended,
	    .balances_utc_s = site->balances_sent_utc_s};
	snprintf(watch->given_failed, sizeof(watch->given_failed), "%s", site->given_failed);
	snprintf(watch->failed, sizeof(watch->failed), "%s", c->failed.text);
	count_waiting(watch, c);
	int64_t unheld = 0;
	if (lt_kube_store_unheld(c->store, &unheld, NULL) == LT_OK)
		watch->unheld = (uint32_t)unheld;
	return true;
}

int
lt_batch_aways(struct lt_batch_away *aways, int most, int64_t from_utc_s, int64_t to_utc_s)
{
	return lt_kube_store_aways(
	    aways, most, lt_kube_site.state_dir, &(struct lt_batch_away){from_utc_s, to_utc_s});
}
