//! Closed-form models of TCP and of lossy links.
