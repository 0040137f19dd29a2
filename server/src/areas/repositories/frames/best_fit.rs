//! The best of several candidates, if it is certain.

/// The best of what fits a frame, and by how many parts of its path.
#[derive(Clone, Debug)]
pub(super) struct BestFit<T> {
    parts: usize,
    found: Found<T>,
}

/// What fits by the most parts.
#[derive(Clone, Debug)]
pub(super) enum Found<T> {
    /// Nothing of which it can be shown. What fits less is another file.
    Nothing,
    One(T),
    /// Equally well, so it is not known which.
    Several,
}

impl<T> BestFit<T> {
    /// Returns that nothing fits.
    pub(super) fn none() -> Self {
        Self { parts: 0, found: Found::Nothing }
    }

    /// Adds what fits by a number of parts.
    pub(super) fn add(&mut self, parts: usize, found: Found<T>) {
        if parts > self.parts {
            *self = Self { parts, found };
        } else if parts == self.parts && !matches!(found, Found::Nothing) {
            self.found = match self.found {
                Found::Nothing => found,
                Found::One(_) | Found::Several => Found::Several,
            };
        }
    }

    /// Returns by how many parts the best fits, and what it is.
    pub(super) fn into_parts(self) -> (usize, Found<T>) {
        (self.parts, self.found)
    }

    /// Returns the best if it is certain.
    pub(super) fn into_only(self) -> Option<T> {
        match self.found {
            Found::One(only) => Some(only),
            Found::Nothing | Found::Several => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Found::{Nothing, One, Several};
    use super::*;

    #[test]
    fn only_the_one_best_is_certain() {
        for (fits, expected) in [
            (&[(2, One("a"))][..], Some("a")),
            (&[(2, One("a")), (3, One("b"))], Some("b")),
            (&[(3, One("a")), (2, One("b"))], Some("a")),
            (&[(2, One("a")), (2, One("b"))], None),
            (&[(2, One("a")), (2, One("b")), (2, One("c"))], None),
            (&[(2, One("a")), (0, Nothing)], Some("a")),
            (&[(3, Several), (2, One("a"))], None),
            (&[(3, Several), (3, One("a"))], None),
            (&[(2, Several), (3, One("a"))], Some("a")),
            // A file without the line.
            (&[(2, Nothing), (2, One("a"))], Some("a")),
            (&[(2, One("a")), (2, Nothing)], Some("a")),
            (&[(3, Nothing), (2, One("a"))], None),
            (&[(2, One("a")), (3, Nothing)], None),
            (&[], None),
        ] {
            let mut best = BestFit::none();
            for (parts, found) in fits {
                best.add(*parts, found.clone());
            }
            assert_eq!(best.into_only(), expected, "{fits:?}");
        }
    }
}
