# make demo and make test do everything on a bare Debian 12 with Swift; the rest is for working on the project.
SHELL := /bin/bash
PREFIX ?= /usr/local
SANITIZE ?=
SCRATCH ?= .build
SECONDS ?= 600
TARGETS ?=
SUITES ?=
DEMO := Fixtures/packages/band_v1.1.0_810A8FF9.bin
BUILD_PACKAGES := libdbus-1-dev libzip-dev zlib1g-dev libgnutls28-dev pkg-config
TEST_PACKAGES := dbus-bin dbus-daemon python3 systemd
CHECKS := --explicit-target-dependency-import-check error
TEST := $(if $(filter address,$(SANITIZE)),LSAN_OPTIONS=suppressions=$(CURDIR)/Tests/leaks.txt )swift test --disable-xctest $(CHECKS) --scratch-path $(SCRATCH)$(addprefix /,$(SANITIZE)) $(addprefix --sanitize=,$(SANITIZE))
# The address sanitizer keeps memory for each thread that there was, which a soak would count.
UNFIT := $(if $(filter address,$(SANITIZE)),--skip Soak)
TEST_PROGRAM := $(SCRATCH)/debug/dfuPackageTests.xctest
# Suites that wait for what is said to them by a bus, a socket or a clock.
REAL_TIME := BlueZ DBus EmulatedRadio PollExecutor SecureUpdate
RELEASE := -c release --static-swift-stdlib --product dfu $(CHECKS) --scratch-path $(SCRATCH)

.PHONY: demo test lab lab-test build-packages test-packages release install example lint format fuzz fuzz-check clean

demo: release
	@dfu="$$(swift build $(RELEASE) --show-bin-path)/dfu" && set -x && \
	$$dfu info $(DEMO) && \
	$$dfu flash $(DEMO) --device sim:band

build-packages:
	@scripts/install-packages "dfu is built against them" $(BUILD_PACKAGES)

test-packages:
	@scripts/install-packages "the tests run a message bus, and judges written by others" $(TEST_PACKAGES)

# In turns: what waits for a bus or for child processes in real time would starve beside the rest on two cores.
test: build-packages test-packages
	$(TEST) $(addprefix --skip ,$(REAL_TIME)) --skip dfuTests
	$(TEST) --skip-build $(addprefix --filter ,$(REAL_TIME)) --skip dfuTests $(UNFIT)
	$(TEST) --skip-build --filter dfuTests
ifeq ($(SANITIZE),)
	Tests/lab/test --where-possible $(TEST_PROGRAM)
else
	@echo "*** The tests against the real BlueZ have no sanitizer: make lab-test runs them. ***"
endif

# Makes what Tests/lab needs to run the real BlueZ without hardware.
lab:
	Tests/lab/setup

# All suites, or those of SUITES.
lab-test: build-packages test-packages lab
	swift build --build-tests --disable-xctest $(CHECKS) --scratch-path $(SCRATCH)
	Tests/lab/test $(TEST_PROGRAM) $(SUITES)

release: build-packages
	swift build $(RELEASE)

install: release
	install -D "$$(swift build $(RELEASE) --show-bin-path)/dfu" "$(DESTDIR)$(PREFIX)/bin/dfu"

example: build-packages
	swift run --package-path Examples/embed embed $(DEMO)

lint:
	scripts/lint

format:
	swift format --in-place --parallel --recursive Package.swift Sources Tests Fuzz Benchmarks Examples

# Explores each fuzz target for that many seconds: make fuzz SECONDS=60 TARGETS="zip hex"
fuzz: build-packages
	scripts/fuzz $(SECONDS) $(TARGETS)

fuzz-check: build-packages
	scripts/fuzz 10

clean:
	rm -rf $(SCRATCH)
