/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The reader of EC2's answers: what it takes, and what it refuses and where.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "aws.h"
#include "source_fixture.h"

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

/* All items as "a=1,b=2;". */
static int
take(void *context, const struct lt_aws_text texts[LT_AWS_FIELDS_MAX], struct lt_error *err)
{
	char *const out = context;
	char one[64], two[64];

	lt_aws_text_copy(one, sizeof(one), &texts[0]);
	lt_aws_text_copy(two, sizeof(two), &texts[1]);
	if (strcmp(one, "stop") == 0)
		return lt_fail(err, LT_ELIMIT, "stopped");
	snprintf(out + strlen(out), 256 - strlen(out), "%s%s,%s%s;", one,
	    texts[0].at == NULL ? "-" : "", two, texts[1].at == NULL ? "-" : "");
	return LT_OK;
}

static const struct lt_aws_items items = {
    .root = "R", .set = "set", .fields = {"one", "two"}, .take = take};

#define DEEP8 "<a><a><a><a><a><a><a><a>"

static const struct {
	const char *why, *bytes;
	const char *says; /* NULL = good */
	int line, column;
	const char *items, *next; /* next NULL = none */
} cases[] = {
    {.why = "nothing", .bytes = "", .says = "empty, want XML"},
    {.why = "blanks", .bytes = " \n", .says = "empty, want XML"},
    {.why = "words", .bytes = "Service Unavailable", .says = "not XML", .line = 1, .column = 1},
    {.why = "words after it",
	.bytes = "<R></R>\nand more",
	.says = "not XML",
	.line = 1,
	.column = 8},
    {.why = "JSON", .bytes = "{\"a\":1}", .says = "not XML", 1, 1},
    {.why = "another root",
	.bytes = "<?xml version=\"1.0\"?>\n<Response/>",
	.says = "XML of <Response>, want <R>",
	.line = 2,
	.column = 2},
    {.why = "cut off in a text",
	.bytes = "<R><set><item><one>1",
	.says = "cut off",
	.line = 1,
	.column = 21},
    {.why = "cut off in a tag",
	.bytes = "<R><set",
	.says = "cut off within a tag",
	.line = 1,
	.column = 4},
    {.why = "cut off after a bracket", .bytes = "<R><", .says = "cut off", 1, 4},
    {.why = "cut off in an end", .bytes = "<R></R", .says = "cut off", 1, 4},
    {.why = "cut off in a comment", .bytes = "<R><!-- ", .says = "cut off", 1, 4},
    {.why = "cut off in an attribute",
	.bytes = "<R a=\"></R>",
	.says = "cut off",
	.line = 1,
	.column = 1},
    {.why = "ends that cross",
	.bytes = "<R><set></R></set>",
	.says = "the end of another element",
	.line = 1,
	.column = 9},
    {.why = "an end of the same beginning",
	.bytes = "<R><set></sets></R>",
	.says = "the end of another element",
	.line = 1,
	.column = 9},
    {.why = "an end too many",
	.bytes = "<R/></R>",
	.says = "an end without a start",
	.line = 1,
	.column = 5},
    {.why = "two roots", .bytes = "<R/><R/>", .says = "a second root", .line = 1, .column = 6},
    {.why = "no name", .bytes = "<R><></></R>", .says = "without name", 1, 5},
    {.why = "a DTD",
	.bytes = "<!DOCTYPE R [<!ENTITY a \"b\">]><R/>",
	.says = "a DTD or CDATA",
	.line = 1,
	.column = 1},
    {.why = "CDATA",
	.bytes = "<R><set><item><one><![CDATA[1]]></one>",
	.says = "a DTD or CDATA",
	.line = 1,
	.column = 20},
    {.why = "a comment in a price",
	.bytes = "<R><set><item><one>1<!-- 0 -->2</one>",
	.says = "a comment where text is",
	.line = 1,
	.column = 21},
    {.why = "an element in a price",
	.bytes = "<R><set><item><one>1<b>0</b></one>",
	.says = "elements where text is",
	.line = 1,
	.column = 22},
    {.why = "33 levels",
	.bytes = "<R>" DEEP8 DEEP8 DEEP8 DEEP8,
	.says = "too many levels",
	.line = 1,
	.column = 98},
    {.why = "what the taker says",
	.bytes = "<R><set><item><one>stop</one></item><bad>",
	.says = "stopped"},
    {.why = "no items", .bytes = "<R><set/></R>", .items = ""},
    {.why = "no set", .bytes = "\xEF\xBB\xBF<R/>\n", .items = ""},
    {.why = "items",
	.bytes = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<R xmlns=\"http"
		 "://x/?a>b\">\n <id>7</id>\n <set>\n  <item>\n   <two>2</two>"
		 "\n   <x><one>9</one></x><one>1</one>\n  </item><item/>"
		 "<item><one/></item></set><nextToken></nextToken></R >",
	.items = "1,2;-,-;,-;",
	.next = ""},
    {.why = "prefixes, entities, comments",
	.bytes = "<a:R><!-- > --><a:set><a:item><a:one>&lt;&amp;lt;&quot;"
		 "&apos;&gt;&b</a:one></a:item></a:set><nextToken>a&amp;="
		 "</nextToken></a:R>",
	.items = "<&lt;\"'>&b,-;",
	.next = "a&="},
    {.why = "items of another set",
	.bytes = "<R><other><item><one>1</one></item></other><set><item><two>"
		 "2</two></item></set><other><item><one>1</one></item></other>"
		 "</R>",
	.items = "-,2;"},
    {.why = "a token within the set is none",
	.bytes = "<R><set><nextToken>no</nextToken></set></R>",
	.items = "-,-;"},
};

static void
test_read(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		const char *const why = cases[i].why;
		char out[256] = "", next_text[64];
		struct lt_aws_page page = {
		    .bytes = cases[i].bytes, .byte_count = strlen(cases[i].bytes)};
		struct lt_error err = {0};
		const int code = lt_aws_items_read(&items, out, &page, &err);

		if ((code == LT_OK) != (cases[i].says == NULL) || err.line != cases[i].line ||
		    err.column != cases[i].column)
			fail_msg("%s: %d, line %d, column %d: %s", why, code, err.line, err.column,
			    err.text);
		if (code != LT_OK) {
			assert_says(why, &err, cases[i].says);
			continue;
		}
		assert_string_equal(out, cases[i].items);
		assert_int_equal(lt_aws_text_copy(next_text, sizeof(next_text), &page.next),
		    cases[i].next != NULL);
		assert_string_equal(next_text, cases[i].next == NULL ? "" : cases[i].next);
	}
}

/* Every beginning of a good answer but the whole is refused. */
static void
test_cut(void **state)
{
	static const char bytes[] = "<?xml version=\"1.0\"?><R a='b'><set><item><one>1</one></item>"
				    "</set><nextToken>x</nextToken></R>";

	(void)state;
	for (size_t length = 0; length < sizeof(bytes); length++) {
		char out[256] = "";
		struct lt_aws_page page = {.bytes = bytes, .byte_count = length};
		struct lt_error err = {0};
		const int code = lt_aws_items_read(&items, out, &page, &err);

		assert_int_equal(code, length == sizeof(bytes) - 1 ? LT_OK : LT_EINPUT);
		assert_int_equal(code == LT_OK, err.text[0] == '\0');
	}
}

static void
test_utf16(void **state)
{
	static const char bytes[] = {'<', 0, 'R', 0, '/', 0, '>', 0};
	struct lt_aws_page page = {.bytes = bytes, .byte_count = sizeof(bytes)};
	struct lt_error err = {0};

	(void)state;
	assert_int_equal(lt_aws_items_read(&items, NULL, &page, &err), LT_EINPUT);
	assert_says("UTF-16", &err, "not XML in UTF-8: a NUL byte");
}

static void
test_copy(void **state)
{
	const struct lt_aws_text text = {"a&amp;b", 7}, none = {NULL, 0};
	char out[4];

	(void)state;
	assert_true(lt_aws_text_copy(out, 4, &text));
	assert_string_equal(out, "a&b");
	assert_false(lt_aws_text_copy(out, 3, &text));
	assert_string_equal(out, "");
	assert_false(lt_aws_text_copy(out, 4, &none));
	assert_false(lt_aws_text_is(&none, ""));
	assert_true(lt_aws_text_is(&text, "a&amp;b"));
	assert_false(lt_aws_text_is(&text, "a&amp;bc"));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_read),
	    cmocka_unit_test(test_cut),
	    cmocka_unit_test(test_utf16),
	    cmocka_unit_test(test_copy),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
