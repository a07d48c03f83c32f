/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which component of a heterogeneous job is being submitted, and how many there
 * are. Slurm says neither: the command line and the batch script do.
 */
#include <stdio.h>
#include <string.h>

#include "spank_parts.h"

/* How often ":" stands alone on the command line. */
static int
count_colons(void)
{
	char line[16384];
	FILE *const stream = fopen("/proc/self/cmdline", "re");
	size_t length =
	    stream != NULL ? fread(line, 1, sizeof(line), stream) : 0;
	int count = 0;

	if (stream != NULL)
		fclose(stream);
	/* Arguments are separated by NUL. */
	for (const char *at = line;
	     (at = memmem(at, length, "\0:", 3)) != NULL;) {
		count++;
		length -= (size_t)(at + 2 - line);
		at += 2;
	}
	return count;
}

/* How often "#SBATCH hetjob" stands in a batch script, up to its first command:
 * there sbatch stops to look, too. */
static int
count_directives(const char *path)
{
	enum { LINES_MAX = 4096 };
	FILE *const stream = path != NULL ? fopen(path, "re") : NULL;
	char line[4096];
	int count = 0;

	for (int i = 0; stream != NULL && i < LINES_MAX &&
			fgets(line, sizeof(line), stream) != NULL;
	     i++) {
		char *rest = NULL;

		if (line[0] != '#' && line[strspn(line, " \t\r\n")] != '\0')
			break;
		if (strncmp(line, "#SBATCH", 7) != 0)
			continue;
		for (const char *word = strtok_r(line + 7, " \t\r\n", &rest);
		     word != NULL; word = strtok_r(NULL, " \t\r\n", &rest))
			count += strcmp(word, "hetjob") == 0 ||
				 strcmp(word, "packjob") == 0;
	}
	if (stream != NULL)
		fclose(stream);
	return count;
}

/* Of " SCRIPT ARGUMENT ...": where the name has a space, only the components on
 * the command line are known. */
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
