#!/usr/bin/perl
# Random sites and random jobs on them: what plain sbatch takes and starts, and
# what --carbon-aware makes of the same. places.sh starts it.
use strict;
use warnings;
use Getopt::Long;
use IO::Select;
use Time::HiRes qw(time);

use FindBin;
my $here = $FindBin::Bin;
require "$here/Site.pm";
require "$here/generate.pl";
require "$here/jobs.pl";
require "$here/judge.pl";
require "$here/../cover/oracle.pl";

$| = 1;
my %o = (seed => 1, first => 0, sites => 5, jobs => 50, lanes => 1, user => 'daemon');
GetOptions(\%o, 'seed=i', 'first=i', 'sites=i', 'jobs=i', 'lanes=i', 'user=s', 'folder=s',
	'keep=s', 'print', 'least-moved=i', 'least-options=i') or die "places: bad options\n";
my @files = @ARGV; # sites to replay, before random ones
Judge::start($> == 0 ? scalar getpwnam $o{user} : undef);
$o{user} = getpwuid $> if $> != 0;

# ---- what it costs, by what Slurm says ----

my %market; # of the site that is up

sub read_market {
	my ($site) = @_;
	%market = (node => {}, partition => {}, price => {}, memory => 0);
	for (split /\n/, `scontrol show node -a -o`) {
		my $f = Oracle::fields_of($_);
		next if !defined $f->{NodeName};
		$market{node}{ $f->{NodeName} } = {
			cpu => $f->{CPUEfctv} || $f->{CPUTot},
			memory => $f->{RealMemory} - ($f->{MemSpecLimit} || 0),
			gpu => Oracle::gres($f->{Gres}, 'gpu'),
			shard => Oracle::gres($f->{Gres}, 'shard'),
			types => join(',', sort map { $_->[1] // '' } grep { $_->[0] eq 'gpu' } Site::gres_of($f->{Gres})),
		};
	}
	for (split /\n/, `scontrol show partition -a -o`) {
		my $f = Oracle::fields_of($_);
		next if !defined $f->{PartitionName};
		$market{partition}{ $f->{PartitionName} } = {
			nodes => [ grep { $market{node}{$_} } Site::hosts($f->{Nodes} eq '(null)' ? '' : $f->{Nodes}) ] };
		$market{hidden}{ $f->{PartitionName} } = 1 if ($f->{Hidden} || '') eq 'YES';
		$market{home} = $f->{PartitionName} if ($f->{Default} || '') eq 'YES';
	}
	$market{memory} = 1 if `scontrol show config` =~ /^SelectTypeParameters\s*=.*MEMORY/im;
	for (@{ $site->{policy} }) {
		$market{price}{$1} = $2 if /^\s+"?([^":]+)"?: \{price_per_node_hour: ([\d.]+)/;
		$market{preemptible}{$1} = 1 if /^\s+"?([^":]+)"?: .*preemptible/;
		$market{for_cpu}{$1} = 1 if /^\s+"?([^":]+)"?: .*accepts: \[[^\]]*\bcpu\b/;
	}
}

sub cost { # of a run, an hour
	my ($run) = @_;
	my $price = $market{price}{ $run->{part} };
	return undef if !defined $price;
	return $price * Oracle::node_equivalents(\%market, $run->{part}, $run->{nodes}, $run->{tres});
}

sub kind_of { # the GPUs of the nodes that a run had; '' for none asked for
	my ($run) = @_;
	return '' if ($run->{tres} // '') !~ m{gres/gpu};
	return join ';', sort map { $market{node}{$_} ? $market{node}{$_}{types} : '?' } Site::hosts($run->{list});
}

# What it was given, but for the weights of a partition: the same job, as other
# defaults would make another one.
sub same_of { join ',', sort grep { !/^(billing|node)=/ } split /,/, $_[0]{tres} }

sub is_on_gpu_nodes {
	my ($part) = @_;
	return scalar grep { $market{node}{$_}{gpu} } @{ $market{partition}{$part}{nodes} };
}

# Cheaper partitions in which the same job starts by plain sbatch -p, by job:
# the cheapest first, all jobs at once. Nothing of lowtide is asked.
sub cheaper_places {
	my ($jobs, $home) = @_; # [index, words], runs
	my (%places, %found);
	for (@$jobs) {
		my ($i, @words) = @$_;
		my $now = cost($home->{$i});
		next if !defined $now;
		my $needs_gpu = $home->{$i}{tres} =~ m{gres/gpu};
		$places{$i} = [ grep {
			my $p = $_;
			$p ne $home->{$i}{part} && !$market{preemptible}{$p} && !$market{hidden}{$p} && $market{partition}{$p}
			    && ($needs_gpu || !is_on_gpu_nodes($p) || $market{for_cpu}{$p})
		} sort { $market{price}{$a} <=> $market{price}{$b} || $a cmp $b } keys %{ $market{price} } ];
	}
	while (1) {
		my @try;
		for (@$jobs) {
			my ($i, @words) = @$_;
			next if $found{$i};
			while (my $p = shift @{ $places{$i} || [] }) {
				my (undef, $status) = Judge::command(1, 'sbatch', '--test-only', @words, "-p$p", '--wrap=sleep 600');
				next if $status != 0;
				push @try, [ $i, @words, "-p$p" ];
				last;
			}
		}
		last if !@try;
		my %runs;
		Judge::wave([ splice @try, 0, Judge::WAVE() ], '', \%runs, 2) while @try;
		for my $i (keys %runs) {
			my $run = $runs{$i};
			next if $run->{outcome} ne 'started' || kind_of($run) ne kind_of($home->{$i})
			    || same_of($run) ne same_of($home->{$i});
			my $there = cost($run);
			$found{$i} = $run->{part} if defined $there && $there < 0.9 * cost($home->{$i});
		}
	}
	return \%found;
}

# ---- a site ----

my %sum = map { $_ => 0 } qw(sites bad ended jobs taken started refused stuck could moved delayed);
my (%seen, %failures, %why, @found);

sub fails { # why, or undef
	my ($plain, $moved) = @_;
	return undef if $plain->{outcome} eq 'refused';
	return 'refused' if $moved->{outcome} eq 'refused';
	return 'stuck' if $plain->{outcome} eq 'started' && $moved->{outcome} ne 'started';
	return undef;
}

sub short { my ($t) = @_; $t =~ s/\s+/ /g; substr $t, 0, 300 }

sub shrink_job {
	my ($job, $kind) = @_;
	my @least = @$job;
	for my $option (@$job) {
		my @try = grep { $_ != $option } @least;
		my @words = Jobs::words(\@try);
		my $moved = Judge::solo(\@words, 'cost');
		next if $moved->{outcome} eq 'started';
		my $plain = Judge::solo(\@words, '');
		my $why = fails($plain, $moved);
		@least = @try if defined $why && $why eq $kind;
	}
	return \@least;
}

sub place_of { # where a run was to go, by what it was told or by the queue
	my ($run) = @_;
	return $1 if $run->{text} =~ /lowtide: (\S+), (?:now|from)/;
	return $run->{placed} || $run->{part} || '';
}

sub lines_of { # of a site's slurm.conf: the partitions named, and their nodes
	my ($site, @parts) = @_;
	my (@lines, %nodes);
	for my $line (@{ $site->{'slurm.conf'} }) {
		if ($line =~ /^PartitionName=(\S+)/) {
			next if $1 ne 'DEFAULT' && !grep { $_ eq $1 } @parts;
			$nodes{$_} = 1 for Site::hosts(Site::value_of($line, 'Nodes') // '');
			push @lines, $line;
		} elsif ($line !~ /^NodeName/) {
			push @lines, $line;
		}
	}
	for my $line (@{ $site->{'slurm.conf'} }) {
		push @lines, $line if $line =~ /^NodeName=(\S+)/
		    && ($nodes{ALL} || grep { $nodes{$_} } Site::hosts($1));
	}
	return @lines;
}

sub report_failure {
	my ($index, $job, $kind, $plain, $moved, $site) = @_;
	# Of one place and kind two are enough.
	return if $failures{"$index $kind " . place_of($moved)}++ >= 2;
	my $alone = fails(Judge::solo([ Jobs::words($job) ], ''), Judge::solo([ Jobs::words($job) ], 'cost'));
	my $least = $job;
	my ($p, $m) = ($plain, $moved);
	if (defined $alone) {
		$least = shrink_job($job, $alone);
		my @words = Jobs::words($least);
		($p, $m) = (Judge::solo(\@words, ''), Judge::solo(\@words, 'cost'));
		($p, $m) = ($plain, $moved) if !defined fails($p, $m);
	}
	my $to = place_of($m);
	my $key = join ' ', $kind, $m->{reason} || '', map { $_->{name} } @$least;
	return if $failures{$key}++;
	my $text = "$kind: seed $o{seed} site $index" . (defined $alone ? '' : ', not when alone')
	    . ': sbatch ' . Jobs::text($job) . "\n";
	$text .= '  least  ' . Jobs::text($least) . "\n";
	$text .= "  plain  $p->{outcome} in " . ($p->{part} || '-') . ' ' . ($p->{list} || '')
	    . ' ' . ($p->{tres} || '') . ($p->{outcome} eq 'refused' ? ' ' . short($p->{text}) : '') . "\n";
	$text .= "  ours   $m->{outcome} in $to: " . ($m->{reason} || '') . ' ' . short($m->{text}) . "\n";
	$text .= "  why    $m->{why}\n" if $m->{why};
	$text .= "  conf   $_\n" for lines_of($site, $p->{part} || '', $to);
	$text .= "  acct   $_\n" for @{ $site->{sacctmgr} };
	$text .= "  after  $_\n" for @{ $site->{scontrol} };
	print $text;
	push @found, { text => $text, job => $least, kind => $kind, parts => [ $p->{part} || $market{home} || '', $to ] };
}

sub one_site {
	my ($site, $index, $jobs) = @_;
	my $D = "$o{folder}/s$index";
	my $begun = time;
	my $why = Site::up($site, $D, $o{user});
	if ($why ne '' && $why !~ /^scontrol/) {
		$sum{bad}++;
		print "# site $index does not come up: ", short($why), "\n";
		Site::put("$o{folder}/bad.$index", Site::text($site), $why);
		Site::down($D);
		return;
	}
	print "# site $index: ", short($why), "\n" if $why ne '';
	read_market($site);
	my $up = time;
	my @all = map { [ $_, Jobs::words($jobs->[$_]) ] } 0 .. $#$jobs;
	$Judge::is_gone = 0;
	my $plain = Judge::run_all(\@all, '');
	if ($Judge::is_gone) {
		$sum{ended}++;
		print "# site $index: slurmctld has ended with plain jobs\n";
		Site::down($D);
		return;
	}
	my $middle = time;
	my %no;
	$no{ $_->{text} =~ /error: (?:lowtide: )?(?:Batch job submission failed: )?(.*)/ ? "taken: $1" : short($_->{text}) }++
	    for grep { $_->{outcome} eq 'refused' } values %$plain;
	$no{"waits: $_->{reason}"}++ for grep { $_->{outcome} eq 'stuck' } values %$plain;
	print "#   plain not $no{$_}: $_\n" for sort keys %no;
	my @taken = grep { $plain->{ $_->[0] }{outcome} ne 'refused' } @all;
	my $moved = Judge::run_all(\@taken, 'cost', $plain);
	if ($Judge::is_gone) {
		$sum{refused}++;
		print "# site $index: slurmctld has ended with moved jobs\n";
		Site::down($D);
		return;
	}
	my $after = time;
	my %n = map { $_ => 0 } qw(refused stuck could moved);
	my @stay;
	for (@taken) {
		my ($i, @words) = @$_;
		my ($p, $m) = ($plain->{$i}, $moved->{$i});
		my $kind = fails($p, $m);
		if (defined $kind) {
			# What Slurm takes or starts by chance says nothing.
			my $again = Judge::solo(\@words, '');
			if (defined fails($p, $again)) {
				print "# site $index: plain is $p->{outcome}, alone $again->{outcome}: ",
				    Jobs::text($jobs->[$i]), "\n";
				next;
			}
			$n{$kind}++;
			report_failure($index, $jobs->[$i], $kind, $p, $m, $site);
			next;
		}
		next if $p->{outcome} ne 'started';
		$sum{started}++;
		next if Jobs::pinned($jobs->[$i]);
		my $elsewhere = $m->{outcome} eq 'started' && $m->{part} ne $p->{part};
		if ($elsewhere) {
			$n{could}++;
			$n{moved}++;
		} else {
			push @stay, $_;
		}
	}
	my $could = cheaper_places(\@stay, $plain);
	for my $i (sort { $a <=> $b } keys %$could) {
		$n{could}++;
		my $where = $could->{$i};
		my ($why) = map { $_->{why} || 'no quote' } $moved->{$i};
		my ($of) = $why =~ /(?:^|,)\Q$where\E:([^,]*)/;
		$why{ $of // 'not said' }++;
		print "# site $index: stays in $plain->{$i}{part}, could go to $where: ",
		    Jobs::text($jobs->[$i]), ': ', $of // $why, "\n";
	}
	$seen{$_}++ for map { map { $_->{name} } @{ $jobs->[$_] } } 0 .. $#$jobs;
	$sum{$_} += $n{$_} for keys %n;
	$sum{sites}++;
	$sum{jobs} += @all;
	$sum{taken} += @taken;
	printf "# site %s: %d jobs, %d taken, %d start, %d refused, %d stuck, %d of %d moved; %.0f s up, %.0f plain, %.0f moved, %.0f more\n",
	    $index, scalar @all, scalar @taken, scalar(grep { $_->{outcome} eq 'started' } values %$plain),
	    $n{refused}, $n{stuck}, $n{moved}, $n{could}, $up - $begun, $middle - $up, $after - $middle, time - $after;
	Site::down($D);
}

# ---- shrinking a site ----

# The site without what a failure does not need: other partitions and their
# nodes, then each kind of line as a whole.
sub reductions {
	my ($site, @parts) = @_;
	my %wanted = map { $_ => 1 } lines_of($site, @parts);
	my $few = sub { my ($section, $keep) = @_;
		return sub { my ($s) = @_; return { %$s, $section => [ grep { $keep->($_) } @{ $s->{$section} } ] } } };
	return ($few->('slurm.conf', sub { $wanted{ $_[0] } }),
		$few->('topology.conf', sub { 0 }),
		$few->('scontrol', sub { 0 }),
		$few->('sacctmgr', sub { $_[0] !~ / set / }),
		$few->('slurm.conf', sub { $_[0] =~ /^(Node|Partition)Name|TRES=|^Licenses/ }),
		$few->('slurm.conf', sub { $_[0] =~ /^(Node|Partition)Name|TRES=|^Licenses|Select/ }));
}

sub fails_anew {
	my ($site, $words, $kind) = @_;
	my $D = "$o{folder}/shrink";
	return 0 if !grep { /Default=YES/i } @{ $site->{'slurm.conf'} };
	my $why = Site::up($site, $D, $o{user});
	my $again = ($why eq '' || $why =~ /^scontrol/)
	    && (fails(Judge::solo($words, ''), Judge::solo($words, 'cost')) // '') eq $kind;
	Site::down($D);
	return $again;
}

sub keep_failure {
	my ($site, $index, $n, $failure) = @_;
	my $least = { %$site, jobs => [ Jobs::text($failure->{job}) ],
		about => [ @{ $site->{about} }, "# $failure->{kind} when this was written" ] };
	my @words = Jobs::words($failure->{job});
	for my $reduce (reductions($site, $market{home} || '', @{ $failure->{parts} })) {
		my $try = $reduce->($least);
		next if Site::text($try) eq Site::text($least);
		$least = $try if fails_anew($try, \@words, $failure->{kind});
	}
	my %left = map { $_ => 1 } Site::names_of($least, 'PartitionName');
	$least->{policy} = [ grep { !/^\s+"([^"]+)": \{price/ || $left{$1} } @{ $least->{policy} } ];
	my $path = "$o{keep}/$o{seed}-$index-$n.site";
	Site::put($path, split /\n/, Site::text($least));
	print "# kept as $path\n";
}

# ---- the runs ----

sub run_sites { # of one lane
	my ($lane) = @_;
	my $turn = 0;
	for my $file (@files) {
		next if $turn++ % $o{lanes} != $lane;
		my $site = Site::read_file($file);
		my ($name) = $file =~ m{([^/]+?)(?:\.site)?$};
		my @jobs = map { Jobs::parse($_) } @{ $site->{jobs} };
		push @jobs, map { Jobs::job($site, $o{seed}, 0, $_) } 0 .. $o{jobs} - 1 if $file !~ m{/kept/};
		one_site($site, $name, \@jobs);
	}
	for my $index ($o{first} .. $o{first} + $o{sites} - 1) {
		next if $turn++ % $o{lanes} != $lane;
		my $site = Generate::site($o{seed}, $index);
		my @jobs = map { Jobs::job($site, $o{seed}, $index, $_) } 0 .. $o{jobs} - 1;
		@found = ();
		one_site($site, $index, \@jobs);
		next if !$o{keep};
		my $n = 0;
		keep_failure($site, $index, $n++, $_) for @found;
	}
	print join(' ', 'sum', map { "$_=$sum{$_}" } sort keys %sum), "\n";
	print join(' ', 'why', map { "$_=$why{$_}" } sort keys %why), "\n";
	print join(' ', 'seen', map { "$_=$seen{$_}" } sort keys %seen), "\n";
}

if ($o{print}) {
	for my $index ($o{first} .. $o{first} + $o{sites} - 1) {
		my $site = Generate::site($o{seed}, $index);
		$site->{jobs} = [ map { Jobs::text(Jobs::job($site, $o{seed}, $index, $_)) } 0 .. $o{jobs} - 1 ];
		print Site::text($site);
	}
	exit;
}

mkdir $o{keep} if $o{keep};
my @lanes;
for my $lane (0 .. $o{lanes} - 1) {
	mkdir "$o{folder}/$lane";
	my $pid = open my $from, '-|';
	die "places: fork: $!\n" if !defined $pid;
	if (!$pid) {
		$ENV{PORT_LANE} = $lane if $o{lanes} > 1;
		$o{folder} .= "/$lane";
		run_sites($lane);
		exit;
	}
	push @lanes, $from;
}
my $lanes = @lanes;
my %all;
my $select = IO::Select->new(@lanes);
my %part = map { $_ => '' } @lanes;
while ($select->count) {
	for my $from ($select->can_read) {
		my $n = sysread $from, $part{$from}, 65536, length $part{$from};
		if (!$n) {
			$select->remove($from);
			$lanes-- if !close $from; # it has died
		}
		while ($part{$from} =~ s/^(.*)\n//) {
			my $line = $1;
			if ($line =~ /^(sum|why|seen) ?(.*)/) {
				my $of = $1;
				$all{$of}{$1} += $2 while $line =~ / ([\w-]+)=(\d+)/g;
			} else {
				print "$line\n";
			}
		}
	}
}
my ($met, $missed) = (0, 0);
sub goal {
	my ($name, $value, $want, $is_met) = @_;
	$is_met ? $met++ : $missed++;
	printf "goal %-40s %-16s %-8s %s\n", $name, $value, $want, $is_met ? 'met' : 'missed';
}
my $sum = $all{sum} || {};
$sum->{$_} //= 0 for qw(sites bad ended jobs taken started refused stuck could moved);
my $options = grep { $all{seen}{$_} } Jobs::names();
print join(' ', '# could move and did not, by lowtide\'s word:',
	map { "$_ $all{why}{$_}" } sort keys %{ $all{why} || {} }), "\n";
goal("lanes that did not die", $lanes, $o{lanes}, $lanes == $o{lanes});
print "# slurmctld has ended by itself, with plain jobs: $sum->{ended}\n" if $sum->{ended};
goal("sites that came up", "$sum->{sites}", $sum->{sites} + $sum->{bad}, !$sum->{bad} && $sum->{sites});
goal("jobs, taken by plain sbatch", "$sum->{jobs}, $sum->{taken}", '>0', $sum->{taken});
goal("options of sbatch", $options, ">=$o{'least-options'}", $options >= $o{'least-options'})
    if defined $o{'least-options'};
goal("refused that plain sbatch takes", $sum->{refused}, 0, !$sum->{refused});
goal("never start, plain ones do ($sum->{started})", $sum->{stuck}, 0, !$sum->{stuck});
goal("moved of what could ($sum->{could})", sprintf('%.0f%%', $sum->{could} ? 100 * $sum->{moved} / $sum->{could} : 0),
	">=$o{'least-moved'}%", $sum->{moved} * 100 >= $o{'least-moved'} * $sum->{could}) if defined $o{'least-moved'};
print "$met passed, $missed failed\n";
exit($missed ? 1 : 0);
