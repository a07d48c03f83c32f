/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lowtided --follow: whose answers it takes, what it asks for whom. A munged of its own; other
 * users seal where root may be them. Skipped without munged.
 */
#include "munge_fixture.h"

#include <sys/stat.h>

#include "follow.h"
#include "http.h"

#include "files_fixture.h"
#include "tools/market_page.h"

#define MUNGED_THERE (munged >= 0)
enum { STRANGER = 65534, OTHER = 65533 };

static char market_path[64];

static void
follow(const struct server *server, uid_t slurm_uid)
{
	static char host[64];
	const struct lt_seal seal = {.munge_socket = munge_socket, .slurm_uid = slurm_uid};

	snprintf(host, sizeof(host), "127.0.0.1:%u", server->port);
	lt_follow_whom(host, &seal, market_path);
}

static void
test_who_may_answer(void **state)
{
	const uid_t self = geteuid();

	const struct {
		const char *why;
		uid_t slurm_uid;
		struct reply reply;
		int status;
		const char *text;
		bool as_other;
	} cases[] = {
	    {"SlurmUser, for us", self, {.payload = "200\n{\"a\":1}"}, 200, "{\"a\":1}", false},
	    {"lowtided's own refusal", self, {.payload = "404\n{\"a\":2}"}, 404, "{\"a\":2}",
		false},
	    {"anybody may read it", self, {.payload = "200\n{\"a\":1}", .open = true}, 503,
		"not restricted", false},
	    {"no status", self, {.payload = "{\"a\":1}"}, 503, "no status", false},
	    {"no seal at all", self, {.text = "{\"a\":1}"}, 503, "credential", false},
	    {"an impostor, whose credential is good", self,
		{.payload = "200\n{\"a\":1}", .as = STRANGER}, 503, "made by uid 65534", true},
	    {"another SlurmUser than ours", OTHER, {.payload = "200\n{\"a\":1}", .as = STRANGER},
		503, "want SlurmUser (65533)", true},
	    {"SlurmUser is another than we", STRANGER,
		{.payload = "200\n{\"a\":1}", .as = STRANGER}, 200, "{\"a\":1}", true},
	};

	(void)state;
	if (!MUNGED_THERE)
		skip();
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct server server = {.reply = cases[i].reply};
		pthread_t thread;
		char *answer = NULL;

		if (cases[i].as_other && geteuid() != 0) {
			print_message("# not root: left out: %s\n", cases[i].why);
			continue;
		}
		start(&server, &thread);
		follow(&server, cases[i].slurm_uid);
		const int status = lt_follow_ask("/v1/balance?account=&uid=7", "", &answer);
		finish(&server, thread);
		if (status != cases[i].status || answer == NULL ||
		    strstr(answer, cases[i].text) == NULL)
			fail_msg("%s: got %d, %s", cases[i].why, status, answer);
		assert_string_equal(server.payload, "GET /v1/balance?account=&uid=7\n");
		free(answer);
		free(server.credential);
	}
}

/* A market is installed if and only if who sealed it may. */
static void
test_market_of_an_impostor(void **state)
{
	(void)make_sheet; /* the fixture's other half */
	make_market();
	char *const text = market_page(&market, NULL);
	const struct {
		const char *why;
		uid_t slurm_uid;
		bool open, installed, as_other;
		uid_t as;
	} cases[] = {
	    {"restricted to nobody", geteuid(), true, false, false, 0},
	    {"a stranger", geteuid(), false, false, true, STRANGER},
	    {"SlurmUser", geteuid(), false, true, false, 0},
	};

	(void)state;
	if (!MUNGED_THERE)
		skip();
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct server server = {
		    .reply = {.payload = text, .open = cases[i].open, .as = cases[i].as}};
		struct lt_error err = {0};
		struct stat facts;
		uint64_t generation = 0;
		pthread_t thread;

		if (cases[i].as_other && geteuid() != 0) {
			print_message("# not root: left out: %s\n", cases[i].why);
			continue;
		}
		start(&server, &thread);
		follow(&server, cases[i].slurm_uid);
		const int code = lt_follow_refresh(&generation, &err);
		finish(&server, thread);
		if ((code == LT_OK) != cases[i].installed)
			fail_msg("%s: %d, %s", cases[i].why, code, err.text);
		assert_int_equal(stat(market_path, &facts) == 0, cases[i].installed);
		assert_int_equal(generation, cases[i].installed ? market.generation : 0);
		free(server.credential);
	}
	free(text);
}

/* Nobody asks for another, whatever he writes. */
static void
test_paths(void **state)
{
	static const struct {
		const char *uri;
		uint32_t uid;
		const char *path; /* NULL = not answered here */
	} cases[] = {
	    {"/v1/balance", 1000, "/v1/balance?account=&uid=1000"},
	    {"/v1/balance?account=nlp", 1001, "/v1/balance?account=nlp&uid=1001"},
	    {"/v1/balance?account=nlp&uid=0", 1000, "/v1/balance?account=nlp&uid=1000"},
	    {"/v1/balance?uid=0", 1000, "/v1/balance?account=&uid=1000"},
	    {"/v1/balance?uid=0&account=a", 0, "/v1/balance?account=a&uid=0"},
	    {"/v1/balance?account=a b\nPOST /v1/rebuild", 5, "/v1/balance?account=a&uid=5"},
	    {"/v1/plan", 1000, "/v1/plan?uid=1000"},
	    {"/v1/plan?uid=0", 1000, NULL},
	    {"/v1/report", 1000, NULL},
	    {"/v1/market", 0, NULL},
	    {"", 0, NULL},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char path[1024] = "";
		const bool here = lt_follow_path(path, sizeof(path), cases[i].uid, cases[i].uri);

		assert_int_equal(here, cases[i].path != NULL);
		if (here)
			assert_string_equal(path, cases[i].path);
	}
}

static int
tear_down(void **state)
{
	(void)state;
	stop_munged();
	lt_http_cleanup();
	return rmdir(folder);
}

static int
set_up(void **state)
{
	if (lt_http_init(NULL) || mkdtemp(folder) == NULL)
		return -1;
	snprintf(market_path, sizeof(market_path), "%s/market", folder);
	if (access(MUNGED, X_OK) == 0 && !start_munged()) {
		tear_down(state);
		return -1;
	}
	return 0;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_who_may_answer),
	    cmocka_unit_test(test_market_of_an_impostor),
	    cmocka_unit_test(test_paths),
	};

	signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
