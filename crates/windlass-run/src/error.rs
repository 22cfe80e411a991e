//! What can go wrong with runs and with what is kept of them.

use crate::RunError;
use crate::store::StoreError;

/// Why runs could not be made or kept.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A run.
    #[error(transparent)]
    Run(#[from] RunError),
    /// The folder or a file in it.
    #[error(transparent)]
    Store(#[from] StoreError),
}
