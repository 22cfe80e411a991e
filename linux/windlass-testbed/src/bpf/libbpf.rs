//! libbpf, opened at first use. On a machine without it, only the kernel's integration is missing. This
//! module contains all `unsafe` code of that integration.
#![allow(unsafe_code)]

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::fmt::Display;
use std::io;
use std::mem::size_of_val;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::path::Path;
use std::sync::OnceLock;

use super::Error;
use super::options::Options;
use super::record::Record;

/// File name of the library. The number is the version of its interface.
const NAME: &CStr = c"libbpf.so.1";
/// `bpf_attach_type` of `struct_ops` (linux/bpf.h).
const BPF_STRUCT_OPS: c_int = 44;
/// A struct_ops that is registered by a link, since Linux 6.4 (linux/bpf.h).
const BPF_F_LINK: u32 = 1 << 13;
/// Bytes of the verifier's log of one program.
const LOG: usize = 1 << 16;
/// Level that logs the last message and the statistics, but not every instruction (`BPF_LOG_STATS`).
const LOG_BRIEF: u32 = 4;

type Pointer = *mut c_void;

macro_rules! functions {
    ($($name:ident($($arg:ty),*) $(-> $result:ty)?;)*) => {
        /// The functions in use, by name.
        #[derive(Debug)]
        #[allow(non_snake_case)]
        struct Functions { $($name: unsafe extern "C" fn($($arg),*) $(-> $result)?,)* }

        impl Functions {
            fn open() -> Result<Functions, String> {
                // SAFETY: dlopen and dlerror take and return C strings; libbpf's initialisers only set up the
                // library.
                let library = unsafe { libc::dlopen(NAME.as_ptr(), libc::RTLD_NOW) };
                if library.is_null() {
                    return Err(unsafe { CStr::from_ptr(libc::dlerror()) }.to_string_lossy().into_owned());
                }
                Ok(Functions { $($name: {
                    let name = CString::new(stringify!($name)).expect("a name");
                    // SAFETY: the symbol is a function of the type that libbpf's headers (1.0 and later) declare.
                    let symbol = unsafe { libc::dlsym(library, name.as_ptr()) };
                    if symbol.is_null() {
                        return Err(format!("it has no `{}`", stringify!($name)));
                    }
                    unsafe { std::mem::transmute::<Pointer, unsafe extern "C" fn($($arg),*) $(-> $result)?>(symbol) }
                },)* })
            }
        }
    };
}

functions! {
    libbpf_set_print(Pointer) -> Pointer;
    bpf_object__open_mem(*const c_void, usize, Pointer) -> Pointer;
    bpf_object__find_map_by_name(Pointer, *const c_char) -> Pointer;
    bpf_object__next_program(Pointer, Pointer) -> Pointer;
    bpf_object__load(Pointer) -> c_int;
    bpf_object__close(Pointer);
    bpf_program__name(Pointer) -> *const c_char;
    bpf_program__fd(Pointer) -> c_int;
    bpf_program__set_log_buf(Pointer, *mut c_char, usize) -> c_int;
    bpf_program__set_log_level(Pointer, u32) -> c_int;
    bpf_map__fd(Pointer) -> c_int;
    bpf_map__set_initial_value(Pointer, *const c_void, usize) -> c_int;
    bpf_map__set_max_entries(Pointer, u32) -> c_int;
    bpf_map__set_map_flags(Pointer, u32) -> c_int;
    bpf_map__attach_struct_ops(Pointer) -> Pointer;
    bpf_link__destroy(Pointer) -> c_int;
    bpf_link_create(c_int, c_int, c_int, Pointer) -> c_int;
    bpf_obj_get_info_by_fd(c_int, Pointer, *mut u32) -> c_int;
    bpf_obj_pin(c_int, *const c_char) -> c_int;
    bpf_enable_stats(c_int) -> c_int;
    ring_buffer__new(c_int, unsafe extern "C" fn(Pointer, Pointer, usize) -> c_int, Pointer, Pointer) -> Pointer;
    ring_buffer__consume(Pointer) -> c_int;
    ring_buffer__free(Pointer);
}

fn functions() -> Result<&'static Functions, Error> {
    static FOUND: OnceLock<Result<Functions, String>> = OnceLock::new();
    let found = FOUND.get_or_init(|| {
        let functions = Functions::open()?;
        // SAFETY: a null printer is valid; errors are reported by return codes.
        unsafe { (functions.libbpf_set_print)(std::ptr::null_mut()) };
        Ok(functions)
    });
    found.as_ref().map_err(|why| Error::NoLibbpf { why: why.clone() })
}

/// Opens the library, or returns an error if it is missing.
pub fn check() -> Result<(), Error> {
    functions().map(|_| ())
}

/// An algorithm in the kernel. Dropping this value removes it, unless it was [pinned](Attached::pin).
/// Connections that use the algorithm keep it until they end.
#[derive(Debug)]
pub struct Attached {
    object: Object,
    /// From Linux 6.4 on: the link that keeps the algorithm registered. It ends with this process.
    link: Option<OwnedFd>,
    /// Registration in libbpf. Before Linux 6.4, destroying it removes the algorithm.
    registered: Pointer,
    ring: Pointer,
    /// Records read from the ring. The box keeps the vector's address constant, because libbpf stores the
    /// address.
    #[allow(clippy::box_collection)]
    records: Box<Vec<Record>>,
}

// SAFETY: libbpf's objects do not belong to a thread. `Attached` is not `Sync`, so only one thread at a time
// uses them.
unsafe impl Send for Attached {}

/// An opened object.
#[derive(Debug)]
struct Object {
    libbpf: &'static Functions,
    object: Pointer,
}

impl Drop for Object {
    fn drop(&mut self) {
        // SAFETY: libbpf opened the object, and it is closed once.
        unsafe { (self.libbpf.bpf_object__close)(self.object) };
    }
}

impl Object {
    fn map(&self, name: &CStr) -> Result<Pointer, Error> {
        // SAFETY: the object is open, and the name is a C string.
        let map = unsafe { (self.libbpf.bpf_object__find_map_by_name)(self.object, name.as_ptr()) };
        let name = name.to_string_lossy();
        let missing = || Error::Object(format!("it has no map `{name}`"));
        if map.is_null() { Err(missing()) } else { Ok(map) }
    }

    fn programs(&self) -> impl Iterator<Item = (String, Pointer)> {
        let mut last = std::ptr::null_mut();
        std::iter::from_fn(move || {
            // SAFETY: the object is open; null starts the iteration, and a returned null ends it.
            last = unsafe { (self.libbpf.bpf_object__next_program)(self.object, last) };
            if last.is_null() {
                return None;
            }
            let name = unsafe { CStr::from_ptr((self.libbpf.bpf_program__name)(last)) };
            Some((name.to_string_lossy().into_owned(), last))
        })
    }

    /// Loads the object. The kernel verifies it at this point.
    fn load(&self) -> Result<(), Error> {
        let mut logs = Vec::new();
        for (name, program) in self.programs() {
            let mut log = vec![0_u8; LOG];
            // SAFETY: the buffer has the given length, and `logs` keeps it alive until the programs are
            // loaded.
            unsafe {
                (self.libbpf.bpf_program__set_log_buf)(program, log.as_mut_ptr().cast(), LOG);
                (self.libbpf.bpf_program__set_log_level)(program, LOG_BRIEF);
            }
            logs.push((name, log));
        }
        // SAFETY: the object is open.
        let code = unsafe { (self.libbpf.bpf_object__load)(self.object) };
        for (_, program) in self.programs() {
            // SAFETY: a null buffer is valid.
            unsafe { (self.libbpf.bpf_program__set_log_buf)(program, std::ptr::null_mut(), 0) };
        }
        if code == 0 {
            return Ok(());
        }
        let mut said = logs.iter().filter_map(|(name, log)| Some((name, last_word(log)?)));
        let said = said.next_back().map(|(name, word)| format!("{name}: {word}"));
        Err(Error::Refused {
            why: io::Error::from_raw_os_error(-code).to_string(),
            verifier: said.unwrap_or_else(|| "the verifier gave no reason".to_owned()),
        })
    }
}

/// Returns the last line of a verifier's log that is not a statistic.
fn last_word(log: &[u8]) -> Option<String> {
    let text = CStr::from_bytes_until_nul(log).ok()?.to_string_lossy().into_owned();
    let figures = ["processed ", "verification time", "stack depth"];
    let said = text.lines().rev().find(|line| !figures.iter().any(|f| line.starts_with(f)))?;
    (!said.is_empty()).then(|| said.to_owned())
}

/// Converts a negative return code of libbpf or the kernel to an error.
fn checked(what: impl Display, code: c_int) -> Result<(), Error> {
    match code {
        0.. => Ok(()),
        code => Err(Error::System {
            what: what.to_string(),
            source: io::Error::from_raw_os_error(-code),
        }),
    }
}

/// Loads an object into the kernel and registers its algorithm, so that sockets can choose it. With `links`
/// (Linux 6.4 or later) the kernel removes it when the process ends for any reason.
pub fn attach(
    object: &[u8],
    options: &Options,
    ring_bytes: u32,
    links: bool,
) -> Result<Attached, Error> {
    let libbpf = functions()?;
    // SAFETY: the buffer has the given length; libbpf copies it.
    let opened = unsafe {
        (libbpf.bpf_object__open_mem)(object.as_ptr().cast(), object.len(), std::ptr::null_mut())
    };
    if opened.is_null() {
        return Err(Error::Object(format!(
            "libbpf cannot read it: {}",
            io::Error::last_os_error()
        )));
    }
    let object = Object { libbpf, object: opened };
    let (algorithm, ring) = (object.map(c"windlass")?, object.map(c"ring")?);
    let settings = object.map(c".rodata.windlass")?;
    // SAFETY: the maps belong to the object; `options` is plain data of the given size.
    unsafe {
        let from = (&raw const *options).cast();
        let code = (libbpf.bpf_map__set_initial_value)(settings, from, size_of_val(options));
        checked("setting the options of the object", code)?;
        checked(
            "setting the size of the ring",
            (libbpf.bpf_map__set_max_entries)(ring, ring_bytes),
        )?;
        if links {
            checked("asking for a link", (libbpf.bpf_map__set_map_flags)(algorithm, BPF_F_LINK))?;
        }
    }
    object.load()?;
    // SAFETY: the map belongs to the object, which is loaded.
    let registered = unsafe { (libbpf.bpf_map__attach_struct_ops)(algorithm) };
    if registered.is_null() {
        let source = io::Error::last_os_error();
        return Err(Error::System { what: "registering the algorithm".to_owned(), source });
    }
    let mut attached = Attached {
        object,
        link: None,
        registered,
        ring: std::ptr::null_mut(),
        records: Box::default(),
    };
    if links {
        // SAFETY: the map is loaded; null options are valid.
        let fd = unsafe {
            let map = (libbpf.bpf_map__fd)(algorithm);
            (libbpf.bpf_link_create)(map, 0, BPF_STRUCT_OPS, std::ptr::null_mut())
        };
        checked("registering the algorithm", fd)?;
        // SAFETY: the descriptor is new and has no other owner.
        attached.link = Some(unsafe { OwnedFd::from_raw_fd(fd) });
    }
    if options.recording != 0 {
        let to = (&raw mut *attached.records).cast();
        // SAFETY: the map is a loaded ring; the vector outlives the ring, which is freed first.
        attached.ring = unsafe {
            (libbpf.ring_buffer__new)((libbpf.bpf_map__fd)(ring), keep, to, std::ptr::null_mut())
        };
        if attached.ring.is_null() {
            let source = io::Error::last_os_error();
            return Err(Error::System { what: "opening the ring of events".to_owned(), source });
        }
    }
    Ok(attached)
}

/// Stores one event that was written into the ring. libbpf calls this function.
unsafe extern "C" fn keep(to: Pointer, data: Pointer, size: usize) -> c_int {
    // SAFETY: `to` is the vector that `attach` passed, and nothing else uses it during
    // `ring_buffer__consume`; the data have the given length.
    unsafe {
        let bytes = std::slice::from_raw_parts(data.cast::<u8>(), size);
        (*to.cast::<Vec<Record>>()).extend(Record::read(bytes));
    }
    0
}

impl Attached {
    /// Returns the events since the last call, in order.
    pub fn take_records(&mut self) -> Result<Vec<Record>, Error> {
        if !self.ring.is_null() {
            // SAFETY: the ring is open, and `records` has the address that `keep` received.
            let code = unsafe { (self.object.libbpf.ring_buffer__consume)(self.ring) };
            checked("reading the ring of events", code)?;
        }
        Ok(std::mem::take(&mut *self.records))
    }

    /// Pins the algorithm to a file of a BPF file system. It stays in the kernel after this value is dropped,
    /// until the file is removed.
    pub fn pin(&self, path: &Path) -> Result<(), Error> {
        let link = self.link.as_ref().ok_or(Error::NoLinks)?;
        let name = CString::new(path.as_os_str().as_encoded_bytes())
            .map_err(|_| Error::Object(format!("invalid path {}", path.display())))?;
        // SAFETY: the descriptor is open, and the path is a C string.
        let code = unsafe { (self.object.libbpf.bpf_obj_pin)(link.as_raw_fd(), name.as_ptr()) };
        checked(format!("pinning {}", path.display()), code)
    }

    /// Returns the name, the number of executions and the total nanoseconds of each program, if
    /// [`Statistics`] are on.
    pub fn run_times(&self) -> Result<Vec<(String, u64, u64)>, Error> {
        let libbpf = self.object.libbpf;
        let mut found = Vec::new();
        for (name, program) in self.object.programs() {
            let mut info = ProgramInfo::default();
            let mut size = size_of_val(&info) as u32;
            // SAFETY: the kernel writes at most `size` bytes into `info`, which has that size.
            let code = unsafe {
                let fd = (libbpf.bpf_program__fd)(program);
                (libbpf.bpf_obj_get_info_by_fd)(fd, (&raw mut info).cast(), &raw mut size)
            };
            checked("reading the run times of the programs", code)?;
            found.push((name, info.run_count(), info.run_nanoseconds()));
        }
        Ok(found)
    }
}

impl Drop for Attached {
    fn drop(&mut self) {
        let libbpf = self.object.libbpf;
        // SAFETY: each pointer came from libbpf and is freed once. With a link, `registered` holds no
        // registration, and the object closes its descriptor.
        unsafe {
            if !self.ring.is_null() {
                (libbpf.ring_buffer__free)(self.ring);
            }
            if self.link.is_none() {
                (libbpf.bpf_link__destroy)(self.registered);
            }
        }
    }
}

/// First fields of `struct bpf_prog_info` (linux/bpf.h).
#[repr(C)]
#[derive(Default)]
struct ProgramInfo([u64; 32]);

impl ProgramInfo {
    /// Value of `run_time_ns`, at byte 192; `run_cnt` is at byte 200.
    fn run_nanoseconds(&self) -> u64 {
        self.0[24]
    }
    fn run_count(&self) -> u64 {
        self.0[25]
    }
}

/// The kernel counts the run time of all BPF programs, including other processes' programs, until this value
/// is dropped.
#[derive(Debug)]
pub struct Statistics(#[allow(dead_code)] OwnedFd);

impl Statistics {
    /// Turns the counting on. It ends with the returned value or with the process.
    pub fn on() -> Result<Statistics, Error> {
        // SAFETY: 0 is BPF_STATS_RUN_TIME.
        let fd = unsafe { (functions()?.bpf_enable_stats)(0) };
        checked("enabling the statistics of BPF", fd)?;
        // SAFETY: the descriptor is new and has no other owner.
        Ok(Statistics(unsafe { OwnedFd::from_raw_fd(fd) }))
    }
}
