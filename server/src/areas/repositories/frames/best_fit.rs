//! The best of several candidates, if it is certain.

/// The best of what fits a frame, and by how many parts of its path.
#[derive(Clone, Debug)]
pub(super) struct BestFit<T> {
    parts: usize,
    /// `None` if several fit equally well.
    only: Option<T>,
}

impl<T> BestFit<T> {
    /// Returns that nothing fits.
    pub(super) fn none() -> Self {
        Self { parts: 0, only: None }
    }

    /// Adds what fits by a number of parts; `None` if several things do.
    pub(super) fn add(&mut self, parts: usize, fitting: Option<T>) {
        if parts > self.parts {
            *self = Self { parts, only: fitting };
        } else if parts == self.parts {
            self.only = None;
        }
    }

    /// Returns by how many parts the best fits.
    pub(super) fn parts(&self) -> usize {
        self.parts
    }

    /// Returns the best; `None` if nothing fits, or if several things fit equally well: then it is
    /// not known which.
    pub(super) fn into_only(self) -> Option<T> {
        self.only
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fits_equally_well_is_unknown() {
        for (fits, expected) in [
            (&[(2, Some("a"))][..], Some("a")),
            (&[(2, Some("a")), (3, Some("b"))], Some("b")),
            (&[(3, Some("a")), (2, Some("b"))], Some("a")),
            (&[(2, Some("a")), (2, Some("b"))], None),
            (&[(2, Some("a")), (2, Some("b")), (2, Some("c"))], None),
            (&[(2, Some("a")), (0, None)], Some("a")),
            // Several files of the first repository fit.
            (&[(3, None), (2, Some("a"))], None),
            (&[(3, None), (3, Some("a"))], None),
            (&[(2, None), (3, Some("a"))], Some("a")),
            (&[], None),
        ] {
            let mut best = BestFit::none();
            for (parts, fitting) in fits {
                best.add(*parts, *fitting);
            }
            assert_eq!(best.into_only(), expected, "{fits:?}");
        }
    }
}
