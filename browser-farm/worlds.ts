import type { CDPSession, Frame, Page } from 'playwright'
import { IN_PAGE_SOURCE } from './in-page/source.ts'

/** An isolated world shares a frame's document and nothing of its script: the page can neither call our functions nor speak for them. */
export interface World {
  /** Of the part that it is in. */
  id: number
  frameId: string
  cdp: CDPSession
}

/** What one process shows of a page: the page itself, or a frame of another site with what is in it. */
interface Part {
  cdp: CDPSession
  rootId: string
}

interface Point {
  x: number
  y: number
}

/** The worlds of a page's frames. */
interface Worlds {
  all(): World[]
  /** Whether several processes show the page. */
  areApart(): boolean
  /** Where a world's frame begins on the page, in its CSS pixels. Rejects where the frame has gone. */
  placeOf(world: World): Promise<Point>
}

const WORLD = 'farm'
const BINDING = 'tellFarm'
/** Each is asked where the focus is, again and again: a page with more frames than this is looked at in these alone. */
const MOST_WORLDS = 100

/** `onTold` is given what the frames' watchers tell (in-page/watch.ts). */
export async function watchWorlds({
  page,
  cdp,
  onTold,
}: {
  page: Page
  /** The page's own. */
  cdp: CDPSession
  onTold: (text: string, world: World) => void
}): Promise<Worlds> {
  const worlds = new Set<World>()
  const parts = new Map<Frame, Part>()
  const open = async (frame: Frame, session: CDPSession): Promise<void> => {
    session.once('close', () => parts.delete(frame))
    const { frameTree } = await session.send('Page.getFrameTree')
    parts.set(frame, { cdp: session, rootId: frameTree.frame.id })
    await watchPart({ cdp: session, worlds, onTold })
  }
  const look = async (frame: Frame): Promise<void> => {
    if (parts.has(frame)) return
    // Refused where the process of the frame around it shows it too.
    await open(frame, await page.context().newCDPSession(frame))
  }
  /** One look at a frame after the other: two at once would both open it, and only the last would be known as its part. */
  const looks = new WeakMap<Frame, Promise<void>>()
  const lookAgain = (frame: Frame): void => {
    const before = looks.get(frame) ?? Promise.resolve()
    looks.set(
      frame,
      before.then(() => look(frame)).catch(() => undefined),
    )
  }
  await open(page.mainFrame(), cdp)
  page.on('framenavigated', lookAgain)
  for (const frame of page.frames()) lookAgain(frame)

  const placeIn = async (frame: Frame, frameId: string): Promise<Point> => {
    const part = parts.get(frame)
    const around = frame.parentFrame()
    if (!part) return around ? placeIn(around, frameId) : ORIGIN
    const inPart = frameId === part.rootId ? ORIGIN : await contentPlace(part.cdp, frameId)
    if (!around) return inPart
    const { x, y } = await placeIn(around, part.rootId)
    return { x: inPart.x + x, y: inPart.y + y }
  }
  return {
    all: () => [...worlds],
    areApart: () => parts.size > 1,
    placeOf: async ({ cdp: session, frameId }) => {
      const [frame] = [...parts].find(([, part]) => part.cdp === session) ?? []
      return frame ? placeIn(frame, frameId) : ORIGIN
    },
  }
}

const ORIGIN: Point = { x: 0, y: 0 }

async function watchPart({
  cdp,
  worlds,
  onTold,
}: {
  cdp: CDPSession
  worlds: Set<World>
  onTold: (text: string, world: World) => void
}): Promise<void> {
  const own = new Map<number, World>()
  const forget = (id: number): void => {
    const world = own.get(id)
    own.delete(id)
    if (world) worlds.delete(world)
  }
  const forgetAll = (): void => {
    for (const id of [...own.keys()]) forget(id)
  }
  cdp.on('Runtime.executionContextCreated', ({ context: { id, name, auxData } }) => {
    if (name !== WORLD || worlds.size >= MOST_WORLDS) return
    const world = { id, frameId: String(auxData?.['frameId']), cdp }
    own.set(id, world)
    worlds.add(world)
  })
  cdp.on('Runtime.executionContextDestroyed', ({ executionContextId }) => forget(executionContextId))
  cdp.on('Runtime.executionContextsCleared', forgetAll)
  cdp.once('close', forgetAll)
  cdp.on('Runtime.bindingCalled', ({ name, payload, executionContextId }) => {
    const world = own.get(executionContextId)
    if (name === BINDING && world) onTold(payload, world)
  })
  await Promise.all([
    cdp.send('Runtime.enable'),
    cdp.send('Runtime.addBinding', { name: BINDING, executionContextName: WORLD }),
    cdp.send('Page.enable'),
    cdp.send('Page.addScriptToEvaluateOnNewDocument', {
      source: IN_PAGE_SOURCE,
      worldName: WORLD,
      runImmediately: true,
    }),
  ])
}

/** Where the content of a frame begins in the part that its element is in. */
async function contentPlace(cdp: CDPSession, frameId: string): Promise<Point> {
  const { backendNodeId } = await cdp.send('DOM.getFrameOwner', { frameId })
  const { model } = await cdp.send('DOM.getBoxModel', { backendNodeId })
  const [x = 0, y = 0] = model.content
  return { x, y }
}
