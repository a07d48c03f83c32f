/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The client over TCP: a munged of its own seals request and reply, a server
 * answers as lowtided does, or as none should. Skipped without munged.
 */
#include <arpa/inet.h>
#include <munge.h>
#include <netinet/in.h>
#include <pthread.h>
#include <pwd.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "cli.h"
#include "http.h"

#define MUNGED "/usr/sbin/munged"

static char folder[] = "/tmp/lowtide-munge.XXXXXX";
static char munge_socket[64];
static pid_t munged = -1;

struct reply {		     /* what the server seals and how */
	const char *payload; /* NULL: text goes as it is */
	const char *text;
	bool open;	    /* not restricted to the caller */
	const char *status; /* HTTP's; NULL = 200 OK */
};

struct server {
	int listener;
	uint16_t port;
	struct reply reply;
	char body[8192];   /* of the request */
	char payload[512]; /* in its credential */
	uid_t uid;
	char *credential; /* sealed payload */
};

static munge_ctx_t
context_new(void)
{
	munge_ctx_t context = munge_ctx_create();

	assert_non_null(context);
	assert_int_equal(
	    munge_ctx_set(context, MUNGE_OPT_SOCKET, munge_socket), 0);
	return context;
}

static void
seal(struct server *server)
{
	munge_ctx_t context = context_new();
	const struct reply *const reply = &server->reply;

	if (!reply->open)
		munge_ctx_set(context, MUNGE_OPT_UID_RESTRICTION, geteuid());
	munge_encode(&server->credential, context, reply->payload,
	    (int)strlen(reply->payload));
	munge_ctx_destroy(context);
}

static void
unseal(struct server *server)
{
	munge_ctx_t context = context_new();
	void *payload = NULL;
	int length = 0;
	gid_t gid;

	server->uid = (uid_t)-1;
	if (munge_decode(server->body, context, &payload, &length, &server->uid,
		&gid) == EMUNGE_SUCCESS)
		snprintf(server->payload, sizeof(server->payload), "%.*s",
		    length, (const char *)payload);
	free(payload);
	munge_ctx_destroy(context);
}

/* The body of one request: after the head, until Content-Length is there. */
static void
read_request(struct server *server, int fd)
{
	char request[16384] = "";
	size_t used = 0;

	for (;;) {
		const ssize_t count =
		    read(fd, request + used, sizeof(request) - 1 - used);

		if (count <= 0)
			return;
		used += (size_t)count;
		request[used] = '\0';
		const char *const end = strstr(request, "\r\n\r\n");
		const char *const length =
		    strcasestr(request, "content-length:");

		if (!end || !length ||
		    strlen(end + 4) < (size_t)atoi(length + 15))
			continue;
		snprintf(
		    server->body, sizeof(server->body), "%.8000s", end + 4);
		return;
	}
}

static void *
serve(void *argument)
{
	struct server *const server = argument;
	const int fd = accept(server->listener, NULL, NULL);
	const struct reply *const reply = &server->reply;

	if (fd < 0)
		return NULL;
	read_request(server, fd);
	unseal(server);
	if (reply->payload)
		seal(server);
	dprintf(fd, "HTTP/1.1 %s\r\nConnection: close\r\n\r\n%s",
	    reply->status ? reply->status : "200 OK",
	    reply->text		 ? reply->text
	    : server->credential ? server->credential
				 : "");
	close(fd);
	return NULL;
}

static void
start(struct server *server, pthread_t *thread)
{
	struct sockaddr_in address = {
	    .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t length = sizeof(address);

	server->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(server->listener, (struct sockaddr *)&address,
			     sizeof(address)),
	    0);
	assert_int_equal(listen(server->listener, 1), 0);
	assert_int_equal(
	    getsockname(server->listener, (struct sockaddr *)&address, &length),
	    0);
	server->port = ntohs(address.sin_port);
	assert_int_equal(pthread_create(thread, NULL, serve, server), 0);
}

static void
finish(struct server *server, pthread_t thread)
{
	pthread_join(thread, NULL);
	close(server->listener);
}

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
	const int code =
	    lt_client_call(answer, &cli, "GET", "/v1/status", NULL, err);

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
	    {"lowtided's own error",
		{.payload = "404\n{\"error\":\"no job 9\"}"}, LT_ENOENT,
		"no job 9"},
	    {"anybody may read it", {.payload = "200\n{}", .open = true},
		LT_EDENIED, "not restricted"},
	    {"an empty credential", {.payload = ""}, LT_EINPUT, ""},
	    {"no line end", {.payload = "200"}, LT_EINPUT, "no status"},
	    {"a word as status", {.payload = "abc\n{}"}, LT_EINPUT,
		"no status"},
	    {"a status below 100", {.payload = "099\n{}"}, LT_EINPUT,
		"no status"},
	    {"no JSON", {.payload = "200\nhello"}, LT_ENET, "not JSON"},
	    {"JSON without a seal", {.text = "{\"id\":7}"}, LT_EDENIED,
		"credential"},
	    {"a body that is empty", {.text = ""}, LT_EDENIED, "credential"},
	    {"a web server that is none of ours",
		{.status = "404 Not Found", .text = "no page"}, LT_ENET,
		"HTTP 404: no page"},
	};

	(void)state;
	if (munged < 0)
		skip();
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct server server = {.reply = cases[i].reply};
		json_t *answer = NULL;
		struct lt_error err = {0};
		const int code = call(&server, &answer, &err);

		if (code != cases[i].code || !strstr(err.text, cases[i].text))
			fail_msg(
			    "%s: got %d, %s", cases[i].why, code, err.text);
		if (code == LT_OK)
			assert_int_equal(
			    json_integer_value(json_object_get(answer, "id")),
			    7);
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
	fprintf(out, "SlurmUser=%s\nAuthInfo=socket=%s\n",
	    user ? user->pw_name : "0", munge_socket);
	for (int i = 0; i < count; i++)
		fprintf(out, "SlurmctldHost=c%d(127.0.0.1:%u)\n", i,
		    servers[i].port);
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
	const int code =
	    lt_client_call(&answer, &cli, "GET", "/v1/status", NULL, &err);

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

/* A key, and a munged that has it; ready when a credential goes round. */
static bool
start_munged(void)
{
	char key[64], option[4][80];
	char bytes[128];
	struct stat facts;

	snprintf(munge_socket, sizeof(munge_socket), "%s/socket", folder);
	snprintf(key, sizeof(key), "%s/key", folder);
	FILE *const out = fopen(key, "w");

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (char)(i * 7 + 1);
	if (!out || fwrite(bytes, 1, sizeof(bytes), out) != sizeof(bytes) ||
	    fclose(out) || chmod(key, 0600))
		return false;
	snprintf(option[0], sizeof(option[0]), "--socket=%s", munge_socket);
	snprintf(option[1], sizeof(option[1]), "--key-file=%s", key);
	snprintf(option[2], sizeof(option[2]), "--pid-file=%s/pid", folder);
	snprintf(option[3], sizeof(option[3]), "--seed-file=%s/seed", folder);
	munged = fork();
	if (munged == 0) {
		fclose(stdout); /* TAP is ours */
		fclose(stderr);
		execl(MUNGED, MUNGED, "--foreground", "--force", option[0],
		    option[1], option[2], option[3], (char *)NULL);
		_exit(127);
	}
	for (int i = 0; munged > 0 && i < 200; i++) {
		if (stat(munge_socket, &facts) == 0)
			return true;
		usleep(50000);
	}
	return false;
}

static int
tear_down(void **state)
{
	static const char *const names[] = {
	    "key", "pid", "seed", "socket", "socket.lock", "slurm.conf"};
	char path[80];

	(void)state;
	if (munged > 0) {
		kill(munged, SIGTERM);
		waitpid(munged, NULL, 0);
	}
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
		unlink(path);
	}
	lt_http_cleanup();
	return rmdir(folder);
}

static int
set_up(void **state)
{
	if (lt_http_init(NULL) || !mkdtemp(folder))
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
	};

	signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
