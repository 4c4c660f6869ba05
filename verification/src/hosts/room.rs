//! A host of the models, as the rooms' client programs need it. Moments are rc11's, so only that engine plays them.

use crate::hosts::any::{self, Kind};
use crate::hosts::model_host::ModelHost;
use crate::hosts::wrap::trace::Trace;
use rc11::engine::Moment;
use spinpark_rooms::host::{RoomHost, is_before};

impl<H: ModelHost> RoomHost for Trace<H> {
    type Moment = Moment;
    fn moment() -> Moment {
        rc11::engine::moment()
    }
    fn at_the_latest(moment: Moment) -> Moment {
        rc11::engine::at_the_latest(moment)
    }
    fn is_before(one: Moment, other: Moment) -> bool {
        is_before(one, other)
    }
    fn is_seen(one: Moment, other: Moment) -> bool {
        one.is_known_at(&other)
    }
    fn me() -> usize {
        rc11::engine::me()
    }
    fn holds_a_lock() -> bool {
        rc11::engine::holds_a_lock()
    }
    #[track_caller]
    fn start(body: impl FnOnce() + Send + 'static) {
        assert!(any::chosen() == Kind::Rc11, "client programs are explored by rc11 only: take `--engine rc11`");
        drop(Self::fork("client", body));
    }
}
