//! Real kernels in virtual time: QEMU with instruction counting.
use std::time::Duration;
/// e
#[derive(Debug, thiserror::Error)]
#[error("stub")]
pub struct Error;
/// s
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Series {
    /// 6.12
    V6_12,
    /// 6.1
    V6_1,
}
impl std::fmt::Display for Series {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Series::V6_12 => "6.12",
            Series::V6_1 => "6.1",
        })
    }
}
/// k
pub struct Kernel;
/// p
pub fn prepare(_: Series, _: &mut dyn FnMut(&str)) -> Result<Kernel, Error> {
    Err(Error)
}
/// j
pub struct Job {
    /// f
    pub files: Vec<(String, Vec<u8>)>,
    /// t
    pub timeout: Duration,
}
/// a
pub struct Answer {
    /// o
    pub output: Vec<u8>,
}
/// r
pub fn run(_: &Kernel, _: &Job) -> Result<Answer, Error> {
    Err(Error)
}
/// g
pub fn guest_main(_: impl FnOnce(&[(String, Vec<u8>)]) -> Vec<u8>) {}
/// c
pub fn check(_: Series) -> Result<(), Error> {
    Err(Error)
}
