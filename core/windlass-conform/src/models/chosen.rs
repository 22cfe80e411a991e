//! The model of an algorithm with chosen parameters.

use windlass_cc::{AnyParams, Conn};

use super::Model;
use super::cubic::Cubic;
use super::delay::{Fast, Vegas, Veno, Yeah};
use super::frame::{Frame, Law, Windows};
use super::highspeed::{Bic, HighSpeed, Scalable, WholeBic};
use super::measured::{Compound, Dctcp, Ledbat, Westwood};
use super::mfvl::{MFast, MVegas};
use super::tcp_modified::TcpModified;
use super::time_based::{Htcp, Hybla, Illinois};

/// The model of a new connection; `None` if no model has an interpretation that the parameters choose.
/// Slow start is the standard slow start. The windows deviate by `bytes` and by `share`
/// after each reduction ([`Frame::deviating`]).
pub fn chosen(params: &AnyParams, c: &Conn, bytes: f64, share: f64) -> Option<Box<dyn Model>> {
    fn framed<L: Law + 'static>(params: &AnyParams, by: (f64, f64), law: L) -> Box<dyn Model> {
        let common = params.common();
        let (cwnd, ssthresh) = (common.initial_window as f64, common.initial_ssthresh as f64);
        let style = common.recovery.unwrap_or(params.requirements().recovery);
        let frame = Frame::new(law, Windows { cwnd, ssthresh }, style, common.ack_limit);
        Box::new(frame.deviating(by.0, by.1))
    }
    macro_rules! frame {
        ($law:expr) => {
            framed(params, (bytes, share), $law)
        };
    }
    Some(match params {
        AnyParams::Bic(p) if p.own.whole => frame!(WholeBic::of(&p.own)?),
        AnyParams::Bic(p) => frame!(Bic::of(&p.own)?),
        AnyParams::Cubic(p) => frame!(Cubic::of(&p.own)?),
        AnyParams::HighSpeed(p) => frame!(HighSpeed::of(&p.own)?),
        AnyParams::Scalable(p) => frame!(Scalable::of(&p.own)),
        AnyParams::Htcp(p) => frame!(Htcp::of(&p.own, c)?),
        AnyParams::TcpModified(p) => frame!(TcpModified::of(&p.own, c)?),
        AnyParams::Hybla(p) => frame!(Hybla::of(&p.own)?),
        AnyParams::Illinois(p) => frame!(Illinois::of(&p.own, c)?),
        AnyParams::Westwood(p) => frame!(Westwood::of(&p.own, c)?),
        AnyParams::Veno(p) => frame!(Veno::of(&p.own, c)?),
        AnyParams::Vegas(p) => frame!(Vegas::of(&p.own, c)?),
        AnyParams::Fast(p) => frame!(Fast::of(&p.own, c)),
        AnyParams::MVegas(p) => frame!(MVegas::of(&p.own, c)),
        AnyParams::MFast(p) => frame!(MFast::of(&p.own, c)?),
        AnyParams::Yeah(p) => frame!(Yeah::of(&p.own, c)?),
        AnyParams::Compound(p) => frame!(Compound::of(&p.own, c)),
        AnyParams::Dctcp(p) => frame!(Dctcp::of(&p.own, c)?),
        AnyParams::Ledbat(p) => frame!(Ledbat::of(&p.own, c)),
        _ => return None,
    })
}
