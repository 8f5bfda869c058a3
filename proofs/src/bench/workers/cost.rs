//! Cost of a fleet, based on the measurements.

use super::Report;

/// Load to be served.
const PACKETS_S: f64 = 1e5;
const OPEN_EPISODES: f64 = 1e6;

/// Returns the cost of 10^5 packets per second and 10^6 open episodes: a table in Markdown, with the formula of each figure.
#[must_use]
pub fn costs(report: &Report) -> String {
    let Report { throughput, lag, memory, .. } = report;
    let packet = throughput.bytes as f64 / throughput.packets as f64;
    let episode = |bytes: f64| bytes / memory.episodes as f64;
    let resident = memory.resident.zip(memory.idle).map(|(resident, idle)| resident.saturating_sub(idle) as f64);
    let half = lag.iter().find(|lag| lag.load == 0.5);
    let one = throughput.workers.first().copied().unwrap_or_default();
    let mut rows = vec![
        (
            "processors that judge",
            format!("10⁵ packets/s × {:.1} µs", one.worker_us),
            format!("{:.1}", PACKETS_S * one.worker_us / 1e6),
        ),
        (
            "processors of servers, to store and to send",
            format!("10⁵ packets/s × ({:.1} + {:.1}) µs", throughput.stored_us, one.server_us),
            format!("{:.1}", PACKETS_S * (throughput.stored_us + one.server_us) / 1e6),
        ),
        (
            "servers, each filled to half of what one publisher stores",
            format!("10⁵ packets/s ÷ ({:.0} packets/s ÷ 2)", throughput.publish_s),
            format!("{:.0}", (PACKETS_S / (throughput.publish_s / 2.0)).ceil()),
        ),
        (
            "network, into servers and out of them",
            format!("10⁵ packets/s × {packet:.0} bytes × ({:.2} + {:.2})", memory.stored_bytes, one.sent_bytes),
            format!("{:.0} MB/s", PACKETS_S * packet * (memory.stored_bytes + one.sent_bytes) / 1e6),
        ),
        (
            "packets, kept for a day",
            format!("10⁵ packets/s × {packet:.0} bytes × {:.2} × 86,400 s", memory.stored_bytes),
            format!("{:.1} TB", PACKETS_S * packet * memory.stored_bytes * 86_400.0 / 1e12),
        ),
        (
            "checkpoints of open episodes",
            format!("10⁶ × {:.0} bytes", episode(memory.checkpoint_bytes as f64)),
            format!("{:.2} GB", OPEN_EPISODES * episode(memory.checkpoint_bytes as f64) / 1e9),
        ),
    ];
    if let Some(resident) = resident {
        rows.push((
            "memory of workers for open episodes",
            format!("10⁶ × {:.0} bytes", episode(resident)),
            format!("{:.2} GB", OPEN_EPISODES * episode(resident) / 1e9),
        ));
    }
    if let Some(half) = half {
        rows.push((
            "bytes of checkpoints that are written",
            format!("10⁵ packets/s × {packet:.0} bytes × {:.3}", half.checkpoint_bytes),
            format!("{:.1} MB/s", PACKETS_S * packet * half.checkpoint_bytes / 1e6),
        ));
    }
    let rows = rows.into_iter().map(|(what, formula, value)| format!("| {what} | {formula} | {value} |\n"));
    format!("| What | Formula | Number |\n|---|---|---|\n{}", rows.collect::<String>())
}
