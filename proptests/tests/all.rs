//! The property tests, in one program: each of its own would be linked for itself.

mod bytes;
mod checker;
mod config;
mod costs;
mod evidence;
mod figures;
mod fuzz_cli;
mod globq;
mod local;
mod netpoll;
mod random_order;
mod refused;
mod regressions;
mod resize;
mod rooms;
mod runq;
mod sched_oracle;
mod stepped;
mod sysmon;
mod task_costs;
mod turn;
mod words;
mod work_source;

#[test]
fn no_file_is_left_out() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests");
    let entries = std::fs::read_dir(folder).expect("it can be read").map(|entry| entry.expect("it can be read"));
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    let modules = names.filter_map(|name| name.strip_suffix(".rs").map(str::to_owned)).filter(|name| name != "all");
    let left_out: Vec<_> =
        modules.filter(|name| !include_str!("all.rs").contains(&format!("\nmod {name};\n"))).collect();
    assert!(left_out.is_empty(), "no module of this program: {left_out:?}");
}
