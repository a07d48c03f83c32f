#!/usr/bin/perl
# Prints how large the product is: files and lines of C by room, functions, how
# many of them serve one place, and cyclomatic complexity (pmccabe).
#
#   size.pl             all of it
#   size.pl lines       the number of lines alone
#   size.pl complexity  functions above COMPLEXITY_MAX, and the mean when it is above MEAN_MAX
use strict;
use warnings;
use constant {COMPLEXITY_MAX => 30, MEAN_MAX => 6};

my @rooms = qw(adapters cli daemon kubernetes node notify plugin policy simulate);
my @files = split /\n/, `git ls-files @{[map { "'$_/*.c' '$_/*.h'" } @rooms]}`;
my (%text, %lines, %count);
for my $file (@files) {
	$text{$file} = text_of($file);
	my ($room) = $file =~ m|(.*)/|;
	$lines{$room} += () = $text{$file} =~ /\n/g;
	$count{$room}++;
}
my $total = 0;
$total += $_ for values %lines;
my $asked = $ARGV[0] // 'all';
if ($asked eq 'lines') {
	print "$total\n";
	exit;
}
my ($worst, $weighted, $weight, $where) = (0, 0, 0, '');
open my $in, '-|', 'pmccabe', grep { /\.c$/ } @files or die "pmccabe: $!\n";
while (<$in>) {
	chomp;
	my ($complexity, undef, undef, undef, $length, $at) = split /\t/;
	print "$complexity $at\n" if $asked eq 'complexity' && $complexity > COMPLEXITY_MAX;
	($worst, $where) = ($complexity, $at) if $complexity > $worst;
	$weighted += $complexity * $length;
	$weight += $length;
}
my $mean = sprintf '%.1f', $weighted / $weight;
if ($asked eq 'complexity') {
	print "mean by lines: $mean\n" if $mean > MEAN_MAX;
	exit;
}

printf "%-20s %5s %8s\n", 'room', 'files', 'lines';
printf "%-20s %5d %8d\n", $_, $count{$_}, $lines{$_} for sort keys %lines;
printf "%-20s %5d %8d\n\n", 'all', scalar @files, $total;

# A definition is a name at the start of a line, as clang-format leaves it.
my (@functions, %words);
for my $file (grep { /\.c$/ } @files) {
	(my $bare = $text{$file}) =~ s|/\*.*?\*/||gs;
	my %seen;
	$words{$file} = \%seen;
	$seen{$_}++ for $bare =~ /\b[a-z]\w+\b/g;
	while ($bare =~ /^((?:static )?[^\n;{}#]*)\n(\w+)\(([^;{}]*)\)\n\{/mg) {
		my ($type, $name, $parameters) = ($1, $2, $3);
		push @functions, {file => $file, name => $name,
			static => scalar $type =~ /^static/, parameters => $parameters};
	}
}
my (%users, $own, $own_single, $global_single);
for my $seen (values %words) { $users{$_}++ for keys %$seen }
for my $function (@functions) {
	if ($function->{static}) {
		$own++;
		# Its definition, a use; a prototype would be one more.
		$own_single++ if $words{$function->{file}}{$function->{name}} <= 2;
	} elsif (($users{$function->{name}} // 0) <= 2) {
		$global_single++;
	}
}
my $global = @functions - $own;
row('functions', scalar @functions);
row('static, with one caller', "$own_single of $own");
row('global, used by one file at most', "$global_single of $global");
row('that take struct lt_daemon', scalar grep { $_->{parameters} =~ /struct lt_daemon \*/ } @functions);
my %header;
for my $file (@files) {
	$header{$_}{$file} = 1 for $text{$file} =~ m|^#include "(?:[a-z_/]*/)?([a-z_0-9]+\.h)"|mg;
}
my @headers = grep { /\.h$/ && !m|^policy/include/| } @files;
row('headers that two files or fewer use', (scalar grep {
	my ($name) = m|([^/]+)$|;
	keys %{$header{$name} // {}} <= 2;
} @headers) . ' of ' . @headers);

row('complexity: the worst function', "$worst ($where)");
row('complexity: mean, weighted by lines', $mean);

sub row { printf "%-37s %s\n", @_ }

sub text_of {
	my ($path) = @_;
	open my $file, '<', $path or die "$path: $!\n";
	local $/;
	return <$file>;
}
