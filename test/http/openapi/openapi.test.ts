import { Ajv2020 } from 'ajv/dist/2020.js'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { apiEndpoints } from '../../../wire/api-endpoints.ts'
import type { Endpoint } from '../../../wire/endpoint.ts'
import { opsEndpoints } from '../../../wire/ops-endpoints.ts'
import { type HttpWorld, OPERATOR_KEY, startHttpWorld } from '../../support/http.ts'

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
    'connect.ended',
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

test('what is described is the table that requests are routed by', async () => {
  const { body } = await world.ask<Description>('/openapi.json', { key: null })
  const described = Object.entries(body.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { security }]) => [method, path, security.length > 0]),
  )
  assert.equal(
    described,
    Object.values<Endpoint>(apiEndpoints).map(({ method, path, authentication }) => [
      method,
      path.replace(/:(\w+)/g, '{$1}'),
      authentication.by === 'apiKey',
    ]),
  )
})

test('every endpoint of the tables is there, and lets nobody in without what it is authenticated by', async () => {
  for (const { method, path, authentication } of Object.values<Endpoint>({ ...apiEndpoints, ...opsEndpoints })) {
    const { status } = await world.ask(path, { method: method.toUpperCase(), key: null })
    assert.is(status, authentication.by === 'link or capture credential' ? 400 : 401, `${method} ${path}`)
    const other = await world.ask(path, { method: 'PUT', key: OPERATOR_KEY })
    assert.is(other.status, 405, path)
    assert.match(other.headers.get('allow') ?? '', method.toUpperCase(), path)
  }
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
