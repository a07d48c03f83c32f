/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where lowtided is, asked from another host by munge.
 */
#ifndef LT_SERVERS_H
#define LT_SERVERS_H

#include "seal.h"

/*
 * Ask server, else LOWTIDE_SERVER, else each SlurmctldHost of slurm.conf in
 * turn until one answers other than 503. Of the failures err has the first.
 * *reply starts as { 0 }; the caller frees its body.
 */
int lt_servers_ask(struct lt_sealed_reply *reply, const char *server,
    const struct lt_seal_question *question, struct lt_error *err);

#endif
