//! What the layers below tell the controller.

use windlass_cc::{CrossLayer, Time};

use super::{Endpoint, Profile};

impl Endpoint {
    /// What the node's lower layers know, for an algorithm that
    /// [wants](windlass_cc::Requirements::cross_layer) it: to be told before the
    /// [segment](Endpoint::on_segment) or [deadline](Endpoint::on_deadline) that is handled with it.
    pub fn on_cross_layer(&mut self, p: &Profile, now: Time, layers: &CrossLayer) {
        let conn = self.glance(now, 0);
        self.cc.on_cross_layer(&p.params, &conn, layers);
    }
}
