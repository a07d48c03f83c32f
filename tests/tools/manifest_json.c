/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Manifests on standard input, as kubectl would send them: a line of JSON for each document.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "manifest.h"

static int
print(const char *text, size_t length)
{
	struct lt_error err = {0};
	json_t *document;

	/* Comments alone are no document. */
	if (memmem(text, length, "kind: ", 6) == NULL)
		return 0;
	if (lt_manifest_parse(&document, &(struct lt_manifest_text){"standard input", text, length},
		&err) != LT_OK) {
		fprintf(stderr, "manifest_json: %s\n", err.text);
		return 1;
	}
	json_dumpf(document, stdout, JSON_COMPACT);
	putchar('\n');
	json_decref(document);
	return 0;
}

int
main(void)
{
	char *line = NULL, *text = NULL;
	size_t room = 0, length = 0;
	int status = 0;
	FILE *out = open_memstream(&text, &length);

	for (bool more = true; more && out != NULL;) {
		more = getline(&line, &room, stdin) > 0;
		if (more && strcmp(line, "---\n") != 0) {
			fputs(line, out);
			continue;
		}
		fclose(out);
		status |= print(text, length);
		free(text);
		out = more ? open_memstream(&text, &length) : NULL;
	}
	free(line);
	return status;
}
