import { Binary, type Db, type Document, ObjectId } from 'mongodb'

/** Enough that no planner takes reading through for the quicker way. */
export const DOCUMENTS = 50_000
const BATCH = 5_000
/** Those of other apps are among many. */
const APPS = 50
/** Bytes: what is stored in them plays no part. */
const LARGEST = 64

/** Times at which something begins or ends by itself: what sleeps has all of them ahead. */
const AHEAD = new Set(['claimableAt', 'outboxAt', 'dueAt', 'expireAt', 'expiresAt', 'takenUntil', 'doneAt', 'endedAt'])
const DAY_MS = 24 * 60 * 60 * 1_000

/** Fields whose values are words, the same in many documents; every other text names something and is another in each. */
const WORDS = new Set([
  'status',
  'state',
  'kind',
  'event',
  'provider',
  'purpose',
  'change',
  'action',
  'filename',
  'role',
])

/** Puts many more documents of the same kind as `templates` into a collection, which belong to others. */
export async function fill(database: Db, { name, templates }: { name: string; templates: Document[] }): Promise<void> {
  const collection = database.collection(name)
  for (let from = 0; from < DOCUMENTS; from += BATCH) {
    const batch = Array.from({ length: BATCH }, (_, index) => {
      const number = from + index
      return other(templates[number % templates.length] as Document, number) as Document
    })
    await collection.insertMany(batch, { ordered: false })
  }
}

function other(value: unknown, number: number, field = ''): unknown {
  if (typeof value === 'string') {
    if (field === 'appId') return `${value}-${number % APPS}`
    return WORDS.has(field) ? value : `${value.slice(0, LARGEST)}-${number}`
  }
  if (value instanceof Date) return new Date(Date.now() + (AHEAD.has(field) ? DAY_MS + number : -number) * 1_000)
  if (value instanceof ObjectId) return new ObjectId()
  if (Buffer.isBuffer(value)) return value.subarray(0, LARGEST)
  if (value instanceof Binary) return new Binary(value.buffer.subarray(0, LARGEST))
  if (Array.isArray(value)) return value.map((each) => other(each, number, field))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, other(each, number, name)]))
}
