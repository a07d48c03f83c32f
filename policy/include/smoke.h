/*
 * require_smoke of a class: a job of more node-hours than that needs a short run of its name first,
 * on two nodes at most, that was COMPLETED. Who has one job_submit learns from the file of run
 * lengths, as one more kind of key.
 */
#ifndef LT_SMOKE_H
#define LT_SMOKE_H

#include "decide.h"

enum { LT_SMOKE_NODES_MAX = 2, LT_SMOKE_TIME_S = 1800 };

/* Returns the hash of a name, its digits folded as in lt_history_fold(), cut before as the ledger
 * cuts it. */
uint32_t lt_smoke_name_hash(const char *name);
/* Returns the key of the smoke runs of a user, account and name. Its figures are their number
 * (runs) and when the last one ended, UTC seconds (median). */
struct lt_history_key lt_smoke_key(uint32_t uid, const char *account, uint32_t name_hash);

/* Most that the request can take by its limit, all tasks, node-seconds: nodes x share x limit, as a
 * hold; INT64_MAX where there is no limit. */
int64_t lt_smoke_node_s(const struct lt_request *request, const struct lt_market *market);

enum lt_smoke {
	LT_SMOKE_FREE, /* no class wants one of it */
	LT_SMOKE_DONE,
	LT_SMOKE_MISSING, /* or it is too long ago */
	LT_SMOKE_UNKNOWN, /* figures are NULL */
};
/* class may be NULL; figures: of lt_smoke_key(). Pure. */
enum lt_smoke lt_smoke_judge(const struct lt_class *class, int64_t node_s,
    const struct lt_history_figures *figures, int64_t now_utc_s);

struct lt_smoke_job { /* lent */
	const struct lt_class *class;
	const struct lt_request *request;
	uint32_t nodes; /* that it is likely to get, though it names none */
	int64_t node_s;
	const char *name;	    /* NULL = not known here */
	const char *const *command; /* the script and its arguments */
	uint32_t command_count;	    /* 0 = not known: an allocation */
};
/* Why it is refused; with a name, and the command to type first. Writes at most size bytes, ended;
 * cut where there is more. */
void lt_smoke_text(char *out, size_t size, const struct lt_smoke_job *job);

#endif
