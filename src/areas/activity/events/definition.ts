/** What the lists of events must know of a noun that events are about. The nouns say it, and `areas/index.ts` gives it to the lists. */

import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { TSchema } from 'typebox';
import { type IssuableKind, type Reading, rowsWithPlaces } from '../../../access/index.ts';
import type { Services } from '../../../http/index.ts';

/** How events about a noun are shown, and who may see them. All expressions are on rows of `events` joined with `projects`, whose target is such a thing. */
export interface EventTarget {
  /** Its names in `target_type`. */
  types: readonly string[];
  /** A predicate: the target still exists, and the caller may read it. */
  isVisible(caller: Reading): RawBuilder<SqlBool>;
  title: RawBuilder<string | null>;
  /** Its number, if it has one besides its id. */
  number?: RawBuilder<number | null>;
  /** What an event about a wiki page says of the page. */
  wiki_page?: RawBuilder<EventWikiPage | null>;
}

export interface EventWikiPage {
  format: string;
  slug: string;
  title: string;
  wiki_page_meta_id: number;
}

/** A noun that events are about. */
export interface Recorded {
  event: EventTarget;
}

/** Comments as targets: an event shows them in whole. */
export interface EventComments extends EventTarget {
  schema: TSchema;
  /** The replies for these ids. */
  present(services: Pick<Services, 'db' | 'url'>, ids: readonly number[]): Promise<ReadonlyMap<number, unknown>>;
}

/** All targets. */
export interface EventTargets {
  nouns: readonly EventTarget[];
  comments: EventComments;
}

/** Something with a number, as the target of events. */
export function issuableTarget(kind: IssuableKind, types: readonly string[]): EventTarget {
  const column = (name: string) => sql.ref(`${kind.table}.${name}`);
  const isTarget = sql`${column('id')} = events.target_id`;
  const value = (name: string) => sql<never>`(select ${column(name)} from ${sql.table(kind.table)} where ${isTarget})`;
  return {
    types,
    // PostgreSQL turns `exists` into a hash of all rows of the table, since it expects to ask for all events of the project; a value can only be looked up.
    isVisible: (caller) => sql<SqlBool>`
      coalesce((select ${kind.isVisible(caller)} from ${rowsWithPlaces(kind)} where ${isTarget}), false)`,
    title: value('title'),
    number: value('iid'),
  };
}
