/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes the table of weights in policy/model/forecast.c: those with the least sum of absolute
 * errors over recorded grids, each grid by its own size of error, each lead by its length.
 * Arguments: the directory of the recordings, and the names of zones to leave out. Weights between
 * the leads of the table are interpolated, so all of them are fitted at once; absolute errors by
 * squares that are weighed by the size of the error before.
 */
#include "forecast.h"
#include "tools/carbon_zone.h"

enum {
	KNOTS = 10,
	UNKNOWNS = KNOTS * LT_FEATURE_COUNT,
	LEAD_MAX = 191,
	SAMPLES_MAX = 1 << 20,
	STARTS = 2500, /* of a zone */
	LEAD_STEP_MAX = 5,
	SHORT_LEADS = 12, /* all of them, of the longer ones some */
	SHAPE_LEAD_MAX = 6,
	PASSES = 15,
};

static const int leads[KNOTS] = {1, 2, 3, 6, 12, 24, 36, 48, 96, 192};
static struct carbon_zone zones[] = {
    {.name = "DE", .file = "DE.csv", .column = "carbon_intensity_avg"},
    {.name = "FR", .file = "FR.csv", .column = "carbon_intensity_avg"},
    {.name = "GB", .file = "GB.csv", .column = "carbon_intensity_avg"},
    {.name = "US-CAL-CISO", .file = "US-CAL-CISO.csv", .column = "carbon_intensity_avg"},
    {.name = "AU-SA", .file = "AU-SA.csv", .column = "Life cycle"},
    {.name = "ES", .file = "ES_2022_hourly.csv", .column = "LCA"},
};
enum { ZONES = sizeof(zones) / sizeof(*zones) };

struct sample {
	int lead;
	double signs[LT_FEATURE_COUNT], seen, weight, scale;
};
static struct sample samples[SAMPLES_MAX];
static int sample_count;

/* The usual change in a day: errors of zones are compared in it. */
static double
scale_of(const struct carbon_zone *zone)
{
	double sum = 0;
	int count = 0;

	for (int i = 24; i < zone->hours; i++) {
		const double change = zone_at(zone, i) - zone_at(zone, i - 24);

		if (isnan(change))
			continue;
		sum += fabs(change);
		count++;
	}
	return sum / count;
}

static void
sample_start(const struct carbon_zone *zone, int start)
{
	static struct lt_rate_step known[LT_HISTORY_HOURS];
	static struct lt_history history;
	const uint32_t count = zone_steps(zone, start - LT_HISTORY_HOURS + 1, start + 1, known);

	if (!lt_history_fill(&history, known, count, (zone->first_hour + start) * LT_HOUR_S))
		return;
	for (int lead = 1; lead <= LEAD_MAX;
	     lead += lead < SHORT_LEADS ? 1 : 1 + rand() % LEAD_STEP_MAX) {
		struct sample *const sample = &samples[sample_count];
		const double seen = zone_at(zone, start + lead);

		if (isnan(seen) || sample_count + 1 == SAMPLES_MAX ||
		    !lt_history_features(&history, LT_HISTORY_HOURS - 1, lead, sample->signs))
			continue;
		sample->lead = lead;
		sample->seen =
		    seen - history.mean_day[lt_history_hour(&history, LT_HISTORY_HOURS - 1 + lead)];
		sample_count++;
	}
}

static void
sample_zone(const struct carbon_zone *zone)
{
	const int first = sample_count;
	const double scale = scale_of(zone);

	for (int at = LT_HISTORY_HOURS; at < zone->hours; at += 1 + zone->hours / STARTS)
		sample_start(zone, at);
	for (int i = first; i < sample_count; i++) {
		samples[i].scale = scale;
		samples[i].weight = 1 / (scale * samples[i].lead * (sample_count - first));
	}
}

/* Signs that the table leaves to a source's own history, or that mean nothing so far ahead. */
static bool
is_free(int unknown)
{
	const int knot = unknown / LT_FEATURE_COUNT, sign = unknown % LT_FEATURE_COUNT;

	return sign != LT_FEATURE_DRIFT && sign != LT_FEATURE_STEADY &&
	       (sign != LT_FEATURE_SHAPE || leads[knot] <= SHAPE_LEAD_MAX);
}

/* The signs of a sample, each shared out to the two knots beside its lead. */
static int
share(const struct sample *sample, double row[2 * LT_FEATURE_COUNT])
{
	int knot = 0;

	while (knot + 2 < KNOTS && leads[knot + 1] <= sample->lead)
		knot++;
	const double part = (double)(sample->lead - leads[knot]) / (leads[knot + 1] - leads[knot]);
	for (int i = 0; i < LT_FEATURE_COUNT; i++) {
		row[i] = (1 - part) * sample->signs[i];
		row[LT_FEATURE_COUNT + i] = part * sample->signs[i];
	}
	for (int i = 0; i < 2 * LT_FEATURE_COUNT; i++)
		if (!is_free(knot * LT_FEATURE_COUNT + i))
			row[i] = 0;
	return knot * LT_FEATURE_COUNT;
}

static void
solve(double a[UNKNOWNS][UNKNOWNS], double b[UNKNOWNS])
{
	for (int i = 0; i < UNKNOWNS; i++)
		for (int row = i + 1; row < UNKNOWNS; row++) {
			const double factor = a[row][i] / a[i][i];

			for (int k = i; k < UNKNOWNS && factor != 0; k++)
				a[row][k] -= factor * a[i][k];
			b[row] -= factor * b[i];
		}
	for (int i = UNKNOWNS - 1; i >= 0; i--) {
		for (int k = i + 1; k < UNKNOWNS; k++)
			b[i] -= a[i][k] * b[k];
		b[i] /= a[i][i];
	}
}

static void
fit_pass(double weights[UNKNOWNS], bool first)
{
	static double a[UNKNOWNS][UNKNOWNS];
	double b[UNKNOWNS] = {0}, trace = 0;

	memset(a, 0, sizeof(a));
	for (int i = 0; i < sample_count; i++) {
		const struct sample *const sample = &samples[i];
		double row[2 * LT_FEATURE_COUNT], left = sample->seen;
		const int at = share(sample, row);

		for (int k = 0; k < 2 * LT_FEATURE_COUNT; k++)
			left -= row[k] * weights[at + k];
		const double weight =
		    sample->weight /
		    (first ? sample->scale : fmax(fabs(left), 0.03 * sample->scale));
		for (int k = 0; k < 2 * LT_FEATURE_COUNT; k++) {
			for (int m = 0; m < 2 * LT_FEATURE_COUNT; m++)
				a[at + k][at + m] += weight * row[k] * row[m];
			b[at + k] += weight * row[k] * sample->seen;
		}
	}
	for (int i = 0; i < UNKNOWNS; i++)
		trace += a[i][i] / UNKNOWNS;
	for (int i = 0; i < UNKNOWNS; i++)
		a[i][i] += 1e-5 * trace;
	solve(a, b);
	memcpy(weights, b, sizeof(b));
}

int
main(int argc, char **argv)
{
	double weights[UNKNOWNS] = {0};

	if (argc < 2) {
		fprintf(stderr, "usage: fit_forecast DIRECTORY [LEAVE_OUT...]\n");
		return 2;
	}
	for (int i = 0; i < ZONES; i++) {
		bool left_out = false;

		for (int k = 2; k < argc; k++)
			left_out |= strcmp(argv[k], zones[i].name) == 0;
		if (left_out)
			continue;
		if (!zone_load(&zones[i], argv[1])) {
			fprintf(stderr, "%s/%s: not as expected\n", argv[1], zones[i].file);
			return 1;
		}
		sample_zone(&zones[i]);
	}
	for (int pass = 0; pass < PASSES; pass++)
		fit_pass(weights, pass == 0);
	for (int knot = 0; knot < KNOTS; knot++) {
		printf("    {");
		for (int i = 0; i < LT_FEATURE_COUNT; i++) {
			const int unknown = knot * LT_FEATURE_COUNT + i;

			printf("%s%.*f", i == 0 ? "" : ", ", is_free(unknown) ? 3 : 0,
			    is_free(unknown) ? weights[unknown] : 0);
		}
		printf("},\n");
	}
	return 0;
}
