//! What each operation does to each role: enumerated, and compared with a table.

use spinpark_kernel::host::{Host, Word};
use spinpark_kernel::protocol::role::{Role, RoleCell, Waits};
use spinpark_proptests::stepped::Stepped;

type Cell = RoleCell<Stepped, u32, u32, u32>;
type R = Role<u32, u32, u32>;

/// An M with its P, one that has left it, the embedder's.
const ROLES: [fn() -> R; 5] =
    [|| Role::Outside, || Role::Running(1), || Role::Detached(2), || Role::InSyscall(3), || Role::Other(4)];

fn cell(role: R) -> Cell {
    let cell = Cell::new(<Stepped as Host>::Word::new(0));
    assert!(matches!(cell.replace(role), Role::Outside), "a thread begins outside");
    cell
}

fn now(cell: &Cell) -> String {
    cell.with(|role| format!("{role:?}"))
}

/// What `act` gives, and the role after it, for each role before it.
fn each<T>(act: impl Fn(&Cell) -> T) -> Vec<(T, String)> {
    let one = |role: fn() -> R| {
        let cell = cell(role());
        let done = act(&cell);
        (done, now(&cell))
    };
    ROLES.into_iter().map(one).collect()
}

fn table<T>(rows: [(T, &str); 5]) -> Vec<(T, String)> {
    rows.into_iter().map(|(done, role)| (done, role.to_owned())).collect()
}

/// The handler: leaves the P, if it was asked to.
fn signal(cell: &Cell, is_needspinning: bool) {
    cell.interrupt(|p| if is_needspinning { Ok(p + 10) } else { Err(p) });
}

mod an_operation_does_what_the_table_says {
    use super::*;

    #[test]
    fn take() {
        let took = each(|cell| cell.take(|away| away + 20));
        let rows = [
            (None, "Outside"),
            (Some(1), "Outside"),
            (Some(22), "Outside"),
            (None, "InSyscall(3)"),
            (None, "Other(4)"),
        ];
        assert_eq!(took, table(rows));
    }

    #[test]
    fn enter_syscall() {
        let entered = each(|cell| cell.enter_syscall(|p| p + 30, |away| away + 40));
        let rows = [
            (false, "Outside"),
            (true, "InSyscall(31)"),
            (true, "InSyscall(42)"),
            (false, "InSyscall(3)"),
            (false, "Other(4)"),
        ];
        assert_eq!(entered, table(rows));
    }

    #[test]
    fn exit_syscall() {
        let back = each(|cell| cell.exit_syscall(|away| away + 50));
        let rows =
            [(None, "Outside"), (None, "Running(1)"), (None, "Detached(2)"), (Some(53), "Outside"), (None, "Other(4)")];
        assert_eq!(back, table(rows));
    }

    #[test]
    fn replace() {
        let rows = ["Outside", "Running(1)", "Detached(2)", "InSyscall(3)", "Other(4)"];
        let replaced = each(|cell| format!("{:?}", cell.replace(Role::Other(9))));
        assert_eq!(replaced, rows.map(|was| (was.to_owned(), "Other(9)".to_owned())));
    }

    #[test]
    fn waits() {
        use Waits::{Block, Suspend, WithoutP};
        let could = each(|cell| (cell.waits(true), cell.waits(false)));
        let ways: Vec<_> = could.into_iter().map(|(ways, _)| ways).collect();
        let none = (WithoutP, WithoutP);
        assert_eq!(ways, [none, (Suspend, Block), (Suspend, Block), none, none]);
    }
}

mod a_signal {
    use super::*;

    #[test]
    fn detaches_what_runs_under_its_p_if_it_was_asked_to() {
        let rows =
            |running| [((), "Outside"), ((), running), ((), "Detached(2)"), ((), "InSyscall(3)"), ((), "Other(4)")];
        assert_eq!(each(|cell| signal(cell, true)), table(rows("Detached(11)")));
        assert_eq!(each(|cell| signal(cell, false)), table(rows("Running(1)")));
    }

    /// Whatever the thread does with its role.
    #[test]
    fn changes_nothing_inside_of_the_scheduler() {
        for role in ROLES {
            let cell = cell(role());
            let before = now(&cell);
            cell.with(|_| signal(&cell, true));
            assert_eq!(now(&cell), before);
            cell.try_with_mut(|_| signal(&cell, true)).expect("no other thread has it");
            assert_eq!(now(&cell), before);
            // Also further down on the stack, and after it.
            cell.with(|_| {
                cell.with(|_| ());
                signal(&cell, true);
            });
            assert_eq!(now(&cell), before);
        }
    }

    #[test]
    fn changes_something_again_afterwards() {
        let cell = cell(Role::Running(1));
        cell.with(|_| ());
        cell.try_with_mut(|_| ());
        signal(&cell, true);
        assert_eq!(now(&cell), "Detached(11)");
    }

    #[test]
    fn finds_nobody_who_works_with_the_role_twice() {
        let cell = cell(Role::Running(1));
        let inner = cell.try_with_mut(|_| cell.try_with_mut(|_| ()));
        assert_eq!(inner, Some(None));
    }
}
