/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rows of slurmdbd into how much faster one GPU is than another, of a name.
 */
#include "lengths_world.h"

/* What job_submit is told of the median there; 0: nothing. */
static uint32_t
median_on(struct world *w, struct lt_history_key name, int gpu)
{
	struct lt_history_figures figures;
	struct lt_history_file *file = NULL;

	must(w->f, lt_history_open(&file, w->d->paths.history, &w->f->err));
	must(w->f, lt_history_find_one(
		       &figures, lt_history_gpu_key(name, w->gpus[gpu].name), file, &w->f->err));
	lt_history_close(file);
	return figures.runs == 0 ? 0 : figures.median;
}

static struct lt_history_key
key_of_training(void)
{
	const struct lt_run_kind kind = {ADA, "vision", "train_9", 1, 4, 2, 0, 3600, false};

	return lt_history_key(&kind, LT_HISTORY_NAME);
}

static void
each_gpu_has_its_own(void **state)
{
	struct world *const w = *state;
	const struct lt_history_key name = key_of_training();
	static const int64_t home_s[] = {1300, 1000, 1100, 1250};
	static const int64_t fast_s[] = {400, 520, 450};
	struct lt_speed speeds[LT_SPEEDS_MAX];
	uint32_t count;

	for (int i = 0; i < 4; i++)
		settle_one(w, &(struct said){.start_s = i * 10, .length_s = home_s[i], .gpus = 2});
	for (int i = 0; i < 2; i++)
		settle_one(w,
		    &(struct said){
			.partition = "fast", .start_s = 100 + i, .length_s = fast_s[i], .gpus = 2});
	/* No length, another shape, another user's. */
	settle_one(w, &(struct said){.partition = "fast",
			  .state = "TIMEOUT",
			  .start_s = 110,
			  .length_s = 3600,
			  .gpus = 2});
	settle_one(
	    w, &(struct said){.partition = "fast", .start_s = 120, .length_s = 10, .gpus = 1});
	settle_one(
	    w, &(struct said){
		   .partition = "fast", .start_s = 130, .length_s = 10, .uid = BOB, .gpus = 2});
	must(w->f, lt_lengths_publish(w->d->site.policy, w->d->ledger, &w->d->charges,
		       w->d->paths.history, NOW, &w->f->err));
	assert_int_equal(lt_ledger_speeds(w->f->ledger, &name, speeds, &w->f->err), 0);
	assert_int_equal(median_on(w, name, 0), 0);
	settle_one(w,
	    &(struct said){.partition = "fast", .start_s = 140, .length_s = fast_s[2], .gpus = 2});
	must(w->f, lt_lengths_publish(w->d->site.policy, w->d->ledger, &w->d->charges,
		       w->d->paths.history, NOW, &w->f->err));
	assert_int_equal(lt_ledger_speeds(w->f->ledger, &name, speeds, &w->f->err), 2);
	assert_string_equal(speeds[0].gpu, w->gpus[1].name);
	assert_int_equal(speeds[0].runs, 3);
	assert_int_equal(speeds[0].median_s, 450);
	assert_string_equal(speeds[1].gpu, w->gpus[0].name);
	assert_int_equal(speeds[1].runs, 4);
	assert_int_equal(speeds[1].median_s, 1175);
	assert_int_equal(median_on(w, name, 0), 1175);
	assert_int_equal(median_on(w, name, 1), 450);

	must(w->f, lt_ledger_forget(w->f->ledger, ADA, NOW, &count, &w->f->err));
	must(w->f, lt_lengths_publish(w->d->site.policy, w->d->ledger, &w->d->charges,
		       w->d->paths.history, NOW, &w->f->err));
	assert_int_equal(lt_ledger_speeds(w->f->ledger, &name, speeds, &w->f->err), 0);
}

static void
a_gpu_of_old_runs_goes(void **state)
{
	struct world *const w = *state;
	const struct lt_history_key name = key_of_training();
	struct lt_speed speeds[LT_SPEEDS_MAX];

	for (int i = 0; i < 6; i++)
		settle_one(w, &(struct said){.partition = i < 3 ? "fast" : NULL,
				  .start_s = i * 5000,
				  .length_s = 400,
				  .gpus = 2});
	must(w->f, lt_lengths_publish(w->d->site.policy, w->d->ledger, &w->d->charges,
		       w->d->paths.history, NOW, &w->f->err));
	assert_int_equal(lt_ledger_speeds(w->f->ledger, &name, speeds, &w->f->err), 2);
	must(w->f, lt_ledger_prune_lengths(w->f->ledger, NOVEMBER + 1000, &w->f->err));
	must(w->f, lt_lengths_publish(w->d->site.policy, w->d->ledger, &w->d->charges,
		       w->d->paths.history, NOW, &w->f->err));
	assert_int_equal(lt_ledger_speeds(w->f->ledger, &name, speeds, &w->f->err), 0);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
	    IN_WORLD(each_gpu_has_its_own),
	    IN_WORLD(a_gpu_of_old_runs_goes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
