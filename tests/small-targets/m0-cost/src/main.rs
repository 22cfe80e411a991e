//! Runs every algorithm through the same life on a Cortex-M0 and prints what each acknowledgement cost.
//!
//! QEMU runs with `-icount shift=10`: every instruction takes 1024 ns of virtual time, and the SysTick timer of
//! the 16 MHz processor counts 16.384 ticks of 62.5 ns meanwhile. So the instructions between two readings
//! follow exactly from the ticks between them, whatever the machine that QEMU runs on.
#![no_std]
#![no_main]

use core::arch::asm;
use core::ptr::{read_volatile, write_volatile};

use cc_object::ENTRIES;
use cc_object::connection::{Connection, Meter, Stage};
use cc_object::timers::LIVES;

#[unsafe(link_section = ".reset")]
#[used]
static RESET: unsafe extern "C" fn() -> ! = reset;

const SYST_CSR: *mut u32 = 0xe000_e010 as *mut u32;
const SYST_RVR: *mut u32 = 0xe000_e014 as *mut u32;
const SYST_CVR: *mut u32 = 0xe000_e018 as *mut u32;
const SYST_MAX: u32 = 0x00ff_ffff;

/// Ticks of the SysTick, which counts down.
fn ticks() -> u32 {
    unsafe { read_volatile(SYST_CVR) }
}

/// Ticks between two readings as instructions: `ticks / 16.384`, rounded.
fn instructions(from: u32, to: u32) -> u32 {
    ((from.wrapping_sub(to) & SYST_MAX) * 125 + 1024) / 2048
}

struct Counter {
    since: u32,
    /// What the measuring takes itself.
    own: u32,
    out: Output,
}

impl Meter for Counter {
    #[inline(never)]
    fn start(&mut self) {
        self.since = ticks();
    }

    #[inline(never)]
    fn stop(&mut self, stage: Stage) {
        let count = instructions(self.since, ticks());
        self.out.byte(match stage {
            Stage::SlowStart => b's',
            Stage::Avoidance => b'a',
            Stage::Recovery => b'r',
        });
        self.out.number(count.saturating_sub(self.own));
        self.out.byte(b'\n');
    }
}

/// Text to QEMU's standard output, by semihosting.
struct Output {
    text: [u8; 512],
    used: usize,
}

impl Output {
    fn byte(&mut self, byte: u8) {
        if let Some(place) = self.text.get_mut(self.used) {
            *place = byte;
            self.used += 1;
        }
        // Room for the zero at the end.
        if self.used + 1 >= self.text.len() {
            self.flush();
        }
    }

    fn text(&mut self, text: &str) {
        text.bytes().for_each(|byte| self.byte(byte));
    }

    fn number(&mut self, number: u32) {
        let mut place = 1_000_000_000;
        while place > 1 && number < place {
            place /= 10;
        }
        let mut rest = number;
        while place > 0 {
            self.byte(b'0' + (rest / place) as u8);
            rest %= place;
            place /= 10;
        }
    }

    fn flush(&mut self) {
        if let Some(end) = self.text.get_mut(self.used) {
            *end = 0;
        }
        semihost(0x04, self.text.as_ptr() as usize);
        self.used = 0;
    }
}

fn semihost(operation: usize, argument: usize) {
    unsafe { asm!("bkpt 0xab", inout("r0") operation => _, in("r1") argument) }
}

fn exit(stopped: usize) -> ! {
    loop {
        semihost(0x18, stopped);
    }
}

unsafe extern "C" fn reset() -> ! {
    unsafe {
        write_volatile(SYST_RVR, SYST_MAX);
        write_volatile(SYST_CVR, 0);
        // Enabled, no interrupt, the processor's clock.
        write_volatile(SYST_CSR, 0b101);
    }
    let mut counter = Counter { since: 0, own: 0, out: Output { text: [0; 512], used: 0 } };
    counter.start();
    counter.own = instructions(counter.since, ticks());
    for entry in ENTRIES {
        if option_env!("WINDLASS_ONLY").is_some_and(|only| only != entry.info.id) {
            continue;
        }
        counter.out.byte(b'=');
        counter.out.text(entry.info.id);
        counter.out.byte(b' ');
        counter.out.number(entry.state_bytes as u32);
        counter.out.byte(b'\n');
        if let Some(connection) = Connection::new(entry) {
            connection.run(&mut counter);
        }
    }
    for life in LIVES {
        counter.out.byte(b'=');
        counter.out.text("timer:");
        counter.out.text(life.id);
        counter.out.byte(b' ');
        counter.out.number(life.state_bytes as u32);
        counter.out.byte(b'\n');
        life.run(&mut counter);
    }
    counter.out.flush();
    exit(0x20026)
}

/// A panic anywhere ends the run as failed.
#[unsafe(no_mangle)]
extern "C" fn windlass_core_can_panic() -> ! {
    exit(0x20023)
}
