# make demo and make test do everything on a bare Debian 12 with Swift; the rest is for working on the project.
SHELL := /bin/bash
PREFIX ?= /usr/local
SANITIZE ?=
SCRATCH ?= .build
SECONDS ?= 600
TARGETS ?=
BUILD_PACKAGES := libzip-dev zlib1g-dev libgnutls28-dev pkg-config
CHECKS := --explicit-target-dependency-import-check error
RELEASE := -c release --static-swift-stdlib --product dfu $(CHECKS) --scratch-path $(SCRATCH)

.PHONY: demo test build-packages release install lint format fuzz fuzz-check clean

demo: release

build-packages:
	@scripts/install-packages "dfu is built against them" $(BUILD_PACKAGES)

test: build-packages
	swift test --disable-xctest $(CHECKS) --scratch-path $(SCRATCH)$(addprefix /,$(SANITIZE)) $(addprefix --sanitize=,$(SANITIZE))

release: build-packages
	swift build $(RELEASE)

install: release
	install -D "$$(swift build $(RELEASE) --show-bin-path)/dfu" "$(DESTDIR)$(PREFIX)/bin/dfu"

lint:
	scripts/lint

format:
	swift format --in-place --parallel --recursive Package.swift Sources Tests Fuzz

# Explores each fuzz target for that many seconds: make fuzz SECONDS=60 TARGETS="zip hex"
fuzz: build-packages
	scripts/fuzz $(SECONDS) $(TARGETS)

fuzz-check: build-packages
	scripts/fuzz 10

clean:
	rm -rf $(SCRATCH)
