/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Checks of Slurm: the facts that slurmctld gives (lowtided --probe), slurm.conf as it is on this
 * host, and whether the plugins are there and built for slurmctld's release. Facts that the probe
 * could not get are not checked; the failed probe is itself a finding.
 */
#include <stdarg.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "doctor.h"
#include "text.h"

#ifndef LT_PLUGIN_DIR /* where Debian has them; the Makefile may say more */
#define LT_PLUGIN_DIR "/usr/lib/x86_64-linux-gnu/slurm-wlm:/usr/lib64/slurm"
#endif

static bool
is_this_host(const char *name)
{
	char own[256] = "";

	if (gethostname(own, sizeof(own) - 1))
		return false;
	const size_t length = strcspn(own, ".");

	return strcmp(name, "localhost") == 0 ||
	       (strcspn(name, ".") == length && strncasecmp(name, own, length) == 0);
}

void
lt_doctor_conf_file(struct lt_doctor *doctor)
{
	struct lt_error err = {0};

	if (lt_conf_load(&doctor->conf, &err))
		lt_doctor_say(doctor, LT_LEVEL_ERROR, "slurm.conf",
		    "name it by SLURM_CONF, or run doctor on the controller", "%s", err.text);
	else
		doctor->has_conf = true;
	for (int i = 0; i < doctor->conf.host_count; i++)
		if (is_this_host(doctor->conf.host_names[i]))
			doctor->on_controller = true;
	if (doctor->has_conf)
		(void)lt_doctor_others_may(doctor, "slurm.conf", doctor->conf.path, S_IROTH,
		    "every Slurm command of theirs fails");
}

static void
check_left_out(struct lt_doctor *doctor)
{
	const json_t *const left_out = json_object_get(doctor->facts, "left_out");
	int64_t count = 0;

	lt_json_int(left_out, "count", &count);
	if (count > 0)
		lt_doctor_say(doctor, LT_LEVEL_WARNING, "partitions",
		    "a shorter name, or fewer partitions or kinds of node; until then jobs there are left alone, and those of budgeted teams meet on_unknown",
		    "%lld of Slurm's partitions %s not known to lowtide: %s", (long long)count,
		    count == 1 ? "is" : "are", lt_json_text(left_out, "why", ""));
}

void
lt_doctor_probe(struct lt_doctor *doctor)
{
	struct lt_error err = {0};
	const int code = lt_probe_facts(&doctor->facts, &err);

	if (code) {
		doctor->facts = NULL;
		if (doctor->has_conf && !doctor->on_controller)
			lt_doctor_say(doctor, LT_LEVEL_NOTE, "slurm",
			    "run doctor on the controller for all checks",
			    "this is no controller: %s", err.text);
		else
			lt_doctor_say(doctor,
			    doctor->munge_fails && code != LT_ENOENT ? LT_LEVEL_NOTE
								     : LT_LEVEL_ERROR,
			    "slurm",
			    code == LT_ENOENT ? "install lowtided here (LOWTIDED names it)"
			    : doctor->munge_fails
				? "mend munge first: without it slurmctld can't be asked"
				: "systemctl restart slurmctld",
			    "can't ask Slurm: %s", err.text);
		return;
	}
	lt_doctor_say(doctor, LT_LEVEL_OK, "slurm", "", "slurmctld %s answers, cluster %s",
	    lt_doctor_conf(doctor, "release", "?"), lt_doctor_conf(doctor, "cluster", "?"));
	check_left_out(doctor);
}

void
lt_doctor_release(struct lt_doctor *doctor)
{
	const char *const release = lt_doctor_conf(doctor, "release", "");
	const char *const ours = lt_doctor_conf(doctor, "our_release", "");
	const uint32_t theirs_number = lt_release_number(release);
	const uint32_t our_number = lt_release_number(ours);

	if (json_is_true(json_object_get(json_object_get(doctor->facts, "conf"), "federated")))
		lt_doctor_say(doctor, LT_LEVEL_ERROR, "federation",
		    "take the cluster out of the federation, or budget elsewhere",
		    "a federation is not supported: a sibling's job has no owner here");
	if (!theirs_number || !our_number)
		return;
	if (theirs_number >> 8 != our_number >> 8)
		lt_doctor_say(doctor, LT_LEVEL_ERROR, "libslurm",
		    "install the lowtide that was built for this Slurm",
		    "lowtided has libslurm %s, slurmctld is %s", ours, release);
}

struct item { /* of a comma list, without the blanks around it */
	const char *text;
	size_t length;
};

/* Finds the first item behind *at and moves *at behind it; false: none. */
static bool
next_item(struct item *item, const char **at)
{
	item->text = *at + strspn(*at, ", ");
	item->length = strcspn(item->text, ", ");
	*at = item->text + item->length;
	return item->length > 0;
}

static bool
is_item(const struct item *item, const char *word)
{
	return item->length == strlen(word) && memcmp(item->text, word, item->length) == 0;
}

static int
count_item(const char *list, const char *word)
{
	struct item item;
	int count = 0;

	for (const char *at = list; next_item(&item, &at);)
		count += is_item(&item, word);
	return count;
}

void
lt_doctor_plugin(struct lt_doctor *doctor, const char *check, const char *name, uint32_t mask)
{
	const char *const release = lt_doctor_conf(doctor, "release", "");
	const uint32_t want = lt_release_number(release);
	char path[2048];
	uint32_t version = 0;
	struct lt_error err = {0};

	if (lt_plugin_find(path, sizeof(path),
		doctor->conf.plugin_dir[0] ? doctor->conf.plugin_dir
					   : lt_doctor_conf(doctor, "plugin_dir", LT_PLUGIN_DIR),
		name, &err) ||
	    lt_plugin_version(path, &version, &err)) {
		lt_doctor_say(doctor, LT_LEVEL_ERROR, check,
		    "install it there before slurmctld starts again: without it slurmctld stops at its start",
		    "%s", err.text);
		return;
	}
	if (want && (version & mask) != (want & mask)) {
		lt_doctor_say(doctor, LT_LEVEL_ERROR, check,
		    "build lowtide against this Slurm's headers; do not restart slurmctld before",
		    "%s is for Slurm %u.%02u.%u, slurmctld is %s", path, version >> 16 & 255,
		    version >> 8 & 255, version & 255, release);
		return;
	}
	lt_doctor_say(doctor, want ? LT_LEVEL_OK : LT_LEVEL_NOTE, check, "",
	    "%s is for Slurm %u.%02u.%u%s", path, version >> 16 & 255, version >> 8 & 255,
	    version & 255, want ? "" : "; slurmctld's release is not known here");
}

/* Adds a finding that a line of slurm.conf fixes; slurmctld reads it at start. */
static void __attribute__((format(printf, 5, 6))) say_conf(struct lt_doctor *doctor,
    enum lt_level level, const char *check, const char *line, const char *format, ...)
{
	char found[512], mend[1600];
	va_list arguments;

	va_start(arguments, format);
	(void)vsnprintf(found, sizeof(found), format, arguments);
	va_end(arguments);
	(void)snprintf(mend, sizeof(mend), "in %s write %s, then: systemctl restart slurmctld",
	    doctor->has_conf ? doctor->conf.path : "slurm.conf", line);
	lt_doctor_say(doctor, level, check, mend, "%s", found);
}

static bool
is_last(const char *list, const char *word)
{
	struct item item;
	bool is_it = false;

	for (const char *at = list; next_item(&item, &at);)
		is_it = is_item(&item, word);
	return is_it;
}

/* Writes the list of plugins with lowtide at its end. */
static const char *
lowtide_last(char *out, size_t size, const char *list)
{
	struct lt_text text = {.out = out, .size = size};
	struct item item;

	lt_text_put(&text, "JobSubmitPlugins=");
	for (const char *at = list; next_item(&item, &at);)
		if (!is_item(&item, "lowtide"))
			lt_text_put(&text, "%.*s,", (int)item.length, item.text);
	lt_text_put(&text, "lowtide");
	return out;
}

void
lt_doctor_job_submit(struct lt_doctor *doctor)
{
	const char *const running =
	    lt_json_text(json_object_get(doctor->facts, "conf"), "job_submit_plugins", "");
	/* The next start of slurmctld reads the file. */
	const char *const list = doctor->has_conf ? doctor->conf.job_submit_plugins : running;
	char line[512];

	if (doctor->facts == NULL && !doctor->has_conf)
		return;
	if (doctor->facts != NULL && strcmp(list, running) != 0)
		lt_doctor_say(doctor, LT_LEVEL_WARNING, "job_submit", "systemctl restart slurmctld",
		    "%s has JobSubmitPlugins=%s, the running slurmctld %s", doctor->conf.path, list,
		    running[0] ? running : "none");
	if (count_item(list, "lowtide") == 0) {
		lt_doctor_say(doctor, LT_LEVEL_NOTE, "job_submit",
		    "for budgets that nobody slips past: JobSubmitPlugins=...,lowtide (last) in slurm.conf, then: systemctl restart slurmctld",
		    "JobSubmitPlugins=%s has no lowtide: only sbatch, srun and salloc with plugstack see it",
		    list);
		return;
	}
	if (count_item(list, "lowtide") > 1)
		say_conf(doctor, LT_LEVEL_ERROR, "job_submit",
		    lowtide_last(line, sizeof(line), list),
		    "JobSubmitPlugins=%s names lowtide more than once: each further call does nothing",
		    list);
	else if (!is_last(list, "lowtide"))
		say_conf(doctor, LT_LEVEL_ERROR, "job_submit",
		    lowtide_last(line, sizeof(line), list),
		    "JobSubmitPlugins=%s: what a plugin after lowtide changes is neither priced nor held",
		    list);
	lt_doctor_plugin(doctor, "job_submit", "job_submit_lowtide.so", 0xffffff);
}

/* Writes the TRES that are counted already, and each kind of GPU of the site. */
static const char *
gpus_too(char *out, size_t size, const struct lt_conf *conf)
{
	static const struct {
		const char *type, *tres;
	} kinds[] = {{"gpu", "gres/gpu"}, {"shard", "gres/shard"}, {"mps", "gres/mps"}};
	struct lt_text text = {.out = out, .size = size};

	lt_text_put(&text, "AccountingStorageTRES=%s", conf->accounting_tres);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if ((i == 0 || count_item(conf->gres_types, kinds[i].type)) &&
		    !count_item(conf->accounting_tres, kinds[i].tres))
			lt_text_put(
			    &text, "%s%s", out[strlen(out) - 1] == '=' ? "" : ",", kinds[i].tres);
	return out;
}

/* Checks that slurmdbd counts GPUs: else they would be charged as CPUs, but for jobs whose GPUs
 * lowtided has seen in slurmctld. */
static void
check_gpus(struct lt_doctor *doctor)
{
	const json_t *const conf = json_object_get(doctor->facts, "conf");
	const json_t *const partitions = json_object_get(doctor->facts, "partitions");
	size_t index, kind;
	const json_t *partition, *shape;
	int64_t gpus = 0, shards = 0;
	const char *with_gpus = NULL, *with_shards = NULL;
	char line[LT_CONF_VALUE_SIZE + 64];

	json_array_foreach(partitions, index, partition) {
		json_array_foreach(json_object_get(partition, "shapes"), kind, shape) {
			if (lt_json_int(shape, "gpus", &gpus) && gpus > 0)
				with_gpus = lt_json_text(partition, "name", "?");
			if (lt_json_int(shape, "shards", &shards) && shards > 0)
				with_shards = lt_json_text(partition, "name", "?");
		}
	}
	if (with_gpus != NULL && json_is_false(json_object_get(conf, "gpus_counted")))
		say_conf(doctor, LT_LEVEL_ERROR, "gpus",
		    gpus_too(line, sizeof(line), &doctor->conf),
		    "slurmdbd does not count GPUs (partition %s has some): charges rest on slurmctld's records, and runs that lowtided did not see have no price",
		    with_gpus);
	if (with_shards != NULL && json_is_false(json_object_get(conf, "shards_counted")))
		say_conf(doctor, LT_LEVEL_ERROR, "gpus",
		    gpus_too(line, sizeof(line), &doctor->conf),
		    "slurmdbd does not count parts of GPUs (partition %s has some): charges rest on slurmctld's records, and runs that lowtided did not see have no price",
		    with_shards);
}

void
lt_doctor_accounting(struct lt_doctor *doctor)
{
	const char *const storage =
	    lt_doctor_conf(doctor, "accounting_storage", doctor->conf.accounting_storage);
	const char *const enforce =
	    lt_doctor_conf(doctor, "accounting_enforce", doctor->conf.accounting_enforce);
	const char *const private_data = doctor->conf.private_data;

	if (doctor->facts == NULL && !doctor->has_conf)
		return;
	/* Settings of slurmdbd are not missing on a site without one. */
	if (strstr(storage, "slurmdbd") == NULL) {
		lt_doctor_say(doctor, LT_LEVEL_WARNING, "accounting",
		    "AccountingStorageType=accounting_storage/slurmdbd for exact charges and for budgets",
		    "AccountingStorageType=%s: charges come from slurmctld's records, and who belongs to an account is not known: with budgets each job meets on_unknown",
		    storage[0] ? storage : "(none)");
		return;
	}
	check_gpus(doctor);
	const char *const failed = lt_json_text(doctor->facts, "accounting_error", "");

	if (failed[0])
		lt_doctor_say(doctor, LT_LEVEL_ERROR, "slurmdbd", "systemctl restart slurmdbd",
		    "%s: charges wait for it, and new users and accounts are not known", failed);
	if (strcasestr(enforce, "associations") == NULL && strcasestr(enforce, "limits") == NULL &&
	    strcasestr(enforce, "safe") == NULL && strcasestr(enforce, "qos") == NULL &&
	    strcasestr(enforce, "all") == NULL)
		say_conf(doctor, LT_LEVEL_WARNING, "accounting",
		    "AccountingStorageEnforce=associations",
		    "AccountingStorageEnforce=%s: users may charge any account",
		    enforce[0] ? enforce : "(none)");
	else
		lt_doctor_say(doctor, LT_LEVEL_OK, "accounting", "",
		    "slurmdbd, AccountingStorageEnforce=%s", enforce);
	if (private_data[0] && strcasecmp(private_data, "none") != 0)
		lt_doctor_say(doctor, LT_LEVEL_NOTE, "private", "",
		    "PrivateData=%s: lowtided reads all as SlurmUser, and shows users only the teams of their own associations",
		    private_data);
}

/* Checks that a job that waits for its begin time is not overtaken by all that were submitted
 * since. */
void
lt_doctor_priority(struct lt_doctor *doctor)
{
	const struct lt_conf *const conf = &doctor->conf;

	if (strcasestr(conf->priority_type, "multifactor") != NULL &&
	    strtol(conf->priority_weight_age, NULL, 10) > 0 &&
	    strcasestr(conf->priority_flags, "ACCRUE_ALWAYS") == NULL)
		lt_doctor_say(doctor, LT_LEVEL_NOTE, "priority",
		    "add ACCRUE_ALWAYS to PriorityFlags",
		    "PriorityWeightAge=%s without ACCRUE_ALWAYS: a job that lowtide delays collects no age, and waits behind younger ones when its hour comes",
		    conf->priority_weight_age);
}

void
lt_doctor_partitions(struct lt_doctor *doctor)
{
	const struct lt_conf *const conf = &doctor->conf;

	if (conf->allow_groups_count)
		lt_doctor_say(doctor, LT_LEVEL_NOTE, "partitions", "",
		    "AllowGroups on %d (%s%s): a job is never moved there, only priced where it goes by itself",
		    conf->allow_groups_count, conf->allow_groups,
		    conf->allow_groups_count > 1 ? ", ..." : "");
	if (conf->cancel_count || strcasestr(conf->preempt_mode, "CANCEL") != NULL)
		lt_doctor_say(doctor, LT_LEVEL_NOTE, "partitions",
		    "PreemptMode=REQUEUE lets lowtide use them",
		    "PreemptMode=CANCEL (%s): no job is moved where preemption kills it",
		    conf->cancel_count ? conf->cancels : "whole cluster");
}
