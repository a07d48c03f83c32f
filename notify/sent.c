/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The file of what was sent. One process at a time has it, by a lock on it.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "grow.h"
#include "sent.h"
#include "units.h"

enum { PATH_SIZE = 4096 };

static int
compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

bool
lt_sent_has(const struct lt_sent *sent, const char *id, const char *way)
{
	char key[LT_SENT_LINE_SIZE];
	const char *const wanted = key;

	snprintf(key, sizeof(key), "%s %s", id, way);
	for (size_t i = sent->sorted; i < sent->count; i++)
		if (strcmp(sent->keys[i], key) == 0)
			return true;
	return sent->sorted > 0 && bsearch(&wanted, sent->keys, sent->sorted,
				       sizeof(*sent->keys), compare) != NULL;
}

static int
remember(struct lt_sent *sent, const char *key, struct lt_error *err)
{
	char **const grown = lt_items_grow(
	    sent->keys, &sent->capacity, sent->count, sizeof(*grown));

	if (grown == NULL)
		return lt_fail(err, LT_ENOMEM, "sent: no memory");
	sent->keys = grown;
	sent->keys[sent->count] = strdup(key);
	if (sent->keys[sent->count] == NULL)
		return lt_fail(err, LT_ENOMEM, "sent: no memory");
	sent->count++;
	return LT_OK;
}

/* A whole line that is young enough; *key points into it. */
static bool
is_kept(char *line, int64_t since_utc_s, const char **key)
{
	char *const blank = strchr(line, ' ');
	const size_t length = strlen(line);
	int64_t at_utc_s;

	if (blank == NULL || length == 0 || line[length - 1] != '\n')
		return false;
	line[length - 1] = '\0';
	*blank = '\0';
	*key = blank + 1;
	return lt_utc_parse(line, &at_utc_s, NULL) == LT_OK &&
	       at_utc_s >= since_utc_s;
}

/* Of `in` the lines that count, into `out` as they are. Of many the newest:
 * skip says how many of those that count are over. */
static int
copy_kept(struct lt_sent *sent, FILE *in, FILE *out, int64_t since_utc_s,
    struct lt_error *err)
{
	char line[LT_SENT_LINE_SIZE], copy[LT_SENT_LINE_SIZE];
	const char *key;
	size_t skip = 0;

	while (fgets(line, sizeof(line), in) != NULL)
		skip += is_kept(line, since_utc_s, &key);
	skip = skip > LT_SENT_MAX ? skip - LT_SENT_MAX / 2 : 0;
	rewind(in);
	while (fgets(line, sizeof(line), in) != NULL) {
		memcpy(copy, line, sizeof(copy));
		if (!is_kept(line, since_utc_s, &key))
			continue;
		if (skip > 0) {
			skip--;
			continue;
		}
		if (fputs(copy, out) == EOF)
			return lt_fail(err, LT_EIO, "sent: can't write");
		const int code = remember(sent, key, err);
		if (code != LT_OK)
			return code;
	}
	return ferror(in) ? lt_fail(err, LT_EIO, "sent: can't read") : LT_OK;
}

static int
rewrite(struct lt_sent *sent, const char *path, int64_t since_utc_s,
    struct lt_error *err)
{
	char new_path[PATH_SIZE + 8];
	FILE *const in = fopen(path, "re");
	/* None is there at first; one that can't be read is no beginning. */
	const bool in_failed = in == NULL && errno != ENOENT;

	snprintf(new_path, sizeof(new_path), "%s.new", path);
	FILE *const out = fopen(new_path, "we");
	int code = out == NULL ? lt_fail(err, LT_EIO, "%s: %s", new_path,
				     strerror(errno))
		   : in_failed ? lt_fail(err, LT_EIO, "%s: can't be read", path)
			       : LT_OK;
	if (code == LT_OK && in != NULL)
		code = copy_kept(sent, in, out, since_utc_s, err);
	if (code == LT_OK && (fflush(out) != 0 || fsync(fileno(out)) != 0))
		code =
		    lt_fail(err, LT_EIO, "%s: %s", new_path, strerror(errno));
	if (in != NULL)
		fclose(in);
	if (out != NULL)
		fclose(out);
	if (code == LT_OK && rename(new_path, path) != 0)
		code = lt_fail(err, LT_EIO, "%s: %s", path, strerror(errno));
	if (sent->count > 1)
		qsort(sent->keys, sent->count, sizeof(*sent->keys), compare);
	sent->sorted = sent->count;
	return code;
}

/* Else a loss of power could bring the old file back, and what is sent from now
 * on would be sent again. */
static int
sync_directory(const char *dir, struct lt_error *err)
{
	const int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	/* Some file systems can't; they say EINVAL. */
	const bool failed = fd < 0 || (fsync(fd) != 0 && errno != EINVAL);
	const int why = errno;

	if (fd >= 0)
		close(fd);
	return failed ? lt_fail(err, LT_EIO, "%s: %s", dir, strerror(why))
		      : LT_OK;
}

/* The lock is a file of its own: that of the lines is replaced. */
static int
take_lock(const char *dir, int *fd, struct lt_error *err)
{
	char path[PATH_SIZE];

	snprintf(path, sizeof(path), "%s/lock", dir);
	*fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (*fd < 0)
		return lt_fail(err, LT_EIO, "%s: %s", path, strerror(errno));
	if (flock(*fd, LOCK_EX | LOCK_NB) == 0)
		return LT_OK;
	close(*fd);
	*fd = -1;
	return lt_fail(
	    err, LT_ECONFLICT, "%s: another lowtide-notify is at work", path);
}

int
lt_sent_open(struct lt_sent *sent, const char *dir, int64_t now_utc_s,
    struct lt_error *err)
{
	char path[PATH_SIZE];
	int code;

	*sent = (struct lt_sent){.fd = -1, .lock_fd = -1};
	if (strlen(dir) >= PATH_SIZE - 16)
		return lt_fail(err, LT_ELIMIT, "--state: a path too long");
	snprintf(path, sizeof(path), "%s/sent", dir);
	code = take_lock(dir, &sent->lock_fd, err);
	if (code == LT_OK)
		code = rewrite(sent, path, now_utc_s - LT_SENT_KEEP_S, err);
	if (code == LT_OK)
		code = sync_directory(dir, err);
	if (code == LT_OK) {
		sent->fd = open(
		    path, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
		if (sent->fd < 0)
			code = lt_fail(
			    err, LT_EIO, "%s: %s", path, strerror(errno));
	}
	if (code != LT_OK)
		lt_sent_close(sent);
	return code;
}

int
lt_sent_add(struct lt_sent *sent, const char *id, const char *way,
    int64_t now_utc_s, struct lt_error *err)
{
	char when[32], line[LT_SENT_LINE_SIZE];
	const int length = snprintf(line, sizeof(line), "%s %s %s\n",
	    lt_utc_text(when, sizeof(when), now_utc_s), id, way);

	if (length < 0 || length >= (int)sizeof(line))
		return lt_fail(err, LT_ELIMIT, "sent: a line too long");
	const off_t before = lseek(sent->fd, 0, SEEK_END);
	const bool written = write(sent->fd, line, (size_t)length) == length &&
			     fdatasync(sent->fd) == 0;
	const int why = errno;

	/* Half a line would take the next one with it. */
	if (!written && before >= 0)
		(void)!ftruncate(sent->fd, before);
	line[length - 1] = '\0';
	const int code = remember(sent, strchr(line, ' ') + 1, err);
	return written ? code : lt_fail(err, LT_EIO, "sent: %s", strerror(why));
}

void
lt_sent_close(struct lt_sent *sent)
{
	for (size_t i = 0; i < sent->count; i++)
		free(sent->keys[i]);
	free(sent->keys);
	if (sent->fd >= 0)
		close(sent->fd);
	if (sent->lock_fd >= 0)
		close(sent->lock_fd);
	*sent = (struct lt_sent){.fd = -1, .lock_fd = -1};
}
