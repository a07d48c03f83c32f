/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lowtide now JOB...: start jobs at once that lowtide delayed. One that can't
 * start stops no other.
 */
#include "job.h"

enum { PATH_SIZE = 512 };

/* A slip in one id is found before the first job is started. */
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

/* What lowtided says of this one; of a failure, who it was and why. */
static int
start(json_t **answer, const struct lt_cli *cli, const char *job,
    struct lt_error *err)
{
	char path[PATH_SIZE];

	if (lt_job_path(path, sizeof(path), "/v1/now", job, err) == LT_OK)
		lt_client_post(answer, cli, path, NULL, err);
	return err->code;
}

/* Each as soon as it is known. */
static int
start_each(const struct lt_cli *cli)
{
	int result = LT_EXIT_OK;

	for (int i = 0; i < cli->operand_count; i++) {
		json_t *answer = NULL;
		struct lt_error err = {0};

		if (start(&answer, cli, cli->operands[i], &err) != LT_OK)
			result = lt_cli_fail(&err);
		else
			lt_job_print_text(answer);
		json_decref(answer);
		fflush(stdout); /* in order with what failed */
	}
	return result;
}

/* A list, but of one job what lowtided says, as it was before there could be
 * several. */
static int
start_as_json(const struct lt_cli *cli)
{
	const bool one = cli->operand_count == 1;
	json_t *const list = json_array();
	int result = LT_EXIT_OK;

	for (int i = 0; i < cli->operand_count; i++) {
		json_t *answer = NULL;
		struct lt_error err = {0};

		if (start(&answer, cli, cli->operands[i], &err) != LT_OK) {
			result = LT_EXIT_FAILURE;
			if (one)
				lt_cli_fail(&err);
			else
				answer = json_pack("{s:s,s:s}", "job",
				    cli->operands[i], "error", err.text);
		} else if (!one) {
			json_object_set_new(
			    answer, "job", json_string(cli->operands[i]));
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
