import { fork } from 'node:child_process'
import { once } from 'node:events'
import { NODE_ARGUMENTS } from '../start/node-arguments.ts'
import { startHttpWorld } from '../test/support/http.ts'
import { startHttpProcess } from '../test/support/http-process.ts'
import { seedConnection, seedConversations } from '../test/support/seed.ts'
import { type Load, requestsPerSecond } from './api/load.ts'
import { median, printRow, type Row, rounded } from './row.ts'

/** About the size of an ordinary conversation's messages. */
const MESSAGES = 12
const MESSAGE_TEXT = 'The quick brown fox jumps over the lazy dog. '.repeat(6)
const PAGE_HISTORY = 2_000
const DEEP_HISTORY = 100_100
const DEEP_OFFSET = 100_000
const ROUNDS = 5
const ROUND_MS = 2_000

/** The two take turns, so that a busy machine is busy for both. */
async function compare({
  what,
  ours,
  floor,
  goal,
}: {
  what: string
  ours: Load
  floor: Load
  goal: number
}): Promise<void> {
  const rounds = { ours: [] as number[], floor: [] as number[] }
  await requestsPerSecond(ours, ROUND_MS / 2)
  await requestsPerSecond(floor, ROUND_MS / 2)
  for (let round = 0; round < ROUNDS; round += 1) {
    rounds.ours.push(await requestsPerSecond(ours, ROUND_MS))
    rounds.floor.push(await requestsPerSecond(floor, ROUND_MS))
  }
  const ratio = median(rounds.ours.map((value, round) => value / (rounds.floor[round] ?? 1)))
  const row: Row = {
    what,
    ours: `${rounded(median(rounds.ours))}/s`,
    floor: `${rounded(median(rounds.floor))}/s`,
    ratio,
    goal: { atLeast: goal },
  }
  printRow(row)
}

const payload = (title: string): string =>
  JSON.stringify({
    title,
    messages: Array.from({ length: MESSAGES }, (_, index) => ({
      role: index % 2 ? 'assistant' : 'user',
      content: MESSAGE_TEXT,
      timestamp: '2026-01-01T00:00:00.000Z',
      id: `message-${index}`,
      contentType: 'text',
      status: 'finished_successfully',
    })),
  })

const world = await startHttpWorld()
const http = await startHttpProcess(world.env)
const floorProcess = fork(new URL('api/floor.ts', import.meta.url), {
  env: { ...process.env, ...world.env },
  execArgv: NODE_ARGUMENTS,
})
try {
  const [floor] = (await once(floorProcess, 'message')) as [string]
  const headers = { authorization: `Bearer ${world.one.apiKey}` }
  const page = await seedConnection({ appId: world.one.appId, userRef: 'page' })
  await seedConversations({
    archiveId: page.archiveId ?? '',
    count: PAGE_HISTORY,
    make: (index) => ({ payload: payload(`Conversation ${index}`) }),
  })
  const deep = await seedConnection({ appId: world.one.appId, userRef: 'deep' })
  await seedConversations({ archiveId: deep.archiveId ?? '', count: DEEP_HISTORY })

  const listing = (connectionId: string, offset: number): Load => ({
    url: http.url,
    path: `/api/conversations?connectionId=${connectionId}&limit=50&offset=${offset}`,
    headers,
  })
  const bare = (archiveId = '', skip = 0): Load => ({
    url: floor,
    path: `/?archiveId=${archiveId}&skip=${skip}&limit=50`,
  })
  await compare({
    what: 'page of 50 conversations, offset 0',
    ours: listing(page._id, 0),
    floor: bare(page.archiveId),
    goal: 0.7,
  })
  await compare({
    what: `page of 50 conversations, offset ${DEEP_OFFSET}`,
    ours: listing(deep._id, DEEP_OFFSET),
    floor: bare(deep.archiveId, DEEP_OFFSET),
    goal: 0.7,
  })
  await compare({
    what: 'connections of a user, with their counts',
    ours: { url: http.url, path: '/api/connections?userRef=page', headers },
    floor: { url: floor, path: `/?userId=${page.userId}` },
    goal: 0.5,
  })
  // Refused for its missing parameter, after the key was checked and the request counted: nothing else is asked of the database.
  await compare({
    what: 'authentication and rate limit alone',
    ours: { url: http.url, path: '/api/connections', headers, status: 400 },
    floor: { url: floor, path: '/?counter=bench' },
    goal: 0.5,
  })
} finally {
  floorProcess.disconnect()
  await http.stop()
  await world.stop()
}
