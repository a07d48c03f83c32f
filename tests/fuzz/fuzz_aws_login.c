/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fuzzes what AWS keys come in (a credentials file, a role's JSON) and error bodies: keys are fit
 * for a header, refusals say why, and can be shown.
 */
#include <stdlib.h>
#include <string.h>

#include "aws.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t byte_count);

static void
check(int code, const struct lt_aws_login *login, struct lt_error *err)
{
	if (code != LT_OK) {
		if (err->text[0] == '\0' || (int)err->code != code)
			__builtin_trap();
		return;
	}
	if (strchr(login->pair, ':') == NULL || strpbrk(login->pair, " \r\n") != NULL ||
	    strpbrk(login->header, "\r\n") != NULL)
		__builtin_trap();
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t byte_count)
{
	char *const text = calloc(1, byte_count + 1), words[201];
	struct lt_aws_login login = {"", ""};
	struct lt_error file = {0}, role = {0};
	int64_t until_utc_s;

	if (text == NULL)
		return 0;
	if (byte_count > 0)
		memcpy(text, bytes, byte_count);
	lt_aws_error_text(words, sizeof(words), text, byte_count, "ec2:DescribeRegions");
	if (strlen(words) >= sizeof(words))
		__builtin_trap();
	check(lt_aws_login_of_role(&login, text, byte_count, &until_utc_s, &role), &login, &role);
	check(lt_aws_login_of_file(&login, text, "p", &file), &login, &file);
	free(text);
	return 0;
}
