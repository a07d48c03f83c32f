/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * <state>/adjustments: what an admin credited or charged by hand, as text, a
 * line each, synced before the ledger has it. The one thing slurmdbd can't
 * give back, so reset and every open replay it.
 *
 * A line: adjustment 1 made=<s> at=<s> account=<a> uid=<n> money=<micros>
 * carbon=<mg> energy=<wh> who=<w> reason=<r> crc=<8 hex>
 * Names are percent-encoded outside [A-Za-z0-9_.,@-]. A line is valid if and
 * only if crc is the CRC-32C of all before " crc=" and it ends in a newline.
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ledger_db.h"
#include "units.h"

#define JOURNAL_FILE "adjustments"
#define JOURNAL_KNOWN "adjustments_bytes" /* how much of it is in entries */

enum {
	/* 3 x (account, who, reason) and the numbers */
	LINE_SIZE = 3 * (LT_ACCOUNT_SIZE + LT_NAME_SIZE + 256) + 512,
	/* 30,000 lines of the greatest length; refused above */
	JOURNAL_BYTES_MAX = 64 * 1024 * 1024,
};

/* ---- text of one adjustment ---- */

static bool
is_plain(unsigned char c)
{
	return c < 0x80 && (isalnum(c) || strchr("_.,@-", c) != NULL) &&
	       c != '\0';
}

static void
encode(char *out, size_t size, const char *text)
{
	size_t at = 0;

	for (; *text != '\0' && at + 4 <= size; text++) {
		const unsigned char c = (unsigned char)*text;
		if (is_plain(c))
			out[at++] = (char)c;
		else
			at +=
			    (size_t)snprintf(out + at, size - at, "%%%02X", c);
	}
	out[at] = '\0';
}

static bool
decode(char *out, size_t size, const char *text, size_t length)
{
	size_t at = 0;

	for (size_t i = 0; i < length; i++) {
		char c = text[i];
		if (c == '%') {
			unsigned int byte = 0;
			if (i + 2 >= length ||
			    sscanf(text + i + 1, "%2x", &byte) != 1 ||
			    byte == 0)
				return false;
			c = (char)byte;
			i += 2;
		}
		if (at + 1 >= size)
			return false;
		out[at++] = c;
	}
	out[at] = '\0';
	return true;
}

static size_t
format_line(char *line, size_t size, const struct lt_entry *entry)
{
	char account[3 * LT_ACCOUNT_SIZE + 4], who[3 * LT_NAME_SIZE + 4],
	    reason[3 * sizeof(entry->reason) + 4];

	encode(account, sizeof(account), entry->account);
	encode(who, sizeof(who), entry->who);
	encode(reason, sizeof(reason), entry->reason);
	const int length = snprintf(line, size,
	    "adjustment 1 made=%" PRId64 " at=%" PRId64 " account=%s uid=%u"
	    " money=%" PRId64 " carbon=%" PRId64 " energy=%" PRId64
	    " who=%s reason=%s",
	    entry->made_utc_s, entry->at_utc_s, account, entry->uid,
	    entry->money_micros, entry->carbon_mg, entry->energy_wh, who,
	    reason);
	const uint32_t crc = lt_crc32c(0, line, (size_t)length);
	return (size_t)length + (size_t)snprintf(line + length,
				    size - (size_t)length, " crc=%08x\n", crc);
}

/* The value of " <key>=" in the line, "" and 0 when it is not there. */
static const char *
field(const char *line, const char *key, size_t *length)
{
	char wanted[24];

	(void)snprintf(wanted, sizeof(wanted), " %s=", key);
	const char *const at = strstr(line, wanted);
	if (at == NULL) {
		*length = 0;
		return "";
	}
	const char *const value = at + strlen(wanted);
	*length = strcspn(value, " \n");
	return value;
}

static bool
field_number(const char *line, const char *key, int64_t *value)
{
	char text[24];
	size_t length;
	const char *const at = field(line, key, &length);

	if (length == 0 || length >= sizeof(text))
		return false;
	memcpy(text, at, length);
	text[length] = '\0';
	return lt_int64_parse(text, INT64_MIN, INT64_MAX, value, NULL) == LT_OK;
}

static bool
field_text(const char *line, const char *key, char *out, size_t size)
{
	size_t length;
	const char *const at = field(line, key, &length);

	return decode(out, size, at, length);
}

/* line: without its newline. */
static bool
parse_line(const char *line, struct lt_entry *entry)
{
	const char *const mark = strstr(line, " crc=");
	unsigned int crc = 0;
	int64_t uid = 0;

	memset(entry, 0, sizeof(*entry));
	entry->kind = LT_ENTRY_ADJUSTMENT;
	if (strncmp(line, "adjustment 1 ", 13) != 0 || mark == NULL ||
	    strlen(mark) != 13 || sscanf(mark, " crc=%8x", &crc) != 1 ||
	    crc != lt_crc32c(0, line, (size_t)(mark - line)))
		return false;
	if (!field_number(line, "uid", &uid) || uid < 0 || uid > UINT32_MAX)
		return false;
	entry->uid = (uint32_t)uid;
	return field_number(line, "made", &entry->made_utc_s) &&
	       field_number(line, "at", &entry->at_utc_s) &&
	       field_number(line, "money", &entry->money_micros) &&
	       field_number(line, "carbon", &entry->carbon_mg) &&
	       field_number(line, "energy", &entry->energy_wh) &&
	       field_text(
		   line, "account", entry->account, sizeof(entry->account)) &&
	       field_text(line, "who", entry->who, sizeof(entry->who)) &&
	       field_text(line, "reason", entry->reason, sizeof(entry->reason));
}

/* ---- the file ---- */

static void
close_fd(int *fd)
{
	if (*fd >= 0)
		(void)close(*fd);
}

static int
open_journal(
    struct lt_ledger *ledger, int *fd, off_t *size, struct lt_error *err)
{
	char path[4096 + sizeof(JOURNAL_FILE) + 1];
	struct stat status;

	(void)snprintf(
	    path, sizeof(path), "%s/" JOURNAL_FILE, ledger->state_dir);
	*fd = open(
	    path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0600);
	if (*fd < 0 || fstat(*fd, &status) != 0)
		return lt_fail(err, LT_EIO, "%s: %s", path, strerror(errno));
	if (!S_ISREG(status.st_mode) || status.st_uid != geteuid() ||
	    (status.st_mode & 077) != 0)
		return lt_fail(err, LT_EDENIED,
		    "%s: owner uid %u mode %04o, want a file of uid %u, 0600",
		    path, status.st_uid, status.st_mode & 07777, geteuid());
	if (status.st_size > JOURNAL_BYTES_MAX)
		return lt_fail(err, LT_ELIMIT, "%s: %lld bytes, limit %d", path,
		    (long long)status.st_size, JOURNAL_BYTES_MAX);
	*size = status.st_size;
	return LT_OK;
}

static int
sync_directory(const char *dir, struct lt_error *err)
{
	__attribute__((cleanup(close_fd))) int fd =
	    open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0 || fsync(fd) != 0)
		return lt_fail(err, LT_EIO, "%s: %s", dir, strerror(errno));
	return LT_OK;
}

static int
append(struct lt_ledger *ledger, int fd, off_t size, const char *line,
    size_t length, struct lt_error *err)
{
	if (pwrite(fd, line, length, size) == (ssize_t)length && fsync(fd) == 0)
		return size == 0 ? sync_directory(ledger->state_dir, err)
				 : LT_OK;
	const int saved = errno;
	/* What the caller is told failed must not come back at a replay. */
	(void)ftruncate(fd, size);
	return lt_fail(err, LT_EIO, "%s/" JOURNAL_FILE ": %s",
	    ledger->state_dir, strerror(saved));
}

static int
put_known(struct lt_ledger *ledger, off_t bytes, struct lt_error *err)
{
	char text[24];

	(void)snprintf(text, sizeof(text), "%lld", (long long)bytes);
	return lt_ledger_put(ledger, JOURNAL_KNOWN, text, err);
}

static int
get_known(struct lt_ledger *ledger, int64_t *bytes, struct lt_error *err)
{
	char text[24];
	const int rc =
	    lt_ledger_get(ledger, JOURNAL_KNOWN, text, sizeof(text), NULL);

	*bytes = 0;
	if (rc == LT_ENOENT)
		return LT_OK;
	if (rc != LT_OK)
		return lt_fail(err, (enum lt_code)rc,
		    "ledger: " JOURNAL_KNOWN ": can't be read");
	return lt_int64_parse(text, 0, JOURNAL_BYTES_MAX, bytes, err);
}

/* Insert every line from `from` on; *end: behind the last whole line. */
static int
insert_lines(struct lt_ledger *ledger, char *text, int64_t from, int64_t *end,
    struct lt_error *err)
{
	int line_number = 1;

	for (char *c = text; c < text + from; c++)
		line_number += *c == '\n';
	for (char *line = text + from;; line_number++) {
		char *const newline = strchr(line, '\n');
		struct lt_entry entry;
		*end = line - text;
		if (newline == NULL)
			return LT_OK;
		*newline = '\0';
		if (!parse_line(line, &entry)) {
			if (err != NULL && err->code == LT_OK)
				err->line = line_number;
			return lt_fail(err, LT_ECHECKSUM,
			    "%s/" JOURNAL_FILE ":%d: a damaged line, want "
			    "one written by lowtided",
			    ledger->state_dir, line_number);
		}
		const int rc =
		    lt_entry_put(ledger, &entry, entry.at_utc_s, err);
		if (rc != LT_OK)
			return rc;
		line = newline + 1;
	}
}

static int
replay(struct lt_ledger *ledger, int fd, off_t size, int64_t from,
    struct lt_error *err)
{
	char *const text = malloc((size_t)size + 1);
	int64_t end = from;

	if (text == NULL)
		return lt_fail(
		    err, LT_ENOMEM, "ledger: no memory for " JOURNAL_FILE);
	int rc = LT_OK;
	if (pread(fd, text, (size_t)size, 0) != size)
		rc = lt_fail(err, LT_EIO, "%s/" JOURNAL_FILE ": short read",
		    ledger->state_dir);
	text[size] = '\0';
	if (rc == LT_OK && memchr(text, '\0', (size_t)size) != NULL)
		rc = lt_fail(err, LT_ECHECKSUM,
		    "%s/" JOURNAL_FILE ": a zero byte", ledger->state_dir);
	if (rc == LT_OK)
		rc = insert_lines(ledger, text, from, &end, err);
	free(text);
	if (rc == LT_OK && end < size && ftruncate(fd, end) != 0)
		rc = lt_fail(err, LT_EIO, "%s/" JOURNAL_FILE ": %s",
		    ledger->state_dir, strerror(errno));
	return rc == LT_OK ? put_known(ledger, end, err) : rc;
}

int
lt_journal_catch_up(struct lt_ledger *ledger, struct lt_error *err)
{
	__attribute__((cleanup(close_fd))) int fd = -1;
	off_t size = 0;
	int64_t known = 0;
	int rc = open_journal(ledger, &fd, &size, err);

	if (rc == LT_OK)
		rc = get_known(ledger, &known, err);
	if (rc != LT_OK || known == size)
		return rc;
	if (known > size)
		return lt_fail(err, LT_ECHECKSUM,
		    "%s/" JOURNAL_FILE ": %lld bytes, but %lld are in the "
		    "ledger; put the whole file back",
		    ledger->state_dir, (long long)size, (long long)known);
	rc = lt_call_begin(ledger, LT_DB_LEDGER, err);
	if (rc != LT_OK)
		return rc;
	return lt_call_end(
	    ledger, LT_DB_LEDGER, replay(ledger, fd, size, known, err), err);
}

int
lt_ledger_adjust(struct lt_ledger *ledger, const struct lt_entry *entry,
    struct lt_error *err)
{
	__attribute__((cleanup(close_fd))) int fd = -1;
	char line[LINE_SIZE];
	off_t size = 0;
	struct lt_entry made = *entry;

	made.kind = LT_ENTRY_ADJUSTMENT;
	made.run = (struct lt_run_key){0};
	made.base_money_micros = made.base_carbon_mg = 0;
	if (made.account[0] == '\0' || made.reason[0] == '\0')
		return lt_fail(err, LT_EINPUT,
		    "an adjustment without %s, want both an account and a "
		    "reason",
		    made.account[0] == '\0' ? "an account" : "a reason");
	/* A journal line can't be undone with the caller's transaction. */
	if (ledger->in_transaction)
		return lt_fail(
		    err, LT_EBUG, "ledger: adjust within a transaction");
	int rc = lt_journal_catch_up(ledger, err);
	if (rc == LT_OK)
		rc = open_journal(ledger, &fd, &size, err);
	if (rc != LT_OK)
		return rc;
	const size_t length = format_line(line, sizeof(line), &made);
	rc = append(ledger, fd, size, line, length, err);
	return rc == LT_OK ? lt_journal_catch_up(ledger, err) : rc;
}

int
lt_ledger_reset(struct lt_ledger *ledger, struct lt_error *err)
{
	static const enum lt_sql emptied[] = {LT_SQL_RESET_HOLDS,
	    LT_SQL_RESET_RUNS, LT_SQL_RESET_ENTRIES, LT_SQL_RESET_DAYS,
	    LT_SQL_RESET_CARRIES};
	__attribute__((cleanup(close_fd))) int fd = -1;
	off_t size = 0;
	int rc = open_journal(ledger, &fd, &size, err);

	if (rc == LT_OK)
		rc = lt_call_begin(ledger, LT_DB_LEDGER, err);
	if (rc != LT_OK)
		return rc;
	for (size_t i = 0; i < sizeof(emptied) / sizeof(*emptied); i++)
		if (rc == LT_OK)
			rc = lt_sql_do(ledger, emptied[i], err, NULL, 0);
	if (rc == LT_OK)
		rc = replay(ledger, fd, size, 0, err);
	return lt_call_end(ledger, LT_DB_LEDGER, rc, err);
}
