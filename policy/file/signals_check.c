/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Checks signals against the kinds of their sources, after reading and before use: a source of
 * prices under `carbon:`, or prices in a currency without a rate, would otherwise be found only at
 * the first fetch. Reads the policy, appends to its errors.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "signals_check.h"

/* In the order that all of them are wanted. */
static const struct {
	const char *key;
	size_t offset; /* in a source */
	const char *kinds[LT_SOURCE_WEATHER_MAX];
} weathers[] = {
    {"weather", offsetof(struct lt_policy_source, weather), {"wind", "sun", "temperature"}},
    {"day_ahead", offsetof(struct lt_policy_source, day_ahead),
	{"wind_power", "solar_power", "load"}},
};
static const char average[] = "carbon", marginal[] = "marginal_carbon";

static const struct {
	const char *key;
	size_t offset; /* of its signal in a partition */
	const char *quantity, *title;
} signals[] = {
#define AT(field) offsetof(struct lt_policy_partition, field)
    {"carbon", AT(carbon), average, "carbon intensity"},
    {"price_per_node_hour", AT(price), "price", "node price"},
    {"electricity_price_per_kwh", AT(tariff), "tariff", "electricity price"},
    {"interruptions_per_hour", AT(hazard), "interruption", "interruption rate"},
    {"placement_score", AT(score), "placement_score", "placement score"},
#undef AT
};

__attribute__((format(printf, 5, 6))) static void
complain(struct lt_policy_errors *errors, const char *path, int line, int column,
    const char *format, ...)
{
	char text[LT_ERROR_TEXT_SIZE];
	va_list arguments;

	if (errors->count >= LT_POLICY_ERRORS_MAX)
		return;
	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	struct lt_error *const err = &errors->items[errors->count++];
	*err = (struct lt_error){.line = line, .column = column};
	lt_fail(err, LT_EINPUT, "%s:%d:%d: %s", path, line, column, text);
}

static bool
is_intensity(const char *quantity)
{
	return strcmp(quantity, average) == 0 || strcmp(quantity, marginal) == 0;
}

static void
check_signal(const struct lt_policy *policy, const struct lt_source_kind *kinds, size_t index,
    const struct lt_policy_signal *signal, struct lt_policy_errors *errors)
{
	const bool wants_marginal = policy->intensity == LT_INTENSITY_MARGINAL;
	const bool is_carbon = strcmp(signals[index].quantity, average) == 0;
	const char *const wanted = is_carbon && wants_marginal ? marginal : signals[index].quantity;

	for (int i = 0; i < signal->source_count; i++) {
		const int source = signal->sources[i];
		const char *const name = policy->sources[source].name;
		const char *const found = kinds[source].quantity;

		if (strcmp(found, wanted) == 0)
			continue;
		if (is_carbon && is_intensity(found))
			complain(errors, policy->path, signal->line, signal->column,
			    "carbon: %s is a source of %s, but carbon_intensity is %s: the two are never mixed",
			    name, kinds[source].title, wants_marginal ? "marginal" : "average");
		else
			complain(errors, policy->path, signal->line, signal->column,
			    "%s: %s is a source of %s, want one of %s", signals[index].key, name,
			    kinds[source].title, signals[index].title);
	}
}

static const char *
basis_words(const char *basis)
{
	return strcmp(basis, "lifecycle") == 0 ? "life-cycle" : basis;
}

/* first and second count something else; both may be an option. */
static void
complain_basis(const struct lt_policy *policy, const struct lt_source_kind *kinds,
    const struct lt_policy_signal *signal, const int pair[2], struct lt_policy_errors *errors)
{
	const int first = pair[0], second = pair[1];
	const int mended = kinds[second].basis_is_option ? second : first;
	const int model = mended == second ? first : second;
	char mend[128] = "";

	if (kinds[mended].basis_is_option)
		snprintf(mend, sizeof(mend), "; say emission_factors: %s of %s", kinds[model].basis,
		    policy->sources[mended].name);
	complain(errors, policy->path, signal->line, signal->column,
	    "carbon: %s counts %s emissions, %s %s ones: the two are never compared%s",
	    policy->sources[second].name, basis_words(kinds[second].basis),
	    policy->sources[first].name, basis_words(kinds[first].basis), mend);
}

/* The intensities of all partitions are compared, and added up. */
static void
check_basis(const struct lt_policy *policy, const struct lt_source_kind *kinds,
    struct lt_policy_errors *errors)
{
	bool told[LT_SOURCES_MAX] = {false};
	int first = -1;

	for (int p = 0; p < policy->partition_count; p++) {
		const struct lt_policy_signal *const signal = &policy->partitions[p].carbon;

		for (int i = 0; i < signal->source_count; i++) {
			const int source = signal->sources[i];

			if (kinds[source].basis[0] == '\0' || told[source])
				continue;
			if (first < 0)
				first = source;
			if (strcmp(kinds[source].basis, kinds[first].basis) == 0)
				continue;
			told[source] = true;
			complain_basis(policy, kinds, signal, (const int[]){first, source}, errors);
		}
	}
}

/* The three that forecasts are made with: one of each kind. */
static void
check_weather(const struct lt_policy *policy, const struct lt_source_kind *kinds, int index,
    size_t list, struct lt_policy_errors *errors)
{
	const struct lt_policy_source *const source = &policy->sources[index];
	const char *const key = weathers[list].key;
	const struct lt_policy_weather *const weather =
	    (const void *)((const char *)source + weathers[list].offset);

	if (weather->count > 0 && !is_intensity(kinds[index].quantity))
		complain(errors, policy->path, weather->line, weather->column,
		    "%s: %s is a source of %s, want one of carbon intensity", key, source->name,
		    kinds[index].title);
	for (int i = 0; i < weather->count; i++) {
		const char *const name = weather->names[i];
		const struct lt_policy_source *const found = lt_policy_source_find(policy, name);
		const struct lt_source_kind *const kind =
		    found != NULL ? &kinds[found - policy->sources] : NULL;

		if (kind == NULL || strcmp(kind->quantity, weathers[list].kinds[i]) != 0)
			complain(errors, policy->path, weather->line, weather->column,
			    "%s: %s is %s%s, want a source of %s in place %d", key, name,
			    kind != NULL ? "one of " : "no source", kind != NULL ? kind->title : "",
			    weathers[list].kinds[i], i + 1);
	}
}

static bool
has_rate(const struct lt_policy *policy, const char *currency)
{
	for (int i = 0; i < policy->exchange_count; i++)
		if (strcmp(policy->exchanges[i].currency, currency) == 0)
			return true;
	return false;
}

static void
check_currency(const struct lt_policy *policy, const struct lt_policy_source *source,
    const struct lt_source_kind *kind, struct lt_policy_errors *errors)
{
	if (kind->currency[0] == '\0' || strcmp(kind->currency, policy->currency) == 0)
		return;
	if (policy->currency[0] == '\0')
		complain(errors, policy->path, source->line, source->column,
		    "%s: gives %ss in %s, and currency: is missing, want a line such as currency: %s",
		    source->name, kind->title, kind->currency, kind->currency);
	else if (!has_rate(policy, kind->currency))
		complain(errors, policy->path, source->line, source->column,
		    "exchange_rates: has no %s: %s gives %ss in %s, the site's currency is %s",
		    kind->currency, source->name, kind->title, kind->currency, policy->currency);
}

void
lt_policy_check_signals(const struct lt_policy *policy, const struct lt_source_kind *kinds,
    struct lt_policy_errors *errors)
{
	for (int i = 0; i < policy->source_count; i++) {
		check_currency(policy, &policy->sources[i], &kinds[i], errors);
		for (size_t k = 0; k < sizeof(weathers) / sizeof(*weathers); k++)
			check_weather(policy, kinds, i, k, errors);
	}
	check_basis(policy, kinds, errors);
	for (int i = 0; i < policy->partition_count; i++) {
		const char *const partition = (const char *)&policy->partitions[i];

		for (size_t k = 0; k < sizeof(signals) / sizeof(*signals); k++)
			check_signal(policy, kinds, k,
			    (const void *)(partition + signals[k].offset), errors);
	}
}
