/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The cluster as it was seen last, in memory: namespaces, nodes, Jobs and
 * pods of their own, and the pods that run. One thread.
 */
#ifndef LT_KUBE_CLUSTER_H
#define LT_KUBE_CLUSTER_H

#include "batch.h"
#include "kube_facts.h"
#include "store.h"

struct lt_kube_cluster;

/*
 * ---- watcher.c ----
 *
 * A child that follows the cluster, a thread for each kind of object, and
 * gives what it sees as lines of JSON: so nobody waits for the API server,
 * and libcurl's and jansson's memory of large lists is not the daemon's.
 */

enum lt_kube_kind { LT_KUBE_NAMESPACES, LT_KUBE_NODES, LT_KUBE_JOBS, LT_KUBE_PODS, LT_KUBE_KINDS };
/* Besides one object of lowtide's own, which nothing waits for. */
enum { LT_KUBE_BALANCES = LT_KUBE_KINDS, LT_KUBE_WATCHED };

extern const char *const lt_kube_paths[LT_KUBE_KINDS]; /* of all of them */
#define LT_KUBE_BALANCES_NAME "lowtide-balances"

enum lt_kube_event {
	LT_KUBE_BEGIN, /* of a list: what is not in it is gone */
	LT_KUBE_SEEN,
	LT_KUBE_GONE,
	LT_KUBE_END,
	LT_KUBE_FAILED, /* the watch continues; `text` says why */
};

struct lt_kube_line {
	enum lt_kube_kind kind;
	enum lt_kube_event event;
	json_t *object;	  /* SEEN, GONE: borrowed */
	const char *text; /* END: the list's resourceVersion */
};

/* Starts it if it does not run. namespace: of the balances; lent. */
int lt_kube_watcher_start(const char *namespace, struct lt_error *err);
void lt_kube_watcher_stop(void);
/* Readable when there is something to take; -1: it does not run. */
int lt_kube_watcher_fd(void);
/* All whole lines that have come. False: it has ended, and is to be started again. */
typedef void lt_kube_take_line(void *context, const struct lt_kube_line *line);
bool lt_kube_watcher_take(lt_kube_take_line *take, void *context);

/*
 * ---- room.c ----
 *
 * Room that the pods of a cluster take on its nodes, anybody's: a sum for each node, and the
 * amounts of each pod.
 */

struct lt_kube_taken {			    /* of a node */
	struct lt_kube_amounts all, others; /* others: of no job of ours */
};

struct lt_kube_rooms {	    /* start as { 0 } */
	void *pods, *nodes; /* trees of tsearch(3) */
	uint32_t list;	    /* of pods, begun */
	uint32_t pod_count;
};

/* A pod as it is now, or was at its end; is_ours: it is a job's of ours. False:
 * no memory. */
bool lt_kube_rooms_see(struct lt_kube_rooms *rooms, const json_t *pod, bool is_gone, bool is_ours);
/* A list of pods begins, and is whole: what was not in it is gone. */
void lt_kube_rooms_begin(struct lt_kube_rooms *rooms);
bool lt_kube_rooms_end(struct lt_kube_rooms *rooms);
/* Lent; zeros where it has no pod. */
const struct lt_kube_taken *lt_kube_rooms_of(const struct lt_kube_rooms *rooms, const char *node);
void lt_kube_rooms_free(struct lt_kube_rooms *rooms);

/*
 * ---- pools.c ----
 *
 * Keeps what a node of a pool is while the pool has none: as each kind of node (of a pool, machine,
 * way of being sold and zone) was last, by kube.db, else as the policy writes it.
 */

struct lt_kube_kept {
	struct lt_kube_node facts;
	bool is_written;   /* by the policy: no node that was there */
	int64_t put_utc_s; /* the store has it since */
};

struct lt_kube_growth { /* what the policy says of a pool's number of nodes */
	bool scales;
	uint32_t most;
};

/* A node as it is now: the next of its kind will be so. */
void lt_kube_keep_node(
    struct lt_kube_cluster *c, const struct lt_kube_node *facts, const json_t *object);
/* Those of kube.db. */
int lt_kube_kept_load(struct lt_kube_cluster *c, const char *state_dir, struct lt_error *err);
/* The policy names these partitions and no others. */
void lt_kube_kept_name(
    struct lt_kube_cluster *c, const struct lt_batch_named *named, uint32_t count);
/* The first that is kept of a pool, or of a part of it; NULL: none. */
const struct lt_kube_node *lt_kube_kept_of(const struct lt_kube_cluster *c, const char *pool);
/* Returns how many more nodes a pool with so many may bring; 0: the policy does not say that it
 * scales, or nothing is known of its nodes. */
uint32_t lt_kube_pool_brings(const struct lt_kube_cluster *c, const char *pool, uint32_t has);

/* ---- cluster.c, pools.c ---- */

struct lt_kube_namespace {
	char name[LT_NAME_SIZE];
	char team[LT_ACCOUNT_SIZE]; /* lower case; cut */
	bool is_managed;	    /* it opted in */
	uint32_t seen;		    /* which list it was in last */
	/* Time when it opted in while it was watched, or got this team; 0 = before. */
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
	int64_t first_utc_s;	       /* when the first of its pods started; 0 = none
					* did. The store has it over a restart. */
	int64_t forget_utc_s;	       /* it is gone, or has ended: until then it is
					* shown; 0 = it is there */
	int64_t try_utc_s;	       /* the API server refused it: not before */
	int64_t held_s;		       /* without a limit of its own: for so long from its
					* start, as it was looked at last */
	int64_t stuck_utc_s;	       /* since then its hour is there and its pool has
					* no room for it; 0 = it has */
	/* Time since which a pod of it finds no node; 0 = each has one, or waits. */
	int64_t unschedulable_utc_s;
	/* The pools in which it found none, with commas; of more than have room, the first. */
	char refused[LT_NAME_SIZE * 4];
	json_t *dry_run; /* of its pods, dry_run.h; NULL: none yet */
	/* The most that a pod of it had of each since it was let go, and whether that is more than
	 * its template says. */
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
	/* Jobs of which something is not as it was, to be looked at; of more than have room, or of
	 * nobody knows which, all are. */
	uint32_t changed[LT_BATCH_CHANGED_MAX], changed_count;
	bool all_changed, nodes_changed, namespaces_changed;
	bool holds_back;	/* the mode does: Jobs are created suspended */
	uint32_t unsuspended;	/* that came all the same */
	bool lost;		/* the store could not be written */
	struct lt_error failed; /* last error of the watcher, and its time; and
				   when it saw something */
	int64_t failed_utc_s, heard_utc_s;
	bool must_catch_up; /* pods were listed */
	/* The last time that nobody watched; 0 = it was never. */
	int64_t away_from_utc_s, away_to_utc_s;
	int64_t marked_utc_s; /* the store knows that it watched then */
	/* Pods without a Job are charged from then on, when it was watched last; and they are until
	 * then. */
	int64_t since_utc_s, charged_utc_s;
	bool list_anew; /* pods that nobody kept are to be now */
};

/* Takes what was seen into it, and pods into its store. */
void lt_kube_cluster_take(struct lt_kube_cluster *c, const struct lt_kube_line *line);
/* Ends pods that are gone and adds those that nobody saw, once each time that Jobs and pods were
 * listed. */
int lt_kube_cluster_catch_up(struct lt_kube_cluster *c, struct lt_error *err);
/* Writes down now and then that it watches. */
int lt_kube_cluster_mark(struct lt_kube_cluster *c, int64_t now_utc_s, struct lt_error *err);
/* Writes a pod of this Job (NULL: of one that is forgotten) as it is now. */
int lt_kube_cluster_put_pod(struct lt_kube_cluster *c, const struct lt_kube_pod *pod,
    const struct lt_kube_known_job *job, uint32_t id, struct lt_error *err);
/* True if a list or a watch is at work on what was missed. */
bool lt_kube_cluster_is_behind(const struct lt_kube_cluster *c);
/* Forgets Jobs that ended long enough ago, unless it is behind. */
void lt_kube_cluster_forget(struct lt_kube_cluster *c, int64_t now_utc_s);
void lt_kube_cluster_free(struct lt_kube_cluster *c);
/* True if a list of each kind was whole. */
bool lt_kube_cluster_is_complete(const struct lt_kube_cluster *c);
/* Forgets all Jobs, until they are listed again. */
void lt_kube_cluster_reset(struct lt_kube_cluster *c);

/* Notes that something of it changed: it is looked at again. */
void lt_kube_cluster_changed(struct lt_kube_cluster *c, uint32_t id);
/* Forgets all that is kept of it. */
void lt_kube_known_job_free(struct lt_kube_known_job *job);
/* Finds a Job by its number, or by its uid; NULL = none. */
struct lt_kube_known_job *lt_kube_cluster_job(const struct lt_kube_cluster *c, uint32_t id);
struct lt_kube_known_job *lt_kube_cluster_find(const struct lt_kube_cluster *c, const char *uid);
/* Adds a new one in its place; NULL: it has no uid, or, with err, it could not be kept. */
struct lt_kube_known_job *lt_kube_cluster_add(
    struct lt_kube_cluster *c, const char *uid, struct lt_error *err);
bool lt_kube_cluster_manages(const struct lt_kube_cluster *c, const char *namespace);
/* Returns the team whose budget its Jobs are held to; "" = it is not known. */
const char *lt_kube_cluster_team(const struct lt_kube_cluster *c, const char *namespace);
/* Finds a node in c->nodes; -1: it is not there. */
int lt_kube_cluster_find_node(const struct lt_kube_cluster *c, const char *name);
/* Finds a node's facts; NULL: it is not there. */
const struct lt_kube_node *lt_kube_cluster_node(const struct lt_kube_cluster *c, const char *name);
/* Adds a name to a list with commas, unless it is there, or has no room. */
void lt_kube_add_name(char *out, size_t size, const char *name);
/* Returns the pool of this node; "" = none. */
const char *lt_kube_cluster_pool(const struct lt_kube_cluster *c, const char *node);
/* Returns the taints of preemptible nodes that nodes of this pool have. */
unsigned lt_kube_cluster_spot_taints(const struct lt_kube_cluster *c, const char *pool);
/* True if this pool, or part of one, has a node. */
bool lt_kube_cluster_has(const struct lt_kube_cluster *c, const char *pool);
/* True if it has none, and will bring none. */
bool lt_kube_pool_is_gone(const struct lt_kube_cluster *c, const char *pool);
/* Returns labels by which this pool's nodes, or a part of them, are chosen, or those that it had
 * last: new reference; NULL = none is known. */
json_t *lt_kube_cluster_selector(const struct lt_kube_cluster *c, const char *pool);
/* Writes the partitions that nodes of a pool, or of a part of it, are: names
 * with commas, itself first if it is one. Where it has no nodes itself
 * alone. */
void lt_kube_cluster_parts(
    const struct lt_kube_cluster *c, const char *pool, char *out, size_t size);
/* Sets the partitions that the policy names: nodes are called by them. */
void lt_kube_cluster_name(struct lt_kube_cluster *c, const char *const *names, uint32_t count);

/*
 * ---- unheld.c ----
 *
 * Pods that belong to no Job: those of Deployments, StatefulSets, DaemonSets and of whatever else
 * makes pods. Nothing is held for them, and they are charged while they run, hour by hour, in rows
 * of their owner's.
 */

enum { LT_KUBE_OWNER_SIZE = 2 * LT_KUBE_KEY_SIZE };

/* "deployment/web", its owner: of a ReplicaSet that is named by its pods' template the Deployment
 * that makes those. False: the pod is a job by itself, or of a Job. Pure. */
bool lt_kube_unheld_owner(char out[LT_KUBE_OWNER_SIZE], const json_t *pod);

/* Keeps such a pod as it is now, if its namespace takes part: it is charged from when that was
 * known to. */
struct lt_kube_unheld {
	const char *owner;
	const struct lt_kube_pod *pod;
	const struct lt_kube_namespace *namespace; /* NULL: it is not known */
	const char *pool;
	const struct lt_kube_node *node; /* NULL likewise */
};
int lt_kube_unheld_see(
    struct lt_kube_cluster *c, const struct lt_kube_unheld *seen, struct lt_error *err);

/* A namespace takes part, or no more, or has another team: what ran there is charged until now, and
 * by what it is now from then on. */
int lt_kube_unheld_change(
    struct lt_kube_cluster *c, struct lt_kube_namespace *of, bool is_managed, struct lt_error *err);

/* Charges the hour that is over, of all that ran then, once it is known that the cluster was
 * watched until after its end. */
int lt_kube_unheld_charge(struct lt_kube_cluster *c, struct lt_error *err);

/*
 * ---- where.c ----
 *
 * Which pools take a job's pods, as kube-scheduler would have it: by taints, labels, and what is
 * free on each node.
 */

struct lt_kube_where { /* of one pool */
	/* One of its nodes does, with what lowtide adds, or one that it would bring: of a pool that
	 * scales, by the policy. */
	bool takes;
	bool takes_alone; /* and as the job is */
	/* So many of its pods have room, at most as many as it has: beside what is not ours, and
	 * beside all that runs. */
	uint32_t beside_others, now;
	/* kube-scheduler's LeastAllocated of the best node that takes it as it is, 0 to 1;
	 * LT_KUBE_SCORE_NEW: none has room, but one that the pool would bring; below that: that
	 * neither. */
	double score;
};
#define LT_KUBE_SCORE_NEW (-0.5)

struct lt_kube_where_asked {
	const struct lt_kube_job *job;
	const char *const *pools; /* names, each once */
	uint32_t count;
	/* Without it only `takes` and `takes_alone` are set: for many jobs the room need not be
	 * counted. */
	bool wants_room;
};
/* all: one of each pool. */
void lt_kube_find_where(struct lt_kube_where *all, const struct lt_kube_cluster *c,
    const struct lt_kube_where_asked *asked);

#endif
