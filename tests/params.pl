#!/usr/bin/perl
# Functions of more than MAX parameters, one a line, by clang-format's shape of a
# definition. Not counted: the arguments of a format. Not told: what installed
# headers promise, and what libmicrohttpd calls.
#
#   params.pl MAX FOLDER...
use strict;
use warnings;

my ($max, @folders) = @ARGV;
my $headers = join '', map { text_of($_) } glob 'policy/include/*.h';
my %installed = map { $_ => 1 } $headers =~ /\b(lt_\w+)\(/g;

for my $file (split /\n/, `git ls-files @{[map { "'$_/*.c'" } @folders]}`) {
	my $text = text_of($file);
	while ($text =~ /^(\w+)\(([^;{}]*)\)\n\{/mg) {
		my ($name, $parameters) = ($1, $2);
		next if $installed{$name} || $parameters =~ /struct MHD_Connection/;
		# A function pointer's own parameters are no others'.
		1 while $parameters =~ s/\([^()]*\)//;
		my $count = grep { !/^\s*\.\.\.\s*$/ } split /,/, $parameters;
		print "$file: $name: $count parameters\n" if $count > $max;
	}
}

sub text_of {
	my ($path) = @_;
	open my $in, '<', $path or die "$path: $!\n";
	local $/;
	my $text = <$in>;
	$text =~ s|/\*.*?\*/||gs;
	return $text;
}
