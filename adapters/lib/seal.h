/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Requests and replies between hosts, each in a munge credential: who asks is
 * who sealed the request; a reply counts only if SlurmUser or root sealed it,
 * for the asker alone.
 */
#ifndef LT_SEAL_H
#define LT_SEAL_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "error.h"

enum { LT_SEAL_BYTES_MAX = 512 * 1024 }; /* of a request; more: refused */

struct lt_seal {		  /* by which munge, and whom we believe */
	const char *munge_socket; /* "" = munge's default */
	uid_t slurm_uid;
};

/*
 * METHOD SP PATH LF BODY, sealed by us. *credential is malloc'd, only on
 * success. body: NULL = none. LT_ELIMIT, LT_ENOMEM, LT_EIO.
 */
int lt_seal_request(char **credential, const struct lt_seal *seal,
    const char *method, const char *path, const char *body,
    struct lt_error *err);

/*
 * May a reply be believed that `encoder` sealed, restricted to the uid
 * `restricted` (meaningful only if is_restricted), when `self` asked?
 * LT_EDENIED if not. Pure.
 */
int lt_seal_check(uid_t encoder, bool is_restricted, uid_t restricted,
    uid_t slurm_uid, uid_t self, struct lt_error *err);

struct lt_sealed_reply {
	long status; /* 100 to 599 */
	char *body;  /* malloc'd, NUL after it */
	size_t length;
};
/*
 * STATUS LF BODY out of a reply's credential that lt_seal_check() lets pass
 * for our effective uid. *reply is written only on success; the caller frees
 * its body. LT_EDENIED, LT_EINPUT.
 */
int lt_seal_open(struct lt_sealed_reply *reply, const struct lt_seal *seal,
    const char *credential, struct lt_error *err);

#endif
