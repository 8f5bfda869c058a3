//! `omen audit new-signing-key`, `sign` and `verify-signed`: anchors for auditors without the log's key.

use std::io::Write as _;

use omen::render::human::clean;
use omen_gate::audit::store::log_of;
use omen_gate::audit::{PublicKey, SignedAnchor, SignedVerdict, SigningKey};
use serde::Serialize;

use crate::args::{AuditSignArgs, AuditVerifySignedArgs, Format, NewSigningKeyArgs};
use crate::exit::{Exit, Failure};
use crate::output::Output;

pub(crate) fn new_signing_key(args: &NewSigningKeyArgs) -> Result<Exit, Failure> {
    SigningKey::create(&args.file).map(|_| Exit::Clean).map_err(super::not_created)
}

pub(crate) fn sign(args: &AuditSignArgs, out: &mut Output) -> Result<Exit, Failure> {
    let key = super::key(&args.key)?;
    let signing_key = SigningKey::from_file(&args.signing_key).map_err(super::unusable)?;
    match SignedAnchor::sign(log_of(&args.log), &key, &signing_key)? {
        Ok(anchor) => {
            writeln!(out, "{anchor}")?;
            out.flush()?;
            Ok(Exit::Clean)
        }
        Err(found) => Ok(super::reported(&args.log, &found)),
    }
}

pub(crate) fn verify_signed(args: &AuditVerifySignedArgs, out: &mut Output) -> Result<Exit, Failure> {
    let key = PublicKey::from_file(&args.public_key).map_err(super::unusable)?;
    let anchor = SignedAnchor::from_file(&args.anchor, &key).map_err(|error| super::no_anchor(&args.anchor, error))?;
    let verdict = anchor.verify(log_of(&args.log))?;
    let report = SigningReport::new(args, &anchor, verdict);
    match args.format {
        Format::Human => {
            writeln!(out, "{}: {}", clean(&report.file), report.message)?;
            report.help.map_or(Ok(()), |help| writeln!(out, "  help: {help}"))?;
        }
        Format::Json => out.json(&report)?,
    }
    out.flush()?;
    Ok(if report.verdict == "sound" { Exit::Clean } else { Exit::ErrorsFound })
}

/// Result of an operation. Fields that do not apply are `null`.
#[derive(Serialize)]
struct SigningReport {
    file: String,
    verdict: &'static str,
    /// Number of signed entries.
    signed: u64,
    /// Number of entries after the signed ones.
    after: Option<u64>,
    /// Number of entries in the log, if it has fewer than were signed.
    have: Option<u64>,
    message: String,
    help: Option<&'static str>,
}

impl SigningReport {
    fn new(args: &AuditVerifySignedArgs, anchor: &SignedAnchor, verdict: SignedVerdict) -> Self {
        let signed = anchor.count();
        let file = args.log.to_string_lossy().into_owned();
        let all = Self { file, verdict: "sound", signed, after: None, have: None, message: String::new(), help: None };
        match verdict {
            SignedVerdict::Sound { after } => {
                let message = match after {
                    0 => format!("sound up to entry {signed}, the last one"),
                    1 => format!("sound up to entry {signed}; 1 entry after it was not signed"),
                    _ => format!("sound up to entry {signed}; {after} entries after it were not signed"),
                };
                Self { after: Some(after), message, ..all }
            }
            SignedVerdict::Truncated { have } => {
                let message = format!("truncated: {have} of {signed} signed entries are present");
                Self { verdict: "truncated", have: Some(have), message, help: Some(KEEP), ..all }
            }
            _ => {
                let message = format!("tampered: the first {signed} entries differ from those that were signed");
                Self { verdict: "tampered", message, help: Some(WHERE), ..all }
            }
        }
    }
}

const KEEP: &str = "keep the files and the anchor as evidence, and compare them with a copy of the log";

const WHERE: &str =
    "keep the files and the anchor as evidence; `omen audit verify` with the key of the log shows where";
