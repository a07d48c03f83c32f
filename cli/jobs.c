/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lowtide jobs: one's jobs that wait and run, and those that ended lately:
 * where and when each is to start, what it costs, and what that saves.
 */
#include <string.h>

#include "cli.h"
#include "job_text.h"

const struct lt_cli_option lt_cli_jobs_options[] = {
    {"user", "U",
	"of another user; for root, SlurmUser, operators, viewers and coordinators"},
    {"all", NULL, "of all users whose jobs you may see"},
    {NULL, NULL, NULL},
};

enum { PAGES_MAX = 5000, USER = 2 };

/* All pages: into *answer, whose list grows. */
static int
ask(json_t **answer, const struct lt_cli *cli, struct lt_error *err)
{
	const bool all = lt_cli_value(cli, "all") != NULL;
	int64_t after = 0;

	*answer = NULL;
	for (int i = 0; i < PAGES_MAX; i++) {
		char path[768] = "/v1/jobs", id[24];
		json_t *page = NULL;

		snprintf(id, sizeof(id), "%lld", (long long)after);
		if (lt_client_query(path, sizeof(path), "user",
			lt_cli_value(cli, "user"), err) != LT_OK ||
		    lt_client_query(path, sizeof(path), "all", all ? "1" : NULL,
			err) != LT_OK ||
		    lt_client_query(path, sizeof(path), "after",
			after > 0 ? id : NULL, err) != LT_OK ||
		    lt_client_get(&page, cli, path, err) != LT_OK)
			return err->code;
		const bool more = lt_json_int(page, "next", &after);

		if (*answer == NULL) {
			*answer = page;
		} else {
			json_array_extend(json_object_get(*answer, "jobs"),
			    json_object_get(page, "jobs"));
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
	char state[64], start[32], expected[48], so_far[48], saves[48],
	    next[32];

	lt_table_row(table,
	    (const char *const[]){lt_json_text(job, "id", "?"),
		lt_json_text(job, "name", "?"), lt_json_text(job, "user", "?"),
		lt_job_state_word(state, sizeof(state), job), lt_job_place(job),
		lt_job_start(start, sizeof(start), job),
		lt_job_expected(expected, sizeof(expected), job, currency),
		lt_job_so_far(so_far, sizeof(so_far), job, currency),
		lt_job_amount(saves, sizeof(saves),
		    json_object_get(job, "saves"), currency),
		lt_job_time(next, sizeof(next), job, "next_decision")});
}

/* NAMESPACE/NAME, not a number. */
static bool
is_kube(const json_t *jobs)
{
	return strchr(lt_json_text(json_array_get(jobs, 0), "id", ""), '/') !=
	       NULL;
}

static int
print_jobs(const json_t *answer, bool color)
{
	char zone[16], start[32];
	const struct lt_table_column columns[] = {
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
	    {NULL, false},
	};
	/* Of Kubernetes, whose ids are names, the id as well. */
	enum { GIVES = 1 << 1 | 1 << 2 | 1 << 4 };
	/* and decided next, saves, name, partition */
	static const int drops[] = {USER, 9, 8, 1, 4, -1};
	const json_t *const jobs = json_object_get(answer, "jobs");
	const char *const currency = lt_json_text(answer, "currency", "");

	lt_job_zone(zone, sizeof(zone));
	(void)snprintf(start, sizeof(start), "START (%s)", zone);
	struct lt_table *const table = lt_table_new(columns);
	size_t index;
	const json_t *job;

	if (!json_array_size(jobs) || table == NULL) {
		puts("no jobs that wait, run or ended lately");
		lt_table_free(table);
		return LT_EXIT_OK;
	}
	json_array_foreach(jobs, index, job)
		add_row(table, job, currency);
	lt_table_fit(
	    table, lt_cli_columns(), is_kube(jobs) ? GIVES | 1 : GIVES);
	lt_table_drop(table, drops);
	lt_table_print(stdout, table, color);
	lt_table_free(table);
	return LT_EXIT_OK;
}

int
lt_cli_jobs(const struct lt_cli *cli)
{
	json_t *answer = NULL;
	struct lt_error err = {0};

	if (lt_cli_value(cli, "all") != NULL &&
	    lt_cli_value(cli, "user") != NULL)
		return lt_cli_usage(cli, "--user and --all are two of them");
	if (ask(&answer, cli, &err) != LT_OK) {
		json_decref(answer);
		return lt_cli_fail(&err);
	}
	const int result = cli->json ? lt_cli_print_json(answer)
				     : print_jobs(answer, cli->color);

	json_decref(answer);
	return result;
}
