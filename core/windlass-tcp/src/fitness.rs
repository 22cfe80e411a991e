//! The fitness of equations 4 and 5 of Parween and Hussain's *Cross-Layer based TCP Performance Enhancement
//! in IoT Networks*. It ranks users by eight attributes to decide whose packets go first. The users are flows
//! or sources at a station that schedules, and subflows at a sender with several paths.

/// The interpretation of equation 4 (C3-8). The paper wants to serve long queues and to use little of the
/// buffer.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Default)]
pub enum Reading {
    /// A longer queue increases the fitness, as printed: the longest backlog is served.
    #[default]
    Literal,
    /// More free space in the queue increases the fitness.
    Repaired,
}

impl Reading {
    /// Every interpretation with its name in scenarios.
    pub const ALL: [(&'static str, Reading); 2] =
        [("literal", Reading::Literal), ("repaired", Reading::Repaired)];
}

/// Attributes of a user. Units do not matter, because attributes are only compared.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Attributes {
    /// Remaining energy (En); a larger value is better.
    pub energy: f64,
    /// Transmission rate (TXr); a larger value is better.
    pub rate: f64,
    /// Bandwidth (BW), which is in the text but not in the equation; a larger value is better.
    pub bandwidth: f64,
    /// Packets queued (QL).
    pub queued: f64,
    /// Capacity of the queue, packets.
    pub room: f64,
    /// Delay (dl); a smaller value is better.
    pub delay: f64,
    /// Completion time (cti); a smaller value is better.
    pub completion: f64,
    /// Data size (dz); a smaller value is better.
    pub size: f64,
    /// Share of the buffer used (BR); a smaller value is better.
    pub buffer: f64,
}

/// Scales values to 0 … 1. All results are zero if the values are equal. An infinite value becomes 1.
pub fn normalise(values: &mut [f64]) {
    let finite = values.iter().copied().filter(|v| v.is_finite());
    let least = finite.clone().fold(f64::INFINITY, f64::min);
    let most = finite.fold(f64::NEG_INFINITY, f64::max);
    let equal = values.iter().all(|v| *v == values[0]);
    for value in values {
        *value = if equal {
            0.0
        } else if !value.is_finite() {
            1.0
        } else if most > least {
            (*value - least) / (most - least)
        } else {
            0.0
        };
    }
}

/// An attribute and its weight.
type Weighted<'a> = (f64, &'a dyn Fn(&Attributes) -> f64);

/// Adds each user's fitness to `scores`: the mean of the attributes that should be large minus the mean of
/// the attributes that should be small. Each attribute is normalised over the users (C3-8). `scratch` is a
/// temporary buffer.
pub fn add_fitness(
    users: &[Attributes],
    reading: Reading,
    scores: &mut [f64],
    scratch: &mut Vec<f64>,
) {
    let queue = |a: &Attributes| match reading {
        Reading::Literal => a.queued,
        Reading::Repaired => a.room - a.queued,
    };
    let attributes: [Weighted; 8] = [
        (0.25, &|a| a.energy),
        (0.25, &|a| a.rate),
        (0.25, &|a| a.bandwidth),
        (0.25, &queue),
        (-0.25, &|a| a.delay),
        (-0.25, &|a| a.completion),
        (-0.25, &|a| a.size),
        (-0.25, &|a| a.buffer),
    ];
    for (weight, attribute) in attributes {
        scratch.clear();
        scratch.extend(users.iter().map(attribute));
        normalise(scratch);
        for (score, value) in scores.iter_mut().zip(scratch.iter()) {
            *score += weight * value;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fitness(users: &[Attributes], reading: Reading) -> Vec<f64> {
        let mut scores = vec![0.0; users.len()];
        add_fitness(users, reading, &mut scores, &mut Vec::new());
        scores
    }

    #[test]
    fn values_are_scaled_between_minimum_and_maximum() {
        let scaled = |mut values: Vec<f64>| {
            normalise(&mut values);
            values
        };
        assert_eq!(scaled(vec![10.0, 30.0, 20.0]), [0.0, 1.0, 0.5]);
        assert_eq!(scaled(vec![3.0, 3.0]), [0.0, 0.0]);
        assert_eq!(scaled(vec![f64::INFINITY, 3.0, 5.0]), [1.0, 0.0, 1.0]);
        assert_eq!(scaled(vec![f64::INFINITY, f64::INFINITY]), [0.0, 0.0]);
        assert_eq!(scaled(vec![f64::INFINITY, 3.0]), [1.0, 0.0]);
    }

    #[test]
    fn three_users_by_hand() {
        let user = |rate, queued, delay| Attributes {
            rate,
            queued,
            room: 30.0,
            delay,
            ..Default::default()
        };
        // Rates 0, 1, 1/2; queues 1, 0, 1/2; delays 0, 1, 1/4.
        let users = [user(10.0, 9.0, 0.0), user(30.0, 1.0, 8.0), user(20.0, 5.0, 2.0)];
        assert_eq!(fitness(&users, Reading::Literal), [0.25, 0.0, 0.1875]);
        // Room left: 0, 1, 1/2.
        assert_eq!(fitness(&users, Reading::Repaired), [0.0, 0.25, 0.1875]);
    }

    #[test]
    fn each_attribute_changes_the_fitness_by_its_weight() {
        let with = |change: fn(&mut Attributes)| {
            let mut better = Attributes { room: 30.0, ..Default::default() };
            change(&mut better);
            let users = [better, Attributes { room: 30.0, ..Default::default() }];
            let scores = fitness(&users, Reading::Literal);
            scores[0] - scores[1]
        };
        assert_eq!(with(|a| a.energy = 1.0), 0.25);
        assert_eq!(with(|a| a.rate = 1.0), 0.25);
        assert_eq!(with(|a| a.bandwidth = 1.0), 0.25);
        assert_eq!(with(|a| a.queued = 1.0), 0.25);
        assert_eq!(with(|a| a.delay = 1.0), -0.25);
        assert_eq!(with(|a| a.completion = 1.0), -0.25);
        assert_eq!(with(|a| a.size = 1.0), -0.25);
        assert_eq!(with(|a| a.buffer = 1.0), -0.25);
    }
}
