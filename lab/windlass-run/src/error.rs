//! Errors of runs and of stored results.

use crate::RunError;
use crate::store::StoreError;

/// The reason why runs failed or could not be stored.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A run failed.
    #[error(transparent)]
    Run(#[from] RunError),
    /// The folder or a file in it could not be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
}
