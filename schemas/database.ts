import mongoose from 'mongoose'

/** docs/security.md, Reliability: where the database is away the API answers within 5 s; every wait on it is shorter than that. */
const SERVER_SELECTION_MS = 3_000
const CONNECT_MS = 3_000
/** Longer than any single statement of ours; a socket that is silent for so long is dead. */
const SOCKET_MS = 30_000

mongoose.set('strictQuery', 'throw')
mongoose.set('sanitizeFilter', true)

/** Marks a filter operator as written by us: with `sanitizeFilter` every other object in a filter is taken as a value. */
export const { trusted } = mongoose

/** Connects this process. Retries until the database answers for the first time, up to the driver's own selection time. */
export async function connectDatabase({ url }: { url: string }): Promise<{ close(): Promise<void> }> {
  await mongoose.connect(url, {
    serverSelectionTimeoutMS: SERVER_SELECTION_MS,
    connectTimeoutMS: CONNECT_MS,
    socketTimeoutMS: SOCKET_MS,
    promoteBuffers: true,
    bufferCommands: false,
    autoIndex: false,
    autoCreate: false,
    writeConcern: { w: 'majority' },
    maxPoolSize: 50,
  })
  return { close: () => mongoose.disconnect() }
}

/** The driver's own database of this process's connection, for what Mongoose has no model of (GridFS). */
export function connectedDatabase() {
  const { db } = mongoose.connection
  if (!db) throw new Error('the database is not connected')
  return db
}

/** True when the database answers now. */
export async function databaseAnswers(): Promise<boolean> {
  try {
    await mongoose.connection.db?.admin().ping()
    return mongoose.connection.readyState === mongoose.ConnectionStates.connected
  } catch {
    return false
  }
}

/** True for a violated unique index (E11000). */
export const isDuplicate = (error: unknown): boolean =>
  typeof error === 'object' && error !== null && 'code' in error && error.code === 11_000
