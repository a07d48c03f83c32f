/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Other names of a site: of the same form, the same one each time, never two for one; what is no
 * name of the site's stays.
 */
#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "collect_names.h"

static const struct {
	const char *why, *gres, *stays; /* the part that stays, at the end */
} gres_cases[] = {
    {"a GPU is a product", "gpu:a100:4", "gpu:a100:4"},
    {"so is a slice of one", "gpu:nvidia_a100_3g.20gb:2", "gpu:nvidia_a100_3g.20gb:2"},
    {"without a type", "gpu:8", "gpu:8"},
    {"so are its shards", "shard:a100:16", "shard:a100:16"},
    {"a size with a letter", "lscratch:800G", "lscratch:800G"},
    {"not consumed", "bandwidth:lustre:no_consume:4G", ":no_consume:4G"},
    {"a name of the site's", "secret:2", ":2"},
    {"a GPU named for a group", "gpu:groupx:2", ":2"},
};

static char *
gres_of(struct lt_aliases *aliases, const char *gres)
{
	char *text = NULL;
	size_t size = 0;
	FILE *const out = open_memstream(&text, &size);

	assert_non_null(out);
	lt_alias_gres(aliases, out, gres);
	fclose(out);
	return text;
}

static void
gres_keeps_products_and_sizes(void **state)
{
	struct lt_aliases *const aliases = lt_aliases_open();

	(void)state;
	assert_non_null(aliases);
	for (size_t i = 0; i < sizeof(gres_cases) / sizeof(gres_cases[0]); i++) {
		char *const text = gres_of(aliases, gres_cases[i].gres);
		const size_t length = strlen(text);
		const size_t stays = strlen(gres_cases[i].stays);

		if (length != strlen(gres_cases[i].gres) ||
		    strcmp(text + length - stays, gres_cases[i].stays) != 0 ||
		    strstr(text, "secret") != NULL || strstr(text, "groupx") != NULL ||
		    strstr(text, "lustre") != NULL)
			fail_msg("%s: %s became %s", gres_cases[i].why, gres_cases[i].gres, text);
		free(text);
	}
	lt_aliases_close(aliases);
}

static void
a_name_has_one_other_of_its_form(void **state)
{
	static const char name[] = "Gpu-A100_v2.x";
	struct lt_aliases *const aliases = lt_aliases_open();

	(void)state;
	const char *const other = lt_alias(aliases, LT_ALIAS_PARTITION, name);

	assert_int_equal(strlen(other), strlen(name));
	assert_string_not_equal(other, name);
	for (size_t i = 0; name[i] != '\0'; i++) {
		assert_int_equal(
		    !isdigit((unsigned char)name[i]), !isdigit((unsigned char)other[i]));
		assert_int_equal(
		    !isupper((unsigned char)name[i]), !isupper((unsigned char)other[i]));
		if (!isalnum((unsigned char)name[i]))
			assert_int_equal(name[i], other[i]);
	}
	assert_string_equal(lt_alias(aliases, LT_ALIAS_PARTITION, name), other);
	assert_string_equal(lt_alias_at(aliases, LT_ALIAS_PARTITION, 0), other);
	assert_null(lt_alias_at(aliases, LT_ALIAS_PARTITION, 1));
	assert_string_equal(lt_alias(aliases, LT_ALIAS_QOS, "normal"), "normal");
	lt_aliases_close(aliases);
}

/* More names than their form has: 26 of one letter. */
static void
no_two_names_become_one(void **state)
{
	struct lt_aliases *const aliases = lt_aliases_open();
	char name[16];

	(void)state;
	for (int i = 0; i < 40; i++) {
		if (i < 26)
			snprintf(name, sizeof(name), "%c", (char)('a' + i));
		else
			snprintf(name, sizeof(name), "%d", i - 26);
		(void)lt_alias(aliases, LT_ALIAS_FEATURE, name);
	}
	for (size_t i = 0; lt_alias_at(aliases, LT_ALIAS_FEATURE, i) != NULL; i++)
		for (size_t k = 0; k < i; k++)
			assert_string_not_equal(lt_alias_at(aliases, LT_ALIAS_FEATURE, i),
			    lt_alias_at(aliases, LT_ALIAS_FEATURE, k));
	assert_true(lt_alias_is_new(aliases, "a", "b"));
	assert_false(lt_alias_is_new(aliases, "a", "b"));
	assert_true(lt_alias_is_new(aliases, "a", ""));
	lt_aliases_close(aliases);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(gres_keeps_products_and_sizes),
	    cmocka_unit_test(a_name_has_one_other_of_its_form),
	    cmocka_unit_test(no_two_names_become_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
