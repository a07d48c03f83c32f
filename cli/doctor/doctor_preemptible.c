/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * doctor: does plugstack's line tell compute nodes which partitions can lose
 * their nodes, and how often? There the policy file is not read.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "doctor.h"
#include "interruption.h"
#include "policy.h"

/* A partition's rate by lowtided, of GET /v1/signals; 0 = it has none. */
static double
rate_of(const json_t *signals, const char *name)
{
	size_t index;
	const json_t *partition;

	json_array_foreach(
	    json_object_get(signals, "partitions"), index, partition) {
		if (strcmp(lt_json_text(partition, "name", ""), name) == 0)
			return json_number_value(json_object_get(
			    json_object_get(partition, "hazard"), "value"));
	}
	return 0;
}

/* Is it this field, up to its end? want NULL: any number. */
static bool
is_field(const char *at, size_t length, const char *want)
{
	if (want != NULL)
		return strlen(want) == length && strncmp(at, want, length) == 0;
	return isdigit((unsigned char)*at) || *at == '.';
}

/* Has the line's preemptible= this partition, with the rate that is wanted
 * (NULL: with any) and what belongs behind it? */
static bool
names_partition(
    const char *line, const char *name, const char *rate, const char *behind)
{
	const char *at = strstr(line, "preemptible=");
	const size_t length = strlen(name);

	at = at != NULL ? at + strlen("preemptible=") : "";
	const char *const end = at + strcspn(at, " \t");

	while (at < end) {
		const char *const next = at + strcspn(at, ", \t");

		if (strncmp(at, name, length) == 0 && at[length] == ':') {
			const char *const number = at + length + 1;
			const char *const after =
			    number + strcspn(number, ":, \t");

			return is_field(
				   number, (size_t)(after - number), rate) &&
			       is_field(after, (size_t)(next - after), behind);
		}
		at = *next == ',' ? next + 1 : end;
	}
	return false;
}

/* ":120" for the notice, ":120:2.5" with the storage's GiB a second; "" where
 * the policy says neither. */
static const char *
text_behind(char *out, size_t size, const struct lt_policy_partition *partition)
{
	const double gib_per_s = partition->storage_gib_per_s;
	char storage[32] = "";

	out[0] = '\0';
	if (gib_per_s > 0)
		snprintf(storage, sizeof(storage), ":%g", gib_per_s);
	if (partition->notice_s > 0 || gib_per_s > 0)
		snprintf(out, size, ":%lld%s", (long long)partition->notice_s,
		    storage);
	return out;
}

bool
lt_preemptible_argument(const struct lt_policy *policy, const json_t *signals,
    const char *line, char *out, size_t size)
{
	size_t used = 0;
	bool right = true;

	out[0] = '\0';
	for (int i = 0; i < policy->partition_count; i++) {
		const struct lt_policy_partition *const partition =
		    &policy->partitions[i];
		const bool written = partition->hazard.is_constant;
		const double rate = written ? partition->hazard.constant
					    : rate_of(signals, partition->name);
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
		right = right && names_partition(line, partition->name,
				     written ? number : NULL, behind);
	}
	return right;
}

bool
lt_preemptible_hurried(
    const struct lt_policy *policy, int64_t kill_wait_s, char *out, size_t size)
{
	size_t used = 0;

	out[0] = '\0';
	for (int i = 0; i < policy->partition_count && used < size; i++) {
		const struct lt_policy_partition *const partition =
		    &policy->partitions[i];

		if (partition->preemptible && partition->notice_s > 0 &&
		    partition->notice_s - kill_wait_s - LT_NOTICE_MARGIN_S <= 0)
			used += (size_t)snprintf(out + used, size - used,
			    "%s%s", used > 0 ? ", " : "", partition->name);
	}
	return used > 0;
}

/* With kill_wait_s as slurmctld has it: nothing is said without it. */
static void
check_notice(struct lt_doctor *doctor, const struct lt_policy *policy)
{
	char names[256];
	int64_t kill_wait_s = 0;

	if (!lt_json_int(json_object_get(doctor->facts, "conf"), "kill_wait_s",
		&kill_wait_s) ||
	    !lt_preemptible_hurried(policy, kill_wait_s, names, sizeof(names)))
		return;
	lt_doctor_say(doctor, LT_LEVEL_WARNING, "notice",
	    "lower KillWait in slurm.conf, and have long checkpoints written at intervals",
	    "%s: the notice is no longer than KillWait (%lld s) and %d s: checkpoints are asked for at once and get no more than KillWait",
	    names, (long long)kill_wait_s, LT_NOTICE_MARGIN_S);
}

void
lt_doctor_preemptible(struct lt_doctor *doctor, const struct lt_policy *policy)
{
	struct lt_plugstack line;
	char want[1024], mend[2560];
	json_t *signals = NULL;

	check_notice(doctor, policy);
	if (!lt_doctor_own_line(doctor, &line))
		return; /* said by lt_doctor_plugstack() */
	if (doctor->status != NULL &&
	    lt_client_get(&signals, doctor->cli, "/v1/signals", NULL))
		signals = NULL;
	const bool right = lt_preemptible_argument(
	    policy, signals, line.text, want, sizeof(want));

	json_decref(signals);
	if (!want[0])
		return;
	if (right) {
		lt_doctor_say(doctor, LT_LEVEL_OK, "preemptible", "",
		    "plugstack's line has what the policy says, as %s", want);
		return;
	}
	lt_doctor_say(doctor, LT_LEVEL_WARNING, "preemptible",
	    lt_plugstack_mend(mend, sizeof(mend), &line, want),
	    "here and on compute nodes: jobs on preemptible nodes get no checkpoint interval and notice, or wrong ones: %s: %s",
	    line.path, line.text);
}
