import { expect, test } from 'vitest'
import { Register } from './register.ts'

test('each value is found by its number until it is deleted, and no number is given twice', () => {
  const register = new Register<string>()
  const numbers = ['a', 'b', 'c'].map(value => register.add(value))
  expect(new Set(numbers).size).toBe(3)
  expect(numbers.map(number => register.get(number))).toEqual(['a', 'b', 'c'])
  expect(register.delete(numbers[1] ?? 0)).toBe(true)
  expect(register.delete(numbers[1] ?? 0)).toBe(false)
  expect(register.get(numbers[1] ?? 0)).toBeUndefined()
  expect(register.values()).toEqual(['a', 'c'])
  expect(numbers).not.toContain(register.add('d'))
  expect(register.size).toBe(3)
})

test('what is no number of it finds nothing', () => {
  const register = new Register<string>()
  register.add('a')
  for (const number of [0, -1, 17, 2 ** 40, Number.NaN]) {
    expect(register.get(number)).toBeUndefined()
    expect(register.delete(number)).toBe(false)
  }
})

test('one that stays for long is passed over by thousands that come and go, and the room stays small', () => {
  const register = new Register<number>()
  const long = [register.add(-1), register.add(-2)]
  for (let value = 0; value < 10_000; value++) {
    const number = register.add(value)
    expect(register.get(number)).toBe(value)
    register.delete(number)
  }
  expect(long.map(number => register.get(number))).toEqual([-1, -2])
  expect(register.size).toBe(2)
})

test('thousands at once are kept in the order of their numbers', () => {
  const register = new Register<number>()
  const numbers = Array.from({ length: 5_000 }, (_, value) => register.add(value))
  for (const [value, number] of numbers.entries()) if (value % 3 === 0) register.delete(number)
  const left = numbers.map((_, value) => value).filter(value => value % 3 !== 0)
  expect(register.values()).toEqual(left)
  expect(left.every(value => register.get(numbers[value] ?? 0) === value)).toBe(true)
  expect(register.size).toBe(left.length)
})
