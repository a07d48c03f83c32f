/*
 * Market and budget snapshots on disk: explicit little-endian, versioned magic, generation, a
 * checksum per section; docs/formats.md. Read with bounded preads into private memory; written
 * .new, fsync, rename.
 */
#ifndef LT_FILES_H
#define LT_FILES_H

#include <sys/types.h>

#include "budget.h"
#include "market.h"

/* Identity of a file from stat(2), to see a change without reading. */
struct lt_file_id {
	dev_t device;
	ino_t inode;
	int64_t mtime_ns;
	off_t size;
};
/* False when absent. */
bool lt_file_id(struct lt_file_id *id, const char *path);

/* From now on a market of this user is believed, too (SlurmUser's, where the reader runs as
 * somebody else), beside root's and the reader's own. Before any thread. */
void lt_file_trust(uid_t uid);

/* Generation and time of making of a market or budget snapshot on disk, by
 * its header alone: what its readers have, whatever the writer wanted. LT_OK,
 * or why it can't be read; nothing is written then. */
int lt_file_stamp(uint64_t *generation, int64_t *created_utc_s, const char *path, bool is_private,
    struct lt_error *err);

/*
 * Load. `private_file`: owner must be the caller and mode 0600 (budget,
 * terms, ring); the market may be world readable, but not group or world
 * writable, and is root's, the caller's or lt_file_trust()'s. On success
 * *market owns an arena, lt_market_free() frees it. previous (may be NULL,
 * never market itself): a loaded market whose series with equal checksum, source and issue time are
 * copied from memory, not read again. On failure
 * *market is zero.
 */
int lt_market_load(struct lt_market *market, const char *path, const struct lt_market *previous,
    struct lt_error *err);
void lt_market_free(struct lt_market *market);
int lt_market_save(const struct lt_market *market, const char *path, struct lt_error *err);

int lt_sheet_load(struct lt_budget_snapshot *snapshot, const char *path, struct lt_error *err);
void lt_sheet_free(struct lt_budget_snapshot *snapshot);
int lt_sheet_save(
    const struct lt_budget_snapshot *snapshot, const char *path, struct lt_error *err);

/* The word of LT_IN_FORCE_FILE. Load: false also where it can't be read. */
int lt_in_force_save(const char *path, bool yes, struct lt_error *err);
bool lt_in_force_load(const char *path);

/* Writes a whole file: .new, fsync, rename, fsync of the directory. What fails leaves the old
 * one. */
int lt_file_replace(
    const char *path, mode_t mode, const void *bytes, size_t byte_count, struct lt_error *err);

/* For tests and fuzzing: the same, from and to memory. *bytes is malloc'd. */
int lt_market_pack(const struct lt_market *market, unsigned char **bytes, size_t *byte_count,
    struct lt_error *err);
/* The same as version 0.2 has it. Both are read. */
int lt_market_pack_before(const struct lt_market *market, unsigned char **bytes, size_t *byte_count,
    struct lt_error *err);
int lt_market_unpack(
    struct lt_market *market, const unsigned char *bytes, size_t byte_count, struct lt_error *err);
int lt_sheet_pack(const struct lt_budget_snapshot *snapshot, unsigned char **bytes,
    size_t *byte_count, struct lt_error *err);
int lt_sheet_unpack(struct lt_budget_snapshot *snapshot, const unsigned char *bytes,
    size_t byte_count, struct lt_error *err);

/* Names within the run and state directories. */
#define LT_MARKET_FILE "market"
#define LT_SHEET_FILE "budget"
#define LT_BOUND_FILE "bound"		  /* whom budgets bind, without their figures */
#define LT_IN_FORCE_FILE "budgets"	  /* "yes" or "no": are any in force? */
#define LT_LAST_POLICY_FILE "policy.last" /* the last good one */
#define LT_TERMS_FILE "terms"
#define LT_HISTORY_FILE "history"
#define LT_RING_FILE "holds"
#define LT_SOCKET_FILE "lowtided.sock"

#endif
