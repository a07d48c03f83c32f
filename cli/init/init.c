/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lowtide init: writes a first policy file from what Slurm or Kubernetes knows (lowtided --probe),
 * with lines to fill in for what only the admin knows. The file observes: nothing changes at the
 * site until mode: is raised.
 *
 * A pool of a Kubernetes cluster whose nodes are of several machines, or sold in several ways,
 * becomes several partitions: one price would be wrong for most of its nodes. The text must pass
 * "lowtide check" before it is written; an existing file is not overwritten.
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "cli.h"
#include "gpu.h"
#include "host_zone.h"
#include "init.h"
#include "limits.h"
#include "text.h"
#include "units.h"

/* A part of a pool: its machine, "" without a label, and how it is sold. */
struct part {
	char machine[LT_NAME_SIZE];
	bool is_spot;
};

/* Reads a part from "instance-type=m5.large,zone=eu-west-2a,spot". */
static struct part
part_of(const json_t *shape)
{
	static const char key[] = "instance-type=";
	const char *const features = lt_json_text(shape, "features", "");
	struct part part = {.is_spot = lt_text_is_among("spot", features)};

	if (strncmp(features, key, strlen(key)) == 0) {
		const char *const machine = features + strlen(key);

		snprintf(part.machine, sizeof(part.machine), "%.*s", (int)strcspn(machine, ","),
		    machine);
	}
	return part;
}

struct differences { /* between parts of a pool */
	bool machine, sold;
};

static struct differences
differences_of(const json_t *shapes)
{
	const struct part first = part_of(json_array_get(shapes, 0));
	struct differences differ = {false, false};
	const json_t *shape;
	size_t i;

	json_array_foreach(shapes, i, shape) {
		const struct part part = part_of(shape);

		differ.machine |= strcmp(part.machine, first.machine) != 0;
		differ.sold |= part.is_spot != first.is_spot;
	}
	return differ;
}

/* Writes POOL/MACHINE, POOL/SOLD or POOL/MACHINE/SOLD; false: too long, or the nodes do not name
 * their machine. */
static bool
name_part(char name[LT_NAME_SIZE], const char *pool, const struct part *part,
    const struct differences *differ)
{
	const int length = snprintf(name, LT_NAME_SIZE, "%s%s%s%s", pool,
	    differ->machine ? "/" : "", differ->machine ? part->machine : "",
	    !differ->sold   ? ""
	    : part->is_spot ? "/spot"
			    : "/on-demand");

	return length < LT_NAME_SIZE && (!differ->machine || part->machine[0] != '\0');
}

/* Finds the part of that name, or adds it. */
static json_t *
find_or_add(json_t *parts, const char *name, const json_t *pool)
{
	json_t *part;
	size_t i;

	json_array_foreach(parts, i, part)
		if (strcmp(lt_json_text(part, "name", ""), name) == 0)
			return part;
	part = json_copy((json_t *)pool);
	json_object_set_new(part, "name", json_string(name));
	json_object_set_new(part, "nodes", json_integer(0));
	json_object_set_new(part, "shapes", json_array());
	json_array_append_new(parts, part);
	return part;
}

/* Returns the parts of a pool; NULL: it has none, or they can't be named. */
static json_t *
parts_of(const json_t *pool)
{
	const json_t *const shapes = json_object_get(pool, "shapes");
	const struct differences differ = differences_of(shapes);
	json_t *const parts = json_array();
	const json_t *shape;
	size_t i;

	json_array_foreach(shapes, i, shape) {
		const struct part part = part_of(shape);
		char name[LT_NAME_SIZE];
		int64_t nodes = 0, more = 0;

		if ((!differ.machine && !differ.sold) ||
		    !name_part(name, lt_json_text(pool, "name", ""), &part, &differ)) {
			json_decref(parts);
			return NULL;
		}
		json_t *const one = find_or_add(parts, name, pool);
		lt_json_int(one, "nodes", &nodes);
		lt_json_int(shape, "nodes", &more);
		json_object_set_new(one, "nodes", json_integer(nodes + more));
		json_array_append(json_object_get(one, "shapes"), (json_t *)shape);
	}
	return parts;
}

/* Replaces pools of several parts by a partition for each part. */
static void
split_pools(json_t *facts)
{
	json_t *const all = json_array();
	json_t *pool;
	size_t i;

	json_array_foreach(json_object_get(facts, "partitions"), i, pool) {
		json_t *const parts = parts_of(pool);

		if (parts != NULL)
			json_array_extend(all, parts);
		else
			json_array_append(all, pool);
		json_decref(parts);
	}
	json_object_set_new(facts, "partitions", all);
}

enum { CLOUD_SIZE = 64 };

/* Amounts of dollars, whatever the site's currency. */
static const int64_t carbon_usd_micros = 100LL * LT_MICROS, budget_usd_micros = 5000LL * LT_MICROS;

#define DEFAULT_CONFIG "/etc/lowtide/lowtide.yaml"

const struct lt_cli_option lt_cli_init_options[] = {
    {"output", "FILE", "where to; - is standard output (LOWTIDE_CONFIG, " DEFAULT_CONFIG ")"},
    {"price", "PARTITION=AMOUNT,...",
	"what a whole node of it costs an hour, as gpu=6.40,cpu=0.90"},
    {"electricity", "AMOUNT", "what a kWh costs, of nodes that are the site's own"},
    {NULL, NULL, NULL},
};

/* Writes a YAML scalar: plain if it surely is a string, else quoted. */
static void
write_name(FILE *out, const char *name)
{
	bool plain = isalpha((unsigned char)name[0]) != 0;

	for (const char *c = name; *c; c++)
		plain = plain && (isalnum((unsigned char)*c) || strchr("_.-", *c) != NULL);
	for (size_t i = 0; i < 8; i++) {
		static const char *const words[] = {
		    "y", "n", "yes", "no", "on", "off", "true", "null"};

		plain = plain && strcasecmp(name, words[i]) != 0;
	}
	if (plain && strcasecmp(name, "false") != 0) {
		fputs(name, out);
		return;
	}
	fputc('"', out);
	for (const char *c = name; *c; c++) {
		if (strchr("\"\\", *c) != NULL)
			fputc('\\', out);
		fputc((unsigned char)*c < 0x20 ? '?' : *c, out);
	}
	fputc('"', out);
}

/* Returns the first Gres type of the partition's nodes; "" = no GPU. *untyped:
 * GPUs without a type. */
static const char *
gpu_type(const json_t *partition, bool *untyped)
{
	size_t index;
	const json_t *shape;

	*untyped = false;
	json_array_foreach(json_object_get(partition, "shapes"), index, shape) {
		int64_t gpus = 0;
		const char *const type = lt_json_text(shape, "gpu_type", "");

		lt_json_int(shape, "gpus", &gpus);
		if (gpus > 0 && type[0])
			return type;
		*untyped = *untyped || gpus > 0;
	}
	return "";
}

static bool
is_row(const char *name)
{
	int count;
	const struct lt_gpu *const table = lt_gpu_table(&count);

	for (int i = 0; i < count; i++)
		if (strcmp(table[i].name, name) == 0)
			return true;
	return false;
}

/* Guesses the GPU by its Gres type; "" = it may be several. Eight in a node are those on a board,
 * as no server has as many cards. */
static void
guess_gpu(char name[LT_GPU_NAME_SIZE], const json_t *partition, const char *type)
{
	const json_t *const shape = json_array_get(json_object_get(partition, "shapes"), 0);
	struct lt_gpu room;
	int64_t gpus = 0;
	int count;
	const struct lt_gpu *const table = lt_gpu_table(&count);

	name[0] = '\0';
	if (lt_gpu_find(&room, type) == NULL)
		return;
	if (lt_gpu_is_slice(type) || is_row(room.name)) {
		memcpy(name, room.name, sizeof(room.name));
		return;
	}
	if (!lt_json_int(shape, "gpus", &gpus) || gpus != 8 || strcasestr(type, "pci") != NULL)
		return;
	for (int i = 0; i < count; i++)
		if (lt_gpu_may_be(type, &table[i]) && strstr(table[i].name, "-SXM") != NULL &&
		    table[i].memory_mib == room.memory_mib) {
			memcpy(name, table[i].name, sizeof(table[i].name));
			return;
		}
}

/* "#gpu: A100-PCIE-40GB # Gres type a100: or A100-SXM4-40GB: which is it?" */
static void
write_question(FILE *out, const char *type)
{
	const char *before = "    #gpu: ";
	int count, found = 0;
	const struct lt_gpu *const table = lt_gpu_table(&count);

	for (int i = 0; i < count; i++) {
		if (type[0] == '\0' || !lt_gpu_may_be(type, &table[i]))
			continue;
		fprintf(out, "%s%s", before, table[i].name);
		if (found++ == 0)
			fprintf(out, " # Gres type %s, or", type);
		before = found == 1 ? " " : ", ";
	}
	if (found == 0)
		fprintf(out, "    #gpu: H100-SXM5 # %s%s",
		    type[0] ? "Gres type " : "Gres without a type", type);
	fputs(": which is it?\n", out);
}

/* True for names of partitions that often lose their nodes. */
static bool
sounds_preemptible(const char *name)
{
	static const char *const words[] = {
	    "spot", "preempt", "scaveng", "low", "backfill", "idle", "besteffort", NULL};

	for (const char *const *word = words; *word != NULL; word++)
		if (strcasestr(name, *word) != NULL)
			return true;
	return false;
}

/* Returns the features of its nodes that the cloud gave the cluster; "" = none. */
static const char *
cloud_of(const json_t *partition)
{
	return lt_json_text(
	    json_array_get(json_object_get(partition, "shapes"), 0), "features", "");
}

static void
write_partition(
    FILE *out, const json_t *partition, const char *source, const struct lt_init_site *site)
{
	const char *const cloud = site->is_kubernetes ? cloud_of(partition) : "";
	bool untyped;
	const char *const type = gpu_type(partition, &untyped);
	char gpu[LT_GPU_NAME_SIZE];
	/* With a price jobs may be moved there; the nodes may not stay. */
	const bool priced = lt_init_is_said(partition, site);
	int64_t nodes = 0;

	guess_gpu(gpu, partition, type);
	lt_json_int(partition, "nodes", &nodes);
	fputs("  ", out);
	write_name(out, lt_json_text(partition, "name", ""));
	fprintf(out, ": # %lld node%s%s%s%s\n", (long long)nodes, nodes == 1 ? "" : "s",
	    cloud[0] != '\0' ? ", " : "", cloud,
	    json_is_true(json_object_get(partition, "default")) ? ", Slurm's default" : "");
	fprintf(out, "    pue: 1.2 # energy at the meter over energy at the plug: yours\n");
	if (source != NULL)
		fprintf(out, "    carbon: %s\n", source);
	else
		fputs("    #carbon: 230 # g CO2e per kWh of your grid\n", out);
	if (gpu[0] != '\0')
		fprintf(out, "    gpu: %s # guessed from Gres type %s\n", gpu, type);
	else if (type[0] || untyped)
		write_question(out, type);
	if (type[0] || untyped)
		fputs("    accepts: [gpu] # jobs moved here; [gpu, cpu]: those without GPUs too\n",
		    out);
	lt_init_price_of(out, partition, site);
	if (!site->is_kubernetes && sounds_preemptible(lt_json_text(partition, "name", "")))
		fprintf(out,
		    "    # Are its nodes taken back, or its jobs preempted? How often, by\n"
		    "    # node and hour, and how long until a job works again?\n"
		    "    %spreemptible: {interruptions_per_hour: 0.004, notice: 2m, restart: 6m}%s\n",
		    priced ? "" : "#", priced ? " # guessed from its name" : "");
}

/* True if Slurm gives jobs without --time no limit in one of them. */
static bool
has_unlimited(const json_t *partitions)
{
	size_t index;
	const json_t *partition;

	json_array_foreach(partitions, index, partition)
		if (json_is_false(json_object_get(partition, "limited")))
			return true;
	return false;
}

/* Writes the team's line to uncomment; the first one shows all its keys. */
static void
write_budget(FILE *out, const char *team, bool first, const struct lt_init_site *site)
{
	char amount[LT_INIT_AMOUNT_SIZE];

	fputs("#  - {team: ", out);
	write_name(out, team);
	fprintf(out, ", period: month, amount: %s%s}\n",
	    lt_init_amount(amount, budget_usd_micros, site),
	    first ? ", kg_co2e: 900,\n"
		    "#     on_exceed: warn, alert_at: [50, 80, 100]"
		  : "");
}

/* Writes a line for each team but root, which is all of them. */
static void
write_budgets(FILE *out, const json_t *accounts, const struct lt_init_site *site)
{
	size_t index;
	const json_t *item;
	bool any = false;

	fputs("#budgets:\n", out);
	json_array_foreach(accounts, index, item) {
		const char *const team =
		    json_is_string(item) ? json_string_value(item) : lt_json_text(item, "name", "");

		if (team[0] == '\0' || strcmp(team, "root") == 0)
			continue;
		write_budget(out, team, !any, site);
		any = true;
	}
	if (!any)
		write_budget(out, "team", true, site);
}

/* Names that tools give to jobs whose user waits for them to start: Open OnDemand's apps,
 * JupyterHub's batchspawner, dask-jobqueue, and what their pages say for VNC, VS Code, RStudio and
 * Ray. */
static const char waited_for[] =
    "  waited-for:\n"
    "    name: [\"*sys/dashboard/*\", \"*jupyter*\", \"*notebook*\", \"*rstudio*\",\n"
    "      \"*vnc*\", \"*code?server*\", \"*vscode*\", \"*tunnel*\", \"*dask?worker*\",\n"
    "      \"*dask?scheduler*\", \"ray?*\"]\n"
    "    default: off\n";

static void
write_classes(FILE *out, const json_t *qoses)
{
	size_t index;
	const json_t *qos;

	fputs("\n# Classes of service: what may become of whose jobs. The first whose\n"
	      "# names match counts: keep jobs that a person waits for at the top.\n"
	      "# They are placed only with --carbon-aware, whatever a class below says.\n"
	      "classes:\n",
	    out);
	fputs(waited_for, out);
	json_array_foreach(qoses, index, qos) {
		fputs("#  ", out);
		write_name(out, json_string_value(qos));
		fputs(": {qos: ", out);
		write_name(out, json_string_value(qos));
		fputs(", preemptible: allowed, max_interruptions: 3}\n", out);
	}
}

static void
write_tail(FILE *out, const json_t *facts, const struct lt_init_site *site)
{
	fputs(site->is_kubernetes
		  ? "\n# Budgets: per team (a namespace that takes part). Each team\n"
		    "# is charged and reported, with a budget or without.\n"
		  : "\n# Budgets: per team (a Slurm account and all below it). Each\n"
		    "# account is charged and reported, with a budget or without.\n",
	    out);
	write_budgets(out, json_object_get(facts, "accounts"), site);
	write_classes(out, json_object_get(facts, "qoses"));
}

/* Writes the keys that hold for the whole site. */
static void
write_head(FILE *out, const json_t *facts, const struct lt_init_site *site, bool has_prices)
{
	char amount[LT_INIT_AMOUNT_SIZE], rate[LT_INIT_RATE_SIZE];

	fprintf(out,
	    "# lowtide's policy for cluster %s; man 5 lowtide.yaml.\n"
	    "# Check a change with: lowtide check FILE\n\n",
	    lt_json_text(json_object_get(facts, "conf"), "cluster", "?"));
	fputs("mode: observe              # then advise, then enforce\n", out);
	if (has_prices)
		fputs(
		    "currency: USD              # as the price lists; another needs exchange_rates:\n",
		    out);
	else
		fprintf(out, "currency: %s\n", site->currency);
	fprintf(out, "timezone: %s%s\n", site->zone[0] ? site->zone : "UTC",
	    site->zone[0] ? "" : " # this host's has no name");
	fprintf(out,
	    "carbon_price_per_tonne: %s # what a tonne of CO2e is worth to you%s\n"
	    "waiting_carbon_per_hour: 5 # g CO2e that a start must save for each hour it is later\n"
	    "max_delay: 24h             # how far a job without --deadline may move\n"
	    "stale_after: 3h            # older signals move no job\n",
	    lt_init_amount(amount, carbon_usd_micros, site),
	    lt_init_rate(rate, carbon_usd_micros, site));
	if (has_unlimited(json_object_get(facts, "partitions")))
		fputs(
		    "assume_time: 1d            # a job's time limit where neither it nor Slurm has one\n",
		    out);
}

void
lt_init_write(FILE *out, const json_t *facts, const struct lt_init_site *found)
{
	struct lt_init_site told = *found;
	const struct lt_init_site *const site = &told;
	const json_t *const partitions = json_object_get(facts, "partitions");
	size_t index;
	const json_t *partition;
	bool has_prices = false;

	json_array_foreach(partitions, index, partition)
		has_prices |= lt_init_has_price(partition, site);
	if (has_prices)
		told.currency = "USD";
	write_head(out, facts, site, has_prices);
	const char *const source = lt_init_sources(out, site);

	lt_init_prices(out, facts, site, source != NULL);
	fputs(has_prices
		  ? "\n# Prices are the cloud's list prices of a pool's first machine: yours\n"
		    "# may be others. Jobs are never moved to a partition not here.\n"
		  : "\n# Fill in what a whole node costs an hour. Without prices only\n"
		    "# carbon is shown; jobs are never moved to a partition not here.\n",
	    out);
	fputs("partitions:\n", out);
	json_array_foreach(partitions, index, partition)
		write_partition(out, partition, source, site);
	write_tail(out, facts, site);
}

/* Reads the maker of this machine from its firmware, where clouds name themselves. */
static void
find_vendor(char *out, size_t size)
{
	FILE *const in = fopen("/sys/class/dmi/id/sys_vendor", "re");

	if (in == NULL || fgets(out, (int)size, in) == NULL)
		out[0] = '\0';
	out[strcspn(out, "\n")] = '\0';
	if (in != NULL)
		fclose(in);
}

/* Reads the cloud's region of this machine, which cloud-init has left in a file. */
static void
find_region(char *out, size_t size)
{
	json_t *const facts = json_load_file("/run/cloud-init/instance-data.json", 0, NULL);

	snprintf(out, size, "%s", lt_json_text(json_object_get(facts, "v1"), "region", ""));
	json_decref(facts);
}

/* Takes vendor and region from the cluster's nodes, wherever this runs. */
static void
take_cloud(const json_t *facts, char vendor[CLOUD_SIZE], char region[CLOUD_SIZE])
{
	const json_t *const conf = json_object_get(facts, "conf");
	const char *const cloud = lt_json_text(conf, "cloud", "");

	if (cloud[0] == '\0')
		return;
	snprintf(vendor, CLOUD_SIZE, "%s", cloud);
	snprintf(region, CLOUD_SIZE, "%s", lt_json_text(conf, "region", ""));
}

static bool
is_kubernetes(const json_t *facts)
{
	return strcmp(lt_json_text(json_object_get(facts, "conf"), "system", ""), "kubernetes") ==
	       0;
}

/* Writes a new file, and its directory; fails if the file exists. */
static int
save_file(const char *path, const char *text, size_t length, struct lt_error *err)
{
	char parent[4096];

	snprintf(parent, sizeof(parent), "%s", path);
	char *const slash = strrchr(parent, '/');

	if (slash != NULL && slash != parent) {
		*slash = '\0';
		if (mkdir(parent, 0755) && errno != EEXIST)
			return lt_fail(err, LT_EIO, "%s: %s", parent, strerror(errno));
	}
	const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);

	if (fd < 0 && errno == EEXIST)
		return lt_fail(err, LT_EINPUT, "%s is there already; --output names another", path);
	if (fd < 0)
		return lt_fail(err, LT_EIO, "%s: %s", path, strerror(errno));
	const bool ok = write(fd, text, length) == (ssize_t)length;
	const int code = errno;

	if (close(fd) || !ok) {
		unlink(path);
		return lt_fail(err, LT_EIO, "%s: %s", path, strerror(code));
	}
	return LT_OK;
}

/* Checks the text as "lowtide check" does: an odd partition name is found here and not when
 * lowtided starts. */
static int
check_text(const char *text, size_t length, struct lt_error *err)
{
	struct lt_policy *policy = NULL;
	struct lt_policy_errors errors = {0};

	if (lt_policy_parse_all(&policy,
		&(struct lt_policy_text){.name = "the new file", .bytes = text, .length = length},
		lt_adapter_names(), &errors) == LT_OK)
		lt_check_sources(policy, &errors);
	lt_policy_free(policy);
	if (errors.count > 0)
		*err = errors.items[0];
	return err->code;
}

int
lt_cli_init(const struct lt_cli *cli)
{
	const char *const named = getenv("LOWTIDE_CONFIG");
	const char *path = lt_cli_value(cli, "output");
	char zone[128], currency[4], vendor[CLOUD_SIZE], region[CLOUD_SIZE], *text = NULL;
	size_t length = 0;
	json_t *facts = NULL;
	struct lt_error err = {0};

	lt_cli_whole_lines();
	if (path == NULL)
		path = named != NULL && named[0] ? named : DEFAULT_CONFIG;
	const bool to_stdout = strcmp(path, "-") == 0;

	if (!to_stdout && !access(path, F_OK))
		lt_fail(&err, LT_EINPUT, "%s is there already; --output names another", path);
	if (err.code || lt_probe_facts(&facts, &err))
		return lt_cli_fail(&err);
	FILE *const out = open_memstream(&text, &length);

	lt_host_zone(zone, sizeof(zone));
	(void)lt_init_currency(currency, zone);
	find_vendor(vendor, sizeof(vendor));
	find_region(region, sizeof(region));
	take_cloud(facts, vendor, region);
	const struct lt_init_site site = {
	    .currency = currency,
	    .zone = zone,
	    .vendor = vendor,
	    .region = region,
	    .is_kubernetes = is_kubernetes(facts),
	    .prices = lt_cli_value(cli, "price"),
	    .electricity = lt_cli_value(cli, "electricity"),
	};

	if (site.is_kubernetes)
		split_pools(facts);
	(void)lt_init_check_said(facts, &site, &err);
	if (out != NULL && !err.code)
		lt_init_write(out, facts, &site);
	json_decref(facts);
	if (out == NULL || fclose(out))
		lt_fail(&err, LT_ENOMEM, "no memory");
	else if (!err.code && check_text(text, length, &err) == LT_OK && to_stdout)
		fwrite(text, 1, length, stdout);
	else if (!err.code)
		save_file(path, text, length, &err);
	free(text);
	if (err.code)
		return lt_cli_fail(&err);
	if (!to_stdout)
		printf("%s is written. Next: fill in what is left, then\n"
		       "  lowtide check %s\n  lowtide doctor\n",
		    path, path);
	return LT_EXIT_OK;
}
