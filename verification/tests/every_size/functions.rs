//! Which function of the kernel an access is in.

use std::collections::HashMap;

const FILES: &[&str] = &[
    "protocol/spinning.rs",
    "protocol/syscall.rs",
    "protocol/stw/mod.rs",
    "protocol/stw/wanted.rs",
    "queues/globq.rs",
    "queues/idle.rs",
    "queues/runnext.rs",
    "queues/runq.rs",
    "types/m.rs",
];

/// Which function of the kernel a line is in.
pub(crate) struct Functions {
    begins: HashMap<&'static str, Vec<(u32, String)>>,
    lines: HashMap<&'static str, Vec<String>>,
}

impl Functions {
    pub(crate) fn new() -> Functions {
        let kernel = concat!(env!("CARGO_MANIFEST_DIR"), "/../src/kernel/src/");
        let mut functions = Functions { begins: HashMap::new(), lines: HashMap::new() };
        for file in FILES {
            let text =
                std::fs::read_to_string(format!("{kernel}{file}")).unwrap_or_else(|error| panic!("{file}: {error}"));
            let name = |line: &str| Some(line.split_once("fn ")?.1.split(['(', '<']).next()?.to_owned());
            let code = text.lines().enumerate().filter(|(_, line)| !line.trim_start().starts_with("//"));
            functions.begins.insert(file, code.filter_map(|(n, line)| Some((n as u32 + 1, name(line)?))).collect());
            functions.lines.insert(file, text.lines().map(str::to_owned).collect());
        }
        functions
    }

    /// Its name, if the line is in a file that matters.
    pub(crate) fn of(&self, (file, line): (&'static str, u32)) -> Option<&str> {
        let functions = self.begins.get(file)?;
        functions.iter().rev().find(|(begin, _)| *begin <= line).map(|(_, name)| name.as_str())
    }

    /// The line itself.
    pub(crate) fn line(&self, (file, line): (&'static str, u32)) -> &str {
        self.lines.get(file).and_then(|lines| lines.get(line as usize - 1)).map_or("", String::as_str)
    }
}
