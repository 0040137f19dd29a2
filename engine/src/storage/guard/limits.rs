//! Sizes of guards.

/// Unit of verification and repair: what disks typically lose at once.
pub(super) const SECTOR_BYTES: usize = 4 << 10;
/// Bytes of a guard before the checksums of the sectors.
pub(super) const HEAD_BYTES: usize = 24;
/// Parity sectors of a small table: two, so that damage may span two sectors.
pub(super) const PARITIES_MIN: usize = 2;
/// Bytes of the longest table whose guard is in the shared file.
pub(super) const SMALL_TABLE_BYTES_MAX: usize = 16 << 10;
/// Bytes of the longest guard in that file.
pub(super) const SMALL_GUARD_BYTES_MAX: usize =
    HEAD_BYTES + SMALL_TABLE_BYTES_MAX / SECTOR_BYTES * 4 + PARITIES_MIN * SECTOR_BYTES;
