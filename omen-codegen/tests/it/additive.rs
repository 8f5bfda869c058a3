//! Optional members that a schema gains do not break code that uses the generated types.

use omen_codegen::emit::{self, Lens};

/// A literal or an exhaustive pattern of a struct would name all members, so a new one would break it.
#[test]
fn no_generated_struct_can_be_written_as_a_literal_elsewhere() {
    let model = omen_codegen::model(omen_schema::FILES.iter().copied()).unwrap();
    let lens = Lens::parse(include_str!("../../../omen-types/lens.json")).unwrap();
    let file = syn::parse_file(emit::types(&model, &lens).unwrap().as_str()).unwrap();
    let mut objects = 0;
    for item in structs(file.items) {
        let is_object = model.object(item.ident.to_string().trim_end_matches("Facts")).is_some();
        if is_object && matches!(item.vis, syn::Visibility::Public(_)) {
            let is_open = item.attrs.iter().any(|attr| attr.path().is_ident("non_exhaustive"));
            assert!(is_open, "`{}` is not `#[non_exhaustive]`", item.ident);
            objects += 1;
        }
    }
    let of_schema = model.defs.keys().filter(|name| model.object(name).is_some()).count();
    assert!(objects > of_schema, "{objects} structs were checked for {of_schema} objects and their facts");
}

/// Returns the structs of a file and its modules.
fn structs(items: Vec<syn::Item>) -> Vec<syn::ItemStruct> {
    let mut found = Vec::new();
    for item in items {
        match item {
            syn::Item::Struct(item) => found.push(item),
            syn::Item::Mod(module) => {
                found.extend(structs(module.content.map(|(_, items)| items).unwrap_or_default()));
            }
            _ => {}
        }
    }
    found
}
