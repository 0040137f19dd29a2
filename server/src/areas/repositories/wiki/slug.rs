//! The names of pages in URLs.

use std::collections::HashSet;

use xxhash_rust::xxh3::xxh3_64;

use super::limits::SLUG_CHARS_MAX;

/// Gives out slugs: letters, digits and `-` only, each one once. A slug does not depend on the ones
/// before it unless two are equal.
#[derive(Debug, Default)]
pub struct Slugs {
    used: HashSet<String>,
}

impl Slugs {
    /// Returns the slug of a name.
    pub fn slug(&mut self, name: &str) -> String {
        let mut slug = String::new();
        for char in name.chars() {
            if char.is_ascii_alphanumeric() {
                slug.push(char.to_ascii_lowercase());
            } else if !slug.is_empty() && !slug.ends_with('-') {
                slug.push('-');
            }
        }
        slug.truncate(SLUG_CHARS_MAX);
        let slug = slug.trim_matches('-').to_owned();
        // The hash keeps names apart that differ in other characters only.
        let hash = format!("{:08x}", xxh3_64(name.as_bytes()) & 0xffff_ffff);
        let mut unique = if slug.is_empty() { hash.clone() } else { slug.clone() };
        let mut attempt = 0_u32;
        while !self.used.insert(unique.clone()) {
            unique = match attempt {
                0 => format!("{slug}-{hash}"),
                _ => format!("{slug}-{hash}-{attempt}"),
            };
            attempt += 1;
        }
        unique
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slugs_are_unique_and_safe() {
        let mut slugs = Slugs::default();
        let names = ["src/store.rs", "src/store-rs", "SRC/Store.rs", "日本", "", "../..", "a b"];
        let found: Vec<String> = names.iter().map(|name| slugs.slug(name)).collect();
        assert_eq!(found.first().unwrap(), "src-store-rs");
        assert_eq!(found.iter().collect::<HashSet<_>>().len(), names.len());
        for slug in found {
            assert!(
                !slug.is_empty()
                    && slug.chars().all(|char| char.is_ascii_alphanumeric() || char == '-')
            );
        }
    }
}
