//! Placeholders in texts: `{limit}`.

/// Returns the names of the placeholders in a text, without duplicates, in order of first occurrence.
///
/// # Errors
/// A description of the malformed braces. Each placeholder becomes the name of a parameter, so it must not be a keyword.
pub(crate) fn placeholders(text: &str) -> Result<Vec<&str>, String> {
    let mut names = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find(['{', '}']) {
        let (_, inner) = rest.split_at(at);
        let Some((name, after)) = inner.strip_prefix('{').and_then(|inner| inner.split_once('}')) else {
            return Err("this text has an unmatched brace".to_owned());
        };
        let is_lower = name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
        if !is_lower || syn::parse_str::<syn::Ident>(name).is_err() {
            return Err(format!("`{{{name}}}` cannot be a placeholder"));
        }
        if !names.contains(&name) {
            names.push(name);
        }
        rest = after;
    }
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::placeholders;

    #[test]
    fn names_come_once_and_in_order() {
        assert_eq!(placeholders("at most {limit} of {what}, not {limit}"), Ok(vec!["limit", "what"]));
        assert_eq!(placeholders("nothing"), Ok(vec![]));
    }

    #[test]
    fn other_braces_are_refused() {
        for text in ["{", "}", "{}", "{a b}", "{fn}", "{Limit}", "{0}", "a } b {c}"] {
            assert!(placeholders(text).is_err(), "{text}");
        }
    }
}
