//! Queue disciplines: the rules by which a link direction queues, drops and marks packets.
//!
//! [`Discipline`] is a discipline with its parameters, and [`Queue`] is its state. Drop-tail has no
//! [`Queue`], because [`Link`](crate::link::Link) decides about a packet on its arrival. The other
//! disciplines are in front of a link, and hand it a packet whenever it is idle.
//!
//! A packet at an idle link is transmitted immediately and never dropped because of the limit. A
//! limit of zero is therefore a link without a queue, as with drop-tail.
//!
//! Averages and probabilities are `f64` values. They are computed only by additions,
//! multiplications, divisions and square roots, which every machine rounds in the same way.

mod codel;
mod device;
mod dualpi2;
mod fifo;
mod fq_codel;
mod pie;
mod policer;
mod red;
mod threshold;
mod waiting;

use std::fmt::Debug;

use windlass_cc::{Span, Time};

use crate::extension::{Custom, cloneable};
use crate::link::QueueLimit;
use crate::random::{Purpose, Stream};

pub use codel::CoDel;
pub use device::{Device, MAX_DEVICE_PACKETS};
pub use dualpi2::{DualPi2, MAX_COUPLING, Scheduler, Variant as DualPi2Variant};
pub use fq_codel::{FqCoDel, MAX_FLOWS};
pub use pie::{MAX_GAIN, Pie};
pub use policer::Policer;
pub use red::Red;
pub use threshold::Threshold;
pub use waiting::{Dropped, Level, Waiting};

use codel::CoDelQueue;
use device::{Above, DeviceQueue};
use dualpi2::DualPi2Queue;
use fifo::Fifo;
use fq_codel::FqCoDelQueue;
use pie::PieQueue;
use policer::PolicerQueue;
use red::RedQueue;
use threshold::ThresholdQueue;

/// The queue discipline of a link direction. `L` is the type of queue lengths.
#[derive(Clone, PartialEq, Debug, Default)]
pub enum Discipline<L = Level> {
    /// First in, first out. A packet that does not fit is dropped.
    #[default]
    DropTail,
    /// Random early detection.
    Red(Red<L>),
    /// Controlled delay.
    CoDel(CoDel),
    /// Controlled delay for each flow, served in turn.
    FqCoDel(FqCoDel),
    /// Proportional integral controller enhanced.
    Pie(Pie),
    /// Two queues with coupled marks and drops.
    DualPi2(DualPi2),
    /// Marks packets above a queue length, or at random.
    Threshold(Threshold<L>),
    /// Drops packets that exceed a token bucket.
    Policer(Policer),
    /// Another discipline above the transmit queue of a device.
    Device(Box<Device<Discipline<L>>>),
    /// A discipline that another crate defines.
    Custom(Custom<dyn QueueDiscipline>),
}

/// A queue discipline that another crate defines, as a configuration holds it in [`Discipline::Custom`].
pub trait QueueDiscipline: Debug + Send + Sync {
    /// The empty queue of one link direction. It should hold at most `limit`, and it draws random
    /// values only from this stream.
    fn start(&self, limit: QueueLimit, stream: Stream) -> Box<dyn CustomQueue>;
}

/// State of another crate's discipline. It hands out every packet exactly once, for transmission or
/// as dropped, and counts the packets it holds. The conservation check at the end of the run
/// verifies this.
pub trait CustomQueue: Debug + Send + Sync + CloneCustomQueue {
    /// See [`Queue::enqueue`].
    fn enqueue(
        &mut self,
        now: Time,
        packet: Waiting,
        idle: Option<Span>,
        drops: &mut Vec<Dropped>,
    ) -> bool;
    /// See [`Queue::dequeue`].
    fn dequeue(&mut self, now: Time, drops: &mut Vec<Dropped>) -> Option<(Waiting, bool)>;
    /// Packets that wait.
    fn len(&self) -> u64;
    /// IP bytes that wait.
    fn bytes(&self) -> u64;
    /// True if no packet waits.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

cloneable! {
    /// Copies of a simulation copy their queues. Every [`CustomQueue`] that is `Clone` implements
    /// this trait.
    CloneCustomQueue, CustomQueue
}

impl<L> Discipline<L> {
    /// Identifier as a user types it. For a device queue, it is the identifier of the discipline
    /// above.
    pub fn id(&self) -> &'static str {
        match self {
            Discipline::DropTail => "drop-tail",
            Discipline::Red(_) => "red",
            Discipline::CoDel(_) => "codel",
            Discipline::FqCoDel(_) => "fq-codel",
            Discipline::Pie(_) => "pie",
            Discipline::DualPi2(_) => "dualpi2",
            Discipline::Threshold(_) => "threshold",
            Discipline::Policer(_) => "policer",
            Discipline::Device(device) => device.discipline.id(),
            Discipline::Custom(_) => "custom",
        }
    }

    /// Maximum number of packets in a device below the discipline; 0 without a device.
    pub fn device_packets(&self) -> u64 {
        match self {
            Discipline::Device(device) => device.packets,
            _ => 0,
        }
    }

    /// Converts the queue lengths to another type.
    pub fn map<M>(self, told: impl Fn(L) -> M) -> Discipline<M> {
        self.map_levels(&told)
    }

    fn map_levels<M>(self, told: &dyn Fn(L) -> M) -> Discipline<M> {
        match self {
            Discipline::DropTail => Discipline::DropTail,
            Discipline::Red(red) => Discipline::Red(red.map(told)),
            Discipline::CoDel(codel) => Discipline::CoDel(codel),
            Discipline::FqCoDel(fq) => Discipline::FqCoDel(fq),
            Discipline::Pie(pie) => Discipline::Pie(pie),
            Discipline::DualPi2(dual) => Discipline::DualPi2(dual),
            Discipline::Threshold(t) => {
                Discipline::Threshold(Threshold { mark: told(t.mark), probability: t.probability })
            }
            Discipline::Policer(policer) => Discipline::Policer(policer),
            Discipline::Device(device) => Discipline::Device(Box::new(Device {
                discipline: device.discipline.map_levels(told),
                packets: device.packets,
            })),
            Discipline::Custom(discipline) => Discipline::Custom(discipline),
        }
    }
}

impl Discipline {
    /// Every built-in discipline with its default parameters.
    pub const DEFAULTS: [Discipline; 8] = [
        Discipline::DropTail,
        Discipline::Red(Red::DEFAULT),
        Discipline::CoDel(CoDel::DEFAULT),
        Discipline::FqCoDel(FqCoDel::DEFAULT),
        Discipline::Pie(Pie::DEFAULT),
        Discipline::DualPi2(DualPi2::RFC9332),
        Discipline::Threshold(Threshold::DEFAULT),
        Discipline::Policer(Policer::DEFAULT),
    ];

    /// Checks that this can be simulated.
    pub(crate) fn check(&self) -> Result<(), String> {
        match self {
            Discipline::DropTail | Discipline::Custom(_) => Ok(()),
            Discipline::Threshold(t) => t.check(),
            Discipline::Red(red) => red.check(),
            Discipline::CoDel(codel) => codel.check(),
            Discipline::FqCoDel(fq) => fq.check(),
            Discipline::Pie(pie) => pie.check(),
            Discipline::DualPi2(dual) => dual.check(),
            Discipline::Policer(policer) => policer.check(),
            Discipline::Device(device) => match device.discipline {
                Discipline::Device(_) => Err("a device queue cannot be below another".to_string()),
                _ => device.check_size().and_then(|()| device.discipline.check()),
            },
        }
    }
}

/// State of a queue.
#[derive(Clone, Debug)]
pub struct Queue(Kind);

#[derive(Clone, Debug)]
enum Kind {
    /// Only above a device's queue and at a radio. Otherwise the link decides.
    DropTail(Fifo),
    Red(RedQueue),
    CoDel(CoDelQueue),
    FqCoDel(FqCoDelQueue),
    Pie(PieQueue),
    DualPi2(Box<DualPi2Queue>),
    Threshold(ThresholdQueue),
    Policer(PolicerQueue),
    Device(Box<DeviceQueue<Queue>>),
    Custom(Box<dyn CustomQueue>),
}

impl Above for Queue {
    fn add(
        &mut self,
        now: Time,
        packet: Waiting,
        idle: Option<Span>,
        drops: &mut Vec<Dropped>,
    ) -> bool {
        self.enqueue(now, packet, idle, drops)
    }

    fn next(&mut self, now: Time, drops: &mut Vec<Dropped>) -> Option<(Waiting, bool)> {
        self.dequeue(now, drops)
    }

    fn holds(&self) -> (u64, u64) {
        (self.len(), self.bytes())
    }
}

impl Queue {
    /// An empty queue of link direction `entity` in the run with this seed; `None` for drop-tail.
    pub fn new(
        discipline: &Discipline,
        limit: QueueLimit,
        seed: u64,
        entity: u64,
    ) -> Option<Queue> {
        let draws = || Stream::new(seed, entity, Purpose::Queue);
        match discipline {
            Discipline::DropTail => None,
            _ => Some(Queue::at_work(discipline, limit, &draws)),
        }
    }

    /// An empty queue, also for drop-tail.
    pub(crate) fn always(
        discipline: &Discipline,
        limit: QueueLimit,
        seed: u64,
        entity: u64,
    ) -> Queue {
        Queue::at_work(discipline, limit, &|| Stream::new(seed, entity, Purpose::Queue))
    }

    fn at_work(discipline: &Discipline, limit: QueueLimit, draws: &dyn Fn() -> Stream) -> Queue {
        Queue(match discipline {
            Discipline::DropTail => Kind::DropTail(Fifo::new(limit)),
            Discipline::Red(red) => Kind::Red(RedQueue::new(*red, limit, draws())),
            Discipline::CoDel(codel) => Kind::CoDel(CoDelQueue::new(*codel, limit)),
            Discipline::FqCoDel(fq) => {
                Kind::FqCoDel(FqCoDelQueue::new(*fq, limit, draws().next_u64()))
            }
            Discipline::Pie(pie) => Kind::Pie(PieQueue::new(*pie, limit, draws())),
            Discipline::DualPi2(dual) => {
                Kind::DualPi2(Box::new(DualPi2Queue::new(*dual, limit, draws())))
            }
            Discipline::Threshold(t) => Kind::Threshold(ThresholdQueue::new(*t, limit, draws())),
            Discipline::Policer(policer) => Kind::Policer(PolicerQueue::new(*policer, limit)),
            Discipline::Device(device) => {
                let above = Queue::at_work(&device.discipline, limit, draws);
                Kind::Device(Box::new(DeviceQueue::new(above, device.packets)))
            }
            Discipline::Custom(discipline) => Kind::Custom(discipline.start(limit, draws())),
        })
    }

    /// Adds a packet. `idle` is the time for which the link has been idle, or `None` if it is busy.
    /// Dropped packets, which may include this packet, are added to `drops`. Returns true if the
    /// packet must be marked.
    pub fn enqueue(
        &mut self,
        now: Time,
        packet: Waiting,
        idle: Option<Span>,
        drops: &mut Vec<Dropped>,
    ) -> bool {
        match &mut self.0 {
            Kind::DropTail(q) => {
                q.push(packet, idle.is_none(), drops);
                false
            }
            Kind::Red(q) => q.enqueue(now, packet, idle, drops),
            Kind::CoDel(q) => q.enqueue(packet, idle, drops),
            Kind::FqCoDel(q) => q.enqueue(packet, idle, drops),
            Kind::Pie(q) => q.enqueue(now, packet, idle, drops),
            Kind::DualPi2(q) => q.enqueue(now, packet, idle, drops),
            Kind::Threshold(q) => q.enqueue(packet, idle, drops),
            Kind::Policer(q) => q.enqueue(now, packet, idle, drops),
            Kind::Device(q) => q.enqueue(now, packet, drops),
            Kind::Custom(q) => q.enqueue(now, packet, idle, drops),
        }
    }

    /// The packet that the idle link transmits, and true if the packet must be marked.
    pub fn dequeue(&mut self, now: Time, drops: &mut Vec<Dropped>) -> Option<(Waiting, bool)> {
        match &mut self.0 {
            Kind::DropTail(q) => q.pop().map(|packet| (packet, false)),
            Kind::Red(q) => q.dequeue(),
            Kind::CoDel(q) => q.dequeue(now, drops),
            Kind::FqCoDel(q) => q.dequeue(now, drops),
            Kind::Pie(q) => q.dequeue(now),
            Kind::DualPi2(q) => q.dequeue(now, drops),
            Kind::Threshold(q) => q.dequeue(),
            Kind::Policer(q) => q.dequeue(),
            Kind::Device(q) => q.dequeue(now, drops),
            Kind::Custom(q) => q.dequeue(now, drops),
        }
    }

    /// Packets that wait.
    pub fn len(&self) -> u64 {
        match &self.0 {
            Kind::DropTail(q) => q.len(),
            Kind::Red(q) => q.fifo().len(),
            Kind::CoDel(q) => q.fifo().len(),
            Kind::FqCoDel(q) => q.len(),
            Kind::Pie(q) => q.fifo().len(),
            Kind::DualPi2(q) => q.len(),
            Kind::Threshold(q) => q.fifo().len(),
            Kind::Policer(q) => q.fifo().len(),
            Kind::Device(q) => q.len(),
            Kind::Custom(q) => q.len(),
        }
    }

    /// IP bytes that wait.
    pub fn bytes(&self) -> u64 {
        match &self.0 {
            Kind::DropTail(q) => q.bytes(),
            Kind::Red(q) => q.fifo().bytes(),
            Kind::CoDel(q) => q.fifo().bytes(),
            Kind::FqCoDel(q) => q.bytes(),
            Kind::Pie(q) => q.fifo().bytes(),
            Kind::DualPi2(q) => q.bytes(),
            Kind::Threshold(q) => q.fifo().bytes(),
            Kind::Policer(q) => q.fifo().bytes(),
            Kind::Device(q) => q.bytes(),
            Kind::Custom(q) => q.bytes(),
        }
    }

    /// True if no packet waits.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

#[cfg(test)]
mod support;
