import { randomUUID } from 'node:crypto'
import { Apps } from '../../../schemas/app/app.ts'
import { DailyCounts } from '../../../schemas/app/daily-count.ts'
import { Deliveries } from '../../../schemas/delivery/delivery.ts'
import { seedConnection, seedConversations } from '../../support/seed.ts'

const DAY_MS = 86_400_000
export const LONG_REF = `customer-${'0123456789'.repeat(12)}@a-very-long-host-name.example.test`

/** Puts a busy month of an app in the database: users, connections, deliveries of every state, counts of each day. */
export async function seedMonth(appId: string): Promise<void> {
  const now = Date.now()
  const ago = (ms: number) => new Date(now - ms)
  await Apps.updateOne({ _id: appId }, { $set: { webhookUrl: 'https://api.notes.example/webhooks/ccs' } })
  const states = ['active', 'active', 'active', 'needs_reauth', 'revoked'] as const
  for (const [index, status] of states.entries()) {
    const { archiveId = '' } = await seedConnection({
      appId,
      userRef: index === 4 ? LONG_REF : `customer-${1001 + index}`,
      status,
      capturedAt: ago((index + 1) * DAY_MS),
      lastSyncAt: ago(index * 3_600_000),
      ...(status === 'active' && { claimableAt: new Date(now + 7_200_000) }),
    })
    if (status !== 'revoked') await seedConversations({ archiveId, count: 3 + index * 4 })
  }
  const good = { number: 1, at: ago(60_000), status: 204, durationMs: 38 }
  const bad = {
    number: 1,
    at: ago(120_000),
    status: 500,
    durationMs: 1_200,
    error: 'Answered 500',
    answer: '{"error":"database is away"}',
  }
  const events = ['data.imported', 'connection.created', 'connect.started', 'reauth.needed', 'data.deleted'] as const
  for (let index = 0; index < 12; index += 1) {
    const state = (['delivered', 'delivered', 'delivered', 'dropped', 'waiting'] as const)[index % 5] ?? 'delivered'
    const ended = state === 'waiting' ? { claimableAt: new Date(now + 240_000) } : { endedAt: ago(index * 60_000) }
    await Deliveries.create({
      _id: randomUUID(),
      appId,
      event: events[index % events.length] ?? 'data.imported',
      body: '{"event":"data.imported","payload":{"userRef":"customer-1001","inserted":3,"updated":0},"deliveryId":"…"}',
      state,
      attempts:
        state === 'delivered'
          ? [good]
          : state === 'waiting'
            ? [bad]
            : Array.from({ length: 6 }, (_, at) => ({ ...bad, number: at + 1 })),
      createdAt: ago(index * 1_800_000),
      fence: 0,
      ...ended,
    })
  }
  for (let back = 0; back < 30; back += 1) {
    const day = ago(back * DAY_MS)
      .toISOString()
      .slice(0, 10)
    const wave = 60 + Math.round(50 * Math.sin(back / 3)) + ((back * 7) % 13)
    await DailyCounts.create({
      _id: `${appId}|${day}`,
      appId,
      day,
      requests: wave * 9,
      refused: back % 9 === 0 ? 14 : 0,
      busiest: 20 + (wave % 38),
      delivered: wave,
      failed: back % 6 === 0 ? wave % 9 : 0,
      discarded: 0,
      expireAt: new Date(now + 40 * DAY_MS),
    })
  }
}
