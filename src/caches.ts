/** Caches with a limit, which drop what was not used for longest. */
import { LRUCache } from 'lru-cache';

/**
 * A cache of at most `most` entries. lru-cache reserves the space of all entries when it is told their number; told a size, it grows as it is filled.
 * @param options `ttl` is how long an entry is kept, in milliseconds; without it, as long as there is room
 */
export const cacheOf = <Key extends {}, Value extends {}>(most: number, options: { ttl?: number } = {}): LRUCache<Key, Value> =>
  new LRUCache<Key, Value>({ maxSize: most, sizeCalculation: () => 1, ...options });
