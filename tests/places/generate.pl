# Random sites, written from what slurm.conf files, gres.conf files and
# sacctmgr dumps have. The n-th site of a seed is always the same.
package Generate;
use strict;
use warnings;

sub seed {
	my ($seed, $index, $purpose) = @_;
	srand(($seed * 1_000_003 + $index * 7919 + $purpose * 104_729) % 4_294_967_291);
	rand for 1 .. 3;
}
sub pick { $_[ int rand @_ ] }
sub between { my ($from, $to) = @_; $from + int rand($to - $from + 1) }
sub chance { rand() < $_[0] }
sub some { # some SHARE LIST
	my ($share, @list) = @_;
	return grep { chance($share) } @list;
}

# Forms of node names; %s is the range.
my @node_names = ('n%s', 'cn%s', 'gpu-a100-%s', 'ip-10-0-0-%s', 'queue1-dy-m5xlarge-%s',
	'NODE%s', 'r1i0n%s', 'lab.node%s', 'hpc4-%s', 'c%s', 'compute-0-%s', 'Gpu_%s', 'x%s',
	'amp-2-%s', 'rack3-blade%s');
my @partition_names = qw(batch compute general short long gpu gpu-a100 GPU_short debug
	interactive bigmem highmem cpu CPU2 v100.ib normal standard preempt scavenge serial
	queue1 multi-node dev_gpu a100-80gb 7days main work small largemem shared backfill
	regular_milan_ss11 ampere-mig cosma8-pauper cpubase_bycore_b1);
my @qos_names = qw(high low debug long gpu_qos premium scavenger short2h part_gpu big
	small-jobs gpu_interactive QOS_A bycore express unlimited 1gpu);
my @features = qw(intel amd skylake icelake rome milan genoa ib hdr100 e5-2680v4 avx512 avx2
	nvme ssd bigmem x2695 phase8 g256 ssd3200 ibfdr cpu48 gpu80gb a100 v100 CPU_GEN:ICX
	rack-1 rack-2 os_el9 os_el8 cpu_frequency_2.5 CPU_SKU:8368 opa lustre noht swift);
# Types of GPUs, with what the policy's table knows them as, if it does.
my @gpu_types = qw(v100 v100 a100 a100 h100 p100 t4 A100 V100 tesla_t4 tesla_v100-sxm2-32gb
	nvidia_a100-sxm4-80gb nvidia_h100_80gb_hbm3 nvidia_rtx_pro_6000_blackwell_server_edition
	l40s rtx_2080_ti gtx1080ti mi250 gfx90a k80 rtx8000 a40);
my @mig_types = qw(nvidia_a100_3g.20gb 1g.10gb a100_1g.5gb nvidia_h100_80gb_hbm3_3g.40gb
	nvidia_a100_80gb_pcie_1g.10gb a100-2g.20gb);
my @accounts = qw(physics chem cs101 ab12345 def-prof_gpu Bio-Lab nlp astro_dp004);

sub gres_of_group {
	my ($type) = @_;
	my @gres;
	if (defined $type) {
		my $count = pick(1, 2, 4, 4, 8, 8);
		my $name = $type eq '' ? 'gpu' : "gpu:$type";
		if (chance(0.15) && $count > 1 && $type ne '') { # two types in one node
			my $other = pick(chance(0.5) ? @mig_types : @gpu_types);
			if ($other ne $type) {
				my $first = int($count / 2);
				push @gres, "$name:$first", "gpu:$other:" . ($count - $first);
			}
		}
		push @gres, "$name:$count" if !@gres;
		push @gres, 'shard:' . pick(8, 16, 32) if chance(0.12);
		push @gres, 'mps:400' if !grep({ /shard/ } @gres) && chance(0.1);
		push @gres, 'VramPerGpu:no_consume:' . pick('16G', '40G', '80G') if chance(0.12);
	}
	push @gres, 'lscratch:' . pick(100, 400, 1600, 3200) if chance(0.2);
	push @gres, 'tmp:' . pick('100G', '800G') if chance(0.12);
	push @gres, 'bandwidth:lustre:no_consume:4G' if chance(0.06);
	push @gres, 'craynetwork:4' if chance(0.06);
	push @gres, 'fpga:u280:' . pick(1, 2) if chance(0.04);
	return @gres;
}

sub shape {
	my ($sockets, $cores, $threads) = (pick(1, 2, 2, 2, 4), pick(8, 12, 16, 20, 24, 32, 48), pick(1, 1, 2));
	my $cpus = $sockets * $cores * $threads;
	my $line = "CPUs=$cpus";
	if (chance(0.9)) {
		$line .= chance(0.3) ? " Boards=1 SocketsPerBoard=$sockets" : " Sockets=$sockets";
		$line .= " CoresPerSocket=$cores ThreadsPerCore=$threads";
	}
	$line .= ' RealMemory=' . pick(62000, 92000, 128000, 187000, 250000, 385000, 515000, 1030000, 1547000);
	$line .= ' TmpDisk=' . pick(100000, 400000, 900000) if chance(0.5);
	$line .= ' MemSpecLimit=' . pick(2048, 8000) if chance(0.15);
	$line .= ' CoreSpecCount=' . pick(1, 2) if chance(0.08);
	return $line;
}

# Groups of nodes: {names, list, line, gpu, features}. What jobs may move
# between is alike: a shape is often used again.
sub groups {
	my @vocabulary = (some(0.3, @features), 'std');
	my ($left, @groups) = (22);
	my @types = map { pick(@gpu_types) } 1 .. 2;
	push @types, pick(@mig_types) if chance(0.2);
	push @types, '' if chance(0.25);
	my %used;
	for (1 .. between(2, 6)) {
		my $count = between(1, $left > 4 ? 4 : $left);
		last if $left - $count < 0 || $count < 1;
		$left -= $count;
		my $form = pick(grep { !$used{$_} } @node_names);
		$used{$form} = 1;
		my $first = pick(0, 1, 1, 1, 7);
		my $width = pick(1, 1, 2, 3);
		my $range = $count == 1 ? sprintf('%0*d', $width, $first)
		    : sprintf '[%0*d-%0*d]', $width, $first, $width, $first + $count - 1;
		my %group = (names => sprintf($form, $range), count => $count);
		if (@groups && chance(0.5)) { # one more of a kind
			my $like = pick(@groups);
			@group{qw(shape gres gpu)} = @{$like}{qw(shape gres gpu)};
		} else {
			my $type = chance(0.5) ? pick(@types) : undef;
			$group{gpu} = $type;
			$group{shape} = shape();
			$group{gres} = [ gres_of_group($type) ];
		}
		$group{features} = [ some(0.35, @vocabulary) ];
		$group{state} = ' State=CLOUD' if @groups && chance(0.12);
		push @groups, \%group;
	}
	return @groups;
}

sub group_line {
	my ($g) = @_;
	my $line = "NodeName=$g->{names} $g->{shape}";
	$line .= ' Feature=' . join ',', @{ $g->{features} } if @{ $g->{features} };
	$line .= ' Gres=' . join ',', @{ $g->{gres} } if @{ $g->{gres} };
	$line .= ' Weight=' . pick(1, 10, 100, 1000) if chance(0.4);
	return $line . ($g->{state} || '');
}

my @times = qw(30:00 1:00:00 02:00:00 6:00:00 12:00:00 1-0 2-00:00:00 3-00:00:00 7-00:00:00
	7-0 14-00:00:00 30-00:00:00 UNLIMITED INFINITE 10080);

sub partition_attributes {
	my ($qos, $here) = @_; # QOS and accounts that the site has
	my @a;
	my @whose = chance(0.8) ? @$here : @accounts;
	push @a, 'MaxTime=' . pick(@times) if chance(0.7);
	push @a, 'DefaultTime=' . pick('30:00', '1:00:00', '10') if chance(0.5);
	push @a, 'State=' . pick('UP', 'UP', 'UP', 'UP', 'UP', 'DOWN', 'DRAIN', 'INACTIVE') if chance(0.5);
	push @a, 'MinNodes=' . pick(1, 2, 3) if chance(0.1);
	push @a, 'MaxNodes=' . pick(1, 1, 2, 4, 'UNLIMITED') if chance(0.25);
	push @a, 'AllowAccounts=' . join ',', some(0.5, @whose), pick(@whose) if chance(0.15);
	push @a, 'DenyAccounts=' . pick(@whose) if !grep({ /AllowAcc/ } @a) && chance(0.1);
	push @a, 'AllowQos=' . join ',', some(0.5, @$qos), pick(@$qos) if chance(0.2);
	push @a, 'DenyQos=' . pick(@$qos) if !grep({ /AllowQos/ } @a) && chance(0.08);
	push @a, 'AllowGroups=' . pick('daemon', 'nogroup,root', 'daemon,users', 'users') if chance(0.12);
	my $mem = rand;
	push @a, $mem < 0.15 ? 'DefMemPerCPU=' . pick(1000, 2000, 3900, 8000)
	    : $mem < 0.22 ? 'DefMemPerNode=' . pick(4000, 30000)
	    : $mem < 0.27 ? 'DefMemPerGPU=' . pick(16000, 60000) : ();
	my $max = rand;
	push @a, $max < 0.12 ? 'MaxMemPerCPU=' . pick(2000, 4000, 8000)
	    : $max < 0.2 ? 'MaxMemPerNode=' . pick(32000, 60000, 180000) : ();
	push @a, 'DefCpuPerGPU=' . pick(2, 6, 8) if chance(0.07);
	push @a, 'MaxCPUsPerNode=' . pick(8, 16, 24, 'UNLIMITED') if chance(0.08);
	push @a, 'QOS=' . pick(@$qos) if chance(0.25);
	push @a, 'OverSubscribe=' . pick('NO', 'EXCLUSIVE', 'EXCLUSIVE', 'YES', 'YES:4', 'FORCE:2', 'FORCE:1') if chance(0.25);
	push @a, 'ExclusiveUser=YES' if chance(0.06);
	push @a, 'LLN=YES' if chance(0.06);
	push @a, 'PriorityTier=' . pick(1, 10, 100) if chance(0.2);
	push @a, 'PriorityJobFactor=' . pick(1, 1000) if chance(0.2);
	push @a, 'Hidden=YES' if chance(0.07);
	push @a, 'RootOnly=YES' if chance(0.05);
	push @a, 'ReqResv=YES' if chance(0.05);
	push @a, 'DisableRootJobs=YES' if chance(0.1);
	push @a, 'TRESBillingWeights="CPU=1.0,Mem=0.25G,GRES/gpu=' . pick(2, 16) . '.0"' if chance(0.2);
	push @a, 'AllocNodes=' . pick('ALL', 'ALL', 'login1') if chance(0.05);
	push @a, 'GraceTime=60' if chance(0.1);
	return @a;
}

sub limits_of_qos {
	my ($has_gpu) = @_;
	my @l;
	my $gres = $has_gpu ? 'gres/gpu=' : 'cpu=';
	push @l, 'MaxWall=' . pick('30', '2:00:00', '1-00:00:00', '3-00:00:00') if chance(0.35);
	push @l, 'MaxTRESPerJob=' . pick("${gres}1", "${gres}4", 'node=1', 'cpu=8,node=1', 'cpu=48', 'mem=64G') if chance(0.3);
	push @l, 'MaxTRESPerNode=' . pick('cpu=16', "${gres}2", 'mem=32G') if chance(0.1);
	push @l, 'MinTRESPerJob=' . pick('cpu=2', "${gres}1", 'node=2', 'mem=16G', 'cpu=4,mem=8G') if chance(0.25);
	push @l, 'GrpTRES=' . pick("${gres}8", 'cpu=100', 'node=4', "${gres}0", 'mem=500G') if chance(0.25);
	push @l, 'MaxTRESPerUser=' . pick("${gres}2", 'cpu=64', 'node=2') if chance(0.25);
	push @l, 'MaxTRESPerAccount=' . pick("${gres}4", 'cpu=128') if chance(0.1);
	push @l, 'MaxTRESMinsPerJob=' . pick('cpu=10000', "${gres}600") if chance(0.1);
	push @l, 'GrpTRESRunMins=cpu=' . pick(20000, 2000000) if chance(0.1);
	push @l, 'GrpTRESMins=cpu=' . pick(100000, 5000000) if chance(0.08);
	push @l, 'MaxJobsPerUser=' . pick(1, 4, 20) if chance(0.2);
	push @l, 'MaxSubmitJobsPerUser=' . pick(1, 10, 500) if chance(0.15);
	push @l, 'Priority=' . pick(0, 10, 1000) if chance(0.5);
	push @l, 'UsageFactor=' . pick('0', '0.5', '2') if chance(0.15);
	push @l, 'Flags=' . pick('DenyOnLimit', 'DenyOnLimit', 'PartitionMinNode', 'PartitionMaxNodes',
		'PartitionTimeLimit', 'OverPartQOS', 'DenyOnLimit,OverPartQOS', 'NoReserve',
		'PartitionTimeLimit,PartitionMaxNodes', 'PartitionQOS', 'RequiresReservation',
		'NoDecay', 'UsageFactorSafe') if chance(0.45);
	return @l;
}

sub accounting {
	my ($qos, $accounts, $has_gpu, $partitions) = @_;
	my @lines;
	for (grep { $_ ne 'normal' } @$qos) {
		push @lines, "add qos $_";
		my @limits = limits_of_qos($has_gpu);
		push @lines, "modify qos $_ set @limits" if @limits;
	}
	if (chance(0.1)) {
		my @limits = limits_of_qos($has_gpu);
		push @lines, "modify qos normal set @limits" if @limits;
	}
	my $all = join ',', @$qos;
	for (@$accounts) {
		my $parent = chance(0.2) && $_ ne $accounts->[0] ? " parent=$accounts->[0]" : '';
		push @lines, "add account $_$parent", "add user \@USER\@ account=$_";
		my @l;
		push @l, 'GrpTRES=' . pick('cpu=200', 'node=6', $has_gpu ? 'gres/gpu=8' : 'cpu=300') if chance(0.15);
		push @l, 'MaxTRESPerJob=' . pick('cpu=64', 'node=2', $has_gpu ? 'gres/gpu=4' : 'node=3') if chance(0.15);
		push @l, 'MaxWall=' . pick('4:00:00', '2-00:00:00') if chance(0.12);
		push @l, 'MaxJobs=' . pick(1, 10) if chance(0.1);
		push @l, 'MaxSubmitJobs=' . pick(5, 100) if chance(0.1);
		push @l, 'GrpTRESMins=cpu=' . pick(50000, 1000000) if chance(0.08);
		my $whom = chance(0.7) ? "account $_" : "user \@USER\@ where account=$_";
		push @lines, "modify $whom set @l" if @l;
		my @of = chance(0.4) ? (some(0.6, @$qos), 'normal') : @$qos;
		my %seen;
		@of = grep { !$seen{$_}++ } @of;
		push @lines, "modify user \@USER\@ where account=$_ set qos=" . join ',', @of;
		push @lines, "modify user \@USER\@ where account=$_ set defaultqos=" . pick(@of) if chance(0.3);
	}
	# An association of one partition: in Slurm it hides none of the others.
	push @lines, "add user \@USER\@ account=$accounts->[0] partition=" . pick(@$partitions)
	    if chance(0.12);
	push @lines, "modify user \@USER\@ set defaultaccount=$accounts->[0]" if chance(0.7);
	return @lines;
}

sub global_lines {
	my @l;
	push @l, 'SelectTypeParameters=' . pick('CR_Core', 'CR_Core_Memory', 'CR_Core_Memory', 'CR_CPU',
		'CR_CPU_Memory', 'CR_Socket_Memory', 'CR_Core_Memory,CR_LLN', 'CR_Core,CR_Pack_nodes',
		'CR_Core_Memory,CR_ONE_TASK_PER_CORE', 'CR_Core_Memory,CR_CORE_DEFAULT_DIST_BLOCK');
	push @l, 'EnforcePartLimits=' . pick('ALL', 'ANY', 'NO', 'YES') if chance(0.6);
	push @l, 'AccountingStorageEnforce=' . pick('associations,limits,qos', 'associations,limits,qos,safe',
		'associations', 'limits,qos', 'associations,limits', 'all') if chance(0.6);
	my $mem = rand;
	push @l, $mem < 0.3 ? 'DefMemPerCPU=' . pick(1000, 2000, 4000)
	    : $mem < 0.4 ? 'DefMemPerNode=' . pick(2000, 16000) : ();
	push @l, 'MaxMemPerCPU=16000' if chance(0.04);
	push @l, 'PriorityType=priority/multifactor', 'PriorityWeightAge=1000', 'PriorityWeightFairshare=10000'
	    if chance(0.6);
	push @l, 'OverTimeLimit=' . pick(10, 60) if chance(0.1);
	push @l, 'JobRequeue=0' if chance(0.2);
	push @l, 'MaxTasksPerNode=' . pick(64, 512) if chance(0.1);
	push @l, 'DisableRootJobs=YES' if chance(0.1);
	push @l, 'PrivateData=' . pick('jobs,usage', 'cloud', 'accounts,jobs,nodes,reservations,usage', 'cloud,jobs')
	    if chance(0.25);
	push @l, 'Licenses=matlab:10,ansys:4,comsol_batch:2' if chance(0.4);
	push @l, 'PreemptType=preempt/' . pick('partition_prio', 'qos'), 'PreemptMode=' . pick('REQUEUE', 'CANCEL')
	    if chance(0.15);
	push @l, 'AllowSpecResourcesUsage=YES' if chance(0.2);
	push @l, 'TrackWCKey=yes', 'AccountingStorageEnforce=wckeys' if chance(0.03);
	return @l;
}

sub policy {
	my ($partitions, $price, $preemptible) = @_;
	my @lines = ('mode: enforce', 'currency: USD', 'timezone: UTC',
		'carbon_price_per_tonne: ' . pick(0, 100, 300), 'spot_proof: said', 'history_days: 0',
		'partitions:');
	my $accepts = chance(0.4) ? ', accepts: [gpu, cpu]' : '';
	for my $p (@$partitions) {
		next if !defined $price->{$p};
		my $more = $accepts . ($preemptible->{$p}
		    ? ', preemptible: {interruptions_per_hour: 0.0001, notice: 2m, restart: 5m}' : '');
		push @lines, sprintf '  "%s": {price_per_node_hour: %s, carbon: 400, node_idle_w: 300, node_cpu_w: 200, node_gpu_w: 300%s}',
		    $p, $price->{$p}, $more;
	}
	return @lines;
}

sub site {
	my ($seed, $index) = @_;
	seed($seed, $index, 1);
	my @groups = groups();
	my @with_gpu = grep { defined $_->{gpu} } @groups;
	my @qos = ('normal', some(0.25, @qos_names));
	my %seen;
	my @accounts = grep { !$seen{$_}++ } map { pick(@accounts) } 1 .. between(1, 3);
	my (@partitions, @lines, %price, %preemptible, %of);
	my %named;
	my @sets = map { [$_] } @groups;
	push @sets, [ pick(@groups) ] for 1 .. between(1, 4);
	push @sets, [ some(0.6, @groups), $groups[0] ] if chance(0.5);
	push @sets, [@groups] if chance(0.3);
	push @lines, 'PartitionName=DEFAULT ' . join ' ', 'MaxTime=' . pick('7-00:00:00', '14-0'),
	    chance(0.3) ? 'OverSubscribe=NO' : (), chance(0.2) ? 'DefaultTime=4:00:00' : () if chance(0.6);
	# Most jobs are taken at home: a partition that is up, with GPUs where there are some.
	my @homes = grep { my $s = $sets[$_]; !grep { ($_->{state} || '') =~ /CLOUD/ } @$s } 0 .. $#sets;
	my @gpu_homes = grep { my $s = $sets[$_]; grep { defined $_->{gpu} } @$s } @homes;
	@homes = @gpu_homes if @gpu_homes && chance(0.75);
	my $default = @homes ? pick(@homes) : 0;
	for my $i (0 .. $#sets) {
		my $name;
		do { $name = pick(@partition_names) } while $named{$name}++;
		my %once;
		my @names = grep { !$once{$_}++ } map { $_->{names} } @{ $sets[$i] };
		my @a = partition_attributes(\@qos, \@accounts);
		if ($i == $default) { # most jobs start at home
			@a = grep { !/^(State|RootOnly|ReqResv|AllocNodes|MinNodes|Hidden|Allow|Deny)/
			    && (!/^(QOS|Max|OverS|Excl)/ || chance(0.12)) } @a;
			push @a, 'Default=YES';
		}
		my $nodes = @names == @groups && chance(0.5) ? 'ALL' : join ',', @names;
		push @lines, join ' ', "PartitionName=$name", "Nodes=$nodes", @a;
		push @partitions, $name;
		$of{$name} = $sets[$i];
		my $cheap = $i == $default ? between(8, 12) : pick(1, 2, 3, 5, 7, 9, 15);
		$price{$name} = $cheap if $i == $default || chance(0.9);
		$preemptible{$name} = 1 if $i != $default && chance(0.1);
	}
	my @scontrol;
	for my $g (@groups) {
		next if ($g->{state} || '') =~ /CLOUD/;
		next if grep({ $_ == $g } @{ $sets[$default] }) && chance(0.8);
		my @names = Site::hosts($g->{names});
		push @scontrol, 'update NodeName=' . pick(@names) . ' State=DRAIN Reason=disk' if chance(0.15);
		push @scontrol, "update NodeName=$g->{names} State=DRAIN Reason=os-upgrade" if chance(0.05);
		push @scontrol, 'update NodeName=' . pick(@names) . ' State=DOWN Reason=psu' if chance(0.08);
		push @scontrol, "create reservation ReservationName=maint_$names[0] StartTime=now+"
		    . pick('1hour', '12hours', '3days') . " Duration=1-00:00:00 Nodes=$g->{names} Users=root Flags=MAINT"
		    if chance(0.1);
		push @scontrol, "create reservation ReservationName=course_$names[0] StartTime=now Duration=1-00:00:00 Nodes="
		    . pick(@names) . ' Accounts=' . pick(@accounts) . (chance(0.4) ? ' Flags=FLEX,IGNORE_JOBS' : ' Flags=IGNORE_JOBS')
		    if chance(0.1);
	}
	my @global = global_lines();
	push @global, 'AccountingStorageTRES=gres/gpu' . (grep({ /shard/ } map { @{ $_->{gres} } } @groups) ? ',gres/shard' : '');
	my %site = (
		about => ["# site $index of seed $seed"],
		'slurm.conf' => [ @global, map({ group_line($_) } @groups), @lines ],
		'gres.conf' => [],
		'topology.conf' => [],
		sacctmgr => [ accounting(\@qos, \@accounts, scalar @with_gpu, \@partitions) ],
		scontrol => \@scontrol,
		policy => [ policy(\@partitions, \%price, \%preemptible) ],
		jobs => [],
	);
	if (chance(0.2)) {
		my $i = 0;
		$site{'topology.conf'} = [ map({ 'SwitchName=s' . ++$i . " Nodes=$_->{names}" } @groups),
			'SwitchName=top Switches=s[1-' . scalar(@groups) . ']' ];
		push @{ $site{'slurm.conf'} }, 'TopologyPlugin=topology/tree';
	}
	return \%site;
}

1;
