/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Inside kubernetes/: finds the parts of a JSON text without building it, so
 * that of a page of five hundred objects one is in memory as a tree. It only
 * finds: a part that is used goes through lt_json_load_nul().
 */
#ifndef LT_KUBE_PAGE_H
#define LT_KUBE_PAGE_H

#include <stdbool.h>
#include <stddef.h>

struct lt_kube_span { /* bytes of a text */
	const char *at, *end;
};

/* The value of an object's first member of this name. False without it, or
 * for what is no whole object as far as it was looked at. */
bool lt_kube_member(
    struct lt_kube_span object, const char *name, struct lt_kube_span *value);

/* Enter an array, given as its whole text; false if it is none. */
bool lt_kube_elements(struct lt_kube_span array, struct lt_kube_span *rest);
/* The next element: 1; 0 at the end of the array; -1 for what is none. */
int lt_kube_next(struct lt_kube_span *rest, struct lt_kube_span *element);

/* A text without escapes, into out; "" for any other, or if it is too long. */
void lt_kube_text(struct lt_kube_span value, char *out, size_t size);

#endif
