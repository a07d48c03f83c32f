/*
 * Inside lt_decide(): the job as resolved, one lane per partition that it may run in, and the steps
 * from one to the other. Not installed for others.
 *
 *   decide_fit.c       can it run there, and may it be moved? -> enum lt_reject
 *   decide_layout.c    what it takes of nodes there          -> struct layout
 *   decide_cost.c      what it costs there                   -> struct lane
 *   decide_capacity.c  when there is room, at a price that
 *                      the job may have; the line at home    -> struct span
 *   decide_lanes.c     the lanes that take part
 *   decide_score.c     figures of a start, and its score     -> struct aim
 *   decide_search.c    the best and the earliest start of a lane
 *   decide.c           baseline, 95 % rule, holdout, the plan
 *   decide_power_cap.c the plan's run, slowed in dirty hours
 */
#ifndef LT_DECIDE_INTERNAL_H
#define LT_DECIDE_INTERNAL_H

#include "last_task.h"
#include "size.h"
#include "units.h"

/* A rate is charged by one of these terms. A window's cost is linear in their integrals. */
enum term { TERM_PRICE, TERM_TARIFF, TERM_CARBON, TERM_COUNT };

enum {
	/* Free windows of all lanes together. At the bound the rest of a partition's windows are
	 * not offered. 16 bytes each, on the stack. */
	SPANS_MAX = 2048,
};

struct span { /* starts allowed, both ends too */
	int64_t from_utc_s, to_utc_s;
};

struct spans {
	uint32_t count;
	struct span list[SPANS_MAX];
};

struct edges { /* of the windows, sorted: window 7 starts at 14, ends at 15 */
	const struct lt_planned *planned;
	uint32_t count;
	uint16_t list[2 * LT_PLANNED_MAX];
	/* Index of each partition's first entry in the list, and behind the last one. */
	uint16_t first[LT_PARTITIONS_MAX + 1];
	uint64_t keys[2][2 * LT_PLANNED_MAX]; /* room to sort in */
};

/* sum of weight[term] x integral[term] + constant + per_s x end */
struct linear {
	double weight[TERM_COUNT]; /* per unit-hour */
	double constant;
	double per_s; /* per second that the end lies after now */
};

/* The part of a node of the chosen shape that one task takes. */
struct layout {
	int partition;
	int shape; /* index; -1 = none can run it */
	struct lt_share share;
	uint64_t memory_mib;		  /* of one node */
	uint64_t given[LT_LIMITED_COUNT]; /* to one task's job, in all */
	double cpu_part;		  /* of one node */
	double gpu_w;			  /* of one node; LT_WATTS_UNKNOWN */
	double wanted, found;		  /* of a reject */
};

/* Results that are the same wherever a partition has the same kinds of nodes. */
struct laid {
	struct layout layout;
	int shape;			   /* the layout's, from the partition's first */
	enum lt_reject nearest;		   /* of the shapes that can't hold it */
	uint64_t fits[LT_SHAPES_MAX / 64]; /* a bit a shape, from its first */
};

struct layouts { /* by a partition's like, less one */
	bool known[LT_PARTITIONS_MAX];
	struct laid laid[LT_PARTITIONS_MAX];
};

struct job { /* the request, resolved once */
	const struct lt_request *request;
	const struct lt_market *market;
	int64_t now_utc_s;
	const struct lt_class *class; /* NULL = none */
	int64_t max_price_micros;     /* per node-hour; 0 = any */
	int64_t limit_s;	      /* home's; LT_UNSET_64 = none known */
	double expected_s;	      /* at home; 0 = not known */
	bool expected_known;	      /* said or learned: else it is the limit */
	double low_s, high_s;	      /* as in struct lt_expected; 0 = not learned */
	double upper_s;		      /* of deadlines, at home; 0 = not learned */
	/* The run time that it should not pass at home: what its user said, else the upper
	 * quantile, else the limit. Its most cost, its end and whether it may be lost follow from
	 * it. */
	double bound_s;
	int64_t earliest_utc_s;
	/* Where it stands already, and waits for nodes that are away; -1. */
	int standing;
	const struct lt_gpu *home_gpu; /* NULL = unknown or none */
	struct laid at_home;
	uint64_t given_at_home[LT_LIMITED_COUNT]; /* 0 = not known */
	const struct lt_power_cap *power_cap;	  /* to be run with; NULL = none */
	struct layouts *layouts;		  /* kept between partitions; NULL = none */
	struct lt_request asked;		  /* with home's default memory */
};

enum { LANE_LENGTHS = 3 };

struct lane { /* one partition that can run the job */
	int partition;
	struct lt_share share;
	double node_equivalents; /* nodes x share x tasks at once */
	struct lt_tasks tasks;
	double waves;
	double task_factor; /* tasks / waves: mean number running at once */
	double time_ratio;
	bool time_ratio_known;
	double work_ratio;	 /* the same, with a cap's slow-down */
	struct lt_active active; /* of one task */
	int64_t length_s;	 /* waves x active time, whole seconds: of the nodes */
	/* Lengths that are alike likely, rising, or length_s alone: what a start costs is the mean
	 * of all, mean_h the mean itself. */
	int64_t lengths_s[LANE_LENGTHS];
	uint32_t length_count;
	double length_part; /* 1 / length_count */
	double mean_h;
	double sure_work_s; /* of job.bound_s: the work that it will not pass */
	int64_t sure_s;	    /* the same as length_s, of that */
	int64_t done_s;	    /* from the start to the end of its last task */
	int64_t latest_utc_s;
	const struct lt_series *series[TERM_COUNT]; /* NULL = none */
	double least[TERM_COUNT];		    /* no window's integral is less */
	double power_kw;			    /* at the plug x PUE, all tasks at once */
	/* Money: what decides, what is shown. Carbon: what decides, what is shown. */
	bool has_money, has_charged, has_carbon;
	struct linear money, charged, carbon, emitted;
	bool rests; /* what decides leaves the power of idle nodes out */
	double storage_micros, failure_micros;
	uint32_t first_span, span_count;
};

struct cap {
	struct linear value;
	double limit;
	enum lt_reject reject;
};

enum { CAPS_MAX = 5 };

/* The goal of a search in one lane. */
struct aim {
	struct linear score;
	uint32_t cap_count;
	struct cap caps[CAPS_MAX];
};

struct found { /* start of the best; none = false */
	bool any;
	int64_t start_utc_s;
	double score;
};

/* decide_fit.c */
/* Why it may not be moved there. */
enum lt_reject lt_move_reject(const struct job *job, int partition);
void lt_job_resolve(struct job *job, const struct lt_request *request,
    const struct lt_market *market, int64_t now_utc_s);
/* Why the job can't run there at all, home or not. */
enum lt_reject lt_fit_reject(struct layout *layout, const struct job *job, int partition);
/* Its run time on that GPU over home's: from its runs, else from the table of GPUs. */
double lt_ratio_there(bool *known, const struct job *job, int partition, int gpu);

/* decide_layout.c */
/* Computes what the job takes from a node there, and which shapes can hold it. */
void lt_lay_out(struct laid *laid, const struct job *job, int partition);
/* Its layout there, and why no nodes can hold it, home or not. */
enum lt_reject lt_layout_of(struct layout *layout, const struct job *job, int partition);
/* The GPU of a node that a job which names that type has; NULL = unknown. */
const struct lt_gpu *lt_layout_gpu(
    const struct lt_market *market, const struct lt_shape *shape, const char *type);
/* True if the word is in a comma list; case counts for neither accounts nor QOS. */
bool lt_listed(const char *list, const char *word, size_t length);

/* decide_cost.c */
/* Everything but spans. LT_REJECT_NONE, or why it can't be planned there; wanted and found are of
 * the reject. */
enum lt_reject lt_lane_build(
    struct lane *lane, const struct job *job, int partition, double *wanted, double *found);

/* decide_score.c: the figures of a start */
/* The integrals of the window that starts there. */
void lt_lane_integrals(double integral[TERM_COUNT], const struct lane *lane, int64_t start_utc_s);
double lt_linear_value(
    const struct linear *linear, const double integral[TERM_COUNT], double end_after_now_s);
/* a + factor x b */
struct linear lt_linear_sum(const struct linear *a, const struct linear *b, double factor);
void lt_lane_mean(struct lane *lane); /* its mean_h */
void lt_lane_estimate(struct lt_estimate *estimate, const struct lane *lane, int64_t start_utc_s);
/* Makes a lane with windows that are as long as its run may be. */
void lt_lane_sure(struct lane *sure, const struct lane *lane);
/* Estimates a start as if the nodes were as slow as home: a window as many times as long, and what
 * depends on its length. */
void lt_lane_estimate_slow(
    struct lt_estimate *estimate, const struct lane *lane, int64_t start_utc_s);

/* decide_capacity.c */
void lt_planned_sort(struct edges *edges, const struct lt_planned *planned, uint32_t planned_count);
/* The lane's, after those of all lanes before it. */
void lt_lane_spans(
    struct spans *spans, struct lane *lane, const struct job *job, const struct edges *edges);

/* The first start with room, however late; the earliest where none is found. Behind the spans there
 * are, which stay. */
int64_t lt_lane_first_room(
    struct spans *spans, const struct lane *lane, const struct job *job, const struct edges *edges);

/* True if its nodes are free at the earliest start, however long they stay so. */
bool lt_lane_room_at_once(
    struct spans *spans, const struct lane *lane, const struct job *job, const struct edges *edges);

/* Returns the mean price of its run from that start, weighed by time, micros per node-hour; 0
 * without a price. */
double lt_lane_mean_price(const struct lane *lane, int64_t start_utc_s);
bool lt_is_too_dear(const struct job *job, double mean_micros);
/* Keeps of the lane's spans, which are the last ones, only the starts that are not too dear.
 * Returns the least mean price of all that had room; 0 where any is good. */
double lt_lane_keep_price(struct spans *spans, struct lane *lane, const struct job *job);
/* True if it may cost more than --max-cost; false where its cost is not known. */
bool lt_is_over_cost(const struct lt_request *request, const struct lt_estimate *at);
/* And those that cost at most --max-cost, as long as the run may be. */
void lt_lane_keep_cost(struct spans *spans, struct lane *lane, const struct job *job);

/* decide_search.c */
/* Sets the lane's least, from the series up to its latest start. */
void lt_lane_least(struct lane *lane, const struct job *job);
/* Looks in one lane for the start with the least score below the limit or, if `earliest`, for the
 * first one before found's with a score of at most that.
 * *found keeps what it has when nothing is better. */
struct search {
	const struct lane *lane;
	const struct spans *spans;
	const struct aim *aim;
	int64_t now_utc_s;
	double limit; /* of the score; comes down to that of the best */
	bool earliest;
	int64_t none_before_utc_s; /* earliest: no start before scores so */
	struct found *found;
	struct found *seen; /* the best of all that were looked at; may be NULL
			     */
	bool capped;	    /* out: a cap hid starts that score below the limit */
	uint32_t term_count, terms[TERM_COUNT]; /* those with a series; own */
};
void lt_search_lane(struct search *search);
/* True if two lanes score the same at each start, and may start at the same times. Then what one
 * has not below the limit, uncapped, the other has not. For the earliest, where only steps are
 * looked at, these must be the same, too. */
bool lt_search_same(const struct search *search, const struct search *other);
/* No start of the lane makes it less. */
double lt_search_bound(const struct lane *lane, const struct linear *linear, int64_t now_utc_s,
    int64_t earliest_utc_s);

/* The rounds of a search: the first score; where that finds nothing, the second score among starts
 * that are no worse by the first; and among starts as good as the choice by the first, the second
 * one. Eqs. (21) to (24). */
enum { ROUND_FIRST, ROUND_SECOND, ROUND_EQUAL };

/* Conditions for a start to be worth it: one later than home's must save min_saving of money or of
 * carbon; eq. (23). */
enum worth { WORTH_ANY, WORTH_MONEY, WORTH_CARBON, WORTH_IN_TIME };

struct choice {			 /* the best so far, of all lanes */
	const struct lane *lane; /* NULL = none */
	double score;
	int64_t start_utc_s;
};

/* The rival that all lanes of a round are compared with: home, or the choice that is to be
 * bettered. Computed once a round. */
struct rival {
	int round;
	enum worth worth;
	bool caps_money, caps_emitted, caps_first;
	double money; /* home's, where caps_money */
	double emitted_limit, first_limit;
	double worth_from; /* home's of that worth, where it is a baseline */
};

struct decision {
	struct job job;
	struct lt_plan *plan;
	struct lane lanes[LT_PARTITIONS_MAX];
	uint32_t lane_count;
	uint32_t shown_count; /* of them, those with figures */
	struct lane home;     /* for the baseline; valid if plan->fits */
	/* Its first start with room; the earliest where that is not known. */
	int64_t home_utc_s;
	bool home_too_late; /* that is after its window */
	/* A choice is measured against a baseline that can run the job, at a price that the job may
	 * have. */
	bool has_baseline;
	bool home_queued; /* its nodes are taken at the earliest */
	struct spans spans;
	bool use_money, use_carbon;
	bool rests;		/* of any lane */
	struct choice first;	/* what EQUAL is to better; decide.c */
	int64_t standing_utc_s; /* replan.c */
	int64_t home_age_s;	/* of its oldest signal */
	struct edges edges;
	struct layouts layouts;
	/* of one round, by lane */
	struct aim aims[LT_PARTITIONS_MAX];
	uint16_t order[LT_PARTITIONS_MAX];
	uint32_t order_count;
};

/* decide_capacity.c */
/* Writes into its plan the figures of a job that stays in line at home, and whether it had better
 * stay there without a begin time. */
void lt_decision_line(const struct decision *decision);

/* decide_lanes.c */
void lt_candidate_refuse(
    struct lt_candidate *candidate, enum lt_reject reject, double wanted, double found);
/* One for each partition that can run the job and may; home's also apart. */
void lt_lanes_make(struct decision *decision);
/* Money, carbon or both: what home knows, else what they know. */
void lt_lanes_currencies(struct decision *decision);
/* Opens the lanes with their starts; drops those without starts, or whose signals, budget or
 * deadline forbid it. */
void lt_lanes_open(
    struct decision *decision, const struct lt_planned *planned, uint32_t planned_count);

/* decide.c */
struct lt_decision_of { /* all lent */
	const struct lt_request *request;
	const struct lt_market *market;
	const struct lt_planned *planned;
	uint32_t planned_count;
	int64_t now_utc_s;
};
/* Decides, and gives what it was made with: the caller frees it. */
int lt_decision_make(struct decision **made, struct lt_plan *plan, const struct lt_decision_of *of,
    struct lt_error *err);
/* Writes this choice into its plan, and how it differs from home. No lane: it is home. */
void lt_decision_choose(const struct decision *decision, const struct choice *choice);

/* decide_power_cap.c */
/* The plan's choice, which is that lane's, with the site's power cap, where its window is dirty and
 * the job has the time. */
void lt_decision_cap(const struct decision *decision, const struct lane *lane);

/* decide_score.c: scores and conditions */
/* Returns the objective's score in that round, waiting aside. */
struct linear lt_score_of(const struct decision *decision, const struct lane *lane, int round);
/* Returns the worth of a second of waiting in it; eq. (21a). */
double lt_score_waiting_per_s(const struct decision *decision, int round);
/* The same, with what waiting from the earliest start on is worth. */
struct linear lt_score_with_waiting(
    const struct decision *decision, const struct lane *lane, int round);
/* Returns the score of the window that starts there. */
double lt_score_value(const struct decision *decision, const struct lane *lane,
    const struct linear *linear, int64_t start_utc_s);
/* The first score, with waiting, of that start. */
double lt_score_at(const struct decision *decision, const struct lane *lane, int64_t start_utc_s);
/* Noise of rounding in a score. */
double lt_score_tolerance(double score);
/* The least that a move must save, in units of the round's score. */
double lt_score_least_saving(const struct decision *decision, int round, double score);
/* Score and conditions of each lane, into aims; one lane's. */
void lt_aims_make(struct decision *decision, int round, enum worth worth);
void lt_aim_make(struct aim *aim, const struct decision *decision, const struct lane *lane,
    const struct rival *rival);
struct rival lt_rival_of(const struct decision *decision, int round, enum worth worth);
bool lt_is_worth(const struct decision *decision, const struct lane *lane, int64_t start_utc_s,
    enum worth worth);

/* True if the hold of this lane could be more than the team has left. Goes by the worst rates of
 * the whole window, as the quote will. */
bool lt_lane_over_budget(const struct decision *decision, const struct lane *lane);

#endif
