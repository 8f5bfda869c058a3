//! Parts of settings that belong to the hook: elements in the lists of events, and members beside them.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// Member with the lists of events, in every agent.
pub(super) const HOOKS: &str = "hooks";

/// Elements of the lists of events, and members of the file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Parts {
    pub(super) elements: Vec<(String, Value)>,
    pub(super) members: Map<String, Value>,
}

impl Parts {
    /// Parts that settings do not have yet.
    pub(super) fn missing_in(&self, settings: &Value) -> Result<Self, String> {
        let Some(root) = settings.as_object() else { return Err("expected an object".to_owned()) };
        let has = |event: &str, element: &Value| {
            let list = root.get(HOOKS).and_then(|hooks| hooks.get(event)).and_then(Value::as_array);
            list.is_some_and(|list| list.contains(element))
        };
        let mut members = Map::new();
        for (name, value) in &self.members {
            match root.get(name) {
                Some(found) if found == value => {}
                Some(found) => return Err(format!("`{name}`: expected {value}, found {found}")),
                None => drop(members.insert(name.clone(), value.clone())),
            }
        }
        let elements = self.elements.iter().filter(|(event, element)| !has(event, element)).cloned().collect();
        Ok(Self { elements, members })
    }

    pub(super) fn is_empty(&self) -> bool {
        self.elements.is_empty() && self.members.is_empty()
    }

    /// Elements by event.
    pub(super) fn lists(&self) -> Vec<(String, Vec<Value>)> {
        let mut lists: Vec<(String, Vec<Value>)> = Vec::new();
        for (event, element) in &self.elements {
            match lists.iter_mut().find(|(known, _)| known == event) {
                Some((_, list)) => list.push(element.clone()),
                None => lists.push((event.clone(), vec![element.clone()])),
            }
        }
        lists
    }

    /// Pointers of the containers that settings do not have yet, the outermost first.
    pub(super) fn made_in(&self, settings: &Value) -> Vec<String> {
        let lists = self.lists();
        let all = std::iter::once(pointer(None)).chain(lists.iter().map(|(event, _)| pointer(Some(event))));
        all.filter(|place| settings.pointer(place).is_none()).collect()
    }

    /// Settings with the parts.
    pub(super) fn added_to(&self, settings: &Value) -> Result<Value, String> {
        let mut settings = settings.clone();
        let root = settings.as_object_mut().ok_or("expected an object")?;
        root.extend(self.members.clone());
        if self.elements.is_empty() {
            return Ok(settings);
        }
        let hooks = root.entry(HOOKS).or_insert_with(|| json!({}));
        let hooks = hooks.as_object_mut().ok_or_else(|| format!("`{HOOKS}`: expected an object"))?;
        for (event, element) in &self.elements {
            let list = hooks.entry(event).or_insert_with(|| json!([])).as_array_mut();
            list.ok_or_else(|| format!("`{HOOKS}.{event}`: expected an array"))?.push(element.clone());
        }
        Ok(settings)
    }

    /// Settings without the parts, and without the containers that were made for them, if nothing else is in these.
    pub(super) fn taken_from(&self, settings: &Value, made: &[String]) -> Result<Value, String> {
        let mut settings = settings.clone();
        for (event, element) in &self.elements {
            let list = settings.pointer_mut(&pointer(Some(event))).and_then(Value::as_array_mut);
            let changed = || format!("the hook of `{event}` is no longer as it was installed");
            let list = list.ok_or_else(changed)?;
            let at = list.iter().position(|one| one == element).ok_or_else(changed)?;
            list.remove(at);
        }
        let is_empty = |value: &Value| match value {
            Value::Array(list) => list.is_empty(),
            Value::Object(members) => members.is_empty(),
            _ => false,
        };
        // Lists are deeper than the object that they are in.
        for place in made.iter().rev() {
            let (parent, name) = place.rsplit_once('/').unwrap_or_default();
            if let Some(parent) = settings.pointer_mut(parent).and_then(Value::as_object_mut)
                && parent.get(&unescaped(name)).is_some_and(is_empty)
            {
                parent.remove(&unescaped(name));
            }
        }
        for (name, value) in &self.members {
            let root = settings.as_object_mut().ok_or("expected an object")?;
            if root.remove(name).as_ref() != Some(value) {
                return Err(format!("`{name}` is no longer {value}, as it was installed"));
            }
        }
        Ok(settings)
    }
}

/// Pointer of the list of an event, or of the object with all lists.
pub(super) fn pointer(event: Option<&str>) -> String {
    event.map_or_else(
        || format!("/{HOOKS}"),
        |event| format!("/{HOOKS}/{}", event.replace('~', "~0").replace('/', "~1")),
    )
}

fn unescaped(name: &str) -> String {
    name.replace("~1", "/").replace("~0", "~")
}
