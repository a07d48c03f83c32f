/*
 * Computes when the last of many tasks is done, if each takes as long as its interruptions make it:
 * on average, and at the latest with a confidence. docs/model.md, eqs. (15a) and (15b). The code is
 * in interruption.c.
 */
#ifndef LT_LAST_TASK_H
#define LT_LAST_TASK_H

#include "availability.h"
#include "interruption.h"

/* The time of one task: at least, and what interruptions add to it. */
struct lt_delay {
	double least_s;		/* with none */
	double exposed;		/* how many are expected in that time */
	double mean_s;		/* added, on average */
	double variance, third; /* cumulants, s^2 and s^3 */
};

struct lt_tasks {
	double count;	/* >= 1 */
	double at_once; /* slots that they run in, 1 .. count */
};

/* Returns the delay of one task whose active time is that of lt_active_time(). A notice is not
 * counted on. Pure. */
struct lt_delay lt_task_delay(const struct lt_exposure *exposure, const struct lt_active *active);

/* Seconds from the start of the first task to the end of the last one, on average. Pure. */
double lt_last_task_mean_s(const struct lt_delay *delay, const struct lt_tasks *tasks);

/* The same, that is not passed with that confidence, below 1. Pure. */
double lt_last_task_latest_s(
    const struct lt_delay *delay, const struct lt_tasks *tasks, double confidence);

/*
 * Seconds from when the first task may start to the end of the last one where nodes are not always
 * there: that are not passed with that confidence, below 1, or on average where it is 0. need:
 * lt_wait_ask's. That all nodes are taken at once is in what was seen of them; what a task is
 * interrupted beside that is by itself. INFINITY: longer than was ever seen. Pure. Source:
 * docs/model.md, eq. (15d).
 */
double lt_last_task_end_s(const struct lt_exposure *exposure, const struct lt_tasks *tasks,
    const struct lt_availability *availability, double need, double confidence);

#endif
