/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads the API server's place and our credentials from a kubeconfig file, or from what a pod is
 * given. Between the files and client.c.
 */
#ifndef LT_KUBECONFIG_H
#define LT_KUBECONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include "kube.h"

enum {
	LT_KUBECONFIG_BYTES_MAX = 1024 * 1024, /* refused */
	LT_KUBE_TOKEN_MAX = 16 * 1024,	       /* of HTTP headers; refused */
	LT_KUBE_SECRET_AGE_MS = 60 * 1000,     /* of a file's text: read anew */
};

struct lt_kube_secret {		 /* a token, or PEM text, in the kubeconfig or a file */
	char *path;		 /* NULL = it stands in the kubeconfig */
	char *text;		 /* NULL = none; wiped when freed */
	struct timespec changed; /* of the file that text is from */
	ino_t inode;
	int64_t read_ms; /* by lt_monotonic_ms() */
};

struct lt_kube_config { /* start as { 0 } */
	char *server;	/* no "/" at the end */
	char name_space[64];
	bool in_pod;
	struct lt_kube_secret ca, certificate, key, token;
};

/* Reads a kubeconfig's text; files that it names are not opened, and stand in the paths. file is
 * for errors and for relative paths. On failure config is empty. Pure. */
int lt_kubeconfig_parse(struct lt_kube_config *config, const char *file, const char *bytes,
    size_t byte_count, struct lt_error *err);

/* Loads the kubeconfig or the pod's, and all files that it names. */
int lt_kube_config_load(
    struct lt_kube_config *config, const struct lt_kube_place *place, struct lt_error *err);

/*
 * Reads the named files again that have changed or were read a minute ago; all of them if force. A
 * file that can't be read leaves the text that was read before, and is a failure only if force: it
 * may be just about to be replaced.
 */
int lt_kube_config_refresh(struct lt_kube_config *config, bool force, struct lt_error *err);

void lt_kube_config_free(struct lt_kube_config *config);

#endif
