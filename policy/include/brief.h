/*
 * Builds a line for the user who submits a job: parts in the order in which they are read, each
 * with how long it is kept. What does not fit is left out whole, the least important first, so that
 * no figure is ever cut.
 */
#ifndef LT_BRIEF_H
#define LT_BRIEF_H

#include <stddef.h>
#include <stdint.h>

enum {
	LT_TERMINAL_COLUMNS = 100,
	/* Behind "sbatch: lowtide: " and "sbatch: error: lowtide: "; Slurm puts the number of a
	 * component before it, too. */
	LT_BRIEF_COLUMNS = LT_TERMINAL_COLUMNS - 17,
	LT_ERROR_COLUMNS = LT_TERMINAL_COLUMNS - 24,
	LT_BRIEF_ALL = 1 << 16, /* columns that no line has */
	/* The most that the words of a plan and of all notes have. */
	LT_BRIEF_PARTS = 32,
	LT_BRIEF_TEXT_SIZE = 1024,
};

struct lt_brief { /* starts as { .count = 0 } */
	uint32_t count, used;
	struct {
		const char *before;  /* where the line has begun; lent */
		const char *instead; /* where it is left out; NULL = nothing */
		uint16_t at;	     /* in text, ended */
		uint16_t keep;	     /* 0 = it is the last to be left out */
	} parts[LT_BRIEF_PARTS];
	char text[LT_BRIEF_TEXT_SIZE];
};

/* Add a part. What has no room in the line is not added. */
void lt_brief_put(struct lt_brief *line, uint16_t keep, const char *before, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* A name; of a long one the end may become "...", while its beginning stays. */
void lt_brief_put_name(
    struct lt_brief *line, uint16_t keep, uint16_t keep_end, const char *before, const char *name);

/*
 * Write the parts that fit into so many columns. Of parts with
 * equal keep the last is left out first. Writes at most size bytes, ended.
 * Returns out. Pure.
 */
const char *lt_brief_text(char *out, size_t size, const struct lt_brief *line, int columns);

#endif
