/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A text against the one in tests/golden/. UPDATE=1 writes it anew.
 */
#ifndef LT_TEST_GOLDEN_H
#define LT_TEST_GOLDEN_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static inline void
golden_compare(const char *why, const char *path, const char *got)
{
	char *want = NULL;
	size_t size = 0;

	if (getenv("UPDATE") != NULL) {
		FILE *const out = fopen(path, "w");

		assert_non_null(out);
		fputs(got, out);
		fclose(out);
	}
	FILE *const in = fopen(path, "r");
	if (in == NULL || getdelim(&want, &size, '\0', in) < 0)
		fail_msg("%s can't be read", path);
	fclose(in);
	if (strcmp(got, want) != 0)
		fail_msg("%s: %s: got\n%s", why, path, got);
	free(want);
}

#endif
