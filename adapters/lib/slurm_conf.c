/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A few keys of slurm.conf, for a host without libslurm's help: where
 * slurmctld is, who it runs as, and what doctor looks at. Not a full parser:
 * what it does not know it skips.
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

/* Keys whose value is copied as it stands. */
static const struct {
	const char *key;
	size_t offset, size;
} keys[] = {
#define KEY(name, member)                                                      \
	{                                                                      \
		name, offsetof(struct lt_conf, member),                        \
		    sizeof(((struct lt_conf *)0)->member)                      \
	}
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

static void
copy(char *out, size_t size, const char *text)
{
	snprintf(out, size, "%s", text);
}

/* "host", "host(addr)": the address is what we connect to. */
static void
add_host(struct lt_conf *conf, char *value)
{
	if (conf->host_count >= LT_CONF_HOSTS_MAX)
		return;
	char *const name = conf->host_names[conf->host_count];
	char *const address = conf->hosts[conf->host_count];
	char *const open = strchr(value, '(');

	if (open != NULL) {
		*open = '\0';
		open[1 + strcspn(open + 1, ")")] = '\0';
	}
	copy(name, sizeof(conf->host_names[0]), value);
	copy(address, sizeof(conf->hosts[0]),
	    open != NULL && open[1] ? open + 1 : value);
	if (address[0])
		conf->host_count++;
}

/* AuthInfo=socket=/run/x,ttl=60 */
static void
read_auth_info(struct lt_conf *conf, char *value)
{
	char *rest = NULL;

	for (char *item = strtok_r(value, ",", &rest); item != NULL;
	     item = strtok_r(NULL, ",", &rest))
		if (strncasecmp(item, "socket=", 7) == 0)
			copy(conf->munge_socket, sizeof(conf->munge_socket),
			    item + 7);
}

static void
count_partition(int *count, char *first, size_t size, const char *partition)
{
	if (++*count == 1)
		copy(first, size, partition);
}

/* One key of a line; partition is the PartitionName of the line, or "". */
static void
take(struct lt_conf *conf, const char *key, char *value, const char *partition)
{
	if (partition[0]) {
		if (strcasecmp(key, "AllowGroups") == 0 &&
		    strcasecmp(value, "ALL") != 0)
			count_partition(&conf->allow_groups_count,
			    conf->allow_groups, sizeof(conf->allow_groups),
			    partition);
		if (strcasecmp(key, "PreemptMode") == 0 &&
		    strcasecmp(value, "CANCEL") == 0)
			count_partition(&conf->cancel_count, conf->cancels,
			    sizeof(conf->cancels), partition);
		return;
	}
	if (strcasecmp(key, "SlurmctldHost") == 0) {
		add_host(conf, value);
	} else if (strcasecmp(key, "AuthInfo") == 0) {
		read_auth_info(conf, value);
	} else {
		for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
			if (strcasecmp(key, keys[i].key) == 0)
				copy((char *)conf + keys[i].offset,
				    keys[i].size, value);
	}
}

/* The next "key=value" of a line, in place; false at its end. */
static bool
next_pair(char **at, char **key, char **value)
{
	char *c = *at;

	while (isspace((unsigned char)*c))
		c++;
	if (!*c)
		return false;
	*key = c;
	while (*c && *c != '=' && !isspace((unsigned char)*c))
		c++;
	if (*c == '+' || (c > *key && c[-1] == '+' && *c == '='))
		c[-1] = '\0';
	if (*c != '=') { /* a word without a value */
		*value = c;
		*at = *c ? c + 1 : c;
		*c = '\0';
		return true;
	}
	*c++ = '\0';
	const bool quoted = *c == '"';

	c += quoted;
	*value = c;
	while (*c && (quoted ? *c != '"' : !isspace((unsigned char)*c)))
		c++;
	*at = *c ? c + 1 : c;
	*c = '\0';
	return true;
}

struct file { /* that is read */
	struct lt_conf *conf;
	const char *path;
	int depth; /* of Include */
};

static int parse_file(const struct file *file, struct lt_error *err);

/* "Include FILE", beside the file that includes it. */
static int
follow_include(const struct file *from, const char *name, struct lt_error *err)
{
	char path[2048];
	const struct file included = {from->conf, path, from->depth + 1};
	const char *const slash = strrchr(from->path, '/');

	while (isspace((unsigned char)*name))
		name++;
	const int length = (int)strcspn(name, " \t\r\n");

	if (name[0] == '/' || slash == NULL)
		snprintf(path, sizeof(path), "%.*s", length, name);
	else
		snprintf(path, sizeof(path), "%.*s/%.*s",
		    (int)(slash - from->path), from->path, length, name);
	return parse_file(&included, err);
}

static int
parse_line(const struct file *file, char *line, struct lt_error *err)
{
	char *at = line, *key, *value;
	char partition[64] = "";
	bool first = true;

	while (isspace((unsigned char)*at))
		at++;
	if (strncasecmp(at, "include", 7) == 0 && isspace((unsigned char)at[7]))
		return follow_include(file, at + 8, err);
	while (next_pair(&at, &key, &value)) {
		if (first && strcasecmp(key, "PartitionName") == 0)
			copy(partition, sizeof(partition), value);
		else
			take(file->conf, key, value, partition);
		first = false;
	}
	return LT_OK;
}

/* Cut the comment; true when the line goes on after a backslash. */
static bool
trim_line(char *line)
{
	size_t length = 0;

	for (; line[length]; length++) {
		if (line[length] == '#' &&
		    (length == 0 || line[length - 1] != '\\')) {
			line[length] = '\0';
			return false;
		}
	}
	while (length && isspace((unsigned char)line[length - 1]))
		length--;
	line[length] = '\0';
	if (length && line[length - 1] == '\\') {
		line[length - 1] = '\0';
		return true;
	}
	return false;
}

static int
parse_stream(
    const struct file *file, FILE *in, char *line, struct lt_error *err)
{
	size_t used = 0;

	line[0] = '\0';
	for (int number = 1; number <= LINES_MAX; number++) {
		if (fgets(line + used, (int)(LINE_MAX_BYTES - used), in) ==
		    NULL)
			return used ? parse_line(file, line, err) : LT_OK;
		if (strchr(line + used, '\n') == NULL && !feof(in))
			return lt_fail(err, LT_ELIMIT,
			    "%s:%d: a line of over %d bytes", file->path,
			    number, (int)LINE_MAX_BYTES);
		if (trim_line(line + used)) {
			used += strlen(line + used);
			continue;
		}
		if (parse_line(file, line, err))
			return err->code;
		used = 0;
	}
	return lt_fail(
	    err, LT_ELIMIT, "%s: over %d lines", file->path, (int)LINES_MAX);
}

static int
parse_file(const struct file *file, struct lt_error *err)
{
	const char *const path = file->path;

	if (file->depth > INCLUDE_DEPTH_MAX)
		return lt_fail(err, LT_ELIMIT,
		    "%s: Include goes deeper than %d files", path,
		    (int)INCLUDE_DEPTH_MAX);
	/* a FIFO must not hold us up */
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat facts;

	if (fd < 0)
		return lt_fail(err, errno == ENOENT ? LT_ENOENT : LT_EIO,
		    "%s: %s", path, strerror(errno));
	FILE *const in = fstat(fd, &facts) == 0 && S_ISREG(facts.st_mode)
			     ? fdopen(fd, "r")
			     : NULL;

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
	memset(conf, 0, sizeof(*conf));
	copy(conf->path, sizeof(conf->path), path);
	copy(conf->slurm_user, sizeof(conf->slurm_user), "root");
	return parse_file(&(struct file){conf, path, 0}, err);
}

int
lt_conf_load(struct lt_conf *conf, struct lt_error *err)
{
	static const char *const places[] = {
	    "/etc/slurm/slurm.conf", "/run/slurm/conf/slurm.conf"};
	const char *const named = getenv("SLURM_CONF");

	if (named != NULL && named[0])
		return lt_conf_parse(conf, named, err);
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
		if (!access(places[i], R_OK))
			return lt_conf_parse(conf, places[i], err);
	memset(conf, 0, sizeof(*conf));
	return lt_fail(err, LT_ENOENT,
	    "no slurm.conf: not by SLURM_CONF, not %s, not %s", places[0],
	    places[1]);
}
