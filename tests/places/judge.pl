# What becomes of jobs on the cluster of a site, plain and as lowtide places
# them: each is given to sbatch, and ended as soon as it has nodes.
package Judge;
use strict;
use warnings;
use POSIX ();
use Time::HiRes qw(time sleep);

use constant WAVE => 16;	 # jobs at once
use constant QUIET_S => 4.5;	 # nothing started for so long: those left are stuck
use constant SOLO_S => 8;	 # a plain job, alone
use constant START_WITHIN_S => $ENV{PATIENCE} || 60; # one that was placed, alone

my $user_id; # who submits, where we are root

sub start { ($user_id) = @_ }

sub command { # its output and exit status; as the user where wanted
	my ($as_user, @words) = @_;
	my $pid = open my $from, '-|';
	if (!$pid) {
		open STDERR, '>&', \*STDOUT;
		if ($as_user && defined $user_id) {
			my $gid = (getpwuid $user_id)[3];
			$( = $gid;
			$) = "$gid $gid";
			POSIX::setuid($user_id);
		}
		chdir '/tmp';
		exec @words or POSIX::_exit(127);
	}
	local $/;
	my $text = <$from>;
	close $from;
	return ($text // '', $? >> 8);
}

our $is_gone; # slurmctld has ended: asked no more

# [id, text] or [undef, why not]
sub submit {
	my ($moved, @words) = @_;
	return [ undef, 'slurmctld has ended' ] if $is_gone;
	my ($text, $status) = command(1, 'sbatch', $moved ? "--carbon-aware=$moved" : (),
		'-o/dev/null', @words, '--wrap=sleep 600');
	return [ $1, $text ] if $status == 0 && $text =~ /Submitted batch job (\d+)/;
	$is_gone = $text =~ /Unable to contact slurm controller|Zero Bytes were transmitted/;
	return [ undef, $text ];
}

# By id, the array's for tasks: the first that runs, else the first.
sub queue {
	my ($text) = command(0, qw(squeue -a -h -r -O),
		'ArrayJobID:|,State:|,Reason:|,Partition:|,tres-alloc:|,NumNodes:|,NodeList:|,EligibleTime:|,TimeLimit:|,PriorityLong:|,admin_comment:|');
	my %jobs;
	for (split /\n/, $text) {
		my @f = split /\|/;
		next if @f < 9 || $f[0] !~ /^\d+$/;
		my %job = (state => $f[1], reason => $f[2], part => $f[3], tres => $f[4], nodes => $f[5],
			list => $f[6], eligible => $f[7], limit => $f[8], priority => $f[9],
			why => ($f[10] // '') =~ /\bwhy=(\S+)/ ? $1 : undef);
		my $had = $jobs{ $f[0] };
		next if $had && ($had->{state} =~ /^(RUNNING|CONFIGURING)/ || $job{state} !~ /^(RUNNING|CONFIGURING)/);
		$jobs{ $f[0] } = \%job;
	}
	return \%jobs;
}

sub cancel { command(0, 'scancel', @_) if @_ }

sub all_gone { # nobody's job is there, and no node still cleans up
	my $until = time + 30;
	while (time < $until) {
		my $jobs = queue();
		return if !%$jobs;
		my @left = grep { $jobs->{$_}{state} eq 'PENDING' } keys %$jobs;
		cancel(@left);
		sleep 0.2;
	}
}

# Due now, and not held: what lowtide wrote is taken back, and what the user
# asked for alike, so that both are judged by where they may run.
sub due_now {
	my ($id, $job) = @_;
	my @said;
	if ($job->{reason} =~ /BeginTime/ || $job->{eligible} eq '' || $job->{eligible} gt POSIX::strftime('%Y-%m-%dT%H:%M:%S', localtime time + 2)) {
		push @said, command(0, 'scontrol', 'update', "JobId=$id", 'StartTime=now');
	}
	push @said, command(0, 'scontrol', 'release', $id)
	    if $job->{reason} =~ /JobHeld/ || (defined $job->{priority} && $job->{priority} eq '0');
	return @said;
}

sub note { # of a job as it is in the queue
	my ($run, $job, $outcome) = @_;
	$run->{outcome} = $outcome;
	$run->{$_} = $job->{$_} for qw(part tres nodes list reason limit why);
}

# Of a job that is in the queue no more: started, where it had nodes.
sub note_gone {
	my ($run, $id) = @_;
	my ($text) = command(0, qw(scontrol -o show job), $id);
	my %is = $text =~ /(?:^| )(\w+)=(\S+)/g;
	$run->{outcome} = 'gone';
	note($run, { part => $is{Partition}, nodes => $is{NumNodes}, list => $is{NodeList},
		tres => $is{AllocTRES} // $is{TRES}, reason => $is{Reason}, limit => $is{TimeLimit},
		why => $text =~ /\bwhy=(\S+)/ ? $1 : undef }, 'started')
	    if ($is{NodeList} // '(null)') ne '(null)';
}

# Jobs are [index, words]. Gives runs to %$runs by index: outcome started,
# refused or stuck.
sub wave {
	my ($jobs, $moved, $runs, $quiet_s) = @_;
	my (%index, %due);
	my $last = time;
	for (@$jobs) {
		my ($i, @words) = @$_;
		my ($id, $text) = @{ submit($moved, @words) };
		$runs->{$i} = { text => $text, outcome => 'refused' };
		next if !defined $id;
		$index{$id} = $i;
		$runs->{$i}{outcome} = 'stuck';
		$runs->{$i}{id} = $id;
	}
	while (%index && !$is_gone) {
		my $queue = queue();
		my @started;
		for my $id (keys %index) {
			my $run = $runs->{ $index{$id} };
			my $job = $queue->{$id};
			if (!$job) { # ended by Slurm itself
				note_gone($run, $id);
				delete $index{$id};
			# With --export slurmd logs its user in, which may have no shell.
			} elsif ($job->{state} =~ /^(RUNNING|CONFIGURING)/ || $job->{reason} =~ /env retrieval failed/i) {
				note($run, $job, 'started');
				push @started, $id;
				delete $index{$id};
			} else {
				$run->{placed} //= $job->{part};
				note($run, $job, 'stuck');
				if (!$due{$id}++ || $job->{reason} =~ /BeginTime|JobHeld/) {
					$run->{begin} //= $job->{eligible};
					due_now($id, $job);
				}
			}
		}
		cancel(@started);
		$last = time if @started || grep { $_->{state} =~ /RUN|COMPLETING|CONF/ } values %$queue;
		last if time - $last > $quiet_s;
		sleep 0.25 if %index;
	}
	return if $is_gone;
	cancel(keys %index);
	all_gone();
}

# All jobs, in waves; those that did not start, or were refused with others in
# the queue, alone. Where plain sbatch started none, nothing is wanted.
sub run_all {
	my ($jobs, $moved, $plain) = @_;
	my %runs;
	my @left = @$jobs;
	while (my @some = splice @left, 0, WAVE) {
		wave(\@some, $moved, \%runs, QUIET_S);
	}
	if (!$plain) { # what others were in the way of
		my @again = grep { my $r = $runs{ $_->[0] };
			$r->{outcome} eq 'refused' ? $r->{text} =~ /limit/i
			: $r->{outcome} eq 'stuck' && ($r->{reason} // '') =~ /^(Resources|Priority|None|ReqNode|Nodes_req|.*Grp|.*Max.*Per(User|Account))/ } @$jobs;
		wave([$_], $moved, \%runs, 2) for grep { $runs{ $_->[0] }{outcome} eq 'refused' } @again;
		@again = grep { $runs{ $_->[0] }{outcome} ne 'started' } @again;
		wave(\@again, $moved, \%runs, QUIET_S) if @again;
		return \%runs;
	}
	for (@$jobs) {
		my ($i) = @$_;
		next if $runs{$i}{outcome} eq 'started';
		next if $runs{$i}{outcome} ne 'refused' && $plain->{$i}{outcome} ne 'started';
		wave([$_], $moved, \%runs, START_WITHIN_S);
	}
	return \%runs;
}

sub solo {
	my ($words, $moved, $quiet_s) = @_;
	my %runs;
	wave([ [ 0, @$words ] ], $moved, \%runs, $quiet_s || ($moved ? 12 : SOLO_S));
	return $runs{0};
}

1;
