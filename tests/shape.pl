#!/usr/bin/perl
# What docs/style.md says of a function's shape and clang-format does not make,
# a finding a line: a blank line after the declarations that open a block, and
# under 70 lines (not counted in tests, which have their cases in them).
#
#   shape.pl FILE...
use strict;
use warnings;

my $type = qr/(?:(?:static|const|volatile)\s+)*
	(?:(?:struct|enum)\s*\{|
	(?:(?:struct|enum|union)\s+\w+|unsigned|long|short|int|char|bool|
	double|float|void|\w+_t|sqlite3\w*|FILE|DIR|va_list|CURL\w*|G?Elf\w*|
	lt_slurm_\w+|lt_wide)\b)/x;
my $declaration = qr/^\s*$type(?:[\s*]+\w|\s*\(\*|$)/;

for my $file (@ARGV) {
	my @lines = lines_of($file);
	my $opened = 0;
	for my $i (0 .. $#lines) {
		$opened = $i if $lines[$i] eq '{';
		print "$file: ", $i + 1, ': ends a function of ',
		    $i - $opened + 1, " lines\n"
		    if $lines[$i] eq '}' && $i - $opened >= 69 &&
			$file !~ m{^(?:tests|examples)/};
		next unless $lines[$i] =~ /^\{$|^\t.*\)\s*\{$|\b(else|do)\s*\{$/;
		my $at = $i + 1;
		$at = end_of($at, \@lines) + 1
		    while $at < @lines && $lines[$at] =~ $declaration &&
			$lines[$at] !~ /^\s*return\b/;
		print "$file: ", $at + 1, ": no blank line: $lines[$at]\n"
		    if $at > $i + 1 && $lines[$at] =~ /^\s*[^\s}#]/;
	}
}

# Without texts and comments.
sub lines_of {
	my ($path) = @_;
	open my $in, '<', $path or die "$path: $!\n";
	local $/;
	my $text = <$in>;
	$text =~ s{'(?:\\.|[^'\\])'}{0}g;
	$text =~ s{"(?:\\.|[^"\\\n])*"}{""}g;
	$text =~ s{[ \t]*(/\*.*?\*/)}{"\n" x ($1 =~ tr/\n//)}gse;
	return split /\n/, $text, -1;
}

# The last line of the declaration that begins here.
sub end_of {
	my ($at, $lines) = @_;
	my $depth = 0;
	for (; $at < $#$lines; $at++) {
		$depth += ($lines->[$at] =~ tr/({[//) - ($lines->[$at] =~ tr/)}]//);
		last if $depth <= 0 && $lines->[$at] =~ /;\s*$/;
	}
	return $at;
}
