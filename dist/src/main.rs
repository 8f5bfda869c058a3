//! `cargo xtask dist`.

use std::env;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use omen_dist::{Content, Failure, build, pack, write};

#[derive(Parser)]
#[command(bin_name = "cargo xtask", about = "Makes the files of a release")]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Make the files of a release: an archive, a wheel, packages for npm, checksums
    Dist(Options),
}

#[derive(clap::Args)]
struct Options {
    /// The folder for the files [default: dist/packages in the target folder]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,

    /// The command `omen`, which has to run on this system; without it, it is built with the profile `dist`, which takes minutes
    #[arg(long, value_name = "PATH")]
    binary: Option<PathBuf>,
}

fn main() -> ExitCode {
    let Task::Dist(options) = Arguments::parse().task;
    match dist(options) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // Nothing is left to do if even this cannot be written.
            let _ = writeln!(io::stderr(), "error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn dist(options: Options) -> Result<(), Failure> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    // `TARGET/PROFILE/omen-dist`
    let program = env::current_exe()?;
    let target = program.ancestors().nth(2).ok_or("this program is not in a target folder")?;
    let binary = match options.binary {
        Some(binary) => binary,
        None => build(&root, target)?,
    };
    let folder = options.out.unwrap_or_else(|| target.join("dist/packages"));
    let files = pack(&Content::collect(&root, &binary)?)?;
    write(&files, &folder)?;
    for file in files {
        writeln!(io::stdout(), "{:>10} {}", file.bytes.len(), folder.join(file.name).display())?;
    }
    Ok(())
}
