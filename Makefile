# What each target does is one script or one command; `make help` lists them.

# Debug builds of the modules are optimised (Package.swift); one setting for all targets, so that none builds again what another has built.
export ISTHMUS_OPTIMIZED ?= 1

.PHONY: help build run test check format bench bench-check fuzz release deb test-package clean

help:
	@echo "make run      build, then show the main job on the terminal: both flows, on real sockets, with every message"
	@echo "make test     layers, format, build and all tests, with Kamailio, SIPp and finch as peers; the last line counts tests"
	@echo "make build    build the program (debug); .build/debug/isthmus"
	@echo "make check    only the layers, the format and the tests that documents name, in seconds"
	@echo "make format   format all sources in place"
	@echo "make bench    the benchmarks of Benchmarks/"
	@echo "make bench-check  the program beside Kamailio, compared with the committed table; exits non-zero when something became worse"
	@echo "make fuzz     hostile octets against every parser for SECONDS in total (default 60); exits non-zero on a crash and names the file"
	@echo "make release  dist/isthmus: optimised, with Swift's libraries inside; needs packages of Debian 12 alone beside it"
	@echo "make deb      dist/isthmus_VERSION_ARCH.deb, see docs/operating.md"
	@echo "make test-package  make deb, then install, run, upgrade and purge it in a fresh Debian 12 root directory; needs root"
	@echo "make clean    remove build output"

build:
	@scripts/install-packages run
	swift build --product isthmus

run: build
	@.build/debug/isthmus demo

test:
	@scripts/install-packages test
	@scripts/test

check:
	@scripts/check-layers
	@scripts/check-docs
	swift format lint --strict --recursive --parallel Sources Tests Package.swift Fuzz/Sources Fuzz/Package.swift Growth/Sources Growth/Package.swift

format:
	swift format --in-place --recursive --parallel Sources Tests Package.swift Fuzz/Sources Fuzz/Package.swift Growth/Sources Growth/Package.swift

bench:
	@scripts/install-packages run
	Benchmarks/run

bench-check:
	@scripts/install-packages bench
	Benchmarks/kamailio --check Benchmarks/kamailio.tsv

fuzz:
	@scripts/install-packages run
	@Fuzz/run $(or $(SECONDS),60)

release:
	@scripts/install-packages package
	@scripts/release

deb: release
	@scripts/package

test-package: deb
	@scripts/install-packages test-package
	@scripts/test-package

clean:
	rm -rf dist .build .build-core .build-asan .build-release Benchmarks/.build-bench Benchmarks/.build-load Fuzz/.build-fuzz \
		Growth/.build-growth
