/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Requests and replies between hosts, each in a munge credential, and the hosts that a request goes
 * to. The user who asks is the one who sealed the request; a reply counts only if SlurmUser or root
 * sealed it, for the asker alone.
 */
#ifndef LT_SEAL_H
#define LT_SEAL_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "error.h"

enum { LT_SEAL_BYTES_MAX = 512 * 1024 }; /* of a request; more: refused */

struct lt_seal {		  /* which munge, and whom we believe */
	const char *munge_socket; /* "" = munge's default */
	uid_t slurm_uid;
};

struct lt_seal_question {
	const char *method, *path;
	const char *body; /* NULL = none */
	/* For lt_seal_ask(); connect_ms and stall_s 0 = those of http.h. */
	int connect_ms, timeout_ms, stall_s;
};

struct lt_sealed_request {
	uid_t uid;	     /* who sealed it */
	struct in_addr from; /* and where, as that host's munged says */
	char *text;	     /* malloc'd, NUL after it */
	size_t length;
};
/*
 * Opens a request: who sealed it, and its text, which the caller frees. *asked is written only on
 * success. munged refuses a credential that it has seen. LT_EDENIED, LT_EINPUT, LT_ENOMEM.
 */
int lt_seal_asked(struct lt_sealed_request *asked, const struct lt_seal *seal,
    const char *credential, struct lt_error *err);

struct lt_seal_answer {
	uid_t uid; /* who may open it */
	int status;
	const char *body;
};
/*
 * Seals STATUS LF BODY by us for this uid alone. *credential is malloc'd,
 * only on success. LT_ENOMEM, LT_EIO.
 */
int lt_seal_reply(char **credential, const struct lt_seal *seal,
    const struct lt_seal_answer *answer, struct lt_error *err);

struct lt_seal_uids { /* of a reply's credential */
	uid_t encoder;
	bool is_restricted;
	uid_t restricted; /* who may open it; meaningful if is_restricted */
};
/* LT_OK if the reply to `self` may be believed, else LT_EDENIED. Pure. */
int lt_seal_check(
    const struct lt_seal_uids *uids, uid_t slurm_uid, uid_t self, struct lt_error *err);

struct lt_sealed_reply {
	long status; /* 100 to 599 */
	char *body;  /* malloc'd, NUL after it */
	size_t length;
};
/*
 * Asks the lowtided of a host (host, host:port, an IPv6 address) and opens its reply. err names the
 * server.
 */
int lt_seal_ask(struct lt_sealed_reply *reply, const struct lt_seal *seal, const char *server,
    const struct lt_seal_question *question, struct lt_error *err);

/*
 * Asks server, else LOWTIDE_SERVER, else each SlurmctldHost of slurm.conf in turn until one answers
 * other than 503. err has the first failure.
 * *reply starts as { 0 }; the caller frees its body.
 */
int lt_servers_ask(struct lt_sealed_reply *reply, const char *server,
    const struct lt_seal_question *question, struct lt_error *err);

#endif
