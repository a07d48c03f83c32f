/*
 * Figures of all groups of runs, for job_submit: 32-byte records sorted by key, a checksum per
 * block; format in docs/formats.md. They are personal: the file is 0600, and no other has them.
 */
#ifndef LT_HISTORY_FILE_H
#define LT_HISTORY_FILE_H

#include "error.h"
#include "history.h"

struct lt_history_record {
	struct lt_history_key key;
	struct lt_history_figures figures;
};

/* Write whole (.new, fsync, rename, fsync directory); records sorted here. */
int lt_history_write(const char *path, struct lt_history_record *records, uint32_t count,
    int64_t now_utc_s, struct lt_error *err);

/* Opened: the first key of each block is in memory. One that is replaced goes on as it was. */
struct lt_history_file;
/* LT_ENOENT: no such file. */
int lt_history_open(struct lt_history_file **file, const char *path, struct lt_error *err);
void lt_history_close(struct lt_history_file *file); /* NULL: none */

/*
 * Figures of these groups, narrow to wide, by one pread each, block checksums verified; runs 0 =
 * not there, or not looked for: where a narrow group tells all that is expected. All are 0 on
 * failure. Many threads may, at once.
 */
int lt_history_find(struct lt_history_figures figures[LT_HISTORY_GROUPS],
    const struct lt_history_key keys[LT_HISTORY_GROUPS], const struct lt_history_file *file,
    struct lt_error *err);

/* The same of any one group. */
int lt_history_find_one(struct lt_history_figures *figures, struct lt_history_key key,
    const struct lt_history_file *file, struct lt_error *err);

#endif
