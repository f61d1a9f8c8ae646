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

log('what is no secret stays readable', () => {
  assert.match(
    written((to) => to.info({ connectionId: 'c-1' }, 'sync ended')),
    /"connectionId":"c-1".*sync ended/,
  )
})

log.run()
