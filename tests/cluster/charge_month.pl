#!/usr/bin/perl
# Two months of runs at random, with what a charge for carbon and a discount for
# waiting make of them: worked out here from the signals, the rows and the rules
# of the manual alone, hour by hour.
#
#   charge_month.pl signals DIR T          DIR/grid.csv, DIR/spot.csv
#   charge_month.pl rates DIR T            SQL: what lowtided records as they pass
#   charge_month.pl rows DIR T UID ASSOCS  SQL; ASSOCS: vision=ID,eyes=ID...
#   charge_month.pl check DIR T MONTH...   reports in DIR/MONTH.json, against it
use strict;
use warnings;
use JSON::PP;
use POSIX ();

my ($what, $dir, $T, @rest) = @ARGV;
my ($first, $hours) = ($T - 33 * 86400, 40 * 24);
my %usd_h = (ondemand => 3.6); # spot: by the hour
my ($watts, $per_tonne, $share, $most) = (1000, 250, .40, 1.50);

my $state = 20271;
sub draw { # 0 .. N-1
	$state = ($state * 1103515245 + 12345) % 2147483648;
	return int($state / 2147483648 * $_[0]);
}

# By the hour: g CO2e a kWh, and USD for a node of spot.
my (@grid, @spot);
for my $h (0 .. $hours - 1) {
	$grid[$h] = 120 + 60 * (($h + 7) % 24 < 12) * 7 + draw(50);
	$spot[$h] = (90 + 120 * (($h + 3) % 24 < 14) + draw(40)) / 100;
}

# What a part of a node costs from then on, by the hour, nodes and carbon.
sub costs {
	my ($place, $from, $to, $part) = @_;
	my @costs;
	for (my $at = $from; $at < $to;) {
		my $h = POSIX::floor(($at - $first) / 3600);
		my $next = $first + ($h + 1) * 3600;
		$next = $to if $next > $to;
		my $length = ($next - $at) / 3600;
		push @costs, { at => $at,
			nodes => $part * ($usd_h{$place} // $spot[$h]) * $length,
			carbon => $part * $watts / 1e3 * $length * $grid[$h] / 1e6 * $per_tonne };
		$at = $next;
	}
	return @costs;
}
sub usd { my $sum = 0; $sum += $_->{nodes} + $_->{carbon} for costs(@_); return $sum; }

# Vision has a budget, and eyes is below it: one team. Nlp has none.
my %below = (vision => 'eyes', nlp => 'words');
my %team = (eyes => 'vision');
my @runs;
for my $id (1 .. 260) {
	my $place = draw(2) ? 'spot' : 'ondemand';
	my $start = $T - 31 * 86400 + draw(29 * 86400);
	my $length = draw(4) ? 600 + draw(4 * 3600) : 3600 * (6 + draw(20)) + draw(3600);
	my %run = (id => $id, place => $place, start => $start, end => $start + $length,
		cpus => 8 * (1 + draw(8)), account => draw(3) ? 'vision' : 'nlp');
	my $waited = 600 + draw(13 * 3600);
	$run{submit} = $run{earliest} = $start - $waited;
	$run{home} = draw(3) ? $place : $place eq 'spot' ? 'ondemand' : 'spot';
	$run{plan} = draw(5) ? $start - draw(30) : draw(2) ? $run{earliest} + draw($waited) : $start + 900;
	$run{submit} = $run{plan} = $run{earliest} = $start - 30 if !draw(6); # late
	$run{room} = $run{earliest} + draw($waited) if $run{home} ne $place && draw(2);
	$run{quoted} = draw(8) > 0;
	$run{account} = $below{ $run{account} } if $id % 3 == 0;
	push @runs, \%run;
}

# What each is charged, and what is taken off: the most of a month goes to those
# that ended first.
sub months { my ($at) = @_; return POSIX::strftime('%Y-%m', gmtime $at); }
my %given;
for my $run (sort { $a->{end} <=> $b->{end} || $a->{id} <=> $b->{id} } @runs) {
	my $part = $run->{cpus} / 64;
	my ($place, $length) = ($run->{place}, $run->{end} - $run->{start});
	my @costs = costs($place, $run->{start}, $run->{end}, $part);
	my $whole = 0;
	for (@costs) {
		$whole += $_->{nodes} + $_->{carbon};
		$run->{nodes}{ months($_->{at}) } += $_->{nodes};
		$run->{carbon}{ months($_->{at}) } += $_->{carbon};
	}
	next if !$run->{quoted} || $run->{plan} <= $run->{earliest} + 60 || $run->{start} < $run->{plan};
	my $earliest = $run->{earliest};
	$earliest = $run->{room} if $run->{room} && $run->{room} > $earliest;
	my ($then, $planned, $now) = map { usd($place, $_, $_ + $length, $part) }
	    $earliest, $run->{plan}, $run->{start};
	my $saved = $then - ($planned > $now ? $planned : $now);
	next if $saved <= 0;
	my $off = $share * $saved < $whole ? $share * $saved : $whole;
	for my $month (sort keys %{ $run->{nodes} }) {
		my $wanted = $off * ($run->{nodes}{$month} + $run->{carbon}{$month}) / $whole;
		my $team = $team{ $run->{account} } // $run->{account};
		my $left = $most - ($given{"$team $month"} // 0);
		($wanted, $run->{capped}) = ($left, 1) if $wanted > $left;
		$run->{off}{$month} = $wanted;
		$given{"$team $month"} += $wanted;
	}
}

sub signals {
	for (['grid', \@grid], ['spot', \@spot]) {
		my ($name, $values) = @$_;
		open my $file, '>', "$dir/$name.csv" or die "$name: $!";
		print $file "time,value\n";
		printf $file "%d,%s\n", $first + $_ * 3600, $values->[$_] for 0 .. $#$values;
	}
}

sub rates { # of signals.db, measured: 0 is a price, 1 an intensity
	print "DELETE FROM rates WHERE rate = 1 OR (rate = 0 AND partition = 'spot');\n";
	for my $h (0 .. ($T - $first) / 3600 - 1) {
		my ($from, $to) = map { $first + ($h + $_) * 3600 } 0, 1;
		print "INSERT INTO rates VALUES ('$_->[0]', $_->[1], $from, $to, $_->[2], 2, '$_->[3]', NULL);\n"
		    for ['spot', 0, $spot[$h] * 1e6, 'spot'], ['spot', 1, $grid[$h], 'grid'], ['ondemand', 1, $grid[$h], 'grid'];
	}
}

sub rows {
	my ($uid, $assocs) = @_;
	my %assoc = map { split /=/ } split /,/, $assocs;
	for my $r (@runs) {
		my $lever = $r->{home} ne $r->{place}
		    ? ' lever=1000000,1000000,-,-,-,-,-,-' . ($r->{room} ? ",$r->{room}" : '') : '';
		my $quote = $r->{quoted} ? sprintf 'lowtide:1 q=%016x rev=1 team=%s hold=-,- n=1 win=%d-%d ' .
		    'plan=%s@%d base=%s@%d exp=-,- was=-,- by=cost mode=enforce f=0%s;', $r->{id}, $r->{account},
		    $r->{submit}, $r->{end}, $r->{place}, $r->{plan}, $r->{home}, $r->{earliest}, $lever : '';
		print "INSERT INTO tide_job_table (mod_time, account, cpus_req, job_name, id_assoc,
		    id_array_job, id_array_task, id_job, id_qos, id_resv, id_wckey, id_user,
		    id_group, het_job_id, het_job_offset, mem_req, state_reason_prev, nodelist,
		    nodes_alloc, node_inx, `partition`, priority, state, timelimit, time_submit,
		    time_eligible, time_start, time_end, work_dir, tres_alloc, tres_req, admin_comment)
		VALUES ($T, '$r->{account}', $r->{cpus}, 'past', $assoc{$r->{account}}, 0, 4294967294,
		    @{[ 20000 + $r->{id} ]}, 1, 0, 0, $uid, 0, 0, 4294967294, 0, 0, 'v1', 1, '0',
		    '$r->{place}', 1, 3, 6000, $r->{submit}, $r->{submit}, $r->{start}, $r->{end}, '/tmp',
		    '1=$r->{cpus},4=1', '1=$r->{cpus},4=1', '$quote');\n";
	}
}

my $bad = 0;
sub near { # near WHAT GOT WANTED SLACK: micros
	my ($of, $got, $wanted, $slack) = @_;
	return if defined $got && abs($got - $wanted) <= $slack;
	$bad++;
	print "$of: got @{[ $got // 'nothing' ]}, want $wanted\n" if $bad <= 20;
}

sub check {
	my ($n, $discounted) = (0, 0);
	for my $month (@rest) {
		open my $file, '<', "$dir/$month.json" or die "$month: $!";
		my $report = decode_json(do { local $/; <$file> });
		my %row = map { ($_->{job_id} => $_) } @{ $report->{runs} };
		my (%sum, %count, %all);
		for my $r (@runs) {
			next if !defined $r->{nodes}{$month};
			my $row = delete $row{ 20000 + $r->{id} };
			my $off = $r->{off}{$month} // 0;
			my @wanted = map { $_ * 1e6 } $r->{nodes}{$month} + $r->{carbon}{$month} - $off,
			    $r->{carbon}{$month}, $off;
			my @names = qw(money_micros carbon_charge_micros discount_micros);
			# Nodes, carbon and the discount are each whole micros of whole hours;
			# what is left of the most, after those that each are less.
			my $slack = $r->{capped} ? 3 + @runs : 3;
			near("run $r->{id} in $month, $names[$_]", $row->{ $names[$_] }, $wanted[$_], $slack) for 0 .. 2;
			$sum{ $r->{account} }[$_] += $wanted[$_] for 0 .. 2;
			$all{ $r->{account} }[$_] += $row->{ $names[$_] } // 0 for 0 .. 2;
			$count{ $r->{account} }++;
			$n++;
			$discounted++ if $off > 0;
		}
		near("runs of $month that nobody knows", scalar(keys %row), 0, 0);
		my @total = (0, 0, 0);
		for my $team (@{ $report->{teams} }) {
			my $of = $team->{team};
			my @names = qw(cost_micros carbon_charge_micros discount_micros);
			for (0 .. 2) {
				near("$of in $month, $names[$_], rows", $team->{ $names[$_] }, $all{$of}[$_] // 0, 0);
				near("$of in $month, $names[$_]", $team->{ $names[$_] }, $sum{$of}[$_] // 0, 3 * ($count{$of} // 0));
				$total[$_] += $team->{ $names[$_] };
			}
			near("$of in $month: most", $team->{discount_micros}, $most * 1e6 / 2, $most * 1e6 / 2);
			# To the cent.
			near("$of in $month, cents", sprintf('%.0f', $team->{cost_micros} / 1e4),
			    sprintf('%.0f', ($sum{$of}[0] // 0) / 1e4), 0);
		}
		near("total of $month", $report->{total}{cost_micros}, $total[0], 0);
		near("charge of $month", $report->{total}{carbon_charge_micros}, $total[1], 0);
		near("discount of $month", $report->{total}{discount_micros}, $total[2], 0);
		printf "%s: %s USD, of it %s for carbon, %s taken off\n", $month, map { $_ / 1e6 } @total;
	}
	near('runs', $n, 280, 30);
	near('runs with a discount', $discounted, 60, 40);
	exit($bad ? 1 : 0);
}

{ signals => \&signals, rates => \&rates, rows => sub { rows(@rest) }, check => \&check }->{$what}->();
