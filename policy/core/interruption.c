/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Run times under interruptions, docs/model.md. Expected active time with Poisson interruptions and
 * the checkpoint interval that makes it least, eqs. (10) to (14); the end of the last of many
 * tasks, from three cumulants of what interruptions add to each, eqs. (15a) and (15b); and
 * interpolation in a table of waits for preemptible nodes, eq. (15d).
 *
 * Pure functions of numbers. a run that can never end is INFINITY.
 */
#include <assert.h>
#include <math.h>

#include "availability.h"
#include "interruption.h"
#include "last_task.h"

/* ---- Interruptions and checkpoints ---- */

static const double active_max_s = 1e12;
static const double hour_s = 3600;
/* However small a checkpoint is: a file is opened, written and synced. */
static const double write_least_s = 1;

/* How long one takes, as far as it is known. */
static double
write_of(const struct lt_checkpoint *checkpoint)
{
	return checkpoint->write_s > 0 ? checkpoint->write_s : LT_CHECKPOINT_WRITE_S;
}

struct lt_checkpoint
lt_checkpoint_there(const struct lt_checkpoint *checkpoint, double storage_gib_per_s)
{
	struct lt_checkpoint there = *checkpoint;

	if (!(there.write_s > 0) && there.size_gib > 0 && storage_gib_per_s > 0)
		there.write_s = fmax(write_least_s, there.size_gib / storage_gib_per_s);
	return there;
}

double
lt_checkpoint_every_s(const struct lt_checkpoint *checkpoint, double hazard_per_h)
{
	if (!checkpoint->enabled)
		return 0;
	return checkpoint->every_s > 0
		   ? checkpoint->every_s
		   : lt_checkpoint_interval_s(checkpoint->write_s, hazard_per_h);
}

double
lt_checkpoint_told_s(double every_s)
{
	return every_s > 0 ? fmax(every_s, 1) : LT_CHECKPOINT_CALM_S;
}

double
lt_checkpoint_lost_s(const struct lt_checkpoint *checkpoint, double hazard_per_h, double restart_s)
{
	return checkpoint->enabled
		   ? lt_checkpoint_told_s(lt_checkpoint_every_s(checkpoint, hazard_per_h)) +
			 write_of(checkpoint) + restart_s
		   : INFINITY;
}

int64_t
lt_checkpoint_kept_s(
    const struct lt_checkpoint *checkpoint, double hazard_per_h, double restart_s, int64_t ran_s)
{
	const double kept_s =
	    (double)ran_s - lt_checkpoint_lost_s(checkpoint, hazard_per_h, restart_s);

	return kept_s > 0 ? (int64_t)kept_s : 0;
}

bool
lt_checkpoint_fits(const struct lt_checkpoint *checkpoint, double notice_s)
{
	return notice_s > 0 && write_of(checkpoint) <= notice_s;
}

double
lt_checkpoint_interval_s(double write_s, double hazard_per_h)
{
	if (!(hazard_per_h > 0))
		return 0;
	/*
	 * With x = interval / M and d = write / M the optimum solves
	 * (1 - x) e^x = e^-d, that is f(x) = log(1 - x) + x + d = 0. f falls
	 * and is concave, so Newton from any point right of the root comes
	 * down to it; both Young's sqrt(2 d) and 1 - e^-(d + 1) lie right.
	 */
	const double mean_s = hour_s / hazard_per_h;
	const double d = (write_s > 0 ? write_s : LT_CHECKPOINT_WRITE_S) / mean_s;
	double x = fmin(sqrt(2 * d), -expm1(-(d + 1)));

	for (int i = 0; i < 64 && x < 1; i++) {
		const double next = x + (log1p(-x) + x + d) * (1 - x) / x;

		if (!(next < x && next > 0))
			break;
		x = next;
	}
	return mean_s * x;
}

double
lt_hazard_per_hour(double chance, double period_h)
{
	if (!(chance >= 0 && chance < 1 && period_h > 0))
		return NAN;
	return -log1p(-chance) / period_h;
}

struct lt_active
lt_active_time(const struct lt_exposure *exposure)
{
	assert(exposure->work_s >= 0 && exposure->restart_s >= 0);

	const struct lt_checkpoint *checkpoint = &exposure->checkpoint;
	const double hazard_per_s = exposure->hazard_per_h / hour_s;
	const double write_s = write_of(checkpoint);
	const double work_s = exposure->work_s;
	struct lt_active active = {.active_s = work_s};
	double segments = 1, last_s = work_s;

	active.interval_s = lt_checkpoint_every_s(checkpoint, exposure->hazard_per_h);
	if (active.interval_s > 0) {
		segments = ceil(work_s / active.interval_s);
		last_s = work_s - (segments - 1) * active.interval_s;
	}
	const double full_s = active.interval_s + write_s;
	double calm_s = work_s + (segments - 1) * write_s;

	if (!(hazard_per_s > 0)) {
		active.active_s = calm_s;
		return active;
	}
	const double mean_s = 1 / hazard_per_s;
	const double again = exp(exposure->restart_s / mean_s);

	active.restart_chance = -expm1(-work_s / mean_s);
	if (checkpoint->enabled && lt_checkpoint_fits(checkpoint, exposure->notice_s)) {
		/* Written within the notice: only restarts are lost. */
		active.interval_s = checkpoint->every_s;
		active.active_s = work_s * again;
		calm_s = work_s;
	} else {
		active.active_s = mean_s * again *
				  ((segments > 1 ? (segments - 1) * expm1(full_s / mean_s) : 0) +
				      expm1(last_s / mean_s));
	}
	if (!(active.active_s <= active_max_s))
		active.active_s = INFINITY;
	active.lost_s = active.active_s - calm_s;
	active.expected_interruptions = active.active_s / mean_s;
	return active;
}

/* ---- The last of many tasks ---- */

/* Where the expected greatest of many lies among them: exp(-exp(-c)), c Euler's constant (Gumbel
 * 1958). */
static const double greatest = 0.5704;
/* Trust in the share that may be late. The fits are late up to a sixth more often than they say,
 * where each task expects about one interruption or less. */
static const double trust = 0.85;

/* The second and third cumulant of the time to a run of x without failure, of
 * mean time 1 between failures: e^2x - 2x e^x - 1 and 2 e^3x - 6x e^2x +
 * 3x^2 e^x - 2. Near 0, where these lose all digits, their series. */
static void
cumulants_of(double x, double *second, double *third)
{
	enum { TERMS = 11 };
	static const double near = 0.1;
	double power = x, two = 2, three = 3; /* x^n / n!, 2^n, 3^n */

	if (x >= near) {
		const double e = exp(x);

		*second = e * (e - 2 * x) - 1;
		*third = e * (2 * e * (e - 3 * x) + 3 * x * x) - 2;
		return;
	}
	*second = *third = 0;
	for (int n = 2; n <= TERMS; n++) {
		power *= x / n;
		two *= 2;
		three *= 3;
		if (n > 2)
			*second += power * (two - 2 * n);
		if (n > 3)
			*third += power * (2 * three - 3 * n * two + 3.0 * n * (n - 1));
	}
}

struct lt_delay
lt_task_delay(const struct lt_exposure *exposure, const struct lt_active *active)
{
	const struct lt_checkpoint *const checkpoint = &exposure->checkpoint;
	const double rate_per_s = exposure->hazard_per_h / 3600;
	const double work_s = exposure->work_s, interval_s = active->interval_s;
	const double restart = exposure->restart_s * rate_per_s;
	const double whole = interval_s > 0 ? fmax(ceil(work_s / interval_s), 1) - 1 : 0;
	const struct {
		double count, length_s;
	} segments[] = {
	    {whole, interval_s +
			(checkpoint->write_s > 0 ? checkpoint->write_s : LT_CHECKPOINT_WRITE_S)},
	    {1, work_s - whole * interval_s},
	};
	struct lt_delay delay = {0};
	double second0, third0;

	cumulants_of(restart, &second0, &third0);
	for (int i = 0; i < 2; i++) {
		const double count = segments[i].count;
		const double u = segments[i].length_s * rate_per_s;
		double second, third;

		delay.least_s += count * segments[i].length_s;
		if (!(count > 0 && rate_per_s > 0))
			continue;
		cumulants_of(u + restart, &second, &third);
		delay.mean_s += count * (exp(restart) * expm1(u) - u) / rate_per_s;
		delay.variance += count * (second - second0) / (rate_per_s * rate_per_s);
		delay.third += count * (third - third0) / (rate_per_s * rate_per_s * rate_per_s);
	}
	delay.exposed = delay.least_s * rate_per_s;
	return delay;
}

struct fitted { /* a shifted gamma distribution */
	double mean, deviation, skew;
};

static struct fitted
fit_delay(double mean, double variance, double third)
{
	static const double least_skew = 0.02; /* as good as normal */
	const double deviation = sqrt(fmax(variance, 0));
	const double skew = deviation > 0 ? third / (variance * deviation) : 0;

	return (struct fitted){mean, deviation, skew > least_skew ? skew : least_skew};
}

/* Returns the value that a normal variable passes with chance `up`; Abramowitz and Stegun, 26.2.23,
 * within 0.00045. */
static double
normal_above(double up)
{
	if (up > 0.5)
		return -normal_above(1 - up);
	const double t = sqrt(-2 * log(up));

	return t - (2.515517 + t * (0.802853 + t * 0.010328)) /
		       (1 + t * (1.432788 + t * (0.189269 + t * 0.001308)));
}

/* Wilson and Hilferty (PNAS 17:684, 1931), of deviation 1 and mean 0. */
static double
by_cube(double skew, double z)
{
	const double root = fmax(1 - skew * skew / 36 + z * skew / 6, 0);

	return 2 / skew * (root * root * root - 1);
}

/*
 * Returns the value that it passes with chance `up`. To skew 2, the exponential distribution's, by
 * a cube that is corrected so as to be exact there: within 0.02 deviations for up from 0.6 to 1e-6.
 * Beyond, where only far ends are asked for, the first convergent of the incomplete gamma
 * function's fraction.
 */
static double
passed_with(const struct fitted *fitted, double up)
{
	enum { STEPS = 8 };
	static const double exponential = 2, least = 0.1;
	const double skew = fitted->skew;
	double x;

	if (skew <= exponential) {
		const double z = normal_above(up);
		const double off = -log(up) - 1 - by_cube(exponential, z);

		return fitted->mean +
		       fitted->deviation * (by_cube(skew, z) + off * skew * skew / 4);
	}
	const double shape = 4 / (skew * skew);
	const double level = -log(up * tgamma(shape));

	x = fmax(level, least);
	for (int i = 0; i < STEPS; i++)
		x = fmax(level + shape * log(x) - log(x + 1 - shape), least);
	return fitted->mean + fitted->deviation * (x - shape) * skew / 2;
}

/* Fits what is added to a task that is interrupted at all. */
static struct fitted
fit_interrupted(const struct lt_delay *delay)
{
	const double chance = -expm1(-delay->exposed);
	const double mean = delay->mean_s;
	const double first = mean / chance;
	const double second = (delay->variance + mean * mean) / chance;
	const double third =
	    (delay->third + 3 * delay->variance * mean + mean * mean * mean) / chance;

	return fit_delay(
	    first, second - first * first, third - 3 * first * second + 2 * first * first * first);
}

/* The greatest of `count` at once, on average: as many as are interrupted, if any is. One is at its
 * mean; of more the mean moves to the limit the slower, the less skew they are. */
static double
mean_of_last_s(const struct lt_delay *delay, double count)
{
	const double chance = -expm1(-delay->exposed);
	const double any = -expm1(-delay->exposed * count);

	if (!(chance > 0 && any > 0))
		return delay->least_s;
	const double interrupted = fmax(count * chance / any, 1);
	const struct fitted fitted = fit_interrupted(delay);
	const double skew = fmin(fitted.skew, 2);
	const double place =
	    greatest + (0.5 + skew / 15 - greatest) * pow(interrupted, -0.2 - 0.36 * skew);

	if (count <= 1)
		return delay->least_s + delay->mean_s;
	return delay->least_s + any * passed_with(&fitted, -expm1(log(place) / interrupted));
}

/* Returns the delay that none of `count` tasks at once passes with that confidence. The
 * distribution of interrupted tasks is right near its middle, that of all tasks far out. */
static double
latest_of_s(const struct lt_delay *delay, double count, double confidence)
{
	const double up = -expm1(log(confidence) / count);
	const double chance = -expm1(-delay->exposed);

	if (chance <= up)
		return delay->least_s;
	const struct fitted some = fit_interrupted(delay);
	const struct fitted all = fit_delay(delay->mean_s, delay->variance, delay->third);

	return delay->least_s + fmax(passed_with(&some, up / chance), passed_with(&all, up));
}

/* All tasks of one slot as one, where each slot has as many. */
static struct lt_delay
chain_of(const struct lt_delay *delay, double waves)
{
	return (struct lt_delay){.least_s = delay->least_s * waves,
	    .exposed = delay->exposed * waves,
	    .mean_s = delay->mean_s * waves,
	    .variance = delay->variance * waves,
	    .third = delay->third * waves};
}

/* Returns when the last task begins, on average, if a free slot takes the next task: all work but
 * what is left of the tasks that run then, which of a time taken at random is (1 + variance /
 * mean^2) / 2 of the mean. No sooner than without interruptions. */
static double
last_begins_s(const struct lt_delay *delay, const struct lt_tasks *tasks)
{
	const double mean_s = delay->least_s + delay->mean_s;
	const double waves = ceil(tasks->count / tasks->at_once);
	const double begins_s =
	    tasks->count / tasks->at_once * mean_s - (mean_s + delay->variance / mean_s) / 2;

	return fmax(begins_s, (waves - 1) * delay->least_s);
}

/* Average ends: where each slot has its own tasks, and where a free slot takes the next task. While
 * interruptions are few, slots stay in step and both are one; then the second is the sooner. */
struct ends {
	double own_s, next_s;
};

static struct ends
ends_of(const struct lt_delay *delay, const struct lt_tasks *tasks)
{
	assert(tasks->at_once >= 1 && tasks->count >= tasks->at_once);

	const double waves = ceil(tasks->count / tasks->at_once);
	const struct lt_delay chain = chain_of(delay, waves);
	const double own_s = mean_of_last_s(&chain, tasks->at_once);

	return (struct ends){
	    own_s, waves > 1 ? last_begins_s(delay, tasks) + mean_of_last_s(delay, tasks->at_once)
			     : own_s};
}

double
lt_last_task_mean_s(const struct lt_delay *delay, const struct lt_tasks *tasks)
{
	const struct ends ends = ends_of(delay, tasks);

	return fmin(ends.own_s, ends.next_s);
}

double
lt_last_task_latest_s(const struct lt_delay *delay, const struct lt_tasks *tasks, double confidence)
{
	assert(confidence > 0 && confidence < 1);

	const double sure = 1 - trust * (1 - confidence);
	const double slots = tasks->at_once;
	const double waves = ceil(tasks->count / slots);
	const struct lt_delay chain = chain_of(delay, waves);

	if (exp(-delay->exposed * tasks->count) >= confidence)
		return chain.least_s;
	if (waves == 1) /* and no need for its mean: most jobs are this */
		return latest_of_s(delay, slots, sure);
	const struct ends ends = ends_of(delay, tasks);

	if (ends.own_s <= ends.next_s)
		return latest_of_s(&chain, slots, sure);
	/* How far its begin is off its mean is independent of how long it takes. */
	const double before = waves - 1;
	const struct fitted first =
	    fit_delay(0, before * delay->variance / slots, before * delay->third / (slots * slots));
	const double first_s = fmax(passed_with(&first, 1 - sure), 0);
	const double last_s =
	    fmax(latest_of_s(delay, slots, sure) - mean_of_last_s(delay, slots), 0);

	return ends.next_s + sqrt(first_s * first_s + last_s * last_s);
}

/* Returns the loss each time that all nodes are taken: half an interval's work, and the restart.
 * Without checkpoints it is all work, which is no constant. */
static double
cost_of(const struct lt_exposure *exposure, double interval_s)
{
	return exposure->restart_s + (interval_s > 0 ? interval_s / 2 : 0);
}

/* Returns the time that the nodes' waits do not pass with that confidence, over their mean. An
 * array waits for its last task, on nodes of groups that come and go apart: where few are gone for
 * those of its own group, where many are for any. */
static double
wait_beyond_s(const struct lt_availability *availability, const struct lt_wait_ask *ask,
    const struct lt_tasks *tasks, double confidence)
{
	const double apart = 1e6 / fmax(availability->together_ppm, 1);
	const double groups = ask->need > 0 ? fmax(fmin(apart, tasks->at_once), 1) : 1;
	const double beyond_s =
	    lt_wait_passed_s(availability, ask, 1 - pow(confidence, 1 / groups)) -
	    lt_wait_mean_s(availability, ask);

	return fmax(beyond_s, 0) * pow(groups, availability->part_ppm / 2e6);
}

double
lt_last_task_end_s(const struct lt_exposure *exposure, const struct lt_tasks *tasks,
    const struct lt_availability *availability, double need, double confidence)
{
	const bool is_known = availability->seen_s >= LT_WAIT_SEEN_S;
	const struct lt_active all = lt_active_time(exposure);
	struct lt_exposure apart = *exposure;
	struct lt_active active = all;

	if (is_known && exposure->checkpoint.enabled) {
		apart.hazard_per_h = fmax(apart.hazard_per_h - availability->taken_ppm / 1e6, 0);
		apart.checkpoint.every_s = all.interval_s;
		active = lt_active_time(&apart);
	}
	const struct lt_delay delay = lt_task_delay(&apart, &active);

	if (!is_known)
		return confidence > 0 ? lt_last_task_latest_s(&delay, tasks, confidence)
				      : lt_last_task_mean_s(&delay, tasks);
	const double mean_s = lt_last_task_mean_s(&delay, tasks);
	const struct lt_wait_ask ask = {active.active_s * ceil(tasks->count / tasks->at_once),
	    cost_of(exposure, all.interval_s), need};
	const double wait_s = lt_wait_mean_s(availability, &ask);

	if (isinf(wait_s) || !(confidence > 0))
		return mean_s + wait_s;
	/* How late each may be comes by chances of its own. */
	const double late_s = lt_last_task_latest_s(&delay, tasks, confidence) - mean_s;

	return mean_s + wait_s +
	       hypot(fmax(late_s, 0), wait_beyond_s(availability, &ask, tasks, confidence));
}

/* ---- Waits for nodes ---- */

enum { HOUR_S = 3600 };

const uint32_t lt_wait_works_s[LT_WAIT_WORKS] = {0, 1 * HOUR_S, 2 * HOUR_S, 4 * HOUR_S, 8 * HOUR_S,
    16 * HOUR_S, 32 * HOUR_S, 64 * HOUR_S, 128 * HOUR_S, 256 * HOUR_S};
const uint32_t lt_wait_costs_s[LT_WAIT_COSTS] = {0, 600, 2400};
const double lt_wait_chances[LT_WAIT_CHANCES] = {0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 0.003, 0.001};

/* Interpolates, beyond b too; a value that was never seen is as long as the other. */
static double
between(double a, double b, double part)
{
	if (part <= 0 || isinf(a))
		return a;
	return isinf(b) ? b : a + part * (b - a);
}

static double
seconds(uint32_t figure)
{
	return figure == LT_WAIT_UNKNOWN ? INFINITY : (double)figure;
}

/* Interpolates by the logarithm of the chance; beyond the last chance the slope continues. */
static double
passed(const struct lt_wait *wait, double chance)
{
	int next = 1;

	if (chance >= lt_wait_chances[0])
		return seconds(wait->passed_s[0]);
	while (next < LT_WAIT_CHANCES - 1 && chance < lt_wait_chances[next])
		next++;
	return between(seconds(wait->passed_s[next - 1]), seconds(wait->passed_s[next]),
	    log(chance / lt_wait_chances[next - 1]) /
		log(lt_wait_chances[next] / lt_wait_chances[next - 1]));
}

/* Interpolates by the work, for one need and cost; chance 0: the mean. */
static double
by_work(const struct lt_wait *waits, double work_s, double chance, uint32_t seen_s)
{
	double ends[2];
	int next = 1;

	while (next < LT_WAIT_WORKS - 1 && work_s > lt_wait_works_s[next] &&
	       lt_wait_works_s[next + 1] <= seen_s / LT_WAIT_FITS)
		next++;
	const double from_s = lt_wait_works_s[next - 1];
	const double to_s = lt_wait_works_s[next];

	for (int i = 0; i < 2; i++) {
		const struct lt_wait *const wait = &waits[next - 1 + i];

		ends[i] = chance > 0 ? passed(wait, chance) : seconds(wait->mean_s);
	}
	return work_s > to_s ? ends[1] * work_s / to_s
			     : between(ends[0], ends[1], (work_s - from_s) / (to_s - from_s));
}

static double
look_up_wait(
    const struct lt_availability *availability, const struct lt_wait_ask *ask, double chance)
{
	double found[LT_WAIT_NEEDS];
	int next = 1;

	assert(ask->work_s >= 0 && chance < 1);
	if (availability->seen_s < LT_WAIT_SEEN_S)
		return 0;
	while (next < LT_WAIT_COSTS - 1 && ask->cost_s > lt_wait_costs_s[next])
		next++;
	const double from_s = lt_wait_costs_s[next - 1];
	const double to_s = lt_wait_costs_s[next];

	for (int need = 0; need < LT_WAIT_NEEDS; need++) {
		const struct lt_wait(*const waits)[LT_WAIT_WORKS] =
		    &availability->waits[need][next - 1];

		found[need] = between(by_work(waits[0], ask->work_s, chance, availability->seen_s),
		    by_work(waits[1], ask->work_s, chance, availability->seen_s),
		    (ask->cost_s - from_s) / (to_s - from_s));
	}
	return between(found[0], found[1], ask->need);
}

double
lt_wait_mean_s(const struct lt_availability *availability, const struct lt_wait_ask *ask)
{
	return look_up_wait(availability, ask, 0);
}

double
lt_wait_passed_s(
    const struct lt_availability *availability, const struct lt_wait_ask *ask, double chance)
{
	assert(chance > 0);

	return look_up_wait(availability, ask, chance);
}
