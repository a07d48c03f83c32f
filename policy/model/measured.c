/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A ratio of two groups that chance divided, and its interval: of each ratio that might be true it
 * is known what all would have cost at home, so that the draw can be held again and again. Sizes of
 * jobs have heavy tails: no formula for a variance would do. docs/model.md, eq. (59).
 */
#include "measured.h"
#include "units.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
	DRAWS = 1999,
	SEARCH_STEPS = 40, /* of a bisection, to the last bit that counts */
};
static const double alpha = 0.025; /* on each side */
static const double most = 50;	   /* a ratio, or 1 over it */

/* Sums over users, and of their squares and products: x baselines, k charges of those that are
 * kept, m of those that moved. */
struct side {
	double count, x, k, m;
	double xx, xk, xm, kk, mm;
};

struct test {
	uint32_t count, kept_count;
	const struct lt_measured_user **users;
	struct side all, seen; /* seen: those that were kept */
	struct side *draws;
};

static void
add_user(struct side *side, const struct lt_measured_user *user)
{
	const double x = user->baseline, y = user->charged;

	side->count++;
	side->x += x;
	side->xx += x * x;
	*(user->is_kept ? &side->k : &side->m) += y;
	*(user->is_kept ? &side->xk : &side->xm) += x * y;
	*(user->is_kept ? &side->kk : &side->mm) += y * y;
}

static struct side
rest_of(const struct side *all, const struct side *part)
{
	return (struct side){all->count - part->count, all->x - part->x, all->k - part->k,
	    all->m - part->m, all->xx - part->xx, all->xk - part->xk, all->xm - part->xm,
	    all->kk - part->kk, all->mm - part->mm};
}

/* So many of them by chance into the first places, the smaller side. */
static void
draw_side(struct side *to, struct test *test, uint64_t *state)
{
	const uint32_t count = test->count;
	const bool is_kept = test->kept_count <= count / 2;
	const uint32_t chosen = is_kept ? test->kept_count : count - test->kept_count;

	*to = (struct side){0};
	for (uint32_t i = 0; i < chosen; i++) {
		const uint32_t at = i + (uint32_t)(lt_random(state) % (count - i));
		const struct lt_measured_user *const user = test->users[at];

		test->users[at] = test->users[i];
		test->users[i] = user;
		add_user(to, user);
	}
	if (!is_kept)
		*to = rest_of(&test->all, to);
}

/* Returns the ratio of their cost at home to their baselines, if moving had that effect. */
static double
cost_of(const struct side *side, double ratio)
{
	return (side->k + side->m / ratio) / side->x;
}

/* The standard error of that, as of a ratio of sums (Cochran 1977, ch. 6). */
static double
error_of(const struct side *side, double ratio)
{
	const double cost = cost_of(side, ratio);
	const double squares = side->kk + side->mm / (ratio * ratio) -
			       2 * cost * (side->xk + side->xm / ratio) + cost * cost * side->xx;

	return sqrt(fmax(0, squares * side->count / (side->count - 1))) / side->x;
}

/* Returns how much dearer than the rest these would have been at home, in standard errors of theirs
 * alone: differences from job to job in what moving saved are in the others' costs, and no error of
 * the total. */
static double
excess_of(const struct test *test, const struct side *these, double ratio)
{
	const struct side rest = rest_of(&test->all, these);

	/* All that they paid for was lost: nothing is dearer. */
	if (!(these->x > 0))
		return INFINITY;
	if (!(rest.x > 0))
		return -INFINITY;
	const double one = cost_of(these, ratio), other = cost_of(&rest, ratio);
	const double noise = 1e-9 * (fabs(one) + fabs(other));

	return (one - other) / (error_of(these, ratio) + noise);
}

/* Chance to see as much, on that side, were the ratio so. */
static double
chance_of(const struct test *test, double ratio, bool is_high)
{
	const double seen = excess_of(test, &test->seen, ratio);
	const double sign = is_high ? 1 : -1;
	const double noise = 1e-9 * (1 + fabs(seen));
	uint32_t as_much = 1; /* what was seen is one draw */

	for (int i = 0; i < DRAWS; i++)
		as_much += sign * (excess_of(test, &test->draws[i], ratio) - seen) >= -noise;
	return (double)as_much / (DRAWS + 1);
}

/* Finds the ratio at which the chance falls below alpha, from the ratio that was seen on. False:
 * there is none. */
static bool
end_of(double *end, const struct test *test, double ratio, bool is_high)
{
	double in = log(ratio), out = is_high ? log(most) : -log(most);

	if (fabs(in) >= log(most) || chance_of(test, exp(out), is_high) > alpha)
		return false;
	for (int i = 0; i < SEARCH_STEPS; i++) {
		const double middle = (in + out) / 2;

		*(chance_of(test, exp(middle), is_high) > alpha ? &in : &out) = middle;
	}
	*end = exp(out);
	return true;
}

static bool
has_ratio(const struct test *test)
{
	return test->kept_count > 0 && test->kept_count < test->count && test->all.k > 0 &&
	       test->all.m > 0 && test->seen.x > 0 && test->all.x > test->seen.x;
}

static int
find_interval(struct lt_measured *measured, struct test *test, struct lt_error *err)
{
	const uint32_t moved_count = test->count - test->kept_count;
	uint64_t state = 1;

	if (test->kept_count < LT_MEASURED_LEAST || moved_count < LT_MEASURED_LEAST)
		return LT_OK;
	test->draws = malloc(DRAWS * sizeof(*test->draws));
	if (test->draws == NULL)
		return lt_fail(err, LT_ENOMEM, "measured: out of memory");
	for (int i = 0; i < DRAWS; i++)
		draw_side(&test->draws[i], test, &state);
	measured->has_interval = end_of(&measured->low, test, measured->ratio, false) &&
				 end_of(&measured->high, test, measured->ratio, true);
	free(test->draws);
	return LT_OK;
}

int
lt_measure(struct lt_measured *measured, const struct lt_measured_user *all, uint32_t count,
    struct lt_error *err)
{
	struct test test = {.users = malloc(((size_t)count + 1) * sizeof(*test.users))};
	int code = LT_OK;

	*measured = (struct lt_measured){0};
	if (test.users == NULL)
		return lt_fail(err, LT_ENOMEM, "measured: out of memory");
	for (uint32_t i = 0; i < count; i++) {
		/* One may have paid for work that was all lost. */
		if (!(all[i].baseline >= 0) || (all[i].baseline == 0 && all[i].charged == 0))
			continue;
		test.users[test.count++] = &all[i];
		test.kept_count += all[i].is_kept;
		add_user(&test.all, &all[i]);
		if (all[i].is_kept)
			add_user(&test.seen, &all[i]);
	}
	if (has_ratio(&test)) {
		const double kept = test.seen.k / test.seen.x;
		const double moved = test.all.m / (test.all.x - test.seen.x);

		measured->has_ratio = true;
		measured->ratio = moved / kept;
		code = find_interval(measured, &test, err);
	}
	free(test.users);
	return code;
}
