//! The blocks of a pcapng file that a capture needs, as in draft-ietf-opsawg-pcapng: little-endian, one section,
//! raw IP packets, times in nanoseconds.

use std::io::{self, Write};

const SECTION_HEADER: u32 = 0x0A0D_0D0A;
const INTERFACE_DESCRIPTION: u32 = 1;
const ENHANCED_PACKET: u32 = 6;

const BYTE_ORDER_MAGIC: u32 = 0x1A2B_3C4D;
const VERSION: [u16; 2] = [1, 0];
/// The section's length is not specified.
const UNKNOWN_LENGTH: i64 = -1;
/// Packets begin with their IP header.
const LINKTYPE_RAW: u16 = 101;

const COMMENT: u16 = 1;
const INTERFACE_NAME: u16 = 2;
const PACKET_FLAGS: u16 = 2;
const APPLICATION: u16 = 4;
const TIME_RESOLUTION: u16 = 9;
/// The unit of times is 10⁻⁹ seconds.
const NANOSECONDS: u8 = 9;

/// A packet to write.
pub struct Packet<'a> {
    /// Index of its interface, in the order in which they were written.
    pub interface: u32,
    /// Nanoseconds since the epoch.
    pub time_ns: u64,
    /// Its captured bytes.
    pub bytes: &'a [u8],
    /// Its original length in bytes.
    pub original_len: u32,
    /// Its comment.
    pub comment: Option<&'a str>,
    /// Its direction: the two lowest bits of the block's flags.
    pub direction: u32,
}

/// An incomplete pcapng file.
pub struct Writer<W> {
    out: W,
    block: Vec<u8>,
}

impl<W: Write> Writer<W> {
    /// Begins the file; `application` is its author.
    pub fn new(out: W, application: &str) -> io::Result<Writer<W>> {
        let mut writer = Writer { out, block: Vec::new() };
        writer.word(BYTE_ORDER_MAGIC);
        VERSION.iter().for_each(|part| writer.block.extend(part.to_le_bytes()));
        writer.block.extend(UNKNOWN_LENGTH.to_le_bytes());
        writer.option(APPLICATION, application.as_bytes());
        writer.finish(SECTION_HEADER)?;
        Ok(writer)
    }

    /// Adds an interface. At most `snap_len` bytes per packet are captured; 0 captures all.
    pub fn interface(&mut self, name: &str, snap_len: u32) -> io::Result<()> {
        self.word(u32::from(LINKTYPE_RAW));
        self.word(snap_len);
        self.option(INTERFACE_NAME, name.as_bytes());
        self.option(TIME_RESOLUTION, &[NANOSECONDS]);
        self.finish(INTERFACE_DESCRIPTION)
    }

    /// Writes a packet.
    pub fn packet(&mut self, packet: &Packet<'_>) -> io::Result<()> {
        self.word(packet.interface);
        self.word((packet.time_ns >> 32) as u32);
        self.word(packet.time_ns as u32);
        self.word(packet.bytes.len() as u32);
        self.word(packet.original_len);
        self.padded(packet.bytes);
        if let Some(comment) = packet.comment {
            self.option(COMMENT, comment.as_bytes());
        }
        self.option(PACKET_FLAGS, &packet.direction.to_le_bytes());
        self.finish(ENHANCED_PACKET)
    }

    /// Flushes `out`.
    pub fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }

    fn word(&mut self, word: u32) {
        self.block.extend(word.to_le_bytes());
    }

    fn padded(&mut self, bytes: &[u8]) {
        self.block.extend(bytes);
        self.block.resize(self.block.len().next_multiple_of(4), 0);
    }

    /// Adds an option to the block. An option holds at most 65,535 bytes.
    fn option(&mut self, code: u16, value: &[u8]) {
        let value = &value[..value.len().min(u16::MAX.into())];
        self.block.extend(code.to_le_bytes());
        self.block.extend((value.len() as u16).to_le_bytes());
        self.padded(value);
    }

    /// Ends the options, and writes the block.
    fn finish(&mut self, kind: u32) -> io::Result<()> {
        self.word(0);
        // Kind and length before the block, and the length behind it.
        let length = (self.block.len() as u32 + 12).to_le_bytes();
        self.out.write_all(&kind.to_le_bytes())?;
        self.out.write_all(&length)?;
        self.out.write_all(&self.block)?;
        self.out.write_all(&length)?;
        self.block.clear();
        Ok(())
    }
}
