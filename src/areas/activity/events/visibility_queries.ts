/** Which events of a list a caller may see. */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import {
  isDownloadable,
  isMemberOfProject,
  isUsable,
  isVisibleIssue,
  isVisibleProject,
  levels,
  type MaybeCaller,
  mergeRequestKind,
  type Reading,
} from '../../../access/index.ts';
import { type Database, ofAnyLength, type Slots, statement } from '../../../db/index.ts';
import { type Paging, pageAsked, totalOf } from '../../../http/index.ts';

/** A predicate on rows of `events`: the target is a comment that the caller may read. */
export type ReadableComment = (caller: Reading) => RawBuilder<SqlBool>;

// PostgreSQL turns `exists` into a hash of all rows of the table, since it expects to ask for all events of the project; a value can only be looked up.

/** The issue of an event, if it still exists and the caller may read it. */
const isReadableIssue = (caller: Reading) => sql<SqlBool>`
  coalesce((select ${isVisibleIssue(caller)} from issues join projects on projects.id = issues.project_id where issues.id = events.target_id), false)`;

const isReadableMergeRequest = (caller: Reading) => sql<SqlBool>`
  coalesce((select ${mergeRequestKind.isVisible(caller)} from merge_requests join projects on projects.id = merge_requests.project_id
             where merge_requests.id = events.target_id), false)`;

const isReadableSnippet = (caller: Reading) => sql<SqlBool>`
  (${isUsable(caller, 'snippets')} and coalesce((
    select snippets.visibility = 'public' or ${caller && !caller.external ? sql`snippets.visibility = 'internal'` : sql`false`}
           or ${caller?.admin ? sql`true` : isMemberOfProject(caller, 1)}
      from snippets where snippets.id = events.target_id), false))`;

/** An error of an application, which the Reporter role allows to read. */
const isReadableError = (caller: Reading) => sql<SqlBool>`
  (${caller?.admin ? sql`true` : isMemberOfProject(caller, levels.reporter)} and coalesce((
    select errors.project_id = events.project_id from error_tracking_errors errors where errors.id = events.target_id), false))`;

/** A predicate on rows of `events` joined with `projects`: the caller may see the event. What has been deleted can no longer be read. */
const isVisibleEvent = (caller: Reading, isReadableComment: ReadableComment) => sql<boolean>`
  (${isVisibleProject(caller)} and case
     when events.is_push then ${isDownloadable(caller)}
     when events.target_type = 'Project' then true
     when events.target_type in ('Issue', 'WorkItem') then ${isReadableIssue(caller)}
     when events.target_type = 'MergeRequest' then ${isReadableMergeRequest(caller)}
     when events.target_type = 'Milestone' then (${isUsable(caller, 'issues')} or ${isUsable(caller, 'merge_requests')})
     when events.target_type = 'Snippet' then ${isReadableSnippet(caller)}
     when events.target_type in ('Note', 'DiscussionNote', 'DiffNote') then ${isReadableComment(caller)}
     when events.target_type = 'TrackedError' then ${isReadableError(caller)}
     else false end)`;

/** What decides on whether an event can be seen. */
export interface Subject {
  project_id: number;
  is_push: boolean;
  target_type: string | null;
  target_id: number | null;
}

/** Says of each subject whether a caller may see events about it. */
export type Sight = (db: Database, caller: MaybeCaller, subjects: readonly Subject[]) => Promise<boolean[]>;

interface Values {
  caller_id: number;
  project_ids: number[];
  are_pushes: boolean[];
  target_types: (string | null)[];
  target_ids: (number | null)[];
}

const keyOf = ({ project_id, is_push, target_type, target_id }: Subject) =>
  `${project_id} ${is_push} ${target_type} ${target_id}`;

/**
 * The rules of all targets are one long statement, which PostgreSQL takes longer to plan than to run. So it is written once, for any subjects, and planned once
 * for a connection; and each of them is looked up once, however many events are about it.
 */
export function sightWith(isReadableComment: ReadableComment): Sight {
  const visiblePlaces = statement(
    (slots: Slots<Values>, { is_anonymous, admin, external }: { is_anonymous: boolean; admin: boolean; external: boolean }) =>
      sql<{ place: number }>`
        select events.place
          from unnest(${ofAnyLength(slots.project_ids, 'bigint[]')}, ${ofAnyLength(slots.are_pushes, 'boolean[]')},
                      ${ofAnyLength(slots.target_types, 'text[]')}, ${ofAnyLength(slots.target_ids, 'bigint[]')})
               with ordinality events(project_id, is_push, target_type, target_id, place)
               join projects on projects.id = events.project_id
         where ${isVisibleEvent(is_anonymous ? undefined : { id: slots.caller_id, admin, external }, isReadableComment)}`,
  );
  return async (db, caller, subjects) => {
    const different = [...new Map(subjects.map((subject) => [keyOf(subject), subject])).values()];
    if (different.length === 0) return [];
    const values = {
      caller_id: caller?.id ?? 0,
      project_ids: different.map(({ project_id }) => project_id),
      are_pushes: different.map(({ is_push }) => is_push),
      target_types: different.map(({ target_type }) => target_type),
      target_ids: different.map(({ target_id }) => target_id),
    };
    const shape = { is_anonymous: !caller, admin: caller?.admin ?? false, external: caller?.external ?? false };
    const visible = new Set((await visiblePlaces(db, values, shape)).map(({ place }) => keyOf(different[place - 1]!)));
    return subjects.map((subject) => visible.has(keyOf(subject)));
  };
}

/** A list of events in its order, whether a caller may see them or not. */
export interface ListedEvents {
  /** Some events with what decides on whether they can be seen. */
  subjects(after: number | undefined, limit: number): Promise<({ id: number } & Subject)[]>;
  /** Whether there are at least this many. */
  reaches(length: number): Promise<boolean>;
  /** The first of them, up to `most`, by what decides on whether they can be seen. */
  groups(most: number): Promise<({ count: number } & Subject)[]>;
}

/** How many events are looked at together, at first and at most. */
const look = { first: 200, most: 5_000 };

type Seeing = (subjects: readonly Subject[]) => Promise<boolean[]>;

/** The ids of a page of the events that a caller may see. Pages are full, whatever lies between. */
export async function visiblePage(
  list: ListedEvents,
  sees: Seeing,
  { per_page, offset }: { per_page: number; offset: number },
): Promise<{ ids: number[]; has_more: boolean }> {
  const found: number[] = [];
  const wanted = offset + per_page + 1;
  let size = Math.min(Math.max(wanted, per_page + 1), look.first);
  for (let after: number | undefined; found.length < wanted; ) {
    const rows = await list.subjects(after, size);
    const visible = await sees(rows);
    found.push(...rows.filter((_row, place) => visible[place]).map(({ id }) => id));
    if (rows.length < size) break;
    after = rows.at(-1)!.id;
    size = Math.min(size * 4, look.most);
  }
  return { ids: found.slice(offset, offset + per_page), has_more: found.length >= wanted };
}

/** How many events a caller may see, if the list is short enough to be counted. */
export const visibleTotal = (
  list: ListedEvents,
  sees: Seeing,
  input: Paging,
  { ids, has_more }: { ids: readonly number[]; has_more: boolean },
): Promise<{ total?: number }> =>
  totalOf({ offset: pageAsked(input).offset, shown: ids.length, has_more }, async (most) => {
    if (await list.reaches(most)) return most;
    const groups = await list.groups(most);
    const visible = await sees(groups);
    return groups.reduce((sum, { count }, place) => sum + (visible[place] ? count : 0), 0);
  });
