/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One request to lowtided, by docs/api.md. On its own host it goes over the Unix socket, and the
 * kernel says who asks. From elsewhere it goes over TCP, with a munge credential that names the
 * user and carries request and reply.
 *
 * LOWTIDE_RUN_DIR names the socket's folder, LOWTIDE_SERVER a host. A request has two minutes; err
 * names the socket or server that failed, or has lowtided's own text.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"
#include "files.h"
#include "http.h"
#include "run_lines.h"
#include "seal.h"
#include "url.h"

#define DEFAULT_RUN_DIR "/run/lowtide"

enum { TIMEOUT_MS = 120000 };

struct question {
	struct lt_seal_question question;
	struct lt_run_lines *runs; /* takes the answer's runs; may be NULL */
};

const char *
lt_client_run_dir(const struct lt_cli *cli)
{
	const char *const named = getenv("LOWTIDE_RUN_DIR");

	if (cli->run_dir != NULL)
		return cli->run_dir;
	return named != NULL && named[0] ? named : DEFAULT_RUN_DIR;
}

int
lt_client_escape(char *out, size_t size, const char *text, struct lt_error *err)
{
	/* lt_url_escape() also has secrets; its own error shows no text. */
	return lt_url_escape(out, size, text, NULL) == LT_OK
		   ? LT_OK
		   : lt_fail(err, LT_ELIMIT, "\"%.40s...\": too long", text);
}

int
lt_client_query(char *path, size_t size, const char *name, const char *value, struct lt_error *err)
{
	const size_t used = strlen(path);
	char escaped[512];

	if (value == NULL)
		return LT_OK;
	if (lt_client_escape(escaped, sizeof(escaped), value, err) != LT_OK)
		return err->code;
	const int more = snprintf(path + used, size - used, "%c%s=%s",
	    strchr(path, '?') != NULL ? '&' : '?', name, escaped);
	return (size_t)more < size - used ? LT_OK : lt_fail(err, LT_ELIMIT, "%s: too long", name);
}

static bool
take_bytes(void *context, const char *bytes, size_t length)
{
	return lt_run_lines_feed(context, bytes, length);
}

/* Asks over the Unix socket; runs are taken as they come. */
static int
ask_socket(struct lt_sealed_reply *reply, const char *socket_path, const struct question *asked,
    struct lt_error *err)
{
	const struct lt_seal_question *const question = &asked->question;
	struct lt_run_lines *const runs = asked->runs;
	const char *const body = question->body;
	char url[4096];
	struct lt_http_response response = {0};

	snprintf(url, sizeof(url), "http://localhost%s", question->path);
	const struct lt_http_request request = {
	    .url = url,
	    .unix_socket = socket_path,
	    .method = question->method,
	    .body = body,
	    .body_length = body != NULL ? strlen(body) : 0,
	    .headers = {body != NULL ? "Content-Type: application/json" : NULL},
	    .total_ms = TIMEOUT_MS,
	    .stall_s = question->stall_s,
	    .take = runs != NULL ? take_bytes : NULL,
	    .context = runs,
	};

	if (lt_http_do(&request, &response, err)) {
		lt_http_free(&response);
		if (runs != NULL && runs->err.code)
			return (*err = runs->err).code;
		if (runs != NULL && runs->count > 0)
			return lt_context(err, "lowtided's answer on %s ends", socket_path);
		return lt_context(
		    err, "lowtided does not answer on %s (is it running?)", socket_path);
	}
	reply->status = response.status;
	reply->length = response.body_length;
	reply->body = response.body;
	response.body = NULL;
	lt_http_free(&response);
	return LT_OK;
}

/* Asks over TCP, sealed by munge; runs are taken once the reply is complete. */
static int
ask_network(struct lt_sealed_reply *reply, const struct question *asked, struct lt_error *err)
{
	if (lt_servers_ask(reply, NULL, &asked->question, err))
		return err->code;
	if (asked->runs != NULL && reply->status == 200) {
		if (!lt_run_lines_feed(asked->runs, reply->body, reply->length))
			*err = asked->runs->err;
		reply->length = 0;
	}
	return err->code;
}

static bool
socket_exists(const char *path)
{
	struct stat facts;

	return stat(path, &facts) == 0 && S_ISSOCK(facts.st_mode);
}

/* True for a reply of lowtided --follow: on a login node it answers only its plugin. */
static bool
is_follower(const struct lt_sealed_reply *reply)
{
	return reply->status == 404 && reply->body != NULL &&
	       strstr(reply->body, "this lowtided follows another") != NULL;
}

/* Reads a 2xx with JSON, or lowtided's {"error": text}. runs, if not NULL, took the runs of a
 * 200. */
static int
read_reply(json_t **answer, const struct lt_sealed_reply *reply, struct lt_run_lines *runs,
    struct lt_error *err)
{
	const bool taken = runs != NULL && reply->status == 200;
	const char *const text =
	    taken ? lt_run_lines_rest(runs) : (reply->body != NULL ? reply->body : "");
	json_error_t problem;

	if (text == NULL)
		return (*err = runs->err).code;
	json_t *const body = json_loadb(text, taken ? strlen(text) : reply->length, 0, &problem);

	if (reply->status >= 200 && reply->status < 300 && body != NULL) {
		*answer = body;
		return LT_OK;
	}
	const char *const said = lt_json_text(body, "error", NULL);

	if (said != NULL)
		lt_fail(err,
		    reply->status == 404   ? LT_ENOENT
		    : reply->status == 403 ? LT_EDENIED
		    : reply->status == 409 ? LT_ECONFLICT
					   : LT_EINPUT,
		    "%s", said);
	else if (body != NULL)
		lt_fail(err, LT_ENET, "lowtided answers with status %ld", reply->status);
	else
		lt_fail(err, LT_ENET, "lowtided's answer (status %ld) is not JSON: %s",
		    reply->status, problem.text);
	json_decref(body);
	return err->code;
}

static int
ask_lowtided(json_t **answer, const struct lt_cli *cli, const struct question *question,
    struct lt_error *err)
{
	struct lt_error ignored = {0};
	struct lt_error *const out = err != NULL ? err : &ignored;
	const char *const server = getenv("LOWTIDE_SERVER");
	const bool named = server != NULL && server[0];
	struct lt_sealed_reply reply = {0};
	char socket_path[1024];

	*answer = NULL;
	snprintf(socket_path, sizeof(socket_path), "%s/" LT_SOCKET_FILE, lt_client_run_dir(cli));
	const bool local = !named && socket_exists(socket_path);

	if (local)
		ask_socket(&reply, socket_path, question, out);
	if (!out->code && (!local || is_follower(&reply))) {
		free(reply.body);
		reply = (struct lt_sealed_reply){0};
		if (!ask_network(&reply, question, out) || local)
			; /* the error names the server */
		else if (named)
			lt_context(out, "LOWTIDE_SERVER=%s", server);
		else
			lt_context(out, "no socket %s here", socket_path);
	}
	if (!out->code)
		read_reply(answer, &reply, question->runs, out);
	free(reply.body);
	return out->code;
}

int
lt_client_get_runs(json_t **answer, const struct lt_cli *cli, const char *path,
    struct lt_run_lines *runs, struct lt_error *err)
{
	const struct question question = {
	    .question = {.method = "GET", .path = path, .timeout_ms = TIMEOUT_MS},
	    .runs = runs,
	};

	return ask_lowtided(answer, cli, &question, err);
}

int
lt_client_get(json_t **answer, const struct lt_cli *cli, const char *path, struct lt_error *err)
{
	return lt_client_get_runs(answer, cli, path, NULL, err);
}

int
lt_client_post(json_t **answer, const struct lt_cli *cli, const char *path, const json_t *body,
    struct lt_error *err)
{
	char *const text = body != NULL ? json_dumps(body, JSON_COMPACT) : NULL;
	const struct question question = {
	    .question = {.method = "POST",
		.path = path,
		.body = text,
		.timeout_ms = TIMEOUT_MS,
		/* A change waits for the end of a pass. */
		.stall_s = TIMEOUT_MS / 1000},
	};

	*answer = NULL;
	if (body != NULL && text == NULL)
		return lt_fail(err, LT_ENOMEM, "no memory");
	const int code = ask_lowtided(answer, cli, &question, err);
	free(text);
	return code;
}

const char *
lt_json_text(const json_t *object, const char *key, const char *fallback)
{
	const char *const text = json_string_value(json_object_get(object, key));

	return text != NULL ? text : fallback;
}

bool
lt_json_int(const json_t *object, const char *key, int64_t *value)
{
	const json_t *const item = json_object_get(object, key);

	if (!json_is_integer(item))
		return false;
	*value = json_integer_value(item);
	return true;
}
