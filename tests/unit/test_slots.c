/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Connections of several users: no one takes all, admins always have some,
 * and each ends at its deadline, once.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "door.h"

enum { ADA = 1000, BOB, ROOT = 0, SLURM = 64030, NOW = 5000000 };

static struct lt_slots slots;

static int
take(uint32_t who, bool is_admin, int wanted)
{
	int got = 0;

	for (int i = 0; i < wanted; i++)
		got += lt_slot_take(&slots, i, who, is_admin, NOW) != NULL;
	return got;
}

static void
test_one_user_leaves_room(void **state)
{
	(void)state;
	slots = (struct lt_slots){0};
	assert_int_equal(take(ADA, false, 320), LT_SLOTS_PER_USER);
	assert_int_equal(take(BOB, false, 5), 5);
	assert_int_equal(take(ROOT, true, 5), 5);
	assert_int_equal(take(BOB, false, 320), LT_SLOTS_PER_USER - 5);
}

static void
test_admins_have_theirs(void **state)
{
	int others = 0;

	(void)state;
	slots = (struct lt_slots){0};
	for (uint32_t uid = ADA; uid < ADA + 100; uid++)
		others += take(uid, false, 320);
	assert_int_equal(others, LT_SLOTS_MAX - LT_SLOTS_FOR_ADMINS);
	assert_int_equal(take(SLURM, true, 1), 1);
	assert_int_equal(take(ROOT, true, LT_SLOTS_MAX), LT_SLOTS_FOR_ADMINS - 1);
	assert_int_equal(take(ADA, false, 1), 0);
}

/* What admins hold is not taken from the others' share. */
static void
test_others_have_theirs(void **state)
{
	(void)state;
	slots = (struct lt_slots){0};
	assert_int_equal(take(ROOT, true, LT_SLOTS_FOR_ADMINS), LT_SLOTS_FOR_ADMINS);
	int others = 0;
	for (uint32_t uid = ADA; uid < ADA + 100; uid++)
		others += take(uid, false, 320);
	assert_int_equal(others, LT_SLOTS_MAX - LT_SLOTS_FOR_ADMINS);
}

static void
test_freed_is_free(void **state)
{
	struct lt_slot *mine[LT_SLOTS_PER_USER];

	(void)state;
	slots = (struct lt_slots){0};
	for (int i = 0; i < LT_SLOTS_PER_USER; i++)
		mine[i] = lt_slot_take(&slots, i, ADA, false, NOW);
	assert_null(lt_slot_take(&slots, 99, ADA, false, NOW));
	lt_slot_free(mine[7]);
	assert_non_null(lt_slot_take(&slots, 99, ADA, false, NOW));
	assert_null(lt_slot_take(&slots, 99, ADA, false, NOW));
}

static int ended[8], ended_count;

static void
end(int fd)
{
	ended[ended_count++] = fd;
}

static void
test_deadlines(void **state)
{
	(void)state;
	slots = (struct lt_slots){0};
	ended_count = 0;
	(void)lt_slot_take(&slots, 11, ADA, false, NOW);
	struct lt_slot *const answered = lt_slot_take(&slots, 12, BOB, false, NOW + 1);
	(void)lt_slot_take(&slots, 13, ROOT, true, NOW + 2);
	answered->deadline_ms = NOW + LT_SLOT_REPLY_MS;
	assert_int_equal(lt_slots_wait_ms(&slots, NOW, 10000), 10000);
	assert_int_equal(lt_slots_wait_ms(&slots, NOW + LT_SLOT_REQUEST_MS - 3, 10000), 3);
	lt_slots_expire(&slots, NOW + LT_SLOT_REQUEST_MS - 1, end);
	assert_int_equal(ended_count, 0);
	lt_slots_expire(&slots, NOW + LT_SLOT_REQUEST_MS, end);
	assert_int_equal(ended_count, 1);
	assert_int_equal(ended[0], 11);
	lt_slots_expire(&slots, NOW + LT_SLOT_REQUEST_MS + 5, end);
	assert_int_equal(ended_count, 2); /* root's too */
	lt_slots_expire(&slots, NOW + LT_SLOT_REPLY_MS, end);
	assert_int_equal(ended_count, 3);
	lt_slots_expire(&slots, NOW + 10 * LT_SLOT_REPLY_MS, end);
	assert_int_equal(ended_count, 3); /* each once */
	assert_int_equal(lt_slots_wait_ms(&slots, NOW + 10 * LT_SLOT_REPLY_MS, 77), 77);
}

enum { HOST = 10, OTHER, MANY };

static int
take_strangers(uint32_t host, int wanted)
{
	int got = 0;

	for (int i = 0; i < wanted; i++)
		got += lt_slot_take_stranger(&slots, 100 + i, host, NOW + i) != NULL;
	return got;
}

static int
drop(uint32_t host)
{
	ended_count = 0;
	lt_slots_drop_stranger(&slots, host, end);
	return ended_count == 1 ? ended[0] : -ended_count;
}

/* Few of a host, few in all, and of too many the first goes. */
static void
test_strangers(void **state)
{
	(void)state;
	slots = (struct lt_slots){0};
	assert_int_equal(drop(HOST), 0);
	assert_int_equal(take_strangers(HOST, 99), LT_SLOTS_PER_HOST);
	assert_int_equal(take_strangers(OTHER, 3), 3);
	assert_int_equal(drop(HOST), 100);
	assert_int_equal(drop(HOST), 101);
	/* Those that are ending count no more, and end once. */
	assert_int_equal(take_strangers(HOST, 5), 2);
	ended_count = 0;
	lt_slots_expire(&slots, NOW + LT_SLOT_SHOW_MS - 1, end);
	assert_int_equal(ended_count, 0);
	assert_int_equal(lt_slots_wait_ms(&slots, NOW, 99999), LT_SLOT_SHOW_MS);
	slots = (struct lt_slots){0};
	for (uint32_t host = MANY; host < MANY + LT_SLOTS_STRANGERS / LT_SLOTS_PER_HOST; host++)
		assert_int_equal(take_strangers(host, LT_SLOTS_PER_HOST), LT_SLOTS_PER_HOST);
	/* A new host: one of those with the most makes room. */
	assert_int_equal(take_strangers(HOST, 1), 0);
	assert_int_equal(drop(HOST), 100);
	assert_int_equal(take_strangers(HOST, 2), 1);
	/* Users have theirs all the same. */
	assert_int_equal(take(ADA, false, 320), LT_SLOTS_PER_USER);
}

static void
test_who_shows_it_is_known(void **state)
{
	struct lt_slot *slot;

	(void)state;
	slots = (struct lt_slots){0};
	for (int i = 0; i < LT_SLOTS_PER_USER; i++) {
		slot = lt_slot_take_stranger(&slots, i, HOST, NOW);
		assert_non_null(slot);
		assert_true(lt_slot_show(&slots, slot, ADA, false, NOW + 5));
		assert_int_equal(slot->deadline_ms, NOW + 5 + LT_SLOT_REQUEST_MS);
	}
	/* They are no strangers of that host now. */
	assert_int_equal(drop(HOST), 0);
	slot = lt_slot_take_stranger(&slots, 50, HOST, NOW);
	assert_false(lt_slot_show(&slots, slot, ADA, false, NOW));
	assert_true(slot->is_stranger);
	assert_true(lt_slot_show(&slots, slot, BOB, false, NOW));
	/* A uid that is the number of an address is another's. */
	slot = lt_slot_take_stranger(&slots, 51, BOB, NOW);
	assert_true(lt_slot_show(&slots, slot, HOST, false, NOW));
	/* Users in all leave room for strangers and for admins. */
	int users = 0;
	for (uint32_t uid = 2000; uid < 3000; uid++) {
		slot = lt_slot_take_stranger(&slots, 60, uid, NOW);
		if (slot == NULL)
			break;
		if (!lt_slot_show(&slots, slot, uid, false, NOW))
			lt_slot_free(slot);
		else
			users++;
	}
	assert_int_equal(
	    users + LT_SLOTS_PER_USER + 2, LT_SLOTS_MAX - LT_SLOTS_FOR_ADMINS - LT_SLOTS_STRANGERS);
	slot = lt_slot_take_stranger(&slots, 52, OTHER, NOW);
	assert_true(lt_slot_show(&slots, slot, ROOT, true, NOW));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_one_user_leaves_room),
	    cmocka_unit_test(test_admins_have_theirs),
	    cmocka_unit_test(test_others_have_theirs),
	    cmocka_unit_test(test_freed_is_free),
	    cmocka_unit_test(test_deadlines),
	    cmocka_unit_test(test_strangers),
	    cmocka_unit_test(test_who_shows_it_is_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
