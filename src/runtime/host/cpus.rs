//! The default number of Ps: the cores that this process may use, and the processor time that it is given.
//!
//! Go: `ncpu`, `adjustCgroupGOMAXPROCS`, `internal/runtime/cgroup`.
//!
//! `std::thread::available_parallelism` knows the same two limits, but rounds time down: of one and a half cores it makes
//! one, and half a core stays unused. Here, as in Go, it is rounded up, and is never less than 2: a quota spreads over
//! time, and with one P a task that computes holds up all others.

use crate::kernel::sched::config::Config;
use std::path::{Path, PathBuf};
use std::{fs, thread};

/// The default number of Ps. Asked once, when a runtime is built.
pub(in crate::runtime) fn default_procs() -> usize {
    limited(cores(), quota()).clamp(1, Config::MAX_PROCS)
}

/// Go's rule.
fn limited(cores: usize, quota: Option<usize>) -> usize {
    cores.min(quota.map_or(usize::MAX, |quota| quota.max(2)))
}

/// How many cores this thread may run on.
fn cores() -> usize {
    allowed().unwrap_or_else(|| thread::available_parallelism().map_or(1, usize::from))
}

#[cfg(target_os = "linux")]
fn allowed() -> Option<usize> {
    let set = rustix::thread::sched_getaffinity(None).ok()?;
    Some(set.count() as usize).filter(|&count| count > 0)
}

#[cfg(not(target_os = "linux"))]
fn allowed() -> Option<usize> {
    None
}

/// How many cores' time this process is given, rounded up. `None`: as much as there is.
fn quota() -> Option<usize> {
    if !cfg!(target_os = "linux") {
        return None;
    }
    let read = |path: &Path| fs::read_to_string(path).ok();
    let (groups, mounts) = (read(Path::new("/proc/self/cgroup"))?, read(Path::new("/proc/self/mountinfo"))?);
    smallest_quota(&groups, &mounts, &read)
}

/// The smallest of the quotas of our control group and of those around it, as far as they can be seen. (Go asks the
/// innermost only.)
fn smallest_quota(groups: &str, mounts: &str, read: &dyn Fn(&Path) -> Option<String>) -> Option<usize> {
    let group = Group::ours(groups)?;
    let (top, directory) = mounts.lines().find_map(|line| group.directory(line))?;
    let around = directory.ancestors().take_while(|directory| directory.starts_with(&top));
    around.filter_map(|directory| group.quota(directory, read)).min()
}

/// The control group that processor time is counted in.
struct Group<'a> {
    is_v1: bool,
    path: &'a Path,
}

impl Group<'_> {
    /// From /proc/self/cgroup: lines `number:controllers:path`. Where both versions are there, the controller is in one
    /// of them: in the first, if that names it.
    fn ours(groups: &str) -> Option<Group<'_>> {
        let mut ours = None;
        for line in groups.lines() {
            let mut parts = line.splitn(3, ':');
            let (Some(number), Some(controllers), Some(path)) = (parts.next(), parts.next(), parts.next()) else {
                continue;
            };
            if controllers.split(',').any(|name| name == "cpu") {
                return Some(Group { is_v1: true, path: Path::new(path) });
            }
            if number == "0" && controllers.is_empty() {
                ours = Some(Group { is_v1: false, path: Path::new(path) });
            }
        }
        ours
    }

    /// Where its files are, and where those begin that can be seen, if this line of /proc/self/mountinfo says so:
    /// `id parent device root mountpoint options … - type source options`.
    fn directory(&self, mount: &str) -> Option<(PathBuf, PathBuf)> {
        let (place, kind) = mount.split_once(" - ")?;
        let (mut place, mut kind) = (place.split(' ').skip(3), kind.split(' '));
        let (root, top) = (unescaped(place.next()?), PathBuf::from(unescaped(place.next()?)));
        let (kind, options) = (kind.next()?, kind.nth(1).unwrap_or(""));
        let is_it = match self.is_v1 {
            true => kind == "cgroup" && options.split(',').any(|name| name == "cpu"),
            false => kind == "cgroup2",
        };
        let below = if is_it { self.path.strip_prefix(&root).ok()? } else { return None };
        let directory = top.join(below);
        Some((top, directory))
    }

    fn quota(&self, directory: &Path, read: &dyn Fn(&Path) -> Option<String>) -> Option<usize> {
        let (quota, period) = if self.is_v1 {
            (read(&directory.join("cpu.cfs_quota_us"))?, read(&directory.join("cpu.cfs_period_us"))?)
        } else {
            let both = read(&directory.join("cpu.max"))?;
            let (quota, period) = both.trim().split_once(' ')?;
            (quota.to_owned(), period.to_owned())
        };
        // "max" and -1 mean that there is none: they are no numbers.
        let (quota, period) = (quota.trim().parse::<u64>().ok()?, period.trim().parse::<u64>().ok()?);
        if period == 0 {
            return None;
        }
        usize::try_from(quota.div_ceil(period)).ok()
    }
}

/// As mountinfo writes a path: a space is `\040`.
fn unescaped(path: &str) -> String {
    let signs = [("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")];
    signs.iter().fold(path.to_owned(), |path, (code, sign)| path.replace(code, sign))
}

#[cfg(test)]
mod tests {
    use super::*;

    const V2: &str = "30 23 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate";
    const V1: &str = "35 30 0:31 /docker/abc /sys/fs/cgroup/cpu,cpuacct ro - cgroup cgroup rw,cpu,cpuacct";
    const DISK: &str = "24 1 8:1 / / rw,relatime - ext4 /dev/sda1 rw";

    /// What files there are.
    fn quota(groups: &str, mounts: &[&str], files: &[(&str, &str)]) -> Option<usize> {
        let read =
            |path: &Path| files.iter().find(|(name, _)| Path::new(name) == path).map(|(_, text)| format!("{text}\n"));
        smallest_quota(groups, &mounts.join("\n"), &read)
    }

    mod a_quota {
        use super::*;

        #[test]
        fn of_the_second_version_is_rounded_up() {
            for (text, cores) in [("150000 100000", 2), ("100000 100000", 1), ("1000 100000", 1), ("400001 100000", 5)]
            {
                let found = quota("0::/a/b", &[DISK, V2], &[("/sys/fs/cgroup/a/b/cpu.max", text)]);
                assert_eq!(found, Some(cores), "{text}");
            }
        }

        #[test]
        fn of_the_first_version_is_found_below_where_it_is_mounted() {
            let groups = "4:memory:/docker/abc\n3:cpu,cpuacct:/docker/abc/inner\n0::/elsewhere";
            let files = [
                ("/sys/fs/cgroup/cpu,cpuacct/inner/cpu.cfs_quota_us", "250000"),
                ("/sys/fs/cgroup/cpu,cpuacct/inner/cpu.cfs_period_us", "100000"),
            ];
            assert_eq!(quota(groups, &[DISK, V2, V1], &files), Some(3));
        }

        #[test]
        fn of_a_group_around_it_counts_if_it_is_smaller() {
            let files =
                [("/sys/fs/cgroup/a/b/cpu.max", "800000 100000"), ("/sys/fs/cgroup/a/cpu.max", "300000 100000")];
            assert_eq!(quota("0::/a/b", &[V2], &files), Some(3));
            assert_eq!(quota("0::/a/b", &[V2], &files[..1]), Some(8));
        }

        #[test]
        fn is_none_where_there_is_none() {
            let max = [("/sys/fs/cgroup/a/cpu.max", "max 100000")];
            assert_eq!(quota("0::/a", &[V2], &max), None);
            let unset = [
                ("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1"),
                ("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000"),
            ];
            assert_eq!(quota("1:cpu:/docker/abc", &[V1], &unset), None);
            assert_eq!(quota("0::/a", &[V2], &[("/sys/fs/cgroup/a/cpu.max", "5 0")]), None);
            assert_eq!(quota("0::/a", &[DISK], &max), None, "it is mounted nowhere");
            assert_eq!(quota("", &[V2], &max), None, "there are no groups");
            assert_eq!(quota("not a line\n1:cpu", &["nor this", "1 2 3 - cgroup2"], &max), None);
        }

        #[test]
        fn of_another_container_is_not_ours() {
            assert_eq!(
                quota("1:cpu:/docker/other", &[V1], &[("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "1")]),
                None
            );
        }

        #[test]
        fn is_found_under_a_name_with_a_space() {
            let mount = V2.replace("/sys/fs/cgroup", "/my\\040groups");
            assert_eq!(quota("0::/", &[&mount], &[("/my groups/cpu.max", "700 100")]), Some(7));
        }
    }

    mod the_number {
        use super::*;

        #[test]
        fn is_the_smaller_limit_and_a_quota_is_two_at_least() {
            assert_eq!(limited(8, None), 8);
            assert_eq!(limited(8, Some(3)), 3);
            assert_eq!(limited(8, Some(1)), 2);
            assert_eq!(limited(1, Some(1)), 1);
            assert_eq!(limited(2, Some(9)), 2);
        }

        #[test]
        fn is_allowed_here() {
            assert!((1..=Config::MAX_PROCS).contains(&default_procs()));
        }
    }
}
