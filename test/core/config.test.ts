import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { ConfigError, readConfig } from '../../core/config.ts'

const config = suite('configuration')
const good = {
  MONGODB_URL: 'mongodb://127.0.0.1:27017/ccs',
  MASTER_KEY: Buffer.alloc(32).toString('base64'),
  BASE_URL: 'http://127.0.0.1:4000/',
  OPERATOR_KEY: 'x'.repeat(32),
  PROVIDER_SITE: 'http://127.0.0.1:4010',
}
const refused = (env: Record<string, string | undefined>): string => {
  try {
    readConfig({ ...good, ...env })
  } catch (error) {
    assert.instance(error, ConfigError)
    return (error as Error).message
  }
  throw new Error('it was accepted')
}

config('defaults are for the sandbox on loopback', () => {
  const read = readConfig(good)
  assert.equal(
    [read.SERVICE_ENV, read.HOST, read.PORT, read.TIME_SCALE, read.BASE_URL],
    ['sandbox', '127.0.0.1', 4000, 1, 'http://127.0.0.1:4000'],
  )
  assert.is(read.MASTER_KEY.length, 32)
})

config('one wrong value is one line that names it and does not repeat it', () => {
  const wrong: [string, string | undefined][] = [
    ['MONGODB_URL', undefined],
    ['MONGODB_URL', 'postgres://secret-value'],
    ['MASTER_KEY', 'secret-value'],
    ['BASE_URL', 'ftp://secret-value'],
    ['OPERATOR_KEY', 'secret-value'],
    ['PORT', '65536'],
    ['PORT', 'secret-value'],
    ['TIME_SCALE', '2401'],
    ['TIME_SCALE', '0'],
    ['SERVICE_ENV', 'secret-value'],
    ['FARM_CAPACITY', '-1'],
    ['LOG_LEVEL', 'secret-value'],
    ['OLD_MASTER_KEYS', 'secret-value'],
  ]
  for (const [name, value] of wrong) {
    const message = refused({ [name]: value })
    assert.ok(message.startsWith(`${name}: `), `${name}: ${message}`)
    assert.not.match(message, /\n|secret-value/)
  }
})

config('a value left empty counts as absent', () => {
  assert.is(readConfig({ ...good, PORT: '' }).PORT, 4000)
  assert.is(refused({ BASE_URL: '' }), 'BASE_URL: is required')
})

config('production refuses what is for the sandbox, and needs its providers', () => {
  const production = {
    SERVICE_ENV: 'production',
    PROVIDER_PROFILES: '/etc/ccs/providers.json',
    BASE_URL: 'https://service.example',
    SMTP_URL: 'smtp://mail.example.com',
  }
  assert.is(readConfig({ ...good, ...production }).SERVICE_ENV, 'production')
  assert.is(refused({ ...production, TIME_SCALE: '60' }), 'TIME_SCALE: is for the sandbox only')
  assert.is(
    refused({ ...production, WEBHOOK_PRIVATE_ADDRESSES: 'true' }),
    'WEBHOOK_PRIVATE_ADDRESSES: is for the sandbox only',
  )
  assert.is(refused({ ...production, BASE_URL: 'http://service.example' }), 'BASE_URL: must be https in production')
  assert.match(refused({ ...production, PROVIDER_PROFILES: undefined }), /^PROVIDER_PROFILES: is required/)
  assert.match(refused({ ...production, SMTP_URL: undefined }), /^SMTP_URL: is required/)
  assert.match(refused({ SMTP_URL: 'mail.example.com' }), /^SMTP_URL: must begin with smtp/)
  // What Node itself says of such an address repeats the password.
  for (const password of ['half/other', 'half#other', 'half?other', '100%/'])
    assert.match(
      refused({ SMTP_URL: `smtp://user:${password}@mail.example.com` }),
      /^SMTP_URL: must be an address, .*percent-encoded$/,
    )
})

config('a secret that one kind of process needs is asked of no other', () => {
  const { OPERATOR_KEY: _, ...rest } = good
  const production = {
    ...rest,
    SERVICE_ENV: 'production',
    PROVIDER_PROFILES: '/etc/ccs/providers.json',
    BASE_URL: 'https://service.example',
  }
  const refusal = (kind: string, env: Record<string, string>): string => {
    try {
      readConfig(env, { kind })
      return ''
    } catch (error) {
      return (error as Error).message
    }
  }
  assert.is(refusal('browser-farm', production), '')
  assert.is(refusal('http', production), 'OPERATOR_KEY: is required')
  assert.match(refusal('actors', production), /^SMTP_URL: is required/)
  assert.is(refusal('http', { ...production, OPERATOR_KEY: good.OPERATOR_KEY }), '')
  assert.is(refusal('actors', { ...production, SMTP_URL: 'smtp://mail.example.com' }), '')
})

config('earlier master keys are read in order', () => {
  const old = Buffer.alloc(32, 1).toString('base64')
  assert.is(readConfig({ ...good, OLD_MASTER_KEYS: `${old},${old}` }).OLD_MASTER_KEYS.length, 2)
})

config.run()
