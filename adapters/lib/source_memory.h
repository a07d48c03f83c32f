/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What lowtided keeps of a source from one fetch to the next: token,
 * validators, and the trace for `lowtide signals test`.
 */
#ifndef LT_SOURCE_MEMORY_H
#define LT_SOURCE_MEMORY_H

#include <stddef.h>
#include <stdint.h>

enum {
	LT_TOKEN_SIZE = 4096,
	LT_TRACE_MAX =
	    8, /* requests of one fetch that are told; more: counted */
};

/* What a source keeps between two fetches, in memory only: never written
 * down, logged or shown but for the trace, which has no secrets. Zero at the
 * start. */
struct lt_source_memory {
	char token[LT_TOKEN_SIZE]; /* secret; "" = none */
	int64_t token_until_utc_s;
	/* Validators of the one answer that the last points came from. */
	char etag[256], last_modified[64];
	/* Since when that answer is the same: by Last-Modified, else since it
	 * was first seen; 0 = no validators. */
	int64_t changed_utc_s;
	int version; /* of a catalog with several, the one in use; 0: none */
	/* History, or what is to come, is not asked for before: the source
	 * wanted that pause, while it gave the other. */
	int64_t past_pause_utc_s, ahead_pause_utc_s;
	/* The requests of the last fetch. */
	int trace_count; /* may be more than LT_TRACE_MAX */
	struct lt_trace {
		char request[512]; /* "GET https://host/path?query" */
		long status;	   /* 0 = no answer */
		size_t body_length;
		int64_t took_ms;
	} trace[LT_TRACE_MAX];
};

#endif
