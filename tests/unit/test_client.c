/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The client against a server of canned HTTP answers on a real Unix socket:
 * what it sends, and what it makes of any answer. The way over TCP with munge is tested on the
 * cluster.
 */
#include <inttypes.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#include "cli.h"
#include "http.h"
#include "run_lines.h"

static char run_dir[] = "/tmp/lowtide-client.XXXXXX";
static char socket_path[64], conf_path[64];

struct server { /* answers one request */
	int listener;
	const char *answer;
	char request[4096];
	struct lt_run_lines *runs; /* or NULL: takes those of the answer */
};

/* Until the head and Content-Length's bytes are there. */
static bool
is_whole(const char *request)
{
	const char *const end = strstr(request, "\r\n\r\n");
	const char *const length = strcasestr(request, "content-length:");

	if (end == NULL)
		return false;
	return length == NULL || strlen(end + 4) >= (size_t)atoi(length + 15);
}

static void *
serve(void *argument)
{
	struct server *const server = argument;
	const int fd = accept(server->listener, NULL, NULL);
	size_t used = 0;

	while (fd >= 0 && !is_whole(server->request)) {
		const ssize_t count =
		    read(fd, server->request + used, sizeof(server->request) - 1 - used);

		if (count <= 0)
			break;
		used += (size_t)count;
	}
	if (send(fd, server->answer, strlen(server->answer), MSG_NOSIGNAL) < 0)
		server->request[0] = '\0';
	close(fd);
	return NULL;
}

static int
listen_on(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	unlink(path);
	assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(listen(fd, 1), 0);
	return fd;
}

static const struct lt_cli_command command = {.name = "test"};

static int
call(struct server *server, json_t **answer, const char *path, const json_t *body,
    struct lt_error *err)
{
	const struct lt_cli cli = {.command = &command, .run_dir = run_dir};
	pthread_t thread;

	server->listener = listen_on(socket_path);
	assert_int_equal(pthread_create(&thread, NULL, serve, server), 0);
	const int code = body != NULL ? lt_client_post(answer, &cli, path, body, err)
				      : lt_client_get_runs(answer, &cli, path, server->runs, err);

	pthread_join(thread, NULL);
	close(server->listener);
	return code;
}

#define HEAD(status) "HTTP/1.1 " status "\r\nConnection: close\r\n"
#define JSON_IS "Content-Type: application/json\r\n\r\n"

static void
test_answers(void **state)
{
	static const struct {
		const char *why, *answer;
		int code;
		const char *text; /* within the error */
	} cases[] = {
	    {"JSON", HEAD("200 OK") JSON_IS "{\"id\":7}", LT_OK, NULL},
	    {"no such job", HEAD("404 Not Found") JSON_IS "{\"error\":\"no job 9\"}", LT_ENOENT,
		"no job 9"},
	    {"somebody else's", HEAD("403 Forbidden") JSON_IS "{\"error\":\"not yours\"}",
		LT_EDENIED, "not yours"},
	    {"not now", HEAD("503 Busy") JSON_IS "{\"error\":\"later\"}", LT_EINPUT, "later"},
	    {"an error without text", HEAD("500 Oops") JSON_IS "{}", LT_ENET, "status 500"},
	    {"success that is no JSON", HEAD("200 OK") "\r\n<html>hello</html>", LT_ENET,
		"not JSON"},
	    {"success and nothing", HEAD("200 OK") "\r\n", LT_ENET, "not JSON"},
	    {"JSON cut in the middle", HEAD("200 OK") "Content-Length: 99\r\n\r\n{\"id\":", LT_ENET,
		"does not answer"},
	    {"no HTTP at all", "220 smtp ready\r\n", LT_ENET, "does not answer"},
	    {"silence", "", LT_ENET, "does not answer"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct server server = {.answer = cases[i].answer};
		struct lt_error err = {0};
		json_t *answer = NULL;
		int64_t id = 0;
		const int code = call(&server, &answer, "/v1/status", NULL, &err);

		if (code != cases[i].code)
			fail_msg("%s: %d, %s", cases[i].why, code, err.text);
		if (code == LT_OK)
			assert_true(lt_json_int(answer, "id", &id) && id == 7);
		else if (answer != NULL || strstr(err.text, cases[i].text) == NULL)
			fail_msg("%s: \"%s\"", cases[i].why, err.text);
		json_decref(answer);
	}
}

static void
test_request(void **state)
{
	struct server server = {.answer = HEAD("200 OK") JSON_IS "{}"};
	struct lt_error err = {0};
	json_t *answer = NULL;
	json_t *const body = json_pack("{s:s}", "reason", "a \"b\" \n é");

	(void)state;
	assert_int_equal(call(&server, &answer, "/v1/budget/adjust", body, &err), LT_OK);
	json_decref(answer);
	assert_int_equal(strncmp(server.request, "POST /v1/budget/adjust HTTP/1.1\r\n", 33), 0);
	assert_non_null(strstr(server.request, "Content-Type: application/json\r\n"));
	json_t *const sent = json_loads(strstr(server.request, "\r\n\r\n") + 4, 0, NULL);

	assert_true(json_equal(sent, body));
	json_decref(sent);
	json_decref(body);
	memset(&server, 0, sizeof(server));
	server.answer = HEAD("200 OK") JSON_IS "{}";
	assert_int_equal(call(&server, &answer, "/v1/budget?team=a%20b", NULL, &err), LT_OK);
	assert_int_equal(strncmp(server.request, "GET /v1/budget?team=a%20b HTTP/1.1", 34), 0);
	json_decref(answer);
}

static int
count_run(void *context, const char *json, size_t length, struct lt_error *err)
{
	(void)context;
	return length == 8 && memcmp(json, "{\"id\":", 6) == 0
		   ? LT_OK
		   : lt_fail(err, LT_EINPUT, "not a run");
}

/* Runs are taken as they come; what is not a 200 is an answer like any. */
static void
test_runs(void **state)
{
	static const struct {
		const char *why, *answer;
		int64_t runs;
		int code;
		const char *text; /* within the error */
	} cases[] = {
	    {"two, in chunks",
		HEAD("200 OK") "Transfer-Encoding: chunked\r\n\r\n"
			       "11\r\n{\"runs\":[\n{\"id\":1\r\n"
			       "1a\r\n},\n{\"id\":2}\n],\"next\":null}\r\n"
			       "0\r\n\r\n",
		2, LT_OK, NULL},
	    {"cut in the middle",
		HEAD("200 OK") "Transfer-Encoding: chunked\r\n\r\n"
			       "12\r\n{\"runs\":[\n{\"id\":1}\r\n"
			       "99\r\n,\n{\"id\":2},",
		1, LT_ENET, "ends"},
	    {"ended, but not whole", HEAD("200 OK") "\r\n{\"runs\":[\n{\"id\":1},\n", 1, LT_ENET,
		"not JSON"},
	    {"a run that nobody takes", HEAD("200 OK") "\r\n{\"runs\":[\n{\"id\":1},\n7,\n", 1,
		LT_EINPUT, "not a run"},
	    {"not now", HEAD("503 Busy") JSON_IS "{\"error\":\n\"later\"}", 0, LT_EINPUT, "later"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct server server = {.answer = cases[i].answer};
		struct lt_run_lines runs = {.take = count_run};
		struct lt_error err = {0};
		json_t *answer = NULL;

		server.runs = &runs;
		const int code = call(&server, &answer, "/v1/report", NULL, &err);

		if (code != cases[i].code || runs.count != cases[i].runs)
			fail_msg("%s: %d, %" PRId64 " runs, %s", cases[i].why, code, runs.count,
			    err.text);
		if (code == LT_OK)
			assert_int_equal(json_array_size(json_object_get(answer, "runs")), 0);
		else if (answer != NULL || strstr(err.text, cases[i].text) == NULL)
			fail_msg("%s: \"%s\"", cases[i].why, err.text);
		json_decref(answer);
		lt_run_lines_free(&runs);
	}
}

static void
write_conf(const char *text)
{
	FILE *const out = fopen(conf_path, "w");

	assert_non_null(out);
	fputs(text, out);
	fclose(out);
}

/* Without a socket here, or with a follower's, the way is slurm.conf's. */
static void
test_network(void **state)
{
	const struct lt_cli cli = {.command = &command, .run_dir = run_dir};
	struct server server = {.answer = HEAD("404 Not Found") JSON_IS
				"{\"error\":\"this lowtided follows another: it answers "
				"/v1/balance only\"}"};
	struct lt_error err = {0};
	json_t *answer = NULL;

	(void)state;
	unlink(socket_path);
	unlink(conf_path);
	assert_int_not_equal(lt_client_get(&answer, &cli, "/v1/status", &err), LT_OK);
	assert_non_null(strstr(err.text, "no socket"));
	assert_non_null(strstr(err.text, conf_path));

	err = (struct lt_error){0};
	write_conf("ClusterName=x\nSlurmUser=root\n");
	assert_int_equal(lt_client_get(&answer, &cli, "/v1/status", &err), LT_ENOENT);
	assert_non_null(strstr(err.text, "no SlurmctldHost"));

	err = (struct lt_error){0};
	write_conf("SlurmUser=no-such-user\nSlurmctldHost=localhost\n");
	assert_int_equal(lt_client_get(&answer, &cli, "/v1/status", &err), LT_ENOENT);
	assert_non_null(strstr(err.text, "SlurmUser=no-such-user"));

	err = (struct lt_error){0};
	write_conf("SlurmctldHost=localhost\nAuthInfo=socket=/nowhere/m\n");
	assert_int_not_equal(call(&server, &answer, "/v1/status", NULL, &err), LT_OK);
	assert_non_null(strstr(err.text, "munge"));
	assert_non_null(strstr(err.text, "/nowhere/m"));
}

/* A socket file that nobody listens on: the daemon was killed. */
static void
test_dead_socket(void **state)
{
	const struct lt_cli cli = {.command = &command, .run_dir = run_dir};
	struct lt_error err = {0};
	json_t *answer = NULL;

	(void)state;
	close(listen_on(socket_path));
	assert_int_equal(lt_client_get(&answer, &cli, "/v1/status", &err), LT_ENET);
	assert_non_null(strstr(err.text, socket_path));
	assert_non_null(strstr(err.text, "is it running?"));
}

static void
test_escape(void **state)
{
	static const struct {
		const char *why, *text, *escaped;
	} cases[] = {
	    {"plain", "vision-2.x_y~", "vision-2.x_y~"},
	    {"what a query is made of", "a&b=c?d/e#f%", "a%26b%3Dc%3Fd%2Fe%23f%25"},
	    {"a blank and a line end", "a \r\n", "a%20%0D%0A"},
	    {"UTF-8 by the byte", "é", "%C3%A9"},
	};
	char out[64];
	struct lt_error err = {0};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(lt_client_escape(out, sizeof(out), cases[i].text, &err), LT_OK);
		if (strcmp(out, cases[i].escaped) != 0)
			fail_msg("%s: %s", cases[i].why, out);
	}
	assert_int_equal(lt_client_escape(out, 8, "abcdefghij", &err), LT_ELIMIT);
}

static int
set_up(void **state)
{
	struct lt_error err = {0};

	(void)state;
	if (mkdtemp(run_dir) == NULL || lt_http_init(&err))
		return -1;
	snprintf(socket_path, sizeof(socket_path), "%s/lowtided.sock", run_dir);
	snprintf(conf_path, sizeof(conf_path), "%s/slurm.conf", run_dir);
	unsetenv("LOWTIDE_SERVER");
	unsetenv("LOWTIDE_MUNGE_SOCKET");
	return setenv("SLURM_CONF", conf_path, 1);
}

static int
tear_down(void **state)
{
	(void)state;
	unlink(socket_path);
	unlink(conf_path);
	lt_http_cleanup();
	return rmdir(run_dir);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_answers),
	    cmocka_unit_test(test_request),
	    cmocka_unit_test(test_runs),
	    cmocka_unit_test(test_network),
	    cmocka_unit_test(test_dead_socket),
	    cmocka_unit_test(test_escape),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
