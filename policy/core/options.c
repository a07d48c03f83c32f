/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lowtide's job options: one table that names, explains and parses them, for SPANK, job_submit and
 * the command. Reads text, writes struct lt_options. A wrong value is an error that says what was
 * got and what is wanted.
 */
#include "lookup.h"
#include "options.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "text.h"
#include "units.h"

const struct lt_option lt_option_table[LT_OPTION_COUNT] = {
    [LT_OPTION_CARBON_AWARE] =
	{
	    .name = "carbon-aware",
	    .variable = "CARBON_AWARE",
	    .argument = "balanced|cost|carbon|fast|off|plan",
	    .argument_optional = true,
	    .usage =
		"run where and when it costs least, in money and carbon (default: balanced); plan: show what would be done and submit nothing",
	},
    [LT_OPTION_CARBON_PLAN] =
	{
	    .name = "carbon-plan",
	    .variable = "CARBON_PLAN",
	    .argument_optional = true,
	    .usage = "show what would be done by the job's own options, and submit nothing",
	},
    [LT_OPTION_CHECKPOINT] =
	{
	    .name = "checkpoint",
	    .variable = "CHECKPOINT",
	    .argument = "write=2m,every=30m,size=40G,keep=3,signal=USR1@120|off",
	    .argument_optional = true,
	    .usage =
		"the job can go on from a checkpoint: time to write one, interval, size of one and how many are kept, signal and how many seconds before the time limit it is sent",
	},
    [LT_OPTION_AMP] =
	{
	    .name = "amp",
	    .variable = "AMP",
	    .argument = "auto|off|bf16|fp16|fp8",
	    .usage = "mixed precision: auto by the GPU that is there, off for bit-exact work",
	},
    [LT_OPTION_GPU_MEMORY] =
	{
	    .name = "gpu-memory",
	    .variable = "GPU_MEMORY",
	    .argument = "SIZE",
	    .usage = "memory that each GPU must have, such as 40G",
	},
    [LT_OPTION_EXPECTED_TIME] =
	{
	    .name = "expected-time",
	    .variable = "EXPECTED_TIME",
	    .argument = "TIME",
	    .usage = "how long the job will likely run, as --time; the limit stays what it is",
	},
    [LT_OPTION_MAX_COST] =
	{
	    .name = "max-cost",
	    .variable = "MAX_COST",
	    .argument = "AMOUNT",
	    .usage =
		"most that the job may cost if it runs as long as it may, in the site's currency",
	},
    [LT_OPTION_MAX_PRICE] =
	{
	    .name = "max-price",
	    .variable = "MAX_PRICE",
	    .argument = "AMOUNT",
	    .usage =
		"most that a node-hour of the job may cost, in the site's currency: dearer partitions and hours are ruled out",
	},
    [LT_OPTION_MAX_INTERRUPTIONS] =
	{
	    .name = "max-interruptions",
	    .variable = "MAX_INTERRUPTIONS",
	    .argument = "COUNT",
	    .usage = "after so many it goes on on nodes that are not preemptible",
	},
};

enum { WORD_SIZE = 64, INTERRUPTIONS_MAX = 1000 };

void
lt_options_init(struct lt_options *options)
{
	memset(options, 0, sizeof(*options));
	options->objective = LT_OBJECTIVE_OFF;
	options->precision = LT_PRECISION_AUTO;
#define WISH(type, name, unset) options->name = unset;
	LT_WISHES(WISH)
#undef WISH
}

void
lt_request_unset(struct lt_request *request)
{
	request->deadline_utc_s = LT_UNSET_64;
#define WISH(type, name, unset) request->name = unset;
	LT_WISHES(WISH)
#undef WISH
}

/* Index of word in words (ended by NULL), or -1 after an error that lists
 * them and the nearest. */
static int
word_find(const char *word, const char *const words[], const char *option, const char *what,
    struct lt_error *err)
{
	char list[256] = "";
	struct lt_text known = {.out = list, .size = sizeof(list)};

	for (int i = 0; words[i] != NULL; i++) {
		if (strcmp(word, words[i]) == 0)
			return i;
		lt_text_put(&known, "%s%s",
		    i == 0		   ? ""
		    : words[i + 1] != NULL ? ", "
					   : " or ",
		    words[i]);
	}
	const char *const nearest = lt_nearest_word(word, words);
	lt_fail(err, LT_EINPUT, "--%s: got %s\"%.*s\", want %s%s%s%s", option, what, WORD_SIZE,
	    word, list, nearest != NULL ? "; did you mean \"" : "", nearest != NULL ? nearest : "",
	    nearest != NULL ? "\"?" : "");
	return -1;
}

static int
parse_carbon_aware(struct lt_options *options, const char *value, struct lt_error *err)
{
	static const char *const words[] = {
	    "balanced", "cost", "carbon", "fast", "off", "plan", NULL};
	const int found = word_find(*value ? value : "balanced", words, "carbon-aware", "", err);

	if (found < 0)
		return LT_EINPUT;
	options->carbon_aware_set = true;
	const bool is_plan = strcmp(words[found], "plan") == 0;

	options->plan = is_plan || options->plan_set;
	options->objective =
	    is_plan ? LT_OBJECTIVE_BALANCED : (enum lt_objective)lt_objective_find(words[found]);
	return LT_OK;
}

/* Sets plan before or after the other option: job_submit reads them as they come. */
static int
parse_carbon_plan(struct lt_options *options, const char *value, struct lt_error *err)
{
	(void)value;
	(void)err;
	options->plan = options->plan_set = true;
	return LT_OK;
}

static int
parse_amp(struct lt_options *options, const char *value, struct lt_error *err)
{
	static const char *const words[] = {"auto", "off", "bf16", "fp16", "fp8", NULL};
	static const enum lt_precision precisions[] = {LT_PRECISION_AUTO, LT_PRECISION_OFF,
	    LT_PRECISION_BF16, LT_PRECISION_FP16, LT_PRECISION_FP8};
	const int found = word_find(value, words, "amp", "", err);

	if (found < 0)
		return LT_EINPUT;
	options->amp_set = true;
	options->precision = precisions[found];
	return LT_OK;
}

/* A duration above 0 and at most a year, in seconds. */
static int
parse_part_duration(const char *part, const char *text, double *seconds, struct lt_error *err)
{
	enum { YEAR_S = 366 * LT_DAY_S };
	int64_t value = 0;

	if (lt_duration_parse(text, &value, NULL) != LT_OK || value <= 0 || value > YEAR_S)
		return lt_fail(err, LT_EINPUT,
		    "--checkpoint: got \"%s=%.*s\", want a time above 0 such as 90s, 2m or 1h",
		    part, WORD_SIZE, text);
	*seconds = (double)value;
	return LT_OK;
}

/* The parts of --checkpoint=, each with its value. */
static int
parse_write(struct lt_options *options, const char *text, struct lt_error *err)
{
	return parse_part_duration("write", text, &options->checkpoint.write_s, err);
}

static int
parse_every(struct lt_options *options, const char *text, struct lt_error *err)
{
	return parse_part_duration("every", text, &options->checkpoint.every_s, err);
}

static int
parse_size(struct lt_options *options, const char *text, struct lt_error *err)
{
	enum { MIB_PER_GIB = 1024 };
	int64_t mib = 0;

	if (lt_mebibytes_parse(text, &mib, NULL) != LT_OK || mib <= 0 || mib > LT_MEMORY_MIB_MAX)
		return lt_fail(err, LT_EINPUT,
		    "--checkpoint: got \"size=%.*s\", want a size above 0 such as 40G or 800M",
		    WORD_SIZE, text);
	options->checkpoint.size_gib = (double)mib / MIB_PER_GIB;
	return LT_OK;
}

static int
parse_keep(struct lt_options *options, const char *text, struct lt_error *err)
{
	enum { KEEP_MAX = 10000 };
	int64_t keep = 0;

	if (lt_int64_parse(text, 1, KEEP_MAX, &keep, NULL) != LT_OK)
		return lt_fail(err, LT_EINPUT,
		    "--checkpoint: got \"keep=%.*s\", want how many are kept, 1 to %d", WORD_SIZE,
		    text, KEEP_MAX);
	options->checkpoint.keep = (uint32_t)keep;
	return LT_OK;
}

/* "USR1@120", "SIGUSR1", as sbatch's --signal; 60 s when not said. */
static int
parse_signal(struct lt_options *options, const char *value, struct lt_error *err)
{
	enum { BEFORE_DEFAULT_S = 60, BEFORE_MAX_S = 65535 };
	/* Signals that a program can catch and survive. */
	static const char *const names[] = {
	    "USR1", "USR2", "TERM", "INT", "HUP", "QUIT", "ALRM", "URG", "CONT", "TSTP", NULL};
	/* Linux's, wherever Slurm runs. */
	static const uint32_t numbers[] = {10, 12, 15, 2, 1, 3, 14, 23, 18, 20};
	char name[WORD_SIZE];
	int64_t before_s = BEFORE_DEFAULT_S;
	const char *const at = strchr(value, '@');
	const size_t length = at != NULL ? (size_t)(at - value) : strlen(value);

	snprintf(name, sizeof(name), "%.*s", (int)length, value);
	for (char *c = name; *c != '\0'; c++)
		if (*c >= 'a' && *c <= 'z')
			*c = (char)(*c - 'a' + 'A');
	const char *const bare = strncmp(name, "SIG", 3) ? name : name + 3;
	const int found = word_find(bare, names, "checkpoint", "signal ", err);
	if (found < 0)
		return LT_EINPUT;
	if (at != NULL && lt_int64_parse(at + 1, 0, BEFORE_MAX_S, &before_s, NULL) != LT_OK)
		return lt_fail(err, LT_EINPUT,
		    "--checkpoint: got \"signal=%.*s\", want 0 to %d seconds after the @",
		    WORD_SIZE, value, BEFORE_MAX_S);
	snprintf(
	    options->checkpoint_signal, sizeof(options->checkpoint_signal), "%s", names[found]);
	options->checkpoint.signal = numbers[found];
	options->checkpoint_signal_before_s = (uint32_t)before_s;
	return LT_OK;
}

static int
parse_checkpoint_part(struct lt_options *options, char *part, struct lt_error *err)
{
	static const char *const words[] = {
	    "write", "every", "size", "keep", "signal", "off", NULL};
	static int (*const parsers[])(struct lt_options *, const char *, struct lt_error *) = {
	    parse_write, parse_every, parse_size, parse_keep, parse_signal};
	char *const equals = strchr(part, '=');

	if (equals != NULL)
		*equals = '\0';
	for (size_t i = 0; equals != NULL && i < sizeof(parsers) / sizeof(parsers[0]); i++)
		if (strcmp(part, words[i]) == 0)
			return parsers[i](options, equals + 1, err);
	const char *const nearest = lt_nearest_word(part, words);
	if (equals != NULL)
		*equals = '=';
	return lt_fail(err, LT_EINPUT,
	    "--checkpoint: got \"%.*s\", want write=, every=, size=, keep=, signal= or off%s%s%s",
	    WORD_SIZE, part, nearest != NULL ? "; did you mean \"" : "",
	    nearest != NULL ? nearest : "",
	    nearest == NULL	     ? ""
	    : strcmp(nearest, "off") ? "=\"?"
				     : "\"?");
}

static int
parse_checkpoint(struct lt_options *options, const char *value, struct lt_error *err)
{
	enum { TEXT_SIZE = 256 };
	char text[TEXT_SIZE];
	struct lt_options fresh = *options;

	fresh.checkpoint_set = true;
	fresh.checkpoint = (struct lt_checkpoint){0};
	fresh.checkpoint_signal[0] = '\0';
	fresh.checkpoint_signal_before_s = 0;
	if (strlen(value) >= sizeof(text))
		return lt_fail(
		    err, LT_ELIMIT, "--checkpoint: longer than %d characters", TEXT_SIZE - 1);
	strcpy(text, value);
	fresh.checkpoint.enabled = strcmp(text, "off") != 0;
	char *next = fresh.checkpoint.enabled && *text ? text : NULL;
	while (next != NULL) {
		char *const part = strsep(&next, ",");
		const int code = parse_checkpoint_part(&fresh, part, err);

		if (code != LT_OK)
			return code;
	}
	if (fresh.checkpoint.keep > 0 && !(fresh.checkpoint.size_gib > 0))
		return lt_fail(err, LT_EINPUT,
		    "--checkpoint: got keep=%" PRIu32 " alone, want size= beside it",
		    fresh.checkpoint.keep);
	if (fresh.checkpoint.size_gib > 0 && fresh.checkpoint.keep == 0)
		fresh.checkpoint.keep = 1;
	*options = fresh;
	return LT_OK;
}

static int
parse_gpu_memory(struct lt_options *options, const char *value, struct lt_error *err)
{
	int64_t mib = 0;

	if (lt_mebibytes_parse(value, &mib, NULL) != LT_OK || mib <= 0 || mib > UINT32_MAX)
		return lt_fail(err, LT_EINPUT,
		    "--gpu-memory: got \"%.*s\", want a size above 0 such as 40G or 81920M",
		    WORD_SIZE, value);
	options->gpu_memory_mib = (uint32_t)mib;
	return LT_OK;
}

static int
parse_expected_time(struct lt_options *options, const char *value, struct lt_error *err)
{
	int64_t seconds = 0;

	if (lt_slurm_time_parse(value, &seconds, NULL) != LT_OK || seconds <= 0)
		return lt_fail(err, LT_EINPUT,
		    "--expected-time: got \"%.*s\", want a time above 0 as --time has, such as 90 (minutes), 8:00:00, 1-12 or 8h",
		    WORD_SIZE, value);
	options->expected_run_s = seconds;
	return LT_OK;
}

static int
parse_max_cost(struct lt_options *options, const char *value, struct lt_error *err)
{
	int64_t micros = 0;

	if (lt_micros_parse(value, &micros, NULL) != LT_OK || micros < 0)
		return lt_fail(err, LT_EINPUT,
		    "--max-cost: got \"%.*s\", want an amount of at least 0 without a sign of currency, such as 120 or 99.50",
		    WORD_SIZE, value);
	options->max_cost_micros = micros;
	return LT_OK;
}

static int
parse_max_price(struct lt_options *options, const char *value, struct lt_error *err)
{
	int64_t micros = 0;

	if (lt_micros_parse(value, &micros, NULL) != LT_OK || micros <= 0)
		return lt_fail(err, LT_EINPUT,
		    "--max-price: got \"%.*s\", want an amount above 0 per node-hour without a sign of currency, such as 12 or 3.50",
		    WORD_SIZE, value);
	options->max_price_micros = micros;
	return LT_OK;
}

static int
parse_max_interruptions(struct lt_options *options, const char *value, struct lt_error *err)
{
	char *end;
	const unsigned long count = strtoul(value, &end, 10);

	if (value[strspn(value, "0123456789")] != '\0' || *end != '\0' || count == 0 ||
	    count > INTERRUPTIONS_MAX)
		return lt_fail(err, LT_EINPUT,
		    "--max-interruptions: got \"%.*s\", want a whole number from 1 to %d",
		    WORD_SIZE, value, INTERRUPTIONS_MAX);
	options->max_interruptions = (uint32_t)count;
	return LT_OK;
}

int
lt_option_parse(
    struct lt_options *options, enum lt_option_id id, const char *value, struct lt_error *err)
{
	static int (*const parsers[LT_OPTION_COUNT])(
	    struct lt_options *, const char *, struct lt_error *) = {
	    [LT_OPTION_CARBON_AWARE] = parse_carbon_aware,
	    [LT_OPTION_CARBON_PLAN] = parse_carbon_plan,
	    [LT_OPTION_CHECKPOINT] = parse_checkpoint,
	    [LT_OPTION_AMP] = parse_amp,
	    [LT_OPTION_GPU_MEMORY] = parse_gpu_memory,
	    [LT_OPTION_EXPECTED_TIME] = parse_expected_time,
	    [LT_OPTION_MAX_COST] = parse_max_cost,
	    [LT_OPTION_MAX_PRICE] = parse_max_price,
	    [LT_OPTION_MAX_INTERRUPTIONS] = parse_max_interruptions,
	};

	if ((unsigned)id >= LT_OPTION_COUNT)
		return lt_fail(err, LT_EBUG, "option %d does not exist", id);
	/* Slurm gives later het components this text for "no value". */
	if (value == NULL || strcmp(value, "(null)") == 0)
		value = "";
	const struct lt_option *const option = &LT_ROW(lt_option_table, id);
	if (*value == '\0' && !option->argument_optional)
		return lt_fail(
		    err, LT_EINPUT, "--%s: got nothing, want %s", option->name, option->argument);
	return parsers[id](options, value, err);
}

void
lt_options_apply(const struct lt_options *options, struct lt_request *request)
{
	if (options->carbon_aware_set)
		request->objective = options->objective;
	if (options->checkpoint_set)
		request->checkpoint = options->checkpoint;
	request->precision = options->precision;
	request->precision_said = options->amp_set;
#define WISH(type, name, unset)                                                                    \
	if (options->name != (unset))                                                              \
		request->name = options->name;
	LT_WISHES(WISH)
#undef WISH
}

bool
lt_request_wishes(
    struct lt_request *request, const struct lt_options *options, const struct lt_market *market)
{
	const struct lt_class *const class = lt_request_class(request, market);
	bool asked;

	request->asked = lt_request_asked(request);
	lt_options_apply(options, request);
	if (!options->carbon_aware_set && !(request->pins & (LT_PIN_INTERACTIVE | LT_PIN_CRON)))
		request->objective = class != NULL ? class->default_objective : LT_OBJECTIVE_OFF;
	asked = options->plan || request->objective != LT_OBJECTIVE_OFF;
	/* Advice for all; who said off is left alone. */
	if (request->objective == LT_OBJECTIVE_OFF &&
	    (options->plan ||
		(lt_mode_may(market->mode, LT_MAY_ADVISE) && !options->carbon_aware_set)))
		request->objective = LT_OBJECTIVE_BALANCED;
	return asked;
}
