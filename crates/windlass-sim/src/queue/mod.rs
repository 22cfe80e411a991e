//! Queue disciplines: what a link direction keeps waiting, drops and marks.
//!
//! [`Discipline`] says which one, with its parameters; [`Queue`] is one at work. Drop-tail is not
//! among those at work: [`Link`](crate::link::Link) decides it at arrival, without a queue of its
//! own. All others stand before a link and hand it a packet whenever it is idle.
//!
//! A packet that finds the link idle is transmitted at once and never refused for want of room,
//! so that a limit of nothing is a link without a queue, as with drop-tail.
//!
//! Averages and probabilities are kept as `f64` and computed by additions, multiplications,
//! divisions and square roots alone, which every machine rounds alike.

mod codel;
mod device;
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
pub use fq_codel::FqCoDel;
pub use pie::Pie;
pub use policer::Policer;
pub use red::Red;
pub use threshold::Threshold;
pub use waiting::{Dropped, Level, Waiting};

use codel::CoDelQueue;
use device::{Above, DeviceQueue};
use fifo::Fifo;
use fq_codel::FqCoDelQueue;
use pie::PieQueue;
use policer::PolicerQueue;
use red::RedQueue;
use threshold::ThresholdQueue;

/// What a link direction does with packets that have to wait. `L` is how queue lengths are told.
#[derive(Clone, PartialEq, Debug, Default)]
pub enum Discipline<L = Level> {
    /// First come, first served; what does not fit is dropped.
    #[default]
    DropTail,
    /// Random early detection.
    Red(Red<L>),
    /// Controlled delay.
    CoDel(CoDel),
    /// A controlled delay for each flow, served in turn.
    FqCoDel(FqCoDel),
    /// Proportional integral controller enhanced.
    Pie(Pie),
    /// Marks above a queue length.
    Threshold(Threshold<L>),
    /// Drops what exceeds a token bucket.
    Policer(Policer),
    /// One of the others above the transmit queue of a device.
    Device(Box<Device<Discipline<L>>>),
    /// One that another crate defines.
    Custom(Custom<dyn QueueDiscipline>),
}

/// A queue discipline that another crate defines, as a configuration holds it in [`Discipline::Custom`].
pub trait QueueDiscipline: Debug + Send + Sync {
    /// The empty queue of one link direction, which should hold no more than `limit` and draws from this stream and from
    /// nothing else.
    fn start(&self, limit: QueueLimit, stream: Stream) -> Box<dyn CustomQueue>;
}

/// A queue of another crate's discipline at work. Every packet that it is given it hands out once, to be transmitted or as
/// dropped, and counts meanwhile: the conservation check at the end of the run looks at that.
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
    /// Whether nothing waits.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

cloneable! {
    /// That a copy of a simulation goes on by itself: whatever is a [`CustomQueue`] and `Clone` has it.
    CloneCustomQueue, CustomQueue
}

impl<L> Discipline<L> {
    /// Identifier as a user types it; above a device's queue that of the discipline there.
    pub fn id(&self) -> &'static str {
        match self {
            Discipline::DropTail => "drop-tail",
            Discipline::Red(_) => "red",
            Discipline::CoDel(_) => "codel",
            Discipline::FqCoDel(_) => "fq-codel",
            Discipline::Pie(_) => "pie",
            Discipline::Threshold(_) => "threshold",
            Discipline::Policer(_) => "policer",
            Discipline::Device(device) => device.discipline.id(),
            Discipline::Custom(_) => "custom",
        }
    }

    /// Packets that a device below the discipline holds; 0 without one.
    pub fn device_packets(&self) -> u64 {
        match self {
            Discipline::Device(device) => device.packets,
            _ => 0,
        }
    }

    /// The same with queue lengths told in another way.
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
            Discipline::Threshold(t) => Discipline::Threshold(Threshold { mark: told(t.mark) }),
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
    /// Whether this can be simulated.
    pub(crate) fn check(&self) -> Result<(), String> {
        match self {
            Discipline::DropTail | Discipline::Threshold(_) | Discipline::Custom(_) => Ok(()),
            Discipline::Red(red) => red.check(),
            Discipline::CoDel(codel) => codel.check(),
            Discipline::FqCoDel(fq) => fq.check(),
            Discipline::Pie(pie) => pie.check(),
            Discipline::Policer(policer) => policer.check(),
            Discipline::Device(device) => match device.discipline {
                Discipline::Device(_) => Err("a device queue cannot be below another".to_string()),
                _ => device.check_size().and_then(|()| device.discipline.check()),
            },
        }
    }
}

/// A queue at work.
#[derive(Clone, Debug)]
pub struct Queue(Kind);

#[derive(Clone, Debug)]
enum Kind {
    /// Only above a device's queue: otherwise the link decides.
    DropTail(Fifo),
    Red(RedQueue),
    CoDel(CoDelQueue),
    FqCoDel(FqCoDelQueue),
    Pie(PieQueue),
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

    fn at_work(discipline: &Discipline, limit: QueueLimit, draws: &dyn Fn() -> Stream) -> Queue {
        Queue(match discipline {
            Discipline::DropTail => Kind::DropTail(Fifo::new(limit)),
            Discipline::Red(red) => Kind::Red(RedQueue::new(*red, limit, draws())),
            Discipline::CoDel(codel) => Kind::CoDel(CoDelQueue::new(*codel, limit)),
            Discipline::FqCoDel(fq) => {
                Kind::FqCoDel(FqCoDelQueue::new(*fq, limit, draws().next_u64()))
            }
            Discipline::Pie(pie) => Kind::Pie(PieQueue::new(*pie, limit, draws())),
            Discipline::Threshold(t) => Kind::Threshold(ThresholdQueue::new(*t, limit)),
            Discipline::Policer(policer) => Kind::Policer(PolicerQueue::new(*policer, limit)),
            Discipline::Device(device) => {
                let above = Queue::at_work(&device.discipline, limit, draws);
                Kind::Device(Box::new(DeviceQueue::new(above, device.packets)))
            }
            Discipline::Custom(discipline) => Kind::Custom(discipline.start(limit, draws())),
        })
    }

    /// A packet comes. The link has been idle for so long, or is busy with `None`. What is dropped,
    /// this packet or others, is added to `drops`. Whether the packet is to be marked.
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
            Kind::Threshold(q) => q.enqueue(packet, idle, drops),
            Kind::Policer(q) => q.enqueue(now, packet, idle, drops),
            Kind::Device(q) => q.enqueue(now, packet, drops),
            Kind::Custom(q) => q.enqueue(now, packet, idle, drops),
        }
    }

    /// The link is idle: the packet to transmit, and whether it is to be marked.
    pub fn dequeue(&mut self, now: Time, drops: &mut Vec<Dropped>) -> Option<(Waiting, bool)> {
        match &mut self.0 {
            Kind::DropTail(q) => q.pop().map(|packet| (packet, false)),
            Kind::Red(q) => q.dequeue(),
            Kind::CoDel(q) => q.dequeue(now, drops),
            Kind::FqCoDel(q) => q.dequeue(now, drops),
            Kind::Pie(q) => q.dequeue(now),
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
            Kind::Threshold(q) => q.fifo().bytes(),
            Kind::Policer(q) => q.fifo().bytes(),
            Kind::Device(q) => q.bytes(),
            Kind::Custom(q) => q.bytes(),
        }
    }

    /// Whether nothing waits.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

#[cfg(test)]
mod support;
