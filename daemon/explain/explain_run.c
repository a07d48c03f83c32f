/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes the paragraph of one run for `lowtide explain`: its charge in money and carbon, and the
 * rates behind it, read from the ledger; docs/model.md, (5) to (9), (27) to (30c). A rate that was
 * not recorded is left out.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "charge.h"
#include "daemon.h"
#include "explain.h"
#include "gpu_kinds.h"
#include "price.h"
#include "text.h"
#include "units.h"
#include "equations.h"

/* To the micro, without the zeros at its end: "0.0017 USD". */
static const char *
exact_text(char *out, size_t size, int64_t micros, const char *currency)
{
	const uint64_t value = micros < 0 ? 0 - (uint64_t)micros : (uint64_t)micros;
	char digits[48];
	int length = snprintf(digits, sizeof(digits), "%s%llu.%06llu", micros < 0 ? "-" : "",
	    (unsigned long long)(value / LT_MICROS), (unsigned long long)(value % LT_MICROS));

	for (int i = 0; i < 4 && digits[length - 1] == '0'; i++)
		digits[--length] = '\0';
	snprintf(out, size, "%s %s", digits, currency);
	return out;
}

/* The mean over the run of a rate that was recorded, and by how many values
 * it went. False: there was none. */
static bool
rate_of(double *mean, uint32_t *values, struct lt_ledger *ledger, const struct lt_run *run,
    enum lt_rate rate)
{
	struct lt_rates rates = {0};
	struct lt_rate_step *steps = NULL;
	enum lt_quality worst = LT_QUALITY_NONE;
	const int64_t from = run->start_utc_s, to = run->end_utc_s;

	if (from <= 0 || to <= from ||
	    lt_ledger_rates(ledger,
		&(struct lt_rates_asked){
		    .partition = run->partition, .rate = rate, .span = {from, to}},
		&steps, &rates.count, NULL) != LT_OK)
		return false;
	rates.steps = steps;
	*mean = lt_rates_integral(&rates, from, to, &worst) / (double)(to - from);
	*values = rates.count > 0;
	for (uint32_t i = 1; i < rates.count; i++)
		*values += steps[i].start_utc_s > from && steps[i].start_utc_s < to &&
			   steps[i].value != steps[i - 1].value;
	free(steps);
	return rates.count > 0;
}

/* " (mean of 3 values)" */
static void
say_values(struct lt_text *t, uint32_t values)
{
	if (values > 1)
		lt_text_put(t, " (mean of %u values)", values);
}

enum { SHARE_TEXT_SIZE = 48, TOLD_DENOMINATOR_MAX = 1000000 };

/* "1/8", or "0.1234" for a weighted sum, whose fraction would say nothing. */
static const char *
share_text(char out[SHARE_TEXT_SIZE], struct lt_fraction share)
{
	if (share.denominator <= TOLD_DENOMINATOR_MAX)
		snprintf(out, SHARE_TEXT_SIZE, "%lld/%lld", (long long)share.numerator,
		    (long long)share.denominator);
	else
		snprintf(out, SHARE_TEXT_SIZE, "%.6g",
		    (double)share.numerator / (double)share.denominator);
	return out;
}

static const char *
share_of_run(char out[SHARE_TEXT_SIZE], const struct lt_run *run)
{
	return share_text(out, (struct lt_fraction){run->share_numerator, run->share_denominator});
}

/* Share x seconds: its share while it ran, what it kept while suspended. */
static double
shares_s(const struct lt_market *market, struct lt_ledger *ledger, const struct lt_run *run)
{
	const struct lt_fraction kept = lt_suspended_share(run, market, ledger);
	const double ran = (double)(run->end_utc_s - run->start_utc_s - run->suspended_s);

	return ran * (double)run->share_numerator / (double)run->share_denominator +
	       (double)run->suspended_s * (double)kept.numerator / (double)kept.denominator;
}

/* "1/8 x 100 s", or "(1/8 x 100 s + 1/16 x 20 s suspended)" */
static void
say_time(struct lt_text *t, const struct lt_market *market, struct lt_ledger *ledger,
    const struct lt_run *run)
{
	const int64_t seconds = run->end_utc_s - run->start_utc_s - run->suspended_s;
	const bool suspended = run->suspended_s > 0;
	char share[SHARE_TEXT_SIZE];

	lt_text_put(
	    t, "%s%s x %lld s", suspended ? "(" : "", share_of_run(share, run), (long long)seconds);
	if (seconds >= LT_HOUR_S)
		lt_text_put(t, " (%.4g h)", (double)seconds / LT_HOUR_S);
	if (!suspended)
		return;
	const struct lt_fraction kept = lt_suspended_share(run, market, ledger);
	lt_text_put(
	    t, " + %s x %lld s suspended)", share_text(share, kept), (long long)run->suspended_s);
}

/* Appends the other parts of its money, and what each comes to. */
static void
say_parts(struct lt_text *t, const struct lt_run *run, const char *currency)
{
	char text[64];

	if (run->parts.carbon_charge_micros != 0)
		lt_text_put(t, "  charge for its carbon" LT_EQUATION(" (27a)") ": %s\n",
		    exact_text(text, sizeof(text), run->parts.carbon_charge_micros, currency));
	if (run->parts.discount_micros != 0)
		lt_text_put(t, "  discount for having waited" LT_EQUATION(" (30c)") ": -%s\n",
		    exact_text(text, sizeof(text), run->parts.discount_micros, currency));
	if (run->parts.carbon_charge_micros != 0 || run->parts.discount_micros != 0)
		lt_text_put(t, "  charged in all: %s\n",
		    exact_text(text, sizeof(text), run->money_micros, currency));
}

static void
say_money(struct lt_text *t, const struct lt_daemon *d, const struct lt_run *run)
{
	char text[64];
	const char *const currency = d->site.policy->currency;
	const int64_t nodes = lt_of_nodes(run->money_micros, &run->parts);
	double mean;
	uint32_t values;

	if (run->gpus_from == LT_GPUS_UNKNOWN) {
		lt_text_put(t,
		    "  money: how many GPUs it had is not known: not charged. AccountingStorageTRES=gres/gpu in slurm.conf makes slurmdbd count them\n");
		return;
	}
	if (!run->priced) {
		lt_text_put(t, "  money: no price known for %s: not charged yet\n", run->partition);
		return;
	}
	lt_text_put(t, "  money = ");
	const bool known = rate_of(&mean, &values, d->ledger, run, LT_RATE_PRICE);
	if (known) {
		lt_text_put(t, "%s/node-h",
		    exact_text(text, sizeof(text), (int64_t)llround(mean), currency));
		say_values(t, values);
		lt_text_put(t, " x %u node%s x ", run->nodes, run->nodes == 1 ? "" : "s");
		say_time(t, &d->site.market, d->ledger, run);
		lt_text_put(t, " = ");
	}
	lt_text_put(t, "%s" LT_EQUATION(" (27)") "%s%s\n",
	    exact_text(text, sizeof(text), nodes, currency),
	    run->over_reason[0] ? ", above its hold because of: " : "", run->over_reason);
	if (run->over_reason[0] && run->held.has_money)
		lt_text_put(t, "  admitted were %s a task\n",
		    exact_text(text, sizeof(text), run->held.money_micros, currency));
	/* The carry is one micro at most. */
	if (known && run->share_denominator > 0 &&
	    fabs(mean * run->nodes * shares_s(&d->site.market, d->ledger, run) / LT_HOUR_S -
		 (double)nodes) > 1.5)
		lt_text_put(t,
		    "  the price of that time was recorded anew since: charged is what was known then\n");
	say_parts(t, run, currency);
}

static void
say_carbon(struct lt_text *t, const struct lt_market *market, struct lt_ledger *ledger,
    const struct lt_run *run)
{
	char carbon[48];
	double mean;
	uint32_t values;
	const int index = lt_market_partition(market, run->partition);

	if (!run->has_carbon && run->energy_wh == 0 && index >= 0 && run->gpus > 0 &&
	    lt_gpu_power_unknown(market, &market->partitions[index])) {
		lt_text_put(t, "  energy and carbon: nobody knows the power of the GPUs of %s\n",
		    run->partition);
		return;
	}
	lt_text_put(t, "  energy = power" LT_EQUATION(" (5)") " x time = %lld Wh\n",
	    (long long)run->energy_wh);
	if (!run->has_carbon) {
		lt_text_put(t, "  carbon: no intensity known for %s\n", run->partition);
		return;
	}
	lt_text_put(t, "  carbon = energy x ");
	if (rate_of(&mean, &values, ledger, run, LT_RATE_CARBON)) {
		lt_text_put(t, "%.4g g CO2e/kWh", mean);
		say_values(t, values);
	} else {
		lt_text_put(t, "intensity");
	}
	if (index >= 0 && market->partitions[index].embodied_g_per_node_hour > 0)
		lt_text_put(t, " + embodied");
	lt_text_put(t, " = %s CO2e (%lld mg)" LT_EQUATION(" (9)") ", worst data: %s\n",
	    lt_carbon_text(carbon, sizeof(carbon), run->carbon_mg), (long long)run->carbon_mg,
	    lt_quality_name(run->worst_quality));
}

void
lt_explain_run(
    struct lt_text *t, const struct lt_daemon *d, const struct lt_run *run, int64_t now_utc_s)
{
	char start[64], money[48], carbon[48], length[48], share[SHARE_TEXT_SIZE];

	lt_text_put(t, "Run from %s on %s: %s, %u node%s, share %s, %s.\n",
	    lt_zone_text(start, sizeof(start), &d->site.market.zone, run->start_utc_s, now_utc_s),
	    run->partition,
	    lt_duration_text(length, sizeof(length), run->end_utc_s - run->start_utc_s), run->nodes,
	    run->nodes == 1 ? "" : "s", share_of_run(share, run), run->state_text);
	if (run->gpus_from == LT_GPUS_SLURMCTLD)
		lt_text_put(t, "  %u GPU%s by slurmctld's record: slurmdbd does not count them\n",
		    run->gpus, run->gpus == 1 ? "" : "s");
	if (d->site.policy->currency[0])
		say_money(t, d, run);
	say_carbon(t, &d->site.market, d->ledger, run);
	if (run->has_baseline)
		lt_text_put(t, "  without lowtide (%s): %s, %s CO2e" LT_EQUATION(" (30)") "\n",
		    run->baseline_text,
		    lt_money_text(
			money, sizeof(money), run->baseline_money_micros, d->site.policy->currency),
		    lt_carbon_text(carbon, sizeof(carbon), run->baseline_carbon_mg));
	if (run->provisional)
		lt_text_put(t, "  provisional: from %s\n", lt_batch_words.record);
}
