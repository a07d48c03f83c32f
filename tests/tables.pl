#!/usr/bin/perl
# Tables that an enum indexes: sized by the last name of that enum, its count,
# with a word for each of the others where LT_WORD() reads it, and read only by
# LT_WORD(), LT_WORD_OR() or LT_ROW() of policy/core/lookup.h, by a constant, or
# in a loop. Prints what is not so, a finding a line.
#
#   tables.pl FILE...
use strict;
use warnings;

my (%enum_of, %names_of, %text_of);

# Without comments, and no text in strings: lines stay where they are.
sub plain {
	my $text = shift;
	$text =~ s{(/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')}{
		my $part = $1;
		my $lines = () = $part =~ /\n/g;
		($part =~ /^"/ ? '""' : '') . "\n" x $lines }gse;
	return $text;
}

# The text up to the brace that closes, and where that is.
sub braces {
	my ($text, $from) = @_;
	my $depth = 1;
	pos($text) = $from;
	while ($text =~ /([{}])/g) {
		$depth += $1 eq '{' ? 1 : -1;
		return (substr($text, $from, pos($text) - 1 - $from), pos $text) if $depth == 0;
	}
	return ('', length $text);
}

for my $file (@ARGV) {
	open my $in, '<', $file or die "$file: $!";
	my $text = $text_of{$file} = plain(join '', <$in>);
	while ($text =~ /\benum\s*(\w*)\s*\{([^{}]*)\}/g) {
		my ($name, $body) = ($1, $2);
		my @names = map { /^\s*(\w+)/ ? $1 : () } split /,/, $body;
		# Of files that are in one program: names of enumerators without
		# a prefix may be used twice.
		for (@names) { push @{$enum_of{$_}}, [$file, \@names] }
	}
}

sub enum_with {
	my ($file, $name) = @_;
	my @all = @{$enum_of{$name} // []};
	my ($own) = grep { $_->[0] eq $file } @all;
	return ($own // $all[0] // [])->[1];
}

for my $file (@ARGV) {
	my $text = $text_of{$file};
	while ($text =~ /^([ \t]*)((?:[\w \t*]|\n(?=[ \t}])|\{[^{}]*\}|;(?=[^{}]*\}))*?)\b(\w+)((?:\[[^\]\n]*\])+)\s*=\s*\{/gm) {
		my ($indent, $type, $table, $size, $from) = ($1, $2, $3, $4, pos $text);
		my ($rows, $end) = braces($text, $from);
		1 while $rows =~ s/\{[^{}]*\}//g; # rows of structs
		my @used = $rows =~ /(?:^|[\s{,])\[\s*([A-Z]\w*)\s*\]\s*=/g;
		next if !@used;
		my $line = 1 + (() = substr($text, 0, $from) =~ /\n/g);
		my $say = sub { print "$file:$line: $table: @_\n" };
		my $enum = enum_with($file, $used[0]);
		my ($first) = $size =~ /^\[([^\]]*)\]/;
		my $last = $enum ? $enum->[-1] : 'JOB_END'; # Slurm's
		# A count that has names for the same number behind it, too.
		my $counts = $first eq $last ||
		    $first =~ /_(COUNT|GROUPS)$/ && $enum && grep { $_ eq $first } @$enum;
		$say->("sized [$first], want [$last], the last of its enum") if !$counts;
		# Where it can be seen: to the end of its function, or of all files.
		my $scope = $indent ? (substr($text, $end) =~ /^(.*?\n\})/s)[0] // '' : substr $text, $end;
		$scope = join "\n", values %text_of if $table =~ /^lt_/;
		if ($enum && $scope =~ /\bLT_WORD\(\s*$table,/) {
			my %has = map { $_ => 1 } @used;
			my @missing = grep { !$has{$_} && !/_(COUNT|GROUPS)$/ } @$enum[0 .. $#$enum - 1];
			$say->("no word for @missing") if @missing;
		}
		for ($scope =~ /\b(?<![.>])$table\[((?:[^\[\]]|\[[^\[\]]*\])*)\]/g) {
			$say->("read at [$_], want LT_WORD() or LT_ROW()") if !/^([a-z]|[A-Z][A-Z0-9_]*|\d+)$/;
		}
	}
}
