//! C entry points to every algorithm of `windlass-cc`, by pointers: what a kernel's shim or a C stack
//! on a microcontroller calls. A new algorithm is among them by being in the registry.
//!
//! For an algorithm `Reno` there are `windlass_Reno_params`, `_init`, `_on_ack`, `_on_phase`, `_on_loss`,
//! `_on_undo`, `_on_idle_restart`, `_on_mss`, `_on_group`, `_disclosed`, `_on_cross_layer` and `_control`. With the feature
//! `constant` the parameters are the defaults whatever the caller hands over, and the compiler leaves out what they never
//! need.
#![no_std]

pub mod connection;
#[cfg(not(feature = "constant"))]
mod paths;
pub mod timers;

use core::ffi::c_void;

use windlass_cc::params::Known;
use windlass_cc::registry::fixed;
use windlass_cc::{
    Ack, Conn, Control, Controller, CrossLayer, Group, Info, Loss, Phase, Span, Undo,
};

/// What a C stack holds: pointers to functions and the sizes that it must reserve.
pub struct Entry {
    /// Description of the algorithm.
    pub info: &'static Info,
    /// Bytes of state of one connection.
    pub state_bytes: usize,
    /// Bytes of parameters, shared by all connections.
    pub params_bytes: usize,
    /// Writes the default parameters.
    pub params: unsafe extern "C" fn(*mut c_void),
    /// Writes the state of a new connection.
    pub init: unsafe extern "C" fn(*mut c_void, *const c_void, *const Conn),
    /// See [`Controller::on_ack`].
    pub on_ack: unsafe extern "C" fn(*mut c_void, *const c_void, *const Conn, *const Ack),
    /// See [`Controller::on_phase`]; phases are numbers, see [`Phase`].
    pub on_phase: unsafe extern "C" fn(*mut c_void, *const c_void, *const Conn, u32, u32),
    /// See [`Controller::on_loss`].
    pub on_loss: unsafe extern "C" fn(*mut c_void, *const c_void, *const Conn, *const Loss),
    /// See [`Controller::control`].
    pub control: unsafe extern "C" fn(*const c_void, *const c_void, *const Conn, *mut Control),
}

/// The phase of a number; any other number is a timeout.
fn phase(number: u32) -> Phase {
    match number {
        0 => Phase::Open,
        1 => Phase::Recovery,
        3 => Phase::Cwr,
        _ => Phase::Loss,
    }
}

/// The reason of a number; any other number is F-RTO.
fn reason(number: u32) -> Undo {
    match number {
        0 => Undo::Dsack,
        1 => Undo::Eifel,
        _ => Undo::Frto,
    }
}

macro_rules! entry_points {
    ($name:ident, $state:ty, $params:ty, $default:expr) => {
        #[allow(non_snake_case)]
        mod $name {
            use super::*;

            #[cfg(not(feature = "constant"))]
            unsafe fn params_of<'a>(p: *const c_void) -> &'a $params {
                unsafe { &*p.cast() }
            }

            #[cfg(feature = "constant")]
            unsafe fn params_of<'a>(_: *const c_void) -> &'a $params {
                static PARAMS: $params = $default;
                &PARAMS
            }

            #[unsafe(export_name = concat!("windlass_", stringify!($name), "_params"))]
            pub unsafe extern "C" fn params(to: *mut c_void) {
                unsafe { to.cast::<$params>().write($default) }
            }

            #[unsafe(export_name = concat!("windlass_", stringify!($name), "_init"))]
            pub unsafe extern "C" fn init(s: *mut c_void, p: *const c_void, c: *const Conn) {
                unsafe { s.cast::<$state>().write(<$state>::init(params_of(p), &*c)) }
            }

            #[unsafe(export_name = concat!("windlass_", stringify!($name), "_on_ack"))]
            pub unsafe extern "C" fn on_ack(
                s: *mut c_void,
                p: *const c_void,
                c: *const Conn,
                a: *const Ack,
            ) {
                unsafe { (*s.cast::<$state>()).on_ack(params_of(p), &*c, &*a) }
            }

            #[unsafe(export_name = concat!("windlass_", stringify!($name), "_on_phase"))]
            pub unsafe extern "C" fn on_phase(
                s: *mut c_void,
                p: *const c_void,
                c: *const Conn,
                from: u32,
                to: u32,
            ) {
                unsafe { (*s.cast::<$state>()).on_phase(params_of(p), &*c, phase(from), phase(to)) }
            }

            #[unsafe(export_name = concat!("windlass_", stringify!($name), "_on_loss"))]
            pub unsafe extern "C" fn on_loss(
                s: *mut c_void,
                p: *const c_void,
                c: *const Conn,
                l: *const Loss,
            ) {
                unsafe { (*s.cast::<$state>()).on_loss(params_of(p), &*c, &*l) }
            }

            #[unsafe(export_name = concat!("windlass_", stringify!($name), "_on_undo"))]
            pub unsafe extern "C" fn on_undo(
                s: *mut c_void,
                p: *const c_void,
                c: *const Conn,
                why: u32,
            ) {
                unsafe { (*s.cast::<$state>()).on_undo(params_of(p), &*c, reason(why)) }
            }

            #[unsafe(export_name = concat!("windlass_", stringify!($name), "_on_idle_restart"))]
            pub unsafe extern "C" fn on_idle_restart(
                s: *mut c_void,
                p: *const c_void,
                c: *const Conn,
                gap: u64,
                reset: bool,
            ) {
                unsafe {
                    (*s.cast::<$state>()).on_idle_restart(params_of(p), &*c, Span(gap), reset)
                }
            }

            #[unsafe(export_name = concat!("windlass_", stringify!($name), "_on_mss"))]
            pub unsafe extern "C" fn on_mss(
                s: *mut c_void,
                p: *const c_void,
                c: *const Conn,
                old: u32,
            ) {
                unsafe { (*s.cast::<$state>()).on_mss(params_of(p), &*c, old) }
            }

            #[unsafe(export_name = concat!("windlass_", stringify!($name), "_on_group"))]
            pub unsafe extern "C" fn on_group(
                s: *mut c_void,
                p: *const c_void,
                c: *const Conn,
                g: *const Group,
            ) {
                unsafe { (*s.cast::<$state>()).on_group(params_of(p), &*c, &*g) }
            }

            #[unsafe(export_name = concat!("windlass_", stringify!($name), "_disclosed"))]
            pub unsafe extern "C" fn disclosed(s: *const c_void) -> u64 {
                unsafe { (*s.cast::<$state>()).disclosed() }
            }

            #[unsafe(export_name = concat!("windlass_", stringify!($name), "_on_cross_layer"))]
            pub unsafe extern "C" fn on_cross_layer(
                s: *mut c_void,
                p: *const c_void,
                c: *const Conn,
                l: *const CrossLayer,
            ) {
                unsafe { (*s.cast::<$state>()).on_cross_layer(params_of(p), &*c, &*l) }
            }

            #[unsafe(export_name = concat!("windlass_", stringify!($name), "_control"))]
            pub unsafe extern "C" fn control(
                s: *const c_void,
                p: *const c_void,
                c: *const Conn,
                to: *mut Control,
            ) {
                unsafe { to.write((*s.cast::<$state>()).control(params_of(p), &*c)) }
            }
        }
    };
}

macro_rules! entries {
    ($($name:ident),*) => {
        $(entry_points!(
            $name,
            fixed::$name,
            <fixed::$name as Controller>::Params,
            <<fixed::$name as Controller>::Params as Known>::DEFAULT
        );)*

        /// Every algorithm, in the registry's order, with the standard slow start.
        pub static ENTRIES: &[Entry] = &[$(Entry {
            info: <fixed::$name as Controller>::INFO,
            state_bytes: size_of::<fixed::$name>(),
            params_bytes: size_of::<<fixed::$name as Controller>::Params>(),
            params: $name::params,
            init: $name::init,
            on_ack: $name::on_ack,
            on_phase: $name::on_phase,
            on_loss: $name::on_loss,
            control: $name::control,
        }),*];

        /// The word in the names of the entry points of each of [`ENTRIES`].
        pub static NAMES: &[&str] = &[$(stringify!($name)),*];
    };
}

windlass_cc::each_algorithm!(entries);

#[cfg(not(feature = "constant"))]
mod chosen;

/// A reachable panic is a reference to a symbol that nothing defines.
#[cfg(not(any(unix, windows)))]
#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    unsafe extern "C" {
        fn windlass_core_can_panic() -> !;
    }
    unsafe { windlass_core_can_panic() }
}
