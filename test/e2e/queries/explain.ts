import type { Db } from 'mongodb'
import type { Query } from './recorder.ts'

/** Whether a query reads its collection through, by what the server says of its plan. */
export async function readsThrough(database: Db, { collection, filter, sort, limit }: Query): Promise<boolean> {
  if (limit === 1 && Object.keys(filter).length === 0) return false
  const query = database.collection(collection).find(filter)
  if (sort) query.sort(sort as never)
  if (limit) query.limit(limit)
  return passesAll(await query.explain('queryPlanner'))
}

/** mongod says so; FerretDB shows PostgreSQL's plan, where all of a collection has one shard key. */
function passesAll(plan: unknown): boolean {
  if (typeof plan !== 'object' || plan === null) return false
  const node = plan as Record<string, unknown>
  if (node['stage'] === 'COLLSCAN' || node['Node Type'] === 'Seq Scan') return true
  const condition = node['Index Cond']
  if (typeof condition === 'string' && /^\(shard_key_value = '\d+'::bigint\)$/.test(condition)) return true
  return Object.values(node).some(passesAll)
}
