//! Cost of `omen gate proxy`: a call through it, compared with the same call of the same server without it.
//!
//! All sessions are open at the same time, and calls alternate between them, so that other load on the machine affects all
//! of them equally. This process is the client, which writes a line and waits for the next one.

use std::fmt;
use std::sync::Barrier;
use std::time::Instant;

use serde::Serialize;

pub mod server;

mod place;
mod session;

use crate::Failure;
use place::Place;
pub use place::Programs;
use session::Session;

/// Amount of work.
#[derive(Clone, Debug)]
pub struct Counts {
    /// Number of rounds, each with its own sessions; the report shows medians.
    pub rounds: u32,
    /// Number of calls per round and session for the latencies.
    pub calls: u32,
    /// Numbers of concurrent clients.
    pub clients: Vec<u32>,
    /// Total number of calls by all clients, per round and number of clients.
    pub shared_calls: u32,
}

impl Default for Counts {
    fn default() -> Self {
        Self { rounds: 3, calls: 2_000, clients: vec![1, 8, 64], shared_calls: 6_400 }
    }
}

/// Result: medians over the rounds.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// Latencies of calls by one client.
    pub latency: Vec<Latency>,
    /// Calls per second.
    pub throughput: Vec<Throughput>,
    /// Number of rounds.
    pub rounds: u32,
    /// Number of calls per round and session.
    pub calls: u32,
}

/// Latency of calls of one server, in microseconds.
#[derive(Clone, Debug, Serialize)]
pub struct Latency {
    /// The server.
    pub server: &'static str,
    /// Without the proxy.
    pub bare: Quantiles,
    /// `tools/list` without the proxy: each call through the proxy includes one.
    pub list: Quantiles,
    /// Through the proxy, with the audit log in files that are not synced.
    pub files: Quantiles,
    /// Through the proxy, with the audit log in files that are synced.
    pub synced: Quantiles,
    /// Time that the proxy adds, with files that are not synced.
    pub added: Quantiles,
    /// Time that the proxy adds, with files that are synced.
    pub added_synced: Quantiles,
    /// Time that the proxy adds, without the server's own time for a list, with files that are not synced.
    pub own_p50_us: f64,
}

/// Median and 99th percentile, in microseconds.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Quantiles {
    /// Median.
    pub p50_us: f64,
    /// 99th percentile.
    pub p99_us: f64,
}

/// Calls per second by several concurrent clients, each with its own server and proxy.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Throughput {
    /// Number of clients.
    pub clients: u32,
    /// Without the proxy.
    pub bare_s: f64,
    /// Through the proxy, with the audit logs in files that are not synced.
    pub files_s: f64,
    /// Through the proxy, with the audit logs in files that are synced.
    pub synced_s: f64,
    /// Resident memory of a proxy after its calls, in bytes; `None` if the system does not report it.
    pub resident: Option<f64>,
    /// Part of it that is shared with no other process.
    pub private: Option<f64>,
}

/// Measures everything.
///
/// # Errors
/// If a process cannot be started, or if a call fails.
pub fn run(counts: &Counts, programs: &Programs) -> Result<Report, Failure> {
    let folder = tempfile::tempdir()?;
    let mut places = vec![("stand-in", Place::stand_in(folder.path(), programs)?)];
    if let Some(official) = &programs.official {
        places.push(("server-filesystem", Place::filesystem(folder.path(), official, programs)?));
    }
    let latency = places.iter().map(|(name, place)| latency(name, place, counts)).collect::<Result<_, _>>()?;
    let stand_in = Place::stand_in(folder.path(), programs)?;
    let throughput = counts.clients.iter().map(|clients| throughput(*clients, &stand_in, counts));
    Ok(Report {
        latency,
        throughput: throughput.collect::<Result<_, _>>()?,
        rounds: counts.rounds,
        calls: counts.calls,
    })
}

fn latency(server: &'static str, place: &Place, counts: &Counts) -> Result<Latency, Failure> {
    // For each quantile, the median over the rounds.
    let mut rounds: [Vec<Quantiles>; 6] = Default::default();
    let call = place.call();
    for _ in 0..counts.rounds {
        let mut sessions = [place.bare()?, place.proxied(false)?, place.proxied(true)?];
        let mut times: [Vec<f64>; 4] = Default::default();
        // The first calls take longer, because code is read and lists are built.
        for number in 0..counts.calls + WARM_UP {
            let mut took = Vec::with_capacity(times.len());
            for session in &mut sessions {
                took.push(timed(|| session.call(&call))?);
            }
            let [bare, ..] = &mut sessions;
            took.push(timed(|| bare.list())?);
            if number >= WARM_UP {
                times.iter_mut().zip(took).for_each(|(times, took)| times.push(took));
            }
        }
        let [bare, files, synced, list] = &times;
        let added = |times: &[f64]| times.iter().zip(bare).map(|(time, bare)| time - bare).collect::<Vec<_>>();
        let (added_files, added_synced) = (added(files), added(synced));
        for (all, times) in rounds.iter_mut().zip([bare, files, synced, list, &added_files, &added_synced]) {
            all.push(Quantiles::new(times.clone()));
        }
        sessions.into_iter().try_for_each(Session::close)?;
    }
    let [bare, files, synced, list, added, added_synced] = rounds.map(|all| Quantiles::median(&all));
    let own_p50_us = added.p50_us - list.p50_us;
    Ok(Latency { server, bare, list, files, synced, added, added_synced, own_p50_us })
}

fn timed(run: impl FnOnce() -> Result<(), Failure>) -> Result<f64, Failure> {
    let begun = Instant::now();
    run()?;
    Ok(begun.elapsed().as_secs_f64() * 1e6)
}

fn throughput(clients: u32, place: &Place, counts: &Counts) -> Result<Throughput, Failure> {
    let mut rates: [Vec<f64>; 3] = Default::default();
    let (mut resident, mut private) = (Vec::new(), Vec::new());
    for _ in 0..counts.rounds {
        let of =
            |open: &dyn Fn() -> Result<Session, Failure>| (0..clients).map(|_| open()).collect::<Result<Vec<_>, _>>();
        for (rates, kind) in rates.iter_mut().zip([Kind::Bare, Kind::Files, Kind::Synced]) {
            let sessions = match kind {
                Kind::Bare => of(&|| place.bare())?,
                Kind::Files => of(&|| place.proxied(false))?,
                Kind::Synced => of(&|| place.proxied(true))?,
            };
            let (rate, sessions) = at_once(sessions, place, counts.shared_calls / clients)?;
            rates.push(rate);
            if matches!(kind, Kind::Files) {
                resident.extend(sessions.iter().filter_map(|session| session.memory("status", "VmRSS:")));
                private.extend(sessions.iter().filter_map(|session| session.memory("smaps_rollup", "Private_Dirty:")));
            }
            sessions.into_iter().try_for_each(Session::close)?;
        }
    }
    let [bare_s, files_s, synced_s] = rates.map(|rates| quantile(rates, 0.5));
    let median = |all: Vec<f64>| (!all.is_empty()).then(|| quantile(all, 0.5));
    Ok(Throughput { clients, bare_s, files_s, synced_s, resident: median(resident), private: median(private) })
}

#[derive(Clone, Copy)]
enum Kind {
    Bare,
    Files,
    Synced,
}

/// Returns the calls per second of all sessions together, each in its own thread.
fn at_once(sessions: Vec<Session>, place: &Place, each: u32) -> Result<(f64, Vec<Session>), Failure> {
    let barrier = Barrier::new(sessions.len() + 1);
    let clients = sessions.len();
    let call = &place.call();
    std::thread::scope(|scope| {
        let threads: Vec<_> = sessions
            .into_iter()
            .map(|mut session| {
                let barrier = &barrier;
                scope.spawn(move || {
                    let warm = (0..WARM_UP).try_for_each(|_| session.call(call));
                    barrier.wait();
                    warm?;
                    (0..each).try_for_each(|_| session.call(call))?;
                    Ok::<_, Failure>(session)
                })
            })
            .collect();
        barrier.wait();
        let begun = Instant::now();
        let sessions =
            threads.into_iter().map(|thread| thread.join().map_err(|_| Failure::from("a client panicked"))?);
        let sessions = sessions.collect::<Result<Vec<_>, Failure>>()?;
        Ok((f64::from(each) * clients as f64 / begun.elapsed().as_secs_f64(), sessions))
    })
}

impl Quantiles {
    /// Returns the quantiles of these times, in microseconds.
    pub(super) fn new(times: Vec<f64>) -> Self {
        Self { p50_us: quantile(times.clone(), 0.5), p99_us: quantile(times, 0.99) }
    }

    fn median(all: &[Self]) -> Self {
        let of = |part: fn(&Self) -> f64| quantile(all.iter().map(part).collect(), 0.5);
        Self { p50_us: of(|quantiles| quantiles.p50_us), p99_us: of(|quantiles| quantiles.p99_us) }
    }
}

/// Returns the smallest value that at least this fraction of all values does not exceed.
fn quantile(mut all: Vec<f64>, part: f64) -> f64 {
    all.sort_unstable_by(f64::total_cmp);
    let at = (part * all.len() as f64).ceil() as usize;
    all.get(at.saturating_sub(1)).copied().unwrap_or(f64::NAN)
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { rounds, calls, .. } = self;
        writeln!(f, "through `omen gate proxy`: medians of {rounds} rounds, {calls} calls for each round and session")?;
        for of in &self.latency {
            writeln!(f, "\n{:46}{:>10}{:>10}", format!("a call of {}, µs", of.server), "p50", "p99")?;
            let rows = [
                ("the server alone", of.bare),
                ("its `tools/list`", of.list),
                ("through the proxy, log in files, no sync", of.files),
                ("through the proxy, log in files, sync_data", of.synced),
                ("added, no sync", of.added),
                ("added, sync_data", of.added_synced),
            ];
            rows.iter().try_for_each(|(name, Quantiles { p50_us, p99_us })| {
                writeln!(f, "  {name:44}{p50_us:10.0}{p99_us:10.0}")
            })?;
            writeln!(f, "  {:44}{:10.0}", "added without the server's list, no sync", of.own_p50_us)?;
        }
        writeln!(
            f,
            "\n{:26}{:>10}{:>10}{:>10}{:>12}{:>12}",
            "calls a second", "alone", "no sync", "sync_data", "resident MB", "private MB"
        )?;
        self.throughput.iter().try_for_each(|Throughput { clients, bare_s, files_s, synced_s, resident, private }| {
            let megabytes = |bytes: &Option<f64>| bytes.map_or("–".to_owned(), |bytes| format!("{:.1}", bytes / 1e6));
            writeln!(
                f,
                "  {:24}{bare_s:10.0}{files_s:10.0}{synced_s:10.0}{:>12}{:>12}",
                format!("{clients} clients"),
                megabytes(resident),
                megabytes(private)
            )
        })
    }
}

/// Number of calls per session that are not measured.
const WARM_UP: u32 = 50;

#[cfg(test)]
mod tests {
    use super::quantile;

    #[test]
    fn a_quantile_is_one_of_the_values() {
        let values = || (1..=100).rev().map(f64::from).collect::<Vec<_>>();
        assert_eq!([0.5, 0.99, 1.0].map(|part| quantile(values(), part)), [50.0, 99.0, 100.0]);
        assert_eq!(quantile(vec![7.0], 0.99), 7.0);
        assert!(quantile(Vec::new(), 0.5).is_nan());
    }
}
