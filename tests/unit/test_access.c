/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Each request by each role: which figures and names are in the answer, and no
 * other. Each figure of the world is a number of its own, so that one that is
 * told where it must not be is found wherever it stands.
 */
#include <ctype.h>
#include <grp.h>
#include <jansson.h>
#include <pwd.h>
#include <time.h>

#include "access.h"
#include "daemon.h"
#include "ledger_fixture.h"
#include "lengths.h"
#include "log.h"

/* dept has vision and nlp below it, vision has audio. Ada and Bob are in
 * vision, Cem and Cid in nlp, Dan and Deb in audio. */
enum {
	SLURM = 64030,
	ADA = 3001000,
	BOB,
	CEM,
	CID,
	DAN,
	DEB,
	OPERATOR,
	COORDINATOR, /* of vision; in no account */
	EVE,	     /* in nothing */
};
enum { AUDIO, DEPT, NLP, VISION, ACCOUNTS };

/* What may stand in an answer: a number, or a word. */
static const struct {
	char letter;
	const char *text;
} figures[] = {
    {'a', "1000003"}, {'b', "2000029"}, {'c', "3000017"}, {'e', "5000011"},
    {'d', "4000037"}, {'f', "6000001"}, /* the runs of each */
    {'A', "user-ada"}, {'B', "user-bob"}, {'C', "user-cem"}, {'E', "user-cid"},
    {'D', "user-dan"}, {'F', "user-deb"}, {'V', "3000032"}, /* vision: a + b */
    {'N', "8000028"},					    /* nlp: c + e */
    {'U', "10000038"},					    /* audio: d + f */
    {'S', "13000070"},			    /* vision and audio */
    {'T', "21000098"},			    /* all */
    {'1', "7700001"},			    /* dept has spent, */
    {'2', "7700002"},			    /* vision, */
    {'3', "7700003"},			    /* and nlp */
    {'x', "8800001"},			    /* Ada of her cap, */
    {'y', "8800002"},			    /* and Bob of his */
    {'h', "9900001"},			    /* holds of all who wait */
    {'o', "2000028"},			    /* above holds */
    {'j', "secretada"},			    /* names of jobs */
    {'k', "secretbob"}, {'P', "592592160"}, /* paid for a node in 480 hours, */
    {'O', "571592062"},			    /* and not used */
};
enum { FIGURES = sizeof(figures) / sizeof(*figures) };

static const struct {
	const char *name;
	uint32_t uid; /* of the viewer: below */
} roles[] = {
    {"root", 0},
    {"SlurmUser", SLURM},
    {"viewer", UINT32_MAX},
    {"operator", OPERATOR},
    {"coordinator", COORDINATOR},
    {"Ada, of vision", ADA},
    {"Dan, of audio below it", DAN},
    {"Cem, of nlp", CEM},
    {"Eve, of nothing", EVE},
};
enum { ROLES = sizeof(roles) / sizeof(*roles) };

static uint32_t viewer_uid;
static char viewer_group[LT_NAME_SIZE];

#define ALL9(x) x, x, x, x, x, x, x, x, x
/* For those who see all, then one by one. */
#define TOP(x) x, x, x, x

static const struct row {
	const char *why, *method, *path, *rest, *body;
	uint32_t private_data;
	/* By role: status, and the figures in the order of the table. */
	const char *wants[ROLES];
} rows[] = {
    {"status", "GET", "/v1/status", "", "", 0,
	{TOP("200 ho"), "200 ", "200 ", "200 ", "200 ", "200 "}},
    {"budgets", "GET", "/v1/budget", "", "", 0,
	{TOP("200 123xy"), "200 2xy", "200 12x", "200 12", "200 13", "403 "}},
    {"budgets where usage is private", "GET", "/v1/budget", "", "",
	LT_PRIVATE_USAGE,
	{TOP("200 123xy"), "200 2xy", "200 x", "403 ", "403 ", "403 "}},
    {"budgets where accounts are private", "GET", "/v1/budget", "", "",
	LT_PRIVATE_ACCOUNTS,
	{TOP("200 123xy"), "200 2xy", "200 2x", "200 ", "200 3", "403 "}},
    {"a team's", "GET", "/v1/budget", "?team=nlp", "", 0,
	{TOP("200 3"), "404 ", "404 ", "404 ", "200 3", "403 "}},
    {"a report", "GET", "/v1/report", "?period=2026-11", "", 0,
	{TOP("200 VNUT123"), "200 VUS2", "200 V12", "200 VUS12", "200 N13",
	    "403 "}},
    {"a report where usage is private", "GET", "/v1/report", "?period=2026-11",
	"", LT_PRIVATE_USAGE,
	{TOP("200 VNUT123"), "200 VUS2", "200 a", "200 d", "200 c", "403 "}},
    {"a report where accounts are private", "GET", "/v1/report",
	"?period=2026-11", "", LT_PRIVATE_ACCOUNTS,
	{TOP("200 VNUT123"), "200 VUS2", "200 V2", "200 U", "200 N3", "403 "}},
    {"what jobs there are is no sum", "GET", "/v1/report", "?period=2026-11",
	"", LT_PRIVATE_JOBS,
	{TOP("200 VNUT123"), "200 VUS2", "200 V12", "200 VUS12", "200 N13",
	    "403 "}},
    {"a team's report", "GET", "/v1/report", "?period=2026-11&team=nlp", "", 0,
	{TOP("200 N3"), "404 ", "404 ", "404 ", "200 N3", "403 "}},
    {"a team above", "GET", "/v1/report", "?period=2026-11&team=dept", "", 0,
	{TOP("200 VNUT123"), "200 VUS2", "200 V12", "200 VUS12", "200 N13",
	    "403 "}},
    {"with its runs", "GET", "/v1/report", "?period=2026-11&runs=all", "", 0,
	{TOP("200 abcedfABCEDFVNUT123"), "200 abdfABDFVUS2", "200 aAV12",
	    "200 dDVUS12", "200 cCN13", "403 "}},
    {"with its runs where usage is private", "GET", "/v1/report",
	"?period=2026-11&runs=all", "", LT_PRIVATE_USAGE,
	{TOP("200 abcedfABCEDFVNUT123"), "200 abdfABDFVUS2", "200 aA", "200 dD",
	    "200 cC", "403 "}},
    {"with its runs, but no users", "GET", "/v1/report",
	"?period=2026-11&runs=all&users=0", "", 0,
	{TOP("200 abcedfVNUT123"), "200 abdfVUS2", "200 aV12", "200 dVUS12",
	    "200 cN13", "403 "}},
    {"energy and carbon", "GET", "/v1/report", "?period=2026-11&carbon=1", "",
	0,
	{TOP("200 VNUT123"), "200 VUS2", "200 V12", "200 VUS12", "200 N13",
	    "403 "}},
    {"what was not used", "GET", "/v1/report", "?period=2026-11&unused=1", "",
	0,
	{TOP("200 VNUT123PO"), "200 VUS2", "200 V12", "200 VUS12", "200 N13",
	    "403 "}},
    {"what was not used is no team's", "GET", "/v1/report",
	"?period=2026-11&unused=1&team=nlp", "", 0,
	{TOP("200 N3"), "404 ", "404 ", "404 ", "200 N3", "403 "}},
    {"each hour of its runs", "GET", "/v1/report",
	"?period=2026-11&carbon=hours", "", 0,
	{TOP("200 abcedfVNUT123"), "200 abdfVUS2", "200 aV12", "200 dVUS12",
	    "200 cN13", "403 "}},
    {"each hour where usage is private", "GET", "/v1/report",
	"?period=2026-11&carbon=hours", "", LT_PRIVATE_USAGE,
	{TOP("200 abcedfVNUT123"), "200 abdfVUS2", "200 a", "200 d", "200 c",
	    "403 "}},
    {"a page of runs", "GET", "/v1/report", "?period=2026-11&after=", "", 0,
	{TOP("200 abcedfABCEDF"), "200 abdfABDF", "200 aA", "200 dD", "200 cC",
	    "403 "}},
    {"a page without users", "GET", "/v1/report",
	"?period=2026-11&after=&users=0", "", 0,
	{TOP("200 abcedf"), "200 abdf", "200 a", "200 d", "200 c", "403 "}},
    {"of a team, from a place in it", "GET", "/v1/report",
	"?period=2026-11&team=vision&limit=1&after=0.1.1.0.0.1.1.vision", "", 0,
	{TOP("200 aA"), "200 aA", "200 aA", "200 ", "404 ", "403 "}},
    {"neither one nor the other", "GET", "/v1/report",
	"?period=2026-11&users=2", "", 0,
	{TOP("400 "), "400 ", "400 ", "400 ", "400 ", "403 "}},
    {"by user without users", "GET", "/v1/report",
	"?period=2026-11&users=0&by=day;team,user", "", 0,
	{TOP("400 "), "400 ", "400 ", "400 ", "400 ", "403 "}},
    {"by name", "GET", "/v1/report", "?period=2026-11&team=vision&by=name", "",
	0, {TOP("200 VUS2"), "200 VUS2", "403 ", "403 ", "404 ", "403 "}},
    {"by something else where usage is private", "GET", "/v1/report",
	"?period=2026-11&by=day", "", LT_PRIVATE_USAGE,
	{TOP("200 VNUT123"), "200 VUS2", "403 ", "403 ", "403 ", "403 "}},
    {"Ada's job", "GET", "/v1/explain/", "101", "", 0,
	{TOP("200 aA"), "200 aA", "200 aA", "403 ", "403 ", "403 "}},
    {"Dan's job", "GET", "/v1/explain/", "104", "", 0,
	{TOP("200 dD"), "200 dD", "403 ", "200 dD", "403 ", "403 "}},
    {"Bob's job where jobs are private", "GET", "/v1/explain/", "102", "",
	LT_PRIVATE_JOBS,
	{TOP("200 bB"), "200 bB", "404 ", "404 ", "404 ", "404 "}},
    {"Ada's job at once", "POST", "/v1/now/", "101", "", 0,
	{"409 ", "409 ", "403 ", "403 ", "403 ", "409 ", "403 ", "403 ",
	    "403 "}},
    {"at once where jobs are private", "POST", "/v1/now/", "101", "",
	LT_PRIVATE_JOBS,
	{"409 ", "409 ", "403 ", "403 ", "404 ", "409 ", "404 ", "404 ",
	    "404 "}},
    {"one's own lengths", "GET", "/v1/history", "", "", 0,
	{TOP("200 "), "200 ", "200 j", "200 ", "200 ", "200 "}},
    {"Bob's lengths", "GET", "/v1/history", "?user=3001001", "", 0,
	{TOP("200 k"), "403 ", "403 ", "403 ", "403 ", "403 "}},
    {"the balance of vision", "GET", "/v1/balance", "?account=vision", "", 0,
	{TOP("200 2"), "404 ", "200 2", "404 ", "404 ", "404 "}},
    {"the balance where usage is private", "GET", "/v1/balance",
	"?account=vision", "", LT_PRIVATE_USAGE,
	{TOP("200 2"), "404 ", "200 ", "404 ", "404 ", "404 "}},
    {"Ada's balance for another", "GET", "/v1/balance",
	"?account=vision&uid=3001000", "", 0,
	{"200 2", "200 2", "403 ", "403 ", "403 ", "403 ", "403 ", "403 ",
	    "403 "}},
    {"the rebuild", "GET", "/v1/rebuild", "", "", 0,
	{"200 ", "200 ", "403 ", "403 ", "403 ", "403 ", "403 ", "403 ",
	    "403 "}},
    {"a rebuild", "POST", "/v1/rebuild", "", "", 0,
	{"503 ", "503 ", "403 ", "403 ", "403 ", "403 ", "403 ", "403 ",
	    "403 "}},
    {"notices", "GET", "/v1/notice", "", "", 0,
	{"200 ", "200 ", "403 ", "403 ", "403 ", "403 ", "403 ", "403 ",
	    "403 "}},
    {"a notice without an end", "POST", "/v1/notice", "", "{\"node\":\"v1\"}",
	0,
	{"400 ", "400 ", "403 ", "403 ", "403 ", "403 ", "403 ", "403 ",
	    "403 "}},
    {"balances", "GET", "/v1/balances", "", "", 0, {ALL9("200 ")}},
    {"what is closed", "GET", "/v1/closed", "", "", 0, {ALL9("200 ")}},
    {"close", "POST", "/v1/close", "", "{\"period\":\"2099-10\"}", 0,
	{"409 ", "409 ", "403 ", "403 ", "403 ", "403 ", "403 ", "403 ",
	    "403 "}},
    {"the market", "GET", "/v1/market", "", "", 0, {ALL9("503 ")}},
    {"a plan", "POST", "/v1/plan", "", "{}", 0, {ALL9("503 ")}},
    {"a manifest, before there is a market", "POST", "/v1/plan/manifest", "",
	"{}", 0, {ALL9("503 ")}},
    {"a plan for another", "POST", "/v1/plan", "?uid=3001000", "{}", 0,
	{"503 ", "503 ", "403 ", "403 ", "403 ", "403 ", "403 ", "403 ",
	    "403 "}},
    {"signals", "GET", "/v1/signals", "", "", 0, {ALL9("200 ")}},
    {"points", "GET", "/v1/signals/export", "?source=none", "", 0,
	{ALL9("404 ")}},
    {"errors", "GET", "/v1/signals/errors", "", "", 0, {ALL9("200 ")}},
    /* What changes something goes last. */
    {"adjust", "POST", "/v1/budget/adjust", "",
	"{\"team\":\"nlp\",\"money_micros\":5,\"reason\":\"r\"}", 0,
	{"200 ", "200 ", "403 ", "403 ", "403 ", "403 ", "403 ", "403 ",
	    "403 "}},
    {"forget", "POST", "/v1/history/forget", "", "{\"user\":\"3001001\"}", 0,
	{"200 ", "200 ", "403 ", "403 ", "403 ", "403 ", "403 ", "403 ",
	    "403 "}},
};
enum { ROWS = sizeof(rows) / sizeof(*rows) };

/* ---- the world ---- */

/* The clock: status looks 30 days back. */
time_t
time(time_t *out)
{
	const time_t now = NOVEMBER + 20 * LT_DAY_S;

	if (out != NULL)
		*out = now;
	return now;
}

/* Slurm's: Ada's job 101 waits, and nothing delays it. */
int
lt_batch_jobs(struct lt_batch_jobs *jobs, uint32_t job_id, struct lt_error *err)
{
	*jobs = (struct lt_batch_jobs){0};
	if (job_id != 101)
		return lt_fail(err, LT_ENOENT, "no such job");
	jobs->jobs = calloc(1, sizeof(*jobs->jobs));
	jobs->count = 1;
	jobs->jobs[0] = (struct lt_batch_job){.job_id = 101,
	    .uid = ADA,
	    .user = "user-ada",
	    .account = "vision",
	    .partition = "p",
	    .name = "",
	    .state_text = "PENDING",
	    .admin_comment = ""};
	return LT_OK;
}

static const struct {
	uint32_t uid;
	const char *user, *account;
	int64_t money_micros;
} runs[] = {
    {ADA, "user-ada", "vision", 1000003},
    {BOB, "user-bob", "vision", 2000029},
    {CEM, "user-cem", "nlp", 3000017},
    {DAN, "user-dan", "audio", 4000037},
    {CID, "user-cid", "nlp", 5000011},
    {DEB, "user-deb", "audio", 6000001},
};

static void
learn(struct fixture *f, const struct lt_run *run, const char *name)
{
	struct lt_batch_run row = {.limit_s = 7200};
	const struct lt_ended_run ended = {.row = &row, .run = run};

	(void)strcpy(row.state_text, "COMPLETED");
	(void)strcpy(row.partition, "ondemand");
	(void)snprintf(row.name, sizeof(row.name), "%s", name);
	must(f, lt_lengths_learn(f->ledger, &ended, 0, &f->err));
}

static void
own_node(struct fixture *f)
{
	struct lt_rate_step step = {.start_utc_s = NOVEMBER,
	    .end_utc_s = INT64_MAX,
	    .value = 1,
	    .quality = LT_QUALITY_CONSTANT};

	must(f, lt_ledger_put_rates(f->ledger, "ondemand", LT_RATE_NODES,
		    &(struct lt_rates){1, &step}, &f->err));
	step.value = 1234567;
	must(f, lt_ledger_put_rates(f->ledger, "ondemand", LT_RATE_PRICE,
		    &(struct lt_rates){1, &step}, &f->err));
}

static void
fill_ledger(struct fixture *f)
{
	own_node(f);
	for (uint32_t i = 0; i < sizeof(runs) / sizeof(*runs); i++) {
		struct lt_run run = make_run(101 + i, NOVEMBER + i * HOUR,
		    NOVEMBER + i * HOUR + 600, runs[i].money_micros);

		run.uid = runs[i].uid;
		(void)strcpy(run.user, runs[i].user);
		(void)strcpy(run.account, runs[i].account);
		run.has_baseline = run.moved = false;
		run.baseline_money_micros = run.baseline_carbon_mg = 0;
		run.carbon_mg = run.energy_wh = 0;
		run.saved_by = (struct lt_saved_by){0};
		if (run.uid == BOB) {
			(void)strcpy(run.over_reason, "price");
			run.held = (struct lt_amount){
			    .has_money = true, .money_micros = 1};
		}
		settle(f, &run, NOVEMBER + LT_DAY_S, NOVEMBER);
		if (run.uid == ADA || run.uid == BOB)
			learn(f, &run,
			    run.uid == ADA ? "secretada" : "secretbob");
	}
}

static struct lt_account accounts[] = {[AUDIO] = {.name = "audio",
					   .first_binding = 0,
					   .binding_count = 2,
					   .parent = VISION + 1},
    [DEPT] = {.name = "dept", .first_binding = 1, .binding_count = 1},
    [NLP] = {.name = "nlp",
	.first_binding = 2,
	.binding_count = 2,
	.parent = DEPT + 1},
    [VISION] = {.name = "vision",
	.first_binding = 0,
	.binding_count = 2,
	.parent = DEPT + 1}};
/* Budgets: dept, nlp, vision. */
static uint32_t bindings[] = {2, 0, 1, 0};
static struct lt_pair pairs[] = {{.uid = ADA, .account = VISION},
    {.uid = BOB, .account = VISION}, {.uid = CEM, .account = NLP},
    {.uid = CID, .account = NLP}, {.uid = DAN, .account = AUDIO},
    {.uid = DEB, .account = AUDIO}};
static struct lt_manager managers[] = {
    {OPERATOR, 0}, {COORDINATOR, VISION + 1}};
static struct lt_batch_manager slurm_managers[] = {
    {OPERATOR, ""}, {COORDINATOR, "vision"}, {COORDINATOR, "audio"}};
static struct lt_batch_account slurm_accounts[] = {
    {"dept", ""}, {"vision", "dept"}, {"nlp", "dept"}, {"audio", "vision"}};
static struct lt_usage usages[] = {{2, ADA, {{true, false, 8800001, 0}}, {{0}}},
    {2, BOB, {{true, false, 8800002, 0}}, {{0}}}};
static struct lt_budget budgets[3];
static struct lt_policy policy;

static int
no_pass(struct lt_daemon *d, int64_t now_utc_s)
{
	(void)d;
	(void)now_utc_s;
	return 1;
}

static void
make_world(struct lt_daemon *d, struct fixture *f)
{
	static const char *const teams[] = {"dept", "nlp", "vision"};
	static const int64_t spent[] = {7700001, 7700003, 7700002};

	for (int i = 0; i < 3; i++) {
		budgets[i] = (struct lt_budget){0};
		strcpy(budgets[i].team, teams[i]);
		budgets[i].periods[0] = (struct lt_period){
		    .start_utc_s = NOVEMBER,
		    .end_utc_s = DECEMBER,
		    .label = "November",
		    .limit = {.has_money = true,
			.money_micros = 90000000 - 1000000 * i},
		    .settled = {true, false, spent[i], 0},
		};
	}
	budgets[2].has_per_user = true;
	budgets[2].per_user_limit =
	    (struct lt_amount){.has_money = true, .money_micros = 20000000};
	policy = (struct lt_policy){.currency = "USD",
	    .history_days = 4000,
	    .deadline_confidence_ppm = 950000,
	    .viewer_count = 2,
	    .viewers = {"no-such-group-here"}};
	strcpy(policy.viewers[1], viewer_group);
	*d = (struct lt_daemon){.policy = &policy,
	    .ledger = f->ledger,
	    .cycle = no_pass,
	    .args.config = "lowtide.yaml",
	    .jobs.every_s = 60,
	    .next.jobs = INT64_MAX,
	    .tables = {.conf.slurm_uid = SLURM,
		.accounts = slurm_accounts,
		.account_count = 4,
		.managers = slurm_managers,
		.manager_count = 3},
	    .budget = {.has_snapshot = true,
		.open = {.pending_money_micros = 9900001},
		.snapshot = {.ready = true,
		    .accounts = accounts,
		    .account_count = ACCOUNTS,
		    .bindings = bindings,
		    .binding_count = 4,
		    .budgets = budgets,
		    .budget_count = 3,
		    .pairs = pairs,
		    .pair_count = 6,
		    .managers = managers,
		    .manager_count = 2,
		    .usages = usages,
		    .usage_count = 2}}};
	(void)snprintf(
	    d->paths.history, sizeof(d->paths.history), "%s/history", f->dir);
}

static int
ask(struct lt_daemon *d, const struct row *row, uint32_t uid, char **text)
{
	char uri[256];

	(void)snprintf(uri, sizeof(uri), "%s%s", row->path, row->rest);
	return lt_api(d,
	    &(struct lt_api_asked){
		uid, row->method, uri, row->body, strlen(row->body)},
	    text);
}

/* A number only whole: 1000003 is in 10000038 too. */
static bool
has(const char *text, const char *figure)
{
	const bool number = isdigit((unsigned char)figure[0]);

	for (const char *at = text; (at = strstr(at, figure)) != NULL; at++)
		if (!number || (!isdigit((unsigned char)at[-1]) &&
				   !isdigit((unsigned char)at[strlen(figure)])))
			return true;
	return false;
}

static void
test_each(void **state)
{
	struct fixture *const f = *state;
	struct lt_daemon *const d = calloc(1, sizeof(*d));
	int failed = 0;

	lt_log_open("/dev/null");
	fill_ledger(f);
	for (int i = 0; i < ROWS; i++)
		for (int k = 0; k < ROLES; k++) {
			const uint32_t uid = roles[k].uid == UINT32_MAX
						 ? viewer_uid
						 : roles[k].uid;
			char got[FIGURES + 8], *text = NULL;

			make_world(d, f);
			d->tables.private_data = rows[i].private_data;
			must(f, lt_lengths_publish(d, NOVEMBER, &f->err));
			const int status = ask(d, &rows[i], uid, &text);
			size_t used =
			    (size_t)snprintf(got, sizeof(got), "%d ", status);
			for (int n = 0; n < FIGURES; n++)
				if (has(text, figures[n].text))
					got[used++] = figures[n].letter;
			got[used] = '\0';
			if (strcmp(got, rows[i].wants[k]) != 0) {
				print_error("%s, %s: \"%s\", want \"%s\"\n%s\n",
				    rows[i].why, roles[k].name, got,
				    rows[i].wants[k], text);
				failed++;
			}
			free(text);
			free(d->jobs.looks);
		}
	remove_file(f->dir, "history");
	free(d);
	assert_int_equal(failed, 0);
}

/* A request that no row asks would be tested by nobody. */
static void
test_all_are_here(void **state)
{
	const char *method, *path;

	(void)state;
	for (size_t i = 0; lt_api_request_at(i, &method, &path); i++) {
		bool found = false;

		for (int k = 0; k < ROWS; k++)
			found |= strcmp(rows[k].method, method) == 0 &&
				 strcmp(rows[k].path, path) == 0;
		if (!found)
			fail_msg("%s %s has no row here", method, path);
	}
}

/* That there is a team is not told either. */
static void
test_same_text(void **state)
{
	static const struct row known[] = {
	    {"", "GET", "/v1/budget", "?team=nlp", "", 0, {NULL}},
	    {"", "GET", "/v1/report", "?team=nlp", "", 0, {NULL}}};
	static const struct row unknown[] = {
	    {"", "GET", "/v1/budget", "?team=xyz", "", 0, {NULL}},
	    {"", "GET", "/v1/report", "?team=xyz", "", 0, {NULL}}};
	struct fixture *const f = *state;
	struct lt_daemon *const d = calloc(1, sizeof(*d));

	make_world(d, f);
	for (int i = 0; i < 2; i++) {
		char *a = NULL, *b = NULL, *name;

		assert_int_equal(ask(d, &known[i], ADA, &a), 404);
		assert_int_equal(ask(d, &unknown[i], ADA, &b), 404);
		while ((name = strstr(b, "xyz")) != NULL)
			memcpy(name, "nlp", 3);
		assert_string_equal(a, b);
		free(a);
		free(b);
	}
	free(d);
}

/* Nobody is nobody's runs' user, nor anybody's coordinator. */
static void
test_nobody(void **state)
{
	struct fixture *const f = *state;
	struct lt_daemon *const d = calloc(1, sizeof(*d));

	make_world(d, f);
	const struct lt_api_request request = {.uid = LT_NOBODY_UID};
	const struct lt_access access = lt_access_of(d, &request);

	assert_false(lt_access_all(&access));
	assert_false(lt_access_job(&access, LT_NOBODY_UID, "vision"));
	assert_false(lt_access_sums(&access, "vision"));
	free(d);
}

/* A real user of this system, and his real primary group. */
static int
find_viewer(void **state)
{
	const struct passwd *const user = getpwnam("daemon");
	const struct group *const group =
	    user != NULL ? getgrgid(user->pw_gid) : NULL;

	(void)state;
	if (group == NULL)
		return -1;
	viewer_uid = user->pw_uid;
	(void)snprintf(
	    viewer_group, sizeof(viewer_group), "%s", group->gr_name);
	return setenv("TZ", "UTC", 1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_all_are_here),
	    EACH(test_each),
	    EACH(test_same_text),
	    EACH(test_nobody),
	};

	return cmocka_run_group_tests(tests, find_viewer, NULL);
}
