/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One event, one line, and each value ends where its quote does. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "log.h"

static void
test_quotes(void **state)
{
	static const struct {
		const char *said, *written;
	} cases[] = {
	    {"job=1 user=2", "job=1 user=2"},
	    {"error=\"got \"-24.48\", want 0\"", "error=\"got '-24.48', want 0\""},
	    {"error=\"\"x\" is no key\" path=/y", "error=\"'x' is no key\" path=/y"},
	    {"a=\"b c\" d=\"e\nf\"", "a=\"b c\" d=\"e?f\""},
	    {"a=\"\" b=\"\"", "a=\"\" b=\"\""},
	};
	char path[] = "/tmp/lowtide-log.XXXXXX", line[256];
	const int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(lt_log_open(path), 0);
	FILE *const file = fopen(path, "re");
	assert_non_null(file);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		lt_log("tried", "%s", cases[i].said);
		assert_non_null(fgets(line, sizeof(line), file));
		line[strcspn(line, "\n")] = '\0';
		assert_string_equal(
		    strstr(line, "event=tried ") + strlen("event=tried "), cases[i].written);
	}
	fclose(file);
	unlink(path);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_quotes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
