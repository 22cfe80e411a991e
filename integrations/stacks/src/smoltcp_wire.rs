// The device of smoltcp, included by each integration with smoltcp's names in scope: `integrations/audit` has several versions.

/// The packets that it sends and receives.
#[derive(Default)]
struct Wire {
    mtu: usize,
    received: VecDeque<Vec<u8>>,
    sent: VecDeque<Vec<u8>>,
}

impl Device for Wire {
    type RxToken<'a> = Received;
    type TxToken<'a> = Room<'a>;

    fn receive(&mut self, _: Instant) -> Option<(Received, Room<'_>)> {
        let packet = self.received.pop_front()?;
        Some((Received(packet), Room(&mut self.sent)))
    }

    fn transmit(&mut self, _: Instant) -> Option<Room<'_>> {
        Some(Room(&mut self.sent))
    }

    fn capabilities(&self) -> DeviceCapabilities {
        let mut all = DeviceCapabilities::default();
        all.medium = Medium::Ip;
        all.max_transmission_unit = self.mtu;
        all
    }
}

struct Received(Vec<u8>);

impl RxToken for Received {
    fn consume<R, F: FnOnce(&[u8]) -> R>(self, f: F) -> R {
        f(&self.0)
    }
}

struct Room<'a>(&'a mut VecDeque<Vec<u8>>);

impl TxToken for Room<'_> {
    fn consume<R, F: FnOnce(&mut [u8]) -> R>(self, len: usize, f: F) -> R {
        let mut packet = vec![0; len];
        let result = f(&mut packet);
        self.0.push_back(packet);
        result
    }
}
