/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Invoices as AWS, Azure and FOCUS 1.0 to 1.4 write them, with savings plans and reservations: JSON
 * of tests/golden/reconcile, which tests/golden/reconcile.sh adds up once more, and figures worked
 * out by hand.
 */
#include "golden.h"
#include "reconcile_server.h"

#define AZURE_MAP "--map", "ondemand=Standard_ND96asr_v4,small=Standard_NC24ads_A100_v4"

#define PUBLIC_MAP "--map", "ondemand=Standard_D2s_v3,small=Standard_DS2_v2"

static const struct {
	const char *why, *name;
	const char *arguments[6];
	int64_t instances, total, billed; /* micros; 0: not known */
} cases[] = {
    /* 6 * 19.66356 + 23 + 3 * .61234; 6 * (22 - 19.66356) + 150.25 + 295.5 + 100 + 12.34 -
     * 32.7726 */
    {"AWS: what is covered and what nobody used, no fee a second time", "plans-cur",
	{FOLDER "plans-cur.csv"}, 142818380, 682154420, 19842567400},
    {"the same in a CUR 2.0", "plans-cur2", {FOLDER "plans-cur2.csv"}, 142818380, 682154420,
	19842567400},
    /* 23; 6 * 20 + 300 + 17520 + 1800 + 100 + 12.34 - 32.7726 */
    {"the same, when it is paid", "plans-cur-billed", {FOLDER "plans-cur.csv", "--cost", "billed"},
	23000000, 19842567400, 19842567400},
    /* 470.88 + 392.4 + 78.48 + 11.0184 + 20.3 + 17.4; 4.096328 + 3.3 +
     * .483871 - 5 */
    {"Azure: used, unused and spot", "azure-amortised", {FOLDER "azure-amortised.csv", AZURE_MAP},
	990478400, 993358599, 0},
    {"the same of a Microsoft Customer Agreement", "azure-mca", {FOLDER "azure-mca.csv", AZURE_MAP},
	990478400, 993358599, 0},
    /* 11.0184 + 20.3; 14126.4 + 720 + 4.096328 + .483871 - 5 */
    {"Azure's actual costs", "azure-actual", {FOLDER "azure-actual.csv", AZURE_MAP}, 31318400,
	14877298599, 14877298599},
    /* 5 * 19.66356 + 23 + 12.072; 19.66356 - 50 + 34.56 - 1.006; what nobody used has no type */
    {"FOCUS 1.0", "focus-1.0", {FOLDER "focus-1.0.csv"}, 133389800, 136607360, 172271426000},
    {"FOCUS 1.1", "focus-1.1", {FOLDER "focus-1.1.csv"}, 133389800, 136607360, 172271426000},
    {"FOCUS 1.2", "focus-1.2", {FOLDER "focus-1.2.csv"}, 133389800, 136607360, 172271426000},
    {"FOCUS 1.3", "focus-1.3", {FOLDER "focus-1.3.csv"}, 133389800, 136607360, 172271426000},
    {"FOCUS 1.4", "focus-1.4", {FOLDER "focus-1.4.csv"}, 133389800, 136607360, 172271426000},
    {"Azure's actual costs, by Microsoft", "azure-public-actual",
	{FOLDER "azure-public-actual.csv", PUBLIC_MAP}, 2640000, 8545008, 8545008},
    {"Azure's amortised costs, by Microsoft", "azure-public-amortised",
	{FOLDER "azure-public-amortised.csv", PUBLIC_MAP}, 3133152, 16296932, 0},
    /* 2 * .0108; .023552 of storage */
    {"AWS's CUR of hourly rows, by Keboola", "aws-public-cur",
	{FOLDER "aws-public-cur.csv", "--map", "ondemand=t3.micro"}, 21600, 45152, 45152},
    /* 2 * .0216; .047104 of storage and .018 of a database */
    {"AWS's CUR 2.0, packed, by Keboola", "aws-public-cur2",
	{FOLDER "aws-public-cur2.csv.gz", "--map", "ondemand=t3.small"}, 43200, 108304, 108304},
    {"FOCUS 1.0 as four clouds sent it", "focus-public",
	{FOLDER "focus-public.csv.gz", "--type", "ResourceType"}, 0, 14976514, 20520227},
};

static int64_t
micros_of(const json_t *json, const char *object, const char *key)
{
	int64_t value = 0;

	if (object != NULL)
		json = json_object_get(json, object);
	assert_true(lt_json_int(json, key, &value));
	return value;
}

static void
test_samples(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *arguments[10] = {"--json"};
		char path[128];

		for (int k = 0; k < 6 && cases[i].arguments[k] != NULL; k++)
			arguments[1 + k] = cases[i].arguments[k];
		struct said said = run(arguments);

		if (said.status != LT_EXIT_OK || said.error[0])
			fail_msg("%s: %s", cases[i].why, said.error);
		snprintf(path, sizeof(path), FOLDER "%s.out.json", cases[i].name);
		golden_compare(cases[i].why, path, said.out);
		json_t *const json = json_loads(said.out, 0, NULL);

		print_message("# %s\n", cases[i].why);
		assert_int_equal(
		    micros_of(json, "instances", "invoice_micros"), cases[i].instances);
		assert_int_equal(micros_of(json, "total", "invoice_micros"), cases[i].total);
		if (cases[i].billed == 0)
			assert_true(json_is_null(json_object_get(json, "billed_micros")));
		else
			assert_int_equal(micros_of(json, NULL, "billed_micros"), cases[i].billed);
		json_decref(json);
		said_free(&said);
	}
}

static int64_t
jobs_of(const json_t *json, size_t row)
{
	return micros_of(json_array_get(json_object_get(json, "days"), row), NULL, "jobs_micros");
}

/* Corrections of October, closed, that were booked in November; and one of September that was
 * booked on the 2nd. */
static void
test_incurred(void **state)
{
	const char *arguments[] = {FOLDER "focus.csv", "--json", NULL};

	(void)state;
	server.incurred = json_loads("{\"2026-10-01T00:00:00Z\":["
				     "{\"partition\":\"spot\",\"cost_micros\":7000000,"
				     "\"carbon_charge_micros\":500000,\"discount_micros\":20000},"
				     "{\"partition\":\"cpu\",\"cost_micros\":30,"
				     "\"carbon_charge_micros\":0,\"discount_micros\":0}],"
				     "\"2026-10-02T00:00:00Z\":[{\"partition\":\"ondemand\","
				     "\"cost_micros\":-90000000,\"carbon_charge_micros\":0,"
				     "\"discount_micros\":0}]}",
	    0, NULL);
	assert_non_null(server.incurred);
	struct said said = run(arguments);
	json_t *const json = json_loads(said.out, 0, NULL);

	/* 800.000001 + 7 - .5 + .02; 790 - 90 */
	assert_int_equal(jobs_of(json, 0), 806520001);
	assert_int_equal(jobs_of(json, 3), 700000000);
	assert_int_equal(micros_of(json, NULL, "corrected_here_micros"), 7000030);
	assert_int_equal(micros_of(json, NULL, "corrected_elsewhere_micros"), 90000000);
	assert_int_equal(micros_of(json, NULL, "carbon_charge_micros"), 1100000);
	json_decref(json);
	said_free(&said);
	arguments[1] = NULL;
	said = run(arguments);
	assert_non_null(
	    strstr(said.out, "Corrections of closed months are in the days that they correct: "
			     "$7.00 of later bookings here, $90.00 booked here elsewhere.\n"));
	said_free(&said);
	json_decref(server.incurred);
	server.incurred = NULL;
}

/* Of 28 rows of AWS, 11 of Azure, 12 of FOCUS. */
static void
test_only(void **state)
{
	static const struct {
		const char *arguments[8];
		int64_t instances, total, left_out;
	} only[] = {
	    /* 4 * 19.66356 + 3 * .61234; - 32.7726 */
	    {{FOLDER "plans-cur.csv", "--only", "tag:team=vision"}, 80491260, 47718660, 16},
	    {{FOLDER "plans-cur2.csv", "--only", "tag:team=vision"}, 80491260, 47718660, 16},
	    {{FOLDER "plans-cur2.csv", "--only", "tag:user_team=vision"}, 80491260, 47718660, 16},
	    /* 3 * 19.66356 + 3 * .61234 + 23 */
	    {{FOLDER "plans-cur.csv", "--account", "444455556666"}, 83827700, 83827700, 18},
	    {{FOLDER "plans-cur.csv", "--account", "4,444455556666,5"}, 83827700, 83827700, 18},
	    {{FOLDER "plans-cur.csv", "--account", "444455556666", "--only=tag:team=vision"},
		41164140, 41164140, 21},
	    /* 470.88 + 392.4 + 20.3; + 4.09632768 */
	    {{FOLDER "azure-amortised.csv", AZURE_MAP, "--only", "tag:team=vision"}, 883580000,
		887676328, 7},
	    {{FOLDER "azure-mca.csv", AZURE_MAP, "--only=tag:team=vision"}, 883580000, 887676328,
		7},
	    {{FOLDER "azure-mca.csv", AZURE_MAP, "--account", "sub-b"}, 20300000, 20300000, 10},
	    {{FOLDER "focus-1.2.csv", "--only", "tag:team=speech"}, 23000000, 23000000, 11},
	    /* 2 * 19.66356 */
	    {{FOLDER "focus-1.0.csv", "--only", "tag:team=vision", "--account", "444455556666"},
		39327120, 39327120, 10},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(only) / sizeof(only[0]); i++) {
		const char *arguments[12] = {"--json"};

		memcpy(arguments + 1, only[i].arguments, sizeof(only[i].arguments));
		struct said said = run(arguments);

		if (said.status != LT_EXIT_OK)
			fail_msg("%zu: %s", i, said.error);
		json_t *const json = json_loads(said.out, 0, NULL);

		print_message("# %zu\n", i);
		assert_int_equal(micros_of(json, "instances", "invoice_micros"), only[i].instances);
		assert_int_equal(micros_of(json, "total", "invoice_micros"), only[i].total);
		assert_int_equal(micros_of(json, NULL, "left_out_rows"), only[i].left_out);
		json_decref(json);
		said_free(&said);
	}
}

static void
test_only_says(void **state)
{
	static const struct {
		const char *why;
		const char *arguments[6];
		int status;
		const char *text;
	} says[] = {
	    {"no tag", {"x", "--only", "team=vision"}, 2,
		"--only: got \"team=vision\", want a tag and its value, such "
		"as tag:team=vision"},
	    {"no key", {"x", "--only", "tag:=vision"}, 2, "want a tag and"},
	    {"no value", {"x", "--only", "tag:team="}, 2, "want a tag and"},
	    {"nothing is left", {FOLDER "focus-1.1.csv", "--only", "tag:team=v"}, 1,
		"focus-1.1.csv: none of the rows has what --only and --account "
		"say"},
	    {"a part of an account is none", {FOLDER "focus-1.1.csv", "--account", "1111"}, 1,
		"none of the rows has"},
	    {"nor is what an account begins",
		{FOLDER "focus-1.1.csv", "--account", "1111222233334"}, 1, "none of the rows has"},
	    {"no such tag in a bill of AWS", {FOLDER "plans-cur.csv", "--only", "tag:owner=v"}, 1,
		"plans-cur.csv:1:1: no column \"resourceTags/user:owner\""},
	    {"one of AWS's own tags", {FOLDER "plans-cur.csv", "--only", "tag:aws:createdBy=v"}, 1,
		"no column \"resourceTags/aws:createdBy\""},
	    {"no column of accounts", {FOLDER "focus.csv", "--account", "1"}, 1,
		"focus.csv:1:1: no column \"SubAccountId\""},
	    {"what is left out is said", {FOLDER "focus-1.1.csv", "--only", "tag:team=speech"}, 0,
		"Left out are 11 rows that --only and --account do not take; "
		"the jobs are those of all.\n"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(says) / sizeof(says[0]); i++) {
		struct said said = run(says[i].arguments);

		if (said.status != says[i].status || (strstr(said.out, says[i].text) == NULL &&
							 strstr(said.error, says[i].text) == NULL))
			fail_msg("%s: %d\n%s%s", says[i].why, said.status, said.out, said.error);
		said_free(&said);
	}
}

#define CUR                                                                                        \
	"bill_billing_period_start_date,bill_billing_period_end_date,"                             \
	"line_item_usage_start_date,line_item_usage_end_date,"                                     \
	"line_item_line_item_type,line_item_product_code,"                                         \
	"line_item_usage_type,product_instance_type,line_item_usage_amount,"                       \
	"line_item_unblended_cost,line_item_currency_code"
#define OCTOBER "2026-10-01,2026-11-01,2026-10-01,2026-10-02,"
#define P4D ",AmazonEC2,BoxUsage:p4d.24xlarge,p4d.24xlarge,1,"
#define AZURE                                                                                      \
	"Date,BillingPeriodStartDate,BillingPeriodEndDate,Cost,"                                   \
	"BillingCurrency,ChargeType,PricingModel,AdditionalInfo\n"
#define DAY "10/02/2026,10/01/2026,10/31/2026,"

static void
test_says(void **state)
{
	static const struct {
		const char *why, *bytes, *option, *text;
	} says[] = {
	    {"covered usage without its cost",
		CUR ",savings_plan_savings_plan_effective_cost\n" OCTOBER
		    "SavingsPlanCoveredUsage" P4D "32.77,USD,\n",
		NULL,
		":2: savings_plan_savings_plan_effective_cost: got \"\", want "
		"what this row's part of a commitment costs; --cost billed "
		"adds up line_item_unblended_cost"},
	    {"a reservation where only plans have columns",
		CUR ",savings_plan_savings_plan_effective_cost\n" OCTOBER "DiscountedUsage" P4D
		    "0,USD,\n",
		NULL, ":2: reservation_effective_cost: got \"\""},
	    {"no columns, no commitments", CUR "\n" OCTOBER "Usage" P4D "32.77,USD\n",
		"--cost=amortized", "line_item_unblended_cost (amortised) in USD"},
	    {"no columns", CUR "\n" OCTOBER "Usage" P4D "32.77,USD\n", NULL,
		"line_item_unblended_cost (billed) in USD"},
	    {"a fee of which nobody knows the unused part",
		CUR ",reservation_effective_cost\n" OCTOBER "DiscountedUsage" P4D
		    "0,USD,15.5\n" OCTOBER "RIFee" P4D "11160,USD,\n",
		NULL,
		"Billed are $11,160.00 in all (--cost billed): savings plans "
		"and reservations when they are paid.\n"
		"Not in it are fees of $11,160.00 for commitments"},
	    {"a part of a plan that is none",
		CUR ",savings_plan_savings_plan_effective_cost\n" OCTOBER
		    "SavingsPlanCoveredUsage" P4D "32.77,USD,x\n",
		NULL, ":2: savings_plan_savings_plan_effective_cost: got \"x\""},
	    {"an export of actual costs is not amortised",
		AZURE DAY "99,USD,Purchase,Reservation,\n", "--cost=amortised",
		":2: a commitment as an export of actual (billed) costs has "
		"it, want one of amortised costs"},
	    {"an export of both counts twice",
		AZURE DAY "9,USD,Usage,SavingsPlan,\n" DAY "99,USD,Purchase,SavingsPlan,\n", NULL,
		":3: a commitment as an export of actual (billed)"},
	    {"a purchase of something else, nothing that is covered",
		AZURE DAY "9,USD,Purchase,OnDemand,\n" DAY "0,USD,Usage,Reservation,\n",
		"--cost=amortised", "Cost (amortised) in USD"},
	    {"a month that is none",
		AZURE "13/02/2026,10/01/2026,10/31/2026,"
		      "9,USD,Usage,,\n",
		NULL, ":2: Date: got \"13/02/2026\", want a time"},
	    {"the last day is in it",
		AZURE "10/31/2026,10/01/2026,10/31/2026,"
		      "9,USD,Usage,,\n",
		NULL,
		"Azure, 1 rows, Cost (billed) in USD, 2026-10-01 to "
		"2026-10-31"},
	    {"FOCUS without its column",
		"ChargePeriodStart,ChargePeriodEnd,BilledCost,BillingCurrency,"
		"ChargeCategory,SkuMeter\n",
		"--cost=amortised", ":1:1: no column \"EffectiveCost\""},
	    {"tags that are none",
		"Tags,ChargePeriodStart,ChargePeriodEnd,BilledCost,"
		"BillingCurrency,ChargeCategory,SkuMeter\n{team,,,,,,\n",
		"--only=tag:team=v", ":2: Tags: got \"{team\", want tags such as"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(says) / sizeof(says[0]); i++) {
		char path[] = "/tmp/lowtide-invoice.XXXXXX";
		const int fd = mkstemp(path);
		const char *arguments[] = {path, says[i].option, NULL};

		assert_int_equal(dprintf(fd, "%s", says[i].bytes), (int)strlen(says[i].bytes));
		close(fd);
		struct said said = run(arguments);

		unlink(path);
		if (strstr(said.out, says[i].text) == NULL &&
		    strstr(said.error, says[i].text) == NULL)
			fail_msg("%s:\n%s%s", says[i].why, said.out, said.error);
		said_free(&said);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_samples),
	    cmocka_unit_test(test_incurred),
	    cmocka_unit_test(test_only),
	    cmocka_unit_test(test_only_says),
	    cmocka_unit_test(test_says),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
