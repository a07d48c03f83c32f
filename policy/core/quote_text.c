/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The quote from its text in admin_comment, beside what other tools keep there;
 * quote_pack.c writes it. Members in the same order both ways;
 * docs/formats.md, "quote".
 */
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "quote.h"
#include "quote_internal.h"
#include "units.h"

enum { SIGNALS = 65 };

struct scanner {
	const char *at, *end;
	bool bad;
};

static void
expect(struct scanner *scanner, const char *text)
{
	const size_t length = strlen(text);

	if (scanner->bad || (size_t)(scanner->end - scanner->at) < length ||
	    memcmp(scanner->at, text, length) != 0)
		scanner->bad = true;
	else
		scanner->at += length;
}

static bool
begins(const struct scanner *scanner, const char *text)
{
	const size_t length = strlen(text);

	return !scanner->bad &&
	       (size_t)(scanner->end - scanner->at) >= length &&
	       memcmp(scanner->at, text, length) == 0;
}

static bool
next_is(const struct scanner *scanner, char c)
{
	return !scanner->bad && scanner->at < scanner->end && *scanner->at == c;
}

/* Decimal, as printf writes it: no sign but "-", no leading zeros. */
static int64_t
get_i64(struct scanner *scanner)
{
	const bool negative = next_is(scanner, '-');

	if (negative)
		scanner->at++;
	const char *const first = scanner->at;
	int64_t value = 0;
	while (!scanner->bad && scanner->at < scanner->end &&
	       *scanner->at >= '0' && *scanner->at <= '9') {
		const int digit = *scanner->at++ - '0';

		scanner->bad = __builtin_mul_overflow(value, 10, &value) ||
			       __builtin_add_overflow(
				   value, negative ? -digit : digit, &value);
	}
	if (scanner->at == first ||
	    (*first == '0' && (scanner->at - first > 1 || negative)))
		scanner->bad = true;
	return scanner->bad ? 0 : value;
}

static uint32_t
get_u32(struct scanner *scanner)
{
	const int64_t value = get_i64(scanner);

	if (value < 0 || value > UINT32_MAX)
		scanner->bad = true;
	return scanner->bad ? 0 : (uint32_t)value;
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
get_hash(struct scanner *scanner)
{
	uint64_t value = 0;

	for (int i = 0; i < 16; i++) {
		const int digit = scanner->bad || scanner->at == scanner->end
				      ? -1
				      : hex_digit(*scanner->at++, 'a');

		if (digit < 0) {
			scanner->bad = true;
			return 0;
		}
		value = value << 4 | (uint64_t)digit;
	}
	return value;
}

static uint64_t
get_id(struct scanner *scanner)
{
	const uint64_t value = get_hash(scanner);

	scanner->bad |= value == 0;
	return value;
}

static void
get_name(struct scanner *scanner, char *name, size_t size)
{
	size_t length = 0;

	while (!scanner->bad && scanner->at < scanner->end) {
		int c = *scanner->at;

		if (c == '%' && scanner->end - scanner->at >= 3) {
			const int high = hex_digit(scanner->at[1], 'A');
			const int low = hex_digit(scanner->at[2], 'A');

			c = high < 0 || low < 0 ? 0 : high << 4 | low;
			/* Only what needs it is encoded: one text a name. */
			if (c == 0 || lt_quote_is_plain((char)c))
				scanner->bad = true;
			scanner->at += 3;
		} else if (lt_quote_is_plain((char)c)) {
			scanner->at++;
		} else {
			break;
		}
		if (length + 1 == size)
			scanner->bad = true;
		else
			name[length++] = (char)c;
	}
	name[length] = '\0';
}

/* A number, or "-" without digits: not known. */
static bool
get_optional(struct scanner *scanner, int64_t *value)
{
	const bool minus = next_is(scanner, '-');
	const bool digit = scanner->end - scanner->at > 1 &&
			   scanner->at[1] >= '0' && scanner->at[1] <= '9';

	if (minus && !digit) {
		scanner->at++;
		return false;
	}
	*value = get_i64(scanner);
	return true;
}

static struct lt_amount
get_amount(struct scanner *scanner, const char *between)
{
	struct lt_amount amount = {0};

	amount.has_money = get_optional(scanner, &amount.money_micros);
	expect(scanner, between);
	amount.has_carbon = get_optional(scanner, &amount.carbon_mg);
	return amount;
}

static void
get_place(
    struct scanner *scanner, char name[LT_NAME_SIZE], int64_t *start_utc_s)
{
	get_name(scanner, name, LT_NAME_SIZE);
	expect(scanner, "@");
	*start_utc_s = get_i64(scanner);
}

/* A whole word, one of `count` names. */
static int
get_word(struct scanner *scanner, int count, const char *(*name_of)(int))
{
	size_t length = 0;

	while (!scanner->bad && scanner->at + length < scanner->end &&
	       lt_quote_is_plain(scanner->at[length]))
		length++;
	for (int i = 0; i < count && !scanner->bad; i++) {
		const char *const name = name_of(i);

		if (strlen(name) == length &&
		    memcmp(scanner->at, name, length) == 0) {
			scanner->at += length;
			return i;
		}
	}
	scanner->bad = true;
	return 0;
}

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

static const char *
reject_word(int i)
{
	return lt_reject_word((enum lt_reject)i);
}

static void
get_why(struct scanner *scanner, struct lt_why *why)
{
	get_name(scanner, why->partition, sizeof(why->partition));
	if (why->partition[0] == '\0')
		scanner->bad = true;
	expect(scanner, ":");
	why->reject =
	    (enum lt_reject)get_word(scanner, LT_REJECT_COUNT, reject_word);
	if (why->reject <= LT_REJECT_DEARER) {
		expect(scanner, ":");
		why->best = get_amount(scanner, "/");
	} else if (next_is(scanner, ':')) {
		expect(scanner, ":");
		why->wanted = get_i64(scanner);
		expect(scanner, "/");
		why->found = get_i64(scanner);
		if (why->wanted == 0 && why->found == 0)
			scanner->bad = true;
	}
}

int
lt_why_unpack(
    struct lt_whys *whys, const char *text, size_t length, struct lt_error *err)
{
	struct scanner scanner = {.at = text, .end = text + length};

	memset(whys, 0, sizeof(*whys));
	while (!scanner.bad && scanner.at < scanner.end && whys->more == 0) {
		if (scanner.at > text)
			expect(&scanner, ",");
		if (next_is(&scanner, '+')) {
			expect(&scanner, "+");
			whys->more = get_u32(&scanner);
			scanner.bad |= whys->more == 0;
		} else if (whys->count < LT_WHY_MAX) {
			get_why(&scanner, &whys->entries[whys->count++]);
		} else {
			scanner.bad = true;
		}
	}
	if (!scanner.bad && scanner.at == scanner.end)
		return LT_OK;
	memset(whys, 0, sizeof(*whys));
	return lt_fail(err, LT_EINPUT,
	    "candidates: damaged before character %d",
	    (int)(scanner.at - text) + 1);
}

static bool
is_levers(const char *text, size_t length)
{
	struct lt_levers levers;

	return lt_levers_unpack(&levers, text, length, NULL) == LT_OK;
}

static bool
is_run(const char *text, size_t length)
{
	struct lt_quote_run run;

	return lt_quote_run_unpack(&run, text, length, NULL) == LT_OK;
}

/* Numbers and words with commas. As of the candidates, the text is kept. */
static void
get_fields(struct scanner *scanner, char *out, size_t size,
    bool (*is_good)(const char *text, size_t length))
{
	size_t length = 0;

	while (!scanner->bad && scanner->at + length < scanner->end &&
	       (lt_quote_is_plain(scanner->at[length]) ||
		   scanner->at[length] == ','))
		length++;
	if (scanner->bad || length >= size || !is_good(scanner->at, length)) {
		scanner->bad = true;
		return;
	}
	memcpy(out, scanner->at, length);
	scanner->at += length;
}

/* The text itself is kept, once it is known to be one. */
static void
get_why_text(struct scanner *scanner, char why[LT_WHY_TEXT_SIZE])
{
	struct lt_whys whys;
	const size_t left = (size_t)(scanner->end - scanner->at);
	size_t length = 0;

	while (!scanner->bad && length < left && scanner->at[length] != ';' &&
	       scanner->at[length] != ' ')
		length++;

	if (length == 0 || length >= LT_WHY_TEXT_SIZE ||
	    lt_why_unpack(&whys, scanner->at, length, NULL) != LT_OK) {
		scanner->bad = true;
		return;
	}
	memcpy(why, scanner->at, length);
	scanner->at += length;
}

/* A number that is not negative, or "-" for none. */
static int64_t
get_set(struct scanner *scanner)
{
	int64_t value = 0;

	if (!get_optional(scanner, &value))
		return LT_UNSET_64;
	if (value < 0)
		scanner->bad = true;
	return value;
}

static uint32_t
get_below(struct scanner *scanner, uint32_t end)
{
	const uint32_t value = get_u32(scanner);

	if (value >= end)
		scanner->bad = true;
	return scanner->bad ? 0 : value;
}

static void
get_wish(struct scanner *scanner, struct lt_wish *wish)
{
	wish->known = true;
	wish->movable = get_below(scanner, 2) != 0;
	expect(scanner, ",");
	wish->pins = get_u32(scanner);
	expect(scanner, ",");
	wish->deadline_utc_s = get_set(scanner);
	expect(scanner, ",");
	wish->expected_run_s = get_set(scanner);
	expect(scanner, ",");
	wish->max_cost_micros = get_set(scanner);
	expect(scanner, ",");
	wish->gpu_memory_mib = get_u32(scanner);
	expect(scanner, ",");
	wish->precision =
	    (enum lt_precision)get_below(scanner, LT_PRECISION_COUNT);
	expect(scanner, ",");
	wish->checkpoint = get_below(scanner, 2) != 0;
	expect(scanner, ",");
	wish->write_s = get_u32(scanner);
	expect(scanner, ",");
	wish->every_s = get_u32(scanner);
	if (!next_is(scanner, ','))
		return;
	expect(scanner, ",");
	wish->size_mib = get_u32(scanner);
	expect(scanner, ",");
	wish->keep = get_u32(scanner);
	if (next_is(scanner, ',')) {
		expect(scanner, ",");
		wish->signal = get_below(scanner, SIGNALS);
		const bool is_bounded = next_is(scanner, ',');
		if (is_bounded) {
			expect(scanner, ",");
			wish->max_interruptions = get_u32(scanner);
		}
		const bool has_script = is_bounded && next_is(scanner, ',');
		if (has_script) {
			expect(scanner, ",");
			wish->script_hash = get_hash(scanner);
		}
		const bool has_price = has_script && next_is(scanner, ',');
		if (has_price) {
			expect(scanner, ",");
			wish->max_price_micros = get_i64(scanner);
		}
		scanner->bad |= has_price    ? wish->max_price_micros <= 0
				: has_script ? wish->script_hash == 0
				: is_bounded ? wish->max_interruptions == 0
					     : wish->signal == 0;
	} else if (wish->size_mib == 0) {
		scanner->bad = true;
	}
	if (wish->size_mib > 0 && wish->keep == 0)
		scanner->bad = true;
}

static void
get_quote(struct scanner *scanner, struct lt_quote *quote)
{
	expect(scanner, "q=");
	quote->id = get_id(scanner);
	expect(scanner, " rev=");
	quote->rev = get_u32(scanner);
	expect(scanner, " team=");
	get_name(scanner, quote->account, sizeof(quote->account));
	expect(scanner, " hold=");
	quote->hold_per_task = get_amount(scanner, ",");
	expect(scanner, " n=");
	quote->tasks = get_u32(scanner);
	expect(scanner, " win=");
	quote->start_utc_s = get_i64(scanner);
	expect(scanner, "-");
	quote->end_utc_s = get_i64(scanner);
	expect(scanner, " plan=");
	get_place(scanner, quote->partition, &quote->plan_start_utc_s);
	expect(scanner, " base=");
	get_place(scanner, quote->home, &quote->home_start_utc_s);
	expect(scanner, " exp=");
	quote->plan_expected = get_amount(scanner, ",");
	expect(scanner, " was=");
	quote->home_expected = get_amount(scanner, ",");
	expect(scanner, " by=");
	quote->objective = (enum lt_objective)get_word(
	    scanner, LT_OBJECTIVE_COUNT, objective_name);
	expect(scanner, " mode=");
	quote->mode = (enum lt_mode)get_word(scanner, LT_MODE_COUNT, mode_name);
	expect(scanner, " f=");
	quote->flags = get_u32(scanner);
	if (begins(scanner, " lever=")) {
		expect(scanner, " lever=");
		get_fields(
		    scanner, quote->levers, sizeof(quote->levers), is_levers);
	}
	if (begins(scanner, " run=")) {
		expect(scanner, " run=");
		get_fields(scanner, quote->run, sizeof(quote->run), is_run);
	}
	if (begins(scanner, " why=")) {
		expect(scanner, " why=");
		get_why_text(scanner, quote->why);
	}
	if (begins(scanner, " req=")) {
		expect(scanner, " req=");
		quote->wish.asked = get_id(scanner);
		scanner->bad |= !next_is(scanner, ' ');
	}
	if (next_is(scanner, ' ')) {
		expect(scanner, " ask=");
		get_wish(scanner, &quote->wish);
	}
	expect(scanner, ";");
}

int
lt_quote_unpack(struct lt_quote *quote, const char *text, size_t length,
    struct lt_error *err)
{
	memset(quote, 0, sizeof(*quote));
	const char *const entry = lt_quote_find(text, length);
	if (entry == NULL)
		return lt_fail(err, LT_ENOENT, "no quote of lowtide");
	struct scanner scanner = {
	    .at = entry + strlen(LT_QUOTE_VERSION), .end = text + length};
	get_quote(&scanner, quote);
	if (!scanner.bad)
		return LT_OK;
	memset(quote, 0, sizeof(*quote));
	return lt_fail(err, LT_EINPUT,
	    "quote: damaged before character %d of its text",
	    (int)(scanner.at - entry) + 1);
}
