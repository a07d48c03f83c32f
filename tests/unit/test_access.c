/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Each request by each role: which figures and names are in the answer, and no other. Each figure
 * of the world is a number of its own, so that one that is told where it must not be is found
 * wherever it stands.
 */
#include <ctype.h>
#include <grp.h>
#include <jansson.h>
#include <pwd.h>
#include <time.h>

#include "alert.h"
#include "access.h"
#include "access_rows.h"
#include "api_ask.h"
#include "daemon.h"
#include "ledger_fixture.h"
#include "lengths.h"
#include "log.h"
#include "periods.h"

static uint32_t viewer_uid;
static char viewer_group[LT_NAME_SIZE];

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

	must(f, lt_ledger_put_rates(
		    f->ledger, "ondemand", LT_RATE_NODES, &(struct lt_rates){1, &step}, &f->err));
	step.value = 1234567;
	must(f, lt_ledger_put_rates(
		    f->ledger, "ondemand", LT_RATE_PRICE, &(struct lt_rates){1, &step}, &f->err));
}

static void
fill_ledger(struct fixture *f)
{
	own_node(f);
	for (uint32_t i = 0; i < sizeof(runs) / sizeof(*runs); i++) {
		struct lt_run run = make_run(
		    101 + i, NOVEMBER + i * HOUR, NOVEMBER + i * HOUR + 600, runs[i].money_micros);

		run.uid = runs[i].uid;
		(void)strcpy(run.user, runs[i].user);
		(void)strcpy(run.account, runs[i].account);
		run.has_baseline = run.moved = false;
		run.baseline_money_micros = run.baseline_carbon_mg = 0;
		run.carbon_mg = run.energy_wh = 0;
		run.saved_by = (struct lt_saved_by){0};
		if (run.uid == BOB) {
			(void)strcpy(run.over_reason, "price");
			run.held = (struct lt_amount){.has_money = true, .money_micros = 1};
		}
		settle(f, &run, NOVEMBER + LT_DAY_S, NOVEMBER);
		if (run.uid == ADA || run.uid == BOB)
			learn(f, &run, run.uid == ADA ? "secretada" : "secretbob");
	}
}

/* Of teams, and of runs: Ada's and Bob's. */
static void
alert_of(struct fixture *f)
{
	static const struct lt_alert alerts[] = {{.name = "1", .team = "dept", .text = "7700001"},
	    {.name = "2", .team = "vision", .text = "7700002"},
	    {.name = "3", .kind = LT_ALERT_DAY, .team = "nlp", .text = "7700003"},
	    {.name = "4", .kind = LT_ALERT_RUN, .team = "vision", .uid = ADA, .text = "1000003"},
	    {.name = "5", .kind = LT_ALERT_RUN, .team = "vision", .uid = BOB, .text = "2000029"}};

	for (size_t i = 0; i < sizeof(alerts) / sizeof(*alerts); i++)
		must(f, lt_ledger_put_alert(f->ledger, &alerts[i], &f->err));
}

/* That wait, and have quotes: Ada's, Bob's and Dan's. */
static struct lt_batch_job waiting[] = {
    {.job_id = 201, .uid = ADA, .account = "vision", .name = "secretada"},
    {.job_id = 202, .uid = BOB, .account = "vision", .name = "secretbob"},
    {.job_id = 204, .uid = DAN, .account = "audio", .name = ""}};
enum { WAITING = sizeof(waiting) / sizeof(*waiting) };

static void
hold_for(struct fixture *f)
{
	static const char *const users[WAITING] = {"user-ada", "user-bob", "user-dan"};

	for (uint32_t i = 0; i < WAITING; i++) {
		struct lt_ledger_hold hold = make_hold(900 + i, 1);

		waiting[i].user = users[i];
		waiting[i].partition = "ondemand";
		waiting[i].state_text = "PENDING";
		waiting[i].reason_text = "";
		waiting[i].array_task = UINT32_MAX;
		waiting[i].array_pending = 1;
		hold.uid = waiting[i].uid;
		hold.job_id = waiting[i].job_id;
		must(f, lt_ledger_put_hold(f->ledger, &hold, &f->err));
	}
}

static struct lt_account accounts[] = {
    [AUDIO] = {.name = "audio", .first_binding = 0, .binding_count = 2, .parent = VISION + 1},
    [DEPT] = {.name = "dept", .first_binding = 1, .binding_count = 1},
    [NLP] = {.name = "nlp", .first_binding = 2, .binding_count = 2, .parent = DEPT + 1},
    [VISION] = {.name = "vision", .first_binding = 0, .binding_count = 2, .parent = DEPT + 1}};
/* Budgets: dept, nlp, vision. */
static uint32_t bindings[] = {2, 0, 1, 0};
static struct lt_pair pairs[] = {{.uid = ADA, .account = VISION}, {.uid = BOB, .account = VISION},
    {.uid = CEM, .account = NLP}, {.uid = CID, .account = NLP}, {.uid = DAN, .account = AUDIO},
    {.uid = DEB, .account = AUDIO}};
static struct lt_manager managers[] = {{OPERATOR, 0}, {COORDINATOR, VISION + 1}};
static struct lt_batch_manager slurm_managers[] = {
    {OPERATOR, ""}, {COORDINATOR, "vision"}, {COORDINATOR, "audio"}};
static struct lt_batch_account slurm_accounts[] = {
    {"audio", "vision"}, {"dept", ""}, {"nlp", "dept"}, {"vision", "dept"}};
static struct lt_usage usages[] = {
    {.budget = 2, .uid = ADA, .settled = {{true, false, 8800001, 0}}},
    {.budget = 2, .uid = BOB, .settled = {{true, false, 8800002, 0}}}};
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
		    .limit = {.has_money = true, .money_micros = 90000000 - 1000000 * i},
		    .settled = {true, false, spent[i], 0},
		};
	}
	budgets[2].has_per_user = true;
	budgets[2].per_user_limit = (struct lt_amount){.has_money = true, .money_micros = 20000000};
	policy = (struct lt_policy){.currency = "USD",
	    .history_days = 4000,
	    .deadline_confidence_ppm = 950000,
	    .viewer_count = 2,
	    .viewers = {"no-such-group-here"}};
	strcpy(policy.viewers[1], viewer_group);
	*d = (struct lt_daemon){.site.policy = &policy,
	    .ledger = f->ledger,
	    .cycle = no_pass,
	    .args.config = "lowtide.yaml",
	    .jobs = {.every_s = 60,
		.next.list = INT64_MAX,
		.list = {.count = WAITING, .jobs = waiting}},
	    .site.tables = {.conf.slurm_uid = SLURM,
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
	(void)snprintf(d->paths.history, sizeof(d->paths.history), "%s/history", f->dir);
}

static int
ask(struct lt_daemon *d, const struct row *row, uint32_t uid, char **text)
{
	char uri[256];

	(void)snprintf(uri, sizeof(uri), "%s%s", row->path, row->rest);
	return lt_api(d,
	    &(struct lt_api_asked){uid, row->method, uri, row->body, strlen(row->body), NULL},
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

/* The status, and the letter of each figure that is in the answer. */
static void
tell_figures(char *got, size_t size, int status, const char *text)
{
	size_t used = (size_t)snprintf(got, size, "%d ", status);

	for (int n = 0; n < FIGURES; n++)
		if (has(text, figures[n].text))
			got[used++] = figures[n].letter;
	got[used] = '\0';
}

static void
test_each(void **state)
{
	struct fixture *const f = *state;
	struct lt_daemon *const d = calloc(1, sizeof(*d));
	int failed = 0;

	lt_log_open("/dev/null");
	fill_ledger(f);
	hold_for(f);
	alert_of(f);
	for (int i = 0; i < ROWS; i++)
		for (int k = 0; k < ROLES; k++) {
			const uint32_t uid = roles[k].uid == UINT32_MAX ? viewer_uid : roles[k].uid;
			char got[FIGURES + 8], *text = NULL;

			make_world(d, f);
			d->site.tables.private_data = rows[i].private_data;
			must(f, lt_lengths_publish(d->site.policy, d->ledger, &d->charges,
				    d->paths.history, NOVEMBER, &f->err));
			const int status = ask(d, &rows[i], uid, &text);
			tell_figures(got, sizeof(got), status, text);
			if (strcmp(got, rows[i].wants[k]) != 0) {
				print_error("%s, %s: \"%s\", want \"%s\"\n%s\n", rows[i].why,
				    roles[k].name, got, rows[i].wants[k], text);
				failed++;
			}
			free(text);
			free(d->jobs.looks);
		}
	remove_file(f->dir, "history");
	free(d);
	assert_int_equal(failed, 0);
}

/* Who owns vision sees what its coordinator sees, to the byte, and so of what is below it; who owns
 * nlp sees nothing of it. A name is a user's only where it says so. */
static void
test_owner(void **state)
{
	enum { AS_COORDINATOR = 4, AS_EVE = 8 };
	static const struct {
		const char *why, *team;
		bool is_user; /* of the entry */
		int as;
	} cases[] = {
	    {"of the team", "vision", true, AS_COORDINATOR},
	    {"an address alone", "vision", false, AS_EVE},
	    {"of a team that is not there", "gone", true, AS_EVE},
	};
	static struct lt_policy_owners owners;
	const struct passwd *const user = getpwnam("bin");
	struct fixture *const f = *state;
	struct lt_daemon *const d = calloc(1, sizeof(*d));
	int failed = 0;

	assert_non_null(user);
	lt_log_open("/dev/null");
	fill_ledger(f);
	hold_for(f);
	alert_of(f);
	for (int c = 0; c < 3; c++)
		for (int i = 0; i < ROWS; i++) {
			char got[FIGURES + 8], *text = NULL;

			make_world(d, f);
			owners = (struct lt_policy_owners){
			    .count = 2, .to = {"", "user-ada"}, .user = {"", "user-ada"}};
			(void)strcpy(owners.team, cases[c].team);
			(void)strcpy(owners.to[0], user->pw_name);
			if (cases[c].is_user)
				(void)strcpy(owners.user[0], user->pw_name);
			policy.notify.owner_count = 1;
			policy.notify.owners = &owners;
			d->site.tables.private_data = rows[i].private_data;
			must(f, lt_lengths_publish(d->site.policy, d->ledger, &d->charges,
				    d->paths.history, NOVEMBER, &f->err));
			const int status = ask(d, &rows[i], user->pw_uid, &text);
			tell_figures(got, sizeof(got), status, text);
			if (strcmp(got, rows[i].wants[cases[c].as]) != 0) {
				print_error("%s, %s: \"%s\", want \"%s\"\n%s\n", rows[i].why,
				    cases[c].why, got, rows[i].wants[cases[c].as], text);
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
			found |=
			    strcmp(rows[k].method, method) == 0 && strcmp(rows[k].path, path) == 0;
		if (!found)
			fail_msg("%s %s has no row here", method, path);
	}
}

/* That there is a team is not told either. */
static void
test_same_text(void **state)
{
	static const struct row known[] = {{"", "GET", "/v1/budget", "?team=nlp", "", 0, {NULL}},
	    {"", "GET", "/v1/report", "?team=nlp", "", 0, {NULL}}};
	static const struct row unknown[] = {{"", "GET", "/v1/budget", "?team=xyz", "", 0, {NULL}},
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

/* Jobs that were refused are of who sees the team's sums. */
static void
test_refused(void **state)
{
	static const struct {
		const char *why;
		uint32_t uid, private;
		json_int_t jobs; /* 0: no word of them */
	} asks[] = {
	    {"root", 0, 0, 8},
	    {"an operator", OPERATOR, LT_PRIVATE_USAGE, 8},
	    {"vision's coordinator", COORDINATOR, LT_PRIVATE_USAGE, 3},
	    {"a member", ADA, 0, 3},
	    {"a member where usage is private", ADA, LT_PRIVATE_USAGE, 0},
	};
	struct fixture *const f = *state;
	struct lt_daemon *const d = calloc(1, sizeof(*d));

	for (int i = 0; i < 8; i++)
		must(f, lt_ledger_add_refused(
			    f->ledger, i < 3 ? "vision" : "nlp", NOVEMBER + i / 2 * HOUR, &f->err));
	for (size_t i = 0; i < sizeof(asks) / sizeof(asks[0]); i++) {
		static const struct row report = {
		    "", "GET", "/v1/report", "?period=2026-11", "", 0, {NULL}};
		char *text = NULL;

		print_message("# %s\n", asks[i].why);
		make_world(d, f);
		d->site.tables.private_data = asks[i].private;
		assert_int_equal(ask(d, &report, asks[i].uid, &text), 200);
		json_t *const answer = json_loads(text, 0, NULL);
		const json_t *const refused = json_object_get(answer, "refused");
		assert_int_equal(
		    json_integer_value(json_object_get(refused, "jobs")), asks[i].jobs);
		assert_int_equal(added(json_object_get(refused, "teams"), "jobs"), asks[i].jobs);
		assert_int_equal(refused != NULL, asks[i].jobs != 0);
		json_decref(answer);
		free(text);
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
	const struct group *const group = user != NULL ? getgrgid(user->pw_gid) : NULL;

	(void)state;
	if (group == NULL)
		return -1;
	viewer_uid = user->pw_uid;
	(void)snprintf(viewer_group, sizeof(viewer_group), "%s", group->gr_name);
	return setenv("TZ", "UTC", 1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_all_are_here),
	    EACH(test_each),
	    EACH(test_owner),
	    EACH(test_same_text),
	    EACH(test_nobody),
	    EACH(test_refused),
	};

	return cmocka_run_group_tests(tests, find_viewer, NULL);
}
