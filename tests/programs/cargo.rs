//! Cargo, called by a test.

use std::process::Command;

/// As it is called by hand. The names that it has set for this test would change what some packages are built from, ring among them:
/// they, and all that uses them, would be built once more, and again when the tests are run the next time.
pub(crate) fn cargo() -> Command {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| env!("CARGO").into()));
    for (name, _) in std::env::vars_os() {
        if ["CARGO_PKG_", "CARGO_MANIFEST_"].iter().any(|of_a_package| name.to_string_lossy().starts_with(of_a_package))
        {
            cargo.env_remove(name);
        }
    }
    cargo
}
