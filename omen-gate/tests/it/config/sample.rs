//! The sample file, and the configuration in it.

use std::time::{Duration, SystemTime};

use omen_gate::config::{KeySource, Limits, MAX_BYTES};
use omen_gate::{BudgetLimits, Config, GateCode, Grants, Permission, Source};

use crate::support::{clock, outcome, secs, tool};

pub(super) use omen_gate::config::SAMPLE;

#[test]
fn the_sample_says_what_it_says() {
    let config = Config::parse(SAMPLE).unwrap();
    let halted = config.policy.screen("please DROP TABLE orders").unwrap_err();
    assert!(halted.message.ends_with("tables are not dropped by agents"), "{halted}");
    let files = config.servers["files"].command.clone().unwrap();
    assert_eq!((files.program.as_str(), files.args), ("mcp-server-filesystem", vec!["./data".to_owned()]));
    assert_eq!((files.env["LOG_LEVEL"].as_str(), files.pass_env), ("warn", vec!["HOME".to_owned()]));
    assert_eq!(config.servers["orders"].command, None);
    assert_eq!(config.allow.iter().count(), 3);
    let cancel = config.demand(&tool("orders/cancel_order")).unwrap();
    assert_eq!((cancel.permissions.to_string().as_str(), cancel.always_confirm), ("WRITE, NETWORK", true));
    assert!(config.allow.get(&tool("files/write_file")).unwrap().pin.unwrap().to_string().starts_with("v1:00000000"));
    assert_eq!(config.demand(&tool("files/delete_file")), None);
    let write = config.grants.iter().find(|grant| grant.permission == Permission::Write).unwrap();
    assert_eq!(write.tool, tool("files/write_file"));
    assert_eq!((write.uses.unwrap().get(), write.pre_granted, write.source), (20, true, Source::Config));
    // 2027-01-01T00:00:00Z.
    assert_eq!(write.expires, Some(SystemTime::UNIX_EPOCH + Duration::from_secs(1_798_761_600)));
    let audit = config.audit.unwrap();
    assert_eq!((audit.log.to_str().unwrap(), audit.sync), ("audit.jsonl", true));
    assert_eq!(audit.key, KeySource::File("audit.key".into()));
    assert_eq!((audit.rotate_bytes.unwrap().get(), audit.rotate_after), (268_435_456, Some(secs(2_592_000))));
}

#[test]
fn the_sample_shows_the_defaults() {
    let (sample, empty) = (Config::parse(SAMPLE).unwrap(), Config::parse("").unwrap());
    assert_eq!(sample.limits, empty.limits);
    assert_eq!(sample.limits, Limits::default());
    assert_eq!(sample.breaker, empty.breaker);
    assert_eq!(sample.budget, empty.budget);
    assert_eq!(sample.confirm, empty.confirm);
    assert_eq!(empty.budget, BudgetLimits::default());
    assert_eq!((empty.confirm.timeout, empty.confirm.valid), (secs(60), secs(30)));
    assert_eq!((empty.breaker.failures.get(), empty.breaker.cooldown), (5, secs(60)));
}

#[test]
fn an_empty_file_allows_nothing() {
    let config = Config::parse("").unwrap();
    assert!(config.servers.is_empty() && config.allow.iter().next().is_none() && config.grants.is_empty());
    assert_eq!(config.audit, None);
}

#[test]
fn a_missing_a_broken_and_a_huge_file_give_no_configuration() {
    let dir = tempfile::tempdir().unwrap();
    let load = |name: &str| Config::load(&dir.path().join(name)).unwrap_err();
    let missing = load("none.toml");
    assert!(missing.to_string().contains("cannot be read") && missing.to_string().contains("none.toml"), "{missing}");
    assert_eq!(omen_gate::Blocked::from(missing).code, GateCode::C1);
    std::fs::write(dir.path().join("latin1.toml"), b"# \xe9\n").unwrap();
    assert!(load("latin1.toml").to_string().contains("cannot be read"));
    std::fs::write(dir.path().join("huge.toml"), "#\n".repeat(MAX_BYTES / 2 + 1)).unwrap();
    assert!(load("huge.toml").to_string().contains("longer than 1048576 bytes"));
    std::fs::write(dir.path().join("full.toml"), "#\n".repeat(MAX_BYTES / 2)).unwrap();
    assert!(Config::load(&dir.path().join("full.toml")).is_ok());
    assert!(Config::load(dir.path()).is_err());
}

#[test]
fn its_grants_are_in_force_from_the_start() {
    let config = Config::parse(SAMPLE).unwrap();
    let grants = Grants::with_defaults(clock(), config.grants.iter().cloned()).unwrap();
    let check = |name: &str| {
        let demand = config.demand(&tool(name)).unwrap().clone();
        let call = omen_gate::Call::new("turn_1".parse().unwrap(), demand, serde_json::Map::new()).unwrap();
        outcome(grants.check(&call)).map(|lease| lease.needs_confirmation())
    };
    assert_eq!(check("files/read_text_file"), Ok(false));
    assert_eq!(check("files/write_file"), Ok(false));
    // Allowed, but not granted.
    assert_eq!(check("orders/cancel_order").unwrap_err().code, GateCode::G1);
}

#[test]
fn values_of_variables_are_not_shown() {
    let config = Config::parse("[servers.a]\ncommand = \"x\"\nenv = { TOKEN = \"hush\" }\n").unwrap();
    let shown = format!("{config:?}");
    assert!(shown.contains("TOKEN") && !shown.contains("hush"), "{shown}");
}
