/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Mails to users who asked Slurm for some (--mail-type): the plan of a job that
 * waits was moved by more than an hour, a job lost its nodes and runs again.
 * They are left in the spool, for lowtide-notify.
 */
#ifndef LT_LIFE_MAILS_H
#define LT_LIFE_MAILS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "error.h"

struct lt_daemon;
struct lt_mailed;

/* By less nobody is told. */
enum { LT_MAIL_MOVED_S = 3600 };

struct lt_mail_state { /* start as { 0 }; lt_mails_free() */
	/* Of the jobs in the list that ask for mails, by id: as the ledger has
	 * them. */
	struct lt_mailed *rows;
	uint32_t count;
	/* Of jobs and arrays in it that ask for a mail at their end, by id: as
	 * the ledger has them. */
	struct lt_end_asked {
		uint32_t job_id;
		uint32_t to; /* lt_crc32c() of the address */
	} * ends;
	uint32_t end_count;
};

/*
 * Compares what each such job does with what its user was last told, so that
 * nothing has to be caught as it happens. Written to the spool first, then
 * noted: who is killed between the two writes the same message again, by the
 * same id. One that can't be written is tried again.
 */
int lt_mails_run(struct lt_daemon *d, int64_t now_utc_s, struct lt_error *err);
void lt_mails_free(struct lt_mail_state *state);

#endif
