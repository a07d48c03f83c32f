# What must be true, from sacct, scontrol and the policy alone; then what the
# ledger and lowtide say is compared with it. See README.md for the exceptions.
package Model;
use strict;
use warnings;
use JSON::PP;
use POSIX ();
use Site;

# The policy, by hand: micros a second of a node (from when on), budgets with
# the accounts below them.
my %price = (main => steps('main'), spot => steps('spot'), gpu => [ [ 0, 10000 ] ]);
my %node = (main => { cpu => 64 }, spot => { cpu => 64 },
	gpu => { cpu => 64, 'gres/gpu' => 8 });
# Watts of a node, g CO2e a kWh, and what a gram is charged with, in micros (a
# tonne in the currency).
my %watts = (
	main => { idle => 300, cpu => 200 },
	spot => { idle => 300, cpu => 200 },
	gpu => { idle => 500, cpu => 200, 'gres/gpu' => 3000 });
my ($intensity, $charge) = (400, 3000);
my @budgets = (
	{ team => 'rich', period => 'month', limit => 100e6, accounts => 'rich kid' },
	{ team => 'kid', period => 'month', limit => .30e6, accounts => 'kid' },
	{ team => 'tiny', period => 'month', limit => .25e6, accounts => 'tiny' },
	{ team => 'later', period => 'month', limit => .25e6, accounts => 'later' },
	{ team => 'capped', period => 'year', limit => 50e6, accounts => 'capped' },
	map({ { team => 'capped', period => 'year', limit => .90e6,
		accounts => 'capped', user => $_ } } @Site::users),
);
my $orphan_s = 240; # that a hold may outlive its job, in true seconds

our (%adjusted, %excepted);
my (%orphan_since, %verified, %allocated, $facts);
my $last_id = 1;

# ---- facts ----

sub seconds { # [DD-[HH:]]MM:SS
	my ($text) = @_;
	my ($days, $rest) = $text =~ /^(?:(\d+)-)?(.*)$/;
	my $s = 0;
	$s = $s * 60 + $_ for split /:/, $rest;
	return ($days || 0) * 86400 + $s;
}

sub epoch { # of scontrol's times, in UTC
	my ($y, $m, $d, @hms) = $_[0] =~ /\d+/g;
	return @hms ? POSIX::mktime($hms[2], $hms[1], $hms[0], $d, $m - 1, $y - 1900) : time;
}

sub tres {
	my %tres;
	for (split /,/, $_[0]) {
		my ($name, $count) = /^([^=]+)=(\d+)/;
		$tres{$name} = $count if defined $name;
	}
	return \%tres;
}

# The prices of storm.sh's file: [from when on, micros a second of a node].
sub steps {
	open my $file, '<', "$Site::D/$_[0].csv" or die "storm: prices of $_[0]: $!";
	return [ map { /^(\d+),(.*)$/ ? [ $1, $2 * 1e6 / 3600 ] : () } <$file> ];
}

# Micros of a node in a span of time.
sub node_micros {
	my ($partition, $from, $to) = @_;
	my ($sum, $value) = (0, 0);
	for my $step (@{ $price{$partition} }, [ 9e18, 0 ]) {
		last if $from >= $to;
		if ($step->[0] > $from) {
			my $until = $step->[0] < $to ? $step->[0] : $to;
			$sum += $value * ($until - $from);
			$from = $until;
		}
		$value = $step->[1];
	}
	return $sum;
}

# What a run is priced by, from its AllocTRES: docs/model.md (2), (27), and what
# is kept while suspended, (41): parts of a node, and the charge for its carbon
# in micros a second, (5), (27a). All nodes of a partition here are alike.
sub rates {
	my ($partition, $tres) = @_;
	my $node = $node{$partition} or die "storm: no price for '$partition'\n";
	my $draw = $watts{$partition};
	my ($all, $kept, $works, $rests) = (0, 0, 0, 0);
	for my $name (keys %$node) {
		my $part = ($tres->{$name} || 0) / $node->{$name};
		$all = $part if $part > $all;
		$kept = $part if $name ne 'cpu' && $part > $kept;
		$works += $part * $draw->{$name};
		$rests += $part * $draw->{$name} if $name ne 'cpu';
	}
	my $of_carbon = $intensity * $charge / 3.6e6; # of a watt
	my @carbon = map { $_ * $of_carbon } $works + $draw->{idle} * $all, $rests + $draw->{idle} * $kept;
	return { place => $partition, all => $all, kept => $kept, carbon => $carbon[0], carbon_kept => $carbon[1] };
}

# Micros for nodes and for carbon of a span, some seconds of it suspended.
sub cost {
	my ($rates, $from, $to, $off) = @_;
	my $length = $to - $from;
	return (0, 0) if $length <= 0;
	my $on = ($length - $off) / $length;
	my $node = node_micros($rates->{place}, $from, $to);
	return ($node * ($rates->{all} * $on + $rates->{kept} * (1 - $on)),
		$length * ($rates->{carbon} * $on + $rates->{carbon_kept} * (1 - $on)));
}

sub sum { return $_[0] + $_[1] }

my @columns = qw(JobIDRaw JobID Submit Start End State AllocTRES Account
	NodeList User Suspended TimelimitRaw);

# Where a run was: by its nodes. slurmdbd's partition is empty where it lost a
# start, and a list of names where slurmctld started again meanwhile.
sub place_of {
	my ($letter, $number) = $_[0] =~ /^([cg])\[?(\d)/ or die "storm: nodes '$_[0]'\n";
	return $letter eq 'g' ? 'gpu' : $number == 3 ? 'spot' : 'main';
}

sub load_rows {
	# By their ids: by time sacct leaves out what was held while it ran. And to
	# tomorrow: by now, what was submitted before the clock was set back.
	my $text = do {
		local $ENV{SLURM_TIME_FORMAT} = '%s';
		Site::output('sacct', '-nXPD', '-S', '2020-01-01', '-E', 'now+1days',
			'-j', join(',', 1 .. $last_id), '-o', join ',', @columns);
	};
	my @rows;
	for (split /\n/, $text) {
		my %row;
		@row{@columns} = split /\|/, $_, -1;
		$row{ended} = $row{End} =~ /^\d+$/ && $row{State} !~ /^(RUNNING|PENDING)/;
		$row{key} = "$row{JobIDRaw}.$row{Submit}";
		# A slurmctld that was killed ends a job once more, and then the row
		# has no resources any more: those that it had.
		my $before = $allocated{"$row{key}.$row{Start}"};
		$row{AllocTRES} = $before, excepted('resources forgotten', $row{key})
		    if $before && $row{NodeList} ne 'None assigned' && ($row{AllocTRES} !~ /cpu=/ ||
			($before =~ /gpu=/ && $row{AllocTRES} !~ /gpu=/));
		$allocated{"$row{key}.$row{Start}"} = $row{AllocTRES} if $row{AllocTRES} =~ /cpu=/;
		$row{ran} = $row{Start} =~ /^\d+$/ && $row{Start} > 0 && $row{AllocTRES} ne '' &&
		    $row{NodeList} ne 'None assigned';
		if ($row{ran}) {
			$row{Partition} = place_of($row{NodeList});
			$row{rates} = rates($row{Partition}, tres($row{AllocTRES}));
			$row{off} = seconds($row{Suspended});
			# Like a row of a job whose size was changed: from its submission.
			$row{Start} = $row{Submit}, excepted('began before its submission', $row{key})
			    if $row{Start} < $row{Submit} && $row{End} =~ /^\d+$/ && $row{End} >= $row{Submit} &&
			    grep { $_->[1] < 0 } @Site::clocks;
			price_row(\%row, $row{End}) if $row{ended};
		}
		push @rows, \%row;
	}
	return \@rows;
}

# What a run that ends then costs, exactly; nothing where the clock went back.
sub price_row {
	my ($row, $end) = @_;
	my $length = $end - $row->{Start};
	$length = 0 if $length < 0;
	my $off = $row->{off} > $length ? $length : $row->{off};
	$row->{length} = $length;
	$row->{off} = $off;
	($row->{node_micros}, $row->{carbon_micros}) = cost($row->{rates}, $row->{Start}, $row->{Start} + $length, $off);
	return $row->{micros} = $row->{node_micros} + $row->{carbon_micros};
}

sub load_jobs {
	my @jobs;
	for (split /\n/, Site::output('scontrol', '-o', 'show', 'job')) {
		my %f;
		$f{$1} = $2 while /(\S+?)=(\S*)/g;
		next if !$f{JobId};
		$last_id = $f{JobId} if $f{JobId} > $last_id;
		$f{tres} = $f{AllocTRES} || $f{TRES} || '';
		($f{user}) = $f{UserId} =~ /^([^(]+)/;
		$f{ended} = $f{JobState} =~ /^(COMPLETED|CANCELLED|FAILED|TIMEOUT|NODE_FAIL|PREEMPTED|BOOT_FAIL|DEADLINE|OUT_OF_MEMORY)/;
		$f{runs} = $f{JobState} =~ /^(RUNNING|SUSPENDED)/;
		push @jobs, \%f;
	}
	return \@jobs;
}

sub ledger { # SQL -> rows
	my ($sql) = @_;
	my $text = Site::output('sqlite3', '-readonly', '-json', "$Site::D/lowtide/ledger.db", $sql);
	return $text =~ /\S/ ? decode_json($text) : [];
}

sub load {
	my %f = (jobs => load_jobs());
	# Of jobs that slurmctld forgot, too.
	my $highest = ledger('select max(job_id) n from runs')->[0]{n} // 0;
	$last_id = $highest if $highest > $last_id;
	$f{rows} = load_rows();
	$f{runs} = { map { ("$_->{job_id}.$_->{submit_utc_s}" => $_) } @{ ledger(
		'select *, (select sum(money_micros) from entries e where e.job_id = runs.job_id' .
		' and e.submit_utc_s = runs.submit_utc_s) entries_micros,' .
		' (select count(*) from entries e where e.job_id = runs.job_id and kind = 1' .
		' and e.submit_utc_s = runs.submit_utc_s) corrections from runs') } };
	settled_ends(\%f);
	$f{holds} = ledger('select * from holds where state = 0');
	$f{by_row} = { map { ($_->{key} => $_) } @{ $f{rows} } };
	$f{budgets} = eval { decode_json(Site::output('lowtide', 'budget', '--json'))->{budgets} } || [];
	($f{queue}) = Site::output('sdiag') =~ /DBD Agent queue size:\s*(\d+)/;
	return $facts = \%f;
}

sub facts_text {
	return JSON::PP->new->canonical->pretty->encode({ %$facts, outages => \@Site::outages,
		clocks => \@Site::clocks, excepted => \%excepted });
}

# ---- each run is charged once, by what sacct has ----

sub is_hit { # a part was down, or the clock set, between two times
	my ($part, $signal, $from, $to) = @_;
	return grep { $_->[0] =~ $part && $_->[2] =~ $signal && $_->[1] <= $to && $_->[3] >= $from } @Site::outages;
}

sub excepted { # a named exception; true
	my ($why, $key, $micros) = @_;
	$excepted{$why}{$key} = $micros // 0;
	return 1;
}

# Holds are raised two minutes before a dear hour, by lowtided, and a job that
# no longer fits is held back, by slurmctld: not where one of them was down just
# before a start, or the clock went on by more than a minute.
sub changed_before {
	my ($start) = @_;
	return is_hit(qr/slurmctld|lowtided/, qr/./, $start - 10, $start) ||
	    grep { $_->[1] >= 60 && $_->[0] + $_->[1] > $start - 30 && $_->[0] <= $start } @Site::clocks;
}

# Slurm writes an end anew, later, of what had ended: a completed job that is
# requeued (22.05, 24.11), and a slurmctld that was killed before it had saved
# the end. What was settled stays; it is the end from here on, and what is
# suspended after it was never in the run.
sub settled_ends {
	my ($f) = @_;
	for my $row (grep { $_->{ended} && $_->{ran} } @{ $f->{rows} }) {
		my $run = $f->{runs}{ $row->{key} } or next;
		next if $run->{end_utc_s} <= 0 || $run->{end_utc_s} >= $row->{End};
		next if !($row->{State} eq 'REQUEUED' && excepted('completed, requeued', $row->{key})) &&
		    !(is_hit(qr/slurmctld/, qr/KILL|itself/, $run->{end_utc_s} - 10, $row->{End} + 10) &&
			excepted('end forgotten', $row->{key}));
		$row->{off} = 0
		    if !grep { $_ < $run->{end_utc_s} } @{ $Site::suspends{ $row->{JobID} } // [] };
		price_row($row, $row->{End} = $run->{end_utc_s});
	}
}

sub runs {
	my ($f) = @_;
	my (@wrong, %sum, %corrections);
	for my $row (grep { $_->{ended} && $_->{ran} } @{ $f->{rows} }) {
		my $run = $f->{runs}{ $row->{key} };
		if (!$run) {
			push @wrong, "run $row->{key} of $row->{Account}: $row->{micros} micros by sacct, not charged"
			    if $row->{length} > 0;
			next;
		}
		# Nodes and carbon are each rounded.
		my $exact = $row->{node_micros};
		my $for_nodes = $run->{money_micros} - $run->{carbon_charge_micros};
		my $of_it = $exact > 0 ? $row->{carbon_micros} / $exact : 0;
		# An hour is how far lowtided looks back for rows that change; a
		# rebuild looks at all.
		$exact = $verified{ $row->{key} }, excepted('changed an hour later', $row->{key})
		    if exists $verified{ $row->{key} } && abs($exact - $verified{ $row->{key} }) > 1 + 1e-6 &&
		    abs($for_nodes - $exact) > 1 + 1e-6 && $row->{End} < time - 3600;
		my $for_carbon = $exact * $of_it;
		if (abs($for_nodes - $exact) > 1 + 1e-6 || $run->{provisional} ||
			abs($run->{carbon_charge_micros} - $for_carbon) > .5 + 1e-3) {
			if (($row->{End} > time || $run->{settled_utc_s} < $row->{End}) &&
			    (grep { $_->[1] < 0 } @Site::clocks) && excepted('hours to come', $row->{key}, $for_nodes - $exact)) {
				$corrections{ $row->{Partition} }++; # its rounding is in the carry, by prices that are not known here
				next;
			}
			push @wrong, "run $row->{key} of $row->{Account}: charged $for_nodes and for its carbon " .
			    "$run->{carbon_charge_micros}, by sacct $exact and $for_carbon";
		} else {
			$verified{ $row->{key} } = $exact;
		}
		$sum{ $row->{Partition} } += $for_nodes - $exact;
		$corrections{ $row->{Partition} } += $run->{corrections};
	}
	# What slurmctld forgot ran where it did then: its row has the partition of now.
	my $forgotten = 0;
	$forgotten += $f->{runs}{$_}{corrections} for grep { !($f->{by_row}{$_} // {})->{ran} } keys %{ $f->{runs} };
	for (keys %sum) { # the carry of docs/model.md (28); a correction keeps the rest of what it replaced
		my $most = .5 + 1e-3 + $corrections{$_} + $forgotten;
		push @wrong, "partition $_: charges are off by $sum{$_} in all, want $most" if abs $sum{$_} > $most;
	}
	for my $key (keys %{ $f->{runs} }) {
		my ($run, $row) = ($f->{runs}{$key}, $f->{by_row}{$key});
		push @wrong, "run $key is charged $run->{money_micros}, by sacct it never ran"
		    if $run->{money_micros} && $row && !$row->{ran} &&
		    !(is_hit(qr/slurmctld/, qr/KILL|itself/, $run->{end_utc_s} - 10, $run->{end_utc_s} + 10) &&
			excepted('run forgotten', $key, $run->{money_micros}));
		next if $run->{start_utc_s} <= 0 || $run->{end_utc_s} <= $run->{start_utc_s};
		push @wrong, "run $key is charged $run->{money_micros}, sacct does not have it ended"
		    if (!$row || !$row->{ended}) && !($run->{provisional} && excepted('row lost', $key, $run->{money_micros}));
	}
	return @wrong;
}

# ---- entries = balances; open holds belong to living jobs ----

sub bounds { # of the period that contains a time
	my ($period, $at) = @_;
	my @t = gmtime $at;
	return $period eq 'year'
	    ? (POSIX::mktime(0, 0, 0, 1, 0, $t[5]), POSIX::mktime(0, 0, 0, 1, 0, $t[5] + 1))
	    : (POSIX::mktime(0, 0, 0, 1, $t[4], $t[5]), POSIX::mktime(0, 0, 0, 1, $t[4] + 1, $t[5]));
}

sub uid_of { return scalar getpwnam $_[0] }

sub of_budget { # SQL: entries of a budget in a span
	my ($b, $from, $to) = @_;
	return 'account in (' . join(',', map { "'$_'" } split ' ', $b->{accounts}) . ')' .
	    " and at_utc_s >= $from and at_utc_s < $to" .
	    ($b->{user} ? ' and kind != 2 and uid = ' . uid_of($b->{user}) : '');
}

sub balances {
	my ($f) = @_;
	my @wrong;
	for my $key (keys %{ $f->{runs} }) {
		my $run = $f->{runs}{$key};
		push @wrong, "run $key: its entries are " . ($run->{entries_micros} // 0) . ", it is charged $run->{money_micros}"
		    if ($run->{entries_micros} // 0) != $run->{money_micros};
	}
	my $days = ledger('select * from (select day, account, uid, kind, sum(m) off from (' .
		'select day, account, uid, kind, money_micros m from days union all ' .
		'select at_utc_s / 86400, account, uid, kind, -money_micros from entries)' .
		' group by 1, 2, 3, 4) where off != 0');
	push @wrong, map { "day $_->{day} of $_->{account}: its sum is off by $_->{off}" } @$days;
	for my $b (@budgets) {
		my ($from, $to) = bounds($b->{period}, time);
		my $sum = ledger('select coalesce(sum(money_micros), 0) s from entries where ' . of_budget($b, $from, $to))->[0]{s};
		my ($row) = grep { $_->{team} eq $b->{team} && ($_->{user} // '') eq ($b->{user} // '') } @{ $f->{budgets} };
		next if !$row && $b->{user};
		push @wrong, "$b->{team}: its balance says " . ($row ? $row->{spent_micros} : 'nothing') . ", its entries $sum"
		    if !$row || $row->{spent_micros} != $sum;
	}
	for my $reason (@{ $adjusted{yes} || [] }) {
		my $n = ledger("select count(*) n from entries where kind = 2 and reason = '$reason'")->[0]{n};
		push @wrong, "adjustment '$reason' is there $n times" if $n != 1;
	}
	return @wrong;
}

# Keys of a job's runs that were forgotten before their rows came, and whose ids
# may be other jobs' since: awaited for a day, then charged provisionally.
sub lost_runs {
	my ($f, $job_id) = @_;
	my ($row) = @{ ledger("select value from named where name = 'ended'") };
	my @lost;
	for (split /\n/, $row ? $row->{value} : '') {
		my (undef, $id, $array, undef, undef, $submit, $start) = split / /;
		push @lost, "$id.$submit"
		    if ($id == $job_id || $array == $job_id) && !$f->{by_row}{"$id.$submit"} &&
		    !$f->{runs}{"$id.$submit"} && is_hit(qr/slurmctld/, qr/KILL|itself/, $start, $start + 10);
	}
	return @lost;
}

sub holds {
	my ($f) = @_;
	my (@wrong, %alive, %open);
	for (grep { !$_->{ended} } @{ $f->{jobs} }) {
		$alive{ $_->{JobId} } = 1;
		$alive{ $_->{ArrayJobId} } = 1 if $_->{ArrayJobId};
	}
	my %unended = map { ($_->{JobIDRaw} => 1) } grep { !$_->{ended} } @{ $f->{rows} };
	my %still;
	for my $hold (@{ $f->{holds} }) {
		$open{ $hold->{job_id} } = $hold;
		next if $alive{ $hold->{job_id} };
		my $since = $still{ $hold->{quote_id} } = $orphan_since{ $hold->{quote_id} } // Site::real();
		next if Site::real() - $since < $orphan_s;
		# slurmdbd never heard of its end: it is a run for it.
		next if $unended{ $hold->{job_id} } && excepted('row never ended', $hold->{job_id});
		my @lost = lost_runs($f, $hold->{job_id});
		next if @lost >= $hold->{live_tasks} &&
		    excepted('row lost', $lost[0], $hold->{money_micros} * $hold->{live_tasks});
		push @wrong, sprintf 'hold %x of job %d (%s) is open, and nothing is alive behind it', $hold->{quote_id}, $hold->{job_id}, $hold->{account};
	}
	%orphan_since = %still;
	for my $job (grep { $_->{runs} && $_->{Account} ne 'free' } @{ $f->{jobs} }) {
		my $hold = $open{ $job->{JobId} } || $open{ $job->{ArrayJobId} // 0 };
		my $rates = rates(place_of($job->{NodeList}), tres($job->{tres}));
		my $start = epoch($job->{StartTime});
		my $cost = sum(cost($rates, $start, $start + seconds($job->{TimeLimit}), 0));
		if (!$hold) {
			push @wrong, "job $job->{JobId} of $job->{Account} runs without a hold";
		} elsif ($hold->{money_micros} < $cost && !(changed_before($start) &&
			excepted('dear by a set clock or a kill', "$job->{JobId}.$start", $cost - $hold->{money_micros}))) {
			push @wrong, "job $job->{JobId} of $job->{Account}: held $hold->{money_micros}, at its limit $cost";
		}
	}
	return @wrong;
}

# ---- no budget is passed by what was admitted ----

# What a span of a run costs in a period; with `cheap`, by the cheapest minute
# that there is where it began before a raised hold could act.
sub cost_within {
	my ($row, $end, $from, $to, $cheap) = @_;
	my ($low, $high) = ($row->{Start} > $from ? $row->{Start} : $from, $end < $to ? $end : $to);
	my ($node, $carbon) = cost($row->{rates}, $low, $high, 0);
	return $node + $carbon if !$cheap || $high <= $low || !changed_before($row->{Start});
	my ($least) = sort { $a <=> $b } map { $_->[1] } @{ $price{ $row->{Partition} } };
	$least *= $row->{rates}{all} * ($high - $low);
	excepted('dear by a set clock or a kill', $row->{key}, $node - $least) if $node > $least * (1 + 1e-9);
	return $least + $carbon;
}

# An admin released it before lowtided could know it, and it started.
sub is_freed {
	my ($row) = @_;
	return grep { $_->[0] =~ /^$row->{JobIDRaw}\b/ && $_->[1] >= $row->{Submit} && $_->[1] <= $row->{Submit} + 10 }
	    @Site::released;
}

# Of one budget in one period: spent and, at its limit, running.
sub paid {
	my ($f, $b, $from, $to, $cheap) = @_;
	my %in = map { ($_ => 1) } split ' ', $b->{accounts};
	my ($spent, $running) = (0, 0);
	for my $row (grep { $in{ $_->{Account} } && $_->{ran} && (!$b->{user} || $_->{User} eq $b->{user}) } @{ $f->{rows} }) {
		next if is_freed($row) && excepted('released at once', $row->{key});
		my $limit = ($row->{TimelimitRaw} || 1) * 60; # none: its start was lost
		if ($row->{ended}) {
			my $active = $row->{length} - $row->{off};
			my $is_over = $active > $limit;
			excepted('OverTimeLimit', $row->{key}) if $is_over;
			excepted('suspend', $row->{key}) if $row->{rates}{kept} * $row->{off} > 0;
			$spent += cost_within($row, $row->{Start} + ($is_over ? $limit : $row->{length}), $from, $to, $cheap) *
			    ($is_over ? 1 : $active / $row->{length}) if $row->{length} > 0;
			next;
		}
		my ($job) = grep { $_->{JobId} == $row->{JobIDRaw} && $_->{runs} } @{ $f->{jobs} };
		next if !$job; # forgotten by slurmctld
		$running += cost_within($row, $row->{Start} + seconds($job->{TimeLimit}), $from, $to, $cheap);
	}
	return ($spent, $running);
}

# Now, and in the period before: runs of its last minutes end in this one.
sub budgets {
	my $f = load();
	my @wrong;
	for my $b (@budgets) {
		my ($begin) = bounds($b->{period}, time);
		for my $at ($begin, $begin - 1) {
			my ($from, $to) = bounds($b->{period}, $at);
			my $more = $b->{user} ? 0
			    : ledger('select coalesce(sum(min(money_micros, 0)), 0) s from entries where kind = 2 and ' .
				of_budget($b, $from, $to))->[0]{s};
			my ($spent, $running);
			for my $cheap (0, 1) {
				($spent, $running) = paid($f, $b, $from, $to, $cheap);
				last if $spent + $running <= $b->{limit} - $more + 1;
				push @wrong, sprintf '%s%s: spent %d and running %d of %d', $b->{team}, $b->{user} ? "/$b->{user}" : '',
				    $spent, $running, $b->{limit} - $more if $cheap;
			}
		}
	}
	return @wrong;
}

# ---- after a cycle ----

# Until all parts have told each other, or the time is over: what is wrong then.
sub settle {
	my ($most) = @_;
	my $until = Site::real() + $most;
	my $idle = Site::real(); # slurmctld's queue was empty
	while (1) {
		my $f = load();
		$idle = Site::real() if !$f->{queue};
		# It looks at slurmdbd again ten seconds after a failure, by the
		# wall clock: after one by a clock that was wrong, much later.
		if (Site::real() - $idle > 30 && grep { $_->[1] < 0 } @Site::clocks) {
			Site::stop_part('slurmctld', 'TERM');
			Site::recover();
			$idle = Site::real();
			excepted('slurmctld waits by the clock', Site::real());
		}
		my @wrong = (runs($f), balances($f), holds($f));
		push @wrong, "slurmctld has $f->{queue} messages for slurmdbd" if $f->{queue};
		return () if !@wrong;
		return @wrong if Site::real() > $until;
		Site::trace(@wrong);
		select undef, undef, undef, .8;
	}
}

# Of runs that sacct has ended, with what it says of each.
sub figures {
	my $f = load();
	my %figures;
	for my $row (grep { $_->{ended} && $f->{runs}{ $_->{key} } } @{ $f->{rows} }) {
		my $run = $f->{runs}{ $row->{key} };
		$figures{"$row->{key} $row->{Start}-$row->{End}"} = "$run->{money_micros} $run->{end_utc_s}"
		    if !grep { exists $excepted{$_}{ $row->{key} } } 'changed an hour later', 'run forgotten', 'hours to come';
	}
	return \%figures;
}

# A row that slurmdbd wrote in two steps is settled twice; one that changed
# since is looked at within a minute.
sub settled_figures {
	my ($last, $now) = ('', figures());
	for (1 .. 20) {
		my $text = join ',', map { "$_=$now->{$_}" } sort keys %$now;
		last if $text eq $last && !runs($facts);
		$last = $text;
		sleep 5;
		$now = figures();
	}
	return $now;
}

sub rebuild {
	my $before = settled_figures();
	my $said = Site::output_within(115, 'lowtide', 'rebuild');
	# Of many months it takes longer than the command's connection lives.
	my $log = "$Site::D/log/lowtided.out";
	for (1 .. 300) {
		last if $said ne '';
		my ($last) = reverse grep { /event=rebuil(d|t)/ } split /\n/, Site::output('tail', '-n', 500, $log);
		$said = $last, excepted('rebuild answered late', Site::real()) if $last && $last =~ /event=rebuilt/;
		select undef, undef, undef, .2;
	}
	return 'lowtide rebuild failed' if $said eq '';
	my $after = figures();
	return map { "run $_: $before->{$_} (micros, end), after a rebuild $after->{$_}" }
	    grep { exists $after->{$_} && $after->{$_} ne $before->{$_} } keys %$before;
}

sub summary {
	my @charged = grep { $_->{length} } grep { $_->{ended} && $_->{ran} } @{ $facts->{rows} };
	my $sum = 0;
	$sum += $_->{micros} for @charged;
	return (scalar @charged, int($sum / 1e6), int($sum) % 1e6);
}

sub exceptions_text {
	return join(', ', map { my $n = keys %{ $excepted{$_} }; "$_: $n" } sort keys %excepted) || 'none';
}

1;
