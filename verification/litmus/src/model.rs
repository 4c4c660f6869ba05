//! The memory models that the reference knows. They differ in one axiom: which reads-from may run against program order.

/// A memory model.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, clap::ValueEnum)]
pub enum MemoryModel {
    /// RC11: none may. There is no load buffering (Lahav, Vafeiadis, Kang, Hur, Dreyer: Repairing Sequential Consistency
    /// in C/C++11, PLDI 2017).
    #[default]
    Rc11,
    /// IMM, which compilation to x86, ARM, POWER and RISC-V keeps: dependencies, fences, acquires and releases order
    /// (Podkopaev, Lahav, Vafeiadis: Bridging the Gap between Programming Languages and Hardware Weak Memory Models,
    /// POPL 2019).
    Imm,
    /// C11 that only keeps dependencies: no value depends on itself. An acquire or a release orders nothing but through
    /// happens-before.
    C11Dep,
}

impl MemoryModel {
    /// All of them.
    pub const ALL: [MemoryModel; 3] = [MemoryModel::Rc11, MemoryModel::Imm, MemoryModel::C11Dep];

    /// Its name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            MemoryModel::Rc11 => "rc11",
            MemoryModel::Imm => "imm",
            MemoryModel::C11Dep => "c11-dep",
        }
    }
}
