import fc from 'fast-check'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { hexColor, themeOf } from '../../http/pages/kit/colors.ts'

const colors = suite('colours of hosted pages')

const luminance = (hex: string): number => {
  const [red = 0, green = 0, blue = 0] = [0, 2, 4].map((at) => {
    const share = Number.parseInt(hex.slice(at, at + 2), 16) / 255
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}
const contrast = (a: string, b: string): number => {
  const [high = 0, low = 0] = [luminance(a), luminance(b)].sort((x, y) => y - x)
  return (high + 0.05) / (low + 0.05)
}

colors('text is readable on and in every colour that an app may have', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 0xffffff }), (number) => {
      const brand = number.toString(16).padStart(6, '0')
      const { onBrand, ink } = themeOf(brand)
      assert.ok(contrast(onBrand, brand) > 4.5, `${onBrand} on ${brand}`)
      assert.ok(contrast(ink, 'ffffff') >= 4.5, `${ink} on white`)
    }),
  )
})

colors('hex colours of three and six digits are read, nothing else is', () => {
  assert.is(hexColor('#3355FF'), '3355ff')
  assert.is(hexColor('abc'), 'aabbcc')
  for (const wrong of [undefined, '', 'red', '#12345', '#3355ff;}', 'url(x)']) assert.is(hexColor(wrong), null)
})

colors.run()
