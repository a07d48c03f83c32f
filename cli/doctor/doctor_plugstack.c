/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Checks lowtide's line of plugstack.conf: that it exists once, that all users can read it, that
 * its words are right, and that its run_dir is the one that lowtided writes to. A missing or wrong
 * line comes with the command that fixes it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "doctor.h"
#include "files.h"
#include "text.h"
#include "policy.h"

/* Checks that the plugin looks for snapshots where lowtided writes them. */
static void
check_run_dir(struct lt_doctor *doctor, const struct lt_plugstack *line, const char *run_dir)
{
	const char *const writes = lt_json_text(doctor->status, "run_dir", NULL);
	char market[2048], argument[512], mend[2048];
	struct stat facts;

	(void)snprintf(market, sizeof(market), "%s/%s", run_dir, LT_MARKET_FILE);
	if (doctor->on_controller && writes != NULL) {
		if (strcmp(writes, run_dir) == 0)
			return;
		(void)snprintf(argument, sizeof(argument), "run_dir=%.400s", writes);
		lt_doctor_say(doctor, LT_LEVEL_ERROR, "plugstack",
		    lt_plugstack_mend(mend, sizeof(mend), line, argument),
		    "%s: run_dir is %s, and lowtided writes to %s: no job is placed", line->path,
		    run_dir, writes);
	} else if (!doctor->on_controller && stat(market, &facts) != 0) {
		lt_doctor_say(doctor, LT_LEVEL_NOTE, "plugstack",
		    "where users submit without job_submit: systemctl enable --now lowtided-follow",
		    "%s: %s", market, strerror(errno));
	}
}

struct argument {
	const char *name;
	const char *values[4]; /* the words it takes; none: any text */
	const char *usual;     /* the whole argument, to propose */
};

/* Checks one argument; false if it is wrong, after it was reported. */
static bool
check_argument(struct lt_doctor *doctor, const struct lt_plugstack *line, const char *argument)
{
	static const struct argument known[] = {
	    {.name = "run_dir"},
	    {.name = "node_dir"},
	    {.name = "off_file"},
	    {.name = "preemptible"},
	    {.name = "gpu"},
	    {.name = "precision"},
	    {"amp", {"auto", "off"}, "amp=auto"},
	    {"power_cap", {"yes", "no"}, "power_cap=yes"},
	    {"job_submit", {"auto", "yes", "no"}, "job_submit=auto"},
	};
	enum { KNOWN = sizeof(known) / sizeof(known[0]) };
	const char *names[KNOWN + 1] = {NULL}, *nearest;
	const size_t length = strcspn(argument, "=");
	char name[64], mend[2048];

	(void)snprintf(name, sizeof(name), "%.*s", (int)length, argument);
	for (int i = 0; i < KNOWN; i++) {
		const char *const *value = known[i].values;

		names[i] = known[i].name;
		if (strcmp(known[i].name, name) != 0 || argument[length] != '=')
			continue;
		while (*value != NULL && strcmp(*value, argument + length + 1) != 0)
			value++;
		if (*value != NULL || known[i].values[0] == NULL)
			return true;
		lt_doctor_say(doctor, LT_LEVEL_ERROR, "plugstack",
		    lt_plugstack_mend(mend, sizeof(mend), line, known[i].usual),
		    "%s: spank_lowtide.so does not know \"%s\"", line->path, argument);
		return false;
	}
	nearest = argument[length] == '=' ? lt_nearest_word(name, names) : NULL;
	/* Match whole words behind the plugin, whose name has "lowtide" in
	 * it. */
	if (nearest != NULL)
		(void)snprintf(mend, sizeof(mend),
		    "sed -i '%ds|\\(spank_lowtide\\.so.*[ \\t]\\)%s=|\\1%s=|' %s", line->line, name,
		    nearest, line->path);
	else
		(void)snprintf(mend, sizeof(mend),
		    "sed -i '%ds~\\(spank_lowtide\\.so.*\\)[ \\t]%s\\([ \\t]\\|$\\)~\\1\\2~' %s",
		    line->line, argument, line->path);
	lt_doctor_say(doctor, LT_LEVEL_ERROR, "plugstack", mend,
	    "%s: spank_lowtide.so knows no argument \"%s\", and leaves it", line->path, argument);
	return false;
}

static void
check_arguments(struct lt_doctor *doctor, const struct lt_plugstack *line)
{
	char text[sizeof(line->text)], *rest = text, *word;
	const char *run_dir = "/run/lowtide";
	bool is_behind = false; /* the plugin's name */
	bool is_good = true;

	strcpy(text, line->text);
	while ((word = strsep(&rest, " \t")) != NULL) {
		if (is_behind && word[0] != '\0')
			is_good &= check_argument(doctor, line, word);
		is_behind |= strstr(word, "spank_lowtide.so") != NULL;
		if (strncmp(word, "run_dir=", strlen("run_dir=")) == 0)
			run_dir = line->text + (word - text) + strlen("run_dir=");
	}
	if (is_good) { /* else that may be the one */
		(void)snprintf(text, sizeof(text), "%.*s", (int)strcspn(run_dir, " \t"), run_dir);
		check_run_dir(doctor, line, text);
	}
}

static void
check_plugin(struct lt_doctor *doctor, const struct lt_plugstack *line, const char *plugin)
{
	struct lt_error err = {0};
	char mend[2048], path[2048];
	uint32_t version;

	if (plugin[0] != '/') {
		lt_doctor_plugin(doctor, "spank", "spank_lowtide.so", 0xffff00);
		return;
	}
	if (lt_plugin_version(plugin, &version, &err) == LT_OK) {
		(void)lt_doctor_others_may(
		    doctor, "spank", plugin, S_IROTH, "their sbatch goes on without lowtide");
		return;
	}
	(void)snprintf(mend, sizeof(mend), "%s", "make install, on all hosts");
	if (lt_plugin_find(path, sizeof(path),
		lt_doctor_conf(doctor, "plugin_dir", doctor->conf.plugin_dir), "spank_lowtide.so",
		NULL) == LT_OK)
		(void)snprintf(mend, sizeof(mend), "sed -i '%ds|%.900s|spank_lowtide.so|' %s",
		    line->line, plugin, line->path);
	lt_doctor_say(doctor, LT_LEVEL_ERROR, "spank", mend, "%s", err.text);
}

/* Checks the words before the arguments: "optional spank_lowtide.so ...". */
static void
check_words(struct lt_doctor *doctor, const struct lt_plugstack *line)
{
	char word[1024] = "", plugin[1024] = "", mend[3072];

	(void)sscanf(line->text, "%1023s %1023s", word, plugin);
	if (strcmp(word, "optional") == 0 || strcmp(word, "required") == 0) {
		lt_doctor_say(doctor, word[0] == 'r' ? LT_LEVEL_NOTE : LT_LEVEL_OK, "plugstack",
		    word[0] == 'r'
			? "optional is kinder: a host without the file then still runs jobs"
			: "",
		    "%s: %s", line->path, line->text);
		check_plugin(doctor, line, plugin);
		return;
	}
	const bool is_plugin = strstr(word, "spank_lowtide.so") != NULL;

	(void)snprintf(mend, sizeof(mend), "sed -i '%ds|%s|optional%s|' %s", line->line, word,
	    is_plugin ? " spank_lowtide.so" : "", line->path);
	lt_doctor_say(doctor, LT_LEVEL_ERROR, "plugstack", mend,
	    "%s: got \"%.300s\", want optional or required before the plugin", line->path,
	    line->text);
}

/* Writes the command that adds the line, with all arguments that this site needs. */
static const char *
whole_line(char *out, size_t size, const struct lt_doctor *doctor, const char *path)
{
	const struct lt_policy *const policy = doctor->policy;
	const char *const run = lt_json_text(doctor->status, "run_dir", "");
	char run_dir[600] = "", preemptible[1024] = "", precision[1024] = "";

	if (run[0] != '\0' && strcmp(run, "/run/lowtide") != 0)
		(void)snprintf(run_dir, sizeof(run_dir), " run_dir=%s", run);
	if (policy != NULL) {
		(void)lt_preemptible_argument(policy, NULL, "", preemptible, sizeof(preemptible));
		(void)lt_precision_argument(policy, "", precision, sizeof(precision));
	}
	(void)snprintf(out, size, "echo 'optional spank_lowtide.so%s%s%s%s%s%s' >> %s", run_dir,
	    preemptible[0] ? " " : "", preemptible, precision[0] ? " " : "", precision,
	    policy != NULL && policy->power_cap_count > 0 ? " power_cap=yes" : "", path);
	return out;
}

/* Warns if slurmctld runs with another file: its nodes get no environment. */
static void
check_running(struct lt_doctor *doctor)
{
	const char *const running = lt_doctor_conf(doctor, "plugstack", "");

	if (doctor->has_conf && running[0] != '\0' && doctor->conf.plugstack[0] != '\0' &&
	    strcmp(running, doctor->conf.plugstack) != 0)
		lt_doctor_say(doctor, LT_LEVEL_WARNING, "plugstack", "scontrol reconfigure",
		    "%s has PlugStackConfig=%.300s, the running slurmctld %.300s",
		    doctor->conf.path, doctor->conf.plugstack, running);
}

void
lt_doctor_plugstack(struct lt_doctor *doctor)
{
	static const char without[] = "every sbatch, srun and salloc of theirs fails";
	struct lt_plugstack line;
	char path[1024], mend[3072];
	struct lt_error err = {0};

	if (doctor->facts == NULL && !doctor->has_conf)
		return;
	check_running(doctor);
	lt_doctor_plugstack_path(doctor, path, sizeof(path));
	if (!lt_doctor_others_may(doctor, "plugstack", path, S_IROTH, without))
		return;
	if (lt_plugstack_read(&line, path, &err)) {
		lt_doctor_say(doctor, LT_LEVEL_ERROR, "plugstack",
		    whole_line(mend, sizeof(mend), doctor, path),
		    "%s; it belongs on all hosts, readable by all", err.text);
		return;
	}
	if (strcmp(line.path, path) != 0 &&
	    !lt_doctor_others_may(doctor, "plugstack", line.path, S_IROTH, without))
		return;
	if (line.count > 1) {
		/* A file that is included twice has the line once. */
		if (line.last_line == line.line && strcmp(line.last_path, line.path) == 0)
			(void)snprintf(
			    mend, sizeof(mend), "take out all but one include of %s", line.path);
		else
			(void)snprintf(
			    mend, sizeof(mend), "sed -i %dd %s", line.last_line, line.last_path);
		lt_doctor_say(doctor, LT_LEVEL_ERROR, "plugstack", mend,
		    "%s: %d lines with spank_lowtide.so, want one", path, line.count);
	}
	check_words(doctor, &line);
	check_arguments(doctor, &line);
}
