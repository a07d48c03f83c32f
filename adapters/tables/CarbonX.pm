# Hourly intensities of nesl/CarbonX (data/forecasting-data/ZONE.csv), for the
# scripts that make tables of them.
package CarbonX;
use strict;
use warnings;

# Above this share of hours that are estimated or missing, a zone's figures say
# more of a model than of its grid.
use constant ESTIMATED_MAX => 0.25;

my %columns = (
	direct => qr/^Carbon intensity \S+ \(direct\)$/,
	lifecycle => qr/^Carbon intensity \S+ \(Life cycle\)$/,
);

sub column {
	my ($zone, $wanted, @titles) = @_;
	my ($at) = grep { $titles[$_] =~ $wanted } 0 .. $#titles;

	die "$zone: no column $wanted\n" unless defined $at;
	return $at;
}

sub days {
	my ($first, $last) = @_;
	my $days = 0;

	$days += 365 + ($_ % 4 == 0 && ($_ % 100 != 0 || $_ % 400 == 0)) for $first .. $last;
	return $days;
}

# Calls $each->(month 0..11, hour, g/kWh) for each hour of these years. Gives
# (share of the hours that nobody measured, who measured most of the others);
# () = no such file.
sub hours {
	my ($folder, $zone, $basis, $first, $last, $each) = @_;
	my ($measured, %origins) = (0);
	local $_;

	open my $in, '<', "$folder/data/forecasting-data/$zone.csv" or return;
	chomp(my $head = <$in>);
	my @titles = split /,/, $head;
	my $value = column($zone, $columns{$basis}, @titles);
	my $estimated = column($zone, qr/^Data estimated$/, @titles);
	my $source = column($zone, qr/^Data source$/, @titles);
	while (<$in>) {
		chomp;
		my @row = split /,/, $_, -1;
		my ($year, $month, $hour) = /^(\d{4})-(\d\d)-\d\d (\d\d):00/
		    or die "$zone: $_\n";

		next if $year < $first || $year > $last || $row[$value] eq '';
		$each->($month - 1, $hour + 0, $row[$value]);
		next if $row[$estimated] =~ /true/i;
		$measured++;
		$origins{$row[$source]}++;
	}
	my ($origin) = sort { $origins{$b} <=> $origins{$a} || $a cmp $b } keys %origins;
	$origin = join ' and ', grep { /\S/ } split /[\s;]+/, $origin // '';
	$origin =~ s{https?://|www\.|/+$}{}g;
	return (1 - $measured / (24 * days($first, $last)), $origin);
}

# The mean of a year, undef where it is not known well enough.
sub mean {
	my ($folder, $zone, $basis, $year) = @_;
	my ($sum, $count) = (0, 0);
	my ($guessed) = hours($folder, $zone, $basis, $year, $year,
	    sub { $sum += $_[2]; $count++ });

	return defined $guessed && $guessed <= ESTIMATED_MAX ? $sum / $count : undef;
}

# The mean of what was forecast for the 24 hours ahead (direct emissions; four
# days a run, from each midnight on); undef = no such file.
sub forecast_mean {
	my ($folder, $zone, $year) = @_;
	my ($sum, $count, $line) = (0, 0, 0);
	local $_;

	open my $in, '<', "$folder/ci-forecasts/Sundial/$zone.csv" or return undef;
	<$in>;
	while (<$in>) {
		next unless $line++ % 96 < 24 && /^$year-.*,([0-9.]+)$/;
		$sum += $1;
		$count++;
	}
	return $count > 24 * 350 ? $sum / $count : undef;
}

1;
