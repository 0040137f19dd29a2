//! PNG files that no encoder writes.

use png::{BitDepth, ColorType, Encoder};

/// A PNG file that is built chunk by chunk. The data of the picture is not compressed.
#[derive(Debug)]
pub(super) struct PngFile(Vec<u8>);

impl PngFile {
    /// Returns a file with a header.
    pub(super) fn new(width: u32, height: u32, depth: u8, colour: u8, interlace: u8) -> Self {
        let mut header = [width.to_be_bytes(), height.to_be_bytes()].concat();
        header.extend([depth, colour, 0, 0, interlace]);
        Self(b"\x89PNG\r\n\x1a\n".to_vec()).chunk(b"IHDR", &header)
    }

    pub(super) fn chunk(mut self, kind: &[u8; 4], data: &[u8]) -> Self {
        self.0.extend((data.len() as u32).to_be_bytes());
        let start = self.0.len();
        self.0.extend(kind);
        self.0.extend(data);
        let checksum = crc(&self.0[start..]);
        self.0.extend(checksum.to_be_bytes());
        self
    }

    /// Appends the data of the picture: rows that begin with the number of a filter.
    pub(super) fn picture(self, data: &[u8]) -> Self {
        let mut zlib = vec![0x78, 0x01];
        let blocks: Vec<&[u8]> = data.chunks(0xffff).collect();
        for (number, block) in blocks.iter().enumerate() {
            zlib.push(u8::from(number + 1 == blocks.len()));
            let length = block.len() as u16;
            zlib.extend([length.to_le_bytes(), (!length).to_le_bytes()].concat());
            zlib.extend(*block);
        }
        let (mut low, mut high) = (1, 0);
        for byte in data {
            low = (low + u32::from(*byte)) % 65_521;
            high = (high + low) % 65_521;
        }
        zlib.extend((high << 16 | low).to_be_bytes());
        self.chunk(b"IDAT", &zlib)
    }

    pub(super) fn end(self) -> Vec<u8> {
        self.chunk(b"IEND", b"").0
    }
}

/// Returns what the encoder writes for one picture.
pub(super) fn encoded(
    width: u32,
    height: u32,
    colour: ColorType,
    depth: BitDepth,
    data: &[u8],
) -> Vec<u8> {
    let mut file = Vec::new();
    let mut encoder = Encoder::new(&mut file, width, height);
    encoder.set_color(colour);
    encoder.set_depth(depth);
    let mut writer = encoder.write_header().unwrap();
    writer.write_image_data(data).unwrap();
    writer.finish().unwrap();
    file
}

/// Replaces the height in the header of a file.
pub(super) fn set_height(file: &mut [u8], height: u32) {
    file[20..24].copy_from_slice(&height.to_be_bytes());
    let checksum = crc(&file[12..29]);
    file[29..33].copy_from_slice(&checksum.to_be_bytes());
}

fn crc(bytes: &[u8]) -> u32 {
    let mut crc = u32::MAX;
    for byte in bytes {
        crc ^= u32::from(*byte);
        for _ in 0..8 {
            crc = crc >> 1 ^ if crc & 1 == 1 { 0xedb8_8320 } else { 0 };
        }
    }
    !crc
}
