/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Holds money for a job: judges it against the snapshot and the holds since, gives the hold a
 * sequence, and writes it into the ring before the job exists. The mirror in memory equals the
 * ring, so that a new snapshot needs no file read. A record that can't be written makes every
 * balance unknown until a later try succeeds.
 */
#include "job_state_internal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "slurm_abi.h"

/* A ring that is replaced again and again is somebody's mistake: after this many the balance stays
 * unknown until slurmctld restarts. */
enum { RING_OPENED_MAX = 64 };

static struct lt_ring_record *
slot_of(uint64_t sequence)
{
	return &lt_state.mirror[sequence % LT_RING_SLOTS];
}

/* Amount of all tasks; false when it passes int64_t. */
static bool
whole_amount(struct lt_amount *whole, const struct lt_amount *per_task, uint32_t tasks)
{
	*whole = *per_task;
	return !__builtin_mul_overflow(
		   per_task->money_micros, (int64_t)tasks, &whole->money_micros) &&
	       !__builtin_mul_overflow(per_task->carbon_mg, (int64_t)tasks, &whole->carbon_mg);
}

static bool
hold_of(struct lt_hold *hold, const struct lt_ring_record *record,
    const struct lt_budget_snapshot *snapshot)
{
	memset(hold, 0, sizeof(*hold));
	hold->uid = record->uid;
	hold->account = lt_sheet_account(snapshot, record->account);
	hold->start_utc_s = record->start_utc_s;
	hold->end_utc_s = record->end_utc_s;
	hold->is_new = record->job_id == 0;
	return hold->account >= 0 && whole_amount(&hold->amount, &record->per_task, record->tasks);
}

void
lt_ring_replay(struct lt_sheet_box *box)
{
	const uint64_t ingested = box->snapshot.ring_absorbed;
	struct lt_hold hold;

	if (lt_state.mirror == NULL || box->snapshot.ring_generation != lt_state.ring_generation)
		return;
	if (lt_state.next_sequence <= ingested)
		lt_state.next_sequence = ingested + 1;
	for (uint64_t sequence = ingested + 1;
	     sequence < lt_state.next_sequence && sequence - ingested <= LT_RING_SLOTS;
	     sequence++) {
		const struct lt_ring_record *const record = slot_of(sequence);

		if (record->sequence == sequence && hold_of(&hold, record, &box->snapshot))
			lt_recent_add(box->recent, &box->snapshot, &hold);
	}
}

/* A hold of nothing, so that lowtided's count has no gap. */
static void
make_void(struct lt_ring_record *record, uint64_t sequence)
{
	memset(record, 0, sizeof(*record));
	record->sequence = sequence;
	record->quote_id = lt_state_quote_id();
	record->tasks = 1;
	record->per_task.has_money = record->per_task.has_carbon = true;
	record->start_utc_s = record->end_utc_s = (int64_t)time(NULL);
}

struct ring { /* as it is opened; nobody else sees it yet */
	int fd;
	uint64_t generation;
	uint64_t ingested, highest; /* sequences */
	struct lt_ring_record *mirror;
};

/* Slots that are missing or damaged after a crash are void: fill them. False when one can't be
 * written. */
static bool
fill_gaps(const struct ring *ring)
{
	const uint64_t highest = ring->highest;
	uint64_t sequence = ring->ingested + 1;
	bool written = true;

	if (highest > LT_RING_SLOTS && sequence <= highest - LT_RING_SLOTS)
		sequence = highest - LT_RING_SLOTS + 1;
	for (; sequence <= highest; sequence++) {
		struct lt_ring_record *const record = &ring->mirror[sequence % LT_RING_SLOTS];

		if (record->sequence == sequence)
			continue;
		make_void(record, sequence);
		if (lt_ring_write(ring->fd, ring->generation, record, NULL) != LT_OK)
			written = false;
	}
	return written;
}

/* Read the whole ring into the mirror. */
static int
read_ring(struct ring *ring, struct lt_error *err)
{
	struct lt_ring_record *const records = calloc(LT_RING_SLOTS, sizeof(*records));
	uint64_t contiguous = 0;
	uint32_t count = 0, bad = 0;
	int code;

	if (records == NULL)
		return lt_fail(err, LT_ENOMEM, "no memory for the holds");
	code = lt_ring_read(ring->fd, ring->generation, ring->ingested, records, &count,
	    &ring->highest, &contiguous, &bad, err);
	for (uint32_t i = 0; code == LT_OK && i < count; i++)
		ring->mirror[records[i].sequence % LT_RING_SLOTS] = records[i];
	free(records);
	return code;
}

/* True if the file under the ring's name is still the one that is open. */
static bool
is_attached(void)
{
	struct lt_file_id id = {0};
	struct stat open_file;

	return lt_state.ring_fd >= 0 && fstat(lt_state.ring_fd, &open_file) == 0 &&
	       lt_file_id(&id, lt_state.ring_path) && id.device == open_file.st_dev &&
	       id.inode == open_file.st_ino;
}

/* The ring is read: from now on it is the one. */
static void
publish(const struct ring *ring, bool written)
{
	const uint64_t last = ring->highest > ring->ingested ? ring->highest : ring->ingested;
	struct lt_ring_record *old;

	pthread_mutex_lock(&lt_state.mutex);
	old = lt_state.mirror;
	lt_state.mirror = ring->mirror;
	lt_state.unwritten = !written;
	lt_state.ring_generation = ring->generation;
	lt_state.next_sequence = last + 1;
	/* A replaced ring stays open: another thread may be writing to it. */
	lt_state.ring_fd = ring->fd;
	if (lt_state.snapshot != NULL)
		lt_ring_replay(lt_state.snapshot);
	pthread_mutex_unlock(&lt_state.mutex);
	free(old);
}

/* Above W, copied under the mutex. Caller frees; NULL: none, or no memory. */
static struct lt_ring_record *
copy_unabsorbed(uint32_t *count, uint64_t *failures)
{
	struct lt_ring_record *copy;
	uint64_t sequence;

	*count = 0;
	copy = malloc(LT_RING_SLOTS * sizeof(*copy));
	pthread_mutex_lock(&lt_state.mutex);
	*failures = lt_state.failures;
	sequence = lt_state.snapshot != NULL ? lt_state.snapshot->snapshot.ring_absorbed + 1 : 1;
	if (lt_state.next_sequence > LT_RING_SLOTS &&
	    sequence < lt_state.next_sequence - LT_RING_SLOTS)
		sequence = lt_state.next_sequence - LT_RING_SLOTS;
	for (; copy != NULL && sequence < lt_state.next_sequence; sequence++)
		copy[(*count)++] = *slot_of(sequence);
	pthread_mutex_unlock(&lt_state.mutex);
	return copy;
}

/* Tries again to write the records that failed. Until then every balance is unknown, so nothing new
 * is held. Only the refreshing thread calls it, which alone replaces ring and snapshot. */
static void
mend_ring(void)
{
	uint32_t count;
	uint64_t failures;
	struct lt_ring_record *const copy = copy_unabsorbed(&count, &failures);
	bool written = copy != NULL;

	for (uint32_t i = 0; written && i < count; i++)
		written =
		    copy[i].sequence == 0 || lt_ring_write(lt_state.ring_fd,
						 lt_state.ring_generation, &copy[i], NULL) == LT_OK;
	free(copy);
	pthread_mutex_lock(&lt_state.mutex);
	if (written && failures == lt_state.failures)
		lt_state.unwritten = false;
	pthread_mutex_unlock(&lt_state.mutex);
}

static bool
needs_mending(void)
{
	bool unwritten;

	pthread_mutex_lock(&lt_state.mutex);
	unwritten = lt_state.unwritten && lt_state.mirror != NULL;
	pthread_mutex_unlock(&lt_state.mutex);
	return unwritten;
}

void
lt_ring_attach(void)
{
	struct lt_error err = {0};
	struct ring ring = {.fd = -1};

	if (is_attached() && needs_mending())
		mend_ring();
	if (lt_state.ring_path[0] == '\0' || is_attached() ||
	    lt_state.ring_opened >= RING_OPENED_MAX)
		return;
	ring.fd = lt_ring_open(lt_state.ring_path, true, &ring.generation, &err);
	if (ring.fd < 0) {
		lt_state_log("%s: %s", lt_state.ring_path, err.text);
		return;
	}
	if (lt_state.snapshot != NULL &&
	    lt_state.snapshot->snapshot.ring_generation == ring.generation)
		ring.ingested = lt_state.snapshot->snapshot.ring_absorbed;
	ring.mirror = calloc(LT_RING_SLOTS, sizeof(*ring.mirror));
	if (ring.mirror == NULL || read_ring(&ring, &err) != LT_OK) {
		lt_state_log("%s: %s", lt_state.ring_path, err.text);
		free(ring.mirror);
		close(ring.fd);
		return;
	}
	lt_state.ring_opened++;
	publish(&ring, fill_gaps(&ring));
}

void
lt_ring_detach(void)
{
	if (lt_state.ring_fd >= 0)
		close(lt_state.ring_fd);
	lt_state.ring_fd = -1;
	free(lt_state.mirror);
	lt_state.mirror = NULL;
	lt_state.unwritten = false;
	lt_state.ring_opened = 0;
}

static int64_t
sheet_age_s(const struct lt_sheet_box *box)
{
	return box->age_s + (lt_monotonic_ms() - box->loaded_ms) / 1000;
}

/* Why the balance can't be known now, NULL if it can. */
static const char *
unknown_reason(const struct lt_sheet_box *box)
{
	const struct lt_budget_snapshot *const snapshot = &box->snapshot;

	if (snapshot->missing != NULL)
		return snapshot->missing;
	if (lt_state.ring_fd < 0)
		return "the holds file can't be used";
	if (!snapshot->ready)
		return "lowtided has not yet loaded all jobs";
	if (sheet_age_s(box) > snapshot->stale_after_s)
		return "lowtided has not written a balance for too long";
	if (snapshot->ring_generation != lt_state.ring_generation)
		return "lowtided has not yet read the holds file";
	if (lt_state.next_sequence - snapshot->ring_absorbed > LT_RING_SLOTS)
		return "the holds file is full: lowtided does not read it";
	if (lt_state.unwritten)
		return "a hold could not be written";
	return NULL;
}

/* False if the clock was set, since lowtided wrote the balance, to a time that no period of it has.
 * A little before it was written is as good as when it was. */
static bool
has_period_now(const struct lt_sheet_box *box, int account)
{
	const int64_t now_utc_s = time(NULL), compiled_utc_s = box->snapshot.compiled_utc_s;
	const bool is_just_before =
	    now_utc_s < compiled_utc_s && compiled_utc_s - now_utc_s <= LT_CLOCKS_DIFFER_S;

	return lt_sheet_has_time(
	    &box->snapshot, account, is_just_before ? compiled_utc_s : now_utc_s);
}

static void
set_unknown(struct lt_admission *admission, const char *why)
{
	admission->standing = LT_STANDING_UNKNOWN;
	admission->why = why;
}

/* Standing and verdict. Under the mutex. */
static void
judge(struct lt_admission *admission, struct lt_hold *hold, const struct lt_new_hold *entry)
{
	struct lt_sheet_box *const box = lt_state.snapshot;
	const char *why;
	bool budgeted;

	if (box == NULL)
		return;
	admission->on_unknown = box->snapshot.on_unknown;
	hold->uid = entry->uid;
	hold->account = lt_sheet_account(&box->snapshot, entry->account);
	hold->start_utc_s = entry->start_utc_s;
	hold->end_utc_s = entry->end_utc_s;
	hold->is_new = entry->job_id == 0;
	hold->is_bounded = entry->is_bounded && !entry->force;
	hold->own = entry->own;
	budgeted = hold->account < 0 ? box->snapshot.budget_count > 0
				     : lt_sheet_budgeted(&box->snapshot, hold->account);
	if (!budgeted)
		return;
	why = unknown_reason(box);
	if (why != NULL) {
		set_unknown(admission, why);
	} else if (hold->account < 0) {
		set_unknown(admission, "the account is not known to lowtide");
	} else if (!has_period_now(box, hold->account)) {
		set_unknown(admission, "the clock was set since lowtided wrote the balance");
	} else if (!lt_sheet_pair(&box->snapshot, entry->uid, hold->account)) {
		set_unknown(admission, "the user's membership in the account is not known");
	} else if (strlen(entry->account) >= sizeof(((struct lt_ring_record *)0)->account)) {
		set_unknown(admission, "the account's name is too long");
	} else if (!whole_amount(&hold->amount, &entry->per_task, entry->tasks)) {
		set_unknown(admission, "the amount is out of range");
	} else {
		admission->standing = LT_STANDING_JUDGED;
		lt_admit(&admission->verdict, &box->snapshot, box->recent, hold);
		if (admission->verdict.code == LT_UNKNOWN)
			set_unknown(admission, admission->verdict.why != NULL
						   ? admission->verdict.why
						   : "no price is known");
		else if (admission->verdict.code == LT_OVER && entry->force &&
			 admission->verdict.rule != LT_RULE_WARN)
			lt_recent_add(box->recent, &box->snapshot, hold);
	}
}

/* True if the ring can take it, and then has at most so many slots in use. */
static bool
has_room(const struct lt_new_hold *entry, uint64_t slots)
{
	return lt_state.ring_fd >= 0 && !lt_state.unwritten &&
	       strlen(entry->account) < sizeof(((struct lt_ring_record *)0)->account) &&
	       lt_state.next_sequence - (lt_state.snapshot != NULL
						? lt_state.snapshot->snapshot.ring_absorbed
						: 0) <=
		   slots;
}

/* Should what was judged be in the ring? */
static bool
wants_record(const struct lt_admission *admission, const struct lt_new_hold *entry)
{
	if (!has_room(entry, LT_RING_SLOTS))
		return false;
	if (admission->standing != LT_STANDING_JUDGED)
		return admission->standing == LT_STANDING_FREE;
	return entry->force || admission->verdict.code == LT_ADMIT ||
	       admission->verdict.rule == LT_RULE_WARN;
}

static void
make_record(struct lt_ring_record *record, const struct lt_new_hold *entry)
{
	memset(record, 0, sizeof(*record));
	record->sequence = lt_state.next_sequence++;
	record->quote_id = entry->quote_id;
	record->uid = entry->uid;
	record->job_id = entry->job_id;
	record->tasks = entry->tasks;
	record->flags = entry->flags;
	memcpy(record->account, entry->account, strlen(entry->account) + 1);
	record->per_task = entry->per_task;
	record->start_utc_s = entry->start_utc_s;
	record->end_utc_s = entry->end_utc_s;
	*slot_of(record->sequence) = *record;
}

/* The ring did not take it: nothing is held, and nothing is sure. */
static void
undo(struct lt_admission *admission, uint64_t sequence, uint64_t generation)
{
	const bool was_judged = admission->standing == LT_STANDING_JUDGED;
	struct lt_hold hold;

	if (was_judged)
		set_unknown(admission, "the hold could not be written");
	pthread_mutex_lock(&lt_state.mutex);
	if (generation != lt_state.ring_generation) {
		pthread_mutex_unlock(&lt_state.mutex);
		return; /* the ring was replaced meanwhile */
	}
	/* A newer snapshot has counted it from the mirror, so whichever snapshot is there now has
	 * it. */
	if (was_judged && lt_state.snapshot != NULL &&
	    hold_of(&hold, slot_of(sequence), &lt_state.snapshot->snapshot))
		lt_recent_remove(lt_state.snapshot->recent, &lt_state.snapshot->snapshot, &hold);
	make_void(slot_of(sequence), sequence);
	lt_state.unwritten = true;
	lt_state.failures++;
	pthread_mutex_unlock(&lt_state.mutex);
}

void
lt_state_note(const struct lt_new_hold *entry)
{
	struct lt_admission admission = {.standing = LT_STANDING_FREE};
	struct lt_ring_record record;
	uint64_t generation;
	bool record_it;
	int fd;

	pthread_mutex_lock(&lt_state.mutex);
	/* Anybody may lower ten thousand tasks, or be refused, again and again: half of the ring is
	 * for holds alone. */
	record_it = has_room(entry, LT_RING_SLOTS / 2);
	if (record_it)
		make_record(&record, entry);
	fd = lt_state.ring_fd;
	generation = lt_state.ring_generation;
	pthread_mutex_unlock(&lt_state.mutex);
	if (record_it && lt_ring_write(fd, generation, &record, NULL) != LT_OK)
		undo(&admission, record.sequence, generation);
}

void
lt_state_admit(struct lt_admission *admission, const struct lt_new_hold *entry)
{
	struct lt_ring_record record;
	struct lt_error err = {0};
	struct lt_hold hold = {0};
	uint64_t generation;
	bool record_it;
	int fd;

	memset(admission, 0, sizeof(*admission));
	pthread_mutex_lock(&lt_state.mutex);
	judge(admission, &hold, entry);
	record_it = wants_record(admission, entry);
	if (record_it)
		make_record(&record, entry);
	fd = lt_state.ring_fd;
	generation = lt_state.ring_generation;
	pthread_mutex_unlock(&lt_state.mutex);
	if (!record_it)
		return;
	if (lt_ring_write(fd, generation, &record, &err) == LT_OK) {
		admission->recorded = true;
		return;
	}
	lt_state_log("%s: %s", lt_state.ring_path, err.text);
	undo(admission, record.sequence, generation);
}

void
lt_state_available(struct lt_amount *available, uint32_t rules, const struct lt_request *request,
    int64_t start_utc_s, int64_t end_utc_s)
{
	const uint32_t uid = request->uid;
	int index;

	*available = (struct lt_amount){true, true, INT64_MAX, INT64_MAX};
	pthread_mutex_lock(&lt_state.mutex);
	if (lt_state.snapshot != NULL) {
		index = lt_sheet_account(&lt_state.snapshot->snapshot, request->account);
		/* Nobody learns another team's balance by a plan. */
		if (lt_sheet_pair(&lt_state.snapshot->snapshot, uid, index))
			lt_available(available, &lt_state.snapshot->snapshot,
			    lt_state.snapshot->recent, rules, uid, index, start_utc_s, end_utc_s);
	}
	pthread_mutex_unlock(&lt_state.mutex);
}

const char *
lt_state_unknown(void)
{
	const char *why;

	pthread_mutex_lock(&lt_state.mutex);
	why = lt_state.snapshot != NULL ? unknown_reason(lt_state.snapshot) : NULL;
	pthread_mutex_unlock(&lt_state.mutex);
	return why;
}
