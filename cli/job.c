/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lowtide explain, now and canary: the commands that hand job ids to lowtided and print the text or
 * JSON that it answers with. Also lt_job_path(), which
 * watch.c shares.
 *
 * explain shows why a job got its plan and its charge. now starts jobs that lowtide delayed; a job
 * that can't start does not stop the others. canary interrupts one of the user's own jobs, to see
 * whether it resumes. A bad id is a usage error (exit status 2), found before anything is asked; a
 * refusal of lowtided is exit status 1.
 */
#include <string.h>

#include "job.h"
#include "text.h"

enum { DIGITS_MAX = 10, PATH_SIZE = 512 };

/* True if job is NAMESPACE/NAME in the characters that Kubernetes allows, or NAMESPACE/KIND/NAME
 * for what is not a Job. */
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

/* Returns where the leading digits end; NULL if there are none, or too many. */
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
lt_job_path(char *out, size_t size, const char *prefix, const char *job, struct lt_error *err)
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

int
lt_cli_canary(const struct lt_cli *cli)
{
	char path[PATH_SIZE];
	json_t *answer = NULL;
	struct lt_error err = {0};

	if (lt_job_path(path, sizeof(path), "/v1/canary", cli->operands[0], &err) != LT_OK)
		return lt_cli_usage(cli, "%s", err.text);
	if (lt_client_post(&answer, cli, path, NULL, &err) != LT_OK)
		return lt_cli_fail(&err);
	int status = LT_EXIT_OK;
	if (cli->json)
		status = lt_cli_print_json(answer);
	else
		lt_job_print_text(answer);
	json_decref(answer);
	return status;
}

const struct lt_cli_option lt_cli_explain_options[] = {
    {"formulas", NULL, "name the equation of docs/model.md behind each figure"},
    {NULL, NULL, NULL},
};

int
lt_cli_explain(const struct lt_cli *cli)
{
	char path[PATH_SIZE];
	json_t *answer = NULL;
	struct lt_error err = {0};
	int result = LT_EXIT_OK;

	if (lt_job_path(path, sizeof(path), "/v1/explain", cli->operands[0], &err))
		return lt_cli_usage(cli, "%s", err.text);
	if (lt_cli_value(cli, "formulas") != NULL)
		lt_copy(path + strlen(path), sizeof(path) - strlen(path), "?formulas=yes");
	if (lt_client_get(&answer, cli, path, &err))
		return lt_cli_fail(&err);
	if (cli->json)
		result = lt_cli_print_json(answer);
	else
		lt_job_print_text(answer);
	json_decref(answer);
	return result;
}

/* Checks every id before the first job is started. */
static int
check_ids(const struct lt_cli *cli)
{
	char path[PATH_SIZE];
	struct lt_error err = {0};

	for (int i = 0; i < cli->operand_count; i++)
		if (lt_job_path(path, sizeof(path), "", cli->operands[i], &err))
			return lt_cli_usage(cli, "%s", err.text);
	return LT_EXIT_OK;
}

/* Asks lowtided to start one job; *answer is the caller's. err names the job. */
static int
start_job(json_t **answer, const struct lt_cli *cli, const char *job, struct lt_error *err)
{
	char path[PATH_SIZE];

	if (lt_job_path(path, sizeof(path), "/v1/now", job, err) == LT_OK)
		lt_client_post(answer, cli, path, NULL, err);
	return err->code;
}

/* Starts the jobs and prints each answer as soon as it comes. */
static int
start_each(const struct lt_cli *cli)
{
	int result = LT_EXIT_OK;

	for (int i = 0; i < cli->operand_count; i++) {
		json_t *answer = NULL;
		struct lt_error err = {0};

		if (start_job(&answer, cli, cli->operands[i], &err) != LT_OK)
			result = lt_cli_fail(&err);
		else
			lt_job_print_text(answer);
		json_decref(answer);
		fflush(stdout); /* in order with what failed */
	}
	return result;
}

/* Starts the jobs and prints a list of answers; for a single job the answer itself, as before now
 * took several. */
static int
start_as_json(const struct lt_cli *cli)
{
	const bool one = cli->operand_count == 1;
	json_t *const list = json_array();
	int result = LT_EXIT_OK;

	for (int i = 0; i < cli->operand_count; i++) {
		json_t *answer = NULL;
		struct lt_error err = {0};

		if (start_job(&answer, cli, cli->operands[i], &err) != LT_OK) {
			result = LT_EXIT_FAILURE;
			if (one)
				lt_cli_fail(&err);
			else
				answer = json_pack(
				    "{s:s,s:s}", "job", cli->operands[i], "error", err.text);
		} else if (!one) {
			json_object_set_new(answer, "job", json_string(cli->operands[i]));
		}
		if (answer != NULL)
			json_array_append_new(list, answer);
	}
	if (one ? json_array_size(list) == 1 &&
		      lt_cli_print_json(json_array_get(list, 0)) != LT_EXIT_OK
		: lt_cli_print_json(list) != LT_EXIT_OK)
		result = LT_EXIT_FAILURE;
	json_decref(list);
	return result;
}

int
lt_cli_now(const struct lt_cli *cli)
{
	const int usage = check_ids(cli);

	if (usage != LT_EXIT_OK)
		return usage;
	return cli->json ? start_as_json(cli) : start_each(cli);
}
