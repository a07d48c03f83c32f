/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who sees which team's money: several users, teams below teams, figures of others' own, and the
 * requests that are for admins.
 */
#include <jansson.h>

#include <time.h>

#include "access.h"
#include "daemon.h"
#include "ledger_fixture.h"

enum { ROOT = 0, ADA = 3001000, BOB, EVE, SLURM = 64030 };

/* vision-a is below vision: both budgets bind it. Ada is in vision-a, Bob in nlp and free, Eve in
 * nothing. */
static struct lt_account accounts[] = {{.name = "free"},
    {.name = "nlp", .first_binding = 0, .binding_count = 1},
    {.name = "vision", .first_binding = 1, .binding_count = 1},
    {.name = "vision-a", .first_binding = 2, .binding_count = 2}};
static uint32_t bindings[] = {0, 1, 1, 2};
static struct lt_pair pairs[] = {{.uid = ADA, .account = 3, .is_default = true},
    {.uid = BOB, .account = 0}, {.uid = BOB, .account = 1, .is_default = true}};
static struct lt_usage usages[] = {{.budget = 1, .uid = ADA}, {.budget = 1, .uid = BOB}};
static struct lt_budget budgets[3];

static void
make_world(struct lt_daemon *d, struct lt_policy *policy)
{
	static const char *const teams[] = {"nlp", "vision", "vision-a"};
	const int64_t now = (int64_t)time(NULL);

	for (int i = 0; i < 3; i++) {
		budgets[i] = (struct lt_budget){0};
		strcpy(budgets[i].team, teams[i]);
		budgets[i].periods[0] = (struct lt_period){
		    .start_utc_s = now - 1000,
		    .end_utc_s = now + 100000,
		    .limit = {.has_money = true, .money_micros = 1000 * i + 7},
		};
		budgets[i].periods[1].start_utc_s = budgets[i].periods[1].end_utc_s = now + 100000;
	}
	budgets[2].on_exceed = LT_RULE_WARN;
	budgets[1].has_per_user = true;
	budgets[1].per_user_limit = (struct lt_amount){.has_money = true, .money_micros = 5};
	strcpy(policy->currency, "USD");
	*d = (struct lt_daemon){.site.policy = policy,
	    .budget.has_snapshot = true,
	    .site.tables.conf.slurm_uid = SLURM,
	    .budget.snapshot = {.ready = true,
		.accounts = accounts,
		.account_count = 4,
		.bindings = bindings,
		.binding_count = 4,
		.budgets = budgets,
		.budget_count = 3,
		.pairs = pairs,
		.pair_count = 3,
		.usages = usages,
		.usage_count = 2}};
}

static void
test_sees(void **state)
{
	static const struct {
		const char *why;
		uint32_t uid;
		const char *team;
		bool sees;
	} cases[] = {
	    {"her own", ADA, "vision-a", true},
	    {"what is above it", ADA, "vision", true},
	    {"another's", ADA, "nlp", false},
	    {"an account without budget, another's", ADA, "free", false},
	    {"his own", BOB, "nlp", true},
	    {"his own, no default", BOB, "free", true},
	    {"another's below", BOB, "vision-a", false},
	    {"another's above", BOB, "vision", false},
	    {"no member of anything", EVE, "nlp", false},
	    {"no member, no budget", EVE, "free", false},
	    {"no such team", ADA, "nothing", false},
	    {"root", ROOT, "nlp", true},
	    {"SlurmUser", SLURM, "vision", true},
	};
	struct lt_daemon *const d = calloc(1, sizeof(*d));
	struct lt_policy policy = {0};

	(void)state;
	make_world(d, &policy);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct lt_api_request request = {
		    .uid = cases[i].uid, .is_admin = lt_is_admin(&d->site.tables, cases[i].uid)};

		const struct lt_access access = lt_access_of(d, &request);

		if (lt_access_sums(&access, cases[i].team) != cases[i].sees)
			fail_msg("%s", cases[i].why);
	}
	free(d);
}

static const struct {
	const char *why;
	uint32_t uid;
	const char *method, *uri, *body;
	int status;
	const char *has, *has_not; /* in the answer; NULL = nothing */
} requests[] = {
    {"Ada's budgets", ADA, "GET", "/v1/budget", "", 200, "\"vision-a\"", "\"nlp\""},
    {"the one above is hers too", ADA, "GET", "/v1/budget", "", 200, "\"vision\"", NULL},
    {"Bob's budgets", BOB, "GET", "/v1/budget", "", 200, "\"nlp\"", "vision"},
    {"nobody's", EVE, "GET", "/v1/budget", "", 403, "you see no team's figures", "nlp"},
    {"root's are all", ROOT, "GET", "/v1/budget", "", 200, "\"nlp\"", NULL},
    {"her own cap, not Bob's", ADA, "GET", "/v1/budget?team=vision", "", 200,
	"\"user\":\"3001000\"", "\"user\":\"3001001\""},
    {"SlurmUser sees both caps", SLURM, "GET", "/v1/budget?team=vision", "", 200,
	"\"user\":\"3001001\"", NULL},
    {"another team's by name", ADA, "GET", "/v1/budget?team=nlp", "", 404,
	"no budget that you may see", "limit"},
    {"a balance of one's own", ADA, "GET", "/v1/balance?account=vision-a", "", 200,
	"\"team\":\"vision\"", NULL},
    {"of one's default", BOB, "GET", "/v1/balance", "", 200, "\"limit_micros\":7", NULL},
    {"what binds is told apart from what warns", ADA, "GET", "/v1/balance?account=vision-a", "",
	200, "\"warn_team\":\"vision-a\"", "\"warn_available_micros\":null"},
    {"of another's account", ADA, "GET", "/v1/balance?account=nlp", "", 404, "not one of yours",
	"micros"},
    {"of somebody else", ADA, "GET", "/v1/balance?account=nlp&uid=3001001", "", 403,
	"only for root", "micros"},
    {"of oneself by number is for admins too", ADA, "GET",
	"/v1/balance?account=vision-a&uid=3001000", "", 403, "only for root", "micros"},
    {"root asks for Bob", ROOT, "GET", "/v1/balance?uid=3001001", "", 200, "\"team\":\"nlp\"",
	NULL},
    {"SlurmUser asks for Bob", SLURM, "GET", "/v1/balance?uid=3001001", "", 200, "\"team\":\"nlp\"",
	NULL},
    {"what Ada has left: her cap in the team above is the least", ADA, "GET", "/v1/balances", "",
	200,
	"\"balances\":[{\"uid\":3001000,\"account\":\"vision-a\","
	"\"available_micros\":5,\"available_mg\":null}]",
	"3001001"},
    {"Bob's: none of an account without a budget", BOB, "GET", "/v1/balances", "", 200,
	"\"balances\":[{\"uid\":3001001,\"account\":\"nlp\","
	"\"available_micros\":7,\"available_mg\":null}]",
	"free"},
    {"nobody's balances", EVE, "GET", "/v1/balances", "", 200, "\"balances\":[]", NULL},
    {"root's are all", ROOT, "GET", "/v1/balances", "", 200, "3001001", NULL},
    {"a member adjusts", ADA, "POST", "/v1/budget/adjust",
	"{\"team\":\"vision-a\",\"money_micros\":-9,\"reason\":\"mine\"}", 403, "only for root",
	NULL},
    {"a stranger adjusts", EVE, "POST", "/v1/budget/adjust",
	"{\"team\":\"nlp\",\"money_micros\":-9,\"reason\":\"mine\"}", 403, "only for root", NULL},
    {"a member rebuilds", ADA, "POST", "/v1/rebuild", "", 403, "only for root", NULL},
    {"SlurmUser adjusts too much", SLURM, "POST", "/v1/budget/adjust",
	"{\"team\":\"nlp\",\"money_micros\":9000000000000000000,"
	"\"reason\":\"typo\"}",
	400, "want at most", NULL},
    {"SlurmUser adjusts", SLURM, "POST", "/v1/budget/adjust",
	"{\"team\":\"nlp\",\"money_micros\":5,\"reason\":\"ok\"}", 200, "\"id\"", NULL},
};

static void
test_requests(void **state)
{
	struct fixture *const f = *state;
	struct lt_daemon *const d = calloc(1, sizeof(*d));
	struct lt_policy policy = {0};

	for (size_t i = 0; i < sizeof(requests) / sizeof(*requests); i++) {
		char *text = NULL;

		make_world(d, &policy);
		d->ledger = f->ledger;
		const int status = lt_api(d,
		    &(struct lt_api_asked){requests[i].uid, requests[i].method, requests[i].uri,
			requests[i].body, strlen(requests[i].body), NULL},
		    &text);
		if (status != requests[i].status || strstr(text, requests[i].has) == NULL ||
		    (requests[i].has_not != NULL && strstr(text, requests[i].has_not) != NULL))
			fail_msg("%s: %d, %s", requests[i].why, status, text);
		free(text);
	}
	free(d);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_sees),
	    EACH(test_requests),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
