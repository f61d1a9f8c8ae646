import { batched } from '../batched.ts'
import { type User, Users } from './user.ts'

type UserName = Pick<User, 'appId' | 'userRef'>

const MOST_KNOWN = 10_000

/** An app id has no line break. */
const nameOf = ({ appId, userRef }: UserName): string => `${appId}\n${userRef}`

/**
 * Returns what tells whether an app has a user of this userRef. A user's document is never deleted, so that of one who was seen nobody
 * asks again; those that are asked for at the same time share one read, whichever apps they are of.
 */
export function createKnownUsers(): (user: UserName) => Promise<boolean> {
  const known = new Set<string>()
  const find = batched<UserName, boolean>(async (users) => {
    const names = users.map(({ appId, userRef }) => ({ appId, userRef }))
    const filter = names.length === 1 ? names[0] : { $or: names }
    const found = await Users.find({ ...filter })
      .select({ _id: 0, appId: 1, userRef: 1 })
      .lean<UserName[]>()
    const there = new Set(found.map(nameOf))
    return users.map((user) => there.has(nameOf(user)))
  })
  return async (user) => {
    const name = nameOf(user)
    if (known.has(name)) return true
    if (!(await find(user))) return false
    known.add(name)
    const [oldest] = known
    if (known.size > MOST_KNOWN && oldest !== undefined) known.delete(oldest)
    return true
  }
}
