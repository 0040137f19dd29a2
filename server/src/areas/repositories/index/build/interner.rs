//! Numbers strings in the order in which they come.

use hashbrown::HashTable;
use xxhash_rust::xxh3::xxh3_64;

/// Strings, each once.
#[derive(Debug, Default)]
pub(super) struct Interner {
    numbers: HashTable<u32>,
    text: String,
    /// Where each string ends in the text.
    ends: Vec<usize>,
}

impl Interner {
    /// Returns the number of a string, which is the next one if it is new.
    pub(super) fn number(&mut self, string: &str) -> u32 {
        let Self { numbers, text, ends } = self;
        let hash = xxh3_64(string.as_bytes());
        let is_it = |number: &u32| get(text, ends, *number) == string;
        if let Some(number) = numbers.find(hash, is_it) {
            return *number;
        }
        // Fewer strings than bytes of all text, which are limited.
        let number = ends.len() as u32;
        text.push_str(string);
        ends.push(text.len());
        numbers.insert_unique(hash, number, |number| xxh3_64(get(text, ends, *number).as_bytes()));
        number
    }

    /// Returns the string of a number.
    pub(super) fn get(&self, number: u32) -> &str {
        get(&self.text, &self.ends, number)
    }

    /// Returns how many strings there are.
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Returns the numbers sorted by a key of their strings, and for each number its position.
    pub(super) fn sorted<'a, K: Ord>(&'a self, key: impl Fn(&'a str) -> K) -> (Vec<u32>, Vec<u32>) {
        let mut order: Vec<(K, u32)> =
            (0..self.len() as u32).map(|number| (key(self.get(number)), number)).collect();
        order.sort_unstable();
        let order: Vec<u32> = order.into_iter().map(|(_, number)| number).collect();
        let mut positions = vec![0; order.len()];
        for (position, number) in (0..).zip(&order) {
            if let Some(of_number) = positions.get_mut(*number as usize) {
                *of_number = position;
            }
        }
        (order, positions)
    }
}

fn get<'a>(text: &'a str, ends: &[usize], number: u32) -> &'a str {
    let number = number as usize;
    let end = ends.get(number).copied().unwrap_or(0);
    let start = number.checked_sub(1).and_then(|before| ends.get(before)).copied().unwrap_or(0);
    text.get(start..end).unwrap_or_default()
}
