/*
 * A plan in one line.
 */
#ifndef LT_PLAN_TEXT_H
#define LT_PLAN_TEXT_H

#include "brief.h"
#include "quote.h"

struct lt_told { /* all pointers are lent */
	const struct lt_plan *plan;
	const struct lt_request *request;
	const struct lt_market *market;
	int64_t now_utc_s;
	bool submits; /* there will be a job that a command can name */
};

/* "spot, from Sat 02:00 GMT, done by 09:40: $41.20, 3.1 kg CO2e; saves $77.20,
 * 4.8 kg; leaves $958.80 in vision", or why it stays; no part where nobody
 * asked. Pure. */
void lt_plan_line(struct lt_brief *out, const struct lt_told *told);

/* Notes for the user beside the line: a note with a smaller number is kept longer, and all notes
 * longer than the n-th detail of any, n * LT_NOTE_DETAILS
 * + note. */
enum lt_note {
	LT_NOTE_BUDGET,
	LT_NOTE_MODE,
	LT_NOTE_LEFT, /* of the budget */
	LT_NOTE_COST, /* what the job may cost of it */
	LT_NOTE_ALL,  /* of all components */
	LT_NOTE_CAP,
	LT_NOTE_NODES,
	LT_NOTE_DEADLINE,
	LT_NOTE_EXPECTED,
	LT_NOTE_SMOKE,
	LT_NOTE_PRECISION,
	LT_NOTE_DEFAULT,
	LT_NOTE_PROOF,
	LT_NOTE_REQUEUE,
	LT_NOTE_INTERACTIVE,
	LT_NOTE_CHARGE,
	LT_NOTE_DETAILS,
};

/* Writes the notes beside that line: what the user would find out later. Pure. */
void lt_plan_notes(struct lt_brief *out, const struct lt_told *told);

/* Returns what is available less the quote's hold; 0 and INT64_MAX mean nothing. Pure. */
struct lt_amount lt_left_behind(const struct lt_amount *available, const struct lt_quote *quote);

/* True if it is neither moved nor refused, and every figure of it is shown as 0. */
bool lt_plan_is_nothing(const struct lt_told *told);

/* Where no partition can run it, the one that came nearest: of equals another than home. */
int lt_plan_nearest(const struct lt_plan *plan);

#endif
