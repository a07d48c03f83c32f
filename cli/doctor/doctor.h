/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The checks of lowtide doctor and what they share. Each check adds findings to struct lt_doctor by
 * lt_doctor_say(); doctor.c runs the checks in order and prints the findings.
 */
#ifndef LT_DOCTOR_H
#define LT_DOCTOR_H

#include "cli.h"

enum lt_level { LT_LEVEL_OK, LT_LEVEL_NOTE, LT_LEVEL_WARNING, LT_LEVEL_ERROR };

enum { LT_FINDINGS_MAX = 128 };
struct lt_finding {
	enum lt_level level;
	const char *check; /* "job_submit" */
	char found[512], mend[2048];
};

struct lt_policy;
struct lt_doctor {
	const struct lt_cli *cli;
	struct lt_conf conf; /* slurm.conf, as read here */
	bool has_conf;
	bool on_controller;	   /* this host is a SlurmctldHost */
	json_t *facts;		   /* lowtided --probe; NULL = it failed */
	json_t *status;		   /* of a running lowtided; NULL = none */
	struct lt_error no_status; /* why there is none */
	int64_t asked_utc_s;	   /* when it answered, by this host's clock */
	bool is_kube;		   /* a Kubernetes site, not Slurm's */
	bool munge_fails;	   /* reported: checks that need it are left out */
	bool file_fails;	   /* the policy file; likewise */
	struct lt_policy *policy;  /* NULL: it can't be read */
	char reported_way[2000];   /* the directory that users can't enter */
	int count;
	struct lt_finding findings[LT_FINDINGS_MAX];
};

/* ---- doctor_say.c ---- */
/* Adds a finding; mend is how to fix it, "" if there is nothing to do. */
void lt_doctor_say(struct lt_doctor *doctor, enum lt_level level, const char *check,
    const char *mend, const char *format, ...) __attribute__((format(printf, 5, 6)));
/* Returns a text of the probe's conf, else the fallback (slurm.conf's). */
const char *lt_doctor_conf(const struct lt_doctor *doctor, const char *key, const char *fallback);

/* Each check adds its findings. */
/* ---- doctor_slurm.c: Slurm's side ---- */
void lt_doctor_conf_file(struct lt_doctor *doctor);
void lt_doctor_probe(struct lt_doctor *doctor);
void lt_doctor_release(struct lt_doctor *doctor);
void lt_doctor_job_submit(struct lt_doctor *doctor);
void lt_doctor_plugstack(struct lt_doctor *doctor);
void lt_doctor_accounting(struct lt_doctor *doctor);
void lt_doctor_priority(struct lt_doctor *doctor);
void lt_doctor_partitions(struct lt_doctor *doctor);
/* Checks that the plugin file exists and is for slurmctld's release, by mask (a SPANK plugin may be
 * for another micro release). */
void lt_doctor_plugin(struct lt_doctor *doctor, const char *check, const char *name, uint32_t mask);
/* ---- doctor_site.c: lowtide's own ---- */
void lt_doctor_state(struct lt_doctor *doctor);
void lt_doctor_daemon(struct lt_doctor *doctor);
void lt_doctor_snapshots(struct lt_doctor *doctor);
void lt_doctor_sources(struct lt_doctor *doctor);
void lt_doctor_munge(struct lt_doctor *doctor);
void lt_doctor_clock(struct lt_doctor *doctor);
void lt_doctor_files(struct lt_doctor *doctor);
void lt_doctor_off(struct lt_doctor *doctor);
/* True if any user may open path so (S_IROTH ...) and may enter the directories on the way, or if
 * there is no such file. Else adds an error, which ends with what users lack without it. */
bool lt_doctor_others_may(struct lt_doctor *doctor, const char *check, const char *path,
    unsigned bits, const char *without);

/* ---- doctor_kube.c: a Kubernetes site ---- */
void lt_doctor_kube(struct lt_doctor *doctor);
/* True for a Kubernetes site, by the daemon that answers, else by this host. */
bool lt_doctor_is_kube(struct lt_doctor *doctor);

/* ---- plugstack.c ---- */
struct lt_plugstack {
	/* The first line with spank_lowtide.so, whitespace trimmed. */
	char path[1024], text[4096];
	int line;	      /* from 1 */
	int count;	      /* of such lines */
	char last_path[1024]; /* where the last of them is */
	int last_line;
};
/* Reads a plugstack file and its includes. LT_ENOENT: there is no such line. */
int lt_plugstack_read(struct lt_plugstack *found, const char *path, struct lt_error *err);
/* Writes PlugStackConfig: the probe's, slurm.conf's, or plugstack.conf beside it. */
const char *lt_doctor_plugstack_path(const struct lt_doctor *doctor, char *out, size_t size);
/* Returns the text behind "name=" in the line, up to a blank or its end; NULL:
 * it has none. */
const char *lt_plugstack_value(const struct lt_plugstack *line, const char *name);
/* Writes the command that gives the line this argument, "preemptible=...", in place of one of the
 * same name; returns out. */
const char *lt_plugstack_mend(
    char *out, size_t size, const struct lt_plugstack *line, const char *argument);
/* Reads lowtide's line; false if there is none, or it can't be read. */
bool lt_doctor_own_line(struct lt_doctor *doctor, struct lt_plugstack *line);

/* ---- doctor_policy.c: the policy file ---- */
void lt_doctor_load_policy(struct lt_doctor *doctor);
void lt_doctor_policy(struct lt_doctor *doctor);
/*
 * Writes the argument that plugstack's line should have, "preemptible=spot:0.004:120,low:0.01" (""
 * if no partition is preemptible), and returns whether it has it. The numbers are the policy's; any
 * rate will do if the rate is a source's, which changes by itself. signals: lowtided's answer, for
 * a number to propose; may be NULL.
 */
bool lt_preemptible_argument(const struct lt_policy *policy, const json_t *signals,
    const char *line, char *out, size_t size);

/* Writes the names of preemptible partitions whose notice is shorter than KillWait; false: none. */
bool lt_preemptible_hurried(
    const struct lt_policy *policy, int64_t kill_wait_s, char *out, size_t size);

/* True if the line has the policy's precision rules in their order, and no others. want: the rules
 * that it should have, "" = none. */
bool lt_precision_argument(
    const struct lt_policy *policy, const char *line, char *want, size_t size);

/* ---- doctor_collect.c ---- */
/* Writes the site to a new file, "" = with its usual name; the exit status. */
int lt_doctor_collect(const char *path);

/* ---- plugin_file.c ---- */
/*
 * Reads plugin_version of a Slurm plugin from the ELF file without loading it. LT_ENOENT: no such
 * file; LT_EINPUT: no plugin, or it has none.
 */
int lt_plugin_version(const char *path, uint32_t *version, struct lt_error *err);
/* Returns Slurm's number of "22.05.8"; 0 = not a release. */
uint32_t lt_release_number(const char *release);
/* Finds name in a colon separated PluginDir. LT_ENOENT. */
int lt_plugin_find(
    char *out, size_t size, const char *plugin_dir, const char *name, struct lt_error *err);

#endif
