/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The line of a plan, to the letter, and how short it can be.
 */
#include "plan_fixture.h"

/* One change of the plan above, and the lines that follow. */
enum change {
	NONE,
	IN_PLACE,
	SAME_DAY,
	NO_MONEY,
	NO_FIGURES,
	REPLAYED,
	TYPICAL,
	CANT_HOME,
	STAYS,
	PINNED,
	STALE,
	ALL_STALE,
	CANT_ANYWHERE,
	NO_LIMIT,
	OFF,
	NO_HOME,
	INTERRUPTED,
	HARDLY_INTERRUPTED,
	STAYS_INTERRUPTED,
	LEFT,
	LEFT_BOTH,
	LEFT_NOTHING,
	ELSEWHERE,
	ELSEWHERE_NOW,
	DEARER,
	EMITS,
	FAST,
	FOR_ROOM,
	TOO_LATE,
	IN_LINE,
	LONG,
	ARRAY,
	KEPT,
};

static void
cant_home(void)
{
	plan.fits = false;
	plan.candidates[ONDEMAND].reject = LT_REJECT_GPU_MEMORY;
}

static void
has_left(bool has_money, int64_t micros, bool has_carbon, int64_t mg)
{
	snprintf(request.account, sizeof(request.account), "vision");
	request.left = (struct lt_amount){has_money, has_carbon, micros, mg};
}

static void
apply(enum change change)
{
	switch (change) {
	case NONE:
		break;
	case IN_PLACE:
		plan.chosen.start_utc_s = NOW + 60;
		break;
	case SAME_DAY:
		plan.chosen.start_utc_s = NOW + 2 * HOUR;
		plan.chosen.end_utc_s = NOW + 3 * HOUR;
		break;
	case NO_MONEY:
		market.currency[0] = '\0';
		break;
	case NO_FIGURES:
		plan.chosen.has_cost = plan.chosen.has_carbon = false;
		break;
	case REPLAYED:
		series.quality = LT_QUALITY_REPLAY;
		break;
	case TYPICAL:
		series.quality = LT_QUALITY_CLIMATOLOGY;
		break;
	case CANT_HOME:
		cant_home();
		break;
	case STAYS:
		stay();
		break;
	case PINNED:
		stay();
		plan.pins = LT_PIN_BEGIN | LT_PIN_DEPENDENCY | LT_PIN_INTERACTIVE;
		break;
	case STALE:
		stay();
		plan.candidates[ONDEMAND].reject = LT_REJECT_STALE;
		break;
	case ALL_STALE:
		stay();
		plan.candidates[ONDEMAND].reject = LT_REJECT_STALE;
		plan.candidates[SPOT].reject = LT_REJECT_UNMANAGED;
		break;
	case NO_LIMIT:
		stay();
		plan.fits = false;
		plan.candidates[ONDEMAND].reject = LT_REJECT_NO_LIMIT;
		break;
	case CANT_ANYWHERE:
		stay();
		plan.fits = false;
		plan.candidates[ONDEMAND].reject = LT_REJECT_CPUS;
		break;
	case OFF:
		plan.objective = LT_OBJECTIVE_OFF;
		break;
	case NO_HOME:
		plan.home.partition = -1;
		break;
	case INTERRUPTED:
		plan.chosen.expected_interruptions = 1.2;
		plan.chosen.expected_lost_s = 3000;
		break;
	case HARDLY_INTERRUPTED:
		plan.chosen.expected_interruptions = 0.0499;
		plan.chosen.expected_lost_s = 3000;
		break;
	case STAYS_INTERRUPTED:
		plan.home.expected_interruptions = 0.0501;
		plan.home.expected_lost_s = 60;
		stay();
		break;
	case LEFT:
		has_left(true, 958800000, false, 0);
		break;
	case LEFT_BOTH:
		has_left(true, 881600000, true, 35200000);
		stay();
		break;
	case LEFT_NOTHING:
		has_left(true, -1200000, false, 0);
		break;
	case ELSEWHERE:
		cant_home();
		plan.elsewhere = plan.home;
		plan.elsewhere.partition = SPOT;
		plan.elsewhere.cost_micros = 50000000;
		break;
	case ELSEWHERE_NOW:
		cant_home();
		plan.elsewhere = plan.chosen;
		break;
	case DEARER:
		plan.chosen.cost_micros = 118500000;
		break;
	case EMITS:
		plan.chosen.carbon_mg = 9100000;
		break;
	case FAST:
		plan.objective = LT_OBJECTIVE_FAST;
		plan.chosen = plan.home;
		plan.chosen.partition = SPOT;
		plan.chosen.end_utc_s -= HOUR;
		plan.chosen.cost_micros += 1000000;
		break;
	case FOR_ROOM:
		plan.home.start_utc_s = plan.chosen.start_utc_s;
		plan.chosen.partition = ONDEMAND;
		break;
	case TOO_LATE:
		plan.chosen.partition = ONDEMAND;
		plan.chosen.too_late = true;
		break;
	case IN_LINE:
		stay();
		plan.home.start_utc_s = NOW + 14 * HOUR;
		plan.line = (struct lt_line){true, true, 3000000, 3000000, 1500000, 5300000};
		break;
	case LONG:
		memset(partitions[SPOT].name, 'p', LT_NAME_SIZE - 1);
		break;
	case ARRAY:
		request.array_tasks = 4;
		break;
	case KEPT:
		stay();
		plan.compared = LT_COMPARED_KEPT;
		plan.holdout_ppm = 100000;
		break;
	}
}

#define SOONER ". Sooner: lowtide now <job>"
#define PLANNED "spot, from Sat 02:00 GMT, done by 09:40: "
#define COSTS PLANNED "$41.20, 3.1 kg CO2e"
#define SAVES "; saves $77.20, 4.8 kg"
#define HERE "ondemand, now, done by Fri 19:00 GMT: $118.40, 7.9 kg CO2e"
#define SHORT "spot, from Sat 02:00 GMT: "
#define SHORT_COSTS SHORT "$41.20, 3.1 kg CO2e"

static const struct {
	const char *why;
	enum change change;
	const char *full, *line; /* NULL = the same */
} cases[] = {
    {"elsewhere and later", NONE, COSTS SAVES SOONER, COSTS SAVES},
    {"within a minute is now", IN_PLACE,
	"spot, now, done by Sat 09:40 GMT: $41.20, 3.1 kg CO2e" SAVES, NULL},
    {"the day once", SAME_DAY,
	"spot, from Fri 14:00 GMT, done by 15:00: $41.20, 3.1 kg "
	"CO2e" SAVES SOONER,
	"spot, from Fri 14:00 GMT, done by 15:00: $41.20, 3.1 kg CO2e" SAVES},
    {"no currency, no money", NO_MONEY, PLANNED "3.1 kg CO2e; saves 4.8 kg" SOONER,
	PLANNED "3.1 kg CO2e; saves 4.8 kg"},
    {"missing is not zero", NO_FIGURES, PLANNED "no price and no carbon intensity known" SOONER,
	PLANNED "no price and no carbon intensity known"},
    {"replayed signals say so", REPLAYED, COSTS " (replayed)" SAVES SOONER,
	SHORT_COSTS " (replayed)" SAVES},
    {"so do typical values", TYPICAL, COSTS " (typical)" SAVES SOONER,
	SHORT_COSTS " (typical)" SAVES},
    {"home can't run it, nothing is known of others", CANT_HOME, COSTS SOONER, COSTS},
    {"home can't run it: against the best start elsewhere", ELSEWHERE,
	COSTS "; saves $8.80, 4.8 kg" SOONER, COSTS "; saves $8.80, 4.8 kg"},
    {"which it is itself", ELSEWHERE_NOW, COSTS SOONER, COSTS},
    {"cleaner and dearer", DEARER,
	PLANNED "$118.50, 3.1 kg CO2e; saves 4.8 kg, costs $0.10 more" SOONER,
	SHORT "$118.50, 3.1 kg CO2e; saves 4.8 kg, costs $0.10 more"},
    {"cheaper and dirtier", EMITS,
	PLANNED "$41.20, 9.1 kg CO2e; saves $77.20, emits 1.2 kg more" SOONER,
	SHORT "$41.20, 9.1 kg CO2e; saves $77.20, emits 1.2 kg more"},
    {"faster and dearer", FAST,
	"spot, now, done by Fri 18:00 GMT: $119.40, 7.9 kg CO2e; saves 1h, "
	"costs $1.00 more",
	NULL},
    {"later where home has no room", FOR_ROOM,
	"ondemand, from Sat 02:00 GMT, done by 09:40: $41.20, 3.1 kg CO2e. "
	"There is no room before" SOONER,
	"ondemand, from Sat 02:00 GMT: $41.20, 3.1 kg CO2e. There is no room "
	"before"},
    {"nor by then", TOO_LATE,
	"ondemand, from Sat 02:00 GMT, done by 09:40: $41.20, 3.1 kg CO2e. "
	"There may be no room by then" SOONER,
	"ondemand, from Sat 02:00 GMT: $41.20, 3.1 kg CO2e. There may be no "
	"room by then"},
    {"in line", IN_LINE,
	"ondemand, in line, until about Sat 02:00 GMT: $3.00, 1.5 kg to 5.3 "
	"kg CO2e. There is no room before",
	"ondemand, in line, until about Sat 02:00 GMT: $3.00, 1.5 kg to 5.3 "
	"kg CO2e"},
    {"nothing better", STAYS, HERE ". Nothing better was found",
	"ondemand, now: $118.40, 7.9 kg CO2e. Nothing better was found"},
    {"bound", PINNED, HERE ". Bound by --begin, --dependency",
	"ondemand, now: $118.40, 7.9 kg CO2e. Bound by --begin, "
	"--dependency"},
    {"kept", KEPT, HERE ". Kept for comparison, as one of 10 % (holdout)",
	"ondemand, now: $118.40, 7.9 kg CO2e. Kept for comparison, as one of "
	"10 % (holdout)"},
    {"home is stale", STALE, HERE ". Not moved: the signals are too old",
	"ondemand, now: $118.40, 7.9 kg CO2e. Not moved: the signals are too "
	"old"},
    {"all are stale", ALL_STALE, HERE ". Not moved: the signals are too old",
	"ondemand, now: $118.40, 7.9 kg CO2e. Not moved: the signals are too "
	"old"},
    {"nowhere", CANT_ANYWHERE,
	"ondemand, can't run this job: too few CPUs on a node (0, wants 0); "
	"nor can another partition",
	"ondemand, can't run this job: too few CPUs on a node (0, wants 0)"},
    {"no time limit", NO_LIMIT, "ondemand, left as it is: it has no time limit; say --time", NULL},
    {"interruptions", INTERRUPTED,
	COSTS ", about 1.2 interruptions expected, 0:50 of work "
	      "lost" SAVES SOONER,
	COSTS SAVES},
    {"those that would be 0.0 are not told", HARDLY_INTERRUPTED, COSTS SAVES SOONER, COSTS SAVES},
    {"of a job that stays, too", STAYS_INTERRUPTED,
	HERE ", about 0.1 interruptions expected, 1m of work lost. Nothing "
	     "better was found",
	"ondemand, now: $118.40, 7.9 kg CO2e. Nothing better was found"},
    {"of an array", ARRAY, COSTS " for 4 tasks" SAVES SOONER, SHORT_COSTS " for 4 tasks" SAVES},
    {"what the team has left", LEFT, COSTS SAVES "; leaves $958.80 in vision" SOONER,
	SHORT_COSTS SAVES "; leaves $958.80"},
    {"of two budgets both, where it stays, too", LEFT_BOTH,
	HERE "; leaves $881.60, 35.2 kg in vision. Nothing better was found",
	"ondemand, now: $118.40, 7.9 kg CO2e; leaves $881.60. Nothing better "
	"was found"},
    {"more than it has", LEFT_NOTHING, COSTS SAVES "; leaves -$1.20 in vision" SOONER,
	SHORT_COSTS SAVES "; leaves -$1.20"},
    {"a long name", LONG,
	"ppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppp, "
	"from Sat 02:00 GMT, done by 09:40: $41.20, 3.1 kg CO2e" SAVES SOONER,
	"ppppppppppppppppppppp..., from Sat 02:00 GMT: $41.20, 3.1 kg CO2e"},
    {"did not ask", OFF, "", NULL},
    {"no home", NO_HOME, "", NULL},
};

static void
test_lines(void **state)
{
	char out[1024];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct lt_told told = {&plan, &request, &market, NOW, true};
		const char *const line = cases[i].line != NULL ? cases[i].line : cases[i].full;
		struct lt_brief brief;

		setup(state);
		apply(cases[i].change);
		lt_plan_line(&brief, &told);
		lt_brief_text(out, sizeof(out), &brief, LT_BRIEF_ALL);
		if (strcmp(out, cases[i].full) != 0)
			fail_msg("%s:\n%s\nwanted:\n%s", cases[i].why, out, cases[i].full);
		lt_brief_text(out, sizeof(out), &brief, LT_BRIEF_COLUMNS);
		if (strcmp(out, line) != 0)
			fail_msg("%s:\n%s\nwanted:\n%s", cases[i].why, out, line);
	}
}

/* Of all that can't run it the one is named that came nearest. */
static void
test_nearest(void **state)
{
	static const struct {
		const char *why;
		struct lt_candidate home, other;
		const char *line;
	} jobs[] = {
	    {"a GPU of 40 GB is nearer to 200 than none", {LT_REJECT_GPU_COUNT, {0}, 1, 0},
		{LT_REJECT_GPU_MEMORY, {0}, 204800, 40960},
		"spot, can't run this job: too little GPU memory (40960 MiB, "
		"wants 204800 MiB)"},
	    {"and the larger of two", {LT_REJECT_GPU_MEMORY, {0}, 204800, 81920},
		{LT_REJECT_GPU_MEMORY, {0}, 204800, 40960},
		"ondemand, can't run this job: too little GPU memory (81920 MiB, "
		"wants 204800 MiB)"},
	    {"what it may cost", {LT_REJECT_GPU_COUNT, {0}, 1, 0}, {LT_REJECT_MAX_COST, {0}, 0, 0},
		"spot, can't run this job: over --max-cost; nor can another "
		"partition"},
	    {"no carbon", {LT_REJECT_CPUS, {0}, 8, 4}, {LT_REJECT_NO_CARBON, {0}, 0, 0},
		"spot, can't run this job: no carbon known to compare; nor can "
		"another partition"},
	    {"of equals the other", {LT_REJECT_CPUS, {0}, 8, 4}, {LT_REJECT_MEMORY, {0}, 8, 4},
		"spot, can't run this job: too little memory on a node (4 MiB, "
		"wants 8 MiB)"},
	    {"a rule is no reason", {LT_REJECT_CPUS, {0}, 8, 4}, {LT_REJECT_UNMANAGED, {0}, 0, 0},
		"ondemand, can't run this job: too few CPUs on a node (4, wants "
		"8)"},
	    {"nor is that it is bound", {LT_REJECT_STATE, {0}, 0, 0}, {LT_REJECT_PINNED, {0}, 0, 0},
		"ondemand, can't run this job: not up; nor can another "
		"partition"},
	};
	const struct lt_told told = {&plan, &request, &market, NOW, true};
	char out[1024];

	for (size_t i = 0; i < sizeof(jobs) / sizeof(jobs[0]); i++) {
		struct lt_brief brief;

		print_message("# %s\n", jobs[i].why);
		setup(state);
		stay();
		plan.fits = false;
		plan.candidates[ONDEMAND] = jobs[i].home;
		plan.candidates[SPOT] = jobs[i].other;
		lt_plan_line(&brief, &told);
		assert_string_equal(
		    lt_brief_text(out, sizeof(out), &brief, LT_BRIEF_COLUMNS), jobs[i].line);
	}
}

/* What the hold is subtracted from, by the figures of docs/design.md. */
static void
test_left(void **state)
{
	static const struct {
		const char *why;
		struct lt_amount available, hold;
		uint32_t tasks;
		struct lt_amount left;
	} budgets[] = {
	    {"its hold, of all tasks", {true, true, 1000000000, 43100000},
		{true, true, 10300000, 2000000}, 4, {true, true, 958800000, 35100000}},
	    {"over", {true, true, 40000000, INT64_MAX}, {true, true, 41200000, 1}, 1,
		{true, false, -1200000, 0}},
	    {"no limit, or nothing", {true, true, INT64_MAX, 0}, {true, true, 1, 1}, 1,
		{false, false, 0, 0}},
	    {"no hold", {true, true, 5, 5}, {false, false, 0, 0}, 1, {false, false, 0, 0}},
	    {"too large", {true, true, 5, 5}, {true, true, INT64_MAX, 4}, 2, {false, true, 0, -3}},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(budgets) / sizeof(budgets[0]); i++) {
		const struct lt_quote quote = {
		    .hold_per_task = budgets[i].hold, .tasks = budgets[i].tasks};
		const struct lt_amount left = lt_left_behind(&budgets[i].available, &quote);
		const struct lt_amount *const wanted = &budgets[i].left;

		print_message("# %s\n", budgets[i].why);
		assert_int_equal(left.has_money, wanted->has_money);
		assert_int_equal(left.has_carbon, wanted->has_carbon);
		if (left.has_money)
			assert_int_equal(left.money_micros, wanted->money_micros);
		if (left.has_carbon)
			assert_int_equal(left.carbon_mg, wanted->carbon_mg);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_lines),
	    cmocka_unit_test(test_nearest),
	    cmocka_unit_test(test_left),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
