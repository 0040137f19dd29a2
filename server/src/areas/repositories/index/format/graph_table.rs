//! The graph of dependencies, and the ranks of the files in it.

use super::super::error::IndexError;
use super::super::model::{Dependency, FileId};
use super::bytes::{ByteReader, ByteWriter};
use super::sections::{compress, decompress_table};

/// Parts of a weight of 1 that are stored.
const WEIGHT_PARTS: f64 = 16.0;

/// The dependencies, and the rank of each file.
#[derive(Debug, Default, PartialEq)]
pub(in super::super) struct GraphTable {
    /// Sorted by `from` and `to`.
    pub(in super::super) dependencies: Vec<Dependency>,
    /// By the numbers of the files; the average is 1.
    pub(in super::super) ranks: Vec<f32>,
}

impl GraphTable {
    /// Returns the weight that is stored for a weight.
    pub(in super::super) fn stored_weight(weight: f64) -> f64 {
        (weight * WEIGHT_PARTS).round().max(1.0) / WEIGHT_PARTS
    }

    pub(in super::super) fn encode(&self) -> Result<Vec<u8>, IndexError> {
        let mut writer = ByteWriter::default();
        writer.length(self.dependencies.len());
        let mut before = (0, 0);
        for Dependency { from, to, weight } in &self.dependencies {
            writer.number(from.0 - before.0);
            writer.number(if from.0 == before.0 { to.0 - before.1 } else { to.0 });
            writer.number((weight * WEIGHT_PARTS).round() as u64);
            before = (from.0, to.0);
        }
        for rank in &self.ranks {
            writer.raw(&rank.to_le_bytes());
        }
        compress(&writer.into_bytes())
    }

    pub(in super::super) fn decode(bytes: &[u8], files: usize) -> Result<Self, IndexError> {
        let what = "graph";
        let bytes = decompress_table(bytes, what)?;
        let mut reader = ByteReader::new(&bytes, what);
        let count = reader.count()?;
        let mut dependencies = Vec::with_capacity(count);
        let (mut from, mut to) = (0_u32, 0_u32);
        for _ in 0..count {
            let step: u32 = reader.narrow()?;
            from = from.checked_add(step).ok_or(reader.damaged())?;
            let before = if step == 0 { to } else { 0 };
            to = before.checked_add(reader.narrow()?).ok_or(reader.damaged())?;
            if from as usize >= files || to as usize >= files {
                return Err(reader.damaged());
            }
            let weight = f64::from(reader.narrow::<u32>()?) / WEIGHT_PARTS;
            dependencies.push(Dependency { from: FileId(from), to: FileId(to), weight });
        }
        let mut ranks = Vec::with_capacity(files);
        for _ in 0..files {
            let rank = f32::from_le_bytes(reader.array()?);
            if !rank.is_finite() {
                return Err(reader.damaged());
            }
            ranks.push(rank);
        }
        reader.end()?;
        Ok(Self { dependencies, ranks })
    }

    /// Returns the bytes in memory.
    pub(in super::super) fn memory_bytes(&self) -> usize {
        self.dependencies.capacity() * size_of::<Dependency>()
            + self.ranks.capacity() * size_of::<f32>()
    }
}
