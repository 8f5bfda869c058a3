//! Names of members that contain secrets.

/// Returns whether the name of a member suggests that it contains a secret. A name that merely contains such a word
/// also counts: hiding too much costs a line of a message, while hiding too little costs the secret.
pub fn is_name(name: &str) -> bool {
    let plain: String = name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect();
    WORDS.iter().any(|word| plain.contains(word))
}

/// Words in lower case, without hyphens and underscores.
const WORDS: [&str; 13] = [
    "password",
    "passwd",
    "passphrase",
    "secret",
    "token",
    "apikey",
    "accesskey",
    "privatekey",
    "credential",
    "authorization",
    "cookie",
    "bearer",
    "signature",
];

#[cfg(test)]
mod tests {
    use super::is_name;

    #[test]
    fn names_of_secrets_in_every_spelling() {
        for name in
            ["password", "API-Key", "x_access_token", "clientSecret", "Authorization", "private_key", "Set-Cookie"]
        {
            assert!(is_name(name), "{name}");
        }
        for name in ["path", "key", "keys", "author", "url", "mode", ""] {
            assert!(!is_name(name), "{name}");
        }
    }
}
