/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A line of <state>/adjustments:
 * adjustment 1 made=<s> at=<s> account=<a> uid=<n> money=<micros>
 * carbon=<mg> energy=<wh> who=<w> reason=<r> crc=<8 hex>
 * Names are percent-encoded outside [A-Za-z0-9_.,@-]. A line is valid if and
 * only if crc is the CRC-32C of all before " crc=" and it ends in a newline.
 * One that the ledger can't take (its sums would pass 64 bits) is set aside
 * in place, so that it never comes back: "refused    1 made=..." of the same
 * length.
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ledger_line.h"
#include "units.h"

_Static_assert(
    sizeof(LT_LINE_KEPT) == sizeof(LT_LINE_REFUSED), "set aside in place");

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

size_t
lt_line_format(char *line, size_t size, const struct lt_entry *entry)
{
	char account[3 * LT_ACCOUNT_SIZE + 4], who[3 * LT_NAME_SIZE + 4],
	    reason[3 * sizeof(entry->reason) + 4];

	encode(account, sizeof(account), entry->account);
	encode(who, sizeof(who), entry->who);
	encode(reason, sizeof(reason), entry->reason);
	const int length = snprintf(line, size,
	    "adjustment 1 made=%" PRId64 " at=%" PRId64
	    " account=%s uid=%u money=%" PRId64 " carbon=%" PRId64
	    " energy=%" PRId64 " who=%s reason=%s",
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

/* line: without its newline. Is it whole, and does it begin with the word? */
bool
lt_line_is(const char *line, const char *word)
{
	const char *const mark = strstr(line, " crc=");
	unsigned int crc = 0;

	return strncmp(line, word, LT_LINE_WORD) == 0 && mark != NULL &&
	       strlen(mark) == LT_LINE_CRC &&
	       sscanf(mark, " crc=%8x", &crc) == 1 &&
	       crc == lt_crc32c(0, line, (size_t)(mark - line));
}

bool
lt_line_parse(const char *line, struct lt_entry *entry)
{
	int64_t uid = 0;

	memset(entry, 0, sizeof(*entry));
	entry->kind = LT_ENTRY_ADJUSTMENT;
	if (!lt_line_is(line, LT_LINE_KEPT))
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
