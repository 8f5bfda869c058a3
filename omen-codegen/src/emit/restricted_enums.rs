//! Enums without the values that a branch excludes, as parameter types of setters, so that an excluded value does not compile.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};

use super::names::{pascal, snake};
use super::{Context, bug, doc, ident};
use crate::mistake::Mistakes;
use crate::model::{Branch, Def, Excluded, Field, Kind};

/// Parameter of a setter in a branch that excludes some values of the field.
pub(super) struct RestrictedEnum {
    /// Enum of the remaining values.
    pub(super) items: TokenStream,
    /// Trait that explains the error for a value of the full enum.
    pub(super) explains: TokenStream,
    /// Parameter type of the setter.
    pub(super) takes: TokenStream,
    /// Conversion to the full enum: an expression with `value`.
    pub(super) convert: TokenStream,
}

pub(super) fn emit(
    context: &Context<'_>,
    def: &Def,
    branch: &Branch,
    field: &Field,
    excluded: &Excluded,
) -> Result<RestrictedEnum, Mistakes> {
    let of = field.ty.reference().ok_or_else(|| bug(format!("`{}` is not an enum", field.name)))?;
    let Def { kind: Kind::Enum(values), description, .. } = context.model.def(of)? else {
        return Err(bug(format!("`{of}` is not an enum")));
    };
    let begin = pascal(&branch.name);
    let (whole, narrow) = (ident(of), format_ident!("{begin}{of}"));
    if context.model.defs.contains_key(&narrow.to_string()) {
        return Err(bug(format!("`{narrow}` is a definition, and what remains of `{of}` in `{}`", branch.name)));
    }
    let is_out = |wire: &str| excluded.values.iter().any(|(value, _)| value == wire);
    let (out, left): (Vec<_>, Vec<_>) = values.iter().partition(|value| is_out(&value.wire));
    let idents: Vec<Ident> = left.iter().map(|value| ident(&value.name)).collect();
    let docs = left.iter().map(|value| doc(&value.description));
    let names = list(&out.iter().map(|value| value.wire.as_str()).collect::<Vec<_>>());
    let branch_of = format!("{}::{}", def.name, branch.name);
    let says = doc(&format!("{} In [`{branch_of}`], it is not {names}.", description.trim_end()));
    let expects = list(&left.iter().map(|value| value.wire.as_str()).collect::<Vec<_>>());
    let name = narrow.to_string();
    let items = quote! {
        #says
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum #narrow { #(#docs #idents),* }

        impl From<#narrow> for #whole {
            fn from(value: #narrow) -> Self {
                match value { #(#narrow::#idents => Self::#idents),* }
            }
        }

        impl TryFrom<#whole> for #narrow {
            type Error = Invalid;

            fn try_from(value: #whole) -> Result<Self, Invalid> {
                match value {
                    #(#whole::#idents => Ok(Self::#idents),)*
                    other => Err(Invalid::new(#name, #expects, other.to_string())),
                }
            }
        }
    };
    let module = ident(&snake(def.name.trim_end_matches("Payload")));
    let explained = format_ident!("{begin}{}Values", pascal(&field.name));
    let message = format!("SCHEMA: `{}` of `{branch_of}()` cannot be {names}, which a `{{Self}}` may be", field.name);
    let note = format!("use `{narrow}`, which has the other values");
    let instead = excluded.values.iter().map(|(_, instead)| instead);
    let explains = quote! {
        #[diagnostic::on_unimplemented(message = #message, label = "not narrowed", note = #note, #(note = #instead),*)]
        pub trait #explained {
            fn whole(self) -> #whole;
        }

        // A trait in this module may have the same name.
        impl #explained for super::super::#narrow {
            fn whole(self) -> #whole {
                self.into()
            }
        }
    };
    let takes = quote!(impl needs::#module::#explained);
    let convert = quote!(needs::#module::#explained::whole(value));
    Ok(RestrictedEnum { items, explains, takes, convert })
}

/// Returns a list of names as prose.
fn list(names: &[&str]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(" or ")
}
