/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads plugstack.conf: finds the line with spank_lowtide.so, in the file or its includes, and
 * makes the command that changes it. Includes are followed four levels deep; of long files the
 * first 10,000 lines are read.
 */
#include <errno.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>

#include "doctor.h"

enum { PLUGSTACK_LINES_MAX = 10000 };

struct search {
	struct lt_plugstack *found;
	int depth; /* of include */
};

static int plugstack_file(struct search *search, const char *path, struct lt_error *err);

/* Reads the files of "include GLOB", relative to the file that has the line. */
static int
follow_include(struct search *search, const char *from, const char *pattern, struct lt_error *err)
{
	char path[2048];
	const char *const slash = strrchr(from, '/');
	glob_t files;
	int result = LT_OK;

	if (pattern[0] == '/' || slash == NULL)
		snprintf(path, sizeof(path), "%s", pattern);
	else
		snprintf(path, sizeof(path), "%.*s/%s", (int)(slash - from), from, pattern);
	if (glob(path, 0, NULL, &files))
		return LT_OK; /* Slurm is silent about that, too */
	search->depth++;
	for (size_t i = 0; i < files.gl_pathc && result == LT_OK; i++)
		result = plugstack_file(search, files.gl_pathv[i], err);
	search->depth--;
	globfree(&files);
	return result;
}

static int
plugstack_file(struct search *search, const char *path, struct lt_error *err)
{
	char line[4096], word[16], pattern[1024];
	struct lt_plugstack *const found = search->found;
	int result = LT_OK;
	FILE *const in = search->depth > 4 ? NULL : fopen(path, "re");

	if (in == NULL)
		return lt_fail(err, LT_EIO, "%s: %s", path, strerror(errno));
	for (int i = 0;
	     i < PLUGSTACK_LINES_MAX && result == LT_OK && fgets(line, sizeof(line), in) != NULL;
	     i++) {
		line[strcspn(line, "#\r\n")] = '\0';
		if (strstr(line, "spank_lowtide.so") != NULL) {
			snprintf(found->last_path, sizeof(found->last_path), "%s", path);
			found->last_line = i + 1;
			if (found->count++ > 0)
				continue;
			found->line = i + 1;
			snprintf(
			    found->text, sizeof(found->text), "%s", line + strspn(line, " \t"));
			snprintf(found->path, sizeof(found->path), "%s", path);
		} else if (sscanf(line, " %15s %1023s", word, pattern) == 2 &&
			   strcmp(word, "include") == 0) {
			result = follow_include(search, path, pattern, err);
		}
	}
	fclose(in);
	return result;
}

int
lt_plugstack_read(struct lt_plugstack *found, const char *path, struct lt_error *err)
{
	struct search search = {found, 0};

	*found = (struct lt_plugstack){.count = 0};
	const int result = plugstack_file(&search, path, err);

	if (result == LT_OK && found->count == 0)
		return lt_fail(err, LT_ENOENT, "%s: no line with spank_lowtide.so", path);
	return result;
}

const char *
lt_doctor_plugstack_path(const struct lt_doctor *doctor, char *out, size_t size)
{
	/* Those who submit read the file, which may have changed since slurmctld started. */
	const char *const named =
	    doctor->has_conf ? doctor->conf.plugstack : lt_doctor_conf(doctor, "plugstack", "");
	const char *const slash = strrchr(doctor->conf.path, '/');

	if (named[0])
		snprintf(out, size, "%s", named);
	else
		snprintf(out, size, "%.*s/plugstack.conf",
		    slash != NULL ? (int)(slash - doctor->conf.path) : 0, doctor->conf.path);
	return out;
}

bool
lt_doctor_own_line(struct lt_doctor *doctor, struct lt_plugstack *line)
{
	char path[2048];

	return lt_plugstack_read(
		   line, lt_doctor_plugstack_path(doctor, path, sizeof(path)), NULL) == LT_OK;
}

const char *
lt_plugstack_value(const struct lt_plugstack *line, const char *name)
{
	const size_t length = strlen(name);

	for (const char *at = strstr(line->text, name); at != NULL; at = strstr(at + 1, name))
		if (at > line->text && strchr(" \t", at[-1]) != NULL && at[length] == '=')
			return at + length + 1;
	return NULL;
}

const char *
lt_plugstack_mend(char *out, size_t size, const struct lt_plugstack *line, const char *argument)
{
	const size_t length = strcspn(argument, "=");
	char name[64];

	(void)snprintf(name, sizeof(name), "%.*s", (int)length, argument);
	if (lt_plugstack_value(line, name) != NULL)
		(void)snprintf(out, size, "sed -i '%ds|\\([ \\t]\\)%s=[^ \\t]*|\\1%s|' %s",
		    line->line, name, argument, line->path);
	else /* before a comment */
		(void)snprintf(out, size, "sed -i '%ds|spank_lowtide\\.so|& %s|' %s", line->line,
		    argument, line->path);
	return out;
}
