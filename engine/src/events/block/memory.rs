//! Memory accounting of decoded parts in the cache.

/// A value that can report its bytes in memory.
pub(super) trait InMemory {
    fn bytes(&self) -> usize;
}

impl<T> InMemory for Vec<T> {
    fn bytes(&self) -> usize {
        self.capacity() * size_of::<T>()
    }
}
