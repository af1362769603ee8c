/**
 * Caches access decisions until a change invalidates them (docs/decisions/0058-rights-are-kept-until-they-change.md). A transaction that changes a row that rights
 * depend on raises the version of rights. Each request reads the version, and queries the database only for decisions that are not cached for it, so that a change
 * takes effect at once, in every process.
 */
import { sql } from 'kysely';
import type { LRUCache } from 'lru-cache';
import { type Database, dataLoader, originOf, statement } from '../db/index.ts';
import { cacheOf } from '../foundation/caches.ts';
import { renewReach } from './client_addresses.ts';

type Kept = LRUCache<string, object>;

const maximumKept = 20_000;
/** Some changes happen without a statement: the last use of a token becomes old, and the period ends in which an address can be confirmed later. */
const kept_ms = 60_000;

/** The cache for the version of rights that was read last. */
class Rights {
  #version: string | undefined;
  #kept: Kept | undefined;

  /** Starts the cache of this version. @returns whether it is another one than before */
  moveTo(version: string): boolean {
    if (version === this.#version) return false;
    this.#version = version;
    this.#kept = cacheOf(maximumKept, { ttl: kept_ms });
    return true;
  }

  /** Undefined when another version has been read meanwhile. */
  keptFor(version: string): Kept | undefined {
    return version === this.#version ? this.#kept : undefined;
  }
}

/** One cache per database. A transaction counts as another database, for which nothing is cached, unless it only reads. */
const rights = new WeakMap<Database, Rights>();

/** Rights with an end expire at the beginning of a day. */
const versionNow = statement(
  () => sql<{ version: string }>`select concat_ws(${' '}, current_date, sum(version)) as version from rights_versions`,
);
const now = 'now';
const versions = dataLoader<typeof now, string>(
  (question) => question,
  async (db) => new Map((await versionNow(db, {})).map(({ version }) => [now, version])),
);

/** Reads the version of rights from the database, at the time of the call or later. Concurrent requests share a query. */
export async function rightsVersion(db: Database): Promise<string> {
  const version = (await versions(db, now))!;
  const origin = originOf(db);
  const known = rights.get(origin) ?? new Rights();
  rights.set(origin, known);
  if (known.moveTo(version)) await renewReach(origin);
  return version;
}

/**
 * A data loader that caches answers until rights change.
 * @param name distinguishes its cache entries from those of other loaders
 * @param mayKeep whether an answer may be cached
 * @returns a function of a database, a question and a version that `rightsVersion` has returned for the request; without a version, the cache is not used
 */
export const keptWithRights =
  <Question, Answer extends object>(
    name: string,
    keyOf: (question: Question) => string,
    load: (db: Database, question: Question) => Promise<Answer | undefined>,
    mayKeep: (answer: Answer) => boolean = () => true,
  ) =>
  async (db: Database, question: Question, version: string | undefined): Promise<Answer | undefined> => {
    const kept = version === undefined ? undefined : rights.get(originOf(db))?.keptFor(version);
    const key = `${name} ${keyOf(question)}`;
    const known = kept?.get(key);
    if (known) return known as Answer;
    const answer = await load(db, question);
    if (answer && mayKeep(answer)) kept?.set(key, answer);
    return answer;
  };
