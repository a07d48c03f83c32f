/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where a command's output goes that may be a file: written beside its place
 * and renamed, so that nobody opens half a statement.
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
		return lt_fail(
		    err, LT_EIO, "%.60s...: the name is too long", path);
	strcpy(output->path, path);
	snprintf(output->new_path, sizeof(output->new_path), "%s.new", path);
	output->out = fopen(output->new_path, "w");
	if (output->out == NULL)
		return lt_fail(
		    err, LT_EIO, "%s: %s", output->new_path, strerror(errno));
	return LT_OK;
}

int
lt_output_close(struct lt_output *output, struct lt_error *err)
{
	if (output->out == stdout)
		return err->code;
	const bool written =
	    fflush(output->out) == 0 && fsync(fileno(output->out)) == 0;
	const int code = errno;

	if (fclose(output->out) != 0 || !written)
		lt_fail(err, LT_EIO, "%s: %s", output->new_path,
		    strerror(written ? errno : code));
	if (!err->code && rename(output->new_path, output->path) != 0)
		lt_fail(err, LT_EIO, "%s: %s", output->path, strerror(errno));
	if (err->code)
		unlink(output->new_path);
	return err->code;
}
