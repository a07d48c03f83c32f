#!/usr/bin/perl
# Writes adapters/cloud_region_table.c: mean intensities of a year of the grids
# behind cloud regions, one table for direct emissions and one for life cycles.
#
#   make_cloud_region.pl GOOGLE.csv CARBONX > adapters/cloud_region_table.c
#
# GOOGLE.csv: data/yearly/YEAR.csv of GoogleCloudPlatform/region-carbon-info; its
# name is the year. CARBONX: a checkout of nesl/CarbonX. cloud_regions.csv beside
# this script says which grid a region is on. Findings go to standard error.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use CarbonX;

die "usage: make_cloud_region.pl GOOGLE.csv CARBONX\n" unless @ARGV == 2;
my ($google_path, $carbonx) = @ARGV;
my ($year) = $google_path =~ m{(\d{4})\.csv$} or die "$google_path: want YEAR.csv\n";
my @regions = regions();
my %google = google();
my (%direct, %lifecycle, %google_of);
my @clouds = ('aws', 'azure', 'gcp');

for my $zone (map { $_->{zone}, $_->{wider} || () } @regions) {
	$direct{$zone} //= CarbonX::mean($carbonx, $zone, 'direct', $year) // -1;
	$lifecycle{$zone} //= CarbonX::mean($carbonx, $zone, 'lifecycle', $year) // -1;
}
drop_lifecycles();
for my $region (grep { $_->{cloud} eq 'gcp' && defined $google{$_->{name}} } @regions) {
	$google_of{$region->{zone}} //= $region->{name};
}
compare();

print <<'END';
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Written by adapters/tables/make_cloud_region.pl: means of a year of the grids
 * behind cloud regions, for cloud_region.c. Facts by Google (Apache License
 * 2.0) and CarbonX (BSD 3-Clause): docs/licenses/tables.md.
 */
#include <stddef.h>

#include "cloud_region.h"
END
my @rows;
for my $basis ('direct', 'lifecycle') {
	for my $cloud (@clouds) {
		print "\nstatic const struct lt_cloud_region ${cloud}_$basis\[] = {\n";
		my $count = 0;
		for my $region (grep { $_->{cloud} eq $cloud } @regions) {
			my ($value, $origin) = $basis eq 'direct' ? direct($region)
			    : lifecycle($region);

			if (!defined $value) {
				warn "$cloud $region->{name}: no $basis figure of $region->{zone}\n";
				next;
			}
			print row($region, $value, $origin);
			$count++;
		}
		print "};\n";
		push @rows, "    {\"$cloud\", \"$basis\", ${cloud}_$basis, $count},\n";
	}
}
print "\nconst struct lt_cloud lt_clouds[] = {\n", @rows,
    "    {NULL, NULL, NULL, 0},\n};\n";

sub regions {
	my @found;
	open my $in, '<', "$FindBin::Bin/cloud_regions.csv" or die "cloud_regions.csv: $!\n";
	while (<$in>) {
		next if /^#/;
		chomp;
		my ($cloud, $name, $place, $zone, $wider) = split /,/, $_, -1;
		push @found, {cloud => $cloud, name => $name, zone => $zone, wider => $wider};
	}
	return @found;
}

# Region => g/kWh; a region that cloud_regions.csv lacks is an error.
sub google {
	my %found;
	open my $in, '<', $google_path or die "$google_path: $!\n";
	<$in> =~ /^Google Cloud Region,.*,Grid carbon intensity \(gCO2eq / or die "$google_path: not as expected\n";
	while (<$in>) {
		my ($name, $value) = /^([a-z0-9-]+),.*,([0-9.]+)\s*$/ or die "$google_path: $_";
		die "$name: not in cloud_regions.csv\n"
		    unless grep { $_->{cloud} eq 'gcp' && $_->{name} eq $name } @regions;
		$found{$name} = $value;
	}
	return %found;
}

# Google's figures are direct emissions. One that is the zone's life-cycle mean
# instead is of another basis, and has no place beside the others.
sub drop_lifecycles {
	for my $region (grep { $_->{cloud} eq 'gcp' } @regions) {
		my $value = $google{$region->{name}} // next;
		my ($measured, $whole) = ($direct{$region->{zone}}, $lifecycle{$region->{zone}});

		next if $measured <= 0 || abs($value / $measured - 1) < 0.15 ||
		    abs($value / $whole - 1) > 0.02;
		warn sprintf "%s: Google's %g is life-cycle (%.1f), not direct (%.1f): left out\n",
		    $region->{name}, $value, $whole, $measured;
		delete $google{$region->{name}};
	}
}

# Where both have the zone, they should agree.
sub compare {
	my %seen;
	for my $zone (sort keys %google_of) {
		next if $direct{$zone} < 0;
		my $value = $google{$google_of{$zone}};
		$seen{all}++;
		$seen{far}++ if abs($value / $direct{$zone} - 1) > 0.03;
		warn sprintf "%s: Google %g, CarbonX %.2f\n", $zone, $value, $direct{$zone}
		    if abs($value / $direct{$zone} - 1) > 0.03;
	}
	warn "$seen{all} zones are in both, ", $seen{far} // 0, " more than 3 % apart\n";
}

sub direct {
	my ($region) = @_;
	my ($zone, $wider) = @{$region}{'zone', 'wider'};

	return ($google{$region->{name}}, 'Google')
	    if $region->{cloud} eq 'gcp' && defined $google{$region->{name}};
	return ($direct{$zone}, 'CarbonX') if $direct{$zone} >= 0;
	return ($google{$google_of{$zone}}, "Google, $google_of{$zone}") if $google_of{$zone};
	my $forecast = CarbonX::forecast_mean($carbonx, $zone, $year);
	return ($forecast, 'CarbonX, forecasts') if defined $forecast;
	return ($direct{$wider}, "CarbonX, $wider") if $wider && $direct{$wider} >= 0;
	return;
}

sub lifecycle {
	my ($region) = @_;
	my ($zone, $wider) = @{$region}{'zone', 'wider'};

	return ($lifecycle{$zone}, 'CarbonX') if $lifecycle{$zone} >= 0;
	return ($lifecycle{$wider}, "CarbonX, $wider") if $wider && $lifecycle{$wider} >= 0;
	return;
}

# As clang-format breaks it.
sub row {
	my ($region, $value, $origin) = @_;
	my $number = sprintf '%.2f', $value;
	$number =~ s/\.?0+$//;
	my $line = "    {\"$region->{name}\", \"$region->{zone}\", $number, $year, \"$origin\"},";
	$line =~ s/, (\d{4},) /, $1\n\t/ if length $line > 80;
	return "$line\n";
}
