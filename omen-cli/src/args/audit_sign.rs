//! Arguments of `omen audit new-signing-key`, `sign` and `verify-signed`.

use std::path::PathBuf;

use clap::Args;

use super::{Format, KeyArgs};

#[derive(Debug, Args)]
pub(crate) struct NewSigningKeyArgs {
    /// The file to create for the secret key; the public key is `FILE.pub`. Existing files are not overwritten
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct AuditSignArgs {
    #[command(flatten)]
    pub(crate) key: KeyArgs,

    /// A file with the secret key, readable by its owner only
    #[arg(long, value_name = "FILE")]
    pub(crate) signing_key: PathBuf,

    /// The log, with all its files
    #[arg(value_name = "LOG")]
    pub(crate) log: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct AuditVerifySignedArgs {
    /// A file with the public key
    #[arg(long, value_name = "FILE")]
    pub(crate) public_key: PathBuf,

    /// A file with a signed anchor of this log
    #[arg(long, value_name = "FILE")]
    pub(crate) anchor: PathBuf,

    /// The output format; `json` prints one object
    #[arg(long, value_name = "FORMAT", default_value = "human")]
    pub(crate) format: Format,

    /// The log, with all its files
    #[arg(value_name = "LOG")]
    pub(crate) log: PathBuf,
}

pub(crate) const NEW_SIGNING_KEY_HELP: &str = "\
The secret key signs anchors; the public key is all that is needed to verify them. Keep the secret key where \
     neither the agent nor its tools can read it, and give the public key to the auditor in a way that nobody \
     else can tamper with.

Example:
  omen audit new-signing-key sign.key

Exit codes:
  0  both files were created
  2  usage error
  3  a file exists or cannot be written, or the system has no random bytes";

pub(crate) const SIGN_HELP: &str = "\
Only a sound log is signed, so the log is verified first. The printed line of JSON covers all acknowledged \
     entries, and is not secret.

Example:
  omen audit sign --key-file audit.key --signing-key sign.key audit.jsonl > monday.signed

Exit codes:
  0  the anchor was printed
  1  the log is incomplete, tampered with or truncated
  2  usage error
  3  the log or a key could not be read, or the output could not be written";

pub(crate) const VERIFY_SIGNED_HELP: &str = "\
For auditors without the key of the log. Entries after the anchor are counted, but only the key can verify them.

Example:
  omen audit verify-signed --public-key sign.key.pub --anchor monday.signed audit.jsonl

Exit codes:
  0  the entries up to the anchor are those that were signed
  1  the log is tampered with or truncated
  2  usage error
  3  the log, the key or the anchor could not be read, or the output could not be written";
