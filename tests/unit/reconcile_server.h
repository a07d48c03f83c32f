/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lowtide reconcile against answers on a real Unix socket: signals as they are, a report for each
 * day, and what the command then says.
 */
#ifndef LT_TEST_RECONCILE_SERVER_H
#define LT_TEST_RECONCILE_SERVER_H

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#include "cli.h"
#include "http.h"
#include "reconcile_tie.h"

#define FOLDER "tests/golden/reconcile/"

/* ---- lowtided's part: signals as they are, a report for each day ---- */
struct server { /* changed by the tests only while nobody asks */
	pthread_t thread;
	int listener;
	json_t *signals, *jobs, *incurred; /* by day; NULL: as of an old lowtided */
	const char *wrong;		   /* member of the report that is spoilt, or NULL */
};

static char run_dir[] = "/tmp/lowtide-reconcile.XXXXXX";
static struct server server;

/* The value of a query's key, for as long as the next call. */
static const char *
query_of(const char *request, const char *key)
{
	static char value[64];
	const char *const at = strstr(request, key);

	assert_non_null(at);
	snprintf(value, sizeof(value), "%.20s", at + strlen(key));
	return value;
}

static json_t *
report_of(const char *request)
{
	json_t *const groups =
	    json_deep_copy(json_object_get(server.jobs, query_of(request, "from=")));
	json_t *const report = json_pack("{s:{s:s},s:s,s:b,s:{s:o}}", "period", "start",
	    query_of(request, "from="), "currency", "USD", "complete", true, "by", "partition",
	    groups != NULL ? groups : json_array());

	assert_non_null(strstr(request, "&by=partition&incurred=1 "));
	json_object_set_new(
	    json_object_get(report, "period"), "end", json_string(query_of(request, "to=")));
	if (server.incurred != NULL)
		json_object_set(report, "incurred",
		    json_object_get(server.incurred, query_of(request, "from=")));
	if (server.wrong != NULL && strcmp(server.wrong, "complete") == 0)
		json_object_set_new(report, "complete", json_false());
	else if (server.wrong != NULL && strcmp(server.wrong, "period") == 0)
		json_object_set_new(
		    json_object_get(report, "period"), "end", json_string("2026-10-31T23:00:00Z"));
	else if (server.wrong != NULL && strncmp(server.wrong, "own_", 4) == 0)
		json_object_set_new(report, server.wrong, json_true());
	else if (server.wrong != NULL)
		json_object_del(report, server.wrong);
	return report;
}

static void *
serve(void *unused)
{
	for (;;) {
		char request[4096];
		size_t used = 0;
		const int fd = accept(server.listener, NULL, NULL);

		if (fd < 0)
			return unused;
		do {
			const ssize_t count = read(fd, request + used, sizeof(request) - 1 - used);

			if (count <= 0)
				break;
			used += (size_t)count;
			request[used] = '\0';
		} while (strstr(request, "\r\n\r\n") == NULL);
		json_t *const answer = strncmp(request, "GET /v1/report?", 15) == 0
					   ? report_of(request)
					   : json_incref(server.signals);
		char *const text = json_dumps(answer, 0);

		dprintf(fd,
		    "HTTP/1.1 200 OK\r\nConnection: close\r\n"
		    "Content-Type: application/json\r\n\r\n%s",
		    text);
		close(fd);
		free(text);
		json_decref(answer);
	}
}

/* ---- the command ---- */
extern const struct lt_cli_command command;
const struct lt_cli_command command = {.name = "reconcile",
    .usage = "INVOICE",
    .operands_min = 1,
    .operands_max = 3,
    .has_json = true,
    .options = lt_cli_reconcile_options,
    .run = lt_cli_reconcile};

struct said { /* said_free() */
	int status;
	char *out, *error;
};

/* What a descriptor's file has. */
static char *
text_of(FILE *file)
{
	char *text = NULL;
	size_t size = 0;

	rewind(file);
	if (getdelim(&text, &size, '\0', file) < 0) {
		free(text);
		text = strdup("");
	}
	fclose(file);
	return text;
}

static inline struct said
run(const char *const *arguments)
{
	char *argv[12] = {NULL};
	struct lt_cli cli = {.command = &command, .run_dir = run_dir};
	struct lt_error err = {0};
	struct said said;
	bool help = false;
	int argc = 0;
	FILE *const out = tmpfile(), *const error = tmpfile();

	for (; arguments[argc] != NULL; argc++)
		argv[argc] = (char *)(uintptr_t)arguments[argc];
	assert_int_equal(lt_cli_parse(&cli, &help, argc, argv, &err), LT_OK);
	fflush(stdout);
	fflush(stderr);
	const int old_out = dup(STDOUT_FILENO), old_error = dup(STDERR_FILENO);

	dup2(fileno(out), STDOUT_FILENO);
	dup2(fileno(error), STDERR_FILENO);
	said.status = lt_cli_reconcile(&cli);
	fflush(stdout);
	fflush(stderr);
	dup2(old_out, STDOUT_FILENO);
	dup2(old_error, STDERR_FILENO);
	close(old_out);
	close(old_error);
	said.out = text_of(out);
	said.error = text_of(error);
	return said;
}

static inline void
said_free(struct said *said)
{
	free(said->out);
	free(said->error);
}

static inline int
set_up(void **state)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};

	(void)state;
	assert_non_null(mkdtemp(run_dir));
	snprintf(address.sun_path, sizeof(address.sun_path), "%s/lowtided.sock", run_dir);
	server.listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(server.listener, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(listen(server.listener, 8), 0);
	server.signals = json_load_file(FOLDER "signals.json", 0, NULL);
	server.jobs = json_load_file(FOLDER "jobs.json", 0, NULL);
	assert_non_null(server.signals);
	assert_non_null(server.jobs);
	assert_int_equal(pthread_create(&server.thread, NULL, serve, NULL), 0);
	return lt_http_init(NULL);
}

static inline int
tear_down(void **state)
{
	char path[64];

	(void)state;
	shutdown(server.listener, SHUT_RDWR); /* ends its accept() */
	pthread_join(server.thread, NULL);
	lt_http_cleanup();
	json_decref(server.signals);
	json_decref(server.jobs);
	close(server.listener);
	snprintf(path, sizeof(path), "%s/lowtided.sock", run_dir);
	unlink(path);
	return rmdir(run_dir);
}

#endif
