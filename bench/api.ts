import { fork } from 'node:child_process'
import { once } from 'node:events'
import { Connections } from '../schemas/connection/connection.ts'
import { NODE_ARGUMENTS } from '../start/node-arguments.ts'
import { startHttpWorld } from '../test/support/http.ts'
import { startHttpProcess } from '../test/support/http-process.ts'
import { seedConnection, seedConversations } from '../test/support/seed.ts'
import { compareRates, compareTimes } from './api/compare.ts'
import { AT_ONCE, type Load } from './api/load.ts'
import { seedBoth } from './api/seed-both.ts'
import { createText, payloadOf } from './api/text.ts'
import { answered } from './support/answered.ts'

/**
 * The API of a real http process beside `node:http` with the bare driver (`api/floor.ts`), as partners ask it: several at a time, several apps,
 * and users that nobody asked for before.
 */
const PAGE_HISTORY = 2_000
const DEEP_HISTORY = 100_100
const DEEP_OFFSET = 100_000
const CONNECTIONS = 50
const CONVERSATIONS_EACH = 100

const world = await startHttpWorld()
const http = await startHttpProcess(world.env)
const floorProcess = fork(new URL('api/floor.ts', import.meta.url), {
  env: { ...process.env, ...world.env },
  execArgv: NODE_ARGUMENTS,
})
try {
  const [floor] = (await once(floorProcess, 'message')) as [string]
  const headers = { authorization: `Bearer ${world.one.apiKey}` }
  const { appId } = world.one
  const text = createText()
  const page = await seedConnection({ appId, userRef: 'page' })
  await seedBoth({
    archiveId: page.archiveId ?? '',
    count: PAGE_HISTORY,
    make: (index) => ({ payload: payloadOf(`Conversation ${index}`, text) }),
  })
  const deep = await seedConnection({ appId, userRef: 'deep' })
  await seedBoth({ archiveId: deep.archiveId ?? '', count: DEEP_HISTORY })

  const pathOf = (connectionId: string, offset: number): string =>
    `/api/conversations?connectionId=${connectionId}&limit=50&offset=${offset}`
  const listing = (connectionId: string, offset: number): Load => ({
    url: http.url,
    path: pathOf(connectionId, offset),
    headers,
  })
  const bare = (archiveId = '', skip = 0): Load => ({
    url: floor,
    path: `/?archiveId=${archiveId}&skip=${skip}&limit=50`,
  })
  await compareRates({
    what: 'page of 50 conversations, offset 0',
    ours: listing(page._id, 0),
    floor: bare(page.archiveId),
    goal: 0.7,
  })
  await compareRates({
    what: 'the same page with gzip, against ours without',
    ours: { ...listing(page._id, 0), headers: { ...headers, 'accept-encoding': 'gzip' } },
    floor: listing(page._id, 0),
    goal: 0.8,
  })
  await compareRates({
    what: 'the same page with br, against ours without',
    ours: { ...listing(page._id, 0), headers: { ...headers, 'accept-encoding': 'br' } },
    floor: listing(page._id, 0),
    goal: 0.8,
  })
  const known = await fetch(`${http.url}${pathOf(page._id, 0)}`, { headers })
  await known.arrayBuffer()
  await compareRates({
    what: 'the same page for who has it already (304), against ours in full',
    ours: {
      ...listing(page._id, 0),
      headers: { ...headers, 'if-none-match': known.headers.get('etag') ?? '' },
      status: 304,
    },
    floor: listing(page._id, 0),
    goal: 3,
  })
  await compareRates({
    what: `page of 50 conversations, offset ${DEEP_OFFSET}`,
    ours: listing(deep._id, DEEP_OFFSET),
    floor: bare(deep.archiveId, DEEP_OFFSET),
    goal: 0.7,
  })
  await compareRates({
    what: 'connections of a user, with their counts',
    ours: { url: http.url, path: '/api/connections?userRef=page', headers },
    floor: { url: floor, path: `/?userId=${page.userId}` },
    goal: 0.5,
  })
  // Refused for its missing parameter, after the key was checked and the request counted: nothing else is asked of the database.
  await compareRates({
    what: 'authentication and rate limit alone',
    ours: { url: http.url, path: '/api/connections', headers, status: 400 },
    floor: { url: floor, path: '/?counter=bench' },
    goal: 0.5,
  })
  const apps = await Promise.all(Array.from({ length: AT_ONCE }, (_, index) => world.makeApp(`app-${index}`)))
  await compareRates({
    what: `404 of a user that is not known, ${AT_ONCE} connections of ${AT_ONCE} apps, against one count`,
    ours: {
      url: http.url,
      path: (number) => `/api/connections?userRef=stranger-${number}`,
      headers: (connection) => ({ authorization: `Bearer ${apps[connection]?.apiKey}` }),
      status: 404,
    },
    floor: { url: floor, path: (number) => `/?counter=app-${number % AT_ONCE}` },
    goal: 0.5,
  })

  const many = await Promise.all(Array.from({ length: CONNECTIONS }, () => seedConnection({ appId, userRef: 'many' })))
  const recently = Date.now()
  for (const { archiveId = '' } of many)
    await seedConversations({
      archiveId,
      count: CONVERSATIONS_EACH,
      make: (index) => ({ firstMessageAt: new Date(recently - index * 43_200_000) }),
    })
  await compareTimes({
    what: `${CONNECTIONS} connections with their counts, each counted anew`,
    ours: () => answered(`${http.url}/api/connections?userRef=many`, { headers }),
    floor: () => answered(`${floor}/?userId=${many[0]?.userId}`),
    // As a sync leaves it: nothing that was learned of an archive holds any more.
    before: () => Connections.updateMany({ userId: many[0]?.userId ?? '' }, { $inc: { fence: 1 } }),
    goal: 1,
  })
} finally {
  floorProcess.disconnect()
  await http.stop()
  await world.stop()
}
