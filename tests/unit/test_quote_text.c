/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The quote's text in admin_comment, beside what others keep there, and the candidates in it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "options.h"
#include "quote.h"

enum { NOW = 1763683200, HOUR = 3600 };
enum { NODE, DEAR, NO_PRICE, NO_CARBON, NO_POWER, FREE, PARTITIONS };

static struct lt_partition partitions[PARTITIONS];
static const struct lt_market market = {.partition_count = PARTITIONS, .partitions = partitions};
static struct lt_plan plan;

static const char text[] = "lowtide:1 q=000000001234abcd rev=2 team=vision hold=9437760000,- n=16 "
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
	assert_int_equal(lt_quote_pack(out, sizeof(out), &full), LT_OK);
	assert_string_equal(out, text);
	assert_int_equal(lt_quote_unpack(&back, out, strlen(out), NULL), LT_OK);
	assert_string_equal(back.home, "on demand%");
	assert_false(back.hold_per_task.has_carbon);
	assert_int_equal(back.home_expected.money_micros, -118400000);
	assert_int_equal(back.end_utc_s, NOW + 24 * HOUR);
	assert_int_equal(back.mode, LT_MODE_ENFORCE);
	assert_int_equal(lt_quote_pack(out, sizeof(out), &back), LT_OK);
	assert_string_equal(out, text);
	/* It fits exactly, or is refused whole. */
	assert_int_equal(lt_quote_pack(out, sizeof(text), &full), LT_OK);
	assert_int_equal(lt_quote_pack(out, sizeof(text) - 1, &full), LT_ELIMIT);
	assert_string_equal(out, "");
}

/* What was asked goes along, behind the candidates or without them. */
static void
test_wish(void **state)
{
	static const struct lt_request request = {.pins = LT_PIN_PARTITION | LT_PIN_NODELIST,
	    .deadline_utc_s = LT_UNSET_64,
	    .expected_run_s = 7200,
	    .max_cost_micros = LT_UNSET_64,
	    .gpu_memory_mib = 40960,
	    .precision = LT_PRECISION_BF16,
	    .checkpoint = {.enabled = true, .write_s = 119.6, .every_s = 3600}};
	static const char *const whys[] = {"", "spot:best:41200000/3100000"};
	char out[LT_QUOTE_TEXT_SIZE], damaged[LT_QUOTE_TEXT_SIZE];
	struct lt_quote quote = full, back;
	struct lt_request laid = {.named_count = 3};

	(void)state;
	lt_wish_of_request(&quote.wish, &request);
	assert_true(quote.wish.movable);
	for (size_t i = 0; i < 2; i++) {
		strcpy(quote.why, whys[i]);
		assert_int_equal(lt_quote_pack(out, sizeof(out), &quote), LT_OK);
		assert_non_null(strstr(out, " ask=1,513,-,7200,-,40960,5,1,120,3600;"));
		assert_int_equal(lt_quote_unpack(&back, out, strlen(out), NULL), LT_OK);
		assert_string_equal(back.why, whys[i]);
		assert_memory_equal(&back.wish, &quote.wish, sizeof(back.wish));
	}
	lt_wish_lay(&laid, &back.wish);
	assert_int_equal(laid.pins, request.pins);
	assert_int_equal(laid.expected_run_s, 7200);
	assert_true(laid.checkpoint.write_s == 120);
	assert_int_equal(laid.named_count, 3);
	/* Cut or changed anywhere, it is no quote. */
	for (const char *at = strstr(out, " ask="); *at != ';'; at++) {
		snprintf(damaged, sizeof(damaged), "%.*sx%s", (int)(at - out), out, at + 1);
		assert_int_equal(lt_quote_unpack(&back, damaged, strlen(damaged), NULL), LT_EINPUT);
		snprintf(damaged, sizeof(damaged), "%.*s;", (int)(at - out), out);
		assert_int_equal(lt_quote_unpack(&back, damaged, strlen(damaged), NULL),
		    at == strstr(out, " ask=") || strlen(at) < 5 ? LT_OK : LT_EINPUT);
	}
	/* What was asked stands before it. */
	quote.wish.asked = 0x1f;
	assert_int_equal(lt_quote_pack(out, sizeof(out), &quote), LT_OK);
	assert_non_null(strstr(out, " req=000000000000001f ask=1,"));
	assert_int_equal(lt_quote_unpack(&back, out, strlen(out), NULL), LT_OK);
	assert_memory_equal(&back.wish, &quote.wish, sizeof(back.wish));
	lt_wish_lay(&laid, &back.wish);
	assert_true(laid.asked == 0x1f);
	snprintf(damaged, sizeof(damaged), "%.*s;", (int)(strstr(out, " ask=") - out), out);
	assert_int_equal(lt_quote_unpack(&back, damaged, strlen(damaged), NULL), LT_EINPUT);
	quote.wish.asked = 0;
	/* The size of a checkpoint stands behind it, where it was said. */
	quote.wish.size_mib = 40 * 1024;
	quote.wish.keep = 3;
	assert_int_equal(lt_quote_pack(out, sizeof(out), &quote), LT_OK);
	assert_non_null(strstr(out, ",1,120,3600,40960,3;"));
	assert_int_equal(lt_quote_unpack(&back, out, strlen(out), NULL), LT_OK);
	assert_memory_equal(&back.wish, &quote.wish, sizeof(back.wish));
	lt_wish_lay(&laid, &back.wish);
	assert_true(laid.checkpoint.size_gib == 40);
	assert_int_equal(laid.checkpoint.keep, 3);
	snprintf(damaged, sizeof(damaged), "%s", out);
	strcpy(strstr(damaged, ",40960,3;"), ",40960,0;");
	assert_int_equal(lt_quote_unpack(&back, damaged, strlen(damaged), NULL), LT_EINPUT);
	/* And the signal behind that, also where no size was said. */
	quote.wish.signal = 10;
	assert_int_equal(lt_quote_pack(out, sizeof(out), &quote), LT_OK);
	assert_non_null(strstr(out, ",1,120,3600,40960,3,10;"));
	quote.wish.size_mib = quote.wish.keep = 0;
	assert_int_equal(lt_quote_pack(out, sizeof(out), &quote), LT_OK);
	assert_non_null(strstr(out, ",1,120,3600,0,0,10;"));
	assert_int_equal(lt_quote_unpack(&back, out, strlen(out), NULL), LT_OK);
	assert_memory_equal(&back.wish, &quote.wish, sizeof(back.wish));
	lt_wish_lay(&laid, &back.wish);
	assert_int_equal(laid.checkpoint.signal, 10);
	strcpy(strstr(out, ",0,0,10;"), ",0,0,0;");
	assert_int_equal(lt_quote_unpack(&back, out, strlen(out), NULL), LT_EINPUT);
	/* And behind that the interruptions, with or without a signal. */
	quote.wish.max_interruptions = 3;
	assert_int_equal(lt_quote_pack(out, sizeof(out), &quote), LT_OK);
	assert_non_null(strstr(out, ",0,0,10,3;"));
	quote.wish.signal = 0;
	assert_int_equal(lt_quote_pack(out, sizeof(out), &quote), LT_OK);
	assert_non_null(strstr(out, ",0,0,0,3;"));
	assert_int_equal(lt_quote_unpack(&back, out, strlen(out), NULL), LT_OK);
	assert_memory_equal(&back.wish, &quote.wish, sizeof(back.wish));
	lt_wish_lay(&laid, &back.wish);
	assert_int_equal(laid.max_interruptions, 3);
	strcpy(strstr(out, ",0,0,0,3;"), ",0,0,0,0;");
	assert_int_equal(lt_quote_unpack(&back, out, strlen(out), NULL), LT_EINPUT);
	quote.wish.max_interruptions = 0;
	/* And last its script, whatever of the others is said. */
	quote.wish.script_hash = 0x0123456789abcdef;
	assert_int_equal(lt_quote_pack(out, sizeof(out), &quote), LT_OK);
	assert_non_null(strstr(out, ",0,0,0,0,0123456789abcdef;"));
	assert_int_equal(lt_quote_unpack(&back, out, strlen(out), NULL), LT_OK);
	assert_memory_equal(&back.wish, &quote.wish, sizeof(back.wish));
	lt_wish_lay(&laid, &back.wish);
	assert_true(laid.script_hash == 0x0123456789abcdef);
	strcpy(strstr(out, ",0123"), ",0000000000000000;");
	assert_int_equal(lt_quote_unpack(&back, out, strlen(out), NULL), LT_EINPUT);
	quote.wish.script_hash = 0;
	/* And behind that the dearest node-hour. */
	quote.wish.max_price_micros = 12500000;
	assert_int_equal(lt_quote_pack(out, sizeof(out), &quote), LT_OK);
	assert_non_null(strstr(out, ",0,0,0,0,0000000000000000,12500000;"));
	assert_int_equal(lt_quote_unpack(&back, out, strlen(out), NULL), LT_OK);
	assert_memory_equal(&back.wish, &quote.wish, sizeof(back.wish));
	lt_wish_lay(&laid, &back.wish);
	assert_int_equal(laid.max_price_micros, 12500000);
	strcpy(strstr(out, ",12500000;"), ",0;");
	assert_int_equal(lt_quote_unpack(&back, out, strlen(out), NULL), LT_EINPUT);
	quote.wish.max_price_micros = 0;
	/* What no record shows keeps it in its partition. */
	struct lt_request other = request;
	strcpy(other.features, "nvlink");
	lt_wish_of_request(&quote.wish, &other);
	assert_false(quote.wish.movable);
	other = request;
	strcpy(other.gpu_type, "a100");
	lt_wish_of_request(&quote.wish, &other);
	assert_false(quote.wish.movable);
	other = request;
	other.named_count = 2;
	lt_wish_of_request(&quote.wish, &other);
	assert_false(quote.wish.movable);
}

/* From the options into a request, and by the quote's text into another. */
static void
send(struct lt_request *laid, const struct lt_options *options)
{
	struct lt_request asked = {.objective = LT_OBJECTIVE_COST};
	struct lt_quote quote = full, back;
	char out[LT_QUOTE_TEXT_SIZE];

	lt_request_unset(&asked);
	lt_options_apply(options, &asked);
	lt_wish_of_request(&quote.wish, &asked);
	assert_int_equal(lt_quote_pack(out, sizeof(out), &quote), LT_OK);
	assert_int_equal(lt_quote_unpack(&back, out, strlen(out), NULL), LT_OK);
	*laid = (struct lt_request){0};
	lt_wish_lay(laid, &back.wish);
}

/* Each wish alone arrives, and those that are not said stay so. */
static void
test_each_wish(void **state)
{
	enum { SAID = 77 };
	const struct lt_wish none = lt_wish_none();
	struct lt_options nothing, options;
	struct lt_request laid;

	(void)state;
	lt_options_init(&nothing);
	send(&laid, &nothing);
#define WISH(type, name, unset) assert_true(laid.name == (unset) && none.name == (unset));
	LT_WISHES(WISH)
#undef WISH
#define WISH(type, name, unset)                                                                    \
	options = nothing;                                                                         \
	options.name = SAID;                                                                       \
	send(&laid, &options);                                                                     \
	assert_true(laid.name == SAID);
	LT_WISHES(WISH)
#undef WISH
}

/* A candidate's line is told as it was decided, and read back whole. */

static void
set_candidates(void)
{
	for (int i = 0; i < PARTITIONS; i++)
		snprintf(partitions[i].name, LT_NAME_SIZE, "p%d", i);
	plan = (struct lt_plan){.candidate_count = 6};
	plan.candidates[NODE] = (struct lt_candidate){LT_REJECT_RISK, {0}, 100000, 148000.4};
	plan.candidates[DEAR] = (struct lt_candidate){LT_REJECT_DEARER,
	    {.has_cost = true, .has_carbon = true, .cost_micros = 211330000, .carbon_mg = -5}, 0,
	    0};
	plan.candidates[NO_PRICE] =
	    (struct lt_candidate){LT_REJECT_NONE, {.has_carbon = true, .carbon_mg = 2600000}, 0, 0};
	plan.candidates[NO_CARBON].reject = LT_REJECT_UNMANAGED;
	plan.candidates[NO_POWER].reject = LT_REJECT_PINNED;
	plan.candidates[FREE] = (struct lt_candidate){LT_REJECT_STALE, {0}, 10800, 1e300};
	snprintf(partitions[DEAR].name, LT_NAME_SIZE, "h 100");
}

#define WHY                                                                                        \
	"p2:best:-/2600000,h%20100:dearer:211330000/-5,"                                           \
	"p0:risk:100000/148000,p5:stale:10800/1000000000000000000,p4:pinned"

static void
test_why(void **state)
{
	(void)state;
	struct lt_whys whys, back;
	char out[LT_WHY_TEXT_SIZE];
	set_candidates();
	lt_why_of_plan(&whys, &plan, &market);
	assert_int_equal(lt_why_pack(out, sizeof(out), &whys), LT_OK);
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
	assert_int_equal(lt_why_pack(out, sizeof(WHY), &whys), LT_OK);
	assert_int_equal(lt_why_pack(out, sizeof(WHY) - 1, &whys), LT_OK);
	assert_non_null(strstr(out, "1000000000000000000,+1"));
	assert_int_equal(lt_why_pack(out, 10, &whys), LT_OK);
	assert_string_equal(out, "+5");
	assert_int_equal(lt_why_pack(out, 2, &whys), LT_ELIMIT);
	assert_string_equal(out, "");
	/* In a quote, before its end; without one nothing is said. */
	struct lt_quote quote = full, read;
	char quoted[LT_QUOTE_TEXT_SIZE];
	snprintf(quote.why, sizeof(quote.why), "%s", WHY);
	assert_int_equal(lt_quote_pack(quoted, sizeof(quoted), &quote), LT_OK);
	assert_non_null(strstr(quoted, " f=5 why=" WHY ";"));
	assert_int_equal(lt_quote_unpack(&read, quoted, strlen(quoted), NULL), LT_OK);
	assert_string_equal(read.why, WHY);
	assert_int_equal(read.flags, 5);
	/* No quote has the id 0. */
	memset(strstr(quoted, "q=") + 2, '0', 16);
	assert_int_equal(lt_quote_unpack(&read, quoted, strlen(quoted), NULL), LT_EINPUT);
}

static void
test_why_bounds(void **state)
{
	(void)state;
	static struct lt_partition many[LT_PARTITIONS_MAX];
	const struct lt_market large = {.partition_count = LT_PARTITIONS_MAX, .partitions = many};
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
	assert_int_equal(lt_why_pack(out, sizeof(out), &whys), LT_OK);
	assert_int_equal(lt_why_unpack(&whys, out, strlen(out), NULL), LT_OK);
	assert_int_equal(whys.count + whys.more, LT_PARTITIONS_MAX);
	/* The longest quote there can be. */
	memset(quote.account, ' ', LT_ACCOUNT_SIZE - 1);
	memset(quote.partition, ' ', LT_NAME_SIZE - 1);
	memset(quote.home, ' ', LT_NAME_SIZE - 1);
	quote.rev = quote.tasks = quote.flags = UINT32_MAX;
	quote.start_utc_s = quote.end_utc_s = quote.plan_start_utc_s = quote.home_start_utc_s =
	    INT64_MIN;
	quote.hold_per_task = quote.plan_expected = quote.home_expected =
	    (struct lt_amount){true, true, INT64_MIN, INT64_MIN};
	memset(quote.why, 'x', LT_WHY_TEXT_SIZE - 1);
	char quoted[LT_QUOTE_TEXT_SIZE];
	assert_int_equal(lt_quote_pack(quoted, sizeof(quoted), &quote), LT_OK);
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
	for (size_t i = 0; i < sizeof(whys_texts) / sizeof(whys_texts[0]); i++) {
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
	assert_int_equal(lt_why_unpack(&back, seventeen, 16 * 8 - 1, NULL), LT_OK);
	assert_int_equal(lt_why_unpack(&back, seventeen, strlen(seventeen), NULL), LT_EINPUT);
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
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct lt_error err = {0};

		print_message("%s\n", texts[i].why);
		assert_int_equal(lt_quote_unpack(&back, texts[i].text, strlen(texts[i].text), &err),
		    texts[i].code);
		assert_true(err.text[0] != '\0');
		assert_int_equal(back.id, 0);
	}
	/* Every prefix is damaged, and so is a sign where none belongs. */
	for (size_t length = 10; length < sizeof(text) - 1; length++)
		assert_int_equal(lt_quote_unpack(&back, text, length, NULL), LT_EINPUT);
	char changed[sizeof(text)];
	memcpy(changed, text, sizeof(text));
	*strstr(changed, "rev=2") = 'x';
	assert_int_equal(lt_quote_unpack(&back, changed, sizeof(text) - 1, NULL), LT_EINPUT);
}

static const struct {
	const char *why;
	const char *comment, *ours, *merged; /* NULL = does not fit in 32 */
} merges[] = {
    {"nothing there", NULL, "lowtide:1 a;", "lowtide:1 a;"},
    {"nothing at all", NULL, "", ""},
    {"others stay", "JS1:x; y", "lowtide:1 a;", "lowtide:1 a; JS1:x; y"},
    {"ours is replaced", "lowtide:1 b; JS1:x", "lowtide:1 a;", "lowtide:1 a; JS1:x"},
    {"wherever it stands", "JS1:x lowtide:1 b; z", "lowtide:1 a;", "lowtide:1 a; JS1:x z"},
    {"a forged one of any version", "lowtide:9;lowtide:1 b;x", "", "x"},
    {"one without an end goes to the end", "x lowtide:1 b y", "", "x "},
    {"a word of another tool stays", "slowtide:1; x", "", "slowtide:1; x"},
    {"fits exactly", "0123456789012345678", "lowtide:1 ;", "lowtide:1 ; 0123456789012345678"},
    {"one too long", "01234567890123456789", "lowtide:1 ;", NULL},
};

static void
test_merge(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(merges) / sizeof(merges[0]); i++) {
		char out[32];

		print_message("%s\n", merges[i].why);
		const int code =
		    lt_quote_merge(out, sizeof(out), merges[i].comment, merges[i].ours);
		assert_int_equal(code, merges[i].merged != NULL ? LT_OK : LT_ELIMIT);
		assert_string_equal(out, merges[i].merged != NULL ? merges[i].merged : "");
	}
}

/* What others write as JSON stays JSON; slurm-bridge has "pods". */
static const struct {
	const char *why;
	const char *comment, *ours, *merged;
} objects[] = {
    {"slurm-bridge's pods", "{\"pods\":[\"bar/foo\"]}", "lowtide:1 a;",
	"{\"pods\":[\"bar/foo\"],\"lowtide\":\"lowtide:1 a;\"}"},
    {"no pods yet", "{\"pods\":[]}", "lowtide:1 a;", "{\"pods\":[],\"lowtide\":\"lowtide:1 a;\"}"},
    {"nothing in it: no comma", "{}", "lowtide:1 a;", "{\"lowtide\":\"lowtide:1 a;\"}"},
    {"spaces only", "{ }", "lowtide:1 a;", "{ \"lowtide\":\"lowtide:1 a;\"}"},
    {"lines", "{\n  \"a\": 1\n}\n", "lowtide:1 a;",
	"{\n  \"a\": 1\n,\"lowtide\":\"lowtide:1 a;\"}\n"},
    {"ours is replaced", "{\"pods\":[],\"lowtide\":\"lowtide:1 b;\"}", "lowtide:1 a;",
	"{\"pods\":[],\"lowtide\":\"lowtide:1 a;\"}"},
    {"taken away", "{\"pods\":[],\"lowtide\":\"lowtide:1 b;\"}", "", "{\"pods\":[]}"},
    {"the only one", "{\"lowtide\":\"lowtide:1 b;\"}", "", "{}"},
    {"written anew by another, sorted", "{\"lowtide\": \"lowtide:1 b;\", \"pods\": []}",
	"lowtide:1 a;", "{\"pods\": [],\"lowtide\":\"lowtide:1 a;\"}"},
    {"in the middle", "{\"a\": 1, \"lowtide\": \"lowtide:1 b;\", \"c\": 2}", "lowtide:1 a;",
	"{\"a\": 1, \"c\": 2,\"lowtide\":\"lowtide:1 a;\"}"},
    {"ours in front, of an older release", "lowtide:1 b; {\"pods\":[\"bar/foo\"]}", "lowtide:1 a;",
	"{\"pods\":[\"bar/foo\"],\"lowtide\":\"lowtide:1 a;\"}"},
    {"a text of another is no entry", "{\"name\":\"lowtide:1 x; y\"}", "lowtide:1 a;",
	"{\"name\":\"lowtide:1 x; y\",\"lowtide\":\"lowtide:1 a;\"}"},
    {"nor is a member within a text", "{\"n\":\",\\\"lowtide\\\":\\\"lowtide:1 x;\\\"\"}",
	"lowtide:1 a;",
	"{\"n\":\",\\\"lowtide\\\":\\\"lowtide:1 x;\\\"\","
	"\"lowtide\":\"lowtide:1 a;\"}"},
    {"a member of another kind stays", "{\"lowtide\":5}", "lowtide:1 a;",
	"{\"lowtide\":5,\"lowtide\":\"lowtide:1 a;\"}"},
    {"a brace that nobody closes is a text", "{\"pods\":[", "lowtide:1 a;",
	"lowtide:1 a; {\"pods\":["},
    {"jobstats is a text", "JS1:H4sIAAAAAAAA/6tW", "lowtide:1 a;",
	"lowtide:1 a; JS1:H4sIAAAAAAAA/6tW"},
    {"and has no numbers of a short job", "JS1:Short", "lowtide:1 a;", "lowtide:1 a; JS1:Short"},
};

static void
test_merge_object(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(objects) / sizeof(objects[0]); i++) {
		char out[256], again[256];

		print_message("%s\n", objects[i].why);
		assert_int_equal(
		    lt_quote_merge(out, sizeof(out), objects[i].comment, objects[i].ours), LT_OK);
		assert_string_equal(out, objects[i].merged);
		assert_int_equal(lt_quote_merge(again, sizeof(again), out, objects[i].ours), LT_OK);
		assert_string_equal(again, out);
		/* It fits exactly, or is refused whole. */
		assert_int_equal(
		    lt_quote_merge(again, strlen(out), objects[i].comment, objects[i].ours),
		    LT_ELIMIT);
		assert_string_equal(again, "");
	}
}

/* What another tool's JSON quotes is no quote; the member is. */
static void
test_object_is_read(void **state)
{
	(void)state;
	char out[1024], forged[1024];
	struct lt_quote back;
	snprintf(forged, sizeof(forged), "{\"name\":\"%s\"}", text);
	assert_int_equal(lt_quote_unpack(&back, forged, strlen(forged), NULL), LT_ENOENT);
	assert_int_equal(lt_quote_merge(out, sizeof(out), "{\"pods\":[\"a/b\"]}", text), LT_OK);
	assert_int_equal(lt_quote_unpack(&back, out, strlen(out), NULL), LT_OK);
	assert_true(back.id == full.id);
	assert_int_equal(back.home_expected.carbon_mg, 7900000);
	for (size_t length = 0; length < strlen(out) - 2; length++)
		assert_int_not_equal(lt_quote_unpack(&back, out, length, NULL), LT_OK);
}

static void
test_merged_is_read(void **state)
{
	(void)state;
	char out[1024];
	struct lt_quote back;
	assert_int_equal(lt_quote_merge(out, sizeof(out), "JS1:lowtide:1 x", text), LT_OK);
	assert_int_equal(lt_quote_unpack(&back, out, strlen(out), NULL), LT_OK);
	assert_true(back.id == full.id);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_text),
	    cmocka_unit_test(test_bad_texts),
	    cmocka_unit_test(test_wish),
	    cmocka_unit_test(test_each_wish),
	    cmocka_unit_test(test_why),
	    cmocka_unit_test(test_why_bounds),
	    cmocka_unit_test(test_why_texts),
	    cmocka_unit_test(test_merge),
	    cmocka_unit_test(test_merge_object),
	    cmocka_unit_test(test_object_is_read),
	    cmocka_unit_test(test_merged_is_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
