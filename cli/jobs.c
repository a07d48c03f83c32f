/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lowtide jobs: a table of the caller's jobs that wait, run or ended recently, or of another user's
 * or all users'. For each: where and when it is to start, what it costs, and what its plan saves.
 *
 * Reads all pages of GET /v1/jobs and prints the newest 200; --json prints all. Pods that belong to
 * no Job follow in a table of their own.
 */
#include <string.h>

#include "cli.h"
#include "job.h"

const struct lt_cli_option lt_cli_jobs_options[] = {
    {"user", "U", "of another user; for root, SlurmUser, operators, viewers and coordinators"},
    {"all", NULL, "of all users whose jobs you may see"},
    {NULL, NULL, NULL},
};

enum { PAGES_MAX = 5000, ROWS_MAX = 200, USER = 2 };

/* Reads all pages into *answer, whose list grows. */
static int
ask_pages(json_t **answer, const struct lt_cli *cli, struct lt_error *err)
{
	const bool all = lt_cli_value(cli, "all") != NULL;
	int64_t after = 0;

	*answer = NULL;
	for (int i = 0; i < PAGES_MAX; i++) {
		char path[768] = "/v1/jobs", id[24];
		json_t *page = NULL;

		snprintf(id, sizeof(id), "%lld", (long long)after);
		if (lt_client_query(path, sizeof(path), "user", lt_cli_value(cli, "user"), err) !=
			LT_OK ||
		    lt_client_query(path, sizeof(path), "all", all ? "1" : NULL, err) != LT_OK ||
		    lt_client_query(path, sizeof(path), "after", after > 0 ? id : NULL, err) !=
			LT_OK ||
		    lt_client_get(&page, cli, path, err) != LT_OK)
			return err->code;
		const bool more = lt_json_int(page, "next", &after);

		if (*answer == NULL) {
			*answer = page;
		} else {
			json_array_extend(
			    json_object_get(*answer, "jobs"), json_object_get(page, "jobs"));
			json_decref(page);
		}
		if (!more)
			break;
	}
	json_object_del(*answer, "next");
	return LT_OK;
}

static void
add_row(struct lt_table *table, const json_t *job, const char *currency)
{
	const json_t *const planned = json_object_get(job, "expected");
	const json_t *const saved = json_object_get(job, "saves");
	char state[96], start[32], expected[48], so_far[48], saves[48], next[32], carbon[48],
	    saves_carbon[48];

	lt_table_row(table,
	    (const char *const[]){lt_json_text(job, "id", "?"), lt_json_text(job, "name", "?"),
		lt_json_text(job, "user", "?"), lt_job_state_word(state, sizeof(state), job),
		lt_job_place(job), lt_job_start(start, sizeof(start), job),
		lt_job_expected(expected, sizeof(expected), job, currency),
		lt_job_so_far(so_far, sizeof(so_far), job, currency),
		lt_job_amount(saves, sizeof(saves), saved, currency),
		lt_job_time(next, sizeof(next), job, "next_decision"),
		lt_job_amount(carbon, sizeof(carbon), planned, ""),
		lt_job_amount(saves_carbon, sizeof(saves_carbon), saved, "")});
}

/* True if the ids are NAMESPACE/NAME and not numbers. */
static bool
is_kube(const json_t *jobs)
{
	return strchr(lt_json_text(json_array_get(jobs, 0), "id", ""), '/') != NULL;
}

static int
print_jobs(const json_t *answer, bool color)
{
	char zone[16], start[32];
	struct lt_table_column columns[] = {
	    {"JOBID", false},
	    {"NAME", false},
	    {"USER", false},
	    {"STATE", false},
	    {"PARTITION", false},
	    {start, false},
	    {"EXPECTED", true},
	    {"SO FAR", true},
	    {"SAVES", true},
	    {"DECIDED NEXT", false},
	    {"CO2e", true},
	    {"SAVES CO2e", true},
	    {NULL, false},
	};
	/* Columns that may be cut; on Kubernetes ids are names and may be
	 * cut too. */
	enum { GIVES = 1 << 1 | 1 << 2 | 1 << 4 };
	enum { CO2E = 10, SAVES_CO2E };
	/* 9 = decided next, 8 = saves, 1 = name, 4 = partition */
	static const int drops[] = {USER, SAVES_CO2E, 9, 8, CO2E, 1, 4, -1};
	/* A site without money shows carbon in the other columns. */
	static const int drops_of_carbon[] = {USER, 9, 8, 1, 4, -1};
	const json_t *const jobs = json_object_get(answer, "jobs");
	const char *const currency = lt_json_text(answer, "currency", "");

	lt_job_zone(zone, sizeof(zone));
	(void)snprintf(start, sizeof(start), "START (%s)", zone);
	if (currency[0] == '\0')
		columns[CO2E].title = NULL;
	struct lt_table *const table = lt_table_new(columns);
	const size_t count = json_array_size(jobs);
	const size_t left = count > ROWS_MAX ? count - ROWS_MAX : 0;

	if (count == 0 || table == NULL) {
		puts("no jobs that wait, run or ended lately");
		lt_table_free(table);
		return LT_EXIT_OK;
	}
	/* The newest first. */
	for (size_t i = count; i > left; i--)
		add_row(table, json_array_get(jobs, i - 1), currency);
	lt_table_fit(table, lt_cli_columns(), is_kube(jobs) ? GIVES | 1 : GIVES);
	lt_table_drop(table, currency[0] != '\0' ? drops : drops_of_carbon);
	lt_table_print(stdout, table, color);
	if (left > 0)
		printf("and %zu older ones, which --json has\n", left);
	lt_table_free(table);
	return LT_EXIT_OK;
}

/* Prints the pods that belong to no Job, by account. */
static void
print_unheld(const json_t *unheld, bool color)
{
	static const struct lt_table_column columns[] = {
	    {"PODS OF NO JOB: CHARGED EACH HOUR, NOT HELD FOR", false},
	    {"ACCOUNT", false},
	    {"PARTITION", false},
	    {"PODS", true},
	    {NULL, false},
	};
	struct lt_table *const table = json_array_size(unheld) > 0 ? lt_table_new(columns) : NULL;
	const json_t *one;
	size_t i;

	if (table == NULL)
		return;
	json_array_foreach(unheld, i, one) {
		char pods[24];
		int64_t count = 0;

		lt_json_int(one, "pods", &count);
		snprintf(pods, sizeof(pods), "%lld", (long long)count);
		lt_table_row(table, (const char *const[]){lt_json_text(one, "id", "?"),
					lt_json_text(one, "account", "?"),
					lt_json_text(one, "partition", "?"), pods});
	}
	putchar('\n');
	lt_table_print(stdout, table, color);
	lt_table_free(table);
}

int
lt_cli_jobs(const struct lt_cli *cli)
{
	json_t *answer = NULL;
	struct lt_error err = {0};

	if (lt_cli_value(cli, "all") != NULL && lt_cli_value(cli, "user") != NULL)
		return lt_cli_usage(cli, "--user and --all are two of them");
	if (ask_pages(&answer, cli, &err) != LT_OK) {
		json_decref(answer);
		return lt_cli_fail(&err);
	}
	const int result = cli->json ? lt_cli_print_json(answer) : print_jobs(answer, cli->color);

	if (!cli->json)
		print_unheld(json_object_get(answer, "unheld"), cli->color);
	json_decref(answer);
	return result;
}
