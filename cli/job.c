/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How a job is named on the command line, and what lowtided says of one.
 */
#include <string.h>

#include "job.h"

enum { DIGITS_MAX = 10 };

/* Of names of Kubernetes' own characters, NAMESPACE/NAME, or of what is no Job
 * NAMESPACE/KIND/NAME. */
static bool
is_kube_name(const char *job)
{
	static const char characters[] = "abcdefghijklmnopqrstuvwxyz"
					 "0123456789-.";
	const size_t namespace = strspn(job, characters);

	if (namespace == 0 || namespace > 63 || job[namespace] != '/')
		return false;
	const char *name = job + namespace + 1;
	size_t length = strspn(name, characters);
	if (length > 0 && length <= 63 && name[length] == '/') {
		name += length + 1;
		length = strspn(name, characters);
	}

	return length > 0 && length <= 253 && name[length] == '\0';
}

/* Up to where there are digits, a few; NULL = none, or too many. */
static const char *
after_digits(const char *text)
{
	const size_t digits = strspn(text, "0123456789");

	return digits > 0 && digits <= DIGITS_MAX ? text + digits : NULL;
}

static bool
is_number(const char *job)
{
	const char *end = after_digits(job);

	if (end != NULL && *end == '_')
		end = after_digits(end + 1);
	return end != NULL && *end == '\0';
}

int
lt_job_path(char *out, size_t size, const char *prefix, const char *job,
    struct lt_error *err)
{
	if (!is_number(job) && !is_kube_name(job))
		return lt_fail(err, LT_EINPUT,
		    "got \"%s\", want a job id such as 1234, 1234_5 for a task of an array, or on Kubernetes NAMESPACE/NAME or NAMESPACE/KIND/NAME",
		    job);
	snprintf(out, size, "%s/%s", prefix, job);
	return LT_OK;
}

void
lt_job_print_text(const json_t *answer)
{
	const char *const text = lt_json_text(answer, "text", "");
	const size_t length = strlen(text);

	lt_print_safe(stdout, text);
	if (!length || text[length - 1] != '\n')
		putchar('\n');
}
