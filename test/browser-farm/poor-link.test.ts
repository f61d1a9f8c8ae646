import { suite } from 'uvu'
import { SILENCE_MS } from '../../wire/stream-constants.ts'
import { type SlowProxy, startSlowProxy } from '../support/slow-proxy.ts'
import { until } from '../support/until.ts'
import { hearFrames } from './hear-frames.ts'
import { type Visit, visitOwnSite } from './visit.ts'

const poor = suite('a link that is poorer than one picture is patient for')

/** Noise, which no JPEG makes small. */
const pages = () => ({
  '/': `<body style="margin:0"><canvas width="480" height="320"></canvas><script>
const still = document.querySelector('canvas').getContext('2d')
for (let x = 0; x < 480; x += 8) for (let y = 0; y < 320; y += 8) {
  still.fillStyle = '#' + Math.floor(Math.random() * 0x1000000).toString(16).padStart(6, '0')
  still.fillRect(x, y, 8, 8)
}
</script>`,
})

let visit: Visit
let link: SlowProxy
let smallest = Number.POSITIVE_INFINITY
poor.before(async () => {
  visit = await visitOwnSite({
    pages,
    network: async (ends) => {
      link = await startSlowProxy(ends)
      return link
    },
    prepare: async (context) =>
      context.on('page', (page) =>
        hearFrames(page, ({ byteLength }) => {
          smallest = Math.min(smallest, byteLength)
        }),
      ),
  })
})
poor.after(() => visit?.stop())

poor('shows its first picture all the same, when that takes longer than a silence may', async () => {
  const { page, hosted } = visit
  const frame = await until('the size of a picture', () => (Number.isFinite(smallest) ? smallest : 0))
  link.throttle((frame / (SILENCE_MS * 1.3)) * 1_000)
  await page.reload({ timeout: 60_000 })
  await until('the first picture', async () => (await hosted.state()) === 'live', { giveUpMs: 90_000 })
})

poor.run()
