//! The guest's reply: an answer or the reason for a failure, with its length and checksum, so that a
//! truncated reply is detected.

use sha2::{Digest, Sha256};
use std::time::Duration;

const MAGIC: &[u8; 8] = b"WINDLASS";
/// Magic, kind, two times, length.
const HEAD: usize = 8 + 1 + 8 + 8 + 8;
const SUM: usize = 32;

/// The outcome of a job, as the guest sends it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Frame {
    /// The output, or a sentence that describes the failure.
    pub outcome: Result<Vec<u8>, String>,
    /// The guest's time at the start of the job, since the start of its kernel's clock.
    pub begun: Duration,
    /// The guest's time at the end of the job.
    pub ended: Duration,
}

impl Frame {
    /// Encodes the frame for the port.
    pub fn encode(&self) -> Vec<u8> {
        let (kind, body) = match &self.outcome {
            Ok(output) => (0, output.as_slice()),
            Err(message) => (1, message.as_bytes()),
        };
        let mut bytes = MAGIC.to_vec();
        bytes.push(kind);
        for number in [nanoseconds(self.begun), nanoseconds(self.ended), body.len() as u64] {
            bytes.extend(number.to_le_bytes());
        }
        bytes.extend(body);
        let sum = Sha256::digest(&bytes);
        bytes.extend(sum);
        bytes
    }

    /// Decodes the bytes received from the port. An error describes their fault.
    pub fn decode(bytes: &[u8]) -> Result<Frame, String> {
        if bytes.is_empty() {
            return Err("it has sent nothing".to_string());
        }
        let cut = || format!("only {} bytes of its answer have arrived", bytes.len());
        let (head, rest) = bytes.split_at_checked(HEAD).ok_or_else(cut)?;
        let number = |at: usize| u64::from_le_bytes(head[at..at + 8].try_into().expect("8 bytes"));
        let length = usize::try_from(number(25)).unwrap_or(usize::MAX);
        let (body, sum) = rest.split_at_checked(length).ok_or_else(cut)?;
        let sound = Sha256::digest(&bytes[..HEAD + body.len()])[..] == *sum;
        if &head[..8] != MAGIC || sum.len() != SUM || !sound {
            return Err("its answer is damaged (the checksum does not match)".to_string());
        }
        let outcome = match head[8] {
            0 => Ok(body.to_vec()),
            _ => Err(String::from_utf8_lossy(body).into_owned()),
        };
        let [begun, ended] = [number(9), number(17)].map(Duration::from_nanos);
        Ok(Frame { outcome, begun, ended })
    }
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(outcome: Result<Vec<u8>, String>) -> Frame {
        Frame { outcome, begun: Duration::from_nanos(7), ended: Duration::from_secs(3) }
    }

    #[test]
    fn answers_and_failures_survive_encoding() {
        for outcome in [Ok(b"bytes\0".to_vec()), Ok(vec![]), Err("no such file".to_string())] {
            let frame = frame(outcome);
            assert_eq!(Frame::decode(&frame.encode()), Ok(frame));
        }
    }

    #[test]
    fn truncated_and_changed_answers_are_refused() {
        let whole = frame(Ok(b"twelve bytes".to_vec())).encode();
        for end in 0..whole.len() {
            assert!(Frame::decode(&whole[..end]).is_err(), "cut at {end}");
        }
        for at in 0..whole.len() {
            let mut changed = whole.clone();
            changed[at] ^= 1;
            assert!(Frame::decode(&changed).is_err(), "changed at {at}");
        }
        assert!(Frame::decode(&[whole.clone(), vec![0]].concat()).is_err(), "one byte more");
    }
}
