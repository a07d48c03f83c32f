/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whatever the job, what its user is told is two lines at most, of 100 columns with what Slurm puts
 * before them, and no figure in them is cut.
 */
#include "plan_fixture.h"

#include "edits.h"
#include "refusal.h"
#include "text.h"

static struct lt_options options;
static struct lt_intent intent;

static uint64_t seed = 43;

static uint64_t
below(uint64_t most)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (seed >> 33) % most;
}

static bool
heads(void)
{
	return below(2) == 0;
}

/* Of all sizes that there are, and below 0. */
static int64_t
any_amount(void)
{
	int64_t amount = 1;

	for (uint64_t digits = below(19); digits > 0; digits--)
		amount = amount * 10 + (int64_t)below(10);
	return below(8) == 0 ? -amount : amount;
}

static void
any_name(char *out, size_t size)
{
	size_t length = 1 + below(heads() ? 12 : size - 1);

	for (size_t i = 0; i < length; i++)
		out[i] = (char)('a' + below(26));
	out[length] = '\0';
	/* Two bytes each, and one column. */
	for (size_t i = 0; i + 1 < length && below(4) == 0; i += 2)
		memcpy(out + i, "\u00fc", 2);
}

static void
any_estimate(struct lt_estimate *estimate)
{
	estimate->start_utc_s = NOW + (int64_t)below(20 * 24) * HOUR / 2;
	estimate->end_utc_s = estimate->start_utc_s + (int64_t)below(100) * HOUR;
	estimate->has_cost = below(8) > 0;
	estimate->has_carbon = below(8) > 0;
	estimate->cost_micros = any_amount();
	estimate->carbon_mg = any_amount();
	estimate->expected_interruptions = heads() ? (double)below(300) : 0;
	estimate->expected_lost_s = (double)below(1000000);
}

static void
any_job(void)
{
	static const char *const currencies[] = {"", "USD", "EUR", "JPY", "KWD", "CHF"};
	static const enum lt_mode modes[] = {LT_MODE_OBSERVE, LT_MODE_ADVISE, LT_MODE_ENFORCE};

	setup(NULL);
	any_name(partitions[ONDEMAND].name, LT_NAME_SIZE);
	any_name(partitions[SPOT].name, LT_NAME_SIZE);
	any_name(request.account, LT_ACCOUNT_SIZE);
	series.quality = (enum lt_quality)below(LT_QUALITY_COUNT);
	partitions[SPOT].price_series = 0;
	partitions[SPOT].flags |= LT_PARTITION_MANAGED;
	snprintf(market.currency, sizeof(market.currency), "%s", currencies[below(6)]);
	snprintf(market.zone.steps[0].abbreviation, sizeof(market.zone.steps[0].abbreviation), "%s",
	    heads() ? "+1245" : "CEST");
	market.mode = modes[below(3)];
	market.proof_required = heads();
	any_estimate(&plan.chosen);
	any_estimate(&plan.home);
	plan.elsewhere = plan.home;
	plan.elsewhere.partition = (int)below(PARTITIONS + 1) - 1;
	plan.moved = heads();
	plan.fits = below(4) > 0;
	plan.objective = heads() ? LT_OBJECTIVE_FAST : LT_OBJECTIVE_BALANCED;
	plan.line = (struct lt_line){
	    heads(), false, any_amount(), any_amount(), any_amount(), any_amount()};
	if (!plan.moved)
		plan.chosen = plan.home;
	else if (heads())
		plan.chosen.partition = ONDEMAND;
	for (int i = 0; i < PARTITIONS; i++)
		plan.candidates[i] =
		    (struct lt_candidate){.reject = (enum lt_reject)below(LT_REJECT_COUNT),
			.wanted = (double)any_amount(),
			.found = (double)any_amount()};
	plan.pins = heads() ? (uint32_t)below(LT_PIN_END) : 0;
	any_name(plan.pinned_by, LT_NAME_SIZE);
	plan.compared = (enum lt_compared)below(3);
	plan.holdout_ppm = (uint32_t)below(1000000);
	if (heads())
		plan.capped =
		    (struct lt_capped){"1200", "highm1", NOW + HOUR, (uint32_t)below(900000),
			any_amount() / 1000, (uint32_t)below(900), (uint32_t)below(900)};
	request.array_tasks = heads() ? 1 : (uint32_t)below(100000);
	request.max_cost_micros = heads() ? LT_UNSET_64 : any_amount();
	request.limit_s = (int64_t)below(1000000);
	request.expected_run_s = heads() ? LT_UNSET_64 : (int64_t)below(1000000);
	request.deadline_utc_s = heads() ? LT_UNSET_64 : NOW + (int64_t)below(1000000);
	request.script_hash = below(2);
	request.left = (struct lt_amount){heads(), heads(), any_amount(), any_amount()};
	lt_options_init(&options);
	options.carbon_aware_set = heads();
	intent = (struct lt_intent){.market = &market,
	    .request = &request,
	    .options = &options,
	    .plan = &plan,
	    .asked = below(4) > 0,
	    .now_utc_s = NOW};
}

/* Every word with a digit in it is one of all that there is to say: none was cut. Names here have
 * no digits. */
static void
check_figures(const char *line, const char *all)
{
	char copy[4096], spaced[8192];

	snprintf(copy, sizeof(copy), "%s", line);
	snprintf(spaced, sizeof(spaced), " %s ", all);
	for (char *c = spaced; *c != '\0'; c++)
		if (strchr(";\n", *c) != NULL ||
		    (strchr(",.:", *c) != NULL && strchr(" \n", c[1]) != NULL))
			*c = ' ';
	for (char *word = strtok(copy, " "); word != NULL; word = strtok(NULL, " ")) {
		char wanted[128];

		word[strcspn(word, ";\n")] = '\0';
		while (word[0] != '\0' && strchr(",.:", word[strlen(word) - 1]) != NULL)
			word[strlen(word) - 1] = '\0';
		if (strpbrk(word, "0123456789") == NULL)
			continue;
		snprintf(wanted, sizeof(wanted), " %s ", word);
		if (strstr(spaced, wanted) == NULL)
			fail_msg("%s is not in\n%s", word, all);
	}
}

static void
test_any_job(void **state)
{
	enum { JOBS = 20000 };
	static char all[LT_BRIEF_TEXT_SIZE * 2];
	unsigned told = 0, two = 0;

	(void)state;
	for (int i = 0; i < JOBS; i++) {
		struct lt_verdict verdict = {.code = LT_OVER,
		    .label = "2026-11",
		    .is_user_cap = heads(),
		    .is_carbon = heads(),
		    .asked = any_amount(),
		    .available = any_amount(),
		    .limit = any_amount()};
		struct lt_edits edits;
		struct lt_brief line;

		any_job();
		any_name(verdict.team, LT_ACCOUNT_SIZE);
		lt_edits_of_plan(&edits, &intent);
		if (edits.refuses)
			continue;
		if (below(4) == 0)
			lt_over_note(&edits.notes,
			    "held until the budget is raised or --time lowered", &verdict,
			    market.currency);
		char said[LT_EDITS_WORDS_SIZE];

		lt_edits_words(said, sizeof(said), &edits, &intent);

		const struct lt_told plain = {&plan, &request, &market, NOW, true};
		lt_plan_line(&line, &plain);
		lt_brief_text(all, sizeof(all) / 2, &line, LT_BRIEF_ALL);
		const size_t length = strlen(all);
		all[length] = '\n';
		lt_brief_text(all + length + 1, sizeof(all) / 2, &edits.notes, LT_BRIEF_ALL);
		int lines = 0;
		for (const char *at = said; *at != '\0'; lines++) {
			char one[LT_EDITS_WORDS_SIZE];

			snprintf(one, sizeof(one), "%.*s", (int)strcspn(at, "\n"), at);
			at += strlen(one);
			at += *at != '\0';
			if (lt_text_width(one) + lt_text_width("sbatch: lowtide: ") >
				LT_TERMINAL_COLUMNS ||
			    one[0] == '\0')
				fail_msg("%d: %d columns: %s", i, lt_text_width(one), one);
			check_figures(one, all);
		}
		assert_true(lines <= 2);
		told += lines > 0;
		two += lines == 2;
	}
	/* They are not all silent. */
	assert_true(told > JOBS / 2);
	assert_true(two > JOBS / 4);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_any_job),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
