# Random jobs for a site: options of sbatch as real scripts have them, with the
# site's own names. The n-th job of a site and seed is always the same. A job is
# a list of options, each one word or several that go together.
package Jobs;
use strict;
use warnings;

sub pick { $_[ int rand @_ ] }
sub between { my ($from, $to) = @_; $from + int rand($to - $from + 1) }
sub chance { rand() < $_[0] }

# What options are about: of the site's text alone.
sub words_of {
	my ($site) = @_;
	my %w = (partitions => [ Site::names_of($site, 'PartitionName') ]);
	my (%features, %gpu_types, %gres, @nodes);
	my ($home) = map { Site::value_of($_, 'Nodes') } grep { /^PartitionName=.*\bDefault=YES/i } @{ $site->{'slurm.conf'} };
	my %home = map { $_ => 1 } Site::hosts($home // 'ALL');
	# Most of what is asked for is to be had where jobs go by themselves.
	for (grep { /^NodeName=/i && !/^NodeName=DEFAULT/i } @{ $site->{'slurm.conf'} }) {
		my @of = Site::hosts(/^NodeName=(\S+)/i);
		push @nodes, @of;
		my $is_home = $home{ALL} || grep { $home{$_} } @of;
		my $weight = $is_home ? 8 : 1;
		$features{$_} += $weight for split /,/, Site::value_of($_, 'Feature') || Site::value_of($_, 'Features') || '';
		my $gres = Site::value_of($_, 'Gres') or next;
		for (Site::gres_of($gres)) {
			my ($name, $type, $count) = @$_;
			$gres{$name} += $weight;
			$gpu_types{$type} += $weight if $name eq 'gpu' && defined $type;
		}
	}
	my $often = sub { my ($h) = @_; map { ($_) x ($h->{$_} >= 8 ? 8 : 1) } sort keys %$h };
	$w{features} = [ $often->(\%features) ];
	$w{gpu_types} = [ $often->(\%gpu_types) ];
	$w{gres} = [ $often->(\%gres) ];
	$w{has_gpu} = $gres{gpu} || 0;
	$w{nodes} = \@nodes;
	my (%qos, %accounts);
	for (@{ $site->{sacctmgr} }) {
		$qos{$1} = 1 if /^add qos (\S+)/i;
		$accounts{$1} = 1 if /^add account (\S+)/i;
	}
	$w{qos} = [ 'normal', sort keys %qos ];
	$w{accounts} = [ sort keys %accounts ];
	$w{reservations} = [ map { /ReservationName=(course\S*)/ ? $1 : () } @{ $site->{scontrol} } ];
	my ($licenses) = map { /^Licenses=(\S+)/i ? $1 : () } @{ $site->{'slurm.conf'} };
	$w{licenses} = [ map { s/[:=].*//r } split /,/, $licenses || '' ];
	return \%w;
}

sub type { my ($w) = @_; @{ $w->{gpu_types} } && chance(0.4) ? pick(@{ $w->{gpu_types} }) . ':' : '' }
sub gpus { pick(1, 1, 1, 1, 1, 2, 2, 4) }
sub tasks { pick(1, 1, 1, 2, 2, 4, 4, 8, 8, 10, 16, 24, 32) }
sub has_gpu { $_[0]{has_gpu} >= 8 || ($_[0]{has_gpu} && chance(0.1)) }
sub other_gres { grep { !/^gpu$/ } @{ $_[0]{gres} } }
sub feature { my ($w) = @_; @{ $w->{features} } ? pick(@{ $w->{features} }) : 'none' }
sub some_nodes { my ($w, $n) = @_; my %s = map { pick(@{ $w->{nodes} }) => 1 } 1 .. $n; join ',', sort keys %s }
sub one_gres {
	my ($w) = @_;
	my $name = pick(other_gres($w));
	return $name =~ /^(lscratch|shard)$/ ? "$name:" . pick(1, 4, 10, 50, 200)
	    : $name eq 'mps' ? 'mps:' . pick(10, 50, 100)
	    : $name eq 'tmp' ? 'tmp:' . pick('10G', '100G')
	    : $name eq 'VramPerGpu' ? 'VramPerGpu:' . pick('8G', '32G')
	    : $name eq 'bandwidth' ? 'bandwidth:lustre:1G'
	    : $name eq 'fpga' ? pick('fpga:u280:1', 'fpga:1') : "$name:1";
}

# name, weight, words, when
my @options = (
	['gpus' => 9, sub { '--gpus=' . type($_[0]) . gpus() }, \&has_gpu],
	['gpus' => 4, sub { '-G' . type($_[0]) . gpus() }, \&has_gpu],
	['gres' => 12, sub { '--gres=gpu:' . type($_[0]) . gpus() }, \&has_gpu],
	['gres' => 2, sub { '--gres=gpu' }, \&has_gpu],
	['gres' => 6, sub { '--gres=' . one_gres($_[0]) }, sub { other_gres($_[0]) }],
	['gres' => 5, sub { '--gres=gpu:' . type($_[0]) . gpus() . ',' . one_gres($_[0]) },
		sub { has_gpu($_[0]) && other_gres($_[0]) }],
	['gres' => 1, sub { pick('--gres=none', '--gres=gpu:0') }],
	['gpus-per-node' => 5, sub { '--gpus-per-node=' . type($_[0]) . pick(1, 2, 4) }, \&has_gpu],
	['gpus-per-task' => 4, sub { '--gpus-per-task=' . type($_[0]) . pick(1, 1, 2) }, \&has_gpu],
	['gpus-per-socket' => 1, sub { ('--gpus-per-socket=1', '--sockets-per-node=2') }, \&has_gpu],
	['ntasks-per-gpu' => 2, sub { '--ntasks-per-gpu=' . pick(1, 2, 4) }, \&has_gpu],
	['cpus-per-gpu' => 4, sub { '--cpus-per-gpu=' . pick(1, 4, 8) }, \&has_gpu],
	['mem-per-gpu' => 3, sub { '--mem-per-gpu=' . pick('8G', '16G', '40000') }, \&has_gpu],
	['gpu-bind' => 2, sub { '--gpu-bind=' . pick('closest', 'single:1', 'none') }, \&has_gpu],
	['gpu-freq' => 1, sub { '--gpu-freq=' . pick('low', 'medium') }, \&has_gpu],
	['gres-flags' => 3, sub { '--gres-flags=' . pick('enforce-binding', 'disable-binding') }, \&has_gpu],
	['tres-per-task' => 0, sub { '' }],
	['constraint' => 8, sub { my $w = $_[0]; my ($a, $b) = (feature($w), feature($w));
		'--constraint=' . pick($a, $a, "$a&$b", "$a|$b", "[$a|$b]", "($a&$b)|$a") },
		sub { @{ $_[0]{features} } }],
	['constraint' => 1, sub { '-C' . feature($_[0]) . '*1' }, sub { @{ $_[0]{features} } }],
	['prefer' => 2, sub { '--prefer=' . feature($_[0]) }, sub { @{ $_[0]{features} } }],
	['cluster-constraint' => 1, sub { '--cluster-constraint=' . pick('x86', '!arm') }],
	['batch' => 1, sub { my $f = feature($_[0]); ("--batch=$f", "--constraint=$f") }, sub { @{ $_[0]{features} } }],
	['mem' => 12, sub { '--mem=' . pick('500M', '2G', '4G', '8000', '16G', '32G', '60gb', '120G', '0') }],
	['mem-per-cpu' => 7, sub { '--mem-per-cpu=' . pick('500', '1G', '2G', '4000M', '8G') }],
	['tmp' => 2, sub { '--tmp=' . pick('10G', '100G', '500') }],
	['ntasks' => 10, sub { pick('-n', '--ntasks=') . tasks() }],
	['nodes' => 9, sub { pick('-N', '--nodes=') . pick(1, 1, 1, 1, 2, 2, 3, '1-2', '1-4', '1-1') }],
	['cpus-per-task' => 9, sub { pick('-c', '--cpus-per-task=') . pick(1, 2, 4, 4, 8, 12, 16, 32) }],
	['ntasks-per-node' => 7, sub { '--ntasks-per-node=' . pick(1, 1, 2, 4, 8, 16, 32) }],
	['ntasks-per-socket' => 2, sub { '--ntasks-per-socket=' . pick(1, 2, 8) }],
	['ntasks-per-core' => 2, sub { '--ntasks-per-core=' . pick(1, 2) }],
	['mincpus' => 2, sub { '--mincpus=' . pick(2, 8, 16) }],
	['sockets-per-node' => 1, sub { '--sockets-per-node=' . pick(1, 2) }],
	['cores-per-socket' => 1, sub { '--cores-per-socket=' . pick(4, 12) }],
	['threads-per-core' => 2, sub { '--threads-per-core=' . pick(1, 2) }],
	['extra-node-info' => 1, sub { '-B' . pick('1', '2:8', '*:*:1', '1:4:2') }],
	['hint' => 3, sub { '--hint=' . pick('nomultithread', 'multithread', 'compute_bound', 'memory_bound') }],
	['distribution' => 3, sub { '-m' . pick('block', 'cyclic', 'block:block', 'cyclic:cyclic', 'plane=2', 'block:cyclic,pack', '*:block') }],
	['core-spec' => 1, sub { pick('-S', '--core-spec=') . pick(1, 2) }],
	['thread-spec' => 1, sub { '--thread-spec=2' }],
	['exclusive' => 5, sub { pick('--exclusive', '--exclusive', '--exclusive=user', '--exclusive=mcs') }],
	['oversubscribe' => 3, sub { pick('-s', '--oversubscribe') }],
	['overcommit' => 2, sub { pick('-O', '--overcommit') }],
	['spread-job' => 1, sub { '--spread-job' }],
	['use-min-nodes' => 2, sub { '--use-min-nodes' }],
	['contiguous' => 2, sub { '--contiguous' }],
	['switches' => 3, sub { '--switches=' . pick('1', '1@10:00', '2') }],
	['exclude' => 4, sub { pick('-x', '--exclude=') . some_nodes($_[0], pick(1, 2)) }],
	['nodelist' => 3, sub { pick('-w', '--nodelist=') . some_nodes($_[0], 1) }],
	['partition' => 3, sub { pick('-p', '--partition=') . pick(@{ $_[0]{partitions} }) }],
	['partition' => 3, sub { '-p' . join ',', pick(@{ $_[0]{partitions} }), pick(@{ $_[0]{partitions} }) }],
	['qos' => 8, sub { pick('-q', '--qos=') . pick(@{ $_[0]{qos} }) }],
	['account' => 10, sub { pick('-A', '--account=') . pick(@{ $_[0]{accounts} }) }, sub { @{ $_[0]{accounts} } }],
	['reservation' => 2, sub { '--reservation=' . pick(@{ $_[0]{reservations} }) }, sub { @{ $_[0]{reservations} } }],
	['licenses' => 3, sub { pick('-L', '--licenses=') . pick(@{ $_[0]{licenses} }) . pick('', ':1', ':2') }, sub { @{ $_[0]{licenses} } }],
	['time' => 40, sub { pick('-t', '--time=') . pick(5, 30, 60, '1:00:00', '4:00:00', '12:00:00', '1-0', '2-00:00:00', '3-0', '7-0') }],
	['time-min' => 2, sub { '--time-min=5' }],
	['begin' => 2, sub { '--begin=now+' . pick('1minute', '1hour', '30') }],
	['deadline' => 2, sub { '--deadline=now+' . pick('20days', '10days') }],
	['dependency' => 2, sub { pick('-dsingleton', '--dependency=singleton') }],
	['array' => 4, sub { pick('-a', '--array=') . pick('0-1', '1-4', '1-10%2', '3', '0-6:2') }],
	['signal' => 3, sub { '--signal=' . pick('USR1@60', 'B:TERM@120', 'R:10@30') }],
	['requeue' => 3, sub { pick('--requeue', '--no-requeue') }],
	['nice' => 2, sub { '--nice' . pick('', '=100') }],
	['priority' => 1, sub { '--priority=' . pick(100, 'TOP') }],
	['hold' => 1, sub { pick('-H', '--hold') }],
	['wckey' => 1, sub { '--wckey=' . pick('proj1', '*') }],
	['comment' => 1, sub { '--comment=run_7' }],
	['job-name' => 3, sub { pick('-J', '--job-name=') . pick('train', 'vasp_opt', 'gromacs-1', 'align.sh') }],
	['output' => 2, sub { '--error=/dev/null' }],
	['open-mode' => 1, sub { '--open-mode=append' }],
	['mail-type' => 3, sub { ('--mail-type=NONE', '--mail-user=me@example.org') }],
	['export' => 2, sub { '--export=' . pick('ALL', 'NONE', 'ALL,OMP_NUM_THREADS=4') }],
	['get-user-env' => 0, sub { '--get-user-env' }],
	['profile' => 1, sub { '--profile=' . pick('none', 'all') }],
	['acctg-freq' => 1, sub { '--acctg-freq=' . pick('30', 'task=10') }],
	['cpu-freq' => 1, sub { '--cpu-freq=' . pick('high', 'low', '2400000') }],
	['delay-boot' => 1, sub { '--delay-boot=1' }],
	['reboot' => 1, sub { '--reboot' }],
	['power' => 1, sub { '--power=level' }],
	['bb' => 1, sub { '--bb=capacity=1G' }],
	['container' => 1, sub { '--container=/srv/oci/x' }],
	['network' => 1, sub { '--network=sn_single' }],
	['mcs-label' => 1, sub { '--mcs-label=x' }],
	['wait-all-nodes' => 1, sub { '--wait-all-nodes=1' }],
	['no-kill' => 1, sub { '-k' }],
	['ignore-pbs' => 1, sub { '--ignore-pbs' }],
	['parsable' => 0, sub { '--parsable' }],
	['propagate' => 1, sub { '--propagate=' . pick('ALL', 'NONE') }],
	['kill-on-invalid-dep' => 1, sub { '--kill-on-invalid-dep=yes' }],
	['chdir' => 1, sub { '-D/tmp' }],
	['uid' => 0, sub { '' }],
);

my @either = ([qw(mem mem-per-cpu mem-per-gpu)], [qw(gpus gpus-per-node gres gpus-per-task)],
	[qw(core-spec thread-spec)], [qw(nodelist exclude)], [qw(constraint batch)],
	[qw(exclusive oversubscribe)], [qw(cpus-per-task cpus-per-gpu)],
	[qw(gpus-per-task ntasks-per-gpu)], [qw(extra-node-info hint ntasks-per-core threads-per-core)],
	[qw(gpus-per-socket sockets-per-node extra-node-info)], [qw(priority nice)]);

# What says where a job is to run, or when, so that nobody else may.
my %pins = map { $_ => 1 } qw(partition nodelist reservation begin bb hold priority);
# And what pins it where Slurm would put it, for nothing checks it elsewhere:
# spank_lowtide(8) and docs/design.md have them.
$pins{$_} = 1 for qw(batch cluster-constraint container contiguous core-spec dependency extra-node-info
	licenses network prefer reboot switches thread-spec);
my $pinning_words = qr/^--exclusive=(user|mcs)|enforce-binding|^--gres=(?!none|gpu|shard|mps)|^--gres=.*,(?!gpu|shard|mps)/;

sub names { my %s; grep { !$s{$_}++ } map { $_->[0] } grep { $_->[1] } @options }
sub pinned { scalar grep { $pins{ $_->{name} } || grep { $_ =~ $pinning_words } @{ $_->{words} } } @{ $_[0] } }
sub words { map { @{ $_->{words} } } @{ $_[0] } }
sub text { join ' ', map { /[\s*\[\]()|&]/ ? "'$_'" : $_ } words($_[0]) }

# A line of a site file: words, and by the option's name what it is.
sub parse {
	my ($line) = @_;
	my (@options, $last);
	my @words = map { s/'//gr } $line =~ /((?:'[^']*'|[^\s'])+)/g;
	my %short = (p => 'partition', w => 'nodelist', q => 'qos', A => 'account', t => 'time',
		n => 'ntasks', N => 'nodes', c => 'cpus-per-task', G => 'gpus', C => 'constraint',
		a => 'array', d => 'dependency', L => 'licenses', x => 'exclude', b => 'begin',
		H => 'hold', F => 'nodelist', J => 'job-name', m => 'distribution');
	for (@words) {
		my $name = /^--([\w-]+)/ ? $1 : /^-(\w)/ ? $short{$1} || $1 : '';
		if ($name eq '' && @options) { # "-p gpu"
			push @{ $options[-1]{words} }, $_;
		} else {
			push @options, { name => $name, words => [$_] };
		}
	}
	return \@options;
}

sub clashes {
	my ($has, $name) = @_;
	return 1 if $has->{$name};
	return scalar grep { my $g = $_; grep({ $_ eq $name } @$g) && grep { $has->{$_} } @$g } @either;
}

sub job {
	my ($site, $seed, $site_index, $index) = @_;
	my $w = $site->{words} ||= words_of($site);
	Generate::seed($seed, $site_index, 10 + $index);
	my (%has, @job);
	my $weights = 0;
	$weights += $_->[1] for @options;
	for (1 .. pick(1, 2, 2, 3, 3, 4, 4, 5, 6, 8)) {
		my $at = rand $weights;
		my $option;
		for (@options) {
			$option = $_;
			last if ($at -= $_->[1]) < 0;
		}
		my ($name, undef, $words, $if) = @$option;
		next if clashes(\%has, $name) || ($if && !$if->($w));
		$has{$name} = 1;
		push @job, { name => $name, words => [ $words->($w) ] };
	}
	my $add = sub { my ($name, @words) = @_;
		push @job, { name => $name, words => \@words } if !clashes(\%has, $name); $has{$name} = 1 };
	my $any_gpu = grep { $has{$_} } qw(gpus gpus-per-node gres gpus-per-task gpus-per-socket);
	$add->('gpus', '--gpus=1') if !$any_gpu
	    && grep { $has{$_} } qw(cpus-per-gpu mem-per-gpu gpu-bind gres-flags ntasks-per-gpu);
	$add->('ntasks', '-n2') if $has{'gpus-per-task'} && !$has{nodes};
	$add->('time', '-t1:00:00') if chance(0.8);
	return \@job;
}

1;
