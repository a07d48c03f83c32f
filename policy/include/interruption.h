/*
 * Expected active time under Poisson interruptions. docs/model.md has the equations; sources: Young
 * 1974, Daly 2006 (doi 10.1016/j.future.2004.11.016).
 */
#ifndef LT_INTERRUPTION_H
#define LT_INTERRUPTION_H

#include <stdbool.h>
#include <stdint.h>

enum {
	LT_CHECKPOINT_WRITE_S = 60,  /* where it is not known */
	LT_CHECKPOINT_CALM_S = 3600, /* where nodes are not taken */
	LT_MONTH_H = 730,	     /* a year has 8,760 hours */
	LT_NOTICE_MARGIN_S = 5,	     /* between Slurm's KILL and the node's end */
};

struct lt_checkpoint {
	bool enabled;	 /* the user said that the job can resume */
	double write_s;	 /* time to write one; 0 = unknown:
			  * LT_CHECKPOINT_WRITE_S is used */
	double every_s;	 /* the user's own interval; 0 = the optimal one */
	double size_gib; /* of one, of all nodes of a task; 0 = not said */
	uint32_t keep;	 /* how many are kept, where the size is said */
	uint32_t signal; /* asks the job for one, a number; 0 = none does */
};

struct lt_exposure {
	double work_s;	     /* useful run time, > 0 */
	double hazard_per_h; /* of the job (nodes x node's), >= 0 */
	double restart_s;    /* boot and reload after an interruption */
	double notice_s;     /* warning before; 0 = none */
	struct lt_checkpoint checkpoint;
};

struct lt_active {
	double active_s;	       /* expected billed time, E[A] */
	double expected_interruptions; /* E[N] = E[A] / M */
	double restart_chance;	       /* chance of at least one interruption in
					* work_s */
	double lost_s;		       /* of active_s: work done again, and restarts */
	double interval_s;	       /* checkpoint interval used; 0 = none */
};

/*
 * Exact optimum of the checkpoint interval, s:
 * M (1 + W0(-exp(-(write / M + 1)))), M = 3600 / hazard_per_h.
 * 0 when hazard_per_h is 0 (never).
 */
double lt_checkpoint_interval_s(double write_s, double hazard_per_h);

/* Returns the checkpoint for a place whose storage takes so many GiB a second (0 = not known):
 * where the job does not say how long one takes, by its size, at least 1 s. */
struct lt_checkpoint lt_checkpoint_there(
    const struct lt_checkpoint *checkpoint, double storage_gib_per_s);

/* How often it writes: the user's own interval, else the optimum. 0 = never. */
double lt_checkpoint_every_s(const struct lt_checkpoint *checkpoint, double hazard_per_h);

/* Returns the interval that a job is given: scripts need one where none is best, too. */
double lt_checkpoint_told_s(double every_s);

/* Returns the most that a run loses when its nodes are taken without a word:
 * the last interval, the writing of one checkpoint, and the start from the one before. Infinite
 * where none is written. docs/model.md, eq. (24c). */
double lt_checkpoint_lost_s(
    const struct lt_checkpoint *checkpoint, double hazard_per_h, double restart_s);

/* Returns the work that a run of so long has kept then: all but that, at least
 * 0. Nothing where none is written. So a first run has kept a start for the
 * next one, and what all runs took less what they have kept is what each of them may lose. */
int64_t lt_checkpoint_kept_s(
    const struct lt_checkpoint *checkpoint, double hazard_per_h, double restart_s, int64_t ran_s);

/* True if one can be written within the notice (0 = none). docs/model.md, eq. (12). */
bool lt_checkpoint_fits(const struct lt_checkpoint *checkpoint, double notice_s);

/*
 * Hazard per hour of a chance of interruption over a period: published rates are per month (730 h),
 * per 28 days (672 h) or per hour, and only hazards can be compared. -ln(1 - chance) / period_h;
 * chance in [0, 1), period_h > 0, else NAN. docs/model.md, eq. (33).
 */
double lt_hazard_per_hour(double chance, double period_h);

/*
 * E[A] = sum over segments of M e^(R/M) (e^(L/M) - 1); without a checkpoint one segment of work_s.
 * Infinity when it passes 1e12 s. Pure.
 */
struct lt_active lt_active_time(const struct lt_exposure *exposure);

#endif
