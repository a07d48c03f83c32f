/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sizes of the structs that slurmctld holds between calls, or has on its stack in one. A field
 * costs memory for each partition, account or job of a site:
 * whoever adds one changes the number here, and says so.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "budget.h"
#include "decide.h"
#include "edits.h"
#include "market.h"
#include "options.h"
#include "quote.h"
#include "replan.h"
#include "ring.h"
#include "series.h"
#include "terms.h"

#define ROW(name, bytes)                                                                           \
	{                                                                                          \
#name, sizeof(struct name), bytes                                                  \
	}

static const struct {
	const char *name;
	size_t size, want;
} structs[] = {
    ROW(lt_market, 704),
    ROW(lt_partition, 2656),
    ROW(lt_shape, 536),
    ROW(lt_class, 1320),
    ROW(lt_gpu, 152),
    ROW(lt_series, 1184),
    ROW(lt_budget_snapshot, 168),
    ROW(lt_account, 60),
    ROW(lt_budget, 304),
    ROW(lt_period, 112),
    ROW(lt_planned, 24),
    ROW(lt_ring_record, 120),
    ROW(lt_request, 1632),
    ROW(lt_options, 120),
    ROW(lt_plan, 58768),
    ROW(lt_quote, 1656),
    ROW(lt_edits, 2368),
    ROW(lt_terms, 224),
    ROW(lt_bar, 16),
    ROW(lt_wish, 104),
    ROW(lt_limits, 112),
};

static void
test_sizes(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(structs) / sizeof(structs[0]); i++) {
		if (structs[i].size != structs[i].want)
			print_error("struct %s is another size\n", structs[i].name);
		assert_int_equal(structs[i].size, structs[i].want);
	}
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_sizes),
	};

	return cmocka_run_group_tests_name("struct sizes", tests, NULL, NULL);
}
