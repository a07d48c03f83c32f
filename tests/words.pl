#!/usr/bin/perl
# Prints block comments that begin with a clause for a subject (What, Of, By,
# Who, Is), and static functions whose name is a bare verb: one a line.
#
#   words.pl FILE...
use strict;
use warnings;

my $verbs = join '|', qw(add ask be begin call check clear close compare copy count do drain drop end fill find
	finish fit fold follow free get give go init is keep list load look make mark move next note open parse
	pass put read run save say see send set show sort start step stop store sum take tell test try turn update use
	wait walk write);
for my $file (@ARGV) {
	open my $in, '<', $file or die "$file: $!\n";
	local $/;
	my $text = <$in>;
	while ($text =~ m{^[ \t]*/\*[ \t\n*]*(What|Of|By|Who|Is)\b([^\n]{0,50})}mg) {
		print "$file:" . line_of($text, pos $text) . ": comment: $1$2\n";
	}
	while ($text =~ /^static [^\n;{}()=]*\n($verbs)\(/mg) {
		print "$file:" . line_of($text, pos $text) . ": bare name: $1\n";
	}
}

sub line_of {
	my ($text, $at) = @_;
	return 1 + (substr($text, 0, $at) =~ tr/\n//);
}
