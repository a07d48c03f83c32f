/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A job of a trace as a kind of run. A trace has numbers for names, and names
 * are made of letters: digits would be folded into one.
 */
#include "learn.h"

enum { NAME_SIZE = 16 };

static void
put_letters(char *out, char first, uint32_t number)
{
	int at = 0;

	out[at++] = first;
	do
		out[at++] = (char)('a' + number % 26);
	while ((number /= 26) > 0);
	out[at] = '\0';
}

/* Jobs without a name are alike in nothing but whose they are. */
static struct lt_run_kind
kind_of(const struct lt_sim_job *job, char name[NAME_SIZE])
{
	if (job->name != 0)
		put_letters(name, 'n', job->name);
	else
		put_letters(name, 'j', job->number);
	return (struct lt_run_kind){.uid = job->user,
	    .account = "trace",
	    .name = name,
	    .nodes = 1,
	    .cpus = job->cpus,
	    .limit_s = job->limit_s};
}

int
lt_sim_learn(struct lt_lengths *lengths, const struct lt_sim_job *job)
{
	char name[NAME_SIZE];
	const struct lt_run_kind kind = kind_of(job, name);
	const struct lt_run_length run = {.length_s = job->run_s,
	    .limit_s = job->limit_s,
	    .at_least = job->limit_s > 0 && job->run_s >= job->limit_s};

	return lt_lengths_add(lengths, &kind, &run);
}

struct lt_expected
lt_sim_learned(struct lt_lengths *lengths, const struct lt_sim_job *job)
{
	char name[NAME_SIZE];
	const struct lt_run_kind kind = kind_of(job, name);

	return lt_lengths_ask(lengths, &kind, job->limit_s);
}
