/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Groups of run lengths in memory: open addressing, each group with the newest
 * of its runs and the figures that were made of them last.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "lookup.h"
#include "run_lengths.h"

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

/* Its place, or the free one where it would be. */
static struct group *
place_of(const struct lt_lengths *lengths, struct lt_history_key key)
{
	const uint32_t mask = lengths->places - 1;
	uint32_t at = (uint32_t)(key.hash >> 32) & mask;

	while (lengths->groups[at].key.hash != 0 &&
	       (lengths->groups[at].key.hash != key.hash ||
		   lengths->groups[at].key.uid != key.uid))
		at = (at + 1) & mask;
	return &lengths->groups[at];
}

static bool
grow(struct lt_lengths *lengths)
{
	struct lt_lengths wider = *lengths;

	wider.places *= 2;
	wider.groups = calloc(wider.places, sizeof(*wider.groups));
	if (wider.groups == NULL)
		return false;
	for (uint32_t i = 0; i < lengths->places; i++)
		if (lengths->groups[i].key.hash != 0)
			*place_of(&wider, lengths->groups[i].key) =
			    lengths->groups[i];
	free(lengths->groups);
	*lengths = wider;
	return true;
}

/* Room for one more, by one of the same name if there are many of it, else by
 * the oldest. */
static bool
make_room(struct group *group, uint64_t name)
{
	static const uint32_t kept[LT_HISTORY_GROUPS] = {
	    [LT_HISTORY_NAME] = LT_RUNS_OF_NAME,
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
lt_lengths_add(struct lt_lengths *lengths, const struct lt_run_kind *kind,
    const struct lt_run_length *run)
{
	const uint64_t name = lt_history_key(kind, LT_HISTORY_NAME).hash;

	if (run->length_s < LT_HISTORY_LENGTH_LEAST_S)
		return LT_OK;
	if ((lengths->used + LT_HISTORY_GROUPS) * 2 > lengths->places &&
	    !grow(lengths))
		return LT_ENOMEM;
	for (int i = 0; i < LT_HISTORY_GROUPS; i++) {
		const struct lt_history_key key =
		    lt_history_key(kind, (enum lt_history_group)i);
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

/* Has the group a later run of the same name? */
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
	group->figures = lt_run_figures(
	    runs, count, group->kind, lengths->confidence_ppm, NULL);
	group->unseen = 0;
}

struct lt_expected
lt_lengths_ask(
    struct lt_lengths *lengths, const struct lt_run_kind *kind, int64_t limit_s)
{
	struct lt_history_figures figures[LT_HISTORY_GROUPS] = {0};
	struct lt_history_key keys[LT_HISTORY_GROUPS];

	lt_history_keys(keys, kind);
	for (int i = 0; i < LT_HISTORY_GROUPS; i++) {
		struct group *const group = place_of(lengths, keys[i]);

		if (keys[i].hash == 0 || group->key.hash == 0)
			continue;
		if (group->unseen > 0 &&
		    group->unseen * FRESH_PART >= group->count)
			make_figures(lengths, group);
		figures[i] = group->figures;
		/* It has all: the wider ones would not be asked. */
		if (figures[i].runs >= LT_HISTORY_RUNS_LEAST &&
		    !figures[i].upper_is_longest)
			break;
	}
	return lt_history_expect(figures, limit_s);
}
