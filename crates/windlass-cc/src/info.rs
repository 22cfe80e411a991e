//! What an algorithm says of itself: printed by the command line and the generated docs.

/// Description of an algorithm.
#[derive(Debug)]
pub struct Info {
    /// Identifier as a user types it, lower case.
    pub id: &'static str,
    /// Name as a paper prints it.
    pub name: &'static str,
    /// Where it comes from: RFC with section, or paper.
    pub origin: &'static str,
    /// BibTeX key of the origin.
    pub citation: &'static str,
    /// One paragraph.
    pub description: &'static str,
    /// Which loss recovery the host runs when the scenario does not say.
    pub recovery: crate::recovery::Style,
    /// Parameters, in the order in which they are shown.
    pub params: &'static [Param],
    /// Fields that [`crate::Controller::trace`] visits, in order.
    pub trace: &'static [TraceField],
}

/// One parameter of an algorithm.
#[derive(Debug)]
pub struct Param {
    /// Name as typed in a scenario.
    pub name: &'static str,
    /// What it means.
    pub doc: &'static str,
    /// Type, unit and admissible values.
    pub kind: ParamKind,
    /// Default, written as a user would write it.
    pub default: &'static str,
    /// RFC section or paper equation that it comes from.
    pub source: &'static str,
}

/// Type, unit and range of a parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParamKind {
    /// A volume between two bounds in bytes.
    Bytes {
        /// Least admissible value.
        min: u64,
        /// Largest admissible value.
        max: u64,
    },
    /// One of these words.
    Choice(&'static [&'static str]),
}

/// One named integer of an algorithm's inner state.
#[derive(Debug)]
pub struct TraceField {
    /// Column name.
    pub name: &'static str,
    /// Unit of the integer.
    pub unit: &'static str,
}
