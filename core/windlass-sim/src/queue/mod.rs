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
mod state;
mod threshold;
mod waiting;

use std::fmt::Debug;
use std::ops::{Deref, DerefMut};

use crate::extension::Custom;
use crate::link::QueueLimit;
use crate::random::{Purpose, Stream};

pub use codel::CoDel;
pub use device::{Device, MAX_DEVICE_PACKETS};
pub use dualpi2::{DualPi2, MAX_COUPLING, Scheduler, Variant as DualPi2Variant};
pub use fq_codel::{FqCoDel, MAX_FLOWS};
pub use pie::{MAX_GAIN, Pie};
pub use policer::Policer;
pub use red::Red;
pub use state::{CloneQueueState, QueueDiscipline, QueueState};
pub use threshold::Threshold;
pub use waiting::{Dropped, Level, Waiting};

use codel::CoDelQueue;
use device::DeviceQueue;
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
pub struct Queue(Box<dyn QueueState>);

impl Deref for Queue {
    type Target = Box<dyn QueueState>;
    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl DerefMut for Queue {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.0
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
            Discipline::DropTail => Box::new(Fifo::new(limit)),
            Discipline::Red(red) => Box::new(RedQueue::new(*red, limit, draws())),
            Discipline::CoDel(codel) => Box::new(CoDelQueue::new(*codel, limit)),
            Discipline::FqCoDel(fq) => Box::new(FqCoDelQueue::new(*fq, limit, draws().next_u64())),
            Discipline::Pie(pie) => Box::new(PieQueue::new(*pie, limit, draws())),
            Discipline::DualPi2(dual) => Box::new(DualPi2Queue::new(*dual, limit, draws())),
            Discipline::Threshold(t) => Box::new(ThresholdQueue::new(*t, limit, draws())),
            Discipline::Policer(policer) => Box::new(PolicerQueue::new(*policer, limit)),
            Discipline::Device(device) => {
                let Queue(above) = Queue::at_work(&device.discipline, limit, draws);
                Box::new(DeviceQueue::new(above, device.packets))
            }
            Discipline::Custom(discipline) => discipline.start(limit, draws()),
        })
    }
}

#[cfg(test)]
mod support;
