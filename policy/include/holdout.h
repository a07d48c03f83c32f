/*
 * The holdout: a small random share of the jobs that lowtide would move stays where it is, so that
 * what moving saves can be measured.
 */
#ifndef LT_HOLDOUT_H
#define LT_HOLDOUT_H

#include "decide.h"

/*
 * The draw is for a user and a period of 24 hours, and nothing else: all their jobs of that period
 * stay or none does, so that submitting one again, named, sized or charged otherwise, changes
 * nothing. The start of the period is secret, and each user's own.
 */
struct lt_holdout {
	uint32_t share_ppm; /* 0 = none */
	uint64_t key[2];    /* secret, random */
};

/* The user's draw at that time: a number that looks random to who does not have the key, and is the
 * same throughout the period. */
uint64_t lt_holdout_draw(const struct lt_holdout *holdout, uint32_t uid, int64_t now_utc_s);

/* Writes into the request, before lt_decide(): the share, and whether its user is drawn now. */
void lt_holdout_lay(
    struct lt_request *request, const struct lt_holdout *holdout, int64_t now_utc_s);

/* "as one of 2 % (holdout)". Returns out. */
const char *lt_holdout_text(char *out, size_t size, uint32_t share_ppm);

/* SipHash-2-4 of two words; exported for its test. */
uint64_t lt_siphash(const uint64_t key[2], uint64_t first, uint64_t second);

#endif
