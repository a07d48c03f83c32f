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
#include "log.h"
#include "policy_follow.h"
#include "policy_load.h"

static const char good[] = "mode: observe\n"
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
	char path[64], dir[64];
};

static struct fixture *
set_up(void)
{
	struct fixture *const f = calloc(1, sizeof(*f));
	struct lt_error err = {0};

	assert_non_null(f);
	strcpy(f->path, "/tmp/lowtide-policy.XXXXXX");
	close(mkstemp(f->path));
	strcpy(f->dir, "/tmp/lowtide-ledger.XXXXXX");
	assert_non_null(mkdtemp(f->dir));
	assert_int_equal(lt_ledger_open(&f->d.ledger, f->dir, &err), LT_OK);
	lt_log_open("/dev/null");
	return f;
}

static void
tear_down(struct fixture *f)
{
	char command[96];

	lt_policy_drop(&f->d.site, &f->d.signals);
	lt_ledger_close(f->d.ledger);
	unlink(f->path);
	snprintf(command, sizeof(command), "rm -rf %s", f->dir);
	free(f);
	assert_int_equal(system(command), 0);
}

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
	struct fixture *const f = set_up();
	struct lt_error err = {0};
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
		assert_int_equal(f->d.signals.source_count, 1);
	}
	/* A source's own pause and its counts outlive a reload, another's failure does not. */
	f->d.signals.sources[0].tries = 9;
	f->d.signals.sources[0].failed_tries = 4;
	f->d.signals.sources[0].failures = 2;
	f->d.signals.sources[0].next_fetch_utc_s = 5000;
	f->d.signals.sources[0].retry_after_s = 600;
	f->d.signals.sources[0].memory->past_pause_utc_s = 4600;
	f->d.signals.sources[0].memory->ahead_pause_utc_s = 4700;
	assert_int_equal(load(f, good, &err), LT_OK);
	assert_int_equal(f->d.signals.sources[0].memory->past_pause_utc_s, 4600);
	assert_int_equal(f->d.signals.sources[0].next_fetch_utc_s, 5000);
	assert_int_equal(f->d.signals.sources[0].failures, 2);
	f->d.signals.sources[0].retry_after_s = 0;
	assert_int_equal(load(f, good, &err), LT_OK);
	assert_int_equal(f->d.signals.sources[0].next_fetch_utc_s, 0);
	assert_int_equal(f->d.signals.sources[0].memory->past_pause_utc_s, 4600);
	assert_int_equal(f->d.signals.sources[0].memory->ahead_pause_utc_s, 4700);
	assert_int_equal(f->d.signals.sources[0].failures, 0);
	assert_int_equal(f->d.signals.sources[0].tries, 9);
	assert_int_equal(f->d.signals.sources[0].failed_tries, 4);
	/* The good one's rows are still there. */
	const struct lt_gpu *gpu =
	    lt_policy_gpu(&(struct lt_gpu){.name = ""}, f->d.site.policy, "own-1");
	assert_non_null(gpu);
	assert_int_equal(gpu->power_w, 123);
	gpu = lt_policy_gpu(&(struct lt_gpu){.name = ""}, f->d.site.policy, "h100-sxm5");
	assert_non_null(gpu);
	assert_int_equal(gpu->power_w, 650);
	assert_non_null(lt_policy_gpu(&(struct lt_gpu){.name = ""}, f->d.site.policy, "a100"));
	assert_null(lt_policy_gpu(&(struct lt_gpu){.name = ""}, f->d.site.policy, "abacus"));
	tear_down(f);
}

static void
put_hold(struct fixture *f, int64_t money_micros)
{
	struct lt_error err = {0};
	const struct lt_ledger_hold hold = {
	    .quote = {.id = 7,
		.rev = 1,
		.account = "vision",
		.hold_per_task = {.has_money = true, .money_micros = money_micros},
		.tasks = 1},
	    .live_tasks = 1};

	assert_int_equal(lt_ledger_put_hold(f->d.ledger, &hold, &err), LT_OK);
}

static void
book(struct fixture *f, int64_t at_utc_s)
{
	struct lt_error err = {0};
	const struct lt_entry entry = {.kind = LT_ENTRY_ADJUSTMENT,
	    .at_utc_s = at_utc_s,
	    .account = "vision",
	    .reason = "test",
	    .money_micros = 5};

	assert_int_equal(lt_ledger_adjust(f->d.ledger, &entry, &err), LT_OK);
}

/* Days are of one zone, too: as soon as anything is booked. What a policy does not say, or the
 * host's, changes it as little. */
static void
test_zone(void **state)
{
	static const struct {
		const char *text, *is;
		bool is_refused;
	} cases[] = {
	    {"timezone: Europe/Berlin\n", "Europe/Berlin", false},
	    {"timezone: UTC\n", "Europe/Berlin", true},
	    {"timezone: Asia/Kolkata\n", "Europe/Berlin", true},
	    {"mode: observe\n", "Europe/Berlin", false},
	    {"timezone: Europe/Vienna\n", "Europe/Vienna", false},
	    {"mode: observe\n", "Europe/Vienna", false},
	};
	struct fixture *const f = set_up();
	struct lt_error err = {0};
	char want[256];

	(void)state;
	assert_int_equal(load(f, "timezone: Asia/Tokyo\n", &err), LT_OK);
	assert_int_equal(load(f, cases[0].text, &err), LT_OK);
	book(f, 1764500000);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct lt_period month;

		print_message("# %s", cases[i].text);
		setenv("TZ", "America/Denver", 1); /* the host's */
		err = (struct lt_error){0};
		assert_int_equal(
		    load(f, cases[i].text, &err), cases[i].is_refused ? LT_EINPUT : LT_OK);
		snprintf(want, sizeof(want), "%s: timezone: got \"%.*s\", want \"%s\"", f->path,
		    (int)strlen(cases[i].text) - 11, cases[i].text + 10, cases[i].is);
		assert_int_equal(strncmp(err.text, want, strlen(want)) == 0, cases[i].is_refused);
		assert_string_equal(f->d.site.policy->timezone, cases[i].is);
		/* Its December began an hour before UTC's. */
		lt_calendar_period(&month, &f->d.site.offsets, LT_MONTH, 1766000000, 0);
		assert_int_equal(month.start_utc_s, 1764543600);
	}
	unsetenv("TZ");
	tear_down(f);
}

/* Amounts are of one currency: another is refused as soon as there are any. */
static void
test_currency(void **state)
{
	(void)state;
	struct fixture *f = set_up();
	struct lt_error err = {0};
	char want[256];
	assert_int_equal(load(f, "currency: USD\n", &err), LT_OK);
	assert_int_equal(load(f, "currency: GBP\n", &err), LT_OK);
	put_hold(f, 0);
	assert_int_equal(load(f, "currency: EUR\n", &err), LT_OK);
	put_hold(f, 5);
	for (int i = 0; i < 2; i++) {
		static const char *const others[] = {"currency: USD\n", "mode: observe\n"};

		err = (struct lt_error){0};
		assert_int_equal(load(f, others[i], &err), LT_EINPUT);
		snprintf(want, sizeof(want), "%s: currency: got \"%s\", want \"EUR\"", f->path,
		    i == 0 ? "USD" : "");
		assert_memory_equal(err.text, want, strlen(want));
		assert_string_equal(f->d.policy_error, err.text);
		/* The old policy works on. */
		assert_string_equal(f->d.site.policy->currency, "EUR");
	}
	assert_int_equal(load(f, "currency: EUR\n", &err), LT_OK);
	assert_string_equal(f->d.policy_error, "");
	tear_down(f);
	/* It was gone for seconds, before anything was priced: what was priced meanwhile does not
	 * lock money off. */
	f = set_up();
	assert_int_equal(load(f, "currency: USD\n", &err), LT_OK);
	assert_int_equal(load(f, "mode: observe\n", &err), LT_OK);
	put_hold(f, 5);
	assert_int_equal(load(f, "currency: USD\n", &err), LT_OK);
	assert_int_equal(load(f, "mode: observe\n", &err), LT_EINPUT);
	tear_down(f);
	/* A ledger of before this was kept: what the policy says now. */
	f = set_up();
	put_hold(f, 5);
	assert_int_equal(load(f, "currency: USD\n", &err), LT_OK);
	assert_int_equal(load(f, "currency: EUR\n", &err), LT_EINPUT);
	tear_down(f);
}

static size_t
read_all(const char *path, char *text, size_t size)
{
	FILE *const file = fopen(path, "r");

	assert_non_null(file);
	const size_t length = fread(text, 1, size - 1, file);
	fclose(file);
	text[length] = '\0';
	return length;
}

/* lowtided starts with the last good policy, whatever is in the file. */
static void
test_start_with_a_bad_file(void **state)
{
	(void)state;
	struct fixture *const f = set_up();
	struct lt_error err = {0};
	char text[1024];

	snprintf(f->d.paths.last_policy, sizeof(f->d.paths.last_policy), "%s/policy.last", f->dir);
	/* The first start of all has nothing to go by. */
	assert_int_equal(load(f, "mode: nonsense\n", &err), LT_EINPUT);
	assert_null(f->d.site.policy);
	assert_int_equal(load(f, good, &err), LT_OK);
	read_all(f->d.paths.last_policy, text, sizeof(text));
	assert_string_equal(text, good);
	/* A bad one is not kept. */
	assert_int_equal(load(f, bad[0].text, NULL), LT_EINPUT);
	for (int gone = 0; gone < 2; gone++) {
		lt_policy_drop(&f->d.site, &f->d.signals);
		err = (struct lt_error){0};
		if (gone) {
			unlink(f->path);
			assert_int_equal(lt_daemon_load_policy(&f->d, 2000, &err), LT_OK);
			assert_non_null(strstr(f->d.policy_error, "No such file"));
		} else {
			assert_int_equal(load(f, bad[0].text, &err), LT_OK);
			assert_non_null(strstr(f->d.policy_error, "unknown key"));
		}
		assert_int_equal(err.code, LT_OK);
		assert_int_equal(f->d.signals.source_count, 1);
		assert_string_equal(f->d.site.policy->path, f->d.paths.last_policy);
		read_all(f->d.paths.last_policy, text, sizeof(text));
		assert_string_equal(text, good);
	}
	/* The mended file is in force again. */
	assert_int_equal(load(f, "mode: advise\n", &err), LT_OK);
	assert_string_equal(f->d.policy_error, "");
	assert_string_equal(f->d.site.policy->path, f->path);
	tear_down(f);
}

/* A refused file is logged each hour until it is mended. */
static void
test_remind(void **state)
{
	(void)state;
	struct fixture *const f = set_up();
	char log[96], text[4096];
	int said = 0;

	snprintf(log, sizeof(log), "%s/log", f->dir);
	assert_int_equal(load(f, good, NULL), LT_OK);
	assert_int_equal(lt_log_open(log), 0);
	lt_policy_remind(&f->d, 1000000);
	assert_int_equal(load(f, "mode: nonsense\n", NULL), LT_EINPUT);
	for (int64_t now_utc_s = 1000; now_utc_s < 1000 + 2 * 3600; now_utc_s += 2)
		lt_policy_remind(&f->d, now_utc_s);
	read_all(log, text, sizeof(text));
	for (const char *at = text; (at = strstr(at, "policy_refused")); at++)
		said++;
	assert_int_equal(said, 2); /* at the load, and an hour after it */
	lt_log_open("/dev/null");
	tear_down(f);
}

/* What a source's forecasts are made with is in the order of forecast.h. */
static void
test_ahead(void **state)
{
	struct fixture *const f = set_up();
	const struct lt_source *sources;

	(void)state;
	assert_int_equal(load(f,
			     "sources:\n"
			     "  grid: {adapter: energy_charts, country: de,\n"
			     "         day_ahead: [w, s, l]}\n"
			     "  l: {adapter: file, path: /dev/null, quantity: load}\n"
			     "  s: {adapter: file, path: /dev/null, quantity: solar_power}\n"
			     "  w: {adapter: file, path: /dev/null, quantity: wind_power}\n",
			     NULL),
	    LT_OK);
	sources = f->d.signals.sources;
	for (int i = 0; i < LT_WEATHER_COUNT; i++)
		assert_null(sources[0].weather[i]);
	assert_string_equal(sources[0].weather[LT_OPERATOR_WIND], sources[3].key);
	assert_string_equal(sources[0].weather[LT_OPERATOR_SUN], sources[2].key);
	assert_string_equal(sources[0].weather[LT_OPERATOR_LOAD], sources[1].key);
	assert_null(sources[1].weather[LT_OPERATOR_LOAD]);
	tear_down(f);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_policies),
	    cmocka_unit_test(test_currency), cmocka_unit_test(test_zone),
	    cmocka_unit_test(test_start_with_a_bad_file), cmocka_unit_test(test_remind),
	    cmocka_unit_test(test_ahead)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
