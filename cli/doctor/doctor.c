/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lowtide doctor: the list of its checks, and the printing of what each found and of how to fix it.
 * Exit status 1 if a check found an error. It works with any part of Slurm or lowtide absent: the
 * absence is then the finding.
 */
#include <stdlib.h>
#include <time.h>

#include "doctor.h"
#include "policy.h"

static const char *const level_names[] = {"ok", "note", "warning", "error"};
static const char *const level_colors[] = {"\033[32m", "\033[36m", "\033[33m", "\033[31m"};

typedef void check_function(struct lt_doctor *doctor);

static check_function *const kube_checks[] = {
    lt_doctor_off,
    lt_doctor_daemon,
    lt_doctor_snapshots,
    lt_doctor_sources,
    lt_doctor_kube,
    NULL,
};

/* munge is checked early: without it nothing of Slurm answers. */
static check_function *const slurm_checks[] = {
    lt_doctor_off,
    lt_doctor_conf_file,
    lt_doctor_load_policy,
    lt_doctor_munge,
    lt_doctor_probe,
    lt_doctor_release,
    lt_doctor_job_submit,
    lt_doctor_plugstack,
    lt_doctor_accounting,
    lt_doctor_priority,
    lt_doctor_partitions,
    lt_doctor_state,
    lt_doctor_files,
    lt_doctor_clock,
    lt_doctor_daemon,
    lt_doctor_snapshots,
    lt_doctor_sources,
    lt_doctor_policy,
    NULL,
};

static int
count_level(const struct lt_doctor *doctor, enum lt_level level)
{
	int count = 0;

	for (int i = 0; i < doctor->count; i++)
		count += doctor->findings[i].level == level;
	return count;
}

static void
print_text(const struct lt_doctor *doctor)
{
	const bool color = doctor->cli->color;

	for (int i = 0; i < doctor->count; i++) {
		const struct lt_finding *const finding = &doctor->findings[i];

		printf("%s%-8s%s%-12s ", color ? level_colors[finding->level] : "",
		    level_names[finding->level], color ? "\033[0m" : "", finding->check);
		lt_print_safe(stdout, finding->found);
		if (finding->mend[0]) {
			printf("\n%21s-> ", "");
			lt_print_safe(stdout, finding->mend);
		}
		putchar('\n');
	}
	for (int level = LT_LEVEL_ERROR; level >= LT_LEVEL_NOTE; level--) {
		const int count = count_level(doctor, (enum lt_level)level);

		printf("%d %s%s%s", count, level_names[level], count == 1 ? "" : "s",
		    level > LT_LEVEL_NOTE ? ", " : "\n");
	}
}

static int
print_json(const struct lt_doctor *doctor)
{
	json_t *const list = json_array();

	for (int i = 0; i < doctor->count; i++) {
		const struct lt_finding *const finding = &doctor->findings[i];

		json_array_append_new(list,
		    json_pack("{s:s, s:s, s:s, s:s}", "level", level_names[finding->level], "check",
			finding->check, "found", finding->found, "mend", finding->mend));
	}
	json_t *const body =
	    json_pack("{s:i, s:i, s:o}", "errors", count_level(doctor, LT_LEVEL_ERROR), "warnings",
		count_level(doctor, LT_LEVEL_WARNING), "findings", list);
	const int result = lt_cli_print_json(body);

	json_decref(body);
	return result;
}

int
lt_cli_doctor(const struct lt_cli *cli)
{
	if (lt_cli_value(cli, "collect") != NULL)
		return lt_doctor_collect(lt_cli_value(cli, "collect"));

	struct lt_doctor *const doctor = calloc(1, sizeof(*doctor));

	if (doctor == NULL) {
		const struct lt_error err = {.text = "no memory"};

		return lt_cli_fail(&err);
	}
	doctor->cli = cli;
	if (lt_client_get(&doctor->status, cli, "/v1/status", &doctor->no_status))
		doctor->status = NULL;
	doctor->asked_utc_s = time(NULL);
	doctor->is_kube = lt_doctor_is_kube(doctor);
	for (check_function *const *check = doctor->is_kube ? kube_checks : slurm_checks;
	     *check != NULL; check++)
		(*check)(doctor);
	int result = LT_EXIT_OK;

	if (cli->json)
		result = print_json(doctor);
	else
		print_text(doctor);
	if (count_level(doctor, LT_LEVEL_ERROR))
		result = LT_EXIT_FAILURE;
	json_decref(doctor->facts);
	json_decref(doctor->status);
	lt_policy_free(doctor->policy);
	free(doctor);
	return result;
}
