#!/usr/bin/perl
# Draws what a terminal showed (stdin) as an SVG (stdout): no script, no font of
# its own, the same in light and dark. Lines that begin with "$ " are commands,
# with "# " remarks; what is longer than the terminal is folded between words.
#
#   terminal.pl TITLE < session.txt > session.svg
use strict;
use warnings;
use open qw(:std :encoding(UTF-8));
use Encode qw(decode);

my $title = decode('UTF-8', shift // die "usage: terminal.pl TITLE\n");
my ($columns, $char, $line, $margin, $bar) = (100, 7.6, 17, 20, 30);
my %colour = (
	ground => '#16202a', bar => '#223040', title => '#9fb0c0',
	prompt => '#5fd38d', command => '#ffffff', remark => '#8fa3b5', said => '#cfd9e2',
);

sub escape {
	my $text = shift;
	my %name = ('&' => '&amp;', '<' => '&lt;', '>' => '&gt;', '"' => '&quot;');
	$text =~ s/([&<>"])/$name{$1}/g;
	$text =~ s/[^\x{9}\x{20}-\x{d7ff}\x{e000}-\x{fffd}]/?/g; # no XML has these
	return $text;
}

sub fold {
	my ($text, @lines) = @_;
	while (length $text > $columns) {
		my $cut = rindex $text, ' ', $columns;
		$cut = $columns if $cut < $columns / 2;
		push @lines, substr $text, 0, $cut, '';
		$text =~ s/^ //;
	}
	return (@lines, $text);
}

# Its width is told, so that columns stay in line in whatever font is there.
sub text {
	my ($x, $y, $class, $text) = @_;
	return '' if $text !~ /\S/;
	$text =~ s/^( *)//;
	$x += $char * length $1;
	return sprintf qq(<text class="%s" x="%.1f" y="%d" textLength="%.1f">%s</text>\n),
	    $class, $x, $y, $char * length $text, escape($text) =~ s/ /&#160;/gr;
}

my ($body, $y) = ('', $bar + $margin);
while (my $shown = <STDIN>) {
	chomp $shown;
	$shown =~ s/\t/' ' x (8 - $-[0] % 8)/e while $shown =~ /\t/;
	$shown =~ s/ +$//;
	my $class = $shown =~ /^\$ / ? 'command' : $shown =~ /^# / ? 'remark' : 'said';
	for my $part (fold($shown)) {
		if ($part =~ /^\$ / && $class eq 'command') {
			$body .= text($margin, $y, 'prompt', '$');
			$part =~ s/^\$/ /;
		}
		$body .= text($margin, $y, $class, $part);
		$y += $line;
	}
}
my $width = $columns * $char + 2 * $margin;
my $height = $y + $margin - $line / 2;
my $name = escape($title);
printf <<'E', $width, $height, $width, $height, $name, $name;
<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" role="img" aria-label="%s">
<title>%s</title>
E
print "<style>text{font:12.6px ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace}";
print ".$_\{fill:$colour{$_}}" for qw(title prompt command remark said);
print ".command,.prompt{font-weight:bold}</style>\n";
printf qq(<rect width="%d" height="%d" rx="8" fill="%s"/>\n), $width, $height, $colour{ground};
printf qq(<path d="M0 %d V8 Q0 0 8 0 H%d Q%d 0 %d 8 V%d Z" fill="%s"/>\n),
    $bar, $width - 8, $width, $width, $bar, $colour{bar};
printf qq(<text class="title" x="%d" y="20" text-anchor="middle">%s</text>\n), $width / 2, $name;
print $body, "</svg>\n";
