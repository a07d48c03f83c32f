/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fuzzes the market snapshot: any bytes are refused with a reason, or give a market that packs
 * again to one fixed form and can be used.
 */
#include <stdint.h>

#include "files.h"
#include "mend.h"
#include "quote.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t byte_count);

/* Whatever passed the reader must be safe to price with. */
static void
use(const struct lt_market *market)
{
	for (uint32_t i = 0; i < market->partition_count; i++) {
		const int partition = (int)i;
		struct lt_request request = {.min_nodes = 1,
		    .max_nodes = 2,
		    .cpus = 4,
		    .gpus = 1,
		    .array_tasks = 3,
		    .limit_s = 3600,
		    .expected_run_s = LT_UNSET_64,
		    .home = partition,
		    .deadline_utc_s = LT_UNSET_64,
		    .max_cost_micros = LT_UNSET_64};
		struct lt_quote quote;
		struct lt_error err = {0};

		if (lt_quote_hold(&quote, &request, market, &partition, 1, 1763683200, &err) !=
			LT_OK &&
		    err.text[0] == '\0')
			__builtin_trap();
		(void)lt_market_signal_age_s(market, partition, 1763683200);
		if (strlen(market->partitions[i].allow_accounts) > LT_FILE_BYTES_MAX)
			__builtin_trap();
	}
}

static void
try_one(const uint8_t *bytes, size_t byte_count)
{
	struct lt_market market, again;
	struct lt_error err = {0};
	unsigned char *first = NULL, *second = NULL;
	size_t first_count = 0, second_count = 0;

	if (lt_market_unpack(&market, bytes, byte_count, &err) != LT_OK) {
		if (err.text[0] == '\0' || market.arena != NULL)
			__builtin_trap();
		return;
	}
	use(&market);
	if (lt_market_pack(&market, &first, &first_count, &err) != LT_OK ||
	    lt_market_unpack(&again, first, first_count, &err) != LT_OK ||
	    lt_market_pack(&again, &second, &second_count, &err) != LT_OK ||
	    first_count != second_count || memcmp(first, second, first_count) != 0)
		__builtin_trap();
	lt_market_free(&market);
	lt_market_free(&again);
	free(first);
	free(second);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t byte_count)
{
	unsigned char *const mended = mend_container(bytes, byte_count);

	try_one(bytes, byte_count);
	if (mended != NULL)
		try_one(mended, byte_count);
	free(mended);
	return 0;
}
