/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The parts of lowtided that alerts, forecasts and mails are made from, and the memory of this room
 * from pass to pass.
 */
#ifndef LT_ALERTER_H
#define LT_ALERTER_H

#include "address.h"
#include "budget_state.h"
#include "charges.h"
#include "ledger.h"
#include "mails.h"
#include "message_kinds.h"

struct lt_site;

struct lt_alert_state {		/* start as { 0 } */
	struct lt_digest_sent { /* that a full spool stopped: up to this address all have it */
		int64_t at_utc_s;
		char after[LT_ADDRESS_SIZE];
	} digest;
	struct { /* when each is due; clock.c moves them */
		int64_t mails, forecasts, looks[LT_ALERT_KIND_COUNT];
	} next;
};

struct lt_alerter { /* all lent */
	const struct lt_site *site;
	struct lt_ledger *ledger;
	const struct lt_jobs_state *jobs;
	const struct lt_charges *charges;
	struct lt_budget_state *budget; /* its forecasts are written */
	struct lt_alert_state *alerts;
	struct lt_mail_state *mails;
	int64_t now_utc_s;
};

#endif
