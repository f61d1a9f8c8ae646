import { appendFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { DeliveryMemory, WebhookEvent, WebhookVerificationError } from '../src/index.ts'

/** One webhook that came in, newest first in the list. */
export type LoggedEvent = {
  /** ISO 8601. */
  receivedAt: string
  /** `valid`, or the reason why the webhook was refused. */
  verification: 'valid' | WebhookVerificationError['reason']
  /** The four below are null for a refused webhook: nothing in it can be believed. */
  deliveryId: string | null
  event: string | null
  userRef: string | null
  payload: Record<string, unknown> | null
  /** How many more times the same delivery came; those were dropped. */
  repeats: number
}

export type EventLog = DeliveryMemory & {
  add(event: WebhookEvent): void
  addRefused(error: WebhookVerificationError): void
  /** Newest first. */
  list(): LoggedEvent[]
  /** Calls back for every entry that is new or changed; returns how to stop. */
  watch(listener: (entry: LoggedEvent) => void): () => void
}

const MAX_ENTRIES = 5000

/** Entries of an earlier run, oldest first. A line that a crash cut off is left out: its delivery was never answered. */
function readEntries(file: string): LoggedEvent[] {
  if (!existsSync(file)) return []
  const lines = readFileSync(file, 'utf8').split('\n')
  return lines.flatMap((line) => {
    try {
      return [JSON.parse(line) as LoggedEvent]
    } catch {
      return []
    }
  })
}

/** Remembers the events in memory and, with a folder, in `events.jsonl` there, so that a restart drops duplicates too. */
export function openEventLog({ dataDir }: { dataDir: string | undefined }): EventLog {
  const file = dataDir === undefined ? undefined : join(dataDir, 'events.jsonl')
  if (dataDir !== undefined) mkdirSync(dataDir, { recursive: true })
  const entries = file === undefined ? [] : readEntries(file).slice(-MAX_ENTRIES)
  const deliveries = new Set(entries.flatMap(({ deliveryId }) => deliveryId ?? []))
  const listeners = new Set<(entry: LoggedEvent) => void>()

  function tell(entry: LoggedEvent) {
    for (const listener of listeners) listener(entry)
  }

  function push(entry: LoggedEvent) {
    entries.push(entry)
    const dropped = entries.length > MAX_ENTRIES ? entries.shift() : undefined
    if (dropped?.deliveryId) deliveries.delete(dropped.deliveryId)
    tell(entry)
  }

  return {
    remember(deliveryId) {
      if (!deliveries.has(deliveryId)) {
        deliveries.add(deliveryId)
        return true
      }
      const known = entries.find((entry) => entry.deliveryId === deliveryId)
      if (known) {
        known.repeats += 1
        tell(known)
      }
      return false
    },
    forget: (deliveryId) => deliveries.delete(deliveryId),
    add({ event, payload, deliveryId }) {
      const userRef = 'userRef' in payload && typeof payload.userRef === 'string' ? payload.userRef : null
      const receivedAt = new Date().toISOString()
      const entry: LoggedEvent = {
        receivedAt,
        verification: 'valid',
        deliveryId,
        event,
        userRef,
        payload,
        repeats: 0,
      }
      // Written before the webhook is answered. It begins with a line break because a crash may have left half a line.
      if (file !== undefined) appendFileSync(file, `\n${JSON.stringify(entry)}`)
      push(entry)
    },
    addRefused({ reason }) {
      const nothing = { deliveryId: null, event: null, userRef: null, payload: null }
      push({ receivedAt: new Date().toISOString(), verification: reason, ...nothing, repeats: 0 })
    },
    list: () => entries.toReversed(),
    watch(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}
