/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The client over TCP: a munged of its own seals request and reply, a server answers as lowtided
 * does, or as none should. Skipped without munged.
 */
#include <pwd.h>

#include "cli.h"
#include "http.h"
#include "munge_fixture.h"

static const struct lt_cli_command command = {.name = "test"};
static const struct lt_cli cli = {.command = &command, .run_dir = folder};

static int
call(struct server *server, json_t **answer, struct lt_error *err)
{
	char name[64];
	pthread_t thread;

	start(server, &thread);
	snprintf(name, sizeof(name), "127.0.0.1:%u", server->port);
	setenv("LOWTIDE_SERVER", name, 1);
	const int code = lt_client_get(answer, &cli, "/v1/status", err);

	finish(server, thread);
	unsetenv("LOWTIDE_SERVER");
	return code;
}

static void
test_replies(void **state)
{
	static const struct {
		const char *why;
		struct reply reply;
		int code;
		const char *text; /* within the error */
	} cases[] = {
	    {"JSON", {.payload = "200\n{\"id\":7}"}, LT_OK, ""},
	    {"lowtided's own error", {.payload = "404\n{\"error\":\"no job 9\"}"}, LT_ENOENT,
		"no job 9"},
	    {"anybody may read it", {.payload = "200\n{}", .open = true}, LT_EDENIED,
		"not restricted"},
	    {"an empty credential", {.payload = ""}, LT_EINPUT, ""},
	    {"no line end", {.payload = "200"}, LT_EINPUT, "no status"},
	    {"a word as status", {.payload = "abc\n{}"}, LT_EINPUT, "no status"},
	    {"a status below 100", {.payload = "099\n{}"}, LT_EINPUT, "no status"},
	    {"no JSON", {.payload = "200\nhello"}, LT_ENET, "not JSON"},
	    {"JSON without a seal", {.text = "{\"id\":7}"}, LT_EDENIED, "credential"},
	    {"a body that is empty", {.text = ""}, LT_EDENIED, "credential"},
	    {"a web server that is none of ours", {.status = "404 Not Found", .text = "no page"},
		LT_ENET, "HTTP 404: no page"},
	};

	(void)state;
	if (munged < 0)
		skip();
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct server server = {.reply = cases[i].reply};
		json_t *answer = NULL;
		struct lt_error err = {0};
		const int code = call(&server, &answer, &err);

		if (code != cases[i].code || strstr(err.text, cases[i].text) == NULL)
			fail_msg("%s: got %d, %s", cases[i].why, code, err.text);
		if (code == LT_OK)
			assert_int_equal(json_integer_value(json_object_get(answer, "id")), 7);
		else
			assert_null(answer);
		assert_string_equal(server.payload, "GET /v1/status\n");
		assert_int_equal(server.uid, geteuid());
		json_decref(answer);
		free(server.credential);
	}
}

/* What once was an answer is none again. */
static void
test_replay(void **state)
{
	struct server first = {.reply = {.payload = "200\n{\"id\":7}"}};
	json_t *answer = NULL;
	struct lt_error err = {0};

	(void)state;
	if (munged < 0)
		skip();
	assert_int_equal(call(&first, &answer, &err), LT_OK);
	json_decref(answer);
	struct server second = {.reply = {.text = first.credential}};

	assert_int_equal(call(&second, &answer, &err), LT_EDENIED);
	assert_non_null(strstr(err.text, "eplay"));
	assert_null(answer);
	free(first.credential);
}

static void
write_conf(const struct server *servers, int count)
{
	const struct passwd *const user = getpwuid(geteuid());
	char path[64];

	snprintf(path, sizeof(path), "%s/slurm.conf", folder);
	FILE *const out = fopen(path, "w");

	assert_non_null(out);
	fprintf(out, "SlurmUser=%s\nAuthInfo=socket=%s\n", user != NULL ? user->pw_name : "0",
	    munge_socket);
	for (int i = 0; i < count; i++)
		fprintf(out, "SlurmctldHost=c%d(127.0.0.1:%u)\n", i, servers[i].port);
	fclose(out);
	setenv("SLURM_CONF", path, 1);
}

/* The first controller's lowtided stands by: the second one is asked. */
static void
test_second_controller(void **state)
{
	struct server servers[2] = {
	    {.reply = {.payload = "503\n{\"error\":\"stands by\"}"}},
	    {.reply = {.payload = "200\n{\"id\":7}"}},
	};
	pthread_t threads[2];
	json_t *answer = NULL;
	struct lt_error err = {0};

	(void)state;
	if (munged < 0)
		skip();
	for (int i = 0; i < 2; i++)
		start(&servers[i], &threads[i]);
	write_conf(servers, 2);
	const int code = lt_client_get(&answer, &cli, "/v1/status", &err);

	for (int i = 0; i < 2; i++) {
		shutdown(servers[i].listener, SHUT_RDWR);
		finish(&servers[i], threads[i]);
		free(servers[i].credential);
	}
	if (code)
		fail_msg("%s", err.text);
	assert_int_equal(json_integer_value(json_object_get(answer, "id")), 7);
	json_decref(answer);
}

/* The first controller is gone: its error is not the second one's. */
static void
test_first_is_gone(void **state)
{
	struct server servers[2] = {
	    {.port = 1}, /* nobody listens there */
	    {.reply = {.payload = "200\n{\"id\":7}"}},
	};
	pthread_t thread;
	json_t *answer = NULL;
	struct lt_error err = {0};

	(void)state;
	if (munged < 0)
		skip();
	start(&servers[1], &thread);
	write_conf(servers, 2);
	const int code = lt_client_get(&answer, &cli, "/v1/status", &err);

	shutdown(servers[1].listener, SHUT_RDWR);
	finish(&servers[1], thread);
	free(servers[1].credential);
	if (code)
		fail_msg("%s", err.text);
	assert_int_equal(json_integer_value(json_object_get(answer, "id")), 7);
	json_decref(answer);
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
	if (access(MUNGED, X_OK))
		return 0;
	if (!start_munged()) {
		tear_down(state);
		return -1;
	}
	unsetenv("LOWTIDE_MUNGE_SOCKET");
	unsetenv("LOWTIDE_SERVER");
	write_conf(NULL, 0);
	return 0;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_replies),
	    cmocka_unit_test(test_replay),
	    cmocka_unit_test(test_second_controller),
	    cmocka_unit_test(test_first_is_gone),
	};

	signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
