/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Medians and upper quantiles of run lengths of which some are only known to be longer
 * (docs/model.md, eqs. (43) to (45)): from finished runs to the figures that decisions use. Then a
 * table of groups in memory for callers without a ledger: open addressing, each group with the
 * newest of its runs and the figures that were made of them last.
 *
 * Figures are pure. The table fails only for lack of memory: groups then lack the run that was to
 * be added.
 */
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "lookup.h"
#include "run_lengths.h"
#include "units.h"

/* ---- figures of a group ---- */

/* Rounding of a product of at most LT_RUNS_MOST fractions. */
static const double rounding = 1e-9;

enum lt_run_says
lt_run_says(const char *state_text)
{
	if (strcmp(state_text, "COMPLETED") == 0)
		return LT_RUN_SAYS_LENGTH;
	if (strcmp(state_text, "TIMEOUT") == 0)
		return LT_RUN_SAYS_LEAST;
	return LT_RUN_SAYS_NOTHING;
}

/* Sorts by time. At equal times those that ended come first: the others ran longer. */
static int
by_value(const void *left, const void *right)
{
	const struct lt_length_value *const a = left, *const b = right;

	if (a->value != b->value)
		return a->value < b->value ? -1 : 1;
	return (int)a->at_least - (int)b->at_least;
}

/* Returns the first end at which at most `left` of all still run; count: there is none. */
static uint32_t
end_with_left(const struct lt_length_value *values, uint32_t count, double left, double *going_on)
{
	*going_on = 1;
	for (uint32_t i = 0; i < count; i++) {
		const double at_risk = count - i;

		if (values[i].at_least)
			continue;
		*going_on *= (at_risk - 1) / at_risk;
		if (*going_on <= left + rounding)
			return i;
	}
	return count;
}

bool
lt_length_quantile(double *quantile, struct lt_length_value *values, uint32_t count, double part)
{
	assert(part > 0 && part <= 1);

	double going_on;

	if (count == 0)
		return false;
	qsort(values, count, sizeof(*values), by_value);
	const uint32_t at = end_with_left(values, count, 1 - part, &going_on);
	if (at == count)
		return false;
	*quantile = values[at].value;
	if (part == 1 || fabs(going_on - (1 - part)) > rounding)
		return true;
	for (uint32_t i = at + 1; i < count; i++)
		if (!values[i].at_least) {
			*quantile = (values[at].value + values[i].value) / 2;
			break;
		}
	return true;
}

static uint32_t
figure_of(double value)
{
	return value < UINT32_MAX - 1 ? (uint32_t)llround(value) : UINT32_MAX - 1;
}

/* Lengths, or parts of the limits in millionths. */
static uint32_t
values_of(
    struct lt_length_value *values, const struct lt_run_length *runs, uint32_t count, bool parts)
{
	uint32_t used = 0;

	for (uint32_t i = 0; i < count; i++) {
		const double length_s = runs[i].length_s > 0 ? (double)runs[i].length_s : 1;

		if (parts && runs[i].limit_s <= 0)
			continue;
		values[used++] = (struct lt_length_value){
		    parts ? length_s * LT_MICROS / (double)runs[i].limit_s : length_s,
		    runs[i].at_least};
	}
	return used;
}

static uint32_t
part_of(struct lt_length_value *values, uint32_t count, double part)
{
	double value;

	return lt_length_quantile(&value, values, count, part) ? figure_of(value)
							       : LT_HISTORY_NEVER;
}

struct lt_history_figures
lt_run_figures(const struct lt_run_length *runs, uint32_t count, enum lt_history_group group,
    uint32_t confidence_ppm, uint32_t *ratio_ppm)
{
	assert(count <= LT_RUNS_MOST && confidence_ppm > 0 && confidence_ppm < LT_MICROS);

	struct lt_length_value values[LT_RUNS_MOST];
	const bool parts = group != LT_HISTORY_NAME;
	struct lt_history_figures figures = {0};
	double going_on;

	if (ratio_ppm != NULL)
		*ratio_ppm = part_of(values, values_of(values, runs, count, true), 0.5);
	const uint32_t n = values_of(values, runs, count, parts);
	figures.runs = n;
	if (n == 0)
		return figures;
	figures.median = part_of(values, n, 1.0 / 2); /* sorts */
	figures.low = part_of(values, n, 1.0 / 6);
	figures.high = part_of(values, n, 5.0 / 6);
	/* The run to come is as likely to be at any place among them (45). */
	const double part = (double)confidence_ppm / LT_MICROS * (n + 1) / n;
	figures.upper_is_longest = part > 1 + rounding || n < LT_HISTORY_RUNS_SURE;
	if (figures.upper_is_longest) {
		figures.upper = figure_of(values[n - 1].value);
		return figures;
	}
	const uint32_t at = end_with_left(values, n, 1 - part, &going_on);
	figures.upper = at < n ? figure_of(values[at].value) : LT_HISTORY_NEVER;
	return figures;
}

/* ---- a table in memory ---- */

enum { FIRST_PLACES = 256, FIRST_RUNS = 8, FRESH_PART = 16 };

struct kept {
	struct lt_run_length run;
	uint64_t name; /* hash of its narrow group */
};

struct group {
	struct lt_history_key key; /* hash 0: the place is free */
	enum lt_history_group kind;
	uint32_t count, capacity, unseen; /* since figures were made */
	struct kept *runs;		  /* oldest first */
	struct lt_history_figures figures;
};

struct lt_lengths {
	uint32_t confidence_ppm, used, places; /* a power of two */
	struct group *groups;
};

struct lt_lengths *
lt_lengths_new(uint32_t confidence_ppm)
{
	struct lt_lengths *const made = calloc(1, sizeof(*made));

	if (made == NULL)
		return NULL;
	made->confidence_ppm = confidence_ppm;
	made->places = FIRST_PLACES;
	made->groups = calloc(made->places, sizeof(*made->groups));
	if (made->groups != NULL)
		return made;
	free(made);
	return NULL;
}

void
lt_lengths_free(struct lt_lengths *lengths)
{
	if (lengths == NULL)
		return;
	for (uint32_t i = 0; i < lengths->places; i++)
		free(lengths->groups[i].runs);
	free(lengths->groups);
	free(lengths);
}

/* Returns its place, or the free one where it would be. */
static struct group *
place_of(const struct lt_lengths *lengths, struct lt_history_key key)
{
	const uint32_t mask = lengths->places - 1;
	uint32_t at = (uint32_t)(key.hash >> 32) & mask;

	while (lengths->groups[at].key.hash != 0 &&
	       (lengths->groups[at].key.hash != key.hash || lengths->groups[at].key.uid != key.uid))
		at = (at + 1) & mask;
	return &lengths->groups[at];
}

static bool
grow_table(struct lt_lengths *lengths)
{
	struct lt_lengths wider = *lengths;

	wider.places *= 2;
	wider.groups = calloc(wider.places, sizeof(*wider.groups));
	if (wider.groups == NULL)
		return false;
	for (uint32_t i = 0; i < lengths->places; i++)
		if (lengths->groups[i].key.hash != 0)
			*place_of(&wider, lengths->groups[i].key) = lengths->groups[i];
	free(lengths->groups);
	*lengths = wider;
	return true;
}

/* Room for one more, by one of the same name if there are many of it, else by the oldest. */
static bool
make_room(struct group *group, uint64_t name)
{
	static const uint32_t kept[LT_HISTORY_GROUPS] = {[LT_HISTORY_NAME] = LT_RUNS_OF_NAME,
	    [LT_HISTORY_USER] = LT_RUNS_OF_USER,
	    [LT_HISTORY_ACCOUNT] = LT_RUNS_OF_ACCOUNT};
	const uint32_t most = LT_ROW(kept, group->kind);
	uint32_t same = 0, oldest = 0, capacity = group->capacity;

	for (uint32_t i = group->count; i-- > 0;)
		if (group->runs[i].name == name) {
			same++;
			oldest = i;
		}
	if (same < LT_RUNS_OF_NAME && group->count < most) {
		if (group->count < capacity)
			return true;
		capacity = capacity > 0 ? 2 * capacity : FIRST_RUNS;
		struct kept *const grown =
		    reallocarray(group->runs, capacity, sizeof(*group->runs));
		if (grown == NULL)
			return false;
		group->runs = grown;
		group->capacity = capacity;
		return true;
	}
	if (same < LT_RUNS_OF_NAME)
		oldest = 0;
	group->count--;
	memmove(&group->runs[oldest], &group->runs[oldest + 1],
	    (group->count - oldest) * sizeof(*group->runs));
	return true;
}

int
lt_lengths_add(
    struct lt_lengths *lengths, const struct lt_run_kind *kind, const struct lt_run_length *run)
{
	const uint64_t name = lt_history_key(kind, LT_HISTORY_NAME).hash;

	if (run->length_s < LT_HISTORY_LENGTH_LEAST_S)
		return LT_OK;
	if ((lengths->used + LT_HISTORY_GROUPS) * 2 > lengths->places && !grow_table(lengths))
		return LT_ENOMEM;
	for (int i = 0; i < LT_HISTORY_GROUPS; i++) {
		const struct lt_history_key key = lt_history_key(kind, (enum lt_history_group)i);
		struct group *const group = place_of(lengths, key);

		if (group->key.hash == 0) {
			group->key = key;
			group->kind = (enum lt_history_group)i;
			lengths->used++;
		}
		if (!make_room(group, name))
			return LT_ENOMEM;
		group->runs[group->count++] = (struct kept){*run, name};
		group->unseen++;
	}
	return LT_OK;
}

/* True if the group has a later run of the same name. */
static bool
has_newer(const struct group *group, uint32_t at)
{
	for (uint32_t i = at + 1; i < group->count; i++)
		if (group->runs[i].name == group->runs[at].name)
			return true;
	return false;
}

static void
make_figures(const struct lt_lengths *lengths, struct group *group)
{
	struct lt_run_length runs[LT_RUNS_MOST];
	uint32_t count = 0;

	for (uint32_t i = 0; i < group->count; i++)
		if (group->kind == LT_HISTORY_NAME || !has_newer(group, i))
			runs[count++] = group->runs[i].run;
	group->figures = lt_run_figures(runs, count, group->kind, lengths->confidence_ppm, NULL);
	group->unseen = 0;
}

struct lt_expected
lt_lengths_ask(struct lt_lengths *lengths, const struct lt_run_kind *kind, int64_t limit_s)
{
	struct lt_history_figures figures[LT_HISTORY_GROUPS] = {0};
	struct lt_history_key keys[LT_HISTORY_GROUPS];

	lt_history_keys(keys, kind);
	for (int i = 0; i < LT_HISTORY_GROUPS; i++) {
		struct group *const group = place_of(lengths, keys[i]);

		if (keys[i].hash == 0 || group->key.hash == 0)
			continue;
		if (group->unseen > 0 && group->unseen * FRESH_PART >= group->count)
			make_figures(lengths, group);
		figures[i] = group->figures;
		/* The narrow group has all: the wider ones would not be
		 * asked. */
		if (figures[i].runs >= LT_HISTORY_RUNS_LEAST && !figures[i].upper_is_longest)
			break;
	}
	return lt_history_expect(figures, limit_s);
}
