/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The output of a command that may be a file. It is written to "NAME.new", synced and renamed, so
 * that nobody opens half a statement. On a failure the old file stays and the new one is removed.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

int
lt_output_open(struct lt_output *output, const char *path, struct lt_error *err)
{
	*output = (struct lt_output){.out = stdout};
	if (path == NULL || strcmp(path, "-") == 0)
		return LT_OK;
	if (strlen(path) >= sizeof(output->path))
		return lt_fail(err, LT_EIO, "%.60s...: the name is too long", path);
	strcpy(output->path, path);
	snprintf(output->new_path, sizeof(output->new_path), "%s.new", path);
	output->out = fopen(output->new_path, "w");
	if (output->out == NULL)
		return lt_fail(err, LT_EIO, "%s: %s", output->new_path, strerror(errno));
	return LT_OK;
}

/* Syncs and closes the new file, which is still beside its place. */
static void
finish_new_file(struct lt_output *output, struct lt_error *err)
{
	const bool written = fflush(output->out) == 0 && fsync(fileno(output->out)) == 0;
	const int code = errno;

	if (fclose(output->out) != 0 || !written)
		lt_fail(err, LT_EIO, "%s: %s", output->new_path, strerror(written ? errno : code));
}

static void
put_in_place(const struct lt_output *output, struct lt_error *err)
{
	if (!err->code && rename(output->new_path, output->path) != 0)
		lt_fail(err, LT_EIO, "%s: %s", output->path, strerror(errno));
	if (err->code)
		unlink(output->new_path);
}

int
lt_output_close(struct lt_output *output, struct lt_error *err)
{
	if (output->out == stdout)
		return err->code;
	finish_new_file(output, err);
	put_in_place(output, err);
	return err->code;
}

static bool
are_same(FILE *one, FILE *other)
{
	enum { PART = 16384 };
	char a[PART], b[PART];
	size_t length;

	do {
		length = fread(a, 1, sizeof(a), one);
		if (fread(b, 1, sizeof(b), other) != length || memcmp(a, b, length) != 0)
			return false;
	} while (length == PART);
	return !ferror(one) && !ferror(other);
}

/* Fails if the new file is not the same as the one that is there. */
static void
compare_files(const struct lt_output *output, FILE *there, struct lt_error *err)
{
	FILE *const fresh = fopen(output->new_path, "r");

	if (fresh == NULL) {
		lt_fail(err, LT_EIO, "%s: %s", output->new_path, strerror(errno));
		return;
	}
	if (!are_same(there, fresh))
		lt_fail(err, LT_EINPUT,
		    "%s: is there, and not what lowtided says now; it was left as it is",
		    output->path);
	fclose(fresh);
}

int
lt_output_keep(struct lt_output *output, struct lt_error *err)
{
	finish_new_file(output, err);
	FILE *const there = fopen(output->path, "r");

	if (there == NULL && errno != ENOENT)
		lt_fail(err, LT_EIO, "%s: %s", output->path, strerror(errno));
	if (there == NULL) {
		put_in_place(output, err);
		return err->code;
	}
	if (!err->code)
		compare_files(output, there, err);
	fclose(there);
	unlink(output->new_path);
	return err->code;
}
