/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The one cluster, shared by the files that stand where Slurm's adapter does (batch_*.c).
 */
#ifndef LT_KUBE_SITE_H
#define LT_KUBE_SITE_H

#include "cluster.h"
#include "kube.h"
#include "quote.h"

struct lt_kube_site {
	struct lt_kube *kube; /* for requests; the watcher has its own */
	struct lt_kube_cluster cluster;
	char state_dir[4096];
	/* Pools of the market, in its order; managed: the policy names it. */
	char pools[LT_PARTITIONS_MAX][LT_NAME_SIZE];
	bool is_managed[LT_PARTITIONS_MAX];
	uint32_t pool_count;
	/* Classes of the market, by which Jobs without a limit are held. */
	struct lt_class *classes;
	uint32_t class_count;
	int64_t assume_time_s;
	struct lt_kube_known_job question; /* of the last manifest */
	const char *namespace;		   /* lowtide's own; lent by the environment */
	uint32_t uid;			   /* whose all jobs are */
	double allowance;		   /* requests that may be sent now */
	int64_t allowed_ms;		   /* when that was counted */
	const struct lt_market *market;	   /* lent while starts are made, or NULL */
	char currency[8];		   /* of the market, once it is known */
	bool rejects_unknown;		   /* on_unknown */
	/* Balances as they were sent last; NULL = never, or they have changed since. With the
	 * resourceVersion that they got; 0 = not known. */
	char *balances;
	uint64_t balances_version;
	bool balances_listed; /* in the list that is being read */
	bool dry_runs;	      /* of pods; the site opted in */
	json_t *tried;	      /* their results, by pods that are alike; since when */
	int64_t tried_utc_s;
	struct lt_kube_given given; /* to pods, when it was asked last */
	int64_t given_utc_s;
	char given_failed[LT_ERROR_TEXT_SIZE];	     /* "" = it is known */
	int64_t balances_utc_s, balances_sent_utc_s; /* tried; done */
	int64_t pruned_utc_s, rest_until_utc_s;
};
extern struct lt_kube_site lt_kube_site;

/* Takes the market's pools, until the next. */
void lt_kube_know_pools(const struct lt_market *market);
/* Fills in LT_PARTITIONS_MAX of them, in the market's order. */
void lt_kube_where_is(struct lt_kube_where *all, const struct lt_kube_job *job, bool wants_room);
/* Writes its home, where it goes unless lowtide places it, and where else it may run: names with
 * commas. Returns out. */
const char *lt_kube_places(char *out, size_t size, const struct lt_kube_known_job *job);
/* Makes a list of this one alone. On failure it is empty. */
int lt_kube_list_one(struct lt_batch_jobs *jobs, const struct lt_kube_known_job *job,
    int64_t now_utc_s, struct lt_error *err);
/* Says why nobody knows what it may take, as the beginning of a sentence. known: what is known of
 * that; NULL: it was not priced yet, and *out stays as it is unless the Job alone says why. */
enum { LT_KUBE_WHY_SIZE = 160 };
void lt_kube_say_unknown(
    char *out, size_t size, const struct lt_kube_known_job *job, const struct lt_amount *known);
/* Takes the market's classes, until the next. */
void lt_kube_know_limits(const struct lt_market *market);
/* Returns how long at a time a Job that may run there (lt_kube_places()) is held; 0 = it has a
 * limit, or nobody says. */
int64_t lt_kube_stretch_s(const struct lt_kube_known_job *job, const char *places);
/* Returns how long from its start it is held now: its limit, or as many of these as it has begun; 0
 * = nobody says. */
int64_t lt_kube_limit_s(const struct lt_kube_known_job *job, const char *places, int64_t now_utc_s);
/* Marks it to be looked at again if that is longer now. */
void lt_kube_renew(struct lt_kube_known_job *job, int64_t now_utc_s);
/* Returns how long a Job of this team without a limit is held at least, in any class; 0 = maybe not
 * at all. */
int64_t lt_kube_least_assumed_s(const char *team);
/* True if it is lowtide's to start. */
bool lt_kube_is_ours(const struct lt_kube_known_job *job);
/* True if it takes part, and is somebody else's to start. */
bool lt_kube_is_left(const struct lt_kube_known_job *job);

/* True if it ran, and was suspended again: its time starts anew, and is to be admitted anew. */
bool lt_kube_runs_again(const struct lt_kube_known_job *job);

enum { LT_KUBE_REQUESTS_A_SECOND = 50 };
/* Takes one request from the allowance; false: none is left now. */
bool lt_kube_spend(void);

/* Asks for the CronJobs of Jobs that came from one: how long they may wait. */
void lt_kube_ask_cron_jobs(int64_t now_utc_s);
/* True while that is not known yet. */
bool lt_kube_is_cron_unknown(const struct lt_kube_known_job *job);

/* Asks, each minute, what pods are given at their creation. True: that is not what it was, and Jobs
 * are to be read anew. */
bool lt_kube_ask_given(int64_t now_utc_s);

/* Tries pods of Jobs that wait and were not tried yet; blocks. */
void lt_kube_ask_dry_runs(int64_t now_utc_s);
/* True while it is still to be tried. */
bool lt_kube_is_untried(const struct lt_kube_known_job *job);
/* Puts a dry run into the Job, or why it failed; blocks. */
void lt_kube_dry_run(json_t *job, int64_t now_utc_s);
/* Writes the account that asks for it. Returns out. */
const char *lt_kube_dry_run_user(char *out, size_t size);

/* Gets the Job or pod as it is now, new reference. */
int lt_kube_get(const struct lt_kube_known_job *job, json_t **answer, struct lt_error *err);
/* Takes the answer as its state at once; the watch brings it later. */
void lt_kube_take_answer(const struct lt_kube_known_job *job, json_t *object);

/* PATCHes a Job or a pod, if it is still the one with this uid. body is
 * taken. */
int lt_kube_patch(
    const struct lt_kube_known_job *job, const char *type, json_t *body, struct lt_error *err);

/* Adds metadata to a body: LT_ECONFLICT where the Job is not as it was seen. */
void lt_kube_pin(json_t *body, const struct lt_kube_known_job *job);
/* Asks for it, and its claims, anew. */
void lt_kube_look_again(const struct lt_kube_known_job *job);

/* Sets one of lowtide's annotations; value NULL removes it. */
void lt_kube_annotate(json_t *annotations, const char *name, const char *value);

/* True if it has ever run, or been let go. It was not lowtide that suspended it since. */
bool lt_kube_ran(const struct lt_kube_known_job *job);
/* True if its user keeps it from starting, or from resuming. */
bool lt_kube_is_paused(const struct lt_kube_known_job *job);
/* True if it was ever decided. Otherwise nothing is held for it, and it has no plan. */
bool lt_kube_is_decided(const struct lt_kube_known_job *job);
/* True if it waits for nothing but us: its hold is confirmed, its hour is there, no budget is in
 * the way. */
bool lt_kube_may_start(const struct lt_kube_known_job *job, int64_t now_utc_s);
/* True if it is to be decided again first, now that its hour is there: its pool has no room for it,
 * and others have, or the pool is gone. Its user gets an Event. */
bool lt_kube_is_stuck(struct lt_kube_known_job *job, int64_t now_utc_s);
/* Suspends a Job again, to be placed anew, that was let go and none of whose pods finds a node,
 * while other pools have room. Its user gets an Event. */
void lt_kube_take_back(struct lt_kube_known_job *job, int64_t now_utc_s);
/* True if its place is a wish, as it can't be placed anew once it was let
 * go. */
bool lt_kube_is_soft(const struct lt_kube_known_job *job);
/* Lets it go, to where its plan puts it; a failure is logged, and tried again in a while.
 * LT_ECONFLICT: it was not decided, and may be by now. */
int lt_kube_start(struct lt_kube_known_job *job, int64_t now_utc_s);

/* Writes an Event on the Job; type "Normal" or "Warning". A failure is
 * logged. */
struct lt_kube_told {
	const char *type, *reason;
	const char *text;
};
void lt_kube_tell(
    const struct lt_kube_known_job *job, const struct lt_kube_told *told, int64_t now_utc_s);

/* Name that `lowtide-kube policies` answers with true if lowtide may ask for dry runs of pods. */
#define LT_KUBE_RIGHT "ServiceAccount/lowtide-dry-run"

/* Writes balances into lowtide-balances, for the admission policies, when they change. */
void lt_kube_publish_balances(const struct lt_batch_view *view, int64_t now_utc_s);
/* Reads what became of them: somebody else's change is undone by the next pass. */
void lt_kube_see_balances(const struct lt_kube_line *line);

#endif
