/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Requests of the sources on the web, between http.c and an adapter: secrets kept out of sight,
 * conditional requests, limits of one fetch, the trace for `lowtide signals test`.
 */
#ifndef LT_WEB_H
#define LT_WEB_H

#include "http.h"
#include "option.h"
#include "secret.h"
#include "url.h"

enum {
	LT_WEB_READ_S = 10,  /* beyond its silence, to take in an answer */
	LT_WEB_REQUESTS = 3, /* as many at their limit end a fetch */
	LT_WEB_HEADERS_MAX = 4,
};

struct lt_web { /* one fetch of one source; lt_web_start() */
	const struct lt_source_options *options;
	struct lt_points *points;	 /* gets retry_after_s of a failed answer */
	struct lt_source_memory *memory; /* the source's, else `own` */
	struct lt_source_memory own;
	int64_t end_ms; /* monotonic */
};

enum lt_web_type {   /* of the answer; no type at all always passes */
	LT_WEB_JSON, /* want "json" in it */
	LT_WEB_XML,  /* want "xml" */
	LT_WEB_TEXT, /* any but HTML: files and object stores say anything */
	LT_WEB_TYPE_COUNT,
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
	/* The message of a documented error body into out, "" = none there; NULL: the body's first
	 * words. */
	void (*error_text)(char *out, size_t size, const char *body, size_t length);
};

/* Most that one request may take, and all of a fetch together. */
int64_t lt_web_request_ms(const struct lt_source_options *options);
int64_t lt_web_fetch_ms(const struct lt_source_options *options);
/* points: of this fetch. Forgets the last fetch's trace. */
void lt_web_start(
    struct lt_web *web, const struct lt_source_options *options, struct lt_points *points);
/*
 * One request. LT_OK: status 200, or 304 to a conditional one, and a fitting type. Else LT_ENET
 * with "HOST: HTTP status 403, want 200: MESSAGE", or what went wrong on the way; the response then
 * still has status and body. The caller frees it in any case. GETs and POSTs alike are answered
 * from memory within lt_web_share().
 */
int lt_web_do(struct lt_web *web, const struct lt_web_request *request,
    struct lt_http_response *response, struct lt_error *err);
/*
 * lt_web_do(), then parse (an adapter's) into web->points; a refusal names host, line and column.
 * An answer of 304 sets points->unchanged. Validators are kept only of an answer that parse took.
 */
int lt_web_points(struct lt_web *web, const struct lt_web_request *request, lt_parse_fn *parse,
    int64_t now_utc_s, struct lt_error *err);
/* "NAME=SECRET", escaped, of the source's secret `key`, for secret_query; the caller wipes out.
 * LT_ENOENT: not named. */
int lt_web_secret_query(char out[LT_SECRET_SIZE], const struct lt_source_options *options,
    const char *key, const char *name, struct lt_error *err);
/* HTTP status of the last request of a fetch; 0 = no answer. */
long lt_web_status(const struct lt_web *web);
/* "HOST: " and the place before an error of what an answer held. */
int lt_web_refuse(const char *url, struct lt_error *err);

/* From here on equal requests are sent once and their answers kept: for a process that fetches
 * several sources, then ends. */
void lt_web_share(void);

#endif
