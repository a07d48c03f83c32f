/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * <state>/adjustments: what an admin credited or charged by hand, as text, a line each, synced
 * before the ledger has it. The one thing slurmdbd can't give back, so reset and every open replay
 * it. A line:
 * adjustment 1 made=<s> at=<s> account=<a> uid=<n> money=<micros>
 * carbon=<mg> energy=<wh> who=<w> reason=<r> crc=<8 hex>
 * Names are percent-encoded outside [A-Za-z0-9_.,@-]. A line is valid if and
 * only if crc is the CRC-32C of all before " crc=" and it ends in a newline.
 * One that the ledger can't take (its sums would pass 64 bits) is set aside
 * in place, so that it never comes back: "refused    1 made=..." of the same
 * length.
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
	/* 30,000 lines of the greatest length; refused above */
	JOURNAL_BYTES_MAX = 64 * 1024 * 1024,
};

/*
 * The most that all adjustments that add, and all that take away, may come to:
 * then any of them, of any account and period, in any order, fit 64 bits, and the rest (2.3 *
 * 10^16) is for charges.
 */
static const int64_t ADJUSTMENTS_MAX = 9200000000000000000;

/* Sums of the adjustments in the ledger. */
struct adjusted {
	struct both { /* of those that add, of those that take away */
		int64_t up, down;
	} money, carbon, energy;
};

struct journal { /* open, for one call */
	struct lt_ledger *ledger;
	int fd;
	off_t size;
	uint32_t refused; /* lines that are set aside */
	struct adjusted sums;
};

/* ---- lines ---- */

#define LINE_KEPT "adjustment 1 "
#define LINE_REFUSED "refused    1 "

enum {
	/* 3 x (account, who, reason) and the numbers */
	LINE_SIZE = 3 * (LT_ACCOUNT_SIZE + LT_NAME_SIZE + 256) + 512,
	LINE_WORD = sizeof(LINE_KEPT) - 1,
	LINE_CRC = sizeof(" crc=12345678") - 1,
};

_Static_assert(sizeof(LINE_KEPT) == sizeof(LINE_REFUSED), "set aside in place");

static bool
is_plain(unsigned char c)
{
	return c < 0x80 && (isalnum(c) || strchr("_.,@-", c) != NULL) && c != '\0';
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
			at += (size_t)snprintf(out + at, size - at, "%%%02X", c);
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

			if (i + 2 >= length || sscanf(text + i + 1, "%2x", &byte) != 1 || byte == 0)
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

/* Formats a line with its newline; returns the length, below size. */
static size_t
format_line(char *line, size_t size, const struct lt_entry *entry)
{
	char account[3 * LT_ACCOUNT_SIZE + 4], who[3 * LT_NAME_SIZE + 4],
	    reason[3 * sizeof(entry->reason) + 4];

	encode(account, sizeof(account), entry->account);
	encode(who, sizeof(who), entry->who);
	encode(reason, sizeof(reason), entry->reason);
	const int length = snprintf(line, size,
	    "adjustment 1 made=%" PRId64 " at=%" PRId64 " account=%s uid=%u money=%" PRId64
	    " carbon=%" PRId64 " energy=%" PRId64 " who=%s reason=%s",
	    entry->made_utc_s, entry->at_utc_s, account, entry->uid, entry->money_micros,
	    entry->carbon_mg, entry->energy_wh, who, reason);
	const uint32_t crc = lt_crc32c(0, line, (size_t)length);
	return (size_t)length +
	       (size_t)snprintf(line + length, size - (size_t)length, " crc=%08x\n", crc);
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

/* line: without its newline. True if it is whole and begins with the word. */
static bool
is_line(const char *line, const char *word)
{
	const char *const mark = strstr(line, " crc=");
	unsigned int crc = 0;

	return strncmp(line, word, LINE_WORD) == 0 && mark != NULL && strlen(mark) == LINE_CRC &&
	       sscanf(mark, " crc=%8x", &crc) == 1 &&
	       crc == lt_crc32c(0, line, (size_t)(mark - line));
}

/* Reads the adjustment of a whole line; false: the line has none. */
static bool
parse_line(const char *line, struct lt_entry *entry)
{
	int64_t uid = 0;

	memset(entry, 0, sizeof(*entry));
	entry->kind = LT_ENTRY_ADJUSTMENT;
	if (!is_line(line, LINE_KEPT))
		return false;
	if (!field_number(line, "uid", &uid) || uid < 0 || uid > UINT32_MAX)
		return false;
	entry->uid = (uint32_t)uid;
	return field_number(line, "made", &entry->made_utc_s) &&
	       field_number(line, "at", &entry->at_utc_s) &&
	       field_number(line, "money", &entry->money_micros) &&
	       field_number(line, "carbon", &entry->carbon_mg) &&
	       field_number(line, "energy", &entry->energy_wh) &&
	       field_text(line, "account", entry->account, sizeof(entry->account)) &&
	       field_text(line, "who", entry->who, sizeof(entry->who)) &&
	       field_text(line, "reason", entry->reason, sizeof(entry->reason));
}

/* ---- sums ---- */

static bool
add_within(struct both *of, int64_t amount)
{
	int64_t *const sum = amount > 0 ? &of->up : &of->down;

	return !__builtin_add_overflow(*sum, amount, sum) && *sum <= ADJUSTMENTS_MAX &&
	       *sum >= -ADJUSTMENTS_MAX;
}

/* False: they would pass the bound. *sums is the new one either way. */
static bool
add_adjusted(struct adjusted *sums, const struct lt_entry *entry)
{
	return add_within(&sums->money, entry->money_micros) &&
	       add_within(&sums->carbon, entry->carbon_mg) &&
	       add_within(&sums->energy, entry->energy_wh);
}

#define SUM(column, member) LT_DB_COLUMN(struct adjusted, column, member)
static const struct lt_db_column adjusted_list[] = {
    {SUM("money_up", money.up)},
    {SUM("money_down", money.down)},
    {SUM("carbon_up", carbon.up)},
    {SUM("carbon_down", carbon.down)},
    {SUM("energy_up", energy.up)},
    {SUM("energy_down", energy.down)},
};
static const struct lt_db_columns adjusted_columns = {
    LT_DB_COLUMNS(struct adjusted, adjusted_list)};

static int
read_adjusted(struct adjusted *sums, struct lt_ledger *ledger, struct lt_error *err)
{
	const int rc = lt_sql_get(ledger, LT_PLAIN(LT_SQL_ADJUSTED), &adjusted_columns, sums, err);

	return rc < 0 ? rc : LT_OK;
}

/* ---- the file ---- */

static void
close_journal(struct journal *journal)
{
	if (journal->fd >= 0)
		(void)close(journal->fd);
}
#define JOURNAL_OF(its_ledger)                                                                     \
	__attribute__((cleanup(close_journal))) struct journal journal = {                         \
	    .ledger = (its_ledger), .fd = -1}

static int
open_journal(struct journal *journal, struct lt_error *err)
{
	char path[4096 + sizeof(JOURNAL_FILE) + 1];
	struct stat status;

	(void)snprintf(path, sizeof(path), "%s/" JOURNAL_FILE, journal->ledger->state_dir);
	journal->fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0600);
	if (journal->fd < 0 || fstat(journal->fd, &status) != 0)
		return lt_fail(err, LT_EIO, "%s: %s", path, strerror(errno));
	if (!S_ISREG(status.st_mode) || status.st_uid != geteuid() || (status.st_mode & 077) != 0)
		return lt_fail(err, LT_EDENIED,
		    "%s: owner uid %u mode %04o, want a file of uid %u, 0600", path, status.st_uid,
		    status.st_mode & 07777, geteuid());
	if (status.st_size > JOURNAL_BYTES_MAX)
		return lt_fail(err, LT_ELIMIT, "%s: %lld bytes, limit %d", path,
		    (long long)status.st_size, JOURNAL_BYTES_MAX);
	journal->size = status.st_size;
	return LT_OK;
}

static int
sync_directory(const char *dir, struct lt_error *err)
{
	const int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int rc = LT_OK;

	if (fd < 0 || fsync(fd) != 0)
		rc = lt_fail(err, LT_EIO, "%s: %s", dir, strerror(errno));
	if (fd >= 0)
		(void)close(fd);
	return rc;
}

/* Undoes a line: an adjustment that the caller saw fail must not come back at a replay. */
static void
take_back(const struct journal *journal, struct lt_error *err)
{
	if (ftruncate(journal->fd, journal->size) != 0 || fsync(journal->fd) != 0)
		(void)lt_context(err,
		    "the adjustment could not be taken back and may yet come (%s/" JOURNAL_FILE
		    ": %s)",
		    journal->ledger->state_dir, strerror(errno));
}

static int
append(const struct journal *journal, const char *line, size_t length, struct lt_error *err)
{
	int rc = LT_OK;

	if (pwrite(journal->fd, line, length, journal->size) != (ssize_t)length ||
	    fsync(journal->fd) != 0)
		rc = lt_fail(err, LT_EIO, "%s/" JOURNAL_FILE ": %s", journal->ledger->state_dir,
		    strerror(errno));
	else if (journal->size == 0)
		rc = sync_directory(journal->ledger->state_dir, err);
	return rc;
}

/* 0 if it was never put. */
static int
get_number(struct lt_ledger *ledger, const char *name, int64_t *number, struct lt_error *err)
{
	char text[24];
	const int rc = lt_ledger_get(ledger, name, text, sizeof(text), NULL);

	*number = 0;
	if (rc == LT_ENOENT)
		return LT_OK;
	if (rc != LT_OK)
		return lt_fail(err, (enum lt_code)rc, "ledger: %s: can't be read", name);
	return lt_int64_parse(text, 0, JOURNAL_BYTES_MAX, number, err);
}

/* ---- replay ---- */

/* The same line under the other word, over itself. */
static int
set_aside(struct journal *journal, const char *line, int64_t offset, struct lt_error *err)
{
	char copy[LINE_SIZE];
	const size_t length = strlen(line);

	if (length >= sizeof(copy))
		return lt_fail(err, LT_EBUG, "a journal line of %zu bytes", length);
	memcpy(copy, line, length + 1);
	memcpy(copy, LINE_REFUSED, LINE_WORD);
	(void)snprintf(copy + length - LINE_CRC, LINE_CRC + 1, " crc=%08x",
	    lt_crc32c(0, copy, length - LINE_CRC));
	if (pwrite(journal->fd, copy, length, offset) != (ssize_t)length || fsync(journal->fd) != 0)
		return lt_fail(err, LT_EIO, "%s/" JOURNAL_FILE ": %s", journal->ledger->state_dir,
		    strerror(errno));
	journal->refused++;
	return LT_OK;
}

static int
replay_line(struct journal *journal, const char *line, int64_t offset, int line_number,
    struct lt_error *err)
{
	struct adjusted sums = journal->sums;
	struct lt_error overflow = {0};
	struct lt_entry entry;

	if (is_line(line, LINE_REFUSED)) {
		journal->refused++;
		return LT_OK;
	}
	if (!parse_line(line, &entry)) {
		if (err != NULL && err->code == LT_OK)
			err->line = line_number;
		return lt_fail(err, LT_ECHECKSUM,
		    "%s/" JOURNAL_FILE ":%d: a damaged line, want one written by lowtided",
		    journal->ledger->state_dir, line_number);
	}
	entry.uid = LT_NOBODY_UID;
	if (!add_adjusted(&sums, &entry))
		return set_aside(journal, line, offset, err);
	const int rc = lt_entry_put(journal->ledger, &entry, entry.at_utc_s, &overflow);
	if (rc == LT_EOVERFLOW)
		return set_aside(journal, line, offset, err);
	if (rc != LT_OK)
		return lt_fail(err, (enum lt_code)rc, "%s", overflow.text);
	journal->sums = sums;
	return LT_OK;
}

/* Insert every line from `from` on; *end: behind the last whole line. */
static int
insert_lines(struct journal *journal, char *text, int64_t from, int64_t *end, struct lt_error *err)
{
	int line_number = 1;

	for (char *c = text; c < text + from; c++)
		line_number += *c == '\n';
	for (char *line = text + from;; line_number++) {
		char *const newline = strchr(line, '\n');

		*end = line - text;
		if (newline == NULL)
			return LT_OK;
		*newline = '\0';
		const int rc = replay_line(journal, line, *end, line_number, err);
		if (rc != LT_OK)
			return rc;
		line = newline + 1;
	}
}

static int
replay(struct journal *journal, int64_t from, struct lt_error *err)
{
	struct lt_ledger *const ledger = journal->ledger;
	const off_t size = journal->size;
	char *const text = malloc((size_t)size + 1);
	int64_t end = from, refused = 0;

	if (text == NULL)
		return lt_fail(err, LT_ENOMEM, "ledger: no memory for " JOURNAL_FILE);
	int rc = LT_OK;
	if (pread(journal->fd, text, (size_t)size, 0) != size)
		rc = lt_fail(err, LT_EIO, "%s/" JOURNAL_FILE ": short read", ledger->state_dir);
	text[size] = '\0';
	if (rc == LT_OK && memchr(text, '\0', (size_t)size) != NULL)
		rc = lt_fail(
		    err, LT_ECHECKSUM, "%s/" JOURNAL_FILE ": a zero byte", ledger->state_dir);
	if (rc == LT_OK)
		rc = read_adjusted(&journal->sums, ledger, err);
	if (rc == LT_OK && from > 0)
		rc = get_number(ledger, LT_JOURNAL_REFUSED, &refused, err);
	journal->refused = (uint32_t)refused;
	if (rc == LT_OK)
		rc = insert_lines(journal, text, from, &end, err);
	free(text);
	if (rc == LT_OK && end < size && ftruncate(journal->fd, end) != 0)
		rc = lt_fail(
		    err, LT_EIO, "%s/" JOURNAL_FILE ": %s", ledger->state_dir, strerror(errno));
	if (rc == LT_OK)
		rc = lt_ledger_put_number(ledger, LT_JOURNAL_REFUSED, journal->refused, err);
	return rc == LT_OK ? lt_ledger_put_number(ledger, JOURNAL_KNOWN, end, err) : rc;
}

int
lt_journal_catch_up(struct lt_ledger *ledger, struct lt_error *err)
{
	JOURNAL_OF(ledger);
	int64_t known = 0;
	int rc = open_journal(&journal, err);

	if (rc == LT_OK)
		rc = get_number(ledger, JOURNAL_KNOWN, &known, err);
	if (rc != LT_OK || known == journal.size)
		return rc;
	if (known > journal.size)
		return lt_fail(err, LT_ECHECKSUM,
		    "%s/" JOURNAL_FILE
		    ": %lld bytes, but %lld are in the ledger; put the whole file back",
		    ledger->state_dir, (long long)journal.size, (long long)known);
	rc = lt_call_begin(ledger, LT_DB_LEDGER, err);
	if (rc != LT_OK)
		return rc;
	return lt_call_end(ledger, LT_DB_LEDGER, replay(&journal, known, err), err);
}

/* ---- a new one ---- */

static int
check_adjustment(struct lt_ledger *ledger, const struct lt_entry *made, struct lt_error *err)
{
	const int64_t figures[] = {made->money_micros, made->carbon_mg, made->energy_wh};

	if (made->account[0] == '\0' || made->reason[0] == '\0')
		return lt_fail(err, LT_EINPUT,
		    "an adjustment without %s, want both an account and a reason",
		    made->account[0] == '\0' ? "an account" : "a reason");
	for (size_t i = 0; i < sizeof(figures) / sizeof(*figures); i++)
		if (figures[i] > LT_ADJUSTMENT_MAX || figures[i] < -LT_ADJUSTMENT_MAX)
			return lt_fail(err, LT_EINPUT,
			    "an adjustment of %" PRId64 " millionths, want at most %" PRId64
			    " (10^12 units) either way",
			    figures[i], LT_ADJUSTMENT_MAX);
	/* A journal line can't be undone with the caller's transaction. */
	if (ledger->in_transaction)
		return lt_fail(err, LT_EBUG, "ledger: adjust within a transaction");
	return LT_OK;
}

/* Within a transaction: all that can be refused, before a line is written. */
static int
insert(struct journal *journal, const struct lt_entry *made, size_t length, struct lt_error *err)
{
	int rc = read_adjusted(&journal->sums, journal->ledger, err);

	if (rc == LT_OK && !add_adjusted(&journal->sums, made))
		rc = lt_fail(err, LT_EOVERFLOW,
		    "with it the adjustments of one sign would come to more than %" PRId64
		    " millionths, which is all that the ledger can add",
		    ADJUSTMENTS_MAX);
	if (rc == LT_OK)
		rc = lt_entry_put(journal->ledger, made, made->at_utc_s, err);
	if (rc == LT_OK)
		rc = lt_ledger_put_number(
		    journal->ledger, JOURNAL_KNOWN, journal->size + (off_t)length, err);
	return rc;
}

int
lt_ledger_adjust(struct lt_ledger *ledger, const struct lt_entry *entry, struct lt_error *err)
{
	JOURNAL_OF(ledger);
	char line[LINE_SIZE];
	struct lt_entry made = *entry;
	bool written = false;

	made.kind = LT_ENTRY_ADJUSTMENT;
	made.run = (struct lt_run_key){0};
	made.baseline_money_micros = made.baseline_carbon_mg = 0;
	made.saved_by = (struct lt_saved_by){0};
	made.parts = (struct lt_parts){0};
	int rc = check_adjustment(ledger, &made, err);
	if (rc == LT_OK)
		rc = lt_journal_catch_up(ledger, err);
	if (rc == LT_OK)
		rc = open_journal(&journal, err);
	if (rc == LT_OK)
		rc = lt_call_begin(ledger, LT_DB_LEDGER, err);
	if (rc != LT_OK)
		return rc;
	const size_t length = format_line(line, sizeof(line), &made);
	made.uid = LT_NOBODY_UID; /* who made it used nothing */
	rc = insert(&journal, &made, length, err);
	if (rc == LT_OK) {
		written = true;
		rc = append(&journal, line, length, err);
	}
	rc = lt_call_end(ledger, LT_DB_LEDGER, rc, err);
	if (rc != LT_OK && written)
		take_back(&journal, err);
	return rc;
}

int
lt_journal_repair(struct lt_ledger *ledger, struct lt_error *err)
{
	JOURNAL_OF(ledger);
	int rc;

	if ((rc = lt_journal_catch_up(ledger, err)) != LT_OK ||
	    (rc = open_journal(&journal, err)) != LT_OK ||
	    (rc = lt_call_begin(ledger, LT_DB_LEDGER, err)) != LT_OK)
		return rc;
	rc = lt_sql_do(ledger, LT_PLAIN(LT_SQL_REPAIR_ADJUSTMENTS), err);
	if (rc == LT_OK)
		rc = lt_sql_do(ledger, LT_PLAIN(LT_SQL_REPAIR_ADJUSTED), err);
	if (rc == LT_OK)
		rc = replay(&journal, 0, err);
	return lt_call_end(ledger, LT_DB_LEDGER, rc, err);
}

/* ---- open ---- */

int
lt_ledger_open(struct lt_ledger **ledger, const char *state_dir, struct lt_error *err)
{
	int rc = lt_ledger_connect(ledger, state_dir, err);

	if (rc == LT_OK)
		rc = lt_journal_catch_up(*ledger, err);
	if (rc != LT_OK) {
		lt_ledger_close(*ledger);
		*ledger = NULL;
	}
	return rc;
}
