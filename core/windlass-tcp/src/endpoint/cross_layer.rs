//! Cross-layer information for the controller.

use windlass_cc::{CrossLayer, Time};

use super::{Endpoint, Profile};

impl Endpoint {
    /// Passes the state of the node's lower layers to an algorithm that
    /// [needs](windlass_cc::Requirements::cross_layer) it. Call this before the
    /// [segment](Endpoint::on_segment) or [deadline](Endpoint::on_deadline) to which the state belongs.
    pub fn on_cross_layer(&mut self, p: &Profile, now: Time, layers: &CrossLayer) {
        self.at_rest = false;
        let conn = self.glance(now, 0);
        self.cc.on_cross_layer(&p.params, &conn, layers);
    }
}
