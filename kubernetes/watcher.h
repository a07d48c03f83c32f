/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A child that follows the cluster, a thread for each kind of object, and
 * gives what it sees as lines of JSON: so nobody waits for the API server,
 * and libcurl's and jansson's memory of large lists is not the daemon's.
 */
#ifndef LT_KUBE_WATCHER_H
#define LT_KUBE_WATCHER_H

#include "kube_facts.h"

enum lt_kube_kind {
	LT_KUBE_NAMESPACES,
	LT_KUBE_NODES,
	LT_KUBE_JOBS,
	LT_KUBE_PODS,
	LT_KUBE_KINDS
};
/* Besides one object of lowtide's own, which nothing waits for. */
enum { LT_KUBE_BALANCES = LT_KUBE_KINDS, LT_KUBE_WATCHED };

extern const char *const lt_kube_paths[LT_KUBE_KINDS]; /* of all of them */
#define LT_KUBE_BALANCES_NAME "lowtide-balances"

enum lt_kube_event {
	LT_KUBE_BEGIN, /* of a list: what is not in it is gone */
	LT_KUBE_SEEN,
	LT_KUBE_GONE,
	LT_KUBE_END,
	LT_KUBE_FAILED, /* goes on; `text` says why */
};

struct lt_kube_line {
	enum lt_kube_kind kind;
	enum lt_kube_event event;
	json_t *object;	  /* SEEN, GONE: borrowed */
	const char *text; /* END: the list's resourceVersion */
};

/* Starts it if it does not run. namespace: of the balances; lent. */
int lt_kube_watcher_start(const char *namespace, struct lt_error *err);
void lt_kube_watcher_stop(void);
/* Readable when there is something to take; -1: it does not run. */
int lt_kube_watcher_fd(void);
/* All whole lines that have come. False: it has ended, and is to be started
 * again. */
typedef void lt_kube_take_line(void *context, const struct lt_kube_line *line);
bool lt_kube_watcher_take(lt_kube_take_line *take, void *context);

#endif
