# storm.pl SEED CYCLES: the cycles of storm.sh on the cluster that is up.
use strict;
use warnings;
use Plan;
use Site;
use Model;

my ($seed, $cycles) = @ARGV;
my $seconds = $ENV{STORM_SECONDS} || 8; # of events in a cycle
my $settle = 200;                       # most that settling may take
my $began = Site::real();
$| = 1;
print "storm: seed $seed, $cycles cycles in $Site::D\n";

sub wait_until { # a time of the cycle, while commands end
	my ($at) = @_;
	while ((my $left = $at - Site::real()) > 0) {
		Site::collect();
		select undef, undef, undef, $left < .05 ? $left : .05;
	}
}

sub report {
	my ($cycle, $steps, @wrong) = @_;
	print "storm: VIOLATION seed $seed cycle $cycle\n", map { "  $_\n" } @wrong;
	open my $file, '>', "$Site::D/violation";
	print {$file} "seed $seed cycle $cycle\n@{[ join qq{\n}, @wrong ]}\n\n",
	    "what was done:\n", map({ "$_\n" } @$steps), "\n", Model::facts_text();
	print "storm: what was done, and all facts: $Site::D/violation\n";
	exit 1;
}

my $slowest = 0;
for my $cycle (1 .. $cycles) {
	my $at = Site::real();
	my %before = %Site::count;
	my @done;
	my $base = $at;
	Site::forget_old();
	for my $step (Plan::of_cycle($seed, $cycle, $seconds)) {
		wait_until($base + $step->{at}) if $step->{at} > 0;
		Site::do_step($step);
		$base = Site::real() if $step->{at} < 0;
	}
	my @died = Site::recover();
	my @wrong = eval { Model::settle($settle) };
	push @wrong, "the model: $@" if $@;
	push @wrong, map { "$_ ended of itself" } @died;
	push @wrong, Model::budgets() if !@wrong;
	# Each asks slurmdbd for each day since the start.
	push @wrong, Model::rebuild() if !@wrong && ($cycle % 4 == 2 || $cycle == $cycles);
	push @done, Site::take_log();
	my $took = Site::real() - $at;
	$slowest = $took if $took > $slowest;
	printf "cycle %3d %5.1f s  %s  runs %d charged %d.%06d\n", $cycle, $took,
	    join(' ', map { my $n = ($Site::count{$_} // 0) - ($before{$_} // 0); $n ? "$_ $n" : () }
		grep { $_ ne 'commands' } sort keys %Site::count),
	    Model::summary();
	report($cycle, \@done, @wrong) if @wrong;
}

my $minutes = (Site::real() - $began) / 60;
printf "all: %s\n", join ' ', map { "$_ $Site::count{$_}" } sort keys %Site::count;
printf "exceptions: %s\n", Model::exceptions_text();
my $status = 0;
sub goal {
	my ($name, $value, $want, $met) = @_;
	printf "goal %s %s %s %s\n", $name, $value, $want, $met ? 'met' : 'missed';
	$status = 1 if !$met;
}
goal('violations', 0, 0, 1);
goal('runs charged', (Model::summary())[0], '>=' . $cycles, (Model::summary())[0] >= $cycles);
goal('seconds a cycle', sprintf('%.1f', $minutes * 60 / $cycles), '<=40', $minutes * 60 / $cycles <= 40);
exit $status;
