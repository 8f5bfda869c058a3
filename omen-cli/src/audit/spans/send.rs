//! Export to a collector by OTLP/HTTP.

use std::time::Duration;

use omen::render::human::clean;
use serde_json::Value;

pub(super) struct Collector {
    url: String,
    agent: ureq::Agent,
}

impl Collector {
    /// Creates the collector at an endpoint; the path for spans is appended.
    pub(super) fn new(endpoint: &str) -> Self {
        let config = ureq::Agent::config_builder().timeout_global(Some(LIMIT)).max_redirects(0).build();
        Self { url: format!("{}/v1/traces", endpoint.trim_end_matches('/')), agent: config.into() }
    }

    /// Sends a request. The error states a remedy.
    pub(super) fn send(&self, request: &Value) -> Result<(), String> {
        let sent = self.agent.post(&self.url).header("Content-Type", "application/json").send(request.to_string());
        let why = match sent {
            Ok(answer) if answer.status().is_success() => return Ok(()),
            Ok(answer) => format!("it answers {}", answer.status()),
            Err(error) => error.to_string(),
        };
        Err(format!(
            "the collector at {} does not take spans: {}; start one that listens for OTLP/HTTP there, and run this again",
            clean(&self.url),
            clean(&why)
        ))
    }
}

/// Timeout of a request.
const LIMIT: Duration = Duration::from_secs(10);
