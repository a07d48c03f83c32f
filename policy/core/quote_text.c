/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The quote as text in admin_comment, beside what other tools keep there, and back:
 * docs/formats.md, "quote". A member is named in one place: a coder's one function writes it or
 * reads it, so that both ways are the same. What is written fits whole or is refused; what is read
 * is as it would be written, or nothing of it is taken. Levers, the run and the candidates are
 * texts of their own within it. quote_merge.c finds it among what others wrote.
 */
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "quote.h"
#include "text.h"
#include "units.h"

#define VERSION "lowtide:1 "

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
	QUOTE_MOST = MEMBERS + 16 + 3 * 10 + ACCOUNT + 3 * AMOUNT + 2 * NUMBER + 2 * PLACE +
		     2 * WORD + LT_LEVERS_TEXT_SIZE - 1 + LT_RUN_TEXT_SIZE - 1 + LT_WHY_TEXT_SIZE -
		     1 + WISH,
};
_Static_assert((int)QUOTE_MOST <= (int)LT_QUOTE_TEXT_SIZE, "any quote fits");

/* Writes into out, or reads from at, which changes what is pointed to. */
struct coder {
	bool writing;
	struct lt_text out;
	const char *at, *end;
	bool bad; /* reading: it is not as it would be written */
};

/* ---- reading alone ---- */

static bool
begins(const struct coder *coder, const char *text)
{
	const size_t length = strlen(text);

	return !coder->bad && (size_t)(coder->end - coder->at) >= length &&
	       memcmp(coder->at, text, length) == 0;
}

static bool
next_is(const struct coder *coder, char c)
{
	return !coder->bad && coder->at < coder->end && *coder->at == c;
}

/* Reads a decimal as printf writes it: no sign but "-", no leading zeros. */
static int64_t
get_i64(struct coder *coder)
{
	const bool negative = next_is(coder, '-');

	if (negative)
		coder->at++;
	const char *const first = coder->at;
	int64_t value = 0;
	while (!coder->bad && coder->at < coder->end && *coder->at >= '0' && *coder->at <= '9') {
		const int digit = *coder->at++ - '0';

		coder->bad = __builtin_mul_overflow(value, 10, &value) ||
			     __builtin_add_overflow(value, negative ? -digit : digit, &value);
	}
	if (coder->at == first || (*first == '0' && (coder->at - first > 1 || negative)))
		coder->bad = true;
	return coder->bad ? 0 : value;
}

/* Value of a digit of the wanted case, or -1. */
static int
hex_digit(char c, char ten)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= ten && c < ten + 6 ? c - ten + 10 : -1;
}

static uint64_t
get_hash(struct coder *coder)
{
	uint64_t value = 0;

	for (int i = 0; i < 16; i++) {
		const int digit =
		    coder->bad || coder->at == coder->end ? -1 : hex_digit(*coder->at++, 'a');

		if (digit < 0) {
			coder->bad = true;
			return 0;
		}
		value = value << 4 | (uint64_t)digit;
	}
	return value;
}

/* True for bytes of a name that stand for themselves. */
static bool
is_plain(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_' || c == '.' || c == '-';
}

static void
get_name(struct coder *coder, char *name, size_t size)
{
	size_t length = 0;

	while (!coder->bad && coder->at < coder->end) {
		int c = *coder->at;

		if (c == '%' && coder->end - coder->at >= 3) {
			const int high = hex_digit(coder->at[1], 'A');
			const int low = hex_digit(coder->at[2], 'A');

			c = high < 0 || low < 0 ? 0 : high << 4 | low;
			/* Only what needs it is encoded: one text a name. */
			if (c == 0 || is_plain((char)c))
				coder->bad = true;
			coder->at += 3;
		} else if (is_plain((char)c)) {
			coder->at++;
		} else {
			break;
		}
		if (length + 1 == size)
			coder->bad = true;
		else
			name[length++] = (char)c;
	}
	name[length] = '\0';
}

/* Reads a number, or "-" without digits: not known. */
static bool
get_optional(struct coder *coder, int64_t *value)
{
	const bool minus = next_is(coder, '-');
	const bool digit = coder->end - coder->at > 1 && coder->at[1] >= '0' && coder->at[1] <= '9';

	if (minus && !digit) {
		coder->at++;
		return false;
	}
	*value = get_i64(coder);
	return true;
}

/* Reads a whole word, one of `count` names. */
static int
get_word(struct coder *coder, int count, const char *(*name_of)(int))
{
	size_t length = 0;

	while (!coder->bad && coder->at + length < coder->end && is_plain(coder->at[length]))
		length++;
	for (int i = 0; i < count && !coder->bad; i++) {
		const char *const name = name_of(i);

		if (strlen(name) == length && memcmp(coder->at, name, length) == 0) {
			coder->at += length;
			return i;
		}
	}
	coder->bad = true;
	return 0;
}

/* ---- writing alone ---- */

static void
put_name(struct lt_text *text, const char *name, size_t size)
{
	size_t plain;

	for (size_t i = 0; i < size && name[i] != '\0'; i += plain) {
		for (plain = 0; i + plain < size && is_plain(name[i + plain]);)
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
		lt_text_put_bytes(text, "-", 1);
}

static int
end_writing(struct coder *coder)
{
	if (!coder->out.full)
		return LT_OK;
	coder->out.out[0] = '\0';
	return LT_ELIMIT;
}

/* ---- both ways ---- */

/* A text that stands there as it is. */
static void
code_mark(struct coder *coder, const char *text)
{
	if (coder->writing)
		lt_text_put_bytes(&coder->out, text, strlen(text));
	else if (begins(coder, text))
		coder->at += strlen(text);
	else
		coder->bad = true;
}

/* The mark of what need not be there. True if it is: then the rest follows. */
static bool
code_if(struct coder *coder, const char *text, bool is_said)
{
	if (coder->writing ? !is_said : !begins(coder, text))
		return false;
	code_mark(coder, text);
	return true;
}

/* Codes a number from least to most. */
static void
code_number(struct coder *coder, int64_t *value, int64_t least, int64_t most)
{
	if (coder->writing) {
		lt_text_put_number(&coder->out, *value);
		return;
	}
	*value = get_i64(coder);
	if (*value < least || *value > most)
		coder->bad = true;
}

static void
code_i64(struct coder *coder, int64_t *value)
{
	code_number(coder, value, INT64_MIN, INT64_MAX);
}

static void
code_u32(struct coder *coder, uint32_t *value, uint32_t most)
{
	int64_t number = *value;

	code_number(coder, &number, 0, most);
	if (!coder->writing)
		*value = coder->bad ? 0 : (uint32_t)number;
}

static void
code_bool(struct coder *coder, bool *value)
{
	uint32_t number = *value;

	code_u32(coder, &number, 1);
	*value = number != 0;
}

/* A number that is not negative, or "-" for LT_UNSET_64. */
static void
code_or_unset(struct coder *coder, int64_t *value)
{
	if (coder->writing) {
		put_optional(&coder->out, *value != LT_UNSET_64, *value);
		return;
	}
	*value = LT_UNSET_64;
	if (get_optional(coder, value) && *value < 0)
		coder->bad = true;
}

static void
code_hash(struct coder *coder, uint64_t *hash)
{
	if (coder->writing)
		lt_text_put(&coder->out, "%016" PRIx64, *hash);
	else
		*hash = get_hash(coder);
}

static void
code_id(struct coder *coder, uint64_t *id)
{
	code_hash(coder, id);
	if (*id == 0)
		coder->bad = true;
}

static void
code_name(struct coder *coder, char *name, size_t size)
{
	if (coder->writing)
		put_name(&coder->out, name, size);
	else
		get_name(coder, name, size);
}

/* One of `count` words, by its index. */
static int
code_word(struct coder *coder, int value, int count, const char *(*name_of)(int))
{
	if (!coder->writing)
		return get_word(coder, count, name_of);
	code_mark(coder, name_of(value));
	return value;
}

/* Money and carbon, "-" for what is not known. */
static void
code_amount(struct coder *coder, struct lt_amount *amount, const char *between)
{
	if (coder->writing)
		put_optional(&coder->out, amount->has_money, amount->money_micros);
	else
		amount->has_money = get_optional(coder, &amount->money_micros);
	code_mark(coder, between);
	if (coder->writing)
		put_optional(&coder->out, amount->has_carbon, amount->carbon_mg);
	else
		amount->has_carbon = get_optional(coder, &amount->carbon_mg);
}

static void
code_place(struct coder *coder, char name[LT_NAME_SIZE], int64_t *start_utc_s)
{
	code_name(coder, name, LT_NAME_SIZE);
	code_mark(coder, "@");
	code_i64(coder, start_utc_s);
}

/* A text of its own, which is kept as it is once it is known to be one: with names in it up to a
 * blank or ";", else words and numbers with commas. */
static void
code_within(struct coder *coder, char *text, size_t size, bool has_names,
    bool (*is_good)(const char *text, size_t length))
{
	size_t length = 0;

	if (coder->writing) {
		code_mark(coder, text);
		return;
	}
	for (; !coder->bad && coder->at + length < coder->end; length++) {
		const char c = coder->at[length];

		if (has_names ? c == ';' || c == ' ' : !is_plain(c) && c != ',')
			break;
	}
	if (coder->bad || length >= size || !is_good(coder->at, length)) {
		coder->bad = true;
		return;
	}
	memcpy(text, coder->at, length);
	coder->at += length;
}

/* ---- candidates ---- */

static const char *
reject_word(int i)
{
	return lt_reject_word((enum lt_reject)i);
}

static void
code_why(struct coder *coder, struct lt_why *why)
{
	code_name(coder, why->partition, sizeof(why->partition));
	if (why->partition[0] == '\0')
		coder->bad = true;
	code_mark(coder, ":");
	why->reject =
	    (enum lt_reject)code_word(coder, (int)why->reject, LT_REJECT_COUNT, reject_word);
	if (why->reject <= LT_REJECT_DEARER) {
		code_mark(coder, ":");
		code_amount(coder, &why->best, "/");
	} else if (code_if(coder, ":", why->wanted != 0 || why->found != 0)) {
		code_i64(coder, &why->wanted);
		code_mark(coder, "/");
		code_i64(coder, &why->found);
		if (why->wanted == 0 && why->found == 0)
			coder->bad = true;
	}
}

int
lt_why_pack(char *out, size_t size, const struct lt_whys *whys)
{
	if (whys->count > LT_WHY_MAX || size == 0)
		return LT_ELIMIT;
	for (uint32_t told = whys->count + 1; told-- > 0;) {
		struct coder coder = {.writing = true, .out = {.out = out, .size = size}};
		uint32_t more = whys->more + (whys->count - told);

		out[0] = '\0';
		for (uint32_t i = 0; i < told; i++) {
			struct lt_why why = whys->entries[i];

			(void)code_if(&coder, ",", i > 0);
			code_why(&coder, &why);
		}
		(void)code_if(&coder, ",", more > 0 && told > 0);
		if (code_if(&coder, "+", more > 0))
			code_u32(&coder, &more, UINT32_MAX);
		if (!coder.out.full)
			return LT_OK;
	}
	out[0] = '\0';
	return LT_ELIMIT;
}

int
lt_why_unpack(struct lt_whys *whys, const char *text, size_t length, struct lt_error *err)
{
	struct coder coder = {.at = text, .end = text + length};

	memset(whys, 0, sizeof(*whys));
	while (!coder.bad && coder.at < coder.end && whys->more == 0) {
		if (coder.at > text)
			code_mark(&coder, ",");
		if (code_if(&coder, "+", true)) {
			code_u32(&coder, &whys->more, UINT32_MAX);
			coder.bad |= whys->more == 0;
		} else if (whys->count < LT_WHY_MAX) {
			code_why(&coder, &whys->entries[whys->count++]);
		} else {
			coder.bad = true;
		}
	}
	if (!coder.bad && coder.at == coder.end)
		return LT_OK;
	memset(whys, 0, sizeof(*whys));
	return lt_fail(
	    err, LT_EINPUT, "candidates: damaged before character %d", (int)(coder.at - text) + 1);
}

static bool
is_why(const char *text, size_t length)
{
	struct lt_whys whys;

	return length > 0 && lt_why_unpack(&whys, text, length, NULL) == LT_OK;
}

/* ---- levers ---- */

static void
code_levers(struct coder *coder, struct lt_levers *levers)
{
	struct lt_amount *const amounts[] = {
	    &levers->home_then, &levers->there_now, &levers->there_slow};

	code_u32(coder, &levers->size_ppm, UINT32_MAX);
	code_mark(coder, ",");
	code_u32(coder, &levers->power_ppm, UINT32_MAX);
	if (levers->size_ppm == 0 || levers->power_ppm == 0)
		coder->bad = true;
	for (size_t i = 0; i < sizeof(amounts) / sizeof(*amounts); i++) {
		code_mark(coder, ",");
		code_amount(coder, amounts[i], ",");
	}
	if (code_if(coder, ",", levers->room_utc_s > 0))
		code_number(coder, &levers->room_utc_s, 1, INT64_MAX);
}

int
lt_levers_pack(char *out, size_t size, const struct lt_levers *levers)
{
	struct lt_levers copy = *levers;
	struct coder coder = {.writing = true, .out = {.out = out, .size = size}};

	if (size == 0)
		return LT_ELIMIT;
	code_levers(&coder, &copy);
	return end_writing(&coder);
}

int
lt_levers_unpack(struct lt_levers *levers, const char *text, size_t length, struct lt_error *err)
{
	struct coder coder = {.at = text, .end = text + length};

	*levers = (struct lt_levers){0};
	coder.bad = length >= LT_LEVERS_TEXT_SIZE;
	code_levers(&coder, levers);
	if (!coder.bad && coder.at == coder.end)
		return LT_OK;
	*levers = (struct lt_levers){0};
	return lt_fail(err, LT_EINPUT, "levers: \"%.*s\" is damaged",
	    length < LT_LEVERS_TEXT_SIZE ? (int)length : LT_LEVERS_TEXT_SIZE, text);
}

static bool
is_levers(const char *text, size_t length)
{
	struct lt_levers levers;

	return lt_levers_unpack(&levers, text, length, NULL) == LT_OK;
}

/* ---- the run ---- */

static const char cap_mark[] = ",cap,"; /* no history has that word */

static const char *
history_word(int i)
{
	return lt_history_word((enum lt_history_group)i);
}

/* The cap is last: up to the end. */
static void
code_cap(struct coder *coder, struct lt_capped *capped)
{
	char cap[LT_RUN_TEXT_SIZE];

	if (!code_if(coder, cap_mark, lt_is_capped(capped)))
		return;
	if (coder->writing) {
		if (lt_capped_pack(cap, sizeof(cap), capped) != LT_OK)
			coder->out.full = true;
		code_mark(coder, cap);
		return;
	}
	snprintf(cap, sizeof(cap), "%.*s", (int)(coder->end - coder->at), coder->at);
	if (!lt_capped_unpack(capped, cap))
		coder->bad = true;
	coder->at = coder->end;
}

/* A comma before the run's next number, if there is one. */
static bool
code_more(struct coder *coder, bool is_said)
{
	const bool is_cap = !coder->writing && begins(coder, cap_mark);

	return !is_cap && code_if(coder, ",", is_said);
}

static void
code_run(struct coder *coder, struct lt_quote_run *run)
{
	struct lt_expected *const e = &run->expected;
	const bool is_expected = e->expected_s > 0;
	const bool has_lost = run->interruptions_ppm > 0;
	int64_t ratio_ppm = run->ratio_ppm;

	code_id(coder, &run->kind);
	if (code_more(coder, is_expected || ratio_ppm != LT_MICROS || has_lost)) {
		e->from = (enum lt_history_group)code_word(coder,
		    (int)(is_expected ? e->from : LT_HISTORY_NONE), LT_HISTORY_WORDS, history_word);
		code_mark(coder, ",");
		code_number(coder, &e->expected_s, 0, INT64_MAX);
		code_mark(coder, ",");
		code_number(coder, &e->upper_s, 0, INT64_MAX);
		code_mark(coder, ",");
		code_u32(coder, &e->runs, UINT32_MAX);
		code_mark(coder, ",");
		code_number(coder, &run->limit_s, 0, INT64_MAX);
		code_mark(coder, ",");
		code_number(coder, &ratio_ppm, 1, UINT32_MAX);
		run->ratio_ppm = (uint32_t)ratio_ppm;
		if ((e->expected_s == 0) != (e->from == LT_HISTORY_NONE))
			coder->bad = true;
		if (code_more(coder, has_lost)) {
			code_number(coder, &run->interruptions_ppm, 0, INT64_MAX);
			code_mark(coder, ",");
			code_number(coder, &run->lost_s, 0, INT64_MAX);
		}
	}
	code_cap(coder, &run->capped);
}

int
lt_quote_run_pack(char *out, size_t size, const struct lt_quote_run *run)
{
	struct lt_quote_run copy = *run;
	struct coder coder = {.writing = true, .out = {.out = out, .size = size}};

	if (size == 0)
		return LT_ELIMIT;
	code_run(&coder, &copy);
	return end_writing(&coder);
}

int
lt_quote_run_unpack(struct lt_quote_run *run, const char *text, size_t length, struct lt_error *err)
{
	struct coder coder = {.at = text, .end = text + length};
	char again[LT_RUN_TEXT_SIZE];

	*run = (struct lt_quote_run){.expected.from = LT_HISTORY_NONE, .ratio_ppm = LT_MICROS};
	code_run(&coder, run);
	/* One way to write each: what it does not write was not read. */
	if (!coder.bad && coder.at == coder.end &&
	    lt_quote_run_pack(again, sizeof(again), run) == LT_OK && strlen(again) == length &&
	    memcmp(again, text, length) == 0)
		return LT_OK;
	memset(run, 0, sizeof(*run));
	return lt_fail(err, LT_EINPUT, "kind of runs: \"%.*s\" is damaged",
	    length < LT_RUN_TEXT_SIZE ? (int)length : LT_RUN_TEXT_SIZE, text);
}

static bool
is_run(const char *text, size_t length)
{
	struct lt_quote_run run;

	return lt_quote_run_unpack(&run, text, length, NULL) == LT_OK;
}

/* ---- what was asked ---- */

/* How many of the fields behind every_s are there: up to the last one that says something; a size
 * comes with how many are kept. */
static int
count_later(const struct lt_wish *wish)
{
	return wish->max_price_micros > 0    ? 6
	       : wish->script_hash != 0	     ? 5
	       : wish->max_interruptions > 0 ? 4
	       : wish->signal > 0	     ? 3
	       : wish->size_mib > 0	     ? 2
					     : 0;
}

/* True if one more of them follows. */
static bool
code_later(struct coder *coder, int *count, const struct lt_wish *wish)
{
	const bool is_there = code_if(coder, ",", *count < count_later(wish));

	*count += is_there;
	return is_there;
}

static void
code_wish(struct coder *coder, struct lt_wish *wish)
{
	enum { SIGNAL_MOST = 64 };
	uint32_t precision = wish->precision;
	int later = 0;

	code_bool(coder, &wish->movable);
	code_mark(coder, ",");
	code_u32(coder, &wish->pins, UINT32_MAX);
	code_mark(coder, ",");
	code_or_unset(coder, &wish->deadline_utc_s);
	code_mark(coder, ",");
	code_or_unset(coder, &wish->expected_run_s);
	code_mark(coder, ",");
	code_or_unset(coder, &wish->max_cost_micros);
	code_mark(coder, ",");
	code_u32(coder, &wish->gpu_memory_mib, UINT32_MAX);
	code_mark(coder, ",");
	code_u32(coder, &precision, LT_PRECISION_COUNT - 1);
	wish->precision = (enum lt_precision)precision;
	code_mark(coder, ",");
	code_bool(coder, &wish->checkpoint);
	code_mark(coder, ",");
	code_number(coder, &wish->write_s, 0, UINT32_MAX);
	code_mark(coder, ",");
	code_number(coder, &wish->every_s, 0, UINT32_MAX);
	if (code_later(coder, &later, wish))
		code_number(coder, &wish->size_mib, 0, UINT32_MAX);
	if (code_later(coder, &later, wish))
		code_u32(coder, &wish->keep, UINT32_MAX);
	if (code_later(coder, &later, wish))
		code_u32(coder, &wish->signal, SIGNAL_MOST);
	if (code_later(coder, &later, wish))
		code_u32(coder, &wish->max_interruptions, UINT32_MAX);
	if (code_later(coder, &later, wish))
		code_hash(coder, &wish->script_hash);
	if (code_later(coder, &later, wish))
		code_i64(coder, &wish->max_price_micros);
	if (later != count_later(wish) || (wish->size_mib > 0 && wish->keep == 0))
		coder->bad = true;
}

/* ---- all of it ---- */

static const char *
objective_name(int i)
{
	return lt_objective_name((enum lt_objective)i);
}

static const char *
mode_name(int i)
{
	return lt_mode_name((enum lt_mode)i);
}

static void
code_quote(struct coder *coder, struct lt_quote *quote)
{
	code_mark(coder, "q=");
	code_id(coder, &quote->id);
	code_mark(coder, " rev=");
	code_u32(coder, &quote->rev, UINT32_MAX);
	code_mark(coder, " team=");
	code_name(coder, quote->account, sizeof(quote->account));
	code_mark(coder, " hold=");
	code_amount(coder, &quote->hold_per_task, ",");
	code_mark(coder, " n=");
	code_u32(coder, &quote->tasks, UINT32_MAX);
	code_mark(coder, " win=");
	code_i64(coder, &quote->start_utc_s);
	code_mark(coder, "-");
	code_i64(coder, &quote->end_utc_s);
	code_mark(coder, " plan=");
	code_place(coder, quote->partition, &quote->plan_start_utc_s);
	code_mark(coder, " base=");
	code_place(coder, quote->home, &quote->home_start_utc_s);
	code_mark(coder, " exp=");
	code_amount(coder, &quote->plan_expected, ",");
	code_mark(coder, " was=");
	code_amount(coder, &quote->home_expected, ",");
	code_mark(coder, " by=");
	quote->objective = (enum lt_objective)code_word(
	    coder, (int)quote->objective, LT_OBJECTIVE_COUNT, objective_name);
	code_mark(coder, " mode=");
	quote->mode = (enum lt_mode)code_word(coder, (int)quote->mode, LT_MODE_COUNT, mode_name);
	code_mark(coder, " f=");
	code_u32(coder, &quote->flags, UINT32_MAX);
	if (code_if(coder, " lever=", quote->levers[0] != '\0'))
		code_within(coder, quote->levers, sizeof(quote->levers), false, is_levers);
	if (code_if(coder, " run=", quote->run[0] != '\0'))
		code_within(coder, quote->run, sizeof(quote->run), false, is_run);
	if (code_if(coder, " why=", quote->why[0] != '\0'))
		code_within(coder, quote->why, sizeof(quote->why), true, is_why);
	const bool has_asked = code_if(coder, " req=", quote->wish.known && quote->wish.asked != 0);
	if (has_asked)
		code_id(coder, &quote->wish.asked);
	quote->wish.known = code_if(coder, " ask=", quote->wish.known);
	if (quote->wish.known)
		code_wish(coder, &quote->wish);
	else if (has_asked)
		coder->bad = true;
	code_mark(coder, ";");
}

int
lt_quote_pack(char *out, size_t size, const struct lt_quote *quote)
{
	assert(quote->id != 0);
	assert(memchr(quote->run, 0, sizeof(quote->run)) != NULL);
	assert(memchr(quote->why, 0, sizeof(quote->why)) != NULL);

	struct lt_quote copy = *quote;
	struct coder coder = {.writing = true, .out = {.out = out, .size = size}};
	if (size == 0)
		return LT_ELIMIT;
	code_mark(&coder, VERSION);
	code_quote(&coder, &copy);
	return end_writing(&coder);
}

int
lt_quote_unpack(struct lt_quote *quote, const char *text, size_t length, struct lt_error *err)
{
	memset(quote, 0, sizeof(*quote));
	const char *const entry = lt_quote_find(text, length);
	if (entry == NULL)
		return lt_fail(err, LT_ENOENT, "no quote of lowtide");
	struct coder coder = {.at = entry + strlen(VERSION), .end = text + length};
	code_quote(&coder, quote);
	if (!coder.bad)
		return LT_OK;
	memset(quote, 0, sizeof(*quote));
	return lt_fail(err, LT_EINPUT, "quote: damaged before character %d of its text",
	    (int)(coder.at - entry) + 1);
}
