# The front door. `make bench` measures, `make test` proves; everything else is below.
SYSTEM :=
include common.mk

.DEFAULT_GOAL := help
.PHONY: help bench test deps build microbench tidy-all format clean

help:
	@sed -n 's/^## //p' Makefile

## make bench        install what is missing, build, selftest, measure SYSTEMS (libraft)
bench: build
	$(RAFTPERF) bench $(subst $(comma), ,$(SYSTEMS))

## make test         every suite, with sanitizers; ends with "N passed, N failed"
test: deps-test
	cmake -DBUILD=$(BUILD) -P tests/run_suites.cmake; status=$$?; cat $(BUILD)/summary.txt; exit $$status

## make build        build/raftperf, the servers and the stub
build: deps
	cmake --preset release -B $(BUILD) && cmake --build $(BUILD) -j $(JOBS)

## make deps         install missing Debian packages (sudo only where you are not root)
deps:
	tools/install-packages build
deps-test:
	tools/install-packages build test

## make microbench   what the rig itself costs an operation, as ratios in one run
microbench: build
	cmake --build $(BUILD) -j $(JOBS) --target raftperf-microbench && $(BUILD)/raftperf-microbench

## make tidy-all     clang-tidy on every file
tidy-all: build
	cmake -DBUILD=$(BUILD) -DALL=ON -P tests/clang_tidy.cmake

## make format       clang-format on every file
format:
	clang-format -i $$(git ls-files '*.h' '*.cc')

clean:
	rm -rf build build-asan build-tsan
