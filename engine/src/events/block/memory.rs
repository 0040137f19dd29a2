//! How much of the cache a decoded part takes.

/// What knows its size in memory.
pub(super) trait InMemory {
    fn bytes(&self) -> usize;
}

impl<T> InMemory for Vec<T> {
    fn bytes(&self) -> usize {
        self.capacity() * size_of::<T>()
    }
}
