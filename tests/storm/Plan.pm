# What happens in a cycle, drawn from seed and number of the cycle alone: the
# same seed gives the same choices, whatever the machine is doing meanwhile.
# Whom a choice hits (the third-last job) is said as a fraction.
package Plan;
use strict;
use warnings;

my @accounts = qw(rich rich kid tiny tiny later later capped free);
my @parts = qw(lowtided lowtided lowtided slurmctld slurmctld slurmctld slurmdbd mariadb);

sub pick { return $_[int rand @_] }
sub chance { return rand() < $_[0] }

sub submission {
	my @args = ('-A', pick(@accounts));
	my $partition = pick(qw(main main main spot gpu));
	push @args, '-p', $partition if $partition ne 'main' || chance(.3);
	push @args, @{ pick([ '-N1', '--exclusive' ], [ '-n', 32 ], [ '-n', 16 ],
		[ '-n', 1 + int rand 40 ], [ '-N2', '--exclusive' ],
		[ '-n', 8, '-c', 1 + int rand 6 ],
		[ '-n', 2, '-C', 'ib*' . (1 + int rand 2) ]) };
	push @args, '--gpus=' . (1 + int rand 4)
	    if $partition eq 'gpu' && !grep { $_ eq '--exclusive' } @args;
	push @args, '--time=' . (1 + int rand 2);
	push @args, chance(.7) ? '--requeue' : '--no-requeue';
	push @args, @{ pick([], [], [], [], ['--hold'],
		[ '--begin=now+' . (2 + int rand 12) ],
		[ '--array=1-' . (2 + int rand 3) . pick('', '%1') ],
		['--dependency=afterany:LAST'], ['--test-only']) };
	return [ 'submit', @args ], 1 + int rand(chance(.15) ? 80 : 5);
}

sub change {
	my @what = pick([ 'TimeLimit=' . (1 + int rand 4) ],
		[ 'TimeLimit=' . (1 + int rand 300) ],
		[ 'NumNodes=' . (1 + int rand 3) ], [ 'Account=' . pick(@accounts) ],
		[ 'Partition=' . pick(qw(main spot gpu), 'main,spot') ],
		['TimeLimit=UNLIMITED'], [ 'TimeLimit=3', 'Account=nosuch' ],
		['StartTime=now'], [ 'Nice=' . int rand 50 ],
		[ 'Features=ib*' . (1 + int rand 2) ]);
	return [ 'change', @{ $what[0] } ];
}

# who: owner, stranger, admin; target, user: fractions
sub user_step {
	my %step = (target => rand(), user => rand(), at => 0, sleep => 1,
		who => pick(qw(owner owner owner owner owner stranger admin)));
	my $kind = rand;
	if ($kind < .50) { ($step{do}, $step{sleep}) = submission() }
	elsif ($kind < .66) { $step{do} = change() }
	elsif ($kind < .76) { $step{do} = ['cancel'] }
	elsif ($kind < .86) { $step{do} = ['requeue'] }
	elsif ($kind < .88) { $step{do} = [ pick(qw(hold uhold)) ] }
	elsif ($kind < .94) { $step{do} = ['release'] }
	elsif ($kind < .97) { $step{do} = ['suspend', 1 + int rand 4] }
	elsif ($kind < .985) { $step{do} = [ 'node', pick(qw(c1 c2 c3 g1)) ] }
	else { $step{do} = [ 'adjust', pick(qw(tiny later kid)), pick(-.05, .02, .1) ] }
	return \%step;
}

# A part ends by a signal and starts again; some of its time others follow.
sub kill_steps {
	my ($at) = @_;
	my $part = pick(@parts);
	my $back = $at + .3 + rand(chance(.2) ? 6 : 2);
	return ({ at => $at, do => [ 'kill', $part, pick(qw(KILL KILL TERM)) ] },
		{ at => $back, do => [ 'start', $part ] });
}

sub disk_steps {
	my ($at) = @_;
	return ({ at => $at, do => [ 'full', pick(0, 4096, 65536, 1048576) ] },
		{ at => $at + 1 + rand 4, do => ['room'] });
}

sub clock_steps {
	my ($at) = @_;
	my $by = pick(3, 17, 45, 90, -2, -4, -8);
	return ({ at => $at, do => [ 'clock', $by ] }) if chance(.6);
	$by = pick(300, 1200, -300, -1200); # set wrong, and put right
	return ({ at => $at, do => [ 'clock', $by ] },
		{ at => $at + 1 + rand 3, do => [ 'clock', -$by ] });
}

# The steps of a cycle in the order of their time, in seconds.
sub of_cycle {
	my ($seed, $cycle, $seconds) = @_;
	srand($seed * 100_003 + $cycle);
	my @steps;
	my $count = 14 + int rand 14;
	push @steps, map { { %{ user_step() }, at => $seconds * $_ / $count } } 0 .. $count - 1;
	push @steps, kill_steps(rand($seconds * .8)) for 1 .. 1 + int rand 3;
	push @steps, disk_steps(rand($seconds * .6)) if chance(.2);
	push @steps, clock_steps(rand($seconds * .6)) if chance(.2);
	push @steps, { at => -1, do => ['month'] } if chance(.06);
	return sort { $a->{at} <=> $b->{at} } @steps;
}

1;
