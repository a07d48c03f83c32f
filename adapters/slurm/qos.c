/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * QOS: the limits that a single job meets, by slurmctld, and the names of all, by slurmdbd.
 *
 * slurmctld lists for each QOS the TRES by their places in one list of names. The most that a job
 * may have is the least of Max*PerJob, PerUser, PerAccount and Grp*: alone, it can pass none of
 * them. Limits of minutes, and of anything but CPUs, memory, nodes and all GPUs together, are not
 * understood: they count as `others`. So does everything where slurmctld says nothing; without
 * slurmdbd lt_batch_qoses() fails.
 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "batch.h"
#include "dbd_link.h"
#include "lookup.h"
#include "qos.h"
#include "slurm_text.h"

/* ---- limits ---- */

void
lt_qos_limits_open(struct lt_qos_limits *all, const slurm_conf_t *conf)
{
	assoc_mgr_info_request_msg_t request = {.flags = ASSOC_MGR_INFO_FLAG_QOS};

	*all = (struct lt_qos_limits){
	    .enforced = (conf->accounting_storage_enforce & LT_SLURM_ENFORCE_LIMITS) != 0};
	if (all->enforced && slurm_load_assoc_mgr_info(&request, &all->answer) != SLURM_SUCCESS)
		all->answer = NULL;
}

void
lt_qos_limits_close(struct lt_qos_limits *all)
{
	if (all->answer != NULL)
		slurm_free_assoc_mgr_info_msg(all->answer);
	all->answer = NULL;
}

/* Returns the enum lt_limited of a name; LT_LIMITED_COUNT = none of them. */
static int
tres_of(const char *name)
{
	static const char *const names[LT_LIMITED_COUNT] = {
	    [LT_LIMITED_CPU] = "cpu",
	    [LT_LIMITED_MEMORY] = "mem",
	    [LT_LIMITED_NODE] = "node",
	    [LT_LIMITED_GPU] = "gres/gpu",
	};
	int tres = 0;

	while (tres < LT_LIMITED_COUNT && strcmp(LT_WORD(names, tres), name) != 0)
		tres++;
	return tres;
}

/* Slurm has INFINITE64, or NO_VAL64, where there is no limit. */
static bool
is_limit(uint64_t value)
{
	return value != INFINITE64 && value != NO_VAL64;
}

/* Lays the limits of one list over those before: the smallest is the most, the largest the
 * least. */
static void
lay_limit(struct lt_limits *limits, uint64_t of[LT_LIMITED_COUNT], bool is_least,
    const uint64_t *list, const assoc_mgr_info_msg_t *answer)
{
	for (uint32_t i = 0; list != NULL && i < answer->tres_cnt; i++) {
		const int tres = tres_of(answer->tres_names[i]);

		if (!is_limit(list[i]) || (is_least && list[i] == 0))
			continue;
		if (tres == LT_LIMITED_COUNT || list[i] == 0)
			limits->others = true;
		else if (of[tres] == 0 || (is_least ? list[i] > of[tres] : list[i] < of[tres]))
			of[tres] = list[i];
	}
}

static bool
any_limit(const uint64_t *list, const assoc_mgr_info_msg_t *answer)
{
	for (uint32_t i = 0; list != NULL && i < answer->tres_cnt; i++)
		if (is_limit(list[i]))
			return true;
	return false;
}

static struct lt_limits
limits_of(const slurmdb_qos_rec_t *qos, const assoc_mgr_info_msg_t *answer)
{
	struct lt_limits limits = {.others = (qos->flags & QOS_FLAG_REQ_RESV) != 0 ||
					     any_limit(qos->max_tres_mins_pj_ctld, answer)};
	const uint64_t *const most[] = {qos->max_tres_pj_ctld, qos->max_tres_pu_ctld,
	    qos->max_tres_pa_ctld, qos->grp_tres_ctld};

	for (size_t i = 0; i < sizeof(most) / sizeof(most[0]); i++)
		lay_limit(&limits, limits.most, false, most[i], answer);
	lay_limit(&limits, limits.most_per_node, false, qos->max_tres_pn_ctld, answer);
	lay_limit(&limits, limits.least, true, qos->min_tres_pj_ctld, answer);
	limits.most_s = lt_minutes(qos->max_wall_pj, 0);
	return limits;
}

static bool
is_count(uint32_t value)
{
	return value != INFINITE && value != NO_VAL;
}

/* True if a partition's own QOS limits how many jobs may be submitted or what they may use up:
 * sbatch refuses jobs beyond the first, and how much is left of the second is not known. */
static bool
counts_use(const slurmdb_qos_rec_t *qos, const assoc_mgr_info_msg_t *answer)
{
	/* Those that keep no job out, and the two marks of Slurm's own. */
	static const uint32_t open_flags =
	    QOS_FLAG_PART_MIN_NODE | QOS_FLAG_PART_MAX_NODE | QOS_FLAG_PART_TIME_LIMIT |
	    QOS_FLAG_NO_RESERVE | QOS_FLAG_DENY_LIMIT | QOS_FLAG_OVER_PART_QOS | QOS_FLAG_NO_DECAY |
	    QOS_FLAG_USAGE_FACTOR_SAFE | 1u << 12 | 1u << 13;
	const uint64_t *const used[] = {qos->grp_tres_mins_ctld, qos->grp_tres_run_mins_ctld,
	    qos->max_tres_run_mins_pa_ctld, qos->max_tres_run_mins_pu_ctld};
	bool any = (qos->flags & QOS_FLAG_BASE & ~open_flags) != 0 ||
		   is_count(qos->grp_submit_jobs) || is_count(qos->max_submit_jobs_pa) ||
		   is_count(qos->max_submit_jobs_pu) || is_count(qos->grp_wall) ||
		   qos->grp_jobs == 0 || qos->max_jobs_pa == 0 || qos->max_jobs_pu == 0;

	for (size_t i = 0; i < sizeof(used) / sizeof(used[0]); i++)
		any |= any_limit(used[i], answer);
	return any;
}

struct lt_limits
lt_qos_limits_of(const struct lt_qos_limits *all, const char *name)
{
	struct lt_limits limits = {.others = true};

	if (!all->enforced || name == NULL || name[0] == '\0')
		return (struct lt_limits){0};
	if (all->answer == NULL || all->answer->qos_list == NULL)
		return limits;
	lt_slurm_iterator *const iterator = slurm_list_iterator_create(all->answer->qos_list);
	for (slurmdb_qos_rec_t *qos; (qos = slurm_list_next(iterator)) != NULL;)
		if (qos->name != NULL && strcasecmp(qos->name, name) == 0) {
			limits = limits_of(qos, all->answer);
			limits.others |= counts_use(qos, all->answer);
		}
	slurm_list_iterator_destroy(iterator);
	return limits;
}

/* Returns enum lt_job_limit of a list: each limit in it may keep a job from starting where it is
 * given more, or, of a list of the least, less. */
static uint32_t
kinds_in(const uint64_t *list, bool is_least, const assoc_mgr_info_msg_t *answer)
{
	uint32_t kinds = 0;

	for (uint32_t i = 0; list != NULL && i < answer->tres_cnt; i++)
		if (is_limit(list[i]) && !(is_least && list[i] == 0))
			kinds |= tres_of(answer->tres_names[i]) < LT_LIMITED_COUNT
				     ? LT_LIMITS_AMOUNTS
				     : LT_LIMITS_OTHERS;
	return kinds;
}

uint32_t
lt_qos_limits_kinds(const struct lt_qos_limits *all)
{
	uint32_t kinds = 0;

	if (!all->enforced)
		return 0;
	if (all->answer == NULL || all->answer->qos_list == NULL)
		return LT_LIMITS_AMOUNTS | LT_LIMITS_OTHERS;
	lt_slurm_iterator *const iterator = slurm_list_iterator_create(all->answer->qos_list);
	for (slurmdb_qos_rec_t *qos; (qos = slurm_list_next(iterator)) != NULL;) {
		const uint64_t *const of_job[] = {qos->max_tres_pj_ctld, qos->max_tres_pu_ctld,
		    qos->max_tres_pa_ctld, qos->max_tres_pn_ctld, qos->grp_tres_ctld,
		    qos->max_tres_mins_pj_ctld};
		/* Minutes of others, as billing, run out slowly: Slurm's reason says so when they
		 * do. */
		const uint64_t *const of_all[] = {qos->grp_tres_mins_ctld,
		    qos->grp_tres_run_mins_ctld, qos->max_tres_run_mins_pa_ctld,
		    qos->max_tres_run_mins_pu_ctld};

		for (size_t i = 0; i < sizeof(of_job) / sizeof(of_job[0]); i++)
			kinds |= kinds_in(of_job[i], false, all->answer);
		/* The least amount is of what the job asks for, anywhere. */
		kinds |= kinds_in(qos->min_tres_pj_ctld, true, all->answer) & LT_LIMITS_OTHERS;
		for (size_t i = 0; i < sizeof(of_all) / sizeof(of_all[0]); i++)
			kinds |= kinds_in(of_all[i], false, all->answer) & LT_LIMITS_AMOUNTS;
	}
	slurm_list_iterator_destroy(iterator);
	return kinds;
}

/* ---- names ---- */

int
lt_batch_qoses(struct lt_batch_qoses *all, struct lt_error *err)
{
	slurmdb_qos_cond_t condition = {0};
	struct lt_dbd_link link;
	lt_slurm_list *list = NULL;
	int rc = lt_dbd_open(&link, err);

	*all = (struct lt_batch_qoses){.are_known = true};
	if (rc == LT_OK) {
		list = slurmdb_qos_get(link.connection, &condition);
		if (list == NULL)
			rc = lt_slurm_fail("slurmdbd: QOS", errno, err);
	}
	if (rc == LT_OK) {
		all->names = calloc((size_t)slurm_list_count(list) + 1, sizeof(*all->names));
		if (all->names == NULL)
			rc = lt_fail(err, LT_ENOMEM, "QOS: out of memory");
	}
	if (rc == LT_OK) {
		lt_slurm_iterator *const iterator = slurm_list_iterator_create(list);

		for (slurmdb_qos_rec_t *qos; (qos = slurm_list_next(iterator)) != NULL;)
			lt_copy(all->names[all->count++], sizeof(all->names[0]), qos->name);
		slurm_list_iterator_destroy(iterator);
	}
	if (list != NULL)
		slurm_list_destroy(list);
	lt_dbd_close(&link);
	return rc;
}
