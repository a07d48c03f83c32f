/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lowtide plan -f FILE: the plan of a Job or Pod that is not there, of
 * lowtided, which decides it as if it were.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "manifest.h"
#include "plan.h"

struct wanted {
	const char *file, *namespace;
	bool json;
};

bool
lt_plan_has_manifest(const struct lt_cli *cli)
{
	const char *const first =
	    cli->operand_count > 0 ? cli->operands[0] : "";

	/* sbatch has none of these alone. */
	return strcmp(first, "-f") == 0 || strcmp(first, "-n") == 0 ||
	       strcmp(first, "--json") == 0;
}

static int
parse(struct wanted *wanted, const struct lt_cli *cli)
{
	for (int i = 0; i < cli->operand_count; i++) {
		const char *const word = cli->operands[i];
		const char **const value =
		    strcmp(word, "-f") == 0 ? &wanted->file
		    : strcmp(word, "-n") == 0 ||
			    strcmp(word, "--namespace") == 0
			? &wanted->namespace
			: NULL;

		if (strcmp(word, "--json") == 0)
			wanted->json = true;
		else if (value == NULL)
			return lt_cli_usage(cli,
			    "got \"%s\", want -f FILE [-n NAMESPACE] [--json]",
			    word);
		else if (i + 1 == cli->operand_count)
			return lt_cli_usage(cli, "%s wants a value", word);
		else
			*value = cli->operands[++i];
	}
	return wanted->file != NULL
		   ? LT_EXIT_OK
		   : lt_cli_usage(cli, "want -f FILE, or - for standard input");
}

static int
read_file(char *bytes, size_t *length, const char *path, struct lt_error *err)
{
	FILE *const in = strcmp(path, "-") == 0 ? stdin : fopen(path, "re");

	if (in == NULL)
		return lt_fail(err, LT_EIO, "%s: %s", path, strerror(errno));
	/* One byte more than it may have tells that it has more. */
	*length = fread(bytes, 1, LT_MANIFEST_BYTES_MAX + 1, in);
	if (ferror(in))
		lt_fail(err, LT_EIO, "%s: can't be read", path);
	if (in != stdin)
		fclose(in);
	return err->code;
}

/* Where kubectl would create it. */
static int
set_namespace(json_t *manifest, const char *namespace, struct lt_error *err)
{
	json_t *const metadata = json_object_get(manifest, "metadata");
	const char *const own = lt_json_text(metadata, "namespace", NULL);

	if (namespace == NULL)
		return LT_OK;
	if (own != NULL && strcmp(own, namespace) != 0)
		return lt_fail(err, LT_EINPUT,
		    "-n: got \"%s\", but the manifest has namespace \"%s\"",
		    namespace, own);
	if (json_is_object(metadata))
		json_object_set_new(
		    metadata, "namespace", json_string(namespace));
	return LT_OK;
}

static int
read_manifest(
    json_t **manifest, const struct wanted *wanted, struct lt_error *err)
{
	char *const bytes = malloc(LT_MANIFEST_BYTES_MAX + 1);
	const char *const file = wanted->file;
	struct lt_manifest_text text = {
	    .name = strcmp(file, "-") == 0 ? "standard input" : file,
	    .bytes = bytes};

	if (bytes == NULL)
		return lt_fail(err, LT_ENOMEM, "no memory");
	if (read_file(bytes, &text.length, file, err) == LT_OK &&
	    lt_manifest_parse(manifest, &text, err) == LT_OK &&
	    set_namespace(*manifest, wanted->namespace, err) != LT_OK) {
		json_decref(*manifest);
		*manifest = NULL;
	}
	free(bytes);
	return err->code;
}

int
lt_plan_manifest(const struct lt_cli *cli)
{
	struct wanted wanted = {0};
	json_t *manifest = NULL, *answer = NULL;
	struct lt_error err = {0};
	int result = parse(&wanted, cli);

	if (result != LT_EXIT_OK)
		return result;
	if (read_manifest(&manifest, &wanted, &err) != LT_OK)
		return lt_cli_fail(&err);
	lt_client_post(&answer, cli, "/v1/plan/manifest", manifest, &err);
	json_decref(manifest);
	if (err.code != LT_OK)
		return lt_cli_fail(&err);
	if (wanted.json)
		result = lt_cli_print_json(answer);
	else
		lt_print_safe(stdout, lt_json_text(answer, "text", ""));
	json_decref(answer);
	return result;
}
