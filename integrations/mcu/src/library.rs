// The algorithm by its name, from the C library (`windlass.h`), in which every call is checked.

use core::cell::UnsafeCell;
use core::ffi::{CStr, c_char, c_int, c_void};

use windlass_cc::{Ack, Conn, Control, Loss, Phase};

pub const INITIAL_WINDOW: u64 = 2 * 1024;

const NAME: &CStr = c"CHOSEN";
/// Results of `windlass_state_size` and `windlass_params_size` on this processor.
const STATE: usize = 352;
const ROOM: usize = 312;

type Given = *const c_void;

unsafe extern "C" {
    fn windlass_state_size() -> usize;
    fn windlass_params_size() -> usize;
    fn windlass_params_init(
        to: *mut c_void,
        room: usize,
        name: *const c_char,
        stack: *const c_char,
    ) -> c_int;
    fn windlass_param_set(params: *mut c_void, name: *const c_char, value: u64) -> c_int;
    fn windlass_param_set_word(
        params: *mut c_void,
        name: *const c_char,
        word: *const c_char,
    ) -> c_int;
    fn windlass_init(to: *mut c_void, room: usize, params: Given, conn: *const Conn) -> c_int;
    fn windlass_on_ack(
        state: *mut c_void,
        params: Given,
        conn: *const Conn,
        ack: *const Ack,
    ) -> c_int;
    fn windlass_on_loss(
        state: *mut c_void,
        params: Given,
        conn: *const Conn,
        loss: *const Loss,
    ) -> c_int;
    fn windlass_on_phase(
        state: *mut c_void,
        params: Given,
        conn: *const Conn,
        from: u32,
        to: u32,
    ) -> c_int;
    fn windlass_control(state: Given, params: Given, conn: *const Conn, to: *mut Control) -> c_int;
}

fn must(status: c_int) {
    assert!(status == 0, "the library has refused a call: {status}");
}

/// A set of parameters that all connections share.
#[repr(align(8))]
pub struct Params(UnsafeCell<[u8; ROOM]>);

// SAFETY: the firmware has one thread.
unsafe impl Sync for Params {}

pub static PARAMS: Params = Params(UnsafeCell::new([0; ROOM]));

impl Params {
    fn at(&self) -> *mut c_void {
        self.0.get().cast()
    }

    /// Makes the defaults, with the stack's values.
    fn make(&self) {
        let at = self.at();
        // SAFETY: they read no memory.
        let sizes = unsafe { (windlass_state_size(), windlass_params_size()) };
        assert!(sizes == (STATE, ROOM), "state and parameters have other sizes: {sizes:?}");
        // SAFETY: the memory has the given size, aligned to 8; the names end with a zero.
        unsafe {
            must(windlass_params_init(at, ROOM, NAME.as_ptr(), core::ptr::null()));
            must(windlass_param_set(at, c"initial_window".as_ptr(), INITIAL_WINDOW));
            must(windlass_param_set_word(at, c"recovery".as_ptr(), c"newreno".as_ptr()));
        }
    }
}

/// The state of a connection.
#[repr(align(8))]
#[derive(Debug)]
pub struct Algorithm([u8; STATE]);

impl Algorithm {
    pub fn init(params: &Params, conn: &Conn) -> Algorithm {
        params.make();
        let mut made = Algorithm([0; STATE]);
        // SAFETY: the memory has the given size, aligned to 8.
        must(unsafe { windlass_init(made.at(), STATE, params.at(), conn) });
        made
    }

    fn at(&mut self) -> *mut c_void {
        self.0.as_mut_ptr().cast()
    }

    pub fn on_ack(&mut self, params: &Params, conn: &Conn, ack: &Ack) {
        // SAFETY: the state and the parameters were made by the library, here and below.
        must(unsafe { windlass_on_ack(self.at(), params.at(), conn, ack) });
    }

    pub fn on_loss(&mut self, params: &Params, conn: &Conn, loss: &Loss) {
        // SAFETY: as above.
        must(unsafe { windlass_on_loss(self.at(), params.at(), conn, loss) });
    }

    pub fn on_phase(&mut self, params: &Params, conn: &Conn, from: Phase, to: Phase) {
        // SAFETY: as above.
        must(unsafe { windlass_on_phase(self.at(), params.at(), conn, from as u32, to as u32) });
    }

    pub fn control(&self, params: &Params, conn: &Conn) -> Control {
        let mut answer = core::mem::MaybeUninit::uninit();
        // SAFETY: as above; the library writes the answer unless it refuses.
        unsafe {
            must(windlass_control(self.0.as_ptr().cast(), params.at(), conn, answer.as_mut_ptr()));
            answer.assume_init()
        }
    }
}
