/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Temporary files, and what an error says; for the tests of adapters.
 */
#ifndef LT_SOURCE_FIXTURE_H
#define LT_SOURCE_FIXTURE_H

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "source.h"
#include "source_options.h"

/* Writes a new file; path must end in XXXXXX. */
static inline void
write_file(char *path, const char *bytes, size_t byte_count)
{
	const int fd = mkstemp(path);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, byte_count), (ssize_t)byte_count);
	close(fd);
}

/* cmocka's own has changed its name. */
static inline void
assert_between(int64_t value, int64_t least, int64_t most)
{
	if (value < least || value > most)
		fail_msg(
		    "%lld, want %lld to %lld", (long long)value, (long long)least, (long long)most);
}

/* An error's text has these words, and nothing that a log can't show. */
static inline void
assert_says(const char *why, const struct lt_error *err, const char *words)
{
	char mended[LT_ERROR_TEXT_SIZE];

	if (strstr(err->text, words) == NULL)
		fail_msg("%s: \"%s\" has no \"%s\"", why, err->text, words);
	memcpy(mended, err->text, sizeof(mended));
	lt_text_mend(mended);
	if (strcmp(mended, err->text) != 0)
		fail_msg("%s: not fit to be shown: %s", why, mended);
}

#endif
