/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Accounts whose jobs a partition does not take from another.
 */
#ifndef LT_CLOSED_ACCOUNTS_H
#define LT_CLOSED_ACCOUNTS_H

#include "tables.h"

/*
 * Makes each partition's deny list anew from slurm.conf's: with all accounts
 * below those (Slurm 23.11 and later deny them, too), with accounts in which
 * a user has associations of single partitions only, for which Slurm refuses a
 * job in another, and with those that have associations of this partition. And
 * each partition's qos_accounts. The lists are lent by tables->closed.
 * LT_ENOMEM leaves them as they were.
 */
int lt_close_accounts(struct lt_tables *tables, struct lt_error *err);

#endif
