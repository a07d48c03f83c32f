/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Checks of the policy file: the one that is named (--config, LOWTIDE_CONFIG), else the one that
 * lowtided has. Who may write it, the secrets and tables that it needs, its names and GPUs against
 * Slurm's, and whether plugstack's line gives compute nodes, where the file is not read, the same
 * rules.
 *
 * Facts that the probe or plugstack did not give are not checked:
 * doctor_slurm.c and doctor_plugstack.c report that.
 */
#include <ctype.h>
#include <errno.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "adapter.h"
#include "check.h"
#include "doctor.h"
#include "interruption.h"
#include "known_names.h"
#include "policy.h"
#include "points.h"

const struct lt_cli_option lt_cli_doctor_options[] = {
    {"config", "FILE", "examine this policy file, not lowtided's"},
    {"collect", "[=FILE]", "write this site without its names, for a replay"},
    {.name = NULL},
};

/* Checks the age of lowtide's own tables that the policy uses. */
static void
check_tables(struct lt_doctor *doctor, const struct lt_policy *policy)
{
	for (int i = 0; i < policy->source_count; i++) {
		const struct lt_policy_source *const source = &policy->sources[i];
		const struct lt_adapter *const adapter = lt_adapter_find(source->adapter);
		const struct lt_source_options options = lt_options_of(source);
		const int year = adapter->table_year != NULL ? adapter->table_year(&options) : 0;

		if (year != 0 && lt_table_is_old(year, time(NULL)))
			lt_doctor_say(doctor, LT_LEVEL_WARNING, "source",
			    "a newer lowtide may bring newer figures; a live source is better",
			    "%s: its figures are of %d", source->name, year);
	}
}

static void
check_writers(struct lt_doctor *doctor, const char *path)
{
	struct stat facts;
	char mend[1200];

	if (stat(path, &facts) != 0 || !(facts.st_mode & 022))
		return;
	(void)snprintf(mend, sizeof(mend), "chmod go-w %.1000s", path);
	lt_doctor_say(doctor, LT_LEVEL_ERROR, "policy", mend,
	    "%s has mode %03o: who can write it sets all budgets", path,
	    (unsigned)facts.st_mode & 0777);
}

static const char *
path_of(const struct lt_doctor *doctor)
{
	const char *const named = lt_cli_value(doctor->cli, "config");
	const char *const variable = getenv("LOWTIDE_CONFIG");

	if (named != NULL)
		return named;
	return variable != NULL && variable[0]
		   ? variable
		   : lt_json_text(json_object_get(doctor->status, "policy"), "path",
			 "/etc/lowtide/lowtide.yaml");
}

void
lt_doctor_load_policy(struct lt_doctor *doctor)
{
	const char *const path = path_of(doctor);
	struct lt_error err = {0};

	if (!doctor->on_controller && lt_cli_value(doctor->cli, "config") == NULL)
		return;
	if (lt_policy_load(&doctor->policy, path, lt_adapter_names(), &err) != LT_OK)
		lt_doctor_say(doctor, LT_LEVEL_ERROR, "policy",
		    access(path, F_OK)
			? "lowtide init writes a first one"
			: "mend the file: lowtide check FILE lists all errors; until then lowtided keeps the last good one, over a restart too",
		    "%s", err.text);
}

/* ---- secrets of sources and metrics ---- */

/* True for an option that names a file with a secret, by its ending. */
static bool
names_secret(const char *key)
{
	static const char suffix[] = "_file";
	const size_t length = strlen(key), tail = sizeof(suffix) - 1;

	return length > tail && strcmp(key + length - tail, suffix) == 0;
}

struct secret {
	const char *of, *key, *path;
	int least_bytes; /* of a whole secret */
};

/* Writes what is wrong with the file and how to fix it; false = nothing. */
static bool
find_fault(struct lt_finding *fault, const struct secret *secret, const char *user)
{
	const struct passwd *const owner = getpwnam(user);
	const char *const path = secret->path;
	struct stat status;

	snprintf(
	    fault->mend, sizeof(fault->mend), "put the secret there: mode 0600, of user %s", user);
	if (stat(path, &status)) {
		snprintf(fault->found, sizeof(fault->found), "%s", strerror(errno));
		return true;
	}
	snprintf(fault->found, sizeof(fault->found), "%lld bytes, want a line of %d and more",
	    (long long)status.st_size, secret->least_bytes);
	if (status.st_size < secret->least_bytes)
		return true;
	snprintf(fault->mend, sizeof(fault->mend), "chown %s %.200s; chmod 600 %.200s", user, path,
	    path);
	snprintf(fault->found, sizeof(fault->found),
	    "mode %04o, want 0600: others can read the secret", (unsigned)status.st_mode & 07777);
	if (status.st_mode & 077)
		return true;
	snprintf(fault->found, sizeof(fault->found), "belongs to uid %u: %s can't read it",
	    (unsigned)status.st_uid, user);
	return owner != NULL && owner->pw_uid != 0 && owner->pw_uid != status.st_uid;
}

struct counts { /* of secrets */
	int good, bad;
};

static void
check_secret(
    struct lt_doctor *doctor, const struct secret *secret, const char *user, struct counts *counts)
{
	struct lt_finding fault;

	if (!find_fault(&fault, secret, user)) {
		counts->good++;
		return;
	}
	counts->bad++;
	lt_doctor_say(doctor, LT_LEVEL_ERROR, "secrets", fault.mend, "%s, %s: %s: %s", secret->of,
	    secret->key, secret->path, fault.found);
}

static void
check_source_secrets(struct lt_doctor *doctor, const struct lt_policy_source *source,
    const char *user, struct counts *counts)
{
	char of[LT_NAME_SIZE + 16];

	snprintf(of, sizeof(of), "source %s", source->name);
	for (int i = 0; i < source->option_count; i++) {
		const struct lt_policy_option *const option = &source->options[i];

		if (names_secret(option->key))
			check_secret(doctor,
			    &(struct secret){.of = of,
				.key = option->key,
				.path = option->value,
				.least_bytes = 1},
			    user, counts);
	}
}

/* Checks that lowtided, and nobody else, can read the secrets. */
static void
check_secrets(struct lt_doctor *doctor, const struct lt_policy *policy)
{
	const char *const named = lt_doctor_conf(doctor, "slurm_user", doctor->conf.slurm_user);
	const char *const user = named[0] != '\0' ? named : "root";
	const char *const token = policy->metrics.token_file;
	struct counts counts = {0};

	for (int i = 0; i < policy->source_count; i++)
		check_source_secrets(doctor, &policy->sources[i], user, &counts);
	if (token[0] != '\0')
		check_secret(doctor,
		    &(struct secret){.of = "metrics",
			.key = "token_file",
			.path = token,
			.least_bytes = LT_METRICS_TOKEN_LEAST},
		    user, &counts);
	if (counts.good > 0 && counts.bad == 0)
		lt_doctor_say(doctor, LT_LEVEL_OK, "secrets", "",
		    "%d file%s, of mode 0600, for %s to read", counts.good,
		    counts.good == 1 ? "" : "s", user);
}

/* ---- names ---- */

/* Returns the names in an array of names, or of objects with one. The texts are lent, the list is
 * the caller's; NULL: not known. */
static const char **
names_of(const json_t *list)
{
	const size_t count = json_array_size(list);
	const char **const names = calloc(count + 1, sizeof(*names));
	size_t index;
	const json_t *item;

	if (names == NULL || !json_is_array(list)) {
		free(names);
		return NULL;
	}
	json_array_foreach(list, index, item)
		names[index] =
		    json_is_string(item) ? json_string_value(item) : lt_json_text(item, "name", "");
	return names;
}

struct unknown_names {
	struct lt_doctor *doctor;
	const char *path;
};

/* True if neither sed nor a shell gives a character of text a meaning: root pastes the line, and
 * others may choose account names. */
static bool
is_plain(const char *text)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789_-./";

	return text[strspn(text, plain)] == '\0';
}

/* True if a sed command can replace the name. A key needs its line number, as other keys may be
 * alike. */
static bool
has_line(const struct unknown_names *names, const struct lt_unknown_name *unknown)
{
	return unknown->nearest != NULL && is_plain(unknown->nearest) && is_plain(unknown->name) &&
	       is_plain(names->path) && (unknown->key[0] != '\0' || unknown->line > 0);
}

static void
say_unknown(void *context, const struct lt_unknown_name *unknown)
{
	const struct unknown_names *const names = context;
	char mend[1024];

	if (has_line(names, unknown) && unknown->key[0] == '\0')
		(void)snprintf(mend, sizeof(mend), "sed -i '%ds|\\b%s\\(\"\\?:\\)|%s\\1|' %s",
		    unknown->line, unknown->name, unknown->nearest, names->path);
	else if (has_line(names, unknown))
		(void)snprintf(mend, sizeof(mend),
		    "sed -i 's~\\b\\(%s: *\"\\?\\)%s\\([] \",}#]\\|$\\)~\\1%s\\2~' %s",
		    unknown->key, unknown->name, unknown->nearest, names->path);
	else
		(void)snprintf(mend, sizeof(mend), "mend it in %.600s, or take it out: %s",
		    names->path,
		    unknown->is_limit ? "it limits nobody" : "it is a rule for nobody");
	lt_doctor_say(names->doctor, unknown->is_limit ? LT_LEVEL_ERROR : LT_LEVEL_WARNING, "names",
	    mend, "%s", unknown->text);
}

static bool
has_price(const struct lt_policy *policy, const char *partition)
{
	for (int i = 0; i < policy->partition_count; i++)
		if (strcmp(policy->partitions[i].name, partition) == 0)
			return policy->partitions[i].price.is_set ||
			       policy->partitions[i].has_gpu_price ||
			       (policy->partitions[i].owned && policy->partitions[i].tariff.is_set);
	return false;
}

/* Warns of partitions without a price if others have one; without any, the site shows no money. */
static void
check_prices(
    struct lt_doctor *doctor, const struct lt_policy *policy, const char *const *partitions)
{
	char list[256] = "";
	size_t length = 0;
	bool any = false;

	for (int i = 0; i < policy->partition_count; i++)
		any |= has_price(policy, policy->partitions[i].name);
	for (; any && *partitions != NULL; partitions++)
		if (!has_price(policy, *partitions) && length < sizeof(list) - LT_NAME_SIZE)
			length += (size_t)snprintf(list + length, sizeof(list) - length, "%s%s",
			    length ? ", " : "", *partitions);
	if (length > 0)
		lt_doctor_say(doctor, LT_LEVEL_WARNING, "prices",
		    "give it price_per_node_hour under partitions: in the policy file",
		    "no price for %s: jobs there cost nothing that reports could show, and those of budgeted teams meet on_unknown",
		    list);
}

/* Checks partitions of which Slurm shows no node: an autoscaler from zero, dynamic nodes, or cloud
 * nodes that are powered down. */
static void
check_nodes(struct lt_doctor *doctor, const struct lt_policy *policy)
{
	const json_t *const partitions = json_object_get(doctor->facts, "partitions");
	size_t index;
	const json_t *partition;

	json_array_foreach(partitions, index, partition) {
		const char *const name = lt_json_text(partition, "name", "");
		bool is_said = false;

		if (json_array_size(json_object_get(partition, "shapes")) > 0)
			continue;
		for (int i = 0; i < policy->partition_count; i++)
			is_said |= policy->partitions[i].node.is_set &&
				   strcmp(policy->partitions[i].name, name) == 0;
		if (is_said)
			lt_doctor_say(doctor, LT_LEVEL_NOTE, "nodes", "",
			    "partition %s has no node now: jobs there are priced by those that lowtided saw last, else by node: of the policy file",
			    name);
		else
			lt_doctor_say(doctor, LT_LEVEL_WARNING, "nodes",
			    "give it node: {cpus: 64, memory: 500GiB, gpus: 8}, as they are, in the policy file; of powered-down cloud nodes Slurm tells by PrivateData=cloud",
			    "partition %s has no node now: jobs there are priced by those that lowtided saw last; if it saw none, those of budgeted teams meet on_unknown",
			    name);
	}
}

/* Checks that nodes have as many GPUs each: else a price per GPU gives no price per node. */
static void
check_gpu_prices(struct lt_doctor *doctor, const struct lt_policy *policy)
{
	const json_t *const partitions = json_object_get(doctor->facts, "partitions");
	size_t index, kind;
	const json_t *partition, *shape;

	json_array_foreach(partitions, index, partition) {
		const char *const name = lt_json_text(partition, "name", "");
		int64_t first = -1, gpus = 0;
		bool is_one = true, is_priced = false;

		for (int i = 0; i < policy->partition_count; i++)
			is_priced |= policy->partitions[i].has_gpu_price &&
				     policy->partitions[i].node.gpus == 0 &&
				     strcmp(policy->partitions[i].name, name) == 0;
		json_array_foreach(json_object_get(partition, "shapes"), kind, shape) {
			(void)lt_json_int(shape, "gpus", &gpus);
			is_one &= first < 0 || gpus == first;
			first = gpus;
		}
		if (is_priced && (!is_one || first <= 0))
			lt_doctor_say(doctor, LT_LEVEL_ERROR, "prices",
			    "give it price_per_node_hour in the policy file, or make a partition of each kind of node",
			    "price_per_gpu_hour of %s: %s", name,
			    is_one ? "its nodes have no GPUs"
				   : "its nodes have different numbers of GPUs");
	}
}

/* Compares the policy's names with those that the probe found in Slurm, and reports partitions
 * without a price. Returns how many names are unknown. */
static int
check_names(struct lt_doctor *doctor, const struct lt_policy *policy)
{
	const json_t *const all = json_object_get(doctor->facts, "accounts");
	const char **const partitions = names_of(json_object_get(doctor->facts, "partitions"));
	/* An empty list means that slurmdbd did not answer. */
	const char **const accounts = json_array_size(all) > 0 ? names_of(all) : NULL;
	const char **const qoses = names_of(json_object_get(doctor->facts, "qoses"));

	const struct lt_known_names known = {
	    .partitions = partitions, .accounts = accounts, .qoses = qoses};
	struct unknown_names names = {.doctor = doctor, .path = policy->path};
	const struct lt_unknown_teller teller = {.context = &names, .tell = say_unknown};

	const int unknown = lt_policy_unknown_names(policy, &known, &teller);
	if (partitions != NULL && unknown == 0)
		check_prices(doctor, policy, partitions);
	check_gpu_prices(doctor, policy);
	check_nodes(doctor, policy);
	free(partitions);
	free(accounts);
	free(qoses);
	return unknown;
}

/* ---- GPUs ---- */

/* True if the power of the GPU is known. A slice counts as the GPU that the node has beside it, if
 * any. */
static bool
is_known_gpu(const struct lt_policy *policy, const json_t *types, const char *type)
{
	struct lt_gpu room;
	size_t index;
	const json_t *other;

	if (lt_policy_gpu(&room, policy, type) != NULL)
		return true;
	json_array_foreach(types, index, other) {
		const struct lt_gpu *const gpu =
		    lt_policy_gpu(&room, policy, json_string_value(other));

		if (gpu != NULL && gpu->mig_slices > 0)
			return lt_gpu_is_slice(type);
	}
	return false;
}

static void
say_gpu(struct lt_doctor *doctor, const struct lt_policy *policy, const char *partition,
    const char *type)
{
	char mend[1024];

	(void)snprintf(mend, sizeof(mend), "in %.300s, partitions: %s: " LT_CHECK_GPU_KEYS "%s%s%s",
	    policy->path, partition, type[0] ? "; or gpus: {" : "", type,
	    type[0] ? ": {memory: 40GiB, power_w: 300}} with its figures" : "");
	lt_doctor_say(doctor, LT_LEVEL_WARNING, "gpus", mend,
	    "partition %s: %s%s: power unknown, so carbon and energy of its jobs are, too",
	    partition, type[0] ? "GPU of Gres type " : "GPUs without a Gres type", type);
}

static void
check_shape(struct lt_doctor *doctor, const struct lt_policy *policy, const char *partition,
    const json_t *shape)
{
	const json_t *const types = json_object_get(shape, "gpu_types");
	int64_t gpus = 0;
	size_t index;
	const json_t *type;

	lt_json_int(shape, "gpus", &gpus);
	if (gpus > 0 && json_array_size(types) == 0)
		say_gpu(doctor, policy, partition, "");
	json_array_foreach(types, index, type)
		if (!is_known_gpu(policy, types, json_string_value(type)))
			say_gpu(doctor, policy, partition, json_string_value(type));
}

/* Reports GPUs whose power is unknown: the carbon and the energy cost of their jobs are then
 * unknown, not 0. */
static void
check_gpus(struct lt_doctor *doctor, const struct lt_policy *policy)
{
	const json_t *const partitions = json_object_get(doctor->facts, "partitions");
	size_t index, k;
	const json_t *partition, *shape;

	json_array_foreach(partitions, index, partition) {
		const char *const name = lt_json_text(partition, "name", "");

		for (int i = 0; i < policy->partition_count; i++) {
			const struct lt_policy_partition *const from = &policy->partitions[i];

			if (strcmp(from->name, name) != 0 || !lt_check_wants_gpu_power(from))
				continue;
			json_array_foreach(json_object_get(partition, "shapes"), k, shape)
				check_shape(doctor, policy, name, shape);
		}
	}
}

/* ---- plugstack's line ---- */

/* Returns a partition's rate in GET /v1/signals; 0 = it has none. */
static double
rate_of(const json_t *signals, const char *name)
{
	size_t index;
	const json_t *partition;

	json_array_foreach(json_object_get(signals, "partitions"), index, partition) {
		if (strcmp(lt_json_text(partition, "name", ""), name) == 0)
			return json_number_value(
			    json_object_get(json_object_get(partition, "hazard"), "value"));
	}
	return 0;
}

/* True if the field of length bytes is want; NULL: any number. */
static bool
is_field(const char *at, size_t length, const char *want)
{
	if (want != NULL)
		return strlen(want) == length && strncmp(at, want, length) == 0;
	return isdigit((unsigned char)*at) || *at == '.';
}

/* True if the line's preemptible= has this partition with the wanted rate (NULL: any) and the
 * wanted text behind it. */
static bool
names_partition(const char *line, const char *name, const char *rate, const char *behind)
{
	const char *at = strstr(line, "preemptible=");
	const size_t length = strlen(name);

	at = at != NULL ? at + strlen("preemptible=") : "";
	const char *const end = at + strcspn(at, " \t");

	while (at < end) {
		const char *const next = at + strcspn(at, ", \t");

		if (strncmp(at, name, length) == 0 && at[length] == ':') {
			const char *const number = at + length + 1;
			const char *const after = number + strcspn(number, ":, \t");

			return is_field(number, (size_t)(after - number), rate) &&
			       is_field(after, (size_t)(next - after), behind);
		}
		at = *next == ',' ? next + 1 : end;
	}
	return false;
}

/* ":120" for the notice, ":120:2.5" with the storage's GiB a second; "" if the policy has
 * neither. */
static const char *
text_behind(char *out, size_t size, const struct lt_policy_partition *partition)
{
	const double gib_per_s = partition->storage_gib_per_s;
	char storage[32] = "";

	out[0] = '\0';
	if (gib_per_s > 0)
		snprintf(storage, sizeof(storage), ":%g", gib_per_s);
	if (partition->notice_s > 0 || gib_per_s > 0)
		snprintf(out, size, ":%lld%s", (long long)partition->notice_s, storage);
	return out;
}

bool
lt_preemptible_argument(
    const struct lt_policy *policy, const json_t *signals, const char *line, char *out, size_t size)
{
	size_t used = 0;
	bool right = true;

	out[0] = '\0';
	for (int i = 0; i < policy->partition_count; i++) {
		const struct lt_policy_partition *const partition = &policy->partitions[i];
		const bool written = partition->hazard.is_constant;
		const double rate =
		    written ? partition->hazard.constant : rate_of(signals, partition->name);
		char number[32], behind[64];

		if (!partition->preemptible || used + 160 >= size)
			continue;
		snprintf(number, sizeof(number), "%.3g", rate);
		if (written)
			snprintf(number, sizeof(number), "%g", rate);
		text_behind(behind, sizeof(behind), partition);
		used += (size_t)snprintf(out + used, size - used, "%s%s:%s%s",
		    used ? "," : "preemptible=", partition->name,
		    written || rate > 0 ? number : "RATE", behind);
		right = right &&
			names_partition(line, partition->name, written ? number : NULL, behind);
	}
	return right;
}

bool
lt_preemptible_hurried(const struct lt_policy *policy, int64_t kill_wait_s, char *out, size_t size)
{
	size_t used = 0;

	out[0] = '\0';
	for (int i = 0; i < policy->partition_count && used < size; i++) {
		const struct lt_policy_partition *const partition = &policy->partitions[i];

		if (partition->preemptible && partition->notice_s > 0 &&
		    partition->notice_s - kill_wait_s - LT_NOTICE_MARGIN_S <= 0)
			used += (size_t)snprintf(
			    out + used, size - used, "%s%s", used > 0 ? ", " : "", partition->name);
	}
	return used > 0;
}

/* Checks notices against slurmctld's KillWait, if that is known. */
static void
check_notice(struct lt_doctor *doctor, const struct lt_policy *policy)
{
	char names[256];
	int64_t kill_wait_s = 0;

	if (!lt_json_int(json_object_get(doctor->facts, "conf"), "kill_wait_s", &kill_wait_s) ||
	    !lt_preemptible_hurried(policy, kill_wait_s, names, sizeof(names)))
		return;
	lt_doctor_say(doctor, LT_LEVEL_WARNING, "notice",
	    "lower KillWait in slurm.conf, and have long checkpoints written at intervals",
	    "%s: the notice is no longer than KillWait (%lld s) and %d s: checkpoints are asked for at once and get no more than KillWait",
	    names, (long long)kill_wait_s, LT_NOTICE_MARGIN_S);
}

/* Checks that the line says which partitions can lose their nodes, and how often. */
static void
check_preemptible(
    struct lt_doctor *doctor, const struct lt_policy *policy, const struct lt_plugstack *line)
{
	char want[1024], mend[2560];
	json_t *signals = NULL;

	if (doctor->status != NULL && lt_client_get(&signals, doctor->cli, "/v1/signals", NULL))
		signals = NULL;
	const bool right = lt_preemptible_argument(policy, signals, line->text, want, sizeof(want));

	json_decref(signals);
	if (!want[0])
		return;
	if (right) {
		lt_doctor_say(doctor, LT_LEVEL_OK, "preemptible", "",
		    "plugstack's line has what the policy says, as %s", want);
		return;
	}
	lt_doctor_say(doctor, LT_LEVEL_WARNING, "preemptible",
	    lt_plugstack_mend(mend, sizeof(mend), line, want),
	    "here and on compute nodes: jobs on preemptible nodes get no checkpoint interval and notice, or wrong ones: %s: %s",
	    line->path, line->text);
}

bool
lt_precision_argument(const struct lt_policy *policy, const char *line, char *want, size_t size)
{
	const char *const found = strstr(line, "precision=");
	const char *const at = found != NULL ? found : "";
	const size_t length = strcspn(at, " \t\n");

	lt_policy_precision_text(want, size, policy);
	return strlen(want) == length && strncmp(at, want, length) == 0;
}

static void
check_precision(
    struct lt_doctor *doctor, const struct lt_policy *policy, const struct lt_plugstack *line)
{
	enum { RULE_SIZE = LT_NAME_SIZE + 24 };
	char want[LT_PRECISION_RULES_MAX * RULE_SIZE];
	char mend[sizeof(want) + 1200];

	if (lt_precision_argument(policy, line->text, want, sizeof(want))) {
		if (want[0] != '\0')
			lt_doctor_say(doctor, LT_LEVEL_OK, "precision", "",
			    "plugstack's line has the policy's rules");
		return;
	}
	if (want[0] != '\0')
		(void)lt_plugstack_mend(mend, sizeof(mend), line, want);
	else
		snprintf(mend, sizeof(mend), "sed -i '%ds|[ \\t]precision=[^ \\t]*||' %s",
		    line->line, line->path);
	lt_doctor_say(doctor, LT_LEVEL_WARNING, "precision", mend,
	    "here and on compute nodes: jobs get other precision rules than the policy's: %s",
	    line->path);
}

/* Checks power_cap=yes: without it caps are announced to users and not set. */
static void
check_power_cap(
    struct lt_doctor *doctor, const struct lt_policy *policy, const struct lt_plugstack *line)
{
	char mend[2048];

	if (policy->power_cap_count == 0)
		return;
	const char *const value = lt_plugstack_value(line, "power_cap");
	const size_t length = value != NULL ? strcspn(value, " \t") : 0;

	if (length == 3 && strncmp(value, "yes", length) == 0)
		lt_doctor_say(doctor, LT_LEVEL_OK, "power_cap", "",
		    "compute nodes ask for a job's power cap");
	else if (value == NULL || (length == 2 && strncmp(value, "no", 2) == 0))
		lt_doctor_say(doctor, LT_LEVEL_WARNING, "power_cap",
		    lt_plugstack_mend(mend, sizeof(mend), line, "power_cap=yes"),
		    "here and on compute nodes: jobs are told a power cap that they do not get: %s",
		    line->path);
}

/* Checks the rules that plugstack's line gives compute nodes, where the policy file is not read.
 * lt_doctor_plugstack() reports a missing line. */
static void
check_line(struct lt_doctor *doctor, const struct lt_policy *policy)
{
	struct lt_plugstack line;

	if (!lt_doctor_own_line(doctor, &line))
		return;
	check_preemptible(doctor, policy, &line);
	check_precision(doctor, policy, &line);
	check_power_cap(doctor, policy, &line);
}

/* ---- all of it ---- */

void
lt_doctor_policy(struct lt_doctor *doctor)
{
	const struct lt_policy *const policy = doctor->policy;

	if (policy == NULL)
		return;
	lt_doctor_say(doctor, LT_LEVEL_OK, "policy", "",
	    "%s: %d partition%s, %d source%s, %d budget%s", policy->path, policy->partition_count,
	    policy->partition_count == 1 ? "" : "s", policy->source_count,
	    policy->source_count == 1 ? "" : "s", policy->budget_count,
	    policy->budget_count == 1 ? "" : "s");
	check_writers(doctor, policy->path);
	check_tables(doctor, policy);
	check_secrets(doctor, policy);
	/* A misspelt name would be proposed for the line, too. */
	if (check_names(doctor, policy) > 0)
		return;
	check_notice(doctor, policy);
	check_line(doctor, policy);
	check_gpus(doctor, policy);
}
