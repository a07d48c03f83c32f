/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Requests sealed by munge: who asks is who sealed, each credential counts once, and the answer is
 * for nobody else. Skipped without munged.
 */
#include "api.h"
#include "daemon.h"
#include "munge_fixture.h"
#include "serve_munge.h"

enum { ADA = 3001, EVE = 3002 };

static struct lt_account account = {.name = "vision", .binding_count = 1};
static uint32_t binding;
static struct lt_pair pair = {.uid = ADA};
static struct lt_budget budget;
static struct lt_policy policy = {.currency = "USD"};
static struct lt_daemon *d;

static char *
credential_of(uid_t as, const char *request)
{
	struct server server = {.reply = {.payload = request, .as = as}};

	seal(&server);
	assert_non_null(server.credential);
	return server.credential;
}

/* What that user reads of a sealed answer, "" if it is not for him. */
static void
open_as(uid_t as, const char *credential, char *text, size_t size)
{
	int pipe_fd[2];
	size_t length = 0;
	ssize_t got;

	assert_int_equal(pipe(pipe_fd), 0);
	const pid_t child = fork();
	if (child == 0) {
		munge_ctx_t context = munge_ctx_create();
		void *payload = NULL;
		int bytes = 0;
		uid_t uid;
		gid_t gid;

		if (as && setuid(as) != 0)
			_exit(1);
		munge_ctx_set(context, MUNGE_OPT_SOCKET, munge_socket);
		_exit(munge_decode(credential, context, &payload, &bytes, &uid, &gid) !=
			  EMUNGE_SUCCESS ||
		      write(pipe_fd[1], payload, (size_t)bytes) < 0);
	}
	close(pipe_fd[1]);
	while ((got = read(pipe_fd[0], text + length, size - 1 - length)) > 0)
		length += (size_t)got;
	text[length] = '\0';
	close(pipe_fd[0]);
	waitpid(child, NULL, 0);
}

static int
answer(struct lt_daemon *with, const char *credential, char **text)
{
	struct lt_munge_request asked = {0};
	int status = lt_munge_open(&asked, with->site.tables.conf.munge_socket, credential, text);

	if (status == 200) {
		char *reply = NULL;

		status = lt_api(with,
		    &(struct lt_api_asked){asked.uid, asked.payload, asked.path, asked.body,
			strlen(asked.body), &asked.from},
		    &reply);
		status = lt_munge_seal(
		    text, with->site.tables.conf.munge_socket, asked.uid, status, reply);
		free(reply);
	}
	lt_munge_free(&asked);
	return status;
}

static void
test_who_asks(void **state)
{
	static const struct {
		const char *why;
		uid_t as, reader;
		const char *begins;
		bool any; /* by whoever runs the test; else root is them */
	} cases[] = {
	    {"root", 0, 0, "200", false},
	    {"of the team", ADA, ADA, "200", false},
	    {"of no team", EVE, EVE, "403", false},
	    {"another reads her answer", ADA, EVE, "", false},
	    {"nobody in particular", 0, 0, "403", true},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char seen[4096], *text = NULL;

		print_message("# %s\n", cases[i].why);
		if (cases[i].any == (geteuid() == 0))
			continue; /* only root becomes others */
		char *const credential = credential_of(cases[i].as, "GET /v1/budget?team=vision\n");
		assert_int_equal(answer(d, credential, &text), 200);
		open_as(cases[i].reader, text, seen, sizeof(seen));
		assert_int_equal(strncmp(seen, cases[i].begins, 3), 0);
		if (!cases[i].begins[0])
			assert_string_equal(seen, "");
		free(text);
		free(credential);
	}
}

static void
test_refused(void **state)
{
	char *text = NULL;

	(void)state;
	char *const credential = credential_of(0, "GET /v1/budget\n");
	assert_int_equal(answer(d, credential, &text), 200);
	free(text);
	/* Heard on the way and said again. */
	assert_int_equal(answer(d, credential, &text), 403);
	assert_non_null(strstr(text, "error"));
	free(text);
	free(credential);
	assert_int_equal(answer(d, "MUNGE:AwQ:", &text), 403);
	free(text);
	char *const wordless = credential_of(0, "/v1/budget");
	assert_int_equal(answer(d, wordless, &text), 400);
	free(text);
	free(wordless);
}

static int
set_up(void **state)
{
	(void)state;
	if (access(MUNGED, X_OK) != 0 || mkdtemp(folder) == NULL || !start_munged())
		return -1;
	(void)strcpy(budget.team, "vision");
	budget.periods[0].start_utc_s = 1;
	budget.periods[0].end_utc_s = INT64_MAX;
	d = calloc(1, sizeof(*d));
	assert_non_null(d);
	d->site.policy = &policy;
	d->site.tables.conf.slurm_uid = 64030;
	d->budget.has_snapshot = true;
	d->budget.snapshot = (struct lt_budget_snapshot){.ready = true,
	    .account_count = 1,
	    .accounts = &account,
	    .binding_count = 1,
	    .bindings = &binding,
	    .pair_count = 1,
	    .pairs = &pair,
	    .budget_count = 1,
	    .budgets = &budget};
	snprintf(d->site.tables.conf.munge_socket, sizeof(d->site.tables.conf.munge_socket), "%s",
	    munge_socket);
	return 0;
}

static int
tear_down(void **state)
{
	(void)state;
	stop_munged();
	rmdir(folder);
	free(d);
	return 0;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_who_asks),
	    cmocka_unit_test(test_refused),
	};

	if (access(MUNGED, X_OK) != 0) {
		print_message("1..0 # SKIP no munged\n");
		return 0;
	}
	return cmocka_run_group_tests_name("serve_munge", tests, set_up, tear_down);
}
