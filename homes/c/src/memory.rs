//! What the caller's pointers must be before anything is read through them.

use core::ptr::addr_of;

use windlass_cc::group::PathView;
use windlass_cc::{Ack, AnyController, AnyParams, Conn, Control, CrossLayer, Loss, RateSample};

use crate::Status;

const PARAMS: u64 = 0x7769_6e64_7061_7231;
const STATE: u64 = 0x7769_6e64_7374_6131;
/// The last of the phases' numbers.
const LAST_PHASE: u8 = 3;

/// Parameters of an algorithm, with those of its slow start and its host. Connections may share them; a copy of the
/// bytes is as good.
pub struct ParamSet {
    mark: u64,
    /// What it holds.
    pub(crate) body: AnyParams,
}

/// FlowState of one connection's algorithm. A copy of the bytes is as good.
pub struct FlowState {
    mark: u64,
    pub(crate) body: AnyController,
    /// Who records what it is told.
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

/// What C may hand over. Its bytes are looked at before there is a reference to it.
pub trait Foreign {
    /// Whether the bytes are a value of the type.
    ///
    /// # Safety
    ///
    /// The pointer is aligned, and as many bytes can be read as the type has.
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

/// Types in which some bytes mean nothing: the fields that are looked at, each with its largest value.
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

/// What a pointer of C's points to.
///
/// # Safety
///
/// If it is neither null nor misaligned, as many bytes can be read as the type has, and nobody writes to them while
/// the reference lives.
pub unsafe fn shared<'a, T: Foreign>(at: *const T) -> Result<&'a T, Status> {
    reach(at)?;
    unsafe {
        T::check(at)?;
        Ok(&*at)
    }
}

/// The same, to be changed.
///
/// # Safety
///
/// As [`shared`], and nobody else reads the bytes.
pub unsafe fn changed<'a, T: Foreign>(at: *mut T) -> Result<&'a mut T, Status> {
    unsafe { shared(at.cast_const())? };
    Ok(unsafe { &mut *at })
}

/// Writes where C wants it.
///
/// # Safety
///
/// If the pointer is neither null nor misaligned, as many bytes can be written as the type has.
pub unsafe fn write<T>(to: *mut T, value: T) -> Result<(), Status> {
    reach(to)?;
    unsafe { to.write(value) };
    Ok(())
}

/// Whether a pointer is one at all.
pub fn reach<T>(at: *const T) -> Result<(), Status> {
    if at.is_null() {
        return Err(Status::NullPointer);
    }
    if at.is_aligned() { Ok(()) } else { Err(Status::Misaligned) }
}
