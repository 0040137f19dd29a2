# The commands of this project. `make` without a target lists them.

SHELL := /bin/bash
.DEFAULT_GOAL := help
.PHONY: help run demo build test setup package fmt lint bench costs compare cluster fuzz simulate soak storm console figures screenshots contract deny

# Build output goes outside the tree, so that all clones share it.
export CARGO_TARGET_DIR ?= $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/telltale/target
# RocksDB is compiled once for all profiles (tools/rocksdb), unless the environment names another
# library.
ifeq ($(shell uname -s),Linux)
export ROCKSDB_LIB_DIR ?= $(shell tools/rocksdb dir)
export ROCKSDB_STATIC ?= 1
endif
# ccache, where installed, is used through the PATH: setting CC and CXX in the environment would
# rebuild RocksDB.
export PATH := $(if $(wildcard /usr/lib/ccache/g++),/usr/lib/ccache:)$(PATH)

LISTEN ?= 127.0.0.1:8080
DATA ?= ./data
SEED ?= 1
SECONDS ?= 60
TARGETS ?=
SCALE ?= small
PARTS ?=
PEERS ?=
RUNS ?= 2
VICTORIA_METRICS ?=
CURVE ?=
SIZE ?= 100000
DIMENSIONS ?=
CHECKS ?=
ROUNDS ?= 100
LANES ?= 3
SEEDS ?= 200

help: ## Show this list
	@sed -n 's/^\([a-z]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 10

run: build ## Build and serve on 127.0.0.1:8080 with the data in ./data (LISTEN=, DATA=)
	exec "$$CARGO_TARGET_DIR/release/telltale" serve --data "$(DATA)" --listen "$(LISTEN)"

demo: DATA := $(if $(filter file,$(origin DATA)),./data-demo,$(DATA))
demo: build ## Build and serve a day of data of an imaginary shop in every area, in ./data-demo (LISTEN=, DATA=, SEED=)
	exec python3 -B tools/demo --program "$$CARGO_TARGET_DIR/release/telltale" --data "$(DATA)" --listen "$(LISTEN)" --seed "$(SEED)"

build: ## Build the release; installs missing build dependencies
	@tools/setup build
	cargo build --release --locked --workspace --bin telltale

test: ## Check format, dependencies, lints, documentation and contract, and run all tests
	@tools/check

setup: ## Install missing dependencies of the build and the tests
	@tools/setup test

package: build ## Build a Debian package of the release
	@tools/setup package
	@tools/package "$$CARGO_TARGET_DIR/release/telltale" "$$CARGO_TARGET_DIR/debian"

fmt: ## Format the code
	cargo fmt --all
	cargo fmt --manifest-path fuzz/Cargo.toml
	cargo fmt --manifest-path benches/cluster/Cargo.toml

lint: ## Run clippy as the checks do
	@tools/setup build
	cargo clippy --workspace --all-targets --locked -- -D warnings

bench: ## Run the benchmarks (ARGS= for criterion; --test runs each once)
	@tools/setup build
	cargo bench --locked --workspace --bench '*' -- $(ARGS)

costs: ## Measure the growth of all costs up to SIZE=100000 (1000000 in full; DIMENSIONS= to choose); fails above n^1.2
	@tools/setup build
	cargo run --release --locked -p telltale-benches --example costs -- "$(SIZE)" $(DIMENSIONS)

compare: ## Compare Telltale with other databases (SCALE=full PARTS= PEERS= RUNS= VICTORIA_METRICS=path); writes docs/benchmarks
	cargo build --release --locked -p telltale-compare
	@test -n "$$TELLTALE_BIN" || { tools/setup build && cargo build --release --locked --workspace --bin telltale; }
	VICTORIA_METRICS_BIN="$${VICTORIA_METRICS_BIN:-$(VICTORIA_METRICS)}" \
	TELLTALE_BIN="$${TELLTALE_BIN:-$$CARGO_TARGET_DIR/release/telltale}" "$$CARGO_TARGET_DIR/release/compare" \
	  --scale "$(SCALE)" --parts "$(PARTS)" --peers "$(PEERS)" --runs "$(RUNS)"

cluster: ## Test SlateDB on an object store: probe, ROUNDS=100 of faults on LANES=3 shards, histories of SEEDS=200 (as root)
	@tools/cluster "$(ROUNDS)" "$(LANES)" "$(SEEDS)"

fuzz: ## Run every fuzz target for SECONDS=60 each (TARGETS= to choose)
	@tools/setup build
	@tools/fuzz "$(SECONDS)" $(TARGETS)

simulate: ## Run simulated histories with crashes and failing disks for SECONDS=60 on every core
	@tools/setup build
	@tools/simulate "$(SECONDS)"

soak: ## Run a steady load on the release build for SECONDS=60 and write its curve (CURVE= names the file)
	@tools/setup build
	@tools/soak "$(SECONDS)" $(CURVE)

storm: ## Fire a thousand alerts at once on the release build, and show how long their messages took
	@tools/setup build
	@tools/storm

console: ## Use every page of the console in a browser at all widths and colour schemes, with axe-core
	@tools/setup test
	CONSOLE_VIEWS=all cargo test --locked -p telltale-tests --test api -- console_

figures: build ## Measure the console in a browser (sizes, times, heap); fails above the limits (about 10 minutes)
	@tools/setup test
	@tools/console-figures "$$CARGO_TARGET_DIR/release/telltale"

screenshots: build ## Take the pictures of the console in docs/screenshots from the data of the demo
	@tools/setup test
	@tools/console-screenshots "$$CARGO_TARGET_DIR/release/telltale"

contract: ## Test the server against its OpenAPI document with Schemathesis for SECONDS=60
	@tools/setup test
	@tools/contract "$(SECONDS)"

deny: ## Check licenses, bans and sources of the dependencies (CHECKS=all for advisories too)
	@tools/deny $(CHECKS)
