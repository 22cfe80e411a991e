//! Real kernels in virtual time: QEMU with instruction counting.
