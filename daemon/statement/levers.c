/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The costs that a quote keeps between home and the plan, as differences: they
 * add up to what the plan was to save, to the micro. docs/model.md, eq. (30a).
 */
#include "levers.h"

#include <stdio.h>
#include <string.h>

#include "api.h"
#include "text.h"
#include "units.h"
#include "equations.h"

struct saving {
	struct lt_amount time, place, gpu;
};

/* What passes 64 bits is not known. */
static struct lt_amount
difference(const struct lt_amount *from, const struct lt_amount *to)
{
	struct lt_amount by = {0};

	by.has_money = from->has_money && to->has_money &&
		       !__builtin_sub_overflow(from->money_micros,
			   to->money_micros, &by.money_micros);
	by.has_carbon = from->has_carbon && to->has_carbon &&
			!__builtin_sub_overflow(
			    from->carbon_mg, to->carbon_mg, &by.carbon_mg);
	return by;
}

static bool
find(struct saving *saving, struct lt_levers *levers,
    const struct lt_quote *quote)
{
	if (lt_levers_unpack(
		levers, quote->levers, strlen(quote->levers), NULL) != LT_OK)
		return false;
	saving->time = difference(&quote->home_expected, &levers->home_then);
	saving->place = difference(&levers->home_then, &levers->there_slow);
	saving->gpu = difference(&levers->there_slow, &quote->plan_expected);
	return true;
}

static void
put_amount(
    struct lt_text *text, const struct lt_amount *amount, const char *currency)
{
	char figures[100];

	lt_text_put(text, "%s",
	    lt_amount_text(
		figures, sizeof(figures), amount, currency, "not known"));
}

const char *
lt_levers_text(
    char *out, size_t size, const struct lt_quote *quote, const char *currency)
{
	struct lt_text text = {.out = out, .size = size};
	struct lt_levers levers;
	struct saving saving;

	out[0] = '\0';
	if (!find(&saving, &levers, quote)) {
		/* Against the best start elsewhere no levers are known. */
		if (quote->flags & LT_QUOTE_NOT_HOME) {
			saving.time = difference(
			    &quote->home_expected, &quote->plan_expected);
			lt_text_put(&text, "  saves            ");
			put_amount(&text, &saving.time, currency);
			lt_text_put(&text, "\n");
		}
		return out;
	}
	lt_text_put(&text, "  saves by when    ");
	put_amount(&text, &saving.time, currency);
	lt_text_put(&text, "\n  by where         ");
	put_amount(&text, &saving.place, currency);
	if (saving.gpu.money_micros != 0 || saving.gpu.carbon_mg != 0) {
		lt_text_put(&text, "\n  by how fast      ");
		put_amount(&text, &saving.gpu, currency);
	}
	lt_text_put(&text, LT_EQUATION(" (30a)") "\n");
	if (text.full)
		out[0] = '\0';
	return out;
}

json_t *
lt_levers_json(const struct lt_quote *quote)
{
	struct lt_levers levers;
	struct saving saving;

	if (!find(&saving, &levers, quote))
		return json_null();
	return json_pack("{s:o,s:o,s:o,s:o,s:o}", "time",
	    lt_api_amount(&saving.time), "place", lt_api_amount(&saving.place),
	    "gpu", lt_api_amount(&saving.gpu), "home_then",
	    lt_api_amount(&levers.home_then), "there_now",
	    lt_api_amount(&levers.there_now));
}
