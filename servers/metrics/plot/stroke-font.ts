/** Grid of the glyphs: 4 wide and 6 high, with 2 more below the line. */
const ADVANCE = 5.5
const HEIGHT = 6

/** Strokes of each glyph: points as two digits, x and y from the top left; strokes are separated by a space. */
const GLYPHS: Readonly<Record<string, string>> = {
  '0': '103041453616050110 3115',
  '1': '112026 1636',
  '2': '01103041420646',
  '3': '0110304142334445361605 1333',
  '4': '36300444',
  '5': '400003334445361605',
  '6': '4130100105163645443303',
  '7': '004016',
  '8': '103041423313020110 1304051636454433',
  '9': '0516364541301001021343',
  A: '062046 1434',
  B: '00063645443303 0030414233',
  C: '4130100105163645',
  D: '00062644422000',
  E: '40000646 0333',
  F: '400006 0333',
  G: '41301001051636454323',
  H: '0006 4046 0343',
  I: '1030 2026 1636',
  J: '4045361605',
  K: '0006 400346',
  L: '000646',
  M: '0600234046',
  N: '06004640',
  O: '103041453616050110',
  P: '06003041423303',
  Q: '103041453616050110 2446',
  R: '06003041423303 2346',
  S: '413010010213334445361605',
  T: '0040 2026',
  U: '000516364540',
  V: '002640',
  W: '0016233640',
  X: '0046 4006',
  Y: '002340 2326',
  Z: '00400646',
  a: '12324346 441405163645',
  b: '00063645433202',
  c: '4332120305163645',
  d: '40461605031242',
  e: '044443321203051636',
  f: '40302126 1242',
  g: '421203051646 42473818',
  h: '0006 0312324346',
  i: '2226 2021',
  j: '32372818 3031',
  k: '0006 420446',
  l: '202536',
  m: '0602122326 23324346',
  n: '0602 0312324346',
  o: '123243453616050312',
  p: '0208 023243453606',
  q: '4248 421203051646',
  r: '0206 04132242',
  s: '4212031434453606',
  t: '20253646 1242',
  u: '0205163645 4246',
  v: '022642',
  w: '0216243642',
  x: '0246 4206',
  y: '0226 4218',
  z: '02420646',
  '.': '2526',
  ',': '2517',
  ':': '2223 2526',
  ';': '2223 2517',
  '-': '1333',
  _: '0747',
  '/': '0640',
  '\\': '0046',
  '%': '0640 0010110100 3545463635',
  '+': '0444 2226',
  '=': '0343 0545',
  '(': '30121436',
  ')': '10323416',
  '[': '30101636',
  ']': '10303616',
  '{': '30202213242636',
  '}': '10202233242616',
  "'": '2022',
  '"': '1012 3032',
  '*': '2125 0244 0442',
  '<': '410446',
  '>': '014406',
  '|': '2027',
  '!': '2024 2526',
  '?': '011030414223 24 2526',
  '&': '4602011020130405162644',
  '@': '4514233445 4341301001051646',
  '#': '1016 3036 0242 0444',
  '~': '04133344',
  '°': '1020211110',
  '^': '022042',
  $: '413010010213334445361605 2027',
  ' ': '',
}
/** The glyph of characters that have none. */
const BOX = '0040460600'

/** Returns a text's width in pixels, if its capitals are `size` pixels high. */
export function measureText(text: string, size: number): number {
  return [...text].length * ADVANCE * (size / HEIGHT)
}

/**
 * Returns the data of an SVG path that draws the text with strokes, since a font may be missing on this
 * machine. `y` is the base line, `size` the height of a capital.
 */
export function toTextPath(text: string, at: { x: number; y: number }, size: number): string {
  const unit = size / HEIGHT
  return [...text]
    .map((letter, index) => toGlyphPath(letter, at.x + index * ADVANCE * unit, at.y - size, unit))
    .join('')
}

function toGlyphPath(letter: string, x: number, y: number, unit: number): string {
  const strokes = GLYPHS[letter] ?? BOX
  return strokes
    .split(' ')
    .map(stroke => (stroke.match(/\d\d/g) ?? []).map(([column, row]) => toPoint(Number(column), Number(row))))
    .filter(points => points.length > 1)
    .map(points => `M${points.join('L')}`)
    .join('')

  function toPoint(column: number, row: number): string {
    return `${round(x + column * unit)} ${round(y + row * unit)}`
  }
}

function round(value: number): number {
  return Math.round(value * 100) / 100
}
