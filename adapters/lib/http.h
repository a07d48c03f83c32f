/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * HTTP by libcurl, which is loaded with the first transfer. Every transfer is bounded in time, size
 * and redirects.
 */
#ifndef LT_HTTP_H
#define LT_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "error.h"

enum {
	LT_HTTP_BODY_MAX = 16 * 1024 * 1024, /* decoded; more: refused */
	LT_HTTP_CONNECT_MS = 5000,
	LT_HTTP_TOTAL_MS = 20000,
	LT_HTTP_REDIRECTS = 3, /* same host, http(s) only */
	LT_HTTP_HEADERS_MAX = 16,
	LT_HTTP_HEADER_BYTES_MAX = 64 * 1024, /* of an answer; more: refused */
	LT_HTTP_STALL_BYTES_S = 100,	      /* slower for stall_s: ended */
	LT_HTTP_STALL_S = 10,
	LT_HTTP_TAKE_STALL_S = 60, /* of a body that is taken as it comes */
};

/* All PEM text; NULL = the system's CAs, no certificate. Whoever answers is always verified:
 * against these CAs only, where there are any. */
struct lt_http_tls {
	const char *ca, *certificate, *key;
};

/* Keeps a connection for the next request. Start as { 0 }. One thread at a time; a request inside
 * another's take() gets a connection of its own. */
struct lt_http_session {
	void *easy;
};
void lt_http_session_end(struct lt_http_session *session);

struct lt_http_request {	 /* start as { 0 } */
	const char *url;	 /* http or https */
	const char *unix_socket; /* or NULL */
	const char *method;	 /* NULL = GET, or POST if body */
	const char *body;
	size_t body_length;
	const char *headers[LT_HTTP_HEADERS_MAX]; /* "Name: value", no secrets
						   * are ever logged */
	const char *login;			  /* "user:password": HTTP Basic, or to sign */
	const char *aws_sigv4;			  /* "aws:amz:REGION:SERVICE", signs with login */
	bool direct;				  /* past any proxy, as for link-local hosts */
	const struct lt_http_tls *tls;		  /* NULL = the system's CAs */
	struct lt_http_session *session;	  /* NULL = a connection of its own */
	/* 0 = the limits above */
	int connect_ms, total_ms, stall_s, stall_bytes_s;
	/* NULL, or takes the body of a 200, of any length, as long as it does not stall; false: no
	 * more. */
	bool (*take)(void *context, const char *bytes, size_t length);
	/* NULL, or asked about once a second, in silence too; true ends it. */
	bool (*stop)(void *context);
	void *context;
};

struct lt_http_response { /* lt_http_free() */
	long status;	  /* 0 = none came; that of a cut answer too */
	char content_type[128];
	char *body; /* NUL after it */
	size_t body_length;
	int64_t retry_after_s;		   /* 0 = not sent */
	char etag[256], last_modified[64]; /* "" = not sent, or too long */
};

/* Does what the first transfer would do; call it before there are threads. */
int lt_http_init(struct lt_error *err);
/* At the end of a program, after all threads. */
void lt_http_cleanup(void);

/*
 * LT_OK for any complete answer, whatever its status; LT_ENET with the host
 * and what went wrong else, LT_ELIMIT for a body over the bound, LT_EINPUT for
 * a request that can't be sent.
 * Redirects of a GET are followed on the same host and port (or from http to
 * https there); all else is an answer or an error. Threads: one call each.
 * The caller frees response in any case.
 */
int lt_http_do(
    const struct lt_http_request *request, struct lt_http_response *response, struct lt_error *err);
/* A clock that is never set, for time limits. */
int64_t lt_monotonic_ms(void);
/* Reads a date of a header, as of Last-Modified; 0: not a date. */
int64_t lt_http_date(const char *text);
/* The host of a URL; "" when it has none. */
void lt_http_host(char *out, size_t size, const char *url);
/* The start of a body that may be anything, as one printable line. */
void lt_http_words(char *out, size_t size, const struct lt_http_response *response);
void lt_http_free(struct lt_http_response *response);

#endif
