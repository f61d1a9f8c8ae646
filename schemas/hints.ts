import { type HintAddress, openHintSocket } from '../core/hint-socket.ts'
import type { Runtime } from '../core/process.ts'
import type { Processes, ProcessKind } from './operations/process-record.ts'
import { HINTS, type Hint, sendHints, tell, WORK } from './wakeups.ts'

/** Of the key that messages are signed with. */
const PURPOSE = 'hints'

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
 * name its kind and nothing else; whom none reaches looks later, and a process that is not among `processes` yet hears by way of the database.
 */
export async function startHints({ config, keyring, clock, log }: Runtime, processes: Processes): Promise<Hints> {
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
  const isOther = ({ address, port }: HintAddress): boolean => address !== at.address || port !== at.port
  const endSending = sendHints((kinds) => {
    for (const { kind, hintsAt } of processes()) {
      const wanted = kinds.filter((each) => WANTED[kind].has(each))
      if (hintsAt && isOther(hintsAt) && wanted.length > 0) socket.send(wanted.join(','), hintsAt)
    }
  })
  return {
    at,
    stop: async () => {
      endSending()
      await socket.stop()
    },
  }
}
