/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The quote into the text that stands in admin_comment; quote_text.c reads it.
 * The same members in the same order both ways; docs/formats.md, "quote".
 */
#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "quote.h"
#include "quote_internal.h"
#include "text.h"

/* Longest texts: an account and a name with every byte as "%XX", a number. */
enum {
	ACCOUNT = 3 * (LT_ACCOUNT_SIZE - 1),
	NAME = 3 * (LT_NAME_SIZE - 1),
	NUMBER = 20,
	AMOUNT = NUMBER + 1 + NUMBER,
	PLACE = NAME + 1 + NUMBER,
	WORD = 16, /* an objective or a mode */
	MEMBERS = sizeof(
	    "lowtide:1 q= rev= team= hold= n= win=- plan= base= exp= was= by= mode= f= lever= run= why= req= ask=,,,,,,,,,,,,,,,;"),
	WISH = 2 + 6 * 10 + 7 * NUMBER + 16,
	QUOTE_MOST = MEMBERS + 16 + 3 * 10 + ACCOUNT + 3 * AMOUNT + 2 * NUMBER +
		     2 * PLACE + 2 * WORD + LT_LEVERS_TEXT_SIZE - 1 +
		     LT_RUN_TEXT_SIZE - 1 + LT_WHY_TEXT_SIZE - 1 + WISH,
};
_Static_assert((int)QUOTE_MOST <= (int)LT_QUOTE_TEXT_SIZE, "any quote fits");

static void
put_word(struct lt_text *text, const char *word)
{
	lt_text_put_bytes(text, word, strlen(word));
}

static void
put_name(struct lt_text *text, const char *name, size_t size)
{
	size_t plain;

	for (size_t i = 0; i < size && name[i] != '\0'; i += plain) {
		for (plain = 0;
		     i + plain < size && lt_quote_is_plain(name[i + plain]);)
			plain++;
		if (plain > 0) {
			lt_text_put_bytes(text, name + i, plain);
			continue;
		}
		lt_text_put(text, "%%%02X", (unsigned char)name[i]);
		plain = 1;
	}
}

static void
put_optional(struct lt_text *text, bool known, int64_t value)
{
	if (known)
		lt_text_put_number(text, value);
	else
		put_word(text, "-");
}

void
lt_quote_put_amount(struct lt_text *text, const struct lt_amount *amount)
{
	put_optional(text, amount->has_money, amount->money_micros);
	put_word(text, ",");
	put_optional(text, amount->has_carbon, amount->carbon_mg);
}

static void
put_place(struct lt_text *text, const char *name, int64_t start_utc_s)
{
	put_name(text, name, LT_NAME_SIZE);
	put_word(text, "@");
	lt_text_put_number(text, start_utc_s);
}

static void
put_wish(struct lt_text *text, const struct lt_wish *wish)
{
	if (wish->asked != 0)
		lt_text_put(text, " req=%016" PRIx64, wish->asked);
	lt_text_put(text, " ask=%d,%" PRIu32 ",", wish->movable, wish->pins);
	put_optional(
	    text, wish->deadline_utc_s != LT_UNSET_64, wish->deadline_utc_s);
	put_word(text, ",");
	put_optional(
	    text, wish->expected_run_s != LT_UNSET_64, wish->expected_run_s);
	put_word(text, ",");
	put_optional(
	    text, wish->max_cost_micros != LT_UNSET_64, wish->max_cost_micros);
	lt_text_put(text, ",%" PRIu32 ",%d,%d,%" PRId64 ",%" PRId64,
	    wish->gpu_memory_mib, (int)wish->precision, wish->checkpoint,
	    wish->write_s, wish->every_s);
	const bool has_price = wish->max_price_micros > 0;
	const bool has_script = wish->script_hash != 0 || has_price;
	const bool is_bounded = wish->max_interruptions > 0 || has_script;

	if (wish->size_mib > 0 || wish->signal > 0 || is_bounded)
		lt_text_put(
		    text, ",%" PRId64 ",%" PRIu32, wish->size_mib, wish->keep);
	if (wish->signal > 0 || is_bounded)
		lt_text_put(text, ",%" PRIu32, wish->signal);
	if (is_bounded)
		lt_text_put(text, ",%" PRIu32, wish->max_interruptions);
	if (has_script)
		lt_text_put(text, ",%016" PRIx64, wish->script_hash);
	if (has_price)
		lt_text_put(text, ",%" PRId64, wish->max_price_micros);
}

int
lt_quote_pack(char *out, size_t size, const struct lt_quote *quote)
{
	assert(quote->id != 0);
	assert(memchr(quote->run, 0, sizeof(quote->run)) != NULL);
	assert(memchr(quote->why, 0, sizeof(quote->why)) != NULL);

	struct lt_text text = {.out = out, .size = size};
	if (size == 0)
		return LT_ELIMIT;
	lt_text_put(&text,
	    "%sq=%016" PRIx64 " rev=%" PRIu32 " team=", LT_QUOTE_VERSION,
	    quote->id, quote->rev);
	put_name(&text, quote->account, LT_ACCOUNT_SIZE);
	put_word(&text, " hold=");
	lt_quote_put_amount(&text, &quote->hold_per_task);
	lt_text_put(&text,
	    " n=%" PRIu32 " win=%" PRId64 "-%" PRId64 " plan=", quote->tasks,
	    quote->start_utc_s, quote->end_utc_s);
	put_place(&text, quote->partition, quote->plan_start_utc_s);
	put_word(&text, " base=");
	put_place(&text, quote->home, quote->home_start_utc_s);
	put_word(&text, " exp=");
	lt_quote_put_amount(&text, &quote->plan_expected);
	put_word(&text, " was=");
	lt_quote_put_amount(&text, &quote->home_expected);
	lt_text_put(&text, " by=%s mode=%s f=%" PRIu32,
	    lt_objective_name(quote->objective), lt_mode_name(quote->mode),
	    quote->flags);
	if (quote->levers[0]) {
		put_word(&text, " lever=");
		put_word(&text, quote->levers);
	}
	if (quote->run[0]) {
		put_word(&text, " run=");
		put_word(&text, quote->run);
	}
	if (quote->why[0]) {
		put_word(&text, " why=");
		put_word(&text, quote->why);
	}
	if (quote->wish.known)
		put_wish(&text, &quote->wish);
	put_word(&text, ";");
	if (text.full) {
		out[0] = '\0';
		return LT_ELIMIT;
	}
	return LT_OK;
}

static void
put_why(struct lt_text *text, const struct lt_why *why)
{
	put_name(text, why->partition, LT_NAME_SIZE);
	put_word(text, ":");
	put_word(text, lt_reject_word(why->reject));
	if (why->reject > LT_REJECT_DEARER) {
		if (why->wanted == 0 && why->found == 0)
			return;
		put_word(text, ":");
		lt_text_put_number(text, why->wanted);
		put_word(text, "/");
		lt_text_put_number(text, why->found);
		return;
	}
	put_word(text, ":");
	put_optional(text, why->best.has_money, why->best.money_micros);
	put_word(text, "/");
	put_optional(text, why->best.has_carbon, why->best.carbon_mg);
}

int
lt_why_pack(char *out, size_t size, const struct lt_whys *whys)
{
	if (whys->count > LT_WHY_MAX || size == 0)
		return LT_ELIMIT;
	for (uint32_t told = whys->count + 1; told-- > 0;) {
		struct lt_text text = {.out = out, .size = size};
		const uint32_t more = whys->more + (whys->count - told);

		out[0] = '\0';
		for (uint32_t i = 0; i < told; i++) {
			if (i > 0)
				put_word(&text, ",");
			put_why(&text, &whys->entries[i]);
		}
		if (more > 0)
			lt_text_put(
			    &text, "%s+%" PRIu32, told > 0 ? "," : "", more);
		if (!text.full)
			return LT_OK;
	}
	out[0] = '\0';
	return LT_ELIMIT;
}
