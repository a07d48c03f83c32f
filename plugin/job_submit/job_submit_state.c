/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * State of job_submit: loads, shares and ages the snapshots. A snapshot that can't be read leaves
 * the last good one in force; it ages, and an old balance is "unknown", never zero.
 */
#include "job_state_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "slurm_abi.h"

enum {
	REFRESH_MS = 200,
	TELL_MS = 60 * 1000,
	TELL_OFF_MS = 3600 * 1000,
};

static void
market_unref(struct lt_market_box *box)
{
	if (box != NULL && atomic_fetch_sub(&box->references, 1) == 1) {
		lt_market_free(&box->market);
		free(box);
	}
}

static void
sheet_unref(struct lt_sheet_box *box)
{
	if (box != NULL && atomic_fetch_sub(&box->references, 1) == 1) {
		lt_sheet_free(&box->snapshot);
		free(box->recent);
		free(box);
	}
}

static void
history_unref(struct lt_history_box *box)
{
	if (box != NULL && atomic_fetch_sub(&box->references, 1) == 1) {
		lt_history_close(box->file);
		free(box);
	}
}

static bool
same_file(const struct lt_file_id *a, const struct lt_file_id *b)
{
	return a->device == b->device && a->inode == b->inode && a->mtime_ns == b->mtime_ns &&
	       a->size == b->size;
}

/* True when the file is there and is not the one tried last. */
static bool
file_changed(struct lt_file_id *tried, const char *path)
{
	struct lt_file_id id = {0};

	if (!lt_file_id(&id, path) || same_file(&id, tried))
		return false;
	*tried = id;
	return true;
}

/* A window of a market's partition, into the market that it counts in. Under the mutex. Entries are
 * written before the count says so and never change, so readers need no lock. */
static void
put_window(struct lt_market_box *to, const struct lt_market *of, const struct lt_planned *window,
    int64_t booked_utc_s)
{
	const uint32_t count = atomic_load_explicit(&to->planned_count, memory_order_relaxed);
	const int partition = of == &to->market ? window->partition
						: lt_market_partition(&to->market,
						      of->partitions[window->partition].name);

	if (partition < 0 || count == LT_PLANNED_MAX)
		return;
	to->planned[count] = *window;
	to->planned[count].partition = (uint16_t)partition;
	to->booked_utc_s[count] = booked_utc_s;
	atomic_store_explicit(&to->planned_count, count + 1, memory_order_release);
}

/* Carries over bookings that are not in the new market's occupancy yet. */
static void
carry_over(struct lt_market_box *to, const struct lt_market_box *from)
{
	const uint32_t count = atomic_load_explicit(&from->planned_count, memory_order_relaxed);

	for (uint32_t i = 0; i < count; i++)
		if (from->booked_utc_s[i] > to->market.jobs_utc_s)
			put_window(to, &from->market, &from->planned[i], from->booked_utc_s[i]);
}

static void
load_market(void)
{
	struct lt_market_box *box, *old;
	struct lt_error err = {0};

	if (!file_changed(&lt_state.market_tried, lt_state.market_path))
		return;
	box = calloc(1, sizeof(*box));
	if (box == NULL)
		return;
	atomic_init(&box->references, 1);
	/* Only the refreshing thread replaces it, so it stays while we read. */
	if (lt_market_load(&box->market, lt_state.market_path,
		lt_state.market != NULL ? &lt_state.market->market : NULL, &err) != LT_OK) {
		lt_state_log("%s: %s", lt_state.market_path, err.text);
		free(box);
		return;
	}
	pthread_mutex_lock(&lt_state.mutex);
	old = lt_state.market;
	if (old != NULL)
		carry_over(box, old);
	lt_state.market = box;
	pthread_mutex_unlock(&lt_state.mutex);
	market_unref(old);
}

/* Puts it in force, or none (NULL). */
static void
replace_sheet(struct lt_sheet_box *box)
{
	struct lt_sheet_box *old;

	pthread_mutex_lock(&lt_state.mutex);
	if (box != NULL)
		lt_ring_replay(box);
	old = lt_state.snapshot;
	lt_state.snapshot = box;
	pthread_mutex_unlock(&lt_state.mutex);
	sheet_unref(old);
}

/* Returns the box, whose snapshot is complete; NULL and nothing of it without memory. */
static struct lt_sheet_box *
with_recent(struct lt_sheet_box *box)
{
	box->recent = malloc(lt_recent_size(&box->snapshot));
	if (box->recent == NULL) {
		sheet_unref(box);
		return NULL;
	}
	lt_recent_init(box->recent, &box->snapshot);
	return box;
}

/* Returns a snapshot of a file; NULL: it can't be read. */
static struct lt_sheet_box *
read_sheet(const char *path)
{
	struct lt_sheet_box *const box = calloc(1, sizeof(*box));
	struct lt_error err = {0};

	if (box == NULL)
		return NULL;
	atomic_init(&box->references, 1);
	if (lt_sheet_load(&box->snapshot, path, &err) != LT_OK) {
		lt_state_log("%s: %s", path, err.text);
		free(box);
		return NULL;
	}
	return with_recent(box);
}

static void
load_sheet(void)
{
	struct lt_sheet_box *box;

	if (!file_changed(&lt_state.sheet_tried, lt_state.sheet_path))
		return;
	box = read_sheet(lt_state.sheet_path);
	if (box == NULL)
		return;
	box->loaded_ms = lt_monotonic_ms();
	box->age_s = (int64_t)time(NULL) - box->snapshot.compiled_utc_s;
	/* Written by a clock that has been set back since: how old it is nobody knows, so it is too
	 * old. */
	if (box->age_s < -LT_CLOCKS_DIFFER_S)
		box->age_s = INT32_MAX;
	else if (box->age_s < 0)
		box->age_s = 0;
	replace_sheet(box);
}

/* Says that budgets are in force, and of nobody that none binds them. */
static struct lt_sheet_box *
all_bound(void)
{
	struct lt_sheet_box *const box = calloc(1, sizeof(*box));

	if (box == NULL)
		return NULL;
	atomic_init(&box->references, 1);
	box->snapshot.budgets = calloc(1, sizeof(*box->snapshot.budgets));
	box->snapshot.arena = box->snapshot.budgets;
	box->snapshot.budget_count = 1;
	box->snapshot.on_unknown = LT_RULE_HOLD;
	if (box->snapshot.budgets == NULL) {
		sheet_unref(box);
		return NULL;
	}
	return with_recent(box);
}

/*
 * Stands in while no snapshot was read since slurmctld's start: the run directory lists the
 * accounts that budgets bind, and one word in the state directory says whether there are budgets.
 * Without either, jobs pass; the log says so each minute.
 */
static void
load_stand_in(void)
{
	struct lt_sheet_box *box = lt_state.snapshot;

	if (box != NULL && box->snapshot.missing == NULL)
		return;
	if (file_changed(&lt_state.bound_tried, lt_state.bound_path)) {
		box = read_sheet(lt_state.bound_path);
		if (box != NULL) {
			box->snapshot.missing = "lowtided's budget snapshot can't be read";
			lt_state.in_force_tried = (struct lt_file_id){0};
			replace_sheet(box);
		}
	}
	box = lt_state.snapshot;
	if (box == NULL || box->snapshot.account_count == 0) {
		if (file_changed(&lt_state.in_force_tried, lt_state.in_force_path)) {
			box = lt_in_force_load(lt_state.in_force_path) ? all_bound() : NULL;
			if (box != NULL)
				box->snapshot.missing =
				    "budgets are in force, no snapshot can be read";
			replace_sheet(box);
		}
	}
	if (lt_state.missing_told_ms != 0 && lt_monotonic_ms() - lt_state.missing_told_ms < TELL_MS)
		return;
	lt_state.missing_told_ms = lt_monotonic_ms();
	lt_state_log("%s: %s", lt_state.sheet_path,
	    lt_state.snapshot == NULL
		? "not read since slurmctld's start; no budget is known, and jobs pass"
		: "not read since slurmctld's start; jobs that a budget binds meet on_unknown");
}

static void
load_history(void)
{
	struct lt_history_box *box, *old;
	struct lt_error err = {0};

	if (!file_changed(&lt_state.history_tried, lt_state.history_path))
		return;
	box = calloc(1, sizeof(*box));
	if (box == NULL)
		return;
	atomic_init(&box->references, 1);
	if (lt_history_open(&box->file, lt_state.history_path, &err) != LT_OK) {
		lt_state_log("%s: %s", lt_state.history_path, err.text);
		free(box);
		return;
	}
	pthread_mutex_lock(&lt_state.mutex);
	old = lt_state.history;
	lt_state.history = box;
	pthread_mutex_unlock(&lt_state.mutex);
	history_unref(old);
}

/* The off switch; slurmctld's log says at each change, and each hour, what is in force. */
static void
load_off(void)
{
	char text[LT_ERROR_TEXT_SIZE];
	struct lt_off off = lt_state.off;
	struct lt_error err = {0};
	struct lt_file_id id = {0};
	const bool was_off = off.is_off;

	if (!lt_file_id(&id, lt_state.off_path)) {
		off = (struct lt_off){0};
		lt_state.off_tried = id;
	} else if (file_changed(&lt_state.off_tried, lt_state.off_path) &&
		   lt_off_read(&off, lt_state.off_path, &err) != LT_OK) {
		lt_state_log("%s", err.text);
	}
	pthread_mutex_lock(&lt_state.mutex);
	lt_state.off = off;
	pthread_mutex_unlock(&lt_state.mutex);
	if (was_off && !off.is_off)
		lt_state_log("switched on again");
	if (!off.is_off || (was_off && lt_monotonic_ms() - lt_state.off_told_ms < TELL_OFF_MS))
		return;
	lt_state.off_told_ms = lt_monotonic_ms();
	lt_state_log("off %s; jobs pass as without lowtide", lt_off_text(text, sizeof(text), &off));
}

void
lt_state_refresh(void)
{
	const int64_t now_ms = lt_monotonic_ms();
	long long due_ms = atomic_load(&lt_state.refresh_due_ms);

	if (now_ms < due_ms ||
	    !atomic_compare_exchange_strong(&lt_state.refresh_due_ms, &due_ms, now_ms + REFRESH_MS))
		return;
	/* A load that takes longer than the interval must not meet itself. */
	if (atomic_flag_test_and_set(&lt_state.refreshing))
		return;
	load_off();
	load_market();
	load_sheet();
	load_stand_in();
	load_history();
	lt_ring_attach();
	atomic_flag_clear(&lt_state.refreshing);
}

static void
path_of(char out[LT_PATH_SIZE], const char *variable, const char *fallback, const char *file)
{
	const char *directory = getenv(variable);

	if (directory == NULL || directory[0] != '/')
		directory = fallback;
	if (snprintf(out, LT_PATH_SIZE, "%s/%s", directory, file) >= LT_PATH_SIZE)
		out[0] = '\0';
}

void
lt_state_fini(void)
{
	market_unref(lt_state.market);
	sheet_unref(lt_state.snapshot);
	history_unref(lt_state.history);
	lt_state.market = NULL;
	lt_state.snapshot = NULL;
	lt_state.history = NULL;
	lt_ring_detach();
}

void
lt_state_init(void)
{
	uint64_t base = 0;

	lt_state_fini();
	lt_state.off = (struct lt_off){0};
	memset(&lt_state.off_tried, 0, sizeof(lt_state.off_tried));
	memset(&lt_state.market_tried, 0, sizeof(lt_state.market_tried));
	memset(&lt_state.sheet_tried, 0, sizeof(lt_state.sheet_tried));
	memset(&lt_state.bound_tried, 0, sizeof(lt_state.bound_tried));
	memset(&lt_state.in_force_tried, 0, sizeof(lt_state.in_force_tried));
	memset(&lt_state.history_tried, 0, sizeof(lt_state.history_tried));
	path_of(lt_state.market_path, "LOWTIDE_RUN_DIR", "/run/lowtide", LT_MARKET_FILE);
	path_of(lt_state.sheet_path, "LOWTIDE_STATE_DIR", "/var/lib/lowtide", LT_SHEET_FILE);
	path_of(lt_state.bound_path, "LOWTIDE_RUN_DIR", "/run/lowtide", LT_BOUND_FILE);
	path_of(lt_state.in_force_path, "LOWTIDE_STATE_DIR", "/var/lib/lowtide", LT_IN_FORCE_FILE);
	path_of(lt_state.terms_path, "LOWTIDE_STATE_DIR", "/var/lib/lowtide", LT_TERMS_FILE);
	path_of(lt_state.history_path, "LOWTIDE_STATE_DIR", "/var/lib/lowtide", LT_HISTORY_FILE);
	path_of(lt_state.ring_path, "LOWTIDE_STATE_DIR", "/var/lib/lowtide", LT_RING_FILE);
	const char *const off = getenv(LT_OFF_VARIABLE);
	(void)snprintf(lt_state.off_path, LT_PATH_SIZE, "%s",
	    off != NULL && off[0] == '/' ? off : LT_OFF_PATH);
	if (getrandom(&base, sizeof(base), GRND_NONBLOCK) != (ssize_t)sizeof(base))
		base = (uint64_t)time(NULL) << 32 ^ (uint64_t)getpid();
	atomic_store(&lt_state.next_quote_id, base);
	atomic_store(&lt_state.refresh_due_ms, INT64_MIN);
	lt_state_refresh();
}

const char *
lt_state_terms_path(void)
{
	return lt_state.terms_path;
}

void
lt_state_view(struct lt_view *view)
{
	memset(view, 0, sizeof(*view));
	pthread_mutex_lock(&lt_state.mutex);
	view->off = lt_state.off;
	if (lt_state.market != NULL) {
		view->market_box = lt_state.market;
		atomic_fetch_add(&view->market_box->references, 1);
	}
	if (lt_state.snapshot != NULL) {
		view->sheet_box = lt_state.snapshot;
		atomic_fetch_add(&view->sheet_box->references, 1);
	}
	if (lt_state.history != NULL) {
		view->history_box = lt_state.history;
		atomic_fetch_add(&view->history_box->references, 1);
	}
	pthread_mutex_unlock(&lt_state.mutex);
	if (view->market_box != NULL) {
		view->market = &view->market_box->market;
		view->planned = view->market_box->planned;
		view->planned_count =
		    atomic_load_explicit(&view->market_box->planned_count, memory_order_acquire);
	}
	if (view->sheet_box != NULL)
		view->snapshot = &view->sheet_box->snapshot;
	if (view->history_box != NULL)
		view->history = view->history_box->file;
}

void
lt_state_release(struct lt_view *view)
{
	market_unref(view->market_box);
	sheet_unref(view->sheet_box);
	history_unref(view->history_box);
	memset(view, 0, sizeof(*view));
}

void
lt_state_book(const struct lt_view *view, const struct lt_planned *window)
{
	if (view->market == NULL)
		return;
	/* Into what the next one sees: the view's may have been replaced. */
	pthread_mutex_lock(&lt_state.mutex);
	if (lt_state.market != NULL)
		put_window(lt_state.market, view->market, window, (int64_t)time(NULL));
	pthread_mutex_unlock(&lt_state.mutex);
}
