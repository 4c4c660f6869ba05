//! A host of the models, as the rooms' client programs need it. Moments are rc11's, so only that engine plays them.

use crate::hosts::any::{self, Kind};
use crate::hosts::model_host::ModelHost;
use crate::hosts::wrap::trace::Trace;
use spinpark_rooms::host::{Rc11, RoomHost};

impl<H: ModelHost> RoomHost for Trace<H> {
    type Moment = <Rc11 as RoomHost>::Moment;
    fn moment() -> Self::Moment {
        Rc11::moment()
    }
    fn at_the_latest(moment: Self::Moment) -> Self::Moment {
        Rc11::at_the_latest(moment)
    }
    fn is_before(one: Self::Moment, other: Self::Moment) -> bool {
        Rc11::is_before(one, other)
    }
    fn is_seen(one: Self::Moment, other: Self::Moment) -> bool {
        Rc11::is_seen(one, other)
    }
    fn is_past(one: Self::Moment, other: Self::Moment) -> bool {
        Rc11::is_past(one, other)
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
    fn start(body: impl FnOnce() + Send + 'static) {
        assert!(any::chosen() == Kind::Rc11, "client programs are explored by rc11 only: take `--engine rc11`");
        drop(Self::fork("client", body));
    }
}
