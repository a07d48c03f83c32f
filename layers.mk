# Who may include whom: a folder's -I list. adapters/ is for quoted includes
# only: <slurm/slurm.h> is Slurm's.

INC_policy/core := -Ipolicy/core -Ipolicy/include
INC_policy/snapshot := -Ipolicy/snapshot -Ipolicy/include
INC_policy/file := -Ipolicy/file -Ipolicy/core -Ipolicy/include
INC_policy/model := -Ipolicy/model -Ipolicy/core -Ipolicy/include
INC_policy/ledger := -Ipolicy/ledger -Ipolicy/model -Ipolicy/core -Ipolicy/include
INC_adapters := -iquoteadapters -Iadapters/lib -Ipolicy/core -Ipolicy/include
INC_adapters/lib := -Iadapters/lib -Ipolicy/core -Ipolicy/include
INC_adapters/batch := -Iadapters/batch -Ipolicy/core -Ipolicy/include
INC_adapters/slurm := -Iadapters/slurm -Iadapters/batch -Ipolicy/core -Ipolicy/include
# libyaml, as policy/file, for kubeconfig.c.
INC_kubernetes := -Ikubernetes -Idaemon/lib -Iadapters/lib -Iadapters/batch -Ipolicy/core -Ipolicy/include
INC_plugin/common := -Iplugin/common -I$(B)/plugin/common -Ipolicy/core -Ipolicy/include
INC_plugin/job_submit := -Iplugin/job_submit $(INC_plugin/common)
INC_plugin/spank := -Iplugin/spank $(INC_plugin/common)
# What lowtided stands on, and its rooms: each sees those before it, and up to alerts nothing else.
# The others see daemon.h too, which has the state of all rooms in it.
DAEMON_BASE := -iquoteadapters -Iadapters/lib -Iadapters/batch -Ipolicy/file \
	-Ipolicy/ledger -Ipolicy/model -Ipolicy/core -Ipolicy/include
INC_daemon/lib := -Idaemon/lib -Ipolicy/model -Ipolicy/core -Ipolicy/include
INC_daemon/signals := -Idaemon/signals -Idaemon/lib $(DAEMON_BASE)
ROOMS := market jobs charges holds plans life alerts pass http statement explain metrics api
below := $(INC_daemon/signals)
$(foreach room,market jobs charges holds plans life alerts,$(eval INC_daemon/$(room) := -Idaemon/$(room) $(below))$(eval \
	below := $(INC_daemon/$(room))))
INC_daemon := $(ROOMS:%=-Idaemon/%) -Idaemon $(INC_daemon/signals)
$(foreach room,pass http statement explain metrics api,$(eval INC_daemon/$(room) := -Idaemon/$(room) $(INC_daemon)))
INC_node := -Inode -Idaemon/lib -Iadapters/lib -Ipolicy/core -Ipolicy/include
# As lowtide-node, and the policy: it says where messages go.
INC_notify := -Inotify -Idaemon/lib -Iadapters/lib -Ipolicy/file -Ipolicy/core -Ipolicy/include
INC_simulate := -Isimulate -Ipolicy/model -Ipolicy/core -Ipolicy/include
# The command's rooms: lib for all, html over report, main over all.
CLI_BASE := -Icli/lib -iquoteadapters -Iadapters/lib -Idaemon/lib -Ipolicy/file -Ipolicy/core -Ipolicy/include
CLI_ROOMS := lib report html doctor init reconcile signals simulate web
$(foreach room,$(CLI_ROOMS),$(eval INC_cli/$(room) := -Icli/$(room) -I$(B)/cli/$(room) $(CLI_BASE)))
INC_cli/report += -Icli/html
INC_cli/html += -Icli/report
INC_cli/simulate += -Isimulate
INC_cli/reconcile += -Icli/signals
INC_cli := -Icli -I$(B)/cli -Isimulate $(CLI_ROOMS:%=-Icli/%) $(CLI_BASE)
