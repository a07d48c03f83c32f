#!/usr/bin/perl
# Links of Markdown pages that lead nowhere: no such file, or no such heading in
# it (#heading, as GitHub names them). What is on the web is not asked for.
#
#   links.pl PAGE.md...
use strict;
use warnings;
use File::Basename qw(dirname);

# The text without what is only quoted: code in fences and in backticks.
sub prose {
	my ($page) = @_;
	open my $in, '<:encoding(UTF-8)', $page or return '';
	my ($text, $fenced) = ('', 0);
	while (<$in>) {
		$fenced = !$fenced, next if /^ *```/;
		$text .= $_ if !$fenced;
	}
	return $text;
}

my %headings; # of each page that was named
sub has_heading {
	my ($page, $wanted) = @_;
	if (!$headings{$page}) {
		my %seen;
		for my $heading (prose($page) =~ /^#+ +(.*)$/mg) {
			my $name = lc $heading;
			$name =~ s/\]\([^)]*\)//g;
			$name =~ s/[^\w\- ]//g;
			$name =~ tr/ /-/;
			$headings{$page}{$name . ($seen{$name}++ ? '-' . ($seen{$name} - 1) : '')} = 1;
		}
	}
	return $headings{$page}{$wanted};
}

for my $page (@ARGV) {
	my $text = prose($page);
	$text =~ s/`[^`]*`//g;
	for my $link ($text =~ /\]\(([^)\s]+)\)/g, $text =~ /\bsrc="([^"]+)"/g) {
		next if $link =~ m{^(https?|mailto):};
		my ($file, $heading) = split /#/, $link, 2;
		my $path = $file eq '' ? $page : dirname($page) . "/$file";
		if (!-e $path) {
			print "$page: $link\n";
		} elsif (defined $heading && !has_heading($path, $heading)) {
			print "$page: $link: no such heading\n";
		}
	}
}
