//! Packets made whole.

/// Puts version, protocol, total length and both checksums right.
pub fn mend(bytes: &mut [u8]) -> Option<()> {
    let header = usize::from(bytes.first()? & 15) * 4;
    if header < 20 || bytes.len() < header + 20 {
        return None;
    }
    let total = u16::try_from(bytes.len()).ok()?;
    bytes[0] = 0x40 | bytes[0] & 15;
    bytes[2..4].copy_from_slice(&total.to_be_bytes());
    bytes[6] &= 0x40;
    bytes[7] = 0;
    bytes[9] = 6;
    bytes[10..12].fill(0);
    let sum = checksum(&[&bytes[..header]]);
    bytes[10..12].copy_from_slice(&sum);
    let (ip, tcp) = bytes.split_at_mut(header);
    tcp[16..18].fill(0);
    let length = u16::try_from(tcp.len()).ok()?.to_be_bytes();
    let sum = checksum(&[&ip[12..20], &[0, 6], &length, tcp]);
    tcp[16..18].copy_from_slice(&sum);
    Some(())
}

/// RFC 1071, in its plainest form; all parts but the last have an even length.
fn checksum(parts: &[&[u8]]) -> [u8; 2] {
    let words = parts.iter().flat_map(|p| p.chunks(2));
    let sum: u64 =
        words.map(|w| u64::from(u16::from_be_bytes([w[0], w.get(1).copied().unwrap_or(0)]))).sum();
    let folded = (0..4).fold(sum, |s, _| (s & 0xffff) + (s >> 16));
    (!(folded as u16)).to_be_bytes()
}
