/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lowtided's view of a policy file: errors of adapters have their place in
 * the file, a bad file never replaces a good one, a site's own GPUs count.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "daemon.h"

static const char good[] =
    "mode: observe\n"
    "sources:\n"
    "  grid: {adapter: static, value: 300, unit: g_co2_per_kwh}\n"
    "gpus:\n"
    "  H100-SXM5: {memory: 80GiB, power_w: 650}\n"
    "  Own-1: {memory: 16GiB, power_w: 123}\n";

static const struct {
	const char *why, *text, *error;
} bad[] = {
    {"an unknown option: where it stands",
	"sources:\n"
	"  grid: {adapter: static, unit: per_kwh,\n"
	"         vlaue: 3}\n",
	":3:17: grid: unknown key \"vlaue\""},
    {"one that is missing: where the source stands",
	"sources:\n"
	"  other: {adapter: static, value: 1, unit: per_kwh}\n"
	"  grid: {adapter: file, quantity: carbon}\n",
	":3:3: grid: adapter file needs \"path\""},
    {"a source of another kind than its key wants",
	"sources:\n"
	"  grid: {adapter: static, value: 1, unit: per_kwh}\n"
	"partitions:\n"
	"  a: {carbon: grid}\n",
	":4:15: carbon: grid is a source of electricity price"},
    {"money without a rate",
	"currency: GBP\n"
	"sources:\n"
	"  us: {adapter: file, quantity: price, path: /a, currency: USD}\n",
	":3:3: exchange_rates: has no USD"},
    {"an unknown adapter", "sources:\n  grid: {adapter: statik}\n", ":2:"},
};

struct fixture {
	struct lt_daemon d;
	char path[64];
};

static int
load(struct fixture *f, const char *text, struct lt_error *err)
{
	FILE *const file = fopen(f->path, "w");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
	f->d.args.config = f->path;
	return lt_daemon_load_policy(&f->d, 1000, err);
}

static void
test_policies(void **state)
{
	(void)state;
	struct fixture *const f = calloc(1, sizeof(*f));
	struct lt_error err = {0};
	assert_non_null(f);
	strcpy(f->path, "/tmp/lowtide-policy.XXXXXX");
	close(mkstemp(f->path));
	lt_log_open("/dev/null");
	if (load(f, good, &err) != LT_OK)
		fail_msg("%s", err.text);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		char want[256];
		err = (struct lt_error){0};
		assert_int_not_equal(load(f, bad[i].text, &err), LT_OK);
		snprintf(want, sizeof(want), "%s%s", f->path, bad[i].error);
		if (strncmp(err.text, want, strlen(want)) != 0 ||
		    strcmp(err.text, f->d.policy_error) != 0)
			fail_msg("%s: %s", bad[i].why, err.text);
		assert_int_equal(f->d.source_count, 1);
	}
	/* A source's own pause outlives a reload, another's failure does not.
	 */
	f->d.sources[0].failures = 2;
	f->d.sources[0].next_fetch_utc_s = 5000;
	f->d.sources[0].retry_after_s = 600;
	assert_int_equal(load(f, good, &err), LT_OK);
	assert_int_equal(f->d.sources[0].next_fetch_utc_s, 5000);
	assert_int_equal(f->d.sources[0].failures, 2);
	f->d.sources[0].retry_after_s = 0;
	assert_int_equal(load(f, good, &err), LT_OK);
	assert_int_equal(f->d.sources[0].next_fetch_utc_s, 0);
	assert_int_equal(f->d.sources[0].failures, 0);
	/* The good one's rows are still there. */
	const struct lt_gpu *gpu = lt_policy_gpu(f->d.policy, "own-1");
	assert_non_null(gpu);
	assert_int_equal(gpu->power_w, 123);
	gpu = lt_policy_gpu(f->d.policy, "h100-sxm5");
	assert_non_null(gpu);
	assert_int_equal(gpu->power_w, 650);
	assert_non_null(lt_policy_gpu(f->d.policy, "a100"));
	assert_null(lt_policy_gpu(f->d.policy, "abacus"));
	lt_policy_drop(&f->d);
	unlink(f->path);
	free(f);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_policies)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
