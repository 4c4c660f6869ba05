//! Tells the checker how it is optimised: it says so if it is not.

fn main() {
    let level = std::env::var("OPT_LEVEL").unwrap_or_default();
    println!("cargo::rustc-env=RC11_OPT_LEVEL={level}");
    println!("cargo::rerun-if-changed=build.rs");
}
