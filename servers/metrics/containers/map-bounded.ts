/**
 * Returns the results of `work` on each item in their order, with at most `most` at once. Rejects with the
 * first failure.
 */
export async function mapBounded<Item, Result>(
  items: readonly Item[],
  most: number,
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = []
  const queue = items.entries()
  const run = async () => {
    for (const [index, item] of queue) results[index] = await work(item)
  }
  await Promise.all(Array.from({ length: Math.min(most, items.length) }, run))
  return results
}
