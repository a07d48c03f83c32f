/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lowtide init: the sources by cloud region and time zone, and that every file it writes passes
 * `lowtide check`.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "check.h"
#include "init.h"

static const char facts_text[] =
    "{\"conf\": {\"cluster\": \"site\"}, \"accounts\": [\"root\", \"vision\", \"nlp\"],"
    " \"partitions\": [{\"name\": \"main\", \"nodes\": 4, \"default\": true},"
    " {\"name\": \"no\", \"nodes\": 1,"
    " \"shapes\": [{\"gpus\": 8, \"gpu_type\": \"h100\"}]},"
    " {\"name\": \"Spot-2\", \"nodes\": 1,"
    " \"shapes\": [{\"gpus\": 4, \"gpu_type\": \"h100\"}]}],"
    " \"qoses\": [\"normal\", \"on\"]}";

static const struct {
	const char *why, *zone, *vendor, *has, *has_not, *region;
} cases[] = {
    {"Great Britain has an API of its own", "Europe/London", "",
	"\n  grid: {adapter: uk_carbon_intensity}", "energy_charts", ""},
    {"its usual day counts the same emissions", "Europe/London", "",
	"\n  profile: {adapter: climatology, zone: GB, emission_factors: direct}", "energy_charts",
	""},
    {"a country of Energy-Charts", "Europe/Berlin", "Amazon EC2",
	"\n  grid: {adapter: energy_charts, country: de}", "cloud_region", ""},
    {"another one", "Europe/Oslo", "", "\n  grid: {adapter: energy_charts, country: no}",
	"cloud_region", ""},
    {"its partitions use it", "Europe/Dublin", "", "\n    carbon: grid\n", "profile:", ""},
    {"a usual day stands in while the grid's source is stale", "Europe/Berlin", "",
	"\n    carbon: [grid, profile]\n", "#carbon", ""},
    {"a grid of which only the usual day is known", "America/Los_Angeles", "",
	"\n  profile: {adapter: climatology, zone: US-CAL-CISO}", "grid:", ""},
    {"and its partitions use that", "Australia/Adelaide", "", "\n    carbon: profile\n", "#carbon",
	""},
    {"no grid is known: nothing is made up", "Asia/Tokyo", "", "\n#sources:", "\nsources:", ""},
    {"and the partition says what to do", "Asia/Tokyo", "", "\n    #carbon: 230", "\n    carbon",
	""},
    {"on a cloud its region, to be filled in", "UTC", "Amazon EC2",
	"\n#  grid: {adapter: cloud_region, cloud: aws, region: eu-west-2}", "\nsources:", ""},
    {"of Google", "UTC", "Google", "cloud: gcp", "cloud: aws", ""},
    {"of Microsoft", "", "Microsoft Corporation", "cloud: azure", "aws", ""},
    {"no cloud at all", "", "Dell Inc.", "this time zone", "cloud_region", ""},
    {"Northern Ireland is not in Great Britain's API", "Europe/Belfast", "",
	"\n#sources:", "uk_carbon", ""},
    {"a region's grid comes before the clock's", "Europe/Berlin", "Amazon EC2",
	"\n  grid: {adapter: uk_carbon_intensity}", "energy_charts", "eu-west-2"},
    {"and says why", "UTC", "Amazon EC2", "Great Britain, as this machine's region is eu-west-2",
	"time zone", "eu-west-2"},
    {"a part of a country", "UTC", "Microsoft Corporation",
	"\n  grid: {adapter: energy_charts, country: dk}", "cloud_region", "denmarkeast"},
    {"a grid that no free source has: its usual day", "UTC", "Amazon EC2",
	"\n  profile: {adapter: climatology, zone: US-MIDA-PJM}", "cloud_region", "us-east-1"},
    {"and its zone for one with a key", "UTC", "Amazon EC2",
	"\n  #grid: {adapter: electricity_maps, zone: US-MIDA-PJM", "#sources", "us-east-1"},
    {"a grid without a usual day: the year's mean", "UTC", "Google",
	"\n  mean: {adapter: cloud_region, cloud: gcp, region: asia-northeast1}", "profile",
	"asia-northeast1"},
    {"which its partitions use", "UTC", "Google", "\n    carbon: mean\n", "#carbon",
	"asia-northeast1"},
    {"a region of another cloud", "UTC", "Google", "\n#sources:", "\nsources:", "us-east-1"},
    {"eight in a node are on a board", "UTC", "", "\n    gpu: H100-SXM5 #", "UTC:", ""},
    {"four may be cards", "UTC", "",
	"\n    #gpu: H100-PCIE # Gres type h100, or H100-SXM5, H100-NVL-94GB: which is it?\n",
	"UTC:", ""},
    {"what is called so may lose its nodes", "UTC", "",
	"Are its nodes taken back, or its jobs preempted?", "\n    preemptible", ""},
    {"each team's budget", "UTC", "", "\n#  - {team: nlp, period: month, amount: 4000}\n",
	"team: root", ""},
    {"nodes with GPUs are for jobs with GPUs", "UTC", "", "\n    accepts: [gpu] #", "main: {", ""},
    {"sessions that a person waits for come first", "UTC", "",
	"\nclasses:\n  waited-for:\n    name: [\"*sys/dashboard/*\", ", "\n#classes", ""},
    {"each QOS's class", "UTC", "",
	"    default: off\n#  normal: {qos: normal, preemptible: allowed, max_interruptions: 3}\n#  \"on\": {qos: \"on\",",
	"#classes:", ""},
    {"a region that is not known: by the clock", "Europe/Berlin", "Amazon EC2",
	"\n  grid: {adapter: energy_charts, country: de}", "cloud_region", "moon-1"},
};

static void
check(const char *why, char *text)
{
	struct lt_policy *policy = NULL;
	struct lt_policy_errors errors = {0};

	if (lt_policy_parse_all(&policy, &(struct lt_policy_text){"first.yaml", text, strlen(text)},
		lt_adapter_names(), &errors) == LT_OK)
		lt_check_sources(policy, &errors);
	if (errors.count > 0)
		fail_msg("%s: %s\n%s", why, errors.items[0].text, text);
	lt_policy_free(policy);
}

/* Pools of one kind of machine each, as a cluster's nodes say it. */
static const struct {
	const char *why, *cloud, *region, *gpus, *features, *has, *has_not;
} machines[] = {
    {"a price list of AWS", "aws", "eu-west-2", "8", "instance-type=p4d.24xlarge,zone=eu-west-2a",
	"\n  price-p: {adapter: skypilot_catalog, cloud: aws, region: eu-west-2, instance_type: p4d.24xlarge, capacity: on_demand}\n",
	"rate-p"},
    {"which its pool has", "aws", "eu-west-2", "8", "instance-type=p4d.24xlarge,zone=eu-west-2a",
	"\n    price_per_node_hour: price-p\n", "preemptible"},
    {"of spot machines the spot price", "aws", "eu-west-2", "0", "instance-type=m5.large,spot",
	"capacity: spot}", "on_demand"},
    {"and how often they go", "aws", "eu-west-2", "0", "instance-type=m5.large,spot",
	"\n  rate-p: {adapter: aws_spot_advisor, region: eu-west-2, instance_type: m5.large}\n",
	"#preemptible"},
    {"which makes the pool preemptible", "aws", "eu-west-2", "0", "instance-type=m5.large,spot",
	"\n    preemptible: {interruptions_per_hour: rate-p, notice: 2m,", "#preemptible"},
    {"in a region without a grid too", "aws", "moon-1", "0", "instance-type=m5.large",
	"\nsources:\n  price-p: ", "\n    carbon:"},
    {"Azure's own list", "azure", "uksouth", "1", "instance-type=Standard_NC4as_T4_v3,spot",
	"\n  price-p: {adapter: azure_retail_price, region: uksouth, sku: Standard_NC4as_T4_v3, capacity: spot}\n",
	"rate-p"},
    {"whose rates need a key", "azure", "uksouth", "1", "instance-type=Standard_NC4as_T4_v3,spot",
	"\n    #preemptible: {interruptions_per_hour: 0.004, notice: 30s,", "\n    preemptible"},
    {"Google's GPUs are rows of their own", "gcp", "us-central1", "4",
	"instance-type=a2-highgpu-4g",
	"instance_type: a2-highgpu-4g, capacity: on_demand, accelerator: A100, accelerator_count: 4}",
	"rate-p"},
    {"a machine without", "gcp", "us-central1", "0", "instance-type=n2-standard-8",
	"instance_type: n2-standard-8, capacity: on_demand}\n", "accelerator"},
    {"GPUs that anybody may attach", "gcp", "us-central1", "2", "instance-type=n1-standard-8",
	"\n    #price_per_node_hour: ", "price-p"},
    {"no cloud", "", "", "0", "instance-type=k3s", "\n    #price_per_node_hour: ", "price-p"},
    {"a machine that is not named", "aws", "eu-west-2", "0", "zone=a,spot",
	"\n    #price_per_node_hour: ", "price-p"},
    {"the lists' currency", "aws", "eu-west-2", "0", "instance-type=m5.large", "\ncurrency: USD ",
	"currency: EUR"},
    {"else the site's", "", "", "0", "", "\ncurrency: EUR\n", "currency: USD"},
};

/* What is written of that passes check, has the one text and not the other. */
static void
expect(const char *why, const json_t *facts, const struct lt_init_site *site, const char *has,
    const char *has_not)
{
	char *text = NULL;
	size_t length = 0;
	FILE *const out = open_memstream(&text, &length);

	assert_non_null(facts);
	assert_non_null(out);
	lt_init_write(out, facts, site);
	fclose(out);
	if (strstr(text, has) == NULL || strstr(text, has_not) != NULL)
		fail_msg("%s: got\n%s", why, text);
	check(why, text);
	free(text);
}

/* What is left to be uncommented is right, too. */
static void
test_comments(void **state)
{
	json_t *const facts = json_loads(facts_text, 0, NULL);
	char *text = NULL;
	size_t length = 0;
	FILE *const out = open_memstream(&text, &length);

	(void)state;
	lt_init_write(out, facts,
	    &(struct lt_init_site){
		.currency = "EUR", .zone = "Europe/Berlin", .vendor = "", .region = ""});
	fclose(out);
	char *const budgets = strstr(text, "#budgets:");

	assert_non_null(budgets);
	for (char *at = budgets; (at = strchr(at, '#')) != NULL; at++)
		if ((at == budgets || at[-1] == '\n') && at[1] != ' ')
			memmove(at, at + 1, strlen(at));
		else if ((at == budgets || at[-1] == '\n') && at[2] == ' ')
			memmove(at, at + 1, strlen(at));
	assert_non_null(strstr(text, "\nbudgets:\n  - {team: vision"));
	assert_non_null(strstr(text, "    default: off\n  normal: {"));
	check("uncommented", text);
	free(text);
	json_decref(facts);
}

static void
test_currency(void **state)
{
	static const struct {
		const char *zone, *currency;
	} zones[] = {{"Europe/London", "GBP"}, {"Europe/Berlin", "EUR"}, {"Europe/Zurich", "CHF"},
	    {"Europe/Vaduz", "CHF"}, {"Europe/Kaliningrad", "RUB"}, {"Atlantic/Canary", "EUR"},
	    {"Australia/Perth", "AUD"}, {"America/New_York", "USD"}, {"", "USD"}};
	char currency[4];

	(void)state;
	setenv("LC_ALL", "C", 1);
	for (size_t i = 0; i < sizeof(zones) / sizeof(zones[0]); i++)
		assert_string_equal(lt_init_currency(currency, zones[i].zone), zones[i].currency);
}

/* What is worth 100 dollars a tonne is worth it in any currency: the rates are of the day that
 * stands behind it. */
static void
test_amounts(void **state)
{
	static const struct {
		const char *currency, *has, *has_not;
	} amounts[] = {
	    {"USD",
		"\ncarbon_price_per_tonne: 100 # what a tonne of CO2e is worth to you\n"
		"waiting_carbon_per_hour: 5 # g CO2e",
		" USD at "},
	    {"USD", "period: month, amount: 5000, kg", "USD at"},
	    {"USD", "\n    #price_per_node_hour: 12.50\n", "USD at"},
	    {"JPY",
		"\ncarbon_price_per_tonne: 15000 # what a tonne of CO2e is worth to you; 100 USD at 157.5 JPY (2026-09-29)\n"
		"waiting_carbon_per_hour: 5 # g CO2e",
		"waiting_price"},
	    {"JPY", "period: month, amount: 800000}\n", "amount: 5000"},
	    {"JPY", "\n    #price_per_node_hour: 2000\n", "hour: 12.50"},
	    {"KRW", "\ncarbon_price_per_tonne: 150000 #", "tonne: 100 "},
	    {"HUF", "\ncarbon_price_per_tonne: 30000 #", "tonne: 100 "},
	    {"INR", "; 100 USD at 96.09 INR (2026-09-29)\n", "tonne: 100 "},
	    {"INR", "\ncarbon_price_per_tonne: 10000 #", "tonne: 100 "},
	    {"KWD", "\ncarbon_price_per_tonne: 30 #", "tonne: 100 "},
	    {"KWD", "\n    #price_per_node_hour: 4\n", "hour: 12.50"},
	};
	json_t *const facts = json_loads(facts_text, 0, NULL);

	(void)state;
	for (size_t i = 0; i < sizeof(amounts) / sizeof(amounts[0]); i++)
		expect(amounts[i].currency, facts,
		    &(struct lt_init_site){
			.currency = amounts[i].currency, .zone = "UTC", .vendor = "", .region = ""},
		    amounts[i].has, amounts[i].has_not);
	json_decref(facts);
}

static void
test_prices(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); i++) {
		json_t *const facts = json_pack("{s:{s:s},s:[{s:s,s:i,s:[{s:i,s:s}]}]}", "conf",
		    "cluster", "c", "partitions", "name", "p", "nodes", 2, "shapes", "gpus",
		    atoi(machines[i].gpus), "features", machines[i].features);

		expect(machines[i].why, facts,
		    &(struct lt_init_site){.currency = "EUR",
			.zone = "",
			.vendor = machines[i].cloud,
			.region = machines[i].region,
			.is_kubernetes = true},
		    machines[i].has, machines[i].has_not);
		json_decref(facts);
	}
}

/* A job of a partition without limits would have no figure at all. */
static void
test_assumed_time(void **state)
{
	(void)state;
	for (int limited = 0; limited < 2; limited++) {
		json_t *const facts = json_pack("{s:{s:s},s:[{s:s,s:i,s:b}]}", "conf", "cluster",
		    "c", "partitions", "name", "p", "nodes", 2, "limited", limited);

		expect(limited ? "a limit" : "none", facts,
		    &(struct lt_init_site){.currency = "EUR", .zone = "", .vendor = ""},
		    limited ? "\nmode:" : "\nassume_time: 1d ",
		    limited ? "assume_time" : "assume_time: 2d");
		json_decref(facts);
	}
}

static void
test_sources(void **state)
{
	json_t *const facts = json_loads(facts_text, 0, NULL);

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		expect(cases[i].why, facts,
		    &(struct lt_init_site){.currency = "EUR",
			.zone = cases[i].zone,
			.vendor = cases[i].vendor,
			.region = cases[i].region},
		    cases[i].has, cases[i].has_not);
	json_decref(facts);
}

/* What --price and --electricity make of facts_text. */
static void
test_said(void **state)
{
	static const struct {
		const char *why, *prices, *electricity, *has, *has_not;
	} good[] = {
	    {"a price", "main=0.90", NULL,
		"default\n    pue: 1.2 # energy at the meter over energy at the plug: yours\n"
		"    carbon: [grid, profile]\n    price_per_node_hour: 0.90\n",
		"owned"},
	    {"the last of two", "main=1,Spot-2=2.5", NULL, "\n    price_per_node_hour: 2.5\n",
		"owned"},
	    {"none for what is not named", "main=1", NULL, "\n    #price_per_node_hour: 10\n",
		"\n    preemptible"},
	    {"what sounds so is taken back, once jobs may move there", "Spot-2=2.5", NULL,
		"\n    preemptible: {interruptions_per_hour: 0.004,", "\n    #preemptible"},
	    {"nodes of one's own", "no=6", "0.28",
		"\n    electricity_price_per_kwh: 0.28\n    price_per_node_hour: 6\n",
		"owned: false"},
	    {"without a price", NULL, "0.28", "\n    owned: true", "\n    price"},
	};
	static const struct {
		const char *prices, *electricity, *text;
	} bad[] = {
	    {"", NULL, "--price: got , want"},
	    {"main", NULL, "--price: got main, want PARTITION=AMOUNT"},
	    {"main=", NULL, "--price: got main=, want"},
	    {"main=1,", NULL, "--price: got , want"},
	    {"main=1 EUR", NULL, "--price: got main=1 EUR, want"},
	    {"mai=1", NULL, "--price: Slurm has no partition mai"},
	    {"mains=1", NULL, "--price: Slurm has no partition mains"},
	    {NULL, "", "--electricity: got , want"},
	    {NULL, "cheap", "--electricity: got cheap, want money for a kWh"},
	};
	json_t *const facts = json_loads(facts_text, 0, NULL);

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		const struct lt_init_site site = {.currency = "EUR",
		    .zone = "Europe/Berlin",
		    .vendor = "",
		    .region = "",
		    .prices = good[i].prices,
		    .electricity = good[i].electricity};

		assert_int_equal(lt_init_check_said(facts, &site, NULL), LT_OK);
		expect(good[i].why, facts, &site, good[i].has, good[i].has_not);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct lt_error err = {0};

		assert_int_equal(lt_init_check_said(facts,
				     &(struct lt_init_site){.prices = bad[i].prices,
					 .electricity = bad[i].electricity},
				     &err),
		    LT_EINPUT);
		if (strstr(err.text, bad[i].text) == NULL)
			fail_msg("%s", err.text);
	}
	json_decref(facts);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_assumed_time),
	    cmocka_unit_test(test_sources), cmocka_unit_test(test_prices),
	    cmocka_unit_test(test_comments), cmocka_unit_test(test_currency),
	    cmocka_unit_test(test_said), cmocka_unit_test(test_amounts)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
