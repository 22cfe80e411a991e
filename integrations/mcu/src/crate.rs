// The algorithm as a type of the crate, with its parameters: the defaults, except the stack's initial window and loss
// recovery.

use windlass_cc::params::Known;
use windlass_cc::recovery::LossRecovery;
pub use windlass_cc::registry::fixed::CHOSEN as Algorithm;

pub const INITIAL_WINDOW: u64 = 2 * 1024;

type Params = <Algorithm as windlass_cc::Controller>::Params;

pub static PARAMS: Params = {
    let mut params = <Params as Known>::DEFAULT;
    params.initial_window = INITIAL_WINDOW;
    params.recovery = Some(LossRecovery::NewReno);
    params
};
