/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * doctor: can lowtided, and nobody else, read the secrets that the policy
 * file's sources name?
 */
#include <errno.h>
#include <pwd.h>
#include <string.h>
#include <sys/stat.h>

#include "doctor.h"
#include "policy.h"

/* Every option that ends so names a file with a secret. */
static bool
names_secret(const char *key)
{
	static const char suffix[] = "_file";
	const size_t length = strlen(key), tail = sizeof(suffix) - 1;

	return length > tail && strcmp(key + length - tail, suffix) == 0;
}

/* What is wrong with it, and how to mend that; false = nothing. */
static bool
find_fault(struct lt_finding *fault, const char *path, const char *user)
{
	const struct passwd *const owner = getpwnam(user);
	struct stat status;

	snprintf(fault->mend, sizeof(fault->mend),
	    "chown %s %.200s; chmod 600 %.200s", user, path, path);
	if (stat(path, &status)) {
		snprintf(
		    fault->found, sizeof(fault->found), "%s", strerror(errno));
		snprintf(fault->mend, sizeof(fault->mend),
		    "put the secret there: mode 0600, of user %s", user);
		return true;
	}
	snprintf(fault->found, sizeof(fault->found),
	    "mode %04o, want 0600: others can read the secret",
	    (unsigned)status.st_mode & 07777);
	if (status.st_mode & 077)
		return true;
	snprintf(fault->found, sizeof(fault->found),
	    "belongs to uid %u: %s can't read it", (unsigned)status.st_uid,
	    user);
	return owner != NULL && owner->pw_uid != 0 &&
	       owner->pw_uid != status.st_uid;
}

void
lt_doctor_secrets(struct lt_doctor *doctor, const struct lt_policy *policy)
{
	const char *const user =
	    lt_doctor_conf(doctor, "slurm_user", doctor->conf.slurm_user);
	struct lt_finding fault;
	int good = 0, bad = 0;

	for (int i = 0; i < policy->source_count; i++) {
		const struct lt_policy_source *const source =
		    &policy->sources[i];

		for (int k = 0; k < source->option_count; k++) {
			const struct lt_policy_option *const option =
			    &source->options[k];

			if (!names_secret(option->key))
				continue;
			if (!find_fault(&fault, option->value,
				user[0] ? user : "root")) {
				good++;
				continue;
			}
			bad++;
			lt_doctor_say(doctor, LT_LEVEL_ERROR, "secrets",
			    fault.mend, "source %s, %s: %s: %s", source->name,
			    option->key, option->value, fault.found);
		}
	}
	if (good > 0 && bad == 0)
		lt_doctor_say(doctor, LT_LEVEL_OK, "secrets", "",
		    "%d file%s, of mode 0600, for %s to read", good,
		    good == 1 ? "" : "s", user);
}
