/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A manifest of Kubernetes, YAML or JSON, as jansson's objects.
 */
#ifndef LT_MANIFEST_H
#define LT_MANIFEST_H

#include <jansson.h>

#include "error.h"

enum {
	/* lowtided takes 64 KiB as the body of a request; more is refused. */
	LT_MANIFEST_BYTES_MAX = 64 * 1024,
	LT_MANIFEST_DEPTH_MAX = 32, /* as for other JSON; more is refused */
};

struct lt_manifest_text {
	const char *name; /* stands for the file in messages */
	const char *bytes;
	size_t length;
};
/*
 * Reads one document that is an object. Plain texts are read as kubectl does, by YAML 1.1: yes and
 * on are true, 010 is 8. Aliases, merge keys and tags but !!str are refused. On success the caller
 * owns *manifest. LT_EINPUT, LT_ELIMIT: "FILE:LINE:COL: ...". Pure.
 */
int lt_manifest_parse(json_t **manifest, const struct lt_manifest_text *text, struct lt_error *err);

#endif
