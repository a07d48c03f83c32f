/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Slurm's texts and numbers as ours. What can't be read counts as not there; the callers decide
 * what that means.
 */
#include <ctype.h>
#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "ask_text.h"
#include "compat.h"
#include "lookup.h"
#include "slurm_text.h"

enum { USERS_KEPT = 256, USER_KEPT_S = 60 }; /* names of users */

/* slurmdbd's fixed ids; GPUs have one per cluster. */
enum { TRES_ID_CPU = 1, TRES_ID_MEMORY = 2, TRES_ID_ENERGY = 3, TRES_ID_NODE = 4 };

int64_t
lt_minutes(uint32_t minutes, int64_t none)
{
	return minutes == NO_VAL || minutes == INFINITE ? none : (int64_t)minutes * 60;
}

const char *
lt_state_name(uint32_t state)
{
	static const char *const names[JOB_END] = {
	    [JOB_PENDING] = "PENDING",
	    [JOB_RUNNING] = "RUNNING",
	    [JOB_SUSPENDED] = "SUSPENDED",
	    [JOB_COMPLETE] = "COMPLETED",
	    [JOB_CANCELLED] = "CANCELLED",
	    [JOB_FAILED] = "FAILED",
	    [JOB_TIMEOUT] = "TIMEOUT",
	    [JOB_NODE_FAIL] = "NODE_FAIL",
	    [JOB_PREEMPTED] = "PREEMPTED",
	    [JOB_BOOT_FAIL] = "BOOT_FAIL",
	    [JOB_DEADLINE] = "DEADLINE",
	    [JOB_OOM] = "OUT_OF_MEMORY",
	};
	const uint32_t base = state & JOB_STATE_BASE;

	if (state & JOB_RESIZING) /* a row before the last of a run */
		return "RESIZING";
	return LT_WORD_OR(names, base, "UNKNOWN");
}

static struct {
	const struct lt_batch_pair *pairs; /* lent; by uid */
	uint32_t count;
	bool may_wait;
} users;

void
lt_batch_know_users(const struct lt_batch_pair *pairs, uint32_t count)
{
	users.pairs = pairs;
	users.count = count;
}

void
lt_batch_may_wait(void)
{
	users.may_wait = true;
}

bool
lt_user_known(const char *name, uint32_t *uid)
{
	return lt_pairs_uid(users.pairs, users.count, name, uid);
}

void
lt_user_name(char *out, size_t size, const char *known, uint32_t uid)
{
	/* A look-up opens files or asks a server, and many jobs are of few. */
	static struct {
		uint32_t uid;
		int64_t until_utc_s;
		char name[LT_NAME_SIZE];
	} cache[USERS_KEPT], *kept;
	char buffer[4096];
	struct passwd entry, *found = NULL;
	const int64_t now_utc_s = time(NULL);

	if (known == NULL || known[0] == '\0')
		known = lt_pairs_user(users.pairs, users.count, uid);
	if (known != NULL && known[0] != '\0') {
		lt_copy(out, size, known);
		return;
	}
	if (!users.may_wait) {
		(void)snprintf(out, size, "%u", uid);
		return;
	}
	kept = &cache[uid % USERS_KEPT];
	if (kept->uid != uid || kept->until_utc_s <= now_utc_s ||
	    kept->until_utc_s > now_utc_s + USER_KEPT_S) {
		kept->uid = uid;
		kept->until_utc_s = now_utc_s + USER_KEPT_S;
		if (getpwuid_r(uid, &entry, buffer, sizeof(buffer), &found) == 0 && found != NULL)
			lt_copy(kept->name, sizeof(kept->name), entry.pw_name);
		else
			(void)snprintf(kept->name, sizeof(kept->name), "%u", uid);
	}
	lt_copy(out, size, kept->name);
}

int
lt_slurm_fail(const char *what, int slurm_errno, struct lt_error *err)
{
	static const struct {
		int slurm_errno;
		enum lt_code code;
	} codes[] = {
	    {ESLURM_INVALID_JOB_ID, LT_ENOENT},
	    {ESLURM_ALREADY_DONE, LT_ENOENT},
	    {ESLURM_INVALID_NODE_NAME, LT_ENOENT},
	    {ESLURM_USER_ID_MISSING, LT_EDENIED},
	    {ESLURM_ACCESS_DENIED, LT_EDENIED},
	    {ESLURM_INVALID_PARTITION_NAME, LT_EINPUT},
	    {ESLURM_INVALID_TIME_LIMIT, LT_EINPUT},
	    {ESLURM_JOB_NOT_PENDING, LT_EINPUT},
	    {ESLURM_JOB_FINISHED, LT_EINPUT},
	};
	enum lt_code code = LT_ENET;

	for (size_t i = 0; i < sizeof(codes) / sizeof(*codes); i++)
		if (codes[i].slurm_errno == slurm_errno)
			code = codes[i].code;
	return lt_fail(err, code, "%s: %s", what,
	    slurm_errno == 0 ? "no answer" : slurm_strerror(slurm_errno));
}

/* "4000M", "500G", "1.50T", "512" (MiB) -> MiB, rounded up. */
static uint64_t
memory_mib(const char *text)
{
	static const char units[] = "KMGTPE";
	char *end = NULL;
	double mib = strtod(text, &end);
	const char *const unit = *end == '\0' ? NULL : strchr(units, toupper((unsigned char)*end));

	if (!(mib > 0))
		return 0;
	if (unit != NULL)
		for (long i = unit - units; i != 1; i += i < 1 ? 1 : -1)
			mib = i < 1 ? mib / 1024 : mib * 1024;
	if (mib > 1e15)
		return 0;
	const uint64_t whole = (uint64_t)mib;
	return (double)whole < mib ? whole + 1 : whole;
}

/* A count; "2K" style suffixes are decimal in TRES texts of counts. */
static uint32_t
count_of(const char *text)
{
	char *end = NULL;
	const double value = strtod(text, &end);
	double scale = 1;

	if (*end == 'K')
		scale = 1000;
	else if (*end == 'M')
		scale = 1000000;
	return value > 0 && value * scale < UINT32_MAX ? (uint32_t)(value * scale + 0.5) : 0;
}

static int64_t
energy_of(const char *text)
{
	const unsigned long long joules = strtoull(text, NULL, 10);

	return joules >= INT64_MAX ? -1 : (int64_t)joules;
}

/* Next "key=value" of a comma list; false at the end or where it breaks. */
static bool
next_pair(const char **at, char key[64], char value[32])
{
	const size_t key_length = strcspn(*at, "=,");

	if ((*at)[key_length] != '=' || key_length >= 64)
		return false;
	memcpy(key, *at, key_length);
	key[key_length] = '\0';
	*at += key_length + 1;
	const size_t length = strcspn(*at, ",");
	if (length >= 32)
		return false;
	memcpy(value, *at, length);
	value[length] = '\0';
	*at += length;
	if (**at == ',')
		(*at)++;
	return true;
}

static void
add_gpus(struct lt_tres *tres, uint32_t count, bool is_typed, uint32_t *typed_gpus)
{
	tres->has_gpus = true;
	if (is_typed)
		*typed_gpus += count;
	else
		tres->gpus = count;
}

static void
add_shards(struct lt_tres *tres, uint32_t count)
{
	tres->has_gpus = true;
	tres->shards += count;
}

void
lt_tres_parse(struct lt_tres *tres, const char *text)
{
	char key[64], value[32];
	uint32_t typed_gpus = 0;

	*tres = (struct lt_tres){.energy_joules = -1};
	for (const char *at = text == NULL ? "" : text; next_pair(&at, key, value);) {
		if (strcasecmp(key, "cpu") == 0) {
			tres->has_cpus = true;
			tres->cpus = count_of(value);
		} else if (strcasecmp(key, "node") == 0) {
			tres->has_nodes = true;
			tres->nodes = count_of(value);
		} else if (strcasecmp(key, "mem") == 0) {
			tres->memory_mib = memory_mib(value);
		} else if (strcasecmp(key, "energy") == 0) {
			tres->energy_joules = energy_of(value);
		} else if (strcasecmp(key, "gres/gpu") == 0) {
			add_gpus(tres, count_of(value), false, &typed_gpus);
		} else if (strncasecmp(key, "gres/gpu:", 9) == 0) {
			add_gpus(tres, count_of(value), true, &typed_gpus);
		} else if (strcasecmp(key, "gres/shard") == 0 || strcasecmp(key, "gres/mps") == 0) {
			add_shards(tres, count_of(value));
		}
	}
	if (tres->gpus < typed_gpus)
		tres->gpus = typed_gpus;
}

void
lt_tres_parse_ids(
    struct lt_tres *tres, const char *text, const struct lt_tres_id *gpu_ids, uint32_t gpu_id_count)
{
	char key[64], value[32];
	uint32_t typed_gpus = 0;

	*tres = (struct lt_tres){.energy_joules = -1};
	for (const char *at = text == NULL ? "" : text; next_pair(&at, key, value);) {
		const unsigned long id = strtoul(key, NULL, 10);

		if (id <= UINT32_MAX && id > tres->max_id)
			tres->max_id = (uint32_t)id;
		if (id == TRES_ID_CPU) {
			tres->has_cpus = true;
			tres->cpus = count_of(value);
		} else if (id == TRES_ID_MEMORY) {
			tres->memory_mib = memory_mib(value);
		} else if (id == TRES_ID_ENERGY) {
			tres->energy_joules = energy_of(value);
		} else if (id == TRES_ID_NODE) {
			tres->has_nodes = true;
			tres->nodes = count_of(value);
		}
		for (uint32_t i = 0; i < gpu_id_count; i++) {
			if (gpu_ids[i].id != id)
				continue;
			if (gpu_ids[i].is_shard)
				add_shards(tres, count_of(value));
			else
				add_gpus(tres, count_of(value), gpu_ids[i].is_typed, &typed_gpus);
		}
	}
	if (tres->gpus < typed_gpus)
		tres->gpus = typed_gpus;
}

bool
lt_tres_count_of(const char *text, uint32_t id, uint64_t *count)
{
	char key[64], value[32];

	for (const char *at = text == NULL ? "" : text; next_pair(&at, key, value);)
		if (strtoul(key, NULL, 10) == id) {
			*count = strtoull(value, NULL, 10);
			return true;
		}
	return false;
}

bool
lt_tres_counts(const char *list, const char *name)
{
	const size_t length = strlen(name);

	for (const char *at = list == NULL ? "" : list; *at != '\0';) {
		if (strncasecmp(at, name, length) == 0 && strchr(",:", at[length]) != NULL)
			return true;
		at += strcspn(at, ",");
		at += *at == ',';
	}
	return false;
}

bool
lt_tres_counts_shards(const char *list, const char *gres_types)
{
	return (lt_gres_count(gres_types, "shard", NULL) == 0 ||
		   lt_tres_counts(list, "gres/shard")) &&
	       (lt_gres_count(gres_types, "mps", NULL) == 0 || lt_tres_counts(list, "gres/mps"));
}

uint32_t
lt_node_shards(const char *gres)
{
	const uint32_t shards = lt_gres_count(gres, "shard", NULL);
	const uint32_t mps = lt_gres_count(gres, "mps", NULL);

	return shards == 0 || (mps > 0 && mps < shards) ? mps : shards;
}

/* The most first; of as many, that which was said first. */
static void
add_kind(struct lt_shape *shape, const char *type, uint32_t count)
{
	struct lt_gpu_kind *const kinds = shape->kinds;
	int i = 0;

	while (i < LT_GPU_KINDS_MAX && kinds[i].count > 0 && strcmp(kinds[i].type, type) != 0)
		i++;
	if (i == LT_GPU_KINDS_MAX || strlen(type) >= sizeof(kinds[i].type)) {
		shape->gpus_unclear = true;
		return;
	}
	lt_copy(kinds[i].type, sizeof(kinds[i].type), type);
	kinds[i].gpu_index = -1;
	kinds[i].count += count;
	for (; i > 0 && kinds[i].count > kinds[i - 1].count; i--) {
		const struct lt_gpu_kind moved = kinds[i];

		kinds[i] = kinds[i - 1];
		kinds[i - 1] = moved;
	}
}

void
lt_gres_parse(const char *text, struct lt_shape *shape)
{
	shape->gpus = 0;
	for (const char *at = text == NULL ? "" : text; *at != '\0';) {
		char item[LT_GPU_NAME_SIZE + 128];
		size_t length = 0, depth = 0, next = 0;

		/* A comma within (S:0,2) does not end the item. */
		for (; at[next] != '\0' && (depth > 0 || at[next] != ','); next++) {
			depth += at[next] == '(';
			depth -= at[next] == ')' && depth > 0;
			if (depth == 0 && at[next] != ')' && length + 1 < sizeof(item))
				item[length++] = at[next];
		}
		item[length] = '\0';
		at += next + (at[next] == ',');
		if (strncmp(item, "gpu", 3) != 0 || (item[3] != ':' && item[3] != '\0'))
			continue;
		char *const last = strrchr(item, ':');
		const bool has_count = last != NULL && isdigit((unsigned char)last[1]);
		const uint32_t count = has_count ? count_of(last + 1) : 1;
		if (has_count)
			*last = '\0';
		shape->gpus += count;
		if (count > 0 && item[3] == ':') {
			item[4 + strcspn(item + 4, ":")] = '\0';
			add_kind(shape, item + 4, count);
		}
	}
}

/* Moves *at behind the text, and the number after it if there is to be one; false: it is not
 * there. */
static bool
skip_word(const char **at, const char *text, bool number)
{
	const size_t length = strlen(text);

	if (strncasecmp(*at, text, length) != 0)
		return false;
	*at += length;
	if (number)
		*at += strspn(*at, "0123456789");
	return true;
}

bool
lt_birth_parent(char parent[LT_ACCOUNT_SIZE], const char *info, const char *name)
{
	char found[LT_ACCOUNT_SIZE];
	const char *at = info;

	if (at == NULL || !skip_word(&at, "mod_time=", true) ||
	    !skip_word(&at, ", acct='", false) || !skip_word(&at, name, false) ||
	    !skip_word(&at, "'", false))
		return false;
	(void)skip_word(&at, ", is_def=", true);
	if (!skip_word(&at, ", parent_acct='", false))
		return false;
	const size_t length = strcspn(at, "'");
	if (length >= sizeof(found))
		return false;
	memcpy(found, at, length);
	found[length] = '\0';
	at += length;
	if (!skip_word(&at, "', user=''", false))
		return false;
	lt_copy_lower(parent, LT_ACCOUNT_SIZE, found);
	return true;
}
