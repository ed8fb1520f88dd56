//! Embedded data files are read at compile time: a new or changed one compiles the crate again.

fn main() {
    println!("cargo::rerun-if-changed=../../scenarios/attacks");
}
