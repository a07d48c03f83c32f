/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * YAML as kubectl reads it: each document by the JSON that is made of it, or by what it is refused
 * with.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "manifest.h"

static const struct {
	const char *why, *text;
	const char *json; /* of it, keys sorted; NULL: refused, */
	const char *says; /* with this */
} cases[] = {
    {"JSON", "{\"a\": [1, \"1\"]}", "{\"a\":[1,\"1\"]}", NULL},
    {"JSON with a BOM is YAML too", "\xEF\xBB\xBF{\"a\": 1}", "{\"a\":1}", NULL},
    {"JSON as only YAML has it", "{a: b, c: [d]}", "{\"a\":\"b\",\"c\":[\"d\"]}", NULL},
    {"a block", "a:\n  b: 1\n  c:\n  - x\n  - y: z\n",
	"{\"a\":{\"b\":1,\"c\":[\"x\",{\"y\":\"z\"}]}}", NULL},
    {"what is plain", "a: [yes, On, y, no, OFF, ~, null, 12, -3, 0x1f, 010, 1.5, 1e3]",
	"{\"a\":[true,true,true,false,false,null,null,12,-3,31,8,1.5,1000.0]}", NULL},
    {"what is only like it", "a: [yesterday, 500m, 1.2.3, 08x, \"12\", 'true', 1_0, +, ., -, 0x]",
	"{\"a\":[\"yesterday\",\"500m\",\"1.2.3\",\"08x\",\"12\",\"true\","
	"\"1_0\",\"+\",\".\",\"-\",\"0x\"]}",
	NULL},
    {"a time is a text", "a: 2026-11-28T08:00", "{\"a\":\"2026-11-28T08:00\"}", NULL},
    {"more than fits", "a: 99999999999999999999", "{\"a\":1e20}", NULL},
    {"nothing", "a:\nb: {}\n", "{\"a\":null,\"b\":{}}", NULL},
    {"lines", "a: |\n  x\n  y\n", "{\"a\":\"x\\ny\\n\"}", NULL},
    {"a text by its tag", "a: !!str 12", "{\"a\":\"12\"}", NULL},
    {"an empty document before it", "---\n---\na: 1\n...\n", "{\"a\":1}", NULL},
    {"an anchor that nobody uses", "a: &x 1", "{\"a\":1}", NULL},

    {"empty", "", NULL, "job.yaml: got no object"},
    {"a list", "- a", NULL, "job.yaml: got no object"},
    {"a text", "a", NULL, "job.yaml: got no object"},
    {"a second document", "a: 1\n---\nb: 2\n", NULL, "job.yaml:2:1: a second document"},
    {"an alias", "a: &x 1\nb: *x\n", NULL, "job.yaml:2:4: an alias"},
    {"a merge key", "<<: {a: 1}", NULL, "job.yaml:1:1: a merge key"},
    {"a tag", "a: !!binary aGk=", NULL, "job.yaml:1:4: a tag"},
    {"twice", "a: 1\na: 2\n", NULL, "job.yaml:2:4: there twice: a"},
    {"a key that is no text", "{[a]: 1}", NULL, "a key must be a text"},
    {"a NUL", "a: \"x\\0y\"", NULL, "job.yaml:1:4: a NUL"},
    {"not closed", "a: [1", NULL, "job.yaml:2:1: YAML: "},
    {"a tab", "a:\n\tb: 1", NULL, "job.yaml:2:1: YAML: "},
};

static int
parse(json_t **json, const char *bytes, size_t length, struct lt_error *err)
{
	const struct lt_manifest_text text = {"job.yaml", bytes, length};

	*json = NULL;
	return lt_manifest_parse(json, &text, err);
}

static void
test_texts(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct lt_error err = {0};
		json_t *json, *want;
		const int code = parse(&json, cases[i].text, strlen(cases[i].text), &err);

		if (cases[i].json == NULL) {
			if (code == LT_OK || json != NULL ||
			    strstr(err.text, cases[i].says) == NULL)
				fail_msg("%s: %d, \"%s\"", cases[i].why, code, err.text);
			continue;
		}
		want = json_loads(cases[i].json, 0, NULL);
		assert_non_null(want);
		if (code != LT_OK || !json_equal(json, want))
			fail_msg("%s: %d, \"%s\", %s", cases[i].why, code, err.text,
			    json_dumps(json, JSON_COMPACT));
		json_decref(json);
		json_decref(want);
	}
}

/* The deepest that is read, and one more; the longest, and one more. */
static void
test_limits(void **state)
{
	char deep[2 * LT_MANIFEST_DEPTH_MAX + 3];
	char *const longest = malloc(LT_MANIFEST_BYTES_MAX + 1);
	struct lt_error err = {0};
	json_t *json;

	(void)state;
	for (int depth = LT_MANIFEST_DEPTH_MAX - 1; depth <= LT_MANIFEST_DEPTH_MAX; depth++) {
		memcpy(deep, "a: ", 3);
		memset(deep + 3, '[', (size_t)depth);
		memset(deep + 3 + depth, ']', (size_t)depth);
		const int code = parse(&json, deep, 3 + 2 * (size_t)depth, &err);

		assert_int_equal(code == LT_OK, depth < LT_MANIFEST_DEPTH_MAX);
		json_decref(json);
	}
	assert_non_null(strstr(err.text, "nested too deep"));
	assert_non_null(longest);
	memset(longest, '\n', LT_MANIFEST_BYTES_MAX + 1);
	memcpy(longest, "a: 1", 4);
	err = (struct lt_error){0};
	assert_int_equal(parse(&json, longest, LT_MANIFEST_BYTES_MAX, &err), LT_OK);
	json_decref(json);
	assert_int_equal(parse(&json, longest, LT_MANIFEST_BYTES_MAX + 1, &err), LT_ELIMIT);
	free(longest);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_texts),
	    cmocka_unit_test(test_limits),
	};

	return cmocka_run_group_tests_name("manifest", tests, NULL, NULL);
}
