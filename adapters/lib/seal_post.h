/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One question to lowtided on another host: sealed, posted, its reply opened.
 */
#ifndef LT_SEAL_POST_H
#define LT_SEAL_POST_H

#include "seal.h"

struct lt_seal_post {
	const char *who; /* "lowtided on HOST", before what goes wrong there */
	const char *url; /* "http://HOST:PORT/munge" */
	const char *method, *path, *body; /* body NULL = none */
	int connect_ms, total_ms;	  /* 0 = the limits of http.h */
};

/*
 * *reply is written only on success; the caller frees its body. Errors of
 * lt_seal_request(), lt_http_do() and lt_seal_open(), and LT_ENET with
 * "HTTP STATUS: BODY" for an answer that is not 200.
 */
int lt_seal_post(struct lt_sealed_reply *reply, const struct lt_seal *seal,
    const struct lt_seal_post *post, struct lt_error *err);

#endif
