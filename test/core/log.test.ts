import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { createLog } from '../../core/log.ts'

const log = suite('logging')

const written = (write: (log: ReturnType<typeof createLog>) => void): string => {
  let lines = ''
  const destination = {
    write: (line: string) => {
      lines += line
    },
  }
  write(createLog({ name: 'test', level: 'trace', destination }))
  return lines
}

log('secrets never reach a line, at the top or inside', () => {
  const secret = 'very-secret-value'
  const names = [
    'token',
    'cookie',
    'apiKey',
    'appSecret',
    'password',
    'email',
    'credential',
    'accessToken',
    'key',
    'text',
  ]
  for (const name of names) {
    assert.not.match(
      written((to) => to.info({ [name]: secret }, 'x')),
      secret,
    )
    assert.not.match(
      written((to) => to.info({ request: { [name]: secret } }, 'x')),
      secret,
    )
    assert.not.match(
      written((to) => to.info({ request: { body: { [name]: secret } } }, 'x')),
      secret,
    )
  }
  assert.not.match(
    written((to) => to.info({ headers: { authorization: secret, 'set-cookie': secret } }, 'x')),
    secret,
  )
})

log('an error keeps its type and loses the query of every address in it', () => {
  const error = new TypeError('GET https://service.example/start?token=very-secret failed')
  const line = written((to) => to.error({ err: error }, 'failed'))
  assert.match(line, /TypeError/)
  assert.match(line, /https:\/\/service\.example\/start/)
  assert.not.match(line, /very-secret/)
})

log('an error that repeats what it was about is logged without it', () => {
  const key = `ccs_${'0123456789abcdef'.repeat(3)}01234567`
  const secrets = {
    'E11000 duplicate key error collection: ccs.x index: _id_ dup key: { _id: "address|ada.l+x@mail.example.co.uk" }':
      /ada\.l|mail\.example/,
    'cannot reach ws://node:4000/?ticket=very-secret': /very-secret/,
    'page.goto: net::ERR_ABORTED at https://idp.example/back#access_token=very-secret': /very-secret/,
    'cannot reach smtp://user:very-secret@mail.example:587': /very-secret|user/,
    [`Cast to string failed for value "${key}"`]: /0123456789abcdef/,
    'jwt eyJhbGciOiJIUzI1NiJ9.eyJhIjoxfQ.c2ln is wrong': /eyJ/,
  }
  for (const [message, secret] of Object.entries(secrets)) {
    const line = written((to) => to.error({ err: new Error(message) }, 'failed'))
    assert.not.match(line, secret)
    assert.match(line, message.split(' ')[0] ?? '')
  }
  const { stack = '' } = new Error('nothing secret in node_modules/@scope/name/index.js:3:14')
  assert.match(
    written((to) => to.error({ err: new Error(stack) }, 'failed')),
    'node_modules/@scope/name/index.js:3:14',
  )
})

log('what is no secret stays readable', () => {
  assert.match(
    written((to) => to.info({ connectionId: 'c-1' }, 'sync ended')),
    /"connectionId":"c-1".*sync ended/,
  )
})

log.run()
