/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The policy file: every key's value and default as it arrives in the struct, and the errors'
 * places. The texts of errors are in tests/golden/policy.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "policy.h"

static const char *const adapters[] = {"static", "uk_carbon_intensity", NULL};

#define SOURCES                                                                                    \
	"sources:\n"                                                                               \
	"  london: {adapter: uk_carbon_intensity, region: 13}\n"                                   \
	"  night: {adapter: static, value: \"0.1\", unit: per_kwh}\n"

/* Of text; the first of its errors is in err. */
static int
parse(struct lt_policy **policy, const char *name, const char *text, struct lt_error *err)
{
	struct lt_policy_errors errors = {0};
	const int code = lt_policy_parse_all(
	    policy, &(struct lt_policy_text){name, text, strlen(text)}, adapters, &errors);

	*err = errors.items[0];
	return code;
}

static struct lt_policy *
parsed(const char *text)
{
	struct lt_policy *policy = NULL;
	struct lt_error err = {0};

	if (parse(&policy, "p.yaml", text, &err) != LT_OK)
		fail_msg("%s", err.text);
	return policy;
}

/* Half a cent of a dollar: 0.79 yen, 0.48 rupees, 0.0015 dinars, and what the file says as it says
 * it. */
static void
test_waiting(void **state)
{
	static const struct {
		const char *text;
		int64_t micros;
	} cases[] = {
	    {"partitions:\n  a: {}\n", 5000},
	    {"currency: USD\npartitions:\n  a: {}\n", 5000},
	    {"currency: JPY\npartitions:\n  a: {}\n", 800000},
	    {"currency: INR\npartitions:\n  a: {}\n", 500000},
	    {"currency: KWD\npartitions:\n  a: {}\n", 1500},
	    {"waiting_price_per_hour: 0\ncurrency: JPY\npartitions:\n  a: {}\n", 0},
	    {"currency: JPY\nwaiting_price_per_hour: 0.005\npartitions:\n  a: {}\n", 5000},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct lt_policy *const policy = parsed(cases[i].text);

		if (policy->waiting_micros_per_hour != cases[i].micros)
			fail_msg(
			    "%s: %lld", cases[i].text, (long long)policy->waiting_micros_per_hour);
		assert_true(policy->waiting_g_per_hour == 5);
		lt_policy_free(policy);
	}
}

static void
test_defaults(void **state)
{
	(void)state;
	struct lt_policy *policy = parsed("partitions:\n  a: {}\n");

	assert_string_equal(policy->path, "p.yaml");
	assert_int_equal(policy->mode, LT_MODE_OBSERVE);
	assert_string_equal(policy->currency, "");
	assert_string_equal(policy->timezone, "");
	assert_int_equal(policy->carbon_price_micros_per_tonne, 0);
	assert_int_equal(policy->max_delay_s, 24 * 3600);
	assert_int_equal(policy->stale_after_s, 3 * 3600);
	assert_int_equal(policy->deadline_slack_s, 30 * 60);
	assert_int_equal(policy->assume_time_s, 0);
	assert_int_equal(policy->deadline_confidence_ppm, 950000);
	assert_int_equal(policy->max_restart_risk_ppm, 100000);
	assert_int_equal(policy->spot_proof, LT_SPOT_PROOF_REQUIRED);
	assert_int_equal(policy->max_extra_cost_ppm, 100000);
	assert_int_equal(policy->hold_margin_ppm, 50000);
	assert_int_equal(policy->holdout_ppm, 0);
	assert_int_equal(policy->on_unknown, LT_RULE_HOLD);
	assert_int_equal(policy->on_underheld, LT_UNDERHELD_LET);
	assert_int_equal(policy->listen_port, 6826);
	assert_int_equal(policy->tcto.storage_gb, 0);
	assert_int_equal(policy->partition_count, 1);
	assert_true(lt_policy_pue(&policy->partitions[0].pue, 0) == 1.0);
	assert_false(policy->partitions[0].price.is_set);
	assert_false(policy->partitions[0].carbon.is_set);
	assert_false(policy->partitions[0].preemptible);
	lt_policy_free(policy);
}

static void
test_top(void **state)
{
	(void)state;
	struct lt_policy *policy =
	    parsed("mode: enforce\ncurrency: CHF\ntimezone: Europe/Zurich\n"
		   "carbon_price_per_tonne: 85.5\nmax_delay: 1d12h\n"
		   "stale_after: 90m\ndeadline_slack: 0\n"
		   "deadline_confidence: 99.9%\nmax_restart_risk: 0.5\n"
		   "spot_proof: said\n"
		   "max_extra_cost: 250\nhold_margin: 0\nassume_time: 2d\n"
		   "holdout: 2.5%\n"
		   "on_unknown: allow\non_underheld: requeue\n"
		   "listen_port: 1\n"
		   "tcto: {energy_price_per_kwh: 0.15, storage_gb: 4000000000,"
		   " storage_price_per_gb_month: 0.000001,"
		   " engineer_price_per_hour: 90.5,"
		   " engineer_hours_per_interruption: 0.25}\n");

	assert_int_equal(policy->mode, LT_MODE_ENFORCE);
	assert_string_equal(policy->currency, "CHF");
	assert_string_equal(policy->timezone, "Europe/Zurich");
	assert_int_equal(policy->carbon_price_micros_per_tonne, 85500000);
	assert_int_equal(policy->max_delay_s, 36 * 3600);
	assert_int_equal(policy->stale_after_s, 90 * 60);
	assert_int_equal(policy->deadline_slack_s, 0);
	assert_int_equal(policy->deadline_confidence_ppm, 999000);
	assert_int_equal(policy->max_restart_risk_ppm, 5000);
	assert_int_equal(policy->spot_proof, LT_SPOT_PROOF_SAID);
	assert_int_equal(policy->max_extra_cost_ppm, 2500000);
	assert_int_equal(policy->hold_margin_ppm, 0);
	assert_int_equal(policy->holdout_ppm, 25000);
	assert_int_equal(policy->assume_time_s, 2 * 86400);
	assert_int_equal(policy->on_unknown, LT_RULE_ALLOW);
	assert_int_equal(policy->on_underheld, LT_UNDERHELD_REQUEUE);
	assert_int_equal(policy->listen_port, 1);
	assert_int_equal(policy->tcto.energy_micros_per_kwh, 150000);
	assert_int_equal(policy->tcto.storage_gb, 4000000000);
	assert_int_equal(policy->tcto.storage_micros_per_gb_month, 1);
	assert_int_equal(policy->tcto.engineer_micros_per_hour, 90500000);
	assert_int_equal(policy->tcto.engineer_hour_millionths, 250000);
	lt_policy_free(policy);
}

static void
test_metrics(void **state)
{
	static const struct {
		const char *text, *address; /* NULL: refused */
		uint16_t port;
	} cases[] = {
	    {"9102", "127.0.0.1", 9102},
	    {"10.0.0.1:65535", "10.0.0.1", 65535},
	    {"\"[fd00::1]:1\"", "fd00::1", 1},
	    {"0", NULL, 0},
	    {"65536", NULL, 0},
	    {"\":9102\"", NULL, 0},
	    {"\"[::1]9102\"", NULL, 0},
	    {"\"[10.0.0.1]:9102\"", NULL, 0},
	    {"10.0.0.256:9102", NULL, 0},
	    {"6826", NULL, 0},
	    {"[9102]", NULL, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct lt_policy *policy = NULL;
		struct lt_error err = {0};
		char text[128];

		snprintf(text, sizeof(text), "metrics: {listen: %s}\n", cases[i].text);
		const int code = parse(&policy, "p.yaml", text, &err);
		if ((code == LT_OK) != (cases[i].address != NULL))
			fail_msg("%s: %s", cases[i].text, err.text);
		if (code != LT_OK)
			continue;
		assert_string_equal(policy->metrics.address, cases[i].address);
		assert_int_equal(policy->metrics.port, cases[i].port);
		assert_string_equal(policy->metrics.token_file, "");
		lt_policy_free(policy);
	}
}

static void
test_sources(void **state)
{
	(void)state;
	struct lt_policy *policy = parsed(SOURCES);
	const struct lt_policy_source *night = &policy->sources[1];

	assert_int_equal(policy->source_count, 2);
	assert_string_equal(policy->sources[0].adapter, "uk_carbon_intensity");
	assert_string_equal(night->name, "night");
	assert_int_equal(night->line, 3);
	assert_int_equal(night->column, 3);
	assert_int_equal(night->option_count, 2);
	assert_string_equal(night->options[0].key, "value");
	assert_string_equal(night->options[0].value, "0.1");
	assert_int_equal(night->options[0].line, 3);
	assert_int_equal(night->options[0].column, 35);
	assert_string_equal(night->options[1].value, "per_kwh");
	lt_policy_free(policy);
}

static void
test_partitions(void **state)
{
	(void)state;
	/* Used before it is defined in the file, and the order kept. */
	struct lt_policy *policy =
	    parsed("currency: USD\npartitions:\n"
		   "  a:\n    carbon: [night, london]\n"
		   "    price_per_node_hour: 0\n"
		   "    electricity_price_per_kwh: -0.02\n    owned: yes\n"
		   "    gpu: mine\n    pue: 1.15\n"
		   "    engineer_cost_per_restart: 25\n"
		   "    storage_price_per_gib_month: 0.08\n"
		   "    storage_gib_per_s: 2.5\n"
		   "    embodied_g_per_node_hour: 55\n    worst_intensity: 450\n"
		   "    market_based: {g_per_kwh: 0, source: \"REC 2026, X\","
		   " from: 2026-11-01}\n"
		   "    node_idle_w: 300\n    node_cpu_w: 500\n"
		   "    node_gpu_w: 3200.5\n"
		   "  b:\n    carbon: 180.5\n    preemptible:\n"
		   "      interruptions_per_hour: 0.004\n      notice: 2m\n"
		   "      restart: 6m\n"
		   "gpus:\n  Mine: {memory: 40GiB, power_w: 400, "
		   "compute_capability: 8.6, bandwidth_gb_s: 1555.5, "
		   "tflops: {fp32: 19.5, fp8: 600}}\n" SOURCES);
	const struct lt_policy_partition *a = &policy->partitions[0];
	const struct lt_policy_partition *b = &policy->partitions[1];

	assert_int_equal(a->carbon.source_count, 2);
	assert_int_equal(a->carbon.sources[0], 1);
	assert_int_equal(a->carbon.sources[1], 0);
	assert_false(a->carbon.is_constant);
	assert_true(a->price.is_set && a->price.is_constant);
	assert_true(a->price.constant == 0.0);
	assert_true(a->tariff.constant == -20000.0);
	assert_true(a->owned);
	assert_string_equal(a->gpu, "mine");
	assert_int_equal(a->engineer_micros_per_restart, 25000000);
	assert_int_equal(a->storage_micros_per_gib_month, 80000);
	assert_true(a->storage_gib_per_s == 2.5);
	assert_true(a->embodied_g_per_node_hour == 55.0);
	assert_true(a->worst_intensity == 450.0);
	assert_true(a->market_based.is_set && a->market_based.g_per_kwh == 0);
	assert_string_equal(a->market_based.source, "REC 2026, X");
	assert_int_equal(a->market_based.from_utc_s, 1793491200);
	assert_false(b->market_based.is_set);
	assert_true(a->node_idle_w == 300.0 && a->node_cpu_w == 500.0);
	assert_true(a->node_gpu_w == 3200.5);
	assert_true(b->carbon.constant == 180.5);
	assert_true(b->preemptible && !b->owned);
	assert_true(b->hazard.constant == 0.004);
	assert_int_equal(b->notice_s, 120);
	assert_int_equal(b->restart_s, 360);
	assert_int_equal(policy->gpus[0].memory_mib, 40960);
	assert_int_equal(policy->gpus[0].power_w, 400);
	assert_int_equal(policy->gpus[0].compute_capability, 86);
	assert_true(policy->gpus[0].bandwidth_gb_s == 1555.5);
	assert_true(policy->gpus[0].tflops[LT_PRECISION_FP32] == 19.5);
	assert_true(policy->gpus[0].tflops[LT_PRECISION_FP8] == 600.0);
	assert_true(policy->gpus[0].tflops[LT_PRECISION_BF16] == 0.0);
	lt_policy_free(policy);
}

static void
test_budgets(void **state)
{
	(void)state;
	struct lt_policy *policy =
	    parsed("currency: USD\nbudgets:\n"
		   "  - {team: Vision, period: quarter, amount: 5000.01, "
		   "kg_co2e: 0.5, per_user: {kg_co2e: 0.25}, on_exceed: warn, "
		   "alert_at: [50, 120], alert_on: [held, forecast]}\n"
		   "  - {team: nlp, period: year, kg_co2e: 0}\n");
	const struct lt_policy_budget *vision = &policy->budgets[0];
	const struct lt_policy_budget *nlp = &policy->budgets[1];

	assert_string_equal(vision->team, "vision");
	assert_int_equal(vision->period, LT_QUARTER);
	assert_true(vision->limit.has_money && vision->limit.has_carbon);
	assert_int_equal(vision->limit.money_micros, 5000010000);
	assert_int_equal(vision->limit.carbon_mg, 500000);
	assert_false(vision->per_user.has_money);
	assert_true(vision->per_user.has_carbon);
	assert_int_equal(vision->per_user.carbon_mg, 250000);
	assert_int_equal(vision->on_exceed, LT_RULE_WARN);
	assert_int_equal(vision->alert_count, 2);
	assert_int_equal(vision->alert_at[1], 120);
	assert_int_equal(vision->alert_on, 1u << LT_ALERT_ON_FORECAST | 1u << LT_ALERT_ON_HELD);
	assert_int_equal(nlp->alert_on, 0);
	assert_int_equal(vision->line, 3);
	assert_int_equal(nlp->period, LT_YEAR);
	assert_int_equal(nlp->on_exceed, LT_RULE_REJECT);
	assert_false(nlp->limit.has_money);
	assert_true(nlp->limit.has_carbon);
	lt_policy_free(policy);
}

/* Days begin at the site's midnight, whatever zone the process has. */
static void
test_fixed_period(void **state)
{
	(void)state;
	static const struct {
		const char *why, *process, *zone;
		int64_t start_utc_s, end_utc_s;
	} cases[] = {
	    {"UTC", "Asia/Tokyo", "UTC", 1604188800, 1612137600},
	    {"summer time ends on the first day, after midnight", "UTC", "America/New_York",
		1604203200, 1612155600},
	    {"the process's own zone", "Asia/Tokyo", "Asia/Tokyo", 1604156400, 1612105200},
	    {"no zone said: the process's", "Asia/Tokyo", NULL, 1604156400, 1612105200},
	    {"midnight twice: the first", "UTC", "America/Havana", 1604203200, 1612155600},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char text[512], zone[64] = "";

		print_message("# %s\n", cases[i].why);
		setenv("TZ", cases[i].process, 1);
		tzset();
		if (cases[i].zone != NULL)
			snprintf(zone, sizeof(zone), "timezone: %s\n", cases[i].zone);
		snprintf(text, sizeof(text),
		    "%scurrency: USD\nbudgets:\n"
		    "  - {team: a, amount: 1, period: {from: 2020-11-01, "
		    "to: 2021-02-01}}\n",
		    zone);
		struct lt_policy *policy = parsed(text);
		assert_int_equal(policy->budgets[0].period, LT_FIXED);
		assert_int_equal(policy->budgets[0].start_utc_s, cases[i].start_utc_s);
		assert_int_equal(policy->budgets[0].end_utc_s, cases[i].end_utc_s);
		assert_string_equal(getenv("TZ"), cases[i].process);
		lt_policy_free(policy);
	}
}

static void
test_errors(void **state)
{
	(void)state;
	static const struct {
		const char *why, *text;
		int line, column;
		const char *error;
	} cases[] = {
	    {"nothing at all", "", 1, 1, "p.yaml:1:1: the file is empty"},
	    {"the value's place", "mode: observe\nmax_delay: 2 h\n", 2, 12,
		"p.yaml:2:12: max_delay: got \"2 h\", want a duration"},
	    {"the first by line, not by the order of reading", "budgets: 3\nmode: 4\n", 1, 10,
		"p.yaml:1:10: budgets"},
	    {"money without a currency", "partitions:\n  a: {price_per_node_hour: 1}\n", 2, 28,
		"p.yaml:2:28: price_per_node_hour: is money"},
	    {"a source used as money needs a currency too",
		SOURCES "partitions:\n  a: {price_per_node_hour: night}\n", 5, 28,
		"p.yaml:5:28: price_per_node_hour: is money"},
	    {"not YAML", "mode: [\n", 1, 7, "p.yaml:1:7: the [ that begins here"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct lt_policy *policy = (void *)&policy;
		struct lt_error err = {0};

		print_message("# %s\n", cases[i].why);
		assert_int_equal(parse(&policy, "p.yaml", cases[i].text, &err), LT_EINPUT);
		assert_null(policy);
		assert_int_equal(err.code, LT_EINPUT);
		assert_int_equal(err.line, cases[i].line);
		assert_int_equal(err.column, cases[i].column);
		assert_memory_equal(err.text, cases[i].error, strlen(cases[i].error));
	}
}

/* Local months: 2026-10 begins at 22:00 UTC of the day before, 2026-11 at 23:00. */
static void
test_pue(void **state)
{
	static const int64_t october = 1790805600, november = 1793487600;
	struct lt_policy *const policy =
	    parsed("timezone: Europe/Berlin\npartitions:\n"
		   "  a: {pue: {2026-11: 1.19, 2025-06: 1.4, 2026-10: 1.21}}\n"
		   "  b: {pue: 1.3}\n");
	const struct lt_policy_pue *const pue = &policy->partitions[0].pue;
	static const struct {
		int64_t utc_s;
		double value;
	} cases[] = {{0, 1.4}, {october - 1, 1.4}, {october, 1.21}, {november - 1, 1.21},
	    {november, 1.19}, {INT64_MAX, 1.19}};

	(void)state;
	assert_int_equal(pue->count, 3);
	assert_int_equal(pue->months[1].from_utc_s, october);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		assert_true(lt_policy_pue(pue, cases[i].utc_s) == cases[i].value);
	assert_int_equal(policy->partitions[1].pue.count, 1);
	assert_true(lt_policy_pue(&policy->partitions[1].pue, october) == 1.3);
	lt_policy_free(policy);
}

/* One of each month for ten years; not one more. */
static void
test_pue_bound(void **state)
{
	(void)state;
	for (int count = 120; count <= 121; count++) {
		char text[4096] = "partitions:\n  a:\n    pue:\n";
		size_t used = strlen(text);
		struct lt_policy *policy = NULL;
		struct lt_error err = {0};

		for (int i = 0; i < count; i++)
			used += (size_t)snprintf(text + used, sizeof(text) - used,
			    "      %d-%02d: 1.%03d\n", 2030 - i / 12, 12 - i % 12, i);
		if (count == 121) {
			assert_int_equal(parse(&policy, "p.yaml", text, &err), LT_EINPUT);
			assert_string_equal(
			    err.text, "p.yaml:4:7: pue: got 121 months, want 1 to 120");
			continue;
		}
		policy = parsed(text);
		assert_true(lt_policy_pue(&policy->partitions[0].pue, 0) == 1.119);
		assert_true(lt_policy_pue(&policy->partitions[0].pue, INT64_MAX) == 1);
		lt_policy_free(policy);
	}
}

static void
test_error_list(void **state)
{
	(void)state;
	static const char text[] = "mode: 1\nmax_delay: 2\nfoo: 3\n";
	struct lt_policy *policy = NULL;
	struct lt_policy_errors errors = {0};

	assert_int_equal(
	    lt_policy_parse_all(&policy, &(struct lt_policy_text){"p.yaml", text, sizeof(text) - 1},
		adapters, &errors),
	    LT_EINPUT);
	assert_int_equal(errors.count, 3);
	for (int i = 0; i < 3; i++)
		assert_int_equal(errors.items[i].line, i + 1);
}

static void
test_long_name(void **state)
{
	(void)state;
	char name[2001];
	struct lt_policy *policy = NULL;
	struct lt_error err = {0};

	memset(name, 'd', sizeof(name) - 1);
	memcpy(name + sizeof(name) - 10, "last.yaml", 10);
	assert_int_equal(parse(&policy, name, "mode: 1\n", &err), LT_EINPUT);
	assert_non_null(strstr(err.text, "last.yaml:1:7: mode: got \"1\""));
}

static void
test_files(void **state)
{
	(void)state;
	char path[] = "/tmp/lowtide-test-XXXXXX";
	struct lt_policy *policy = NULL;
	struct lt_error err = {0};

	assert_int_equal(lt_policy_load(&policy, "/nonexistent/x.yaml", adapters, &err), LT_ENOENT);
	assert_string_equal(err.text, "/nonexistent/x.yaml: No such file or directory");
	err = (struct lt_error){0};
	assert_int_equal(lt_policy_load(&policy, "/", adapters, &err), LT_EIO);
	assert_string_equal(err.text, "/: Is a directory");
	/* a caller without interest in errors */
	assert_int_equal(lt_policy_load(&policy, "/", adapters, NULL), LT_EIO);
	/* a caller's earlier failure stays */
	struct lt_error earlier = {.code = LT_EDENIED, .text = "first"};
	assert_int_equal(lt_policy_load(&policy, "/", adapters, &earlier), LT_EIO);
	assert_string_equal(earlier.text, "first");
	const int fd = mkstemp(path);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, "mode: advise\n", 13), 13);
	close(fd);
	err = (struct lt_error){0};
	assert_int_equal(lt_policy_load(&policy, path, adapters, &err), LT_OK);
	assert_int_equal(policy->mode, LT_MODE_ADVISE);
	assert_string_equal(policy->path, path);
	lt_policy_free(policy);
	unlink(path);
}

/* In the file's order, as plugstack's line has it. */
static void
test_precision(void **state)
{
	char text[128], small[24];
	struct lt_policy *policy = parsed("partitions:\n  a: {}\nprecision:\n"
					  "  - {account: Audit, amp: off}\n"
					  "  - {partition: Old, amp: fp16}\n"
					  "  - {qos: fast, amp: auto}\n");

	(void)state;
	assert_int_equal(policy->precision_count, 3);
	assert_int_equal(policy->precisions[1].of, LT_PRECISION_OF_PARTITION);
	assert_int_equal(policy->precisions[1].precision, LT_PRECISION_FP16);
	assert_string_equal(lt_policy_precision_text(text, sizeof(text), policy),
	    "precision=account:audit:off,partition:Old:fp16,qos:fast:auto");
	lt_policy_precision_text(small, sizeof(small), policy);
	assert_string_equal(small, "precision=account:audit");
	policy->precision_count = 0;
	assert_string_equal(lt_policy_precision_text(text, sizeof(text), policy), "");
	lt_policy_free(policy);
}

static void
test_owners(void **state)
{
	struct lt_policy *const policy =
	    parsed("notify:\n  command: /bin/true\n  owners:\n    vision: [ada,"
		   " bob@x.org, {user: cem@corp, mail: cem@x.org}]\n");
	const struct lt_policy_owners *const owners = lt_policy_owners_of(policy, "vision");

	(void)state;
	assert_int_equal(owners->count, 3);
	assert_string_equal(owners->to[2], "cem@x.org");
	assert_true(lt_policy_is_owner(owners, "ada"));
	assert_true(lt_policy_is_owner(owners, "cem@corp"));
	assert_false(lt_policy_is_owner(owners, "bob"));
	assert_false(lt_policy_is_owner(owners, ""));
	lt_policy_free(policy);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_precision),
	    cmocka_unit_test(test_owners),
	    cmocka_unit_test(test_defaults),
	    cmocka_unit_test(test_waiting),
	    cmocka_unit_test(test_top),
	    cmocka_unit_test(test_metrics),
	    cmocka_unit_test(test_sources),
	    cmocka_unit_test(test_partitions),
	    cmocka_unit_test(test_budgets),
	    cmocka_unit_test(test_fixed_period),
	    cmocka_unit_test(test_errors),
	    cmocka_unit_test(test_pue),
	    cmocka_unit_test(test_pue_bound),
	    cmocka_unit_test(test_error_list),
	    cmocka_unit_test(test_long_name),
	    cmocka_unit_test(test_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
