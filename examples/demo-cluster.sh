# Read by demo.sh, and by docs/pictures/session.sh: the private cluster of the
# demo in $D by $cluster, with its policy, recorded signals and a job script.
mkdir -p "$D/jobs" "$D/etc"
cp -r examples/signals "$D/etc/signals"
# The recording of a grid where it is night now, so that there is something to
# wait for: South Australia's midday is 2:30 UTC, California's 20:00 UTC.
zone=california
case $(date -u +%H) in 0[4-9] | 1[0-9] | 20) zone=south-australia ;; esac
sed "s|carbon-california|carbon-$zone|; s|/usr/share/lowtide/examples|$D/etc|" \
    examples/demo.yaml > "$D/demo.yaml"
ACCOUNTS='vision nlp' SPANK_ARGS=preemptible=spot:0.02:120 POLICY=$D/demo.yaml "$cluster" up "$D"
. "$D/env"
printf '#!/bin/sh\nsleep 1800\n' > "$D/jobs/train.sh"
