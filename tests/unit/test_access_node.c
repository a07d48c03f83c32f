/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who may speak for a node, by uid and by where the credential was made. Which node an address is
 * of is said here: tests/cluster/node.bats has a real Slurm, which can't be made to be silent.
 */
#include <arpa/inet.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "access.h"
#include "batch.h"
#include "daemon.h"
#include "http.h"

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

enum { SLURM = 64030, SLURMD = 64031, ADA = 3001 };

/* n1 and n2 are nodes, "slow" is one whose name nobody resolves. */
int
lt_batch_whose_address(
    struct lt_batch_address *found, const char *node, uint32_t address, struct lt_error *err)
{
	const bool is_n1 = address == inet_addr("10.0.0.1");
	const bool is_n2 = address == inet_addr("10.0.0.2");

	*found = (struct lt_batch_address){.whose = LT_WHOSE_NO_NODE, .node_address = "10.0.0.1"};
	if (strcmp(node, "slow") == 0)
		sleep(60);
	if (strcmp(node, "gone") == 0)
		_exit(1);
	if (strcmp(node, "n1") != 0)
		return lt_fail(err, LT_ENOENT, "node %s: no such node", node);
	if (is_n1)
		found->whose = LT_WHOSE_NODE;
	if (is_n2)
		*found = (struct lt_batch_address){
		    LT_WHOSE_OTHER_NODE, .node_address = "10.0.0.1", .other = "n2"};
	return LT_OK;
}

static int
ask(uint32_t uid, const char *from, const char *node, char text[256])
{
	static struct lt_daemon d;
	struct in_addr address;
	struct lt_api_request request = {.uid = uid, .path = "/v1/notice", .from = &address};
	json_t *reply = NULL;

	d.site.tables.conf.slurm_uid = SLURM;
	d.site.tables.conf.slurmd_uid = SLURMD;
	request.is_admin = lt_is_admin(&d.site.tables, uid);
	if (from != NULL)
		assert_int_equal(inet_aton(from, &address), 1);
	else
		request.from = NULL;
	const int status = lt_access_check_node(&d, &request, node, &reply);
	const char *const said = json_string_value(json_object_get(reply, "error"));

	snprintf(text, 256, "%s", said != NULL ? said : "");
	json_decref(reply);
	return status;
}

static void
test_each(void **state)
{
	static const struct {
		const char *why;
		uint32_t uid;
		const char *from, *node;
		int status;
		const char *says;
	} cases[] = {
	    {"root here", 0, NULL, "n1", 200, ""},
	    {"SlurmUser here", SLURM, NULL, "n1", 200, ""},
	    {"SlurmdUser here", SLURMD, NULL, "n1", 403, "root and SlurmUser"},
	    {"a user here", ADA, NULL, "n1", 403, "root and SlurmUser"},
	    {"root there", 0, "10.0.0.1", "n1", 200, ""},
	    {"SlurmdUser there", SLURMD, "10.0.0.1", "n1", 200, ""},
	    {"SlurmUser there", SLURM, "10.0.0.1", "n1", 403,
		"from it (10.0.0.1), but of uid 64030"},
	    {"a user there", ADA, "10.0.0.1", "n1", 403, "of uid 3001"},
	    {"root of another node", 0, "10.0.0.2", "n1", 403,
		"from 10.0.0.2, which is node n2; Slurm has n1 at 10.0.0.1"},
	    {"SlurmUser of another node", SLURM, "10.0.0.2", "n1", 403, "which is node n2"},
	    {"root where no node is", 0, "10.9.9.9", "n1", 200, ""},
	    {"SlurmUser where no node is", SLURM, "10.9.9.9", "n1", 200, ""},
	    {"SlurmdUser where no node is", SLURMD, "10.9.9.9", "n1", 403,
		"which is no node, and of uid 64031"},
	    {"root of who knows where", 0, "127.0.1.1", "n1", 403, "munged --origin"},
	    {"no address at all", 0, "0.0.0.0", "n1", 403, "munged --origin"},
	    {"a node that is not there", 0, "10.0.0.1", "n9", 404, "no such node"},
	    {"of some node: root could", 0, "10.0.0.2", NULL, 200, ""},
	    {"of some node: a user could not", ADA, "10.0.0.2", NULL, 403, "of uid 3001"},
	    {"who looks it up dies", 0, "10.0.0.1", "gone", 503, "could not be looked up"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		char text[256];
		const int status = ask(cases[i].uid, cases[i].from, cases[i].node, text);

		if (status != cases[i].status || strstr(text, cases[i].says) == NULL)
			fail_msg("%s: %d \"%s\"", cases[i].why, status, text);
	}
}

/* All of lowtided waits for it: once, and no second time just behind. */
static void
test_silent(void **state)
{
	char text[256];
	const int64_t began_ms = lt_monotonic_ms();

	(void)state;
	assert_int_equal(ask(0, "10.0.0.1", "slow", text), 503);
	assert_non_null(strstr(text, "do not answer within 2000 ms"));
	const int64_t first_ms = lt_monotonic_ms();
	assert_in_range(first_ms - began_ms, 1900, 4000);
	for (int i = 0; i < 20; i++)
		assert_int_equal(ask(0, "10.0.0.1", "n1", text), 503);
	assert_non_null(strstr(text, "do not answer just now"));
	assert_in_range(lt_monotonic_ms() - first_ms, 0, 500);
	/* On the host itself nobody is asked. */
	assert_int_equal(ask(0, NULL, "n1", text), 200);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_each),
	    cmocka_unit_test(test_silent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
