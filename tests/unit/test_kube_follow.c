/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lists in pages and watches, against a server that answers a script: what is asked, and what the
 * callbacks get, in order.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "http.h"
#include "kube_server.h"
#include "source_fixture.h"

/* The callbacks' words, and when they end it. */
struct record {
	char text[4096];
	const char *until; /* this object's name, or NULL */
	int stop_after_ms; /* 0 = never */
	int64_t begin_ms;
	struct lt_kube *nested; /* asked within item(), or NULL */
};

static char port[16];

static void record_add(struct record *record, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void
record_add(struct record *record, const char *format, ...)
{
	const size_t used = strlen(record->text);
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(record->text + used, sizeof(record->text) - used, format, arguments);
	va_end(arguments);
}

static bool
on_begin(void *context)
{
	record_add(context, "begin ");
	return true;
}

static bool
on_item(void *context, const struct lt_kube_item *item)
{
	static const char *const marks[] = {"", "+", "~", "-"};
	struct record *const record = context;
	const char *const name =
	    json_string_value(json_object_get(json_object_get(item->object, "metadata"), "name"));

	record_add(record, "%s%s@%s ", marks[item->change], name, item->resource_version);
	if (record->nested != NULL &&
	    lt_kube_do(record->nested, &(struct lt_kube_request){.path = "/nested"}, NULL, NULL) !=
		LT_OK)
		record_add(record, "nested? ");
	return record->until == NULL || strcmp(record->until, name) != 0;
}

static bool
on_end(void *context, const char *resource_version)
{
	record_add(context, "end@%s ", resource_version);
	return true;
}

static void
on_report(void *context, const struct lt_error *err)
{
	record_add(context, "[%s] ", err->text);
}

static bool
on_stop(void *context)
{
	const struct record *const record = context;

	return record->stop_after_ms > 0 &&
	       lt_monotonic_ms() - record->begin_ms > record->stop_after_ms;
}

static struct lt_kube_follow
follow_of(struct record *record)
{
	record->begin_ms = lt_monotonic_ms();
	return (struct lt_kube_follow){
	    .path = "/pods",
	    .query = "labelSelector=a%3Db",
	    .page = 4,
	    .begin = on_begin,
	    .item = on_item,
	    .end = on_end,
	    .report = on_report,
	    .stop = on_stop,
	    .context = record,
	};
}

static struct lt_kube *
kube_open(void)
{
	const struct lt_kube_place place = {
	    .account_dir = kube_server.dir, .host = "127.0.0.1", .port = port};
	struct lt_kube *kube = NULL;
	struct lt_error err = {0};

	kube_file("token", "first\n");
	if (lt_kube_open(&kube, &place, &err) != LT_OK)
		fail_msg("%s", err.text);
	return kube;
}

#define OBJECT(name, version)                                                                      \
	"{\"metadata\":{\"name\":\"" name "\",\"resourceVersion\":\"" version "\"}}"
#define CHANGE(type, name, version) "{\"type\":\"" type "\",\"object\":" OBJECT(name, version) "}\n"
#define BOOKMARK(version)                                                                          \
	"{\"type\":\"BOOKMARK\",\"object\":{\"kind\":\"Pod\",\"metadata\":{"                       \
	"\"resourceVersion\":\"" version "\"}}}\n"
#define STATUS(code) "{\"kind\":\"Status\",\"message\":\"so it is\",\"code\":" #code "}"
#define ERROR_EVENT(code) "{\"type\":\"ERROR\",\"object\":" STATUS(code) "}\n"
#define LIST(version, items)                                                                       \
	"{\"kind\":\"PodList\",\"metadata\":{\"resourceVersion\":\"" version                       \
	"\"},\"items\":[" items "]}"
#define PAGE(version, token, items)                                                                \
	"{\"kind\":\"PodList\",\"metadata\":{\"resourceVersion\":\"" version                       \
	"\",\"continue\":\"" token "\"},\"items\":[" items "]}"

#define FIRST_PAGE "GET /pods?limit=4&labelSelector=a%3Db; Bearer first;"
#define NEXT_PAGE(token) "GET /pods?limit=4&labelSelector=a%3Db&continue=" token ";"
#define WATCH(version)                                                                             \
	"GET /pods?watch=1&allowWatchBookmarks=true&resourceVersion=" version "&timeoutSeconds="

#define DEEP8 "[[[[[[[["
#define UP8 "]]]]]]]]"

static const struct {
	const char *why;
	struct turn turns[TURNS_MAX];
	int code, asked;
	const char *got;
} lists[] = {
    {"no object", {{FIRST_PAGE, 0, LIST("7", ""), NULL, NULL, NULL}}, LT_OK, 1, "begin end@7 "},
    {"items is null",
	{{FIRST_PAGE, 0, "{\"metadata\":{\"resourceVersion\":\"7\"},\"items\":null}", NULL, NULL,
	    NULL}},
	LT_OK, 1, "begin end@7 "},
    {"pages, and a token that must be encoded",
	{{FIRST_PAGE, 0, PAGE("7", "A/=", OBJECT("a", "1") "," OBJECT("b", "2")), NULL, NULL, NULL},
	    {NEXT_PAGE("A%2F%3D"), 0, PAGE("7", "B", OBJECT("c", "3")), NULL, NULL, NULL},
	    {NEXT_PAGE("B"), 0, LIST("7", OBJECT("d", "4")), NULL, NULL, NULL}},
	LT_OK, 3, "begin a@1 b@2 c@3 d@4 end@7 "},
    {"metadata after the items, and blanks",
	{{FIRST_PAGE, 0,
	    "{ \"items\" : [ " OBJECT("a", "1") " , " OBJECT(
		"b", "2") " ] ,\n \"metadata\" : { \"resourceVersion\" : \"7\" } }\n",
	    NULL, NULL, NULL}},
	LT_OK, 1, "begin a@1 b@2 end@7 "},
    {"a token that has expired",
	{{FIRST_PAGE, 0, PAGE("7", "A", OBJECT("a", "1")), NULL, NULL, NULL},
	    {NEXT_PAGE("A"), 410, STATUS(410), NULL, NULL, NULL},
	    {FIRST_PAGE, 0, LIST("9", OBJECT("b", "8")), NULL, NULL, NULL}},
	LT_OK, 3, "begin a@1 begin b@8 end@9 "},
    {"a token that expires each time",
	{{FIRST_PAGE, 0, PAGE("7", "A", ""), NULL, NULL, NULL},
	    {NEXT_PAGE("A"), 410, STATUS(410), NULL, NULL, NULL},
	    {FIRST_PAGE, 0, PAGE("7", "A", ""), NULL, NULL, NULL},
	    {NEXT_PAGE("A"), 410, STATUS(410), NULL, NULL, NULL},
	    {FIRST_PAGE, 0, PAGE("7", "A", ""), NULL, NULL, NULL},
	    {NEXT_PAGE("A"), 410, STATUS(410), NULL, NULL, NULL}},
	LT_ESTALE, 6, "begin begin begin "},
    {"a page that is asked to wait for",
	{{FIRST_PAGE, 429, STATUS(429), NULL, "1", NULL},
	    {FIRST_PAGE, 0, LIST("7", ""), NULL, NULL, NULL}},
	LT_OK, 2, "begin end@7 "},
    {"no rights", {{FIRST_PAGE, 403, STATUS(403), NULL, NULL, NULL}}, LT_EDENIED, 1, "begin "},
    {"no list", {{FIRST_PAGE, 0, "{\"items\":[]}", NULL, NULL, NULL}}, LT_ENET, 1, "begin "},
    {"a list without a version",
	{{FIRST_PAGE, 0, "{\"metadata\":{},\"items\":[]}", NULL, NULL, NULL}}, LT_ENET, 1,
	"begin "},
    {"a comma too many is not ours to judge",
	{{FIRST_PAGE, 0,
	    "{\"metadata\":{\"resourceVersion\":\"7\"},\"items\":[" OBJECT("a", "1") ",]}", NULL,
	    NULL, NULL}},
	LT_OK, 1, "begin a@1 end@7 "},
    {"a list that breaks off",
	{{FIRST_PAGE, 0,
	    "{\"metadata\":{\"resourceVersion\":\"7\"},\"items\":[" OBJECT("a", "1") ",{", NULL,
	    NULL, NULL}},
	LT_ENET, 1, "begin "},
    {"an item that is none", {{FIRST_PAGE, 0, LIST("7", OBJECT("a", "1") ",,"), NULL, NULL, NULL}},
	LT_ENET, 1, "begin a@1 "},
    {"an object over the bounds is left out, by its name",
	{{FIRST_PAGE, 0,
	    LIST("7", OBJECT("a", "1") ",{\"metadata\":{\"name\":\"evil\","
				       "\"namespace\":\"t\",\"x\":" DEEP8 DEEP8 DEEP8 DEEP8 UP8 UP8
					   UP8 UP8 "}}," OBJECT("b", "2")),
	    NULL, NULL, NULL}},
	LT_OK, 1,
	"begin a@1 [/pods: t/evil, left out: JSON with more than 32 levels] "
	"b@2 end@7 "},
    {"a text with a NUL byte is no reason",
	{{FIRST_PAGE, 0, LIST("7", "{\"metadata\":{\"name\":\"a\\u0000b\"}}"), NULL, NULL, NULL}},
	LT_OK, 1, "begin a@ end@7 "},
};

static void
test_lists(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
		struct record record = {0};
		const struct lt_kube_follow follow = follow_of(&record);
		struct lt_kube *const kube = kube_open();
		struct lt_error err = {0};

		kube_script(lists[i].turns);
		const int code = lt_kube_list(kube, &follow, &err);
		if (kube_server.problem[0] != '\0')
			fail_msg("%s: %s", lists[i].why, kube_server.problem);
		if (code != lists[i].code || kube_server.next != lists[i].asked)
			fail_msg("%s: %d %s, %d requests", lists[i].why, code, err.text,
			    kube_server.next);
		if (code != LT_OK)
			assert_says(lists[i].why, &err, "/pods: ");
		if (strcmp(record.text, lists[i].got) != 0)
			fail_msg(
			    "%s: got \"%s\", want \"%s\"", lists[i].why, record.text, lists[i].got);
		lt_kube_close(kube);
	}
}

/* A page that is too long for us is asked for at half the objects. */
static void
test_long_page(void **state)
{
	static const struct step steps[] = {
	    {0, "{\"items\":[\"", 0, false},
	    {0, "................................................................", 300000, false},
	    {0, NULL, 0, false},
	};
	static const struct turn turns[] = {
	    {FIRST_PAGE, 0, NULL, steps, NULL, NULL},
	    {"GET /pods?limit=2&", 0, PAGE("7", "A", OBJECT("a", "1")), NULL, NULL, NULL},
	    {"GET /pods?limit=2&labelSelector=a%3Db&continue=A;", 0, LIST("7", OBJECT("b", "2")),
		NULL, NULL, NULL},
	    {.asks = NULL},
	};
	struct record record = {0};
	const struct lt_kube_follow follow = follow_of(&record);
	struct lt_kube *const kube = kube_open();
	struct lt_error err = {0};

	(void)state;
	kube_script(turns);
	if (lt_kube_list(kube, &follow, &err) != LT_OK)
		fail_msg("%s", err.text);
	assert_string_equal(kube_server.problem, "");
	assert_string_equal(record.text, "begin a@1 b@2 end@7 ");
	lt_kube_close(kube);
}

#define STEPS(...)                                                                                 \
	(const struct step[])                                                                      \
	{                                                                                          \
		__VA_ARGS__,                                                                       \
		{                                                                                  \
			0, NULL, 0, false                                                          \
		}                                                                                  \
	}
#define CUT(...)                                                                                   \
	(const struct step[])                                                                      \
	{                                                                                          \
		__VA_ARGS__,                                                                       \
		{                                                                                  \
			0, NULL, 0, true                                                           \
		}                                                                                  \
	}
#define SAY(text)                                                                                  \
	{                                                                                          \
		0, text, 0, false                                                                  \
	}
#define LATER(ms, text)                                                                            \
	{                                                                                          \
		ms, text, 0, false                                                                 \
	}
#define LISTED                                                                                     \
	{                                                                                          \
		FIRST_PAGE, 0, LIST("10", OBJECT("a", "9")), NULL, NULL, NULL                      \
	}
#define LISTED_ANEW                                                                                \
	{                                                                                          \
		FIRST_PAGE, 0, LIST("30", OBJECT("z", "29")), NULL, NULL, NULL                     \
	}
/* The object that ends each script. */
#define LAST(version)                                                                              \
	{                                                                                          \
		WATCH(version), 0, NULL, STEPS(SAY(CHANGE("ADDED", "last", "99"))), NULL, NULL     \
	}

#define FORBIDDEN "[/pods: HTTP status 403: so it is] "

static const struct {
	const char *why;
	struct turn turns[TURNS_MAX];
	const char *got;
} watches[] = {
    {"changes, and on from the last one",
	{LISTED,
	    {WATCH("10"), 0, NULL,
		STEPS(SAY(CHANGE("ADDED", "b", "11")),
		    SAY(CHANGE("MODIFIED", "b", "12") CHANGE("DELETED", "b", "13"))),
		NULL, NULL},
	    LAST("13")},
	"begin a@9 end@10 +b@11 ~b@12 -b@13 +last@99 "},
    {"a bookmark",
	{LISTED, {WATCH("10"), 0, NULL, STEPS(SAY(BOOKMARK("50"))), NULL, NULL}, LAST("50")},
	"begin a@9 end@10 +last@99 "},
    {"too old, as an event",
	{LISTED,
	    {WATCH("10"), 0, NULL, STEPS(SAY(CHANGE("ADDED", "b", "11")), SAY(ERROR_EVENT(410))),
		NULL, NULL},
	    LISTED_ANEW, LAST("30")},
	"begin a@9 end@10 +b@11 begin z@29 end@30 +last@99 "},
    {"too old, as a status",
	{LISTED, {WATCH("10"), 410, STATUS(410), NULL, NULL, NULL}, LISTED_ANEW, LAST("30")},
	"begin a@9 end@10 begin z@29 end@30 +last@99 "},
    {"cut in the midst of a line",
	{LISTED,
	    {WATCH("10"), 0, NULL,
		CUT(SAY(CHANGE("ADDED", "b", "11")), SAY("{\"type\":\"ADDED\",\"obj")), NULL, NULL},
	    LAST("11")},
	"begin a@9 end@10 +b@11 +last@99 "},
    {"a change in many parts, slowly",
	{LISTED,
	    {WATCH("10"), 0, NULL,
		STEPS(SAY("{\"type\":\"AD"), LATER(300, "DED\",\"object\":"),
		    LATER(300, OBJECT("b", "11")), LATER(300, "}"), LATER(300, "\r\n\n")),
		NULL, NULL},
	    LAST("11")},
	"begin a@9 end@10 +b@11 +last@99 "},
    {"silent for too long: on with another connection",
	{LISTED,
	    {WATCH("10"), 0, NULL, STEPS(SAY(CHANGE("ADDED", "b", "11")), LATER(15000, "\n")), NULL,
		NULL},
	    LAST("11")},
	"begin a@9 end@10 +b@11 +last@99 "},
    {"silent from its start, as without bookmarks: nothing to report",
	{LISTED, {WATCH("10"), 0, NULL, STEPS(SAY("\n"), LATER(15000, "\n")), NULL, NULL},
	    LAST("10")},
	"begin a@9 end@10 +last@99 "},
    {"a line that is no JSON",
	{LISTED, {WATCH("10"), 0, NULL, STEPS(SAY("<html>\n")), NULL, NULL}, LISTED_ANEW,
	    LAST("30")},
	"begin a@9 end@10 [/pods: a change: not JSON: '[' or '{' "
	"expected near '<'] begin z@29 end@30 +last@99 "},
    {"a type that nobody knows",
	{LISTED, {WATCH("10"), 0, NULL, STEPS(SAY(CHANGE("MOVED", "b", "11"))), NULL, NULL},
	    LISTED_ANEW, LAST("30")},
	"begin a@9 end@10 [/pods: got a line without a type that is known] "
	"begin z@29 end@30 +last@99 "},
    {"a line over the bound",
	{LISTED,
	    {WATCH("10"), 0, NULL,
		(const struct step[]){
		    {0, "................................................................", 300000,
			false},
		    {0, NULL, 0, false}},
		NULL, NULL},
	    LISTED_ANEW, LAST("30")},
	"begin a@9 end@10 [/pods: a change of more than 16777216 bytes] begin "
	"z@29 end@30 +last@99 "},
    {"a change over our bounds is left out",
	{LISTED,
	    {WATCH("10"), 0, NULL,
		STEPS(SAY("{\"type\":\"ADDED\",\"object\":" DEEP8 DEEP8 DEEP8 DEEP8 UP8 UP8 UP8 UP8
			  "}\n"),
		    SAY(CHANGE("ADDED", "b", "12"))),
		NULL, NULL},
	    LAST("12")},
	"begin a@9 end@10 [/pods: a change, left out: JSON with more than 32 "
	"levels] +b@12 +last@99 "},
    {"the server's trouble passes",
	{LISTED,
	    {WATCH("10"), 0, NULL, STEPS(SAY(CHANGE("ADDED", "b", "11")), SAY(ERROR_EVENT(500))),
		NULL, NULL},
	    {WATCH("11"), 500, STATUS(500), NULL, NULL, NULL},
	    {WATCH("11"), 429, STATUS(429), NULL, "1", NULL}, LAST("11")},
	"begin a@9 end@10 +b@11 [/pods: HTTP status 500: so it is] +last@99 "},
    {"a 401 of a watch, and the next token",
	{LISTED, {WATCH("10"), 401, STATUS(401), NULL, NULL, "second"},
	    {"; Bearer second;", 0, NULL, STEPS(SAY(CHANGE("ADDED", "last", "99"))), NULL, NULL}},
	"begin a@9 end@10 +last@99 "},
    {"no right to watch: lists from time to time",
	{LISTED, {WATCH("10"), 403, STATUS(403), NULL, NULL, NULL},
	    {WATCH("10"), 403, STATUS(403), NULL, NULL, NULL},
	    {WATCH("10"), 403, STATUS(403), NULL, NULL, NULL},
	    {WATCH("10"), 403, STATUS(403), NULL, NULL, NULL},
	    {WATCH("10"), 403, STATUS(403), NULL, NULL, NULL}, LISTED_ANEW, LAST("30")},
	"begin a@9 end@10 " FORBIDDEN FORBIDDEN FORBIDDEN FORBIDDEN FORBIDDEN
	"begin z@29 end@30 +last@99 "},
    {"a list that fails is tried again",
	{{FIRST_PAGE, 500, STATUS(500), NULL, NULL, NULL}, LISTED, LAST("10")},
	"begin [/pods: HTTP status 500: so it is] begin a@9 end@10 +last@99 "},
    {"streams without anything, five times: listed anew",
	{LISTED, {WATCH("10"), 0, NULL, NULL, NULL, NULL}, {WATCH("10"), 0, NULL, NULL, NULL, NULL},
	    {WATCH("10"), 0, NULL, NULL, NULL, NULL}, {WATCH("10"), 0, NULL, NULL, NULL, NULL},
	    {WATCH("10"), 0, NULL, NULL, NULL, NULL}, LISTED_ANEW, LAST("30")},
	"begin a@9 end@10 begin z@29 end@30 +last@99 "},
};

static void
test_watches(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(watches) / sizeof(watches[0]); i++) {
		struct record record = {.until = "last", .stop_after_ms = 30000};
		struct lt_kube_follow follow = follow_of(&record);
		struct lt_kube *const kube = kube_open();

		follow.silence_s = 1;
		follow.backoff_ms = 5;
		kube_script(watches[i].turns);
		assert_int_equal(lt_kube_follow(kube, &follow, NULL), LT_OK);
		if (kube_server.problem[0] != '\0')
			fail_msg("%s: %s", watches[i].why, kube_server.problem);
		if (strcmp(record.text, watches[i].got) != 0)
			fail_msg("%s: got \"%s\", want \"%s\"", watches[i].why, record.text,
			    watches[i].got);
		lt_kube_close(kube);
	}
}

static const struct turn silent_turns[] = {
    LISTED,
    {"GET /nested;", 0, "{}", NULL, NULL, NULL},
    {WATCH("10"), 0, NULL, STEPS(SAY(CHANGE("ADDED", "b", "11")), LATER(15000, "\n")), NULL, NULL},
    {"GET /nested;", 0, "{}", NULL, NULL, NULL},
    {.asks = NULL},
};

/* Asked in silence, too; and a callback may ask the server itself. */
static void
test_stop(void **state)
{
	struct lt_kube *const kube = kube_open();
	struct record record = {.stop_after_ms = 1000, .nested = kube};
	const struct lt_kube_follow follow = follow_of(&record);

	(void)state;
	kube_script(silent_turns);
	assert_int_equal(lt_kube_follow(kube, &follow, NULL), LT_OK);
	assert_string_equal(kube_server.problem, "");
	assert_string_equal(record.text, "begin a@9 end@10 +b@11 ");
	assert_true(lt_monotonic_ms() - record.begin_ms < 4000);
	lt_kube_close(kube);
}

/* In a pause, and before anything is asked. */
static void
test_stop_pause(void **state)
{
	static const struct turn turns[] = {
	    {FIRST_PAGE, 503, STATUS(503), NULL, "9", NULL},
	    {.asks = NULL},
	};
	struct lt_kube *const kube = kube_open();
	struct record record = {.stop_after_ms = 500};
	struct lt_kube_follow follow = follow_of(&record);

	(void)state;
	kube_script(turns);
	assert_int_equal(lt_kube_follow(kube, &follow, NULL), LT_OK);
	assert_string_equal(kube_server.problem, "");
	assert_string_equal(record.text, "begin ");
	assert_true(lt_monotonic_ms() - record.begin_ms < 2000);
	assert_int_equal(lt_kube_follow(kube, &follow, NULL), LT_OK);
	assert_string_equal(record.text, "begin ");
	follow.path = NULL;
	assert_int_equal(lt_kube_follow(kube, &follow, NULL), LT_EINPUT);
	assert_int_equal(lt_kube_list(kube, &follow, NULL), LT_EINPUT);
	lt_kube_close(kube);
}

static int
start(void **state)
{
	(void)state;
	if (kube_server_start() != 0)
		return -1;
	snprintf(port, sizeof(port), "%d", kube_server.port);
	return lt_http_init(NULL);
}

static int
end(void **state)
{
	(void)state;
	lt_http_cleanup();
	kube_server_stop();
	return 0;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_lists),
	    cmocka_unit_test(test_long_page),
	    cmocka_unit_test(test_watches),
	    cmocka_unit_test(test_stop),
	    cmocka_unit_test(test_stop_pause),
	};

	return cmocka_run_group_tests(tests, start, end);
}
