//! Typed API as defined in `episode.fsm.json`: types that represent states, methods that cause events, and explanations
//! of calls in the wrong state.

use serde::Deserialize;

/// Typed API.
#[derive(Clone, Debug, Deserialize, Default)]
pub struct TypedApi {
    /// Typestates, ordered by state.
    #[serde(default)]
    pub states: Vec<Typestate>,
    /// Methods.
    #[serde(default)]
    pub moves: Vec<Move>,
    /// Explanations of illegal calls; the first one that applies is used.
    #[serde(default, rename = "refused")]
    pub texts: Vec<Text>,
}

/// Type that represents one state or, where the table is nondeterministic, several.
#[derive(Clone, Debug, Deserialize)]
pub struct Typestate {
    /// Rust type, such as `Decide<Act>`.
    #[serde(rename = "type")]
    pub ty: String,
    /// States, or states with sub-state.
    #[serde(default)]
    pub of: Vec<String>,
    /// Whether directives are open in the state.
    #[serde(default)]
    pub open: bool,
    /// Facts that usually hold in the state. If the code of a call depends on them, they are assumed.
    #[serde(default)]
    pub usually: Vec<String>,
    /// Description.
    pub description: String,
}

/// Method that causes an event.
#[derive(Clone, Debug, Deserialize)]
pub struct Move {
    /// Name.
    pub method: String,
    /// Events that the method can cause.
    #[serde(default)]
    pub events: Vec<String>,
    /// Only types that have the method; empty for all types for which the table has a row.
    #[serde(default)]
    pub only: Vec<String>,
    /// Types that do not have the method although the table has a row, because another method causes the event there.
    #[serde(default)]
    pub except: Vec<String>,
    /// Trait of the states that have the method, for code that is generic over the state.
    pub capability: Option<Capability>,
    /// Whether the method is hand-written, once for all states that have it. This entry then only explains illegal calls.
    #[serde(default)]
    pub by_hand: bool,
    /// Names of the parameters, if the method is hand-written.
    #[serde(default)]
    pub takes: Vec<String>,
}

/// Trait of the states that have a method.
#[derive(Clone, Debug, Deserialize)]
pub struct Capability {
    /// Name, such as `CanObserve`.
    pub name: String,
    /// Name of the trait's associated type, such as `Observed`: the state after the method.
    pub then: String,
    /// Whether its states have different functions and separate methods.
    #[serde(default)]
    pub per_state: bool,
    /// Type parameters of these functions that are parameters of the trait.
    #[serde(default)]
    pub over: Vec<String>,
}

/// Explanation of illegal calls.
#[derive(Clone, Debug, Deserialize)]
pub struct Text {
    /// Codes that the text explains.
    #[serde(default)]
    pub rules: Vec<String>,
    /// Methods to which the text applies; empty for all.
    #[serde(default)]
    pub methods: Vec<String>,
    /// Types to which the text applies; empty for all.
    #[serde(default, rename = "in")]
    pub within: Vec<String>,
    /// Reason for the refusal.
    pub message: String,
    /// Way to fix the call.
    pub note: String,
    /// The note for Python, if its code differs.
    pub python: Option<String>,
}

impl Move {
    /// Returns whether the typed API offers the method in a state, provided that the table has a row.
    #[must_use]
    pub fn is_offered(&self, state: &Typestate) -> bool {
        (self.only.is_empty() || self.only.contains(&state.ty)) && !self.except.contains(&state.ty)
    }
}

impl Text {
    /// Returns whether the text explains a code of a call.
    #[must_use]
    pub fn explains(&self, code: &str, state: &Typestate, mv: &Move) -> bool {
        let names = |list: &[String], name: &String| list.is_empty() || list.contains(name);
        names(&self.methods, &mv.method) && names(&self.within, &state.ty) && self.rules.iter().any(|rule| rule == code)
    }
}
