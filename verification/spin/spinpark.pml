/* Who looks for work, who is woken, who sleeps: the kernel's protocol as a Promela model. docs/liveness.md says what is
 * checked and what is not; README.md, beside this file, how to run it by hand.
 *
 * It follows src/kernel step by step: spinning.rs (elect, leave, wakep, found_work, retire, must_recheck), threads.rs
 * (startm, refused, stopm), find.rs and neighbours.rs (search, idle, stop), handoff.rs, and syscall.rs for a call that
 * blocks. A step of the model is one access to a word that others write too, or a whole hold of the scheduler's lock.
 * Where a hold could be seen half done, because the count and the request are two words that are read without the lock,
 * the lock stays held from one step to the next.
 *
 * Memory is sequentially consistent, as always in Promela. What the fences do is checked elsewhere. */

#ifndef NM
#define NM 3                            /* Ms: as many as there may be, four at the most */
#endif
#ifndef NP
#define NP 2                            /* Ps, two at the most */
#endif
#ifndef NG
#define NG 3                            /* Gs, numbered from 1; 0 is none */
#endif
#ifndef NS
#define NS 2                            /* threads that submit from outside */
#endif

#define ALL_PS ((1 << NP) - 1)
#define NONE 7                          /* no P, no M */

#define has(set, i) ((set >> (i)) & 1)
#define add(set, i) set = set | (1 << (i))
#define del(set, i) set = set & ~(1 << (i))

/* The two words of spinning.rs. */
byte nmspinning;
bit needspinning;

/* Under the lock. The idle Ps are also read without it, as a hint. */
bit held;                               /* only while a hold takes more than one step */
byte idle = ALL_PS;                     /* a bit for each P */
byte asleep;                            /* a bit for each M on the list of sleepers */
byte unborn;                            /* a bit for each M that was never started */
chan global = [NG] of { byte };

/* What is under each P: runnext and the ring, in one. */
chan ring[NP] = [NG] of { byte };

/* What lies in an M's nextp: nothing, or 2 + 2 * P + (is it counted?). */
byte nextp[NM];

/* What the kernel tells who watches (src/kernel/src/sched/observer.rs), as far as the model knows it. */
#define QUEUED_FREE 1                   /* b: G.         Queued, in the global queue */
#define QUEUED_NEXT 2                   /* a: P, b: G.   Queued, under a P, to run next */
#define QUEUED_LAST 3                   /* a: P, b: G.   Queued, under a P, behind the others */
#define FOUND_TURN 4                    /* a: P, b: G.   Found, by source: the next four */
#define FOUND_LOCAL 5
#define FOUND_GLOBAL 6
#define FOUND_STOLEN 7
#define STOLE 8                         /* a: victim, b: how many Gs */
#define GOT 9                           /* a: P */
#define SPINNING 10
#define CALLED 11
#define SOUGHT 12
#define IDLED 13                        /* a: P */
#define LISTED 14                       /* a: P */
#define SLEPT 15
#define WOKEN 16                        /* a: M */
#define STARTING 17                     /* a: M */
#define REFUSED 18
#define ENTERED 19                      /* a: P */
#define RETURNED 20                     /* a: P */
#define ENDED 21                        /* b: G.         Dead, or Waiting */

#ifdef TRACE

/* A trace of the kernel is played: the M that reports an event in the kernel reports it here, and may only do so if it is the
 * next in the trace. That is read from the file `trace`, which verification/tests/liveness writes: five lots of numbers,
 * as below. */
#define ROOM 512
hidden short length;                    /* how many events there are */
hidden short window;
hidden short ms;                        /* how many Ms there may be */
hidden short events[ROOM];              /* each thread's own, in the order in which it has reported them, and a 0 */
hidden short stamps[ROOM];              /* their places among all */
short at[NM + NS];                      /* by thread: which is its next */

short eaten;                            /* how many events were played */
byte top;                               /* the P that was listed last: it is taken first */
byte live;                              /* a bit for each G that is queued or runs: no other can be queued twice */
byte busy;                              /* how many submitters are not done with what they have reported */

/* With a window of 0 they are played in the order of their stamps. On real cores it says little who came first to the one
 * who writes down: there, an event may be played before up to `window` others that were written down before it. */
#define CUR events[at[me]]
#define KIND (CUR / 64)
#define A ((CUR / 8) % 8)
#define B (CUR % 8)
#define next(k, a, b) (CUR == 64 * (k) + 8 * (a) + (b))
inline event(k, a, b) {
    atomic { next(k, a, b) && stamps[at[me]] <= eaten + window -> at[me]++; eaten++ }
}

#define sought() event(SOUGHT, 0, 0)

/* In which order a P's Gs run is not checked here: a ring is a bag. */
#define put(queue, which) queue!!which

#else

#define event(k, a, b) skip
#define sought() skip
#define put(queue, which) queue!which

/* What is with each G, and the G that the property is about: any. */
#define NEW 0
#define WAITS 1
#define RUNNING 2
#define DONE 3
byte state[NG + 1];
byte watched;

/* What happens: by default, NG Gs are submitted from outside and do nothing. */
#ifdef SPAWN
#define LAST 1                          /* G1 is submitted, and readies the others */
#endif
#ifdef FOREVER
#ifndef UNFAIR_LOCK
#define WHOLE_HOLDS                     /* each hold of the lock is one step: else who waits for it could wait for ever */
#endif
bit turn[NP];                           /* is it the global queue's turn? */
#define LAST NG                         /* G1 readies G2 and yields, again and again; G3, if there is one, is */
#define STEP 2                          /* submitted meanwhile */
#endif
#ifdef CALLS
bit has_called;                         /* G1 makes a system call that blocks, once */
#endif
#ifdef HOG                              /* G1 keeps its P, or stays in its call, until all the others have run */
#if NG > 2
#define others_are_done (state[2] == DONE && state[3] == DONE)
#else
#define others_are_done (state[2] == DONE)
#endif
#else
#define others_are_done true
#endif
#ifndef LAST
#define LAST NG
#endif
#ifndef STEP
#define STEP NS
#endif

#endif

inline list(which) {
#ifdef TRACE
    event(LISTED, which, 0);
    top = which;
#endif
    add(idle, which)
}

/* Idle Ps are all alike, their queues are empty, and so are sleeping Ms. So it makes no difference which is taken, and the
 * lowest will do. In a trace it does: the P is the one listed last, the M the one that is said to be woken. */
inline take_idle(which) {
#ifdef TRACE
    which = (has(idle, top) -> top : 1 - top);
#else
    which = (has(idle, 0) -> 0 : 1);
#endif
    del(idle, which)
}

inline take_m(set, k) {
#ifdef TRACE
    if
    :: KIND == k && has(set, A) -> m = A
    fi;
#else
    m = (has(set, 0) -> 0 : (has(set, 1) -> 1 : (has(set, 2) -> 2 : 3)));
#endif
    del(set, m)
}

/* spinning.rs: elect. An exchange that fails says what a load would have said: one step. */
inline elect() {
    atomic {
        if
        :: nmspinning == 0 -> nmspinning = 1; yes = 1
        :: nmspinning != 0 -> yes = 0
        fi
    }
}

/* neighbours.rs: any_work. One queue after the other. */
inline any_work() {
    atomic { yes = (len(global) > 0); i = 0 };
    do
    :: atomic { !yes && i < NP -> yes = (len(ring[i]) > 0); i++ }
    :: atomic { yes || i == NP -> i = 0; break }
    od
}

/* threads.rs: startm, for the P in `q`. An M is looked for; it gets its nextp. If there is none, the P is put back with a
 * request, unless an M fell asleep meanwhile. */
inline startm(counted) {
    atomic {
        !held -> held = 1;
        if
        :: asleep != 0 -> take_m(asleep, WOKEN); event(WOKEN, m, 0); held = 0
        :: asleep == 0 && unborn != 0 -> take_m(unborn, STARTING); held = 0; event(STARTING, m, 0)
        :: asleep == 0 && unborn == 0 -> held = 0
        fi
    };
    if
    :: m == NONE ->
        atomic {
            !held -> held = 1;
            if
            :: asleep != 0 -> take_m(asleep, WOKEN); event(WOKEN, m, 0); held = 0
            :: asleep == 0 ->
                event(REFUSED, 0, 0);
                do
                :: len(ring[q]) > 0 -> ring[q]?x; global!x; x = 0
                :: len(ring[q]) == 0 -> break
                od;
                list(q);
                q = NONE
#ifdef WHOLE_HOLDS
                ; nmspinning = nmspinning - counted; needspinning = 1; held = 0; yes = 0
#endif
            fi
        };
#ifndef WHOLE_HOLDS
        if
        :: q == NONE ->
            if
            :: counted -> nmspinning--
            :: !(counted)
            fi;
#ifdef REFUSED_AND_NOBODY_ASKED
            atomic { held = 0; yes = 0 }
#else
            atomic { needspinning = 1; held = 0; yes = 0 }
#endif
        :: q != NONE
        fi
#endif
    :: m != NONE
    fi;
    if
    :: m != NONE -> atomic { nextp[m] = 2 + 2 * q + counted; m = NONE; q = NONE; yes = 0 }
    :: m == NONE
    fi
}

/* spinning.rs: start_spinning_m; with the fence before it, wakep. */
inline wakep() {
    elect();
    if
    :: yes ->
        atomic {
            !held ->
            if
            :: idle != 0 -> take_idle(q)
            :: idle == 0 ->
#ifdef WHOLE_HOLDS
                nmspinning--; needspinning = 1; yes = 0
#else
                held = 1;
#ifdef ASKS_BEFORE_IT_LOWERS
                needspinning = 1
#else
#ifndef COUNT_STAYS_UP
                nmspinning--
#endif
#endif
#endif
            fi
        };
        if
        :: q == NONE ->
#ifdef WHOLE_HOLDS
            skip
#else
#ifdef ASKS_BEFORE_IT_LOWERS
            atomic { nmspinning--; held = 0; yes = 0 }
#else
#ifdef NOBODY_IS_ASKED
            atomic { held = 0; yes = 0 }
#else
            atomic { needspinning = 1; held = 0; yes = 0 }
#endif
#endif
#endif
        :: q != NONE -> startm(1)
        fi
    :: !yes
    fi
}

/* spinning.rs: found_work. */
inline found() {
    if
    :: token ->
        sought();
        atomic { token = 0; yes = (nmspinning == 1); nmspinning-- };
#ifdef THE_LAST_WAKES_NOBODY
        yes = 0;
#endif
        if
        :: yes ->
            any_work();
            if
            :: yes -> wakep()
            :: !yes
            fi
        :: !yes
        fi
    :: !token
    fi
}

/* globq.rs: get_batch, under the lock. The rest is in the ring before it is gone from here: it is always somewhere. */
inline take_share() {
    i = len(global) / NP;
    global?g;
    do
    :: i > 0 && len(global) > 0 -> global?x; put(ring[p], x); x = 0; i--
    :: i == 0 || len(global) == 0 -> break
    od;
    i = 0
}

#ifdef TRACE
/* What the trace says is found next, and by this source, can be. */
#define first_is(source, k) (global?[k] && next(source, p, k))
#define is_first(source) \
    (first_is(source, 1) || first_is(source, 2) || first_is(source, 3) || first_is(source, 4) || \
    first_is(source, 5) || first_is(source, 6) || first_is(source, 7))
#else
#define is_first(source) 1
#endif

/* The global queue's turn. It makes a difference only where Gs come back for ever: there, it is each second time. */
inline take_turn() {
#ifdef TRACE
    if
    :: KIND == FOUND_TURN -> atomic { !held && is_first(FOUND_TURN) -> global?g; event(FOUND_TURN, p, g) }
    :: KIND != FOUND_TURN
    fi
#else
#ifdef FOREVER
    if
    :: turn[p] && len(global) > 0 ->
        atomic {
            !held ->
            if
            :: len(global) > 0 -> global?g
            :: len(global) == 0
            fi
        }
    :: !turn[p] || len(global) == 0
    fi
#else
    skip
#endif
#endif
}

/* The P's own queue. */
inline take_local() {
    atomic {
        if
#ifdef TRACE
        :: KIND == FOUND_LOCAL && A == p && ring[p]??[eval(B)] -> g = B; ring[p]??eval(g); event(FOUND_LOCAL, p, g)
#else
        :: len(ring[p]) > 0 -> ring[p]?g
#endif
        :: len(ring[p]) == 0
        fi
    }
}

/* A share of the global queue. */
inline take_global() {
    if
    :: len(global) > 0 ->
        atomic {
            !held && (len(global) == 0 || is_first(FOUND_GLOBAL)) ->
            if
            :: len(global) > 0 -> take_share(); event(FOUND_GLOBAL, p, g)
            :: len(global) == 0
            fi
        }
    :: len(global) == 0
    fi
}

/* runq.rs: steal_some. Half of what is there, rounded up. What the thief does not run no M sees until it is in the
 * thief's ring. In a trace: as many as it says, and any. */
inline steal_some() {
#ifdef TRACE
    i = B;
    do
    :: i > 0 ->
        x = 1;
        do
        :: ring[v]??[eval(x)] -> break
        :: x < NG -> x++
        od;
        ring[v]??eval(x);
        add(hand, x);
        x = 0; i--
    :: i == 0 -> break
    od;
    /* One of them it runs. */
    i = 1;
    do
    :: has(hand, i) -> break
    :: i < NG -> i++
    od;
    g = i; i = 0;
    del(hand, g)
#else
    i = (len(ring[v]) - 1) / 2;
    ring[v]?g;
    do
    :: i > 0 -> ring[v]?x; add(hand, x); x = 0; i--
    :: i == 0 -> break
    od
#endif
}

inline publish() {
    atomic {
        i = 1;
        do
        :: i <= NG && has(hand, i) -> put(ring[p], i); i++
        :: i <= NG && !has(hand, i) -> i++
        :: i > NG -> break
        od;
        i = 0; hand = 0
    }
}

#ifdef TRACE
#define is_victim (KIND == STOLE && A == v && B <= len(ring[v]))
#else
#define is_victim (!has(idle, v) && len(ring[v]) > 0)
#endif

inline steal() {
    if
    :: !token ->
        atomic {
            if
            :: 2 * nmspinning < NP - has(idle, 0) - has(idle, 1) -> event(SPINNING, 0, 0); yes = 1
            :: 2 * nmspinning >= NP - has(idle, 0) - has(idle, 1)
            fi
        };
        if
        :: yes -> nmspinning++; atomic { needspinning = 0; token = 1; yes = 0 }
        :: !yes
        fi
    :: token
    fi;
    if
    :: token ->
        do
        :: atomic {
            g == 0 && v < NP ->
            if
            :: v == p || has(idle, v) || len(ring[v]) == 0 -> v++
            :: v != p && is_victim -> steal_some()
            fi
        }
        :: atomic { g != 0 || v == NP -> break }
        od;
        if
        :: g != 0 ->
            if
            :: hand != 0 -> publish()
            :: hand == 0
            fi;
#ifdef TRACE
            atomic { i = B; event(STOLE, v, i); i = 0 };
            event(FOUND_STOLEN, p, g);
#endif
        :: g == 0
        fi;
        v = 0
    :: !token
    fi
}

/* handoff.rs: handoffp, of the P in `q`. */
inline handoffp() {
    if
    :: len(global) > 0 || len(ring[q]) > 0
    :: len(global) == 0 && len(ring[q]) == 0 ->
        atomic {
            !held ->
            if
            :: len(global) > 0 || len(ring[q]) > 0
            :: len(global) == 0 && len(ring[q]) == 0 && needspinning -> held = 1; nmspinning++; yes = 1; i = 1
            :: len(global) == 0 && len(ring[q]) == 0 && !needspinning ->
                if
                :: idle == 0 && nmspinning == 0 -> nmspinning = 1; yes = 1
                :: idle != 0 || nmspinning != 0 -> held = 1; list(q); q = NONE; held = 0
                fi
            fi
        };
        if
        :: i == 1 -> atomic { needspinning = 0; held = 0; i = 0 }
        :: i == 0
        fi
    fi;
    if
    :: q != NONE -> startm(yes)
    :: q == NONE
    fi
}

/* Queues `which` globally, under the lock. */
inline put_global(which) {
    atomic {
        !held ->
#ifndef TRACE
        state[which] = WAITS;
#endif
        global!which
    }
}

/* An M's life. It begins without a P: asleep or not yet started, which is the same to who wants one. */
proctype M(byte me) {
    byte p = NONE, q = NONE, m = NONE, g, x, i, v, hand;
    bit token, yes;

rest:
    atomic {
        nextp[me] != 0 -> p = (nextp[me] - 2) / 2; token = nextp[me] % 2; nextp[me] = 0;
#ifdef FORGETS_THAT_IT_IS_COUNTED
        token = 0;
#endif
        goto got
    };
got:
    atomic {
        event(GOT, p, 0);
        if
        :: token -> event(CALLED, 0, 0)
        :: !token
        fi
    };

search:
    take_turn();
    if :: g != 0 -> goto found_one :: g == 0 fi;
    take_local();
    if :: g != 0 -> goto found_one :: g == 0 fi;
#ifdef GLOBAL_FIRST
    take_global();
    if :: g != 0 -> goto found_one :: g == 0 fi;
    steal();
    if :: g != 0 -> goto found_one :: g == 0 fi;
#else
    steal();
    if :: g != 0 -> goto found_one :: g == 0 fi;
    take_global();
    if :: g != 0 -> goto found_one :: g == 0 fi;
#endif

    /* neighbours.rs: idle. */
    atomic {
        !held && (len(global) == 0 || is_first(FOUND_GLOBAL)) ->
        held = 1;
#ifndef IDLES_WITHOUT_A_LOOK
        if
        :: len(global) > 0 -> take_share(); event(FOUND_GLOBAL, p, g); held = 0; goto found_one
        :: len(global) == 0
        fi;
#endif
#ifndef IDLES_UNASKED
        if
        :: !token && needspinning ->
            nmspinning++; token = 1;
#ifdef WHOLE_HOLDS
            needspinning = 0; held = 0; goto search
#else
            goto take_needspinning
#endif
        :: !token && !needspinning && idle == 0 && nmspinning == 0 ->
            nmspinning = 1; token = 1; event(CALLED, 0, 0); held = 0; goto search
        :: token || (!needspinning && (idle != 0 || nmspinning != 0))
        fi;
#endif
        event(IDLED, p, 0); list(p); p = NONE; held = 0
    };

    /* spinning.rs: retire. */
    if
    :: token ->
        sought();
#ifdef LOOKS_BEFORE_IT_LEAVES
        token = 0;
        any_work();
        nmspinning--;
#else
        atomic { token = 0; nmspinning-- };
#ifndef NO_SECOND_LOOK
        any_work();
#endif
#endif
        if
        :: yes ->
            atomic {
                !held -> yes = 0;
                if
                :: idle != 0 -> take_idle(p)
                :: idle == 0 ->
#ifndef NOBODY_IS_ASKED
                    needspinning = 1
#endif
                fi
            };
            if
            :: p != NONE -> nmspinning++; atomic { needspinning = 0; token = 1; goto got }
            :: p == NONE
            fi
        :: !yes
        fi
    :: !token
    fi;

sleep:
    /* poll.rs: instead_of_sleep; neighbours.rs: mput. */
    atomic {
        !held -> held = 1;
        if
#ifndef SLEEPS_UNASKED
        :: idle != 0 && needspinning ->
            nmspinning++
#ifdef WHOLE_HOLDS
            ; needspinning = 0; take_idle(p); token = 1; held = 0; goto got
#endif
        :: idle == 0 || !needspinning ->
#else
        :: true ->
#endif
            event(SLEPT, 0, 0); add(asleep, me); held = 0; goto rest
        fi
    };
#ifndef WHOLE_HOLDS
    atomic { needspinning = 0; take_idle(p); token = 1; held = 0; goto got };

take_needspinning:
    atomic { needspinning = 0; event(CALLED, 0, 0); held = 0; goto search };
#endif

found_one:
    found();

#ifdef TRACE
    /* What a G does, the trace says. */
    do
    :: KIND == ENDED -> atomic { event(ENDED, 0, g); del(live, g); g = 0; goto search }
    :: KIND == QUEUED_NEXT ->
        atomic { x = B; !has(live, x) -> event(QUEUED_NEXT, p, x); add(live, x) };
        atomic { put(ring[p], x); x = 0 };
        wakep()
    :: KIND == QUEUED_LAST ->
        atomic { event(QUEUED_LAST, p, g) };
        atomic { put(ring[p], g); g = 0; goto search }
    :: KIND == QUEUED_FREE ->
        atomic { x = B; x == g || !has(live, x) -> event(QUEUED_FREE, 0, x); add(live, x) };
        put_global(x);
        if
        :: x == g -> g = 0
        :: x != g
        fi;
        x = 0;
        wakep();
        if
        :: g == 0 -> goto search
        :: g != 0
        fi
    :: KIND == ENTERED ->
        atomic { event(ENTERED, p, 0); q = p; p = NONE };
        handoffp();
        atomic {
            !held ->
            if
            :: idle != 0 -> take_idle(p)
            :: idle == 0 -> global!g; g = 0; goto sleep
            fi
        };
        event(RETURNED, p, 0)
    od
#else
    state[g] = RUNNING;
#ifdef FOREVER
    turn[p] = 1 - turn[p];
#endif
    if
#ifdef SPAWN
    :: g == 1 ->
        /* It readies all the others. */
        v = 2;
        do
        :: v <= NG -> atomic { state[v] = WAITS; put(ring[p], v) }; wakep(); v++
        :: v > NG -> break
        od;
        v = 0;
        others_are_done
#endif
#ifdef FOREVER
    :: g == 1 ->
        /* It readies G2, again and again, and yields each time. */
        atomic {
            if
            :: state[2] == NEW || state[2] == DONE -> state[2] = WAITS; put(ring[p], 2); yes = 1
            :: state[2] == WAITS || state[2] == RUNNING
            fi
        };
        if
        :: yes -> wakep()
        :: !yes
        fi;
        put_global(1);
        g = 0;
        wakep();
        goto search
#endif
#ifdef CALLS
    :: g == 1 && !has_called ->
        /* It makes a system call that blocks. Its P is another's; if it finds none when it is back, it queues. */
        atomic { has_called = 1; q = p; p = NONE };
        handoffp();
        others_are_done;
        atomic {
            !held ->
            if
            :: idle != 0 -> take_idle(p)
            :: idle == 0 -> state[1] = WAITS; global!1; g = 0; goto sleep
            fi
        }
#endif
#if defined(HOG) && !defined(SPAWN) && !defined(CALLS)
    :: g == 1 -> others_are_done
#endif
    :: else
    fi;
    atomic { state[g] = DONE; g = 0; goto search }
#endif
}

/* Who submits from outside. */
proctype Submitter(byte me; byte first) {
    byte q = NONE, m = NONE, x, i, g = first;
    bit yes;
#ifdef TRACE
    do
    :: KIND == QUEUED_FREE ->
        atomic { g = B; !has(live, g) -> event(QUEUED_FREE, 0, g); add(live, g); busy++ };
        put_global(g);
        g = 0;
        wakep();
        busy--
    od
#else
    do
    :: g <= LAST ->
        put_global(g);
#ifndef SUBMITTED_AND_NOBODY_WOKEN
        wakep();
#endif
        g = g + STEP
    :: g > LAST -> break
    od
#endif
}

#ifdef TRACE
#define ALL_MS ((1 << ms) - 1)
#else
#define ALL_MS ((1 << NM) - 1)
#endif
#define at_rest (idle == ALL_PS && (asleep | unborn) == ALL_MS && nmspinning == 0 && !held)

init {
    byte n;
    atomic {
#ifdef TRACE
        c_code {
            FILE *file = fopen("trace", "r");
            int i, n, ok = file && fscanf(file, "%hd %hd %hd %d", &length, &window, &ms, &n) == 4 && n <= ROOM;
            for (i = 0; ok && i < NM + NS; i++) ok = fscanf(file, "%hd", &now.at[i]) == 1;
            for (i = 0; ok && i < n; i++) ok = fscanf(file, "%hd %hd", &events[i], &stamps[i]) == 2;
            if (!ok) { printf("there is no trace to play\n"); exit(2); }
            fclose(file);
        };
        unborn = ALL_MS;
#else
        asleep = ALL_MS;
        select(watched : 1 .. NG);
#endif
        n = 0;
        do
        :: n < NM -> run M(n); n++
        :: n == NM -> break
        od;
        n = 0;
        do
        :: n < NS -> run Submitter(NM + n, 1 + n); n++
        :: n == NS -> break
        od
    }
#ifdef TRACE
    /* All was played, and the kernel rests: the trace is accepted. Spin reports this as an error. */
    eaten == length && at_rest && busy == 0 && live == 0;
    assert(false)
#endif
}

#ifndef TRACE
/* Each G that is queued runs. */
ltl every_g_runs { [] ((state[watched] == WAITS) -> <> (state[watched] == RUNNING)) }
#ifndef FOREVER
/* No M looks for ever: when nothing is submitted any more, all Ms sleep, all Ps are idle, none is counted. */
ltl all_is_quiet { <> [] at_rest }
#endif
#endif
