/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Inside kubernetes/: one request with our credentials, for client.c, list.c and follow.c; and the
 * parts of a JSON text.
 */
#ifndef LT_KUBE_SEND_H
#define LT_KUBE_SEND_H

#include "http.h"
#include "kubeconfig.h"

struct lt_kube {
	struct lt_kube_config config;
	struct lt_http_session session;
	uint64_t random; /* of pauses */
};

/*
 * Fills the URL, our token and certificates into http and sends it. A 401 is asked again once, if a
 * token's file has another one by then; 429 and 503 as
 * kube.h has it, within http's total_ms; its stop() ends pauses, too. Else as
 * lt_http_do(): any status is LT_OK, and the caller frees response.
 */
int lt_kube_send(struct lt_kube *kube, const char *path, struct lt_http_request *http,
    struct lt_http_response *response, struct lt_error *err);

/* LT_OK for a 2xx, else kube.h's code of the status, and the message. */
int lt_kube_check(const char *path, const struct lt_http_response *response, struct lt_error *err);

/* Waits, as long as stop(), which may be NULL, does not say so. */
void lt_kube_pause(int64_t wait_ms, bool (*stop)(void *context), void *context);

/* A list or a watch under way. */
struct lt_kube_run {
	struct lt_kube *kube;
	const struct lt_kube_follow *follow;
	char version[LT_KUBE_VERSION_SIZE]; /* resourceVersion */
	bool stopped;			    /* by a callback */
};

/* Asks the follow's stop(); context is a struct lt_kube_run. */
bool lt_kube_run_stop(void *context);
void lt_kube_run_report(const struct lt_kube_run *run, const struct lt_error *err);
/* Hands one object on; false when that was the last. */
bool lt_kube_run_item(struct lt_kube_run *run, enum lt_kube_change change, const json_t *object);
/* metadata.resourceVersion, or "". */
const char *lt_kube_version_of(const json_t *object);

/* Reads a whole list. LT_OK with run->stopped when a callback ended it. */
int lt_kube_run_list(struct lt_kube_run *run, struct lt_error *err);

/*
 * ---- parts of a JSON text, list.c ----
 *
 * Inside kubernetes/: finds the parts of a JSON text without building it, so that of a page of five
 * hundred objects one is in memory as a tree. It only finds: a part that is used goes through
 * lt_json_load_nul().
 */

struct lt_kube_span { /* bytes of a text */
	const char *at, *end;
};

/* Finds the value of an object's first member of this name. False without it, or if what was looked
 * at is not a whole object. */
bool lt_kube_member(struct lt_kube_span object, const char *name, struct lt_kube_span *value);

/* Enters an array, given as its whole text; false if it is not one. */
bool lt_kube_elements(struct lt_kube_span array, struct lt_kube_span *rest);
/* Finds the next element: 1; 0 at the end of the array; -1: it is not one. */
int lt_kube_next(struct lt_kube_span *rest, struct lt_kube_span *element);

/* Copies a text without escapes into out; "" for any other, or if it is too long. */
void lt_kube_text(struct lt_kube_span value, char *out, size_t size);

#endif
