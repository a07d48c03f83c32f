#!/bin/bash
# history.sh FOLDER RUNS DAYS: so many finished runs of the last days in the
# tables of a private cluster's slurmdbd, as a site has them: of the account of
# its first job, 10 minutes to an hour each, 8 CPUs of a node.
set -euo pipefail
mysql --no-defaults -uroot -S "$1/run/db.sock" slurm_acct_db <<S
SET SESSION max_recursive_iterations = 100000000;
SET @now = UNIX_TIMESTAMP();
SET @from = @now - $3 * 86400;
SET @step = ($3 * 86400 - 7200) / $2;
INSERT INTO tide_job_table (mod_time, account, cpus_req, job_name, id_assoc,
    id_array_job, id_array_task, id_job, id_qos, id_resv, id_wckey, id_user,
    id_group, het_job_id, het_job_offset, mem_req, state_reason_prev, nodelist,
    nodes_alloc, node_inx, \`partition\`, priority, state, timelimit, time_submit,
    time_eligible, time_start, time_end, work_dir, tres_alloc, tres_req)
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < $2)
SELECT @now, account, 8, 'history', id_assoc, 0, 4294967294, 10000000 + i, 1, 0,
    0, 0, 0, 0, 4294967294, 0, 0, 'a1', 1, '0', 'ondemand', 1, 3, 60,
    @from + FLOOR(i * @step), @from + FLOOR(i * @step),
    @from + FLOOR(i * @step) + 30, @from + FLOOR(i * @step) + 630 + i % 3000,
    '/tmp', '1=8,2=64000,4=1,5=8', '1=8,2=64000,4=1,5=8'
FROM n, (SELECT account, id_assoc FROM tide_job_table ORDER BY job_db_inx LIMIT 1) a;
S
