import type { FocusMessage } from '../../../../wire/stream.ts'
import { find } from '../../kit/assets/dom.ts'

/** Where on the stage the picture lies: as large as it fits, or larger and moved as the visitor's fingers have it. */
const LARGEST_ZOOM = 4

const canvas = find<HTMLCanvasElement>('canvas.screen')
const stage = find('.stage')

interface Point {
  x: number
  y: number
}

type Rectangle = Point & { width: number; height: number }

/** Told of the canvas when the picture lies elsewhere. */
export const PLACED = 'placed'
/** Around what is brought in sight, for the words that belong to it. */
const MARGIN_PX = 24

const view = { zoom: 1, x: 0, y: 0 }
/** What has the focus on the remote screen: it is brought in sight where a phone's keyboard or the zoom leave only a part of the picture. */
let sight: Rectangle | undefined
/** Not once the visitor has moved away from it, until they type or go to another. */
let isKept = false
let latest = ''
let lastHeight = 0
let remote = { width: 1, height: 1 }

export const isZoomed = (): boolean => view.zoom > 1

/** Shows a remote screen of this size: never larger than it is; on a phone as wide as the stage, whatever is left of its height. */
export function fit(size: { width: number; height: number } = remote): void {
  remote = size
  const { clientWidth, clientHeight } = stage
  const phone = document.body.classList.contains('phone')
  const wide = clientWidth / remote.width
  const scale = Math.min(1, phone ? wide : Math.min(wide, clientHeight / remote.height))
  canvas.style.width = `${remote.width * scale}px`
  canvas.style.height = `${remote.height * scale}px`
  // Whoever opens a keyboard is about to type.
  if (clientHeight < lastHeight) isKept = true
  lastHeight = clientHeight
  bringInSight()
}

/** Keeps in sight what has the remote focus: from when it gets it, and from when something is typed, until the visitor moves away. */
export function keepInSight({ element, field }: Pick<FocusMessage, 'element' | 'field'>): void {
  const now = `${element?.id} ${field?.value}`
  if (now !== latest) isKept = true
  latest = now
  sight = element?.rectangle
  bringInSight()
}

/** The visitor wants to see something else. */
export function letGo(): void {
  isKept = false
}

function bringInSight(): void {
  if (sight && isKept) {
    const { x, y, width, height } = onStage(sight)
    view.x += inSight(x, width, stage.clientWidth) - x
    view.y += inSight(y, height, stage.clientHeight) - y
  }
  place()
}

/** Where a part of the remote screen lies on the stage. */
function onStage({ x, y, width, height }: Rectangle): Rectangle {
  const scale = (canvas.offsetWidth * view.zoom) / remote.width
  return {
    x: canvas.offsetLeft + view.x + x * scale,
    y: canvas.offsetTop + view.y + y * scale,
    width: width * scale,
    height: height * scale,
  }
}

/** The nearest start with which all of a length is in sight; of one that there is no room for, its beginning, unless the whole room shows it. */
function inSight(start: number, length: number, room: number): number {
  const rest = room - length
  if (rest < 0) return start > 0 || start < rest ? 0 : start
  const margin = Math.min(MARGIN_PX, rest / 2)
  return Math.min(Math.max(start, margin), rest - margin)
}

/** Zooms by a factor about a point of this page, and moves by so many pixels. */
export function zoomAndMove({ factor, at, by }: { factor: number; at: Point; by: Point }): void {
  const zoom = Math.min(Math.max(view.zoom * factor, 1), LARGEST_ZOOM)
  const { left, top } = canvas.getBoundingClientRect()
  const change = zoom / view.zoom
  // The point under the fingers stays under them.
  view.x += (at.x - left) * (1 - change) + by.x
  view.y += (at.y - top) * (1 - change) + by.y
  view.zoom = zoom
  letGo()
  place()
}

function place(): void {
  view.x = bounded(view.x, canvas.offsetLeft, canvas.offsetWidth * view.zoom, stage.clientWidth)
  view.y = bounded(view.y, canvas.offsetTop, canvas.offsetHeight * view.zoom, stage.clientHeight)
  const { zoom, x, y } = view
  canvas.style.transform = zoom === 1 && x === 0 && y === 0 ? '' : `translate(${x}px, ${y}px) scale(${zoom})`
  canvas.dispatchEvent(new Event(PLACED))
}

/** No side of the picture comes away from its side of the stage where the picture is larger. */
function bounded(shift: number, start: number, length: number, room: number): number {
  if (length <= room) return view.zoom === 1 ? 0 : (room - length) / 2 - start
  return Math.min(Math.max(shift, room - length - start), -start)
}

/** Between a panel and the edge of the stage. */
const EDGE_PX = 4
/** Three entries that a finger hits: lower than this a list is of no use, and covers its field rather. */
const LEAST_PANEL_PX = 140

/** Puts a panel of the page under a place of the remote screen, or over it where there is more room: within the stage. */
export function placeAt(panel: HTMLElement, rectangle: Rectangle): void {
  const { x: left, y: top, width, height } = onStage(rectangle)
  const below = top + height
  panel.style.minWidth = `${Math.min(width, stage.clientWidth - 2 * EDGE_PX)}px`
  const roomBelow = stage.clientHeight - below
  panel.style.maxHeight = `${Math.max(roomBelow - EDGE_PX, top - EDGE_PX, LEAST_PANEL_PX)}px`
  const isBelow = panel.offsetHeight <= roomBelow - EDGE_PX || roomBelow >= top
  const wanted = isBelow ? below : top - panel.offsetHeight
  const fits = (value: number, length: number, room: number): number =>
    Math.max(EDGE_PX, Math.min(value, room - length - EDGE_PX))
  panel.style.left = `${fits(left, panel.offsetWidth, stage.clientWidth)}px`
  panel.style.top = `${fits(wanted, panel.offsetHeight, stage.clientHeight)}px`
}

new ResizeObserver(() => fit()).observe(stage)
