/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The secret by which users are drawn into the holdout: made once, kept in the
 * ledger, given to job_submit in the budget snapshot.
 */
#include <inttypes.h>
#include <stdio.h>
#include <sys/random.h>

#include "holdout_key.h"

static const char name[] = "holdout_key";

static int
make_key(uint64_t key[2], struct lt_ledger *ledger, struct lt_error *err)
{
	char text[40];

	if (getrandom(key, 2 * sizeof(*key), 0) != (ssize_t)(2 * sizeof(*key)))
		return lt_fail(err, LT_EIO, "no random numbers for a key");
	snprintf(
	    text, sizeof(text), "%016" PRIx64 "%016" PRIx64, key[0], key[1]);
	return lt_ledger_put(ledger, name, text, err);
}

int
lt_holdout_of(struct lt_holdout *holdout, struct lt_ledger *ledger,
    uint32_t share_ppm, struct lt_error *err)
{
	char text[40];

	*holdout = (struct lt_holdout){.share_ppm = share_ppm};
	if (share_ppm == 0)
		return LT_OK;
	const int code = lt_ledger_get(ledger, name, text, sizeof(text), err);

	if (code == LT_OK && sscanf(text, "%16" SCNx64 "%16" SCNx64,
				 &holdout->key[0], &holdout->key[1]) == 2)
		return LT_OK;
	/* Another key would draw others: only where there is none. */
	if (code != LT_OK && code != LT_ENOENT)
		return code;
	if (err != NULL)
		*err = (struct lt_error){0};
	return make_key(holdout->key, ledger, err);
}
