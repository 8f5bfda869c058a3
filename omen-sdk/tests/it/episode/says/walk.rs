//! Members of packets and values of enums, by their names in the schemas.

use std::collections::{BTreeMap, BTreeSet};

use omen_codegen::model::{Item, Kind, Model, Ty};
use serde_json::Value;

/// Members by object, and values by enum.
#[derive(Default)]
pub(super) struct Said {
    pub(super) members: BTreeSet<(String, String)>,
    pub(super) values: BTreeSet<(String, String)>,
}

impl Said {
    pub(super) fn packet(&mut self, model: &Model, packet: &Value) {
        self.value(model, packet["header"]["packet_type"].as_str().unwrap(), packet);
    }

    fn value(&mut self, model: &Model, definition: &str, value: &Value) {
        match &model.def(definition).unwrap().kind {
            Kind::Object(object) => {
                for field in &object.fields {
                    let Some(member) = value.get(&field.name) else { continue };
                    self.members.insert((definition.to_owned(), field.name.clone()));
                    match &field.ty {
                        Ty::Array { item: Item::Ref(name), .. } => {
                            member.as_array().unwrap().iter().for_each(|element| self.value(model, name, element));
                        }
                        ty => ty.reference().into_iter().for_each(|name| self.value(model, name, member)),
                    }
                }
            }
            Kind::Enum(_) => {
                self.values.insert((definition.to_owned(), value.as_str().unwrap().to_owned()));
            }
            Kind::Union(names) => {
                // Of several candidates, the enum is the one that lists its values.
                let lists = |name: &&String| {
                    matches!(&model.def(name).unwrap().kind, Kind::Enum(values)
                    if values.iter().any(|known| value.as_str() == Some(&known.wire)))
                };
                names.iter().filter(lists).for_each(|name| self.value(model, name, value));
            }
            _ => {}
        }
    }
}

/// Returns the members of every object that a packet can have.
pub(super) fn objects(model: &Model) -> BTreeMap<String, BTreeSet<String>> {
    let objects = reachable(model).into_iter().filter_map(|name| Some((name.clone(), model.object(&name)?)));
    objects.map(|(name, object)| (name, object.fields.iter().map(|field| field.name.clone()).collect())).collect()
}

/// Returns the values of every enum that a packet can have.
pub(super) fn values(model: &Model) -> Vec<(String, String)> {
    let of = |name: String| match &model.def(&name).unwrap().kind {
        Kind::Enum(values) => values.iter().map(|value| (name.clone(), value.wire.clone())).collect(),
        _ => Vec::new(),
    };
    reachable(model).into_iter().flat_map(of).collect()
}

fn reachable(model: &Model) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut next = model.packets.clone();
    while let Some(name) = next.pop() {
        match &model.def(&name).unwrap().kind {
            Kind::Object(object) => next.extend(
                object
                    .fields
                    .iter()
                    .filter_map(|field| match &field.ty {
                        Ty::Array { item: Item::Ref(name), .. } => Some(name.clone()),
                        ty => ty.reference().map(str::to_owned),
                    })
                    .filter(|name| !found.contains(name)),
            ),
            Kind::Union(names) => next.extend(names.iter().filter(|name| !found.contains(*name)).cloned()),
            _ => {}
        }
        found.insert(name);
    }
    found
}
