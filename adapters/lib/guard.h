/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Hides secrets. Answers of sources may repeat what they were sent; the guard knows the secrets of
 * a fetch in each form in which they may come back, and takes them out of each text that leaves the
 * fetch. Used by one thread.
 */
#ifndef LT_GUARD_H
#define LT_GUARD_H

/* Remembers a secret until lt_guard_forget(): as it is, percent-encoded, escaped for JSON and HTML,
 * in base64 alone or behind other bytes. One of fewer than 3 bytes is not looked for. */
void lt_guard_add(const char *secret);
/* Writes "***" over each part of 8 bytes or more of any form, as texts may have been cut; a secret
 * that is shorter is hidden as a whole. In place. */
void lt_guard_hide(char *text);
/* Forgets and wipes all secrets. */
void lt_guard_forget(void);

#endif
