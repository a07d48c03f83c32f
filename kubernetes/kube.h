/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A client of a Kubernetes API server: a request and its answer, lists in pages, and lists that are
 * kept up to date by a watch. It knows nothing of what the objects mean.
 */
#ifndef LT_KUBE_H
#define LT_KUBE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "error.h"

enum {
	LT_KUBE_TRIES = 3,			   /* of a request that is to wait and ask again */
	LT_KUBE_TOTAL_MS = 10000,		   /* of a request, its tries and pauses */
	LT_KUBE_PAGE = 500,			   /* objects of a list's page; a page over
						    * LT_HTTP_BODY_MAX is asked for at half that */
	LT_KUBE_PAGE_MS = 30000,		   /* of one page */
	LT_KUBE_LISTS = 3,			   /* expired while it is read: listed anew */
	LT_KUBE_LINE_BYTES_MAX = 16 * 1024 * 1024, /* of a watch; longer:
						    * listed anew */
	LT_KUBE_VERSION_SIZE = 128,		   /* a resourceVersion; longer: refused */
	LT_KUBE_WATCH_S = 300,			   /* the server ends a watch after this and up
						    * to half of it more; it is then resumed */
	LT_KUBE_SILENCE_S = 150,		   /* without a byte, where bookmarks come each
						    * minute: resumed on a new connection */
	LT_KUBE_BACKOFF_MS = 250,		   /* after a first failure, doubled to */
	LT_KUBE_BACKOFF_MAX_MS = 30000,		   /* this; half to all of it is waited */
	LT_KUBE_RESUMES = 5,			   /* without an event between: listed anew */
};

struct lt_kube;

/* The server's place, and our credentials. Start as { 0 }. */
struct lt_kube_place {
	const char *kubeconfig;	 /* a file; NULL or "" = in a pod */
	const char *account_dir; /* NULL = where a pod has its ServiceAccount */
	const char *host, *port; /* of the server, in a pod */
};

/* KUBECONFIG, KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT. */
struct lt_kube_place lt_kube_place_of_environment(void);

/*
 * Reads the kubeconfig or the pod's ServiceAccount; sends nothing. LT_EINPUT, LT_ENOENT or LT_EIO
 * with the file, what it has and what to do. A lt_kube is one thread's at a time; call
 * lt_http_init() before there are threads.
 */
int lt_kube_open(struct lt_kube **kube, const struct lt_kube_place *place, struct lt_error *err);
void lt_kube_close(struct lt_kube *kube); /* NULL is fine */

/* Returns "https://10.96.0.1:443", for a log. */
const char *lt_kube_server(const struct lt_kube *kube);
/* Returns the pod's namespace, or the kubeconfig's context's; "" = not said. */
const char *lt_kube_namespace(const struct lt_kube *kube);

#define LT_KUBE_MERGE_PATCH "application/merge-patch+json"
#define LT_KUBE_JSON_PATCH "application/json-patch+json"
#define LT_KUBE_STRATEGIC_PATCH "application/strategic-merge-patch+json"

struct lt_kube_request {
	const char *method;	  /* NULL = GET */
	const char *path;	  /* "/api/v1/nodes?limit=1", percent-encoded */
	const char *content_type; /* of the body; NULL = application/json */
	const json_t *body;	  /* NULL = none */
	const char *user;	  /* as whom, by our right; NULL = ourselves */
};

/*
 * One request. LT_OK for a 2xx, with *answer (json_decref; NULL if the answer is empty) where
 * answer is not NULL. Else the Status's message is in err:
 *   LT_ENOENT 404, LT_ECONFLICT 409, LT_ESTALE 410, LT_EDENIED 401 and 403,
 *   LT_EINPUT any other 4xx, as 422 for what validation or a JSON patch's
 *   "test" refuses,
 *   LT_ENET no answer, 5xx, or 429 after LT_KUBE_TRIES.
 * 429 and 503 are asked again after their Retry-After, a 401 at once if the token's file has a new
 * one. Blocks for at most LT_KUBE_TOTAL_MS. May be called within the callbacks below, on the same
 * lt_kube.
 */
int lt_kube_do(struct lt_kube *kube, const struct lt_kube_request *request, json_t **answer,
    struct lt_error *err);

enum lt_kube_change {
	LT_KUBE_LISTED, /* in a list: new or known, changed or not */
	LT_KUBE_ADDED,
	LT_KUBE_MODIFIED,
	LT_KUBE_DELETED, /* the object as it was at its end */
};

struct lt_kube_item {
	enum lt_kube_change change;
	const json_t *object;	      /* borrowed; json_incref() to keep. In a list of
				       * built-in kinds without kind and apiVersion */
	const char *resource_version; /* of the object's metadata, or "" */
};

/* Callbacks may be NULL; those with a bool end all with false. */
struct lt_kube_follow {
	const char *path;  /* "/api/v1/pods", percent-encoded */
	const char *query; /* "labelSelector=a%3Db", or NULL */
	int page;	   /* 0 = LT_KUBE_PAGE */
	int silence_s;	   /* 0 = LT_KUBE_SILENCE_S */
	int backoff_ms;	   /* 0 = LT_KUBE_BACKOFF_MS */
	/* A list starts, also in the midst of another that has expired. */
	bool (*begin)(void *context);
	bool (*item)(void *context, const struct lt_kube_item *item);
	/* The list is whole: what was not in it since begin() is gone. */
	bool (*end)(void *context, const char *resource_version);
	/* Reports a failure after which it continues: an object over the bounds of lt_json_load()
	 * that is left out, or a try that is repeated. */
	void (*report)(void *context, const struct lt_error *err);
	/* Asked about once a second; true ends all. */
	bool (*stop)(void *context);
	void *context;
};

/* One list, a page in memory at a time. LT_OK when it is whole or a callback ended it; else as
 * lt_kube_do(). */
int lt_kube_list(struct lt_kube *kube, const struct lt_kube_follow *follow, struct lt_error *err);

/*
 * Lists, then watches from there, for as long as no callback ends it: begin(), item() for each
 * object, end(), then item() for each change. A watch that ends, is cut or is silent resumes from
 * its last resourceVersion; one that is too old for the server (410), or can't be read, starts with
 * begin() again. Any failure is reported and tried again, with growing pauses. LT_OK, or LT_EINPUT
 * for a follow without a path.
 */
int lt_kube_follow(struct lt_kube *kube, const struct lt_kube_follow *follow, struct lt_error *err);

#endif
