/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Checks of lowtide's own side: directories and files, the daemon, its snapshots and sources, and
 * munge between hosts. A file is checked for each of its readers: users on login nodes by the modes
 * of the way to it, slurmctld as SlurmUser.
 *
 * Reads the daemon's status and the files of this host; changes nothing.
 */
#include <errno.h>
#include <munge.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "doctor.h"
#include "files.h"
#include "off.h"
#include "units.h"

enum {
	MARKET_OLD_S = 900, /* compiled each few minutes when all is well */
	BUDGET_OLD_S = 120,
	SILENT_S = 2 * LT_DAY_S, /* meters of some grids are a day late */
	CLOCK_APART_S = 30,	 /* more than an answer may take */
};

static bool
slurm_uid(const struct lt_doctor *doctor, uid_t *uid)
{
	const struct passwd *const user =
	    getpwnam(lt_doctor_conf(doctor, "slurm_user", doctor->conf.slurm_user));
	int64_t number;

	if (user != NULL)
		*uid = user->pw_uid;
	else if (lt_json_int(json_object_get(doctor->facts, "conf"), "slurm_uid", &number))
		*uid = (uid_t)number;
	else
		return false;
	return true;
}

static const char *
state_dir_of(const struct lt_doctor *doctor)
{
	const char *const named = getenv("LOWTIDE_STATE_DIR");

	return lt_json_text(
	    doctor->status, "state_dir", named != NULL && named[0] ? named : "/var/lib/lowtide");
}

void
lt_doctor_state(struct lt_doctor *doctor)
{
	const char *const path = state_dir_of(doctor);
	const char *const user = lt_doctor_conf(doctor, "slurm_user", doctor->conf.slurm_user);
	char mend[1200];
	struct stat facts;
	uid_t owner;

	if (!doctor->on_controller)
		return;
	if (stat(path, &facts)) {
		(void)snprintf(mend, sizeof(mend),
		    "install -d -m 700 -o %s %s && systemctl restart lowtided", user, path);
		lt_doctor_say(doctor, errno == EACCES ? LT_LEVEL_NOTE : LT_LEVEL_ERROR, "state",
		    errno == EACCES ? "" : mend, "%s: %s", path, strerror(errno));
		return;
	}
	(void)snprintf(mend, sizeof(mend), "chown %s %s", user, path);
	if (slurm_uid(doctor, &owner) && facts.st_uid != owner) {
		lt_doctor_say(doctor, LT_LEVEL_ERROR, "state", mend,
		    "%s belongs to uid %u, want %u (SlurmUser): slurmctld writes the holds there",
		    path, (unsigned)facts.st_uid, (unsigned)owner);
		return;
	}
	(void)snprintf(mend, sizeof(mend), "chmod 700 %s", path);
	if (facts.st_mode & 077)
		lt_doctor_say(doctor, LT_LEVEL_ERROR, "state", mend,
		    "%s has mode %03o, want 700: who can write there can mint money", path,
		    (unsigned)facts.st_mode & 0777);
	else
		lt_doctor_say(doctor, LT_LEVEL_OK, "state", "", "%s", path);
}

/* ---- files ---- */

/* Finds the directory on the way to path that others may not enter; else "". */
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
lt_doctor_others_may(struct lt_doctor *doctor, const char *check, const char *path, unsigned bits,
    const char *without)
{
	char way[2000], mend[2200];
	struct stat facts;

	if (stat(path, &facts) != 0)
		return true; /* another check reports that */
	if (closed_way(way, sizeof(way), path)[0]) {
		if (strcmp(way, doctor->reported_way) == 0)
			return false;
		(void)snprintf(doctor->reported_way, sizeof(doctor->reported_way), "%s", way);
		(void)snprintf(mend, sizeof(mend), "chmod o+x %s", way);
		lt_doctor_say(doctor, LT_LEVEL_ERROR, check, mend,
		    "users can't enter %s, on the way to %s: %s", way, path, without);
		return false;
	}
	if ((facts.st_mode & bits) == bits)
		return true;
	(void)snprintf(mend, sizeof(mend), "chmod o+%s%s%s %s", bits & S_IROTH ? "r" : "",
	    bits & S_IWOTH ? "w" : "", bits & S_IXOTH ? "x" : "", path);
	lt_doctor_say(doctor, LT_LEVEL_ERROR, check, mend, "users can't open %s (mode %03o): %s",
	    path, (unsigned)facts.st_mode & 0777, without);
	return false;
}

/* Checks a file that SlurmUser alone reads: it must own it, with mode 0600. */
static void
check_own(struct lt_doctor *doctor, const char *path, const struct passwd *user, bool may_lack)
{
	char mend[2200];
	struct stat facts;

	if (stat(path, &facts) != 0) {
		if (errno == ENOENT && !may_lack)
			lt_doctor_say(doctor, LT_LEVEL_ERROR, "files", "systemctl restart lowtided",
			    "%s is not there: slurmctld can't admit by it, budgeted teams meet on_unknown",
			    path);
		return;
	}
	if (facts.st_uid == user->pw_uid && !(facts.st_mode & 077) &&
	    (facts.st_mode & 0600) == 0600)
		return;
	(void)snprintf(
	    mend, sizeof(mend), "chown %s %.1000s && chmod 600 %.1000s", user->pw_name, path, path);
	lt_doctor_say(doctor, LT_LEVEL_ERROR, "files", mend,
	    "%s belongs to uid %u with mode %03o, want %s's with 600: who reads it refuses it",
	    path, (unsigned)facts.st_uid, (unsigned)facts.st_mode & 0777, user->pw_name);
}

/* Checks the file by which a slurmctld that starts admits jobs without the budget snapshot. */
static void
check_stand_in(struct lt_doctor *doctor, const char *state, const char *run)
{
	char path[2000], bound[2000], in_force[2000];

	(void)snprintf(path, sizeof(path), "%s/%s", state, LT_SHEET_FILE);
	(void)snprintf(bound, sizeof(bound), "%s/%s", run, LT_BOUND_FILE);
	(void)snprintf(in_force, sizeof(in_force), "%s/%s", state, LT_IN_FORCE_FILE);
	if (access(path, F_OK) == 0)
		return;
	lt_doctor_say(doctor, LT_LEVEL_ERROR, "files", "systemctl restart lowtided",
	    "%s is not there: slurmctld can't admit by it, and one that starts %s", path,
	    access(bound, F_OK) == 0	 ? "goes by on_unknown for all whom a budget binds"
	    : lt_in_force_load(in_force) ? "holds every job, for budgets are in force"
					 : "knows of no budget: jobs pass");
}

static void
check_state(struct lt_doctor *doctor, const char *state, const struct passwd *user)
{
	static const struct {
		const char *name;
		bool may_lack; /* job_submit makes it; check_stand_in() */
	} files[] = {{LT_SHEET_FILE, true}, {LT_TERMS_FILE, false}, {LT_RING_FILE, true}};
	char path[2000];

	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
		(void)snprintf(path, sizeof(path), "%s/%s", state, files[i].name);
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
		lt_doctor_say(doctor, LT_LEVEL_ERROR, "files", "systemctl restart lowtided",
		    "%s: %s; no job is placed without it", path, strerror(errno));
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
		(void)snprintf(mend, sizeof(mend), "rm %s && systemctl restart lowtided", path);
		lt_doctor_say(doctor, LT_LEVEL_ERROR, "files", mend, "%s", err.text);
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
		lt_doctor_say(doctor, LT_LEVEL_ERROR, "off", "lowtide on, or lowtide off as root",
		    "it looks switched off, and is not: %s", err.text);
	else if (off.is_off)
		lt_doctor_say(doctor, LT_LEVEL_WARNING, "off", "lowtide on",
		    "switched off %s: jobs pass as without lowtide",
		    lt_off_text(text, sizeof(text), &off));
}

/* Checks the files that slurmctld reads, with lowtided dead too. */
void
lt_doctor_files(struct lt_doctor *doctor)
{
	const char *const state = state_dir_of(doctor);
	const char *const run =
	    lt_json_text(doctor->status, "run_dir", lt_client_run_dir(doctor->cli));
	const struct passwd *const slurm_user =
	    getpwnam(lt_doctor_conf(doctor, "slurm_user", doctor->conf.slurm_user));
	const int before = doctor->count;
	char path[2000];

	if (!doctor->on_controller || access(state, F_OK) != 0)
		return;
	lt_file_trust(slurm_user != NULL ? slurm_user->pw_uid : 0);
	check_market(doctor, run);
	(void)snprintf(path, sizeof(path), "%s/%s", run, LT_SOCKET_FILE);
	(void)lt_doctor_others_may(
	    doctor, "files", path, S_IROTH | S_IWOTH, "their lowtide commands get no answer");
	if (slurm_user != NULL)
		check_state(doctor, state, slurm_user);
	check_stand_in(doctor, state, run);
	doctor->file_fails = doctor->count > before;
}

/* ---- the daemon ---- */

/* Warns of messages that are not sent: lowtide-notify does not run, or fails. */
static void
check_spool(struct lt_doctor *doctor)
{
	enum { OLD_S = 900 }; /* its first five tries are over by then */
	const json_t *const spool = json_object_get(doctor->status, "spool");
	const char *const path = lt_json_text(spool, "path", "?");
	const char *const error = lt_json_text(spool, "error", "");
	int64_t waiting = 0, oldest_s = 0;

	if (!json_is_object(spool))
		return;
	(void)lt_json_int(spool, "waiting", &waiting);
	(void)lt_json_int(spool, "oldest_s", &oldest_s);
	if (error[0])
		lt_doctor_say(doctor, LT_LEVEL_ERROR, "notify",
		    "systemd-sysusers; systemd-tmpfiles --create lowtide-notify.conf; then restart lowtided",
		    "%s", error);
	else if (oldest_s > OLD_S)
		lt_doctor_say(doctor, LT_LEVEL_WARNING, "notify",
		    "systemctl enable --now lowtide-notify.path; if it is: journalctl -u lowtide-notify",
		    "%lld messages wait in %s, the oldest for %lld min", (long long)waiting, path,
		    (long long)oldest_s / 60);
	else
		lt_doctor_say(doctor, LT_LEVEL_OK, "notify", "", "%s: %lld messages wait", path,
		    (long long)waiting);
}

/* Warns of jobs that cost more than their hold: lowtide was wrong. */
static void
check_above_hold(struct lt_doctor *doctor)
{
	size_t index;
	const json_t *over;

	json_array_foreach(json_object_get(doctor->status, "above_hold"), index, over) {
		int64_t runs = 0, last = 0;
		const bool defect = json_is_true(json_object_get(over, "defect"));

		(void)lt_json_int(over, "runs", &runs);
		(void)lt_json_int(over, "last_job_id", &last);
		lt_doctor_say(doctor, defect ? LT_LEVEL_ERROR : LT_LEVEL_NOTE, "holds",
		    defect ? "lowtide explain the job, and report it: its hold was too small" : "",
		    "%lld runs of the last 30 days were settled above their holds because of: %s (last: job %lld)",
		    (long long)runs, lt_json_text(over, "reason", "?"), (long long)last);
	}
}

/* Reports a month that can be closed and is not: its statement may change. */
static void
check_unclosed(struct lt_doctor *doctor)
{
	const json_t *const month = json_object_get(doctor->status, "unclosed");
	const char *const label = lt_json_text(month, "label", "?");
	const char *const since = lt_json_text(month, "since_day", "?");
	char mend[200];

	if (!json_is_object(month))
		return;
	snprintf(mend, sizeof(mend),
	    "lowtide close %s; for each month to come: systemctl enable --now lowtide-close.timer; if it is: journalctl -u lowtide-close",
	    label);
	/* A site that never closed one may not want to. */
	lt_doctor_say(doctor,
	    json_is_true(json_object_get(month, "any_closed")) ? LT_LEVEL_WARNING : LT_LEVEL_NOTE,
	    "close", mend, "%s is not closed, and can be since %s", label, since);
}

/* Reports nodes that lowtide drained. A cloud's node is back within minutes of its next job; one
 * that Slurm does not power down waits for an admin. */
static void
check_drained(struct lt_doctor *doctor)
{
	enum { LONG_S = 3600 };
	char names[200];
	int64_t longest_s = 0;
	size_t i;
	const json_t *node;

	if (lt_status_drained(names, sizeof(names), doctor->status) == 0)
		return;
	json_array_foreach(json_object_get(doctor->status, "drained"), i, node) {
		int64_t gone_s = 0;

		(void)lt_json_int(node, "gone_s", &gone_s);
		longest_s = gone_s > longest_s ? gone_s : longest_s;
	}
	lt_doctor_say(doctor, longest_s > LONG_S ? LT_LEVEL_WARNING : LT_LEVEL_NOTE, "drained",
	    "for each that is there again: lowtide notice NODE --withdraw",
	    "taken back, and drained by lowtide until Slurm powers them down or they register after a later boot: %s (longest for %lld min)",
	    names, (long long)longest_s / 60);
}

static void
check_moved(struct lt_doctor *doctor)
{
	size_t index;
	const json_t *move;

	json_array_foreach(json_object_get(doctor->status, "moved"), index, move) {
		const char *const name = lt_json_text(move, "account", "?");
		const char *const from = lt_json_text(move, "from", "?");
		char mend[400];

		(void)snprintf(mend, sizeof(mend),
		    "lowtide budget moved %.100s --accept, or in Slurm: sacctmgr modify account %.60s set parent=%.60s",
		    name, name, from);
		lt_doctor_say(doctor, LT_LEVEL_WARNING, "accounts", mend,
		    "%s was moved from %s to %s: until an admin accepts it the budgets of %s bind it",
		    name, from, lt_json_text(move, "to", "?"), from);
	}
}

void
lt_doctor_daemon(struct lt_doctor *doctor)
{
	const char *const name = doctor->is_kube ? "lowtide-kube" : "lowtided";
	int64_t refused = 0;
	const char *text;

	if (doctor->status == NULL) {
		text = doctor->no_status.text;
		/* There is no other way to it there, and no slurm.conf. */
		lt_doctor_say(doctor, LT_LEVEL_ERROR, name,
		    doctor->is_kube
			? "kubectl -n lowtide get pods; kubectl -n lowtide logs deploy/lowtide (--previous) says why it stopped"
		    : doctor->on_controller ? "systemctl restart lowtided"
					    : "systemctl restart lowtided, on the controller",
		    "%.*s", (int)(doctor->is_kube ? strcspn(text, ":") : strlen(text)), text);
		return;
	}
	lt_doctor_say(doctor, LT_LEVEL_OK, name, "", "%s answers from %s, mode %s",
	    lt_json_text(doctor->status, "version", "?"), lt_json_text(doctor->status, "host", "?"),
	    lt_json_text(doctor->status, "mode", "?"));
	if (json_is_false(json_object_get(doctor->status, "acting")))
		lt_doctor_say(doctor, LT_LEVEL_NOTE, "lowtided", "",
		    "it stands by: slurmctld acts on another host");
	text = lt_json_text(doctor->status, "error", "");
	if (text[0])
		lt_doctor_say(doctor, LT_LEVEL_NOTE, name,
		    "its log says when; it tries again by itself", "the last step that failed: %s",
		    text);
	if (lt_json_int(doctor->status, "adjustments_refused", &refused) && refused > 0)
		lt_doctor_say(doctor, LT_LEVEL_ERROR, "ledger",
		    "look at the lines of <state>/adjustments that begin with \"refused\", and adjust again by what was meant",
		    "%lld adjustments could not be added up and are not in the ledger",
		    (long long)refused);
	check_above_hold(doctor);
	check_moved(doctor);
	check_unclosed(doctor);
	check_spool(doctor);
	check_drained(doctor);
	/* On the controller lt_doctor_load_policy() reads the file itself and has reported its
	 * errors, unless only lowtided finds them. */
	text = lt_json_text(json_object_get(doctor->status, "policy"), "error", "");
	if (text[0] && (!doctor->on_controller || doctor->policy != NULL))
		lt_doctor_say(doctor, LT_LEVEL_ERROR, "policy",
		    "mend the file, then: lowtide reload; until then the last good one holds", "%s",
		    text);
}

static void
check_age(struct lt_doctor *doctor, const char *name, int64_t old_s)
{
	int64_t age_s = 0;
	char text[64];
	const json_t *const object = json_object_get(doctor->status, name);

	if (!lt_json_int(object, "age_s", &age_s) && doctor->file_fails)
		return; /* reported by lt_doctor_files() */
	if (!lt_json_int(object, "age_s", &age_s)) {
		lt_doctor_say(doctor, LT_LEVEL_ERROR, name,
		    "lowtide status and lowtided's log say why", "no %s snapshot was ever made",
		    name);
		return;
	}
	lt_duration_text(text, sizeof(text), age_s);
	lt_doctor_say(doctor, age_s > old_s ? LT_LEVEL_WARNING : LT_LEVEL_OK, name,
	    age_s > old_s ? "is lowtided stopped or slow? its log" : "", "the snapshot's age is %s",
	    text);
}

void
lt_doctor_snapshots(struct lt_doctor *doctor)
{
	const json_t *const ring = json_object_get(doctor->status, "ring");
	int64_t ingested = 0, highest = 0, slots = 0, queue = 0;

	if (doctor->status == NULL)
		return;
	check_age(doctor, "market", MARKET_OLD_S);
	check_age(doctor, "budget", BUDGET_OLD_S);
	if (json_is_false(json_object_get(json_object_get(doctor->status, "budget"), "ready")))
		lt_doctor_say(doctor, LT_LEVEL_WARNING, "budget",
		    "wait some seconds; else lowtided's log",
		    "not all quotes are read yet: budgeted teams meet on_unknown");
	lt_json_int(ring, "absorbed", &ingested);
	lt_json_int(ring, "highest", &highest);
	lt_json_int(ring, "slots", &slots);
	if (slots > 0 && highest - ingested > slots / 2)
		lt_doctor_say(doctor, LT_LEVEL_WARNING, "holds",
		    "lowtided does not keep up; when the ring is full budgeted teams meet on_unknown",
		    "%lld of %lld slots of the ring are waiting", (long long)(highest - ingested),
		    (long long)slots);
	lt_json_int(json_object_get(doctor->status, "slurm"), "dbd_queue", &queue);
	if (queue > 1000)
		lt_doctor_say(doctor, LT_LEVEL_WARNING, "slurmdbd",
		    "is slurmdbd running? charges wait for it", "%lld messages of slurmctld wait",
		    (long long)queue);
}

void
lt_doctor_sources(struct lt_doctor *doctor)
{
	size_t index;
	const json_t *source;
	bool varies = false;
	int64_t silent_s;
	char ago[64];

	if (doctor->status == NULL)
		return;
	json_array_foreach(json_object_get(doctor->status, "sources"), index, source) {
		const char *const name = lt_json_text(source, "name", "?");
		const char *const error = lt_json_text(source, "last_error", "");

		if (strcmp(lt_json_text(source, "quality", ""), "constant") != 0)
			varies = true;
		if (error[0])
			lt_doctor_say(doctor, LT_LEVEL_WARNING, "source",
			    "its options in the policy file, its key, the network; a stale signal moves no job",
			    "%s: %s", name, error);
		if (lt_json_int(source, "silent_s", &silent_s) && silent_s > SILENT_S)
			lt_doctor_say(doctor, LT_LEVEL_WARNING, "source",
			    "look whether it still publishes; a stale signal moves no job, and runs are charged at the last value",
			    "%s: nothing newer than %s ago", name,
			    lt_duration_text(ago, sizeof(ago), silent_s));
		if (json_is_true(json_object_get(source, "replay")))
			lt_doctor_say(doctor, LT_LEVEL_WARNING, "source",
			    "for demonstrations only: use a live source",
			    "%s replays a recording: not real figures", name);
	}
	if (!varies)
		lt_doctor_say(doctor, LT_LEVEL_NOTE, "source",
		    "add a carbon or price source to the policy file",
		    "all signals are constants: they can choose a partition but move nothing in time");
}

void
lt_doctor_munge(struct lt_doctor *doctor)
{
	const char *const named = getenv("LOWTIDE_MUNGE_SOCKET");
	const char *const path = named != NULL && named[0] ? named : doctor->conf.munge_socket;
	munge_ctx_t context = munge_ctx_create();
	char *credential = NULL;
	munge_err_t code = EMUNGE_NO_MEMORY;

	if (context != NULL) {
		code = path[0] ? munge_ctx_set(context, MUNGE_OPT_SOCKET, path) : EMUNGE_SUCCESS;
		if (!code)
			code = munge_encode(&credential, context, NULL, 0);
		if (!code)
			code = munge_decode(credential, context, NULL, NULL, NULL, NULL);
	}
	doctor->munge_fails = code != EMUNGE_SUCCESS;
	if (code)
		lt_doctor_say(doctor, LT_LEVEL_ERROR, "munge", "systemctl restart munge",
		    "%s; LOWTIDE_MUNGE_SOCKET or slurm.conf's AuthInfo names its socket",
		    context != NULL ? munge_ctx_strerror(context) : munge_strerror(code));
	else
		lt_doctor_say(doctor, LT_LEVEL_OK, "munge", "", "a credential goes round%s%s",
		    path[0] ? " by " : "", path);
	free(credential);
	if (context != NULL)
		munge_ctx_destroy(context);
}

/* Compares the clocks: if they are minutes apart, credentials are refused and begin times are
 * wrong. */
void
lt_doctor_clock(struct lt_doctor *doctor)
{
	int64_t theirs_utc_s, apart_s;
	char text[64];

	if (!lt_json_int(doctor->status, "now_utc_s", &theirs_utc_s))
		return;
	apart_s = theirs_utc_s - doctor->asked_utc_s;
	if (apart_s < 0)
		apart_s = -apart_s;
	if (apart_s < CLOCK_APART_S)
		return;
	lt_duration_text(text, sizeof(text), apart_s);
	lt_doctor_say(doctor, LT_LEVEL_ERROR, "clock",
	    "let chrony or ntpd set the clock, here and on the controller",
	    "this host's clock and lowtided's are %s apart", text);
}
