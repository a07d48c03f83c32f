/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The total at a period's end: days are gathered into a short series, from which come a level,
 * parts of weekdays and a spread; then the days to come. docs/model.md, eq. (47).
 */
#include "period_forecast.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "units.h"

enum { WEEKDAYS = 7, PATTERN_DAYS = 3 * WEEKDAYS };

static const double outlier = 3; /* x the second largest day */
/* Before much is known days are thought to differ by half of their level, as much as two days would
 * have shown. */
static const double prior_spread = 0.5, prior_days = 2;

/* Parts of its error by which a day moves the level, and their weights beforehand: 0 is the mean of
 * all days, a large part follows the last ones. */
static const struct memory {
	double gain, prior;
} memories[] = {{0, 8}, {0.05, 4}, {0.1, 2}, {0.2, 1}, {0.4, 0.5}, {0.7, 0.25}};
enum { MEMORIES = sizeof(memories) / sizeof(memories[0]) };

struct series { /* of one currency; complete days, the last is yesterday */
	int count, first_weekday;
	double value[LT_PERIOD_FORECAST_DAYS]; /* as they were */
	double usual[LT_PERIOD_FORECAST_DAYS]; /* no lone giant */
	double mean;			       /* of the usual ones */
	int64_t spent;
};

struct week {
	double part[WEEKDAYS]; /* of the level, 1 in the mean */
	double part_count;     /* parameters that the parts are worth */
};

struct path { /* what one memory makes of the series */
	double level;
	double below, above; /* variance of a day, without giants and with */
	double chance;	     /* of this memory, as a logarithm */
};

struct ahead {		    /* the rest of today, and the days after it */
	double days, parts; /* as many, and as many mean weekdays */
};

struct guess {			   /* of what is to come */
	double more, below, above; /* expected; variances */
};

static int64_t
amount_of(const struct lt_day_amounts *day, bool is_carbon)
{
	return is_carbon ? day->carbon_mg : day->money_micros;
}

static int
weekday_of(int64_t day)
{
	return (int)((day % WEEKDAYS + WEEKDAYS) % WEEKDAYS);
}

/* The largest day counts as at most so many times the second one: one giant says little of the days
 * to come. */
static void
cut_giant(struct series *series)
{
	double first = 0, second = 0;
	int at = 0;

	for (int i = 0; i < series->count; i++) {
		const double value = series->value[i];

		series->usual[i] = value;
		if (value > first) {
			second = first;
			first = value;
			at = i;
		} else if (value > second) {
			second = value;
		}
	}
	if (second > 0 && first > outlier * second)
		series->usual[at] = outlier * second;
	for (int i = 0; i < series->count; i++)
		series->mean += series->usual[i] / series->count;
}

/* Returns the first day that counts: zeros before the first that cost anything, and before the
 * period, are days when nobody was there. */
static int64_t
first_of(const struct lt_period_days *of, bool is_carbon)
{
	int64_t from = of->today - LT_PERIOD_FORECAST_DAYS;

	if (from < of->known_from)
		from = of->known_from;
	if (from >= of->first_day)
		return from;
	for (uint32_t i = 0; i < of->count; i++) {
		const struct lt_day_amounts *const day = &of->days[i];

		if (day->day >= from && day->day < of->first_day && amount_of(day, is_carbon) != 0)
			return day->day;
	}
	return of->first_day;
}

static int
gather_days(
    struct series *series, const struct lt_period_days *of, bool is_carbon, struct lt_error *err)
{
	const int64_t from = first_of(of, is_carbon);

	memset(series, 0, sizeof(*series));
	series->spent = is_carbon ? of->booked_mg : of->booked_micros;
	for (uint32_t i = 0; i < of->count; i++) {
		const struct lt_day_amounts *const day = &of->days[i];
		const int64_t amount = amount_of(day, is_carbon);

		if (day->day >= of->first_day && day->day <= of->last_day &&
		    !lt_add(&series->spent, amount))
			return lt_fail(
			    err, LT_EOVERFLOW, "forecast: what is spent passes its range");
		if (day->day >= from && day->day < of->today)
			series->value[day->day - from] = (double)amount;
	}
	series->count = of->today > from ? (int)(of->today - from) : 0;
	series->first_weekday = weekday_of(from);
	cut_giant(series);
	return LT_OK;
}

static int
weekday_at(const struct series *series, int i)
{
	return (series->first_weekday + i) % WEEKDAYS;
}

/*
 * Means of weekdays over the mean, drawn to 1 by as much as days of one weekday differ among
 * themselves: what is noise makes no pattern.
 */
static void
find_week(struct week *week, const struct series *series)
{
	double sum[WEEKDAYS] = {0}, within = 0, between = 0;
	int count[WEEKDAYS] = {0};

	week->part_count = 0;
	for (int w = 0; w < WEEKDAYS; w++)
		week->part[w] = 1;
	if (series->count < PATTERN_DAYS || series->mean <= 0)
		return;
	for (int i = 0; i < series->count; i++) {
		sum[weekday_at(series, i)] += series->usual[i];
		count[weekday_at(series, i)]++;
	}
	for (int i = 0; i < series->count; i++) {
		const int w = weekday_at(series, i);
		const double off = series->usual[i] - sum[w] / count[w];

		within += off * off / (series->count - WEEKDAYS);
	}
	for (int w = 0; w < WEEKDAYS; w++) {
		const double off = sum[w] / count[w] - series->mean;

		between += off * off / (WEEKDAYS - 1);
	}
	const double noise = within * WEEKDAYS / series->count;
	const double kept = between > noise ? 1 - noise / between : 0;

	for (int w = 0; w < WEEKDAYS; w++)
		week->part[w] = fmax(0, 1 + kept * (sum[w] / count[w] / series->mean - 1));
	week->part_count = kept * (WEEKDAYS - 1);
}

/* Returns the number of days that a spread counts. */
static double
degrees_of_freedom(const struct series *series, const struct week *week)
{
	return fmax(0, series->count - 1 - week->part_count) + prior_days;
}

/*
 * Exponential smoothing, from the mean of the days so far to its gain. Each day is foretold by
 * those before it: the errors are the spread, and say how well this memory does.
 */
static void
follow_days(struct path *path, const struct series *series, const struct week *week,
    const struct memory *memory)
{
	const double prior = prior_spread * series->mean;
	const double squares = prior_days * prior * prior;
	double below = squares, above = squares;

	path->level = 0;
	for (int i = 0; i < series->count; i++) {
		const double part = week->part[weekday_at(series, i)];
		const double offset = series->mean * (part - 1);
		const double off = series->usual[i] - offset - path->level;
		const double real = series->value[i] - offset - path->level;
		const double seen = 1.0 / (i + 1);

		if (i > 0) {
			below += off * off * (1 - seen);
			above += real * real * (1 - seen);
		}
		path->level += off * fmax(memory->gain, seen);
	}
	path->level = fmax(0, path->level);
	path->below = below / degrees_of_freedom(series, week);
	path->above = above / degrees_of_freedom(series, week);
	path->chance =
	    log(memory->prior) - (series->count - 1 + prior_days) / 2 * log(fmax(below, DBL_MIN));
}

/* Variance of a sum of so many days to come, in that of one day: each moves the level of those
 * after it; and the level itself is known from few days only. */
static double
sum_variance(const struct memory *memory, const struct series *series, double n)
{
	const double g = memory->gain;
	const double come = n + g * n * (n - 1) + g * g * (n - 1) * n * (2 * n - 1) / 6;
	const double begun = pow(1 - g, 2.0 * (series->count - 1));

	return fmax(0, come) + n * n * begun / series->count;
}

/* All memories, each by its chance. */
static void
mix_gains(struct guess *guess, const struct series *series, const struct week *week,
    const struct ahead *ahead)
{
	struct path paths[MEMORIES];
	double best = -INFINITY, all = 0;

	memset(guess, 0, sizeof(*guess));
	for (int i = 0; i < MEMORIES; i++) {
		follow_days(&paths[i], series, week, &memories[i]);
		best = fmax(best, paths[i].chance);
	}
	for (int i = 0; i < MEMORIES; i++) {
		paths[i].chance = exp(paths[i].chance - best);
		all += paths[i].chance;
	}
	for (int i = 0; i < MEMORIES; i++)
		guess->more += paths[i].chance / all * ahead->parts * paths[i].level;
	for (int i = 0; i < MEMORIES; i++) {
		const double off = ahead->parts * paths[i].level - guess->more;
		const double days = sum_variance(&memories[i], series, ahead->days);

		guess->below += paths[i].chance / all * (days * paths[i].below + off * off);
		guess->above += paths[i].chance / all * (days * paths[i].above + off * off);
	}
}

/* Returns the nine tenths' quantile of Student's distribution; Cornish and Fisher's expansion,
 * within 2 % from two degrees on. */
static double
student_quantile(double freedom)
{
	const double z = 1.2816, z3 = z * z * z, z5 = z3 * z * z;

	return z + (z3 + z) / (4 * freedom) + (5 * z5 + 16 * z3 + 3 * z) / (96 * freedom * freedom);
}

/* Whole weeks at once. */
static struct ahead
ahead_of(const struct week *week, const struct lt_period_days *of)
{
	const double rest = 1 - (double)of->today_gone_ppm / LT_MICROS;
	const int64_t days = of->last_day - of->today;
	struct ahead ahead = {
	    .days = rest + (double)days, .parts = rest * week->part[weekday_of(of->today)]};

	for (int w = 0; w < WEEKDAYS; w++)
		ahead.parts += week->part[w] * (double)(days / WEEKDAYS);
	for (int64_t i = 0; i < days % WEEKDAYS; i++)
		ahead.parts += week->part[weekday_of(of->last_day - i)];
	return ahead;
}

static bool
add_spent(int64_t *out, int64_t spent, double more)
{
	*out = spent;
	return more < 9.2e18 && lt_add(out, llround(more));
}

static int
forecast_range(struct lt_forecast_range *range, const struct lt_period_days *of, bool is_carbon,
    struct lt_error *err)
{
	struct series series;
	struct week week;
	struct guess guess;
	const int code = gather_days(&series, of, is_carbon, err);

	if (code != LT_OK || series.count == 0)
		return code;
	find_week(&week, &series);
	const struct ahead ahead = ahead_of(&week, of);
	mix_gains(&guess, &series, &week, &ahead);
	const double width = student_quantile(degrees_of_freedom(&series, &week));

	range->known = true;
	return add_spent(
		   &range->low, series.spent, fmax(0, guess.more - width * sqrt(guess.below))) &&
		       add_spent(&range->expected, series.spent, guess.more) &&
		       add_spent(&range->high, series.spent, guess.more + width * sqrt(guess.above))
		   ? LT_OK
		   : lt_fail(err, LT_EOVERFLOW, "forecast: the total passes its range");
}

int
lt_period_forecast(
    struct lt_period_forecast *out, const struct lt_period_days *of, struct lt_error *err)
{
	struct lt_period_forecast made = {0};
	int code;

	if (of->today < of->first_day || of->today > of->last_day || of->today_gone_ppm > LT_MICROS)
		return lt_fail(err, LT_EINPUT, "forecast: today is not in the period");
	for (uint32_t i = 1; i < of->count; i++)
		if (of->days[i].day <= of->days[i - 1].day)
			return lt_fail(err, LT_EINPUT, "forecast: days do not rise");
	code = forecast_range(&made.money, of, false, err);
	if (code == LT_OK)
		code = forecast_range(&made.carbon, of, true, err);
	if (code == LT_OK)
		*out = made;
	return code;
}
