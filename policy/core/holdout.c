/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Draws users into the holdout; docs/model.md, eq. (58). lt_decide() keeps their jobs at home.
 * Reads the site's secret, a uid and the time; returns a number. Pure.
 */
#include "holdout.h"

#include <stdio.h>

#include "units.h"

enum { PERIOD_S = LT_DAY_S };

static uint64_t
rotate(uint64_t word, int bits)
{
	return word << bits | word >> (64 - bits);
}

static void
mix(uint64_t v[4], int rounds)
{
	while (rounds-- > 0) {
		v[0] += v[1];
		v[1] = rotate(v[1], 13) ^ v[0];
		v[0] = rotate(v[0], 32);
		v[2] += v[3];
		v[3] = rotate(v[3], 16) ^ v[2];
		v[0] += v[3];
		v[3] = rotate(v[3], 21) ^ v[0];
		v[2] += v[1];
		v[1] = rotate(v[1], 17) ^ v[2];
		v[2] = rotate(v[2], 32);
	}
}

/* Aumasson and Bernstein, INDOCRYPT 2012: short inputs, a secret key. */
uint64_t
lt_siphash(const uint64_t key[2], uint64_t first, uint64_t second)
{
	static const uint64_t length = UINT64_C(16) << 56;
	const uint64_t words[] = {first, second, length};
	uint64_t v[4] = {key[0] ^ UINT64_C(0x736f6d6570736575),
	    key[1] ^ UINT64_C(0x646f72616e646f6d), key[0] ^ UINT64_C(0x6c7967656e657261),
	    key[1] ^ UINT64_C(0x7465646279746573)};

	for (int i = 0; i < 3; i++) {
		v[3] ^= words[i];
		mix(v, 2);
		v[0] ^= words[i];
	}
	v[2] ^= 0xff;
	mix(v, 4);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}

uint64_t
lt_holdout_draw(const struct lt_holdout *holdout, uint32_t uid, int64_t now_utc_s)
{
	/* No period has this number. */
	const uint64_t offset_s = lt_siphash(holdout->key, uid, UINT64_MAX) % PERIOD_S;
	const uint64_t period = ((uint64_t)now_utc_s + offset_s) / PERIOD_S;

	return lt_siphash(holdout->key, uid, period);
}

void
lt_holdout_lay(struct lt_request *request, const struct lt_holdout *holdout, int64_t now_utc_s)
{
	request->holdout_ppm = holdout->share_ppm;
	request->is_held_out =
	    lt_holdout_draw(holdout, request->uid, now_utc_s) % LT_MICROS < holdout->share_ppm;
}

const char *
lt_holdout_text(char *out, size_t size, uint32_t share_ppm)
{
	snprintf(out, size, "as one of %.4g %% (holdout)", (double)share_ppm / (LT_MICROS / 100));
	return out;
}
