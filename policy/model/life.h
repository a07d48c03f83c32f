/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Follows a job over its interruptions by what it reports of its progress, to see whether it
 * resumed or started over. docs/model.md, (56) and (57). Pure.
 */
#ifndef LT_LIFE_H
#define LT_LIFE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "limits.h"

enum {
	/* A marker is read every two seconds: what is seen of two runs may be apart by two of
	 * these, though both did the same. */
	LT_LIFE_BLUR_S = 4,
};

/* "1200", "0.35 of epoch 2", "1200 saved". */
struct lt_marker {
	double progress; /* its first number, 0 or more, finite */
	bool is_saved;	 /* the word: a checkpoint of it is written */
};
/* False: there is no such number in it. */
bool lt_marker_parse(struct lt_marker *marker, const char *text);

/* Report of a node about a run, in seconds since its task began. */
struct lt_progress {
	uint32_t restarts; /* of the job, before this run */
	struct lt_marker first, newest;
	int64_t first_after_s, newest_after_s;
};

enum lt_outcome {
	LT_OUTCOME_OPEN, /* not interrupted, or not heard of since */
	LT_OUTCOME_SURVIVED,
	LT_OUTCOME_FAILED,  /* it started over */
	LT_OUTCOME_UNKNOWN, /* it may have been either */
	LT_OUTCOME_COUNT
};

/* State as it is kept; for a job without a report { .job_id, .uid }. */
struct lt_life {
	uint32_t job_id, uid;
	bool is_told;		/* now is of a run */
	struct lt_progress now; /* the run that was reported last */
	/* Time when it was asked for a checkpoint, and its progress then. 0 = it was not, or it had
	 * reported nothing. */
	int64_t asked_utc_s;
	double asked_progress;
	int64_t asked_after_s, write_s; /* write_s 0 = not measured */
	/* The run before: its progress, which has to be reached again, and when it had come
	 * there. */
	bool has_before, before_was_asked;
	double before_first, before_progress;
	int64_t before_after_s;
	enum lt_outcome outcome; /* of the interruption before this run */
};

/* Notes that it is asked for a checkpoint now. */
void lt_life_ask(struct lt_life *life, int64_t now_utc_s);
/* Takes a report; one of an older run is ignored. Returns true where this decides what became of an
 * interruption: life->outcome. */
bool lt_life_tell(struct lt_life *life, const struct lt_progress *progress, int64_t now_utc_s);

#endif
