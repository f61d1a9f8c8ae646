import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { hostAllowed, isLoopbackHost, parseProfiles, sandboxProfile } from '../../provider/profile.ts'

const good = {
  ...sandboxProfile('https://assistant.example'),
  allowedHosts: ['assistant.example', '*.identity.example'],
}
const failure = (value: unknown): string => {
  try {
    parseProfiles(typeof value === 'string' ? value : JSON.stringify(value))
  } catch (error) {
    return (error as Error).message
  }
  return 'accepted'
}

test('the sandbox profile has the defaults of the contract', () => {
  assert.equal(sandboxProfile('http://127.0.0.1:4010'), {
    id: 'sandbox-assistant',
    displayName: 'Sandbox Assistant',
    loginUrl: 'http://127.0.0.1:4010/login',
    cookieDomain: '127.0.0.1',
    cookieName: 'session-token',
    sessionUrl: 'http://127.0.0.1:4010/api/auth/session',
    apiBaseUrl: 'http://127.0.0.1:4010/backend-api',
    allowedHosts: ['127.0.0.1'],
    pageSize: 28,
    requestsPerMinute: 60,
  })
  assert.is(good.cookieName, '__Secure-session-token')
})

test('a good profile passes and keeps its order', () => {
  const second = { ...good, id: 'second', apiBaseUrl: 'https://assistant.example/api/' }
  const profiles = parseProfiles(JSON.stringify([good, second]))
  assert.equal(profiles[0], good)
  assert.is(profiles[1]?.apiBaseUrl, 'https://assistant.example/api')
})

test('a missing field is named, whichever it is', () => {
  for (const field of Object.keys(good)) {
    const { [field as keyof typeof good]: _, ...rest } = good
    assert.match(failure([rest]), `profile 1 ${field}`)
  }
})

test('wrong values are named', () => {
  assert.match(failure([{ ...good, colour: 'red' }]), 'colour')
  assert.match(failure([good, { ...good }]), 'two profiles with one id')
  assert.match(failure([good, { ...good, id: 'b', pageSize: 0 }]), 'profile 2 pageSize')
  assert.match(failure([{ ...good, allowedHosts: ['assistant.example:443'] }]), 'profile 1 allowedHosts.0')
  assert.match(failure([{ ...good, allowedHosts: ['other.example'] }]), 'allowedHosts: must hold the host of loginUrl')
  assert.match(failure([{ ...good, allowedHosts: [] }]), 'allowedHosts')
  assert.match(failure([{ ...good, cookieDomain: '127.0.0.1:80' }]), 'cookieDomain')
  assert.match(failure([{ ...good, cookieName: 'a b' }]), 'cookieName')
  assert.match(failure([{ ...good, loginUrl: 'file:///etc/passwd' }]), 'loginUrl')
  assert.match(failure([{ ...good, sessionUrl: 'https://u:p@assistant.example' }]), 'sessionUrl')
  assert.match(failure([{ ...good, requestsPerMinute: '60' }]), 'requestsPerMinute')
  assert.match(failure([]), 'no profile')
  assert.match(failure(good), 'wrong')
  assert.match(failure('[{'), 'not JSON')
  for (const value of [good, [], [{}], [{ ...good, x: 1 }]]) assert.not.match(failure(value), '\n')
})

test('hosts are matched exactly or by a leading wildcard', () => {
  assert.ok(hostAllowed(good, 'assistant.example'))
  assert.ok(hostAllowed(good, 'ASSISTANT.example.'))
  assert.ok(hostAllowed(good, 'a.identity.example'))
  assert.ok(hostAllowed(good, 'a.b.identity.example'))
  for (const name of [
    'identity.example',
    'xidentity.example',
    'x.assistant.example',
    'assistant.example.evil',
    '',
    '.',
  ]) {
    assert.not(hostAllowed(good, name), name)
  }
  assert.ok(hostAllowed(sandboxProfile('http://[::1]:4010'), '[::1]'))
})

test('loopback names', () => {
  for (const name of ['127.0.0.1', '127.9.9.9', 'localhost', '[::1]', '::1', 'x.localhost'])
    assert.ok(isLoopbackHost(name))
  for (const name of ['10.0.0.1', '127.example.com', 'localhost.example', '0.0.0.0']) assert.not(isLoopbackHost(name))
})

test.run()
