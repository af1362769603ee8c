/** The visibility of events in lists. */
import { type RawBuilder, sql } from 'kysely';
import { isDownloadable, isVisibleProject, type MaybeCaller, type Reading } from '../../../access/index.ts';
import { type Database, ofAnyLength, type Slots, statement } from '../../../db/index.ts';
import type { SortKey } from '../../../lists/index.ts';
import type { EventTarget, EventTargets } from './definition.ts';

/** The branches of a `case` over the targets, with an expression for each. */
export const byTarget = (
  targets: readonly EventTarget[],
  asked: (target: EventTarget) => RawBuilder<unknown> | undefined,
) =>
  sql.join(
    targets.flatMap((target) => {
      const value = asked(target);
      return value
        ? [sql`when events.target_type in (${sql.join(target.types.map((type) => sql.lit(type)))}) then ${value}`]
        : [];
    }),
    sql` `,
  );

/**
 * A predicate on rows of `events` with `is_push`, joined with `projects`: the caller may see the event. Events about
 * deleted targets are not visible.
 */
export const isVisibleEvent = (caller: Reading, { nouns, comments }: EventTargets) => sql<boolean>`
  (${isVisibleProject(caller)} and case
     when events.is_push then ${isDownloadable(caller)}
     when events.target_type = 'Project' then true
     ${byTarget([...nouns, comments], ({ isVisible }) => isVisible(caller))}
     else false end)`;

/** The part of an event that decides its visibility. */
export interface Subject {
  project_id: number;
  is_push: boolean;
  target_type: string | null;
  target_id: number | null;
}

/** Reports for each subject whether a caller may see events about it. */
export type Sight = (db: Database, caller: MaybeCaller, subjects: readonly Subject[]) => Promise<boolean[]>;

/** The attributes of a caller that change the text of a visibility statement. */
export const shapeOf = (caller: MaybeCaller) => ({
  is_anonymous: !caller,
  admin: caller?.admin ?? false,
  external: caller?.external ?? false,
});

/** A placeholder caller in a statement that is shared by all callers of a shape. */
export const asReading = (
  { caller_id }: Slots<{ caller_id: number }>,
  { is_anonymous, admin, external }: ReturnType<typeof shapeOf>,
): Reading => (is_anonymous ? undefined : { id: caller_id, admin, external });

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
 * The rules of all targets form one long statement, which takes PostgreSQL longer to plan than to run. It is therefore
 * built once for any subjects, and planned once per connection; each subject is looked up only once, however many
 * events are about it.
 */
export function sightWith(targets: EventTargets): Sight {
  const visiblePlaces = statement(
    (slots: Slots<Values>, shape: ReturnType<typeof shapeOf>) =>
      sql<{ place: number }>`
        select events.place
          from unnest(${ofAnyLength(slots.project_ids, 'bigint[]')}, ${ofAnyLength(slots.are_pushes, 'boolean[]')},
                      ${ofAnyLength(slots.target_types, 'text[]')}, ${ofAnyLength(slots.target_ids, 'bigint[]')})
               with ordinality events(project_id, is_push, target_type, target_id, place)
               join projects on projects.id = events.project_id
         where ${isVisibleEvent(asReading(slots, shape), targets)}`,
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
    const visible = new Set(
      (await visiblePlaces(db, values, shapeOf(caller))).map(({ place }) => keyOf(different[place - 1]!)),
    );
    return subjects.map((subject) => visible.has(keyOf(subject)));
  };
}

/** An event of a list. */
export interface ListedEvent extends Subject {
  id: number;
  /** Its time in microseconds. */
  at: string;
}

/** The position of an event in a list. */
export type EventPosition = Pick<ListedEvent, 'id' | 'at'>;

/** An ordered list of events, regardless of their visibility. */
export interface ListedEvents {
  /** Identifies the list; the same events in the other direction have another name. */
  name: string;
  /** The sort keys. */
  keys: readonly SortKey[];
  /** Some events with the subjects that decide their visibility: the first ones, or those after a position. */
  subjects(last: EventPosition | undefined, limit: number): Promise<ListedEvent[]>;
  /** Whether the list has at least this many events. */
  reaches(length: number): Promise<boolean>;
  /** The first `most` events, grouped by the subject that decides their visibility. */
  groups(most: number): Promise<({ count: number } & Subject)[]>;
  /** The cached count of visible events, up to `most`; counted now if it is not cached. */
  counted(caller: MaybeCaller, most: number, count: () => Promise<number>): Promise<number>;
}

/** The number of events checked together: at most, and at least after some were hidden. */
const look = { least: 200, most: 5_000 };

type Seeing = (subjects: readonly Subject[]) => Promise<boolean[]>;
/** Reads the visible rows among some events, in their order. */
type ReadingRows<Row> = (events: readonly ListedEvent[]) => Promise<Row[]>;

/** The rows of a page, whether more follow, and the position of the last one. */
interface VisiblePage<Row> {
  rows: Row[];
  has_more: boolean;
  last: EventPosition | undefined;
}

function pageOfRead<Row extends { id: number }>(
  events: readonly ListedEvent[],
  read: readonly Row[],
  per_page: number,
): VisiblePage<Row> {
  const rows = read.slice(0, per_page);
  return { rows, has_more: read.length > per_page, last: events.find(({ id }) => id === rows.at(-1)?.id) };
}

/**
 * The rows of a page of events that a caller may see. Pages are full, however many hidden events lie between. The rows
 * of the first page are read in parallel with the visibility check, because usually all of them are visible.
 * @param behind the position after which the page starts
 */
export async function visiblePage<Row extends { id: number }>(
  list: ListedEvents,
  { sees, read }: { sees: Seeing; read: ReadingRows<Row> },
  { per_page, offset, behind }: { per_page: number; offset: number; behind: EventPosition | undefined },
): Promise<VisiblePage<Row>> {
  const wanted = offset + per_page + 1;
  const events = await list.subjects(behind, Math.min(wanted, look.most));
  const isAll = events.length < Math.min(wanted, look.most);
  const rows = offset === 0 ? await read(events) : [];
  if (offset === 0 && (isAll || rows.length >= wanted)) return pageOfRead(events, rows, per_page);
  const found = await seenOf(events, sees);
  let step = look.least;
  for (let last = isAll ? undefined : events.at(-1); last && found.length < wanted; ) {
    const size = Math.min(Math.max(wanted - found.length, step), look.most);
    const next = await list.subjects(last, size);
    found.push(...(await seenOf(next, sees)));
    last = next.length < size ? undefined : next.at(-1);
    step = Math.min(step * 4, look.most);
  }
  const shown = found.slice(offset, offset + per_page);
  return { rows: await read(shown), has_more: found.length >= wanted, last: shown.at(-1) };
}

async function seenOf<Event extends Subject>(events: readonly Event[], sees: Seeing): Promise<Event[]> {
  const visible = await sees(events);
  return events.filter((_event, place) => visible[place]);
}

/** The number of visible events among the first `most` events of a list. */
export const visibleCount = (
  list: ListedEvents,
  { caller, sees }: { caller: MaybeCaller; sees: Seeing },
  most: number,
): Promise<number> =>
  list.counted(caller, most, async () => {
    if (await list.reaches(most)) return most;
    const groups = await list.groups(most);
    const visible = await sees(groups);
    return groups.reduce((sum, { count }, place) => sum + (visible[place] ? count : 0), 0);
  });
