import mongoose, { type Model } from 'mongoose'
import { type Clock, SECOND, systemClock } from '../core/clock.ts'
import { within } from '../core/within.ts'
import { EndingConnection } from './driver-connection.ts'

/** docs/security.md, Reliability: where the database is away the API answers within 5 s; every wait on it is shorter than that. */
const SERVER_SELECTION_MS = 3_000
const CONNECT_MS = 3_000
/** Longer than any single statement of ours; a socket that is silent for so long is dead. */
const SOCKET_MS = 30_000
/** Whoever asks for readiness asks again soon. */
const READY_MS = 2 * SECOND

mongoose.set('strictQuery', 'throw')
mongoose.set('sanitizeFilter', true)

/** Marks a filter operator as written by us: with `sanitizeFilter` every other object in a filter is taken as a value. */
export const { trusted } = mongoose

/** Connects this process. Retries until the database answers for the first time, up to the driver's own selection time. */
export async function connectDatabase({ url }: { url: string }): Promise<{ close(): Promise<void> }> {
  const options = {
    serverSelectionTimeoutMS: SERVER_SELECTION_MS,
    connectTimeoutMS: CONNECT_MS,
    socketTimeoutMS: SOCKET_MS,
    promoteBuffers: true,
    // The driver looks at every character that it has read; all of them were written as UTF-8 by a driver.
    enableUtf8Validation: false,
    bufferCommands: false,
    autoIndex: false,
    autoCreate: false,
    writeConcern: { w: 'majority' },
    maxPoolSize: 50,
    connectionType: EndingConnection,
  } as const
  await mongoose.connect(url, options)
  return { close: () => mongoose.disconnect() }
}

/** The driver's own database of this process's connection, for what Mongoose has no model of (GridFS). */
export function connectedDatabase() {
  const { db } = mongoose.connection
  if (!db) throw new Error('the database is not connected')
  return db
}

/** True when the database answers soon. */
export async function databaseAnswers({ clock }: { clock: Clock }): Promise<boolean> {
  const late = () => new Error('the database is silent')
  try {
    // Its answer alone decides: Mongoose's own word on the connection comes late after a silence.
    await within(READY_MS, connectedDatabase().admin().ping(), { clock, late })
    return true
  } catch {
    return false
  }
}

/**
 * Of a field that exists only while something waits: that time or an earlier one. FerretDB takes the field's partial index only where
 * the filter says `$exists` itself.
 */
export const dueBy = (now: Date) => trusted({ $exists: true, $lte: now })

/** A connection that gave no answer in time; another may. */
export class DatabaseSilent extends Error {
  override name = 'DatabaseSilent'
}

/**
 * The database's answer, or `DatabaseSilent` where there is none after so long (machine ms): of a connection that fell silent the driver itself
 * says so after `SOCKET_MS` only. What was asked for may have happened, or may happen yet.
 */
export const answeredWithin = <T>(ms: number, answer: Promise<T>): Promise<T> =>
  within(ms, answer, {
    clock: systemClock(),
    late: () => new DatabaseSilent(`the database did not answer within ${ms} ms`),
  })

/** After so long (machine ms) what may be done twice is asked for on another connection: in time for whoever holds something meanwhile. */
const ASK_AGAIN_MS = 2 * SECOND

/**
 * The database's answer to what may be done twice: where the connection is lost or gives no answer, it is asked for once more, on another one. That
 * answer is waited for, however slow the database is.
 */
export const answeredAtLast = <T>(ask: () => Promise<T>): Promise<T> =>
  answeredWithin(ASK_AGAIN_MS, ask()).catch((error: unknown) => {
    if (!(error instanceof DatabaseSilent) && !isDatabaseAway(error)) throw error
    return ask()
  })

/** The last character there is: ends a range of everything that begins with a text. */
const LAST = '\u{10ffff}'

/** Of a text that begins with this one: a range, which an index serves. */
export const beginningWith = (text: string) => trusted({ $gte: text, $lt: `${text}${LAST}` })

/**
 * Deletes one document and returns it; null where there is none. Of parallel callers one gets it. Every deletion of the service is a
 * `deleteMany`: FerretDB's `deleteOne` and `findOneAndDelete` find nothing where another write changes the document meanwhile.
 */
export async function takeOne<T extends { _id: string }>(
  model: Model<T>,
  filter: Record<string, unknown>,
): Promise<T | null> {
  const found = await model.findOne(filter).lean<T>()
  if (!found) return null
  const { deletedCount } = await model.deleteMany({ ...filter, _id: found._id } as Record<string, unknown>)
  return deletedCount > 0 ? found : null
}

/** How mongod names a violated unique index. FerretDB says so too, but of an upsert it reports PostgreSQL's own words under code 1. */
const DUPLICATE_KEY = 11_000
const POSTGRES_WORDS = [
  'conflicting key value violates exclusion constraint',
  'duplicate key value violates unique constraint',
]

/** True for a violated unique index: the error of an insert, an upsert or a bulk write, or one of a bulk write's `writeErrors`. */
export function isDuplicate(error: unknown): boolean {
  const { code, message, errmsg } = (error ?? {}) as { code?: unknown; message?: unknown; errmsg?: unknown }
  const text = String(message ?? errmsg ?? '')
  return code === DUPLICATE_KEY || POSTGRES_WORDS.some((words) => text.includes(words))
}

/** For an insert that may have been made before: `insert.catch(unlessDuplicate)`. */
export function unlessDuplicate(error: unknown): void {
  if (!isDuplicate(error)) throw error
}

const { MongoNetworkError, MongoServerSelectionError } = mongoose.mongo

/** True for an error that says that the database could not be reached, or was lost: whatever met it has done nothing wrong. */
export const isDatabaseAway = (error: unknown): boolean =>
  error instanceof MongoNetworkError || error instanceof MongoServerSelectionError
