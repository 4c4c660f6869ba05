//! The command: `cargo machine`.

use clap::{Parser, ValueEnum};
use spinpark_kernel::sched::config::Config;
use spinpark_machine::costs::{Costs, MICRO, NANO};
use spinpark_machine::designs::Design;
use spinpark_machine::play::{Outcome, play};
use spinpark_machine::report::{self, Entry};
use spinpark_machine::workloads::{ForkJoin, PingPong, Producer, Sparse, Storm, Yields};
use std::path::PathBuf;
use std::process::ExitCode;

/// The kernel on a simulated machine of many cores, beside Go's rules and a sketch of tokio's.
///
/// The same seed gives the same numbers, on every machine. The last column of a table has the workload's own figures, in
/// nanoseconds.
#[derive(Parser)]
#[command(name = "machine", bin_name = "cargo machine")]
struct Arguments {
    /// Only these workloads
    workloads: Vec<What>,
    /// How many Ps, one column of the curves each
    #[arg(long, value_delimiter = ',', default_value = "1,2,4,8,16,64,256,1024")]
    procs: Vec<usize>,
    /// Which designs
    #[arg(long, value_delimiter = ',', default_value = "ours,go,tokio")]
    design: Vec<Who>,
    /// Operations for each P
    #[arg(long, default_value_t = 1000)]
    per_proc: u64,
    /// What a G of a storm, and a leaf of fork-join, computes, in nanoseconds
    #[arg(long, default_value_t = 200)]
    work: u64,
    /// Cores of a socket
    #[arg(long, default_value_t = 64)]
    socket: usize,
    /// A line of the same socket, in nanoseconds; of another twice that
    #[arg(long, default_value_t = 175)]
    line: u64,
    /// How often ours scans the other Ps before it gives up
    #[arg(long)]
    steal_passes: Option<u32>,
    /// One dispatch of ours in this many serves the global queue first
    #[arg(long)]
    global_every: Option<u32>,
    /// How many Gs a ring of ours holds
    #[arg(long)]
    ring: Option<usize>,
    /// An M of ours does not start to spin beside so many others
    #[arg(long)]
    spinning_at_most: Option<usize>,
    /// Another seed, other numbers
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Writes a curve for each workload into this folder
    #[arg(long, value_name = "FOLDER")]
    svg: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum What {
    /// Every G spawns two, and computes
    Storm,
    /// Every G spawns two and waits for both; leaves compute
    ForkJoin,
    /// An event every 10 us from outside, for which a G computes 5 us
    Sparse,
    /// Four pairs for each P, which wake each other
    PingPong,
    /// One G spawns Gs that compute 2 us
    Producer,
    /// 100 Gs for each P, which yield
    Yields,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Who {
    /// The kernel as it comes
    Ours,
    /// The kernel as Go configures its own
    Go,
    /// A sketch of tokio's rules
    Tokio,
    /// The same, where the last that searched wakes two: a tree of wakes, which tokio has not
    TokioTree,
}

impl Who {
    fn design(self, arguments: &Arguments) -> Design {
        let usual = Config::default();
        match self {
            Who::Ours => Design::Ours(Config {
                steal_passes: arguments.steal_passes.unwrap_or(usual.steal_passes),
                global_every: arguments.global_every.unwrap_or(usual.global_every),
                spinning_at_most: arguments.spinning_at_most.unwrap_or(usual.spinning_at_most),
                ring: arguments.ring.unwrap_or(usual.ring),
                ..usual
            }),
            Who::Go => Design::Go,
            Who::Tokio => Design::Tokio { wakes: 1 },
            Who::TokioTree => Design::Tokio { wakes: 2 },
        }
    }

    fn name(self) -> &'static str {
        match self {
            Who::Ours => "ours",
            Who::Go => "Go's rules",
            Who::Tokio => "tokio's rules",
            Who::TokioTree => "tokio's, waking two",
        }
    }
}

impl What {
    fn name(self) -> &'static str {
        match self {
            What::Storm => "storm",
            What::ForkJoin => "fork-join",
            What::Sparse => "sparse",
            What::PingPong => "ping-pong",
            What::Producer => "producer",
            What::Yields => "yields",
        }
    }

    fn play(self, design: Design, procs: usize, costs: Costs, arguments: &Arguments) -> Outcome {
        let (seed, all, work) = (arguments.seed, procs as u64 * arguments.per_proc, arguments.work * NANO);
        match self {
            What::Storm => play(design, procs, costs, seed, move || Storm::new(all, work)),
            What::ForkJoin => play(design, procs, costs, seed, move || ForkJoin::new(all, work)),
            What::Sparse => play(design, procs, costs, seed, || Sparse::new(1_000, 10 * MICRO, 5 * MICRO)),
            What::PingPong => {
                let rounds = arguments.per_proc / 4 + 1;
                play(design, procs, costs, seed, move || PingPong::new(4 * procs as u64, rounds))
            }
            What::Producer => play(design, procs, costs, seed, move || Producer::new(all, 2 * MICRO)),
            What::Yields => {
                let each = arguments.per_proc / 10 + 1;
                play(design, procs, costs, seed, move || Yields::new(100 * procs as u64, each))
            }
        }
    }
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let costs = Costs {
        socket: arguments.socket.max(1),
        line: arguments.line * NANO,
        far_line: 2 * arguments.line * NANO,
        ..Costs::default()
    };
    let all = What::value_variants();
    let wanted = all.iter().filter(|what| arguments.workloads.is_empty() || arguments.workloads.contains(what));
    for what in wanted {
        println!("### {}\n\n{}", what.name(), report::HEAD);
        let mut entries = Vec::new();
        for &procs in &arguments.procs {
            for who in &arguments.design {
                let outcome = what.play(who.design(&arguments), procs, costs.clone(), &arguments);
                let entry = Entry { procs, who: who.name(), outcome };
                println!("{}", report::row(&entry));
                entries.push(entry);
            }
        }
        println!();
        if let Some(folder) = &arguments.svg {
            let path = folder.join(format!("machine-{}.svg", what.name()));
            if let Err(error) = std::fs::write(&path, report::curve(what.name(), &entries)) {
                eprintln!("machine: {}: {error}", path.display());
                return ExitCode::FAILURE;
            }
        }
    }
    ExitCode::SUCCESS
}
