# The habits of this repository. Each recipe is a thin line over cargo.

# Format, lints, tests: what a change has to pass.
check:
    cargo fmt --all --check
    cargo clippy --workspace --all-targets -- -D warnings
    cargo test --workspace

# The main job: the published A/B design on the bundled sessions, without key and network.
quickstart:
    cargo run --release -- run scenarios/quickstart.toml

# The binary against the strict mock on every route, with programs of others, killed, and on a full disk.
e2e:
    cargo test -p laundromat-cli --test paid --test routes --test sending --test budget --test cassette --test keys --test exec --test gateway --test killed --test full_disk --test gate

# The real libraries of `just adapters` as exec arms, end to end against the mock.
e2e-adapters: adapters
    cargo test -p laundromat-cli --test real_libraries -- --ignored --nocapture

# Start-up, CPU and memory of the whole binary, and the paid path beside a bare loop (docs/performance.md).
bench:
    cargo bench -p laundromat-cli

# Time and memory of every preset over 1, 10 and 100 MB, shields off and on; a few minutes.
bench-arms *NAMES:
    cargo bench -p laundromat-compactor --bench scale -- {{NAMES}}

# Applies each patch in tests/mutants and fails if the test it names stays green.
mutants:
    cargo test -p laundromat-cli --test mutants -- --ignored --nocapture

# Licences, doubled crates and sources of the dependency tree (advisories need a network).
deny:
    cargo deny check bans licenses sources

# A real model behind a server on this machine, four short sessions and four arms (docs/local-model.md).
demo-llm MODEL *FLAGS:
    python3 scripts/demo_llm.py "{{MODEL}}" {{FLAGS}}

# The real libraries behind the adapters, pinned, and each of them against a stub (adapters/README.md).
adapters:
    python3 adapters/install.py
    python3 adapters/check.py
