/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lowtided on a login node: fetches the controller's market snapshot page by page and keeps it in
 * the run directory for SPANK; asks for balances and announces plans on behalf of the local user.
 * Children do the asking (question.c), so that a controller that hangs delays nothing else. A fetch
 * that fails is logged once and tried again; the old snapshot stays.
 */
#include <errno.h>
#include <jansson.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base64.h"
#include "daemon.h"
#include "follow.h"
#include "http.h"
#include "log.h"
#include "seal.h"
#include "serve.h"

enum {
	EVERY_S = 30,
	ASK_MS = 5000,
	RELAY_MS = 2000,
	MARKET_S = 60,
	PAGES_MAX = LT_FILE_BYTES_MAX / (360 * 1024) + 1
};

static struct { /* the controller, and the copy of its market; set once */
	struct lt_seal seal;
	const char *host, *market_path;
} following;

struct market {		       /* what we know of the file that we keep */
	struct lt_child child; /* that fetches it */
	uint64_t generation;
	int64_t next_ms; /* by the monotonic clock */
	bool failed;
};

/* One request by munge; *text is malloc'd; the status, or a negative code. */
static int
ask_controller(const struct lt_seal_question *question, char **text, struct lt_error *err)
{
	struct lt_sealed_reply reply = {0};
	const int code = lt_seal_ask(&reply, &following.seal, following.host, question, err);

	*text = reply.body;
	return code == LT_OK ? (int)reply.status : code;
}

/* One page into bytes at *have; sets *generation and *size. */
static int
fetch_page(unsigned char **bytes, size_t *have, json_int_t *generation, json_int_t *size,
    struct lt_error *err)
{
	char path[64], *body = NULL;
	const char *const host = following.host;
	json_int_t page_generation = 0, total = 0, offset = 0;
	const char *text = NULL;

	snprintf(path, sizeof(path), "/v1/market?format=14&offset=%zu", *have);
	const int status = ask_controller(
	    &(struct lt_seal_question){
		.method = "GET", .path = path, .connect_ms = ASK_MS, .timeout_ms = ASK_MS},
	    &body, err);
	if (status != 200) {
		const int code =
		    status < 0 ? status
			       : lt_fail(err, LT_ENET, "%s: market: %d %.200s", host, status, body);

		free(body);
		return code;
	}
	json_t *const json = json_loads(body, 0, NULL);
	free(body);
	int code = LT_OK;
	if (json == NULL ||
	    json_unpack(json, "{s:I,s:I,s:I,s:s}", "generation", &page_generation, "offset",
		&offset, "size", &total, "base64", &text) != 0 ||
	    total <= 0 || total > LT_FILE_BYTES_MAX || offset != (json_int_t)*have)
		code = lt_fail(err, LT_ENET, "%s: market: not a page of it", host);
	if (code == LT_OK && *have == 0) {
		*bytes = malloc((size_t)total);
		*generation = page_generation;
		*size = total;
		if (*bytes == NULL)
			code = lt_fail(err, LT_ENOMEM, "out of memory");
	}
	if (code == LT_OK && (page_generation != *generation || total != *size))
		code = lt_fail(err, LT_ESTALE, "%s: market changed between two pages", host);
	if (code == LT_OK) {
		const long got = lt_base64_decode(*bytes + *have, (size_t)*size - *have, text);

		if (got <= 0)
			code = lt_fail(err, LT_ENET, "%s: market: damaged page", host);
		else
			*have += (size_t)got;
	}
	json_decref(json);
	return code;
}

int
lt_follow_refresh(uint64_t *generation, struct lt_error *err)
{
	unsigned char *bytes = NULL;
	size_t have = 0;
	json_int_t page_generation = 0, size = 1;
	struct lt_market market;
	int code = LT_OK;

	for (int page = 0; code == LT_OK && have < (size_t)size; page++)
		code = page > PAGES_MAX ? lt_fail(err, LT_ELIMIT, "market: too many pages")
					: fetch_page(&bytes, &have, &page_generation, &size, err);
	if (code == LT_OK)
		code = lt_market_unpack(&market, bytes, have, err);
	free(bytes);
	if (code != LT_OK)
		return code;
	if (market.generation != *generation)
		code = lt_market_save(&market, following.market_path, err);
	*generation = market.generation;
	lt_market_free(&market);
	return code;
}

bool
lt_follow_path(char *path, size_t size, uint32_t uid, const char *uri)
{
	char account[LT_ACCOUNT_SIZE] = "";
	static const char balance[] = "/v1/balance", plan[] = "/v1/plan";

	if (strcmp(uri, plan) == 0) {
		snprintf(path, size, "%s?uid=%u", plan, uid);
		return true;
	}
	if (strncmp(uri, balance, sizeof(balance) - 1) != 0)
		return false;
	const char *const given = strstr(uri, "account=");
	if (given != NULL)
		snprintf(
		    account, sizeof(account), "%.*s", (int)strcspn(given + 8, "& \n"), given + 8);
	snprintf(path, size, "%s?account=%s&uid=%u", balance, account, uid);
	return true;
}

int
lt_follow_ask(const char *path, const char *body, char **reply)
{
	struct lt_error err = {0};
	const bool has_body = body[0] != '\0';
	const struct lt_seal_question question = {.method = has_body ? "POST" : "GET",
	    .path = path,
	    .body = has_body ? body : NULL,
	    .connect_ms = RELAY_MS,
	    .timeout_ms = RELAY_MS};
	const int status = ask_controller(&question, reply, &err);

	if (status > 0 && *reply != NULL)
		return status;
	json_t *json = NULL;
	lt_api_error(&json, 503, "%s", err.text);
	free(*reply);
	*reply = json != NULL ? json_dumps(json, JSON_COMPACT) : NULL;
	json_decref(json);
	return 503;
}

/* A child writes the market into its file, and reports its generation, or why there is none. */
struct news {
	uint64_t generation;
	struct lt_error err;
};

static void
refresh_child(void *work, int fd)
{
	const struct news *const known = work;
	struct news news = *known;

	if (lt_follow_refresh(&news.generation, &news.err) != LT_OK)
		news.generation = 0;
	(void)lt_child_write(fd, &news, sizeof(news));
}

static void
take_news(struct market *m)
{
	struct news news = {0};
	int status;

	if (m->child.fd < 0 || !lt_child_read(&m->child, &status))
		return;
	if (m->child.length == sizeof(news))
		memcpy(&news, m->child.bytes, sizeof(news));
	else
		lt_fail(&news.err, LT_EIO, "market: not fetched in time");
	lt_child_drop(&m->child);
	const bool failed = news.err.code != LT_OK;
	if (failed && !m->failed)
		lt_log("follow_failed", "error=\"%s\"", news.err.text);
	if (!failed && m->failed)
		lt_log("followed", "generation=%llu", (unsigned long long)news.generation);
	m->failed = failed;
	if (!failed)
		m->generation = news.generation;
}

static void
keep_market(struct market *m, int64_t now_ms)
{
	take_news(m);
	if (m->child.fd >= 0 || now_ms < m->next_ms)
		return;
	m->next_ms = now_ms + EVERY_S * 1000;
	struct news known = {.generation = m->generation};
	(void)lt_child_start(&m->child, refresh_child, &known, MARKET_S, NULL);
}

static bool
ended(int signals)
{
	struct signalfd_siginfo info;

	while (read(signals, &info, sizeof(info)) == (ssize_t)sizeof(info))
		if (info.ssi_signo != SIGHUP)
			return true;
	return false;
}

static void
loop(int signals)
{
	struct market market = {.child.fd = -1};

	for (;;) {
		struct pollfd fds[2 + LT_SERVE_FDS + LT_QUESTIONS_MAX] = {
		    {.fd = signals, .events = POLLIN}};
		nfds_t count = 2;

		keep_market(&market, lt_monotonic_ms());
		lt_questions_run();
		lt_serve_run();
		lt_questions_run(); /* those that just came */
		fds[1] = (struct pollfd){.fd = market.child.fd, .events = POLLIN};
		count += (nfds_t)lt_serve_fds(&fds[count], LT_SERVE_FDS);
		count += (nfds_t)lt_questions_fds(&fds[count], LT_QUESTIONS_MAX);
		const int wait_ms = lt_serve_timeout_ms(1000);
		if (poll(fds, count, wait_ms) < 0 && errno != EINTR)
			break;
		if (ended(signals))
			break;
	}
	lt_child_drop(&market.child);
}

void
lt_follow_whom(const char *host, const struct lt_seal *seal, const char *path)
{
	following.host = host;
	following.seal = *seal;
	following.market_path = path;
}

/* slurm.conf says whose credentials to believe, never the network. */
static int
find_seal(struct lt_seal *seal, char munge_socket[512], struct lt_error *err)
{
	const char *const named = getenv("LOWTIDE_MUNGE_SOCKET");
	struct lt_batch_conf conf;
	const int code = lt_batch_init(NULL, NULL, err);

	if (code != LT_OK)
		return lt_context(err, "SlurmUser, whose answers count, is not known");
	lt_batch_conf_here(&conf);
	lt_batch_fini();
	snprintf(munge_socket, 512, "%s", named != NULL && named[0] ? named : conf.munge_socket);
	*seal = (struct lt_seal){.munge_socket = munge_socket, .slurm_uid = conf.slurm_uid};
	return LT_OK;
}

int
lt_follow(struct lt_daemon *d, int signals_fd)
{
	static const struct lt_serve_relay relay = {.path = lt_follow_path, .ask = lt_follow_ask};
	static char munge_socket[512];
	struct lt_seal seal;
	struct lt_error err = {0};

	if (mkdir(d->args.run, 0755) != 0 && errno != EEXIST) {
		fprintf(stderr, "lowtided: %s: %s\n", d->args.run, strerror(errno));
		return 1;
	}
	snprintf(d->paths.market, sizeof(d->paths.market), "%s/%s", d->args.run, LT_MARKET_FILE);
	snprintf(d->paths.socket, sizeof(d->paths.socket), "%s/%s", d->args.run, LT_SOCKET_FILE);
	/* curl once, here: children that answer within 50 ms have no time. */
	if (find_seal(&seal, munge_socket, &err) != LT_OK || lt_http_init(&err) != LT_OK ||
	    lt_serve_start(d, &relay, &err) != LT_OK) {
		fprintf(stderr, "lowtided: %s\n", err.text);
		return 1;
	}
	d->site.tables.conf.slurm_uid = seal.slurm_uid;
	lt_follow_whom(d->args.follow, &seal, d->paths.market);
	lt_log("started", "pid=%d follow=%s", (int)getpid(), d->args.follow);
	loop(signals_fd);
	lt_serve_stop();
	lt_http_cleanup();
	return 0;
}
