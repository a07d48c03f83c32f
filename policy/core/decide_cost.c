/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Prices a job in one partition: weights of the integrals of price, tariff and intensity over its
 * window. docs/model.md, eqs. (1) to (9). Reads the request and the market, writes the lane; a job
 * that can't be planned there gets a reject with the value wanted and the value found.
 */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "decide_internal.h"
#include "gpu_kinds.h"

static const double mg_per_g = 1000;
/* A window of more than 30 years is no plan. */
static const double window_max_s = 1e9;
/* The most for all waves: far beyond any deadline, and still an int64_t. */
static const double limits_max_s = 1e18;

static const struct lt_series *
series_at(const struct lt_market *market, int index)
{
	if (index < 0 || (uint32_t)index >= market->series_count ||
	    market->series[index].count == 0)
		return NULL;
	return &market->series[index];
}

/* How the tasks run: all at once, or in waves by %N or for want of nodes. */
static void
lane_waves(struct lane *lane, const struct job *job)
{
	const struct lt_request *request = job->request;
	const struct lt_partition *part = &job->market->partitions[lane->partition];
	const double tasks = request->array_tasks > 0 ? request->array_tasks : 1;
	const double one = (double)lane->share.nodes * (double)lane->share.numerator /
			   (double)lane->share.denominator;
	double at_once = tasks;

	if (request->array_parallel > 0)
		at_once = fmin(at_once, request->array_parallel);
	at_once = fmin(at_once, fmax(1, floor(part->node_count / one)));
	lane->tasks = (struct lt_tasks){tasks, at_once};
	lane->waves = ceil(tasks / at_once);
	lane->task_factor = tasks / lane->waves;
	lane->node_equivalents = one * at_once;
}

/* Returns how long most runs of its kind took, where these are known. */
static double
likely_most(const struct job *job)
{
	return job->upper_s < (double)job->limit_s ? fmax(job->upper_s, job->expected_s)
						   : job->expected_s;
}

/* Returns its checkpoints there; measured figures go before those that the user gave. */
static struct lt_checkpoint
checkpoint_of(const struct lane *lane, const struct job *job)
{
	const struct lt_partition *const part = &job->market->partitions[lane->partition];
	struct lt_checkpoint checkpoint =
	    lt_checkpoint_there(&job->request->checkpoint, part->storage_gib_per_s);

	if (job->request->proof.write_s > 0)
		checkpoint.write_s = job->request->proof.write_s;
	return checkpoint;
}

/* Returns the exposure before any work. Without proof, a job is assumed to start over where nodes
 * are taken back. */
static struct lt_exposure
exposure_of(const struct lane *lane, const struct job *job)
{
	const struct lt_request *const request = job->request;
	const struct lt_partition *const part = &job->market->partitions[lane->partition];
	struct lt_exposure exposure = {
	    .hazard_per_h = part->hazard_per_node_hour * lane->share.nodes,
	    /* A measured restart does not include the boot of a node. */
	    .restart_s = fmax(part->restart_s, request->proof.restart_s)};

	if (request->checkpoint.enabled &&
	    (!(part->flags & LT_PARTITION_PREEMPTIBLE) || lt_resume_counts(request, job->market)))
		exposure.checkpoint = checkpoint_of(lane, job);
	return exposure;
}

/* A lane in the making. sure: the exposure of a task's longest work there; sure_active: its active
 * time. */
struct making {
	struct lane *lane;
	const struct job *job;
	struct lt_exposure sure;
	struct lt_active sure_active;
};

/* Expected active time of that much work there. */
static struct lt_active
active_of(const struct making *m, double work_s)
{
	struct lt_exposure exposure;

	if (work_s == m->sure.work_s)
		return m->sure_active;
	exposure = m->sure;
	exposure.work_s = work_s;
	return lt_active_time(&exposure);
}

/* Returns the chance of a restart on as many nodes of home, where nodes fail, too; rounded up a
 * little, so that equal chances are not greater. */
static double
home_chance(const struct lane *lane, const struct job *job)
{
	const double work_s = lane->sure_work_s / lane->time_ratio;

	return -(1 + 1e-9) *
	       expm1(-job->market->partitions[job->request->home].hazard_per_node_hour *
		     lane->share.nodes * work_s / LT_HOUR_S);
}

/* Run time there and what interruptions make of it. */
static enum lt_reject
lane_time(struct making *m, const struct layout *layout, double *wanted, double *found)
{
	struct lane *const lane = m->lane;
	const struct job *const job = m->job;
	const struct lt_request *request = job->request;
	const struct lt_shape *shape = &job->market->shapes[layout->shape];

	lane->time_ratio = 1;
	lane->time_ratio_known = true;
	if (lt_request_wants_gpus(request) && lane->partition != request->home)
		lane->time_ratio = lt_ratio_there(&lane->time_ratio_known, job, lane->partition,
		    lt_shape_gpu_index(shape, request->gpu_type));
	lane->work_ratio = lane->time_ratio;
	if (job->power_cap != NULL)
		lane->work_ratio *= job->power_cap->slow_down;
	/* With an unknown run time, a cap may pass the limit, too. */
	if ((job->expected_known || job->power_cap != NULL) && lane->work_ratio > 1 &&
	    job->limit_s > 0 && likely_most(job) * lane->work_ratio > (double)job->limit_s) {
		/* The limit goes along, and would kill it there. */
		*wanted = likely_most(job) * lane->work_ratio;
		*found = (double)job->limit_s;
		return LT_REJECT_MAX_TIME;
	}
	lane->sure_work_s = job->bound_s * lane->work_ratio;
	m->sure = exposure_of(lane, job);
	m->sure.work_s = lane->sure_work_s;
	m->sure_active = lt_active_time(&m->sure);
	lane->active = active_of(m, job->expected_s * lane->work_ratio);
	lane->active.restart_chance = m->sure_active.restart_chance;
	if (request->checkpoint.enabled && !m->sure.checkpoint.enabled) {
		/* It writes them all the same. */
		const struct lt_checkpoint checkpoint = checkpoint_of(lane, job);

		lane->active.interval_s = lt_checkpoint_every_s(&checkpoint, m->sure.hazard_per_h);
	}
	const double site_ppm = job->market->max_restart_risk_ppm;
	const double is_ppm = lane->active.restart_chance * LT_MICROS;
	if (m->sure.checkpoint.enabled || lane->partition == request->home || !(is_ppm > site_ppm))
		return LT_REJECT_NONE;
	const double risk_ppm = fmax(site_ppm, home_chance(lane, job) * LT_MICROS);
	if (!(is_ppm > risk_ppm))
		return LT_REJECT_NONE;
	*wanted = risk_ppm;
	*found = is_ppm;
	return LT_REJECT_RISK;
}

/* Until the last task ends, on average or with confidence; eq. (15d). */
static double
end_after_s(const struct making *m, double confidence)
{
	const struct lane *const lane = m->lane;
	const struct lt_partition *const part = &m->job->market->partitions[lane->partition];
	const double at_once = lane->share.nodes * lane->tasks.at_once *
			       (double)lane->share.numerator / (double)lane->share.denominator;
	const double others = part->node_count - 1.0;

	return lt_last_task_end_s(&m->sure, &lane->tasks, &part->availability,
	    others > 0 ? fmin((ceil(at_once) - 1) / others, 1) : 0, confidence);
}

static bool
may_be_away(const struct making *m)
{
	return m->job->market->partitions[m->lane->partition].availability.seen_s >= LT_WAIT_SEEN_S;
}

/* How long from the first start to the end of the last task, on average, each being as long as it
 * may be: the window of all, and when the last is done. */
static void
lane_sure(const struct making *m)
{
	struct lane *const lane = m->lane;
	const double window_s = m->sure_active.active_s * lane->waves;
	double done_s = window_s;

	if (may_be_away(m) || (lane->tasks.count > 1 && m->sure.hazard_per_h > 0))
		done_s = end_after_s(m, 0);
	lane->sure_s = (int64_t)ceil(fmin(window_s, window_max_s));
	lane->done_s = (int64_t)ceil(fmin(done_s, limits_max_s));
}

/* Returns the time from the first start to where the last wave's limit ends:
 * Slurm goes by that limit, the waves before take what they take. */
static double
longest_s(const struct lane *lane, const struct job *job, double sure_active_s)
{
	if (job->limit_s <= 0)
		return ceil(sure_active_s * lane->waves);
	const double limit_s = (double)job->limit_s;

	return job->upper_s > 0 ? (lane->waves - 1) * fmin(lane->sure_work_s, limit_s) + limit_s
				: lane->waves * limit_s;
}

/* Latest start that keeps the deadline with the confidence of its class or the site; eq. (16). */
static int64_t
latest_start(const struct making *m)
{
	const struct lane *const lane = m->lane;
	const struct job *const job = m->job;
	const struct lt_request *request = job->request;
	const struct lt_market *market = job->market;
	const double confidence =
	    fmin(lt_class_confidence_ppm(job->class, market), 999999) / LT_MICROS;

	if (request->deadline_utc_s == LT_UNSET_64)
		return request->latest_utc_s > 0
			   ? request->latest_utc_s
			   : job->earliest_utc_s + lt_class_max_delay_s(job->class, market);
	const int64_t before_s = request->deadline_utc_s - market->deadline_slack_s;
	const double sure_s = m->sure_active.active_s;
	const int64_t latest = before_s - (int64_t)fmin(longest_s(lane, job, sure_s), limits_max_s);
	if (!(m->sure.hazard_per_h > 0) && !may_be_away(m))
		return latest;
	if (!(sure_s * lane->waves < window_max_s))
		return INT64_MIN / 2;
	const double last_s = end_after_s(m, confidence);
	if (!(last_s < window_max_s))
		return INT64_MIN / 2;
	const int64_t bound = before_s - (int64_t)ceil(last_s);

	return bound < latest ? bound : latest;
}

/* Leaves out idle power that a node of the site's own, which stays on, draws in any case: waiting
 * moves the rest. So the deciding figure counts it at the earliest start, whenever the job
 * starts. */
static void
leave_idle(struct lane *lane, const struct job *job, double idle_kw)
{
	double first[TERM_COUNT];

	lane->rests = true;
	lt_lane_integrals(first, lane, job->earliest_utc_s);
	lane->carbon.weight[TERM_CARBON] -= idle_kw * mg_per_g;
	lane->carbon.constant += idle_kw * mg_per_g * first[TERM_CARBON];
	if (lane->series[TERM_TARIFF] == NULL)
		return;
	lane->money.weight[TERM_TARIFF] -= idle_kw;
	lane->money.constant += idle_kw * first[TERM_TARIFF];
}

/* Returns the part of their power that a cap slows; (9b). */
static double
cpu_power(const struct job *job)
{
	return job->power_cap != NULL && job->power_cap->cpu_freq[0] != '\0' ? job->power_cap->power
									     : 1;
}

static double
gpu_power(const struct job *job)
{
	return job->power_cap != NULL && job->power_cap->gpu_freq[0] != '\0' ? job->power_cap->power
									     : 1;
}

/* Charges for what is emitted, idle power too; eq. (6a). Where emissions are not known, the cost is
 * not known either. */
static void
charge_carbon(struct lane *lane, const struct lt_market *market)
{
	const double per_mg = lt_charge_per_mg(market);

	if (!(per_mg > 0))
		return;
	lane->has_charged &= lane->has_carbon;
	lane->has_money &= lane->has_carbon;
	lane->charged = lt_linear_sum(&lane->charged, &lane->emitted, per_mg);
	lane->money = lt_linear_sum(&lane->money, &lane->emitted, per_mg);
}

/* Weights and constants from the partition's signals and power. */
static void
lane_weights(struct lane *lane, const struct job *job, const struct layout *layout)
{
	const struct lt_request *request = job->request;
	const struct lt_partition *part = &job->market->partitions[lane->partition];
	const double share = (double)lane->share.numerator / (double)lane->share.denominator;
	const double nodes = lane->share.nodes * lane->task_factor;
	const double hours = lane->mean_h;
	const bool owned = part->flags & LT_PARTITION_OWNED;
	const bool price = lane->series[TERM_PRICE];
	const bool tariff = lane->series[TERM_TARIFF];
	/* Owned nodes cost their energy in any case; without a tariff that is not known, and the
	 * rate charged stands in. */
	const bool marginal = owned && tariff;

	lane->power_kw =
	    nodes *
	    (part->node_idle_w * share + part->node_cpu_w * layout->cpu_part * cpu_power(job) +
		fmax(layout->gpu_w, 0) * gpu_power(job)) *
	    part->pue / 1000;
	lane->storage_micros = request->checkpoint.enabled
				   ? request->checkpoint.size_gib * request->checkpoint.keep *
					 (double)part->storage_micros_per_gib_month * hours /
					 LT_MONTH_H * lane->task_factor
				   : 0;
	/* --checkpoint jobs are requeued; others need a person. */
	lane->failure_micros = request->checkpoint.enabled
				   ? 0
				   : lane->active.expected_interruptions * lane->task_factor *
					 lane->waves * (double)part->engineer_micros_per_restart;

	lane->has_charged = price;
	lane->charged = (struct linear){.weight = {[TERM_PRICE] = nodes * share,
					    [TERM_TARIFF] = tariff && !owned ? lane->power_kw : 0},
	    .constant = lane->storage_micros + lane->failure_micros};

	const bool has_power = layout->gpu_w >= 0;

	lane->has_money = marginal ? has_power : price;
	lane->money = lane->charged;
	if (marginal) {
		lane->money.weight[TERM_PRICE] = 0;
		lane->money.weight[TERM_TARIFF] = lane->power_kw;
	}
	lane->has_carbon = lane->series[TERM_CARBON] != NULL && has_power;
	lane->emitted = (struct linear){.weight = {[TERM_CARBON] = lane->power_kw * mg_per_g},
	    .constant = part->embodied_g_per_node_hour * nodes * share * hours * mg_per_g};
	lane->carbon = lane->emitted;
	charge_carbon(lane, job->market);
	if (owned && (part->flags & LT_PARTITION_STAYS_ON))
		leave_idle(lane, job, nodes * part->node_idle_w * share * part->pue / 1000);
}

/* Ends the lane with its forecasts: a window that reaches beyond their last hour would be priced by
 * that hour for ever. Values that the admin wrote have no end. */
static void
end_with_forecasts(struct lane *lane, const struct job *job)
{
	const int64_t longest_s = lane->lengths_s[lane->length_count - 1];

	for (int t = 0; t < TERM_COUNT; t++) {
		const struct lt_series *const series = lane->series[t];

		if (series == NULL || series->quality == LT_QUALITY_CONSTANT)
			continue;
		const int64_t last_utc_s = series->start_utc_s[series->count] - longest_s;
		const int64_t latest_utc_s =
		    last_utc_s > job->earliest_utc_s ? last_utc_s : job->earliest_utc_s;

		if (latest_utc_s < lane->latest_utc_s)
			lane->latest_utc_s = latest_utc_s;
	}
}

/* Slurm starts nothing that by its limit would still run when a reservation takes the nodes. False:
 * there is no such start, and it is not home. */
static bool
end_before_reservation(struct lane *lane, const struct lt_partition *part, const struct job *job)
{
	const double longest_s = fmax((double)job->limit_s, 0) * lane->waves;
	const int64_t latest_utc_s =
	    part->reserved_utc_s - (int64_t)fmin(longest_s, (double)window_max_s);

	if (part->reserved_utc_s == 0 || latest_utc_s >= lane->latest_utc_s)
		return true;
	lane->latest_utc_s =
	    latest_utc_s > job->earliest_utc_s ? latest_utc_s : job->earliest_utc_s;
	return latest_utc_s >= job->earliest_utc_s || lane->partition == job->request->home;
}

/* A third of the runs of its kind is as short as the low one, or shorter, and a third as long as
 * the high one, or longer: docs/model.md, (45a). */
static void
lane_lengths(const struct making *m)
{
	struct lane *const lane = m->lane;
	const struct job *const job = m->job;
	const double works_s[] = {job->low_s, job->expected_s, job->high_s};

	for (int i = 0; i < LANE_LENGTHS && job->low_s > 0; i++) {
		const double there_s =
		    active_of(m, works_s[i] * lane->work_ratio).active_s * lane->waves;

		if (!(there_s < window_max_s))
			break;
		lane->lengths_s[lane->length_count++] = (int64_t)ceil(there_s);
	}
	/* One that interruptions may never let end says nothing. */
	if (lane->length_count < LANE_LENGTHS) {
		lane->lengths_s[0] = lane->length_s;
		lane->length_count = 1;
	}
	lane->length_part = 1.0 / lane->length_count;
	lt_lane_mean(lane);
}

enum lt_reject
lt_lane_build(
    struct lane *lane, const struct job *job, int partition, double *wanted, double *found)
{
	assert(partition >= 0 && (uint32_t)partition < job->market->partition_count);

	const struct lt_market *market = job->market;
	const struct lt_partition *part = &market->partitions[partition];
	struct making making = {.lane = lane, .job = job};
	struct layout layout;
	enum lt_reject reject;

	/* The code below sets the rest: to clear it first takes as long. */
	lane->partition = partition;
	lane->length_count = 0;
	lane->rests = false;
	reject = lt_fit_reject(&layout, job, partition);
	*wanted = layout.wanted;
	*found = layout.found;
	if (reject != LT_REJECT_NONE)
		return reject;
	if (!(job->expected_s > 0))
		return LT_REJECT_NO_LIMIT;
	lane->share = layout.share;
	lane->series[TERM_PRICE] = series_at(market, part->price_series);
	lane->series[TERM_TARIFF] = series_at(market, part->tariff_series);
	lane->series[TERM_CARBON] = series_at(market, part->carbon_series);
	lane_waves(lane, job);
	reject = lane_time(&making, &layout, wanted, found);
	if (reject != LT_REJECT_NONE)
		return reject;
	if (!(lane->active.active_s * lane->waves < window_max_s)) {
		*wanted = market->max_restart_risk_ppm;
		*found = lane->active.restart_chance * LT_MICROS;
		return LT_REJECT_RISK;
	}
	lane->length_s = (int64_t)ceil(lane->active.active_s * lane->waves);
	lane_sure(&making);
	lane_lengths(&making);
	/* So far ahead rounding would decide. */
	lane->latest_utc_s = latest_start(&making);
	if (lane->latest_utc_s - (int64_t)window_max_s > job->earliest_utc_s)
		lane->latest_utc_s = job->earliest_utc_s + (int64_t)window_max_s;
	end_with_forecasts(lane, job);
	if (!end_before_reservation(lane, part, job))
		return LT_REJECT_CLOSED;
	lt_lane_least(lane, job);
	lane_weights(lane, job, &layout);
	return LT_REJECT_NONE;
}

bool
lt_estimate_at(struct lt_estimate *estimate, enum lt_reject *reject,
    const struct lt_request *request, const struct lt_market *market, int partition,
    int64_t start_utc_s)
{
	double wanted, found;
	struct lane lane;
	struct job job;

	lt_job_resolve(&job, request, market, start_utc_s);
	*estimate = (struct lt_estimate){.partition = -1};
	*reject = lt_lane_build(&lane, &job, partition, &wanted, &found);
	if (*reject != LT_REJECT_NONE)
		return false;
	lt_lane_estimate(estimate, &lane, start_utc_s);
	return true;
}
