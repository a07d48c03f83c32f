/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Counts in Gres, TRES and node texts.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "ask_text.h"
#include "limits.h"

static const struct {
	const char *text, *name, *type;
	uint32_t count;
} gres[] = {
    {NULL, "gpu", "", 0},
    {"", "gpu", "", 0},
    {"gpu", "gpu", "", 1},
    {"gres:gpu:4", "gpu", "", 4},
    {"gres/gpu=2", "gpu", "", 2},
    {"gres:gpu:a100:4,license:x", "gpu", "a100", 4},
    {"gpu:a100", "gpu", "a100", 1},
    {"gpu:2,gpu:h100:3", "gpu", "h100", 5},
    {"gpu:1g.5gb:2(S:0-1)", "gpu", "1g.5gb", 2},
    {"gpumem:100", "gpu", "", 0},
    {"gres:shard:16", "gpu", "", 0},
    {"gres:gpu:2,gres:shard:16", "shard", "", 16},
    {"mps:2k", "mps", "", 2048},
    {"gres:gpu:1g.10gb:2", "gpu", "1g.10gb", 2},
    {"gres/gpu:1g.10gb=2,gres/gpu:3g.40gb", "gpu", LT_GPU_TYPES, 3},
    {"gpu:a:2,gpu:b:1,gpu:a:1,gpu:2", "gpu", ",,", 6},
    {"gpu:0", "gpu", "", 0},
    {"gpu:99999999999999999999", "gpu", "", LT_ASK_MAX},
    {"gpu:2147483647;gpu:2147483647", "gpu", "", LT_ASK_MAX},
    {"cpu=4,gres/gpu:1", "cpu", "", 4},
    {":::,,,gpu:,", "gpu", "", 1},
    /* Suffixes of Slurm's suffix_mult(). */
    {"gres:gpu:64kb", "gpu", "", 64000},
    {"gres/gpu:64KiB", "gpu", "", 65536},
    {"mps:1kb", "mps", "", 1000},
    {"gpu:a100:2mb", "gpu", "a100", 2000000},
    {"gpu:2Mib", "gpu", "", 2 << 20},
    {"gpu:1g", "gpu", "", 1 << 30},
    {"gpu:2gb", "gpu", "", 2000000000},
    {"gpu:3gib", "gpu", "", LT_ASK_MAX},
    {"gpu:1t", "gpu", "", LT_ASK_MAX},
    {"gpu:2PB", "gpu", "", LT_ASK_MAX},
    {"gpu:0p", "gpu", "", 0},
    /* 8 by 64 bits that overflow; so many it is not. */
    {"gpu:18014398509481992k", "gpu", "", LT_ASK_MAX},
    {"gpu:2kx", "gpu", "2kx", 1},
    {"gpu:2kbx", "gpu", "2kbx", 1},
    /* Slurm 22.05 reads the number as strtoull() does. */
    {"gres:gpu:+8", "gpu", "", LT_ASK_MAX},
    {"gres:gpu:a100: 8", "gpu", "a100", LT_ASK_MAX},
    {"gres:gpu:\t8", "gpu", "", LT_ASK_MAX},
    {"gres:gpu:-18446744073709551608", "gpu", "", LT_ASK_MAX},
};

static void
test_gres(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(gres) / sizeof(gres[0]); i++) {
		char type[LT_GPU_NAME_SIZE] = "";

		assert_int_equal(lt_gres_count(gres[i].text, gres[i].name, type), gres[i].count);
		assert_string_equal(type, gres[i].type);
		assert_int_equal(lt_gres_count(gres[i].text, gres[i].name, NULL), gres[i].count);
	}
}

static void
test_shards(void **state)
{
	(void)state;
	assert_int_equal(lt_shards_count(NULL), 0);
	assert_int_equal(lt_shards_count("gres:gpu:2,gres:shard:16"), 16);
	assert_int_equal(lt_shards_count("gres/mps:2,gres/shard=3"), 5);
}

static void
test_hosts(void **state)
{
	static const struct {
		const char *text;
		uint32_t count;
	} rows[] = {
	    {NULL, 0},
	    {"", 0},
	    {"v1", 1},
	    {"v1,v2", 2},
	    {"v[1-2]", 2},
	    {"v[1-2,5],s3", 4},
	    {"r[1-2]n[01-10]", 20},
	    {"v[9-", LT_ASK_MAX - 8},
	    {"v[1-99999999999]", LT_ASK_MAX},
	    {"v[5-2]", 1},
	    {",,", 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_int_equal(lt_hosts_count(rows[i].text), rows[i].count);
}

static void
test_features(void **state)
{
	static const struct {
		const char *text;
		uint32_t count;
	} rows[] = {
	    {NULL, 0},
	    {"ib&fast", 0},
	    {"ib*4", 4},
	    {"[a*1&b*2]", 3},
	    {"(a|b)*2&c", 2},
	    {"a*2|b*3", 5},
	    {"a*", 0},
	    {"a*x", 0},
	    {"*", 0},
	    {"a* 2", LT_ASK_MAX},	   /* 22.05 reads 2 */
	    {"a*-4294967294", LT_ASK_MAX}, /* 2, too */
	    {"a*99999999999&b*1", LT_ASK_MAX},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_int_equal(lt_features_count(rows[i].text), rows[i].count);
}

static void
test_expanded(void **state)
{
	(void)state;
	assert_int_equal(lt_expanded_job(NULL), 0);
	assert_int_equal(lt_expanded_job("afterok:12,singleton"), 0);
	assert_int_equal(lt_expanded_job("expand:12"), 12);
	assert_int_equal(lt_expanded_job("after:3?Expand:4"), 4);
	assert_int_equal(lt_expanded_job("expand:12(unfulfilled)"), 12);
	assert_int_equal(lt_expanded_job("expand:12,afterok:13"), 12);
	assert_int_equal(lt_expanded_job("expand:"), LT_ASK_MAX);
	assert_int_equal(lt_expanded_job("expand:12_3"), LT_ASK_MAX);
	assert_int_equal(lt_expanded_job("expand:12:13"), LT_ASK_MAX);
	assert_int_equal(lt_expanded_job("expand:12,expand:13"), LT_ASK_MAX);
	assert_int_equal(lt_expanded_job("expand: 5"), LT_ASK_MAX);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_gres),
	    cmocka_unit_test(test_shards),
	    cmocka_unit_test(test_hosts),
	    cmocka_unit_test(test_features),
	    cmocka_unit_test(test_expanded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
