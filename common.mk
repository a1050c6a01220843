# Shared by the root Makefile and by every system's, which sets SYSTEM first.
ROOT := $(dir $(lastword $(MAKEFILE_LIST)))
-include $(ROOT).env

BUILD ?= build
JOBS ?= $(shell nproc)
SYSTEMS ?= libraft
RAFTPERF = $(ROOT)$(BUILD)/raftperf
comma := ,

# Options under the names that flags and TOML keys have:
# make -C systems/libraft run MODE=open RATE=5000
OPTIONS := MODE THREADS RATE BURST MAX_INFLIGHT WARMUP MEASURE DRAIN_TIMEOUT TIMEOUT PACE ARRIVAL \
  SEED WORKERS CONNECTIONS SEND_STAMP NO_LEADER PROFILE VALUE_SIZE DURABILITY LEADER NODES \
  CLUSTER_SIZE PORT_BASE SET VERIFY HDR_OUT OUT
$(foreach option,$(OPTIONS),$(if $($(option)),$(eval export RAFTPERF_$(option) := $($(option)))))

ifneq ($(SYSTEM),)
.PHONY: build start stop status run transfer-leader
build:
	$(MAKE) -C $(ROOT) build
start:
	$(RAFTPERF) cluster up $(SYSTEM)
stop:
	$(RAFTPERF) cluster down $(SYSTEM)
status:
	$(RAFTPERF) cluster status $(SYSTEM)
transfer-leader:
	$(RAFTPERF) cluster transfer-leader $(SYSTEM)
run:
	$(RAFTPERF) run $(SYSTEM)
endif
