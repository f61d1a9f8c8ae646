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

const view = { zoom: 1, x: 0, y: 0 }
/** Point (CSS pixels) of the remote screen that stays in sight while a phone's keyboard covers the rest. */
let sight: Point | undefined
/** Not where the visitor has moved the picture away from it. */
let isKept = true
let remote = { width: 1, height: 1 }

export const isZoomed = (): boolean => view.zoom > 1

/** Shows a remote screen of this size: never larger than it is; on a phone as wide as the stage, whatever is left of its height. */
export function fit(size: { width: number; height: number } = remote): void {
  remote = size
  const phone = document.body.classList.contains('phone')
  const wide = stage.clientWidth / remote.width
  const scale = Math.min(1, phone ? wide : Math.min(wide, stage.clientHeight / remote.height))
  canvas.style.width = `${remote.width * scale}px`
  canvas.style.height = `${remote.height * scale}px`
  if (isKept) bringInSight()
  else place()
}

/** Brings a field of the remote screen in sight where not all of it fits, and keeps it there until the visitor moves the picture; `undefined`: none. */
export function keepInSight(field: Rectangle | undefined): void {
  sight = field && { x: nearest(field), y: field.y + field.height / 2 }
  isKept = true
  bringInSight()
}

function bringInSight(): void {
  if (sight) {
    const { x, y } = placeOf(sight)
    if (!isWithin(x + view.x, stage.clientWidth)) view.x = stage.clientWidth / 2 - x
    if (!isWithin(y + view.y, stage.clientHeight)) view.y = stage.clientHeight / 2 - y
  }
  place()
}

/** Where across the remote screen a field comes nearest to the middle of what is seen: a wide one need not be seen whole. */
function nearest({ x, width }: Rectangle): number {
  const middle = stage.clientWidth / 2 - canvas.offsetLeft - view.x
  const seen = (middle / (canvas.offsetWidth * view.zoom)) * remote.width
  return Math.min(Math.max(seen, x), x + width)
}

/** Where a point of the remote screen lies on the stage while the picture is not moved. */
const placeOf = ({ x, y }: Point): Point => ({
  x: canvas.offsetLeft + (x / remote.width) * canvas.offsetWidth * view.zoom,
  y: canvas.offsetTop + (y / remote.height) * canvas.offsetHeight * view.zoom,
})

/** Not at the very end, where half of a line would be hidden. */
const isWithin = (at: number, room: number): boolean => at > 0 && at < room * 0.9

const isInSight = ({ x, y }: Point): boolean =>
  isWithin(x + view.x, stage.clientWidth) && isWithin(y + view.y, stage.clientHeight)

/** Zooms by a factor about a point of this page, and moves by so many pixels. */
export function zoomAndMove({ factor, at, by }: { factor: number; at: Point; by: Point }): void {
  const zoom = Math.min(Math.max(view.zoom * factor, 1), LARGEST_ZOOM)
  const { left, top } = canvas.getBoundingClientRect()
  const change = zoom / view.zoom
  // The point under the fingers stays under them.
  view.x += (at.x - left) * (1 - change) + by.x
  view.y += (at.y - top) * (1 - change) + by.y
  view.zoom = zoom
  place()
  isKept = sight !== undefined && isInSight(placeOf(sight))
}

function place(): void {
  view.x = bounded(view.x, canvas.offsetLeft, canvas.offsetWidth * view.zoom, stage.clientWidth)
  view.y = bounded(view.y, canvas.offsetTop, canvas.offsetHeight * view.zoom, stage.clientHeight)
  const { zoom, x, y } = view
  canvas.style.transform = zoom === 1 && x === 0 && y === 0 ? '' : `translate(${x}px, ${y}px) scale(${zoom})`
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
  const box = canvas.getBoundingClientRect()
  const around = stage.getBoundingClientRect()
  const scale = box.width / remote.width
  const left = box.left - around.left + rectangle.x * scale
  const top = box.top - around.top + rectangle.y * scale
  const below = top + rectangle.height * scale
  panel.style.minWidth = `${Math.min(rectangle.width * scale, stage.clientWidth - 2 * EDGE_PX)}px`
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
