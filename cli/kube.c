/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lowtide kube manifest: prints packaging/kubernetes as one file for kubectl, with the admission
 * policies that the cluster's version has and with the site's own names.
 *
 * The Makefile compiles the files in, each after a line with its path. A line that ends in "#
 * --option" has the default of that option in it. Reads nothing else; fails only on a wrong option
 * or if standard output can't be written.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "kube_manifest_options.h"

#define FILE_MARK "# packaging/kubernetes/"
#define OPTION_MARK " # --"
#define DEFAULT_NAMESPACE "lowtide"
#define DEFAULT_IMAGE "lowtide:" LT_VERSION

enum { LINE_SIZE = 256, TEXT_MAX = 253 };

static const char manifest[] = {
#include "kube_manifest.h"
    '\0'};

const struct lt_cli_option lt_cli_kube_options[] = {
    {"kubernetes-version", "V", "of the cluster (1.36): it chooses policies"},
    {"namespace", "N", "of lowtide itself (" DEFAULT_NAMESPACE ")"},
    {"image", "I", "of your registry (" DEFAULT_IMAGE ")"},
    {"on-unknown", "W", "admit (the default) or refuse Jobs while balances are not known"},
    {"pool-label", "L", "of nodes: names their pool (the clouds' own)"},
    {"team-label", "L", "of namespaces: names their team (their own name)"},
    {"dry-run-pods", NULL, "what webhooks add to pods is held for: an account more, for dry runs"},
    {NULL, NULL, NULL},
};

struct change {
	const char *option, *from, *to;
};
enum { CHANGES_MAX = 9 };

static const char *
or_else(const char *text, const char *otherwise)
{
	return text != NULL ? text : otherwise;
}

/* Prints a line of length bytes without its option mark, and with the value of that option. */
static void
write_line(FILE *out, const char *line, size_t length, const struct change *changes)
{
	char text[LINE_SIZE];

	snprintf(text, sizeof(text), "%.*s", (int)length, line);
	char *const mark = strstr(text, OPTION_MARK);

	if (mark == NULL) {
		fprintf(out, "%.*s\n", (int)length, line);
		return;
	}
	const char *const option = mark + strlen(OPTION_MARK);

	*mark = '\0';
	for (int i = 0; changes[i].option != NULL; i++) {
		char *const at = strstr(text, changes[i].from);

		if (strcmp(changes[i].option, option) != 0 || at == NULL)
			continue;
		fprintf(out, "%.*s%s%s\n", (int)(at - text), text, changes[i].to,
		    at + strlen(changes[i].from));
		return;
	}
	fprintf(out, "%s\n", text);
}

/* True if the site needs this file. */
static bool
is_wanted(const char *name, const struct lt_kube_site *site)
{
	static const char mutating[] = "policy-suspend.yaml",
			  validating[] = "policy-suspended.yaml", tries[] = "dry-run.yaml";
	const bool mutates = site->minor >= LT_KUBE_MINOR_MUTATES;

	if (strncmp(name, mutating, strlen(mutating)) == 0)
		return mutates;
	if (strncmp(name, validating, strlen(validating)) == 0)
		return !mutates;
	if (strncmp(name, tries, strlen(tries)) == 0)
		return site->dry_run_pods;
	return true;
}

void
lt_kube_write(FILE *out, const struct lt_kube_site *site)
{
	char pool[TEXT_MAX + 8], team[TEXT_MAX + 8];
	const struct change changes[CHANGES_MAX] = {
	    {"namespace", DEFAULT_NAMESPACE, or_else(site->namespace, DEFAULT_NAMESPACE)},
	    {"image", DEFAULT_IMAGE, or_else(site->image, DEFAULT_IMAGE)},
	    {"pool-label", "\"\"", pool},
	    {"team-label", "\"\"", team},
	    {"on-unknown", "Ignore", site->refuse ? "Fail" : "Ignore"},
	    {"on-unknown", "Allow", site->refuse ? "Deny" : "Allow"},
	    {"on-unknown", "allow", site->refuse ? "reject" : "allow"},
	    {"dry-run-pods", "\"\"", site->dry_run_pods ? "\"true\"" : "\"\""},
	};
	bool wanted = false;

	snprintf(pool, sizeof(pool), "\"%s\"", or_else(site->pool_label, ""));
	snprintf(team, sizeof(team), "\"%s\"", or_else(site->team_label, ""));
	fprintf(out, "# lowtide %s on Kubernetes 1.%d%s\n", LT_VERSION, site->minor,
	    site->minor >= LT_KUBE_MINOR_MUTATES ? " or later" : "");
	for (const char *line = manifest; *line;) {
		const size_t length = strcspn(line, "\n");

		if (strncmp(line, FILE_MARK, strlen(FILE_MARK)) == 0) {
			wanted = is_wanted(line + strlen(FILE_MARK), site);
			if (wanted)
				fputs("---\n", out);
		}
		if (wanted)
			write_line(out, line, length, changes);
		line += length + (line[length] == '\n');
	}
}

int
lt_kube_minor(const char *version)
{
	const char *at = version + (version[0] == 'v');
	char *end;

	if (strncmp(at, "1.", 2) != 0 || !isdigit((unsigned char)at[2]))
		return -1;
	const long minor = strtol(at + 2, &end, 10);

	if ((*end && strchr(".+-", *end) == NULL) || minor > 999)
		return -1;
	return (int)minor;
}

/* True if text has only letters, digits and the others, so that YAML needs no quotes. */
static bool
is_name(const char *text, const char *others, size_t length_max)
{
	for (const char *c = text; *c; c++)
		if (!isalnum((unsigned char)*c) && strchr(others, *c) == NULL)
			return false;
	return strlen(text) <= length_max && isalnum((unsigned char)text[0]);
}

static bool
is_namespace(const char *text)
{
	for (const char *c = text; *c; c++)
		if (isupper((unsigned char)*c))
			return false;
	return is_name(text, "-", 63) && text[strlen(text) - 1] != '-';
}

static int
refuse_option(const struct lt_cli *cli, const char *option, const char *want)
{
	return lt_cli_usage(
	    cli, "--%s: got \"%.60s\", want %s", option, lt_cli_value(cli, option), want);
}

/* Exit status; the texts are the caller's arguments. */
static int
read_options(struct lt_kube_site *site, const struct lt_cli *cli)
{
	const char *const version = lt_cli_value(cli, "kubernetes-version");
	const char *const unknown = lt_cli_value(cli, "on-unknown");

	*site = (struct lt_kube_site){
	    .minor = version != NULL ? lt_kube_minor(version) : (int)LT_KUBE_MINOR_MUTATES,
	    .namespace = lt_cli_value(cli, "namespace"),
	    .image = lt_cli_value(cli, "image"),
	    .pool_label = lt_cli_value(cli, "pool-label"),
	    .team_label = lt_cli_value(cli, "team-label"),
	    .refuse = unknown != NULL && strcmp(unknown, "refuse") == 0,
	    .dry_run_pods = lt_cli_value(cli, "dry-run-pods") != NULL,
	};
	if (site->minor < 0)
		return refuse_option(cli, "kubernetes-version", "one such as 1.36");
	if (site->minor < LT_KUBE_MINOR_MIN)
		return refuse_option(
		    cli, "kubernetes-version", "1.30 or later: admission policies came with it");
	if (site->namespace != NULL && !is_namespace(site->namespace))
		return refuse_option(cli, "namespace", "a name such as lowtide");
	if (site->image != NULL && !is_name(site->image, "-._/:@", TEXT_MAX))
		return refuse_option(cli, "image", "one such as registry.example.org/lowtide:1");
	if (site->pool_label != NULL && !is_name(site->pool_label, "-._/", TEXT_MAX))
		return refuse_option(cli, "pool-label", "a label such as example.org/pool");
	if (site->team_label != NULL && !is_name(site->team_label, "-._/", TEXT_MAX))
		return refuse_option(cli, "team-label", "a label such as example.org/team");
	if (unknown != NULL && !site->refuse && strcmp(unknown, "admit") != 0)
		return refuse_option(cli, "on-unknown", "admit or refuse");
	return LT_EXIT_OK;
}

int
lt_cli_kube(const struct lt_cli *cli)
{
	struct lt_kube_site site;

	if (strcmp(cli->operands[0], "manifest") != 0)
		return lt_cli_usage(cli, "got \"%s\", want manifest", cli->operands[0]);
	const int status = read_options(&site, cli);

	if (status != LT_EXIT_OK)
		return status;
	lt_cli_whole_lines();
	lt_kube_write(stdout, &site);
	if (fflush(stdout) != 0)
		return lt_cli_fail(&(struct lt_error){.text = "can't write the manifests"});
	return LT_EXIT_OK;
}
