import type { Document } from 'mongodb'
import mongoose from 'mongoose'

/** What the product asked the database for, as its driver sent it. */
export interface Query {
  collection: string
  filter: Document
  sort?: Document
  limit?: number
  /** Of an aggregation; its filter is that of the stages that it begins with. */
  pipeline?: Document[]
  /** What was under way when it was asked for the first time. */
  during: string
}

/** Every shape of query that this process's connection was asked for, and what it stored. */
interface Recorder {
  queries(): Query[]
  /** Documents that were stored in a collection, whether they are still there or not: what its documents look like. */
  stored(collection: string): Document[]
  /** Names what the queries from here on are asked for by. */
  during(step: string): void
}

/** Of each collection: a few are enough to tell what its documents look like. */
const KEPT = 20

/** Begins to listen. The connection has to be made with `monitorCommands=true`. */
export function recordQueries(): Recorder {
  const shapes = new Map<string, Query>()
  const documents = new Map<string, Document[]>()
  let step = 'start'
  const note = (query: Omit<Query, 'during'>): void => {
    const shape = shapeOf(query)
    if (!shapes.has(shape)) shapes.set(shape, { ...query, during: step })
  }
  mongoose.connection.getClient().on('commandStarted', ({ commandName, command }) => {
    const collection = String(command[commandName])
    const known = documents.get(collection) ?? []
    documents.set(collection, [...known, ...storedBy(commandName, command).map(copyOf)].slice(-KEPT))
    for (const query of queriesOf(commandName, command)) note({ collection, ...copyOf(query) })
  })
  return {
    queries: () => [...shapes.values()],
    stored: (collection) => documents.get(collection) ?? [],
    during: (name) => {
      step = name
    },
  }
}

/** As it was sent: the caller may go on with the same objects. */
const copyOf = <T extends object>(value: T): T =>
  mongoose.mongo.BSON.deserialize(mongoose.mongo.BSON.serialize(value), { promoteBuffers: true }) as T

function storedBy(name: string, command: Document): Document[] {
  if (name === 'insert') return command['documents']
  if (name === 'findAndModify' && command['upsert']) return [upserted(command['query'], command['update'])]
  if (name !== 'update') return []
  return command['updates'].filter(({ upsert }: Document) => upsert).map(({ q, u }: Document) => upserted(q, u))
}

/** What an upsert stores where nothing was found, as far as its operators say. */
const upserted = (filter: Document, { $set, $setOnInsert }: Document): Document => ({
  ...Object.fromEntries(Object.entries(filter).filter(([, value]) => typeof value !== 'object')),
  ...$setOnInsert,
  ...$set,
})

function queriesOf(name: string, command: Document): Omit<Query, 'collection' | 'during'>[] {
  const { sort, limit } = command
  const order = { ...(sort && { sort }), ...(limit && { limit }) }
  switch (name) {
    case 'find':
      return [{ filter: command['filter'] ?? {}, ...order }]
    case 'findAndModify':
      return [{ filter: command['query'] ?? {}, ...order, limit: 1 }]
    case 'update':
      return command['updates'].map(({ q, multi }: Document) => ({ filter: q, ...(!multi && { limit: 1 }) }))
    case 'delete':
      return command['deletes'].map(({ q, limit: one }: Document) => ({ filter: q, ...(one && { limit: one }) }))
    case 'distinct':
      return [{ filter: command['query'] ?? {} }]
    case 'count':
      // Without a filter it is answered from what the server knows of the collection.
      return command['query'] ? [{ filter: command['query'] }] : []
    case 'aggregate':
      return [{ filter: matchOf(command['pipeline']), pipeline: command['pipeline'] }]
    default:
      return []
  }
}

/** What the stages that a pipeline begins with let through. */
function matchOf(pipeline: Document[]): Document {
  const rest = pipeline.findIndex((stage) => !('$match' in stage))
  const matches = pipeline.slice(0, rest < 0 ? undefined : rest).map(({ $match }) => $match)
  return matches.length > 1 ? { $and: matches } : (matches[0] ?? {})
}

/** The same for queries that differ in their values only. */
export const shapeOf = ({ collection, filter, sort, limit }: Omit<Query, 'during'>): string =>
  [
    collection,
    JSON.stringify(withoutValues(filter)),
    ...(sort ? [`sorted by ${JSON.stringify(sort)}`] : []),
    ...(limit ? [limit === 1 ? 'the first' : 'some'] : []),
  ].join(' ')

/** Of these the value decides what is found. */
const KEPT_VALUES = new Set(['$exists', '$type'])

function withoutValues(filter: unknown, key = ''): unknown {
  if (KEPT_VALUES.has(key)) return filter
  if (Array.isArray(filter))
    return key === '$or' || key === '$and' ? [...new Set(filter.map((each) => withoutValues(each)))] : '[…]'
  if (typeof filter !== 'object' || filter === null || Object.getPrototypeOf(filter) !== Object.prototype)
    return filter === null ? null : '…'
  return Object.fromEntries(Object.entries(filter).map(([name, value]) => [name, withoutValues(value, name)]))
}
