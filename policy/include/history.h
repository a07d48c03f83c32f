/*
 * How long jobs of one kind have run: which are told apart, and what is expected of the next one.
 * Groups from narrow to wide: the same name and shape of request, all of the user in that account,
 * all of the account; in each, batch jobs apart from interactive ones, and time limits of different
 * sizes apart. The narrow one speaks in seconds, the wider ones in parts of the time limit. Figures
 * of a group are made from its runs by policy/model/run_lengths.h; docs/model.md, (43) to (45).
 */
#ifndef LT_HISTORY_H
#define LT_HISTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "limits.h"

enum lt_history_group {
	LT_HISTORY_NAME, /* account, user, name, shape */
	LT_HISTORY_USER, /* account, user */
	LT_HISTORY_ACCOUNT,
	LT_HISTORY_GROUPS,
	/* Sources of an expectation, beside these: */
	LT_HISTORY_NONE = LT_HISTORY_GROUPS, /* nothing is known */
	LT_HISTORY_SAID,		     /* by the user: --expected-time */
	LT_HISTORY_WORDS,
};
/* "name", "user", "account", "none", "said" */
const char *lt_history_word(enum lt_history_group group);

enum {
	LT_HISTORY_RUNS_LEAST = 3, /* fewer: the next wider group */
	LT_HISTORY_RUNS_SURE = 10, /* fewer: no upper quantile */
	/* A shorter run is a test, or ended before it began to work. */
	LT_HISTORY_LENGTH_LEAST_S = 60,
	LT_HISTORY_UID_ALL = -1, /* of an account's group */
};

/* "train_0413" is "train_#": each row of digits. Cut at size, so that equal texts stay equal. */
void lt_history_fold(char *out, size_t size, const char *name);

struct lt_run_kind { /* of one job; strings are lent */
	uint32_t uid;
	const char *account;	    /* lower case */
	const char *name;	    /* as the job has it, or folded; "" = none */
	uint32_t nodes, cpus, gpus; /* asked, of the whole job */
	/* lt_history_hash() of what was asked, where it is known otherwise; 0 = of the above */
	uint64_t hash;
	int64_t limit_s; /* <= 0 or INT64_MAX: none */
	bool is_interactive;
};
struct lt_history_key { /* two kinds of other users never have the same */
	uint64_t hash;
	uint32_t uid;
};
/* Account, user, name and shape. Pure; FNV-1a, 64 bits; never 0. */
uint64_t lt_history_hash(const struct lt_run_kind *kind);
/* Returns the key with the band, or that of the wider groups; never 0. */
struct lt_history_key lt_history_key(const struct lt_run_kind *kind, enum lt_history_group group);
/* Writes the keys of the groups that such a job belongs to, for lt_history_find(): the narrow one
 * has hash 0 where the job has no name. */
void lt_history_keys(struct lt_history_key keys[LT_HISTORY_GROUPS], const struct lt_run_kind *kind);

/* True if its user named the job: not by what sbatch, srun, salloc and portals call a job without a
 * name. */
bool lt_history_is_name(const char *name);

/*
 * Runs of one band tell of each other: twice the size of the time limit, and 1 if interactive.
 * Sizes: 0 no limit, 1 up to 15 minutes, then up to four times as much each, in the wider groups 16
 * times.
 */
uint32_t lt_history_band(const struct lt_run_kind *kind, enum lt_history_group group);
/* The longest limit of a band, s; 0 = none. */
int64_t lt_history_band_limit_s(uint32_t band, enum lt_history_group group);

/* Returns the key of runs of a name and shape on GPUs of one model, by its name in the GPU table.
 * Its figures are their number and median as they ran. */
struct lt_history_key lt_history_gpu_key(struct lt_history_key name, const char *gpu);

/* Returns the hash of a job's script; NULL or "" = 0, no script; else never 0. The same 64 bits of
 * two scripts can be made, but only their own user gains by it, who could as well write a script
 * that reports what it has not done. */
uint64_t lt_script_hash(const char *text);
/* Returns the key of the proof that jobs of that name and script can resume. Its figures are how
 * many interruptions they survived, and the measured seconds of writing a checkpoint and of a
 * restart (0 = not measured) as median and upper. The shape is not part of it: how many nodes a job
 * has does not change what the script does. */
struct lt_history_key lt_history_proof_key(const struct lt_run_kind *kind, uint64_t script_hash);

struct lt_request;
/* Nodes, CPUs and GPUs of a request into a kind; the rest is the caller's. */
void lt_history_shape(struct lt_run_kind *kind, const struct lt_request *request);

/* Marks of what runs do not show. */
#define LT_HISTORY_NEVER UINT32_MAX /* not reached: it may be the limit */

struct lt_history_figures { /* of a group */
	uint32_t runs;	    /* finished ones that say something; 0 = none */
	/* Seconds; of wider groups millionths of the limit. */
	uint32_t median, upper;
	/* Too few runs for an upper quantile: upper is the longest. */
	bool upper_is_longest;
	/* A sixth of the runs ended by it, and after it; 0 = not known. */
	uint32_t low, high;
};

struct lt_expected {
	enum lt_history_group from;
	uint32_t runs;	    /* of that group */
	int64_t expected_s; /* 0: nothing is known; at most the limit */
	int64_t upper_s;    /* no less, at most the limit; 0: not known */
	/* With the median the middles of three like parts of all runs, at most the limit; 0: not
	 * known, all are taken to be as long as the median */
	int64_t low_s, high_s;
};
/*
 * From the figures of the three groups (runs 0 = not there): the median of the narrowest with
 * LT_HISTORY_RUNS_LEAST runs; as upper quantile its own, or, where its runs are too few for one,
 * the most of its longest and of what the next wider one says, at last the limit. limit_s <= 0:
 * none is known; then only the narrow group speaks, and upper_s is 0 where it has no quantile.
 */
struct lt_expected lt_history_expect(
    const struct lt_history_figures figures[LT_HISTORY_GROUPS], int64_t limit_s);

/* How long a job that has run for ran_s is planned to run in all, where that is expected of it: the
 * median, past that the upper quantile, past that the limit. limit_s where nothing is expected. */
int64_t lt_expected_length_s(const struct lt_expected *expected, int64_t ran_s, int64_t limit_s);

/* Returns the expectation that counts for a request: the user's, else the learned one. */
struct lt_expected lt_expected_of(const struct lt_request *request);

/*
 * "expected 2:10 (median of 14 runs; limit 12:00)", "" when nothing is known; limit_s <= 0: none.
 * Cut at size; returns out.
 */
const char *lt_expected_text(
    char *out, size_t size, const struct lt_expected *expected, int64_t limit_s);

#endif
