/*
 * Figures of all groups of runs, for job_submit: 32-byte records sorted by
 * key, a checksum per block; format in docs/formats.md. They are personal: the
 * file is 0600, and no other has them.
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
int lt_history_write(const char *path, struct lt_history_record *records,
    uint32_t count, int64_t now_utc_s, struct lt_error *err);

/*
 * Figures of these groups by some preads, block checksums verified; runs 0 =
 * not there. All are 0 on failure. LT_ENOENT: no such file.
 */
int lt_history_find(struct lt_history_figures figures[LT_HISTORY_GROUPS],
    const struct lt_history_key keys[LT_HISTORY_GROUPS], const char *path,
    struct lt_error *err);

#endif
