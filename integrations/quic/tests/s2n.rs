//! Two endpoints of s2n-quic over the link of the other libraries' tests, in the library's virtual time.
#![cfg(feature = "s2n")]

mod common;

use std::sync::{Arc, Mutex};
use std::time::Instant;

use common::{FILE, Link, OURS, Outcome, show};
use s2n_quic::client::Connect;
use s2n_quic::provider::congestion_controller::{Bbr, Cubic, Provider};
use s2n_quic::provider::io::testing::network::{Buffers, Network, Packet};
use s2n_quic::provider::io::testing::{now, primary, spawn, test, time};
use s2n_quic::{Client, Server};
use s2n_quic_core::time::Timestamp;
use windlass_quic::Factory;

/// The port of the first endpoint of the library.
const SERVER_PORT: u16 = 49152;

/// The links that the packets of the library's endpoints cross.
struct Links {
    began: Instant,
    /// The library's time at `began`.
    start: Option<Timestamp>,
    /// From the client and from the server.
    links: Arc<Mutex<[Link; 2]>>,
}

impl Network for Links {
    fn execute(&mut self, buffers: &Buffers) -> usize {
        let at = self.began + (now() - *self.start.get_or_insert_with(now));
        let mut links = self.links.lock().unwrap();
        let mut count = 0;
        buffers.drain_pending_transmissions(|mut packet: Packet| {
            count += 1;
            let side = usize::from(packet.path.local_address.0.port() == SERVER_PORT);
            if let Some(arrival) = links[side].offer(at, packet.payload.len()) {
                packet.switch();
                let buffers = buffers.clone();
                spawn(async move {
                    time::delay(arrival - at).await;
                    buffers.rx(*packet.path.local_address, |queue| queue.enqueue(packet));
                });
            }
            Ok(())
        });
        count
    }
}

/// Transfers the file from client to server.
fn transfer(controller: impl Provider) -> Outcome {
    let made = rcgen::generate_simple_self_signed(vec!["localhost".into()]).unwrap();
    let (certificate, key) = (made.cert.pem(), made.signing_key.serialize_pem());
    let began = Instant::now();
    let links = Arc::new(Mutex::new([Link::new(began, true), Link::new(began, false)]));
    let network = Links { began, start: None, links: links.clone() };
    let took = test(network, |handle| {
        let mut server = Server::builder()
            .with_io(handle.builder().build()?)?
            .with_tls((certificate.as_str(), key.as_str()))?
            .start()?;
        let address = server.local_addr()?;
        assert_eq!(address.port(), SERVER_PORT);
        let client = Client::builder()
            .with_io(handle.builder().build()?)?
            .with_tls(certificate.as_str())?
            .with_congestion_controller(controller)?
            .start()?;
        spawn(async move {
            let to = Connect::new(address).with_server_name("localhost");
            let mut connection = client.connect(to).await.unwrap();
            let mut stream = connection.open_send_stream().await.unwrap();
            stream.send(vec![7; FILE].into()).await.unwrap();
            // The test may end before the last acknowledgement is here.
            let _ = stream.close().await;
        });
        // The test ends when this has ended.
        primary::spawn(async move {
            let mut connection = server.accept().await.expect("a client");
            let mut stream = connection.accept_receive_stream().await.unwrap().expect("a file");
            let mut got = 0;
            while let Some(chunk) = stream.receive().await.unwrap() {
                assert!(chunk.iter().all(|byte| *byte == 7), "the file's bytes");
                got += chunk.len();
            }
            assert_eq!(got, FILE);
        });
        Ok(())
    });
    Outcome::of(took.unwrap(), links.lock().unwrap().iter().take(1))
}

#[test]
fn a_file_crosses_a_lossy_link_by_s2n_quic() {
    show("s2n-quic", "its CUBIC", &transfer(Cubic::default()));
    show("s2n-quic", "its BBR", &transfer(Bbr::default()));
    for name in OURS {
        show("s2n-quic", name, &transfer(Factory::by_name(name).unwrap()));
    }
}
