/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * key=value lines to stderr or a file, one event a line.
 */
#ifndef LT_LOG_H
#define LT_LOG_H

/* path NULL = stderr. Returns 0 or an errno value. */
int lt_log_open(const char *path);
/* event: a word; the rest is key=value pairs, values quoted by the caller where they may hold
 * blanks. Any thread. */
void lt_log(const char *event, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Lines of this thread from now on wait for lt_log_flush(): of many at once. */
void lt_log_gather(void);
void lt_log_flush(void);

#endif
