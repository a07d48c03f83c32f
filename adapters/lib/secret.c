/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Credentials of sources: from files that nobody else may read, or from the environment. Never from
 * the policy file, which users may read.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "address.h"
#include "guard.h"
#include "secret.h"
#include "url.h"

/* Returns the option KEY with a suffix; NULL = not given. */
static const char *
option_of(char name[LT_NAME_SIZE], const struct lt_source_options *options, const char *key,
    const char *suffix)
{
	snprintf(name, LT_NAME_SIZE, "%s_%s", key, suffix);
	return lt_source_option(options, name, NULL);
}

/* True if the secret would go over a network for all to read. */
static bool
is_open(const struct lt_source_options *options, const char *key, struct lt_error *err)
{
	const char *const url = lt_source_option(options, key, "");

	if (strncmp(url, "http://", 7) != 0 || lt_url_is_loopback(url))
		return false;
	lt_option_fail(options, key, err,
	    "%s: %s: got http:// to another host, want https:// where a secret is sent",
	    options->name, key);
	return true;
}

int
lt_secret_check(
    const struct lt_source_options *options, const char *key, bool required, struct lt_error *err)
{
	char file_name[LT_NAME_SIZE], env_name[LT_NAME_SIZE];
	const char *const file = option_of(file_name, options, key, "file");
	const char *const env = option_of(env_name, options, key, "env");

	if (file != NULL && env != NULL)
		return lt_option_fail(options, env_name, err, "%s: %s and %s, want one of them",
		    options->name, file_name, env_name);
	if (file != NULL && file[0] != '/')
		return lt_option_fail(options, file_name, err,
		    "%s: %s: got \"%s\", want an absolute path", options->name, file_name, file);
	if (env != NULL && (env[0] == '\0' || strchr(env, '=') != NULL))
		return lt_option_fail(options, env_name, err,
		    "%s: %s: got \"%s\", want the name of an environment variable", options->name,
		    env_name, env);
	if ((file != NULL || env != NULL) &&
	    (is_open(options, "url", err) || is_open(options, "login_url", err)))
		return LT_EINPUT;
	if (required && file == NULL && env == NULL)
		return lt_fail(err, LT_EINPUT, "%s: %s or %s: missing, want where the secret is",
		    options->name, file_name, env_name);
	return LT_OK;
}

static int
file_check(const char *path, int fd, struct lt_error *err)
{
	struct stat status;

	if (fstat(fd, &status) != 0)
		return lt_fail(err, LT_EIO, "%s: %s", path, strerror(errno));
	if (!S_ISREG(status.st_mode))
		return lt_fail(err, LT_EDENIED, "%s: want a plain file", path);
	if ((status.st_mode & 077) != 0)
		return lt_fail(err, LT_EDENIED,
		    "%s: mode %04o lets others read a secret, want 0600: chmod 600 %s", path,
		    (unsigned)status.st_mode & 07777, path);
	return LT_OK;
}

int
lt_secret_file(const char *path, char *out, size_t size, struct lt_error *err)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	size_t length = 0;
	ssize_t got = 0;

	if (fd < 0)
		return lt_fail(
		    err, errno == ENOENT ? LT_ENOENT : LT_EIO, "%s: %s", path, strerror(errno));
	int code = file_check(path, fd, err);
	while (code == LT_OK && length < size && (got = read(fd, out + length, size - length)) > 0)
		length += (size_t)got;
	close(fd);
	if (code != LT_OK)
		return code;
	if (got < 0)
		code = lt_fail(err, LT_EIO, "%s: can't read", path);
	else if (length == size)
		code = lt_fail(err, LT_ELIMIT, "%s: %zu bytes and more, want a secret", path, size);
	else if (memchr(out, '\0', length) != NULL)
		code = lt_fail(err, LT_EINPUT, "%s: has a NUL byte", path);
	if (code == LT_OK)
		out[length] = '\0';
	else
		explicit_bzero(out, size);
	return code;
}

/* Drops white space at both ends; true if the rest is one line without controls. */
static bool
trim(char *text)
{
	const char *const blanks = " \t\r\n";
	const size_t first = strspn(text, blanks);
	size_t length = strlen(text + first);

	while (length > 0 && strchr(blanks, text[first + length - 1]) != NULL)
		length--;
	memmove(text, text + first, length);
	text[length] = '\0';
	for (size_t i = 0; i < length; i++)
		if ((unsigned char)text[i] < ' ' || text[i] == 0x7f)
			return false;
	return length > 0;
}

int
lt_secret_read(const struct lt_source_options *options, const char *key, char *out, size_t size,
    struct lt_error *err)
{
	char name[LT_NAME_SIZE];
	const char *const file = option_of(name, options, key, "file");
	const char *where = file;

	if (file != NULL) {
		const int code = lt_secret_file(file, out, size, err);

		if (code != LT_OK)
			return code;
	} else {
		const char *const env = option_of(name, options, key, "env");
		const char *const value = env == NULL ? NULL : getenv(env);

		if (env == NULL)
			return lt_fail(
			    err, LT_ENOENT, "neither %s_file nor %s is given", key, name);
		where = env;
		if (value == NULL)
			return lt_fail(
			    err, LT_EINPUT, "%s: not in the environment of this process", env);
		if (strlen(value) >= size)
			return lt_fail(
			    err, LT_ELIMIT, "%s: %zu bytes and more, want a secret", env, size);
		strcpy(out, value);
	}
	if (trim(out)) {
		lt_guard_add(out);
		return LT_OK;
	}
	explicit_bzero(out, size);
	return lt_fail(err, LT_EINPUT, "%s: want a secret on one line", where);
}
