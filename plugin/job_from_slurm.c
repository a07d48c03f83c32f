/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From Slurm's job description to lowtide's request. Every field may be
 * unset, NULL or forged: each is checked, nothing is trusted, and what is
 * unclear is taken as the larger.
 */
#include "job_from_slurm.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array_text.h"
#include "units.h"

static uint32_t
known32(uint32_t value)
{
	return value == NO_VAL || value == INFINITE ? 0 : value;
}

static uint32_t
known16(uint16_t value)
{
	return value == NO_VAL16 || value == INFINITE16 ? 0 : value;
}

static uint32_t
multiply(uint32_t a, uint32_t b)
{
	const uint64_t product = (uint64_t)a * b;

	return product > UINT32_MAX / 2 ? UINT32_MAX / 2 : (uint32_t)product;
}

static uint32_t
larger(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}

static uint32_t
divide_up(uint32_t a, uint32_t b)
{
	return a / b + (a % b != 0);
}

bool
lt_lower_copy(char *out, size_t size, const char *text)
{
	size_t i = 0;

	for (; text && text[i] && i + 1 < size; i++)
		out[i] = text[i] >= 'A' && text[i] <= 'Z'
			     ? (char)(text[i] - 'A' + 'a')
			     : text[i];
	out[i] = '\0';
	return !text || !text[i];
}

int64_t
lt_limit_from_minutes(uint32_t minutes)
{
	if (minutes == NO_VAL)
		return LT_UNSET_64;
	if (minutes == INFINITE || minutes > LT_UNLIMITED_S / 60)
		return LT_UNLIMITED_S;
	return (int64_t)minutes * 60;
}

uint16_t
lt_signal_number(const char *name)
{
	static const struct {
		const char *name;
		uint16_t number;
	} table[] = {
	    {"HUP", SIGHUP},
	    {"INT", SIGINT},
	    {"QUIT", SIGQUIT},
	    {"USR1", SIGUSR1},
	    {"USR2", SIGUSR2},
	    {"TERM", SIGTERM},
	    {"CONT", SIGCONT},
	    {"TSTP", SIGTSTP},
	    {"URG", SIGURG},
	    {"XCPU", SIGXCPU},
	};

	if (strncmp(name, "SIG", 3) == 0)
		name += 3;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		if (strcmp(name, table[i].name) == 0)
			return table[i].number;

	const unsigned long number = strtoul(name, NULL, 10);

	return number < 65 ? (uint16_t)number : 0;
}

/* One item, "gpu", "gpu:4", "gpu:a100:4", "gpu:a100", "gpu=4". */
static uint32_t
gpus_of_item(const char *item, size_t length, char *type)
{
	if (length >= 5 && (strncmp(item, "gres:", 5) == 0 ||
			       strncmp(item, "gres/", 5) == 0)) {
		item += 5;
		length -= 5;
	}
	if (length < 3 || strncmp(item, "gpu", 3) != 0)
		return 0;
	item += 3;
	length -= 3;
	if (length == 0)
		return 1;
	if (*item != ':' && *item != '=')
		return 0; /* gpumem and the like */

	uint64_t count = 1;

	while (length > 0) { /* fields after ':' or '=' */
		item++;
		length--;
		size_t field = 0;

		while (field < length && item[field] != ':' &&
		       item[field] != '=' && item[field] != '(')
			field++;
		if (field > 0 && strspn(item, "0123456789") >= field) {
			count = 0;
			for (size_t i = 0; i < field && count < UINT32_MAX; i++)
				count = count * 10 + (uint64_t)(item[i] - '0');
		} else if (field > 0 && field < LT_GPU_NAME_SIZE) {
			memcpy(type, item, field);
			type[field] = '\0';
		}
		if (field < length && item[field] == '(')
			break; /* "(S:0-1)" */
		item += field;
		length -= field;
	}
	return count > UINT32_MAX / 2 ? UINT32_MAX / 2 : (uint32_t)count;
}

uint32_t
lt_gpus_from_text(const char *text, char *type)
{
	uint64_t sum = 0;

	while (text && *text) {
		const size_t length = strcspn(text, ",;");

		sum += gpus_of_item(text, length, type);
		text += length;
		text += *text != '\0';
	}
	return sum > UINT32_MAX / 2 ? UINT32_MAX / 2 : (uint32_t)sum;
}

static bool
any(const char *text)
{
	return text && *text;
}

static uint32_t
pins_of(const job_desc_msg_t *job)
{
	uint32_t pins = 0;

	if (any(job->partition))
		pins |= LT_PIN_PARTITION;
	if (job->begin_time > 0)
		pins |= LT_PIN_BEGIN;
	/* slurmctld sets it before the plugin: a number for a component. */
	if (job->het_job_offset != NO_VAL)
		pins |= LT_PIN_HET;
	if (any(job->reservation))
		pins |= LT_PIN_RESERVATION;
	if (any(job->dependency))
		pins |= LT_PIN_DEPENDENCY;
	if (any(job->licenses))
		pins |= LT_PIN_LICENSES;
	if (any(job->burst_buffer))
		pins |= LT_PIN_BURST_BUFFER;
	if (any(job->req_nodes))
		pins |= LT_PIN_NODELIST;
	if (job->bitflags & CRON_JOB)
		pins |= LT_PIN_CRON;
	if (!job->script && !job->script_buf && !(job->bitflags & CRON_JOB))
		pins |= LT_PIN_INTERACTIVE;
	return pins;
}

/* named[] and home. All named partitions must be known: a bound over only
 * some of them would be none. */
static int
partitions_of(struct lt_request *request, const char *text,
    const struct lt_market *market, struct lt_error *err)
{
	if (!any(text)) {
		request->home = lt_market_default_partition(market);
		if (request->home < 0)
			return lt_fail(err, LT_ENOENT,
			    "the default partition is not known to lowtide");
		return LT_OK;
	}
	request->home = -1;
	while (*text) {
		const size_t length = strcspn(text, ",");
		char name[LT_NAME_SIZE];
		int index = -1;

		if (length > 0 && length < sizeof(name)) {
			memcpy(name, text, length);
			name[length] = '\0';
			index = lt_market_partition(market, name);
		}
		if (index < 0 || request->named_count == LT_PARTITIONS_MAX) {
			request->home = -1;
			return lt_fail(err, LT_ENOENT,
			    "partition %.*s is not known to lowtide",
			    length < 64 ? (int)length : 64, text);
		}
		if (request->home < 0)
			request->home = index;
		request->named[request->named_count++] = (uint16_t)index;
		text += length;
		text += *text != '\0';
	}
	return request->home < 0 ? lt_fail(err, LT_ENOENT, "no partition")
				 : LT_OK;
}

/* Largest node of the home partition, to know how many nodes a job without
 * --nodes needs at least. */
static void
largest_node(uint32_t *cpus, uint32_t *gpus, const struct lt_request *request,
    const struct lt_market *market)
{
	*cpus = *gpus = 0;
	if (request->home < 0)
		return;

	const struct lt_partition *const home =
	    &market->partitions[request->home];

	for (uint32_t i = 0; i < home->shape_count; i++) {
		const struct lt_shape *const shape =
		    &market->shapes[home->first_shape + i];

		*cpus = larger(*cpus, shape->cpus);
		*gpus = larger(*gpus, shape->gpus);
	}
}

static void
size_of(struct lt_request *request, const job_desc_msg_t *job,
    const struct lt_market *market)
{
	const uint32_t tasks = larger(known32(job->num_tasks), 1);
	const uint32_t cpus_per_task = larger(known16(job->cpus_per_task), 1);
	const uint32_t per_node = known16(job->ntasks_per_node);
	const uint32_t sockets = known16(job->sockets_per_node);
	char *const type = request->gpu_type;
	char ignored[LT_GPU_NAME_SIZE] = "";
	uint32_t node_cpus, node_gpus;

	request->min_nodes = known32(job->min_nodes);
	request->max_nodes = known32(job->max_nodes);
	if (request->min_nodes == 0 && per_node > 0)
		request->min_nodes = divide_up(tasks, per_node);
	request->min_nodes = larger(request->min_nodes, 1);
	request->max_nodes = larger(request->max_nodes, request->min_nodes);

	request->cpus =
	    larger(known32(job->min_cpus), multiply(tasks, cpus_per_task));
	request->gpus = larger(lt_gpus_from_text(job->tres_per_job, type),
	    multiply(tasks, lt_gpus_from_text(job->tres_per_task, type)));

	largest_node(&node_cpus, &node_gpus, request, market);
	request->nodes_open = known32(job->max_nodes) == 0;
	if (known32(job->min_nodes) == 0) {
		uint32_t nodes = request->min_nodes;

		if (node_cpus > 0)
			nodes =
			    larger(nodes, divide_up(request->cpus, node_cpus));
		if (node_gpus > 0)
			nodes =
			    larger(nodes, divide_up(request->gpus, node_gpus));
		request->min_nodes = nodes;
		request->max_nodes = larger(request->max_nodes, nodes);
	}

	const uint32_t nodes = request->max_nodes;

	request->gpus = larger(request->gpus,
	    multiply(nodes, lt_gpus_from_text(job->tres_per_node, type)));
	request->gpus = larger(
	    request->gpus, multiply(multiply(nodes, sockets ? sockets : 2),
			       lt_gpus_from_text(job->tres_per_socket, type)));
	request->cpus = larger(
	    request->cpus, multiply(nodes, multiply(per_node, cpus_per_task)));
	request->cpus =
	    larger(request->cpus, multiply(nodes, known16(job->pn_min_cpus)));
	request->cpus = larger(
	    request->cpus, multiply(request->gpus,
			       lt_gpus_from_text(job->cpus_per_tres, ignored)));
	/* --ntasks-per-gpu without --ntasks: slurmctld counts them later. */
	request->cpus = larger(request->cpus,
	    multiply(multiply(request->gpus, known16(job->ntasks_per_tres)),
		cpus_per_task));
	/* Cores kept for the system: Slurm gives whole nodes. */
	request->exclusive =
	    job->shared == JOB_SHARED_NONE || job->core_spec != NO_VAL16;
}

static void
memory_of(struct lt_request *request, const job_desc_msg_t *job)
{
	char ignored[LT_GPU_NAME_SIZE] = "";
	const uint64_t per_gpu = lt_gpus_from_text(job->mem_per_tres, ignored);

	if (per_gpu > 0 && request->gpus > 0) {
		request->memory_mib_per_node =
		    per_gpu * divide_up(request->gpus, request->min_nodes);
	} else if (job->pn_min_memory == NO_VAL64 ||
		   job->pn_min_memory == INFINITE64) {
		return;
	} else if (job->pn_min_memory & MEM_PER_CPU) {
		request->memory_mib_per_cpu = job->pn_min_memory & ~MEM_PER_CPU;
	} else if (job->pn_min_memory == 0) {
		request->whole_memory = true;
	} else {
		request->memory_mib_per_node = job->pn_min_memory;
	}
}

int
lt_request_from_job(struct lt_request *request, const job_desc_msg_t *job,
    const struct lt_market *market, int64_t now_utc_s, struct lt_error *err)
{
	memset(request, 0, sizeof(*request));
	request->uid = job->user_id;
	request->limit_s = lt_limit_from_minutes(job->time_limit);
	request->expected_run_s = LT_UNSET_64;
	request->deadline_utc_s =
	    job->deadline > 0 ? (int64_t)job->deadline : LT_UNSET_64;
	request->max_cost_micros = LT_UNSET_64;
	request->available_micros = request->available_mg = INT64_MAX;
	request->earliest_utc_s = (int64_t)job->begin_time > now_utc_s
				      ? (int64_t)job->begin_time
				      : now_utc_s;
	request->array_tasks = 1;
	request->min_nodes = request->max_nodes = 1;
	request->pins = pins_of(job);
	lt_lower_copy(request->qos, sizeof(request->qos), job->qos);
	if (!lt_lower_copy(
		request->account, sizeof(request->account), job->account))
		return lt_fail(err, LT_ELIMIT,
		    "account: longer than %d characters", LT_ACCOUNT_SIZE - 1);

	const int code = partitions_of(request, job->partition, market, err);

	size_of(request, job, market);
	memory_of(request, job);
	if (code != LT_OK)
		return code;
	if (any(job->array_inx))
		return lt_array_count(job->array_inx, market->max_array_size,
		    &request->array_tasks, &request->array_parallel, err);
	return LT_OK;
}

/* "_SLURM_SPANK_OPTION_lowtide_carbon_aware=x" -> x, NULL if it is another. */
static const char *
spank_value(const char *entry, const char *option)
{
	static const char prefix[] = "_SLURM_SPANK_OPTION_lowtide_";

	if (strncmp(entry, prefix, sizeof(prefix) - 1) != 0)
		return NULL;
	entry += sizeof(prefix) - 1;
	for (; *option; option++, entry++)
		if (*entry != (*option == '-' ? '_' : *option))
			return NULL;
	return *entry == '=' ? entry + 1 : NULL;
}

int
lt_options_from_job(
    struct lt_options *options, const job_desc_msg_t *job, struct lt_error *err)
{
	lt_options_init(options);
	for (uint32_t i = 0; job->spank_job_env && i < job->spank_job_env_size;
	     i++) {
		if (!job->spank_job_env[i])
			continue;
		for (int id = 0; id < LT_OPTION_COUNT; id++) {
			const char *const value = spank_value(
			    job->spank_job_env[i], lt_option_table[id].name);
			int code;

			if (!value)
				continue;
			code = lt_option_parse(
			    options, (enum lt_option_id)id, value, err);
			if (code != LT_OK)
				return code;
		}
	}
	return LT_OK;
}

/* The site's default objective for the account or QOS, OFF without one. */
static enum lt_objective
site_default(const struct lt_market *market, const struct lt_request *request)
{
	for (uint32_t i = 0; i < market->default_count; i++) {
		const struct lt_default *const rule = &market->defaults[i];
		const char *const name =
		    rule->is_qos ? request->qos : request->account;

		if (name[0] != '\0' && strcmp(rule->name, name) == 0)
			return rule->objective;
	}
	return LT_OBJECTIVE_OFF;
}

bool
lt_request_wishes(struct lt_request *request, const struct lt_options *options,
    const struct lt_market *market)
{
	bool asked;

	lt_options_apply(options, request);
	if (!options->carbon_aware_set &&
	    !(request->pins & (LT_PIN_INTERACTIVE | LT_PIN_CRON)))
		request->objective = site_default(market, request);
	asked = options->plan || request->objective != LT_OBJECTIVE_OFF;
	/* Advice for all; who said off is left alone. */
	if (request->objective == LT_OBJECTIVE_OFF &&
	    (options->plan ||
		(market->mode == LT_MODE_ADVISE && !options->carbon_aware_set)))
		request->objective = LT_OBJECTIVE_BALANCED;
	return asked;
}

bool
lt_plan_refusal(char *out, size_t size, const struct lt_plan *plan,
    const struct lt_request *request, const struct lt_market *market)
{
	const struct lt_estimate *const chosen = &plan->chosen;
	const struct lt_candidate *at;
	char cost[48], most[48];

	if (chosen->partition < 0 ||
	    (uint32_t)chosen->partition >= market->partition_count)
		return false;
	at = &plan->candidates[chosen->partition];
	if (request->gpu_memory_mib > 0 && !plan->moved &&
	    at->reject == LT_REJECT_GPU_MEMORY) {
		char found[64] = "of a size not known to lowtide";

		if (at->found > 0)
			snprintf(
			    found, sizeof(found), "of %.0f MiB", at->found);
		snprintf(out, size,
		    "--gpu-memory: %u MiB are wanted, %s has GPUs %s%s.",
		    request->gpu_memory_mib,
		    market->partitions[chosen->partition].name, found,
		    request->objective == LT_OBJECTIVE_OFF
			? "; --carbon-aware looks for another partition"
			: ", and no other partition will do");
		return true;
	}
	if (request->max_cost_micros == LT_UNSET_64 || !chosen->has_cost ||
	    chosen->cost_micros <= request->max_cost_micros)
		return false;
	snprintf(out, size,
	    "--max-cost: %s is the most, and on %s it would "
	    "be %s.",
	    lt_money_text(
		most, sizeof(most), request->max_cost_micros, market->currency),
	    market->partitions[chosen->partition].name,
	    lt_money_text(
		cost, sizeof(cost), chosen->cost_micros, market->currency));
	return true;
}
