/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Kinds of jobs as keys, and what their past says about the next job. Stands between the table of
 * figures that lowtided writes and lt_decide(). Reads requests and figures, writes keys and
 * expectations. Pure; where runs say nothing, the expectation says that it is not known.
 */
#include "history.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "decide.h"
#include "lookup.h"
#include "smoke.h"
#include "units.h"

const char *
lt_history_word(enum lt_history_group group)
{
	static const char *const words[LT_HISTORY_WORDS] = {[LT_HISTORY_NAME] = "name",
	    [LT_HISTORY_USER] = "user",
	    [LT_HISTORY_ACCOUNT] = "account",
	    [LT_HISTORY_NONE] = "none",
	    [LT_HISTORY_SAID] = "said"};

	assert((unsigned)group < LT_HISTORY_WORDS);
	return LT_WORD(words, group);
}

static bool
is_digit(char c)
{
	return c >= '0' && c <= '9';
}

void
lt_history_fold(char *out, size_t size, const char *name)
{
	assert(size > 0);

	size_t used = 0;

	for (const char *at = name; *at != '\0' && used + 1 < size; at++)
		if (!is_digit(*at))
			out[used++] = *at;
		else if (at == name || !is_digit(at[-1]))
			out[used++] = '#';
	out[used] = '\0';
}

static const uint64_t basis = 0xcbf29ce484222325;

static uint64_t
add_bytes(uint64_t hash, const void *bytes, size_t count)
{
	static const uint64_t prime = 0x100000001b3;
	const unsigned char *const at = bytes;

	for (size_t i = 0; i < count; i++)
		hash = (hash ^ at[i]) * prime;
	return hash;
}

static uint64_t
add_number(uint64_t hash, uint32_t value)
{
	const unsigned char bytes[] = {(unsigned char)value, (unsigned char)(value >> 8),
	    (unsigned char)(value >> 16), (unsigned char)(value >> 24)};

	return add_bytes(hash, bytes, sizeof(bytes));
}

/* Adds a text with its end, so that "a", "bc" is not "ab", "c". */
static uint64_t
add_text(uint64_t hash, const char *text)
{
	size_t length = 0;

	while (text[length] != '\0')
		length++;
	return add_bytes(hash, text, length + 1);
}

static uint64_t
not_zero(uint64_t hash)
{
	return hash != 0 ? hash : 1;
}

static uint64_t
hash_of(const struct lt_run_kind *kind, enum lt_history_group group)
{
	const uint32_t uid = group == LT_HISTORY_ACCOUNT ? (uint32_t)LT_HISTORY_UID_ALL : kind->uid;
	char name[LT_NAME_SIZE];
	uint64_t hash = add_number(basis, (uint32_t)group);

	hash = add_text(add_number(hash, uid), kind->account);
	if (group == LT_HISTORY_NAME) {
		lt_history_fold(name, sizeof(name), kind->name);
		hash = add_text(hash, name);
		hash = add_number(hash, kind->nodes);
		hash = add_number(hash, kind->cpus);
		hash = add_number(hash, kind->gpus);
	}
	return not_zero(hash);
}

uint64_t
lt_history_hash(const struct lt_run_kind *kind)
{
	return kind->hash != 0 ? kind->hash : hash_of(kind, LT_HISTORY_NAME);
}

static const int64_t least_size_s = 15 * LT_MINUTE_S;
/* How many times as long the limits of a size may be as those of the one below. Lengths say
 * something for close limits; parts of the limit for more. */
static const int64_t size_steps[LT_HISTORY_GROUPS] = {
    [LT_HISTORY_NAME] = 4, [LT_HISTORY_USER] = 16, [LT_HISTORY_ACCOUNT] = 16};

uint32_t
lt_history_band(const struct lt_run_kind *kind, enum lt_history_group group)
{
	const int64_t step = LT_ROW(size_steps, group);
	const bool is_limited = kind->limit_s > 0 && kind->limit_s != INT64_MAX;
	uint32_t size = is_limited ? 1 : 0;

	for (int64_t most_s = least_size_s;
	     size > 0 && kind->limit_s > most_s && most_s <= INT64_MAX / step; most_s *= step)
		size++;
	return 2 * size + (kind->is_interactive ? 1 : 0);
}

int64_t
lt_history_band_limit_s(uint32_t band, enum lt_history_group group)
{
	const int64_t step = LT_ROW(size_steps, group);
	int64_t most_s = band < 2 ? 0 : least_size_s;

	for (uint32_t size = band / 2; size > 1 && most_s <= INT64_MAX / step; size--)
		most_s *= step;
	return most_s;
}

struct lt_history_key
lt_history_key(const struct lt_run_kind *kind, enum lt_history_group group)
{
	assert((unsigned)group < LT_HISTORY_GROUPS);

	const uint64_t base =
	    group == LT_HISTORY_NAME ? lt_history_hash(kind) : hash_of(kind, group);
	uint64_t hash = add_number(basis, (uint32_t)base);

	hash = add_number(hash, (uint32_t)(base >> 32));
	hash = add_number(hash, lt_history_band(kind, group));
	return (struct lt_history_key){
	    not_zero(hash), group == LT_HISTORY_ACCOUNT ? (uint32_t)LT_HISTORY_UID_ALL : kind->uid};
}

void
lt_history_keys(struct lt_history_key keys[LT_HISTORY_GROUPS], const struct lt_run_kind *kind)
{
	for (int i = 0; i < LT_HISTORY_GROUPS; i++)
		keys[i] = lt_history_key(kind, (enum lt_history_group)i);
	if (!lt_history_is_name(kind->name))
		keys[LT_HISTORY_NAME].hash = 0;
}

bool
lt_history_is_name(const char *name)
{
	/* As folded. sbatch calls a job "wrap", or "sbatch" if the script comes from a pipe, srun
	 * by the program, salloc "interactive" or by the shell. */
	static const char *const none[] = {"", "wrap", "sbatch", "srun", "salloc", "interactive",
	    "_interactive", "sh", "bash", "dash", "zsh", "ksh", "csh", "tcsh", "fish", "env",
	    "python", "python#", "python#.#", "ipython", "ipython#", "perl", "ruby", "r", "rscript",
	    "julia", "matlab", "java", "jupyter", "mpirun", "mpiexec", "spawner-jupyterhub"};
	/* Open OnDemand: "sys/dashboard/sys/jupyter", after a prefix of the site's or not. */
	static const char portal[] = "sys/dashboard/";
	char folded[LT_NAME_SIZE];

	lt_history_fold(folded, sizeof(folded), name);
	for (size_t i = 0; i < sizeof(none) / sizeof(*none); i++)
		if (strcasecmp(folded, none[i]) == 0)
			return false;
	return strstr(folded, portal) == NULL;
}

uint64_t
lt_request_asked(const struct lt_request *request)
{
	const struct lt_request *const r = request;
	const uint64_t numbers[] = {r->uid, r->min_nodes, r->max_nodes, r->nodes_open, r->spread,
	    r->tasks, r->tasks_implied, r->cpus_per_task, r->cpus, r->cpus_per_node, r->max_cpus,
	    r->tasks_per_node, r->tasks_per_socket, r->tasks_per_core, r->tasks_per_board,
	    r->tasks_per_gpu, r->sockets_per_node, r->cores_per_socket, r->nodes_named,
	    r->excluded_nodes, r->tmp_disk_mib, r->threads_per_core, r->gpus, r->gpus_per_node,
	    r->gpus_per_socket, r->gpus_per_task, r->cpus_per_gpu, r->shards_per_node,
	    r->spec_cores, r->spec_threads, r->bind_gpus, r->plane, r->overcommit,
	    r->memory_mib_per_node, r->memory_mib_per_cpu, r->memory_mib_per_gpu, r->whole_memory,
	    r->exclusive, (uint64_t)r->limit_s};
	uint64_t hash = basis;

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		hash = add_number(hash, (uint32_t)numbers[i]);
		hash = add_number(hash, (uint32_t)(numbers[i] >> 32));
	}
	hash = add_text(hash, r->account);
	hash = add_text(hash, r->qos);
	hash = add_text(hash, r->features);
	hash = add_text(hash, r->gpu_type);
	return hash != 0 ? hash : 1;
}

struct lt_history_key
lt_history_gpu_key(struct lt_history_key name, const char *gpu)
{
	uint64_t hash = add_number(basis, (uint32_t)name.hash);

	hash = add_text(add_number(hash, (uint32_t)(name.hash >> 32)), gpu);
	return (struct lt_history_key){not_zero(hash), name.uid};
}

uint64_t
lt_script_hash(const char *text)
{
	if (text == NULL || text[0] == '\0')
		return 0;
	return not_zero(add_text(basis, text));
}

struct lt_history_key
lt_history_proof_key(const struct lt_run_kind *kind, uint64_t script_hash)
{
	char name[LT_NAME_SIZE];
	/* No group has that number. */
	uint64_t hash = add_number(basis, LT_HISTORY_WORDS);

	lt_history_fold(name, sizeof(name), kind->name);
	hash = add_text(add_number(hash, kind->uid), kind->account);
	hash = add_number(add_text(hash, name), (uint32_t)script_hash);
	hash = add_number(hash, (uint32_t)(script_hash >> 32));
	return (struct lt_history_key){not_zero(hash), kind->uid};
}

struct lt_history_key
lt_smoke_key(uint32_t uid, const char *account, uint32_t name_hash)
{
	/* Nor that. */
	uint64_t hash = add_number(basis, LT_HISTORY_WORDS + 1);

	hash = add_text(add_number(hash, uid), account);
	hash = add_number(hash, name_hash);
	return (struct lt_history_key){not_zero(hash), uid};
}

static uint32_t
larger(uint64_t a, uint64_t b)
{
	const uint64_t most = a > b ? a : b;

	return most < UINT32_MAX ? (uint32_t)most : UINT32_MAX;
}

void
lt_history_shape(struct lt_run_kind *kind, const struct lt_request *request)
{
	const uint64_t nodes = larger(request->min_nodes, 1);
	const uint64_t tasks = larger(request->tasks, 1);
	const uint64_t each = larger(request->cpus_per_task, 1);

	kind->nodes = (uint32_t)nodes;
	kind->cpus = larger(
	    larger(request->cpus, tasks * each), larger(nodes * request->cpus_per_node, nodes));
	kind->gpus = larger(
	    larger(request->gpus, nodes * request->gpus_per_node), tasks * request->gpus_per_task);
}

/* Returns a figure of that group in seconds; the limit where runs say nothing. */
static int64_t
seconds_of(uint32_t figure, enum lt_history_group group, int64_t limit_s)
{
	int64_t seconds = figure;

	if (figure == LT_HISTORY_NEVER)
		return limit_s;
	if (group != LT_HISTORY_NAME && !lt_scale_up(limit_s, figure, LT_MICROS, &seconds))
		seconds = limit_s;
	if (limit_s > 0 && seconds > limit_s)
		seconds = limit_s;
	return seconds > 0 ? seconds : 1;
}

static int64_t
upper_of(const struct lt_history_figures *figures, int64_t limit_s)
{
	int64_t longest = 0;

	for (int group = 0; group < LT_HISTORY_GROUPS; group++) {
		const struct lt_history_figures *const f = &figures[group];

		if (f->runs == 0 || (group != LT_HISTORY_NAME && limit_s <= 0))
			continue;
		if (!f->upper_is_longest && f->upper == LT_HISTORY_NEVER)
			return limit_s;
		const int64_t here = seconds_of(f->upper, (enum lt_history_group)group, limit_s);

		longest = here > longest ? here : longest;
		if (!f->upper_is_longest)
			return longest;
	}
	return limit_s;
}

struct lt_expected
lt_history_expect(const struct lt_history_figures figures[LT_HISTORY_GROUPS], int64_t limit_s)
{
	struct lt_expected expected = {.from = LT_HISTORY_NONE};
	const int last = limit_s > 0 ? LT_HISTORY_ACCOUNT : LT_HISTORY_NAME;
	int from = LT_HISTORY_NAME;

	while (from <= last && figures[from].runs < LT_HISTORY_RUNS_LEAST)
		from++;
	if (from > last || (limit_s <= 0 && figures[from].median == LT_HISTORY_NEVER))
		return expected;
	expected.from = (enum lt_history_group)from;
	expected.runs = figures[from].runs;
	expected.expected_s = seconds_of(figures[from].median, expected.from, limit_s);
	if (figures[from].low > 0 && figures[from].high > 0 &&
	    (limit_s > 0 || figures[from].high != LT_HISTORY_NEVER)) {
		expected.low_s = seconds_of(figures[from].low, expected.from, limit_s);
		expected.high_s = seconds_of(figures[from].high, expected.from, limit_s);
	}
	expected.upper_s = upper_of(figures, limit_s > 0 ? limit_s : 0);
	if (expected.upper_s > 0 && expected.upper_s < expected.expected_s)
		expected.upper_s = expected.expected_s;
	return expected;
}

int64_t
lt_expected_length_s(const struct lt_expected *expected, int64_t ran_s, int64_t limit_s)
{
	const int64_t steps[] = {expected->expected_s, expected->upper_s};

	for (size_t i = 0; expected->expected_s > 0 && i < 2; i++)
		if (ran_s < steps[i] && steps[i] < limit_s)
			return steps[i];
	return limit_s;
}

struct lt_expected
lt_expected_of(const struct lt_request *request)
{
	if (request->expected_run_s > 0)
		return (struct lt_expected){
		    .expected_s = request->expected_run_s, .from = LT_HISTORY_SAID};
	return request->learned;
}

const char *
lt_expected_text(char *out, size_t size, const struct lt_expected *expected, int64_t limit_s)
{
	static const struct {
		const char *before, *after;
	} sources[LT_HISTORY_WORDS] = {
	    [LT_HISTORY_NAME] = {"median of ", ""},
	    [LT_HISTORY_USER] = {"median of the user's ", " by their limits"},
	    [LT_HISTORY_ACCOUNT] = {"median of the account's ", " by their limits"},
	};
	char time[32], limit[48] = "", source[96] = "--expected-time";

	assert((unsigned)expected->from < LT_HISTORY_WORDS);
	out[0] = '\0';
	if (expected->expected_s <= 0 || expected->from == LT_HISTORY_NONE)
		return out;
	if (limit_s > 0)
		snprintf(
		    limit, sizeof(limit), "; limit %s", lt_hours_text(time, sizeof(time), limit_s));
	if (expected->from != LT_HISTORY_SAID)
		snprintf(source, sizeof(source), "%s%u runs%s",
		    LT_ROW(sources, expected->from).before, expected->runs,
		    LT_ROW(sources, expected->from).after);
	snprintf(out, size, "expected %s (%s%s)",
	    lt_hours_text(time, sizeof(time), expected->expected_s), source, limit);
	return out;
}
