/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a job's class allows, and in words for plan and explain.
 */
#include "decide.h"
#include "text.h"
#include "units.h"

int64_t
lt_class_max_delay_s(
    const struct lt_class *class, const struct lt_market *market)
{
	return class != NULL && class->has_max_delay ? class->max_delay_s
						     : market->max_delay_s;
}

uint32_t
lt_class_confidence_ppm(
    const struct lt_class *class, const struct lt_market *market)
{
	return class != NULL && class->deadline_confidence_ppm > 0
		   ? class->deadline_confidence_ppm
		   : market->deadline_confidence_ppm;
}

int64_t
lt_max_price_micros(
    const struct lt_request *request, const struct lt_market *market)
{
	const struct lt_class *const class = lt_request_class(request, market);
	const int64_t asked = request->max_price_micros;
	const int64_t by_class = class != NULL ? class->max_price_micros : 0;

	return asked == 0 || (by_class > 0 && by_class < asked) ? by_class
								: asked;
}

/* "(QOS batch, account vision)": what of the job made it that class. */
static void
put_whose(struct lt_text *text, const struct lt_class *class)
{
	const struct {
		const char *word, *name;
	} parts[] = {{"QOS", class->qos}, {"account", class->account},
	    {"partition", class->partition}};
	bool any = false;

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		if (parts[i].name[0] == '\0')
			continue;
		lt_text_put(text, "%s%s %s", any ? ", " : " (", parts[i].word,
		    parts[i].name);
		any = true;
	}
	if (class->patterns[0] != '\0') {
		lt_text_put(text, any ? ", by its name" : " (by its name");
		any = true;
	}
	lt_text_put(text, any ? ")" : " (all jobs)");
}

/* ": " before the first of what it says, ", " before the others. */
static const char *
next(bool *any)
{
	const char *const between = *any ? ", " : ": ";

	*any = true;
	return between;
}

static void
put_bounds(
    struct lt_text *text, const struct lt_class *class, const char *currency)
{
	char words[64];
	bool any = false;

	if (class->default_objective != LT_OBJECTIVE_OFF)
		lt_text_put(text, "%splaced without asking (%s)", next(&any),
		    lt_objective_name(class->default_objective));
	if (class->has_max_delay)
		lt_text_put(text, "%sat most %s of delay", next(&any),
		    lt_duration_text(words, sizeof(words), class->max_delay_s));
	if (class->deadline_confidence_ppm > 0)
		lt_text_put(text, "%sdeadlines kept in %.4g %%", next(&any),
		    class->deadline_confidence_ppm / 1e4);
	if (class->max_price_micros > 0)
		lt_text_put(text, "%sat most %s a node-hour", next(&any),
		    lt_money_text(words, sizeof(words), class->max_price_micros,
			currency));
	if (class->assume_time_s > 0)
		lt_text_put(text, "%sheld for %s at a time without a limit",
		    next(&any),
		    lt_duration_text(
			words, sizeof(words), class->assume_time_s));
	if (class->on_demand_only)
		lt_text_put(
		    text, "%snever moved to preemptible nodes", next(&any));
	if (class->max_interruptions != LT_INTERRUPTIONS_ANY)
		lt_text_put(text, "%sat most %u interruption%s", next(&any),
		    class->max_interruptions,
		    class->max_interruptions == 1 ? "" : "s");
	if (class->pause != LT_PAUSE_NEVER)
		lt_text_put(text, "%spauses by %s", next(&any),
		    class->pause == LT_PAUSE_SUSPEND ? "suspend" : "requeue");
	if (class->smoke_within_s > 0)
		lt_text_put(text, "%sa smoke run above %g node-hours",
		    next(&any), (double)class->smoke_above_node_s / LT_HOUR_S);
}

void
lt_class_text(char *out, size_t size, const struct lt_request *request,
    const struct lt_market *market)
{
	const struct lt_class *const class = lt_request_class(request, market);
	struct lt_text text = {.out = out, .size = size};

	if (size > 0)
		out[0] = '\0';
	if (class == NULL)
		return;
	lt_text_put(&text, "class %s", class->name);
	put_whose(&text, class);
	put_bounds(&text, class, market->currency);
}
