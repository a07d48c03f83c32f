/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The client's part, after all options are known. If slurmctld has job_submit/lowtide, it only
 * hands the options on. Otherwise it decides by the same lt_decide() on the same request, sets the
 * plan as if the user had typed it, and refuses a job that the team's balance can't pay. A market
 * or balance that can't be read leaves the job as it came, or goes by on_unknown.
 */
#include "spank_parts.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "budget.h"
#include "files.h"
#include "off.h"
#include "plan_text.h"
#include "quote.h"
#include "refusal.h"
#include "text.h"

/* Functions of libslurmfull, the same on 22.05, 24.11 and 26.05; looked up because no installed
 * header has them. */
typedef int set_option(void *opt, const char *name, const char *value, bool early);
typedef char *get_option(void *opt, const char *name);
typedef job_desc_msg_t *make_job(void *opt, bool set_defaults);

struct client {
	void *opt;
	set_option *set;
	get_option *get;
	make_job *job;
	bool is_batch;
};

struct placement {
	struct client client;
	struct lt_component component;
	job_desc_msg_t *job;
	void *array; /* the text of --array, Slurm's memory */
	struct lt_market market;
	struct lt_request request;
	struct lt_others others;
	struct lt_plan plan;
	struct lt_edits edits;
	struct lt_quote quote;
	bool asked;
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
	       symbol(&client->job, "slurm_opt_create_job_desc") && client->opt != NULL;
}

/* lowtided writes the market as SlurmUser; we are whoever submits. */
static void
trust_slurm_user(void)
{
	const slurm_conf_t *const conf = dlsym(RTLD_DEFAULT, "slurm_conf");

	if (conf != NULL)
		lt_file_trust(conf->slurm_user_id);
}

/* True if slurmctld has job_submit/lowtide. */
static bool
has_job_submit(void)
{
	const slurm_conf_t *conf;
	const char *word;

	if (lt_spank.job_submit != LT_PRESENCE_AUTO)
		return lt_spank.job_submit == LT_PRESENCE_YES;
	conf = dlsym(RTLD_DEFAULT, "slurm_conf");
	word = conf != NULL ? conf->job_submit_plugins : NULL;
	while (word != NULL && *word) {
		const size_t length = strcspn(word, ",");

		if ((length == 7 && strncmp(word, "lowtide", 7) == 0) ||
		    (length == 18 && strncmp(word, "job_submit/lowtide", 18) == 0))
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

static bool __attribute__((format(printf, 3, 4)))
set(const struct placement *p, const char *name, const char *format, ...)
{
	char value[LT_NAME_SIZE + 64];
	va_list list;

	va_start(list, format);
	vsnprintf(value, sizeof(value), format, list);
	va_end(list);
	if (p->client.set(p->client.opt, name, value, false) == 0)
		return true;
	slurm_error("lowtide: --%s=%s can't be set: the job stays as it was", name, value);
	return false;
}

/* The job as slurmctld will get it. Not freed: parts of it are the command's own, and the command
 * ends soon. */
static bool
make_request(struct placement *p, struct lt_error *err)
{
	p->job = p->client.job(p->client.opt, true);
	if (p->job == NULL)
		return false; /* the command says why, and fails by itself */
	if (p->client.is_batch) {
		p->array = p->client.get(p->client.opt, "array");
		p->job->script = (char *)(uintptr_t) "";
		/* "unset" is how some options say that they are not set. */
		if (p->array != NULL && strcmp(p->array, "unset") != 0)
			p->job->array_inx = p->array;
	}
	p->job->user_id = getuid();
	p->job->het_job_offset =
	    lt_spank_is_het(p->component) ? (uint32_t)p->component.index : NO_VAL;
	return lt_request_from_desc(&p->request, p->job, &p->market, p->now_utc_s, err) == LT_OK;
}

static void
set_comment(const struct placement *p, const char *partition)
{
	char when[32];

	if (p->job->comment != NULL && p->job->comment[0] != '\0')
		return;
	set(p, "comment", "lowtide: %s from %s", partition,
	    lt_utc_text(when, sizeof(when), p->plan.chosen.start_utc_s));
}

/* As the command has it, if it has such an option: else Slurm says "invalid-context", of salloc's
 * --test-only too. */
static bool
is_set(const struct placement *p, const char *option)
{
	void *said = p->client.get(p->client.opt, option);
	const bool is =
	    said != NULL && strcmp(said, "unset") != 0 && strcmp(said, "invalid-context") != 0;

	slurm_xfree(&said);
	return is;
}

/* Sets the plan as if the user had typed it. Options that keep the job as it is go first: if one
 * can't be set, nothing is moved. */
static void
apply(const struct placement *p)
{
	const struct lt_edits *const edits = &p->edits;
	const struct lt_partition *const to = &p->market.partitions[p->plan.chosen.partition];
	const char *const memory = edits->memory_is_per_cpu ? "mem-per-cpu" : "mem";

	if (edits->signal[0] != '\0')
		set(p, "signal", "%s@%u", edits->signal, edits->signal_before_s);
	if (edits->limit_s > 0 && !set(p, "time", "%" PRId64, edits->limit_s / 60))
		return;
	if (edits->memory_mib > 0 && !set(p, memory, "%" PRIu64 "M", edits->memory_mib))
		return;
	if (edits->partition >= 0 && !set(p, "partition", "%s", to->name))
		return;
	if (edits->begin_utc_s > 0 && !set(p, "begin", "uts%" PRId64, edits->begin_utc_s))
		return;
	if (edits->requeue)
		set(p, "requeue", "%s", "");
	/* Else the next run empties the files of the one before. */
	if (edits->requeue && !is_set(p, "open-mode"))
		set(p, "open-mode", "append");
	if (edits->moves)
		set_comment(p, to->name);
}

/* Fields that the user set, from the command if the job does not show it. */
static uint32_t
fixed_by_user(const struct placement *p)
{
	uint32_t fixed = lt_job_fixed(p->job);

	if (!p->client.is_batch || is_set(p, "requeue"))
		fixed |= LT_FIXED_REQUEUE;
	return fixed;
}

/* Prices the most that the job may cost in its partition. */
static bool
price(struct placement *p)
{
	int partitions[LT_PARTITIONS_MAX];
	int64_t earliest_utc_s;
	const int count = lt_edits_places(
	    partitions, &earliest_utc_s, &p->request, p->edits.moves ? &p->plan : NULL);

	return lt_quote_hold(&p->quote, &p->request, &p->market, partitions, count, earliest_utc_s,
		   NULL) == LT_OK;
}

/* True if it is more than is left of this currency; the verdict then says so. */
static bool
is_over(struct lt_verdict *verdict, const struct lt_balance_of *of, bool has_amount,
    int64_t per_task, uint32_t tasks)
{
	int64_t asked;

	if (!of->is_limited || !has_amount ||
	    __builtin_mul_overflow(per_task, (int64_t)tasks, &asked) || asked <= of->available)
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

/* True if the hold is over these budgets; the verdict then says so. */
static bool
is_over_any(
    struct lt_verdict *verdict, const struct placement *p, const struct lt_balance_by_rule *balance)
{
	const struct lt_amount *const hold = &p->quote.hold_per_task;

	*verdict = (struct lt_verdict){.code = LT_OVER};
	snprintf(verdict->team, sizeof(verdict->team), "%s", balance->team);
	snprintf(verdict->label, sizeof(verdict->label), "%s", balance->label);
	if (is_over(verdict, &balance->money, hold->has_money, hold->money_micros, p->quote.tasks))
		return true;
	verdict->is_carbon = true;
	return is_over(
	    verdict, &balance->carbon, hold->has_carbon, hold->carbon_mg, p->quote.tasks);
}

/* Negative when the team can't pay and the site enforces it. */
static int
check_balance(struct placement *p)
{
	struct lt_balance balance;
	struct lt_verdict verdict;
	char text[LT_ERROR_TEXT_SIZE * 4];

	if (!lt_spank_balance(&balance, p->request.account) || !balance.budgeted || !price(p))
		return 0; /* unknown here: lowtided's sweep has the last word */
	const bool binds = is_over_any(&verdict, p, &balance.binding);
	const bool enforced = lt_mode_may(p->market.mode, LT_MAY_REFUSE);
	const struct lt_over over = {.verdict = &verdict,
	    .request = &p->request,
	    .market = &p->market,
	    .plan = p->edits.moves ? NULL : &p->plan,
	    .asked = p->asked,
	    .available = {true, true, available_of(&balance.binding.money),
		available_of(&balance.binding.carbon)}};

	if (!binds && !is_over_any(&verdict, p, &balance.warning))
		return 0;
	if (binds && enforced) {
		lt_over_text(text, sizeof(text), &over);
		lt_spank_say(text, true);
		lt_spank_say("nothing was submitted.", true);
		return -1;
	}
	if (enforced || p->asked || lt_mode_may(p->market.mode, LT_MAY_ADVISE))
		lt_over_note(&p->edits.notes,
		    enforced ? "over the budget" : "over the budget, not enforced", &verdict,
		    p->market.currency);
	return 0;
}

/* The plan as a table; the job is never submitted: the last component ends the command, those
 * before it leave no more than a test. */
static int
show_table(struct placement *p)
{
	static char text[LT_MESSAGE_SIZE];
	const bool is_last = p->component.index + 1 >= p->component.count;

	lt_plan_table(text, sizeof(text), &p->plan, &p->request, &p->market, p->now_utc_s);
	/* As slurmctld's refusal would look, so that "lowtide plan" reads both. */
	lt_spank_say(text, true);
	p->client.set(p->client.opt, "test-only", "", false);
	if (!is_last)
		return 0;
	lt_spank_say("this was a plan: nothing was submitted.", true);
	return -1;
}

/* Makes a quote with the wishes and the fields by which lowtided recognises the job: its partition,
 * and its limit as the length of the window, 0 if Slurm chooses it. lowtided makes the figures and
 * the id. */
static void
make_quote(struct lt_quote *quote, const struct placement *p)
{
	const struct lt_request *const request = &p->request;
	const struct lt_edits *const edits = &p->edits;
	const struct lt_partition *const partitions = p->market.partitions;
	const int64_t limit_s = edits->limit_s > 0 ? edits->limit_s : request->limit_s;

	*quote = (struct lt_quote){.id = 1, .rev = 1};
	lt_quote_of_request(quote, request, p->market.mode);
	snprintf(quote->partition, sizeof(quote->partition), "%s",
	    partitions[p->plan.chosen.partition].name);
	snprintf(quote->home, sizeof(quote->home), "%s", partitions[request->home].name);
	quote->plan_start_utc_s =
	    edits->begin_utc_s > 0 ? edits->begin_utc_s : request->earliest_utc_s;
	quote->start_utc_s = quote->plan_start_utc_s;
	quote->end_utc_s = quote->start_utc_s + (limit_s > 0 ? limit_s : 0);
	lt_wish_of_request(&quote->wish, request);
}

/* Tells the plan, if it is carried out. Others may have been put there meanwhile: then they are
 * known now, and it is to be decided again. True: that is not so, or lowtided does not answer. */
static bool
is_settled(struct placement *p)
{
	struct lt_quote quote;
	const struct lt_own_plan own = {&quote, &p->plan.chosen};

	if (p->edits.refuses || !p->edits.moves)
		return true;
	make_quote(&quote, p);
	return lt_spank_book(&p->others, &p->market, &own) || !p->others.known;
}

static struct lt_intent
intent_of(const struct placement *p)
{
	return (struct lt_intent){.market = &p->market,
	    .request = &p->request,
	    .options = &lt_spank.options,
	    .plan = &p->plan,
	    .fixed = fixed_by_user(p),
	    .asked = p->asked,
	    .now_utc_s = p->now_utc_s};
}

static int
decide(struct placement *p, struct lt_error *err)
{
	const int code = lt_decide(&p->plan, &p->request, &p->market, p->others.windows,
	    p->others.count, p->now_utc_s, err);
	const struct lt_intent intent = intent_of(p);

	if (code == LT_OK)
		lt_edits_of_plan(&p->edits, &intent);
	return code;
}

/* Decides, with all that others were given until then. */
static int
settle(struct placement *p, struct lt_error *err)
{
	enum { AGAIN_MAX = 9 }; /* then it is booked beside whoever came */
	const bool is_job = !lt_spank.options.plan && !is_set(p, "test-only");

	if (p->asked || lt_spank.options.plan)
		(void)lt_spank_book(&p->others, &p->market, NULL);
	for (int again = 0;; again++) {
		const int code = decide(p, err);

		if (code != LT_OK || !is_job || is_settled(p) || again > AGAIN_MAX)
			return code;
		if (again == AGAIN_MAX)
			p->others.seen = INT64_MAX;
	}
}

static int
place(struct placement *p)
{
	struct lt_error err = {0};
	const bool wants_plan = lt_spank.options.plan;

	if (!make_request(p, &err)) {
		if (p->job != NULL && (lt_spank.options.carbon_aware_set || wants_plan))
			no_plan(&err);
		return wants_plan ? -1 : 0;
	}
	p->asked = lt_request_wishes(&p->request, &lt_spank.options, &p->market);
	if (settle(p, &err) != LT_OK) {
		if (p->asked)
			no_plan(&err);
		return wants_plan ? -1 : 0;
	}
	if (wants_plan)
		return show_table(p);
	if (p->edits.refuses) {
		lt_spank_say(p->edits.refusal, true);
		return -1;
	}
	lt_edits_lay(&p->request, &p->edits);
	if (check_balance(p) != 0)
		return -1;
	const struct lt_intent intent = intent_of(p);
	char words[LT_EDITS_WORDS_SIZE];

	lt_spank_say(lt_edits_words(words, sizeof(words), &p->edits, &intent), false);
	apply(p);
	if (lt_mode_may(p->market.mode, LT_MAY_EDIT))
		lt_spank_tell_cap(&p->plan.capped,
		    p->edits.begin_utc_s > 0 ? p->edits.begin_utc_s : p->request.earliest_utc_s);
	return 0;
}

/* Hands the deadline of the command to the node, which does not know it. */
static void
tell_deadline(const struct client *client)
{
	void *said = client->get(client->opt, "deadline");
	const bool is_said = said != NULL && strcmp(said, "Unknown") != 0;
	const job_desc_msg_t *job;
	char utc_s[24];

	slurm_xfree(&said);
	unsetenv(LT_SPANK_DEADLINE);
	if (!is_said || !lt_spank_is_asked())
		return;
	job = client->job(client->opt, true); /* as in make_request() */
	if (job == NULL || job->deadline <= 0)
		return;
	snprintf(utc_s, sizeof(utc_s), "%lld", (long long)job->deadline);
	setenv(LT_SPANK_DEADLINE, utc_s, 1);
}

/* A step inside of an allocation is no new job. */
static bool
is_step(void)
{
	return dlsym(RTLD_DEFAULT, "sropt") != NULL && getenv("SLURM_JOB_ID") != NULL;
}

static int
place_job(void)
{
	static struct placement p; /* large; het components reuse it */
	const bool asked = lt_spank.options.carbon_aware_set || lt_spank.options.plan;
	struct lt_error err = {0};
	struct lt_off off;
	char path[1024], text[LT_ERROR_TEXT_SIZE];
	int code;

	if (is_step())
		return 0;
	if (getenv("SLURM_JOB_ID") != NULL)
		lt_spank_forget_outer();
	memset(&p, 0, sizeof(p));
	if (!find_client(&p.client)) {
		if (asked)
			slurm_info(
			    "lowtide: this command can't be followed here: the job stays as it is");
		return 0;
	}
	void *words = p.client.is_batch ? p.client.get(p.client.opt, "argv") : NULL;

	p.component = lt_spank_component(words);
	slurm_xfree(&words);
	tell_deadline(&p.client);
	unsetenv(LT_SPANK_CAP);
	if (has_job_submit()) {
		/* Never a job, whoever answers. But a test asks for each component as if it were a
		 * job of its own: as a submission job_submit sees that it is not, and lets none be
		 * made. */
		if (lt_spank.options.plan && !lt_spank_is_het(p.component))
			p.client.set(p.client.opt, "test-only", "", false);
		return 0;
	}
	trust_slurm_user();
	if (lt_off_read(&off, lt_spank.off_file, NULL) == LT_OK && off.is_off) {
		if (asked)
			slurm_info("lowtide: off %s; the job goes as it came",
			    lt_off_text(text, sizeof(text), &off));
		return lt_spank.options.plan ? -1 : 0;
	}
	p.now_utc_s = (int64_t)time(NULL);
	if (snprintf(path, sizeof(path), "%s/%s", lt_spank.run_dir, LT_MARKET_FILE) >=
		(int)sizeof(path) ||
	    lt_market_load(&p.market, path, NULL, &err) != LT_OK) {
		if (asked)
			slurm_info(
			    "lowtide: %s: the job stays as it is", err.text[0] ? err.text : path);
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
	/* "optional" plugstack lines have their failures ignored, so a refusal ends the command
	 * itself, as Slurm does for a wrong option. */
	if (place_job() != 0)
		exit(1);
}
