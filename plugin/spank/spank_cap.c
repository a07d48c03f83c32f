/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sets the power cap of a run that its plan slows, on the batch script's node:
 * the variables by which srun, started by the script, asks Slurm for a frequency. The plan is the
 * quote of the job's own record, read once for each run, since it may have been decided anew while
 * the job waited; or the client's word, if the client decided. A value of the user is never
 * replaced. Without a quote nothing is set. docs/model.md, (9c).
 */
#include "spank_parts.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "units.h"

void
lt_spank_tell_cap(const struct lt_capped *capped, int64_t start_utc_s)
{
	char cap[LT_RUN_TEXT_SIZE], text[LT_RUN_TEXT_SIZE + 24];

	if (!lt_is_capped(capped) || lt_capped_pack(cap, sizeof(cap), capped) != LT_OK)
		return;
	snprintf(text, sizeof(text), "%lld,%s", (long long)start_utc_s, cap);
	setenv(LT_SPANK_CAP, text, 1);
}

struct slurm { /* of the step daemon's own libslurm */
	__typeof__(slurm_load_job) *load;
	__typeof__(slurm_free_job_info_msg) *release;
};

static bool
find_slurm(struct slurm *slurm)
{
	/* POSIX lets a function's address come as a pointer to data. */
	*(void **)&slurm->load = dlsym(RTLD_DEFAULT, "slurm_load_job");
	*(void **)&slurm->release = dlsym(RTLD_DEFAULT, "slurm_free_job_info_msg");
	return slurm->load != NULL && slurm->release != NULL;
}

/* Reads the cap from the quote. False: it has none, or its mode allows no changes. */
static bool
cap_of_quote(struct lt_capped *capped, const char *text)
{
	struct lt_quote quote;
	struct lt_quote_run run;

	if (text == NULL || lt_quote_unpack(&quote, text, strlen(text), NULL) != LT_OK ||
	    !lt_mode_may(quote.mode, LT_MAY_EDIT) ||
	    lt_quote_run_unpack(&run, quote.run, strlen(quote.run), NULL) != LT_OK)
		return false;
	*capped = run.capped;
	return true;
}

/* One question to slurmctld, on one node a run: what `scontrol show job` of the script would
 * ask. */
static bool
ask_slurmctld(struct lt_capped *capped, spank_t spank)
{
	job_info_msg_t *reply = NULL;
	struct slurm slurm;
	uint32_t job_id;
	bool found = false;

	if (spank_get_item(spank, S_JOB_ID, &job_id) != ESPANK_SUCCESS || !find_slurm(&slurm) ||
	    slurm.load(&reply, lt_slurm_job(job_id), SHOW_ALL) != 0 || reply == NULL)
		return false;
	for (uint32_t i = 0; i < reply->record_count && !found; i++)
		if (lt_job_desc_id(&reply->job_array[i]) == job_id)
			found = cap_of_quote(capped, reply->job_array[i].admin_comment);
	slurm.release(reply);
	return found;
}

/* "<start>,<cap>": an earlier start than planned is another plan's. */
static bool
client_said(struct lt_capped *capped, spank_t spank, int64_t now_utc_s)
{
	char text[256], *cap = text;
	int64_t start_utc_s;

	return spank_getenv(spank, LT_SPANK_CAP, text, sizeof(text)) == ESPANK_SUCCESS &&
	       lt_int64_parse(strsep(&cap, ","), 0, now_utc_s, &start_utc_s, NULL) == LT_OK &&
	       cap != NULL && lt_capped_unpack(capped, cap);
}

static bool
is_set(spank_t spank, const char *name)
{
	char theirs[64];

	return spank_getenv(spank, name, theirs, sizeof(theirs)) != ESPANK_ENV_NOEXIST;
}

void
lt_spank_cap(spank_t spank)
{
	const int64_t now_utc_s = (int64_t)time(NULL);
	struct lt_capped capped = {0};
	uint32_t step;

	/* A user who set one of them decided for both. */
	if (spank_get_item(spank, S_JOB_STEPID, &step) != ESPANK_SUCCESS ||
	    step != SLURM_BATCH_SCRIPT || is_set(spank, LT_SPANK_GPU_FREQ) ||
	    is_set(spank, LT_SPANK_CPU_FREQ) ||
	    !(client_said(&capped, spank, now_utc_s) ||
		(lt_spank.power_cap && ask_slurmctld(&capped, spank))) ||
	    !lt_is_capped(&capped) || now_utc_s >= capped.until_utc_s)
		return;
	if (capped.gpu_freq[0] != '\0')
		spank_setenv(spank, LT_SPANK_GPU_FREQ, capped.gpu_freq, 0);
	if (capped.cpu_freq[0] != '\0')
		spank_setenv(spank, LT_SPANK_CPU_FREQ, capped.cpu_freq, 0);
	spank_setenv(spank, LT_SPANK_CAPPED, "1", 0);
}
