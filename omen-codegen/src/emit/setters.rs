//! Setters of the typed API: one for each optional field without a hand-written method, so that a new field of a
//! schema can be set without any new Rust code.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::TokenStream;
use quote::{ToTokens as _, format_ident, quote};
use serde::Deserialize;
use syn::visit_mut::{self, VisitMut};

use super::types::{Types, argument};
use super::{bug, doc, ident};
use crate::mistake::{Mistake, Mistakes};
use crate::model::{Field, Item, Kind, Model, Object, Ty};

/// File name of the list, used in mistakes.
const FILE: &str = "setters.json";

/// List of the typed API's types, with the objects that they build and the fields that they set by hand.
///
/// ```
/// use omen_codegen::emit::{self, Setters};
///
/// # let model = omen_codegen::model(omen_schema::FILES.iter().copied())?;
/// let packets = model.packets.iter();
/// let objects: Vec<_> = packets.flat_map(|name| [model.payload_of(name), Some("PacketHeader")]).flatten().collect();
/// let elsewhere: std::collections::BTreeMap<_, _> = objects.iter().map(|name| (name, "no type makes it")).collect();
/// let text = serde_json::json!({
///     "description": "One type.",
///     "types": [{ "type": "Policy", "object": "RetryPolicy", "at": "0", "by_hand": { "max_retries": "`new`" } }],
///     "elsewhere": elsewhere,
/// });
/// let source = emit::setters(&model, &Setters::parse(&text.to_string())?)?;
/// assert!(source.as_str().contains("pub fn backoff_multiplier"));
/// # Ok::<(), omen_codegen::mistake::Mistakes>(())
/// ```
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Setters {
    #[serde(rename = "description")]
    _description: String,
    #[serde(default)]
    covers: Coverage,
    types: Vec<Maker>,
    /// Reason why no type builds an object, by object.
    #[serde(default)]
    elsewhere: BTreeMap<String, String>,
}

/// Objects that the list must cover.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Coverage {
    /// Header and payload of every packet.
    #[default]
    Packets,
    /// Envelope and all objects in it. If a setter makes the object too large for a packet, the type's method `refit`
    /// shortens it.
    Envelope,
}

impl Coverage {
    fn objects(self, model: &Model) -> BTreeSet<&str> {
        let member_type = |packet: &String, member: &str| model.object(packet)?.field(member)?.ty.reference();
        match self {
            Self::Packets => {
                let packets = model.packets.iter();
                packets
                    .flat_map(|packet| [member_type(packet, "header"), member_type(packet, "payload")])
                    .flatten()
                    .collect()
            }
            Self::Envelope => {
                let mut found = BTreeSet::new();
                let mut next: Vec<&str> =
                    model.packets.iter().filter_map(|packet| member_type(packet, "mcp")).collect();
                while let Some(name) = next.pop() {
                    if let Some(object) = model.object(name)
                        && found.insert(name)
                    {
                        next.extend(object.fields.iter().filter_map(|field| match &field.ty {
                            Ty::Array { item: Item::Ref(name), .. } => Some(name.as_str()),
                            ty => ty.reference(),
                        }));
                    }
                }
                found
            }
        }
    }
}

/// Type that builds an object.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Maker {
    /// Name and parameters of the type, such as `Observation<St>`; single capital letters are parameters.
    #[serde(rename = "type")]
    ty: String,
    /// Parameters that are numbers.
    #[serde(default)]
    numbers: BTreeSet<String>,
    object: String,
    /// Path of the object within the type, as field names separated by dots.
    at: String,
    #[serde(default)]
    kept: Storage,
    /// Method that sets a field, or the reason why it has no setter, by field.
    by_hand: BTreeMap<String, String>,
}

/// How a type stores the object until it is built.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Storage {
    /// The whole object.
    #[default]
    Whole,
    /// The whole object, or `None`.
    Perhaps,
    /// A list of objects; the setters change the latest one.
    Latest,
    /// Only the fields with setters, in a generated `…Extras`.
    Extras,
}

impl Setters {
    /// Parses the file: an object with `description`, `types` and optionally `elsewhere`.
    ///
    /// # Errors
    /// A text that does not have this form. Its names are checked later against the schemas.
    pub fn parse(text: &str) -> Result<Self, Mistakes> {
        serde_json::from_str(text).map_err(|error| {
            mistake(&[], format!("invalid list of setters: {error}"), "write `description`, `types` and `elsewhere`")
                .into()
        })
    }

    /// Checks that all names exist in the model, and that each field of each payload is set somewhere.
    fn check(&self, model: &Model) -> Result<(), Mistakes> {
        let mut mistakes = Vec::new();
        for (place, maker) in self.types.iter().enumerate() {
            let place = place.to_string();
            let Some(object) = model.object(&maker.object) else {
                let problem = format!("`{}` makes `{}`, which is not an object of the schemas", maker.ty, maker.object);
                mistakes.push(mistake(&["types", &place, "object"], problem, "name the object as the schema does"));
                continue;
            };
            maker.check(object, &place, &mut mistakes);
        }
        let payloads = self.covers.objects(model);
        for payload in &payloads {
            let made = self.types.iter().any(|maker| maker.object == **payload);
            if made == self.elsewhere.contains_key(*payload) {
                let (problem, help) = match made {
                    true => (format!("`{payload}` is made by a type, but is listed under `elsewhere`"), "remove one"),
                    false => (
                        format!("no type of the typed API makes `{payload}`"),
                        "add the type that makes it to `types`, or say under `elsewhere` why there is none",
                    ),
                };
                mistakes.push(mistake(&[], problem, help));
            }
        }
        for payload in self.elsewhere.keys().filter(|payload| !payloads.contains(payload.as_str())) {
            let problem = format!("`{payload}` is not an object that this list has to cover");
            mistakes.push(mistake(&["elsewhere", payload], problem, "name it as the schema does, or remove it"));
        }
        self.check_names(model, &mut mistakes);
        Mistakes::none_in(mistakes)
    }

    /// Checks that no type has two setters with the same name, which could come from two objects.
    fn check_names(&self, model: &Model, mistakes: &mut Vec<Mistake>) {
        let mut names: BTreeMap<(&str, &str), &str> = BTreeMap::new();
        for (place, maker) in self.types.iter().enumerate() {
            let Some(object) = model.object(&maker.object) else { continue };
            for field in maker.setters(object) {
                let Some(other) = names.insert((&maker.ty, &field.name), &maker.object) else { continue };
                let (member, ty, of) = (&field.name, &maker.ty, &maker.object);
                mistakes.push(mistake(
                    &["types", &place.to_string(), "by_hand"],
                    format!("`{ty}` would have two setters `{member}`, one for `{other}` and one for `{of}`"),
                    format!("let a method of another name set one of them, and add `\"{member}\": \"`method`\"` here"),
                ));
            }
        }
    }
}

impl Maker {
    fn check(&self, object: &Object, place: &str, mistakes: &mut Vec<Mistake>) {
        let of = &self.object;
        for member in self.by_hand.keys().filter(|member| object.field(member).is_none()) {
            mistakes.push(mistake(
                &["types", place, "by_hand", member],
                format!("`{of}` has no field `{member}`"),
                format!("rename it as in the schema, here and in the Rust code of `{}`, or remove it", self.ty),
            ));
        }
        for field in self.setters(object).chain(object.fields.iter().filter(|field| field.required)) {
            let member = &field.name;
            if self.by_hand.contains_key(member) {
                continue;
            }
            let concerned = object.conditionals.iter().any(|c| c.subject == *member || c.requires == *member);
            let why = if field.required {
                "which is required".to_owned()
            } else if let Some(rule) = field.rules.first() {
                format!("which {rule} checks")
            } else if concerned {
                "which a conditional of the schema is about".to_owned()
            } else if matches!(&field.ty, Ty::Array { min, max, .. } if *min > 1 || max.is_some()) {
                "a list with bounds that a setter cannot keep".to_owned()
            } else {
                continue;
            };
            mistakes.push(mistake(
                &["types", place, "by_hand"],
                format!("nothing in `{}` sets `{member}` of `{of}`, {why}", self.ty),
                format!("let a method of `{}` set it, and add `\"{member}\": \"`method`\"` here", self.ty),
            ));
        }
    }

    /// Returns the fields that have generated setters.
    fn setters<'m>(&self, object: &'m Object) -> impl Iterator<Item = &'m Field> {
        object.fields.iter().filter(|field| !field.required && !self.by_hand.contains_key(&field.name))
    }
}

pub(super) fn emit(model: &Model, setters: &Setters) -> Result<TokenStream, Mistakes> {
    setters.check(model)?;
    let declared = Types::from_model(model)?;
    let mut tokens = TokenStream::new();
    let mut extras: BTreeMap<&str, &Maker> = BTreeMap::new();
    for (place, maker) in setters.types.iter().enumerate() {
        let object = model.object(&maker.object).ok_or_else(|| bug(format!("`{}` was checked", maker.object)))?;
        let names = |maker: &Maker| maker.setters(object).map(|field| field.name.clone()).collect::<Vec<_>>();
        if maker.kept == Storage::Extras
            && let Some(other) = extras.insert(&maker.object, maker)
            && names(other) != names(maker)
        {
            let problem =
                format!("`{}` and `{}` set different members of `{}` by hand", other.ty, maker.ty, maker.object);
            let help = "list the same members in both, since they share one type for the rest";
            return Err(mistake(&["types", &place.to_string(), "by_hand"], problem, help).into());
        }
        tokens.extend(methods(model, &declared, maker, object, setters.covers)?);
    }
    for maker in extras.into_values() {
        let object = model.object(&maker.object).ok_or_else(|| bug(format!("`{}` was checked", maker.object)))?;
        tokens.extend(rest(model, &declared, maker, object)?);
    }
    Ok(tokens)
}

/// Emits the setters of one type.
fn methods(
    model: &Model,
    declared: &Types,
    maker: &Maker,
    object: &Object,
    covers: Coverage,
) -> Result<Option<TokenStream>, Mistakes> {
    let parse = |text: &str| syn::parse_str::<syn::Type>(text).map_err(|e| bug(format!("`{text}` is not a type: {e}")));
    let place = match covers {
        Coverage::Packets => "crate::episode",
        Coverage::Envelope => "super",
    };
    let ty = parse(&format!("{place}::{}", maker.ty))?;
    let path = syn::parse_str::<syn::Expr>(&format!("self.{}", maker.at))
        .map_err(|error| bug(format!("`{}` is not a path of fields: {error}", maker.at)))?;
    let mut methods = Vec::new();
    let given_back = match covers {
        Coverage::Packets => quote!(self),
        Coverage::Envelope => quote!(self.refit()),
    };
    for field in maker.setters(object) {
        let (name, docs) = (ident(&field.name), doc(&field.description));
        let Setter { takes, keeps, .. } = setter(model, declared, &maker.object, field, covers)?;
        let set = match &field.ty {
            Ty::Array { .. } => quote!(object.#name.get_or_insert_with(Vec::new).extend(values)),
            _ => quote!(object.#name = Some(value)),
        };
        // A list that must not be empty is omitted instead.
        let filled = match &field.ty {
            Ty::Array { min, .. } if *min > 0 => Some(quote!(!values.is_empty())),
            _ => None,
        };
        let set = match (maker.kept, filled) {
            (Storage::Whole | Storage::Extras, None) => quote!(let object = &mut #path; #set;),
            (Storage::Whole | Storage::Extras, Some(filled)) => quote!(if #filled { let object = &mut #path; #set; }),
            (Storage::Perhaps, filled) => {
                let filled = filled.into_iter();
                quote!(if #(#filled &&)* let Some(object) = #path.as_mut() { #set; })
            }
            (Storage::Latest, filled) => {
                let filled = filled.into_iter();
                quote!(if #(#filled &&)* let Some(object) = #path.last_mut() { #set; })
            }
        };
        methods.push(match &field.ty {
            Ty::Array { .. } => {
                quote! {
                    #docs
                    ///
                    /// More values are appended to the existing ones.
                    pub fn #name(mut self, values: impl IntoIterator<Item = #takes>) -> Self {
                        let values: #keeps = values.into_iter().collect();
                        #set
                        #given_back
                    }
                }
            }
            _ => {
                let convert = match (&field.ty, model_kind(model, &field.ty)) {
                    (_, Some(Kind::FreeObject { .. })) if covers == Coverage::Packets => {
                        quote!(let value = value.into_map();)
                    }
                    (Ty::PlainText, _) | (_, Some(Kind::Integer { .. } | Kind::Any)) => {
                        quote!(let value = value.into();)
                    }
                    _ => TokenStream::new(),
                };
                quote! {
                    #docs
                    pub fn #name(mut self, value: #takes) -> Self {
                        #convert
                        #set
                        #given_back
                    }
                }
            }
        });
    }
    if methods.is_empty() {
        return Ok(None);
    }
    let mut parameters = Vec::new();
    for word in maker.ty.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| word.len() == 1) {
        let name = ident(word);
        parameters.push(if maker.numbers.contains(word) { quote!(const #name: usize) } else { quote!(#name) });
    }
    let docs = doc(&format!("Members of `{}` that no rule reads.", maker.object));
    Ok(Some(quote! {
        #docs
        impl<#(#parameters),*> #ty { #(#methods)* }
    }))
}

/// Emits the struct that stores the fields with setters until their object is built.
fn rest(model: &Model, declared: &Types, maker: &Maker, object: &Object) -> Result<TokenStream, Mistakes> {
    let (of, name) = (ident(&maker.object), format_ident!("{}Extras", maker.object));
    let (mut fields, mut names) = (Vec::new(), Vec::new());
    for field in maker.setters(object) {
        let keeps = setter(model, declared, &maker.object, field, Coverage::Packets)?.keeps;
        let name = ident(&field.name);
        fields.push(quote!(pub(super) #name: Option<#keeps>));
        names.push(name);
    }
    let docs = doc(&format!("Members of `{}` that no rule reads, until it is made.", maker.object));
    let target = if names.is_empty() { quote!(_) } else { quote!(object) };
    Ok(quote! {
        #docs
        #[derive(Clone, Debug, Default)]
        pub(crate) struct #name { #(#fields),* }

        impl #name {
            #[allow(dead_code, reason = "only some objects are taken out of a payload")]
            pub(crate) fn copied_from(#target: &#of) -> Self {
                Self { #(#names: object.#names.clone()),* }
            }

            pub(crate) fn fill(self, #target: &mut #of) {
                let Self { #(#names),* } = self;
                #(object.#names = #names;)*
            }
        }
    })
}

/// Parameter type (for a list, that of its elements) and stored type of a setter.
struct Setter {
    takes: TokenStream,
    keeps: syn::Type,
}

fn setter(model: &Model, declared: &Types, of: &str, field: &Field, covers: Coverage) -> Result<Setter, Mistakes> {
    let mut keeps = declared.member(of, field)?;
    SerdeJsonPaths.visit_type_mut(&mut keeps);
    let takes = match (&field.ty, model_kind(model, &field.ty)) {
        (Ty::Array { .. }, _) => argument(&keeps).to_token_stream(),
        (Ty::PlainText, _) | (_, Some(Kind::Integer { .. } | Kind::Any)) => quote!(impl Into<#keeps>),
        (_, Some(Kind::FreeObject { .. })) if covers == Coverage::Packets => quote!(crate::episode::Fields),
        _ => quote!(#keeps),
    };
    Ok(Setter { takes, keeps })
}

/// Replaces `serde_json` paths with its re-export, for crates that do not depend on it.
struct SerdeJsonPaths;

impl VisitMut for SerdeJsonPaths {
    fn visit_path_mut(&mut self, path: &mut syn::Path) {
        visit_mut::visit_path_mut(self, path);
        if path.segments.first().is_some_and(|first| first.ident == "serde_json") {
            path.segments.insert(0, ident("omen_types").into());
        }
    }
}

fn model_kind<'m>(model: &'m Model, ty: &Ty) -> Option<&'m Kind> {
    model.defs.get(ty.reference()?).map(|def| &def.kind)
}

fn mistake(place: &[&str], problem: String, help: impl Into<String>) -> Mistake {
    Mistake {
        file: FILE.to_owned(),
        pointer: place.iter().map(|step| format!("/{step}")).collect(),
        kind: "setters",
        problem,
        help: help.into(),
        place: None,
    }
}
