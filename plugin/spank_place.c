/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The client's part, after all options are known. With job_submit/lowtide in
 * slurmctld it only hands them on; without it, it decides here by the same
 * lt_decide() on the same request, sets what the plan says as if the user had
 * typed it, and refuses what the team's balance can't pay.
 */
#include "spank_parts.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "budget.h"
#include "files.h"
#include "quote.h"
#include "refusal.h"
#include "text.h"

/* Of libslurmfull, the same on 22.05, 24.11 and 26.05; looked up because no
 * installed header has them. */
typedef int set_option(
    void *opt, const char *name, const char *value, bool early);
typedef char *get_option(void *opt, const char *name);
typedef job_desc_msg_t *make_job(void *opt, bool set_defaults);

enum { SOON_S = 60 };

struct client {
	void *opt;
	set_option *set;
	get_option *get;
	make_job *job;
	bool is_batch;
};

struct placement {
	struct client client;
	job_desc_msg_t *job;
	void *array; /* the text of --array, Slurm's memory */
	struct lt_market market;
	struct lt_request request;
	struct lt_plan plan;
	struct lt_quote quote;
	bool asked, applies;
	int64_t now_utc_s;
};

/* Function pointers from dlsym() by way of memcpy: ISO C has no cast. */
static bool
symbol(void *function, const char *name)
{
	void *const address = dlsym(RTLD_DEFAULT, name);

	memcpy(function, &address, sizeof(address));
	return address != NULL;
}

static bool
find_client(struct client *client)
{
	client->opt = dlsym(RTLD_DEFAULT, "opt");
	client->is_batch = dlsym(RTLD_DEFAULT, "sbopt") != NULL;
	return symbol(&client->set, "slurm_option_set") &&
	       symbol(&client->get, "slurm_option_get") &&
	       symbol(&client->job, "slurm_opt_create_job_desc") && client->opt;
}

/* lowtided writes the market as SlurmUser; we are whoever submits. */
static void
trust_slurm_user(void)
{
	const slurm_conf_t *const conf = dlsym(RTLD_DEFAULT, "slurm_conf");

	if (conf)
		lt_file_trust(conf->slurm_user_id);
}

/* Does slurmctld have job_submit/lowtide? */
static bool
has_job_submit(void)
{
	const slurm_conf_t *conf;
	const char *word;

	if (lt_spank.job_submit != LT_PRESENCE_AUTO)
		return lt_spank.job_submit == LT_PRESENCE_YES;
	conf = dlsym(RTLD_DEFAULT, "slurm_conf");
	word = conf ? conf->job_submit_plugins : NULL;
	while (word && *word) {
		const size_t length = strcspn(word, ",");

		if ((length == 7 && strncmp(word, "lowtide", 7) == 0) ||
		    (length == 18 &&
			strncmp(word, "job_submit/lowtide", 18) == 0))
			return true;
		word += length;
		word += *word != '\0';
	}
	return false;
}

static void
no_plan(struct lt_error *err)
{
	lt_text_line(err->text);
	slurm_info("lowtide: no plan: %s", err->text);
}

static bool
set(const struct placement *p, const char *name, const char *value)
{
	if (p->client.set(p->client.opt, name, value, false) == 0)
		return true;
	slurm_error("lowtide: --%s=%s can't be set: the job stays as it was",
	    name, value);
	return false;
}

/* A component of a heterogeneous job: ":" on the command line, or more than
 * one call ("#SBATCH hetjob"; then the first component is not known yet). */
static bool
is_het(void)
{
	static int calls;
	char line[16384];
	FILE *const stream = fopen("/proc/self/cmdline", "re");
	const size_t length = stream ? fread(line, 1, sizeof(line), stream) : 0;

	if (stream)
		fclose(stream);
	/* Arguments are separated by NUL. */
	return calls++ > 0 || memmem(line, length, "\0:", 3) != NULL;
}

/* The job as slurmctld will get it. Not freed: parts of it are the command's
 * own, and the command ends soon. */
static bool
make_request(struct placement *p, struct lt_error *err)
{
	p->job = p->client.job(p->client.opt, true);
	if (!p->job)
		return false; /* the command says why, and fails by itself */
	if (p->client.is_batch) {
		p->array = p->client.get(p->client.opt, "array");
		p->job->script = (char *)(uintptr_t) "";
		/* "unset" is how some options say that they are not set. */
		if (p->array && strcmp(p->array, "unset") != 0)
			p->job->array_inx = p->array;
	}
	p->job->user_id = getuid();
	p->job->het_job_offset = is_het() ? 0 : NO_VAL;
	return lt_request_from_job(
		   &p->request, p->job, &p->market, p->now_utc_s, err) == LT_OK;
}

/* Resolve by the home partition what the user left open. */
static bool
set_home_defaults(const struct placement *p)
{
	const struct lt_partition *const home =
	    &p->market.partitions[p->request.home];
	const int64_t limit_s =
	    lt_limit_of(&p->request, &p->market, p->request.home);
	char text[32];

	if (p->job->time_limit == NO_VAL && limit_s > 0) {
		snprintf(text, sizeof(text), "%" PRId64, (limit_s + 59) / 60);
		if (!set(p, "time", text))
			return false;
	}
	if (p->job->pn_min_memory == NO_VAL64 && !p->job->mem_per_tres &&
	    home->default_memory_mib > 0) {
		snprintf(text, sizeof(text), "%" PRIu64 "M",
		    home->default_memory_mib);
		return set(p,
		    home->default_memory_is_per_cpu ? "mem-per-cpu" : "mem",
		    text);
	}
	return true;
}

static void
set_comment(const struct placement *p, const char *partition)
{
	char text[LT_NAME_SIZE + 64], when[32];

	if (p->job->comment && p->job->comment[0] != '\0')
		return;
	snprintf(text, sizeof(text), "lowtide: %s from %s", partition,
	    lt_utc_text(when, sizeof(when), p->plan.chosen.start_utc_s));
	set(p, "comment", text);
}

static void
carry_out(const struct placement *p)
{
	const struct lt_estimate *const chosen = &p->plan.chosen;
	const struct lt_partition *const partition =
	    &p->market.partitions[chosen->partition];
	const bool elsewhere = chosen->partition != p->request.home;
	char text[64];

	/* Defaults first: if they can't be set, nothing is moved. */
	if (elsewhere && !set_home_defaults(p))
		return;
	if ((elsewhere || p->request.named_count > 1) &&
	    !set(p, "partition", partition->name))
		return;
	if (chosen->start_utc_s > p->now_utc_s + SOON_S &&
	    !(p->request.pins & (LT_PIN_BEGIN | LT_PIN_INTERACTIVE))) {
		snprintf(
		    text, sizeof(text), "uts%" PRId64, chosen->start_utc_s);
		if (!set(p, "begin", text))
			return;
	}
	if (p->client.is_batch && p->request.checkpoint.enabled &&
	    (partition->flags & LT_PARTITION_PREEMPTIBLE)) {
		void *said = p->client.get(p->client.opt, "requeue");

		if (said && strcmp(said, "unset") == 0)
			set(p, "requeue", "");
		slurm_xfree(&said);
	}
	set_comment(p, partition->name);
}

/* A signal only where the user named one, and no --signal of their own. */
static void
set_signal(const struct placement *p)
{
	const struct lt_options *const options = &lt_spank.options;
	char text[64];

	if (p->market.mode != LT_MODE_ENFORCE ||
	    options->checkpoint_signal[0] == '\0' || p->job->warn_signal != 0)
		return;
	snprintf(text, sizeof(text), "%s@%u", options->checkpoint_signal,
	    options->checkpoint_signal_before_s > 0
		? options->checkpoint_signal_before_s
		: 60);
	set(p, "signal", text);
}

/* What the job may cost at most, where it will go. */
static bool
price(struct placement *p)
{
	int partitions[LT_PARTITIONS_MAX];
	int count = 0;
	int64_t earliest = p->request.earliest_utc_s;

	if (p->applies) {
		partitions[count++] = p->plan.chosen.partition;
		earliest = p->plan.chosen.start_utc_s;
	} else if (p->request.named_count > 0) {
		for (uint32_t i = 0; i < p->request.named_count; i++)
			partitions[count++] = p->request.named[i];
	} else {
		partitions[count++] = p->request.home;
	}
	return lt_quote_hold(&p->quote, &p->request, &p->market, partitions,
		   count, earliest, NULL) == LT_OK;
}

/* Is it more than is left of this currency? The verdict then says so. */
static bool
is_over(struct lt_verdict *verdict, const struct lt_balance_of *of,
    bool has_amount, int64_t per_task, uint32_t tasks)
{
	int64_t asked;

	if (!of->is_limited || !has_amount ||
	    __builtin_mul_overflow(per_task, (int64_t)tasks, &asked) ||
	    asked <= of->available)
		return false;
	verdict->asked = asked;
	verdict->limit = of->limit;
	verdict->settled = of->spent;
	verdict->held = of->held;
	verdict->available = of->available;
	return true;
}

static int64_t
available_of(const struct lt_balance_of *of)
{
	return of->is_limited ? of->available : INT64_MAX;
}

/* Negative when the team can't pay and the site enforces it. */
static int
check_balance(struct placement *p)
{
	const struct lt_amount *const hold = &p->quote.hold_per_task;
	struct lt_balance balance;
	struct lt_verdict verdict = {.code = LT_OVER};
	struct lt_over over = {.verdict = &verdict,
	    .request = &p->request,
	    .market = &p->market,
	    .plan = p->applies ? NULL : &p->plan,
	    .asked = p->asked};
	char text[LT_ERROR_TEXT_SIZE * 4];

	if (!lt_spank_balance(&balance, lt_spank.run_dir, p->request.account) ||
	    !balance.budgeted || !price(p))
		return 0; /* unknown here: lowtided's sweep has the last word */
	snprintf(verdict.team, sizeof(verdict.team), "%s", balance.team);
	snprintf(verdict.label, sizeof(verdict.label), "%s", balance.label);
	if (!is_over(&verdict, &balance.money, hold->has_money,
		hold->money_micros, p->quote.tasks)) {
		verdict.is_carbon = true;
		if (!is_over(&verdict, &balance.carbon, hold->has_carbon,
			hold->carbon_mg, p->quote.tasks))
			return 0;
	}
	over.available = (struct lt_amount){true, true,
	    available_of(&balance.money), available_of(&balance.carbon)};
	lt_over_text(text, sizeof(text), &over);
	if (p->market.mode == LT_MODE_ENFORCE) {
		lt_spank_say(text, true);
		return -1;
	}
	if (p->asked || p->market.mode == LT_MODE_ADVISE) {
		lt_spank_say(text, false);
		slurm_info("lowtide: mode %s: the job goes on.",
		    lt_mode_name(p->market.mode));
	}
	return 0;
}

/* The plan as a table; the job is never submitted. */
static int
show_table(struct placement *p)
{
	static char text[LT_MESSAGE_SIZE];

	lt_plan_table(text, sizeof(text), &p->plan, &p->request, &p->market,
	    p->now_utc_s);
	/* As slurmctld's refusal would look, so that "lowtide plan" reads both.
	 */
	lt_spank_say(text, true);
	lt_spank_say("this was a plan: nothing was submitted.", true);
	return -1;
}

static void
tell(const struct placement *p)
{
	char text[2048];

	if (!p->asked && !(p->market.mode == LT_MODE_ADVISE && p->plan.moved))
		return;
	lt_plan_lines(text, sizeof(text), &p->plan, &p->market, p->now_utc_s);
	lt_spank_say(text, false);
	if (p->plan.moved && !p->applies)
		slurm_info("lowtide: mode %s: the job was not changed.",
		    lt_mode_name(p->market.mode));
}

static int
place(struct placement *p)
{
	struct lt_error err = {0};
	const bool wants_plan = lt_spank.options.plan;
	char text[512];

	if (!make_request(p, &err)) {
		if (p->job && (lt_spank.options.carbon_aware_set || wants_plan))
			no_plan(&err);
		return wants_plan ? -1 : 0;
	}
	p->asked =
	    lt_request_wishes(&p->request, &lt_spank.options, &p->market);
	if (lt_decide(&p->plan, &p->request, &p->market, NULL, 0, p->now_utc_s,
		&err) != LT_OK) {
		if (p->asked)
			no_plan(&err);
		return wants_plan ? -1 : 0;
	}
	if (wants_plan)
		return show_table(p);
	if (lt_plan_refusal(
		text, sizeof(text), &p->plan, &p->request, &p->market)) {
		const bool refuses = p->market.mode == LT_MODE_ENFORCE;

		lt_spank_say(text, refuses);
		if (refuses)
			return -1;
	}
	set_signal(p);
	p->applies =
	    p->asked && p->plan.moved && p->market.mode == LT_MODE_ENFORCE;
	if (check_balance(p) != 0)
		return -1;
	tell(p);
	if (p->applies)
		carry_out(p);
	return 0;
}

/* A step inside of an allocation is no new job. */
static bool
is_step(void)
{
	return dlsym(RTLD_DEFAULT, "sropt") && getenv("SLURM_JOB_ID");
}

static int
place_job(void)
{
	static struct placement p; /* large; het components reuse it */
	const bool asked =
	    lt_spank.options.carbon_aware_set || lt_spank.options.plan;
	struct lt_error err = {0};
	char path[1024];
	int code;

	if (is_step())
		return 0;
	memset(&p, 0, sizeof(p));
	if (!find_client(&p.client)) {
		if (asked)
			slurm_info("lowtide: this command can't be followed "
				   "here: the job stays as it is");
		return 0;
	}
	if (has_job_submit()) {
		if (lt_spank.options.plan) /* never a job, whoever answers */
			p.client.set(p.client.opt, "test-only", "", false);
		return 0;
	}
	trust_slurm_user();
	p.now_utc_s = (int64_t)time(NULL);
	if (snprintf(path, sizeof(path), "%s/%s", lt_spank.run_dir,
		LT_MARKET_FILE) >= (int)sizeof(path) ||
	    lt_market_load(&p.market, path, NULL, &err) != LT_OK) {
		if (asked)
			slurm_info("lowtide: %s: the job stays as it is",
			    err.text[0] ? err.text : path);
		return lt_spank.options.plan ? -1 : 0;
	}
	code = place(&p);
	slurm_xfree(&p.array);
	lt_market_free(&p.market);
	return code;
}

void
lt_spank_client(void)
{
	/* "optional" plugstack lines have their failures ignored, so a refusal
	 * ends the command itself, as Slurm does for a wrong option. */
	if (place_job() != 0)
		exit(1);
}
