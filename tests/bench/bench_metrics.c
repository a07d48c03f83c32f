/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a scrape keeps lowtided from: the text of 200 teams, each with budgets in money and carbon,
 * sums of the month, and refusals. Or, with a port and a token's file, what a real lowtided there
 * takes by HTTP, from connect() to the last byte.
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "daemon.h"
#include "metrics.h"
#include "out.h"

enum { TEAMS = 200, ROUNDS = 301, EVERY_US = 20000 };

static double
now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static int
compare(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void
make_teams(struct lt_daemon *d, struct lt_policy *policy, struct lt_metrics_sums *sums)
{
	static struct lt_budget budgets[TEAMS];
	static struct lt_policy_budget rows[TEAMS];
	static struct lt_metrics_account accounts[TEAMS];

	for (int i = 0; i < TEAMS; i++) {
		struct lt_period *const p = &budgets[i].periods[0];

		snprintf(budgets[i].team, sizeof(budgets[i].team), "department-team%04d", i);
		memcpy(accounts[i].name, budgets[i].team, sizeof(accounts[i].name));
		*p = (struct lt_period){.label = "2026-11",
		    .limit = {true, true, 5000000000, 1000000000},
		    .settled = {true, true, 1234567890 + i, 987654321 - i},
		    .held = {true, true, 234567890 + i, 87654321 - i}};
		lt_counters_account(&d->tally, accounts[i].name);
		for (int k = 0; k < 3; k++)
			accounts[i].line.in[k] = (struct lt_totals){.money_micros = 1234567890 + i,
			    .carbon_mg = 987654321,
			    .energy_wh = 123456,
			    .runs = 1000 + i};
	}
	strcpy(policy->currency, "USD");
	policy->budget_count = TEAMS;
	policy->budgets = rows;
	d->site.policy = policy;
	d->budget.has_snapshot = d->budget.snapshot.ready = true;
	d->budget.snapshot.budgets = budgets;
	d->budget.snapshot.budget_count = TEAMS;
	*sums = (struct lt_metrics_sums){.has_accounts = true,
	    .window = "2026-11",
	    .account_count = TEAMS,
	    .accounts = accounts};
}

static size_t
text_of(const struct lt_daemon *d, const struct lt_metrics_sums *sums)
{
	struct lt_out out = {.most = LT_METRICS_BYTES_MAX};

	lt_metrics_text(&out,
	    &(struct lt_metrics_view){
		.d = d, .sums = sums, .has_money = true, .is_open = true, .now_utc_s = 1794000000});
	const size_t bytes = out.length;
	lt_out_free(&out);
	return bytes;
}

/* How much came; 0 = not the answer that was wanted. */
static size_t
ask(uint16_t port, const char *request)
{
	static char text[1 << 20];
	const struct sockaddr_in address = {.sin_family = AF_INET,
	    .sin_port = htons(port),
	    .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	size_t length = 0;
	ssize_t got = 0;

	if (fd >= 0 && connect(fd, (const struct sockaddr *)&address, sizeof(address)) == 0 &&
	    write(fd, request, strlen(request)) == (ssize_t)strlen(request))
		while (length < sizeof(text) &&
		       (got = read(fd, text + length, sizeof(text) - length)) > 0)
			length += (size_t)got;
	close(fd);
	return length > 6 && strncmp(text, "HTTP/1.1 200", 12) == 0 &&
		       memcmp(text + length - 6, "# EOF\n", 6) == 0
		   ? length
		   : 0;
}

static void
make_request(char *request, size_t size, const char *token_file)
{
	char token[256] = "";
	FILE *const file = fopen(token_file, "re");

	if (file == NULL || fgets(token, sizeof(token), file) == NULL) {
		fprintf(stderr, "bench_metrics: %s: no token\n", token_file);
		exit(1);
	}
	fclose(file);
	token[strcspn(token, "\n")] = '\0';
	snprintf(request, size,
	    "GET /metrics HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n\r\n", token);
}

int
main(int argc, char **argv)
{
	static struct lt_daemon d;
	static struct lt_policy policy;
	static double took_ms[ROUNDS];
	struct lt_metrics_sums sums;
	char request[512];
	const bool is_http = argc == 3;
	size_t bytes = 0;

	if (is_http)
		make_request(request, sizeof(request), argv[2]);
	else
		make_teams(&d, &policy, &sums);
	for (int i = 0; i < ROUNDS; i++) {
		const double began_ms = now_ms();

		bytes = is_http ? ask((uint16_t)atoi(argv[1]), request) : text_of(&d, &sums);
		took_ms[i] = now_ms() - began_ms;
		if (bytes == 0) {
			fprintf(stderr, "bench_metrics: no metrics there\n");
			return 1;
		}
		if (is_http)
			usleep(EVERY_US);
	}
	qsort(took_ms, ROUNDS, sizeof(*took_ms), compare);
	const double median = took_ms[ROUNDS / 2];
	printf("goal %-52s %-10.3f <=%-8d %s\n",
	    is_http ? "metrics_scrape_ms, HTTP" : "metrics_scrape_ms, text", median, 1,
	    median <= 1 ? "met" : "missed");
	printf("# %d teams, %zu KB, 99 of 100 %.3f ms\n", TEAMS, bytes / 1000,
	    took_ms[ROUNDS * 99 / 100]);
	return 0;
}
