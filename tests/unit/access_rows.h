/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who asks in test_access.c, what may stand in an answer, and of each request what each of them is
 * to be told.
 */
#ifndef LT_TEST_ACCESS_ROWS_H
#define LT_TEST_ACCESS_ROWS_H

#include <stdint.h>

#include "batch.h"

/* dept has vision and nlp below it, vision has audio. Ada and Bob are in vision, Cem and Cid in
 * nlp, Dan and Deb in audio. */
enum {
	SLURM = 64030,
	ADA = 3001000,
	BOB,
	CEM,
	CID,
	DAN,
	DEB,
	OPERATOR,
	COORDINATOR, /* of vision; in no account */
	EVE,	     /* in nothing */
};
enum { AUDIO, DEPT, NLP, VISION, ACCOUNTS };

/* What may stand in an answer: a number, or a word. */
static const struct {
	char letter;
	const char *text;
} figures[] = {
    {'a', "1000003"}, {'b', "2000029"}, {'c', "3000017"}, {'e', "5000011"}, {'d', "4000037"},
    {'f', "6000001"}, /* the runs of each */
    {'A', "user-ada"}, {'B', "user-bob"}, {'C', "user-cem"}, {'E', "user-cid"}, {'D', "user-dan"},
    {'F', "user-deb"}, {'V', "3000032"},    /* vision: a + b */
    {'N', "8000028"},			    /* nlp: c + e */
    {'U', "10000038"},			    /* audio: d + f */
    {'S', "13000070"},			    /* vision and audio */
    {'T', "21000098"},			    /* all */
    {'1', "7700001"},			    /* dept has spent, */
    {'2', "7700002"},			    /* vision, */
    {'3', "7700003"},			    /* and nlp */
    {'x', "8800001"},			    /* Ada of her cap, */
    {'y', "8800002"},			    /* and Bob of his */
    {'h', "9900001"},			    /* holds of all who wait */
    {'o', "2000028"},			    /* above holds */
    {'j', "secretada"},			    /* names of jobs */
    {'k', "secretbob"}, {'P', "592592160"}, /* paid for a node in 480 hours, */
    {'O', "571592092"},			    /* and not used; of each run 5 are
					     * no node's */
};
enum { FIGURES = sizeof(figures) / sizeof(*figures) };

static const struct {
	const char *name;
	uint32_t uid; /* of the viewer: below */
} roles[] = {
    {"root", 0},
    {"SlurmUser", SLURM},
    {"viewer", UINT32_MAX},
    {"operator", OPERATOR},
    {"coordinator", COORDINATOR},
    {"Ada, of vision", ADA},
    {"Dan, of audio below it", DAN},
    {"Cem, of nlp", CEM},
    {"Eve, of nothing", EVE},
};
enum { ROLES = sizeof(roles) / sizeof(*roles) };

#define ALL9(x) x, x, x, x, x, x, x, x, x
/* For those who see all, then one by one. */
#define TOP(x) x, x, x, x

static const struct row {
	const char *why, *method, *path, *rest, *body;
	uint32_t private_data;
	/* By role: status, and the figures in the order of the table. */
	const char *wants[ROLES];
} rows[] = {
    {"status", "GET", "/v1/status", "", "", 0,
	{TOP("200 ho"), "200 ", "200 ", "200 ", "200 ", "200 "}},
    {"budgets", "GET", "/v1/budget", "", "", 0,
	{TOP("200 123xy"), "200 2xy", "200 12x", "200 12", "200 13", "403 "}},
    {"budgets where usage is private", "GET", "/v1/budget", "", "", LT_PRIVATE_USAGE,
	{TOP("200 123xy"), "200 2xy", "200 x", "403 ", "403 ", "403 "}},
    {"budgets where accounts are private", "GET", "/v1/budget", "", "", LT_PRIVATE_ACCOUNTS,
	{TOP("200 123xy"), "200 2xy", "200 2x", "200 ", "200 3", "403 "}},
    {"alerts", "GET", "/v1/alerts", "", "", 0,
	{TOP("200 ab123"), "200 ab2", "200 a12", "200 12", "200 13", "403 "}},
    {"alerts where usage is private", "GET", "/v1/alerts", "", "", LT_PRIVATE_USAGE,
	{TOP("200 ab123"), "200 ab2", "200 a", "200 ", "200 ", "403 "}},
    {"a team's", "GET", "/v1/budget", "?team=nlp", "", 0,
	{TOP("200 3"), "404 ", "404 ", "404 ", "200 3", "403 "}},
    {"a report", "GET", "/v1/report", "?period=2026-11", "", 0,
	{TOP("200 VNUT123"), "200 VUS2", "200 V12", "200 VUS12", "200 N13", "403 "}},
    {"a report where usage is private", "GET", "/v1/report", "?period=2026-11", "",
	LT_PRIVATE_USAGE, {TOP("200 VNUT123"), "200 VUS2", "200 a", "200 d", "200 c", "403 "}},
    {"a report where accounts are private", "GET", "/v1/report", "?period=2026-11", "",
	LT_PRIVATE_ACCOUNTS, {TOP("200 VNUT123"), "200 VUS2", "200 V2", "200 U", "200 N3", "403 "}},
    {"what jobs there are is no sum", "GET", "/v1/report", "?period=2026-11", "", LT_PRIVATE_JOBS,
	{TOP("200 VNUT123"), "200 VUS2", "200 V12", "200 VUS12", "200 N13", "403 "}},
    {"a team's report", "GET", "/v1/report", "?period=2026-11&team=nlp", "", 0,
	{TOP("200 N3"), "404 ", "404 ", "404 ", "200 N3", "403 "}},
    {"a team above", "GET", "/v1/report", "?period=2026-11&team=dept", "", 0,
	{TOP("200 VNUT123"), "200 VUS2", "200 V12", "200 VUS12", "200 N13", "403 "}},
    {"with its runs", "GET", "/v1/report", "?period=2026-11&runs=all", "", 0,
	{TOP("200 abcedfABCEDFVNUT123"), "200 abdfABDFVUS2", "200 aAV12", "200 dDVUS12",
	    "200 cCN13", "403 "}},
    {"with its runs where usage is private", "GET", "/v1/report", "?period=2026-11&runs=all", "",
	LT_PRIVATE_USAGE,
	{TOP("200 abcedfABCEDFVNUT123"), "200 abdfABDFVUS2", "200 aA", "200 dD", "200 cC", "403 "}},
    {"with its runs, but no users", "GET", "/v1/report", "?period=2026-11&runs=all&users=0", "", 0,
	{TOP("200 abcedfVNUT123"), "200 abdfVUS2", "200 aV12", "200 dVUS12", "200 cN13", "403 "}},
    {"energy and carbon", "GET", "/v1/report", "?period=2026-11&carbon=1", "", 0,
	{TOP("200 VNUT123"), "200 VUS2", "200 V12", "200 VUS12", "200 N13", "403 "}},
    {"what was not used", "GET", "/v1/report", "?period=2026-11&unused=1", "", 0,
	{TOP("200 VNUT123PO"), "200 VUS2", "200 V12", "200 VUS12", "200 N13", "403 "}},
    {"what was not used is no team's", "GET", "/v1/report", "?period=2026-11&unused=1&team=nlp", "",
	0, {TOP("200 N3"), "404 ", "404 ", "404 ", "200 N3", "403 "}},
    {"each hour of its runs", "GET", "/v1/report", "?period=2026-11&carbon=hours", "", 0,
	{TOP("200 abcedfVNUT123"), "200 abdfVUS2", "200 aV12", "200 dVUS12", "200 cN13", "403 "}},
    {"each hour where usage is private", "GET", "/v1/report", "?period=2026-11&carbon=hours", "",
	LT_PRIVATE_USAGE,
	{TOP("200 abcedfVNUT123"), "200 abdfVUS2", "200 a", "200 d", "200 c", "403 "}},
    {"a page of runs", "GET", "/v1/report", "?period=2026-11&after=", "", 0,
	{TOP("200 abcedfABCEDF"), "200 abdfABDF", "200 aA", "200 dD", "200 cC", "403 "}},
    {"a page without users", "GET", "/v1/report", "?period=2026-11&after=&users=0", "", 0,
	{TOP("200 abcedf"), "200 abdf", "200 a", "200 d", "200 c", "403 "}},
    {"of a team, from a place in it", "GET", "/v1/report",
	"?period=2026-11&team=vision&limit=1&after=0.1.1.0.0.1.1.vision", "", 0,
	{TOP("200 aA"), "200 aA", "200 aA", "200 ", "404 ", "403 "}},
    {"neither one nor the other", "GET", "/v1/report", "?period=2026-11&users=2", "", 0,
	{TOP("400 "), "400 ", "400 ", "400 ", "400 ", "403 "}},
    {"by user without users", "GET", "/v1/report", "?period=2026-11&users=0&by=day;team,user", "",
	0, {TOP("400 "), "400 ", "400 ", "400 ", "400 ", "403 "}},
    {"by name", "GET", "/v1/report", "?period=2026-11&team=vision&by=name", "", 0,
	{TOP("200 VUS2"), "200 VUS2", "403 ", "403 ", "404 ", "403 "}},
    {"by something else where usage is private", "GET", "/v1/report", "?period=2026-11&by=day", "",
	LT_PRIVATE_USAGE, {TOP("200 VNUT123"), "200 VUS2", "403 ", "403 ", "403 ", "403 "}},
    {"Ada's job", "GET", "/v1/explain/", "101", "", 0,
	{TOP("200 aA"), "200 aA", "200 aA", "403 ", "403 ", "403 "}},
    {"Dan's job", "GET", "/v1/explain/", "104", "", 0,
	{TOP("200 dD"), "200 dD", "403 ", "200 dD", "403 ", "403 "}},
    {"Bob's job where jobs are private", "GET", "/v1/explain/", "102", "", LT_PRIVATE_JOBS,
	{TOP("200 bB"), "200 bB", "404 ", "404 ", "404 ", "404 "}},
    {"one's own jobs", "GET", "/v1/jobs", "", "", 0,
	{TOP("200 "), "200 ", "200 Aj", "200 D", "200 ", "200 "}},
    {"all jobs that he may see", "GET", "/v1/jobs", "?all=1", "", 0,
	{TOP("200 ABDjk"), "200 ABDjk", "200 Aj", "200 D", "200 ", "200 "}},
    {"Bob's jobs", "GET", "/v1/jobs", "?user=3001001", "", 0,
	{TOP("200 Bk"), "200 Bk", "403 ", "403 ", "403 ", "403 "}},
    {"jobs in an account that she does not coordinate", "GET", "/v1/jobs", "?user=3001002", "",
	LT_PRIVATE_JOBS, {TOP("200 "), "200 ", "403 ", "403 ", "200 ", "403 "}},
    {"one job of Bob's", "GET", "/v1/jobs/", "202", "", 0,
	{TOP("200 Bk"), "200 Bk", "403 ", "403 ", "403 ", "403 "}},
    {"one where jobs are private", "GET", "/v1/jobs/", "202", "", LT_PRIVATE_JOBS,
	{TOP("200 Bk"), "200 Bk", "404 ", "404 ", "404 ", "404 "}},
    {"a run of Ada's", "GET", "/v1/jobs/", "101", "", 0,
	{TOP("200 aA"), "200 aA", "200 aA", "403 ", "403 ", "403 "}},
    {"Ada's job at once", "POST", "/v1/now/", "101", "", 0,
	{"409 ", "409 ", "403 ", "403 ", "403 ", "409 ", "403 ", "403 ", "403 "}},
    {"at once where jobs are private", "POST", "/v1/now/", "101", "", LT_PRIVATE_JOBS,
	{"409 ", "409 ", "403 ", "403 ", "404 ", "409 ", "404 ", "404 ", "404 "}},
    {"Ada's job as a canary", "POST", "/v1/canary/", "101", "", 0,
	{"409 ", "409 ", "403 ", "403 ", "403 ", "409 ", "403 ", "403 ", "403 "}},
    {"how far jobs are", "POST", "/v1/progress", "", "{\"node\":\"v1\",\"jobs\":[]}", 0,
	{"200 ", "200 ", "403 ", "403 ", "403 ", "403 ", "403 ", "403 ", "403 "}},
    {"one's own lengths", "GET", "/v1/history", "", "", 0,
	{TOP("200 "), "200 ", "200 j", "200 ", "200 ", "200 "}},
    {"Bob's lengths", "GET", "/v1/history", "?user=3001001", "", 0,
	{TOP("200 k"), "403 ", "403 ", "403 ", "403 ", "403 "}},
    {"the balance of vision", "GET", "/v1/balance", "?account=vision", "", 0,
	{TOP("200 2"), "404 ", "200 2", "404 ", "404 ", "404 "}},
    {"the balance where usage is private", "GET", "/v1/balance", "?account=vision", "",
	LT_PRIVATE_USAGE, {TOP("200 2"), "404 ", "200 ", "404 ", "404 ", "404 "}},
    {"Ada's balance for another", "GET", "/v1/balance", "?account=vision&uid=3001000", "", 0,
	{"200 2", "200 2", "403 ", "403 ", "403 ", "403 ", "403 ", "403 ", "403 "}},
    {"the rebuild", "GET", "/v1/rebuild", "", "", 0,
	{"200 ", "200 ", "403 ", "403 ", "403 ", "403 ", "403 ", "403 ", "403 "}},
    {"a reload", "POST", "/v1/reload", "", "", 0,
	{"409 ", "409 ", "403 ", "403 ", "403 ", "403 ", "403 ", "403 ", "403 "}},
    {"a rebuild", "POST", "/v1/rebuild", "", "", 0,
	{"503 ", "503 ", "403 ", "403 ", "403 ", "403 ", "403 ", "403 ", "403 "}},
    {"notices", "GET", "/v1/notice", "", "", 0,
	{"200 ", "200 ", "403 ", "403 ", "403 ", "403 ", "403 ", "403 ", "403 "}},
    {"a notice without an end", "POST", "/v1/notice", "", "{\"node\":\"v1\"}", 0,
	{"400 ", "400 ", "403 ", "403 ", "403 ", "403 ", "403 ", "403 ", "403 "}},
    {"balances", "GET", "/v1/balances", "", "", 0, {ALL9("200 ")}},
    {"what is closed", "GET", "/v1/closed", "", "", 0, {ALL9("200 ")}},
    {"close", "POST", "/v1/close", "", "{\"period\":\"2099-10\"}", 0,
	{"409 ", "409 ", "403 ", "403 ", "403 ", "403 ", "403 ", "403 ", "403 "}},
    {"open again", "POST", "/v1/reopen", "", "{\"period\":\"2099-10\",\"reason\":\"r\"}", 0,
	{"400 ", "400 ", "403 ", "403 ", "403 ", "403 ", "403 ", "403 ", "403 "}},
    {"the market", "GET", "/v1/market", "", "", 0, {ALL9("503 ")}},
    {"a plan", "POST", "/v1/plan", "", "{}", 0, {ALL9("503 ")}},
    {"a manifest, before there is a market", "POST", "/v1/plan/manifest", "", "{}", 0,
	{ALL9("503 ")}},
    {"a plan for another", "POST", "/v1/plan", "?uid=3001000", "{}", 0,
	{"503 ", "503 ", "403 ", "403 ", "403 ", "403 ", "403 ", "403 ", "403 "}},
    {"signals", "GET", "/v1/signals", "", "", 0, {ALL9("200 ")}},
    {"points", "GET", "/v1/signals/export", "?source=none", "", 0, {ALL9("404 ")}},
    {"errors", "GET", "/v1/signals/errors", "", "", 0, {ALL9("200 ")}},
    /* What changes something goes last. */
    {"adjust", "POST", "/v1/budget/adjust", "",
	"{\"team\":\"nlp\",\"money_micros\":5,\"reason\":\"r\"}", 0,
	{"200 ", "200 ", "403 ", "403 ", "403 ", "403 ", "403 ", "403 ", "403 "}},
    {"moved", "POST", "/v1/budget/moved", "", "{\"account\":\"nlp\"}", 0,
	{"404 ", "404 ", "403 ", "403 ", "403 ", "403 ", "403 ", "403 ", "403 "}},
    {"forget", "POST", "/v1/history/forget", "", "{\"user\":\"3001001\"}", 0,
	{"200 ", "200 ", "403 ", "403 ", "403 ", "403 ", "403 ", "403 ", "403 "}},
};
enum { ROWS = sizeof(rows) / sizeof(*rows) };

#endif
