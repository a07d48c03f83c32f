/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The files of a closed period, in a folder of its name: what the report writes
 * in each format, and the checksums of those that stay to the byte. What is
 * there already is compared, and never written over.
 */
#include <errno.h>
#include <nettle/base16.h>
#include <nettle/sha2.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"
#include "report.h"
#include "statement.h"

static const struct file {
	const char *name;
	struct lt_report_look look;
	bool of_money; /* a site without a currency has none */
	bool drawn;    /* may look otherwise by another release: stays */
} files[] = {
    {"statement.json", {.format = LT_REPORT_JSON}, false, false},
    {"statement.csv", {.format = LT_REPORT_CSV}, false, false},
    {"runs.csv", {.format = LT_REPORT_CSV, .runs = true}, false, false},
    {"focus.csv", {.format = LT_REPORT_FOCUS, .charges = true}, true, false},
    {"billing-period.csv", {.format = LT_REPORT_FOCUS}, true, false},
    {"statement.html", {.format = LT_REPORT_HTML}, false, true},
};
enum { FILES = sizeof(files) / sizeof(files[0]) };
#define CHECKSUMS "SHA256SUMS"

struct folder {
	const struct lt_cli *cli;
	struct lt_report_query query;
	int closing; /* the first is 1 */
	bool has_money;
	char path[4096 - 32];
};

static bool
is_of(const struct folder *folder, const struct file *file)
{
	return folder->has_money || !file->of_money;
}

/* Its group is that of the folder around it, whoever writes. */
static int
take_group(
    const struct folder *folder, const char *around, struct lt_error *err)
{
	struct stat ours, theirs;

	if (stat(around, &theirs) != 0)
		return lt_fail(err, LT_EIO, "%s: %s", around, strerror(errno));
	if (lstat(folder->path, &ours) != 0 || !S_ISDIR(ours.st_mode))
		return lt_fail(err, LT_EIO, "%s: want a folder", folder->path);
	if (ours.st_gid == theirs.st_gid && (ours.st_mode & S_ISGID))
		return LT_OK;
	if (chown(folder->path, (uid_t)-1, theirs.st_gid) != 0 ||
	    chmod(folder->path, S_ISGID | 0750) != 0)
		return lt_fail(err, LT_EIO,
		    "%s: can't have the group of %s (%s); chmod g+s %s",
		    folder->path, around, strerror(errno), around);
	return LT_OK;
}

static int
make_folder(struct folder *folder, const char *around, struct lt_error *err)
{
	char closing[16] = "";

	if (folder->closing > 1)
		snprintf(closing, sizeof(closing), ".%d", folder->closing);
	const int length = snprintf(folder->path, sizeof(folder->path),
	    "%s/%s%s", around, folder->query.period, closing);

	if (length >= (int)sizeof(folder->path))
		return lt_fail(
		    err, LT_EIO, "%.60s...: the name is too long", around);
	if (mkdir(folder->path, 0750) != 0 && errno != EEXIST)
		return lt_fail(
		    err, LT_EIO, "%s: %s", folder->path, strerror(errno));
	return take_group(folder, around, err);
}

static int
begin_file(struct lt_output *output, const struct folder *folder,
    const char *name, struct lt_error *err)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/%s", folder->path, name);
	return lt_output_open(output, path, err);
}

static int
write_file(
    const struct folder *folder, const struct file *file, struct lt_error *err)
{
	char path[4096];
	struct stat there;
	struct lt_output output;

	snprintf(path, sizeof(path), "%s/%s", folder->path, file->name);
	if (file->drawn && lstat(path, &there) == 0)
		return LT_OK;
	if (begin_file(&output, folder, file->name, err))
		return err->code;
	lt_report_write(
	    output.out, folder->cli, &folder->query, &file->look, err);
	return lt_output_keep(&output, err);
}

static int
write_checksum(FILE *out, const struct folder *folder, const char *name,
    struct lt_error *err)
{
	char path[4096], hex[BASE16_ENCODE_LENGTH(SHA256_DIGEST_SIZE)];
	uint8_t bytes[16384], digest[SHA256_DIGEST_SIZE];
	struct sha256_ctx hash;
	size_t length;

	snprintf(path, sizeof(path), "%s/%s", folder->path, name);
	FILE *const in = fopen(path, "r");
	if (in == NULL)
		return lt_fail(err, LT_EIO, "%s: %s", path, strerror(errno));
	sha256_init(&hash);
	while ((length = fread(bytes, 1, sizeof(bytes), in)) > 0)
		sha256_update(&hash, length, bytes);
	if (ferror(in))
		lt_fail(err, LT_EIO, "%s: can't be read", path);
	fclose(in);
	sha256_digest(&hash, sizeof(digest), digest);
	base16_encode_update(hex, sizeof(digest), digest);
	fprintf(out, "%.*s  %s\n", (int)sizeof(hex), hex, name);
	return err->code;
}

/* As sha256sum -c reads them. */
static int
write_checksums(const struct folder *folder, struct lt_error *err)
{
	struct lt_output output;

	if (begin_file(&output, folder, CHECKSUMS, err))
		return err->code;
	for (int i = 0; i < FILES && !err->code; i++)
		if (is_of(folder, &files[i]) && !files[i].drawn)
			write_checksum(output.out, folder, files[i].name, err);
	return lt_output_keep(&output, err);
}

static int
ask_currency(struct folder *folder, struct lt_error *err)
{
	json_t *report = NULL;

	if (lt_report_ask(&report, folder->cli, &folder->query, false, err))
		return err->code;
	folder->has_money = *lt_json_text(report, "currency", "") != '\0';
	json_decref(report);
	return LT_OK;
}

int
lt_statement_write(const struct lt_cli *cli, const char *around,
    const struct lt_report_query *query, int closing, struct lt_error *err)
{
	struct folder folder = {
	    .cli = cli, .query = *query, .closing = closing};
	const mode_t umask_before =
	    umask(0027); /* the group reads, no others */

	if (ask_currency(&folder, err) == LT_OK)
		make_folder(&folder, around, err);
	for (int i = 0; i < FILES && !err->code; i++)
		if (is_of(&folder, &files[i]))
			write_file(&folder, &files[i], err);
	if (!err->code)
		write_checksums(&folder, err);
	umask(umask_before);
	return err->code;
}
