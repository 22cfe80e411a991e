//! An end of a flow in a shared library with the functions of `include/windlass_end.h`.

use std::ffi::{CString, c_int, c_void};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::{env, fs, process};

use libloading::Library;
use windlass_cc::{Span, Time};
use windlass_sim::external::PacketEnd;
use windlass_tcp::State;
use windlass_tcp::wire::Addresses;

use crate::connection::Connection;

/// The supported version of the header.
const VERSION: u32 = 1;
/// Resolution of the timers of a C stack: whole milliseconds.
const TICK: Span = Span::from_millis(1);

/// The settings of a new end: `windlass_setting`.
#[derive(Clone, Debug)]
pub struct Setting {
    /// Its address and the other end's address.
    pub ends: Addresses,
    /// Largest IP packet, bytes.
    pub mtu: u32,
    /// True if this end sends the flow's data.
    pub sends: bool,
    /// Start of the flow.
    pub start: Time,
    /// Seed of its randomness.
    pub seed: u64,
    /// Additional options for the library.
    pub options: String,
}

#[repr(C)]
struct RawSetting {
    source: u32,
    destination: u32,
    source_port: u16,
    destination_port: u16,
    mtu: u32,
    sends: c_int,
    start: u64,
    seed: u64,
    options: *const std::ffi::c_char,
}

type End = *mut c_void;

/// A struct of functions, filled by their names in a library.
macro_rules! functions {
    ($(#[$about:meta])* $name:ident { $($field:ident: $symbol:literal $type:ty,)* }) => {
        $(#[$about])*
        #[derive(Clone, Copy)]
        struct $name { $($field: $type,)* }

        impl $name {
            /// The functions of a library, or the name of the first missing function.
            fn of(library: &Library) -> Result<$name, &'static str> {
                // SAFETY: a library that exports these names has included the header, which declares them with these types.
                Ok($name { $($field: unsafe { *library.get::<$type>($symbol).map_err(|_| stringify!($field))? },)* })
            }
        }
    };
}

functions! {
    /// The functions of every end.
    Functions {
        windlass_end_version: b"windlass_end_version" unsafe extern "C" fn() -> u32,
        windlass_end_open: b"windlass_end_open" unsafe extern "C" fn(*const RawSetting) -> End,
        windlass_end_receive: b"windlass_end_receive" unsafe extern "C" fn(End, u64, *const u8, usize),
        windlass_end_transmit: b"windlass_end_transmit" unsafe extern "C" fn(End, u64, *mut u8, usize) -> usize,
        windlass_end_deadline: b"windlass_end_deadline" unsafe extern "C" fn(End, u64) -> u64,
        windlass_end_close: b"windlass_end_close" unsafe extern "C" fn(End),
    }
}

functions! {
    /// The additional functions of a TCP end.
    TcpFunctions {
        windlass_tcp_connect: b"windlass_tcp_connect" unsafe extern "C" fn(End, u64) -> c_int,
        windlass_tcp_listen: b"windlass_tcp_listen" unsafe extern "C" fn(End, u64) -> c_int,
        windlass_tcp_write: b"windlass_tcp_write" unsafe extern "C" fn(End, u64, *const u8, usize) -> usize,
        windlass_tcp_read: b"windlass_tcp_read" unsafe extern "C" fn(End, u64, *mut u8, usize) -> usize,
        windlass_tcp_shutdown: b"windlass_tcp_shutdown" unsafe extern "C" fn(End, u64),
        windlass_tcp_close: b"windlass_tcp_close" unsafe extern "C" fn(End, u64),
        windlass_tcp_abort: b"windlass_tcp_abort" unsafe extern "C" fn(End, u64),
        windlass_tcp_state: b"windlass_tcp_state" unsafe extern "C" fn(End) -> c_int,
        windlass_tcp_readable: b"windlass_tcp_readable" unsafe extern "C" fn(End) -> usize,
        windlass_tcp_at_end: b"windlass_tcp_at_end" unsafe extern "C" fn(End) -> c_int,
    }
}

/// An end in a shared library.
pub struct CEnd {
    end: End,
    functions: Functions,
    packet: Vec<u8>,
    /// The library's code, to which the pointers above point.
    _library: Library,
}

impl CEnd {
    /// Loads a separate copy of the library, and opens the end.
    ///
    /// # Errors
    ///
    /// The library is missing, lacks a function of the header, has another version of the header, or refuses the
    /// setting. The error has its path.
    pub fn open(path: &Path, setting: &Setting) -> Result<CEnd, String> {
        CEnd::try_open(path, setting).map_err(|why| format!("{}: {why}", path.display()))
    }

    fn try_open(path: &Path, setting: &Setting) -> Result<CEnd, String> {
        let options = CString::new(setting.options.as_str())
            .map_err(|_| "options with a zero byte".to_owned())?;
        let library = load_copy(path)?;
        let functions = Functions::of(&library)
            .map_err(|name| format!("has no function `{name}` (windlass_end.h)"))?;
        // SAFETY: the functions have the header's types; versions differ only in the arguments of the other functions.
        let version = unsafe { (functions.windlass_end_version)() };
        if version != VERSION {
            return Err(format!("speaks version {version} of windlass_end.h, not {VERSION}"));
        }
        let Addresses { source, destination } = setting.ends;
        let raw = RawSetting {
            source: u32::from(*source.ip()),
            destination: u32::from(*destination.ip()),
            source_port: source.port(),
            destination_port: destination.port(),
            mtu: setting.mtu,
            sends: c_int::from(setting.sends),
            start: setting.start.0,
            seed: setting.seed,
            options: options.as_ptr(),
        };
        // SAFETY: `raw` and the options live during the call.
        let end = unsafe { (functions.windlass_end_open)(&raw) };
        if end.is_null() {
            return Err("windlass_end_open refuses the setting".to_owned());
        }
        Ok(CEnd { end, functions, packet: vec![0; setting.mtu as usize], _library: library })
    }
}

/// Loads a library from a copy, because the same file is loaded only once, with one set of variables.
fn load_copy(path: &Path) -> Result<Library, String> {
    static COPIES: AtomicU64 = AtomicU64::new(0);
    let number = COPIES.fetch_add(1, Ordering::Relaxed);
    let copy: PathBuf = env::temp_dir().join(format!("windlass-end-{}-{number}", process::id()));
    fs::copy(path, &copy).map_err(|e| e.to_string())?;
    // SAFETY: loading runs the library's initialisers, which the user requests by naming it.
    let library = unsafe { Library::new(&copy) };
    let _ = fs::remove_file(&copy);
    library.map_err(|e| e.to_string().replace(&*copy.to_string_lossy(), "it"))
}

impl Drop for CEnd {
    fn drop(&mut self) {
        // SAFETY: the end is open, and is not called after this.
        unsafe { (self.functions.windlass_end_close)(self.end) }
    }
}

impl PacketEnd for CEnd {
    fn receive(&mut self, now: Time, packet: &[u8]) {
        // SAFETY: the end is open; the packet lives during the call.
        unsafe {
            (self.functions.windlass_end_receive)(self.end, now.0, packet.as_ptr(), packet.len());
        }
    }

    fn transmit(&mut self, now: Time) -> Option<Vec<u8>> {
        let (room, len) = (self.packet.as_mut_ptr(), self.packet.len());
        // SAFETY: the end is open, and the buffer has `len` bytes.
        let len = unsafe { (self.functions.windlass_end_transmit)(self.end, now.0, room, len) };
        // A longer packet is invalid, which ends the run with an error that names the host.
        (len > 0).then(|| self.packet.get(..len).unwrap_or_default().to_vec())
    }

    fn deadline(&mut self, now: Time) -> Time {
        // SAFETY: the end is open. The header's "never" is `Time::NEVER`.
        Time(unsafe { (self.functions.windlass_end_deadline)(self.end, now.0) })
    }
}

/// A [`CEnd`] with the second half of the header's functions.
pub struct CTcp {
    end: CEnd,
    tcp: TcpFunctions,
}

impl CTcp {
    /// As [`CEnd::open`].
    ///
    /// # Errors
    ///
    /// As [`CEnd::open`], or a function of the second half is missing.
    pub fn open(path: &Path, setting: &Setting) -> Result<CTcp, String> {
        let end = CEnd::open(path, setting)?;
        let tcp = TcpFunctions::of(&end._library).map_err(|name| {
            format!("{}: has no function `{name}`, so its application is its own", path.display())
        })?;
        Ok(CTcp { end, tcp })
    }
}

impl PacketEnd for CTcp {
    fn receive(&mut self, now: Time, packet: &[u8]) {
        self.end.receive(now, packet);
    }

    fn transmit(&mut self, now: Time) -> Option<Vec<u8>> {
        self.end.transmit(now)
    }

    fn deadline(&mut self, now: Time) -> Time {
        self.end.deadline(now)
    }
}

// SAFETY, of all calls here: the end is open, and slices live during the call.
impl Connection for CTcp {
    fn tick(&self) -> Span {
        TICK
    }

    fn connect(&mut self, now: Time) -> Result<(), String> {
        let begun = unsafe { (self.tcp.windlass_tcp_connect)(self.end.end, now.0) };
        if begun == 0 { Err("windlass_tcp_connect fails".to_owned()) } else { Ok(()) }
    }

    fn listen(&mut self, now: Time) -> Result<(), String> {
        let begun = unsafe { (self.tcp.windlass_tcp_listen)(self.end.end, now.0) };
        if begun == 0 { Err("windlass_tcp_listen fails".to_owned()) } else { Ok(()) }
    }

    fn write(&mut self, now: Time, bytes: &[u8]) -> usize {
        let (end, from, len) = (self.end.end, bytes.as_ptr(), bytes.len());
        unsafe { (self.tcp.windlass_tcp_write)(end, now.0, from, len) }
    }

    fn read(&mut self, now: Time, room: &mut [u8]) -> usize {
        let (end, to, len) = (self.end.end, room.as_mut_ptr(), room.len());
        unsafe { (self.tcp.windlass_tcp_read)(end, now.0, to, len) }
    }

    fn shutdown(&mut self, now: Time) {
        unsafe { (self.tcp.windlass_tcp_shutdown)(self.end.end, now.0) }
    }

    fn close(&mut self, now: Time) {
        unsafe { (self.tcp.windlass_tcp_close)(self.end.end, now.0) }
    }

    fn abort(&mut self, now: Time) {
        unsafe { (self.tcp.windlass_tcp_abort)(self.end.end, now.0) }
    }

    fn state(&mut self) -> State {
        /// In the order of the header.
        const STATES: [State; 11] = [
            State::Closed,
            State::Listen,
            State::SynSent,
            State::SynReceived,
            State::Established,
            State::FinWait1,
            State::FinWait2,
            State::CloseWait,
            State::Closing,
            State::LastAck,
            State::TimeWait,
        ];
        let state = unsafe { (self.tcp.windlass_tcp_state)(self.end.end) };
        STATES.get(state as usize).copied().unwrap_or(State::Closed)
    }

    fn readable(&mut self) -> usize {
        unsafe { (self.tcp.windlass_tcp_readable)(self.end.end) }
    }

    fn at_end(&mut self) -> bool {
        unsafe { (self.tcp.windlass_tcp_at_end)(self.end.end) != 0 }
    }
}
