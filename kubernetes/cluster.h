/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The cluster as it was seen last, in memory: namespaces, nodes, Jobs and
 * pods of their own, and the pods that run. One thread.
 */
#ifndef LT_KUBE_CLUSTER_H
#define LT_KUBE_CLUSTER_H

#include "kept.h"
#include "room.h"
#include "store.h"
#include "watcher.h"

struct lt_kube_namespace {
	char name[LT_NAME_SIZE];
	char team[LT_ACCOUNT_SIZE]; /* lower case; cut */
	bool is_managed;	    /* it opted in */
	uint32_t seen;		    /* which list it was in last */
	/* It opted in while it was watched, or got this team; 0 = before. */
	int64_t since_utc_s;
};

struct lt_kube_known_node {
	struct lt_kube_node facts;
	uint32_t seen;
};

struct lt_kube_known_job {
	char uid[64];
	uint32_t id, seen;
	bool was_managed; /* its namespace took part when it was seen */
	struct lt_kube_job facts;
	char ran_in[LT_NAME_SIZE * 4]; /* pools with commas; of more than have
					* room, the first */
	int64_t first_utc_s;  /* when the first of its pods started; 0 = none
			       * did. The store has it over a restart. */
	int64_t forget_utc_s; /* it is gone, or has ended: until then it is
			       * shown; 0 = it is there */
	int64_t try_utc_s;    /* the API server refused it: not before */
	int64_t held_s;	     /* without a limit of its own: for so long from its
			      * start, as it was looked at last */
	int64_t stuck_utc_s; /* since then its hour is there and its pool has
			      * no room for it; 0 = it has */
	/* Since then a pod of it finds no node; 0 = each has one, or waits. */
	int64_t unschedulable_utc_s;
	/* The pools in which it found none, with commas; of more than have
	 * room, the first. */
	char refused[LT_NAME_SIZE * 4];
	json_t *dry_run; /* of its pods, dry_run.h; NULL: none yet */
	/* The most that a pod of it had of each since it was let go, and
	 * whether that is more than its template says. */
	struct lt_kube_need had;
	bool is_raised;
	bool is_cron_known;	/* its CronJob was asked for, and so */
	int64_t start_by_utc_s; /* the next tick would end it; 0 = none would */
};

struct lt_kube_cluster {
	struct lt_kube_names names;
	/* Partitions that the policy names: parts of pools, too. */
	char (*named)[LT_NAME_SIZE];
	struct lt_kube_growth *growth; /* of each */
	uint32_t named_count;
	struct lt_kube_kept *kept;
	uint32_t kept_count;
	size_t kept_capacity;
	struct lt_kube_store *store;
	struct lt_kube_namespace *namespaces;
	struct lt_kube_known_node *nodes;
	struct lt_kube_known_job **jobs; /* by uid */
	struct lt_kube_rooms rooms;	 /* what all pods take */
	uint32_t namespace_count, node_count, job_count;
	size_t namespace_capacity, node_capacity, job_capacity;
	uint32_t lists[LT_KUBE_KINDS];	    /* begun */
	bool listing[LT_KUBE_KINDS];	    /* and not whole yet */
	bool complete[LT_KUBE_KINDS];	    /* one was whole */
	int64_t began_utc_s[LT_KUBE_KINDS]; /* the last one */
	int64_t now_utc_s;		    /* of what is being taken */
	/* Jobs of which something is not as it was, to be looked at; of more
	 * than have room, or of nobody knows which, all are. */
	uint32_t changed[LT_BATCH_CHANGED_MAX], changed_count;
	bool all_changed, nodes_changed, namespaces_changed;
	bool holds_back;	/* the mode does: Jobs are created suspended */
	uint32_t unsuspended;	/* that came all the same */
	bool lost;		/* the store could not be written */
	struct lt_error failed; /* what the watcher told last, and when; and
				 * when it saw something */
	int64_t failed_utc_s, heard_utc_s;
	bool must_catch_up; /* pods were listed */
	/* The last time that nobody watched; 0 = it was never. */
	int64_t away_from_utc_s, away_to_utc_s;
	int64_t marked_utc_s; /* the store knows that it watched then */
	/* Pods without a Job are charged from then on, when it was watched
	 * last; and they are until then. */
	int64_t since_utc_s, charged_utc_s;
	bool list_anew; /* pods that nobody kept are to be now */
};

/* Takes what was seen into it, and pods into its store. */
void lt_kube_cluster_take(
    struct lt_kube_cluster *c, const struct lt_kube_line *line);
/* Ends pods that are gone and adds those that nobody saw, once each time that
 * Jobs and pods were listed. */
int lt_kube_cluster_catch_up(struct lt_kube_cluster *c, struct lt_error *err);
/* Writes down now and then that it watches. */
int lt_kube_cluster_mark(
    struct lt_kube_cluster *c, int64_t now_utc_s, struct lt_error *err);
/* A pod of this Job (NULL: of one that is forgotten) as it is now. */
int lt_kube_cluster_put_pod(struct lt_kube_cluster *c,
    const struct lt_kube_pod *pod, const struct lt_kube_known_job *job,
    uint32_t id, struct lt_error *err);
/* A list or a watch is at work on what was missed. */
bool lt_kube_cluster_is_behind(const struct lt_kube_cluster *c);
/* Forgets Jobs that ended long enough ago, unless it is behind. */
void lt_kube_cluster_forget(struct lt_kube_cluster *c, int64_t now_utc_s);
void lt_kube_cluster_free(struct lt_kube_cluster *c);
/* A list of each kind was whole. */
bool lt_kube_cluster_is_complete(const struct lt_kube_cluster *c);
/* All of its Jobs are forgotten, until they are listed again. */
void lt_kube_cluster_reset(struct lt_kube_cluster *c);

/* Something of it is not as it was: it is looked at again. */
void lt_kube_cluster_changed(struct lt_kube_cluster *c, uint32_t id);
/* Forgets all that is kept of it. */
void lt_kube_known_job_free(struct lt_kube_known_job *job);
/* A Job of this number, or of this uid; NULL = none. */
struct lt_kube_known_job *lt_kube_cluster_job(
    const struct lt_kube_cluster *c, uint32_t id);
struct lt_kube_known_job *lt_kube_cluster_find(
    const struct lt_kube_cluster *c, const char *uid);
/* A new one in its place; NULL: its uid is none, or, with err, it could not be
 * kept. */
struct lt_kube_known_job *lt_kube_cluster_add(
    struct lt_kube_cluster *c, const char *uid, struct lt_error *err);
bool lt_kube_cluster_manages(
    const struct lt_kube_cluster *c, const char *namespace);
/* Whose budget its Jobs are held to; "" = it is not known. */
const char *lt_kube_cluster_team(
    const struct lt_kube_cluster *c, const char *namespace);
/* Among c->nodes; -1: it is not there. */
int lt_kube_cluster_find_node(
    const struct lt_kube_cluster *c, const char *name);
/* NULL: it is not there. */
const struct lt_kube_node *lt_kube_cluster_node(
    const struct lt_kube_cluster *c, const char *name);
/* Adds a name to a list with commas, unless it is there, or has no room. */
void lt_kube_add_name(char *out, size_t size, const char *name);
/* Where this node's pods run; "" = in no pool. */
const char *lt_kube_cluster_pool(
    const struct lt_kube_cluster *c, const char *node);
/* Taints of preemptible nodes that nodes of this pool have. */
unsigned lt_kube_cluster_spot_taints(
    const struct lt_kube_cluster *c, const char *pool);
/* Has this pool, or part of one, a node? */
bool lt_kube_cluster_has(const struct lt_kube_cluster *c, const char *pool);
/* It has none, and will bring none. */
bool lt_kube_pool_is_gone(const struct lt_kube_cluster *c, const char *pool);
/* Labels by which this pool's nodes, or a part of them, are chosen, or those
 * that it had last: new reference; NULL = none is known. */
json_t *lt_kube_cluster_selector(
    const struct lt_kube_cluster *c, const char *pool);
/* The partitions that nodes of a pool, or of a part of it, are: names with
 * commas, itself first if it is one. Where it has no nodes itself alone. */
void lt_kube_cluster_parts(
    const struct lt_kube_cluster *c, const char *pool, char *out, size_t size);
/* The policy names others: nodes are called by them. */
void lt_kube_cluster_name(
    struct lt_kube_cluster *c, const char *const *names, uint32_t count);

#endif
