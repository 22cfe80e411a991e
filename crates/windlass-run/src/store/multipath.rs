//! Tables of multipath flows and their subflows.

use windlass_sim::{FlowResult, MultipathResult, SubflowResult};

use super::table::{Columns, Table, Values};
use crate::RunRecord;

/// A multipath flow of a run.
type MultipathRow<'a> = (&'a RunRecord, &'a FlowResult, &'a MultipathResult);

fn multipath_rows(records: &[RunRecord]) -> impl Iterator<Item = MultipathRow<'_>> {
    let flows = records.iter().flat_map(|run| run.flows.iter().map(move |flow| (run, flow)));
    flows.filter_map(|(run, flow)| Some((run, flow, flow.multipath.as_ref()?)))
}

/// One row a run and multipath flow.
pub fn connections(records: &[RunRecord]) -> Table {
    let rows: Vec<MultipathRow<'_>> = multipath_rows(records).collect();
    Columns::of_run(&rows, |(run, _, _)| run)
        .text("flow", "Name of the flow", |(_, f, _)| &f.name)
        .integer("fallen_back", "1 if it went on as an ordinary connection, else 0", |r| {
            r.2.fallen_back.into()
        })
        .integer("reinjections", "Pieces given to another subflow once more", |r| r.2.reinjections)
        .integer("reinjected_bytes", "Their bytes", |r| r.2.reinjected_bytes)
        .integer("opportunistic", "Of reinjections: they held up the receive window", |r| {
            r.2.opportunistic
        })
        .integer("penalties", "Windows reduced for holding up the receive window", |r| {
            r.2.penalties
        })
        .integer("redundant_bytes", "Bytes given to a further subflow as scheduled", |r| {
            r.2.redundant_bytes
        })
        .integer("duplicate_bytes", "Bytes that had come by another subflow before", |r| {
            r.2.duplicate_bytes
        })
        .integer("max_out_of_order_bytes", "Most bytes that waited for others before them", |r| {
            r.2.max_out_of_order_bytes
        })
        .integer("joins", "Times that a subflow beside the first came up", |r| r.2.joins)
        .integer("failed_joins", "Attempts to join that failed", |r| r.2.failed_joins)
        .integer("suspensions", "Times that a subflow was put aside after timeouts", |r| {
            r.2.suspensions
        })
        .integer("returns", "Times that one came back after that", |r| r.2.returns)
        .integer("lost_subflows", "Subflows that ended before the connection", |r| {
            r.2.lost_subflows
        })
        .table("multipath")
}

/// A subflow of a run, and the flow that it is of.
type SubflowRow<'a> = (&'a RunRecord, &'a FlowResult, &'a SubflowResult);

/// One row a run and subflow of a multipath flow.
pub fn subflows(records: &[RunRecord]) -> Table {
    let each = |(run, flow, m)| -> Vec<SubflowRow<'_>> {
        let m: &MultipathResult = m;
        m.subflows.iter().map(|subflow| (run, flow, subflow)).collect()
    };
    let rows: Vec<SubflowRow<'_>> = multipath_rows(records).flat_map(each).collect();
    let failure = rows.iter().map(|(_, _, s)| s.failure.clone()).collect();
    let columns = Columns::of_run(&rows, |(run, _, _)| run)
        .text("flow", "Name of the flow", |(_, f, _)| &f.name)
        .text("subflow", "Name of the subflow", |(_, _, s)| &s.name)
        .text("algorithm", "Congestion control of the data sender", |(_, _, s)| &s.algorithm);
    subflow_counts(subflow_rates(columns))
        .push("failure", "Why it failed; null if it did not", Values::Text(failure))
        .table("subflows")
}

type SubflowColumns<'a> = Columns<'a, SubflowRow<'a>>;

fn subflow_rates(columns: SubflowColumns<'_>) -> SubflowColumns<'_> {
    columns
        .integer("delivered_bytes", "Payload that arrived on the subflow", |r| r.2.delivered_bytes)
        .real("goodput_bps", "delivered_bytes · 8 over the flow's active_s", |r| r.2.goodput_bps)
        .real("share", "delivered_bytes over that of all the flow's subflows", |r| r.2.share)
        .real("throughput_bps", "Payload sent, retransmissions included, per second", |r| {
            r.2.throughput_bps
        })
        .real("loss_rate", "Sender's packets dropped by the network over those sent", |r| {
            r.2.loss_rate
        })
        .real_or_null("srtt_ms", "Smoothed RTT at the end; null without a sample", |r| r.2.srtt_ms)
        .real_or_null("min_rtt_ms", "Least RTT seen; null without a sample", |r| r.2.min_rtt_ms)
}

fn subflow_counts(columns: SubflowColumns<'_>) -> SubflowColumns<'_> {
    columns
        .integer("retransmits", "Data segments retransmitted", |r| r.2.retransmits)
        .integer("fast_retransmits", "Entries into fast retransmit", |r| r.2.fast_retransmits)
        .integer("rto_count", "Expiries of the retransmission timer, SYN included", |r| {
            r.2.rto_count
        })
        .integer("data_segments", "Data segments sent, retransmissions included", |r| {
            r.2.data_segments
        })
        .integer("packets_sent", "Packets of any kind from the data sender", |r| r.2.packets_sent)
        .integer("peer_packets_sent", "Packets of any kind from the data receiver", |r| {
            r.2.peer_packets_sent
        })
        .integer("cwnd_bytes", "Congestion window at the end", |r| r.2.cwnd_bytes)
        .integer("mode", "What the coordinator decided last; 0 without one", |r| r.2.mode)
}
