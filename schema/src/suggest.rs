//! "Did you mean": the most similar name in a list, and the list itself.

/// Maximum length of a compared text in bytes: a pathological key must not cost quadratic time, and no name in the
/// protocol is that long.
const LONGEST: usize = 64;

/// Returns the candidate most similar to `text`, if the difference may be a typing error. Case is ignored.
///
/// ```
/// use omen_schema::suggest::nearest;
///
/// assert_eq!(nearest("READD", ["READ", "WRITE"]), Some("READ"));
/// assert_eq!(nearest("execute", ["READ", "WRITE"]), None);
/// ```
pub fn nearest<'c>(text: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
    if text.len() > LONGEST {
        return None;
    }
    let (folded, length) = (text.to_lowercase(), text.chars().count());
    // Up to a third of the letters may be wrong or missing: beyond that, all short names look alike.
    let limit = |candidate: &str| (length.max(candidate.chars().count()) / 3).max(1);
    // Each additional or missing letter counts as an error.
    let may_be_near = |candidate: &&str| {
        !candidate.is_ascii() || !text.is_ascii() || candidate.len().abs_diff(length) <= limit(candidate)
    };
    candidates
        .into_iter()
        .filter(may_be_near)
        .map(|candidate| (strsim::osa_distance(&folded, &candidate.to_lowercase()), candidate))
        .filter(|(distance, candidate)| *distance <= limit(candidate))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// Lists names in backticks, separated by commas.
pub fn list<'n>(names: impl IntoIterator<Item = &'n str>) -> String {
    names.into_iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// Returns the only candidate that begins with the text, which must have at least four letters. Case is ignored.
///
/// ```
/// use omen_schema::suggest::completed;
///
/// assert_eq!(completed("Decision", ["DecisionPacket", "ObservationPacket"]), Some("DecisionPacket"));
/// assert_eq!(completed("VERIFY", ["VERIFY_ONE", "VERIFY_ALL"]), None);
/// ```
pub fn completed<'c>(text: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
    let folded = text.to_lowercase();
    if folded.chars().count() < 4 {
        return None;
    }
    only(candidates.into_iter().filter(|candidate| candidate.to_lowercase().starts_with(&folded)))
}

/// Returns the only identifier that a text may be a misspelling of: with different capitalization or separators, an `O`
/// for a `0` or an `l` for a `1`, or one wrong letter in a word of five or more. A different number or shorter word
/// means a different identifier.
///
/// ```
/// use omen_schema::suggest::misspelt;
///
/// assert_eq!(misspelt("token_pool_12O", ["token_pool_120", "token_pool_121"]), Some("token_pool_120"));
/// assert_eq!(misspelt("pkt_directve_1", ["pkt_directive_1", "pkt_directive_2"]), Some("pkt_directive_1"));
/// assert_eq!(misspelt("pkt_directive_3", ["pkt_directive_1"]), None);
/// assert_eq!(misspelt("task_a", ["task_b"]), None);
/// assert_eq!(misspelt("task_11_1", ["task_1_11"]), None);
/// ```
pub fn misspelt<'c>(id: &str, ids: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
    if id.len() > LONGEST {
        return None;
    }
    only(ids.into_iter().filter(|other| other.len() <= LONGEST && is_misspelt(id, other)))
}

/// Returns the only known identifier that a text may be a misspelling of, like [`misspelt`], if the known ones cannot
/// be listed: a set of fingerprints recognizes an identifier without storing it. Identifiers with more than one
/// difference, apart from their case, are not found.
///
/// ```
/// use omen_schema::suggest::recalled;
///
/// let is_known = |id: &str| id == "token_pool_120";
/// assert_eq!(recalled("token_pool_12O", is_known).as_deref(), Some("token_pool_120"));
/// assert_eq!(recalled("token_poo_120", is_known), None, "a short word");
/// assert_eq!(recalled("tokken_pool_120", is_known).as_deref(), Some("token_pool_120"));
/// assert_eq!(recalled("token_pool_121", is_known), None);
/// ```
pub fn recalled(id: &str, is_known: impl Fn(&str) -> bool) -> Option<String> {
    if id.len() > LONGEST || !id.is_ascii() {
        return None;
    }
    let letters = || (b'a'..=b'z').chain(*b"_-.01OIl").map(char::from);
    let mut found: Option<String> = None;
    let mut text = String::with_capacity(id.len() + 1);
    let mut is_unique = true;
    let mut consider = |parts: [&str; 3]| {
        text.clear();
        parts.iter().for_each(|part| text.push_str(part));
        if text != id && is_known(&text) && is_misspelt(id, &text) && found.as_ref() != Some(&text) {
            is_unique &= found.is_none();
            found = Some(text.clone());
        }
    };
    let lower = id.to_lowercase();
    let mut buffer = [0; 4];
    for id in [id, &lower] {
        consider([id, "", ""]);
        for at in 0..=id.len() {
            let (before, rest) = id.split_at(at);
            let mut chars = rest.chars();
            let (first, after) = (chars.next(), chars.as_str());
            for letter in letters() {
                let letter = letter.encode_utf8(&mut buffer);
                consider([before, letter, rest]);
                consider([before, letter, after]);
            }
            consider([before, "", after]);
            if let (Some(first), Some(second)) = (first, chars.next()) {
                let swapped: String = [second, first].into_iter().collect();
                consider([before, &swapped, chars.as_str()]);
            }
        }
        if *id == lower {
            break;
        }
    }
    found.filter(|_| is_unique)
}

fn is_misspelt(id: &str, other: &str) -> bool {
    let words = |id: &str| -> Vec<String> {
        let looks = |c: char| match c.to_ascii_lowercase() {
            'o' => '0',
            'l' | 'i' => '1',
            c => c,
        };
        id.split(['_', '-', '.']).map(|word| word.chars().map(looks).collect()).collect()
    };
    let (words, others) = (words(id), words(other));
    if joined(&words) == joined(&others) {
        return true;
    }
    let is_word =
        |word: &str| word.chars().count() >= 5 && !word.contains(|c: char| c.is_ascii_digit() && !"01".contains(c));
    let mut differ = words.iter().zip(&others).filter(|(one, other)| one != other);
    match (differ.next(), differ.next()) {
        (Some((one, other)), None) if words.len() == others.len() => {
            is_word(one) && is_word(other) && strsim::osa_distance(one, other) == 1
        }
        _ => false,
    }
}

/// Joins the words without their separators, except between two numbers: `11_1` and `1_11` are different identifiers.
fn joined(words: &[String]) -> String {
    words.iter().fold(String::new(), |mut joined, word| {
        if joined.ends_with(|c: char| c.is_ascii_digit()) && word.starts_with(|c: char| c.is_ascii_digit()) {
            joined.push('_');
        }
        joined + word
    })
}

fn only<T>(mut all: impl Iterator<Item = T>) -> Option<T> {
    let first = all.next()?;
    all.next().is_none().then_some(first)
}
