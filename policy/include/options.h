/*
 * lowtide's job options (--carbon-aware, --checkpoint, ...): one table of
 * names, environment variables and help, one parser, for SPANK, job_submit
 * and the command.
 */
#ifndef LT_OPTIONS_H
#define LT_OPTIONS_H

#include "decide.h"

enum lt_option_id {
	LT_OPTION_CARBON_AWARE,
	LT_OPTION_CARBON_PLAN,
	LT_OPTION_CHECKPOINT,
	LT_OPTION_AMP,
	LT_OPTION_GPU_MEMORY,
	LT_OPTION_EXPECTED_TIME,
	LT_OPTION_MAX_COST,
	LT_OPTION_MAX_PRICE,
	LT_OPTION_MAX_INTERRUPTIONS,
	LT_OPTION_COUNT,
};

struct lt_option {
	const char *name;     /* "carbon-aware" */
	const char *variable; /* "CARBON_AWARE": SBATCH_, SALLOC_, SLURM_ before */
	const char *argument; /* "balanced|cost|carbon|fast|off|plan"; NULL:
			       * it has none */
	bool argument_optional;
	const char *usage;
};
extern const struct lt_option lt_option_table[LT_OPTION_COUNT];

struct lt_options {	       /* start as { 0 } and lt_options_init() */
	bool carbon_aware_set; /* the user said something */
	bool plan;	       /* show what would be done, no more */
	bool plan_set;	       /* by --carbon-plan */
	enum lt_objective objective;
	bool checkpoint_set;
	struct lt_checkpoint checkpoint;
	char checkpoint_signal[16]; /* "USR1", "" = none */
	uint32_t checkpoint_signal_before_s;
	bool amp_set;
	enum lt_precision precision; /* --amp */
	LT_WISHES(LT_WISH_MEMBER)
};
void lt_options_init(struct lt_options *options);

/* Parse one value ("" or NULL = given without one, "(null)" alike).
 * LT_EINPUT: "--checkpoint: got "x=2m", want write=, every=, size=, keep=,
 * signal= or off". */
int lt_option_parse(
    struct lt_options *options, enum lt_option_id id, const char *value, struct lt_error *err);

/* Copy into the request what concerns deciding. */
void lt_options_apply(const struct lt_options *options, struct lt_request *request);

/*
 * Lay the options over the request. True when lowtide was asked to place the job, by the user or,
 * for batch jobs, by the default of its class. In advise mode all others get an objective too, to
 * be told.
 */
bool lt_request_wishes(
    struct lt_request *request, const struct lt_options *options, const struct lt_market *market);

#endif
