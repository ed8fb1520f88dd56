//! Embedded data files are read at compile time: a new or changed one compiles the crate again.

fn main() {
    for folder in ["arms", "prompts", "shields"] {
        println!("cargo::rerun-if-changed=../../scenarios/{folder}");
    }
}
