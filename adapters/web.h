/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the sources on the web have in common, between http.c and an adapter:
 * URLs, secrets kept out of sight, conditional requests, limits of one fetch,
 * the trace for `lowtide signals test`.
 */
#ifndef LT_WEB_H
#define LT_WEB_H

#include "http.h"
#include "source.h"

enum {
	LT_URL_SIZE = 2048,
	LT_WEB_FETCH_MS = 60000, /* all requests of one fetch together */
	LT_WEB_HEADERS_MAX = 4,
	LT_SECRET_SIZE = 2048,
};

struct lt_web { /* one fetch of one source; lt_web_start() */
	const struct lt_source_options *options;
	struct lt_points *points; /* gets retry_after_s of a failed answer */
	struct lt_source_memory *memory; /* the source's, else `own` */
	struct lt_source_memory own;
	int64_t end_ms; /* monotonic */
};

enum lt_web_type {   /* of the answer; no type at all always passes */
	LT_WEB_JSON, /* want "json" in it */
	LT_WEB_XML,  /* want "xml" */
	LT_WEB_TEXT, /* any but HTML: files and object stores say anything */
};

struct lt_web_request {	 /* start as { 0 } */
	const char *url; /* shown in the trace: no secret is in it */
	/* Never shown: "api_key=...", escaped, goes to the end of the URL;
	 * a header such as "Authorization: Bearer ..."; "user:password". */
	const char *secret_query, *secret_header, *secret_login;
	const char *aws_sigv4; /* "aws:amz:REGION:SERVICE", signs with login */
	const char *headers[LT_WEB_HEADERS_MAX];
	const char *method; /* NULL = GET, or POST with a body */
	const char *body;   /* never shown */
	bool direct;	    /* past any proxy, as for link-local hosts */
	enum lt_web_type type;
	bool conditional; /* send the memory's validators: may answer 304 */
	int gap_ms;	  /* least pause after the last request to this host */
	/* The message of a documented error body into out, "" = none there;
	 * NULL: the body's first words. */
	void (*error_text)(
	    char *out, size_t size, const char *body, size_t length);
};

/* points: of this fetch. Forgets the last fetch's trace. */
void lt_web_start(struct lt_web *web, const struct lt_source_options *options,
    struct lt_points *points);
/*
 * One request. LT_OK: status 200, or 304 to a conditional one, and a fitting
 * type. Else LT_ENET with "HOST: HTTP status 403, want 200: MESSAGE", or what
 * went wrong on the way; the response then still has status and body. The
 * caller frees it in any case. GETs and POSTs alike are answered from memory
 * within lt_web_share().
 */
int lt_web_do(struct lt_web *web, const struct lt_web_request *request,
    struct lt_http_response *response, struct lt_error *err);
/*
 * lt_web_do(), then parse (an adapter's) into web->points; a refusal names
 * host, line and column. An answer of 304 sets points->unchanged. Validators
 * are kept only of an answer that parse took.
 */
int lt_web_points(struct lt_web *web, const struct lt_web_request *request,
    int (*parse)(const struct lt_source_options *options, const char *bytes,
	size_t byte_count, int64_t now_utc_s, struct lt_points *points,
	struct lt_error *err),
    int64_t now_utc_s, struct lt_error *err);
/* "HOST: " and the place before an error of what an answer held. */
int lt_web_refuse(const char *url, struct lt_error *err);

/* From here on equal requests are sent once and their answers kept: for a
 * process that fetches several sources, then ends. */
void lt_web_share(void);

/* ---- URLs; a result that does not fit is LT_ELIMIT ---- */
/* Check the option `url`: http or https, no query, at most LT_URL_SIZE / 4. */
int lt_url_check(const struct lt_source_options *options, const char *key,
    struct lt_error *err);
/* The option's base URL (fallback without it) and a path, "/" between. */
int lt_url_start(char out[LT_URL_SIZE], const struct lt_source_options *options,
    const char *key, const char *fallback, const char *path,
    struct lt_error *err);
/* "?key=value" or "&key=value", both percent-encoded (RFC 3986). */
int lt_url_add(char out[LT_URL_SIZE], const char *key, const char *value,
    struct lt_error *err);
/* One text percent-encoded, for a path's part or a form. */
int lt_url_escape(
    char *out, size_t size, const char *text, struct lt_error *err);

/* ---- secrets ---- */
/*
 * The secret `key` of a source is named by its option KEY_file, an absolute
 * path of a file that only its owner may read, or by KEY_env, an
 * environment variable. Check only that exactly one is named (none is right
 * where it is not required), and that no option url or login_url sends it
 * in the clear to another host.
 */
int lt_secret_check(const struct lt_source_options *options, const char *key,
    bool required, struct lt_error *err);
/* Read it: one line, spaces at the ends dropped. out is wiped by the caller
 * (explicit_bzero) after use, by us on failure. LT_ENOENT: not named. No error
 * has any of it. */
int lt_secret_read(const struct lt_source_options *options, const char *key,
    char *out, size_t size, struct lt_error *err);
/* A whole secret file under the same rules. */
int lt_secret_file(
    const char *path, char *out, size_t size, struct lt_error *err);

#endif
