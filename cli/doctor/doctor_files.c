/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * doctor opens what lowtide's parts read as each of its readers would: users
 * on login nodes by the modes of the way to it, slurmctld as SlurmUser.
 */
#include <errno.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "doctor.h"
#include "files.h"
#include "off.h"

/* The directory on the way to a path that others may not enter; else "". */
static const char *
closed_way(char *out, size_t size, const char *path)
{
	struct stat facts;

	for (const char *slash = strchr(path + 1, '/'); slash != NULL;
	     slash = strchr(slash + 1, '/')) {
		(void)snprintf(out, size, "%.*s", (int)(slash - path), path);
		if (stat(out, &facts) == 0 && !(facts.st_mode & S_IXOTH))
			return out;
	}
	out[0] = '\0';
	return out;
}

bool
lt_doctor_others_may(struct lt_doctor *doctor, const char *check,
    const char *path, unsigned bits, const char *without)
{
	char way[2000], mend[2200];
	struct stat facts;

	if (stat(path, &facts) != 0)
		return true; /* whoever needs it says that it is not there */
	if (closed_way(way, sizeof(way), path)[0]) {
		if (strcmp(way, doctor->told_way) == 0)
			return false;
		(void)snprintf(
		    doctor->told_way, sizeof(doctor->told_way), "%s", way);
		(void)snprintf(mend, sizeof(mend), "chmod o+x %s", way);
		lt_doctor_say(doctor, LT_LEVEL_ERROR, check, mend,
		    "users can't enter %s, on the way to %s: %s", way, path,
		    without);
		return false;
	}
	if ((facts.st_mode & bits) == bits)
		return true;
	(void)snprintf(mend, sizeof(mend), "chmod o+%s%s%s %s",
	    bits & S_IROTH ? "r" : "", bits & S_IWOTH ? "w" : "",
	    bits & S_IXOTH ? "x" : "", path);
	lt_doctor_say(doctor, LT_LEVEL_ERROR, check, mend,
	    "users can't open %s (mode %03o): %s", path,
	    (unsigned)facts.st_mode & 0777, without);
	return false;
}

/* What only SlurmUser reads: it is his, and nobody else's. */
static void
check_own(struct lt_doctor *doctor, const char *path, const struct passwd *user,
    bool may_lack)
{
	char mend[2200];
	struct stat facts;

	if (stat(path, &facts) != 0) {
		if (errno == ENOENT && !may_lack)
			lt_doctor_say(doctor, LT_LEVEL_ERROR, "files",
			    "systemctl restart lowtided",
			    "%s is not there: slurmctld can't admit by it, budgeted teams meet on_unknown",
			    path);
		return;
	}
	if (facts.st_uid == user->pw_uid && !(facts.st_mode & 077) &&
	    (facts.st_mode & 0600) == 0600)
		return;
	(void)snprintf(mend, sizeof(mend),
	    "chown %s %.1000s && chmod 600 %.1000s", user->pw_name, path, path);
	lt_doctor_say(doctor, LT_LEVEL_ERROR, "files", mend,
	    "%s belongs to uid %u with mode %03o, want %s's with 600: who reads it refuses it",
	    path, (unsigned)facts.st_uid, (unsigned)facts.st_mode & 0777,
	    user->pw_name);
}

/* Without the budget snapshot a slurmctld that starts goes by two other files.
 */
static void
check_stand_in(struct lt_doctor *doctor, const char *state, const char *run)
{
	char path[2000], bound[2000], in_force[2000];

	(void)snprintf(path, sizeof(path), "%s/%s", state, LT_SHEET_FILE);
	(void)snprintf(bound, sizeof(bound), "%s/%s", run, LT_BOUND_FILE);
	(void)snprintf(
	    in_force, sizeof(in_force), "%s/%s", state, LT_IN_FORCE_FILE);
	if (access(path, F_OK) == 0)
		return;
	lt_doctor_say(doctor, LT_LEVEL_ERROR, "files",
	    "systemctl restart lowtided",
	    "%s is not there: slurmctld can't admit by it, and one that starts %s",
	    path,
	    access(bound, F_OK) == 0
		? "goes by on_unknown for all whom a budget binds"
	    : lt_in_force_load(in_force)
		? "holds every job, for budgets are in force"
		: "knows of no budget: jobs pass");
}

static void
check_state(
    struct lt_doctor *doctor, const char *state, const struct passwd *user)
{
	static const struct {
		const char *name;
		bool may_lack; /* job_submit makes it; check_stand_in() */
	} files[] = {{LT_SHEET_FILE, true}, {LT_TERMS_FILE, false},
	    {LT_RING_FILE, true}};
	char path[2000];

	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
		(void)snprintf(
		    path, sizeof(path), "%s/%s", state, files[i].name);
		check_own(doctor, path, user, files[i].may_lack);
	}
}

static void
check_market(struct lt_doctor *doctor, const char *run)
{
	char path[2000], mend[2200];
	struct lt_market market = {0};
	struct stat facts;
	struct lt_error err = {0};

	(void)snprintf(path, sizeof(path), "%s/%s", run, LT_MARKET_FILE);
	if (stat(path, &facts) != 0) {
		lt_doctor_say(doctor, LT_LEVEL_ERROR, "files",
		    "systemctl restart lowtided",
		    "%s: %s; no job is placed without it", path,
		    strerror(errno));
		return;
	}
	if (facts.st_mode & 022) {
		(void)snprintf(mend, sizeof(mend), "chmod 644 %s", path);
		lt_doctor_say(doctor, LT_LEVEL_ERROR, "files", mend,
		    "%s has mode %03o, and its readers refuse it: who can write it could tell all users any price",
		    path, (unsigned)facts.st_mode & 0777);
	} else if (lt_doctor_others_may(doctor, "files", path, S_IROTH,
		       "their --carbon-aware jobs are left as they are") &&
		   lt_market_load(&market, path, NULL, &err) != LT_OK) {
		(void)snprintf(mend, sizeof(mend),
		    "rm %s && systemctl restart lowtided", path);
		lt_doctor_say(
		    doctor, LT_LEVEL_ERROR, "files", mend, "%s", err.text);
	}
	lt_market_free(&market);
}

/* Reports the off switch of this host, whichever daemon runs here. */
void
lt_doctor_off(struct lt_doctor *doctor)
{
	char text[LT_ERROR_TEXT_SIZE];
	struct lt_error err = {0};
	struct lt_off off;

	if (lt_off_read(&off, lt_cli_off_path(), &err) != LT_OK)
		lt_doctor_say(doctor, LT_LEVEL_ERROR, "off",
		    "lowtide on, or lowtide off as root",
		    "it looks switched off, and is not: %s", err.text);
	else if (off.is_off)
		lt_doctor_say(doctor, LT_LEVEL_WARNING, "off", "lowtide on",
		    "switched off %s: jobs pass as without lowtide",
		    lt_off_text(text, sizeof(text), &off));
}

/* Where lowtided runs, or has run: slurmctld reads them with it dead, too. */
void
lt_doctor_files(struct lt_doctor *doctor)
{
	const char *const state = lt_doctor_state_dir(doctor);
	const char *const run = lt_json_text(
	    doctor->status, "run_dir", lt_client_run_dir(doctor->cli));
	const struct passwd *const slurm_user = getpwnam(
	    lt_doctor_conf(doctor, "slurm_user", doctor->conf.slurm_user));
	const int before = doctor->count;
	char path[2000];

	if (!doctor->on_controller || access(state, F_OK) != 0)
		return;
	lt_file_trust(slurm_user != NULL ? slurm_user->pw_uid : 0);
	check_market(doctor, run);
	(void)snprintf(path, sizeof(path), "%s/%s", run, LT_SOCKET_FILE);
	(void)lt_doctor_others_may(doctor, "files", path, S_IROTH | S_IWOTH,
	    "their lowtide commands get no answer");
	if (slurm_user != NULL)
		check_state(doctor, state, slurm_user);
	check_stand_in(doctor, state, run);
	doctor->file_fails = doctor->count > before;
}
