//! One file: what of it a power loss leaves. Its content as programs see it is in the real file.

use crate::random::Random;

/// What a disk writes whole or not at all.
const SECTOR_BYTES: u64 = 512;

/// A change of the content that no successful sync has followed.
#[derive(Clone, Debug)]
enum Change {
    Write { offset: u64, bytes: Vec<u8> },
    Length(u64),
}

/// The durable content of a file, and the changes that may or may not reach the disk.
#[derive(Clone, Debug, Default)]
pub(crate) struct Inode {
    durable: Vec<u8>,
    pending: Vec<Change>,
}

impl Inode {
    /// A file that was there before the simulation.
    pub(crate) fn durable(content: Vec<u8>) -> Self {
        Self { durable: content, pending: Vec::new() }
    }

    pub(crate) fn write(&mut self, offset: u64, bytes: &[u8]) {
        // Appends are most of all writes: one change holds many, so that long files stay cheap.
        if let Some(Change::Write { offset: before, bytes: written }) = self.pending.last_mut()
            && *before + written.len() as u64 == offset
            && written.len() < 1 << 20
        {
            written.extend_from_slice(bytes);
            return;
        }
        self.pending.push(Change::Write { offset, bytes: bytes.to_vec() });
    }

    pub(crate) fn set_len(&mut self, length: u64) {
        self.pending.push(Change::Length(length));
    }

    /// Makes all changes durable.
    pub(crate) fn sync(&mut self) {
        for change in std::mem::take(&mut self.pending) {
            apply(&mut self.durable, &change);
        }
    }

    /// A sync that fails, as Linux does it: some sectors were written, the others count as clean from now on. They can
    /// still be read, and no later sync writes them.
    pub(crate) fn fail_sync(&mut self, random: &mut Random) {
        for change in std::mem::take(&mut self.pending) {
            match change {
                Change::Write { offset, bytes } => {
                    keep_sectors(&mut self.durable, offset, &bytes, || random.percent(50));
                }
                Change::Length(_) => apply(&mut self.durable, &change),
            }
        }
    }

    /// Changes the durable content as decay does.
    pub(crate) fn decay(&mut self, content: Vec<u8>) {
        self.durable = content;
        self.pending.clear();
    }

    /// What is left after a power loss: of each unsynced change every sector may be old or new. A file may have grown without
    /// its bytes; then it ends in zeros.
    pub(crate) fn after_power_loss(&self, random: &mut Random) -> Vec<u8> {
        let mut content = self.durable.clone();
        // The luck of a file is often the same for all of its sectors.
        let written = *random.pick(&[0, 0, 15, 50, 85, 100]);
        let cut = random.percent(30).then(|| random.index(self.pending.len() + 1));
        for (at, change) in self.pending.iter().enumerate() {
            if cut.is_some_and(|cut| at >= cut) {
                break;
            }
            match change {
                Change::Length(_) if random.percent(50) => apply(&mut content, change),
                Change::Length(_) => {}
                Change::Write { offset, bytes } => {
                    keep_sectors(&mut content, *offset, bytes, || random.percent(written));
                }
            }
        }
        let longest = self.pending.iter().map(Change::end).max().unwrap_or(0);
        if longest > content.len() as u64 && random.percent(25) {
            let length = content.len() as u64;
            let grown = length + random.below(longest - length + 1);
            content.resize(grown as usize, 0);
        }
        content
    }
}

impl Change {
    fn end(&self) -> u64 {
        match self {
            Self::Write { offset, bytes } => offset + bytes.len() as u64,
            Self::Length(length) => *length,
        }
    }
}

fn apply(content: &mut Vec<u8>, change: &Change) {
    match change {
        Change::Write { offset, bytes } => put(content, *offset, bytes),
        Change::Length(length) => content.resize(*length as usize, 0),
    }
}

fn put(content: &mut Vec<u8>, offset: u64, bytes: &[u8]) {
    let (from, to) = (offset as usize, offset as usize + bytes.len());
    if content.len() < to {
        content.resize(to, 0);
    }
    content[from..to].copy_from_slice(bytes);
}

/// Writes those sectors of a change that `keep` says.
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

    /// A file of two synced sectors, of which the second is then written anew together with a third.
    fn file() -> Inode {
        let mut file = Inode::default();
        file.write(0, &[1; 1_024]);
        file.sync();
        file.write(512, &[2; 1_024]);
        file
    }

    #[test]
    fn what_was_synced_survives_and_the_rest_is_torn_at_sectors() {
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
        // Old and new in the second; absent, zeros and new in the third: all that can be.
        let second = [1, 2];
        let all = second.iter().flat_map(|s| [(*s, None), (*s, Some(0)), (*s, Some(2))]).collect();
        assert_eq!(seen, all);
    }

    #[test]
    fn a_failed_sync_loses_what_it_did_not_write_for_good() {
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
    fn lengths_are_changes_too() {
        let mut file = file();
        file.sync();
        file.set_len(100);
        let lengths = (0..50).map(|seed| file.after_power_loss(&mut Random::new(seed)).len());
        assert_eq!(lengths.collect::<std::collections::BTreeSet<_>>(), [100, 1_536].into());
        file.sync();
        assert_eq!(file.after_power_loss(&mut Random::new(1)).len(), 100);
    }
}
