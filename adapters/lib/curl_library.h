/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * libcurl and the thirty libraries behind it, loaded by who sends something:
 * for http.c and smtp.c alone. lowtided's children do; it itself stays without their 3 MiB.
 */
#ifndef LT_CURL_LIBRARY_H
#define LT_CURL_LIBRARY_H

#include <curl/curl.h>
#include <stdbool.h>

#include "error.h"

struct lt_curl { /* all that is used of it, once it is loaded */
	__typeof__(curl_global_init) *global_init;
	__typeof__(curl_global_cleanup) *global_cleanup;
	__typeof__(curl_easy_init) *easy_init;
	__typeof__(curl_easy_setopt) *easy_setopt;
	__typeof__(curl_easy_perform) *easy_perform;
	__typeof__(curl_easy_getinfo) *easy_getinfo;
	__typeof__(curl_easy_strerror) *easy_strerror;
	__typeof__(curl_easy_reset) *easy_reset;
	__typeof__(curl_easy_cleanup) *easy_cleanup;
	__typeof__(curl_slist_append) *slist_append;
	__typeof__(curl_slist_free_all) *slist_free_all;
	__typeof__(curl_url) *url;
	__typeof__(curl_url_set) *url_set;
	__typeof__(curl_url_get) *url_get;
	__typeof__(curl_url_cleanup) *url_cleanup;
	__typeof__(curl_free) *free;
	__typeof__(curl_getdate) *getdate;
};
extern struct lt_curl lt_curl;

/* Load it; once. LT_EIO: it is not there. */
int lt_curl_load(struct lt_error *err);
/* Load it, and make it ready to send. Before there are threads. */
int lt_curl_init(struct lt_error *err);
/* After all threads. */
void lt_curl_cleanup(void);

#endif
