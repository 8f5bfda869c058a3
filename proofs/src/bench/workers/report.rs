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
        writeln!(f, "{:34}{:>12}{:>10}{:>12}{:>12}", "", "packets/s", "MB/s", "own µs", "server µs")?;
        let rows = [
            ("omen check, one thread", throughput.check_s, Some(throughput.check_us), None),
            ("omen check, all threads", throughput.check_all_s, None, None),
            ("omen publish", throughput.publish_s, Some(throughput.publisher_us), Some(throughput.stored_us)),
            ("one worker", throughput.worker_s, Some(throughput.worker_us), Some(throughput.sent_us)),
            ("two workers", throughput.two_workers_s, Some(throughput.two_workers_us), Some(throughput.two_sent_us)),
        ];
        let time = |time: Option<f64>| time.map_or(String::new(), |time| format!("{time:.1}"));
        for (name, rate, own, server) in rows {
            writeln!(f, "{name:34}{rate:12.0}{:10.1}{:>12}{:>12}", rate * each / 1e6, time(own), time(server))?;
        }
        writeln!(f, "one worker / omen check, one thread: {:.2}", throughput.worker_over_check)?;
        writeln!(f, "two workers / one: {:.2}", throughput.two_over_one)?;
        writeln!(
            f,
            "\n{:22}{:>12}{:>12}{:>12}{:>12}{:>14}{:>14}",
            "load", "packets/s", "p50 ms", "p99 ms", "commits/s", "checkpoints/s", "of bytes"
        )?;
        for lag in lag {
            let Quantiles { p50, p99 } = lag.verdict_ms;
            writeln!(
                f,
                "{:22}{:12.0}{p50:12.1}{p99:12.1}{:12.1}{:14.1}{:14.3}",
                format!("{:.0} %", 100.0 * lag.load),
                lag.packets_s,
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
