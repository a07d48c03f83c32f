/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Keeps each pod that ever had a node, exactly once, by its uid, even if lowtide is killed at any
 * time: what slurmdbd is to Slurm. SQLite, <state>/kube.db, 0600. One writer.
 */
#ifndef LT_KUBE_STORE_H
#define LT_KUBE_STORE_H

#include "batch.h"
#include "kube_facts.h"

struct sqlite3;
struct lt_kube_store; /* opaque */

int lt_kube_store_open(struct lt_kube_store **store, const char *state_dir, struct lt_error *err);
void lt_kube_store_close(struct lt_kube_store *store); /* NULL is fine */

/* Groups calls that write. */
int lt_kube_store_begin(struct lt_kube_store *store, struct lt_error *err);
int lt_kube_store_commit(struct lt_kube_store *store, struct lt_error *err);
void lt_kube_store_rollback(struct lt_kube_store *store);

/* Says whether it has never known anything. */
int lt_kube_store_is_empty(struct lt_kube_store *store, bool *is_empty, struct lt_error *err);

/* The number of what has this uid, a Job or a pod: given once, and never to another. is_made: if it
 * has none yet; else LT_ENOENT. */
int lt_kube_store_id(
    struct lt_kube_store *store, const char *uid, bool is_made, uint32_t *id, struct lt_error *err);
/* Sets the name that it is asked for by; the last one counts. */
int lt_kube_store_name(struct lt_kube_store *store, uint32_t id, const char *namespace,
    const char *name, struct lt_error *err);

/* Sets whether a Job will make no more pods. */
int lt_kube_store_set_ended(
    struct lt_kube_store *store, uint32_t job_id, bool has_ended, struct lt_error *err);

/* Reads when the first known pod of it started. LT_ENOENT: none did. */
int lt_kube_store_first_start(
    struct lt_kube_store *store, uint32_t job_id, int64_t *start_utc_s, struct lt_error *err);

/* Reads the most CPUs and memory that a pod of it had. */
int lt_kube_store_most(
    struct lt_kube_store *store, uint32_t job_id, struct lt_exact *most, struct lt_error *err);

/* True if it has a pod whose end was not seen. */
bool lt_kube_store_is_open(struct lt_kube_store *store, uint32_t job_id);

struct lt_kube_run { /* texts are lent */
	const struct lt_kube_pod *pod;
	uint32_t id, job_id;
	const char *pool, *team, *user, *name, *qos, *quote;
	/* Its node's amounts; NULL = not known. */
	const struct lt_kube_node *node;
	int64_t limit_s;    /* of its Job; 0 = none */
	int64_t seen_utc_s; /* it was so then */
	bool is_estimated;  /* nobody saw it end: its end is a guess */
	bool is_unheld;	    /* of no Job: charged in parts while it runs */
	bool is_listed;	    /* by a list: nobody knows since when it is so */
};
/* Writes a pod as it is now, over what was known of it before, except an end that was seen, and
 * where and for whom it ran; for a pod that is charged in parts, also where the next part starts. A
 * pod of a new size continues from there: the time before is a row of its own. */
int lt_kube_store_put(
    struct lt_kube_store *store, const struct lt_kube_run *run, struct lt_error *err);
/*
 * Ends pods that run by what is known and are not among those seen since `since_utc_s`: gone while
 * nobody watched. They end at now_utc_s, at most at their Job's limit after their start, as
 * estimated; those without a Job when they were seen last.
 */
int lt_kube_store_end_unseen(
    struct lt_kube_store *store, int64_t since_utc_s, int64_t now_utc_s, struct lt_error *err);

/*
 * Makes finished rows of pods that are charged in parts and run, until to_utc_s: one for all of an
 * owner that are alike. Their next parts start there; is_last: there are none.
 */
struct lt_kube_part {
	int64_t to_utc_s, now_utc_s;
	const char *namespace; /* "" = all */
	bool is_last;
};
int lt_kube_store_part(
    struct lt_kube_store *store, const struct lt_kube_part *part, struct lt_error *err);
/* Moves their next parts on this node to this pool. */
int lt_kube_store_move(
    struct lt_kube_store *store, const char *node, const char *pool, struct lt_error *err);
/* Counts those that run. */
int lt_kube_store_unheld(struct lt_kube_store *store, int64_t *count, struct lt_error *err);

/* Shortens the estimated ends of this Job's pods to this one. */
int lt_kube_store_end_by(
    struct lt_kube_store *store, uint32_t job_id, int64_t end_utc_s, struct lt_error *err);
/* Counts a Job's pods that have ended, and the seconds that pods of it ran within a time. */
struct lt_kube_known {
	int64_t from_utc_s, to_utc_s;
	int64_t *ended, *seconds;
};
int lt_kube_store_known(struct lt_kube_store *store, uint32_t job_id,
    const struct lt_kube_known *asked, struct lt_error *err);
/* Keeps until when the cluster was watched. LT_ENOENT: it never was. */
int lt_kube_store_heard(struct lt_kube_store *store, int64_t utc_s, struct lt_error *err);
int lt_kube_store_last_heard(struct lt_kube_store *store, int64_t *utc_s, struct lt_error *err);
/* Keeps a time in which it was not. */
int lt_kube_store_away(
    struct lt_kube_store *store, const struct lt_batch_away *away, struct lt_error *err);

/* Keeps a node of this kind, as JSON: the last one counts. */
int lt_kube_store_keep_node(struct lt_kube_store *store, const char *kind, const char *node,
    int64_t now_utc_s, struct lt_error *err);
/* Each that is kept, lent to take(). */
struct lt_kube_nodes_reader {
	void *context;
	void (*take)(void *context, const char *node, int64_t seen_utc_s);
};
int lt_kube_store_nodes(
    const struct lt_kube_nodes_reader *reader, const char *state_dir, struct lt_error *err);

/* Forgets pods that ended before, and what was made before and never ran. */
int lt_kube_store_prune(struct lt_kube_store *store, int64_t before_utc_s, struct lt_error *err);
/* Erases the users of pods that ended before, and the names of their Jobs. */
int lt_kube_store_erase(struct lt_kube_store *store, int64_t before_utc_s, struct lt_error *err);

/*
 * Reads rows, as lt_batch_runs() and the like give them: malloc'd. A pod that ended is a finished
 * row once it is known whether its Job continues without it.
 */
struct lt_kube_rows_asked {
	int64_t from_utc_s, to_utc_s;
	bool ended_only;
	const uint32_t *job_ids; /* NULL: by the times */
	uint32_t count;
	int64_t now_utc_s;
	uint32_t uid; /* whose all are */
};
int lt_kube_store_rows(struct lt_batch_runs *runs, const char *state_dir,
    const struct lt_kube_rows_asked *asked, struct lt_error *err);

/* Reads the last times in which nobody watched that touch `within`, oldest first: how many; a store
 * that can't be read has none. */
int lt_kube_store_aways(struct lt_batch_away *aways, int most, const char *state_dir,
    const struct lt_batch_away *within);

/* Finds the number of "NAMESPACE/NAME", the newest of that name. LT_ENOENT. */
int lt_kube_store_find(const char *state_dir, const char *name, uint32_t *id, struct lt_error *err);

/* Lists owners of the pods that are charged in parts and run, by name:
 * malloc'd. */
int lt_kube_store_owners(
    struct lt_batch_unheld **all, uint32_t *count, const char *state_dir, struct lt_error *err);

/*
 * ---- resizes ----
 *
 * Pods that are resized while they run: each stretch of time is a row of kube.db by the size that
 * the pod had then.
 */

/*
 * Ends the stretch of a pod that is a row and runs, and begins one with the size that it has now. A
 * larger size counts from when its node says that it is at work on it, or from when the watch
 * brought it; if a list found it, or nobody watched, from when it was watched last. A smaller size
 * counts from now. If its node does not say what it has, it never has less; while a resize is
 * pending, nothing changes.
 */
int lt_kube_resize(struct sqlite3 *db, const struct lt_kube_run *run, struct lt_error *err);

/* Reads the most CPUs and memory that a pod of this Job had. */
int lt_kube_resize_most(
    struct sqlite3 *db, uint32_t job_id, struct lt_exact *most, struct lt_error *err);

#endif
