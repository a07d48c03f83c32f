# The cluster as the storm acts on it: commands of users in the background,
# parts that are killed and started, the clock, the disk. What was done, and
# when, is kept for the model and for the report of a violation.
package Site;
use strict;
use warnings;
use POSIX ':sys_wait_h';
use Time::HiRes qw(clock_gettime CLOCK_MONOTONIC);

our $D = $ENV{CLUSTER_DIR};
our @parts = qw(mariadb slurmdbd slurmctld lowtided); # in order of need
our @users = split ' ', $ENV{STORM_USERS};
our @released; # by an admin: the job, and when
our $root = $> == 0;
our (@jobs, %owner);     # ids as they were given out, and of whom
our (@outages, @clocks); # [part, cluster time from, to]; [time, by]
our %suspends;          # by job: when it was to be suspended
our %count;
my (%child, %wanted_up, @log, %down_since);
$wanted_up{$_} = 1 for @parts;

sub real { return clock_gettime(CLOCK_MONOTONIC) } # nobody sets that one

sub note { push @log, sprintf '%.2f %s', time, join ' ', @_ }
sub take_log { my @all = @log; @log = (); return @all }

# For whoever wonders what a cycle waits for.
sub trace {
	open my $file, '>>', "$D/log/storm" or return;
	printf {$file} "%.1f %d %s\n", real(), time, join '; ', @_;
}

sub output { # output COMMAND...: what it prints, within 20 s; '' if it fails
	return output_within(20, @_);
}

sub output_within { # output_within SECONDS COMMAND...
	my ($seconds, @command) = @_;
	my $pid = open my $from, '-|';
	if (!$pid) {
		open STDERR, '>', '/dev/null';
		exec 'timeout', '-k', 1, $seconds, @command or exit 127;
	}
	local $/;
	my $text = <$from>;
	return close $from ? $text // '' : '';
}

sub works { # works COMMAND...: it ends well within 10 s
	my $pid = fork;
	if (!$pid) {
		open STDOUT, '>', '/dev/null';
		open STDERR, '>', '/dev/null';
		exec 'timeout', '-k', 1, 10, @_ or exit 127;
	}
	waitpid $pid, 0;
	return $? == 0;
}

sub in_background { # in_background WHEN-DONE, SECONDS, COMMAND...
	my ($done, $seconds, @command) = @_;
	my $out = "$D/jobs/out." . ++$count{commands};
	my $pid = fork;
	if (!$pid) {
		open STDIN, '<', '/dev/null';
		open STDOUT, '>', $out;
		open STDERR, '>&', \*STDOUT;
		exec 'timeout', '-k', 2, $seconds, @command or exit 127;
	}
	$child{$pid} = [ $done, $out, "@command" ];
}

sub reap {
	my ($pid, $status) = @_;
	my ($done, $out, $text) = @{ delete $child{$pid} };
	open my $file, '<', $out;
	local $/;
	my $said = $file ? <$file> // '' : '';
	unlink $out;
	$said =~ s/\s+$//;
	note(($status ? 'failed: ' : 'done: ') . $text, '=>', $said);
	$done->($status, $said) if $done;
}

sub collect { # those that have ended; all of them if told to wait
	my ($wait) = @_;
	for my $pid (keys %child) {
		my $got = waitpid $pid, $wait ? 0 : WNOHANG;
		reap($pid, $?) if $got == $pid;
	}
}

sub as { # as USER COMMAND...
	my ($user, @command) = @_;
	return @command if !$root || $user eq 'root';
	return ('setpriv', "--reuid=$user", '--clear-groups', @command);
}

sub target { # the job that a fraction means: the young ones more often
	my ($step) = @_;
	return undef if !@jobs;
	my $back = int($step->{target}**2 * (@jobs < 10 ? @jobs : 10));
	return $jobs[ -1 - $back ];
}

sub whose { # who does a step to a job
	my ($step, $job) = @_;
	return 'root' if !$root || $step->{who} eq 'admin';
	return $owner{$job} if $step->{who} eq 'owner';
	my @others = grep { $_ ne $owner{$job} } @users;
	return $others[ int($step->{user} * @others) ];
}

my %user_steps = (
	submit => sub {
		my ($step, @args) = @_;
		my $user = $users[ int($step->{user} * @users) ];
		my $last = target($step);
		@args = map { s/LAST/$last/r } grep { $last || !/LAST/ } @args;
		in_background(sub {
			my ($status, $said) = @_;
			$count{$status ? 'refused' : 'submitted'}++;
			return if $said !~ /^Submitted batch job (\d+)/m;
			push @jobs, $1;
			$owner{$1} = $user;
		}, 25, as($user, 'sbatch', '-D', '/tmp', '-o', '/dev/null', @args,
			'--wrap', "exec sleep $step->{sleep}"));
	},
	change => sub {
		my ($step, @what) = @_;
		on_job($step, 'changed', sub { ('scontrol', 'update', "JobId=$_[0]", @what) });
	},
	cancel => sub { on_job($_[0], 'cancelled', sub { ('scancel', $_[0]) }) },
	requeue => sub { on_job($_[0], 'requeued', sub { ('scontrol', 'requeue', $_[0]) }) },
	hold => sub { on_job($_[0], 'held', sub { ('scontrol', 'hold', $_[0]) }) },
	uhold => sub { on_job($_[0], 'held', sub { ('scontrol', 'uhold', $_[0]) }) },
	release => sub { on_job($_[0], 'released', sub { ('scontrol', 'release', $_[0]) }) },
	suspend => sub {
		my ($step, $seconds) = @_;
		on_job({ %$step, who => 'admin' }, 'suspended', sub {
			push @{ $suspends{ $_[0] } }, time;
			return ('sh', '-c', "scontrol suspend $_[0] && sleep $seconds; scontrol resume $_[0]");
		});
	},
	node => sub {
		my ($step, $node) = @_;
		$count{nodes}++;
		in_background(undef, 25, 'sh', '-c', "scontrol update nodename=$node state=down reason=storm;" .
		    " sleep 1; scontrol update nodename=$node state=resume");
	},
	adjust => sub {
		my ($step, $team, $amount) = @_;
		my $reason = 'storm ' . ++$count{adjusted};
		in_background(sub { push @{ $Model::adjusted{ $_[0] ? 'maybe' : 'yes' } }, $reason },
			10, 'lowtide', 'budget', 'adjust', '--team', $team, "--amount=$amount",
			'--reason', $reason);
	},
);

sub on_job {
	my ($step, $name, $command) = @_;
	my $job = target($step);
	return if !$job;
	my $who = whose($step, $job);
	push @released, [$job, time] if $name eq 'released' && $step->{who} eq 'admin';
	in_background(sub { $count{ $_[0] ? 'refused' : $name }++ }, 25, as($who, $command->($job)));
}

# ---- parts ----

sub pid_of {
	my ($part) = @_;
	open my $file, '<', "$D/run/$part.shpid" or return 0;
	my $pid = <$file> // 0;
	chomp $pid;
	return $pid;
}

sub is_alive {
	my $pid = pid_of($_[0]) or return 0;
	open my $file, '<', "/proc/$pid/stat" or return 0;
	return (<$file> // '') !~ /\) Z/;
}

sub stop_part {
	my ($part, $signal) = @_;
	my $pid = pid_of($part);
	return if !$wanted_up{$part} || !$pid;
	$wanted_up{$part} = 0;
	$down_since{$part} = [ time, $signal ];
	$count{"kill $part"}++;
	$count{kills}++;
	kill $signal, $pid;
}

sub start_part {
	my ($part) = @_;
	return if $wanted_up{$part};
	$wanted_up{$part} = 1;
	my $since = $down_since{$part};
	# One start after the other: a slow machine has not done the last one.
	in_background(sub { push @outages, [ $part, @$since, time ] }, 60,
		'flock', '-o', "$D/run/$part.start", 'sh', '-c',
		"\"\$CLUSTER_SH\" stop $D $part KILL; exec \"\$CLUSTER_SH\" start $D $part");
}

my %answers = (
	mariadb => [ 'mysqladmin', '--no-defaults', '-uroot', '-S', "$D/run/db.sock", 'ping' ],
	slurmdbd => [ 'sacctmgr', '-n', 'show', 'cluster' ],
	slurmctld => [ 'sh', '-c', 'scontrol ping | grep -q "is UP"' ],
	lowtided => [ 'lowtide', 'status' ],
);

# slurmctld wants slurmdbd at its start until it has saved all tables once, and
# is killed by its own fault (22.05, load_assoc_mgr_state()) if slurmdbd goes
# while they are read; and it ends when a job is requeued, and starts, whose
# script it had removed: of one that ended before a month went by in a second.
my $own_end = qr{fatal:\ (?:slurmdbd\ and/or\ database\ must\ be\ up
    |_build_launch_job_msg:\ Unable\ to\ load\ job\ batch\ script)
    |Association\ database\ appears\ down,\ reading\ from\ state\ file\.\s*\z}x;

sub may_end {
	my ($part) = @_;
	return 1 if $part ne 'slurmctld' && $part ne 'lowtided';
	return output('tail', '-n', 5, "$D/log/$part.out") =~ $own_end;
}

# All parts up again, whatever was done. What ended of itself is returned.
sub recover {
	my @died;
	room();
	collect(1);
	for my $part (@parts) {
		if ($wanted_up{$part} && !is_alive($part)) {
			push @died, $part if !may_end($part);
			$wanted_up{$part} = 0;
			$down_since{$part} = [ time, 'itself' ];
		}
		my $until = real() + 90;
		while (!works(@{ $answers{$part} })) {
			$wanted_up{$part} = 0 if !is_alive($part);
			start_part($part);
			collect(1);
			die "storm: $part does not come up\n" if real() > $until;
			select undef, undef, undef, .2;
		}
	}
	wake_nodes();
	return @died;
}

# A slurmctld that lost its state waits for nodes that have told it all; at a
# HUP slurmd tells it again.
sub wake_nodes {
	for (split /\n/, output('sinfo', '-h', '-N', '-o', '%N %T')) {
		my ($node, $state) = split ' ';
		next if $state =~ /^(idle|mixed|allocated|completing)$/;
		kill 'HUP', pid_of("slurmd.$node") || next;
		system "scontrol update nodename=$node state=resume 2>/dev/null";
	}
}

# What waits for ever (three nodes in a partition of one) locks its budget.
sub forget_old {
	my @old = splice @jobs, 0, @jobs > 16 ? @jobs - 16 : 0;
	in_background(undef, 25, 'scancel', @old) if @old;
}

# ---- clock, disk ----

sub shift_clock {
	my ($by) = @_;
	open my $file, '+<', $ENV{CLOCK_SHIFT} or die "storm: clock: $!";
	my $text = <$file>;
	push @clocks, [ time, $by ];
	seek $file, 0, 0;
	printf {$file} '%16d', $text + $by;
	close $file;
	$count{clocks}++;
}

sub limit_files {
	my ($bytes) = @_;
	my $pid = pid_of('lowtided');
	return if !is_alive('lowtided');
	system "prlimit --pid $pid --fsize=$bytes: 2>/dev/null";
}

sub room { limit_files('unlimited') }

# To some seconds before the month ends; nothing runs meanwhile, as a job that
# a step of days hits has run for days.
sub near_month_end {
	my $until = real() + 40;
	output('scancel', '--state=RUNNING', '--user', $_) for @users;
	while (output('squeue', '-h', '-t', 'R,CG,S', '-o', '%i') ne '') {
		return if real() > $until;
		select undef, undef, undef, .2;
	}
	my @t = gmtime;
	my $month = POSIX::mktime(0, 0, 0, 1, $t[4] + 1, $t[5]);
	shift_clock($month - 6 - time);
	$count{months}++;
}

my %site_steps = (
	kill => \&stop_part,
	start => \&start_part,
	clock => \&shift_clock,
	full => sub { $count{full}++; limit_files(@_) },
	room => \&room,
	month => \&near_month_end,
);

sub do_step {
	my ($step) = @_;
	my ($name, @args) = @{ $step->{do} };
	note("step $name @args", map { "$_=" . ($step->{$_} // '') } qw(who target user sleep));
	if ($site_steps{$name}) {
		$site_steps{$name}->(@args);
	} else {
		$count{events}++;
		$user_steps{$name}->($step, @args);
	}
}

1;
