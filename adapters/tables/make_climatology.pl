#!/usr/bin/perl
# Writes adapters/climatology_BASIS.inc: means by month and UTC hour of the
# intensities of nesl/CarbonX, of all zones that it has in full.
#
#   make_climatology.pl BASIS FIRST-YEAR LAST-YEAR CARBONX \
#       > adapters/climatology_BASIS.inc
#
# BASIS: lifecycle or direct. CARBONX: a checkout of nesl/CarbonX. Findings go to
# standard error.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use CarbonX;

die "usage: make_climatology.pl lifecycle|direct FIRST-YEAR LAST-YEAR CARBONX\n"
    unless @ARGV == 4 && $ARGV[0] =~ /^(lifecycle|direct)$/;
my ($basis, $first, $last, $folder) = @ARGV;

print <<"END";
/* Written by adapters/tables/make_climatology.pl from nesl/CarbonX (BSD 3-Clause,
 * docs/licenses/tables.md): $basis g CO2e/kWh, twelve months of 24 UTC hours. */
END
for my $zone (sort map { m{([A-Z0-9-]+)\.csv$} } glob "$folder/data/forecasting-data/*.csv") {
	my %means = map { $_ => means($zone, $_) } 'lifecycle', 'direct';
	my ($guessed, $origin, $months) = @{$means{$basis}};

	if ($guessed > CarbonX::ESTIMATED_MAX) {
		warn sprintf "%s: left out, %.0f %% of its hours are estimated\n",
		    $zone, 100 * $guessed;
	} elsif (total($means{direct}) > total($means{lifecycle})) {
		warn "$zone: left out, its direct emissions are above those of the life cycle\n";
	} else {
		$origin = 'the parts of it' unless $origin =~ /\S/;
		print "{\"$zone\", $first, $last, \"CarbonX, by $origin\", {\n";
		print '{', join(', ', map { sprintf '%.0f', $_ } @$_), "},\n" for @$months;
		print "}},\n";
	}
}

# [share estimated, origin, [months of [hours]]]
sub means {
	my ($zone, $kind) = @_;
	my (@sums, @counts);
	my ($guessed, $origin) = CarbonX::hours($folder, $zone, $kind, $first, $last,
	    sub { my ($month, $hour, $value) = @_;
		$sums[$month][$hour] += $value;
		$counts[$month][$hour]++ });
	my @months = map { my $month = $_;
		[map { $sums[$month][$_] / $counts[$month][$_] } 0 .. 23] } 0 .. 11;

	return [$guessed, $origin, \@months];
}

sub total {
	my ($means) = @_;
	my $sum = 0;

	$sum += $_ for map { @$_ } @{$means->[2]};
	return $sum;
}
