# Random requests: the i-th of a seed is always the same, whatever became of
# those before it. A request is a list of [field, value]; client's request.c
# has the fields.
package Requests;
use strict;
use warnings;

my $site;

sub start { ($site) = @_ }

sub seed { # one stream for each (seed, index, purpose)
	my ($seed, $index, $purpose) = @_;
	srand(($seed * 1_000_003 + $index * 7919 + $purpose * 104_729)
	    % 4_294_967_291);
	rand for 1 .. 3;
}

sub pick { $_[ int rand @_ ] }
sub between { my ($from, $to) = @_; $from + int rand($to - $from + 1) }
sub chance { rand() < $_[0] }
sub small { pick(1, 1, 1, 2, 2, 3, 4, 5, 7, 8) }

sub tasks { pick(1, 1, 1, 2, 2, 3, 4, 5, 6, 8, 8, 12, 16, 17, 24, 32, 40, 64, 96) }

# Of the first partition named: its first node stands for all.
sub node_of {
	my ($c) = @_;
	my $p = $site->{partition}{ $c->{partition} };
	return $site->{node}{ $p->{nodes}[-1] };
}
sub types_of {
	my ($node) = @_;
	return $node->{gres} =~ /gpu:([a-z]\w*):\d/g;
}
sub gpus {
	my ($c, $most) = @_;
	my $type = chance(0.4) ? pick(types_of(node_of($c))) . ':' : '';
	my $text = "gres:gpu:$type" . between(1, $most);
	my @types = types_of(node_of($c));
	$text = "gres:gpu:$types[0]:1,gres:gpu:$types[1]:1"
	    if @types > 1 && chance(0.2);
	return $text;
}
sub has_gpus { node_of($_[0])->{gpu} > 0 }
sub some_nodes {
	my ($c, $count) = @_;
	my @nodes = @{ $site->{partition}{ $c->{partition} }{nodes} };
	my %chosen;
	$chosen{ pick(@nodes) } = 1 while keys %chosen < $count
	    && keys %chosen < @nodes;
	return join ',', sort keys %chosen;
}
# Counts of features: nodes, one kind after the other.
sub counted {
	my @one = map { pick('ib', 'fast') . '*' . between(1, 4) } 1, 2;
	return ($one[0], "[$one[0]]", '[' . join('&', @one) . ']',
	    $site->{version} < 23 ? (join('&', @one), join('|', @one), "$one[0]&ib") : ());
}
sub some_mem { pick(100, 500, 1000, 2000, 4001, 8000, 16000, 33000, 64000, 100000, 200000) }

# [field, weight, value by context, condition]
my @options = (
	[cpus_per_task => 8, sub { pick(1, 2, 2, 3, 4, 5, 8, 16) }],
	[nodes => 10, sub { chance(0.7) ? between(1, 3)
		: '1-' . between(1, 4) }],
	[min_nodes => 4, sub { between(1, 3) }],
	[max_nodes => 4, sub { between(1, 4) }],
	[min_cpus => 3, sub { pick(1, 4, 10, 33) }],
	[max_cpus => 3, sub { pick(64, 100, 300) }],
	[mincpus => 4, sub { pick(1, 2, 5, 15, 24) }],
	[ntasks_per_node => 6, sub { pick(1, 2, 3, 4, 8, 16) }],
	[ntasks_per_socket => 5, sub { pick(1, 2, 3, 4, 8) }],
	[ntasks_per_core => 5, sub { pick(1, 1, 1, 2) }],
	[ntasks_per_board => 3, sub { pick(1, 2, 4) }],
	[ntasks_per_gpu => 5, sub { pick(1, 1, 2, 4) }, \&has_gpus],
	[boards_per_node => 2, sub { 1 }],
	[sockets_per_board => 2, sub { pick(1, 1, 2) }],
	[sockets_per_node => 4, sub { pick(1, 1, 2, 2, 4) }],
	[cores_per_socket => 4, sub { pick(1, 2, 8, 16) }],
	[threads_per_core => 6, sub { pick(1, 1, 2) }],
	[plane_size => 3, sub { pick(1, 2, 4) }],
	[distribution => 6, sub { pick(qw(block cyclic plane block:block
		block:cyclic block:fcyclic cyclic:block cyclic:cyclic
		cyclic:fcyclic block:block:cyclic), 'block,pack',
		'block,nopack', 'cyclic,pack') }],
	[contiguous => 3, sub { 1 }],
	[shared => 8, sub { pick(0, 0, 1, 2, 2, 3) }],
	[overcommit => 4, sub { 1 }],
	[core_spec => 3, sub { pick(0, 1, 2, 4) }],
	[thread_spec => 3, sub { pick(1, 2, 4) }],
	[mem => 8, sub { pick(some_mem(), some_mem(), some_mem(), 0) }],
	[mem_per_cpu => 8, sub { pick(10, 100, 1000, 2000, 4000, 8000, 9001) }],
	[mem_per_gpu => 5, sub { 'gres:gpu:' . pick(1000, 8000, 30000) },
		\&has_gpus],
	[cpus_per_gpu => 7, sub { 'gres:gpu:' . pick(1, 2, 4, 6, 7, 15, 31) },
		\&has_gpus],
	[gpus => 9, sub { gpus($_[0], pick(1, 2, 4, 8)) }, \&has_gpus],
	[gres => 9, sub {
		node_of($_[0])->{shard} && chance(0.7)
		    ? 'gres:shard:' . pick(1, 2, 3, 4)
		    : gpus($_[0], pick(1, 2, 4)) }, \&has_gpus],
	[gpus_per_socket => 5, sub { gpus($_[0], pick(1, 1, 2)) }, \&has_gpus],
	[gpus_per_task => 7, sub { gpus($_[0], pick(1, 1, 1, 2)) }, \&has_gpus],
	[tres_bind => 2, sub { pick('gpu:closest', 'gpu:single:1',
		'gpu:single:2') }, \&has_gpus],
	[tres_freq => 2, sub { pick('gpu:low', 'gpu:medium') }, \&has_gpus],
	[enforce_binding => 8, sub { 1 }, \&has_gpus],
	[disable_binding => 3, sub { 1 }, \&has_gpus],
	[spread_job => 5, sub { 1 }],
	[use_min_nodes => 3, sub { 1 }],
	[constraint => 8, sub { pick('ib', 'fast', 'ib&fast', 'ib|fast', counted()) }],
	[prefer => 5, sub { pick('fast', counted()) }],
	[batch_features => 5, sub { 'ib' }],
	[nodelist => 5, sub { some_nodes($_[0], pick(1, 1, 2)) }],
	[exclude => 4, sub { some_nodes($_[0], 1) }],
	[switches => 2, sub { 1 }],
	[licenses => 2, sub { 'sim:' . pick(1, 2) }],
	[tmp => 2, sub { 1000 }],
	[time_min => 3, sub { 1 }],
	[deadline => 6, sub { 30 * 86400 }],
	[nice => 2, sub { pick(1, 100) }],
	[requeue => 2, sub { pick(0, 1) }],
	[wait_all_nodes => 2, sub { pick(0, 1) }],
	[no_kill => 2, sub { 0 }],
	[delay_boot => 2, sub { 10 }],
	[cpu_freq => 2, sub { 2000000 }],
	[profile => 2, sub { 1 }],
	[acctg_freq => 2, sub { 'task=30' }],
	[cpu_bind => 2, sub { pick(1, 2) }],
	[mem_bind => 2, sub { 1 }],
	[signal => 2, sub { 10 }],
	[comment => 2, sub { 'none' }],
);
my @newer = ( # since which release
	[23.02, [one_task_per_sharing => 3, sub { 1 }, \&has_gpus]],
	[23.02, [multiple_tasks_per_sharing => 3, sub { 1 }, \&has_gpus]],
	[24.05, [allow_task_sharing => 3, sub { 1 }, \&has_gpus]],
	[24.11, [segment => 3, sub { pick(1, 1, 2) }]],
);

sub options {
	return @options, map { $_->[1] }
	    grep { $site->{version} >= $_->[0] } @newer;
}
sub names { return map { $_->[0] } options(), ['ntasks'], ['time'], ['batch'],
	['array'], ['rpc'] }

# What one field says in two ways, or what makes another meaningless.
my @either = ([qw(mem mem_per_cpu mem_per_gpu)], [qw(nodes min_nodes)],
	[qw(nodes max_nodes)], [qw(core_spec thread_spec)],
	[qw(distribution plane_size)], [qw(enforce_binding disable_binding)],
	[qw(gpus_per_task ntasks_per_gpu)], [qw(nodelist exclude)],
	[qw(cpus_per_task cpus_per_gpu)],
	[qw(one_task_per_sharing multiple_tasks_per_sharing)]);

sub clashes {
	my ($has, $name) = @_;
	for my $group (@either) {
		next if !grep { $_ eq $name } @$group;
		return 1 if grep { $_ ne $name && defined $has->{$_} } @$group;
	}
	return 0;
}

# 24.11.5's slurmctld ends a moment after these (eval_nodes_gres() reads through a
# NULL maxtasks), so that another request seems to be at fault.
sub ends_slurmctld {
	my ($c) = @_;
	return $site->{version} =~ /^24\.11/ && $c->{spread_job}
	    && grep { /^gpus|^ntasks_per_gpu/ } keys %$c;
}

# What an option is nothing without.
sub completed {
	my ($c) = @_;
	my $any_gpu = grep { defined $c->{$_} }
	    qw(gpus gres gpus_per_task gpus_per_socket);
	# Now and then they are said without any.
	$c->{gpus} = gpus($c, pick(1, 2, 4)) if !$any_gpu && chance(0.7)
	    && grep { defined $c->{$_} } qw(cpus_per_gpu mem_per_gpu
		enforce_binding one_task_per_sharing allow_task_sharing
		multiple_tasks_per_sharing);
	$c->{gpus} = gpus($c, pick(1, 2)) if defined $c->{ntasks_per_gpu}
	    && !$any_gpu && !defined $c->{ntasks};
	$c->{sockets_per_node} = pick(1, 2)
	    if defined $c->{gpus_per_socket} && chance(0.9);
	$c->{distribution} = 'plane' if defined $c->{plane_size};
	$c->{plane_size} = 2
	    if ($c->{distribution} || '') eq 'plane' && !$c->{plane_size};
	$c->{signal_time} = 60 if defined $c->{signal};
	$c->{nodes} = 2 if defined $c->{segment} && !defined $c->{nodes};
	delete $c->{time_min} if !defined $c->{time};
	delete $c->{spread_job} if ends_slurmctld($c);
	if (defined $c->{batch_features}) {
		$c->{batch} = 1;
		$c->{constraint} = 'ib';
	}
}

sub request {
	my ($seed, $index) = @_;
	seed($seed, $index, 1);
	my @parts = grep { $_ ne 'all' } sort keys %{ $site->{partition} };
	my %c = (partition => pick(@parts), account => 'cover');
	$c{ntasks} = tasks() if chance(0.8);
	$c{time} = pick(1, 10, 60, 100, 1440, 9999) if chance(0.9);
	$c{rpc} = 1 if chance(0.2);
	if (chance(0.1)) {
		$c{batch} = 1;
		$c{array} = pick('0', '0-1', '1-4%2') if chance(0.3);
	}
	# Where memory counts, nothing said is all of the node's.
	$c{mem_per_cpu} = pick(10, 100, 1000, 2000)
	    if $site->{memory} && chance(0.6);
	my @options = options();
	my $weights = 0;
	$weights += $_->[1] for @options;
	for (1 .. pick(0, 1, 1, 2, 2, 3, 3, 4, 5, 7)) {
		my $at = rand $weights;
		my $option;
		for (@options) {
			$option = $_;
			last if ($at -= $_->[1]) < 0;
		}
		my ($name, undef, $value, $if) = @$option;
		next if defined $c{$name} || clashes(\%c, $name);
		next if $if && !$if->(\%c);
		$c{$name} = $value->(\%c);
	}
	completed(\%c);
	$c{partition} .= ',' . pick(@parts) if chance(0.05);
	return \%c;
}

sub text {
	my ($c) = @_;
	my @first = grep { defined $c->{$_} } qw(partition account);
	return join ' ', map { "$_=$c->{$_}" } @first,
	    grep { !/^(partition|account)$/ } sort keys %$c;
}

sub parse {
	my ($line) = @_;
	return { map { split /=/, $_, 2 } split ' ', $line };
}

# The requests that keep nodes partly busy, drawn anew for each block: two of
# five blocks have some.
sub background {
	my ($seed, $index, $block) = @_;
	return () if $block % 5 != 1 && $block % 5 != 3;
	seed($seed, $index, 2);
	my @kept;
	for my $name (sort keys %{ $site->{node} }) {
		next if chance(0.25);
		my $node = $site->{node}{$name};
		my %c = (partition => 'all', account => 'bg', nodes => 1,
			nodelist => $name, time => 10000,
			ntasks => 1 + int rand($node->{cpu} * 0.8),
			mem => 1 + int rand($node->{memory} * 0.7));
		$c{gres} = 'gres:gpu:' . between(1, $node->{gpu} - 1)
		    if $node->{gpu} > 1 && chance(0.7);
		push @kept, \%c;
	}
	return @kept;
}

1;
