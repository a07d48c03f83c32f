/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rows of slurmdbd into what is expected of the next job: which of them are a length, what a
 * requeue makes of one, whose they are, and how they go.
 */
#include "lengths_world.h"

static struct lt_run_kind
kind_of(uint32_t uid, const char *name)
{
	return (struct lt_run_kind){uid, "vision", name, 1, 4, 0, 0, 3600, false};
}

/* As job_submit would see it, by the file, and as lowtided does. */
static struct lt_expected
expect(struct world *w, const struct lt_run_kind *kind, int64_t limit_s)
{
	struct lt_history_figures figures[LT_HISTORY_GROUPS];
	struct lt_history_key keys[LT_HISTORY_GROUPS];
	struct lt_history_file *file = NULL;

	must(w->f, lt_lengths_publish(w->d->site.policy, w->d->ledger, &w->d->charges,
		       w->d->paths.history, NOW, &w->f->err));
	lt_history_keys(keys, kind);
	must(w->f, lt_history_open(&file, w->d->paths.history, &w->f->err));
	must(w->f, lt_history_find(figures, keys, file, &w->f->err));
	lt_history_close(file);

	const struct lt_expected told = lt_history_expect(figures, limit_s);
	for (int i = 0; i < LT_HISTORY_GROUPS; i++)
		must(w->f, lt_ledger_figures(w->f->ledger, &keys[i], &figures[i], &w->f->err));
	const struct lt_expected seen = lt_history_expect(figures, limit_s);
	assert_int_equal(seen.from, told.from);
	assert_int_equal(seen.runs, told.runs);
	assert_int_equal(seen.expected_s, told.expected_s);
	assert_int_equal(seen.upper_s, told.upper_s);
	return seen;
}

static void
some_ends_are_lengths(void **state)
{
	struct world *const w = *state;
	const struct lt_run_kind train = kind_of(ADA, "train_77");
	static const char *const nothing[] = {
	    "FAILED", "CANCELLED", "NODE_FAIL", "PREEMPTED", "OUT_OF_MEMORY", "REQUEUED"};

	assert_int_equal(expect(w, &train, 3600).from, LT_HISTORY_NONE);
	for (size_t i = 0; i < sizeof(nothing) / sizeof(*nothing); i++)
		settle_one(w,
		    &(struct said){.state = nothing[i], .start_s = (int64_t)i * 10, .length_s = 5});
	assert_int_equal(expect(w, &train, 3600).from, LT_HISTORY_NONE);
	settle_one(w, &(struct said){.start_s = 100, .length_s = 600});
	settle_one(w, &(struct said){.name = "train_2", .start_s = 200, .length_s = 900});
	assert_int_equal(expect(w, &train, 3600).from, LT_HISTORY_NONE);
	settle_one(
	    w, &(struct said){
		   .name = "train_0413", .start_s = 300, .length_s = 720, .suspended_s = 20});
	struct lt_expected got = expect(w, &train, 3600);
	assert_int_equal(got.from, LT_HISTORY_NAME);
	assert_int_equal(got.runs, 3);
	assert_int_equal(got.expected_s, 700);
	assert_int_equal(got.upper_s, 3600);
	assert_int_equal(got.low_s, 600);
	assert_int_equal(got.high_s, 900);
	/* At least their limit, two of five: the middle one is 900. */
	for (int i = 0; i < 2; i++)
		settle_one(
		    w, &(struct said){.state = "TIMEOUT", .start_s = 400 + i, .length_s = 3600});
	got = expect(w, &train, 3600);
	assert_int_equal(got.runs, 5);
	assert_int_equal(got.expected_s, 900);
	/* Half of them and more: nothing below the limit is known. */
	settle_one(w, &(struct said){.state = "TIMEOUT", .start_s = 410, .length_s = 3600});
	settle_one(w, &(struct said){.state = "TIMEOUT", .start_s = 411, .length_s = 3600});
	assert_int_equal(expect(w, &train, 3600).expected_s, 3600);
}

static void
others_have_their_own(void **state)
{
	struct world *const w = *state;
	const struct lt_run_kind of_bob = kind_of(BOB, "train_1");
	const struct lt_run_kind eval = kind_of(ADA, "eval");
	const struct lt_run_kind elsewhere = {BOB, "speech", "train_1", 1, 4, 0, 0, 3600, false};

	/* One name counts once, whatever it says. */
	for (int i = 0; i < 30; i++)
		settle_one(w, &(struct said){.start_s = 100 * i, .length_s = 360});
	assert_int_equal(expect(w, &eval, 3600).from, LT_HISTORY_NONE);
	settle_one(w, &(struct said){.name = "a", .start_s = 10, .length_s = 720});
	settle_one(w, &(struct said){.name = "b", .start_s = 20, .length_s = 1800});
	struct lt_expected got = expect(w, &eval, 2700);
	assert_int_equal(got.from, LT_HISTORY_USER);
	assert_int_equal(got.runs, 3);
	assert_int_equal(got.expected_s, 540);
	assert_int_equal(got.upper_s, 2700);
	got = expect(w, &of_bob, 3600);
	assert_int_equal(got.from, LT_HISTORY_ACCOUNT);
	assert_int_equal(got.expected_s, 720);
	assert_int_equal(expect(w, &elsewhere, 3600).from, LT_HISTORY_NONE);
}

/* A job's quote as text, with or without checkpoints. */
static const char *
quote_text(struct world *w, uint32_t job_id, uint32_t flags, const char *run)
{
	static char text[LT_QUOTE_TEXT_SIZE];
	struct lt_ledger_hold hold = make_hold(job_id, 1);

	hold.uid = ADA;
	hold.job_id = job_id;
	hold.quote.flags = flags;
	(void)strcpy(hold.quote.account, "vision");
	(void)strcpy(hold.quote.home, "home");
	(void)strcpy(hold.quote.partition, "fast");
	(void)snprintf(hold.quote.run, sizeof(hold.quote.run), "%s", run);
	must(w->f, lt_ledger_put_hold(w->f->ledger, &hold, &w->f->err));
	assert_int_equal(lt_quote_pack(text, sizeof(text), &hold.quote), LT_OK);
	return text;
}

/* Three times the same story, so that its length is the median. */
static int64_t
length_of_story(struct world *w, const char *name, uint32_t flags, const char *const states[3])
{
	static uint32_t job_id = 100;
	static const int64_t lengths_s[] = {1000, 300, 70};
	const struct lt_run_kind kind = kind_of(ADA, name);

	for (int i = 0; i < 3; i++) {
		const char *const text = quote_text(w, ++job_id, flags, "");

		for (int part = 0; part < 3; part++)
			settle_one(w, &(struct said){.name = name,
					  .job_id = job_id,
					  .state = states[part],
					  .start_s = (int64_t)job_id * 2000 + part * 1100,
					  .length_s = lengths_s[part],
					  .quote = text});
	}
	const struct lt_expected got = expect(w, &kind, 3600);
	return got.from == LT_HISTORY_NAME ? got.expected_s : -(int64_t)got.runs;
}

static void
a_requeued_job_is_one_run(void **state)
{
	struct world *const w = *state;
	static const struct {
		const char *why, *name;
		uint32_t flags;
		const char *states[3];
		int64_t length_s;
	} cases[] = {
	    {"with checkpoints it went on", "a", LT_QUOTE_CHECKPOINT,
		{"REQUEUED", "PREEMPTED", "COMPLETED"}, 1370},
	    {"without, it began again", "b", 0, {"REQUEUED", "NODE_FAIL", "COMPLETED"}, 70},
	    {"what was resized went on", "c", 0, {"REQUEUED", "RESIZING", "COMPLETED"}, 370},
	    {"a job that ended was another one", "d", LT_QUOTE_CHECKPOINT,
		{"FAILED", "REQUEUED", "COMPLETED"}, 370},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		print_message("%s\n", cases[i].why);
		assert_int_equal(length_of_story(w, cases[i].name, cases[i].flags, cases[i].states),
		    cases[i].length_s);
	}
}

static void
of_the_kind_that_its_quote_says(void **state)
{
	struct world *const w = *state;
	/* It asked for two nodes, and ran at half of home's speed. */
	const struct lt_run_kind asked = {ADA, "vision", "big", 2, 8, 1, 0, 3600, false};
	const struct lt_quote_run said = {.kind = lt_history_hash(&asked),
	    .expected = {.from = LT_HISTORY_NONE},
	    .limit_s = 3600,
	    .ratio_ppm = 2000000};
	char run[LT_RUN_TEXT_SIZE];

	assert_int_equal(lt_quote_run_pack(run, sizeof(run), &said), LT_OK);
	for (uint32_t i = 0; i < 3; i++)
		settle_one(w, &(struct said){.name = "big",
				  .job_id = 900 + i,
				  .partition = i == 2 ? "home" : "fast",
				  .start_s = i * 4000,
				  .length_s = i == 2 ? 505 : 1000,
				  .quote = quote_text(w, 900 + i, 0, run)});
	const struct lt_expected got = expect(w, &asked, 3600);
	assert_int_equal(got.from, LT_HISTORY_NAME);
	assert_int_equal(got.expected_s, 500);
}

/* Tests of a minute of a name before its long runs: neither says anything of the other, in either
 * order, and nor do short and interactive runs. */
static void
short_limits_say_nothing_of_long_ones(void **state)
{
	enum { LONG_S = 8 * 3600 };
	struct world *const w = *state;
	struct lt_run_kind train = kind_of(ADA, "train_1");

	for (int i = 0; i < 30; i++) {
		settle_one(w, &(struct said){.start_s = 200 * i, .length_s = 70, .limit_s = 600});
		settle_one(w, &(struct said){.start_s = 200 * i, .length_s = 6, .limit_s = LONG_S});
		settle_one(w, &(struct said){.start_s = 200 * i,
				  .length_s = 90,
				  .limit_s = LONG_S,
				  .is_interactive = true});
		settle_one(
		    w, &(struct said){
			   .name = "wrap", .start_s = 200 * i, .length_s = 90, .limit_s = LONG_S});
	}
	train.limit_s = LONG_S;
	assert_int_equal(expect(w, &train, LONG_S).from, LT_HISTORY_NONE);
	train.limit_s = 600;
	assert_int_equal(expect(w, &train, 600).expected_s, 70);
	assert_int_equal(expect(w, &train, 600).upper_s, 70);
	for (int i = 0; i < 3; i++)
		settle_one(
		    w, &(struct said){
			   .start_s = 30000 * (i + 1), .length_s = 25000, .limit_s = LONG_S});
	train.limit_s = LONG_S - 3600;
	struct lt_expected got = expect(w, &train, LONG_S - 3600);
	assert_int_equal(got.from, LT_HISTORY_NAME);
	assert_int_equal(got.runs, 3);
	assert_int_equal(got.expected_s, 25000);
	/* Of three nothing is sure. */
	assert_int_equal(got.upper_s, LONG_S - 3600);
	train.is_interactive = true;
	assert_int_equal(expect(w, &train, LONG_S).expected_s, 90);
	/* A size more, and it is another kind again. */
	train.is_interactive = false;
	train.limit_s = 2 * LONG_S + 60;
	assert_int_equal(expect(w, &train, 2 * LONG_S + 60).from, LT_HISTORY_NONE);
	struct lt_run_kind wrapped = kind_of(ADA, "wrap");
	wrapped.limit_s = LONG_S;
	assert_int_not_equal(expect(w, &wrapped, LONG_S).from, LT_HISTORY_NAME);
}

static void
once_each_and_the_newest(void **state)
{
	struct world *const w = *state;
	const struct lt_run_kind train = kind_of(ADA, "train_1");

	for (uint32_t i = 0; i < 70; i++)
		for (int again = 0; again < 2; again++)
			settle_one(w, &(struct said){.job_id = 100 + i,
					  .start_s = i * 1000,
					  .length_s = i < 37 ? 100 : 200});
	struct lt_expected got = expect(w, &train, 3600);
	assert_int_equal(got.runs, 64);
	/* 31 of 100 s are left. */
	assert_int_equal(got.expected_s, 200);
	/* A row that came right later. */
	for (uint32_t i = 37; i < 70; i++)
		settle_one(
		    w, &(struct said){.job_id = 100 + i, .start_s = i * 1000, .length_s = 80});
	got = expect(w, &train, 3600);
	assert_int_equal(got.runs, 64);
	assert_int_equal(got.expected_s, 80);
	assert_int_equal(got.upper_s, 100);
	/* Another confidence, other upper quantiles: 33 of 64 are 80 s. */
	w->policy.deadline_confidence_ppm = 500000;
	assert_int_equal(expect(w, &train, 3600).upper_s, 80);
	/* One that came right, and says nothing now. */
	settle_one(w, &(struct said){.job_id = 169, .start_s = 69 * 1000, .length_s = 50});
	assert_int_equal(expect(w, &train, 3600).runs, 63);
}

/* Of a transaction's runs only what stays is written: as if each came alone. */
static void
many_at_once(void **state)
{
	enum { MANY = 200 };
	static const int64_t late_s = 1000 * 1000;
	struct world *const w = *state;
	const struct lt_run_kind train = kind_of(ADA, "train_1");
	const struct lt_run_kind eval = kind_of(ADA, "eval");
	struct lt_batch_run rows[MANY];

	for (uint32_t i = 0; i < MANY; i++)
		rows[i] = make_row(&(struct said){.job_id = 100 + i,
		    .name = i % 2 ? "train_1" : "eval",
		    .start_s = i * 1000,
		    .length_s = i % 2	  ? 300
				: i < 134 ? 100
					  : 200});
	settle_all(w, rows, MANY);
	struct lt_expected got = expect(w, &train, 3600);
	assert_int_equal(got.runs, 64);
	assert_int_equal(got.expected_s, 300);
	got = expect(w, &eval, 3600);
	assert_int_equal(got.runs, 64);
	/* 31 of 100 s are left. */
	assert_int_equal(got.expected_s, 200);
	/* One of those that are known came right, and ended before: it is known no more, though it
	 * is not among the newest now. */
	settle_one(
	    w, &(struct said){.name = "late", .job_id = 1000, .start_s = late_s, .length_s = 900});
	const struct lt_run_kind late = kind_of(ADA, "late");
	assert_int_equal(expect(w, &late, 3600).runs, 3);
	for (uint32_t i = 0; i < 100; i++)
		rows[i] = make_row(&(struct said){.name = "late",
		    .job_id = 1000 + i,
		    .start_s = i == 0 ? late_s - 1000 : late_s,
		    .length_s = 60 + i});
	rows[0].submit_utc_s = NOVEMBER + late_s;
	settle_all(w, rows, 100);
	got = expect(w, &late, 3600);
	assert_int_equal(got.from, LT_HISTORY_NAME);
	assert_int_equal(got.runs, 64);
	/* Of 96 to 159 s, each once. */
	assert_in_range(got.expected_s, 127, 128);
	assert_in_range(got.upper_s, 150, 159);
}

static uint32_t
kinds_of(struct world *w, uint32_t uid, const char *name)
{
	struct lt_kind *kinds;
	uint32_t count;

	must(w->f, lt_lengths_publish(w->d->site.policy, w->d->ledger, &w->d->charges,
		       w->d->paths.history, NOW, &w->f->err));
	must(w->f, lt_ledger_kinds_of(w->f->ledger, &(struct lt_kinds_asked){uid, 10, name}, &kinds,
		       &count, &w->f->err));
	free(kinds);
	return count;
}

static void
forgotten_for_good(void **state)
{
	struct world *const w = *state;
	const struct lt_run_kind of_ada = kind_of(ADA, "train_1");
	const struct lt_run_kind of_bob = kind_of(BOB, "train_1");
	const struct lt_run_kind of_none = kind_of(1002, "train_1");
	static const char *const names[] = {"train_1", "a", "b"};
	uint32_t count = 0;

	for (uint32_t i = 0; i < 3; i++) {
		settle_one(w,
		    &(struct said){
			.job_id = 100 + i, .name = names[i], .start_s = i * 100, .length_s = 360});
		settle_one(w, &(struct said){.job_id = 200 + i,
				  .uid = BOB,
				  .name = names[i],
				  .start_s = i * 100,
				  .length_s = 720});
	}
	assert_int_equal(kinds_of(w, ADA, ""), 3);
	assert_int_equal(kinds_of(w, ADA, "train_#"), 1);
	assert_int_equal(kinds_of(w, ADA, "eval"), 0);
	assert_int_equal(expect(w, &of_none, 1000).expected_s, 150);
	must(w->f, lt_ledger_forget(w->f->ledger, ADA, NOW, &count, &w->f->err));
	w->d->charges.history_written = false;
	assert_int_equal(count, 3);
	assert_int_equal(kinds_of(w, ADA, ""), 0);
	assert_int_equal(kinds_of(w, BOB, ""), 3);
	/* The account's are Bob's alone now. */
	assert_int_equal(expect(w, &of_none, 1000).expected_s, 200);
	assert_int_equal(expect(w, &of_ada, 1000).from, LT_HISTORY_ACCOUNT);
	assert_int_equal(expect(w, &of_bob, 1000).from, LT_HISTORY_USER);
	/* slurmdbd's rows are still there: a rebuild reads them again. */
	for (uint32_t i = 0; i < 3; i++)
		settle_one(
		    w, &(struct said){.job_id = 100 + i, .start_s = i * 100, .length_s = 360});
	assert_int_equal(kinds_of(w, ADA, ""), 0);
	/* What ends later is learned anew. */
	settle_one(w, &(struct said){.start_s = NOW - NOVEMBER, .length_s = 90});
	assert_int_equal(kinds_of(w, ADA, ""), 1);
}

static void
old_ones_go(void **state)
{
	struct world *const w = *state;
	const struct lt_run_kind train = kind_of(ADA, "train_1");
	const struct lt_run_kind eval = kind_of(ADA, "eval");

	for (uint32_t i = 0; i < 4; i++) {
		settle_one(w, &(struct said){.start_s = i * LT_DAY_S, .length_s = 360});
		settle_one(w, &(struct said){.name = "eval", .start_s = 30 + i, .length_s = 100});
	}
	assert_int_equal(expect(w, &train, 3600).runs, 4);
	assert_int_equal(expect(w, &eval, 3600).runs, 4);
	must(w->f, lt_ledger_prune_lengths(w->f->ledger, NOVEMBER + LT_DAY_S, &w->f->err));
	struct lt_expected got = expect(w, &train, 3600);
	assert_int_equal(got.from, LT_HISTORY_NAME);
	assert_int_equal(got.runs, 3);
	assert_int_equal(expect(w, &eval, 3600).from, LT_HISTORY_NONE);

	assert_int_equal(lt_lengths_since(&w->policy, NOW), NOW - 400 * LT_DAY_S);
	w->policy.history_days = 0;
	assert_true(lt_lengths_since(&w->policy, NOW) == INT64_MAX);
	must(w->f, lt_ledger_prune_lengths(w->f->ledger, INT64_MAX, &w->f->err));
	settle_one(w, &(struct said){.start_s = 50000, .length_s = 360});
	assert_int_equal(expect(w, &train, 3600).from, LT_HISTORY_NONE);
	assert_int_equal(kinds_of(w, ADA, ""), 0);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
	    IN_WORLD(some_ends_are_lengths),
	    IN_WORLD(others_have_their_own),
	    IN_WORLD(a_requeued_job_is_one_run),
	    IN_WORLD(of_the_kind_that_its_quote_says),
	    IN_WORLD(short_limits_say_nothing_of_long_ones),
	    IN_WORLD(once_each_and_the_newest),
	    IN_WORLD(many_at_once),
	    IN_WORLD(forgotten_for_good),
	    IN_WORLD(old_ones_go),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
