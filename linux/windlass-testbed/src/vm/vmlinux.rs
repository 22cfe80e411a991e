//! Extracting the kernel as an ELF file from the self-extracting `vmlinuz`.
//!
//! QEMU enters such a file directly (Xen's PVH entry point, which Debian's kernels have). This saves the
//! guest more than a thousand million instructions of decompression at each boot. The kernel's documentation
//! describes the layout of `vmlinuz` (arch/x86/boot, "The Linux/x86 Boot Protocol").

use std::io::Read;

use lzma_rust2::XzReader;

/// Extracts the kernel.
pub(super) fn extract(vmlinuz: &[u8]) -> Result<Vec<u8>, String> {
    let payload =
        payload(vmlinuz).ok_or("its kernel is not a bzImage of boot protocol 2.08 or later")?;
    let elf = decompress(payload)?;
    match elf.starts_with(b"\x7fELF") {
        true => Ok(elf),
        false => Err("its kernel does not unpack to an ELF file".to_string()),
    }
}

/// Returns the compressed kernel, with the uncompressed length that its build has appended.
fn payload(vmlinuz: &[u8]) -> Option<&[u8]> {
    let word = |at: usize| {
        vmlinuz.get(at..at + 4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]) as usize)
    };
    if vmlinuz.get(0x202..0x206)? != b"HdrS" {
        return None;
    }
    // Zero means four sectors of setup code; the boot sector precedes them.
    let setup = match *vmlinuz.get(0x1f1)? {
        0 => 4,
        sectors => usize::from(sectors),
    };
    let start = (setup + 1) * 512 + word(0x248)?;
    vmlinuz.get(start..start.checked_add(word(0x24c)?)?)
}

fn decompress(payload: &[u8]) -> Result<Vec<u8>, String> {
    let damaged = |e: &dyn std::fmt::Display| format!("its kernel is damaged: {e}");
    let mut elf = Vec::new();
    let (data, length) = payload.split_last_chunk::<4>().ok_or("its kernel is empty")?;
    match payload {
        [0xfd, b'7', b'z', b'X', ..] => {
            // An xz stream ends by itself and contains its length; not every build appends the length again.
            XzReader::new(payload, false).read_to_end(&mut elf).map_err(|e| damaged(&e))?;
            return Ok(elf);
        }
        [0x28, 0xb5, 0x2f, 0xfd, ..] => {
            let mut decoder =
                ruzstd::decoding::StreamingDecoder::new(data).map_err(|e| damaged(&e))?;
            decoder.read_to_end(&mut elf).map_err(|e| damaged(&e))?;
        }
        [0x02, 0x21, 0x4c, 0x18, ..] => {
            let mut decoder = lz4_flex::frame::FrameDecoder::new(data);
            decoder.read_to_end(&mut elf).map_err(|e| damaged(&e))?;
        }
        _ => return Err("its kernel has an unknown compression".to_string()),
    }
    match u32::from_le_bytes(*length) as usize == elf.len() {
        true => Ok(elf),
        false => Err("its kernel unpacks to a wrong length".to_string()),
    }
}
