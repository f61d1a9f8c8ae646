import { readFile } from 'node:fs/promises'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type HttpWorld, startHttpWorld } from '../../support/http.ts'

interface Description {
  openapi: string
  info: { version: string }
  paths: Record<string, Record<string, { responses: Record<string, unknown>; security: unknown[] }>>
  webhooks: Record<string, unknown>
}

let world: HttpWorld

test.before(async () => {
  world = await startHttpWorld()
})
test.after(async () => {
  await world.stop()
})

test('the description is OpenAPI 3.1 of the version', async () => {
  const { body, headers } = await world.ask<Description>('/openapi.json', { key: null })
  assert.match(headers.get('content-type') ?? '', /^application\/json/)
  assert.equal([body.openapi, body.info.version], ['3.1.0', '2026-09-30'])
  const operations = Object.entries(body.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  )
  assert.equal(operations, [
    'GET /api/connections',
    'GET /api/conversations',
    'POST /api/purge',
    'POST /api/ingest-export',
    'GET /api/ingest-export/{ingestId}',
    'POST /api/connect-native',
  ])
  assert.equal(Object.keys(body.webhooks), [
    'connect.started',
    'connection.created',
    'data.imported',
    'reauth.needed',
    'data.deleted',
    'connection.deleted',
  ])
})

test('every schema in it is a valid one', async () => {
  const { body } = await world.ask<Description>('/openapi.json', { key: null })
  const ajv = new Ajv2020({ strict: false })
  let seen = 0
  const look = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return
    for (const [name, inner] of Object.entries(value)) {
      if (name === 'schema') {
        seen += 1
        assert.ok(ajv.validateSchema(inner), JSON.stringify(ajv.errors))
      }
      look(inner)
    }
  }
  look(body)
  assert.ok(seen > 50)
})

test('the routes that exist are those that are described', async () => {
  const { body } = await world.ask<Description>('/openapi.json', { key: null })
  const source = await readFile(new URL('../../../http/api/index.ts', import.meta.url), 'utf8')
  const routes = [...source.matchAll(/endpoint\(router, '([^']+)'/g)].map(([, path = '']) =>
    `/api${path}`.replace(/:(\w+)/g, '{$1}'),
  )
  assert.equal(routes.sort(), Object.keys(body.paths).sort())
})

test('the guide is served from our own files under a strict policy', async () => {
  const page = await world.ask('/docs', { key: null })
  assert.is(page.status, 200)
  const policy = page.headers.get('content-security-policy') ?? ''
  assert.match(policy, /default-src 'none'; style-src 'self'/)
  for (const each of ['Missing userRef parameter', 'nextCursor', 'connection.deleted', 'X-Service-Signature']) {
    assert.ok(page.text.includes(each), each)
  }
  const ids = [...page.text.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id)
  for (const [, target] of page.text.matchAll(/href="#([^"]+)"/g)) assert.ok(ids.includes(target), target)
  for (const [, address = ''] of page.text.matchAll(/(?:src|href)="([^"]+)"/g)) assert.match(address, /^[/#]/)
  const [, stylesheet = ''] = /rel="stylesheet" href="([^"]+)"/.exec(page.text) ?? []
  assert.is((await world.ask(stylesheet, { key: null })).status, 200)
})

test.run()
