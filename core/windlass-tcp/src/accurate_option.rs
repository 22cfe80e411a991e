//! The option of accurate ECN (RFC 9768 section 3.2.3): counters of received payload bytes by their ECN field.

/// Range of a counter of the option, bytes: it has 24 bits.
pub const COUNTER_RANGE: u32 = 1 << 24;

/// Order of the counters in an option.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum EcnOrder {
    /// Kind 172: ECT(0), CE, ECT(1).
    Ect0First,
    /// Kind 174: ECT(1), CE, ECT(0).
    #[default]
    Ect1First,
}

impl EcnOrder {
    /// Kind of the option.
    pub const fn kind(self) -> u8 {
        match self {
            EcnOrder::Ect0First => 172,
            EcnOrder::Ect1First => 174,
        }
    }

    /// The order of an option's kind, or `None` for other options.
    pub const fn of_kind(kind: u8) -> Option<EcnOrder> {
        match kind {
            172 => Some(EcnOrder::Ect0First),
            174 => Some(EcnOrder::Ect1First),
            _ => None,
        }
    }
}

/// An option of accurate ECN: none to three counters. Later counters are omitted first.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct EcnOption {
    order: EcnOrder,
    count: u8,
    counters: [u32; 3],
}

/// Mark of a stored option in its first word, above the counter.
const STORED: u32 = 1 << 31;
/// Mark of kind 174 in the first word.
const ORDER: u32 = 1 << 30;
/// Place of the number of counters in the first word.
const COUNT: u32 = 24;

impl EcnOption {
    /// An option with the first counters of its order, at most three. Only their lowest 24 bits count.
    pub fn new(order: EcnOrder, counters: &[u32]) -> EcnOption {
        let mut option = EcnOption { order, ..EcnOption::default() };
        for (slot, counter) in option.counters.iter_mut().zip(counters) {
            *slot = counter % COUNTER_RANGE;
            option.count += 1;
        }
        option
    }

    /// The order of the counters.
    pub fn order(&self) -> EcnOrder {
        self.order
    }

    /// The counters, in the option's order.
    pub fn counters(&self) -> &[u32] {
        &self.counters[..usize::from(self.count)]
    }

    /// The counters of ECT(1), CE and ECT(0); `None` for a counter that the option lacks.
    pub fn by_field(&self) -> [Option<u32>; 3] {
        let mut fields = [0, 1, 2].map(|place| self.counters().get(place).copied());
        if self.order == EcnOrder::Ect0First {
            fields.reverse();
        }
        fields
    }

    /// Length on the wire in bytes, without padding.
    pub fn wire_len(&self) -> u32 {
        2 + 3 * u32::from(self.count)
    }

    /// The option with at most this number of counters.
    pub(crate) fn shortened(&self, most: usize) -> EcnOption {
        EcnOption::new(self.order, &self.counters()[..most.min(self.counters().len())])
    }

    /// The option as three words. The first is not zero, and the third is zero without a third counter.
    pub(crate) fn words(&self) -> [u32; 3] {
        let order = if self.order == EcnOrder::Ect1First { ORDER } else { 0 };
        let [first, second, third] = self.counters;
        [STORED | order | u32::from(self.count) << COUNT | first, second, third]
    }

    /// The option of these words; `None` if the first is not the first word of an option.
    pub(crate) fn of_words([first, second, third]: [u32; 3]) -> Option<EcnOption> {
        let order = if first & ORDER == 0 { EcnOrder::Ect0First } else { EcnOrder::Ect1First };
        let count = (first >> COUNT) as usize & 0b11;
        let counters = [first, second, third];
        (first & STORED != 0).then(|| EcnOption::new(order, &counters[..count]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_option_is_equal_after_it_was_stored_as_words() {
        for order in [EcnOrder::Ect0First, EcnOrder::Ect1First] {
            for counters in [&[][..], &[0], &[COUNTER_RANGE - 1, 0], &[1, 2, COUNTER_RANGE - 1]] {
                let option = EcnOption::new(order, counters);
                assert_eq!(option.counters(), counters);
                assert_eq!(EcnOption::of_words(option.words()), Some(option));
            }
        }
        assert_eq!(EcnOption::of_words([0; 3]), None);
    }

    #[test]
    fn each_order_has_its_kind_and_its_counters() {
        for kind in 0..=u8::MAX {
            let order = EcnOrder::of_kind(kind);
            assert_eq!(order.is_some(), kind == 172 || kind == 174);
            assert_eq!(order.map_or(kind, EcnOrder::kind), kind);
        }
        let fields = |order| EcnOption::new(order, &[7, 8]).by_field();
        assert_eq!(fields(EcnOrder::Ect1First), [Some(7), Some(8), None]);
        assert_eq!(fields(EcnOrder::Ect0First), [None, Some(8), Some(7)]);
    }
}
