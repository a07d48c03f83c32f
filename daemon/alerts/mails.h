/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Mails to users who asked Slurm for some (--mail-type): the plan of a job that waits was moved by
 * more than an hour, a job lost its nodes and runs again, what a job or all of an array cost and
 * saved, once that is settled. They are left in the spool, for lowtide-notify.
 */
#ifndef LT_LIFE_MAILS_H
#define LT_LIFE_MAILS_H

#include "batch.h"
#include "ledger.h"
#include "message.h"
#include "quote.h"
#include "zone.h"

struct lt_alerter;
struct lt_mailed;

/* A smaller move is not mailed. */
enum { LT_MAIL_MOVED_S = 3600 };

struct lt_mail_state { /* start as { 0 }; lt_mails_free() */
	/* The jobs in the list that ask for mails, by id: as the ledger has them. */
	struct lt_mailed *rows;
	uint32_t count;
	/* The jobs and arrays in it that ask for a mail at their end, by id: as the ledger has
	 * them. */
	struct lt_end_asked {
		uint32_t job_id;
		uint32_t to; /* lt_crc32c() of the address */
	} * ends;
	uint32_t end_count;
};

/*
 * Compares what each such job does with the last mail to its user, so that no event has to be
 * caught as it happens. The message goes to the spool first, then it is noted: if lowtided is
 * killed between the two it writes the same message again, by the same id. A message that can't be
 * written is tried again.
 */
int lt_mails_run(const struct lt_alerter *by, struct lt_error *err);
void lt_mails_free(struct lt_mail_state *state);

/* Notes which jobs ask, while slurmctld has them; and writes a message for each that is over and
 * settled to the spool, then notes that. If lowtided is killed in between it writes the same id
 * again. */
int lt_end_mails_run(const struct lt_alerter *by, struct lt_error *err);

/* Writes subject and text about the runs of one job or array, one at least. */
void lt_end_mail_text(struct lt_message *message, uint32_t job_id, const struct lt_run *runs,
    uint32_t count, const char *currency);

/* ---- what they say ---- */

struct lt_mail_facts {
	const struct lt_batch_job *job;
	const struct lt_quote *quote; /* the plan as it is now */
	const struct lt_zone *zone;
	const char *currency;
	int64_t now_utc_s;
};

/* Makes the message with the former place and start, as its user knows them. why: a word of
 * lt_replan_word(). */
void lt_mail_moved(struct lt_message *message, const struct lt_mail_facts *facts,
    const struct lt_plan_made *was, const char *why);
/* Writes the mail about an interruption. done_s: work that need not be done again; 0: it is not
 * known that any is kept. */
void lt_mail_interrupted(
    struct lt_message *message, const struct lt_mail_facts *facts, int64_t done_s);

#endif
