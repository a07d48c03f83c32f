/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Answers for Slurm the calls of batch.h that only Kubernetes needs: slurmctld is asked, starts
 * what is due by itself, and asks lowtide nothing. Nothing here fails, but for commands that name
 * what only Kubernetes has.
 */
#include "batch.h"

const char lt_batch_program[] = "lowtided";

const struct lt_batch_words lt_batch_words = {.system = "slurm",
    .lock = "JobHeldAdmin",
    .record = "slurmctld's record, as slurmdbd has none yet",
    .tells_progress = true};

int
lt_batch_main(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	return -1;
}

int
lt_batch_fds(struct pollfd *fds)
{
	(void)fds;
	return 0;
}

void
lt_batch_take(struct lt_batch_changes *changes, int64_t now_utc_s)
{
	(void)now_utc_s;
	*changes = (struct lt_batch_changes){.count = 0};
}

bool
lt_batch_is_near(void)
{
	return false;
}

/* Names nobody: Slurm's own lists have the jobs that lowtide leaves alone. */
const char *
lt_batch_starter(uint32_t job_id)
{
	(void)job_id;
	return NULL;
}

bool
lt_batch_may_update(void)
{
	return true;
}

void
lt_batch_tend(const struct lt_batch_view *view, int64_t now_utc_s)
{
	(void)view;
	(void)now_utc_s;
}

int
lt_batch_find(const char *name, uint32_t *job_id, struct lt_error *err)
{
	(void)job_id;
	return lt_fail(err, LT_ENOENT, "got \"%.40s\", want the number of a job", name);
}

int
lt_batch_aways(struct lt_batch_away *aways, int most, int64_t from_utc_s, int64_t to_utc_s)
{
	(void)aways;
	(void)most;
	(void)from_utc_s;
	(void)to_utc_s;
	return 0;
}

int
lt_batch_unheld(struct lt_batch_unheld **all, uint32_t *count, struct lt_error *err)
{
	(void)err;
	*all = NULL;
	*count = 0;
	return LT_OK;
}

bool
lt_batch_watch(struct lt_batch_watch *watch)
{
	(void)watch;
	return false;
}

int
lt_batch_job_of_manifest(
    struct lt_batch_manifest *out, const char *text, size_t length, struct lt_error *err)
{
	(void)out;
	(void)text;
	(void)length;
	return lt_fail(
	    err, LT_EINPUT, "this site runs Slurm: lowtide plan takes the arguments of sbatch");
}

int
lt_batch_check(bool has_history, struct lt_error *err)
{
	(void)has_history;
	(void)err;
	return LT_OK;
}

void
lt_batch_name_partitions(const struct lt_batch_named *named, uint32_t count)
{
	(void)named;
	(void)count;
}

void
lt_batch_know(const struct lt_market *market)
{
	(void)market;
}

/* Leaves places to slurmctld, which looks at them itself, and says so afterwards. */
void
lt_batch_places(
    struct lt_batch_places *places, const struct lt_batch_job *job, const struct lt_market *market)
{
	(void)job;
	(void)market;
	*places = (struct lt_batch_places){0};
}

/* Returns 0: all that runs is in slurmctld's list. */
double
lt_batch_taken(const char *partition)
{
	(void)partition;
	return 0;
}
