/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds which component of a heterogeneous job is being submitted, and how many there are. Slurm
 * says neither, so the command line and the batch script are read. If they can't be read, the job
 * counts as one component.
 */
#include <stdio.h>
#include <string.h>

#include "spank_parts.h"

/* Counts the words ":" on the command line. */
static int
count_colons(void)
{
	char line[16384];
	FILE *const stream = fopen("/proc/self/cmdline", "re");
	size_t length = stream != NULL ? fread(line, 1, sizeof(line), stream) : 0;
	int count = 0;

	if (stream != NULL)
		fclose(stream);
	/* Arguments are separated by NUL. */
	for (const char *at = line; (at = memmem(at, length, "\0:", 3)) != NULL;) {
		count++;
		length -= (size_t)(at + 2 - line);
		at += 2;
	}
	return count;
}

/* Counts "#SBATCH hetjob" in a batch script, up to its first command, where sbatch stops looking
 * too. */
static int
count_directives(const char *path)
{
	enum { LINES_MAX = 4096 };
	FILE *const stream = path != NULL ? fopen(path, "re") : NULL;
	char line[4096];
	int count = 0;

	for (int i = 0;
	     stream != NULL && i < LINES_MAX && fgets(line, sizeof(line), stream) != NULL; i++) {
		char *rest = NULL;

		if (line[0] != '#' && line[strspn(line, " \t\r\n")] != '\0')
			break;
		if (strncmp(line, "#SBATCH", 7) != 0)
			continue;
		for (const char *word = strtok_r(line + 7, " \t\r\n", &rest); word != NULL;
		     word = strtok_r(NULL, " \t\r\n", &rest))
			count += strcmp(word, "hetjob") == 0 || strcmp(word, "packjob") == 0;
	}
	if (stream != NULL)
		fclose(stream);
	return count;
}

/* Counts all components for " SCRIPT ARGUMENT ..."; if the name has a space, only those on the
 * command line. */
static int
count_all(char *words)
{
	char *path = NULL;

	while (words != NULL && (path == NULL || path[0] == '\0'))
		path = strsep(&words, " ");
	return 1 + count_colons() + count_directives(path);
}

struct lt_component
lt_spank_component(char *words)
{
	struct lt_component *const at = &lt_spank.component;

	if (at->count == 0)
		at->count = count_all(words);
	else
		at->index++;
	return *at;
}
