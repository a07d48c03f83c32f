/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lowtide doctor --collect: writes what placement depends on at this site, partitions, shapes of
 * nodes, QOS and limits, to a new text file with other names, for its admins to read before they
 * send it. `make replay-site` builds a private cluster from the file.
 *
 * Asks scontrol and sacctmgr. If one of them fails, the file is removed.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

#include "collect_names.h"
#include "doctor.h"

/* How the values of a key are written. */
enum values {
	PLAIN,
	NAMES,	  /* comma separated */
	LICENSES, /* name:count,... */
	GRES,	  /* name:type:count,... */
	FEATURES, /* comma separated, names of GPUs stay */
	TRES,	  /* cpu=4,gres/gpu:a100=2 */
};

struct key {
	const char *name;   /* as Slurm shows it */
	const char *as;	    /* as Slurm's files have it; NULL: the same */
	const char *usual;  /* a value that is not written; NULL: none */
	enum values values; /* which names are in it */
	enum lt_alias_kind kind;
};

static const struct key conf_keys[] = {
    {"AccountingStorageEnforce", NULL, "none", PLAIN, 0},
    {"AccountingStorageTRES", NULL, NULL, TRES, 0},
    {"AllowSpecResourcesUsage", NULL, "No", PLAIN, 0},
    {"DefMemPerCPU", NULL, "UNLIMITED", PLAIN, 0},
    {"DefMemPerNode", NULL, "UNLIMITED", PLAIN, 0},
    {"DisableRootJobs", NULL, "No", PLAIN, 0},
    {"EnforcePartLimits", NULL, "NO", PLAIN, 0},
    {"JobRequeue", NULL, "1", PLAIN, 0},
    {"Licenses", NULL, "(null)", LICENSES, LT_ALIAS_LICENSE},
    {"MaxMemPerCPU", NULL, "UNLIMITED", PLAIN, 0},
    {"MaxMemPerNode", NULL, "UNLIMITED", PLAIN, 0},
    {"MaxTasksPerNode", NULL, "512", PLAIN, 0},
    {"OverTimeLimit", NULL, "0 min", PLAIN, 0},
    {"PreemptMode", NULL, "OFF", PLAIN, 0},
    {"PreemptType", NULL, "preempt/none", PLAIN, 0},
    {"PriorityType", NULL, "priority/basic", PLAIN, 0},
    {"PrivateData", NULL, "none", PLAIN, 0},
    {"SelectType", NULL, NULL, PLAIN, 0},
    {"SelectTypeParameters", NULL, "NONE", PLAIN, 0},
};

static const struct key partition_keys[] = {
    {"AllocNodes", NULL, "ALL", NAMES, LT_ALIAS_NODE},
    {"AllowAccounts", NULL, "ALL", NAMES, LT_ALIAS_ACCOUNT},
    {"AllowGroups", NULL, "ALL", NAMES, LT_ALIAS_GROUP},
    {"AllowQos", NULL, "ALL", NAMES, LT_ALIAS_QOS},
    {"Default", NULL, "NO", PLAIN, 0},
    {"DefaultTime", NULL, "NONE", PLAIN, 0},
    {"DefMemPerCPU", NULL, "UNLIMITED", PLAIN, 0},
    {"DefMemPerNode", NULL, "UNLIMITED", PLAIN, 0},
    {"DenyAccounts", NULL, NULL, NAMES, LT_ALIAS_ACCOUNT},
    {"DenyQos", NULL, NULL, NAMES, LT_ALIAS_QOS},
    {"DisableRootJobs", NULL, "NO", PLAIN, 0},
    {"ExclusiveUser", NULL, "NO", PLAIN, 0},
    {"GraceTime", NULL, "0", PLAIN, 0},
    {"Hidden", NULL, "NO", PLAIN, 0},
    {"JobDefaults", "", "(null)", PLAIN, 0},
    {"LLN", NULL, "NO", PLAIN, 0},
    {"MaxCPUsPerNode", NULL, "UNLIMITED", PLAIN, 0},
    {"MaxMemPerCPU", NULL, "UNLIMITED", PLAIN, 0},
    {"MaxMemPerNode", NULL, "UNLIMITED", PLAIN, 0},
    {"MaxNodes", NULL, "UNLIMITED", PLAIN, 0},
    {"MaxTime", NULL, NULL, PLAIN, 0},
    {"MinNodes", NULL, "0", PLAIN, 0},
    {"OverSubscribe", NULL, "NO", PLAIN, 0},
    {"PriorityJobFactor", NULL, "1", PLAIN, 0},
    {"PriorityTier", NULL, "1", PLAIN, 0},
    {"QoS", "QOS", "N/A", NAMES, LT_ALIAS_QOS},
    {"ReqResv", NULL, "NO", PLAIN, 0},
    {"RootOnly", NULL, "NO", PLAIN, 0},
    {"State", NULL, "UP", PLAIN, 0},
};

static const struct key node_keys[] = {
    {"CPUTot", "CPUs", NULL, PLAIN, 0},
    {"Boards", NULL, "1", PLAIN, 0},
    {"Sockets", NULL, NULL, PLAIN, 0},
    {"CoresPerSocket", NULL, NULL, PLAIN, 0},
    {"ThreadsPerCore", NULL, NULL, PLAIN, 0},
    {"RealMemory", NULL, NULL, PLAIN, 0},
    {"TmpDisk", NULL, "0", PLAIN, 0},
    {"MemSpecLimit", NULL, NULL, PLAIN, 0},
    {"CoreSpecCount", NULL, NULL, PLAIN, 0},
    {"Weight", NULL, "1", PLAIN, 0},
    {"AvailableFeatures", "Feature", "(null)", FEATURES, LT_ALIAS_FEATURE},
    {"Gres", NULL, "(null)", GRES, LT_ALIAS_GRES},
};

/* Columns of sacctmgr, and the keys that set them. */
static const struct key limit_keys[] = {
    {"grpjobs", "GrpJobs", NULL, PLAIN, 0},
    {"grpsubmit", "GrpSubmitJobs", NULL, PLAIN, 0},
    {"grptres", "GrpTRES", NULL, TRES, 0},
    {"grptresmins", "GrpTRESMins", NULL, TRES, 0},
    {"grptresrunmins", "GrpTRESRunMins", NULL, TRES, 0},
    {"grpwall", "GrpWall", NULL, PLAIN, 0},
    {"maxtres", "MaxTRESPerJob", NULL, TRES, 0},
    {"maxtresmins", "MaxTRESMinsPerJob", NULL, TRES, 0},
    {"maxtrespernode", "MaxTRESPerNode", NULL, TRES, 0},
    {"maxwall", "MaxWall", NULL, PLAIN, 0},
};
static const struct key qos_keys[] = {
    {"flags", "Flags", NULL, PLAIN, 0},
    {"gracetime", "GraceTime", "00:00:00", PLAIN, 0},
    {"maxjobspa", "MaxJobsPerAccount", NULL, PLAIN, 0},
    {"maxjobspu", "MaxJobsPerUser", NULL, PLAIN, 0},
    {"maxsubmitpa", "MaxSubmitJobsPerAccount", NULL, PLAIN, 0},
    {"maxsubmitpu", "MaxSubmitJobsPerUser", NULL, PLAIN, 0},
    {"maxtrespa", "MaxTRESPerAccount", NULL, TRES, 0},
    {"maxtrespu", "MaxTRESPerUser", NULL, TRES, 0},
    {"mintres", "MinTRESPerJob", NULL, TRES, 0},
    {"priority", "Priority", "0", PLAIN, 0},
    {"usagefactor", "UsageFactor", "1.000000", PLAIN, 0},
};
static const struct key association_keys[] = {
    {"maxjobs", "MaxJobs", NULL, PLAIN, 0},
    {"maxsubmit", "MaxSubmitJobs", NULL, PLAIN, 0},
    {"qos", "QOS", NULL, NAMES, LT_ALIAS_QOS},
    {"defaultqos", "DefaultQOS", NULL, NAMES, LT_ALIAS_QOS},
};

enum {
	ASK_TIMEOUT_S = 60,
	SHAPES_MAX = 1024,   /* nodes that differ; more are left out */
	NODES_REPLAYED = 28, /* as many as the private cluster has */
	VALUE_SIZE = 4096,
};

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

struct shape { /* nodes that differ by their name alone */
	char *line, *partitions, *prefix;
	unsigned count, replayed, number;
};

struct collection {
	FILE *out;
	struct lt_aliases *aliases;
	struct shape shapes[SHAPES_MAX];
	size_t shape_count, left_out;
	unsigned nodes, partitions, qos, associations;
	size_t home; /* the default partition, by its number */
};

/* ---- values with other names ---- */

static void
put_part(struct collection *c, FILE *out, const struct key *key, char *part)
{
	char *const equals = strchr(part, '=');
	char *const colon = strchr(part, ':');

	switch (key->values) {
	case PLAIN:
		fputs(part, out);
		break;
	case NAMES:
	case FEATURES:
		fputs(lt_alias(c->aliases, key->kind, part), out);
		break;
	case LICENSES:
		if (colon != NULL)
			*colon = '\0';
		fprintf(out, "%s%s%s", lt_alias(c->aliases, key->kind, part),
		    colon != NULL ? ":" : "", colon != NULL ? colon + 1 : "");
		break;
	case GRES:
		lt_alias_gres(c->aliases, out, part);
		break;
	case TRES:
		if (equals != NULL)
			*equals = '\0';
		lt_alias_tres(c->aliases, out, part);
		if (equals != NULL)
			fprintf(out, "=%s", equals + 1);
		break;
	}
}

/* Writes "a,b" with other names; "gpu:a100:4(S:0-1)" without the brackets. */
static void
put_value(struct collection *c, FILE *out, const struct key *key, const char *value)
{
	char copy[VALUE_SIZE], *rest = NULL;

	snprintf(copy, sizeof(copy), "%s", value);
	if (key->values == PLAIN) {
		copy[strcspn(copy, " ")] = '\0';
		fputs(copy, out);
		return;
	}
	for (char *at = copy; key->values == GRES && (at = strchr(at, '(')) != NULL;) {
		const size_t length = strcspn(at, ")");

		memmove(at, at + length + (at[length] == ')'),
		    strlen(at + length + (at[length] == ')')) + 1);
	}
	for (char *part = strtok_r(copy, ",", &rest); part != NULL;) {
		put_part(c, out, key, part);
		part = strtok_r(NULL, ",", &rest);
		if (part != NULL)
			fputc(',', out);
	}
}

static void
put_key(struct collection *c, FILE *out, const struct key *key, const char *value)
{
	if (value == NULL || value[0] == '\0' ||
	    (key->usual != NULL && strcasecmp(value, key->usual) == 0) ||
	    strcmp(value, "(null)") == 0 || strcmp(value, "N/A") == 0)
		return;
	if (key->as != NULL && key->as[0] == '\0') {
		/* "DefCpuPerGPU=4,DefMemPerGPU=100": keys of their own. */
		fputc(' ', out);
		for (; *value != '\0'; value++)
			fputc(*value == ',' ? ' ' : *value, out);
		return;
	}
	fprintf(out, " %s=", key->as != NULL ? key->as : key->name);
	put_value(c, out, key, value);
}

/* Copies the value of "name=" in a line of `scontrol -o`, to the next blank. */
static const char *
value_in(char *out, size_t size, const char *line, const char *name)
{
	const size_t length = strlen(name);

	for (const char *at = line; (at = strstr(at, name)) != NULL; at++)
		if ((at == line || at[-1] == ' ') && at[length] == '=') {
			snprintf(
			    out, size, "%.*s", (int)strcspn(at + length + 1, " "), at + length + 1);
			return out;
		}
	return NULL;
}

/* ---- the answers of scontrol ---- */

typedef void line_function(struct collection *c, char *line);

static int
each_line(struct collection *c, char *const argv[], line_function *take, struct lt_error *err)
{
	struct lt_program child;
	char *rest = NULL;

	if (lt_program_run(&child, argv, true, ASK_TIMEOUT_S, err) != LT_OK)
		return err->code;
	if (child.status != 0)
		lt_fail(err, LT_EIO, "%s: exit status %d: %.*s", argv[0], child.status,
		    child.error != NULL ? (int)strcspn(child.error, "\n") : 0,
		    child.error != NULL ? child.error : "");
	else if (child.out != NULL)
		for (char *line = strtok_r(child.out, "\n", &rest); line != NULL;
		     line = strtok_r(NULL, "\n", &rest))
			take(c, line);
	lt_program_free(&child);
	return err->code;
}

static void
take_conf(struct collection *c, char *line)
{
	char *const equals = strchr(line, '=');

	if (equals == NULL)
		return;
	*equals = '\0';
	line[strcspn(line, " ")] = '\0';

	const char *const value = equals + 1 + strspn(equals + 1, " ");

	for (size_t i = 0; i < COUNT(conf_keys); i++)
		if (strcmp(conf_keys[i].name, line) == 0 &&
		    (conf_keys[i].usual == NULL || strcasecmp(value, conf_keys[i].usual) != 0)) {
			fprintf(c->out, "%s=", conf_keys[i].name);
			put_value(c, c->out, &conf_keys[i], value);
			fputc('\n', c->out);
		}
}

static void
take_node(struct collection *c, char *line)
{
	char value[VALUE_SIZE], *text = NULL;
	size_t size = 0;
	FILE *const shape = open_memstream(&text, &size);

	c->nodes++;
	if (shape == NULL)
		return;
	for (size_t i = 0; i < COUNT(node_keys); i++)
		put_key(c, shape, &node_keys[i],
		    value_in(value, sizeof(value), line, node_keys[i].name));
	if (value_in(value, sizeof(value), line, "State") != NULL && strstr(value, "CLOUD") != NULL)
		fputs(" State=CLOUD", shape);
	fclose(shape);

	const char *const partitions = value_in(value, sizeof(value), line, "Partitions");

	for (size_t i = 0; i < c->shape_count; i++)
		if (strcmp(c->shapes[i].line, text) == 0 &&
		    strcmp(c->shapes[i].partitions, partitions != NULL ? partitions : "") == 0) {
			c->shapes[i].count++;
			free(text);
			return;
		}
	if (c->shape_count == SHAPES_MAX) {
		free(text);
		return;
	}
	struct shape *const new = &c->shapes[c->shape_count++];
	char name[256];

	new->line = text;
	new->partitions = strdup(partitions != NULL ? partitions : "");
	new->count = 1;
	new->number = (unsigned)c->shape_count;
	if (value_in(name, sizeof(name), line, "NodeName") == NULL)
		name[0] = '\0';
	name[strcspn(name, "0123456789")] = '\0';
	new->prefix = strdup(lt_alias(c->aliases, LT_ALIAS_NODE, name));
}

static int
more_nodes(const void *a, const void *b)
{
	const struct shape *const left = a, *const right = b;

	return left->count != right->count ? (left->count < right->count ? 1 : -1)
					   : (left->number > right->number ? 1 : -1);
}

/* Writes nodes of each shape, the most frequent first, up to NODES_REPLAYED. */
static void
put_nodes(struct collection *c)
{
	unsigned room = NODES_REPLAYED;

	qsort(c->shapes, c->shape_count, sizeof(c->shapes[0]), more_nodes);
	for (unsigned round = 1; room > 0 && round <= NODES_REPLAYED; round++)
		for (size_t i = 0; i < c->shape_count && room > 0; i++)
			if (c->shapes[i].count >= round) {
				c->shapes[i].replayed = round;
				room--;
			}
	for (size_t i = 0; i < c->shape_count; i++) {
		const struct shape *const shape = &c->shapes[i];

		fprintf(c->out, "# %u node%s of this shape\n", shape->count,
		    shape->count == 1 ? "" : "s");
		if (shape->replayed == 0)
			fputc('#', c->out);
		fprintf(c->out, "NodeName=%s%zu-[1-%u]%s\n", shape->prefix, i + 1,
		    shape->replayed > 0 ? shape->replayed : 1, shape->line);
		c->left_out += shape->replayed == 0;
	}
}

static bool
has_name(const char *list, const char *name)
{
	const size_t length = strlen(name);

	for (; *list != '\0'; list += strcspn(list, ","), list += *list == ',')
		if (strcspn(list, ",") == length && strncmp(list, name, length) == 0)
			return true;
	return false;
}

static void
take_partition(struct collection *c, char *line)
{
	char name[256], value[VALUE_SIZE];
	bool any = false;

	if (value_in(name, sizeof(name), line, "PartitionName") == NULL)
		return;
	fprintf(c->out, "PartitionName=%s Nodes=", lt_alias(c->aliases, LT_ALIAS_PARTITION, name));
	for (size_t i = 0; i < c->shape_count; i++)
		if (c->shapes[i].replayed > 0 && has_name(c->shapes[i].partitions, name)) {
			fprintf(c->out, "%s%s%zu-[1-%u]", any ? "," : "", c->shapes[i].prefix,
			    i + 1, c->shapes[i].replayed);
			any = true;
		}
	if (!any)
		fputs("\"\"", c->out);
	for (size_t i = 0; i < COUNT(partition_keys); i++)
		put_key(c, c->out, &partition_keys[i],
		    value_in(value, sizeof(value), line, partition_keys[i].name));
	fputc('\n', c->out);
	if (value_in(value, sizeof(value), line, "Default") != NULL && strcmp(value, "YES") == 0)
		c->home = c->partitions;
	c->partitions++;
}

/* ---- accounting ---- */

/* Cuts the next column off "a|b|c"; NULL behind the last. */
static const char *
column(char **rest)
{
	return *rest != NULL ? strsep(rest, "|") : NULL;
}

/* Writes "modify WHOM set ...", if there is anything to set. */
static void
put_limits(
    struct collection *c, const char *whom, char *rest, const struct key *more, size_t more_count)
{
	char *text = NULL;
	size_t size = 0;
	FILE *const limits = open_memstream(&text, &size);

	if (limits == NULL)
		return;
	for (size_t i = 0; i < COUNT(limit_keys); i++)
		put_key(c, limits, &limit_keys[i], column(&rest));
	for (size_t i = 0; i < more_count; i++)
		put_key(c, limits, &more[i], column(&rest));
	fclose(limits);
	if (size > 0)
		fprintf(c->out, "modify %s set%s\n", whom, text);
	free(text);
}

static void
take_qos(struct collection *c, char *line)
{
	char *rest = line, whom[512];
	const char *const name = lt_alias(c->aliases, LT_ALIAS_QOS, column(&rest));

	fprintf(c->out, "add qos %s\n", name);
	snprintf(whom, sizeof(whom), "qos %s", name);
	put_limits(c, whom, rest, qos_keys, COUNT(qos_keys));
	c->qos++;
}

/* Writes an association. The users of an account become one, who submits the jobs of a replay: the
 * first stands for all. */
static void
take_association(struct collection *c, char *line)
{
	char *rest = line, whom[1024];
	const char *const account = column(&rest);
	const char *const parent = column(&rest);
	const char *const user = column(&rest);
	const char *const partition = column(&rest);

	if (partition == NULL || strcmp(account, "root") == 0)
		return;

	const char *const name = lt_alias(c->aliases, LT_ALIAS_ACCOUNT, account);
	const char *const where =
	    partition[0] != '\0' ? lt_alias(c->aliases, LT_ALIAS_PARTITION, partition) : "";

	if (user[0] == '\0') {
		fprintf(c->out, "add account %s", name);
		if (parent[0] != '\0' && strcmp(parent, "root") != 0)
			fprintf(
			    c->out, " parent=%s", lt_alias(c->aliases, LT_ALIAS_ACCOUNT, parent));
		fprintf(c->out, "\nadd user @USER@ account=%s\n", name);
		snprintf(whom, sizeof(whom), "account %s", name);
	} else if (lt_alias_is_new(c->aliases, account, partition)) {
		if (partition[0] != '\0')
			fprintf(c->out, "add user @USER@ account=%s partition=%s\n", name, where);
		snprintf(whom, sizeof(whom), "user @USER@ where account=%s%s%s", name,
		    partition[0] != '\0' ? " partition=" : "", where);
	} else {
		return;
	}
	put_limits(c, whom, rest, association_keys, COUNT(association_keys));
	c->associations++;
}

/* Writes "format=name,flags,..." from the tables. */
static void
name_columns(char *out, size_t size, const char *first, const struct key *more, size_t count)
{
	size_t length = (size_t)snprintf(out, size, "format=%s", first);

	for (size_t i = 0; i < COUNT(limit_keys) && length < size; i++)
		length += (size_t)snprintf(out + length, size - length, ",%s", limit_keys[i].name);
	for (size_t i = 0; i < count && length < size; i++)
		length += (size_t)snprintf(out + length, size - length, ",%s", more[i].name);
}

/* ---- the file ---- */

static int
put_slurm_conf(struct collection *c, struct lt_error *err)
{
	static char *const config[] = {"scontrol", "show", "config", NULL};
	static char *const nodes[] = {"scontrol", "-a", "-o", "show", "node", NULL};
	static char *const partitions[] = {"scontrol", "-a", "-o", "show", "partition", NULL};

	fputs("[slurm.conf]\n", c->out);
	if (each_line(c, config, take_conf, err) != LT_OK ||
	    each_line(c, nodes, take_node, err) != LT_OK)
		return err->code;
	put_nodes(c);
	return each_line(c, partitions, take_partition, err);
}

static int
put_accounting(struct collection *c, struct lt_error *err)
{
	char qos[1024], associations[1024];
	char *const qos_argv[] = {"sacctmgr", "-nP", "show", "qos", qos, NULL};
	char *const association_argv[] = {"sacctmgr", "-nP", "show", "assoc", associations, NULL};

	name_columns(qos, sizeof(qos), "name", qos_keys, COUNT(qos_keys));
	name_columns(associations, sizeof(associations), "account,parentname,user,partition",
	    association_keys, COUNT(association_keys));
	fputs("[sacctmgr]\n", c->out);
	if (each_line(c, qos_argv, take_qos, err) != LT_OK)
		return err->code;
	if (each_line(c, association_argv, take_association, err) != LT_OK)
		return err->code;

	const char *const first = lt_alias_at(c->aliases, LT_ALIAS_ACCOUNT, 0);

	if (first != NULL)
		fprintf(c->out, "modify user @USER@ set defaultaccount=%s\n", first);
	return LT_OK;
}

/* Writes a policy with made-up prices: a replay needs partitions that differ, and the default as
 * the dearest. */
static void
put_policy(struct collection *c)
{
	const char *name;

	fputs("# Prices are made up.\n[policy]\nmode: enforce\ncurrency: USD\n"
	      "timezone: UTC\nspot_proof: said\nhistory_days: 0\npartitions:\n",
	    c->out);
	for (size_t i = 0; (name = lt_alias_at(c->aliases, LT_ALIAS_PARTITION, i)) != NULL; i++)
		fprintf(c->out,
		    "  \"%s\": {price_per_node_hour: %zu, carbon: 400, "
		    "node_idle_w: 300, node_cpu_w: 200, node_gpu_w: 300}\n",
		    name, i == c->home ? (size_t)12 : 1 + i * 7 % 11);
}

static int
write_all(struct collection *c, struct lt_error *err)
{
	fputs("# A site, written by lowtide doctor --collect for a replay "
	      "(make replay-site FILE=this).\n"
	      "# Names are random ones of the same form, but those of GPUs; "
	      "nothing else was kept of them.\n"
	      "# Read it before you send it.\n",
	    c->out);
	if (put_slurm_conf(c, err) != LT_OK || put_accounting(c, err) != LT_OK)
		return err->code;
	put_policy(c);
	return LT_OK;
}

static void
print_summary(const struct collection *c, const char *path)
{
	printf("%s has %u partition%s, %u node%s in %zu shape%s, %u QOS and %u "
	       "association%s\n",
	    path, c->partitions, c->partitions == 1 ? "" : "s", c->nodes, c->nodes == 1 ? "" : "s",
	    c->shape_count, c->shape_count == 1 ? "" : "s", c->qos, c->associations,
	    c->associations == 1 ? "" : "s");
	if (c->left_out > 0)
		printf("%zu of the shapes are only comments: a replay has %d "
		       "nodes\n",
		    c->left_out, NODES_REPLAYED);
	puts("Names of partitions, nodes, accounts, users, QOS, features and "
	     "licenses are random ones;\nsizes, limits and names of GPUs are "
	     "this site's. Read it before you send it.");
}

int
lt_doctor_collect(const char *path)
{
	char usual[64];
	struct lt_error err = {0};
	const time_t now = time(NULL);
	struct tm day;

	if (path[0] == '\0' && gmtime_r(&now, &day) != NULL) {
		strftime(usual, sizeof(usual), "lowtide-%Y%m%d.site", &day);
		path = usual;
	}
	const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	if (fd < 0) {
		lt_fail(&err, LT_EIO, "%s: %s", path, strerror(errno));
		return lt_cli_fail(&err);
	}
	struct collection *const c = calloc(1, sizeof(*c));

	if (c == NULL || (c->aliases = lt_aliases_open()) == NULL ||
	    (c->out = fdopen(fd, "w")) == NULL) {
		lt_fail(&err, LT_ENOMEM, "no memory");
		close(fd);
	} else if (write_all(c, &err) == LT_OK && fclose(c->out) != 0) {
		lt_fail(&err, LT_EIO, "%s: %s", path, strerror(errno));
	}
	if (err.code == LT_OK)
		print_summary(c, path);
	else
		unlink(path);
	for (size_t i = 0; c != NULL && i < c->shape_count; i++) {
		free(c->shapes[i].line);
		free(c->shapes[i].partitions);
		free(c->shapes[i].prefix);
	}
	if (c != NULL)
		lt_aliases_close(c->aliases);
	free(c);
	return err.code == LT_OK ? LT_EXIT_OK : lt_cli_fail(&err);
}
