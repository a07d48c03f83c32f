/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A few keys of slurm.conf, for a host without libslurm's help: where slurmctld is, who it runs as,
 * and what doctor looks at. Lines, comments, escapes, pairs and Include as Slurm's parse_config.c
 * has them (22.05 to 26.05). Keys that nobody here asks for are skipped; a line that Slurm would
 * refuse, a name with no room and an Include that is not clear are errors.
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "slurm_conf.h"

enum {
	LINE_MAX_BYTES = 256 * 1024, /* a logical line; longer: refused */
	LINES_MAX = 200000,
	INCLUDE_DEPTH_MAX = 4,
};

/* The C locale's isspace(). */
#define LT_CONF_SPACES " \t\n\v\f\r"

static const char *const places[] = {"/etc/slurm/slurm.conf", "/run/slurm/conf/slurm.conf",
    "/usr/local/etc/slurm.conf", "/etc/slurm-llnl/slurm.conf", NULL};

/* Keys whose value is copied as it stands. */
static const struct {
	const char *key;
	size_t offset, size;
} keys[] = {
#define KEY(name, member)                                                                          \
	{                                                                                          \
		name, offsetof(struct lt_conf, member), sizeof(((struct lt_conf *)0)->member)      \
	}
    KEY("ClusterName", cluster),
    KEY("SlurmUser", slurm_user),
    KEY("PrivateData", private_data),
    KEY("JobSubmitPlugins", job_submit_plugins),
    KEY("PlugStackConfig", plugstack),
    KEY("PreemptMode", preempt_mode),
    KEY("AccountingStorageType", accounting_storage),
    KEY("AccountingStorageEnforce", accounting_enforce),
    KEY("AccountingStorageTRES", accounting_tres),
    KEY("GresTypes", gres_types),
    KEY("PluginDir", plugin_dir),
    KEY("PriorityType", priority_type),
    KEY("PriorityFlags", priority_flags),
    KEY("PriorityWeightAge", priority_weight_age),
#undef KEY
};

/* The keys for a controller and a backup that SlurmctldHost has replaced and overrides. */
enum old_key { OLD_MACHINE, OLD_ADDRESS, OLD_BACKUP, OLD_BACKUP_ADDRESS, OLD_KEYS };
static const char *const old_keys[OLD_KEYS] = {
    [OLD_MACHINE] = "ControlMachine",
    [OLD_ADDRESS] = "ControlAddr",
    [OLD_BACKUP] = "BackupController",
    [OLD_BACKUP_ADDRESS] = "BackupAddr",
};

/* The two settings of a partition that doctor counts. */
struct partition {
	bool is_closed; /* AllowGroups */
	bool cancels;	/* PreemptMode */
};

struct reading { /* of a file and of all that it includes */
	struct lt_conf *conf;
	char old[OLD_KEYS][256];
	struct partition of_default; /* of PartitionName=DEFAULT */
};

struct file { /* that is read */
	struct reading *reading;
	const char *path;
	int depth; /* of Include */
	int line;
	const char *key; /* of the line */
};

static int parse_file(struct file *file, struct lt_error *err);

static int
bad_value(const struct file *file, enum lt_code code, const char *want, struct lt_error *err)
{
	return lt_fail(err, code, "%s:%d: %s: %s", file->path, file->line, file->key, want);
}

static int
copy_value(char *out, size_t size, const char *text, const struct file *file, struct lt_error *err)
{
	char want[64];

	if (strlen(text) >= size) {
		snprintf(want, sizeof(want), "got %zu bytes, limit %zu", strlen(text), size - 1);
		return bad_value(file, LT_ELIMIT, want, err);
	}
	memcpy(out, text, strlen(text) + 1);
	return LT_OK;
}

static int
add_host(const struct file *file, const char *name, const char *address, struct lt_error *err)
{
	struct lt_conf *const conf = file->reading->conf;
	const int index = conf->host_count;

	if (index >= LT_CONF_HOSTS_MAX)
		return bad_value(file, LT_ELIMIT, "more hosts than there is room for", err);
	if (copy_value(conf->host_names[index], sizeof(conf->host_names[0]), name, file, err) ||
	    copy_value(
		conf->hosts[index], sizeof(conf->hosts[0]), address[0] ? address : name, file, err))
		return err->code;
	conf->host_count++;
	return LT_OK;
}

/* Reads "host" or "host(addr)"; we connect to the address. */
static int
read_host(const struct file *file, char *value, struct lt_error *err)
{
	char *const open = strchr(value, '(');
	char *const close = strchr(value, ')');

	if (open == NULL && close == NULL)
		return add_host(file, value, "", err);
	if (open == NULL || close == NULL || close < open || close[1] || open == value)
		return bad_value(file, LT_EINPUT, "want HOST or HOST(ADDRESS)", err);
	*open = *close = '\0';
	return add_host(file, value, open + 1, err);
}

/* ControlMachine may name several, which then share an address. */
static int
add_old_hosts(const struct file *file, const char *names, const char *address, struct lt_error *err)
{
	char list[256], *rest = list, *name;

	snprintf(list, sizeof(list), "%s", names);
	if (strchr(names, ',') != NULL && !address[0])
		return lt_fail(err, LT_EINPUT, "%s: %s names several hosts: want %s", file->path,
		    old_keys[OLD_MACHINE], old_keys[OLD_ADDRESS]);
	while ((name = strsep(&rest, ",")) != NULL)
		if (name[0] && add_host(file, name, address, err))
			return err->code;
	return LT_OK;
}

/* Reads AuthInfo=socket=/run/x,ttl=60. */
static int
read_auth_info(const struct file *file, char *value, struct lt_error *err)
{
	struct lt_conf *const conf = file->reading->conf;
	char *rest = NULL;

	for (char *item = strtok_r(value, ",", &rest); item != NULL;
	     item = strtok_r(NULL, ",", &rest))
		if (strncasecmp(item, "socket=", 7) == 0 &&
		    copy_value(conf->munge_socket, sizeof(conf->munge_socket), item + 7, file, err))
			return err->code;
	return LT_OK;
}

/* ---- a line ---- */

/* Takes "Key = value" or Key="a value" off the line, in place: the form of keyvalue_pattern. False,
 * and nothing taken, if it does not begin so. */
static bool
next_pair(char **at, char **key, char **value)
{
	char *c = *at + strspn(*at, LT_CONF_SPACES);
	char *const start = c;

	while (isalnum((unsigned char)*c) || *c == '_' || *c == '.')
		c++;
	char *const key_end = c;

	c += strspn(c, LT_CONF_SPACES);
	c += *c != '\0' && strchr("-*+/", *c) != NULL;
	if (key_end == start || *c != '=')
		return false;
	c += 1 + strspn(c + 1, LT_CONF_SPACES);
	char *const quote = *c == '"' ? strchr(c + 1, '"') : NULL;
	const bool quoted =
	    quote != NULL && (quote[1] == '\0' || strchr(LT_CONF_SPACES, quote[1]) != NULL);
	char *const end = quoted ? quote : c + strcspn(c, LT_CONF_SPACES);

	if (*c == '\0')
		return false;
	*key_end = '\0';
	*key = start;
	*value = c + quoted;
	*at = end + (*end != '\0');
	*end = '\0';
	return true;
}

static bool
is_blank(const char *text)
{
	return text[strspn(text, LT_CONF_SPACES)] == '\0';
}

/* Reads the rest of "PartitionName=NAME ...". */
static int
read_partition(const struct file *file, const char *name, char *at, struct lt_error *err)
{
	struct reading *const reading = file->reading;
	struct lt_conf *const conf = reading->conf;
	struct partition one = reading->of_default;
	char *key, *value;

	while (next_pair(&at, &key, &value)) {
		if (strcasecmp(key, "AllowGroups") == 0)
			one.is_closed = strcasecmp(value, "ALL") != 0;
		if (strcasecmp(key, "PreemptMode") == 0)
			one.cancels = strcasecmp(value, "CANCEL") == 0;
	}
	if (!is_blank(at))
		return bad_value(file, LT_EINPUT, "want Key=Value ...", err);
	if (strcasecmp(name, "DEFAULT") == 0) {
		reading->of_default = one;
		return LT_OK;
	}
	/* For people: a name may be cut. */
	if (one.is_closed && conf->allow_groups_count++ == 0)
		snprintf(conf->allow_groups, sizeof(conf->allow_groups), "%s", name);
	if (one.cancels && conf->cancel_count++ == 0)
		snprintf(conf->cancels, sizeof(conf->cancels), "%s", name);
	return LT_OK;
}

/* Takes the first pair of a line; *known: the line must have no other. */
static int
take_pair(const struct file *file, const char *key, char *value, bool *known, struct lt_error *err)
{
	struct reading *const reading = file->reading;

	*known = true;
	if (strcasecmp(key, "SlurmctldHost") == 0)
		return read_host(file, value, err);
	if (strcasecmp(key, "AuthInfo") == 0)
		return read_auth_info(file, value, err);
	for (int i = 0; i < OLD_KEYS; i++)
		if (strcasecmp(key, old_keys[i]) == 0)
			return copy_value(
			    reading->old[i], sizeof(reading->old[i]), value, file, err);
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (strcasecmp(key, keys[i].key) == 0)
			return copy_value(
			    (char *)reading->conf + keys[i].offset, keys[i].size, value, file, err);
	*known = false;
	return LT_OK;
}

/* Expands "%c" to the cluster's name in lower case, as read so far. */
static int
expand(char *out, size_t size, const char *name, const struct file *file, struct lt_error *err)
{
	const char *const cluster = file->reading->conf->cluster;
	size_t used = 0;

	for (const char *c = name; *c != '\0' && used < size; c++) {
		if (c[0] != '%' || c[1] != 'c') {
			out[used++] = *c;
			continue;
		}
		if (!cluster[0])
			return bad_value(file, LT_EINPUT, "%c wants ClusterName above it", err);
		for (const char *k = cluster; *k != '\0' && used < size; k++)
			out[used++] = (char)tolower((unsigned char)*k);
		c++;
	}
	if (used >= size)
		return bad_value(file, LT_ELIMIT, "too long a path", err);
	out[used] = '\0';
	if (strchr(out, '*') != NULL)
		return bad_value(file, LT_EINPUT, "Slurm takes no pattern, want a file", err);
	return LT_OK;
}

static int
join(char *out, size_t size, const char *beside, const char *name)
{
	const char *const slash = strrchr(beside, '/');

	return snprintf(
	    out, size, "%.*s%s", slash != NULL ? (int)(slash + 1 - beside) : 0, beside, name);
}

/* Reads "Include FILE": 22.05 looks beside the file with the line, later releases beside
 * slurm.conf. */
static int
follow_include(struct file *from, char *name, struct lt_error *err)
{
	char expanded[1024], path[2048], other[2048];
	struct file included = {.reading = from->reading, .path = path, .depth = from->depth + 1};

	from->key = "Include";
	name += strspn(name, LT_CONF_SPACES);
	char *const end = name + strcspn(name, LT_CONF_SPACES);

	if (!is_blank(end))
		return bad_value(from, LT_EINPUT, "want one file", err);
	*end = '\0';
	if (expand(expanded, sizeof(expanded), name, from, err))
		return err->code;
	if (expanded[0] == '/') {
		snprintf(path, sizeof(path), "%s", expanded);
		return parse_file(&included, err);
	}
	(void)join(path, sizeof(path), from->path, expanded);
	(void)join(other, sizeof(other), from->reading->conf->path, expanded);
	if (strcmp(path, other) != 0 && access(other, F_OK) == 0) {
		if (access(path, F_OK) == 0)
			return lt_fail(err, LT_EINPUT,
			    "%s:%d: Include %s: is it %s (Slurm 22.05) or %s (later)? Want its whole path",
			    from->path, from->line, expanded, path, other);
		included.path = other;
	}
	return parse_file(&included, err);
}

static int
parse_line(struct file *file, char *line, struct lt_error *err)
{
	char *at = line, *key, *value;
	bool known;

	if (is_blank(line))
		return LT_OK;
	if (strncasecmp(line, "include", 7) == 0 && isspace((unsigned char)line[7]))
		return follow_include(file, line + 8, err);
	if (!next_pair(&at, &key, &value)) {
		char start[40];

		snprintf(start, sizeof(start), "%s", line + strspn(line, LT_CONF_SPACES));
		start[strcspn(start, "\r\n")] = '\0';
		return lt_fail(err, LT_EINPUT, "%s:%d: got \"%s\", want Key=Value", file->path,
		    file->line, start);
	}
	file->key = key;
	if (strcasecmp(key, "PartitionName") == 0)
		return read_partition(file, value, at, err);
	if (take_pair(file, key, value, &known, err))
		return err->code;
	return !known || is_blank(at)
		   ? LT_OK
		   : bad_value(file, LT_EINPUT, "want one value, in quotes if it has spaces", err);
}

/* ---- lines ---- */

/* Cuts the comment; a # after an odd number of backslashes does not begin one. */
static void
cut_comment(char *line)
{
	bool escaped = false;

	for (; *line != '\0'; line++) {
		if (*line == '#' && !escaped) {
			*line = '\0';
			return;
		}
		escaped = *line == '\\' && !escaped;
	}
}

/* True if the line ends in an odd number of backslashes; cuts the last one and the text behind
 * it. */
static bool
cut_continuation(char *line)
{
	size_t end = strlen(line);

	while (end > 0 && isspace((unsigned char)line[end - 1]))
		end--;
	size_t first = end;

	while (first > 0 && line[first - 1] == '\\')
		first--;
	if ((end - first) % 2 == 0)
		return false;
	line[end - 1] = '\0';
	return true;
}

/* Replaces "\\#" by "#" and "\\\\" by "\\". */
static void
cut_escapes(char *line)
{
	char *out = line;

	for (; *line != '\0'; line++) {
		if (*line == '\\' && line[1] != '\0')
			line++;
		*out++ = *line;
	}
	*out = '\0';
}

static int
parse_stream(struct file *file, FILE *in, char *line, struct lt_error *err)
{
	size_t used = 0;

	line[0] = '\0';
	for (file->line = 1; file->line <= LINES_MAX; file->line++) {
		const bool ended = fgets(line + used, (int)(LINE_MAX_BYTES - used), in) == NULL;

		if (ended && used == 0)
			return LT_OK;
		if (!ended && strchr(line + used, '\n') == NULL && !feof(in))
			return lt_fail(err, LT_EINPUT,
			    "%s:%d: want a line of text of at most %d bytes", file->path,
			    file->line, (int)LINE_MAX_BYTES);
		if (!ended) {
			cut_comment(line + used);
			if (cut_continuation(line + used)) {
				used += strlen(line + used);
				continue;
			}
		}
		cut_escapes(line);
		if (parse_line(file, line, err) || ended)
			return err->code;
		used = 0;
	}
	return lt_fail(err, LT_ELIMIT, "%s: over %d lines", file->path, (int)LINES_MAX);
}

static int
parse_file(struct file *file, struct lt_error *err)
{
	const char *const path = file->path;

	if (file->depth > INCLUDE_DEPTH_MAX)
		return lt_fail(err, LT_ELIMIT, "%s: Include goes deeper than %d files", path,
		    (int)INCLUDE_DEPTH_MAX);
	/* a FIFO must not block us */
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat facts;

	if (fd < 0)
		return lt_fail(
		    err, errno == ENOENT ? LT_ENOENT : LT_EIO, "%s: %s", path, strerror(errno));
	FILE *const in = fstat(fd, &facts) == 0 && S_ISREG(facts.st_mode) ? fdopen(fd, "r") : NULL;

	if (in == NULL) {
		close(fd);
		return lt_fail(err, LT_EIO, "%s: want a file", path);
	}
	char *const line = malloc(LINE_MAX_BYTES);

	if (line == NULL) {
		fclose(in);
		return lt_fail(err, LT_ENOMEM, "%s: no memory", path);
	}
	const int result = parse_stream(file, in, line, err);

	free(line);
	fclose(in);
	return result;
}

int
lt_conf_parse(struct lt_conf *conf, const char *path, struct lt_error *err)
{
	struct reading reading = {.conf = conf};
	struct file file = {.reading = &reading, .path = path, .key = "SlurmctldHost"};
	struct lt_error own = {0};

	err = err != NULL ? err : &own;
	memset(conf, 0, sizeof(*conf));
	snprintf(conf->path, sizeof(conf->path), "%s", path);
	snprintf(conf->slurm_user, sizeof(conf->slurm_user), "root");
	if (parse_file(&file, err) != LT_OK)
		return err->code;
	if (conf->host_count > 0)
		return LT_OK;
	file.key = old_keys[OLD_MACHINE];
	if (add_old_hosts(&file, reading.old[OLD_MACHINE], reading.old[OLD_ADDRESS], err) != LT_OK)
		return err->code;
	return add_old_hosts(&file, reading.old[OLD_BACKUP], reading.old[OLD_BACKUP_ADDRESS], err);
}

int
lt_conf_load(struct lt_conf *conf, struct lt_error *err)
{
	const char *const named = getenv("SLURM_CONF");

	if (named != NULL && named[0])
		return lt_conf_parse(conf, named, err);
	for (int i = 0; places[i] != NULL; i++)
		if (access(places[i], R_OK) == 0)
			return lt_conf_parse(conf, places[i], err);
	memset(conf, 0, sizeof(*conf));
	return lt_fail(err, LT_ENOENT, "no slurm.conf: not by SLURM_CONF, not %s, not %s",
	    places[0], places[1]);
}
