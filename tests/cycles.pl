#!/usr/bin/perl
# Files that need each other in a circle, by the symbols of their objects: one
# line for each circle, and one for each need in it.
#
#   cycles.pl BUILD FOLDER...
use strict;
use warnings;
no warnings 'recursion';

my ($build, @folders) = @ARGV;
my (%home, %needs, %edges);
my @objects = grep { -e name_of($_) . '.c' } # others are of files that are gone
    split /\n/, `find @{[map { "$build/$_" } @folders]} -name '*.o'`;
for (split /\n/, `nm -gA @objects`) {
	my ($object, $type, $name) = /^([^:]+):.* ([A-Z]) (\S+)$/ or next;
	if ($type eq 'U') { push @{$needs{$object}}, $name }
	else { $home{$name} = $object }
}
for my $object (keys %needs) {
	for my $name (@{$needs{$object}}) {
		my $to = $home{$name};
		push @{$edges{$object}{$to}}, $name if defined $to && $to ne $object;
	}
}

# Tarjan's strongly connected components.
my ($next, %index, %low, @stack, %on) = (0);
sub walk {
	my ($at) = @_;
	$index{$at} = $low{$at} = $next++;
	push @stack, $at;
	$on{$at} = 1;
	for my $to (sort keys %{$edges{$at}}) {
		walk($to) if !defined $index{$to};
		$low{$at} = $low{$to} if $on{$to} && $low{$to} < $low{$at};
	}
	return if $low{$at} != $index{$at};
	my @part;
	do { push @part, pop @stack; delete $on{$part[-1]} } until $part[-1] eq $at;
	tell_circle(sort @part) if @part > 1;
}
sub name_of { $_[0] =~ s|^\Q$build\E/||r =~ s/\.o$//r }
sub tell_circle {
	my %in = map { $_ => 1 } @_;
	print join(' ', map { name_of($_) } @_), "\n";
	for my $from (@_) {
		print '    ', name_of($from), ' needs ', name_of($_), ": @{$edges{$from}{$_}}\n"
		    for grep { $in{$_} } sort keys %{$edges{$from}};
	}
}
defined $index{$_} or walk($_) for sort keys %needs;
