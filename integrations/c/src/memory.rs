//! Checks of the caller's pointers, before any memory is read through them.

use core::ptr::addr_of;

use windlass_cc::group::PathView;
use windlass_cc::{Ack, AnyController, AnyParams, Conn, Control, CrossLayer, Loss, RateSample};

use crate::Status;

const PARAMS: u64 = 0x7769_6e64_7061_7231;
const STATE: u64 = 0x7769_6e64_7374_6131;
/// The last of the phases' numbers.
const LAST_PHASE: u8 = 3;

/// Parameters of an algorithm, including the parameters of its slow start and its host. Connections may share them.
/// A copy of the bytes is valid too.
pub struct ParamSet {
    mark: u64,
    /// The parameters.
    pub(crate) body: AnyParams,
}

/// State of one connection's algorithm. A copy of the bytes is valid too.
pub struct FlowState {
    mark: u64,
    pub(crate) body: AnyController,
    /// The recorder of the events.
    #[cfg(any(unix, windows))]
    pub(crate) recorder: crate::recording::Recorder,
}

impl ParamSet {
    pub(crate) const fn new(body: AnyParams) -> ParamSet {
        ParamSet { mark: PARAMS, body }
    }
}

impl FlowState {
    pub(crate) const fn new(body: AnyController) -> FlowState {
        FlowState {
            mark: STATE,
            body,
            #[cfg(any(unix, windows))]
            recorder: crate::recording::Recorder::NONE,
        }
    }
}

/// A type of values from C. Its bytes are checked before a reference is made.
pub trait Foreign {
    /// Checks that the bytes are a value of the type.
    ///
    /// # Safety
    ///
    /// The pointer is aligned, and all bytes of the type can be read.
    unsafe fn check(at: *const Self) -> Result<(), Status>;
}

impl Foreign for ParamSet {
    unsafe fn check(at: *const ParamSet) -> Result<(), Status> {
        let mark = unsafe { addr_of!((*at).mark).read() };
        if mark == PARAMS { Ok(()) } else { Err(Status::BadHandle) }
    }
}

impl Foreign for FlowState {
    unsafe fn check(at: *const FlowState) -> Result<(), Status> {
        let mark = unsafe { addr_of!((*at).mark).read() };
        if mark == STATE { Ok(()) } else { Err(Status::BadHandle) }
    }
}

/// Types in which some bytes are invalid: the fields that are checked, each with its largest value.
macro_rules! foreign {
    ($($type:ty { $($($field:ident).+ <= $most:expr),* })*) => {$(
        impl Foreign for $type {
            unsafe fn check(at: *const $type) -> Result<(), Status> {
                let _ = at;
                $(
                    let byte = unsafe { addr_of!((*at).$($field).+).cast::<u8>().read() };
                    if byte > $most {
                        return Err(Status::BadValue);
                    }
                )*
                Ok(())
            }
        }
    )*};
}

foreign! {
    Conn { phase <= LAST_PHASE }
    Ack { duplicate <= 1, rate.app_limited <= 1 }
    RateSample { app_limited <= 1 }
    Loss { app_limited <= 1 }
    PathView { phase <= LAST_PHASE }
    CrossLayer {}
    Control {}
    u64 {}
}

/// A shared reference for a pointer of C.
///
/// # Safety
///
/// If the pointer is neither null nor misaligned, all bytes of the type can be read, and no one writes to them
/// while the reference lives.
pub unsafe fn shared<'a, T: Foreign>(at: *const T) -> Result<&'a T, Status> {
    reach(at)?;
    unsafe {
        T::check(at)?;
        Ok(&*at)
    }
}

/// A mutable reference for a pointer of C.
///
/// # Safety
///
/// As [`shared`], and no one else reads the bytes.
pub unsafe fn changed<'a, T: Foreign>(at: *mut T) -> Result<&'a mut T, Status> {
    unsafe { shared(at.cast_const())? };
    Ok(unsafe { &mut *at })
}

/// Writes a value through a pointer of C.
///
/// # Safety
///
/// If the pointer is neither null nor misaligned, all bytes of the type can be written.
pub unsafe fn write<T>(to: *mut T, value: T) -> Result<(), Status> {
    reach(to)?;
    unsafe { to.write(value) };
    Ok(())
}

/// Checks that a pointer is neither null nor misaligned.
pub fn reach<T>(at: *const T) -> Result<(), Status> {
    if at.is_null() {
        return Err(Status::NullPointer);
    }
    if at.is_aligned() { Ok(()) } else { Err(Status::Misaligned) }
}
