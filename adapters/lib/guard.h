/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What sources answer may repeat what they were sent. The secrets of a fetch
 * are known here in each form that they may come back in, and taken out of
 * each text that leaves it. Used by one thread.
 */
#ifndef LT_GUARD_H
#define LT_GUARD_H

/* Know a secret until lt_guard_forget(): as it is, percent-encoded, escaped
 * for JSON and HTML, in base64 alone or behind other bytes. One of fewer than
 * 3 bytes is not looked for. */
void lt_guard_add(const char *secret);
/* "***" in place of each part of 8 bytes or more of any form, of a shorter
 * secret the whole: texts may have been cut. In place. */
void lt_guard_hide(char *text);
/* Wipes all. */
void lt_guard_forget(void);

#endif
