/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Replays a corpus without libFuzzer: every file of the directories given
 * goes through LLVMFuzzerTestOneInput(), in order of name.
 */
#include <dirent.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t byte_count);

enum { INPUT_BYTES_MAX = 16 * 1024 * 1024 };

static void
fail(const char *path, const char *what)
{
	fprintf(stderr, "driver: %s: %s\n", path, what);
	exit(1);
}

static void
replay(const char *path)
{
	FILE *const file = fopen(path, "rb");
	struct stat status;

	if (file == NULL || fstat(fileno(file), &status) != 0)
		fail(path, strerror(errno));
	if (status.st_size > INPUT_BYTES_MAX)
		fail(path, "larger than any input of a corpus");
	const size_t byte_count = (size_t)status.st_size;
	/* Exactly as large: a read past the end is then seen. */
	uint8_t *const bytes = malloc(byte_count > 0 ? byte_count : 1);
	if (bytes == NULL)
		fail(path, "no memory");
	if (fread(bytes, 1, byte_count, file) != byte_count)
		fail(path, "can't read");
	fclose(file);
	(void)LLVMFuzzerTestOneInput(bytes, byte_count);
	free(bytes);
}

static int
replay_directory(const char *directory)
{
	struct dirent **entries;
	int inputs = 0;
	const int count = scandir(directory, &entries, NULL, alphasort);

	if (count < 0)
		fail(directory, strerror(errno));
	for (int i = 0; i < count; i++) {
		char path[4096];
		struct stat status;

		snprintf(path, sizeof(path), "%s/%s", directory, entries[i]->d_name);
		if (stat(path, &status) == 0 && S_ISREG(status.st_mode)) {
			replay(path);
			inputs++;
		}
		free(entries[i]);
	}
	free(entries);
	return inputs;
}

int
main(int argc, char **argv)
{
	int inputs = 0;

	if (argc < 2) {
		fprintf(stderr, "usage: %s DIRECTORY...\n", argv[0]);
		return 2;
	}
	for (int i = 1; i < argc; i++)
		inputs += replay_directory(argv[i]);
	printf("%d inputs ok\n", inputs);
	return 0;
}
