# A site of tests/places: a text file of sections in the languages of Slurm
# itself, read and written here, and brought up as a private cluster.
#
#   [slurm.conf]   NodeName and PartitionName lines, and others. The addresses
#                  of nodes are added.
#   [gres.conf]    without it one is made by Gres= of the nodes
#   [topology.conf]
#   [sacctmgr]     commands, given before slurmctld starts; @USER@ is the user
#                  that submits, an account of the same name is the default
#   [scontrol]     commands, given when all nodes are up
#   [policy]       lowtide.yaml
#   [jobs]         options of sbatch, a job a line
#
# Lines before the first section are comments: where it is from.
package Site;
use strict;
use warnings;

use constant NODES_MOST => 28;

my @sections = qw(slurm.conf gres.conf topology.conf sacctmgr scontrol policy jobs);

sub parse {
	my ($text) = @_;
	my %site = (about => [], map { $_ => [] } @sections);
	my $into = 'about';
	for (split /\n/, $text) {
		if (/^\[([\w.]+)\]$/) {
			die "places: unknown section [$1]\n" if !$site{$1};
			$into = $1;
		} elsif ($into eq 'about' || (/\S/ && !/^#/)) {
			push @{ $site{$into} }, $_;
		}
	}
	return \%site;
}

sub text {
	my ($site) = @_;
	my $text = join '', map { "$_\n" } @{ $site->{about} };
	for my $section (@sections) {
		next if !@{ $site->{$section} };
		$text .= "[$section]\n" . join '', map { "$_\n" } @{ $site->{$section} };
	}
	return $text;
}

sub read_file {
	my ($path) = @_;
	open my $file, '<', $path or die "places: $path: $!\n";
	local $/;
	return parse(<$file>);
}

sub put {
	my ($path, @lines) = @_;
	open my $file, '>', $path or die "places: $path: $!\n";
	print $file map { "$_\n" } @lines;
	close $file or die "places: $path: $!\n";
}

# "n[1-3,5]x,m1" -> names
sub hosts {
	my ($text) = @_;
	my @names;
	for my $part ($text =~ /((?:[^,\[]|\[[^\]]*\])+)/g) {
		my @all = ('');
		while ($part =~ /([^\[]+)|\[([^\]]*)\]/g) {
			my @next = defined $1 ? $1 : map {
				/^(\d+)-(\d+)$/ ? map { sprintf '%0*d', length $1, $_ } $1 .. $2 : $_
			} split /,/, $2;
			@all = map { my $head = $_; map { "$head$_" } @next } @all;
		}
		push @names, @all;
	}
	return @names;
}

sub value_of { # value_of LINE KEY
	my ($line, $key) = @_;
	return $line =~ /(?:^|\s)\Q$key\E=(\S+)/i ? $1 : undef;
}

sub names_of { # names_of SITE KEY: of lines that begin with it
	my ($site, $key) = @_;
	return grep { $_ ne 'DEFAULT' }
	    map { /^$key=(\S+)/i ? $1 : () } @{ $site->{'slurm.conf'} };
}

# "gpu:a100:4,tmp:no_consume:800G" -> [name, type, count, no_consume]
sub gres_of {
	my ($text) = @_;
	my @gres;
	for (split /,/, $text) {
		s/\(.*?\)//g;
		next if $_ eq '';
		my @part = split /:/;
		my $no_consume = grep { /^no_consume$/i } @part;
		@part = grep { !/^no_consume$/i } @part;
		my $count = @part > 1 && $part[-1] =~ /^\d+[KMGTP]?$/i ? pop @part : 1;
		push @gres, [ $part[0], $part[1], $count, $no_consume ];
	}
	return @gres;
}

# Devices are files; what shares a GPU has none of its own.
sub gres_conf {
	my ($site) = @_;
	my @lines;
	for my $line (grep { /^NodeName=/i } @{ $site->{'slurm.conf'} }) {
		my ($names) = $line =~ /^NodeName=(\S+)/i;
		my $gres = value_of($line, 'Gres');
		next if !defined $gres || $names eq 'DEFAULT';
		my $file = 0;
		for (gres_of($gres)) {
			my ($name, $type, $count, $no_consume) = @$_;
			my $of = "NodeName=$names Name=$name" . (defined $type ? " Type=$type" : '');
			next if $count eq '0';
			if ($name eq 'gpu') {
				push @lines, sprintf '%s File=@DIR@/gpu/g[%d-%d]', $of, $file, $file + $count - 1;
				$file += $count;
			} elsif ($name =~ /^(shard|mps)$/) {
				push @lines, "$of Count=$count";
			} else {
				push @lines, "$of Count=$count Flags=CountOnly";
			}
		}
	}
	return @lines;
}

sub with_addresses {
	my ($site) = @_;
	my ($port, @lines) = (0);
	for (@{ $site->{'slurm.conf'} }) {
		my $line = $_;
		if ($line =~ /^NodeName=(\S+)(.*)/i && $1 ne 'DEFAULT') {
			my ($names, $rest) = ($1, $2);
			my @ports = map { '@PORT+' . ++$port . '@' } hosts($names);
			die "places: more than " . NODES_MOST . " nodes\n" if $port > NODES_MOST;
			$line = "NodeName=$names NodeHostname=\@HOST\@ NodeAddr=127.0.0.1 Port="
			    . join(',', @ports) . $rest;
		}
		push @lines, $line;
	}
	return @lines;
}

sub is_layout { $_[0] =~ /^(NodeName|PartitionName|NodeSet|DownNodes)=/i }

# up SITE DIR USER: "" or why not
sub up {
	my ($site, $D, $user) = @_;
	my ($here) = __FILE__ =~ m{^(.*)/};
	mkdir $D;
	mkdir "$D/etc";
	my @lines = with_addresses($site);
	put("$D/etc/layout.site", grep { is_layout($_) } @lines);
	my @gres = @{ $site->{'gres.conf'} };
	put("$D/etc/gres.site", @gres ? @gres : gres_conf($site));
	put("$D/etc/topology.conf", @{ $site->{'topology.conf'} }) if @{ $site->{'topology.conf'} };
	put("$D/etc/site.sacctmgr", map { s/\@USER\@/$user/gr } @{ $site->{sacctmgr} });
	put("$D/etc/site.yaml", @{ $site->{policy} });
	my %types = map { map { $_->[0] => 1 } gres_of(value_of($_, 'Gres') || 'gpu:0') }
	    grep { /^NodeName=/i } @lines;
	my @extra = grep { !is_layout($_) } @lines;
	unshift @extra, 'GresTypes=' . join ',', sort keys %types;
	if (grep { /State=CLOUD/i } @lines) {
		# -b: a node that resumes is one that boots, as the machine under it does not.
		put("$D/etc/resume", '#!/bin/sh', 'export PATH=/usr/sbin:/usr/bin:/sbin:/bin',
			'for n in $(scontrol show hostnames "$1"); do',
			"\tmkdir -p $D/spool/\$n",
			"\tsetsid slurmd -b -D -N \$n </dev/null >>$D/log/slurmd.\$n.out 2>&1 &",
			"\techo \$! > $D/run/slurmd.\$n.shpid", 'done');
		put("$D/etc/suspend", '#!/bin/sh');
		chmod 0755, "$D/etc/resume", "$D/etc/suspend";
		push @extra, "ResumeProgram=$D/etc/resume", "SuspendProgram=$D/etc/suspend",
		    'SuspendTime=100000', 'ResumeTimeout=60', 'SuspendTimeout=5';
	}
	my $said = do {
		local %ENV = (%ENV, LAYOUT => "$D/etc/layout.site", GRES => "$D/etc/gres.site",
			SACCTMGR => "$D/etc/site.sacctmgr", POLICY => "$D/etc/site.yaml",
			ACCOUNTS => $user, USERS => $user, EXTRA => join("\n", @extra));
		`"$here/../cluster/cluster.sh" up "$D" 2>&1`;
	};
	if ($? != 0) {
		my $log = `tail -n 8 "$D"/log/slurmctld.log "$D"/log/slurmctld.out "$D"/log/lowtided.out 2>&1`;
		return "$said$log";
	}
	enter($D);
	for (@{ $site->{scontrol} }) {
		my $answer = `scontrol $_ 2>&1`;
		$said .= "scontrol $_: $answer" if $? != 0;
	}
	return @{ $site->{scontrol} } && $said =~ /^scontrol/m ? $said : '';
}

sub enter { # the environment of its commands
	my ($D) = @_;
	open my $file, '<', "$D/env" or die "places: $D/env: $!\n";
	while (<$file>) {
		next if !s/^export //;
		s/\$PATH/$ENV{PATH}/;
		for (split) {
			my ($name, $value) = split /=/, $_, 2;
			$ENV{$name} = $value;
		}
	}
	delete $ENV{LOWTIDE_SERVER};
}

sub down {
	my ($D) = @_;
	my ($here) = __FILE__ =~ m{^(.*)/};
	system("$here/../cluster/cluster.sh", 'down', $D);
	system('rm', '-rf', $D);
}

1;
