//! `cargo verify`: runs the model checks and says what was proved. Which file does what is drawn in the package's README.

mod alone;
mod best;
mod collect;
mod every_size;
mod how;
mod matrix;
mod museum;
mod mutants;
mod nearest;
mod pages;
mod plan;
mod progress;
mod proptest;
mod replay;
mod report;
mod run;
mod summary;
mod survivors;
mod table;
mod watch;

use clap::{CommandFactory, Parser, Subcommand};
use clap_complete::Shell;
use how::How;
use run::Whole;
use spinpark_litmus as litmus;
use spinpark_litmus::model::MemoryModel;
use spinpark_litmus::report::Answer;
use spinpark_litmus::run::LitmusEngine;
use spinpark_verification::catalog;
use spinpark_verification::command_line::{self, Stop};
use spinpark_verification::job;
use spinpark_verification::mutation::trial::{self, Switches};
use spinpark_verification::output::{self, print};
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{self, ExitCode};

/// Explores the interleavings of spinpark's kernel: the very source that runs on real cores.
///
/// Without a command: every model on the strongest engine that ends and on loom, if that ends too, or else in some samples;
/// and every wrong variant on the engines that must kill it. In the end a summary, and a table in a file: for each model what
/// is claimed, which engine explored it, within which bounds, and what may be said:
///
///   proved    a complete engine finished; the memory model is named
///   explored  the engine finished, but is known to miss executions (loom)
///   bounded   a bound was set and may have cut something off
///   sampled   schedules were sampled at random
///   FAILED    it does not hold; the schedule is printed, and written to a file
///
/// The column `reached` compares with a complete engine: 3/6 means 3 of the 6 outcomes there are.
///
/// `cargo verify --all` adds the other engines, all samples, and what is too large to be explored to its end.
///
/// Exit status: 0 if all holds and every wrong variant was killed, 1 if not, 2 for a usage error.
#[derive(Parser)]
#[command(name = "cargo verify", bin_name = "cargo verify", version, verbatim_doc_comment, max_term_width = 120)]
#[command(args_conflicts_with_subcommands = true)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    whole: Whole,
    #[command(flatten)]
    how: How,
}

#[derive(Subcommand)]
enum Command {
    /// Lists the models, what they claim, and on which engines they run.
    List {
        /// Also writes them to this file, as a JSON array.
        #[arg(long, value_name = "FILE")]
        json: Option<PathBuf>,
    },
    /// Runs some models: a room's, or those whose names contain NAME.
    Run {
        /// A room, or a model's name or a part of it: `spinning`, `two_thieves`.
        #[arg(required = true, value_name = "NAME")]
        names: Vec<String>,
        #[command(flatten)]
        how: How,
        /// Runs them again whenever the kernel or a model changes, until it is interrupted.
        #[arg(long)]
        watch: bool,
        /// Plays a wrong variant instead of the kernel; `cargo verify mutants --list` names them.
        #[arg(long, value_name = "NAME")]
        mutant: Option<String>,
        #[command(flatten)]
        sitting: run::Sitting,
    },
    /// The kill matrix: every wrong variant, every access of the kernel in every weaker way, and every step of its source
    /// dropped, doubled, swapped or mistaken.
    ///
    /// Each must be killed by a model. A survivor stands in `verification/survivors.toml` with its reason, or is
    /// printed. Steps are tried on a copy of the kernel that has all of them, each behind a switch; it is built first.
    Mutants(mutants::Asked),
    /// The museum: bugs that real schedulers, queues and locks had, each made again by one line, and caught.
    Museum(museum::Asked),
    /// Gives each claim that a usual run cuts off or samples up to an hour under RC11, and keeps the best result.
    ///
    /// An exploration that has not ended is resumed at the next sitting, as long as the program is the same. What is proved is
    /// kept in `verification/best.jsonl` with the sources that it is of: `cargo verify` counts it as long as these are the same.
    Best(best::Asked),
    /// Everything, in one page that can be published; or as JUnit's XML; or as a record, whole or a shard of it.
    ///
    /// A fleet splits it: `cargo verify report --deep --shard 1/4 --json 1.json` on the first machine, and so on; then
    /// `cargo verify report --from 1.json --from 2.json --from 3.json --from 4.json --html report`.
    Report(report::Asked),
    /// Writes what the record says into the documents: the guarantees into README.md, the table of all rooms into
    /// docs/evidence/verdicts.md, each between its markers.
    Pages {
        /// The record.
        #[arg(long, value_name = "FILE", default_value = "verification/record.jsonl")]
        from: PathBuf,
    },
    /// Plays a failing schedule again and prints it.
    ///
    /// Exit status: 1 if it still fails, in the same way or in another; 0 if it no longer does; 2 if it does not fit: the
    /// file was changed, or the kernel, the model or the engine has, and the schedule cannot be played.
    Replay {
        /// The file that a failing run has written.
        file: PathBuf,
    },
    /// Draws a failing execution of rc11's as a graph: which read has its value from where, and what is wrong with that.
    Picture {
        /// The file that a failing run has written.
        file: PathBuf,
        /// Also writes it to this file, as an SVG picture.
        #[arg(long, value_name = "FILE")]
        svg: Option<PathBuf>,
    },
    /// Answers litmus tests in herd7's C format: the outcomes there are, and whether `exists` holds.
    Litmus {
        /// Files, or folders of `*.litmus` files.
        #[arg(required = true, value_name = "FILE|DIR")]
        files: Vec<PathBuf>,
        /// The engine that answers.
        #[arg(long, value_enum, value_name = "ENGINE", default_value = "rc11")]
        engine: LitmusEngine,
        /// Under which memory model. All but rc11 are the reference's alone, and for tests of a few dozen events.
        #[arg(long, value_enum, value_name = "MODEL", default_value = "rc11")]
        model: MemoryModel,
        /// No more than so many seconds a file.
        #[arg(long, value_name = "N", default_value_t = 60.0, value_parser = seconds)]
        seconds: f64,
        /// Also writes the answers to this file, as a JSON array with an object for each file.
        #[arg(long, value_name = "FILE")]
        json: Option<PathBuf>,
    },
    /// Throws random programs at the rooms and at the whole scheduler: `cargo verify fuzz --minutes 5`.
    ///
    /// `cargo verify fuzz --help` says more. It is a program of its own, `fuzz` of spinpark-proptests, which is built
    /// first.
    #[command(disable_help_flag = true)]
    Fuzz {
        /// What it is to do.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGS")]
        args: Vec<OsString>,
    },
    /// Prints every path of an operation of the kernel: all that its environment may answer, and what it does then.
    ///
    /// With `--tie`: is each path a path of the drawing that is proved for every size, and each drawn step one of the source? Both
    /// solvers decide. Exit status: 1 if they differ.
    Paths {
        /// An operation, such as `spinning::wakep`, or a room; with `--tie` a drawing. Without a name: all, in a line each.
        #[arg(value_name = "NAME")]
        name: Option<String>,
        /// As a graph, in Graphviz's language: `cargo verify paths spinning::wakep --dot | dot -Tsvg`.
        #[arg(long, requires = "name", conflicts_with = "tie")]
        dot: bool,
        /// Holds the source against the drawings; with a name, tells of each transition which steps of the source it is.
        #[arg(long)]
        tie: bool,
    },
    /// Prints completions for a shell: `source <(cargo verify completions bash)`, for the command `verify`.
    Completions {
        /// Which shell.
        #[arg(value_enum)]
        shell: Shell,
    },
    /// Writes man pages into this folder, one for each command: `man -l DIR/cargo-verify.1`.
    Man {
        /// The folder.
        #[arg(value_name = "DIR")]
        folder: PathBuf,
    },
    /// The process of one job. Reads it from its standard input.
    #[command(hide = true)]
    Worker,
    /// The process that tries one mutant. Reads it from its standard input.
    #[command(hide = true)]
    Trial,
}

/// A number of seconds: more than none, and less than a lifetime.
pub(crate) fn seconds(text: &str) -> Result<f64, String> {
    let n: f64 = text.parse().map_err(|_| "not a number".to_owned())?;
    if n > 0.0 && n <= 1e9 { Ok(n) } else { Err("give a number above 0, such as 0.5".to_owned()) }
}

fn main() -> ExitCode {
    catalog::register(&spinpark_museum::CATALOG);
    command_line::main_of(watch_last(std::env::args_os().collect()), command)
}

/// `verify --watch run X` is `verify run X --watch`.
fn watch_last(mut arguments: Vec<OsString>) -> Vec<OsString> {
    if arguments.get(1).is_some_and(|first| first == "--watch") && arguments.get(2).is_some_and(|next| next == "run") {
        arguments[1..].rotate_left(1);
    }
    arguments
}

impl Cli {
    /// Where the results go, if they are asked for in a file.
    fn json(&self) -> Option<&Path> {
        let json = match &self.command {
            None => &self.how.json,
            Some(Command::List { json } | Command::Litmus { json, .. }) => json,
            Some(Command::Run { how, .. }) => &how.json,
            Some(Command::Mutants(asked)) => asked.json(),
            Some(Command::Museum(asked)) => asked.json(),
            Some(Command::Report(asked)) => asked.json(),
            Some(_) => &None,
        };
        json.as_deref()
    }
}

fn command(cli: Cli) -> Result<ExitCode, Stop> {
    if cli.json() == Some(Path::new(output::STANDARD_OUTPUT)) {
        output::take();
    }
    let done = match cli.command {
        None => run::everything(&cli.whole, &cli.how),
        Some(Command::List { json }) => run::list(json.as_deref()),
        Some(Command::Run { names, how, watch, mutant, sitting }) => {
            run::some(&names, &how, watch, mutant.as_deref(), sitting)
        }
        Some(Command::Mutants(asked)) => mutants::run(&asked),
        Some(Command::Museum(asked)) => museum::run(&asked),
        Some(Command::Best(asked)) => best::explore(&asked),
        Some(Command::Report(asked)) => report::run(&asked),
        Some(Command::Pages { from }) => pages::write_all(&from),
        Some(Command::Replay { file }) => replay::replay(&file),
        Some(Command::Picture { file, svg }) => replay::picture(&file, svg.as_deref()),
        Some(Command::Litmus { files, engine, model, seconds, json }) => {
            litmus(&files, (engine, model), seconds, json.as_deref())
        }
        Some(Command::Paths { name, dot, tie }) => return paths(name.as_deref(), dot, tie),
        Some(Command::Fuzz { args }) => return fuzz(&args),
        Some(Command::Completions { shell }) => {
            completions(shell);
            Ok(())
        }
        Some(Command::Man { folder }) => man(&folder),
        Some(Command::Worker) => job::work().map_err(Stop::BadInput),
        Some(Command::Trial) => trial::work(Switches::NONE).map_err(Stop::BadInput),
    };
    done.map(|()| ExitCode::SUCCESS)
}

fn paths(name: Option<&str>, dot: bool, tie: bool) -> Result<ExitCode, Stop> {
    use spinpark_paths::command;
    if tie {
        let (text, agree) = command::ties(name, name.is_some()).map_err(Stop::BadInput)?;
        print(&text);
        return Ok(if agree { ExitCode::SUCCESS } else { ExitCode::FAILURE });
    }
    print(&name.map_or_else(|| Ok(command::list()), |name| command::show(name, dot)).map_err(Stop::BadInput)?);
    Ok(ExitCode::SUCCESS)
}

fn completions(shell: Shell) {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "verify", &mut text);
    print(&String::from_utf8_lossy(&text));
}

fn man(folder: &Path) -> Result<(), Stop> {
    let cannot = |error: std::io::Error| Stop::BadInput(format!("cannot write to {}: {error}", folder.display()));
    fs::create_dir_all(folder).map_err(cannot)?;
    // A name of one word, as a file's.
    let command = Cli::command().name("cargo-verify").bin_name("cargo-verify");
    clap_mangen::generate_to(command, folder).map_err(cannot)?;
    print(&format!("man -l {}\n", folder.join("cargo-verify.1").display()));
    Ok(())
}

/// The fuzzer needs this crate, so this crate cannot need it: it is built and run as another program.
fn fuzz(args: &[OsString]) -> Result<ExitCode, Stop> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = process::Command::new(cargo);
    command.args(["run", "--manifest-path"]).arg(sources()?.join("Cargo.toml"));
    command.args(["--package", "spinpark-proptests", "--bin", "fuzz", "--"]).args(args);
    // In the place of this process, so that a signal to this one ends the fuzzer.
    #[cfg(unix)]
    let status = Err(std::os::unix::process::CommandExt::exec(&mut command));
    #[cfg(not(unix))]
    let status = command.status();
    let code = |status: process::ExitStatus| status.code().and_then(|code| u8::try_from(code).ok());
    match status {
        Ok(status) => Ok(code(status).map_or(ExitCode::FAILURE, ExitCode::from)),
        Err(error) => Err(Stop::BadInput(format!("cannot run cargo to build the fuzzer: {error}"))),
    }
}

/// The project's folder: the one that this is run in, or else the one that this program was built from.
pub(crate) fn sources() -> Result<PathBuf, Stop> {
    let here = std::env::current_dir().unwrap_or_default();
    let built_from = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let is_it = |folder: &&Path| folder.join("verification/cli/Cargo.toml").exists();
    let found = here.ancestors().chain([built_from.as_path()]).find(is_it).map(Path::to_path_buf);
    found.ok_or_else(|| {
        let from = built_from.display();
        Stop::BadInput(format!(
            "this builds more of spinpark, and neither here nor in {from} are its sources: run it in a clone"
        ))
    })
}

fn litmus(
    files: &[PathBuf],
    (engine, model): (LitmusEngine, MemoryModel),
    seconds: f64,
    json: Option<&Path>,
) -> Result<(), Stop> {
    let files = litmus::report::files(files)?;
    let answer = |file: &PathBuf| match (engine, model) {
        (_, MemoryModel::Rc11) => Ok(litmus::report::answer(file, engine, seconds)),
        (LitmusEngine::Reference, _) => Ok(litmus::report::answer_in(file, model)),
        _ => Err(format!("{} knows no model but rc11; `--engine reference` knows {}", engine.name(), model.name())),
    };
    let answers: Vec<Answer> = files.iter().map(answer).collect::<Result<_, String>>()?;
    print(&litmus::report::text(&answers));
    if let Some(path) = json {
        write(path, &format!("{:#}\n", litmus::report::json(&answers)))?;
    }
    if answers.iter().any(|answer| answer.result.is_err()) {
        return Err(Stop::BadInput("not every file could be answered".to_owned()));
    }
    let all_agree = answers.iter().all(|answer| answer.agrees() != Some(false));
    if all_agree { Ok(()) } else { Err(Stop::DoesNotHold) }
}

pub(crate) fn write(path: &Path, text: &str) -> Result<(), Stop> {
    Ok(output::write(path, text)?)
}
