import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Server } from 'node:net'
import type { Browser, Page } from 'playwright'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { type GuardProxies, startGuardProxies } from '../../browser-farm/guard-proxy.ts'
import { launchBrowser } from '../../browser-farm/launch-browser.ts'
import { openContext } from '../../browser-farm/open-context.ts'
import { loadProfiles } from '../../provider/load-profiles.ts'
import { until } from '../support/until.ts'
import { type OwnSite, startOwnSite } from './own-site.ts'

const network = suite('a remote page reaches nothing of the machine that its browser runs on')

/** Spellings of this machine. The first is a host of the profile: it is reached at the profile's own port alone. */
const HOSTS = ['127.0.0.1', '127.0.0.2', 'localhost', '[::1]', '0.0.0.0', '127.1', '2130706433', '[::ffff:127.0.0.1]']
const RELS = ['prefetch', 'prerender', 'dns-prefetch', 'preconnect', 'icon', 'stylesheet', 'manifest', 'modulepreload']

/** Everything that a script can send somewhere; it tells when each has had its answer. */
const attack = (tcp: number, udp: number): string => `<body><script>
const away = 'http://127.0.0.1:${tcp}'
const add = (tag, props) => document.body.append(Object.assign(document.createElement(tag), props))
const settled = (promise) => promise.then(() => undefined, () => undefined)
const ended = (target, ...types) => new Promise((resolve) => types.forEach((type) => target.addEventListener(type, resolve)))
const rtc = async () => {
  const servers = ['stun:127.0.0.1:${udp}', 'turn:127.0.0.1:${udp}', 'turn:127.0.0.1:${tcp}?transport=tcp', 'turns:127.0.0.1:${tcp}?transport=tcp']
  const peer = new RTCPeerConnection({ iceServers: servers.map((urls) => ({ urls, username: 'a', credential: 'b' })) })
  peer.createDataChannel('x')
  await peer.setLocalDescription(await peer.createOffer())
  for (;;) {
    const { candidate } = await new Promise((resolve) => peer.addEventListener('icecandidate', resolve, { once: true }))
    if (!candidate) return 'none'
    if (candidate.candidate) return candidate.candidate
  }
}
const all = async () => {
  for (const rel of ${JSON.stringify(RELS)}) document.head.append(Object.assign(document.createElement('link'), { rel, href: away + '/' + rel }))
  add('script', { type: 'speculationrules', textContent: JSON.stringify({ prefetch: [{ urls: [away + '/spec'] }], prerender: [{ urls: [away + '/spec'] }] }) })
  navigator.sendBeacon(away + '/beacon', 'x')
  for (const tag of ['img', 'iframe', 'script', 'video']) add(tag, { src: away + '/' + tag })
  new Worker(URL.createObjectURL(new Blob(['fetch("' + away + '/worker", { mode: "no-cors" })'])))
  const hosts = ${JSON.stringify(HOSTS)}
  await Promise.all(hosts.flatMap((host) => ['http', 'https'].map((scheme) => settled(fetch(scheme + '://' + host + ':${tcp}/', { mode: 'no-cors' })))))
  await Promise.all(hosts.map((host) => ended(new WebSocket('ws://' + host + ':${tcp}/'), 'error', 'close')))
  await ended(new EventSource(away), 'error')
  await settled(new WebTransport('https://127.0.0.1:${udp}/').ready)
  return rtc()
}
all().then((way) => tell('ways out: ' + way), (error) => tell(error))
</script>`

let site: OwnSite
let proxies: GuardProxies
let browser: Browser
let visited: Page
let tcp: Server
let udp: Socket
const heard: string[] = []
network.before(async () => {
  tcp = createServer((socket) => {
    heard.push('a connection')
    socket.on('error', () => undefined).destroy()
  })
  tcp.listen(0, '0.0.0.0')
  await once(tcp, 'listening')
  udp = createSocket('udp4', (message) => heard.push(`a datagram of ${message.length} bytes`))
  udp.bind(0, '127.0.0.1')
  await once(udp, 'listening')
  const page = attack((tcp.address() as AddressInfo).port, udp.address().port)
  site = await startOwnSite({ pages: () => ({ '/': page }) })
  const profiles = await loadProfiles({ PROVIDER_PROFILES: site.profiles, PROVIDER_SITE: undefined })
  const [profile] = profiles
  if (!profile) throw new Error('no profile')
  proxies = await startGuardProxies(profiles)
  browser = await launchBrowser({ CHROMIUM_PATH: process.env['CHROMIUM_PATH'] })
  const viewport = { width: 800, height: 600, deviceScaleFactor: 1, mobile: false }
  const context = await openContext({ browser, viewport, proxy: proxies.url(profile), state: undefined })
  visited = await context.newPage()
})
network.after(async () => {
  await browser?.close()
  await proxies?.stop()
  await site?.stop()
  udp?.close()
  tcp?.close()
})

network('neither by requests, sockets, workers, hints, nor by WebRTC past the proxy', async () => {
  await visited.goto(site.url)
  assert.is(await until('every way out to be tried', () => site.told[0]), 'ways out: none')
  assert.equal(heard, [])
})

network.run()
