/*
 * A plan carried out: what it writes into the job and says to the user. The one place for it; SPANK
 * and job_submit only apply it.
 */
#ifndef LT_EDITS_H
#define LT_EDITS_H

#include "brief.h"
#include "decide.h"
#include "options.h"

enum {
	LT_EDITS_REFUSAL_SIZE = 512,
	LT_EDITS_WORDS_SIZE = 1024, /* of two lines */
};

/* Options that the user set beside the request's pins: they stay. */
enum lt_fixed {
	LT_FIXED_LIMIT = 1 << 0,
	LT_FIXED_MEMORY = 1 << 1,
	LT_FIXED_REQUEUE = 1 << 2,
	LT_FIXED_SIGNAL = 1 << 3,
};

struct lt_intent { /* all pointers are lent */
	const struct lt_market *market;
	const struct lt_request *request;
	const struct lt_options *options;
	const struct lt_plan *plan; /* NULL: none could be made */
	uint32_t fixed;		    /* enum lt_fixed */
	bool asked;		    /* for a plan, by option or the site's default */
	int64_t now_utc_s;
};

struct lt_edits {
	bool refuses; /* no job: refusal says why, and nothing else is set */
	bool moves;   /* the plan is carried out: hold for it, book it */
	/* Each field: leave the job's own where the comment says so. */
	int partition;	     /* index in the market; -1 = leave */
	int64_t begin_utc_s; /* 0 = leave */
	int64_t limit_s;     /* whole minutes; 0 = leave */
	uint64_t memory_mib; /* a node, or a CPU; 0 = leave */
	bool memory_is_per_cpu;
	bool requeue;	 /* let it be requeued; false = leave */
	char signal[16]; /* "USR1" or a number; "" = leave */
	uint16_t signal_before_s;
	char refusal[LT_EDITS_REFUSAL_SIZE];
	bool tells;	       /* the user about the plan */
	struct lt_brief notes; /* what else is to be said of the job */
};

/*
 * Fill the edits of a plan, as far as the market's mode lets lowtide edit and refuse, and as the
 * user left it open. *edits is always written whole; it owns all that is in it. Pure.
 */
void lt_edits_of_plan(struct lt_edits *edits, const struct lt_intent *intent);

/*
 * Writes the message for the user: the plan in a line, and the notes in a second one, if there is
 * one; "" for nothing. Lines have no end, and at most LT_BRIEF_COLUMNS columns. The request has
 * what is left by then (left). Returns out. Pure.
 */
const char *lt_edits_words(
    char *out, size_t size, const struct lt_edits *edits, const struct lt_intent *intent);

/* The request as it is after the edits, to be priced. */
void lt_edits_lay(struct lt_request *request, const struct lt_edits *edits);

/*
 * Where the job may run and from when, for lt_quote_hold(). plan: the one that is carried out, NULL
 * = none. partitions has room for LT_PARTITIONS_MAX; the count is returned.
 */
int lt_edits_places(int *partitions, int64_t *earliest_utc_s, const struct lt_request *request,
    const struct lt_plan *plan);

#endif
