#!/usr/bin/perl
# The blocks of pages, fenced in Markdown and .EX or .nf in manual pages, as a
# reader sees them: of each a line "@ FILE:LINE", then its own.
use strict;
use warnings;

for my $file (@ARGV) {
	open(my $in, '<', $file) or die "$file: $!\n";
	my $is_man = $file =~ /\.[1-8]$/;
	my $open = 0;
	while (my $line = <$in>) {
		my $mark = $is_man ? $line =~ /^\.(?:nf|fi|EX|EE)\b/ : $line =~ /^ *```/;
		if ($mark) {
			$open = !$open;
			print "@ $file:$.\n" if $open;
			next;
		}
		next unless $open;
		if ($is_man) {
			next if $line =~ /^\.[A-Z]/;
			$line =~ s/\\f[A-Z]|\\&//g;
			$line =~ s/\\-/-/g;
			$line =~ s/\\\(aq/'/g;
			$line =~ s/\\\(dq/"/g;
			$line =~ s/\\e/\\/g;
		}
		print $line;
	}
	die "$file: a block does not end\n" if $open;
}
