/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A ratio of two groups that chance divided, and its interval: of each ratio
 * that might be true it is known what all would have cost at home, so that the
 * draw can be held again and again. Sizes of jobs have heavy tails: no formula
 * for a variance would do. docs/model.md, eq. (59).
 */
#include "measured.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
	DRAWS = 1999,
	SEARCH_STEPS = 40, /* of a bisection, to the last bit that counts */
};
static const double alpha = 0.025; /* on each side */
static const double most = 50;	   /* a ratio, or 1 over it */

struct side { /* sums */
	double baseline;
	double kept, moved; /* charged, of those that are of either group */
};

struct test {
	uint32_t count, kept_count;
	const struct lt_measured_user **users;
	struct side all, seen; /* seen: those that were kept */
	struct side *draws;
};

/* Steele, Lea and Flood, OOPSLA 2014: SplitMix64. */
static uint64_t
next_random(uint64_t *state)
{
	uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

static void
add(struct side *side, const struct lt_measured_user *user)
{
	side->baseline += user->baseline;
	*(user->is_kept ? &side->kept : &side->moved) += user->charged;
}

/* So many of them by chance into the first places, the smaller side. */
static void
draw(struct side *to, struct test *test, uint64_t *state)
{
	const uint32_t count = test->count;
	const bool is_kept = test->kept_count <= count / 2;
	const uint32_t chosen =
	    is_kept ? test->kept_count : count - test->kept_count;

	*to = (struct side){0};
	for (uint32_t i = 0; i < chosen; i++) {
		const uint32_t at =
		    i + (uint32_t)(next_random(state) % (count - i));
		const struct lt_measured_user *const user = test->users[at];

		test->users[at] = test->users[i];
		test->users[i] = user;
		add(to, user);
	}
	if (!is_kept)
		*to = (struct side){test->all.baseline - to->baseline,
		    test->all.kept - to->kept, test->all.moved - to->moved};
}

/* How much dearer than the others these would have been at home, a unit of
 * baseline, were the ratio so. */
static double
excess(const struct test *test, const struct side *these, double ratio)
{
	const double cost = these->kept + these->moved / ratio;
	const double all = test->all.kept + test->all.moved / ratio;

	return cost / these->baseline -
	       (all - cost) / (test->all.baseline - these->baseline);
}

/* Chance to see as much, on that side, were the ratio so. */
static double
chance(const struct test *test, double ratio, bool is_high)
{
	const double seen = excess(test, &test->seen, ratio);
	const double sign = is_high ? 1 : -1;
	const double noise = 1e-9 * fabs(seen);
	uint32_t as_much = 1; /* what was seen is one draw */

	for (int i = 0; i < DRAWS; i++)
		as_much +=
		    sign * (excess(test, &test->draws[i], ratio) - seen) >=
		    -noise;
	return (double)as_much / (DRAWS + 1);
}

/* Where the chance falls below alpha, from the ratio that was seen on. False:
 * nowhere. */
static bool
end_of(double *end, const struct test *test, double ratio, bool is_high)
{
	double in = log(ratio), out = is_high ? log(most) : -log(most);

	if (fabs(in) >= log(most) || chance(test, exp(out), is_high) > alpha)
		return false;
	for (int i = 0; i < SEARCH_STEPS; i++) {
		const double middle = (in + out) / 2;

		*(chance(test, exp(middle), is_high) > alpha ? &in : &out) =
		    middle;
	}
	*end = exp(out);
	return true;
}

static bool
has_ratio(const struct test *test)
{
	return test->kept_count > 0 && test->kept_count < test->count &&
	       test->all.kept > 0 && test->all.moved > 0;
}

static int
find_interval(
    struct lt_measured *measured, struct test *test, struct lt_error *err)
{
	const uint32_t moved_count = test->count - test->kept_count;
	uint64_t state = 1;

	if (test->kept_count < LT_MEASURED_LEAST ||
	    moved_count < LT_MEASURED_LEAST)
		return LT_OK;
	test->draws = malloc(DRAWS * sizeof(*test->draws));
	if (test->draws == NULL)
		return lt_fail(err, LT_ENOMEM, "measured: out of memory");
	for (int i = 0; i < DRAWS; i++)
		draw(&test->draws[i], test, &state);
	measured->has_interval =
	    end_of(&measured->low, test, measured->ratio, false) &&
	    end_of(&measured->high, test, measured->ratio, true);
	free(test->draws);
	return LT_OK;
}

int
lt_measure(struct lt_measured *measured, const struct lt_measured_user *all,
    uint32_t count, struct lt_error *err)
{
	struct test test = {
	    .users = malloc(((size_t)count + 1) * sizeof(*test.users))};
	int code = LT_OK;

	*measured = (struct lt_measured){0};
	if (test.users == NULL)
		return lt_fail(err, LT_ENOMEM, "measured: out of memory");
	for (uint32_t i = 0; i < count; i++) {
		if (!(all[i].baseline > 0))
			continue;
		test.users[test.count++] = &all[i];
		test.kept_count += all[i].is_kept;
		add(&test.all, &all[i]);
		if (all[i].is_kept)
			add(&test.seen, &all[i]);
	}
	if (has_ratio(&test)) {
		const double kept = test.seen.kept / test.seen.baseline;
		const double moved =
		    test.all.moved / (test.all.baseline - test.seen.baseline);

		measured->has_ratio = true;
		measured->ratio = moved / kept;
		code = find_interval(measured, &test, err);
	}
	free(test.users);
	return code;
}
