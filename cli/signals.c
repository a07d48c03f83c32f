/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lowtide signals: which form is wanted, and the first of them: all sources
 * with their present state, asked of lowtided.
 */
#include <string.h>

#include "signals.h"

const struct lt_cli_option lt_cli_signals_options[] = {
    {"errors", NULL, "how far forecasts were off, by lead time"},
    {"from", "DAY", "export: from this day or UTC time on"},
    {"to", "DAY", "export: up to this day or time, which is not in it"},
    {"format", "F", "export: csv (default) or json"},
    {"config", "FILE",
	"test: the policy file (LOWTIDE_CONFIG, /etc/lowtide/lowtide.yaml)"},
    {NULL, NULL, NULL},
};

static const struct form {
	const char *word; /* the first operand; NULL = none */
	int operands_min;
	const char *options[4]; /* that it takes, NULL ended */
	int (*run)(const struct lt_cli *cli);
} forms[] = {
    {NULL, 0, {"errors"}, lt_signals_show},
    {"export", 1, {"from", "to", "format"}, lt_signals_export},
    {"test", 2, {"config"}, lt_signals_test},
    {"adapters", 1, {NULL}, lt_signals_adapters},
};
enum { FORM_COUNT = sizeof(forms) / sizeof(forms[0]) };

static bool
takes(const struct form *form, const char *option)
{
	for (int i = 0; form->options[i]; i++)
		if (!strcmp(form->options[i], option))
			return true;
	return false;
}

/* The form that an option is for. */
static const char *
form_of(const char *option)
{
	for (int i = 0; i < FORM_COUNT; i++)
		if (forms[i].word && takes(&forms[i], option))
			return forms[i].word;
	return "nothing";
}

/* One page, its sources appended to those of *answer. */
static int
ask_page(json_t **answer, int64_t *next, const struct lt_cli *cli,
    const char *path, struct lt_error *err)
{
	char page_path[64];
	json_t *page = NULL;
	const int64_t offset = *next;

	snprintf(page_path, sizeof(page_path), "%s?offset=%lld", path,
	    (long long)offset);
	if (lt_client_call(&page, cli, "GET", page_path, NULL, err))
		return err->code;
	if (!lt_json_int(page, "next", next))
		*next = 0; /* the last one */
	json_object_del(page, "next");
	const json_t *const more = json_object_get(page, "sources");

	if (!json_is_array(more) || (*next != 0 && *next <= offset)) {
		lt_fail(err, LT_EINPUT, "signals: not a page of them");
	} else if (!*answer) {
		*answer = page;
		return LT_OK;
	} else if (json_array_extend(
		       json_object_get(*answer, "sources"), (json_t *)more)) {
		lt_fail(err, LT_ENOMEM, "signals: no memory");
	}
	json_decref(page);
	return err->code;
}

json_t *
lt_signals_ask(const struct lt_cli *cli, const char *path, struct lt_error *err)
{
	json_t *answer = NULL;
	int64_t next = 0;

	do {
		if (ask_page(&answer, &next, cli, path, err)) {
			json_decref(answer);
			return NULL;
		}
	} while (next > 0);
	return answer;
}

int
lt_signals_show(const struct lt_cli *cli)
{
	const struct lt_signals_look look = lt_signals_look(cli);
	const bool errors = lt_cli_value(cli, "errors") != NULL;
	struct lt_error err = {0};
	json_t *const answer = lt_signals_ask(
	    cli, errors ? "/v1/signals/errors" : "/v1/signals", &err);
	int result = LT_EXIT_OK;

	if (!answer)
		return lt_cli_fail(&err);
	if (cli->json)
		result = lt_cli_print_json(answer);
	else if (errors)
		lt_signals_print_errors(stdout, answer, &look);
	else
		lt_signals_print(stdout, answer, &look);
	json_decref(answer);
	return result;
}

int
lt_cli_signals(const struct lt_cli *cli)
{
	const char *const word = cli->operand_count ? cli->operands[0] : NULL;
	const struct form *form = NULL;

	for (int i = 0; i < FORM_COUNT; i++)
		if (word ? forms[i].word && !strcmp(word, forms[i].word)
			 : !forms[i].word)
			form = &forms[i];
	if (!form)
		return lt_cli_usage(cli,
		    "got \"%s\", want export, test, adapters or nothing", word);
	for (int i = 0; lt_cli_signals_options[i].name; i++)
		if (cli->values[i] &&
		    !takes(form, lt_cli_signals_options[i].name))
			return word ? lt_cli_usage(cli, "%s takes no --%s",
					  word, lt_cli_signals_options[i].name)
				    : lt_cli_usage(cli, "--%s comes after %s",
					  lt_cli_signals_options[i].name,
					  form_of(
					      lt_cli_signals_options[i].name));
	if (cli->operand_count < form->operands_min)
		return lt_cli_usage(cli, "%s wants a source's name", word);
	return form->run(cli);
}
