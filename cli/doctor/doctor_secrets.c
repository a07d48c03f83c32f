/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * doctor: can lowtided, and nobody else, read the secrets that the policy file
 * names, of its sources and of metrics?
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

struct secret {
	const char *of, *key, *path;
	int least_bytes; /* fewer are none */
};

/* What is wrong with it, and how to mend that; false = nothing. */
static bool
find_fault(
    struct lt_finding *fault, const struct secret *secret, const char *user)
{
	const struct passwd *const owner = getpwnam(user);
	const char *const path = secret->path;
	struct stat status;

	snprintf(fault->mend, sizeof(fault->mend),
	    "put the secret there: mode 0600, of user %s", user);
	if (stat(path, &status)) {
		snprintf(
		    fault->found, sizeof(fault->found), "%s", strerror(errno));
		return true;
	}
	snprintf(fault->found, sizeof(fault->found),
	    "%lld bytes, want a line of %d and more", (long long)status.st_size,
	    secret->least_bytes);
	if (status.st_size < secret->least_bytes)
		return true;
	snprintf(fault->mend, sizeof(fault->mend),
	    "chown %s %.200s; chmod 600 %.200s", user, path, path);
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

struct counts {
	int good, bad;
};

static void
check(struct lt_doctor *doctor, const struct secret *secret, const char *user,
    struct counts *counts)
{
	struct lt_finding fault;

	if (!find_fault(&fault, secret, user)) {
		counts->good++;
		return;
	}
	counts->bad++;
	lt_doctor_say(doctor, LT_LEVEL_ERROR, "secrets", fault.mend,
	    "%s, %s: %s: %s", secret->of, secret->key, secret->path,
	    fault.found);
}

static void
check_source(struct lt_doctor *doctor, const struct lt_policy_source *source,
    const char *user, struct counts *counts)
{
	char of[LT_NAME_SIZE + 16];

	snprintf(of, sizeof(of), "source %s", source->name);
	for (int i = 0; i < source->option_count; i++) {
		const struct lt_policy_option *const option =
		    &source->options[i];

		if (names_secret(option->key))
			check(doctor,
			    &(struct secret){of, option->key, option->value, 1},
			    user, counts);
	}
}

void
lt_doctor_secrets(struct lt_doctor *doctor, const struct lt_policy *policy)
{
	const char *const named =
	    lt_doctor_conf(doctor, "slurm_user", doctor->conf.slurm_user);
	const char *const user = named[0] != '\0' ? named : "root";
	const char *const token = policy->metrics.token_file;
	struct counts counts = {0};

	for (int i = 0; i < policy->source_count; i++)
		check_source(doctor, &policy->sources[i], user, &counts);
	if (token[0] != '\0')
		check(doctor,
		    &(struct secret){
			"metrics", "token_file", token, LT_METRICS_TOKEN_LEAST},
		    user, &counts);
	if (counts.good > 0 && counts.bad == 0)
		lt_doctor_say(doctor, LT_LEVEL_OK, "secrets", "",
		    "%d file%s, of mode 0600, for %s to read", counts.good,
		    counts.good == 1 ? "" : "s", user);
}
