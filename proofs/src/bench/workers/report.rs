//! The report as a table.

use std::fmt;

use super::{Quantiles, Report, costs};

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { throughput, lag, recovery, memory, simulation } = self;
        let each = throughput.bytes as f64 / throughput.packets as f64;
        writeln!(
            f,
            "{} packets, {:.1} MB, {} partitions, seed {}; medians of {} rounds\n",
            throughput.packets,
            throughput.bytes as f64 / 1e6,
            throughput.partitions,
            throughput.seed,
            throughput.rounds
        )?;
        writeln!(
            f,
            "{:34}{:>12}{:>10}{:>12}{:>12}{:>12}",
            "", "packets/s", "MB/s", "own µs", "server µs", "sent bytes"
        )?;
        let mut rows = vec![
            ("omen check, one thread".to_owned(), throughput.check_s, [Some(throughput.check_us), None, None]),
            ("omen check, all threads".to_owned(), throughput.check_all_s, [None; 3]),
            (
                "omen publish".to_owned(),
                throughput.publish_s,
                [Some(throughput.publisher_us), Some(throughput.stored_us), None],
            ),
        ];
        rows.extend(throughput.workers.iter().map(|of| {
            let name = format!("omen worker, {} of them", of.workers);
            (name, of.packets_s, [of.worker_us, of.server_us, of.sent_bytes].map(Some))
        }));
        for (name, rate, values) in rows {
            let [own, server, sent] = values.map(|value| value.map_or(String::new(), |value| format!("{value:.2}")));
            writeln!(f, "{name:34}{rate:12.0}{:10.1}{own:>12}{server:>12}{sent:>12}", rate * each / 1e6)?;
        }
        writeln!(f, "one worker / omen check, one thread: {:.2}", throughput.worker_over_check)?;
        writeln!(
            f,
            "\n{:8}{:>10}{:>18}{:>18}{:>10}{:>11}{:>11}{:>15}{:>10}",
            "load",
            "packets/s",
            "p50, p99 ms",
            "p50, p99 behind",
            "own µs",
            "server µs",
            "commits/s",
            "checkpoints/s",
            "of bytes"
        )?;
        for lag in lag {
            let (found, behind) = (lag.finding_ms, lag.behind);
            writeln!(
                f,
                "{:8}{:10.0}{:9.1}{:9.1}{:9.0}{:9.0}{:10.1}{:11.1}{:11.1}{:15.1}{:10.3}",
                format!("{:.0} %", 100.0 * lag.load),
                lag.packets_s,
                found.p50,
                found.p99,
                behind.p50,
                behind.p99,
                lag.worker_us,
                lag.server_us,
                lag.commits_s,
                lag.checkpoints_s,
                lag.checkpoint_bytes
            )?;
        }
        writeln!(
            f,
            "\n{} kills of one of two workers, {:.0} packets/s, {:.0} partitions each, ms",
            recovery.kills, recovery.packets_s, recovery.partitions
        )?;
        let rows = [
            ("until its entry expires", recovery.expiry_ms),
            ("until its partitions are judged", recovery.replay_ms),
            ("both", recovery.all_ms),
        ];
        for (name, Quantiles { p50, p99 }) in rows {
            writeln!(f, "  {name:34}{:>6}{p50:8.0}{:>6}{p99:8.0}", "p50", "p99")?;
        }
        let megabytes =
            |bytes: Option<u64>| bytes.map_or("–".to_owned(), |bytes| format!("{:.1}", bytes as f64 / 1e6));
        writeln!(
            f,
            "\n{} open episodes of {:.0} bytes: {} MB resident, {} MB before, checkpoints of {:.0} bytes each",
            memory.episodes,
            memory.packet_bytes as f64 / memory.episodes as f64,
            megabytes(memory.resident),
            megabytes(memory.idle),
            memory.checkpoint_bytes as f64 / memory.episodes as f64
        )?;
        if let Some(simulation) = simulation {
            write!(f, "\n{simulation}")?;
        }
        write!(f, "\n{}", costs(self))
    }
}
