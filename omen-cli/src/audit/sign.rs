//! `omen audit new-signing-key`, `sign` and `verify-signed`: anchors for auditors who do not have the key of the log.

use std::io::Write as _;

use omen::render::human::clean;
use omen_gate::audit::store::log_of;
use omen_gate::audit::{AuditError, KeyError, PublicKey, SignedAnchor, SignedVerdict, SigningKey};
use serde::Serialize;

use crate::args::{AuditSignArgs, AuditVerifySignedArgs, Format, NewSigningKeyArgs};
use crate::exit::{Exit, Failure, complain};
use crate::output::Output;

pub(crate) fn new_signing_key(args: &NewSigningKeyArgs) -> Exit {
    match SigningKey::create(&args.file) {
        Ok(_) => Exit::Clean,
        Err(error) => {
            complain(format_args!("cannot create the key: {error}; {}", error.help()));
            Exit::Unreadable
        }
    }
}

pub(crate) fn sign(args: &AuditSignArgs, out: &mut Output) -> Result<Exit, Failure> {
    let Some(key) = super::key(&args.key) else { return Ok(Exit::Unreadable) };
    let signing_key = match SigningKey::from_file(&args.signing_key) {
        Ok(signing_key) => signing_key,
        Err(error) => return Ok(unusable(&error)),
    };
    match SignedAnchor::sign(log_of(&args.log), &key, &signing_key) {
        Ok(Ok(anchor)) => {
            writeln!(out, "{anchor}")?;
            out.flush()?;
            Ok(Exit::Clean)
        }
        Ok(Err(found)) => Ok(super::reported(&args.log, &found)),
        Err(error) => Ok(unread(&error)),
    }
}

pub(crate) fn verify_signed(args: &AuditVerifySignedArgs, out: &mut Output) -> Result<Exit, Failure> {
    let key = match PublicKey::from_file(&args.public_key) {
        Ok(key) => key,
        Err(error) => return Ok(unusable(&error)),
    };
    let anchor = match SignedAnchor::from_file(&args.anchor, &key) {
        Ok(anchor) => anchor,
        Err(error) => return Ok(super::no_anchor(&args.anchor, error)),
    };
    let verdict = match anchor.verify(log_of(&args.log)) {
        Ok(verdict) => verdict,
        Err(error) => return Ok(unread(&error)),
    };
    let report = Report::new(args, &anchor, verdict);
    match args.format {
        Format::Human => {
            writeln!(out, "{}: {}", clean(&report.file), report.message)?;
            report.help.map_or(Ok(()), |help| writeln!(out, "  help: {help}"))?;
        }
        Format::Json => {
            serde_json::to_writer(&mut *out, &report).map_err(std::io::Error::from)?;
            writeln!(out)?;
        }
    }
    out.flush()?;
    Ok(if report.verdict == "sound" { Exit::Clean } else { Exit::ErrorsFound })
}

/// Result of an operation. Members that do not apply are `null`.
#[derive(Serialize)]
struct Report {
    file: String,
    verdict: &'static str,
    /// Number of entries that were signed.
    signed: u64,
    /// Number of entries after them.
    after: Option<u64>,
    /// Number of existing entries, if there are fewer.
    have: Option<u64>,
    message: String,
    help: Option<&'static str>,
}

impl Report {
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
                let message = format!("truncated: {have} of {signed} signed entries are there");
                Self { verdict: "truncated", have: Some(have), message, help: Some(KEEP), ..all }
            }
            _ => {
                let message = format!("tampered: the first {signed} entries are not those that were signed");
                Self { verdict: "tampered", message, help: Some(WHERE), ..all }
            }
        }
    }
}

fn unusable(error: &KeyError) -> Exit {
    complain(format_args!("cannot use the key: {error}; {}", error.help()));
    Exit::Unreadable
}

fn unread(error: &AuditError) -> Exit {
    complain(format_args!("{error}; {}", error.help()));
    Exit::Unreadable
}

const KEEP: &str = "keep the files and the anchor as evidence, and compare them with a copy of the log";

const WHERE: &str = "keep the files and the anchor as evidence; `omen audit verify` with the key of the log says where";
