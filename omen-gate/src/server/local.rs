//! Tools in the agent's own program.

use std::collections::BTreeMap;
use std::fmt;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use async_trait::async_trait;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use super::{Dispatch, ToolServer};
use crate::base::{BadName, ToolName, bounded};
use crate::call::{Answer, Fault, Tool};

/// JSON-RPC code for invalid arguments.
const INVALID_PARAMS: i64 = -32_602;

/// Server in this process, made of functions. Tools may be added and removed at any time; the list is always current.
///
/// ```
/// use omen_gate::server::{Local, ToolServer as _};
/// use schemars::JsonSchema;
/// use serde::{Deserialize, Serialize};
///
/// #[derive(Deserialize, JsonSchema)]
/// struct Question { city: String }
///
/// #[derive(Serialize, JsonSchema)]
/// struct Weather { celsius: f64 }
///
/// async fn weather(question: Question) -> Result<Weather, String> {
///     match question.city.as_str() {
///         "Oslo" => Ok(Weather { celsius: -3.5 }),
///         city => Err(format!("nobody has been to `{city}`")),
///     }
/// }
///
/// let server = Local::new().tool("weather", "Returns the weather of a city.", weather)?;
///
/// # let runtime = tokio::runtime::Builder::new_current_thread().build()?;
/// # runtime.block_on(async {
/// let tools = server.list().await?;
/// assert_eq!(tools[0].input_schema["properties"]["city"]["type"], "string");
/// # Ok::<(), omen_gate::Fault>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Default)]
pub struct Local {
    tools: RwLock<BTreeMap<ToolName, LocalTool>>,
    revision: AtomicU64,
}

type AnswerFuture = Pin<Box<dyn Future<Output = Result<Answer, Fault>> + Send>>;
type ToolFn = dyn Fn(Map<String, Value>) -> AnswerFuture + Send + Sync;

#[derive(Clone)]
struct LocalTool {
    tool: Tool,
    run: Arc<ToolFn>,
}

/// Reason why a function cannot be a tool.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BadTool {
    /// The name is invalid.
    #[error(transparent)]
    Name(#[from] BadName),
    /// A tool with this name already exists.
    #[error("duplicate tool `{0}`")]
    Twice(ToolName),
    /// The arguments or the result are not JSON objects, as the protocol requires.
    #[error("the {what} of `{name}` are not a JSON object: use a struct with named fields")]
    NoObject {
        /// Name of the tool.
        name: ToolName,
        /// Either `arguments` or `results`.
        what: &'static str,
    },
}

impl Local {
    /// Creates a server without tools.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a function. The schemas of its arguments and result are derived from its types. An error of the function
    /// becomes an answer with `isError`.
    ///
    /// # Errors
    /// If the name is invalid or taken, or the arguments or the result are not JSON objects.
    pub fn tool<A, O, E, F, Fut>(self, name: &str, description: &str, run: F) -> Result<Self, BadTool>
    where
        A: DeserializeOwned + JsonSchema + Send + 'static,
        O: Serialize + JsonSchema + 'static,
        E: fmt::Display + 'static,
        F: Fn(A) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<O, E>> + Send + 'static,
    {
        let name = ToolName::new(name)?;
        let tool = Tool {
            description: Some(description.to_owned()),
            input_schema: object::<A>(&name, "arguments", SchemaSettings::draft2020_12().for_deserialize())?,
            output_schema: Some(object::<O>(&name, "results", SchemaSettings::draft2020_12().for_serialize())?),
            more: Map::new(),
            name,
        };
        self.raw(tool, move |args| {
            let answering = serde_json::from_value(Value::Object(args)).map(&run);
            async move {
                match answering {
                    Ok(answering) => answered(answering.await),
                    Err(error) => Err(Fault::Refused { code: INVALID_PARAMS, message: bounded(&error.to_string()) }),
                }
            }
        })
    }

    /// Adds a function that receives its arguments unchanged and creates its own answer.
    ///
    /// # Errors
    /// If the name is taken.
    pub fn raw<F, Fut>(self, tool: Tool, run: F) -> Result<Self, BadTool>
    where
        F: Fn(Map<String, Value>) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<Answer, Fault>> + Send + 'static,
    {
        self.add(tool, run)?;
        Ok(self)
    }

    /// Adds a function to a server that is in use. The list then counts as changed.
    ///
    /// # Errors
    /// If the name is taken.
    pub fn add<F, Fut>(&self, tool: Tool, run: F) -> Result<(), BadTool>
    where
        F: Fn(Map<String, Value>) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<Answer, Fault>> + Send + 'static,
    {
        let mut tools = self.tools.write().unwrap_or_else(PoisonError::into_inner);
        if tools.contains_key(&tool.name) {
            return Err(BadTool::Twice(tool.name));
        }
        tools.insert(tool.name.clone(), LocalTool { tool, run: Arc::new(move |args| Box::pin(run(args))) });
        self.revision.fetch_add(1, Ordering::Release);
        Ok(())
    }

    /// Removes a tool and returns whether it existed. Open calls continue.
    pub fn remove(&self, name: &ToolName) -> bool {
        let removed = self.tools.write().unwrap_or_else(PoisonError::into_inner).remove(name).is_some();
        if removed {
            self.revision.fetch_add(1, Ordering::Release);
        }
        removed
    }
}

#[async_trait]
impl ToolServer for Local {
    async fn list(&self) -> Result<Vec<Tool>, Fault> {
        let tools = self.tools.read().unwrap_or_else(PoisonError::into_inner);
        Ok(tools.values().map(|entry| entry.tool.clone()).collect())
    }

    async fn call(&self, dispatch: Dispatch) -> Result<Answer, Fault> {
        let (tool, args) = dispatch.into_parts();
        let run =
            self.tools.read().unwrap_or_else(PoisonError::into_inner).get(&tool).map(|entry| Arc::clone(&entry.run));
        match run {
            Some(run) => run(args).await,
            None => Err(Fault::Refused { code: INVALID_PARAMS, message: format!("there is no tool `{tool}`") }),
        }
    }

    fn revision(&self) -> u64 {
        self.revision.load(Ordering::Acquire)
    }
}

impl fmt::Debug for LocalTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.tool.fmt(f)
    }
}

/// Returns the schema of a type, which must be an object schema.
fn object<T: JsonSchema>(
    name: &ToolName,
    what: &'static str,
    settings: SchemaSettings,
) -> Result<Map<String, Value>, BadTool> {
    match settings.into_generator().into_root_schema_for::<T>().to_value() {
        Value::Object(schema) if schema.get("type").is_some_and(|kind| kind == "object") => Ok(schema),
        _ => Err(BadTool::NoObject { name: name.clone(), what }),
    }
}

/// Returns a function's answer: structured, and the same as text, as the protocol requires.
fn answered<O: Serialize, E: fmt::Display>(outcome: Result<O, E>) -> Result<Answer, Fault> {
    let text = |text: String| vec![json!({"type": "text", "text": text})];
    match outcome {
        Ok(result) => match serde_json::to_value(result) {
            Ok(value) => {
                Ok(Answer { content: text(value.to_string()), structured_content: Some(value), ..Answer::default() })
            }
            Err(error) => Err(Fault::Malformed { why: bounded(&error.to_string()) }),
        },
        Err(error) => Ok(Answer { content: text(error.to_string()), is_error: Some(true), ..Answer::default() }),
    }
}
