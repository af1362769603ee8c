/**
 * Runs a task for each item, a few at a time.
 * @param limit the maximum number at a time
 * @throws the first error, after all started tasks have ended
 */
export async function inParallel<T>(
  items: Iterable<T>,
  limit: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const rest = items[Symbol.iterator]();
  let failure: { error: unknown } | undefined;
  const lane = async () => {
    for (let next = rest.next(); !next.done && !failure; next = rest.next()) {
      await work(next.value).catch((error) => {
        failure ??= { error };
      });
    }
  };
  await Promise.all(Array.from({ length: limit }, lane));
  if (failure) throw failure.error;
}
