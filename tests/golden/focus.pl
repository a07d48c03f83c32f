#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-or-later
# The rules of FOCUS 1.4, Cost and Usage, on files of rows: each rule with the
# place of the specification that demands it. Written from the specification,
# not from the exporter. Numbers are exact decimals throughout.
#
# usage: focus.pl FILE...     prints what breaks a rule; exit 1 if anything does
use strict;
use warnings;
use JSON::PP;
use Math::BigRat;
use Encode;

my %bare;    # what stands somewhere without quotes

# RFC 4180: rows of fields; undef where the field is empty, as null is.
sub read_csv {
	my ($bytes) = @_;
	my (@rows, @row);

	%bare = ();
	while ((pos($bytes) // 0) < length $bytes) {
		if ($bytes =~ /\G"((?:[^"]|"")*)"(,|\r\n)/gc) {
			my ($field, $end) = ($1, $2);

			$field =~ s/""/"/g;
			push @row, $field;
			next if $end eq ',';
		} elsif ($bytes =~ /\G([^",\r\n]*)(,|\r\n)/gc) {
			push @row, length $1 ? $1 : undef;
			$bare{$1} = 1;
			next if $2 eq ',';
		} else {
			die 'not RFC 4180: ' .
			    substr($bytes, pos($bytes) // 0, 60) . "\n";
		}
		push @rows, [@row];
		@row = ();
	}
	return @rows;
}

my @mandatory = qw(BilledCost BillingAccountId BillingAccountName
    BillingCurrency BillingPeriodEnd BillingPeriodStart ChargeCategory
    ChargeClass ChargeDescription ChargePeriodEnd ChargePeriodStart
    ContractedCost EffectiveCost HostProviderName InvoiceIssuerName ListCost
    PricingQuantity PricingUnit ServiceCategory ServiceName
    ServiceProviderName);
# Of an operating model with unit prices, usage, sub accounts, resources, tags
# and split cost allocation.
my @conditional = qw(AllocatedMethodId AllocatedResourceId
    AllocatedResourceName AllocatedTags ConsumedQuantity ConsumedUnit
    ContractedUnitPrice ListUnitPrice ResourceId ResourceName ResourceType
    SkuId SkuMeter SkuPriceDetails SkuPriceId SubAccountId SubAccountName Tags);
# Of one with several pricing categories: the site bills, and it has kinds of
# partitions.
my @categories = qw(PricingCategory);
my @recommended = qw(ChargeFrequency ServiceSubcategory);
my @removed = qw(ProviderName PublisherName);    # 1.4
my @not_null = qw(BilledCost BillingAccountId BillingCurrency BillingPeriodEnd
    BillingPeriodStart ChargeCategory ChargePeriodEnd ChargePeriodStart
    ChargeFrequency ContractedCost EffectiveCost HostProviderName
    InvoiceIssuerName ListCost ServiceCategory ServiceName ServiceProviderName
    ServiceSubcategory);
my @decimals = qw(BilledCost ConsumedQuantity ContractedCost
    ContractedUnitPrice EffectiveCost ListCost ListUnitPrice PricingQuantity
    x_CarbonKg x_EnergyKwh x_CpuCount x_GpuCount x_NodeCount x_MemoryMebibytes);
my @times = qw(BillingPeriodEnd BillingPeriodStart ChargePeriodEnd
    ChargePeriodStart x_SlurmSubmit);
my @objects = qw(AllocatedTags SkuPriceDetails Tags);
my %categories = map { $_ => 1 } qw(Usage Purchase Tax Credit Adjustment);
my %pricings = map { $_ => 1 } qw(Standard Dynamic Committed Other);
my %frequencies = map { $_ => 1 } ('One-Time', 'Recurring', 'Usage-Based');
my %services = map { $_ => 1 } ('AI and Machine Learning', 'Analytics',
	'Business Applications', 'Compute', 'Databases', 'Developer Tools',
	'Multicloud', 'Identity', 'Integration', 'Internet of Things',
	'Management and Governance', 'Media', 'Migration', 'Mobile',
	'Networking', 'Security', 'Storage', 'Web', 'Other');

# As texts first: exact numbers and JSON take most of the time.
my %exact_of;
sub exact { return $exact_of{$_[0]} //= Math::BigRat->new($_[0]) }
sub equal { return $_[0] eq $_[1] || exact($_[0]) == exact($_[1]) }
my %object_of;
sub object { return $object_of{$_[0]} //= JSON::PP->new->utf8->decode($_[0]) }

# Usage or a purchase, and no correction.
sub regular {
	my ($r) = @_;
	return $r->{ChargeCategory} =~ /^(Usage|Purchase)$/ && !defined $r->{ChargeClass};
}
sub allocated { return defined $_[0]{AllocatedMethodId} }
# A part of the site's own nodes that was charged to no job.
sub nobodys { return allocated($_[0]) && !defined $_[0]{SubAccountId} }

# What the row must say is billed: nothing where nobody here bills (a month's
# rows then have no kinds of prices, or all Other) and of a cloud's nodes; all of
# the site's own nodes, of carbon, of credits and of adjustments.
sub billed {
	my ($r) = @_;
	return 0 if !$r->{billing} || ($r->{SkuId} // '') eq 'lowtide-node-share' &&
	    $r->{SkuPriceId} ne 'lowtide-node-share-owned';
	return $r->{EffectiveCost};
}

# A JSON object whose values are scalars and whose keys are there once.
sub key_values {
	my ($text) = @_;
	my $object = eval { object($text) };

	return 0 unless ref $object eq 'HASH';
	return 0 if grep { ref $_ eq 'HASH' || ref $_ eq 'ARRAY' } values %$object;
	my $keys = 0;

	while ($text =~ /"(?:[^"\\]|\\.)*"(\s*:)?/g) { $keys++ if defined $1 }
	return $keys == keys %$object;
}

# [where, what, does the row hold to it?]
my @rules = (
	# In quotes it is a job's own name.
	['NullHandling', 'no empty or placeholder text',
	 sub { my $r = shift; !grep { defined && ($_ eq '' || ($bare{$_} && /^(N\/A|Not Applicable|null|-)$/i)) } values %$r }],
	['BillingAccountId .. ServiceProviderName', 'what allows no null has none',
	 sub { my $r = shift; !grep { !defined $r->{$_} } @not_null }],
	['NumericFormat', 'plain decimals: no sign +, no comma, no exponent',
	 sub { my $r = shift; !grep { defined $r->{$_} && $r->{$_} !~ /\A-?[0-9]+(\.[0-9]+)?\z/ } @decimals }],
	['DateTimeFormat', 'YYYY-MM-DDTHH:mm:ssZ',
	 sub { my $r = shift; !grep { defined $r->{$_} &&
		$r->{$_} !~ /\A\d{4}-(0[1-9]|1[0-2])-([0-2]\d|3[01])T([01]\d|2[0-3]):[0-5]\d:[0-5]\dZ\z/ } @times }],
	['KeyValueFormat', 'an object of scalars',
	 sub { my $r = shift; !grep { defined $r->{$_} && !key_values($r->{$_}) } @objects }],
	['CurrencyFormat', 'ISO 4217', sub { $_[0]{BillingCurrency} =~ /\A[A-Z]{3}\z/ }],
	['UnitFormat', 'plural units, or a singular unit and plural time units',
	 sub { my $r = shift; !grep { defined $r->{$_} && $r->{$_} !~ /\A([A-Z][A-Za-z]*s|[A-Z][A-Za-z]*-(Hours|Days|Minutes|Seconds))\z/ }
		qw(ConsumedUnit PricingUnit) }],
	['ChargeCategory', 'an allowed value', sub { $categories{$_[0]{ChargeCategory}} }],
	['ChargeClass', 'null or "Correction"', sub { !defined $_[0]{ChargeClass} || $_[0]{ChargeClass} eq 'Correction' }],
	['ChargeFrequency', 'an allowed value', sub { $frequencies{$_[0]{ChargeFrequency}} }],
	['ServiceCategory', 'an allowed value', sub { $services{$_[0]{ServiceCategory}} }],
	['ChargeDescription', 'should not be null', sub { defined $_[0]{ChargeDescription} }],
	['BilledCost', 'nothing by who does not invoice it', sub { equal($_[0]{BilledCost}, billed($_[0])) }],
	['PricingCategory', 'an allowed value', sub { !defined $_[0]{PricingCategory} || $pricings{$_[0]{PricingCategory}} }],
	['PricingCategory', 'null without a SKU price',
	 sub { defined $_[0]{SkuPriceId} || !defined $_[0]{PricingCategory} }],
	['PricingCategory', 'of regular usage not null', sub { my $r = shift; !exists $r->{PricingCategory} ||
		!regular($r) || defined $r->{PricingCategory} }],
	['PricingCategory', 'Committed is of a commitment, which no row has',
	 sub { ($_[0]{PricingCategory} // '') ne 'Committed' }],
	['SkuPriceId', 'a price per kind of partition where there are categories',
	 sub { my $r = shift; !$r->{billing} || ($r->{SkuId} // '') ne 'lowtide-node-share' ||
		($r->{SkuPriceId} =~ /-preemptible$/ ? ($r->{PricingCategory} // '') eq 'Dynamic' :
		 $r->{SkuPriceId} =~ /-(owned|on-demand)$/ && ($r->{PricingCategory} // '') eq 'Standard') }],
	['BillingPeriodEnd', 'exclusive: after the start', sub { $_[0]{BillingPeriodStart} lt $_[0]{BillingPeriodEnd} }],
	['ChargePeriodEnd', 'exclusive: after the start', sub { $_[0]{ChargePeriodStart} lt $_[0]{ChargePeriodEnd} }],
	['CorrectionHandling', 'of a closed period: when it was incurred, billed in a later period',
	 sub { my $r = shift; !defined $r->{ChargeClass} || ($r->{ChargePeriodStart} lt $r->{BillingPeriodStart} &&
		$r->{ChargePeriodEnd} le $r->{BillingPeriodStart}) }],
	['ChargePeriodStart', 'what is no correction was incurred in its billing period',
	 sub { my $r = shift; defined $r->{ChargeClass} || ($r->{ChargePeriodStart} ge $r->{BillingPeriodStart} &&
		$r->{ChargePeriodEnd} le $r->{BillingPeriodEnd}) }],
	['SkuPriceId', 'of regular usage not null', sub { !regular($_[0]) || defined $_[0]{SkuPriceId} }],
	['SkuId', 'of regular usage not null', sub { !regular($_[0]) || defined $_[0]{SkuId} }],
	['SkuPriceId', 'has one parent SkuId', sub { !defined $_[0]{SkuPriceId} || defined $_[0]{SkuId} }],
	['ListUnitPrice', 'null without a SKU price, else not',
	 sub { defined $_[0]{ListUnitPrice} == defined $_[0]{SkuPriceId} }],
	['ContractedUnitPrice', 'null without a SKU price, else not',
	 sub { defined $_[0]{ContractedUnitPrice} == defined $_[0]{SkuPriceId} }],
	['ListUnitPrice', 'not negative', sub { !defined $_[0]{ListUnitPrice} || exact($_[0]{ListUnitPrice}) >= 0 }],
	['ContractedUnitPrice', 'the list price where nothing is negotiated',
	 sub { !defined $_[0]{ContractedUnitPrice} || equal($_[0]{ContractedUnitPrice}, $_[0]{ListUnitPrice}) }],
	['PricingQuantity', 'of regular usage not null', sub { !regular($_[0]) || defined $_[0]{PricingQuantity} }],
	['PricingQuantity', 'null without a SKU price', sub { defined $_[0]{SkuPriceId} || !defined $_[0]{PricingQuantity} }],
	['PricingUnit', 'null where the quantity is, else not',
	 sub { defined $_[0]{PricingUnit} == defined $_[0]{PricingQuantity} }],
	['ListCost', 'ListUnitPrice x PricingQuantity, exactly',
	 sub { my $r = shift; !defined $r->{ListUnitPrice} || !defined $r->{PricingQuantity} ||
		exact($r->{ListUnitPrice}) * exact($r->{PricingQuantity}) == exact($r->{ListCost}) }],
	['ContractedCost', 'ContractedUnitPrice x PricingQuantity, exactly',
	 sub { my $r = shift; !defined $r->{ContractedUnitPrice} || !defined $r->{PricingQuantity} ||
		exact($r->{ContractedUnitPrice}) * exact($r->{PricingQuantity}) == exact($r->{ContractedCost}) }],
	['ListCost', 'of no SKU price and no other charge: what was billed',
	 sub { defined $_[0]{ListUnitPrice} || equal($_[0]{ListCost}, $_[0]{BilledCost}) }],
	['ContractedCost', 'of regular usage ListCost where nothing is negotiated',
	 sub { !regular($_[0]) || equal($_[0]{ContractedCost}, $_[0]{ListCost}) }],
	['ContractedCost', 'of a credit what was billed',
	 sub { $_[0]{ChargeCategory} ne 'Credit' || equal($_[0]{ContractedCost}, $_[0]{BilledCost}) }],
	['ConsumedQuantity', 'null unless it is usage with a SKU price; of regular usage not',
	 sub { my $r = shift; my $usage = $r->{ChargeCategory} eq 'Usage' && defined $r->{SkuPriceId};
		defined $r->{ConsumedQuantity} ? $usage : !$usage || !regular($r) }],
	['ConsumedUnit', 'null where the quantity is, else not',
	 sub { defined $_[0]{ConsumedUnit} == defined $_[0]{ConsumedQuantity} }],
	['AllocatedMethodId', 'of a shared charge not null: it has a resource, a name and tags with it only, and of the unallocated part none',
	 sub { my $r = shift; (allocated($r) && !nobodys($r)) == defined $r->{AllocatedResourceId} &&
		(defined $r->{AllocatedResourceId} || !grep { defined $r->{$_} } qw(AllocatedResourceName AllocatedTags)) }],
	['AllocatedTags', 'none that Tags has',
	 sub { my $r = shift; return 1 unless defined $r->{AllocatedTags} && defined $r->{Tags};
		my ($job, $team) = map { object($r->{$_}) } qw(AllocatedTags Tags);
		!grep { exists $team->{$_} } keys %$job }],
	['AllocatedTags', 'tags of the data generator have its prefix',
	 sub { my $r = shift; return 1 unless defined $r->{AllocatedTags};
		!grep { !/^lowtide\// } keys %{object($r->{AllocatedTags})} }],
	['ResourceId', 'with its name and type', sub { my $r = shift; defined $r->{ResourceId} ==
		defined $r->{ResourceType} && (defined $r->{ResourceId} || !defined $r->{ResourceName}) }],
	['SubAccountId', 'with its name', sub { defined $_[0]{SubAccountId} == defined $_[0]{SubAccountName} }],
	# Not of the specification, but of every reader: a spreadsheet takes no
	# text for a formula.
	['spreadsheets', 'no text begins a formula',
	 sub { my $r = shift; my %number = map { $_ => 1 } @decimals;
		!grep { defined $r->{$_} && !$number{$_} && $r->{$_} =~ /\A[=+\-\@\t\r]/ } keys %$r }],
);

# Of the columns of a file.
sub column_faults {
	my (@names) = @_;
	my (@faults, %seen);
	my $custom = 0;

	$seen{$_}++ for @names;
	push @faults, "$_ twice" for grep { $seen{$_} > 1 } sort keys %seen;
	push @faults, "$_ missing (mandatory)" for grep { !$seen{$_} } @mandatory;
	push @faults, "$_ missing (conditional)" for grep { !$seen{$_} } @conditional;
	push @faults, "$_ missing (recommended)" for grep { !$seen{$_} } @recommended;
	push @faults, "$_ is not of 1.4" for grep { $seen{$_} } @removed;
	my %known = map { $_ => 1 } @mandatory, @conditional, @recommended, @categories;
	for my $name (@names) {
		push @faults, "$name: CustomColumnHandling: x_ and Pascal case"
		    if !$known{$name} && $name !~ /\Ax_[A-Z][A-Za-z0-9]*\z/;
		push @faults, "$name: longer than 50" if length $name > 50;
		push @faults, "$name: FocusColumnHandling: after a custom column" if $known{$name} && $custom;
		$custom ||= $name =~ /^x_/;
	}
	return @faults;
}

my $faults = 0;
sub fault {
	my $text = join ': ', @_;

	$text =~ s/[^\x20-\x7e]/?/g;
	$faults++;
	print "$text\n" if $faults <= 20;
}

for my $file (@ARGV) {
	open my $in, '<:raw', $file or die "$file: $!\n";
	my $bytes = do { local $/; <$in> };
	my $copy = $bytes;
	my %price_of;

	fault($file, 'StringHandling: not UTF-8')
	    unless eval { decode('UTF-8', $copy, Encode::FB_CROAK); 1 };
	my ($header, @rows) = read_csv($bytes);

	fault($file, $_) for column_faults(@$header);
	# Months that nobody here bills: all of them, or in a file with others those
	# whose prices are Other.
	my %plain;
	for my $fields (@rows) {
		my %row;

		@row{@$header} = @$fields;
		$plain{$row{BillingPeriodStart} // ''} = 1
		    if !exists $row{PricingCategory} || ($row{PricingCategory} // '') eq 'Other';
	}
	for my $i (0 .. $#rows) {
		my %row;

		fault($file, 'row ' . ($i + 1), @{$rows[$i]} . ' fields of ' . @$header) if @{$rows[$i]} != @$header;
		@row{@$header} = @{$rows[$i]};
		$row{billing} = 1 unless $plain{$row{BillingPeriodStart} // ''};
		for my $rule (@rules) {
			fault($file, 'row ' . ($i + 1), $rule->[0], $rule->[1])
			    unless eval { $rule->[2]->(\%row) };
		}
		next unless defined $row{SkuPriceId};
		my $parent = $price_of{$row{SkuPriceId}} //= $row{SkuId};
		fault($file, 'SkuPriceId', 'one parent SkuId') if $parent ne $row{SkuId};
	}
}
exit($faults ? 1 : 0);
