/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Accounts and their users: read from slurmdbd by a child, and kept in <state>/associations for a
 * start while slurmdbd is away.
 *
 * The child sends a head, which is the struct with its counts, then the arrays, which hold no
 * pointers.
 *
 * The file is text, a line each: "account NAME PARENT|-", "pair ACCOUNT USER UID BITS [QOS]" (1 the
 * user's default, 2 of single partitions only; the default QOS where it is known), "tie ACCOUNT
 * PARTITION", "limits BITS" of a job, "manager UID ACCOUNT|-" (- = all), "private BITS", then "end
 * <crc32c of all before, 8 hex>". Valid if and only if the last line is there and the checksum is
 * right. 0600, SlurmUser.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "associations.h"
#include "breath.h"
#include "child.h"
#include "paths.h"
#include "text.h"
#include "units.h"

struct head {
	int code;
	struct lt_error err;
	struct lt_batch_associations all; /* its pointers are the child's */
};

static void
read_all(void *work, int fd)
{
	struct head head = {0};
	const struct lt_batch_associations *const all = &head.all;

	(void)work;
	lt_batch_may_wait();
	head.code = lt_batch_associations(&head.all, &head.err);
	if (lt_child_write(fd, &head, sizeof(head)) &&
	    lt_child_write(fd, all->accounts, all->account_count * sizeof(*all->accounts)) &&
	    lt_child_write(fd, all->pairs, all->pair_count * sizeof(*all->pairs)))
		(void)lt_child_write(fd, all->ties, all->tie_count * sizeof(*all->ties));
}

/* Copies the next array out of the child's bytes; NULL: they end before its end, or there is no
 * memory. */
static void *
copy_array(const struct lt_child *child, size_t *at, uint32_t count, size_t size)
{
	const size_t length = count * size;

	if (child->length - *at < length)
		return NULL;
	void *const items = malloc(length + 1);
	if (items != NULL && length > 0)
		memcpy(items, child->bytes + *at, length);
	*at += length;
	return items;
}

static int
take_all(struct lt_batch_associations *all, const struct lt_child *child, struct lt_error *err)
{
	struct head head;
	size_t at = sizeof(head);

	if (child->length < sizeof(head))
		return lt_fail(err, LT_ENET, "slurmdbd: associations: no answer");
	memcpy(&head, child->bytes, sizeof(head));
	if (head.code != LT_OK)
		return lt_fail(err, head.code, "%s", head.err.text);
	*all = head.all;
	all->accounts = copy_array(child, &at, all->account_count, sizeof(*all->accounts));
	all->pairs = copy_array(child, &at, all->pair_count, sizeof(*all->pairs));
	all->ties = copy_array(child, &at, all->tie_count, sizeof(*all->ties));
	return all->accounts != NULL && all->pairs != NULL && all->ties != NULL
		   ? LT_OK
		   : lt_fail(err, LT_ENET, "slurmdbd: associations: not all of them came");
}

int
lt_child_associations(struct lt_batch_associations *all, struct lt_error *err)
{
	struct lt_child child = {.fd = -1};
	int status;

	if (lt_batch_is_near())
		return lt_batch_associations(all, err);
	*all = (struct lt_batch_associations){0};
	int code = lt_child_start(&child, read_all, NULL, LT_ASSOCIATIONS_S, err);
	if (code != LT_OK)
		return code;
	do
		lt_breath_until(LT_TURN_COMMITTED, child.fd);
	while (!lt_child_read(&child, &status));
	code = take_all(all, &child, err);
	lt_child_drop(&child);
	if (code != LT_OK)
		lt_batch_associations_free(all);
	return code;
}

struct births {
	struct lt_batch_account *accounts;
	int64_t since_utc_s;
	uint32_t count;
};
struct births_head {
	int code;
	struct lt_error err;
};

static void
read_births(void *work, int fd)
{
	const struct births *const asked = work;
	struct births_head head = {0};

	head.code = lt_batch_births(asked->accounts, asked->count, asked->since_utc_s, &head.err);
	if (lt_child_write(fd, &head, sizeof(head)))
		(void)lt_child_write(fd, asked->accounts, asked->count * sizeof(*asked->accounts));
}

int
lt_child_births(
    struct lt_batch_account *accounts, uint32_t count, int64_t since_utc_s, struct lt_error *err)
{
	struct births asked = {accounts, since_utc_s, count};
	const size_t wanted = count * sizeof(*accounts);
	struct births_head head = {.code = LT_ENET};
	struct lt_child child = {.fd = -1};
	int status;

	if (lt_batch_is_near())
		return lt_batch_births(accounts, count, since_utc_s, err);
	int code = lt_child_start(&child, read_births, &asked, LT_BIRTHS_S, err);
	if (code != LT_OK)
		return code;
	do
		lt_breath_until(LT_TURN_COMMITTED, child.fd);
	while (!lt_child_read(&child, &status));
	if (child.length >= sizeof(head))
		memcpy(&head, child.bytes, sizeof(head));
	if (child.length < sizeof(head) ||
	    (head.code == LT_OK && child.length - sizeof(head) != wanted))
		code = lt_fail(err, LT_ENET, "slurmdbd: transactions: no answer");
	else if (head.code != LT_OK)
		code = lt_fail(err, head.code, "%s", head.err.text);
	else
		memcpy(accounts, child.bytes + sizeof(head), wanted);
	lt_child_drop(&child);
	return code;
}

enum { PAIR_DEFAULT = 1, PAIR_BY_PARTITION = 2 }; /* bits of a line */
enum { /* a name's word, and the longest line: of a pair */
	WORD_BYTES = 3 * LT_NAME_SIZE,
	LINE_BYTES = 3 * (2 * LT_ACCOUNT_SIZE + LT_NAME_SIZE) + 48,
};
_Static_assert(WORD_BYTES == 191 + 1, "the formats below");

static uint32_t saved_crc; /* of the file that we know is there */

static void
path_of(char out[LT_PATH_SIZE], const char *state, const char *end)
{
	snprintf(out, LT_PATH_SIZE, "%s/associations%s", state, end);
}

static int
write_file(const char *state, const char *text, size_t length, struct lt_error *err)
{
	char path[LT_PATH_SIZE], fresh[LT_PATH_SIZE];

	path_of(path, state, "");
	path_of(fresh, state, ".new");
	const int fd = open(fresh, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return lt_fail(err, LT_EIO, "%s: %s", fresh, strerror(errno));
	const bool written = write(fd, text, length) == (ssize_t)length && fsync(fd) == 0;
	if (close(fd) != 0 || !written || rename(fresh, path) != 0)
		return lt_fail(err, LT_EIO, "%s: %s", path, strerror(errno));
	return LT_OK;
}

int
lt_associations_save(const struct lt_tables *tables, const char *state, struct lt_error *err)
{
	const size_t size = ((size_t)tables->account_count + 2 * (size_t)tables->pair_count +
				tables->tie_count + tables->manager_count + 3) *
			    LINE_BYTES;
	char *const text = malloc(size);
	size_t used = 0;
	char name[WORD_BYTES], other[WORD_BYTES], qos[WORD_BYTES];

	if (text == NULL)
		return lt_fail(err, LT_ENOMEM, "associations: out of memory");
	for (uint32_t i = 0; i < tables->account_count; i++) {
		const struct lt_batch_account *const a = &tables->accounts[i];

		used += (size_t)snprintf(text + used, size - used, "account %s %s\n",
		    lt_name_word(name, sizeof(name), a->name),
		    lt_name_word(other, sizeof(other), a->parent));
	}
	for (uint32_t i = 0; i < tables->pair_count; i++) {
		const struct lt_batch_pair *const p = &tables->pairs[i];

		used += (size_t)snprintf(text + used, size - used, "pair %s %s %u %d %s\n",
		    lt_name_word(name, sizeof(name), p->account),
		    lt_name_word(other, sizeof(other), p->user), p->uid,
		    (p->is_default ? PAIR_DEFAULT : 0) | (p->by_partition ? PAIR_BY_PARTITION : 0),
		    p->default_qos[0] == '\0' ? "" /* as 0.2 reads it */
					      : lt_name_word(qos, sizeof(qos), p->default_qos));
		if (p->wall_s > 0)
			used += (size_t)snprintf(text + used, size - used, "wall %lld %d\n",
			    (long long)p->wall_s, p->wall_always);
	}
	for (uint32_t i = 0; i < tables->tie_count; i++)
		used += (size_t)snprintf(text + used, size - used, "tie %s %s\n",
		    lt_name_word(name, sizeof(name), tables->ties[i].account),
		    lt_name_word(other, sizeof(other), tables->ties[i].partition));
	for (uint32_t i = 0; i < tables->manager_count; i++) {
		const struct lt_batch_manager *const m = &tables->managers[i];

		used += (size_t)snprintf(text + used, size - used, "manager %u %s\n", m->uid,
		    lt_name_word(name, sizeof(name), m->account));
	}
	used += (size_t)snprintf(text + used, size - used, "private %u\nlimits %u\n",
	    tables->private_dbd, tables->account_limits);
	const uint32_t crc = lt_crc32c(0, text, used);
	int code = LT_OK;
	if (crc != saved_crc) {
		used += (size_t)snprintf(text + used, size - used, "end %08" PRIx32 "\n", crc);
		code = write_file(state, text, used, err);
		if (code == LT_OK)
			saved_crc = crc;
	}
	free(text);
	return code;
}

/* Returns the file's text up to its last line, which is checked and cut off. */
static char *
read_file(const char *state, struct lt_error *err)
{
	char path[LT_PATH_SIZE];
	struct stat st;
	char *text = NULL, *end = NULL;
	unsigned crc = 0;

	path_of(path, state, "");
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0) {
		lt_fail(err, LT_ENOENT, "%s: %s", path, strerror(errno));
		return NULL;
	}
	if (fstat(fd, &st) == 0 && st.st_uid == geteuid() && st.st_size < LT_FILE_BYTES_MAX)
		text = malloc((size_t)st.st_size + 1);
	if (text != NULL && read(fd, text, (size_t)st.st_size) == st.st_size) {
		text[st.st_size] = '\0';
		end = strstr(text, "\nend ");
	}
	close(fd);
	if (end == NULL || sscanf(end, "\nend %x", &crc) != 1 ||
	    lt_crc32c(0, text, (size_t)(end + 1 - text)) != crc) {
		lt_fail(err, LT_ECHECKSUM, "%s: damaged", path);
		free(text);
		return NULL;
	}
	end[1] = '\0';
	return text;
}

/* Takes what a line has; a line of a later release is ignored. */
static void
take_line(struct lt_tables *tables, const char *line)
{
	struct lt_batch_account a = {0};
	struct lt_batch_pair p = {0};
	struct lt_batch_tie t = {0};
	struct lt_batch_manager m = {0};
	char first[WORD_BYTES], second[WORD_BYTES], third[WORD_BYTES] = "-";
	long long wall_s = 0;
	int bits = 0;

	if (sscanf(line, "account %191s %191s", first, second) == 2) {
		lt_name_of_word(a.name, sizeof(a.name), first);
		lt_name_of_word(a.parent, sizeof(a.parent), second);
		tables->accounts[tables->account_count++] = a;
	} else if (sscanf(line, "pair %191s %191s %u %d %191s", first, second, &p.uid, &bits,
		       third) >= 4) {
		lt_name_of_word(p.account, sizeof(p.account), first);
		lt_name_of_word(p.user, sizeof(p.user), second);
		lt_name_of_word(p.default_qos, sizeof(p.default_qos), third);
		p.is_default = (bits & PAIR_DEFAULT) != 0;
		p.by_partition = (bits & PAIR_BY_PARTITION) != 0;
		tables->pairs[tables->pair_count++] = p;
	} else if (tables->pair_count > 0 && sscanf(line, "wall %lld %d", &wall_s, &bits) == 2) {
		tables->pairs[tables->pair_count - 1].wall_s = wall_s;
		tables->pairs[tables->pair_count - 1].wall_always = bits != 0;
	} else if (sscanf(line, "tie %191s %191s", first, second) == 2) {
		lt_name_of_word(t.account, sizeof(t.account), first);
		lt_name_of_word(t.partition, sizeof(t.partition), second);
		tables->ties[tables->tie_count++] = t;
	} else if (sscanf(line, "manager %u %191s", &m.uid, first) == 2) {
		lt_name_of_word(m.account, sizeof(m.account), first);
		tables->managers[tables->manager_count++] = m;
	} else if (sscanf(line, "limits %u", &tables->account_limits) == 1) {
		return;
	} else if (sscanf(line, "private %u", &tables->private_dbd) == 1) {
		tables->private_data |= tables->private_dbd;
	}
}

int
lt_associations_load(struct lt_tables *tables, const char *state, struct lt_error *err)
{
	char *const text = read_file(state, err);

	if (text == NULL)
		return err->code;
	size_t lines = 1;
	for (const char *p = text; (p = strchr(p, '\n')) != NULL; p++)
		lines++;
	struct lt_batch_account *const accounts = calloc(lines, sizeof(*accounts));
	struct lt_batch_pair *const pairs = calloc(lines, sizeof(*pairs));
	struct lt_batch_tie *const ties = calloc(lines, sizeof(*ties));
	struct lt_batch_manager *const managers = calloc(lines, sizeof(*managers));
	if (accounts == NULL || pairs == NULL || ties == NULL || managers == NULL) {
		free(text);
		free(accounts);
		free(pairs);
		free(ties);
		free(managers);
		return lt_fail(err, LT_ENOMEM, "associations: out of memory");
	}
	free(tables->accounts);
	free(tables->pairs);
	free(tables->ties);
	free(tables->managers);
	tables->accounts = accounts;
	tables->pairs = pairs;
	tables->ties = ties;
	tables->managers = managers;
	tables->account_count = tables->pair_count = 0;
	tables->tie_count = tables->manager_count = 0;
	char *rest = text;
	for (char *line; (line = strsep(&rest, "\n")) != NULL;)
		take_line(tables, line);
	free(text);
	return LT_OK;
}
