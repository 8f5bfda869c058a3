//! The tools `config.get` and `config.set` over a JSON file.

use std::collections::BTreeMap;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::{fs, io};

use rmcp::handler::server::wrapper::{Json, Parameters};
use rmcp::{ServerHandler, ServiceExt as _, tool, tool_handler, tool_router};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncRead, AsyncWrite};

/// Serves until the input ends.
///
/// # Errors
/// If the client breaks the protocol.
pub(crate) async fn serve(
    file: PathBuf,
    io: (impl AsyncRead + Send + Unpin + 'static, impl AsyncWrite + Send + Unpin + 'static),
) -> Result<(), Box<dyn Error + Send + Sync>> {
    ConfigStore { file: Mutex::new(file) }.serve(io).await?.waiting().await?;
    Ok(())
}

/// The settings. One call at a time has the file.
#[derive(Debug)]
struct ConfigStore {
    file: Mutex<PathBuf>,
}

/// The arguments of `config.get`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Get {
    /// The name of the setting.
    key: String,
}

/// The arguments of `config.set`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Set {
    /// The name of the setting.
    key: String,
    /// Its new value.
    value: String,
}

/// A setting as it stands in the file.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Setting {
    /// The name of the setting.
    key: String,
    /// Its value, or null if it is not set.
    value: Option<String>,
}

/// What `config.set` has done.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Done {
    /// The name of the setting.
    key: String,
    /// The value before, or null if it was not set.
    before: Option<String>,
    /// The value now.
    after: String,
}

#[tool_router]
impl ConfigStore {
    #[tool(name = "config.get", description = "Reads a setting.", annotations(read_only_hint = true))]
    async fn get(&self, Parameters(Get { key }): Parameters<Get>) -> Result<Json<Setting>, String> {
        let file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let value = read(&file).map_err(|error| error.to_string())?.remove(&key);
        Ok(Json(Setting { key, value }))
    }

    #[tool(name = "config.set", description = "Writes a setting.", annotations(destructive_hint = true))]
    async fn set(&self, Parameters(Set { key, value }): Parameters<Set>) -> Result<Json<Done>, String> {
        let file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let mut settings = read(&file).map_err(|error| error.to_string())?;
        let before = settings.insert(key.clone(), value.clone());
        write(&file, &settings).map_err(|error| error.to_string())?;
        Ok(Json(Done { key, before, after: value }))
    }
}

#[tool_handler(name = "config_store", version = "1.0.0")]
impl ServerHandler for ConfigStore {}

/// A file that is not there holds no settings.
fn read(file: &Path) -> io::Result<BTreeMap<String, String>> {
    match fs::read(file) {
        Ok(text) => Ok(serde_json::from_slice(&text)?),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(BTreeMap::new()),
        Err(error) => Err(error),
    }
}

/// The file is replaced as a whole, so that no reader sees half of it.
fn write(file: &Path, settings: &BTreeMap<String, String>) -> io::Result<()> {
    let new = file.with_extension("new");
    fs::write(&new, serde_json::to_vec_pretty(settings)?)?;
    fs::rename(new, file)
}
