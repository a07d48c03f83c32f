/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lowtide explain JOB: the whole story of a job, as lowtided tells it.
 */
#include <string.h>

#include "cli.h"
#include "job.h"

/* Of NAMES of Kubernetes' own characters, NAMESPACE/NAME. */
static bool
is_kube_name(const char *job)
{
	static const char characters[] = "abcdefghijklmnopqrstuvwxyz"
					 "0123456789-.";
	const size_t namespace = strspn(job, characters);

	if (namespace == 0 || namespace > 63 || job[namespace] != '/')
		return false;
	const char *const name = job + namespace + 1;
	const size_t length = strspn(name, characters);

	return length > 0 && length <= 253 && name[length] == '\0';
}

/* "<prefix>/<job>"; LT_EINPUT unless job is a number or NAMESPACE/NAME. */
static int
job_path(char *out, size_t size, const char *prefix, const char *job,
    struct lt_error *err)
{
	const size_t digits = strspn(job, "0123456789");

	if ((!digits || digits > 10 || job[digits]) && !is_kube_name(job))
		return lt_fail(err, LT_EINPUT,
		    "got \"%s\", want a job id such as 1234 (squeue -O JobID has that of an array's task), or on Kubernetes NAMESPACE/NAME",
		    job);
	snprintf(out, size, "%s/%s", prefix, job);
	return LT_OK;
}

int
lt_job_command(const struct lt_cli *cli, bool post, const char *prefix)
{
	char path[512];
	json_t *answer = NULL;
	struct lt_error err = {0};
	int result = LT_EXIT_OK;

	if (job_path(path, sizeof(path), prefix, cli->operands[0], &err))
		return lt_cli_usage(cli, "%s", err.text);
	if (post ? lt_client_post(&answer, cli, path, NULL, &err)
		 : lt_client_get(&answer, cli, path, &err))
		return lt_cli_fail(&err);
	if (cli->json) {
		result = lt_cli_print_json(answer);
	} else {
		const char *const text = lt_json_text(answer, "text", "");
		const size_t length = strlen(text);

		lt_print_safe(stdout, text);
		if (!length || text[length - 1] != '\n')
			putchar('\n');
	}
	json_decref(answer);
	return result;
}

int
lt_cli_explain(const struct lt_cli *cli)
{
	return lt_job_command(cli, false, "/v1/explain");
}
