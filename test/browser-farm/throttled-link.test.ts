import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { FRAMES_IN_FLIGHT } from '../../wire/stream-constants.ts'
import { type SlowProxy, startSlowProxy } from '../support/slow-proxy.ts'
import { until } from '../support/until.ts'
import { hearFrames } from './hear-frames.ts'
import { type Visit, visitOwnSite } from './visit.ts'

const throttled = suite('a link that passes little')

/** A film of noise, which no JPEG makes small, and a field that is painted by a key. */
const pages = () => ({
  '/': `<body style="margin:0;background:#fff"><canvas width="480" height="320"></canvas><script>
const film = document.querySelector('canvas').getContext('2d')
const play = () => {
  for (let x = 0; x < 480; x += 8) for (let y = 0; y < 320; y += 8) {
    film.fillStyle = '#' + Math.floor(Math.random() * 0x1000000).toString(16).padStart(6, '0')
    film.fillRect(x, y, 8, 8)
  }
  requestAnimationFrame(play)
}
play()
addEventListener('keydown', ({ key }) => {
  document.body.style.background = key === 'b' ? '#000' : '#fff'
  tell('key:' + key)
})
</script>`,
})

/** Bytes a second: about a frame of the film in its best quality. */
const SLOW = 60_000
/** Two seconds of timely frames for each step up, on a machine that has other work to do. */
const RECOVERY_MS = 120_000
/** The upper left entry of the luminance table (ITU-T T.81, Annex K: 16) as libjpeg scales it for qualities 80 and 40. */
const BEST = 6
const POOREST = 20

let visit: Visit
let link: SlowProxy
const tables: number[] = []
throttled.before(async () => {
  visit = await visitOwnSite({
    pages,
    network: async (ends) => {
      link = await startSlowProxy(ends)
      return link
    },
    prepare: async (context) => {
      await context.addInitScript(noteDrawn)
      context.on('page', (page) => hearFrames(page, (jpeg) => tables.push(tableOf(jpeg))))
    },
  })
})
throttled.after(() => visit?.stop())

/** Runs in the visitor's page: notes of each picture whether its field is black. */
function noteDrawn(): void {
  const drawn: boolean[] = []
  const { prototype } = CanvasRenderingContext2D
  const draw = prototype.drawImage as (...args: unknown[]) => void
  Object.assign(globalThis, { drawn })
  Object.assign(prototype, {
    drawImage(this: CanvasRenderingContext2D, ...args: unknown[]) {
      draw.apply(this, args)
      const [red = 0] = this.getImageData(this.canvas.width - 20, 20, 1, 1).data
      drawn.push(red < 128)
    },
  })
}

/** The first entry of a frame's first quantization table, by which its quality is known: JPEG's DQT segment, in which it follows marker, length and number. */
function tableOf(jpeg: Uint8Array): number {
  const at = Buffer.from(jpeg.buffer).indexOf(Buffer.from([0xff, 0xdb]))
  return jpeg[at + 5] ?? 0
}

const drawn = () => visit.page.evaluate(() => (globalThis as unknown as { drawn: boolean[] }).drawn)

throttled('has the best picture while it passes everything', async () => {
  await until('a moving picture', () => tables.filter((table) => table === BEST).length > 10, {
    giveUpMs: RECOVERY_MS,
  })
})

throttled('has a poorer picture, of which none is old, and keys that arrive', async () => {
  link.throttle(SLOW)
  await until('the poorest quality', () => tables.at(-1) === POOREST)
  for (const [key, black] of [
    ['b', true],
    ['w', false],
    ['b', true],
  ] as const) {
    visit.site.told.length = 0
    await visit.hosted.press(key)
    await visit.tells(`key:${key}`)
    const before = (await drawn()).length
    const seen = await until('the key to be seen', async () => {
      const at = (await drawn()).indexOf(black, before - 1)
      return at < 0 ? null : at + 1
    })
    assert.ok(seen - before <= FRAMES_IN_FLIGHT + 1, `${seen - before} pictures after the key`)
  }
})

throttled('has the best picture again once it passes everything', async () => {
  link.throttle(Number.POSITIVE_INFINITY)
  await until('the best quality', () => tables.at(-1) === BEST, { giveUpMs: RECOVERY_MS })
})

throttled.run()
