//! A tool server that keeps settings in a JSON file, for examples and tests: `config_store FILE`.
//!
//! It speaks the Model Context Protocol over its standard input and output:
//!
//! ```sh
//! cargo run -p omen-gate --features mcp --example config_store -- settings.json
//! ```

use std::process::ExitCode;

mod server;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let mut args = std::env::args_os().skip(1);
    let (Some(file), None) = (args.next(), args.next()) else {
        return refuse("usage: config_store FILE");
    };
    match server::serve(file.into(), (tokio::io::stdin(), tokio::io::stdout())).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => refuse(&error.to_string()),
    }
}

#[allow(clippy::print_stderr, reason = "a command reports on standard error what is wrong")]
fn refuse(why: &str) -> ExitCode {
    eprintln!("config_store: {why}");
    ExitCode::from(2)
}
