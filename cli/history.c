/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lowtide history: a table of how long the caller's jobs have run, by name and shape. lowtided
 * plans the next jobs by these figures. Reads GET /v1/history;
 * --forget erases what is known about a user's runs.
 */
#include <string.h>

#include "cli.h"
#include "units.h"

const struct lt_cli_option lt_cli_history_options[] = {
    {"name", "N", "only this job name; its digits count as any"},
    {"user", "U", "of another user; for root, SlurmUser, operators and viewers"},
    {"forget", "USER", "erase what is known of that user's runs"},
    {NULL, NULL, NULL},
};

/* "2:10:00"; "its limit" if lowtided gives no time below that. */
static const char *
time_text(char *out, size_t size, const json_t *group, const char *key)
{
	int64_t seconds;

	if (!lt_json_int(group, key, &seconds))
		return "its limit";
	return lt_slurm_time_text(out, size, seconds);
}

static void
add_row(struct lt_table *table, const json_t *group)
{
	enum { NODES, CPUS, GPUS, RUNS, NUMBERS };
	static const char *const keys[NUMBERS] = {"nodes", "cpus", "gpus", "runs"};
	const json_t *const ratio = json_object_get(group, "limit_ratio");
	const bool longest = json_is_true(json_object_get(group, "upper_is_longest"));
	char numbers[NUMBERS][24], limit[48], limit_text[64] = "none", median[48], upper[48],
					      upper_text[64], part[24] = "its limit", last[64];
	int64_t limit_s;

	for (int i = 0; i < NUMBERS; i++) {
		int64_t value = 0;

		lt_json_int(group, keys[i], &value);
		snprintf(numbers[i], sizeof(numbers[i]), "%lld", (long long)value);
	}
	if (lt_json_int(group, "limit_up_to_s", &limit_s))
		snprintf(limit_text, sizeof(limit_text), "to %s%s",
		    lt_slurm_time_text(limit, sizeof(limit), limit_s),
		    json_is_true(json_object_get(group, "interactive")) ? " (srun)" : "");
	snprintf(upper_text, sizeof(upper_text), "%s%s",
	    time_text(upper, sizeof(upper), group, "upper_s"), longest ? " (longest)" : "");
	if (json_is_real(ratio))
		snprintf(part, sizeof(part), "%.0f %%", 100 * json_real_value(ratio));
	lt_table_row(
	    table, (const char *const[]){lt_json_text(group, "name", "?"),
		       lt_json_text(group, "account", "?"), numbers[NODES], numbers[CPUS],
		       numbers[GPUS], limit_text, numbers[RUNS],
		       time_text(median, sizeof(median), group, "median_s"), upper_text, part,
		       lt_local_time(last, sizeof(last), lt_json_text(group, "last", NULL))});
}

/* Prints below the table how long runs took on each GPU, if lowtided knows more than one. */
static void
print_speeds(const json_t *group)
{
	const json_t *const speeds = json_object_get(group, "by_gpu");
	const json_t *speed;
	size_t index;

	if (json_array_size(speeds) == 0)
		return;
	printf("%s:", lt_json_text(group, "name", "?"));
	json_array_foreach(speeds, index, speed) {
		int64_t runs = 0;
		char median[48];

		lt_json_int(speed, "runs", &runs);
		printf("%s %s on %s (%lld runs)", index > 0 ? "," : "",
		    time_text(median, sizeof(median), speed, "median_s"),
		    lt_json_text(speed, "gpu", "?"), (long long)runs);
	}
	putchar('\n');
}

static int
print_history(const json_t *answer, bool color)
{
	char upper_title[24] = "UPPER";
	const json_t *const confidence = json_object_get(answer, "confidence");

	if (json_is_real(confidence))
		snprintf(upper_title, sizeof(upper_title), "%.4g %% WITHIN",
		    100 * json_real_value(confidence));
	const struct lt_table_column columns[] = {
	    {"NAME", false},
	    {"ACCOUNT", false},
	    {"NODES", true},
	    {"CPUS", true},
	    {"GPUS", true},
	    {"LIMIT", true},
	    {"RUNS", true},
	    {"MEDIAN", true},
	    {upper_title, true},
	    {"OF LIMIT", true},
	    {"LAST RUN", false},
	    {NULL, false},
	};
	/* last run, account, GPUs, CPUs, nodes */
	static const int drops[] = {10, 1, 4, 3, 2, -1};
	const json_t *const groups = json_object_get(answer, "groups");
	struct lt_table *const table = lt_table_new(columns);
	size_t index;
	const json_t *group;

	if (!json_array_size(groups) || table == NULL) {
		puts("no finished runs that say how long jobs run");
		lt_table_free(table);
		return LT_EXIT_OK;
	}
	json_array_foreach(groups, index, group)
		add_row(table, group);
	lt_table_fit(table, lt_cli_columns(), 1 << 0 | 1 << 1);
	lt_table_drop(table, drops);
	lt_table_print(stdout, table, color);
	lt_table_free(table);
	json_array_foreach(groups, index, group)
		print_speeds(group);
	if (json_is_true(json_object_get(answer, "more")))
		puts("and older ones; --name N shows them");
	return LT_EXIT_OK;
}

static int
show_history(const struct lt_cli *cli)
{
	char path[768] = "/v1/history";
	json_t *answer = NULL;
	struct lt_error err = {0};

	if (lt_client_query(path, sizeof(path), "name", lt_cli_value(cli, "name"), &err) != LT_OK ||
	    lt_client_query(path, sizeof(path), "user", lt_cli_value(cli, "user"), &err) != LT_OK ||
	    lt_client_get(&answer, cli, path, &err) != LT_OK)
		return lt_cli_fail(&err);
	const int result =
	    cli->json ? lt_cli_print_json(answer) : print_history(answer, cli->color);

	json_decref(answer);
	return result;
}

static int
forget_user(const struct lt_cli *cli, const char *user)
{
	json_t *answer = NULL;
	struct lt_error err = {0};
	int result = LT_EXIT_OK;
	int64_t runs = 0;
	json_t *const body = json_pack("{s:s}", "user", user);

	if (body == NULL)
		return lt_cli_usage(cli, "--forget must be UTF-8");
	lt_client_post(&answer, cli, "/v1/history/forget", body, &err);
	json_decref(body);
	if (err.code)
		return lt_cli_fail(&err);
	lt_json_int(answer, "runs", &runs);
	if (cli->json)
		result = lt_cli_print_json(answer);
	else
		printf("erased: %lld run%s of %s\n", (long long)runs, runs == 1 ? "" : "s", user);
	json_decref(answer);
	return result;
}

int
lt_cli_history(const struct lt_cli *cli)
{
	const char *const user = lt_cli_value(cli, "forget");

	if (user == NULL)
		return show_history(cli);
	if (lt_cli_value(cli, "name") != NULL || lt_cli_value(cli, "user") != NULL)
		return lt_cli_usage(
		    cli, "--forget USER erases all of that user: no --name, --user");
	return forget_user(cli, user);
}
