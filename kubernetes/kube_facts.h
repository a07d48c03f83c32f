/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Facts of a Node, a Job and a Pod, read from the API server's objects, whole or without what is
 * not read here; and the parts of that: GPUs, claims, dry runs, CronJobs, manifests.
 */
#ifndef LT_KUBE_FACTS_H
#define LT_KUBE_FACTS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "error.h"
#include "limits.h"
#include "market.h"

#define LT_KUBE_DOMAIN "lowtide.dev/"
#define LT_KUBE_GATE LT_KUBE_DOMAIN "hold"

/*
 * ---- gpus.c ----
 *
 * GPUs and parts of them: what pods ask for and nodes offer by the names of extended resources, and
 * what one of each is worth in whole GPUs.
 */

enum { LT_KUBE_GPU_KINDS = 16, LT_KUBE_WHOLE_GPU = 1000000 };

struct lt_kube_gpus {
	struct lt_kube_gpu {
		char name[LT_NAME_SIZE]; /* "nvidia.com/mig-1g.10gb" */
		int64_t count;
		uint32_t micro; /* millionths of a GPU that one is; 0 = as on
				 * its node */
	} of[LT_KUBE_GPU_KINDS];
	uint32_t kinds;
};

/* Reads what a pod of this spec asks for. LT_EINPUT: a bad quantity, or more kinds than are
 * counted. Pure. */
int lt_kube_gpus_asked(struct lt_kube_gpus *gpus, const json_t *pod_spec, struct lt_error *err);
/* Reads what a node offers, by status.allocatable and its labels. Fails the same. */
int lt_kube_gpus_offered(struct lt_kube_gpus *gpus, const json_t *allocatable, const json_t *labels,
    struct lt_error *err);
/* Returns millionths of GPUs, on a node that offers these; NULL: on any.
 * Pure. */
uint64_t lt_kube_gpus_micro(const struct lt_kube_gpus *gpus, const struct lt_kube_gpus *offered);
/* Finds a kind by name; NULL: there is none. */
const struct lt_kube_gpu *lt_kube_gpus_find(const struct lt_kube_gpus *gpus, const char *name);
/* LT_EINPUT: there is no room for one more kind. */
int lt_kube_gpus_add(
    struct lt_kube_gpus *gpus, const struct lt_kube_gpu *more, struct lt_error *err);
/* Returns the millionths of a GPU that a MIG profile is: "3g.40gb", "1c.3g.40gb"; gpu: the whole
 * one's name, "" = not known. 0: no profile. Pure. */
uint32_t lt_kube_mig_micro(const char *profile, const char *gpu);

/* ---- what is known besides an object ---- */

struct lt_kube_given {		/* to pods at their creation; NULL = it is not known */
	json_t *requests;	/* by namespace */
	json_t *classes;	/* RuntimeClasses, by name */
	json_t *device_classes; /* by name; NULL too where there are none */
	json_t *devices;	/* by node, driver, pool and name: millionths of GPUs */
};

struct lt_kube_names {	  /* what the site chose; lent */
	const char *pool; /* label of nodes; NULL = the clouds' own */
	const char *team; /* label of namespaces; NULL = their names */
	/* The server lets lowtide place a Job anew that was let go before. */
	bool places_anew;
	const struct lt_kube_given *given; /* NULL = nobody asked */
};

struct lt_kube_need {  /* of one pod: its requests, else its limits */
	uint32_t cpus; /* whole ones, rounded up, at least 1 */
	uint32_t gpus;
	uint64_t memory_mib; /* rounded up, at least 1 */
	/* Exact amounts for its share; KiB rounded down, so that what fits on a node is never more
	 * than that. For a pod without requests, what kube-scheduler scores it by. */
	struct lt_exact exact;
	struct lt_kube_gpus gpu_kinds;
	bool is_unsized; /* of its claims not all are understood */
};

/* Amounts that kube-scheduler counts: thousandths of CPUs and GPUs, bytes, pods. */
enum lt_kube_resource {
	LT_KUBE_CPU,
	LT_KUBE_MEMORY,
	LT_KUBE_STORAGE, /* ephemeral */
	LT_KUBE_GPU,
	LT_KUBE_POD_COUNT,
	LT_KUBE_RESOURCES
};
struct lt_kube_amounts {
	int64_t of[LT_KUBE_RESOURCES];
};

enum { LT_KUBE_TAINTS_SIZE = 512 };
enum { LT_KUBE_KEY_SIZE = 320 }; /* of a label: prefix 253, name 63 */

struct lt_kube_node {
	char name[LT_KUBE_KEY_SIZE];
	char label[LT_NAME_SIZE];	 /* of its pool; "" = in none */
	char pool_key[LT_KUBE_KEY_SIZE]; /* the label that says so */
	/* Name that it is priced by: the part of its pool that the policy names, by its machine and
	 * how that is sold, else the pool. */
	char pool[LT_NAME_SIZE];
	char gpu_type[LT_GPU_NAME_SIZE];
	/* Place and machine as its cloud names them, "" = not said: "aws", "eu-west-2",
	 * "eu-west-2a", "p4d.24xlarge". */
	char cloud[8], region[LT_NAME_SIZE], zone[LT_NAME_SIZE], instance[LT_NAME_SIZE];
	bool is_reclaimable;   /* by its labels: spot, or preemptible */
	int sold;	       /* the row of the label that says how it is sold;
				* -1 = none does */
	char os[16], arch[16]; /* by its labels */
	uint32_t cpus, gpus;
	uint64_t memory_mib;
	struct lt_exact exact;		 /* rounded down */
	struct lt_kube_gpus gpu_kinds;	 /* that it has for pods */
	struct lt_kube_amounts room;	 /* allocatable */
	char gpu_resource[LT_NAME_SIZE]; /* "nvidia.com/gpu"; "*": several */
	/* Those that keep pods off, as JSON; "" = none, "?" = too many to be kept. */
	char taints[LT_KUBE_TAINTS_SIZE];
	bool is_up;	      /* Ready, and not cordoned */
	bool is_spot;	      /* its taints are the clouds' for preemptible nodes */
	unsigned spot_taints; /* which of them: for lt_kube_tolerations() */
};
/* LT_EINPUT: not a Node, or one with a bad quantity. Pure. */
int lt_kube_node_read(struct lt_kube_node *node, const json_t *object,
    const struct lt_kube_names *names, struct lt_error *err);
/* True if it has GPUs of each of these kinds. Pure. */
bool lt_kube_offers(const struct lt_kube_node *node, const struct lt_kube_gpus *kinds);
/* True if pool is the node's, or a part of it that the node is of: POOL, POOL/MACHINE, POOL/SOLD or
 * POOL/MACHINE/SOLD, SOLD being spot or on-demand. Pure. */
bool lt_kube_node_is_of(const struct lt_kube_node *node, const char *pool);
/* Names its pool by the longest of these names that it is of. */
void lt_kube_node_name(struct lt_kube_node *node, char (*names)[LT_NAME_SIZE], uint32_t count);
/* Returns the labels that all nodes of such a part have, as of this one, which is of it: new
 * reference. */
json_t *lt_kube_node_selector(const struct lt_kube_node *node, const char *pool);
/* True if that label says how the node is sold. Pure. */
bool lt_kube_node_is_sold(const struct lt_kube_node *node, const char *key, const char *value);
/* True if it is the key of such a label. Pure. */
bool lt_kube_tells_sold(const char *key);
/* Returns the pool that labels, or a nodeSelector, name, and by which key (key NULL: not asked
 * for); lent. Of several the first counts; "" = none. Pure. */
const char *lt_kube_pool_in(
    const json_t *labels, const struct lt_kube_names *names, const char **key);
/* True if a pod with these tolerations (NULL or an array) bears this taint. */
bool lt_kube_tolerates(const json_t *tolerations, const json_t *taint);
/* True for one of the clouds' taints for preemptible nodes. */
bool lt_kube_is_spot_taint(const json_t *taint);
/* Returns tolerations that let a pod with `own` (NULL or an array) onto nodes with these taints, as
 * an array, its own first: new reference. NULL: its own are enough. */
json_t *lt_kube_tolerations(const json_t *own, unsigned spot_taints);

enum lt_kube_text { /* of a job, each "" where there is none */
	LT_KUBE_UID,
	LT_KUBE_NAMESPACE,
	LT_KUBE_NAME,
	LT_KUBE_USER,	     /* who created it, by the admission policy */
	LT_KUBE_CLASS,	     /* lowtide.dev/class */
	LT_KUBE_QUOTE,	     /* what lowtide wrote: a hold is confirmed */
	LT_KUBE_POOL,	     /* where lowtide puts it */
	LT_KUBE_HOLD,	     /* why it must not start */
	LT_KUBE_PLAN,	     /* the plan that its user saw last */
	LT_KUBE_WISHES,	     /* "carbon-aware=cost\nmax-cost=3\n" */
	LT_KUBE_CHOSEN,	     /* the pool that its user chose */
	LT_KUBE_TOLERATIONS, /* of its pods, as JSON */
	LT_KUBE_SELECTOR,    /* their nodeSelector, as JSON */
	LT_KUBE_PREFERRED,   /* nodes that they would like, as JSON */
	LT_KUBE_GPU_NAME,    /* the resource that they ask for */
	LT_KUBE_BOUND,	     /* what else of them says where they run */
	LT_KUBE_UNSIZED,     /* why what its pods have by claims is not known */
	LT_KUBE_UNTRIED,     /* why the dry run of its pods failed */
	LT_KUBE_FAULT,	     /* what of its annotations can't be read */
	LT_KUBE_CRON,	     /* the CronJob that made it */
	LT_KUBE_STARTER,     /* who starts it, where that is not lowtide */
	LT_KUBE_TEXTS
};

struct lt_kube_job { /* a Job, or a pod of its own */
	bool is_pod;
	bool is_waiting;	      /* suspended, or behind lowtide's gate */
	bool is_finished, is_deleted; /* or about to be */
	bool is_foreign;	      /* somebody else's to start: LT_KUBE_STARTER */
	/* Its user's lowtide.dev/pause: not to start now; or to resume after it was suspended while
	 * it ran. */
	bool is_paused, goes_on;
	bool is_put;	 /* the pool in its selector is lowtide's choice */
	bool is_resting; /* its template may be changed: no pod of it is left */
	/* Its user chose its place: they name a pool, or say LT_KUBE_BOUND. */
	bool is_placed;
	bool is_unsized; /* what its pods are given at their creation is not
			  * known */
	bool is_tried;	 /* there is a dry run of its pods, or none can be had */
	bool was_started;
	uint64_t version; /* resourceVersion: rises */
	int64_t created_utc_s;
	int64_t scheduled_utc_s; /* the CronJob's tick, in a zone that is */
	int32_t zone_offset_s;	 /* so far east of UTC then */
	int64_t suspended_utc_s; /* since; 0 = it is not, or not yet */
	int64_t started_utc_s;	 /* lowtide let it go last; 0 = never */
	/* From its status: start and end of its run (0 = not yet), the number of its pods that have
	 * ended, and whether it completed. */
	int64_t start_utc_s, ended_utc_s, done;
	bool is_complete;
	int64_t begin_utc_s, deadline_utc_s; /* 0 = none */
	int64_t limit_s;		     /* that its pods may run at most; 0 = no limit. With
					      * what they take to end and to be replaced */
	uint32_t pods;			     /* at once */
	struct lt_kube_need need;
	struct lt_kube_amounts asks; /* one pod's */
	char *text;		     /* malloc'd: all texts */
	uint32_t at[LT_KUBE_TEXTS];
};
/* Reads a Job, or a pod of its own: without a controller, or one that lowtide's gate held and its
 * quote let go, even if another object claims to own it. *job is written on success;
 * lt_kube_job_free(). LT_ENOENT: another pod. Pure. */
int lt_kube_job_read(struct lt_kube_job *job, const json_t *object,
    const struct lt_kube_names *names, struct lt_error *err);
void lt_kube_job_free(struct lt_kube_job *job);
static inline const char *
lt_kube_job_text(const struct lt_kube_job *job, enum lt_kube_text which)
{
	return job->text + job->at[which];
}

struct lt_kube_sized {		/* how a pod's size is known */
	bool is_told;		/* by what its node allocated; else by its spec */
	bool is_pending;	/* a resize that its node has not taken, or can't */
	int64_t resizing_utc_s; /* its node is at work on one since; 0 = none */
};

struct lt_kube_pod { /* a pod that was given a node: a run */
	char uid[64], namespace[LT_NAME_SIZE], node[LT_KUBE_KEY_SIZE];
	char owner[64];		  /* its Job's uid; its own where it has none */
	char state[32];		  /* Slurm's word for how it ended; "RUNNING" */
	struct lt_kube_need need; /* as it is now */
	struct lt_kube_sized sized;
	uint32_t index;	    /* of an indexed Job */
	uint32_t exit_code; /* as of wait(2) */
	int64_t created_utc_s, start_utc_s;
	int64_t end_utc_s; /* 0 = it runs */
};
struct lt_kube_seen {
	int64_t utc_s; /* when: the end of a pod that does not say its own */
	bool is_gone;  /* deleted: this is how it was last */
};
/* LT_ENOENT: it was not given a node. Pure. */
int lt_kube_pod_read(struct lt_kube_pod *pod, const json_t *object, const struct lt_kube_seen *seen,
    struct lt_error *err);

/* Takes out what is not read here: most of it. */
void lt_kube_strip(json_t *object);

/*
 * ---- cron.c ----
 *
 * When a CronJob makes its next Job: five fields, @hourly and the like, and
 * @every, as kube-controller-manager reads them.
 */

/*
 * Finds the first tick of the schedule after this time, in a zone that is so far east of UTC then.
 * False: the schedule can't be read, or has no tick within five years. Pure. Source:
 * github.com/robfig/cron v3, ParseStandard().
 */
bool lt_kube_cron_next(
    int64_t *next_utc_s, const char *schedule, int64_t after_utc_s, int32_t zone_offset_s);

/*
 * ---- given.c ----
 *
 * Parts that the API server gives a pod at its creation, beside what its template says: requests by
 * LimitRanges, overhead and node labels by RuntimeClasses.
 */

/* Reads a list's items: requests by namespace, the most of each; RuntimeClasses by name. New
 * references. Pure. */
json_t *lt_kube_given_requests(const json_t *limit_ranges);
json_t *lt_kube_given_classes(const json_t *runtime_classes);

/* Returns a Job's pod spec as its pods will have it: new reference.
 * *is_unsized: it is not known what they are given. Pure. */
json_t *lt_kube_given_spec(const json_t *job, const struct lt_kube_given *given, bool *is_unsized);

/*
 * ---- claims.c ----
 *
 * GPUs by Dynamic Resource Allocation (resource.k8s.io/v1): what a pod's claims ask for, which
 * devices they got, and what nodes have.
 */

struct lt_kube;

/* Puts the claims of a Job's pods, or of a pod, into the object, as they are now; blocks. One that
 * can't be had is left out. */
void lt_kube_claims_fetch(struct lt_kube *kube, json_t *object);

/* Reads a list's items: DeviceClasses by name; devices of ResourceSlices by node, driver, pool and
 * name. New references. Pure. */
json_t *lt_kube_claims_classes(const json_t *device_classes);
json_t *lt_kube_claims_devices(const json_t *resource_slices);

/* Adds what a pod of the object has by claims: the devices that were allocated, else the most that
 * it asks for. why: the part of it that is not understood; "" = all is. Pure. */
void lt_kube_claims_add(struct lt_kube_need *need, const json_t *object,
    const struct lt_kube_given *given, char why[LT_ERROR_TEXT_SIZE]);

/* Adds the GPUs that a node has by its ResourceSlices, beside those of its device plugins. Pure. */
void lt_kube_claims_offered(struct lt_kube_node *node, const struct lt_kube_given *given);

/*
 * ---- dry_run.c ----
 *
 * A dry run of a Job's first pod: the pod that the API server would store, with what webhooks,
 * LimitRanges and a RuntimeClass add to its template.
 */

/* The member of a Job that has its dry run: {"sizes": text, "spec": {…}}, or {"sizes": text, "why":
 * text} where there is none. */
#define LT_KUBE_DRY_RUN "lowtideDryRun"

/* Builds the pod that the Job controller makes first: new reference. Pure. */
json_t *lt_kube_dry_pod(const json_t *job);

/* Returns the size and place that the answer to a dry run of this pod has, for a Job: new
 * reference. answer NULL: there is none, and why. Pure. */
json_t *lt_kube_dry_result(const json_t *job, const json_t *answer, const char *why);

/* Returns the dry run of the Job, if it is of the template that the Job has now; else NULL. Lent.
 * Pure. */
const json_t *lt_kube_dry_run_of(const json_t *job);

/*
 * ---- manifest_check.c ----
 *
 * A Job or Pod that a user has written and nobody created: checked as far as lowtide reads it, as
 * the API server would.
 */

/*
 * Makes of a manifest what the API server would have: a namespace, a uid, and nothing that only
 * lowtide or the cluster writes. now_utc_s: when it was created. LT_EINPUT: err names the member,
 * the value and what is wanted. Pure but for object.
 */
int lt_kube_manifest_complete(json_t *object, int64_t now_utc_s, struct lt_error *err);

#endif
