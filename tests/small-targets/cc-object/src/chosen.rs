//! Entry points to what is chosen at run time, by the parameters.

use windlass_cc::loss_based::LossBased;
use windlass_cc::reno;
use windlass_cc::slow_start::AnySlowStart;
use windlass_cc::{AnyController, AnyParams, Setup};

use crate::*;

// Every slow start.
type AnyStart = LossBased<reno::RenoAvoidance<reno::Reno>, AnySlowStart>;
entry_points!(any_start, AnyStart, Setup<reno::Params>, Setup::default());

// Every algorithm and slow start. More than a BPF program's stack holds.
entry_points!(any, AnyController, AnyParams, AnyParams::default());
