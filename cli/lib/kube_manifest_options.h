/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The manifests of a Kubernetes cluster, written for given choices (cli/kube.c); doctor compares
 * them with what the cluster has.
 */
#ifndef LT_KUBE_MANIFEST_OPTIONS_H
#define LT_KUBE_MANIFEST_OPTIONS_H

#include <stdbool.h>
#include <stdio.h>

enum {
	LT_KUBE_MINOR_MIN = 30,	   /* ValidatingAdmissionPolicy is stable */
	LT_KUBE_MINOR_MUTATES = 36 /* MutatingAdmissionPolicy is, and is on */
};

struct lt_kube_site { /* NULL: as in packaging/kubernetes */
	int minor;    /* of the cluster's version, 1.MINOR */
	const char *namespace, *image, *pool_label, *team_label;
	bool refuse; /* while a balance is not known */
	bool dry_run_pods;
};

/* Writes one YAML of many documents; the texts go in as they are. */
void lt_kube_write(FILE *out, const struct lt_kube_site *site);

/* The minor of "1.33", "v1.33.4-eks-1", "1.33+"; -1 = not a
 * version of Kubernetes 1. */
int lt_kube_minor(const char *version);

#endif
