import { SECOND } from '../core/clock.ts'
import { type HintAddress, openHintSocket } from '../core/hint-socket.ts'
import { startPoller } from '../core/poller.ts'
import type { Runtime } from '../core/process.ts'
import { liveProcesses, type ProcessKind } from './operations/process-record.ts'
import { HINTS, type Hint, sendHints, tell, WORK } from './wakeups.ts'

/** Of the key that messages are signed with. */
const PURPOSE = 'hints'
/** How often a process looks who else there is (machine ms): until then a new one hears by way of the database. */
const LOOK_EVERY_MS = 2 * SECOND

/** Of what each kind of process wants to hear. */
const WANTED: Readonly<Record<ProcessKind, ReadonlySet<Hint>>> = {
  actors: new Set(WORK),
  'browser-farm': new Set<Hint>(['leases', 'answers']),
  http: new Set<Hint>(['flows', 'answers']),
}

interface Hints {
  /** Where this process hears of what others wrote, for its record; absent where this machine lets it not. */
  at?: HintAddress
  stop(): Promise<void>
}

/**
 * Messages between the processes of the service, on whatever machines, that there is something to look at (docs/architecture.md, idea 4). They
 * name its kind and nothing else; whom none reaches looks later.
 */
export async function startHints({ config, keyring, clock, log }: Runtime): Promise<Hints> {
  const hear = (text: string): void => {
    for (const kind of HINTS) if (text.split(',').includes(kind)) tell(kind)
  }
  const listening = { host: config.HOST, port: config.HEALTH_PORT }
  const opened = openHintSocket({ ...listening, keys: keyring.deriveAll(PURPOSE), hear, clock, log })
  const socket = await opened.catch((error: unknown) => {
    log.warn({ err: error }, 'no messages between processes: each looks for itself')
    return null
  })
  if (!socket) return { stop: async () => undefined }
  const { at } = socket
  let others: { kind: ProcessKind; hintsAt: HintAddress }[] = []
  const look = async (): Promise<number> => {
    const live = await liveProcesses(clock.now())
    const isOther = ({ address, port }: HintAddress): boolean => address !== at.address || port !== at.port
    others = live.flatMap(({ kind, hintsAt }) => (hintsAt && isOther(hintsAt) ? [{ kind, hintsAt }] : []))
    return 0
  }
  const looking = startPoller({ name: 'other processes', everyMs: LOOK_EVERY_MS, work: look, clock, log })
  const endSending = sendHints((kinds) => {
    for (const { kind, hintsAt } of others) {
      const wanted = kinds.filter((each) => WANTED[kind].has(each))
      if (wanted.length > 0) socket.send(wanted.join(','), hintsAt)
    }
  })
  return {
    at,
    stop: async () => {
      endSending()
      await looking.stop()
      await socket.stop()
    },
  }
}
