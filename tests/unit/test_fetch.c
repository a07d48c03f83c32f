/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The child that fetches: its points and its errors arrive whole, its death is an error of that
 * source only, the next one is fetched, and stopping waits for none. What it loads is not loaded
 * here.
 */
#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "fetch.h"
#include "http.h"

enum { MANY = 40000 }; /* far more than a pipe holds */

static int
some(const struct lt_source_options *options, const struct lt_window *window,
    struct lt_points *points, struct lt_error *err)
{
	(void)options;
	points->quantity = LT_QUANTITY_TARIFF;
	strcpy(points->note, "a note");
	for (int i = MANY; i-- > 0;) { /* it sorts */
		const struct lt_point point = {.value = i,
		    .start_utc_s = window->from_utc_s + i,
		    .end_utc_s = window->from_utc_s + i + 1,
		    .quality = LT_QUALITY_MEASURED};
		const int code = lt_points_add(points, &point, err);

		if (code != LT_OK)
			return code;
	}
	return LT_OK;
}

static int
none(const struct lt_source_options *options, const struct lt_window *window,
    struct lt_points *points, struct lt_error *err)
{
	(void)options;
	(void)window;
	points->retry_after_s = 77;
	return lt_fail(err, LT_ENET, "host: no answer");
}

static int
dies(const struct lt_source_options *options, const struct lt_window *window,
    struct lt_points *points, struct lt_error *err)
{
	(void)err;
	raise(SIGKILL);
	return some(options, window, points, err);
}

static int
leaves(const struct lt_source_options *options, const struct lt_window *window,
    struct lt_points *points, struct lt_error *err)
{
	(void)options;
	(void)window;
	(void)points;
	(void)err;
	_exit(0);
}

static int
hangs(const struct lt_source_options *options, const struct lt_window *window,
    struct lt_points *points, struct lt_error *err)
{
	for (;;)
		pause();
	return some(options, window, points, err);
}

static int
hangs_if_named(const struct lt_source_options *options, const struct lt_window *window,
    struct lt_points *points, struct lt_error *err)
{
	return strcmp(options->name, "silent") == 0 ? hangs(options, window, points, err)
						    : some(options, window, points, err);
}

static int
asks(const struct lt_source_options *options, const struct lt_window *window,
    struct lt_points *points, struct lt_error *err)
{
	const struct lt_http_request request = {.url = "http://127.0.0.1:1/", .direct = true};
	struct lt_http_response response;

	(void)options;
	(void)window;
	(void)points;
	const int code = lt_http_do(&request, &response, err);
	lt_http_free(&response);
	return code;
}

static const struct {
	const char *why;
	struct lt_adapter adapter;
	int code;
	size_t count;
	int64_t retry_after;
	const char *text;
} cases[] = {
    {"all points", {.name = "some", .fetch = some}, LT_OK, MANY, 0, ""},
    {"an error, and the pause it asks for", {.name = "none", .fetch = none}, LT_ENET, 0, 77,
	"host: no answer"},
    {"killed", {.name = "dies", .fetch = dies}, LT_EIO, 0, 0, "the fetch was ended by signal 9"},
    {"ended early", {.name = "leaves", .fetch = leaves}, LT_EIO, 0, 0, "the fetch gave no result"},
    {"and the next one works", {.name = "some", .fetch = some}, LT_OK, MANY, 0, ""},
};
enum { CASES = sizeof(cases) / sizeof(*cases) };

static void
post(const struct lt_adapter *adapter, const char *source)
{
	struct lt_fetch *const fetch = calloc(1, sizeof(*fetch));

	assert_non_null(fetch);
	snprintf(fetch->source.name, sizeof(fetch->source.name), "%s", source);
	fetch->adapter = adapter;
	fetch->from_utc_s = 1000000;
	lt_fetch_post(fetch);
}

static struct lt_fetch *
wait_for_one(void)
{
	struct lt_fetch *fetch;

	while ((fetch = lt_fetch_take()) == NULL) {
		struct pollfd fds[LT_FETCH_FDS];
		const int count = lt_fetch_fds(fds);

		assert_true(count > 0);
		assert_true(poll(fds, (nfds_t)count, -1) > 0);
	}
	return fetch;
}

/* Children that run, once all but `wanted` have ended. */
static int
under_way(int wanted)
{
	struct pollfd fds[LT_FETCH_FDS];
	int count;

	while ((count = lt_fetch_fds(fds)) > wanted) {
		assert_true(poll(fds, (nfds_t)count, -1) > 0);
		assert_null(lt_fetch_take());
	}
	return count;
}

/* None is left for init, nor a descriptor of its pipe. */
static void
assert_no_children(void)
{
	assert_int_equal(under_way(0), 0);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
}

static void
check(const struct lt_fetch *f)
{
	int i = 0;

	while (&cases[i].adapter != f->adapter)
		i++;
	if (f->code != cases[i].code || f->points.count != cases[i].count ||
	    f->points.retry_after_s != cases[i].retry_after ||
	    strcmp(f->err.text, cases[i].text) != 0)
		fail_msg("%s: %d, %zu points, \"%s\"", cases[i].why, f->code, f->points.count,
		    f->err.text);
	for (size_t k = 0; k < f->points.count; k++)
		assert_true(f->points.points[k].start_utc_s == 1000000 + (int64_t)k &&
			    f->points.points[k].value == (double)k);
	if (f->code == LT_OK) {
		assert_string_equal(f->points.note, "a note");
		assert_int_equal(f->points.quantity, LT_QUANTITY_TARIFF);
	}
}

static void
test_results(void **state)
{
	bool came[CASES] = {false};

	(void)state;
	assert_no_children();
	for (int i = 0; i < CASES; i++)
		post(&cases[i].adapter, "");
	for (int i = 0; i < CASES; i++) {
		struct lt_fetch *const f = wait_for_one();

		check(f);
		for (int k = 0; k < CASES; k++)
			if (f->adapter == &cases[k].adapter) {
				assert_false(came[k]);
				came[k] = true;
			}
		lt_fetch_free(f);
	}
	assert_null(lt_fetch_take());
	assert_no_children();
}

/* A source that is silent is waited for by those of its adapter behind it, and by nobody else: not
 * by what was done before it, nor by other adapters. */
static void
test_silence(void **state)
{
	static const struct lt_adapter mixed = {.name = "mixed", .fetch = hangs_if_named};
	const struct {
		const struct lt_adapter *adapter;
		const char *source;
	} posted[] = {{&mixed, "a"}, {&mixed, "b"}, {&mixed, "silent"}, {&mixed, "c"},
	    {&cases[0].adapter, "d"}, {&cases[1].adapter, "e"}};
	char came[8] = "";

	(void)state;
	for (size_t i = 0; i < sizeof(posted) / sizeof(*posted); i++)
		post(posted[i].adapter, posted[i].source);
	for (int i = 0; i < 4; i++) {
		struct lt_fetch *const f = wait_for_one();

		assert_int_equal(strlen(f->source.name), 1);
		strcat(came, f->source.name);
		lt_fetch_free(f);
	}
	assert_true(strchr(came, 'a') < strchr(came, 'b'));
	assert_non_null(strchr(came, 'a'));
	assert_non_null(strchr(came, 'd'));
	assert_non_null(strchr(came, 'e'));
	/* Another of the silent one's adapter waits; of others, it comes. */
	post(&mixed, "f");
	post(&cases[0].adapter, "g");
	struct lt_fetch *const last = wait_for_one();
	assert_string_equal(last->source.name, "g");
	lt_fetch_free(last);
	assert_null(lt_fetch_take());
	assert_int_equal(under_way(1), 1);
	lt_fetch_stop();
	assert_no_children();
}

/* Some 3 MiB, that lowtided would be larger by. */
static void
test_libcurl(void **state)
{
	static const struct lt_adapter web = {.name = "asks", .fetch = asks};

	(void)state;
	post(&web, "");
	struct lt_fetch *const f = wait_for_one();

	assert_int_equal(f->code, LT_ENET);
	assert_memory_equal(f->err.text, "127.0.0.1: ", 11);
	lt_fetch_free(f);
	assert_no_children();
	assert_null(dlopen("libcurl.so.4", RTLD_LAZY | RTLD_NOLOAD));
}

static void
test_stop(void **state)
{
	static const struct lt_adapter endless = {.name = "hangs", .fetch = hangs};

	(void)state;
	post(&endless, "");
	post(&endless, "");
	assert_null(lt_fetch_take());
	assert_int_equal(under_way(1), 1);
	lt_fetch_stop();
	assert_null(lt_fetch_take());
	assert_no_children();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_results),
	    cmocka_unit_test(test_silence), cmocka_unit_test(test_libcurl),
	    cmocka_unit_test(test_stop)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
