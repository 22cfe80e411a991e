//! `windlass play`: the laboratory in a browser.

use std::fs;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::time::Duration;

use windlass_lab::report::laboratory;
use windlass_lab::reproduce::LABORATORY;
use windlass_lab::run::VERSION;
use windlass_lab::scenario::Scenario;

use crate::args::Play;
use crate::output::{Chatter, Failure, print};

/// Longest wait for a browser that has connected, and maximum length of a request, bytes.
const PATIENCE: Duration = Duration::from_secs(5);
const REQUEST: u64 = 16 << 10;

/// Bytes at the beginning of a page that contain its title and version, and the form of both.
const HEAD: usize = 2048;
const TITLE: &str = "<title>Windlass: a laboratory for congestion control</title>";
const GENERATOR: &str = "<meta name=\"generator\" content=\"Windlass ";

/// Serves the page to this machine only until it is stopped, or writes it to a file.
pub fn run(args: &Play, chatter: &Chatter) -> Result<(), Failure> {
    let page = match &args.page {
        Some(file) => file.clone(),
        None => found()?,
    };
    let unreadable = |e| Failure::input(format!("{} cannot be read: {e}", page.display()));
    let text = fs::read(&page).map_err(unreadable)?;
    if let Some(other) = version_of(&text).filter(|version| version != VERSION) {
        chatter.say(format_args!(
            "the page belongs to Windlass {other}, and this is {VERSION}: its runs may differ; \
             `lab/windlass-web/build` in Windlass's source builds it again"
        ));
    }
    if let Some(file) = &args.save {
        let unwritten = |e| Failure::work(format!("cannot write {}: {e}", file.display()));
        fs::write(file, &text).map_err(unwritten)?;
        return print(&format!("{} is written; open it in a browser\n", file.display()));
    }
    let fragment = args.scenario.as_deref().map(fragment).transpose()?.unwrap_or_default();
    let unheard = |e| Failure::work(format!("cannot listen on port {}: {e}", args.port));
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, args.port)).map_err(unheard)?;
    let address = listener.local_addr().map_err(Failure::work)?;
    print(&format!("http://{address}/{fragment}\n"))?;
    chatter.say("open this address in a browser; Ctrl-C ends it");
    for browser in listener.incoming() {
        // A browser that disconnects must not cause a failure.
        let _ = browser.and_then(|stream| answer(stream, &text));
    }
    Ok(())
}

/// Puts the page, if it has been built, into a folder for reports, where it replaces an older page. A file of another
/// program with this name stays.
pub fn lay_beside(folder: &Path) -> Result<(), Failure> {
    let Ok(page) = found() else { return Ok(()) };
    let place = folder.join(LABORATORY);
    let unwritten = |e| Failure::work(format!("cannot write {}: {e}", place.display()));
    lay(&page, &place).map_err(unwritten)
}

fn lay(page: &Path, place: &Path) -> io::Result<()> {
    let new = fs::read(page)?;
    match fs::read(place) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => {}
        Ok(old) if old != new && is_laboratory(&old) => {}
        Ok(_) => return Ok(()),
        Err(e) => return Err(e),
    }
    place.parent().map_or(Ok(()), fs::create_dir_all)?;
    fs::write(place, new)
}

/// True if a file is the laboratory's page of any version.
fn is_laboratory(page: &[u8]) -> bool {
    let head = &page[..page.len().min(HEAD)];
    String::from_utf8_lossy(head).contains(TITLE)
}

/// The version of the simulator in a page, from the page's head.
fn version_of(page: &[u8]) -> Option<String> {
    let head = String::from_utf8_lossy(&page[..page.len().min(HEAD)]);
    let (_, after) = head.split_once(GENERATOR)?;
    after.split_once('"').map(|(version, _)| version.to_owned())
}

/// The page in the folder of the binary, or in the folder of its build, which is the parent folder.
fn found() -> Result<PathBuf, Failure> {
    let binary = std::env::current_exe().and_then(fs::canonicalize).map_err(Failure::work)?;
    let folders = binary.ancestors().skip(1).take(2);
    let tried: Vec<PathBuf> = folders.map(|folder| folder.join(LABORATORY)).collect();
    tried.iter().find(|page| page.is_file()).cloned().ok_or_else(|| {
        let tried: Vec<String> = tried.iter().map(|page| page.display().to_string()).collect();
        Failure::input(format!(
            "the page is not built: {} not found; `lab/windlass-web/build` in Windlass's source builds it, \
             and --page FILE sets its place",
            tried.join(" and ")
        ))
    })
}

/// The end of an address that contains a scenario, including the data that it reads from other files.
fn fragment(file: &Path) -> Result<String, Failure> {
    let located = |e| Failure::located([e]);
    let scenario = Scenario::from_file(file).map_err(located)?;
    let text = Scenario::text_of(file).map_err(located)?;
    let alone = Scenario::from_str(&text, &format!("{}.toml", scenario.name));
    let text =
        if alone.is_ok_and(|alone| alone == scenario) { text } else { scenario.resolved_toml() };
    Ok(laboratory::fragment(&text))
}

/// Answers one request. The page is the only resource.
fn answer(stream: TcpStream, page: &[u8]) -> io::Result<()> {
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let mut request = BufReader::new(stream.take(REQUEST));
    let mut line = String::new();
    request.read_line(&mut line)?;
    let mut header = String::new();
    while request.read_line(&mut header)? > 2 {
        header.clear();
    }
    let mut words = line.split(' ');
    let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let (status, body): (_, &[u8]) = match (method, path) {
        ("GET" | "HEAD", "/" | "/play.html") => ("200 OK", page),
        ("GET" | "HEAD", _) => ("404 Not Found", b"There is one page: /\n"),
        _ => ("405 Method Not Allowed", b"GET only\n"),
    };
    let kind = if status == "200 OK" { "text/html; charset=utf-8" } else { "text/plain" };
    let mut stream = request.into_inner().into_inner();
    write!(
        stream,
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nCache-Control: no-store\r\nConnection: close\r\n\r\n",
        body.len()
    )?;
    if method != "HEAD" {
        stream.write_all(body)?;
    }
    stream.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_holds_the_text_of_a_scenario_and_its_files() {
        let scenarios = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
        let plain = fragment(&scenarios.join("dumbbell.toml")).map_err(|_| ()).expect("a fragment");
        assert!(plain.starts_with("#toml=%23%20Four%20Reno%20flows"), "{plain}");
        let traced =
            fragment(&scenarios.join("cellular.toml")).map_err(|_| ()).expect("a fragment");
        assert!(!traced.contains("cellular.trace"), "{traced}");
    }

    #[test]
    fn an_older_page_with_reports_is_replaced_and_a_foreign_file_is_not() {
        let page = include_str!("../../../windlass-web/assets/play.html");
        let dir = tempfile::tempdir().expect("a folder");
        let (new, place) = (dir.path().join("new.html"), dir.path().join("results/play.html"));
        let now = || fs::read_to_string(&place).expect("there");
        fs::write(&new, page).expect("written");
        lay(&new, &place).expect("laid");
        assert_eq!(now(), page);
        fs::write(&place, page.replace("Copy link", "Share")).expect("written");
        lay(&new, &place).expect("laid again");
        assert_eq!(now(), page);
        fs::write(&place, "<title>My play</title>").expect("written");
        lay(&new, &place).expect("left alone");
        assert_eq!(now(), "<title>My play</title>");
    }

    #[test]
    fn a_page_has_its_version_and_older_pages_do_not() {
        let page = include_str!("../../../windlass-web/assets/play.html");
        assert_eq!(version_of(page.as_bytes()).as_deref(), Some("@{version}"));
        assert_eq!(version_of(b"<!doctype html>"), None);
    }

    #[test]
    fn a_browser_gets_the_page_and_nothing_else() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
        let address = listener.local_addr().expect("its address");
        let ask = |request: &'static str| {
            std::thread::scope(|scope| {
                let asked = scope.spawn(move || {
                    let mut stream = TcpStream::connect(address).expect("connected");
                    stream.write_all(request.as_bytes()).expect("written");
                    let mut said = String::new();
                    stream.read_to_string(&mut said).expect("read");
                    said
                });
                let (stream, _) = listener.accept().expect("a browser");
                answer(stream, b"<!doctype html>").expect("answered");
                asked.join().expect("an answer")
            })
        };
        let page = ask("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
        assert!(page.starts_with("HTTP/1.1 200 OK") && page.ends_with("<!doctype html>"), "{page}");
        assert!(ask("GET /../secret HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 404"));
        assert!(ask("POST / HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 405"));
    }
}
