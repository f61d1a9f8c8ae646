import { createHmac } from 'node:crypto'
import { Agent, request } from 'undici'

/** Signs and posts one body; the least that any sender of webhooks does. */
export async function signAndPost({
  agent,
  url,
  secret,
  body,
}: {
  agent: Agent
  url: string
  secret: string
  body: string
}) {
  const time = Math.floor(Date.now() / 1_000)
  const signature = createHmac('sha256', secret).update(`${time}.${body}`).digest('hex')
  const answer = await request(url, {
    dispatcher: agent,
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-service-event': 'test.event',
      'x-service-signature': `t=${time},v1=${signature}`,
    },
    body,
  })
  await answer.body.dump()
  if (answer.statusCode !== 204) throw new Error(`the receiver answers ${answer.statusCode}`)
}

/** Posts in so many loops at once, without any database. Returns posts per second. */
export async function bareLoop({
  url,
  bodies,
  loops,
}: {
  url: string
  bodies: string[]
  loops: number
}): Promise<number> {
  const agent = new Agent()
  const left = [...bodies]
  const began = performance.now()
  await Promise.all(
    Array.from({ length: loops }, async () => {
      for (let body = left.pop(); body !== undefined; body = left.pop())
        await signAndPost({ agent, url, secret: 'bench-secret', body })
    }),
  )
  const seconds = (performance.now() - began) / 1_000
  await agent.close()
  return bodies.length / seconds
}
