#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-or-later
# Reads HTML statements with a parser of its own, which takes nothing but what
# they may have, and compares their figures with the report they are of.
#
#   statement.pl FOLDER NAME...: FOLDER/NAME.html, .json and .csv
use strict;
use warnings;
use utf8;
use Digest::SHA qw(sha256_hex);
use JSON::PP;

my ($folder, @names) = @ARGV;
my ($n, $bad) = (0, 0);
binmode STDOUT, ':utf8';

sub check { # check NAME, OFFENDERS...
	my ($name, @offenders) = @_;
	$n++;
	$bad++ if @offenders;
	printf "%sok %d - %s\n", @offenders ? 'not ' : '', $n, $name;
	print map { "# $_\n" } @offenders[0 .. ($#offenders < 15 ? $#offenders : 15)];
}

sub slurp { local (@ARGV, $/) = $_[0]; return scalar <> }

# ---- the parser ----

my %attributes = map { $_ => 1 } qw(lang charset http-equiv content name id class scope role tabindex aria-label
	aria-labelledby aria-hidden focusable href viewBox preserveAspectRatio x y d r cx cy width height points text-anchor);
my %elements = map { $_ => 1 } qw(html head meta title style body header main footer section h1 h2 p strong small a ul li
	dl div dt dd table caption thead tbody tfoot tr th td span bdi code figure figcaption svg desc rect path polyline
	circle text);
my %entities = (amp => '&', lt => '<', gt => '>', quot => '"', '#39' => "'");

sub plain { # text without entities; complains of others
	my ($text, $wrong) = @_;
	push @$wrong, "in text: $1" if $text =~ /([<>"'].{0,20})/s && $text =~ /[<>]/;
	$text =~ s/&([^;]{0,8};?)/
		my $e = $1;
		$e =~ s{;$}{} && exists $entities{$e} ? $entities{$e} : do { push @$wrong, "entity &$e"; '' }/gex;
	return $text;
}

# Events: [open, name, {attributes}], [close, name], [text, text].
sub parse {
	my ($html, $wrong) = @_;
	my (@events, @stack);
	$html =~ s/\A<!DOCTYPE html>\n// or push @$wrong, 'no doctype';
	while ($html =~ /\G(?:<(\/?)([a-z0-9]+)((?: [A-Za-z-]+="[^"<>]*")*)(\/?)>|([^<]+)|(.{1,30}))/gcs) {
		my ($end, $name, $rest, $alone, $text, $junk) = ($1, $2, $3, $4, $5, $6);
		if (defined $junk) { push @$wrong, "not markup: $junk"; last }
		if (defined $text) { push @events, ['text', @stack && $stack[-1] eq 'style' ? $text : plain($text, $wrong)]; next }
		push @$wrong, "element $name" unless $elements{$name};
		if ($end) {
			my $open = pop @stack // '';
			push @$wrong, "</$name> ends <$open>" if $open ne $name;
			push @events, ['close', $name];
			next;
		}
		my %a;
		while ($rest =~ / ([A-Za-z-]+)="([^"]*)"/g) {
			push @$wrong, "attribute $1" unless $attributes{$1};
			push @$wrong, "$1 twice" if exists $a{$1};
			$a{$1} = plain($2, $wrong);
		}
		push @events, ['open', $name, \%a];
		if ($alone) { push @events, ['close', $name] } else { push @stack, $name }
	}
	push @$wrong, "open at the end: @stack" if @stack;
	return \@events;
}

# Tables by their captions: {head => [..], rows => [[..]], foot => [..]}.
sub tables {
	my ($events) = @_;
	my (%tables, $table, $row, $cell, $part, $skip);
	for my $e (@$events) {
		my ($kind, $name) = @$e;
		if ($kind eq 'text') { $$cell .= $name if $cell && !$skip; next }
		if ($kind eq 'open') {
			$table = { rows => [], head => [], foot => [] } if $name eq 'table';
			($cell, $table->{caption}) = (\$table->{caption}, '') if $name eq 'caption';
			$part = $name if $name =~ /^t(head|body|foot)$/;
			$row = [] if $name eq 'tr';
			if ($name =~ /^t[hd]$/) { push @$row, ''; $cell = \$row->[-1] }
			$skip = 1 if $name eq 'small';
		} else {
			$skip = 0 if $name eq 'small';
			undef $cell if $name =~ /^(t[hd]|caption)$/;
			if ($name eq 'tr') {
				if ($part eq 'tbody') { push @{ $table->{rows} }, $row } else { $table->{ substr $part, 1 } = $row }
			}
			if ($name eq 'table') { $tables{ $table->{caption} } = $table; undef $table }
		}
	}
	return \%tables;
}

sub text_of { join '', map { $_->[0] eq 'text' ? $_->[1] : '' } @{ $_[0] } }

# ---- figures ----

sub round { # to a multiple, half away from zero
	my ($value, $unit) = @_;
	my $size = abs $value;
	my $rest = $size % $unit;
	$size += $rest * 2 >= $unit ? $unit - $rest : -$rest;
	return $value < 0 ? -$size : $size;
}

sub units { # "-$1,234.57", "12.3 %", "1,180" without the point; undef: no figure
	my ($text) = @_;
	return undef unless $text =~ /^([-+]?)\$?([0-9,]+(?:\.([0-9]+))?)(?: %)?$/;
	my ($sign, $digits) = ($1, $2);
	$digits =~ s/[,.]//g;
	return $sign eq '-' ? -$digits : 0 + $digits;
}

sub column { my ($table, $title) = @_; my ($i) = grep { $table->{head}[$_] eq $title } 0 .. $#{ $table->{head} }; $i }

my $alone = qr/^(With all below|Budget|Left|Left of budget|So far|kg so far|Per (node|GPU)-hour|Runs|Count|Figure)$/;

# Each amount is rounded once, so rows and total are at most half a unit off each;
# steps from one total to the other add up as shown.
sub not_adding_up {
	my ($tables, $left_out) = @_;
	my @wrong;
	for my $t (values %$tables) {
		next unless @{ $t->{foot} };
		for my $i (1 .. $#{ $t->{head} }) {
			next if $t->{head}[$i] =~ $alone || ($t->{caption} =~ /^Teams, each below/ &&
				($t->{head}[$i] ne 'Its own' || $left_out));
			my $total = units($t->{foot}[$i]);
			next unless defined $total;
			my $sum = 0;
			$sum += units($_->[$i]) // 0 for @{ $t->{rows} };
			push @wrong, "$t->{caption}, $t->{head}[$i]: $sum, not $total" if abs($sum - $total) > ($t->{caption} =~ /^From/ ? 0 : (1 + @{ $t->{rows} }) * ($t->{head}[$i] eq 'Change' ? 1 : 0.5));
		}
	}
	return @wrong;
}

# Each named row, and the total, is the report's figure, rounded.
sub off {
	my ($table, $title, $groups, $key, $figure, $unit, $total) = @_;
	my $i = $table ? column($table, $title) : undef;
	return "no column $title" unless defined $i;
	my (%want, @wrong);
	$want{ $_->{$key} } = $_->{$figure} for grep { !$_->{adjustment} &&
		!($figure eq 'cost_micros' && ($_->{unpriced_runs} // 0) == $_->{runs}) } @$groups;
	for my $row (@{ $table->{rows} }) {
		next unless exists $want{ $row->[0] };
		my $shown = units($row->[$i]);
		push @wrong, "$row->[0]: $row->[$i] for $want{$row->[0]}"
		    unless defined $shown && $shown * $unit == round($want{ $row->[0] }, $unit);
	}
	my $shown = units($table->{foot}[$i]);
	push @wrong, "total: $table->{foot}[$i] for $total" unless defined $shown && $shown * $unit == round($total, $unit);
	return @wrong;
}

sub csv_total { # what the period cost, of the CSV's teams
	my ($text) = @_;
	my (@rows, @row);
	while ($text =~ /\G(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/g) {
		push @row, $1 // $2;
		next if $3 eq ',';
		push @rows, [@row];
		@row = ();
	}
	my $head = shift @rows;
	my %at = map { $head->[$_] => $_ } 0 .. $#$head;
	my $sum = 0;
	for my $team (@rows) {
		my $exact = $team->[$at{cost}];
		$exact =~ s/\.//;
		$sum += $exact || 0;
	}
	return $sum;
}

# ---- a statement ----

sub structure {
	my ($events) = @_;
	my (@wrong, %ids, @refs, $level, $svg, %has);
	$level = 0;
	for my $e (@$events) {
		my ($kind, $name, $a) = @$e;
		if ($kind eq 'close' && $name eq 'svg') {
			push @wrong, 'a chart without title or desc' if $svg->{role} && !($svg->{title} && $svg->{desc});
			undef $svg;
		}
		next unless $kind eq 'open';
		push @wrong, "id $a->{id} twice" if defined $a->{id} && $ids{ $a->{id} }++;
		push @refs, split / /, $a->{'aria-labelledby'} // '';
		push @wrong, "href $a->{href}" if ($a->{href} // '#') !~ /^#/;
		push @refs, $a->{href} =~ s/^#//r if $a->{href};
		$has{$name}++;
		push @wrong, 'no lang' if $name eq 'html' && ($a->{lang} // '') ne 'en';
		push @wrong, 'th without scope' if $name eq 'th' && ($a->{scope} // '') !~ /^(row|col)$/;
		if ($name =~ /^h([1-6])$/) {
			push @wrong, "h$1 after h$level" if $1 > $level + 1;
			$level = $1;
		}
		if ($name eq 'svg') {
			$svg = { role => ($a->{role} // '') eq 'img' };
			push @wrong, 'a picture that is neither named nor hidden'
			    unless $svg->{role} ? $a->{'aria-labelledby'} : ($a->{'aria-hidden'} // '') eq 'true';
		}
		$svg->{$name} = 1 if $svg;
	}
	push @wrong, "nothing has the id $_" for grep { !$ids{$_} } @refs;
	push @wrong, 'not one h1' if ($has{h1} // 0) != 1;
	push @wrong, 'a table without caption' if ($has{table} // 0) != ($has{caption} // 0);
	return @wrong;
}

sub statement {
	my ($name) = @_;
	my $html = slurp("$folder/$name.html");
	my $json = slurp("$folder/$name.json");
	my $report = JSON::PP->new->utf8->decode($json);
	my @wrong;
	# JSON::PP escapes U+007F, others do not.
	(my $canonical = JSON::PP->new->utf8->canonical->encode($report)) =~ s/\\u007f/\x7f/gi;
	my $sum = sha256_hex($canonical);
	utf8::decode($html) or push @wrong, 'not UTF-8';
	my $events = parse($html, \@wrong);
	check("$name: it is well-formed, of elements and attributes that do nothing", @wrong);
	check("$name: headings, scopes, ids and alternative texts", structure($events));
	my ($policy) = grep { ($_->[2]{'http-equiv'} // '') eq 'Content-Security-Policy' }
	    grep { $_->[0] eq 'open' } @$events;
	check("$name: nothing is allowed but inline style", ($policy ? $policy->[2]{content} : '') eq
		"default-src 'none'; style-src 'unsafe-inline'" ? () : 'policy');
	my $text = text_of($events);
	check("$name: no text controls, hides or turns around others", map { sprintf 'U+%04X', ord }
		$text =~ /([\x00-\x08\x0b-\x1f\x7f-\x9f\x{ad}\x{200b}-\x{200f}\x{2028}-\x{202e}\x{2060}-\x{206f}\x{feff}])/g);
	check("$name: no name is longer than 400 characters", map { length $_->[1] } grep { $_->[0] eq 'text' &&
		length $_->[1] > ($_->[1] =~ /: / ? 804 : 401) && $_->[1] !~ /:root/ } @$events);
	my $tables = tables($events);
	check("$name: what is shown adds up", not_adding_up($tables, $text =~ /Teams further down are left out/));
	figures($name, $report, $tables, $text);
	trend($name, $report, $tables, $html);
	balance($name, $report, $tables, $text);
	quality($name, $report, $tables);
	my $state = $report->{period}{state} eq 'closed' ? 'Final' : 'Not complete';
	check("$name: it says that it is $state", $text =~ /^$state: /m ? () : 'no');
	check("$name: the checksum is that of the report", $text =~ /\b$sum\b/ ? () : "want $sum");
	return ($report, $tables, $text);
}

sub figures {
	my ($name, $report, $tables, $text) = @_;
	my $total = $report->{total};
	my @captions = (['Teams, the largest first', 'team', $report->{teams}],
		['Partitions, the largest first', 'partition', $report->{by}{partition}],
		['GPU models, the largest first', 'gpu', $report->{by}{gpu}],
		['Users, the largest first', 'user', $report->{by}{user}]);
	my @wrong;
	for (@captions) {
		my ($caption, $key, $groups) = @$_;
		next unless @{ $groups // [] };
		push @wrong, map { "$key: $_" } off($tables->{$caption}, 'Cost', $groups, $key, 'cost_micros', 10000,
			$total->{cost_micros}) if $report->{currency};
		my $unit = $total->{carbon_mg} < 10_000_000 ? 1000 : 100_000;
		push @wrong, map { "$key: $_" } off($tables->{$caption}, 'kg CO2e', $groups, $key, 'carbon_mg', $unit,
			$total->{carbon_mg});
	}
	check("$name: its figures are the report's", @wrong);
	belonging($name, $report, $tables, $total->{carbon_mg} < 10_000_000 ? 1000 : 100_000);
	return unless $report->{currency};
	my %cost = map { $_->{team} => $_->{cost_micros} } @{ $report->{teams} };
	my $teams = $tables->{'Teams, the largest first'};
	# What a team cost is the same cents in the other table, too.
	my $changes = $tables->{'Teams, the largest change first'};
	my %once = map { $_->[0] => $_->[1] } @{ $teams->{rows} // [] };
	check("$name: an amount is shown alike in all tables", map { "$_->[0]: $_->[2], $once{$_->[0]}" }
		grep { exists $once{ $_->[0] } && $_->[2] ne $once{ $_->[0] } } @{ $changes->{rows} // [] });
	check("$name: shares are of exact figures", $total->{cost_micros} <= 0 || !$teams ? () : map { "$_->[0]: $_->[2]" }
		grep { exists $cost{ $_->[0] } && abs(units($_->[2]) - 1000 * $cost{ $_->[0] } / $total->{cost_micros}) >= 1.01 }
		@{ $teams->{rows} });
	my $cents = round($total->{cost_micros}, 10000) / 10000;
	my ($lead) = $text =~ /cost (-?\$[0-9,.]+[0-9])/;
	check("$name: it says the cost first", (units($lead // '') // 'none') eq $cents ? () : ($lead // 'no') . ", not $cents");
	my $csv = csv_total(slurp("$folder/$name.csv"));
	check("$name: the total is the CSV's", round($csv, 10000) / 10000 == $cents ? () : "$csv, not $cents");
}

# Teams with those below them, and sums by label, from the rows of the teams.
sub belonging {
	my ($name, $report, $tables, $unit) = @_;
	my ($cost, $own) = $report->{currency} ? ('cost_micros', 'own_micros') : ();
	my $total = $report->{total};
	my $tree = $tables->{'Teams, each below the one that it belongs to'};
	my @wrong;
	push @wrong, $tree ? 'a tree of one level' : 'no tree'
	    if !!$tree != !!grep { $_->{level} } @{ $report->{tree} // [] };
	if ($tree) {
		my %of = map { $_->{team} => $_ } @{ $report->{tree} };
		push @wrong, map { "$_->[0] is none" } grep { !$of{ $_->[0] } } @{ $tree->{rows} };
		push @wrong, off($tree, 'kg CO2e', $report->{tree}, 'team', 'carbon_mg', $unit, $total->{carbon_mg});
		push @wrong, off($tree, 'With all below', $report->{tree}, 'team', 'cost_micros', 10000, $total->{cost_micros}),
		    off($tree, 'Its own', $report->{tree}, 'team', 'own_micros', 10000, $total->{cost_micros}) if $cost;
	}
	my %keys = map { $_ => 1 } map { keys %{ $_->{labels} } } @{ $report->{teams} };
	for my $key (sort grep { /^[\w.-]+$/a && keys %keys <= 8 } keys %keys) {
		my %sums;
		for my $team (@{ $report->{teams} }) {
			my $sum = $sums{ $team->{labels}{$key} // '(none)' } //= { runs => 0, key => $team->{labels}{$key} // '(none)' };
			$sum->{$_} += $team->{$_} // 0 for qw(cost_micros carbon_mg runs);
		}
		my $table = $tables->{"By $key, the largest first"};
		push @wrong, "no table by $key" unless $table;
		push @wrong, "by $key: not each one's row" if $table && @{ $table->{rows} } != keys %sums;
		push @wrong, off($table, 'kg CO2e', [values %sums], 'key', 'carbon_mg', $unit, $total->{carbon_mg});
		push @wrong, off($table, 'Cost', [values %sums], 'key', 'cost_micros', 10000, $total->{cost_micros}) if $cost;
	}
	check("$name: teams are summed up with those below them, and by label", @wrong);
}

# A bar for each month of which something is known, by its state; the tables have the figures.
sub trend {
	my ($name, $report, $tables, $html) = @_;
	my @months = @{ $report->{trend} // [] };
	my @known = grep { defined $_->{carbon_mg} } @months;
	my @want = (scalar(grep { $_->{state} eq 'closed' } @known), scalar(grep { $_->{state} ne 'closed' } @known));
	my @wrong;
	for my $id ('trend-carbon', $report->{currency} ? 'trend-cost' : ()) {
		my ($svg) = $html =~ m{<svg[^>]*labelledby="$id-title(.*?)</svg>}s;
		my @got = map { my $class = $_; scalar(() = ($svg // '') =~ /<rect class="$class"/g) } 'mark', 'open';
		push @wrong, "$id: bars @got, not @want" if "@got" ne "@want";
	}
	my $rows = ($tables->{'What each month came to'} // {})->{rows} // [];
	push @wrong, 'rows: ' . @$rows if @$rows != @months;
	for my $i (0 .. $#$rows) {
		my ($month, @cells) = ($months[$i], @{ $rows->[$i] });
		my $said = !defined $month->{carbon_mg} ? 'nothing known' : $month->{state} eq 'closed' ? '' : 'not closed';
		push @wrong, "$cells[0]: not $said" if ($cells[0] =~ /, (.*)/ ? $1 : '') ne $said;
		my $unit = $report->{total}{carbon_mg} < 10_000_000 ? 1000 : 100_000;
		my @figures = ($report->{currency} ? [$month->{cost_micros}, 10000] : (), [$month->{carbon_mg}, $unit], [$month->{runs}, 1]);
		for my $k (0 .. $#figures) {
			my ($figure, $of) = @{ $figures[$k] };
			my $want = defined $figure ? round($figure, $of) / $of : 'none';
			push @wrong, "$cells[0]: $cells[1 + $k], not $want" if (units($cells[1 + $k]) // 'none') ne $want;
		}
	}
	check("$name: each month of the trend is there, and what is not known is a gap", @wrong);
	# Teams on top, as long as what they came to, beside each other.
	my @tops = grep { !$_->{level} } @{ $report->{tree} // [] };
	@tops = @{ $report->{teams} } if @tops < 2;
	my ($svg) = $html =~ m{<svg[^>]*labelledby="teams-chart-title(.*?)</svg>}s;
	my $figure = $report->{currency} ? 'cost_micros' : 'carbon_mg';
	my %width;
	my $at = -1;
	for my $line (split /\n/, $svg // '') {
		$at++ if $line =~ /text-anchor="end">[^<]*<\/text><(rect|path class="limit")/ || $line =~ /text-anchor="end">[^<]*<\/text>$/ && $line !~ /^<path/;
		$width{$at} += $1 while $line =~ /<rect class="(?:mark|open)"[^>]* width="([0-9.]+)"/g;
	}
	my @costs = map { $_->{$figure} } sort { $b->{$figure} <=> $a->{$figure} } @tops;
	my @off = @costs < 2 || @costs > 13 ? () : grep { abs($width{$_} - $width{0} * $costs[$_] / $costs[0]) > 0.3 } 0 .. $#costs;
	check("$name: the bars of the teams are as long as they cost", @costs < 2 == !$svg ? () : 'no chart',
		map { "$_: $width{$_} of $width{0}, for $costs[$_] of $costs[0]" } @off);
}

# What lowtide did: a row of each month, with nothing where nothing is known.
sub balance {
	my ($name, $report, $tables, $text) = @_;
	my $table = $tables->{'What lowtide did, month by month'} // {};
	my @rows = (@{ $table->{rows} // [] }, @{ $table->{foot} // [] } ? $table->{foot} : ());
	my @months = $report->{balance} ? (@{ $report->{balance}{months} }, $report->{balance}{total}) : ();
	my @wrong = @rows == @months ? () : 'rows: ' . @rows;
	my @figures = (['moved_runs', 1], ['saved_micros', 10000], ['measured_micros', 10000], ['saved_mg', 100_000],
		['measured_mg', 100_000], ['waited_s', 360], ['worse_jobs', 1], ['refused_jobs', 1]);
	for my $i (0 .. $#months) {
		my ($label, @cells) = @{ $rows[$i] // [] };
		for my $k (0 .. $#figures) {
			my ($key, $unit) = @{ $figures[$k] };
			my $figure = $months[$i]{$key};
			my $want = defined $figure ? round($figure, $unit) / $unit : 'none';
			my $got = units($cells[$k] // '') // 'none';
			push @wrong, "$label $key: $cells[$k], not $want" if $got ne $want;
		}
	}
	check("$name: what lowtide did in each month is there", @wrong);
	my $worse = ($report->{measured} // {})->{worse};
	check("$name: and the jobs that came out worse", !$worse ||
		$text =~ /$worse->{jobs} of $worse->{known_jobs} moved jobs came out worse/ ? () : 'no');
}

# The total does not have how many were estimated; its teams do.
sub quality {
	my ($name, $report, $tables) = @_;
	my $estimated = 0;
	$estimated += $_->{estimated_runs} // 0 for @{ ($report->{by} // {})->{team} // [] };
	my ($cell) = map { $_->[1] } grep { $_->[0] =~ /estimated/ } @{ ($tables->{'How runs were measured'} // {})->{rows} // [] };
	check("$name: the estimated runs are counted", !$estimated ||
		(units(($cell // '') =~ s/ \(.*//r) // '') eq $estimated ? () : "$estimated, not " . ($cell // 'there'));
}

# ---- colors ----

sub luminance {
	my @c = map { my $v = hex($_) / 255; $v <= 0.04045 ? $v / 12.92 : (($v + 0.055) / 1.055)**2.4 } $_[0] =~ /([0-9a-f]{2})/g;
	return 0.2126 * $c[0] + 0.7152 * $c[1] + 0.0722 * $c[2];
}

sub contrast {
	my ($one, $other) = sort { $b <=> $a } map { luminance($_) } @_;
	return ($one + 0.05) / ($other + 0.05);
}

sub colors {
	my $html = slurp("$folder/$names[0].html");
	my ($css) = $html =~ m{<style>(.*)</style>}s;
	my @schemes = $css =~ /:root\{([^}]*)\}/g;
	my (%text, %shape, @wrong, $pairs);
	$text{$1} = 1 while $css =~ /[;{]color:var\(--(\w+)\)/g;
	$shape{$1} = 1 while $css =~ /(?:fill|stroke|border-top:[^;]*):?\s*var\(--(\w+)\)/g;
	# What only helps the eye: lines between rows, the rest of a bar, a range whose edges nobody has to see.
	delete @shape{qw(line track range)};
	check('the style has colors for light and for dark, once each', @schemes == 2 ? () : scalar @schemes);
	for my $scheme (@schemes) {
		my %c = $scheme =~ /--(\w+):(#[0-9a-f]{6})/g;
		my @want = ((map { ([$_, 'page', 4.5], [$_, 'panel', 4.5]) } sort keys %text),
			(map { [$_, 'page', 3] } sort keys %shape), ['mark', 'track', 3], ['mark', 'range', 3]);
		for (@want) {
			my ($front, $back, $least) = @$_;
			my $ratio = contrast($c{$front} // '#000000', $c{$back} // '#000000');
			push @wrong, sprintf '%s on %s: %.2f, want %.1f', $front, $back, $ratio, $least if $ratio < $least;
			$pairs++;
		}
	}
	check('each pair of colors has the contrast that WCAG AA wants', @wrong, $pairs >= 20 ? () : "only $pairs pairs");
	check('the contrast of black on white is 21', abs(contrast('#000000', '#ffffff') - 21) < 1e-9 ? () : 'no');
}

my %read = map { $_ => [statement($_)] } @names;
colors();

my ($report, $tables, $text) = @{ $read{many} };
my @rows = @{ $tables->{'Teams, the largest first'}{rows} };
check('of 300 teams 20 have a row, the others one', @rows == 21 && $rows[20][0] eq '280 other teams' ? () :
	scalar(@rows) . ": $rows[-1][0]");
my %shown = map { $_->[0] => 1 } @rows;
my @rest = grep { !$shown{ $_->{team} } } @{ $report->{teams} };
my $rest = 0;
$rest += $_->{cost_micros} for @rest;
check('and that has what the others cost', abs(units($rows[20][1]) * 10000 - $rest) < 10000 ? () : $rows[20][1]);
my ($least) = sort { $a <=> $b } map { $_->{cost_micros} } grep { $shown{ $_->{team} } } @{ $report->{teams} };
my @tops = @{ $tables->{'Teams, each below the one that it belongs to'}{rows} };
check('of 310 rows of a tree those on top, and that the others are in them', @tops == 10 &&
	$text =~ /Teams further down are left out here/ ? () : scalar @tops);
check('who cost more than one that is shown is shown', map { $_->{team} } grep { $_->{cost_micros} > $least } @rest);

($report, $tables, $text) = @{ $read{'money-less'} };
check('a site without money is shown none', $text =~ s/\A.*\}\n//sr =~ /(\$|\bcosts?\b|\bmoney\b|budget of)/i ? "has $1" : ());
check('but carbon', $text =~ /emitted .* kg CO2e/ ? () : 'none');

($report, $tables, $text) = @{ $read{bare} };
check('what the report lacks is left out', map { "has $_" } grep { $text =~ /$_/ }
	'By day', 'By partition', 'By user', 'Top jobs', 'What changed');

($report, $tables, $text) = @{ $read{open} };
check('of an open month the days that come have no row',
	@{ $tables->{'What each day cost'}{rows} } == 18 ? () : scalar @{ $tables->{'What each day cost'}{rows} });
check('it is against as many days, and says so', map { "no $_" } grep { index($text, $_) < 0 }
	"Like for like: November 2026 until now is compared with as many days, 1 to 18 October 2026, up to the same hour",
	'So far, against 1 to 18 October 2026');
check('the columns too', (grep { $_ eq "1\x{2013}18 Oct" } @{ $tables->{'Teams, the largest change first'}{head} }) ? () :
	"@{ $tables->{'Teams, the largest change first'}{head} }");
check('and it says what is held and expected', map { "no $_" } grep { $text !~ /$_/ } '\$1,312.44', 'between', 'is expected',
	'As of 18 November 2026, 17:40 UTC');
my @three = map { my $s = 10**(length(int($_ / 10_000)) - 3); '$' . (reverse join ',', unpack '(A3)*', reverse int($_ / 1e4 / $s + 0.5) * $s / 100) =~ s/^,//r }
	map { $report->{forecast}{"${_}_micros"} } qw(expected low high);
check('of three digits', map { "no $_" } grep { $text !~ /about .*\Q$_\E[ ,:]/ } @three);

# Who has no price: no 0, and its runs beside the total.
my %unpriced = map { $_->{partition} => $_->{runs} } grep { $_->{partition} =~ /^(test|lab)$/ } @{ $report->{by}{partition} };
my %cells = map { $_->[0] => "$_->[1] $_->[2] $_->[4]" } @{ $tables->{'Partitions, the largest first'}{rows} };
check('a partition without a price costs not 0', keys %unpriced == 2 ? () : 'none', map { "$_: " . ($cells{$_} // 'no row') }
	grep { ($cells{$_} // '') ne "\x{2013} \x{2013} \x{2013}" } sort keys %unpriced);
check('and its runs are said', map { "no $_" } grep { $text !~ /^Without a known price, .*\b$_\b.*\.$/m }
	map { "$unpriced{$_} runs of $_" } sort keys %unpriced);

# Who is over, from the report's budgets alone; before the sentence of the cost.
my (@over, @due);
for (@{ $report->{budgets} }) {
	my ($limit, $spent, $end) = map { $_->{budget_micros} ? @$_{qw(budget_micros actual_micros expected_micros)} :
		@$_{qw(budget_mg actual_mg expected_mg)} } $_;
	push @over, "$_->{team} has spent " . int(100 * $spent / $limit + 0.5) if $spent > $limit;
	push @due, "$_->{team} is expected to spend " . int(100 * $end / $limit + 0.5)
	    if $spent <= $limit && ($end // 0) > $limit;
}
my ($first) = $text =~ /^Who is over budget$(.*?)^At a glance$/ms;
check('who is over comes first, and who will be', @over == 1 && @due == 2 ? () : "@over, @due",
	map { "no $_" } grep { ($first // '') !~ /^\Q$_\E\x{a0}% of its \$/m } @over, @due);
check('the other budgets are not there', ($first // 'vision') =~ /(vision|language|climate)/ ? $1 : ());
check('then lowtide\'s own balance', ($first // '') =~
	/saved \$1,500\.00 \(measured\) and [0-9.]+ kg CO2e \(modelled\), for 343\.0 hours of waiting\./ ? () : $first // 'nothing');
check('a budget of a quarter or a year has its own period', map { "no $_" } grep { my $n = $_;
	!grep { $_->[0] eq $n } map { @{ $tables->{$_}{rows} // [] } } 'Budgets, the fullest first',
	'Carbon budgets in kg CO2e, the fullest first' } 'materials, Q4 2026', 'teaching, 2026');
check('figures of a replay are said not to be real, on top', $text =~ /Not real figures.*Who is over budget/s ? () : 'no');

($report, $tables, $text) = @{ $read{year} };
check('a year is by month', $text =~ /^By month$/m && $text !~ /^By day$/m ? () : 'no');
check('a year has a row for each month', @{ $tables->{'What each month cost'}{rows} // [] } == 12 ? () : 'no');

# Its rows that came late are of its own hours, but for some; a node-hour costs what it did.
my ($own, $earlier) = (0, 0);
for (@{ $report->{by}{partition} }) { $own += $_->{cost_micros} - $_->{earlier_micros}; $earlier += $_->{earlier_micros} }
my %step = map { ($_->[0] =~ /^(\w+)/)[0] => units($_->[1]) * 10000 } @{ $tables->{'From the period before to this'}{rows} };
check('a year at the prices of the year before has no other price', abs($step{Price}) < 20_000 ? () : $step{Price});
check('corrections of its own hours are in its hours', $earlier > 0 && $report->{total}{corrections_micros} > $earlier &&
	abs($step{Hours} + ($step{Mix} // 0) - $own + $report->{previous}{total}{cost_micros}) < 20_000 ? () : $step{Hours});
check('those of the year before are a step', abs($step{Corrections} - $earlier) < 10_000 ? () : $step{Corrections});

# The steps from one period to the other, from the report alone.
($report, $tables, $text) = @{ $read{month} };
my %before = map { $_->{partition} => $_ } @{ $report->{previous}{by}{partition} };
my ($hours, $node_s, $node_s_then, $cost_then) = (0, 0, 0, 0);
for (grep { !$_->{adjustment} } @{ $report->{by}{partition} }) {
	my $then = $before{ $_->{partition} };
	$hours += $then->{cost_micros} * ($_->{node_s} - $then->{node_s}) / $then->{node_s};
	$node_s += $_->{node_s};
}
for (grep { !$_->{adjustment} } @{ $report->{previous}{by}{partition} }) {
	$node_s_then += $_->{node_s};
	$cost_then += $_->{cost_micros};
}
my $of_volume = $cost_then * ($node_s - $node_s_then) / $node_s_then;
my @steps = @{ $tables->{'From the period before to this'}{rows} };
check('more hours count at the mean price of before', $steps[1][0] =~ /^Hours: / &&
	abs(units($steps[1][1]) * 10000 - $of_volume) < 10001 ? () : "$steps[1][1], not $of_volume");
check('their mix at the price of each partition before', $steps[2][0] =~ /^Mix: / && abs($hours - $of_volume) > 1e6 &&
	abs(units($steps[2][1]) * 10000 - $hours + $of_volume) < 20001 ? () : "@{$steps[2]}, not " . ($hours - $of_volume));
my ($given) = grep { $_->[0] eq 'Adjustments' } @steps;
check('adjustments are a step', ($given->[1] // '') eq '-$129.50' ? () : 'not -$129.50');
my ($failed) = $text =~ /(\$[0-9,.]+), [0-9.]+ % of the cost, went/;
my $lost = 0;
$lost += $_->{failed_micros} for @{ $report->{by}{state} };
my ($idle, $of_measured, $of_all) = $text =~
	/idle: at least (\$[0-9,.]+)\. That is ([0-9.]+) % of what the runs cost whose use Slurm measured; they are ([0-9.]+) %/;
my ($stood, $measured) = (0, 0);
$stood += $_->{idle_micros} for @{ $report->{by}{state} };
$measured += $_->{measured_micros} for @{ $report->{by}{state} };
check('idle money is the sum of all states, and said to be of what is measured',
	$measured > 0 && units($idle // '') * 10000 == round($stood, 10000) && $of_measured == 25 &&
	abs($of_all - 100 * $measured / $report->{total}{cost_micros}) < 0.06 ? () :
	join(' ', map { $_ // 'none' } $idle, $of_measured, $of_all));
check('failed money is the sum of all but what completed', units($failed // '') * 10000 == round($lost, 10000) ? () : 'no');

my @listed = @{ $tables->{'What was found later, booked in this period'}{rows} // [] };
my $corrected = 0;
$corrected += units($_->[3]) // 0 for @listed;
check('corrections are a list: month, job, team, amount and why', @listed == 4 && $listed[0][0] eq 'Sep 2026' &&
	$listed[0][1] =~ /^4[0-9]{5}$/ && $listed[0][5] eq 'it changed after it was charged' && $listed[3][0] eq '2 others' &&
	abs($corrected * 10000 - $report->{total}{corrections_micros}) <= 15000 ? () : map { "@$_" } @listed);

check('it says since when it is closed, by whom, and what was kept then', map { "no $_" } grep { $text !~ /$_/ }
	'Final: the period is closed since 4 November 2026, by root', 'Kept when the period was closed: a{64}');

# Without groups of the period before: 1,180 runs after 1,014.
($report, $tables, $text) = @{ $read{runs} };
my $then = $report->{previous}{total};
@steps = @{ $tables->{'From the period before to this'}{rows} };
check('more runs count at their mean charge of before', $steps[1][0] eq 'Number: 1,180 runs, before 1,014' &&
	abs(units($steps[1][1]) * 10000 - $then->{charges_micros} * (1180 - 1014) / 1014) < 10001 ? () : "@{$steps[1]}");

# Nodes, charge for carbon and discounts, summed up from the jobs' own figures.
check('without a charge or a discount the cost is of nodes alone', map { $read{$_}[2] =~ /^What the cost is for$/m ? $_ : () }
	grep { $_ ne 'charge' } @names);
($report, $tables, $text) = @{ $read{charge} };
my %part = map { $_->[0] => units($_->[1]) } @{ $tables->{'Cost of the period'}{rows} };
my %figure = ('Carbon charge' => 0, 'Discount for having waited' => 0);
for (@{ $report->{by}{day} }) {
	$figure{'Carbon charge'} += $_->{carbon_charge_micros} // 0;
	$figure{'Discount for having waited'} -= $_->{discount_micros} // 0;
	$figure{Nodes} += $_->{cost_micros} - $_->{carbon_charge_micros} + $_->{discount_micros} unless $_->{adjustment};
	$figure{Adjustments} += $_->{cost_micros} if $_->{adjustment};
}
check('the cost by what it is for', map { "$_: " . ($part{$_} // 'none') . ", not $figure{$_}" }
	grep { abs(($part{$_} // 0) * 10000 - $figure{$_}) >= 10000 || !$figure{$_} } sort keys %figure);
my ($tonne) = $text =~ /^Carbon charge: [0-9.]+ [a-z]+ CO2e at (\$[0-9.]+) a tonne/m;
check('and what a tonne is charged with', ($tonne // '') eq '$80.00' ? () : $tonne // 'none');

print "1..$n\n";
exit($bad ? 1 : 0);
