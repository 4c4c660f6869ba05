//! A host of the models, as the rooms' client programs need it. Moments are rc11's, so only that engine plays them.

use crate::hosts::any::{self, Kind};
use crate::hosts::model_host::ModelHost;
use crate::hosts::wrap::trace::Trace;
use spinpark_rooms::host::{Body, Moment, Rc11, RoomHost};

impl<H: ModelHost> RoomHost for Trace<H> {
    fn moment() -> Moment {
        Rc11::moment()
    }
    fn me() -> usize {
        Rc11::me()
    }
    fn holds_a_lock() -> bool {
        Rc11::holds_a_lock()
    }
    fn refuse_spawns(n: u64) {
        <Self as ModelHost>::refuse_spawns(n as usize);
    }
    #[track_caller]
    fn start(body: Body) {
        assert!(any::chosen() == Kind::Rc11, "client programs are explored by rc11 only: take `--engine rc11`");
        drop(Self::fork("client", body));
    }
}
