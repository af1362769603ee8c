/** Resolving references in Markdown: `#1`, `group/project#1`, `&1`, `!1`. */

import { sql } from 'kysely';
import { type Issuable, type IssuableKind, type MaybeCaller, rowsWithPlaces } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import { maximumIid } from '../../../http/index.ts';
import type { Reference } from '../../../markdown/index.ts';

/** The context of a text: a project, or only a group. */
export interface Surroundings {
  project_path: string | undefined;
  group_path: string | undefined;
}

/** A project or group, and the iid in it. */
export interface Pair {
  path: string;
  iid: number;
}

/** An issue, epic or merge request that was referenced. */
export interface Named extends Issuable {
  iid: number;
  /** The id of its project or group. */
  place_id: number;
  full_path: string;
  /** The id of its project's group, or of its own group. */
  group_id: number;
}

/** The full path of a reference: a bare name is a project in the same group. */
export function pathMeant(
  { places }: IssuableKind,
  { path }: Reference,
  { project_path, group_path }: Surroundings,
): string | undefined {
  if (path === undefined) return places === 'projects' ? project_path : group_path;
  return places === 'namespaces' || path.includes('/') || group_path === undefined ? path : `${group_path}/${path}`;
}

/**
 * The targets of references to one kind, without duplicates; references without a meaning in this context are omitted.
 */
export function pairsMeant(
  kind: IssuableKind,
  references: readonly Reference[],
  surroundings: Surroundings,
  most: number,
): readonly Pair[] {
  const pairs = new Map<string, Pair>();
  for (const reference of references) {
    if (reference.kind !== kind.reference) continue;
    const path = pathMeant(kind, reference, surroundings);
    const iid = Number(reference.value);
    if (path === undefined || iid > maximumIid) continue;
    pairs.set(`${path.toLowerCase()} ${iid}`, { path, iid });
    if (pairs.size === most) break;
  }
  return [...pairs.values()];
}

/** The referenced items of one kind that the caller may read, ordered by id. */
export async function thingsNamed(
  db: Database,
  caller: MaybeCaller,
  kind: IssuableKind,
  pairs: readonly Pair[],
): Promise<Named[]> {
  if (pairs.length === 0) return [];
  const { table, places, place_column } = kind;
  const [paths, iids] = [pairs.map(({ path }) => path), pairs.map(({ iid }) => Math.min(iid, maximumIid))];
  const group = places === 'projects' ? sql`projects.namespace_id` : sql`namespaces.id`;
  const { rows } = await sql<Omit<Named, 'kind'>>`
    select ${sql.ref(`${table}.id`)}, ${sql.ref(`${table}.iid`)}, ${sql.ref(`${table}.${place_column}`)} as place_id,
           ${sql.ref(`${places}.full_path`)}::text as full_path, ${group} as group_id
      from unnest(${paths}::citext[], ${iids}::integer[]) asked(path, wanted_iid)
           join (${rowsWithPlaces(kind)}) on ${sql.ref(`${places}.full_path`)} = asked.path and ${sql.ref(`${table}.iid`)} = asked.wanted_iid
     where ${kind.isVisible(caller)} order by ${sql.ref(`${table}.id`)}`.execute(db);
  return rows.map((row) => ({ ...row, kind }));
}
