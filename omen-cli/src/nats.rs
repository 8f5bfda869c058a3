//! `omen worker`, `omen publish` and `omen tail`: checks distributed over several machines.

mod finding_printer;
mod growing;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use omen::validator::ValidatorOptions;
use omen_worker::connect::Server;
use omen_worker::names::Names;
use omen_worker::publish::{self, Publisher};
use omen_worker::setup::Setup;
use omen_worker::{tail as findings, worker as work};
use tokio::runtime::{Builder, Runtime};
use tracing::info;

use crate::args::{NatsArgs, PublishArgs, StreamArgs, TailArgs, WorkerArgs};
use crate::exit::{Exit, Failure, complain};
use crate::output::{Color, Output};
use crate::{input, logs};

pub(crate) fn worker(args: &WorkerArgs) -> Result<Exit, Failure> {
    logs::start(args.nats.logs).map_err(Failure::Usage)?;
    let levels = args.levels.after(&[]).map_err(|error| Failure::Usage(error.to_string()))?;
    let server = server(&args.nats)?;
    let options = work::Options {
        setup: setup(&args.streams),
        validator: ValidatorOptions { levels, ..ValidatorOptions::default() },
        episode_ttl: args.episode_ttl,
        tick: args.tick,
        accepts_gaps: args.accept_gaps,
        judges_again: args.rejudge,
        listen: args.listen,
        id: args.name.clone(),
    };
    let runtime = runtime(Builder::new_multi_thread())?;
    let worked = runtime.block_on(async { work::run(&server, options, asked_to_stop()?).await.map_err(failure) });
    // Does not wait for requests that are still pending.
    runtime.shutdown_background();
    worked.map(|()| Exit::Clean)
}

pub(crate) fn publish(args: &PublishArgs) -> Result<Exit, Failure> {
    logs::start(args.nats.logs).map_err(Failure::Usage)?;
    if args.source.is_some() && args.logs.len() > 1 {
        return Err(Failure::Usage("`--source` names one log; publish one at a time".to_owned()));
    }
    if args.follow && (args.logs.len() > 1 || args.logs.iter().any(|log| input::is_stdin(log))) {
        return Err(Failure::Usage(
            "`--follow` requires a single log in a file; start a separate command for each".to_owned(),
        ));
    }
    let named = |log: &PathBuf| args.source.clone().map_or_else(|| source(log), Ok);
    let sources: Vec<String> = args.logs.iter().map(named).collect::<Result<_, Failure>>()?;
    let server = server(&args.nats)?;
    let options = publish::Options { rate: args.rate, ends: args.end };
    runtime(Builder::new_current_thread())?.block_on(async {
        let client = server.connect("omen publish").await.map_err(failure)?;
        let publisher = Publisher::new(server.jetstream(client), &setup(&args.streams)).await.map_err(failure)?;
        for (log, source) in args.logs.iter().zip(&sources) {
            let unreadable = |error: std::io::Error| {
                complain(format_args!("cannot read {}: {error}", input::name(log)));
                Ok(Exit::Unreadable)
            };
            let published = if args.follow {
                let stopped = Arc::new(AtomicBool::new(false));
                let growing = match growing::Growing::open(log, Arc::clone(&stopped)) {
                    Ok(growing) => growing,
                    Err(error) => return unreadable(error),
                };
                let publishing = publisher.log(source, growing, &options);
                tokio::pin!(publishing);
                tokio::select! {
                    published = &mut publishing => published,
                    () = asked_to_stop()? => {
                        stopped.store(true, Ordering::Relaxed);
                        publishing.await
                    }
                }
            } else {
                // Progress is counted in decoded lines, so the compression of the log may change between runs.
                match input::Input::open_decoded(log, true) {
                    Ok(input) => publisher.log(source, input, &options).await,
                    Err(error) => return unreadable(error),
                }
            };
            let published = published.map_err(failure)?;
            let publish::Published { lines, before, ended } = published;
            let before = if before > 0 { format!(", {before} of them before") } else { String::new() };
            let ended = if ended > 0 { format!("; ended {ended} episodes") } else { String::new() };
            info!("published {lines} packets of {}{before}{ended}", input::name(log));
        }
        Ok(Exit::Clean)
    })
}

pub(crate) fn tail(args: &TailArgs, color: Color, out: &mut Output) -> Result<Exit, Failure> {
    logs::start(args.nats.logs).map_err(Failure::Usage)?;
    let server = server(&args.nats)?;
    let from = if args.new { findings::From::Now } else { findings::From::Beginning };
    runtime(Builder::new_current_thread())?.block_on(async {
        let client = server.connect("omen tail").await.map_err(failure)?;
        let context = server.jetstream(client);
        let stored =
            findings::Findings::open(&server, &context, &Names::with_prefix(&args.stream)).await.map_err(failure)?;
        let mut found = finding_printer::FindingPrinter::new(args, color, out)?;
        let options = findings::Options {
            from,
            follows: !args.no_follow,
            with_packets: found.wants_packets(),
            consumer: args.consumer.clone(),
        };
        let print = |finding: &[u8], packet: Option<&[u8]>| found.print(finding, packet);
        let printed = findings::run(&stored, &options, asked_to_stop()?, print).await;
        printed.map_err(failure)?.map_err(Failure::from)?;
        found.finish()
    })
}

fn setup(args: &StreamArgs) -> Setup {
    let replicas = usize::from(args.replicas);
    Setup { names: Names::with_prefix(&args.stream), partitions: args.partitions, replicas }
}

/// Returns the connection settings from the arguments, completed by the context.
fn server(args: &NatsArgs) -> Result<Server, Failure> {
    let path = |path: &Option<PathBuf>| path.as_ref().map_or(String::new(), |path| path.display().to_string());
    let stated = Server {
        url: args.url.clone().unwrap_or_default(),
        creds: path(&args.creds),
        nkey: path(&args.nkey),
        ca: path(&args.tls_ca),
        cert: path(&args.tls_cert),
        key: path(&args.tls_key),
        tls_first: args.tls_first,
        ..Server::default()
    };
    let context = args.context.as_deref().map(Server::of_context).transpose();
    Ok(stated.or(context.map_err(|error| Failure::Usage(error.to_string()))?.unwrap_or_default()))
}

/// Returns a name for a log that does not depend on the working directory.
fn source(log: &Path) -> Result<String, Failure> {
    if input::is_stdin(log) {
        return Err(Failure::Usage("standard input has no name; give it one with `--source NAME`".to_owned()));
    }
    let path = std::path::absolute(log).map_err(|error| Failure::Usage(format!("{}: {error}", log.display())))?;
    Ok(path.display().to_string())
}

fn failure(failure: omen_worker::Failure) -> Failure {
    match failure {
        omen_worker::Failure::Refused(_) | omen_worker::Failure::Input(_) => Failure::Usage(failure.to_string()),
        failure => Failure::File(std::io::Error::other(failure.to_string())),
    }
}

fn runtime(mut builder: Builder) -> Result<Runtime, Failure> {
    builder.enable_all().build().map_err(|error| Failure::Internal(format!("cannot start: {error}")))
}

/// Returns a future that completes on a signal to stop. A second signal ends the process immediately.
#[cfg(unix)]
fn asked_to_stop() -> Result<impl Future<Output = ()>, Failure> {
    use tokio::signal::unix::{SignalKind, signal};
    let register = |kind| signal(kind).map_err(|error| Failure::Internal(format!("cannot wait for a signal: {error}")));
    let (mut terminate, mut interrupt) = (register(SignalKind::terminate())?, register(SignalKind::interrupt())?);
    Ok(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
        tokio::spawn(async move {
            tokio::select! {
                _ = terminate.recv() => {}
                _ = interrupt.recv() => {}
            }
            std::process::exit(STOPPED);
        });
    })
}

#[cfg(not(unix))]
fn asked_to_stop() -> Result<impl Future<Output = ()>, Failure> {
    Ok(async { drop(tokio::signal::ctrl_c().await) })
}

/// Exit code after a second signal.
#[cfg(unix)]
const STOPPED: i32 = 3;
