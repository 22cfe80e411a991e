//! lwIP as a connection, built for a scenario or a script.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{LazyLock, Mutex};

use windlass_interop::script::Settings;

use crate::c_end::{CTcp, Setting};
use crate::scripted::addresses;

/// Exit code of `lwip/build` if lwIP or a compiler is missing.
const MISSING: i32 = 3;

/// Largest segment that is offered over packets of 1500 bytes.
const MSS: u32 = 1460;

/// Segments and buffers like smoltcp's here, which are larger than lwIP's defaults.
pub const LARGE: &[&str] = &["-DTCP_MSS=1460", "-DTCP_WND=65535", "-DTCP_SND_BUF=65535"];

/// The library with lwIP and these definitions. Each library is built once per process.
///
/// # Errors
///
/// The missing part, or the compiler's message.
pub fn library(definitions: &[String]) -> Result<PathBuf, String> {
    static BUILT: LazyLock<Mutex<HashMap<Vec<String>, PathBuf>>> = LazyLock::new(Mutex::default);
    let mut built = BUILT.lock().expect("no panic here");
    if let Some(path) = built.get(definitions) {
        return Ok(path.clone());
    }
    let home = Path::new(env!("CARGO_MANIFEST_DIR"));
    let name = format!("lwip-{}-{}.so", std::process::id(), built.len());
    let path = std::env::temp_dir().join("windlass-lwip").join(name);
    let done = Command::new(home.join("lwip/build")).arg(&path).args(definitions).output();
    let done = done.map_err(|e| format!("lwip/build: {e}"))?;
    if !done.status.success() {
        let what = if done.status.code() == Some(MISSING) { "" } else { "lwip/build fails: " };
        return Err(format!("{what}{}", String::from_utf8_lossy(&done.stderr).trim()));
    }
    built.insert(definitions.to_vec(), path.clone());
    Ok(path)
}

/// A connection of lwIP, built with these definitions.
///
/// # Errors
///
/// It cannot be built or loaded.
pub fn connection(definitions: &[&str], setting: &Setting) -> Result<CTcp, String> {
    let definitions: Vec<String> = definitions.iter().map(ToString::to_string).collect();
    CTcp::open(&library(&definitions)?, setting)
}

/// A connection with the script's settings that lwIP supports. If `window`, its congestion window begins
/// with the script's.
///
/// # Errors
///
/// It cannot be built or loaded.
pub fn scripted(settings: &Settings, window: bool) -> Result<CTcp, String> {
    let stack = &settings.stack;
    let mss = stack.mss.unwrap_or(MSS);
    let mut definitions = vec![format!("-DTCP_MSS={mss}"), "-DTCP_SND_BUF=65535".to_owned()];
    let receive =
        if settings.sets_receive_buffer { stack.receive_buffer.min(65_535) } else { 65_535 };
    // The scripts expect a window scale of 7.
    let (receive, shift) =
        if stack.window_scaling { (65_535 << 7, Some(7)) } else { (receive, None) };
    definitions.push(format!("-DTCP_WND={receive}"));
    definitions.extend(shift.map(|shift| format!("-DTCP_RCV_SCALE={shift}")));
    definitions.extend(stack.sack.then(|| "-DLWIP_TCP_SACK_OUT=1".to_owned()));
    definitions.extend(stack.timestamps.then(|| "-DLWIP_TCP_TIMESTAMPS=1".to_owned()));
    let mut options = String::new();
    if !stack.nagle {
        options.push_str("nagle=off ");
    }
    if window {
        let segments = stack.initial_window.bytes(mss).div_ceil(mss.into());
        options.push_str(&format!("window={segments}"));
    }
    let setting = Setting {
        ends: addresses(),
        mtu: settings.mtu,
        sends: true,
        start: windlass_cc::Time::ZERO,
        seed: 1,
        options,
    };
    CTcp::open(&library(&definitions)?, &setting)
}
