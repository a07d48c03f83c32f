/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * doctor and the policy file: the one that is named (--config,
 * LOWTIDE_CONFIG), else the one that lowtided has.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "adapter.h"
#include "check.h"
#include "doctor.h"
#include "policy.h"
#include "table_age.h"

const struct lt_cli_option lt_cli_doctor_options[] = {
    {"config", "FILE", "examine this policy file, not lowtided's"},
    {"collect", "[=FILE]", "write this site without its names, for a replay"},
    {.name = NULL},
};

/* What lowtide brings along, as far as the policy uses it. */
static void
check_tables(struct lt_doctor *doctor, const struct lt_policy *policy)
{
	for (int i = 0; i < policy->source_count; i++) {
		const struct lt_policy_source *const source =
		    &policy->sources[i];
		const struct lt_adapter *const adapter =
		    lt_adapter_find(source->adapter);
		const struct lt_source_options options = lt_options_of(source);
		const int year = adapter->table_year != NULL
				     ? adapter->table_year(&options)
				     : 0;

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
		   : lt_json_text(json_object_get(doctor->status, "policy"),
			 "path", "/etc/lowtide/lowtide.yaml");
}

void
lt_doctor_load_policy(struct lt_doctor *doctor)
{
	const char *const path = path_of(doctor);
	struct lt_error err = {0};

	if (!doctor->on_controller &&
	    lt_cli_value(doctor->cli, "config") == NULL)
		return;
	if (lt_policy_load(&doctor->policy, path, lt_adapter_names(), &err) !=
	    LT_OK)
		lt_doctor_say(doctor, LT_LEVEL_ERROR, "policy",
		    access(path, F_OK)
			? "lowtide init writes a first one"
			: "mend the file: lowtide check FILE lists all errors; until then lowtided keeps the last good one, over a restart too",
		    "%s", err.text);
}

void
lt_doctor_policy(struct lt_doctor *doctor)
{
	const struct lt_policy *const policy = doctor->policy;

	if (policy == NULL)
		return;
	lt_doctor_say(doctor, LT_LEVEL_OK, "policy", "",
	    "%s: %d partition%s, %d source%s, %d budget%s", policy->path,
	    policy->partition_count, policy->partition_count == 1 ? "" : "s",
	    policy->source_count, policy->source_count == 1 ? "" : "s",
	    policy->budget_count, policy->budget_count == 1 ? "" : "s");
	check_writers(doctor, policy->path);
	check_tables(doctor, policy);
	lt_doctor_secrets(doctor, policy);
	/* With a name misspelt the line would be made to say the same. */
	if (lt_doctor_names(doctor, policy) > 0)
		return;
	lt_doctor_preemptible(doctor, policy);
	lt_doctor_precision(doctor, policy);
	lt_doctor_power_cap(doctor, policy);
	lt_doctor_gpus(
	    doctor, policy, json_object_get(doctor->facts, "partitions"));
}
