import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { checkFile, checkPlace } from './check-file.ts'

const messages = (path: string, source: string): string[] =>
  checkFile({ path, source }).map(({ line, message }) => `${line} ${message}`)

test('imports along the allowed directions pass', () => {
  assert.equal(messages('http/api/a.ts', "import { x } from '../../schemas/app/app.ts'\nimport y from 'express'"), [])
  assert.equal(messages('start/main.ts', "await import('../provider/profile.ts')"), [])
  assert.equal(messages('test/a.test.ts', "import '../actors/main.ts'"), [])
  assert.equal(messages('actors/a.ts', "import { b } from './sync/b.ts'"), [])
  assert.equal(messages('actors/sync/a.ts', "import { b } from './b.ts'"), [])
})

test('every form of a forbidden import is found, with its line', () => {
  const forms = [
    "import { x } from '../actors/x.ts'",
    "import type { X } from '../actors/x.ts'",
    "export * from '../actors/x.ts'",
    "import '../actors/x.ts'",
    "const x = await import('../actors/x.ts')",
    "import {\n  a,\n  b,\n} from '../actors/x.ts'",
  ]
  for (const form of forms) assert.is(messages('http/a.ts', `\n${form}`).length, 1, form)
  assert.equal(messages('http/a.ts', `\n${forms[0]}`), ['2 http/ must not import actors/'])
})

test('the four programs never import each other, core imports packages only, nobody imports tests', () => {
  const programs = ['actors', 'browser-farm', 'http', 'tui']
  for (const from of programs) {
    for (const to of programs) {
      const found = messages(`${from}/a.ts`, `import '../${to}/b.ts'`)
      assert.is(found.length, from === to ? 0 : 1, `${from} to ${to}`)
    }
  }
  assert.is(messages('core/a.ts', "import '../schemas/app.ts'").length, 1)
  assert.is(messages('core/database/a.ts', "import '../../schemas/app/app.ts'").length, 1)
  assert.is(messages('schemas/a.ts', "import '../provider/profile.ts'").length, 1)
  for (const from of ['core', 'schemas', 'provider', 'http', 'start', 'sdk']) {
    assert.is(messages(`${from}/a.ts`, "import '../test/support/until.ts'").length, 1, from)
    assert.is(messages(`${from}/a.ts`, "import '../bench/main.ts'").length, 1, from)
  }
})

test('a part of a folder imports the parts that its rule names and no others', () => {
  assert.equal(messages('http/api/a.ts', "import '../actions/b.ts'\nimport '../kit/c.ts'\nimport './d.ts'"), [])
  assert.equal(messages('http/server.ts', "import './api/index.ts'"), [])
  assert.equal(messages('http/api/a.ts', "import '../pages/kit/html.ts'"), [
    '1 http/api/ must not import http/pages/kit/',
  ])
  assert.is(messages('http/kit/a.ts', "import '../server.ts'").length, 1)
  assert.is(messages('http/pages/start/assets/a.ts', "import '../../manage/view.ts'").length, 1)
  assert.equal(messages('http/pages/start/assets/a.ts', "import '../../kit/assets/dom.ts'"), [])
})

test('commands work on connections and never the other way', () => {
  assert.equal(messages('actors/commands/a.ts', "import '../connection/b.ts'\nimport '../runtime.ts'"), [])
  assert.is(messages('actors/connection/a.ts', "import '../commands/b.ts'").length, 1)
  assert.is(messages('actors/archive/a.ts', "import '../sync/b.ts'").length, 1)
})

test('wire knows zod and no other package, the sandbox provider knows the profile', () => {
  assert.equal(messages('wire/a.ts', "import { z } from 'zod'"), [])
  assert.is(messages('wire/a.ts', "import { join } from 'node:path'").length, 1)
  assert.equal(messages('sandbox/a.ts', "import '../provider/profile.ts'"), [])
  assert.is(messages('sandbox/a.ts', "import '../provider/client.ts'").length, 1)
})

test('a folder within one that has parts needs a rule of its own', () => {
  const found = (path: string): number => checkPlace({ path, source: '' }).length
  assert.is(found('http/misc/a.ts'), 1)
  assert.is(found('http/server.ts'), 0)
  assert.is(found('http/pages/start/assets/a.ts'), 0)
  assert.is(found('provider/misc/a.ts'), 0)
  assert.is(found('test/http/misc/a.ts'), 0)
})

test('the sdk is reached by neither name', () => {
  assert.is(messages('http/a.ts', "import { signLink } from 'ccs-sdk'").length, 1)
  assert.is(messages('http/a.ts', "import { signLink } from '../sdk/src/sign-link.ts'").length, 1)
  assert.equal(messages('sdk/example/main.ts', "import { signLink } from 'ccs-sdk'"), [])
})

test('a new folder needs a rule', () => {
  assert.is(messages('misc/a.ts', "import '../core/clock.ts'").length, 1)
})

test('transactions and change streams are forbidden in the service', () => {
  assert.is(messages('actors/a.ts', 'const s = await mongoose.startSession()').length, 1)
  assert.is(messages('schemas/a.ts', 'await s.withTransaction(run)').length, 1)
  assert.is(messages('http/a.ts', 'Commands.watch()').length, 1)
  assert.is(messages('http/a.ts', 'Commands\n  .watch()').length, 1)
  assert.equal(messages('test/a.test.ts', 'Commands.watch()'), [])
})

test('documents are deleted by what deletes them on every supported database', () => {
  for (const code of [
    'Users.deleteOne({ _id })',
    'Users.findOneAndDelete<User>({ _id })',
    '[{ deleteOne: { filter } }]',
  ])
    assert.is(messages('schemas/a.ts', code).length, 1, code)
  assert.equal(messages('schemas/a.ts', 'Users.deleteMany({ _id })'), [])
})

test('time comes from core/clock in the service', () => {
  for (const code of [
    'Date.now()',
    'new Date()',
    'setTimeout(run, 5)',
    'setInterval(run, 5)',
    'new Date( )',
    'globalThis.setTimeout(run, 5)',
  ]) {
    assert.is(messages('actors/a.ts', `x = ${code}`).length, 1, code)
    for (const path of ['core/clock.ts', 'sdk/src/a.ts', 'sandbox/a.ts', 'start/a.ts', 'bench/a.ts']) {
      assert.equal(messages(path, `x = ${code}`), [], path)
    }
  }
  assert.equal(
    messages('actors/a.ts', 'new Date(given); clearTimeout(timer); socket.setTimeout(1); resetTimeout()'),
    [],
  )
})

test('comments do not count, and code after them does', () => {
  assert.equal(
    messages('http/a.ts', "// import '../actors/x.ts'\n/* Date.now()\n setTimeout( */\nconst url = 'http://x//y'"),
    [],
  )
  assert.equal(messages('http/a.ts', "/* one\ntwo */ import '../actors/x.ts'"), ['2 http/ must not import actors/'])
})

test.run()
