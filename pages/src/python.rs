//! Generated files of the Python package.

use std::error::Error;
use std::path::{Path, PathBuf};

use omen_codegen::emit::python::{self, CodedRules, File};
use omen_invariants::derived::is_high;
use omen_invariants::rules::inv_004_live_evidence::is_claim;
use omen_invariants::rules::inv_006_drive_arbitration::POLICIES;
use omen_invariants::rules::inv_012_stakes_consistent::Axes;
use omen_types::{RefType, StakesLevel};

/// Returns the folder of the package.
#[must_use]
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../omen-python")
}

/// Returns the generated files.
///
/// # Errors
/// If the schema files have mistakes.
pub fn files() -> Result<Vec<File>, Box<dyn Error + Send + Sync>> {
    let model = omen_codegen::model(omen_schema::FILES.iter().copied()).map_err(|error| error.to_string())?;
    let rules = CodedRules {
        level: &|[impact, irreversibility, uncertainty, adversariality]| {
            let axes = Axes {
                impact: read(impact)?,
                irreversibility: read(irreversibility)?,
                uncertainty: read(uncertainty)?,
                adversariality: read(adversariality)?,
            };
            Ok(axes.level().to_string())
        },
        is_high: &|level| Ok(is_high(read::<StakesLevel>(level)?)),
        is_claim: &|status, freshness| Ok(is_claim(read(status)?, read(freshness)?)),
        is_live: &|kind| Ok(read::<RefType>(kind)?.is_live()),
        policies: &POLICIES,
    };
    let mut files = python::episode(&model, &rules).map_err(|error| error.to_string())?;
    let packets = python::packets(&model).map_err(|error| error.to_string())?;
    files.extend([("python/omen/packets.py", packets.source), ("python/omen/packets.pyi", packets.stub)]);
    Ok(files)
}

fn read<T: std::str::FromStr>(value: &str) -> Result<T, String> {
    value.parse().map_err(|_| format!("unknown value `{value}`"))
}

/// Writes the generated files.
///
/// # Errors
/// As [`files`], and if a file cannot be written.
pub fn write() -> Result<(), Box<dyn Error + Send + Sync>> {
    let folder = folder();
    for (path, text) in files()? {
        std::fs::write(folder.join(path), text)?;
    }
    Ok(())
}
