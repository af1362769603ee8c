/**
 * The description of nouns that event lists need. The nouns provide it, and `areas/index.ts` passes it to the lists.
 */

import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { TSchema } from 'typebox';
import { type IssuableKind, type Reading, rowsWithPlaces } from '../../../access/index.ts';
import type { Services } from '../../../http/index.ts';

/**
 * How events about a noun are shown, and who may see them. All expressions are on rows of `events` joined with
 * `projects`, whose target is of this noun.
 */
export interface EventTarget {
  /** The names of the noun in `target_type`. */
  types: readonly string[];
  /** A predicate: the target still exists, and the caller may read it. */
  isVisible(caller: Reading): RawBuilder<SqlBool>;
  title: RawBuilder<string | null>;
  /** The number of the target, if it has one besides its id. */
  number?: RawBuilder<number | null>;
  /** The wiki page in an event about one. */
  wiki_page?: RawBuilder<EventWikiPage | null>;
}

export interface EventWikiPage {
  format: string;
  slug: string;
  title: string;
  wiki_page_meta_id: number;
}

/** A noun that can be the target of events. */
export interface Recorded {
  event: EventTarget;
}

/** Comments as targets, which events include in full. */
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

/** The target description of a noun with numbers, such as an issue. */
export function issuableTarget(kind: IssuableKind, types: readonly string[]): EventTarget {
  const column = (name: string) => sql.ref(`${kind.table}.${name}`);
  const isTarget = sql`${column('id')} = events.target_id`;
  const value = (name: string) => sql<never>`(select ${column(name)} from ${sql.table(kind.table)} where ${isTarget})`;
  return {
    types,
    // As a value: PostgreSQL turns `exists` into a hash of all rows of the table, since it expects to check all events
    // of the project.
    isVisible: (caller) => sql<SqlBool>`
      coalesce((select ${kind.isVisible(caller)} from ${rowsWithPlaces(kind)} where ${isTarget}), false)`,
    title: value('title'),
    number: value('iid'),
  };
}
