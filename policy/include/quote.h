/*
 * The quote: what a job was promised and what is held for it. Its amounts,
 * and its text in admin_comment.
 */
#ifndef LT_QUOTE_H
#define LT_QUOTE_H

#include "decide.h"

/* "$41.20, 3.1 kg CO2e", "3.1 kg CO2e", or `none`; a currency of "" has no
 * money. Returns out. */
const char *lt_amount_text(
    char *out, size_t size, const struct lt_amount *amount, const char *currency, const char *none);

enum lt_quote_flag {
	LT_QUOTE_USER_HOLD = 1 << 0,   /* the user's own --hold: never ours */
	LT_QUOTE_BUDGET_HOLD = 1 << 1, /* on_exceed: hold: we released later */
	LT_QUOTE_CHECKPOINT = 1 << 2,
	LT_QUOTE_UNKNOWN = 1 << 3,   /* held back: balance unknown */
	LT_QUOTE_MODIFY = 1 << 4,    /* ring only: the difference of a change */
	LT_QUOTE_LOCK = 1 << 5,	     /* after a requeue: held until it is admitted */
	LT_QUOTE_FREEING = 1 << 6,   /* admitted and counted, still held back */
	LT_QUOTE_WHOLE = 1 << 7,     /* ring only: MODIFY, and all of the hold */
	LT_QUOTE_UNDERHELD = 1 << 8, /* requeued: it ran on more than was held */
	LT_QUOTE_PLANE = 1 << 9,     /* --distribution=plane: no record shows it */
	/* The job has many runs that each end apart: what they were charged is held no more. */
	LT_QUOTE_DRAWN = 1 << 10,
	/* enum lt_compared: neither, MOVED, or KEPT. It stays as it was drawn, whatever becomes of
	 * the job. */
	LT_QUOTE_COMPARED = 1 << 11,
	LT_QUOTE_HELD_OUT = 1 << 12,
	LT_QUOTE_NO_SMOKE = 1 << 13, /* in enforce its class would refuse it */
	/* Ring only: a job that was refused, and not held for. With BUDGET_HOLD or UNKNOWN, which
	 * says why. */
	LT_QUOTE_REFUSED = 1 << 14,
	LT_QUOTE_RAISED = 1 << 15, /* by a dear hour, and not judged yet */
	/* Home can't run it: what it would have cost is that of the best start in another
	 * partition, at the first time at which there was any. */
	LT_QUOTE_NOT_HOME = 1 << 16,
	/* Not all that it may cost is known, and on_unknown is allow. */
	LT_QUOTE_LET = 1 << 17,
};

/* Parts of the request that no record of Slurm's shows: to decide it again. */
struct lt_wish {
	bool known;
	/* Asks for nothing that a record does not show: may be moved to another partition later. */
	bool movable;
	uint32_t pins;
	int64_t deadline_utc_s;
	LT_WISHES(LT_WISH_MEMBER)
	enum lt_precision precision;
	bool checkpoint;
	int64_t write_s, every_s; /* of checkpoints, whole seconds */
	int64_t size_mib;	  /* of one; 0 = not said */
	uint32_t keep;
	uint32_t signal;      /* that asks for one; 0 = none does */
	uint64_t script_hash; /* 0 = not known */
	uint64_t asked;	      /* lt_request_asked() of it; 0 = not known */
};

struct lt_quote {
	uint64_t id;  /* never 0 */
	uint32_t rev; /* our own updates count up */
	uint32_t flags;
	char account[LT_ACCOUNT_SIZE];
	struct lt_amount hold_per_task; /* rounded up */
	uint32_t tasks;
	int64_t start_utc_s, end_utc_s; /* earliest start, latest end */
	char partition[LT_NAME_SIZE];	/* planned */
	int64_t plan_start_utc_s;
	char home[LT_NAME_SIZE]; /* without lowtide */
	int64_t home_start_utc_s;
	struct lt_amount plan_expected, home_expected; /* all tasks */
	enum lt_objective objective;
	enum lt_mode mode;
	/* lt_levers_pack(); "" = not moved, or not known */
	char levers[LT_LEVERS_TEXT_SIZE];
	char run[LT_RUN_TEXT_SIZE]; /* lt_quote_run_pack(); "" = not known */
	char why[LT_WHY_TEXT_SIZE]; /* lt_why_pack(); "" = did not ask */
	struct lt_wish wish;	    /* in the text only, not in a ledger */
};

/* Copies what the request asks beyond Slurm's records. */
void lt_wish_of_request(struct lt_wish *wish, const struct lt_request *request);
/* The other way: into a request that was made from a record. */
void lt_wish_lay(struct lt_request *request, const struct lt_wish *wish);
/* Returns the wishes of a job whose wishes are not known: none, and nothing slows it. */
struct lt_wish lt_wish_none(void);

/* The kind of its runs, and how long they were expected to be. */
struct lt_quote_run {
	uint64_t kind; /* lt_history_key() of LT_HISTORY_NAME; never 0 */
	struct lt_expected expected;
	int64_t limit_s;    /* 0 = none */
	uint32_t ratio_ppm; /* run time in the planned partition over at home */
	/* Expected there, of all tasks, and what they cost in time; 0 = none */
	int64_t interruptions_ppm, lost_s;
	struct lt_capped capped;
};

/* The candidates of a decision, as they were when it was made. */
struct lt_why {
	char partition[LT_NAME_SIZE];
	enum lt_reject reject; /* NONE: the plan itself */
	struct lt_amount best; /* NONE, DEARER: of its best start */
	int64_t wanted, found; /* others, as in struct lt_candidate */
};
struct lt_whys {
	uint32_t count;
	uint32_t more; /* candidates that are only counted */
	struct lt_why entries[LT_WHY_MAX];
};

/*
 * Most that one task of the request can be charged, over all partitions it
 * may run in (partitions[] of count): price x nodes x share x limit
 * (+ OverTimeLimit) x worst price in [earliest, latest end] x (1 + margin),
 * rounded up plus 1 (settling may round a part up). Carbon alike. quote's
 * hold_per_task, tasks, start and end are written. An amount without price
 * or intensity (and no worst_intensity) has has_x = false.
 * LT_EINPUT: no limit known; LT_ENOENT: no node of a partition.
 * docs/model.md.
 */
int lt_quote_hold(struct lt_quote *quote, const struct lt_request *request,
    const struct lt_market *market, const int *partitions, int count, int64_t earliest_start_utc_s,
    struct lt_error *err);

/*
 * "lowtide:1 q=<16 hex> rev=1 team=vision hold=<micros>,<mg> n=<tasks>
 *  win=<start>-<end> plan=<partition>@<start> base=<partition>@<start>
 *  exp=<micros>,<mg> was=<micros>,<mg> by=<objective> mode=<mode> f=<flags>;"
 * and " lever=<levers>", " run=<run>", " why=<why>", then
 * " req=<16 hex of what was asked>", where that is known, and
 * " ask=<wish, with commas>" before the ";" where there is one. An unknown
 * amount is "-". Names are percent-encoded outside [A-Za-z0-9_.-].
 */
int lt_quote_pack(char *out, size_t size, const struct lt_quote *quote);

/* Where a "lowtide:1 " begins that counts: in a text the first, in a JSON object the one that is a
 * member of ours; NULL = none. */
const char *lt_quote_find(const char *text, size_t length);

/* Reads the quote at lt_quote_find(). LT_ENOENT: none there; LT_EINPUT: there and damaged. Survives
 * any bytes up to length. */
int lt_quote_unpack(struct lt_quote *quote, const char *text, size_t length, struct lt_error *err);

/* The plan itself, then those that could run it, then those that could not; partitions that the
 * policy leaves out were no candidates. */
void lt_why_of_plan(
    struct lt_whys *whys, const struct lt_plan *plan, const struct lt_market *market);
/* Writes those of the plan into the quote; "" where they can't be written. */
void lt_quote_set_why(
    struct lt_quote *quote, const struct lt_plan *plan, const struct lt_market *market);

/*
 * "spot:best:41200000/3100000,h100:dearer:211330000/-,old:gpu_memory:40960/ 16384,cpu:state,+3":
 * partition, lt_reject_word(), the best start's micros and mg or wanted and found (left out when
 * both are 0), how many more. "" when there is none. Entries that do not fit into size are counted
 * as more, from the last one on. LT_ELIMIT when not even their number fits.
 */
int lt_why_pack(char *out, size_t size, const struct lt_whys *whys);

/* LT_EINPUT when it is not exactly as lt_why_pack() writes it. */
int lt_why_unpack(struct lt_whys *whys, const char *text, size_t length, struct lt_error *err);

/* Steps between home and the plan: home_expected to home_then is when, from there to there_slow
 * where, from there to plan_expected how fast. */
struct lt_levers {
	/* Ratios of a task, home's over the plan's: nodes x share, and power. */
	uint32_t size_ppm, power_ppm;
	struct lt_amount home_then, there_now, there_slow; /* all tasks */
	int64_t room_utc_s; /* first room there; 0 = none later than at home */
};
/* False: it is not moved, or home can't run it; *levers is zero. */
bool lt_levers_of_plan(struct lt_levers *levers, const struct lt_plan *plan);
/* "<size>,<power>,<home then>,<there now>,<there slow>", each of the last "<micros>,<mg>";
 * ",<room>" where there is one. */
int lt_levers_pack(char *out, size_t size, const struct lt_levers *levers);
/* LT_EINPUT when it is not exactly as that writes it. */
int lt_levers_unpack(
    struct lt_levers *levers, const char *text, size_t length, struct lt_error *err);
/* Returns the estimate's cost and carbon. */
struct lt_amount lt_amount_of(const struct lt_estimate *estimate);
/* Which side of the site's comparison it is on. */
void lt_quote_set_compared(struct lt_quote *quote, const struct lt_plan *plan);
/* Writes the estimate that the plan is measured against, lt_plan_base(), into the quote. */
void lt_quote_set_base(struct lt_quote *quote, const struct lt_plan *plan);
/* Writes those of the plan into the quote. */
void lt_quote_set_levers(struct lt_quote *quote, const struct lt_plan *plan);

/* Writes run into the quote, and what was expected of the plan: the ratio of run times (1 in a
 * partition that can't run it), the interruptions, and its power cap, NULL = none. "" where it
 * can't be written. */
void lt_quote_set_run(struct lt_quote *quote, const struct lt_quote_run *run,
    const struct lt_estimate *chosen, const struct lt_capped *capped);
/* Writes whose job it is and what was asked: account, tasks, objective, checkpoints, planes. */
void lt_quote_of_request(
    struct lt_quote *quote, const struct lt_request *request, enum lt_mode mode);

enum lt_case_kind {
	LT_CASE_FIRST,	/* its base is this plan's */
	LT_CASE_AGAIN,	/* it moves: what it is measured against stays */
	LT_CASE_STANDS, /* its user starts it there: candidates stay too */
};
struct lt_case { /* a decision on its way into a quote: lent */
	const struct lt_market *market;
	const struct lt_plan *plan; /* that chose a partition */
	enum lt_case_kind kind;
	/* kind 0: the quote's own stays. Of the rest what the plan expects, lt_quote_set_run(), is
	 * written. */
	struct lt_quote_run run;
};
/*
 * All that a plan tells of a quote, whose objective is set: the only place that writes it. Place
 * and start, what they are expected to cost, levers, the run, candidates where it asked to be
 * placed, and what the plan is measured against; home where the quote names none yet. Not its hold.
 */
void lt_quote_of_plan(struct lt_quote *quote, const struct lt_case *of);

/* "<16 hex>" or, where something was expected or the ratio is not 1,
 * "<16 hex>,<word>,<expected>,<upper>,<runs>,<limit>,<ratio>", and, where there
 * may be interruptions, ",<their number>,<lost seconds>"; with a power cap
 * ",cap," and lt_capped_pack()'s. */
int lt_quote_run_pack(char *out, size_t size, const struct lt_quote_run *run);
/* LT_EINPUT when it is not exactly as that writes it. */
int lt_quote_run_unpack(
    struct lt_quote_run *run, const char *text, size_t length, struct lt_error *err);

/*
 * Put ours into what other tools keep there: every "lowtide:...;" of comment (NULL = "") is
 * removed, then `ours` ("" = none; no quotes, backslashes or braces, as lt_quote_pack() has none)
 * is put first; in a JSON object (begins with "{" and has a "}") as the last member
 * "lowtide":"<ours>". LT_ELIMIT when it does not fit.
 */
int lt_quote_merge(char *out, size_t size, const char *comment, const char *ours);

#endif
