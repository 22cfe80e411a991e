//! The tests of the test vectors: one program, since each takes a second to link.

mod bytes;
mod cat_and_mouse;
mod paths;
mod vectors;
