import { dispatch, type Ref, type SupervisionContext, spawn, start, stop } from 'nact'
import type { Clock } from '../core/clock.ts'
import type { Logger } from '../core/log.ts'
import type { ActorKind, LiveActor } from '../schemas/operations/actor-snapshot.ts'

/**
 * nact wrapped once (docs/architecture.md, idea 3). A supervisor keeps one actor per piece of work, named by the id of its document; an actor
 * lives while it has work and stops with its last message. Everything that nact 7.6 leaves open is decided here:
 * - a handler's crash stops its actor and rejects the one who told it; `onCrash` itself never throws and never resets a busy actor;
 * - nobody holds a reference to an actor from outside, so nothing is dispatched to a stopped one;
 * - children are sharded, because nact copies the whole child map for every message of the parent;
 * - there are no `shutdownAfter` timers: what waits is a document, not an actor;
 * - an actor's name may hold a few characters only, so ids are encoded.
 */
export interface Supervisor {
  /**
   * Runs `work` in the actor of `id`, after what that actor was told before. Resolves with its end, rejects with its error.
   * `signal` is aborted by `abort` and by `stop`; `crashes` are those that the work has behind it, for operators.
   */
  tell(id: string, doing: string, work: (signal: AbortSignal) => Promise<void>, crashes?: number): Promise<void>
  /** Aborts what the actor of `id` does or was told to do of these kinds (`doing`); what it was told besides goes on. */
  abort(id: string, kinds: ReadonlySet<string>, reason: Error): void
  /** Aborts everything and waits for it to end. */
  stop(reason: Error): Promise<void>
  size(): number
  list(): LiveActor[]
}

/** nact copies a parent's child map per message; a shard keeps that copy small. */
const CHILDREN_PER_SHARD = 1_000

interface Message {
  doing: string
  crashes: number
  controller: AbortController
  work: (signal: AbortSignal) => Promise<void>
  done: () => void
  failed: (error: unknown) => void
}

interface Child {
  ref: Ref<Message>
  shard: Shard
  info: Omit<LiveActor, 'mailbox'>
  /** What it does and what it was told besides. */
  pending: Set<Message>
}

interface Shard {
  name: string
  ref: Ref<unknown>
  children: number
}

/** Any id as one of nact's names: what it does not take is written as `_<code point>_`. */
const actorName = (id: string): string =>
  id.replace(/[^A-Za-z0-9-]/gu, (character) => `_${character.codePointAt(0)?.toString(16)}_`)

type CrashContext = SupervisionContext<Message, Ref<unknown>>

/** The actors of one process; each kind of work has a supervisor of its own below it. */
export interface ActorSystem {
  supervise(name: string, kind: ActorKind): Supervisor
  /** To be called once every supervisor has stopped. */
  stop(): void
}

export function startActorSystem(options: { clock: Clock; log: Logger }): ActorSystem {
  const system = start()
  return {
    supervise: (name, kind) => createSupervisor({ ...options, parent: system, name, kind }),
    stop: () => stop(system),
  }
}

function createSupervisor({
  parent,
  name,
  kind,
  clock,
  log,
}: {
  parent: ReturnType<typeof start>
  name: string
  kind: ActorKind
  clock: Clock
  log: Logger
}): Supervisor {
  const self = spawn(parent, () => undefined, name)
  const shards: Shard[] = []
  const children = new Map<string, Child>()
  const running = new Set<Promise<void>>()
  let stopped: Error | undefined

  const openShard = (): Shard => {
    const free = shards.find((shard) => shard.children < CHILDREN_PER_SHARD)
    if (free) return free
    const shardName = `shard-${shards.length}`
    const shard = { name: shardName, ref: spawn(self, () => undefined, shardName), children: 0 }
    shards.push(shard)
    return shard
  }

  const remove = (id: string, child: Child): void => {
    if (children.get(id) !== child) return
    children.delete(id)
    child.shard.children -= 1
    stop(child.ref)
  }

  const open = (id: string): Child => {
    const shard = openShard()
    const child: Partial<Child> & Omit<Child, 'ref'> = {
      shard,
      info: {
        path: `/${name}/${shard.name}/${id}`,
        kind,
        state: 'starting',
        since: clock.now(),
        doing: null,
        crashes: 0,
      },
      pending: new Set(),
    }
    const handle = async (_state: undefined, message: Message): Promise<undefined> => {
      const { doing, crashes, controller } = message
      child.info = { ...child.info, state: 'working', doing, crashes, since: clock.now() }
      await message.work(controller.signal)
      message.done()
      return undefined
    }
    const onCrash = (message: Message | undefined, error: Error | undefined, context: CrashContext) => {
      message?.failed(error)
      return context.resume
    }
    child.ref = spawn(shard.ref, handle, actorName(id), { onCrash })
    shard.children += 1
    children.set(id, child as Child)
    return child as Child
  }

  const tell: Supervisor['tell'] = (id, doing, work, crashes = 0) => {
    const child = children.get(id) ?? open(id)
    const message: Message = {
      doing,
      crashes,
      work,
      controller: new AbortController(),
      done: () => undefined,
      failed: () => undefined,
    }
    if (stopped) message.controller.abort(stopped)
    child.pending.add(message)
    const told: Promise<void> = new Promise<void>((done, failed) => {
      dispatch(child.ref, Object.assign(message, { done, failed }))
    }).finally(() => {
      child.pending.delete(message)
      running.delete(told)
      if (child.pending.size === 0) remove(id, child)
    })
    running.add(told)
    return told
  }

  return {
    tell,
    abort: (id, kinds, reason) => {
      for (const { doing, controller } of children.get(id)?.pending ?? [])
        if (kinds.has(doing)) controller.abort(reason)
    },
    size: () => children.size,
    list: () => [...children.values()].map(({ info, pending }) => ({ ...info, mailbox: pending.size - 1 })),
    stop: async (reason) => {
      stopped = reason
      for (const { pending } of children.values()) for (const { controller } of pending) controller.abort(reason)
      await Promise.allSettled(running)
      log.debug({ supervisor: name }, 'stopped')
    },
  }
}
