//! `omen gate proxy`: the gate between an MCP client and its servers, on standard streams or over HTTP.
//!
//! Standard output is reserved for the protocol, so nothing else is written to it.

mod backends;
mod confirmed;
mod listen;
mod startup_refusal;

use std::process::id;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use omen::render::human::clean;
use omen_gate::{Config, Gate, GateClock, ServerName, SystemClock, TurnId};
use omen_proxy::error::NotServed;
use omen_proxy::watch::{Changes, NotWatched};
use omen_proxy::{Ended, Passage, Proxy, Transport};
use tokio::sync::mpsc;

use super::{config, episode};
use crate::args::ProxyArgs;
use crate::exit::{Exit, Failure, complain};
use crate::logs;
use crate::stop::asked_to_stop;

pub(crate) fn proxy(args: &ProxyArgs) -> Result<Exit, Failure> {
    logs::start(args.logs).map_err(Failure::Usage)?;
    let config = config::load(&args.config)
        .inspect_err(|_| startup_refusal::answer(args, &startup_refusal::invalid(&args.config)))?;
    let served = serve(args, config)?;
    if let Err(why) = &served {
        complain(clean(why));
        startup_refusal::answer(args, why);
    }
    Ok(served.unwrap_or(Exit::Unreadable))
}

/// Serves until the end, or returns the reason why nothing was served.
fn serve(args: &ProxyArgs, mut config: Config) -> Result<Result<Exit, String>, Failure> {
    if args.shadow {
        config = config.always_shadow();
    }
    let servers = chosen(args, &config)?;
    let sources = match backends::sources(args, &config, &servers)? {
        Ok(sources) => sources,
        Err(error) => return Ok(Err(super::remote::why(&error))),
    };
    let session = session()?;
    let access = listen::access(&args.http)?;
    let clock: Arc<dyn GateClock> = Arc::new(SystemClock::default());
    // Opened before any other resource: if another proxy holds the log, that is the root cause to report.
    let audit = match Gate::open_audit(&config, Arc::clone(&clock)) {
        Ok(audit) => audit,
        Err(error) => return Ok(Err(startup_refusal::why(&NotServed::from(error)))),
    };
    if config.shadow {
        complain(
            "note: shadow: rules on the content of calls are only tried; calls that break them pass, and are logged",
        );
    }
    if access.is_some()
        && let Some(rule) = config.rule_per_session()
    {
        complain(format_args!(
            "note: `{rule}` applies to the calls of a session, and all HTTP clients without sessions share one; for \
             them, use `same` or `per = \"all\"`"
        ));
    }
    let recording = match episode::recording(args, &config, &clock) {
        Ok(recording) => recording,
        Err(why) => return Ok(Err(why)),
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| Failure::Internal(format!("cannot start the proxy: {error}")))?;
    let socket = (!args.no_socket).then(|| config.confirm_socket());
    let mut proxy = Proxy::builder(config, session)
        .audit(audit)
        .clock(clock)
        .pass(args.pass.iter().copied())
        .show_blocked(args.show_blocked)
        .show_order(args.show_order);
    if let Some(recording) = recording {
        proxy = proxy.episode(recording);
    }
    proxy = sources.into_iter().fold(proxy, |proxy, (server, source)| proxy.server(server, source));
    if args.elicitation {
        proxy = proxy.elicitation(Duration::from_millis(args.least_ms));
    }
    let served = runtime.block_on(async {
        let (reload, when) = mpsc::channel(1);
        let reloads = tokio::spawn(changed(Changes::watch(&args.config), reload));
        let proxy = confirmed::at_socket(proxy, socket.as_deref(), &args.config).reload(&args.config, when);
        let proxy = proxy.build().map_err(|error| error.to_string())?;
        let transport = match access {
            Some(access) => {
                listen::transport(access, &args.http).await.map_err(|error| startup_refusal::why(&error))?
            }
            None => Transport::stdio(),
        };
        let served = proxy.serve(transport, asked_to_stop()).await;
        reloads.abort();
        served.map_err(|error| startup_refusal::why(&error))
    });
    // Does not wait for threads: one may be blocked reading the client's next message.
    runtime.shutdown_background();
    Ok(served.map(|ended| match ended {
        Ended::Client | Ended::Asked => Exit::Clean,
        ended => {
            complain(clean(&ended.unquoted()));
            Exit::Unreadable
        }
    }))
}

/// Creates a session name that is unique in the log.
fn session() -> Result<TurnId, Failure> {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let name = format!("{}{}-{}", episode::SESSION, since.as_nanos(), id());
    TurnId::new(name).map_err(|error| Failure::Internal(error.to_string()))
}

/// Requests a reload whenever the configuration may have changed: on each change of its file, and on SIGHUP.
async fn changed(changes: Result<Changes, NotWatched>, reload: mpsc::Sender<()>) {
    match changes {
        Ok(mut changes) => loop {
            changes.next().await;
            if reload.send(()).await.is_err() {
                return;
            }
        },
        Err(error) => complain(format_args!("{error}; restart the proxy to apply another configuration")),
    }
    reload.closed().await;
}

/// Returns the named servers, or the only one in the configuration.
fn chosen(args: &ProxyArgs, config: &Config) -> Result<Vec<ServerName>, Failure> {
    let all: Vec<_> = config.servers.keys().cloned().collect();
    if let Some(unknown) = args.server.iter().find(|name| !config.servers.contains_key(*name)) {
        return Err(Failure::Usage(format!(
            "the configuration has no server `{}`; {}",
            clean(unknown.as_str()),
            listed(&all)
        )));
    }
    match (args.server.as_slice(), all.as_slice()) {
        (_, []) => Err(Failure::Usage("the configuration has no server; add a table `[servers.NAME]`".to_owned())),
        ([], [only]) | ([only], _) => Ok(vec![only.clone()]),
        _ if args.all_servers => several(args, all),
        ([], _) => Err(Failure::Usage(format!("expected --server NAME, or --all-servers; {}", listed(&all)))),
        (named, _) => several(args, named.to_vec()),
    }
}

fn several(args: &ProxyArgs, names: Vec<ServerName>) -> Result<Vec<ServerName>, Failure> {
    let usage = |why: &str| Err(Failure::Usage(why.to_owned()));
    if let Some(twice) = names.iter().enumerate().find(|(at, name)| names.iter().take(*at).any(|other| other == *name))
    {
        return usage(&format!("the server `{}` is given twice; remove one --server", clean(twice.1.as_str())));
    }
    if args.remote.url.is_some() || !args.command.is_empty() || !args.pass_env.is_empty() {
        return usage(
            "--url, --pass-env and a command after `--` apply to a single server; write `url`, `pass_env` and \
             `command` in the table of each server",
        );
    }
    if args.pass.contains(&Passage::Tasks) {
        return usage(
            "`--pass tasks` requires a single server: no request for a task says which server runs it; omit it",
        );
    }
    if let Err(bad) = Proxy::check(&names) {
        return usage(&clean(&bad.to_string()));
    }
    Ok(names)
}

fn listed(names: &[ServerName]) -> String {
    let names: Vec<_> = names.iter().map(|name| format!("`{}`", clean(name.as_str()))).collect();
    format!("its servers are {}", names.join(", "))
}
