/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Each controller in turn: only the acting one's lowtided works, another
 * answers 503. slurm.conf is read for each question, as it may come later than
 * who asks, or change.
 */
#include <pwd.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "servers.h"
#include "slurm_conf.h"
#include "units.h"

static int
peer_of(struct lt_seal *peer, const struct lt_conf *conf, struct lt_error *err)
{
	const char *const socket_path = getenv("LOWTIDE_MUNGE_SOCKET");
	const struct passwd *const user = getpwnam(conf->slurm_user);
	int64_t uid;

	peer->munge_socket = socket_path != NULL && socket_path[0]
				 ? socket_path
				 : conf->munge_socket;
	if (user != NULL) {
		peer->slurm_uid = user->pw_uid;
		return LT_OK;
	}
	if (lt_int64_parse(conf->slurm_user, 0, UINT32_MAX - 1, &uid, NULL))
		return lt_fail(err, LT_ENOENT,
		    "%s: SlurmUser=%s is no user here", conf->path,
		    conf->slurm_user);
	peer->slurm_uid = (uid_t)uid;
	return LT_OK;
}

static void
ask_each(struct lt_sealed_reply *reply, const struct lt_conf *conf,
    const struct lt_seal *peer, const struct lt_seal_question *question,
    struct lt_error *err)
{
	for (int i = 0; i < conf->host_count &&
			(reply->body == NULL || reply->status == 503);
	     i++) {
		struct lt_sealed_reply fresh = {0};

		if (lt_seal_ask(&fresh, peer, conf->hosts[i], question, err))
			continue; /* err keeps the first failure */
		free(reply->body);
		*reply = fresh;
	}
	if (reply->body != NULL)
		*err = (struct lt_error){0};
}

int
lt_servers_ask(struct lt_sealed_reply *reply, const char *server,
    const struct lt_seal_question *question, struct lt_error *err)
{
	const char *const named =
	    server != NULL ? server : getenv("LOWTIDE_SERVER");
	struct lt_conf *const conf = calloc(1, sizeof(*conf));
	struct lt_seal peer;

	if (conf == NULL)
		return lt_fail(err, LT_ENOMEM, "no memory");
	if (lt_conf_load(conf, err) == LT_OK &&
	    peer_of(&peer, conf, err) == LT_OK) {
		if (named != NULL && named[0]) {
			snprintf(conf->hosts[0], sizeof(conf->hosts[0]), "%s",
			    named);
			conf->host_count = 1;
		}
		if (conf->host_count > 0)
			ask_each(reply, conf, &peer, question, err);
		else
			lt_fail(
			    err, LT_ENOENT, "%s: no SlurmctldHost", conf->path);
	}
	free(conf);
	return err->code;
}
