import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { isPublicAddress, webhookUrlProblem } from '../../core/public-address.ts'

const PRIVATE = `
0.0.0.0 0.1.2.3 10.0.0.1 10.255.255.255 100.64.0.1 100.127.255.255 127.0.0.1 127.1.2.3 169.254.0.1 169.254.169.254
172.16.0.1 172.31.255.255 192.0.0.1 192.0.0.170 192.0.2.1 192.88.99.1 192.168.0.1 192.168.255.255 198.18.0.1 198.19.255.255
198.51.100.7 203.0.113.7 224.0.0.1 239.255.255.255 240.0.0.1 255.255.255.255
:: ::1 ::7f00:1 ::ffff:127.0.0.1 ::ffff:10.0.0.1 ::ffff:8.8.8.8 ::ffff:0:127.0.0.1 ::127.0.0.1
64:ff9b::7f00:1 64:ff9b::8.8.8.8 64:ff9b:1::1 100::1 2001::1 2001:0:53aa:64c:0:0:80ff:fffe 2001:2::1 2001:10::1 2001:20::1
2001:db8::1 2002:7f00:1:: 2002:808:808::1 3fff::1 5f00::1 fc00::1 fd12:3456::1 fe80::1 fe80::1%eth0 fec0::1 ff02::1 ff0e::1
`
  .trim()
  .split(/\s+/)

const PUBLIC = `
1.1.1.1 8.8.8.8 9.255.255.255 11.0.0.0 93.184.216.34 100.63.255.255 100.128.0.0 126.255.255.255 128.0.0.1 169.253.255.255
172.15.255.255 172.32.0.0 192.0.1.1 192.167.255.255 192.169.0.0 198.17.255.255 198.20.0.0 223.255.255.255
2001:4860:4860::8888 2606:4700:4700::1111 2a00:1450:4001:81b::200e 2003::1 2400:cb00::1
`
  .trim()
  .split(/\s+/)

/** Every spelling that a URL may give to an address that is not public. */
const SPELLINGS = [
  'https://2130706433/',
  'https://0x7f000001/',
  'https://0x7f.0.0.1/',
  'https://0177.0.0.1/',
  'https://017700000001/',
  'https://127.1/',
  'https://127.0.1/',
  'https://0/',
  'https://0x0a000001/',
  'https://3232235521/',
  'https://0xa9fea9fe/',
  'https://169.254.43518/',
  'https://127.0.0.1./',
  'https://127。0。0。1/',
  'https://①②⑦.⓪.⓪.①/',
  'https://%31%32%37.0.0.1/',
  'https://[::]/',
  'https://[::1]/',
  'https://[0:0:0:0:0:0:0:1]/',
  'https://[::ffff:127.0.0.1]/',
  'https://[::ffff:7f00:1]/',
  'https://[64:ff9b::7f00:1]/',
  'https://[2002:7f00:1::]/',
  'https://[fe80::1]/',
  'https://[fd00::1]:8443/hook',
  'https://localhost/',
  'https://LOCALHOST./',
  'https://api.localhost/',
  'https://printer.local/',
  'https://metadata.google.internal/',
  'https://intranet/',
]

const addresses = suite('public addresses')

addresses('the table is of the size that was asked for', () => {
  assert.ok(PRIVATE.length + PUBLIC.length + SPELLINGS.length >= 60)
})

for (const address of PRIVATE) addresses(`${address} is refused`, () => assert.not(isPublicAddress(address)))
for (const address of PUBLIC) addresses(`${address} is public`, () => assert.ok(isPublicAddress(address)))
for (const text of ['', 'example.com', '0x7f.1', '127.1', '8.8.8', '08.8.8.8', '[::1]', '2606:4700::1%lo'])
  addresses(`'${text}' is no plain address`, () => assert.not(isPublicAddress(text)))

for (const url of SPELLINGS)
  addresses(`${url} is refused`, () => assert.ok(webhookUrlProblem(url, { allowPrivate: false })))

for (const url of [
  'http://hooks.example.com/',
  'ftp://hooks.example.com/',
  'file:///etc/passwd',
  'javascript:alert(1)',
  'hooks.example.com',
  '',
  'https://user:secret@hooks.example.com/',
  'https://[fe80::1%25eth0]/',
  `https://hooks.example.com/${'x'.repeat(2_100)}`,
])
  addresses(`${url.slice(0, 50)} is no webhook URL`, () => assert.ok(webhookUrlProblem(url, { allowPrivate: false })))

for (const url of [
  'https://hooks.example.com/ccs?tenant=1',
  'https://hooks.example.com:8443/',
  'https://93.184.216.34/',
  'https://[2606:4700:4700::1111]/hook',
  'https://bücher.example/',
])
  addresses(`${url} is a webhook URL`, () => assert.is(webhookUrlProblem(url, { allowPrivate: false }), null))

addresses('the sandbox lets plain http and private addresses through, and nothing else', () => {
  const options = { allowPrivate: true }
  assert.is(webhookUrlProblem('http://127.0.0.1:4020/webhooks', options), null)
  assert.is(webhookUrlProblem('http://localhost:4020/webhooks', options), null)
  assert.ok(webhookUrlProblem('ftp://127.0.0.1/', options))
  assert.ok(webhookUrlProblem('http://user@127.0.0.1/', options))
})

addresses.run()
