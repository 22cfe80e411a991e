//! The boundary changes no answer, and returns an error for wrong arguments. These tests also run under Miri.

use std::ffi::{CStr, CString, c_char, c_void};
use std::mem::MaybeUninit;
use std::path::Path;

use windlass::*;
use windlass_cc::group::PathView;
use windlass_cc::{
    ALGORITHMS, Ack, AnyController, AnyParams, Conn, Control, Flavour, Group, Info, Loss, Phase,
    Rate, Setup, Span, Time,
};
use windlass_conform::check::check_text;
use windlass_tcp::stack::{PRESETS, Preset};

const EVENTS: u64 = if cfg!(miri) { 60 } else { 3000 };
/// Number of events of a recorded connection. Under Miri a line takes half a second to read.
const RECORDED: u64 = if cfg!(miri) { 10 } else { 400 };
const MSS: u32 = 1448;

/// All algorithms; under Miri every ninth, because the boundary is the same for each.
fn algorithms() -> impl Iterator<Item = &'static Info> {
    ALGORITHMS.iter().copied().step_by(if cfg!(miri) { 9 } else { 1 })
}

fn text(word: &str) -> CString {
    CString::new(word).unwrap()
}

/// Memory of the caller, with bytes that are not yet a value.
fn room<T>() -> Box<MaybeUninit<T>> {
    Box::new(MaybeUninit::zeroed())
}

/// The data of a C host for one connection.
struct Host {
    params: *mut ParamSet,
    state: *mut FlowState,
    conn: Conn,
}

impl Host {
    fn new(algorithm: &str) -> Host {
        let host = Host {
            params: Box::into_raw(room::<ParamSet>()).cast(),
            state: Box::into_raw(room::<FlowState>()).cast(),
            conn: Conn::new(MSS),
        };
        let (name, linux) = (text(algorithm), text("linux"));
        unsafe {
            let params = windlass_params_init(
                host.params,
                windlass_params_size(),
                name.as_ptr(),
                linux.as_ptr(),
            );
            assert_eq!(params, Status::Ok);
            let size = windlass_state_size();
            let init = windlass_init(host.state, size, host.params(), &host.conn);
            assert_eq!(init, Status::Ok);
        }
        host
    }

    fn params(&self) -> *const ParamSet {
        self.params
    }

    fn state(&self) -> *mut FlowState {
        self.state
    }

    fn answer(&self) -> Control {
        let mut to = Control { cwnd: 0, ssthresh: 0, pacing: Rate(0) };
        let asked = unsafe { windlass_control(self.state, self.params(), &self.conn, &mut to) };
        assert_eq!(asked, Status::Ok);
        to
    }

    fn number(&self, name: &str) -> Result<u64, Status> {
        let mut value = 0;
        match unsafe { windlass_param_get(self.params(), text(name).as_ptr(), &mut value) } {
            Status::Ok => Ok(value),
            other => Err(other),
        }
    }

    fn set(&mut self, name: &str, value: u64) -> Status {
        unsafe { windlass_param_set(self.params, text(name).as_ptr(), value) }
    }
}

/// An algorithm's parameters on the simulator's Linux stack.
fn on_linux(algorithm: &str) -> AnyParams {
    let mut params = AnyParams::by_name(algorithm).unwrap().flavoured(Flavour::Linux);
    let preset = PRESETS.iter().find(|preset| preset.flavour == Flavour::Linux).unwrap();
    params.set_common(&of_preset(&params, preset));
    params
}

fn of_preset(params: &AnyParams, preset: &Preset) -> Setup<()> {
    let stack = &preset.config;
    Setup {
        ack_limit: params.ack_limit(preset.flavour).unwrap_or(stack.ack_limit),
        recovery: stack.recovery,
        counting: stack.window_counting,
        credit: stack.growth_credit,
        mark_cut: stack.mark_cut,
        ..params.common()
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        unsafe {
            drop(Box::from_raw(self.params.cast::<MaybeUninit<ParamSet>>()));
            drop(Box::from_raw(self.state.cast::<MaybeUninit<FlowState>>()));
        }
    }
}

#[test]
fn each_stack_has_the_values_of_its_preset() {
    for name in ["rfc", "linux", "ns3"] {
        let preset = PRESETS.iter().find(|preset| preset.name == name).unwrap();
        for info in algorithms() {
            let usual = AnyParams::by_name(info.id).unwrap().flavoured(preset.flavour);
            let wanted = of_preset(&usual, preset);
            let host = Host::new(info.id);
            let (id, stack, room) = (text(info.id), text(name), windlass_params_size());
            let made =
                unsafe { windlass_params_init(host.params, room, id.as_ptr(), stack.as_ptr()) };
            assert_eq!(made, Status::Ok);
            let recovery = wanted.recovery.unwrap_or(usual.requirements().recovery);
            for (param, value) in [
                ("ack_limit", wanted.ack_limit.into()),
                ("recovery", recovery as u64),
                ("counting", wanted.counting as u64),
                ("credit", wanted.credit as u64),
                ("mark_cut", wanted.mark_cut as u64),
            ] {
                assert_eq!(host.number(param), Ok(value), "{name} {} {param}", info.id);
            }
        }
    }
}

#[test]
fn every_algorithm_answers_as_it_does_without_the_boundary() {
    for info in ALGORITHMS {
        let params = on_linux(info.id);
        let mut native = AnyController::init(&params, &Conn::new(MSS));
        let mut host = Host::new(info.id);
        let mut draw = 1_u64;
        for event in 0..EVENTS {
            draw = draw.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let acked = u64::from(MSS) * (1 + (draw >> 60));
            let conn = &mut host.conn;
            conn.now = Time(conn.now.0 + 1_000_000 + (draw >> 44));
            conn.delivered += acked;
            conn.una += acked;
            conn.sent += acked;
            conn.in_flight = 40 * u64::from(MSS);
            (conn.next_id, conn.flight_size) = (conn.una + conn.in_flight, conn.in_flight);
            conn.entropy = (draw >> 32) as u32;
            (conn.srtt, conn.min_rtt) = (Span::from_millis(50), Span::from_millis(40));
            let facts = *conn;
            let ack = Ack {
                rtt: Span(40_000_000 + (draw >> 40)),
                prior_in_flight: 41 * u64::from(MSS),
                ..Ack::of(acked)
            };
            native.on_ack(&params, &facts, &ack);
            let told = unsafe { windlass_on_ack(host.state(), host.params(), &facts, &ack) };
            assert_eq!(told, Status::Ok);
            if event % 50 == 49 {
                for (from, to) in [(Phase::Open, Phase::Recovery), (Phase::Recovery, Phase::Open)] {
                    host.conn.phase = to;
                    let facts = host.conn;
                    native.on_phase(&params, &facts, from, to);
                    let (state, params) = (host.state(), host.params());
                    let told =
                        unsafe { windlass_on_phase(state, params, &facts, from as u32, to as u32) };
                    assert_eq!(told, Status::Ok);
                }
            }
            assert_eq!(host.answer(), native.control(&params, &host.conn), "{}", info.id);
        }
        assert_ne!(
            host.answer().cwnd,
            Host::new(info.id).answer().cwnd,
            "{}: something happened",
            info.id
        );
    }
}

unsafe extern "C" fn listen(context: *mut c_void, line: *const c_char, bytes: usize) {
    let (lines, line) = unsafe {
        (&mut *context.cast::<Vec<u8>>(), std::slice::from_raw_parts(line.cast(), bytes))
    };
    lines.extend_from_slice(line);
}

/// A recorded connection. `keep` replaces CUBIC's constant.
fn recorded(algorithm: &str, keep: Option<u64>) -> String {
    let mut host = Host::new(algorithm);
    let (state, mut lines) = (host.state(), Vec::<u8>::new());
    let (name, about, to) = (text("life"), text("C"), (&raw mut lines).cast());
    let begun = unsafe {
        let params = host.params();
        windlass_record(state, params, &host.conn, name.as_ptr(), about.as_ptr(), Some(listen), to)
    };
    assert_eq!(begun, Status::Ok);
    if let Some(keep) = keep {
        assert_eq!(host.set("keep", keep), Status::Ok);
    }
    let (mss, params) = (u64::from(MSS), host.params());
    for number in 1..=RECORDED {
        let conn = &mut host.conn;
        conn.now = Time(conn.now.0 + 1_000_000);
        (conn.una, conn.delivered) = (conn.una + mss, conn.delivered + mss);
        (conn.in_flight, conn.flight_size) = (20 * mss, 20 * mss);
        (conn.srtt, conn.min_rtt) = (Span::from_millis(50), Span::from_millis(40));
        let ack = Ack { rtt: Span::from_millis(45), prior_in_flight: 21 * mss, ..Ack::of(mss) };
        let loss = Loss { bytes: mss, tx_in_flight: mss, lost_since_sent: mss, app_limited: false };
        let told = unsafe {
            match number % 50 {
                47 => windlass_on_loss(state, params, conn, &loss),
                48 => {
                    conn.phase = Phase::Recovery;
                    windlass_on_phase(state, params, conn, 0, 1)
                }
                49 => {
                    conn.phase = Phase::Open;
                    windlass_on_phase(state, params, conn, 1, 0)
                }
                _ => windlass_on_ack(state, params, conn, &ack),
            }
        };
        assert_eq!(told, Status::Ok);
    }
    unsafe {
        let (n, a, none) = (name.as_ptr(), about.as_ptr(), std::ptr::null_mut());
        assert_eq!(windlass_record(state, params, &host.conn, n, a, None, none), Status::Ok);
        windlass_on_undo(state, params, &host.conn, 0);
    }
    String::from_utf8(lines).unwrap()
}

#[test]
fn a_recording_has_the_answers_of_the_library() {
    for info in algorithms() {
        let text = recorded(info.id, None);
        let outcome = check_text(Path::new(info.id), &text).unwrap();
        assert!(outcome.failure.is_none(), "{}: {:?}", info.id, outcome.failure);
        let answers = 1 + RECORDED as usize;
        assert_eq!(outcome.answers, answers, "{}: until nobody listens any more", info.id);
    }
}

#[test]
#[cfg_attr(miri, ignore = "its cut comes too late")]
fn a_wrong_constant_is_found_in_the_recording() {
    let wrong = recorded("cubic", Some(52_429));
    let failure = check_text(Path::new("cubic"), &wrong).unwrap().failure.expect("another cut");
    assert_eq!(failure.line, 1 + 48, "the first cut");
}

#[test]
fn coupled_algorithms_receive_their_siblings() {
    let view = |cwnd, ms| PathView {
        cwnd,
        ssthresh: cwnd,
        srtt: Span::from_millis(ms),
        min_rtt: Span::from_millis(ms),
        mss: MSS,
        ..PathView::EMPTY
    };
    let paths = [view(14_600, 40), view(200_000, 40)];
    let host = Host::new("lia");
    let params = on_linux("lia");
    let mut native = AnyController::init(&params, &host.conn);
    native.on_group(&params, &host.conn, &Group::new(paths).seen_from(1, 0));
    let (state, handle, conn) = (host.state(), host.params(), host.conn);
    unsafe {
        assert_eq!(windlass_on_group(state, handle, &conn, paths.as_ptr(), 2, 1), Status::Ok);
        let beyond = windlass_on_group(state, handle, &conn, paths.as_ptr(), 2, 2);
        assert_eq!(beyond, Status::OutOfRange);
        assert_eq!(
            windlass_on_group(state, handle, &conn, std::ptr::null(), 1, 0),
            Status::NullPointer
        );
    }
    assert_eq!(host.answer(), native.control(&params, &host.conn));
}

#[test]
fn null_pointers_are_refused_everywhere() {
    use std::ptr::null_mut as none;
    let host = Host::new("cubic");
    let (state, params, conn) = (host.state(), host.params(), host.conn);
    let (ack, loss) =
        (Ack::of(1), Loss { bytes: 1, tx_in_flight: 0, lost_since_sent: 0, app_limited: false });
    let name = text("cubic");
    let refused = unsafe {
        [
            windlass_params_init(none(), 4096, name.as_ptr(), std::ptr::null()),
            windlass_params_init(host.params, 4096, none(), none()),
            windlass_init(none(), 4096, params, &conn),
            windlass_init(state, 4096, none(), &conn),
            windlass_init(state, 4096, params, none()),
            windlass_on_ack(none(), params, &conn, &ack),
            windlass_on_ack(state, none(), &conn, &ack),
            windlass_on_ack(state, params, none(), &ack),
            windlass_on_ack(state, params, &conn, none()),
            windlass_on_loss(state, params, &conn, none()),
            windlass_on_loss(none(), params, &conn, &loss),
            windlass_on_phase(none(), params, &conn, 0, 1),
            windlass_on_undo(none(), params, &conn, 0),
            windlass_on_mss(none(), params, &conn, 1),
            windlass_on_idle_restart(none(), params, &conn, 1, 0),
            windlass_on_cross_layer(state, params, &conn, none()),
            windlass_control(state, params, &conn, none()),
            windlass_disclosed(none(), none()),
            windlass_record(none(), params, &conn, name.as_ptr(), name.as_ptr(), None, none()),
            windlass_record(state, params, &conn, none(), name.as_ptr(), None, none()),
            windlass_conn_init(none(), MSS),
            windlass_ack_init(none(), 1),
            windlass_param_get(params, none(), none()),
            windlass_param_set(none(), name.as_ptr(), 1),
            windlass_wants(params, none()),
            windlass_algorithm_name(0, none(), 100),
        ]
    };
    for (place, status) in refused.into_iter().enumerate() {
        assert_eq!(status, Status::NullPointer, "call {place}");
    }
}

#[test]
fn memory_without_a_handle_or_with_another_algorithm_is_refused_and_unchanged() {
    let cubic = Host::new("cubic");
    let reno = Host::new("reno");
    let (before, conn, ack) = (cubic.answer(), cubic.conn, Ack::of(1448));
    let mut zeros = room::<FlowState>();
    let state = cubic.state();
    unsafe {
        assert_eq!(
            windlass_on_ack(zeros.as_mut_ptr(), cubic.params(), &conn, &ack),
            Status::BadHandle
        );
        let swapped = windlass_on_ack(state, state.cast(), &conn, &ack);
        assert_eq!(swapped, Status::BadHandle);
        assert_eq!(windlass_on_ack(state, reno.params(), &conn, &ack), Status::WrongAlgorithm);
        let odd = cubic.params().cast::<u8>().add(1).cast();
        assert_eq!(windlass_on_ack(state, odd, &conn, &ack), Status::Misaligned);
        let small = windlass_state_size() - 1;
        assert_eq!(windlass_init(state, small, reno.params(), &conn), Status::TooSmall);
    }
    assert_eq!(cubic.answer(), before);
}

#[test]
fn bytes_that_no_field_may_hold_are_refused() {
    let host = Host::new("bbr3");
    let (state, params, conn) = (host.state(), host.params(), host.conn);
    let ack = Ack::of(1448);
    let mut phase = MaybeUninit::new(conn);
    let mut flag = MaybeUninit::new(ack);
    unsafe {
        (&raw mut (*phase.as_mut_ptr()).phase).cast::<u8>().write(4);
        (&raw mut (*flag.as_mut_ptr()).duplicate).cast::<u8>().write(2);
        assert_eq!(windlass_on_ack(state, params, phase.as_ptr(), &ack), Status::BadValue);
        assert_eq!(windlass_on_ack(state, params, &conn, flag.as_ptr()), Status::BadValue);
        assert_eq!(windlass_on_phase(state, params, &conn, 0, 4), Status::BadValue);
        assert_eq!(windlass_on_undo(state, params, &conn, 3), Status::BadValue);
    }
}

#[test]
fn parameters_are_found_by_name_and_kept_in_their_range() {
    let mut host = Host::new("cubic");
    let keep = host.number("keep").unwrap();
    assert_eq!(host.set("keep", u64::MAX), Status::OutOfRange);
    assert_eq!(host.number("keep"), Ok(keep));
    assert_eq!(host.set("keep", 1 << 15), Status::Ok);
    assert_eq!(host.number("keep"), Ok(1 << 15));
    assert_eq!(host.set("kept", 1), Status::UnknownParameter);
    assert_eq!(host.set("initial_window", 2920), Status::Ok);
    let (recovery, newreno) = (text("recovery"), text("newreno"));
    let params = host.params;
    unsafe {
        assert_eq!(
            windlass_param_set_word(params, recovery.as_ptr(), newreno.as_ptr()),
            Status::Ok
        );
        assert_eq!(
            windlass_param_set_word(params, recovery.as_ptr(), recovery.as_ptr()),
            Status::UnknownWord
        );
        assert_eq!(windlass_params_slow_start(params, text("hystart").as_ptr()), Status::Ok);
        assert_eq!(windlass_params_slow_start(params, recovery.as_ptr()), Status::UnknownWord);
        // LossRecovery::NewReno.
        assert_eq!(host.number("recovery"), Ok(2));
        let size = windlass_state_size();
        assert_eq!(windlass_init(host.state, size, params, &host.conn), Status::Ok);
    }
    assert_eq!(host.answer().cwnd, 2920);
}

#[test]
fn the_list_of_algorithms_is_whole() {
    assert_eq!(windlass_algorithm_count(), ALGORITHMS.len());
    for (place, info) in ALGORITHMS.iter().enumerate() {
        let mut name = [0 as c_char; 64];
        let named = unsafe { windlass_algorithm_name(place, name.as_mut_ptr(), name.len()) };
        assert_eq!(named, Status::Ok);
        assert_eq!(unsafe { CStr::from_ptr(name.as_ptr()) }.to_str(), Ok(info.id));
    }
}

/// The library accepts the names that it lists. Each value is in its range, and setting it again changes nothing.
#[test]
fn the_list_of_parameters_is_whole() {
    for info in algorithms() {
        let mut name = [0 as c_char; 64];
        let id = info.id;
        let mut host = Host::new(id);
        for at in 0.. {
            let mut view = MaybeUninit::<ParamView>::uninit();
            let found = unsafe {
                windlass_param_at(
                    host.params(),
                    at,
                    name.as_mut_ptr(),
                    name.len(),
                    view.as_mut_ptr(),
                )
            };
            if found == Status::OutOfRange {
                assert!(at >= 7, "{id}");
                break;
            }
            assert_eq!(found, Status::Ok);
            let view = unsafe { view.assume_init() };
            let param = unsafe { CStr::from_ptr(name.as_ptr()) }.to_str().unwrap().to_owned();
            assert!((view.least..=view.most).contains(&view.value), "{id} {param}: {view:?}");
            assert_eq!(host.number(&param), Ok(view.value), "{id} {param}");
            assert_eq!(host.set(&param, view.value), Status::Ok, "{id} {param}");
            assert_eq!(host.number(&param), Ok(view.value), "{id} {param}");
        }
    }
}

#[test]
fn unknown_names_and_small_rooms_are_refused() {
    let mut params = room::<ParamSet>();
    let (reno, none) = (text("reno"), text("renault"));
    let size = windlass_params_size();
    unsafe {
        let at = params.as_mut_ptr();
        assert_eq!(
            windlass_params_init(at, size, none.as_ptr(), std::ptr::null()),
            Status::UnknownAlgorithm
        );
        assert_eq!(
            windlass_params_init(at, size, reno.as_ptr(), none.as_ptr()),
            Status::UnknownWord
        );
        assert_eq!(
            windlass_params_init(at, size - 1, reno.as_ptr(), std::ptr::null()),
            Status::TooSmall
        );
        let mut name = [0 as c_char; 3];
        assert_eq!(windlass_algorithm_name(0, name.as_mut_ptr(), 3), Status::TooSmall);
        let (mut state, mut own) = (0, 0);
        assert_eq!(windlass_entry_sizes(text("Reno").as_ptr(), &mut state, &mut own), Status::Ok);
        assert!((1..=104).contains(&state) && own > 0, "Reno fits a kernel's 104 bytes: {state}");
        assert_eq!(
            windlass_entry_sizes(none.as_ptr(), &mut state, &mut own),
            Status::UnknownAlgorithm
        );
        let said = CStr::from_ptr(windlass_status_text(Status::TooSmall as i32)).to_str().unwrap();
        assert!(said.contains("too small"));
    }
}
