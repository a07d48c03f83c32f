/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Accounts whose jobs a partition refuses, and those whose default QOS it takes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>

#include "tables.h"

static struct lt_batch_account accounts[] = {
    {"root", ""}, {"lab", "root"}, {"below", "lab"}, {"vision", "root"}, {"empty", "root"}};
static struct lt_batch_pair pairs[] = {
    {.account = "vision", .uid = 1, .default_qos = "normal"},
    {.account = "lab", .uid = 1, .default_qos = "long"},
    {.account = "vision", .uid = 2, .default_qos = "normal"},
    {.account = "below", .uid = 2, .default_qos = "normal"},
    {.account = "below", .uid = 3, .default_qos = "long"},
    {.account = "tied", .uid = 3, .by_partition = true, .default_qos = ""},
    {.account = "tied", .uid = 4, .default_qos = "normal"},
};
static struct lt_batch_tie ties[] = {{"lab", "p1"}, {"tied", "p2"}, {"vision", "p6"}};

struct row {
	const char *deny_accounts, *allow_qos, *deny_qos;
	const char *denied, *qos_accounts;
};
static const struct row rows[] = {
    {"", "", "", ",tied", ""},
    {"", "normal", "", ",tied,lab", "vision,"},
    {"", "short,long", "", ",tied,tied", "lab,"},
    {"", "short", "", ",tied", ""},
    /* All that have one default, and not this. */
    {"", "", "long", ",tied", "vision,"},
    {"", "", "short", ",tied", "lab,vision,"},
    {"lab", "normal", "", "lab,lab,below,tied,vision", "vision,"},
};
enum { ROWS = sizeof(rows) / sizeof(rows[0]) };

static void
each_partition_has_its_lists(void **state)
{
	struct lt_partition partitions[ROWS] = {0};
	struct lt_tables tables = {.partitions = partitions,
	    .partition_count = ROWS,
	    .accounts = accounts,
	    .account_count = sizeof(accounts) / sizeof(accounts[0]),
	    .pairs = pairs,
	    .pair_count = sizeof(pairs) / sizeof(pairs[0]),
	    .ties = ties,
	    .tie_count = sizeof(ties) / sizeof(ties[0])};
	struct lt_error err = {0};

	(void)state;
	for (int i = 0; i < ROWS; i++) {
		(void)snprintf(partitions[i].name, sizeof(partitions[i].name), "p%d", i);
		partitions[i].deny_accounts = rows[i].deny_accounts;
		partitions[i].allow_qos = rows[i].allow_qos;
		partitions[i].deny_qos = rows[i].deny_qos;
	}
	assert_int_equal(lt_close_accounts(&tables, &err), LT_OK);
	for (int i = 0; i < ROWS; i++) {
		assert_string_equal(partitions[i].deny_accounts, rows[i].denied);
		assert_string_equal(partitions[i].qos_accounts, rows[i].qos_accounts);
	}
	free(tables.closed);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(each_partition_has_its_lists),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
