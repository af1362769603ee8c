/** Activity events: what users did in projects. */
import { Type } from 'typebox';
import { anyone, type MaybeCaller, projectVisible, signedIn } from '../../../access/index.ts';
import { type AnyEndpoint, get, IdOrName, optional, type Page, pageOf, type Services } from '../../../http/index.ts';
import {
  beginningOf,
  endOf,
  type Paging,
  type Position,
  pageBeyond,
  paging,
  readBehind,
  readCursor,
  totalOf,
} from '../../../lists/index.ts';
import { userIdNamed } from '../../people/users/index.ts';
import type { EventTargets } from './definition.ts';
import { eventFilters, eventRules, filtered } from './filters.ts';
import { type EventReply, eventForm, presentEvent } from './present.ts';
import { allEvents, type EventQuery, eventRows, isOfMembership } from './queries.ts';
import {
  type EventPosition,
  type ListedEvent,
  type ListedEvents,
  type Subject,
  sightWith,
  visibleCount,
  visiblePage,
} from './visibility_queries.ts';

const isComment = ({ target_type }: { target_type: string | null }) => target_type?.endsWith('Note') ?? false;

interface NamedList {
  /** Identifies the list. */
  name: string;
  all: EventQuery;
}

const writtenBy = (db: Services['db'], user_id: number): NamedList => ({
  name: `author ${user_id}`,
  all: allEvents(db).where('events.author_id', '=', user_id),
});

const placeAt = ({ values }: Position): EventPosition => ({ id: Number(values.at(-1)), at: values[0]! });

const positionOf = ({ keys }: ListedEvents, { id, at }: EventPosition): Position => ({
  part: 0,
  values: keys.length === 1 ? [String(id)] : [at, String(id)],
});

/** Whether a user hides their activity from the caller. */
export async function isPrivate({ db }: Pick<Services, 'db'>, caller: MaybeCaller, user_id: number): Promise<boolean> {
  if (caller?.admin || caller?.id === user_id) return false;
  const user = await db
    .selectFrom('users')
    .select('private_profile')
    .where('id', '=', user_id)
    .executeTakeFirstOrThrow();
  return user.private_profile;
}

/** @param targets the possible targets of events, besides pushes and projects */
export function eventRoutes(targets: EventTargets): AnyEndpoint[] {
  const { comments } = targets;
  const returns = pageOf(eventForm(comments.schema));
  const input = { ...eventFilters, ...paging };
  const [sight, rowsOf] = [sightWith(targets), eventRows(targets)];

  async function pageOfEvents(
    { db, url, caller }: Pick<Services, 'db' | 'url'> & { caller: MaybeCaller },
    { name, all }: NamedList,
    given: Parameters<typeof filtered>[3] & Paging,
  ): Promise<Page<EventReply>> {
    const wanted = await filtered(db, name, all, given);
    const sees = (subjects: readonly Subject[]) => sight(db, caller, subjects);
    const read = async (events: readonly ListedEvent[]) => {
      const [ids, note_ids] = [
        events.map(({ id }) => id),
        events.flatMap((event) => (isComment(event) ? event.target_id! : [])),
      ];
      const [rows, notes] = await Promise.all([
        ids.length > 0 ? rowsOf(db, caller, ids) : [],
        note_ids.length > 0 ? comments.present({ db, url }, note_ids) : new Map<number, unknown>(),
      ]);
      return rows.map((row) => presentEvent(url, row, isComment(row) ? notes.get(row.target_id!) : undefined));
    };
    const start = beginningOf(db, given, () => `${wanted.name} of ${caller?.id}`);
    const { page, per_page, offset, cursor } = start;
    const count = (most: number) => visibleCount(wanted, { caller, sees }, most);
    if (start.isBeyond) return pageBeyond(start, count);
    const behind = cursor === undefined ? undefined : placeAt(readCursor(db, cursor, [wanted.keys]));
    const { rows, has_more, last } = await readBehind(cursor, () =>
      visiblePage(wanted, { sees, read }, { per_page, offset, behind }),
    );
    const end = endOf(db, start, has_more && last ? positionOf(wanted, last) : undefined, [wanted.keys]);
    const total = await totalOf({ start, shown: rows.length, has_more }, count);
    return { page, per_page, has_more, ...end, ...total, items: rows };
  }

  return [
    get('/events', {
      operation: 'listOwnEvents',
      summary: "List the caller's events, newest first",
      access: signedIn,
      scopes: ['read_user'],
      input: {
        ...input,
        scope: optional(
          Type.String({ description: '`all`: the events of everyone in the projects that the caller is a member of' }),
        ),
      },
      rules: eventRules,
      returns,
      handle: ({ db, url, caller, input }) => {
        const ofMembership = { name: `member ${caller.id}`, all: allEvents(db).where(isOfMembership(caller)) };
        return pageOfEvents(
          { db, url, caller },
          input.scope === 'all' ? ofMembership : writtenBy(db, caller.id),
          input,
        );
      },
    }),
    get('/users/:id/events', {
      operation: 'listUserEvents',
      summary: "List a user's events, newest first",
      description: 'The list of a user with a private profile is empty for everyone but them and administrators.',
      access: anyone,
      scopes: ['read_user'],
      input: { id: IdOrName('ID or username'), ...input },
      rules: eventRules,
      returns,
      refusals: { 404: '404 User Not Found' },
      handle: async ({ db, url, caller, input }) => {
        const user_id = await userIdNamed(db, input.id);
        const none = { name: 'none', all: allEvents(db).where('events.id', 'is', null) };
        return pageOfEvents(
          { db, url, caller },
          (await isPrivate({ db }, caller, user_id)) ? none : writtenBy(db, user_id),
          input,
        );
      },
    }),
    get('/projects/:id/events', {
      operation: 'listProjectEvents',
      summary: 'List the events of a project, newest first',
      access: projectVisible,
      input,
      rules: eventRules,
      returns,
      handle: ({ db, url, caller, project, input }) => {
        const inside = {
          name: `project ${project.id}`,
          all: allEvents(db).where('events.project_id', '=', project.id),
        };
        return pageOfEvents({ db, url, caller }, inside, input);
      },
    }),
  ];
}
