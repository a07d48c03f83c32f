/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * spank_lowtide.so, driven as sbatch and slurmstepd would.
 */
#include "fake.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "files.h"
#include "options.h"

void
fake_spank_start(spank_context_t where, char **arguments, int count)
{
	fake_context = where;
	fake_option_count = fake_environment_count = 0;
	fake_said[0] = fake_set_options[0] = '\0';
	assert_int_equal(fake_spank_init(NULL, count, arguments), 0);
}

int
fake_give(const char *name, const char *value, int remote)
{
	for (int i = 0; i < fake_option_count; i++)
		if (strcmp(fake_options[i].name, name) == 0)
			return fake_options[i].cb(fake_options[i].val, value, remote);
	fail_msg("no option %s", name);
	return -1;
}

static void
test_spank_options(void **state)
{
	char wrong[] = "colour=blue", *arguments[] = {wrong};

	(void)state;
	setenv("SBATCH_CARBON_AWARE", "cost", 1);
	setenv("SALLOC_CHECKPOINT", "off", 1);
	fake_spank_start(S_CTX_ALLOCATOR, arguments, 1);
	unsetenv("SBATCH_CARBON_AWARE");
	assert_int_equal(fake_option_count, LT_OPTION_COUNT);
	assert_non_null(strstr(fake_said, "colour=blue"));
	assert_string_equal(getenv("SLURM_SPANK__SLURM_SPANK_OPTION_lowtide_"
				   "carbon_aware"),
	    "cost");
	assert_null(getenv("SLURM_SPANK__SLURM_SPANK_OPTION_lowtide_"
			   "checkpoint"));
	assert_int_equal(fake_give("carbon-aware", "ballanced", 0), -1);
	assert_non_null(strstr(fake_said, "balanced"));
	assert_int_equal(fake_give("carbon-aware", NULL, 0), 0);
	assert_int_equal(fake_give("carbon-aware", "(null)", 0), 0);
	assert_int_equal(fake_give("carbon-aware", "nonsense", 1), 0);
	fake_context = S_CTX_SLURMD;
	fake_option_count = 0;
	assert_int_equal(fake_spank_init(NULL, 0, NULL), 0);
	assert_int_equal(fake_option_count, 0);
}

static void
test_spank_hands_on(void **state)
{
	char plugins[] = "lua,lowtide";

	(void)state;
	slurm_conf.job_submit_plugins = plugins;
	fake_spank_start(S_CTX_ALLOCATOR, NULL, 0);
	assert_int_equal(fake_give("carbon-aware", "cost", 0), 0);
	assert_int_equal(fake_spank_post_opt(NULL, 0, NULL), 0);
	assert_string_equal(fake_set_options, "");
	fake_spank_start(S_CTX_ALLOCATOR, NULL, 0);
	assert_int_equal(fake_give("carbon-aware", "plan", 0), 0);
	assert_int_equal(fake_spank_post_opt(NULL, 0, NULL), 0);
	assert_string_equal(fake_set_options, "test-only= ");
	slurm_conf.job_submit_plugins = NULL;
}

/* Where SPANK asks lowtided, with fake_run as its directory. */
static int
listen_as_lowtided(void)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	const int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	static char argument[600], *arguments[] = {argument};

	assert_true(snprintf(address.sun_path, sizeof(address.sun_path), "%s/%s", fake_run,
			LT_SOCKET_FILE) < (int)sizeof(address.sun_path));
	unlink(address.sun_path);
	assert_int_equal(bind(listener, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(listen(listener, 5), 0);
	snprintf(argument, sizeof(argument), "run_dir=%s", fake_run);
	fake_spank_start(S_CTX_ALLOCATOR, arguments, 1);
	return listener;
}

/* What a child that submits asks of lowtided is answered until it ends. Was its plan told? */
static bool
is_told(int listener)
{
	const pid_t child = fork();
	bool told = false;
	int status;

	if (child == 0) {
		fake_spank_post_opt(NULL, 0, NULL);
		_exit(0);
	}
	while (waitpid(child, &status, WNOHANG) == 0) {
		char text[8192];
		struct pollfd one = {.fd = listener, .events = POLLIN};

		if (poll(&one, 1, 10) != 1)
			continue;
		const int fd = accept(listener, NULL, NULL);
		const ssize_t got = recv(fd, text, sizeof(text) - 1, 0);

		text[got > 0 ? got : 0] = '\0';
		told |= strstr(text, "\"quote\"") != NULL;
		snprintf(text, sizeof(text), "HTTP/1.0 200 OK\r\n\r\n%s",
		    "{\"booked\":true,\"budgeted\":false}");
		send(fd, text, strlen(text), MSG_NOSIGNAL);
		close(fd);
	}
	return told;
}

/* Before any other that places: one more by the same command is of a het job. */
static void
test_spank_tells(void **state)
{
	static const struct {
		const char *why, *test_only;
		bool told;
	} cases[] = {
	    {"sbatch and srun", "unset", true},
	    {"which only test", "set", false},
	    {"salloc, which has no --test-only", "invalid-context", true},
	};

	(void)state;
	fake_snapshots("--limit 100");
	const int listener = listen_as_lowtided();
	fake_job_defaults(&fake_client_job);
	fake_client_job.tres_per_job = strdup("gres:gpu:8");
	fake_client_job.time_limit = 480;
	assert_int_equal(fake_give("carbon-aware", "cost", 0), 0);
	assert_int_equal(fake_give("checkpoint", "write=30s", 0), 0);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		print_message("# %s\n", cases[i].why);
		fake_test_only = cases[i].test_only;
		assert_int_equal(is_told(listener), cases[i].told);
	}
	fake_test_only = "unset";
	close(listener);
	free(fake_client_job.tres_per_job);
	fake_client_job.tres_per_job = NULL;
}

static void
test_spank_places(void **state)
{
	char argument[600], *arguments[] = {argument};

	(void)state;
	snprintf(argument, sizeof(argument), "run_dir=%s", fake_run);
	/* No market: silent unless asked. */
	fake_spank_start(S_CTX_ALLOCATOR, arguments, 1);
	fake_job_defaults(&fake_client_job);
	fake_client_job.tres_per_job = strdup("gres:gpu:8");
	fake_client_job.time_limit = 480;
	assert_int_equal(fake_spank_post_opt(NULL, 0, NULL), 0);
	assert_string_equal(fake_said, "");
	assert_int_equal(fake_give("carbon-aware", "cost", 0), 0);
	assert_int_equal(fake_spank_post_opt(NULL, 0, NULL), 0);
	assert_non_null(strstr(fake_said, "stays"));
	fake_snapshots("--limit 100");
	fake_spank_start(S_CTX_ALLOCATOR, arguments, 1);
	assert_int_equal(fake_spank_post_opt(NULL, 0, NULL), 0);
	assert_string_equal(fake_said, "");
	assert_string_equal(fake_set_options, "");
	assert_int_equal(fake_give("carbon-aware", "cost", 0), 0);
	assert_int_equal(fake_give("checkpoint", "write=30s", 0), 0);
	fake_client_job.het_job_offset = NO_VAL;
	free(fake_client_job.tres_per_job);
	fake_client_job.tres_per_job = NULL;
}

static void
test_spank_signal(void **state)
{
	static const struct {
		const char *arguments, *set;
	} cases[] = {
	    {"--limit 100", "signal=USR1@120 "},
	    {"--limit 100 --mode advise", ""},
	    {"--limit 100 --mode observe", ""},
	};
	char argument[600], *arguments[] = {argument};

	(void)state;
	snprintf(argument, sizeof(argument), "run_dir=%s", fake_run);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		print_message("# %s\n", cases[i].arguments);
		fake_snapshots(cases[i].arguments);
		fake_spank_start(S_CTX_ALLOCATOR, arguments, 1);
		fake_job_defaults(&fake_client_job);
		assert_int_equal(fake_give("checkpoint", "write=1m,signal=USR1@120", 0), 0);
		assert_int_equal(fake_spank_post_opt(NULL, 0, NULL), 0);
		assert_string_equal(fake_set_options, cases[i].set);
	}
}

static void
test_spank_plan(void **state)
{
	char argument[600], *arguments[] = {argument};

	(void)state;
	snprintf(argument, sizeof(argument), "run_dir=%s", fake_run);
	fake_snapshots("--limit 100");
	fake_spank_start(S_CTX_ALLOCATOR, arguments, 1);
	fake_job_defaults(&fake_client_job);
	assert_int_equal(fake_give("carbon-aware", "plan", 0), 0);
	/* It ends the command: in a child, whose last word is the table. */
	const pid_t child = fork();
	int status;

	if (child == 0) {
		fake_spank_post_opt(NULL, 0, NULL);
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 1);
}

/* What the command says that ends: its last words, in a file. */
static void
leave_said(void)
{
	char path[600];
	FILE *stream;

	snprintf(path, sizeof(path), "%s/said", fake_state);
	stream = fopen(path, "w");
	if (stream != NULL) {
		fputs(fake_said, stream);
		fclose(stream);
	}
}

/* Answers one question as lowtided does, at once; nobody, if the command has waited too long. */
static void
answer(int listener, const char *body)
{
	char text[1024];
	const int fd = accept(listener, NULL, NULL);

	assert_true(fd >= 0);
	if (recv(fd, text, sizeof(text), 0) > 0) {
		snprintf(text, sizeof(text), "HTTP/1.0 200 OK\r\n\r\n%s", body);
		send(fd, text, strlen(text), MSG_NOSIGNAL);
	}
	close(fd);
}

/* The exit status of an sbatch whose lowtided answers so; out: what it said. */
static int
submit_with(int listener, const char *body, char *out, size_t size)
{
	char path[600];
	int status;
	const pid_t child = fork();

	if (child == 0) {
		atexit(leave_said);
		fake_spank_post_opt(NULL, 0, NULL);
		exit(0);
	}
	answer(listener, body);
	assert_int_equal(waitpid(child, &status, 0), child);
	snprintf(path, sizeof(path), "%s/said", fake_state);
	FILE *const stream = fopen(path, "r");

	assert_non_null(stream);
	out[fread(out, 1, size - 1, stream)] = '\0';
	fclose(stream);
	return WEXITSTATUS(status);
}

/* In the words of job_submit, whose text is `submitted`. */
static void
expect_refused(int listener, const char *body, const char *left, const char *submitted)
{
	const char *const fit = strstr(submitted, "this job may");
	char said[4096];

	/* An answer that takes 50 ms is none, and this machine may be busy. */
	for (int i = 0; i < 50; i++)
		if (submit_with(listener, body, said, sizeof(said)) == 1)
			break;
	assert_non_null(strstr(said, left));
	if (fit != NULL)
		assert_non_null(strstr(said, fit));
}

/* What only warns is told, and the job goes on. */
static void
test_spank_warns(void **state)
{
	static const struct {
		const char *why, *body, *told;
		int status;
	} cases[] = {
	    {"over what warns",
		"{\"budgeted\":true,\"available_micros\":null,"
		"\"warn_team\":\"a\",\"warn_label\":\"May\","
		"\"warn_available_micros\":500000}",
		"over the budget: $0.50 left in a for May, it may cost $", 0},
	    {"over what warns, within what binds",
		"{\"budgeted\":true,\"team\":\"b\",\"label\":\"June\","
		"\"available_micros\":90000000,"
		"\"warn_team\":\"a\",\"warn_label\":\"May\","
		"\"warn_available_micros\":500000}",
		"over the budget: $0.50 left in a for May, it may cost $", 0},
	    {"over both",
		"{\"budgeted\":true,\"team\":\"b\",\"label\":\"June\","
		"\"available_micros\":0,"
		"\"warn_team\":\"a\",\"warn_label\":\"May\","
		"\"warn_available_micros\":500000}",
		"b has $0.00 left for June;", 1},
	};

	(void)state;
	fake_snapshots("");
	const int listener = listen_as_lowtided();
	fake_job_defaults(&fake_client_job);
	fake_client_job.tres_per_job = strdup("gpu:8");
	fake_client_job.time_limit = 60;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char said[4096] = "";
		int status = -1;

		print_message("# %s\n", cases[i].why);
		/* As in expect_refused(). */
		for (int t = 0; t < 50 && !strstr(said, " left "); t++)
			status = submit_with(listener, cases[i].body, said, sizeof(said));
		assert_non_null(strstr(said, cases[i].told));
		assert_int_equal(status, cases[i].status);
	}
	close(listener);
	free(fake_client_job.tres_per_job);
	fake_client_job.tres_per_job = NULL;
}

static void
test_spank_refuses(void **state)
{
	struct submission s;

	(void)state;
	fake_snapshots("--limit 0.5");
	fake_restart();
	fake_send(&s, &(struct wish){.gres = "gpu:8", .minutes = 60});
	assert_int_equal(s.code, ESLURM_ACCOUNTING_POLICY);
	const int listener = listen_as_lowtided();
	fake_job_defaults(&fake_client_job);
	fake_client_job.tres_per_job = strdup("gpu:8");
	fake_client_job.time_limit = 60;
	expect_refused(listener,
	    "{\"budgeted\":true,\"team\":\"a\",\"label\":\"May\","
	    "\"available_micros\":500000,\"limit_micros\":500000,"
	    "\"spent_micros\":0,\"held_micros\":0}",
	    "a has $0.50 of $0.50 left for May ($0.00 spent, $0.00 held);", s.message);
	expect_refused(listener,
	    "{\"budgeted\":true,\"team\":\"a\",\"label\":\"May\","
	    "\"available_mg\":5000,\"limit_mg\":9000,\"spent_mg\":3000,"
	    "\"held_mg\":1000}",
	    "a has 5 g of 9 g CO2e left for May (3 g spent, 1 g held);", "");
	expect_refused(listener,
	    "{\"budgeted\":true,\"team\":\"a\",\"label\":\"May\","
	    "\"available_mg\":5000}",
	    "a has 5 g CO2e left for May;", "");
	close(listener);
	free(fake_client_job.tres_per_job);
	fake_client_job.tres_per_job = NULL;
}

int
fake_spank_tests(void)
{
	const struct CMUnitTest tests[] = {
	    FAKE_TEST(test_spank_options),
	    FAKE_TEST(test_spank_hands_on),
	    FAKE_TEST(test_spank_tells),
	    FAKE_TEST(test_spank_places),
	    FAKE_TEST(test_spank_signal),
	    FAKE_TEST(test_spank_plan),
	    FAKE_TEST(test_spank_refuses),
	    FAKE_TEST(test_spank_warns),
	};

	return cmocka_run_group_tests_name("spank", tests, NULL, NULL);
}
