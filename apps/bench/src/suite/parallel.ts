/**
 * Works on items in their order, at most so many at once. After a failure no further one is begun;
 * those under way are waited for, and the first failure is thrown.
 */
export async function parallel<T>(
  items: readonly T[],
  jobs: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  let next = 0;
  const failures: unknown[] = [];
  const worker = async (): Promise<void> => {
    while (next < items.length && failures.length === 0) {
      const item = items[next++]!;
      try {
        await work(item);
      } catch (error) {
        failures.push(error);
      }
    }
  };
  await Promise.all(Array.from({ length: jobs }, worker));
  if (failures.length > 0) throw failures[0];
}
