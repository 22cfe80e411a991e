//! The processor in QEMU: a counter of instructions, output and exit.
//!
//! QEMU runs with `-icount shift=10`: every instruction takes 1024 ns of virtual time, in which the SysTick timer of
//! the 25 MHz processor counts 25.6 ticks. The ticks between two measurements therefore give the number of
//! instructions, on any machine.

use core::arch::asm;
use core::fmt;
use core::ptr::{read_volatile, write_volatile};

const SYST_CSR: *mut u32 = 0xe000_e010 as *mut u32;
const SYST_RVR: *mut u32 = 0xe000_e014 as *mut u32;
const SYST_CVR: *mut u32 = 0xe000_e018 as *mut u32;
/// Maximum of the timer, which has 24 bits. A measurement must be shorter than 655,000 instructions.
const SYST_MAX: u32 = 0x00ff_ffff;

/// Bytes of stack that a measurement covers.
const DEPTH: usize = 8192;
const PAINT: u32 = 0xa5a5_a5a5;

/// Counts the instructions and the deepest stack of a function.
pub struct Meter {
    /// Instructions so far.
    pub instructions: u64,
    /// Maximum use of the stack, bytes.
    pub stack: usize,
    own: u32,
}

impl Meter {
    /// Starts the timer.
    pub fn new() -> Meter {
        unsafe {
            write_volatile(SYST_RVR, SYST_MAX);
            write_volatile(SYST_CVR, 0);
            // Enabled, no interrupt, the processor's clock.
            write_volatile(SYST_CSR, 0b101);
        }
        let mut meter = Meter { instructions: 0, stack: 0, own: 0 };
        meter.measure(|| ());
        meter.own = meter.instructions as u32;
        (meter.instructions, meter.stack) = (0, 0);
        meter
    }

    /// Executes a function and counts its cost.
    #[inline(never)]
    pub fn measure<T>(&mut self, work: impl FnOnce() -> T) -> T {
        let bottom = paint();
        let from = unsafe { read_volatile(SYST_CVR) };
        let done = work();
        let to = unsafe { read_volatile(SYST_CVR) };
        let ticks = from.wrapping_sub(to) & SYST_MAX;
        self.instructions += u64::from((u64::from(ticks) * 10 / 256) as u32 - self.own);
        self.stack = self.stack.max(used(bottom));
        done
    }
}

/// Marks the stack below the present position, and returns the lowest mark.
#[inline(never)]
fn paint() -> usize {
    let here: usize;
    unsafe { asm!("mov {}, sp", out(reg) here) };
    let bottom = (here - DEPTH) & !3;
    // The frame of this function stays unmarked.
    for at in (bottom..here - 64).step_by(4) {
        unsafe { write_volatile(at as *mut u32, PAINT) };
    }
    bottom
}

/// Bytes above the lowest mark that was overwritten.
#[inline(never)]
fn used(bottom: usize) -> usize {
    let mut at = bottom;
    while at < bottom + DEPTH && unsafe { read_volatile(at as *const u32) } == PAINT {
        at += 4;
    }
    bottom + DEPTH - at
}

/// Standard output, by semihosting.
pub struct Output;

impl fmt::Write for Output {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for part in text.as_bytes().chunks(127) {
            let mut line = [0; 128];
            line[..part.len()].copy_from_slice(part);
            semihost(0x04, line.as_ptr() as usize);
        }
        Ok(())
    }
}

fn semihost(operation: usize, argument: usize) {
    unsafe { asm!("bkpt 0xab", inout("r0") operation => _, in("r1") argument) }
}

/// Ends QEMU with success or failure.
pub fn exit(success: bool) -> ! {
    loop {
        semihost(0x18, if success { 0x20026 } else { 0x20023 });
    }
}

#[panic_handler]
fn panic(info: &core::panic::PanicInfo<'_>) -> ! {
    let _ = fmt::Write::write_fmt(&mut Output, format_args!("panic: {info}\n"));
    exit(false)
}
