//! One file: what a power loss leaves of it. The real file has its contents as programs see them.

use crate::random::Random;

/// The unit that a disk writes atomically.
const SECTOR_BYTES: u64 = 512;

/// A change of the content that has not been synced successfully.
#[derive(Clone, Debug)]
enum ContentChange {
    Write { offset: u64, bytes: Vec<u8> },
    Length(u64),
}

/// The durable content of a file, and the changes that may or may not reach the disk.
#[derive(Clone, Debug, Default)]
pub(crate) struct Inode {
    durable: Vec<u8>,
    pending: Vec<ContentChange>,
}

impl Inode {
    /// Returns a file that existed before the simulation.
    pub(crate) fn durable(content: Vec<u8>) -> Self {
        Self { durable: content, pending: Vec::new() }
    }

    pub(crate) fn write(&mut self, offset: u64, bytes: &[u8]) {
        // Most writes are appends: one change contains many of them, so that long files stay cheap.
        if let Some(ContentChange::Write { offset: before, bytes: written }) =
            self.pending.last_mut()
            && *before + written.len() as u64 == offset
            && written.len() < 1 << 20
        {
            written.extend_from_slice(bytes);
            return;
        }
        self.pending.push(ContentChange::Write { offset, bytes: bytes.to_vec() });
    }

    pub(crate) fn set_len(&mut self, length: u64) {
        self.pending.push(ContentChange::Length(length));
    }

    /// Makes all changes durable.
    pub(crate) fn sync(&mut self) {
        for change in std::mem::take(&mut self.pending) {
            apply(&mut self.durable, &change);
        }
    }

    /// Fails a sync as Linux does: some sectors are written, the others count as clean from now on.
    /// They can still be read, and no later sync writes them.
    pub(crate) fn fail_sync(&mut self, random: &mut Random) {
        for change in std::mem::take(&mut self.pending) {
            match change {
                ContentChange::Write { offset, bytes } => {
                    keep_sectors(&mut self.durable, offset, &bytes, || random.percent(50));
                }
                ContentChange::Length(_) => apply(&mut self.durable, &change),
            }
        }
    }

    /// Replaces the durable content after decay.
    pub(crate) fn decay(&mut self, content: Vec<u8>) {
        self.durable = content;
        self.pending.clear();
    }

    /// Returns what is left after a power loss: of each unsynced change every sector may be old or
    /// new. A file may have grown without its bytes; it ends in zeros then.
    pub(crate) fn after_power_loss(&self, random: &mut Random) -> Vec<u8> {
        let mut content = self.durable.clone();
        // The sectors of a file often share the same fate.
        let written = *random.pick(&[0, 0, 15, 50, 85, 100]);
        let cut = random.percent(30).then(|| random.index(self.pending.len() + 1));
        for (at, change) in self.pending.iter().enumerate() {
            if cut.is_some_and(|cut| at >= cut) {
                break;
            }
            match change {
                ContentChange::Length(_) if random.percent(50) => apply(&mut content, change),
                ContentChange::Length(_) => {}
                ContentChange::Write { offset, bytes } => {
                    keep_sectors(&mut content, *offset, bytes, || random.percent(written));
                }
            }
        }
        let longest = self.pending.iter().map(ContentChange::end).max().unwrap_or(0);
        if longest > content.len() as u64 && random.percent(25) {
            let length = content.len() as u64;
            let grown = length + random.below(longest - length + 1);
            content.resize(grown as usize, 0);
        }
        content
    }
}

impl ContentChange {
    fn end(&self) -> u64 {
        match self {
            Self::Write { offset, bytes } => offset + bytes.len() as u64,
            Self::Length(length) => *length,
        }
    }
}

fn apply(content: &mut Vec<u8>, change: &ContentChange) {
    match change {
        ContentChange::Write { offset, bytes } => put(content, *offset, bytes),
        ContentChange::Length(length) => content.resize(*length as usize, 0),
    }
}

fn put(content: &mut Vec<u8>, offset: u64, bytes: &[u8]) {
    let (from, to) = (offset as usize, offset as usize + bytes.len());
    if content.len() < to {
        content.resize(to, 0);
    }
    content[from..to].copy_from_slice(bytes);
}

/// Writes those sectors of a change for which `keep` returns true.
fn keep_sectors(content: &mut Vec<u8>, offset: u64, bytes: &[u8], mut keep: impl FnMut() -> bool) {
    let mut at = 0;
    while at < bytes.len() {
        let sector_end = (offset + at as u64) / SECTOR_BYTES * SECTOR_BYTES + SECTOR_BYTES;
        let next = ((sector_end - offset) as usize).min(bytes.len());
        if keep() {
            put(content, offset + at as u64, &bytes[at..next]);
        }
        at = next;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a file of two synced sectors, of which the second is then rewritten together with a
    /// third.
    fn file() -> Inode {
        let mut file = Inode::default();
        file.write(0, &[1; 1_024]);
        file.sync();
        file.write(512, &[2; 1_024]);
        file
    }

    #[test]
    fn synced_content_survives_and_the_rest_is_torn_at_sectors() {
        let mut seen = std::collections::BTreeSet::new();
        for seed in 0..400 {
            let left = file().after_power_loss(&mut Random::new(seed));
            assert_eq!(left[..512], [1; 512]);
            assert!(left.len() <= 1_536);
            for sector in left.chunks(512) {
                assert!(sector.iter().all(|byte| *byte == sector[0]), "seed {seed}");
            }
            seen.insert((left[512], left.get(1_024).copied()));
        }
        // Old and new in the second; absent, zeros and new in the third: all possible outcomes.
        let second = [1, 2];
        let all = second.iter().flat_map(|s| [(*s, None), (*s, Some(0)), (*s, Some(2))]).collect();
        assert_eq!(seen, all);
    }

    #[test]
    fn a_failed_sync_permanently_loses_what_it_did_not_write() {
        let mut lost = false;
        for seed in 0..50 {
            let mut file = file();
            file.fail_sync(&mut Random::new(seed));
            assert!(file.pending.is_empty());
            file.sync();
            let left = file.after_power_loss(&mut Random::new(seed));
            lost |= left.get(512) == Some(&1);
        }
        assert!(lost);
    }

    #[test]
    fn length_changes_may_be_lost_until_they_are_synced() {
        let mut file = file();
        file.sync();
        file.set_len(100);
        let lengths = (0..50).map(|seed| file.after_power_loss(&mut Random::new(seed)).len());
        assert_eq!(lengths.collect::<std::collections::BTreeSet<_>>(), [100, 1_536].into());
        file.sync();
        assert_eq!(file.after_power_loss(&mut Random::new(1)).len(), 100);
    }
}
