import { hexColor, NEUTRAL_BRAND, themeOf } from '../../pages/kit/colors.ts'

const field = (name: string): HTMLInputElement | null => document.querySelector(`input[name="${name}"]`)

/** Lets the preview of the hosted page follow what is typed, and offers the browser's own way to pick a colour. */
export function showPreview(preview: HTMLElement): void {
  const color = field('primaryColor')
  const name = field('appName')
  if (!color || !name) return
  const picker = document.createElement('input')
  picker.type = 'color'
  picker.setAttribute('aria-label', 'Pick a colour')
  const row = document.createElement('div')
  row.className = 'color-row'
  color.replaceWith(row)
  row.append(color, picker)
  const show = (): void => {
    const { brand, onBrand, ink } = themeOf(hexColor(color.value) ?? NEUTRAL_BRAND)
    preview.style.setProperty('--brand', `#${brand}`)
    preview.style.setProperty('--on-brand', `#${onBrand}`)
    preview.style.setProperty('--brand-ink', `#${ink}`)
    picker.value = `#${brand}`
    const shown = name.value.trim()
    for (const [part, text] of [
      ['name', shown],
      ['letter', [...shown][0]?.toUpperCase() ?? ''],
    ] as const) {
      const element = preview.querySelector(`[data-preview-${part}]`)
      if (element) element.textContent = text
    }
  }
  picker.addEventListener('input', () => {
    color.value = picker.value
    show()
  })
  for (const each of [color, name]) each.addEventListener('input', show)
  show()
}
