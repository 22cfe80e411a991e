//! The transmit queue of a device below a discipline, with flow control between the two.

use std::collections::VecDeque;

use windlass_cc::{Span, Time};

use super::state::QueueState;
use super::waiting::{Dropped, Waiting};

/// A discipline of type `D` above the transmit queue of a device, which is a FIFO queue.
///
/// The discipline hands packets to the device while the device has room, and holds the others. It
/// drops and marks according to its own queue only. The wait of a packet in the device is therefore
/// not part of the delay that CoDel compares with its target. The device drops no packets. A packet
/// at an idle link passes both queues at once.
///
/// Lengths, delays and the link's results include both queues. A packet that the discipline marks
/// at the handover is reported as marked when it leaves the device.
///
/// Linux has such a queue in each driver without byte queue limits, and ns-3 in each device. With the defaults of ns-3
/// 3.31 and later a point-to-point device has FQ-CoDel above 100 packets, without byte queue limits.
#[derive(Clone, PartialEq, Debug)]
pub struct Device<D> {
    /// The discipline, which must not be another device.
    pub discipline: D,
    /// Maximum number of packets in the device, 1 to [`MAX_DEVICE_PACKETS`], without the packet in
    /// transmission.
    pub packets: u64,
}

/// Maximum size of a device's transmit queue, packets.
pub const MAX_DEVICE_PACKETS: u64 = 1_000_000;

impl<D> Device<D> {
    /// Checks the size.
    pub(super) fn check_size(&self) -> Result<(), String> {
        match (1..=MAX_DEVICE_PACKETS).contains(&self.packets) {
            true => Ok(()),
            false => Err(format!(
                "a device queue holds 1 to {MAX_DEVICE_PACKETS} packets, not {}",
                self.packets
            )),
        }
    }
}

/// State of both queues.
#[derive(Clone, Debug)]
pub struct DeviceQueue {
    above: Box<dyn QueueState>,
    /// Packets in the device. The flag is true if the packet leaves with a mark.
    packets: VecDeque<(Waiting, bool)>,
    bytes: u64,
    /// Maximum number of packets in the device.
    room: u64,
    /// Time of the last handover, or of the first room after the device was full.
    ready: Time,
}

impl DeviceQueue {
    pub fn new(above: Box<dyn QueueState>, room: u64) -> DeviceQueue {
        DeviceQueue { above, packets: VecDeque::new(), bytes: 0, room, ready: Time::ZERO }
    }

    fn has_room(&self) -> bool {
        (self.packets.len() as u64) < self.room
    }

    /// Hands packets over until the device is full or the discipline has no packets.
    fn fill(&mut self, now: Time, drops: &mut Vec<Dropped>) {
        while self.has_room() && !self.above.is_empty() {
            let Some((packet, marked)) = self.above.dequeue(now, drops) else { return };
            self.bytes += u64::from(packet.handle.size);
            self.packets.push_back((packet, marked));
            self.ready = now;
        }
    }
}

impl QueueState for DeviceQueue {
    /// The device acts as the discipline's transmitter. It is idle while it has room.
    fn enqueue(
        &mut self,
        now: Time,
        packet: Waiting,
        _: Option<Span>,
        drops: &mut Vec<Dropped>,
    ) -> bool {
        let idle = self.has_room().then(|| now.since(self.ready));
        let marked = self.above.enqueue(now, packet, idle, drops);
        self.fill(now, drops);
        marked
    }

    fn dequeue(&mut self, now: Time, drops: &mut Vec<Dropped>) -> Option<(Waiting, bool)> {
        if !self.has_room() {
            self.ready = now;
        }
        let (packet, marked) = self.packets.pop_front()?;
        self.bytes -= u64::from(packet.handle.size);
        self.fill(now, drops);
        Some((packet, marked))
    }

    fn len(&self) -> u64 {
        self.above.len() + self.packets.len() as u64
    }

    fn bytes(&self) -> u64 {
        self.above.bytes() + self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::super::support::{capable, plain};
    use super::super::waiting::Level;
    use super::super::{CoDel, Discipline, Fifo, Queue, Threshold};
    use super::*;
    use crate::link::QueueLimit;

    fn queue(discipline: Discipline, limit: u64, packets: u64) -> Queue {
        let device = Discipline::Device(Box::new(Device { discipline, packets }));
        device.check().expect("valid");
        Queue::new(&device, QueueLimit::Packets(limit), 1, 1).expect("a queue at work")
    }

    fn ids(drops: &[Dropped]) -> Vec<u32> {
        drops.iter().map(|d| d.handle.id).collect()
    }

    #[test]
    fn drop_tail_above_a_device_holds_its_limit_and_the_devices_packets() {
        let mut q = queue(Discipline::DropTail, 3, 4);
        let mut drops = Vec::new();
        for i in 0..10 {
            q.enqueue(Time::ZERO, plain(i, 1000), None, &mut drops);
        }
        assert_eq!((q.len(), q.bytes(), ids(&drops)), (7, 7000, vec![7, 8, 9]));
        let order: Vec<u32> = std::iter::from_fn(|| q.dequeue(Time::ZERO, &mut drops))
            .map(|(packet, _)| packet.handle.id)
            .collect();
        assert_eq!((order, q.bytes()), ((0..7).collect(), 0));
        assert_eq!(drops.len(), 3, "the device drops nothing");
    }

    #[test]
    fn codel_does_not_see_the_wait_in_the_device() {
        // One packet leaves and one arrives per millisecond, so that 50 packets wait at all times.
        let drops_with = |packets| {
            let mut q = queue(Discipline::CoDel(CoDel::DEFAULT), 1000, packets);
            let mut drops = Vec::new();
            for i in 0..50 {
                q.enqueue(Time::ZERO, plain(i, 1000), None, &mut drops);
            }
            for ms in 1..1000 {
                let now = Time::from_millis(ms);
                q.dequeue(now, &mut drops).expect("more");
                let since = Waiting { since: now, ..plain(50 + ms as u32, 1000) };
                q.enqueue(now, since, None, &mut drops);
            }
            (q.len() + drops.len() as u64, drops.len())
        };
        let (all, dropped) = drops_with(1);
        assert!(all == 50 && dropped > 5, "{dropped}");
        // The device holds 45 waiting packets, and no packet above it waits for 5 ms.
        assert_eq!(drops_with(46), (50, 0));
    }

    #[test]
    fn a_mark_made_at_the_handover_leaves_the_device_with_its_packet() {
        let codel = CoDel { target: Span(1), interval: Span(1), ecn: true };
        let mut q = queue(Discipline::CoDel(codel), 1000, 2);
        let mut drops = Vec::new();
        for i in 0..8 {
            q.enqueue(Time::ZERO, capable(i, 1000), None, &mut drops);
        }
        let marked = |(packet, marked): (Waiting, bool)| marked.then_some(packet.handle.id);
        let left: Vec<_> = (1..=8)
            .filter_map(|ms| q.dequeue(Time::from_millis(ms), &mut drops))
            .filter_map(marked)
            .collect();
        // Packets 0 and 1 enter the device at once, and packet 2 starts the interval. CoDel
        // tolerates the one packet behind packet 6.
        assert_eq!((left, drops.len()), (vec![3, 4, 5], 0));
    }

    #[test]
    fn threshold_ignores_the_packets_in_the_device() {
        let mark = Level::Packets(2);
        let mut q = queue(Discipline::Threshold(Threshold { mark, probability: 0.0 }), 100, 5);
        let mut drops = Vec::new();
        let marked: Vec<bool> =
            (0..10).map(|i| q.enqueue(Time::ZERO, capable(i, 1000), None, &mut drops)).collect();
        let first = marked.iter().position(|marked| *marked);
        assert_eq!((first, q.len()), (Some(5 + 3), 10));
    }

    #[test]
    fn the_discipline_is_idle_from_the_last_handover_or_the_first_room() {
        let mut q = DeviceQueue::new(Box::new(Fifo::new(QueueLimit::Unlimited)), 2);
        let mut drops = Vec::new();
        for ms in 1..=2 {
            q.enqueue(Time::from_millis(ms), plain(0, 1000), None, &mut drops);
            assert_eq!(q.ready, Time::from_millis(ms));
        }
        q.dequeue(Time::from_millis(5), &mut drops).expect("two");
        assert_eq!(q.ready, Time::from_millis(5), "the device was full until then");
        q.dequeue(Time::from_millis(6), &mut drops).expect("one");
        assert_eq!(q.ready, Time::from_millis(5), "the device had room already");
    }

    #[test]
    fn invalid_sizes_and_disciplines_are_refused() {
        let device = |discipline, packets| Device { discipline, packets };
        let refused = |device: Device<Discipline>| {
            Discipline::Device(Box::new(device)).check().expect_err("refused")
        };
        assert!(refused(device(Discipline::DropTail, 0)).contains("1 to 1000000 packets, not 0"));
        assert!(refused(device(Discipline::DropTail, 1_000_001)).contains("not 1000001"));
        let inner = Discipline::Device(Box::new(device(Discipline::DropTail, 1)));
        assert!(refused(device(inner, 1)).contains("below another"));
        let codel = CoDel { interval: Span::ZERO, ..CoDel::DEFAULT };
        assert!(refused(device(Discipline::CoDel(codel), 1)).contains("interval"));
        let largest =
            Discipline::Device(Box::new(device(Discipline::DropTail, MAX_DEVICE_PACKETS)));
        assert_eq!(largest.check(), Ok(()));
    }
}
