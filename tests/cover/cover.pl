#!/usr/bin/perl
# The loop of tests/cover: gives random requests to the client, asks the
# oracle whether each hold covers what was allocated, and shrinks what does
# not. cover.sh starts it, once without lowtide (--without) and once with it.
use strict;
use warnings;
use Getopt::Long;
use IPC::Open2;

use constant BLOCK => 40;
use constant ANSWERS_WITHIN_S => 20;
use constant SLURM_LOOKS_EACH_S => 30; # for jobs over their limit

my ($here) = $0 =~ m{^(.*)/} or die "cover: call me by my path\n";
require "$here/oracle.pl";
require "$here/requests.pl";

$| = 1;
my %o = (seed => 1, first => 0, count => 300, options => 0);
GetOptions(\%o, 'seed=i', 'first=i', 'count=i', 'policy=s', 'client=s',
	'kept=s', 'restart=s', 'without', 'before=s', 'out=s', 'goals=i', 'verbose')
    or die "cover: bad options\n";

my $site = Oracle::read_site($o{policy});
Requests::start($site);
my ($pid, $from, $to, @busy); # @busy: [id, request] that keep nodes busy

sub begin_client { $pid = open2($from, $to, split ' ', $o{client}) }
begin_client();

# libslurm asks a slurmctld that is dead for minutes: the client is ended. Newer
# ones give up sooner.
sub ask {
	my ($line) = @_;
	local $SIG{PIPE} = 'IGNORE';
	print $to "$line\n";
	local $SIG{ALRM} = sub { kill 'KILL', $pid };
	alarm ANSWERS_WITHIN_S;
	my $answer = <$from>;
	alarm 0;
	if (!defined $answer || $answer =~ /^refused 1800 /) {
		die "cover: no answer to: $line\n" if !$o{restart};
		kill 'KILL', $pid;
		waitpid $pid, 0;
		print "# slurmctld ended at: $line\n";
		system($o{restart}) == 0 or die "cover: no slurmctld after: $line\n";
		begin_client();
		my @lost = map { $_->[1] } splice @busy;
		make_busy(@lost);
		return "crashed $line";
	}
	chomp $answer;
	return $answer;
}

# "started a=b ... comment=..." -> hash with outcome, hold, part, nodes, ...
sub outcome {
	my ($c, $verb) = @_;
	return read_answer(ask("$verb " . Requests::text($c)));
}

sub read_answer {
	my ($answer) = @_;
	my %run = (outcome => $answer =~ /^(\w+)/, answer => $answer);
	if ($run{outcome} eq 'started') {
		$run{$1} = $2 while $answer =~
		    /\G\w* ?(job|part|limit|nodes|min|max|list|tres|gres)=(\S+)/gc;
		($run{hold}) = $answer =~ /comment=.*\bhold=(\d+),/;
		# What the plan tells, of all tasks.
		@run{'tasks', 'planned', 'told'} = $answer =~
		    /comment=.*\bn=(\d+) .*\bplan=([^@ ]*)@.*\bexp=(\d+),/;
		($run{message}) = $answer =~ /msg=(.*?) comment=/;
	}
	return \%run;
}

sub judge { # adds the charge; true where the hold is below it
	my ($run) = @_;
	return 0 if $run->{outcome} ne 'started';
	$run->{at_limit} = Oracle::charge($site, $run, 0);
	$run->{charge} = Oracle::charge($site, $run, SLURM_LOOKS_EACH_S);
	return 1 if !defined $run->{hold};
	return $run->{hold} < $run->{charge} * (1 - 1e-9);
}

# ---- in words ----

my %word = (ntasks => 'n', nodes => 'N', cpus_per_task => 'c', tmp => 'tmp',
	partition => 'p', account => '');
my @raw = qw(rpc batch min_nodes max_nodes min_cpus max_cpus plane_size
	ntasks_per_board boards_per_node sockets_per_board);

sub in_words {
	my ($c) = @_;
	my @words = $c->{batch} ? 'sbatch' : 'salloc';
	for my $name (sort keys %$c) {
		my $value = $c->{$name};
		$value =~ s/gres:gpu:|gres:(?=shard)//g;
		next if $name eq 'account' || $name eq 'batch';
		if ($name eq 'shared') {
			push @words, $value == 0 ? '--exclusive'
			    : $value == 1 ? '--oversubscribe'
			    : $value == 2 ? '--exclusive=user' : '--exclusive=mcs';
		} elsif ($name eq 'gres') {
			push @words, $value =~ /shard/ ? "--gres=$value"
			    : "--gpus-per-node=$value";
		} elsif ($word{$name}) {
			push @words, "-$word{$name} $value";
		} elsif (grep { $_ eq $name } @raw) {
			push @words, "[$name=$value]";
		} else {
			(my $option = $name) =~ tr/_/-/;
			push @words, "--$option=$value";
		}
	}
	return join ' ', @words;
}

# ---- busy nodes ----

sub clear_busy {
	ask("drop $_->[0]") for @busy;
	@busy = ();
}
sub make_busy {
	for my $c (@_) {
		my $run = outcome($c, 'keep');
		push @busy, [$run->{job}, $c] if $run->{outcome} eq 'started';
	}
}
sub meets_busy {
	my ($c) = @_;
	my ($first) = split /,/, $c->{partition};
	my %held = map { ($_->[1]{nodelist} || '') => 1 } @busy;
	return scalar grep { $held{$_} } @{ $site->{partition}{$first}{nodes} };
}

# ---- shrinking ----

sub still_fails { return judge(outcome($_[0], 'run')) }

sub shrink {
	my ($c) = @_;
	my %least = %$c;
	# The same on a plainer partition is the same finding.
	for my $plainer ('plain', 'threads', split /,/, $c->{partition}) {
		last if $least{partition} eq $plainer;
		my %try = (%$c, partition => $plainer);
		next if !still_fails(\%try);
		%least = %try;
		last;
	}
	my $again = 1;
	for (my $round = 0; $again && $round < 4; $round++) {
		$again = 0;
		for my $name (sort keys %least) {
			next if $name =~ /^(partition|account)$/;
			my %try = %least;
			delete $try{$name};
			if (still_fails(\%try)) {
				%least = %try;
				$again = 1;
				next;
			}
			my $value = $least{$name};
			next if $value !~ /^\d+$/ || $value < 2;
			for my $smaller (1, 2, int($value / 2), $value - 1) {
				next if $smaller >= $value;
				%try = (%least, $name => $smaller);
				next if !still_fails(\%try);
				%least = %try;
				$again = 1;
				last;
			}
		}
	}
	return \%least;
}

my (%failures, $above);

sub report_failure {
	my ($index, $c, $run) = @_;
	$above++;
	my $least = shrink($c);
	my $key = join ' ', $least->{partition}, sort keys %$least;
	return if $failures{$key}++;
	my $small = outcome($least, 'run');
	judge($small);
	my @all = map { $_->[1] } @busy;
	my @needed = @all;
	if (@all) { # without the others' jobs?
		clear_busy();
		my $quiet = outcome($least, 'run');
		if (judge($quiet)) {
			@needed = ();
			$small = $quiet;
		}
		make_busy(@all);
	}
	my $hold = defined $small->{hold} ? $small->{hold} : 'none';
	my $ratio = $small->{hold} ? sprintf '%.3g', $small->{charge} / $small->{hold}
	    : '-';
	printf "above its hold: seed %d index %d, %s on %s\n", $o{seed}, $index,
	    $site->{select}, $site->{version};
	printf "  asked  %s\n  least  %s\n", in_words($c), in_words($least);
	print '  keep   ', Requests::text($_), "\n" for grep {
		meets([$_], $least) } @needed;
	printf "  run    %s\n", Requests::text($least);
	printf "  got    %s nodes=%s limit=%s min on %s (%s)\n", $small->{tres} || '-',
	    $small->{nodes} || '-', $small->{limit} || '-',
	    $small->{part} || '-', $small->{list} || '-';
	printf "  hold   %s, charge at the limit and 30 s %.0f, %s x\n", $hold,
	    $small->{charge} || 0, $ratio;
}

sub meets {
	my ($kept, $c) = @_;
	my ($first) = split /,/, $c->{partition};
	my %nodes = map { $_ => 1 } @{ $site->{partition}{$first}{nodes} };
	return scalar grep { $nodes{ $_->{nodelist} || '' } } @$kept;
}

# ---- how tight ----

# Where each node rounds up for itself, to cores of two threads or to sockets,
# and where nodes differ, the price is another on other nodes.
sub rounds_by_node {
	my ($partition) = @_;
	my %kinds;
	for (@{ $site->{partition}{$partition}{nodes} }) {
		my $node = $site->{node}{$_};
		return 1 if $site->{select} =~ /SOCKET/i;
		return 1 if $node->{threads} > 1 && $site->{select} !~ /CPU/i;
		$kinds{join ' ', @{$node}{qw(cpu memory gpu)}} = 1;
	}
	return keys %kinds > 1;
}

# The maximum of nodes that was given, 0 without one; the least.
sub nodes_of {
	my ($c) = @_;
	my ($least, $most) = ($c->{min_nodes} || 0, $c->{max_nodes} || 0);
	($least, $most) = ($1, $2 || $1)
	    if ($c->{nodes} || '') =~ /^(\d+)(?:-(\d+))?$/;
	return ($least, $most);
}

# A further node adds a GPU (each has one at least), or half a plane; how many
# nodes there are is Slurm's choice, up to the tasks.
sub adds_by_node {
	my ($c) = @_;
	return 1 if defined $c->{spread_job} || defined $c->{plane_size};
	return 0 if !defined $c->{gpus};
	my ($gpus, $tasks) = (0, $c->{ntasks} || 1);
	$gpus += $1 while $c->{gpus} =~ /:(\d+)/g;
	return $tasks > $gpus || defined $c->{nodes} || defined $c->{max_nodes};
}

# Whether the user fixed the nodes, or the price is the same on any number. Of
# several partitions the dearest is held for, of several hours too; no command
# of Slurm leaves as much unsaid as a bare RPC.
sub class_of {
	my ($c) = @_;
	return 'list' if $c->{partition} =~ /,/;
	return 'hours' if $site->{hours}{ $c->{partition} };
	return 'rpc' if $c->{rpc};
	my $fields = $site->{partition}{ $c->{partition} }{fields};
	my ($least, $most) = nodes_of($c);
	return 'fixed' if $most && $least == $most;
	return 'open' if adds_by_node($c);
	return 'open' if $most && !defined $c->{ntasks}; # a maximum is a wish
	my @by_node = qw(gres gpus_per_socket mincpus ntasks_per_socket core_spec
		thread_spec sockets_per_node ntasks_per_board);
	push @by_node, 'mem' if $site->{memory};
	return 'open' if grep { defined $c->{$_} } @by_node;
	return 'open' if rounds_by_node($c->{partition});
	return 'open' if defined $c->{shared} && $c->{shared} == 0;
	return 'open' if $fields->{OverSubscribe} =~ /EXCLUSIVE/;
	return 'open' if $site->{memory} && !defined $c->{mem_per_cpu}
	    && !defined $c->{mem_per_gpu} && $fields->{DefMemPerNode};
	return 'fixed';
}

sub quantile {
	my ($part, @values) = @_;
	return 0 if !@values;
	@values = sort { $a <=> $b } @values;
	my $at = int($part * @values);
	return $values[$at < @values ? $at : -1];
}

my $missed = 0;

sub goal {
	my ($name, $value, $want, $met) = @_;
	$missed++ if !$met;
	printf "goal %-34s %-10s %-8s %s\n", $name, $value, $want,
	    $met ? 'met' : 'missed';
}

# ---- the runs ----

my (%before, %count, %seen, %ratios, %told, @loose, @worse);
my ($met_busy, $slow, $refused, $startable, $crashed) = (0, 0, 0, 0, 0);
if ($o{before}) {
	open my $file, '<', $o{before} or die "cover: $o{before}: $!";
	while (<$file>) {
		my ($index, $outcome) = split /\t/;
		$before{$index} = $outcome;
	}
}

sub compare { # what started without lowtide, and does not now
	my ($index, $c, $run) = @_;
	if ($run->{outcome} eq 'crashed') {
		$crashed++;
		push @worse, "  $index slurmctld ended: " . in_words($c);
		return;
	}
	return if ($before{$index} || '') ne 'started';
	$startable++ if $run->{outcome} ne 'crashed';
	return if $run->{outcome} eq 'started';
	select undef, undef, undef, 0.3; # a node that was still cleaning up?
	my $again = outcome($c, 'run');
	return if $again->{outcome} eq 'started';
	$again->{outcome} eq 'refused' ? $refused++ : $slow++;
	push @worse, sprintf "  %d %s: %s", $index, substr($again->{answer}, 0, 90),
	    in_words($c);
}

sub note {
	my ($c, $run) = @_;
	$seen{$_}++ for keys %$c;
	return if !$run->{hold} || !$run->{charge};
	my $class = class_of($c);
	my $ratio = $run->{hold} / $run->{charge};
	push @{ $told{$class} }, $run->{told} / $run->{tasks} / $run->{at_limit}
	    if $run->{tasks} && $run->{planned} eq $run->{part} && !$run->{busy};
	push @{ $ratios{$class} }, $ratio;
	push @loose, [ $ratio, $class, $c, $run ] if $ratio > 1.1;
}

sub run_kept {
	return 0 if !$o{kept};
	my $failed = 0;
	open my $file, '<', $o{kept} or die "cover: $o{kept}: $!";
	while (<$file>) {
		next if /^#/;
		if (!/\S/) {
			clear_busy();
		} elsif (/^\s*keep (.*)/) {
			make_busy(Requests::parse($1));
		} elsif (/^\s*run (.*)/) {
			my $c = Requests::parse($1);
			next if Requests::ends_slurmctld($c);
			my $run = outcome($c, 'run');
			if (judge($run)) {
				$failed++;
				printf "above its hold, kept: %s\n  got %s hold %s charge %.0f\n",
				    in_words($c), $run->{tres}, $run->{hold} || 'none', $run->{charge};
			}
		}
	}
	clear_busy();
	return $failed;
}

my $begun = time;
my $kept_failed = $o{without} ? 0 : run_kept();
open my $out, '>', $o{out} or die "cover: $o{out}: $!" if $o{out};
sub done {
	my ($index, $c, $run) = @_;
	$count{ $run->{outcome} }++;
	$run->{busy} = @busy && meets_busy($c);
	$met_busy++ if $run->{busy};
	print $out join("\t", $index, $run->{outcome}, $run->{answer},
	    Requests::text($c)), "\n" if $out;
	return if $o{without};
	my $bad = judge($run);
	note($c, $run) if $run->{outcome} eq 'started';
	compare($index, $c, $run);
	report_failure($index, $c, $run) if $bad;
}

# In blocks that meet the same busy nodes; batch jobs together at the end of
# each, since slurmctld starts them once a second only.
for (my $from = $o{first}; $from < $o{first} + $o{count}; $from += BLOCK) {
	make_busy(Requests::background($o{seed}, $from, int($from / BLOCK)));
	my @batch;
	for my $index ($from .. $from + BLOCK - 1) {
		last if $index >= $o{first} + $o{count};
		my $c = Requests::request($o{seed}, $index);
		# Some of them end slurmctld by themselves.
		next if ($before{$index} || '') eq 'crashed';
		if ($c->{batch}) {
			push @batch, [ $index, $c ];
		} else {
			done($index, $c, outcome($c, 'run'));
		}
	}
	push @$_, ask('submit ' . Requests::text($_->[1])) for @batch;
	for (@batch) {
		$_->[2] = ask("await $1") if $_->[2] =~ /^submitted (\d+)/;
	}
	done($_->[0], $_->[1], read_answer($_->[2])) for @batch;
	clear_busy();
}
close $to;
waitpid $pid, 0;
my $seconds = time - $begun || 1;
my $started = $count{started} || 0;
printf "# %s %s %s: %d requests in %d s, seed %d: %s; %d met busy nodes\n",
    $site->{version}, $site->{select}, $o{without} ? 'without' : 'with', $o{count}, $seconds, $o{seed},
    join(', ', map { "$count{$_} $_" } sort keys %count), $met_busy;
exit 0 if $o{without};

my $where = "$site->{version} $site->{select}";
goal('started', sprintf('%.1f%%', 100 * $started / $o{count}), '>=60%',
    $started >= 0.6 * $o{count});
if ($o{count} >= 10000) {
	my @few = grep { ($seen{$_} || 0) < 50 } Requests::names();
	goal('options below 50 among the started', scalar @few, '0', !@few);
	print "#   too few: ", join(', ', map { "$_ " . ($seen{$_} || 0) } @few), "\n" if @few;
}
goal('met busy nodes', sprintf('%.1f%%', 100 * $met_busy / $o{count}), '>=33%',
    $met_busy >= 0.33 * $o{count});
goal('above their hold', ($above || 0) + $kept_failed, '0', !$above && !$kept_failed);
if ($o{before}) {
	goal('refused that start without', $refused, '0', !$refused);
	goal('crashes that are not there without', $crashed, '0', !$crashed);
	goal('waiting that start without',
	    sprintf('%.2f%%', $startable ? 100 * $slow / $startable : 0), '<=1%',
	    $slow <= 0.01 * $startable);
	print "# worse than without:\n", join("\n", @worse > 15 ? @worse[0 .. 14] : @worse),
	    "\n" if @worse;
}
my %want = (fixed => [1.01, 1.1], open => [1.3, 2]);
for my $class (qw(fixed open list hours rpc)) {
	my @r = @{ $ratios{$class} || [] };
	next if !@r;
	for ([ 'median', 0.5, 0 ], [ 'p95', 0.95, 1 ]) {
		my ($name, $part, $at) = @$_;
		my $value = quantile($part, @r);
		if ($want{$class}) {
			goal("hold/charge $class $name (" . @r . ')', sprintf('%.4f', $value),
			    "<=$want{$class}[$at]", $value <= $want{$class}[$at] + 1e-4);
		} else {
			printf "#   hold/charge %s %s (%d) %.4f\n", $class, $name, scalar @r, $value;
		}
	}
}
# On idle nodes a plan is what is charged at the limit, but for the carry.
for my $class (qw(fixed open)) {
	my @t = @{ $told{$class} || [] } or next;
	my $near = grep { abs($_ - 1) <= 0.01 } @t;
	my $part = 100 * $near / @t;
	my $least = $class eq 'fixed' ? 90 : 60;
	goal("told/charge $class within 1% (" . @t . ')', sprintf('%.1f%%', $part),
	    ">=$least%", $part >= $least);
}
if ($o{verbose}) {
	my @sorted = sort { $b->[0] <=> $a->[0] } @loose;
	for my $class (keys %want) { # by class: each has a goal of its own
		my @of = grep { $_->[1] eq $class && $_->[0] > $want{$class}[1] } @sorted;
		printf "#   loose %s: %d of %d\n", $class, scalar @of,
		    scalar @{ $ratios{$class} || [] };
		for (grep { defined } @of[0 .. 59]) {
			my ($ratio, undef, $c, $run) = @$_;
			printf "#   loose %s %.2f %s%s -> %s nodes=%s %s\n", $class, $ratio,
			    in_words($c), $run->{busy} ? ' (busy)' : '', $run->{tres},
			    $run->{nodes}, $run->{list};
		}
	}
	print "#   seen ", join(' ', map { "$_=" . ($seen{$_} || 0) } Requests::names()), "\n";
}
exit($missed ? 1 : 0);
