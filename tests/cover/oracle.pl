# What a run costs at its limit, by AllocTRES, the nodes as `scontrol` shows
# them and the prices of the policy file: docs/model.md (2) and (27), worked
# out anew. Nothing of lowtide is used here, so that its mistakes are not.
package Oracle;
use strict;
use warnings;

sub fields_of { # "A=1 B=x" -> hash; values of scontrol have no spaces here
	my ($line) = @_;
	my %field;
	$field{$1} = $2 while $line =~ /(\S+?)=(\S*)/g;
	return \%field;
}

sub hosts { # "p[1-2,4],x1" -> names
	my ($text) = @_;
	my @names;
	while ($text =~ /([^,\[]+)(?:\[([^\]]*)\])?,?/g) {
		my ($head, $ranges) = ($1, $2);
		if (!defined $ranges) {
			push @names, $head;
			next;
		}
		for my $range (split /,/, $ranges) {
			my ($from, $to) = $range =~ /^(\d+)(?:-(\d+))?$/;
			$to = $from if !defined $to;
			push @names, map { "$head$_" } $from .. $to;
		}
	}
	return @names;
}

sub mib {
	my ($text) = @_;
	my %unit = (K => 1 / 1024, M => 1, G => 1024, T => 1024**2, P => 1024**3);
	$text =~ /^([\d.]+)([KMGTP])?/ or die "oracle: memory $text";
	return $1 * $unit{$2 || 'M'};
}

# "gpu:v100:8(S:0-1),shard:v100:16" -> count of one name
sub gres {
	my ($text, $name) = @_;
	my $sum = 0;
	$text =~ s/\([^)]*\)//g;
	for (split /,/, $text) {
		my @part = split /:/;
		$sum += $part[-1] if $part[0] eq $name && $part[-1] =~ /^\d+$/;
	}
	return $sum;
}

sub read_site {
	my ($policy) = @_;
	my %site = (node => {}, partition => {}, price => {});
	for (split /\n/, `scontrol show node -o`) {
		my $f = fields_of($_);
		my $memory = $f->{RealMemory} - ($f->{MemSpecLimit} || 0);
		$site{node}{$f->{NodeName}} = {
			cpu => $f->{CPUEfctv} || $f->{CPUTot},
			memory => $memory,
			gpu => gres($f->{Gres}, 'gpu'),
			shard => gres($f->{Gres}, 'shard'),
			sockets => $f->{Sockets},
			cores => $f->{CoresPerSocket},
			threads => $f->{ThreadsPerCore},
			gres => $f->{Gres},
		};
	}
	for (split /\n/, `scontrol show partition -o`) {
		my $f = fields_of($_);
		$site{partition}{$f->{PartitionName}} = {
			nodes => [ hosts($f->{Nodes}) ], fields => $f };
	}
	my $conf = `scontrol show config`;
	$site{memory} = $conf =~ /^SelectTypeParameters\s*=.*MEMORY/im ? 1 : 0;
	$site{select} = $1 if $conf =~ /^SelectTypeParameters\s*=\s*(\S+)/im;
	($site{version}) = `scontrol -V` =~ /(\d+\.\d+)/;
	my $charge;
	open my $file, '<', $policy or die "oracle: $policy: $!";
	while (<$file>) {
		$charge = $1 if /^charge: \{carbon_per_tonne: ([\d.]+)\}/;
		next if !/^\s+(\w+):\s*\{(price_per_node_hour:.*)\}/;
		my ($partition, %of) = ($1, map { /(\w+): ([\w.]+)/ } split /,/, $2);
		$site{hours}{$partition} = $of{price_per_node_hour} eq 'hours';
		$of{price_per_node_hour} = 0 if $site{hours}{$partition};
		# Nearly all power is the idle one, which goes by the share.
		$site{price}{$partition} = $of{price_per_node_hour} + $charge *
		    ($of{node_idle_w} + $of{node_cpu_w} + $of{node_gpu_w}) / 1e3 * $of{carbon} / 1e6;
	}
	die "oracle: no prices in $policy" if !%{ $site{price} };
	open my $series, '<', $ENV{HOURS} or die "oracle: $ENV{HOURS}: $!";
	$site{series} = [ map { /^(\d+),([\d.]+)$/ ? [ $1, $2 ] : () } <$series> ];
	return \%site;
}

# Price x hours from a time on, where the price changes by the hour.
sub by_hours {
	my ($site, $from, $seconds) = @_;
	my ($sum, $to) = (0, $from + $seconds);
	my @series = @{ $site->{series} };
	for my $i (0 .. $#series) {
		my $begin = $series[$i][0];
		my $end = $i < $#series ? $series[ $i + 1 ][0] : $to;
		$begin = $from if $begin < $from || $i == 0;
		$end = $to if $end > $to;
		$sum += $series[$i][1] * ($end - $begin) / 3600 if $end > $begin;
	}
	return $sum;
}

# AllocTRES -> what is used of each resource that counts
sub used {
	my ($site, $tres) = @_;
	my %tres;
	for (split /,/, $tres) {
		my ($name, $count) = /^([^=]+)=(.*)$/;
		$tres{$name} = $count;
	}
	my %used = (cpu => $tres{cpu} || 0, gpu => $tres{'gres/gpu'} || 0,
		shard => $tres{'gres/shard'} || 0);
	$used{memory} = mib($tres{mem}) if $site->{memory} && $tres{mem};
	return \%used;
}

# Node-equivalents: of the shapes that can hold all of it on so many nodes,
# the greatest share; every node whole where none can.
sub node_equivalents {
	my ($site, $partition, $nodes, $tres) = @_;
	my $used = used($site, $tres);
	my $most;
	for my $name (@{ $site->{partition}{$partition}{nodes} }) {
		my $node = $site->{node}{$name};
		my $share = 0;
		for my $resource (keys %$used) {
			next if !$used->{$resource};
			my $full = $node->{$resource};
			my $part = $full ? $used->{$resource} / $full : 1e9;
			$share = $part if $part > $share;
		}
		next if $share > $nodes * (1 + 1e-12);
		$most = $share if !defined $most || $share > $most;
	}
	return defined $most && $most > 0 ? $most : $nodes;
}

# Micros at the limit and so many seconds, exact but for doubles. It began in
# the last three seconds: the less of both ends.
sub charge {
	my ($site, $run, $over_s) = @_;
	my $price = $site->{price}{ $run->{part} };
	die "oracle: no price for $run->{part}" if !defined $price;
	my $seconds = $run->{limit} * 60 + $over_s;
	my $cost = $price * $seconds / 3600;
	if ($site->{hours}{ $run->{part} }) {
		my @sums = sort { $a <=> $b }
		    map { by_hours($site, time - $_, $seconds) } 0, 3;
		$cost += $sums[0];
	}
	return node_equivalents($site, $run->{part}, $run->{nodes},
	    $run->{tres}) * $cost * 1e6;
}

1;
