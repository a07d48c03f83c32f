/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The quote: what is held for a job by hand-made arithmetic, and its text in
 * admin_comment.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "quote.h"

enum { NOW = 1763683200, HOUR = 3600 };
enum { NODE, DEAR, NO_PRICE, NO_CARBON, NO_POWER, FREE, NO_LIMIT, PARTITIONS };

/* 1.5 an hour, 3 from the second hour on; 100 and then 250 g/kWh. */
static int64_t starts[3][3] = {{NOW, NOW + HOUR, NOW + 9 * HOUR},
    {NOW, NOW + HOUR, NOW + 9 * HOUR}, {NOW, NOW + HOUR, 0}};
static double values[3][2] = {{1500000, 3000000}, {100, 250}, {0}};
static double integrals[3][3];
static struct lt_series series[3];
static struct lt_shape shape = {.node_count = 8,
    .cpus = 64,
    .gpus = 8,
    .memory_mib = 1024000,
    .gpu_index = -1};
static struct lt_partition partitions[PARTITIONS];
static struct lt_market market;
static struct lt_request request;

static int
setup(void **state)
{
	(void)state;
	for (int i = 0; i < 3; i++) {
		series[i] = (struct lt_series){.count = i == 2 ? 1 : 2,
		    .start_utc_s = starts[i],
		    .value = values[i],
		    .integral = integrals[i]};
		assert_int_equal(lt_series_prepare(&series[i], NULL), LT_OK);
	}
	for (int i = 0; i < PARTITIONS; i++) {
		partitions[i] = (struct lt_partition){
		    .flags = LT_PARTITION_UP | LT_PARTITION_MANAGED,
		    .max_time_s = INT64_MAX,
		    .min_nodes = 1,
		    .max_nodes = UINT32_MAX,
		    .node_count = 8,
		    .shape_count = 1,
		    .price_series = 0,
		    .carbon_series = 1,
		    .tariff_series = LT_NO_SERIES,
		    .busy_series = LT_NO_SERIES,
		    .node_idle_w = 400,
		    .node_cpu_w = 200,
		    .node_gpu_w = 1400,
		    .pue = 1.5,
		    .allow_accounts = "",
		    .deny_accounts = "",
		    .allow_qos = "",
		    .deny_qos = ""};
		snprintf(partitions[i].name, LT_NAME_SIZE, "p%d", i);
	}
	partitions[DEAR].embodied_g_per_node_hour = 10;
	partitions[NO_PRICE].price_series = LT_NO_SERIES;
	partitions[NO_CARBON].carbon_series = LT_NO_SERIES;
	partitions[NO_POWER].node_idle_w = partitions[NO_POWER].node_cpu_w =
	    partitions[NO_POWER].node_gpu_w = 0;
	partitions[FREE].price_series = 2;
	market = (struct lt_market){.currency = "USD",
	    .partition_count = PARTITIONS,
	    .shape_count = 1,
	    .series_count = 3,
	    .partitions = partitions,
	    .shapes = &shape,
	    .series = series};
	request = (struct lt_request){.min_nodes = 1,
	    .max_nodes = 1,
	    .cpus = 64,
	    .gpus = 8,
	    .array_tasks = 1,
	    .limit_s = HOUR / 2,
	    .expected_run_s = LT_UNSET_64,
	    .home = NODE,
	    .deadline_utc_s = LT_UNSET_64,
	    .max_cost_micros = LT_UNSET_64};
	return 0;
}

static void
set_limit(void)
{
	request.limit_s = 2 * HOUR;
}

static void
set_nodes(void)
{
	request.min_nodes = 1;
	request.max_nodes = 4;
	request.cpus = 256;
	request.gpus = 32;
}

static void
set_part(void)
{
	request.cpus = 8;
	request.gpus = 1;
}

static void
set_exclusive(void)
{
	set_part();
	request.exclusive = true;
}

static void
set_margin(void)
{
	market.hold_margin_ppm = 50000;
}

static void
set_over_time(void)
{
	market.over_time_limit_s = HOUR / 4;
}

static void
set_over_time_unlimited(void)
{
	market.over_time_limit_s = INT64_MAX;
}

static void
set_array(void)
{
	request.array_tasks = 7;
	request.array_parallel = 3;
}

static void
set_deadline(void)
{
	request.deadline_utc_s = NOW + 6 * HOUR;
}

static void
set_worst(void)
{
	partitions[NO_CARBON].worst_intensity = 1000;
}

static void
set_no_currency(void)
{
	market.currency[0] = '\0';
}

static void
set_no_limit(void)
{
	request.limit_s = LT_UNSET_64;
}

static void
set_assume(void)
{
	set_no_limit();
	market.assume_time_s = HOUR / 2;
}

static void
set_negative(void)
{
	values[0][0] = -5;
	values[0][1] = -6;
}

static void
set_huge(void)
{
	values[0][0] = values[0][1] = 9e14;
	request.limit_s = INT32_MAX;
	request.max_nodes = 1000000;
}

static void
nothing(void)
{
}

/* Micros of a whole node for half an hour at 1.5: 750,000. Its energy: 2 kW x
 * 1.5 x 0.5 h = 1.5 kWh at 100 g: 150,000 mg. */
static const struct {
	const char *why;
	void (*set)(void);
	int first, second; /* -1 = none */
	int code;
	int64_t money, mg; /* -1 = unknown; without the + 1 */
	int64_t length_s;
} cases[] = {
    {"half an hour of a node", nothing, NODE, -1, LT_OK, 750000, 150000,
	HOUR / 2},
    {"the worst price of the window for all of it", set_limit, NODE, -1, LT_OK,
	6000000, 1500000, 2 * HOUR},
    {"the larger node count", set_nodes, NODE, -1, LT_OK, 3000000, 600000,
	HOUR / 2},
    {"a share of the node", set_part, NODE, -1, LT_OK, 93750, 18750, HOUR / 2},
    {"exclusive is all of it", set_exclusive, NODE, -1, LT_OK, 750000, 150000,
	HOUR / 2},
    {"margin", set_margin, NODE, -1, LT_OK, 787500, 157501, HOUR / 2},
    {"OverTimeLimit", set_over_time, NODE, -1, LT_OK, 1125000, 225000,
	3 * HOUR / 4},
    {"OverTimeLimit UNLIMITED adds nothing", set_over_time_unlimited, NODE, -1,
	LT_OK, 750000, 150000, HOUR / 2},
    {"7 tasks, 3 at once: 3 runs, the dearer price", set_array, NODE, -1, LT_OK,
	1500000, 375000, 3 * HOUR / 2},
    {"as late as the deadline", set_deadline, NODE, -1, LT_OK, 1500000, 375000,
	6 * HOUR},
    {"embodied carbon on top", nothing, DEAR, -1, LT_OK, 750000, 155000,
	HOUR / 2},
    {"the larger of two partitions", nothing, NODE, DEAR, LT_OK, 750000, 155000,
	HOUR / 2},
    {"unknown price", nothing, NO_PRICE, -1, LT_OK, -1, 150000, HOUR / 2},
    {"unknown in one is unknown", nothing, NODE, NO_PRICE, LT_OK, -1, 150000,
	HOUR / 2},
    {"a site that shows no money", set_no_currency, NODE, -1, LT_OK, -1, 150000,
	HOUR / 2},
    {"unknown intensity", nothing, NO_CARBON, -1, LT_OK, 750000, -1, HOUR / 2},
    {"the worst intensity instead", set_worst, NO_CARBON, -1, LT_OK, 750000,
	1500000, HOUR / 2},
    {"unknown power", nothing, NO_POWER, -1, LT_OK, 750000, -1, HOUR / 2},
    {"free of charge is 0 and known", nothing, FREE, -1, LT_OK, 0, 150000,
	HOUR / 2},
    {"a negative price holds nothing", set_negative, NODE, -1, LT_OK, 0, 150000,
	HOUR / 2},
    {"no limit", set_no_limit, NODE, -1, LT_EINPUT, 0, 0, 0},
    {"assumed limit", set_assume, NODE, -1, LT_OK, 750000, 150000, HOUR / 2},
    {"too much to count", set_huge, NODE, -1, LT_EOVERFLOW, 0, 0, 0},
    {"no partition", nothing, -1, -1, LT_EINPUT, 0, 0, 0},
};

/* Held: the amount and 1; what is 0 stays 0. Doubles may add 1 more. */
static void
assert_held(bool known, int64_t held, int64_t wanted, int64_t slack)
{
	assert_int_equal(known, wanted >= 0);
	if (wanted == 0)
		assert_int_equal(held, 0);
	if (wanted > 0)
		assert_true(held > wanted && held <= wanted + 1 + slack);
}

static void
test_hold(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct lt_quote quote = {0};
		struct lt_error err = {0};
		const int where[] = {cases[i].first, cases[i].second};
		const int count = (where[0] >= 0) + (where[1] >= 0);
		const double first = values[0][0], second = values[0][1];
		print_message("%s\n", cases[i].why);
		setup(NULL);
		cases[i].set();
		assert_int_equal(lt_quote_hold(&quote, &request, &market, where,
				     count, NOW, &err),
		    cases[i].code);
		values[0][0] = first;
		values[0][1] = second;
		if (cases[i].code != LT_OK) {
			assert_true(err.text[0] != '\0');
			continue;
		}
		assert_held(quote.hold_per_task.has_money,
		    quote.hold_per_task.money_micros, cases[i].money, 0);
		assert_held(quote.hold_per_task.has_carbon,
		    quote.hold_per_task.carbon_mg, cases[i].mg, 1);
		assert_int_equal(quote.tasks, request.array_tasks);
		assert_int_equal(quote.start_utc_s, NOW);
		assert_int_equal(quote.end_utc_s, NOW + cases[i].length_s);
	}
}

/* 64 CPUs without --nodes, where nodes have 8 and 64 or only 8. */
static void
test_hold_of_small_nodes(void **state)
{
	static const struct {
		const char *why;
		uint32_t first, shapes, small;
		bool open;
		int64_t micros; /* 750000 a node */
	} rows[] = {
	    {"one large node", 0, 1, 16, true, 750001},
	    {"eight small nodes", 1, 1, 16, true, 6000001},
	    {"small ones are the most of a mixed partition", 0, 2, 16, true,
		6000001},
	    {"three small ones and a large", 0, 2, 3, true, 3000001},
	    {"the user said --nodes", 0, 2, 16, false, 750001},
	};
	const int where = NODE;

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct lt_shape shapes[2] = {shape, shape};
		struct lt_quote quote = {0};

		print_message("%s\n", rows[i].why);
		setup(NULL);
		shapes[1].cpus = 8;
		shapes[1].node_count = rows[i].small;
		market.shapes = shapes;
		market.shape_count = 2;
		partitions[NODE].first_shape = rows[i].first;
		partitions[NODE].shape_count = rows[i].shapes;
		request.gpus = 0;
		request.nodes_open = rows[i].open;
		assert_int_equal(lt_quote_hold(&quote, &request, &market,
				     &where, 1, NOW, NULL),
		    LT_OK);
		assert_int_equal(
		    quote.hold_per_task.money_micros, rows[i].micros);
	}
}

/* ---- text ---- */

static const char text[] =
    "lowtide:1 q=000000001234abcd rev=2 team=vision hold=9437760000,- n=16 "
    "win=1763683200-1763769600 plan=spot@1763700000 "
    "base=on%20demand%25@1763683200 exp=41200000,3100000 "
    "was=-118400000,7900000 by=balanced mode=enforce f=5;";
static const struct lt_quote full = {.id = 0x1234abcd,
    .rev = 2,
    .flags = 5,
    .account = "vision",
    .hold_per_task = {true, false, 9437760000, 0},
    .tasks = 16,
    .start_utc_s = NOW,
    .end_utc_s = NOW + 24 * HOUR,
    .partition = "spot",
    .plan_start_utc_s = 1763700000,
    .home = "on demand%",
    .home_start_utc_s = NOW,
    .plan_expected = {true, true, 41200000, 3100000},
    .home_expected = {true, true, -118400000, 7900000},
    .objective = LT_OBJECTIVE_BALANCED,
    .mode = LT_MODE_ENFORCE};

static void
test_text(void **state)
{
	(void)state;
	char out[LT_QUOTE_TEXT_SIZE];
	struct lt_quote back;
	assert_int_equal(lt_quote_pack(out, sizeof out, &full), LT_OK);
	assert_string_equal(out, text);
	assert_int_equal(lt_quote_unpack(&back, out, strlen(out), NULL), LT_OK);
	assert_string_equal(back.home, "on demand%");
	assert_false(back.hold_per_task.has_carbon);
	assert_int_equal(back.home_expected.money_micros, -118400000);
	assert_int_equal(back.end_utc_s, NOW + 24 * HOUR);
	assert_int_equal(back.mode, LT_MODE_ENFORCE);
	assert_int_equal(lt_quote_pack(out, sizeof out, &back), LT_OK);
	assert_string_equal(out, text);
	/* It fits exactly, or is refused whole. */
	assert_int_equal(lt_quote_pack(out, sizeof text, &full), LT_OK);
	assert_int_equal(lt_quote_pack(out, sizeof text - 1, &full), LT_ELIMIT);
	assert_string_equal(out, "");
}

/* A candidate's line is told as it was decided, and read back whole. */
static struct lt_plan plan;

static void
set_candidates(void)
{
	setup(NULL);
	plan = (struct lt_plan){.candidate_count = 6};
	plan.candidates[NODE] =
	    (struct lt_candidate){LT_REJECT_RISK, {0}, 100000, 148000.4};
	plan.candidates[DEAR] = (struct lt_candidate){LT_REJECT_DEARER,
	    {.has_cost = true,
		.has_carbon = true,
		.cost_micros = 211330000,
		.carbon_mg = -5},
	    0, 0};
	plan.candidates[NO_PRICE] = (struct lt_candidate){
	    LT_REJECT_NONE, {.has_carbon = true, .carbon_mg = 2600000}, 0, 0};
	plan.candidates[NO_CARBON].reject = LT_REJECT_UNMANAGED;
	plan.candidates[NO_POWER].reject = LT_REJECT_PINNED;
	plan.candidates[FREE] =
	    (struct lt_candidate){LT_REJECT_STALE, {0}, 10800, 1e300};
	snprintf(partitions[DEAR].name, LT_NAME_SIZE, "h 100");
}

#define WHY                                                                    \
	"p2:best:-/2600000,h%20100:dearer:211330000/-5,"                       \
	"p0:risk:100000/148000,p5:stale:10800/1000000000000000000,p4:pinned"

static void
test_why(void **state)
{
	(void)state;
	struct lt_whys whys, back;
	char out[LT_WHY_TEXT_SIZE];
	set_candidates();
	lt_why_of_plan(&whys, &plan, &market);
	assert_int_equal(lt_why_pack(out, sizeof out, &whys), LT_OK);
	assert_string_equal(out, WHY);
	assert_int_equal(lt_why_unpack(&back, out, strlen(out), NULL), LT_OK);
	assert_int_equal(back.count, 5);
	assert_int_equal(back.more, 0);
	assert_string_equal(back.entries[1].partition, "h 100");
	assert_int_equal(back.entries[1].best.money_micros, 211330000);
	assert_int_equal(back.entries[1].best.carbon_mg, -5);
	assert_false(back.entries[0].best.has_money);
	assert_int_equal(back.entries[2].reject, LT_REJECT_RISK);
	assert_int_equal(back.entries[2].wanted, 100000);
	assert_int_equal(back.entries[2].found, 148000);
	/* It fits exactly; else the last ones are only counted. */
	assert_int_equal(lt_why_pack(out, sizeof WHY, &whys), LT_OK);
	assert_int_equal(lt_why_pack(out, sizeof WHY - 1, &whys), LT_OK);
	assert_non_null(strstr(out, "1000000000000000000,+1"));
	assert_int_equal(lt_why_pack(out, 10, &whys), LT_OK);
	assert_string_equal(out, "+5");
	assert_int_equal(lt_why_pack(out, 2, &whys), LT_ELIMIT);
	assert_string_equal(out, "");
	/* In a quote, before its end; without one nothing is said. */
	struct lt_quote quote = full, read;
	char quoted[LT_QUOTE_TEXT_SIZE];
	snprintf(quote.why, sizeof quote.why, "%s", WHY);
	assert_int_equal(lt_quote_pack(quoted, sizeof quoted, &quote), LT_OK);
	assert_non_null(strstr(quoted, " f=5 why=" WHY ";"));
	assert_int_equal(
	    lt_quote_unpack(&read, quoted, strlen(quoted), NULL), LT_OK);
	assert_string_equal(read.why, WHY);
	assert_int_equal(read.flags, 5);
}

static void
test_why_bounds(void **state)
{
	(void)state;
	static struct lt_partition many[LT_PARTITIONS_MAX];
	const struct lt_market large = {
	    .partition_count = LT_PARTITIONS_MAX, .partitions = many};
	struct lt_whys whys;
	char out[LT_WHY_TEXT_SIZE];
	struct lt_quote quote = full;
	plan = (struct lt_plan){.candidate_count = LT_PARTITIONS_MAX};
	for (int i = 0; i < LT_PARTITIONS_MAX; i++) {
		memset(many[i].name, ' ', LT_NAME_SIZE - 1);
		plan.candidates[i].reject = LT_REJECT_DEARER;
	}
	lt_why_of_plan(&whys, &plan, &large);
	assert_int_equal(whys.count, LT_WHY_MAX);
	assert_int_equal(whys.more, LT_PARTITIONS_MAX - LT_WHY_MAX);
	assert_int_equal(lt_why_pack(out, sizeof out, &whys), LT_OK);
	assert_int_equal(lt_why_unpack(&whys, out, strlen(out), NULL), LT_OK);
	assert_int_equal(whys.count + whys.more, LT_PARTITIONS_MAX);
	/* The longest quote there can be. */
	memset(quote.account, ' ', LT_ACCOUNT_SIZE - 1);
	memset(quote.partition, ' ', LT_NAME_SIZE - 1);
	memset(quote.home, ' ', LT_NAME_SIZE - 1);
	quote.rev = quote.tasks = quote.flags = UINT32_MAX;
	quote.start_utc_s = quote.end_utc_s = quote.plan_start_utc_s =
	    quote.home_start_utc_s = INT64_MIN;
	quote.hold_per_task = quote.plan_expected = quote.home_expected =
	    (struct lt_amount){true, true, INT64_MIN, INT64_MIN};
	memset(quote.why, 'x', LT_WHY_TEXT_SIZE - 1);
	char quoted[LT_QUOTE_TEXT_SIZE];
	assert_int_equal(lt_quote_pack(quoted, sizeof quoted, &quote), LT_OK);
}

static const struct {
	const char *why;
	const char *text;
	bool ok;
} whys_texts[] = {
    {"nothing", "", true},
    {"only a number", "+3", true},
    {"no candidate is counted", "+0", false},
    {"the number is last", "+3,p:state", false},
    {"no comma at the end", "p:state,", false},
    {"none at the start", ",p:state", false},
    {"no name", ":state", false},
    {"no reason", "p", false},
    {"a reason that is none", "p:ugly", false},
    {"part of a reason", "p:stat", false},
    {"figures are needed", "p:dearer", false},
    {"both of them", "p:dearer:5", false},
    {"one is known", "p:dearer:5/-", true},
    {"-0 is no number", "p:dearer:-0/-", false},
    {"none known", "p:best:-/-", true},
    {"what says nothing is left out", "p:state:0/0", false},
    {"unknown is no amount of these", "p:nodes:-/2", false},
    {"wanted and found", "p:nodes:4/2", true},
    {"trailing", "p:nodes:4/2/", false},
    {"a plain byte encoded", "%70:state", false},
    {"another byte", "p q:state", false},
};

static void
test_why_texts(void **state)
{
	(void)state;
	struct lt_whys back;
	for (size_t i = 0; i < sizeof whys_texts / sizeof whys_texts[0]; i++) {
		struct lt_error err = {0};
		const char *const at = whys_texts[i].text;
		print_message("%s\n", whys_texts[i].why);
		assert_int_equal(lt_why_unpack(&back, at, strlen(at), &err),
		    whys_texts[i].ok ? LT_OK : LT_EINPUT);
		assert_int_equal(err.text[0] == '\0', whys_texts[i].ok);
	}
	char seventeen[17 * 8 + 1] = "";
	for (int i = 0; i < 17; i++)
		strcat(seventeen, i ? ",p:state" : "p:state");
	assert_int_equal(
	    lt_why_unpack(&back, seventeen, 16 * 8 - 1, NULL), LT_OK);
	assert_int_equal(
	    lt_why_unpack(&back, seventeen, strlen(seventeen), NULL),
	    LT_EINPUT);
}

static const struct {
	const char *why;
	const char *text;
	int code;
} texts[] = {
    {"nothing", "", LT_ENOENT},
    {"others only", "JS1:H4sIA; lowtide", LT_ENOENT},
    {"another version", "lowtide:2 q=1;", LT_ENOENT},
    {"inside another word", "xlowtide:1 q=1;", LT_ENOENT},
    {"no members", "lowtide:1 ;", LT_EINPUT},
    {"id 0", "lowtide:1 q=0000000000000000 rev=1", LT_EINPUT},
    {"upper case id", "lowtide:1 q=000000001234ABCD rev=1", LT_EINPUT},
    {"cut", "lowtide:1 q=000000001234abcd rev=2 team=vision hold=9", LT_EINPUT},
};

static void
test_bad_texts(void **state)
{
	(void)state;
	struct lt_quote back;
	for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
		struct lt_error err = {0};
		print_message("%s\n", texts[i].why);
		assert_int_equal(lt_quote_unpack(&back, texts[i].text,
				     strlen(texts[i].text), &err),
		    texts[i].code);
		assert_true(err.text[0] != '\0');
		assert_int_equal(back.id, 0);
	}
	/* Every prefix is damaged, and so is a sign where none belongs. */
	for (size_t length = 10; length < sizeof text - 1; length++)
		assert_int_equal(
		    lt_quote_unpack(&back, text, length, NULL), LT_EINPUT);
	char changed[sizeof text];
	memcpy(changed, text, sizeof text);
	*strstr(changed, "rev=2") = 'x';
	assert_int_equal(
	    lt_quote_unpack(&back, changed, sizeof text - 1, NULL), LT_EINPUT);
}

static const struct {
	const char *why;
	const char *comment, *ours, *merged; /* NULL = does not fit in 32 */
} merges[] = {
    {"nothing there", NULL, "lowtide:1 a;", "lowtide:1 a;"},
    {"nothing at all", NULL, "", ""},
    {"others stay", "JS1:x; y", "lowtide:1 a;", "lowtide:1 a; JS1:x; y"},
    {"ours is replaced", "lowtide:1 b; JS1:x", "lowtide:1 a;",
	"lowtide:1 a; JS1:x"},
    {"wherever it stands", "JS1:x lowtide:1 b; z", "lowtide:1 a;",
	"lowtide:1 a; JS1:x z"},
    {"a forged one of any version", "lowtide:9;lowtide:1 b;x", "", "x"},
    {"one without an end goes to the end", "x lowtide:1 b y", "", "x "},
    {"a word of another tool stays", "slowtide:1; x", "", "slowtide:1; x"},
    {"fits exactly", "0123456789012345678", "lowtide:1 ;",
	"lowtide:1 ; 0123456789012345678"},
    {"one too long", "01234567890123456789", "lowtide:1 ;", NULL},
};

static void
test_merge(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof merges / sizeof merges[0]; i++) {
		char out[32];
		print_message("%s\n", merges[i].why);
		const int code = lt_quote_merge(
		    out, sizeof out, merges[i].comment, merges[i].ours);
		assert_int_equal(code, merges[i].merged ? LT_OK : LT_ELIMIT);
		assert_string_equal(
		    out, merges[i].merged ? merges[i].merged : "");
	}
}

static void
test_merged_is_read(void **state)
{
	(void)state;
	char out[1024];
	struct lt_quote back;
	assert_int_equal(
	    lt_quote_merge(out, sizeof out, "JS1:lowtide:1 x", text), LT_OK);
	assert_int_equal(lt_quote_unpack(&back, out, strlen(out), NULL), LT_OK);
	assert_true(back.id == full.id);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup(test_hold, setup),
	    cmocka_unit_test(test_text),
	    cmocka_unit_test(test_bad_texts),
	    cmocka_unit_test(test_why),
	    cmocka_unit_test(test_why_bounds),
	    cmocka_unit_test(test_why_texts),
	    cmocka_unit_test(test_hold_of_small_nodes),
	    cmocka_unit_test(test_merge),
	    cmocka_unit_test(test_merged_is_read),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
